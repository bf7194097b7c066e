//! The pure crates do not speak of the world, and one protocol does not speak of another.
//! For `protocols` the compiler proves the first part; here it is found sooner and said better.

use super::Finding;
use super::rust_source::{RustSource, has_word};
use super::source_tree::SourceTree;

const PURE_WITH_STD: [&str; 2] = ["crates/agent-drivers/src/", "crates/artifact-formats/src/"];
const PURE_WITHOUT_STD: &str = "crates/protocols/src/";
const PROTOCOLS: &str = "crates/protocols/src/protocol/";
const THE_WORLD: [&str; 6] = ["fs", "process", "env", "time", "net", "thread"];

pub(super) fn pure_crates_stay_pure(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files().filter(|file| !tree.is_test_file(file)) {
        let without_std = file.path.starts_with(PURE_WITHOUT_STD);
        if !without_std && !PURE_WITH_STD.iter().any(|folder| file.path.starts_with(folder)) {
            continue;
        }
        let source = RustSource::scan(&file.text);
        for statement in statements(&source) {
            let refusal = if without_std { std_at_all(&statement.code) } else { the_world(&statement.code) };
            if let Some(message) = refusal {
                findings.push(Finding::at(&file.path, statement.line, message));
            }
        }
    }
    findings
}

pub(super) fn protocols_do_not_know_each_other(tree: &SourceTree) -> Vec<Finding> {
    let module = |path: &str| {
        let rest = path.strip_prefix(PROTOCOLS)?.trim_end_matches(".rs");
        Some(rest.split('/').next().unwrap_or(rest).to_owned()).filter(|name| name != "mod")
    };
    let mut modules: Vec<String> = tree.rust_files().filter_map(|file| module(&file.path)).collect();
    modules.sort();
    modules.dedup();
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let Some(own) = module(&file.path) else { continue };
        for statement in statements(&RustSource::scan(&file.text)) {
            let known = modules.iter().find(|other| **other != own && names_module(&statement.code, other));
            if let Some(other) = known {
                let message = format!("{own} must not know {other}; what both need belongs in kernel/");
                findings.push(Finding::at(&file.path, statement.line, message));
            }
        }
    }
    findings
}

struct Statement {
    /// Where it begins.
    line: usize,
    code: String,
}

/// One per line, except that a `use` over several lines is taken together, so that its groups can be read.
fn statements(source: &RustSource) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    for (number, line) in source.product_lines() {
        match statements.last_mut() {
            Some(open) if is_use(&open.code) && !open.code.contains(';') => open.code.push_str(&line.code),
            _ => statements.push(Statement { line: number, code: line.code.clone() }),
        }
    }
    statements
}

fn is_use(code: &str) -> bool {
    let code = code.trim_start();
    code.starts_with("use ") || (code.starts_with("pub") && has_word(code, "use"))
}

fn std_at_all(code: &str) -> Option<String> {
    let by_name = has_word(code, "extern crate std") || (is_use(code) && has_word(code, "std"));
    (by_name || has_word(code, "std::"))
        .then(|| "protocols know no std: time, ids and chance come in with the observation".to_owned())
}

fn the_world(code: &str) -> Option<String> {
    let directly = THE_WORLD.into_iter().find(|module| has_word(code, &format!("std::{module}")));
    let found = directly.or_else(|| {
        let (_, group) = code.split_once("std::{").filter(|_| is_use(code))?;
        let firsts = top_level(group);
        THE_WORLD.into_iter().find(|module| firsts.iter().any(|first| first == module))
    });
    found.map(|module| format!("this crate is pure: no std::{module} outside of tests"))
}

/// The first name of each entry of a `{…}` group, up to its closing brace.
fn top_level(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut entries = vec![String::new()];
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => entries.push(String::new()),
            _ if depth == 0 => entries.last_mut().expect("starts with one entry and never loses any").push(c),
            _ => {}
        }
    }
    let first = |entry: &String| entry.trim().split([':', ' ']).next().unwrap_or_default().to_owned();
    entries.iter().map(first).collect()
}

/// As part of a path or of a `use`; a field or variable of that name is somebody's right.
fn names_module(code: &str, module: &str) -> bool {
    has_word(code, &format!("{module}::"))
        || has_word(code, &format!("::{module}"))
        || (is_use(code) && has_word(code, module))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pure(path: &str, text: &str) -> Vec<usize> {
        let findings = pure_crates_stay_pure(&SourceTree::with(&[(path, text)]));
        findings.into_iter().filter_map(|finding| finding.line).collect()
    }

    #[test]
    fn protocols_may_not_name_std_outside_of_tests() {
        let text = "use core::fmt;\nuse std::fmt;\nextern crate std;\nlet x = std::mem::take(y);\nuse std as s;\n\
                    // std::fs\nlet s = \"std::fs\";\n#[cfg(test)]\nmod tests {\n use std::fs;\n}\n";
        assert_eq!(pure("crates/protocols/src/run.rs", text), [2, 3, 4, 5]);
    }

    #[test]
    fn drivers_and_formats_may_use_std_but_not_the_world() {
        let text = "use std::collections::BTreeMap;\nuse std::{fmt, io::Write};\nstd::fs::read(x);\n\
                    use std::{\n    fmt::{self, Display},\n    process::Command,\n};\nuse std::time;\nlet std_fs = 1;\n";
        for folder in PURE_WITH_STD {
            assert_eq!(pure(&format!("{folder}a.rs"), text), [3, 4, 8], "{folder}");
        }
    }

    #[test]
    fn other_crates_and_test_files_may_do_what_they_need() {
        assert!(pure("crates/host/src/a.rs", "use std::fs;").is_empty());
        assert!(pure("crates/artifact-formats/tests/a.rs", "use std::fs;").is_empty());
        assert!(pure("crates/agent-drivers/src/claude/tests.rs", "use std::fs;").is_empty());
    }

    #[test]
    fn one_protocol_does_not_use_another() {
        let folder = "crates/protocols/src/protocol";
        let tree = SourceTree::with(&[
            (
                &format!("{folder}/mod.rs"),
                "pub mod judged_task;\npub mod story_queue;\nuse judged_task::State;\n",
            ),
            (
                &format!("{folder}/judged_task/decide.rs"),
                "use super::state;\nuse crate::protocol::story_queue::State;\nuse crate::protocol::{\n  story_queue,\n};\n\
                 let story_queue = super::super::story_queue::x();\nlet story_queue = 1;\nuse crate::protocol::judged_task;\n",
            ),
            (&format!("{folder}/story_queue.rs"), "use crate::kernel::budget;\n"),
        ]);
        let lines: Vec<_> =
            protocols_do_not_know_each_other(&tree).into_iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [Some(2), Some(3), Some(6)]);
    }
}
