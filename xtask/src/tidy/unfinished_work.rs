//! Nothing half done gets in: no placeholders, no tests that are switched off, no tests that wait for time to pass.

use super::Finding;
use super::rust_source::{RustSource, has_word};
use super::source_tree::SourceTree;

/// In code, and what to do instead.
const IN_CODE: [(&str, &str); 5] = [
    ("todo!", "finish it"),
    ("unimplemented!", "finish it"),
    ("dbg!", "take it out"),
    ("#[ignore", "a test that does not run protects nothing: mend it or delete it"),
    ("should_panic", "assert on the error that is returned"),
];

const IN_COMMENTS: [&str; 3] = ["TODO", "FIXME", "XXX"];

const SLEEPS: [&str; 3] = ["thread::sleep", "time::sleep", "time::sleep_until"];

pub(super) fn nothing_is_left_unfinished(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        for (number, line) in RustSource::scan(&file.text).numbered() {
            let in_code = IN_CODE.iter().find(|(word, _)| has_word(&line.code, word));
            if let Some((word, remedy)) = in_code {
                findings.push(Finding::at(&file.path, number, format!("`{word}`: {remedy}")));
            }
            if let Some(word) = IN_COMMENTS.iter().find(|word| has_word(&line.comment, word)) {
                findings.push(Finding::at(
                    &file.path,
                    number,
                    format!("{word}: do it, or say it in SHORTCOMINGS.md"),
                ));
            }
        }
    }
    findings
}

pub(super) fn tests_do_not_sleep(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let only_tests = tree.is_test_file(file);
        for (number, line) in RustSource::scan(&file.text).numbered() {
            let sleeps = SLEEPS.iter().any(|sleep| has_word(&line.code, sleep));
            if sleeps && (only_tests || line.in_test) {
                let message = "wait for a condition (a line on a pipe, a file, an exit), not for time";
                findings.push(Finding::at(&file.path, number, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(rule: fn(&SourceTree) -> Vec<Finding>, path: &str, text: &str) -> Vec<usize> {
        rule(&SourceTree::with(&[(path, text)])).into_iter().filter_map(|finding| finding.line).collect()
    }

    #[test]
    fn each_placeholder_is_found_in_code() {
        for (word, _) in IN_CODE {
            assert_eq!(
                lines(nothing_is_left_unfinished, "a.rs", &format!("fn a() {{}}\n{word}")),
                [2],
                "{word}"
            );
        }
    }

    #[test]
    fn each_mark_is_found_in_comments_only() {
        for word in IN_COMMENTS {
            assert_eq!(
                lines(nothing_is_left_unfinished, "a.rs", &format!("a(); // {word}: later")),
                [1],
                "{word}"
            );
            assert!(
                lines(nothing_is_left_unfinished, "a.rs", &format!("let a = \"{word}\";")).is_empty(),
                "{word}"
            );
        }
        assert!(lines(nothing_is_left_unfinished, "a.rs", "// mktemp XXXXXX\nlet s = \"todo!\";").is_empty());
    }

    #[test]
    fn sleeping_is_refused_in_tests_and_left_to_clippy_elsewhere() {
        let text = "tokio::time::sleep(x);\n#[cfg(test)]\nmod tests {\n std::thread::sleep(x);\n}\n";
        assert_eq!(lines(tests_do_not_sleep, "crates/a/src/lib.rs", text), [4]);
        assert_eq!(lines(tests_do_not_sleep, "crates/a/tests/a.rs", text), [1, 4]);
    }
}
