//! The rules of the house that neither the compiler nor clippy knows. Each rule is one function over the same tree of
//! files, with its own test; a rule says where it was broken and what to do, and repairs nothing.

mod clippy_files;
mod dependency_arrows;
mod error_pages;
mod file_opening;
mod file_size;
mod links;
mod machine_paths;
mod names;
mod purity;
mod rust_source;
mod source_tree;
mod unfinished_work;

use anyhow::{Result, bail};

use crate::commands::Repository;
use crate::console;
use source_tree::SourceTree;

/// One place where a rule is broken, or nearly.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    /// Counted from one; none when the file as a whole is meant.
    line: Option<usize>,
    message: String,
    weight: Weight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    Refusal,
    Warning,
}

impl Finding {
    fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: Some(line), message: message.into(), weight: Weight::Refusal }
    }

    fn of_file(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, message: message.into(), weight: Weight::Refusal }
    }

    fn text(&self) -> String {
        let place = match self.line {
            Some(line) => format!("{}:{line}", self.path),
            None => self.path.clone(),
        };
        match self.weight {
            Weight::Refusal => format!("{place}: {}", self.message),
            Weight::Warning => format!("{place}: warning: {}", self.message),
        }
    }
}

const RULES: &[fn(&SourceTree) -> Vec<Finding>] = &[
    clippy_files::one_clippy_file,
    dependency_arrows::arrows_point_inwards,
    error_pages::codes_and_pages_agree,
    file_opening::rust_files_say_what_they_are_for,
    file_size::rust_files_stay_short,
    links::links_resolve,
    machine_paths::no_machine_paths,
    names::no_bags,
    purity::protocols_do_not_know_each_other,
    purity::pure_crates_stay_pure,
    unfinished_work::nothing_is_left_unfinished,
    unfinished_work::tests_do_not_sleep,
];

/// Applies all rules to the files git knows or would add.
pub fn tidy(repository: &Repository) -> Result<()> {
    let tree = SourceTree::read(repository)?;
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    findings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    for finding in &findings {
        console::say(&finding.text());
    }
    let refused = findings.iter().filter(|finding| finding.weight == Weight::Refusal).count();
    if refused > 0 {
        bail!("{refused} place(s) are not tidy");
    }
    console::say(&format!("{} files are tidy", tree.files().len()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_its_place_and_a_warning_says_that_it_is_one() {
        assert_eq!(Finding::at("a.rs", 3, "too odd").text(), "a.rs:3: too odd");
        let warning = Finding { weight: Weight::Warning, ..Finding::of_file("a.rs", "long") };
        assert_eq!(warning.text(), "a.rs: warning: long");
    }
}
