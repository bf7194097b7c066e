//! Files that fit in a head: a warning above 400 lines, a refusal above 600.

use super::source_tree::SourceTree;
use super::{Finding, Weight};

const SOFT: usize = 400;
const HARD: usize = 600;

/// Longer files that wait to be split, each with the length it must not exceed. This list only shrinks.
const WAITING_TO_BE_SPLIT: &[(&str, usize)] = &[];

pub(super) fn rust_files_stay_short(tree: &SourceTree) -> Vec<Finding> {
    check(tree, WAITING_TO_BE_SPLIT)
}

fn check(tree: &SourceTree, waiting: &[(&str, usize)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let length = file.text.lines().count();
        let ceiling =
            waiting.iter().find(|(path, _)| *path == file.path).map_or(HARD, |(_, ceiling)| *ceiling);
        if length > ceiling {
            findings
                .push(Finding::of_file(&file.path, format!("{length} lines, at most {ceiling}: split it")));
        } else if length > SOFT {
            let message = format!("{length} lines, {SOFT} read well");
            findings.push(Finding { weight: Weight::Warning, ..Finding::of_file(&file.path, message) });
        }
    }
    for (path, _) in waiting {
        if tree.find(path).is_none_or(|file| file.text.lines().count() <= HARD) {
            findings.push(Finding::of_file(path, "short or gone: strike it from WAITING_TO_BE_SPLIT"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(lengths: &[(&str, usize)], waiting: &[(&str, usize)]) -> Vec<String> {
        let texts: Vec<(&str, String)> =
            lengths.iter().map(|(path, length)| (*path, "x\n".repeat(*length))).collect();
        let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
        check(&SourceTree::with(&files), waiting).iter().map(Finding::text).collect()
    }

    #[test]
    fn long_files_are_warned_of_and_longer_ones_refused() {
        let found =
            findings(&[("a.rs", 400), ("b.rs", 401), ("c.rs", 600), ("d.rs", 601), ("e.md", 900)], &[]);
        assert_eq!(
            found,
            [
                "b.rs: warning: 401 lines, 400 read well",
                "c.rs: warning: 600 lines, 400 read well",
                "d.rs: 601 lines, at most 600: split it",
            ]
        );
    }

    #[test]
    fn a_waiting_file_may_not_grow_and_leaves_the_list_when_it_is_short() {
        let waiting = [("a.rs", 700), ("b.rs", 700), ("gone.rs", 700)];
        let found = findings(&[("a.rs", 701), ("b.rs", 300)], &waiting);
        assert_eq!(
            found,
            [
                "a.rs: 701 lines, at most 700: split it",
                "b.rs: short or gone: strike it from WAITING_TO_BE_SPLIT",
                "gone.rs: short or gone: strike it from WAITING_TO_BE_SPLIT",
            ]
        );
    }
}
