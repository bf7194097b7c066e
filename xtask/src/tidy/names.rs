//! No bags: a crate or module whose name says nothing collects everything.

use super::Finding;
use super::rust_source::RustSource;
use super::source_tree::SourceTree;

const BAGS: [&str; 7] = ["core", "common", "util", "utils", "helper", "helpers", "manager"];

pub(super) fn no_bags(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let manifests = tree.files().iter().filter(|file| file.path.ends_with("/Cargo.toml"));
    for file in tree.rust_files().chain(manifests) {
        let stem = file.path.trim_end_matches(".rs");
        if let Some(bag) = stem.split('/').find(|part| is_bag(part)) {
            findings.push(Finding::of_file(&file.path, refusal(bag)));
        }
    }
    for file in tree.rust_files() {
        for (number, line) in RustSource::scan(&file.text).numbered() {
            if let Some(bag) = inline_module(&line.code).filter(|name| is_bag(name)) {
                findings.push(Finding::at(&file.path, number, refusal(bag)));
            }
        }
    }
    findings
}

fn is_bag(name: &str) -> bool {
    let name = name.strip_prefix("windlass-").unwrap_or(name);
    BAGS.contains(&name)
}

fn refusal(bag: &str) -> String {
    format!("nothing is called {bag}: name it after what it does")
}

/// The name in `mod name {` or `mod name;`.
fn inline_module(code: &str) -> Option<&str> {
    let (before, rest) = code.split_once("mod ")?;
    let stands_alone = before.is_empty() || before.ends_with(' ');
    stands_alone.then(|| rest.trim_end_matches([' ', '{', ';', '}']).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bags_are_refused_as_crate_folder_file_and_inline_module() {
        let tree = SourceTree::with(&[
            ("crates/core/Cargo.toml", ""),
            ("crates/a/src/utils.rs", ""),
            ("crates/a/tests/common/mod.rs", ""),
            ("crates/a/src/lib.rs", "use core::fmt;\npub(crate) mod helpers {\n}\nmod manager;\n"),
            ("crates/a/src/core_values.rs", "// mod common;\nlet common = \"mod utils;\";\n"),
        ]);
        let found: Vec<String> = no_bags(&tree).into_iter().map(|finding| finding.text()).collect();
        let places: Vec<&str> = found.iter().filter_map(|text| text.split(": ").next()).collect();
        assert_eq!(
            places,
            [
                "crates/a/src/utils.rs",
                "crates/a/tests/common/mod.rs",
                "crates/core/Cargo.toml",
                "crates/a/src/lib.rs:2",
                "crates/a/src/lib.rs:4",
            ]
        );
    }
}
