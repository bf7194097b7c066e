//! Each Rust file opens with one to five `//!` lines: what it is for, what it must not know.

use super::Finding;
use super::source_tree::SourceTree;

const MOST_LINES: usize = 5;

pub(super) fn rust_files_say_what_they_are_for(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let opening: Vec<&str> = file.text.lines().take_while(|line| line.starts_with("//!")).collect();
        let says_something = opening.iter().any(|line| line.trim_start_matches("//!").trim() != "");
        if !says_something {
            findings.push(Finding::at(
                &file.path,
                1,
                "open with `//!`: what this file is for, what it must not know",
            ));
        } else if opening.len() > MOST_LINES {
            let message = format!("the opening has {} lines, {MOST_LINES} are enough", opening.len());
            findings.push(Finding::at(&file.path, 1, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silent_empty_and_endless_openings_are_refused() {
        let five = "//! A.\n".repeat(5);
        let six = "//! A.\n".repeat(6);
        let tree = SourceTree::with(&[
            ("good.rs", "//! Says it.\nfn a() {}\n"),
            ("five.rs", &five),
            ("six.rs", &six),
            ("late.rs", "use x;\n//! Says it.\n"),
            ("hollow.rs", "//!\n//! \n"),
            ("empty.rs", ""),
            ("README.md", "Not Rust"),
        ]);
        let paths: Vec<String> =
            rust_files_say_what_they_are_for(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["six.rs", "late.rs", "hollow.rs", "empty.rs"]);
    }
}
