//! Every error code has a page that says what to do, and every page belongs to a code.

use std::collections::BTreeMap;

use super::Finding;
use super::source_tree::SourceTree;

const CODES: &str = "crates/control-api/src/errors";
const PAGES: &str = "docs/errors/";

pub(super) fn codes_and_pages_agree(tree: &SourceTree) -> Vec<Finding> {
    let codes = codes(tree);
    let mut findings = Vec::new();
    for (code, (path, line)) in &codes {
        if tree.find(&format!("{PAGES}{code}.md")).is_none() {
            findings.push(Finding::at(path, *line, format!("{code} has no page: write {PAGES}{code}.md")));
        }
    }
    for file in tree.below(PAGES) {
        let name = file.path[PAGES.len()..].trim_end_matches(".md");
        if name != "README" && !codes.contains_key(name) {
            findings.push(Finding::of_file(&file.path, format!("no error has the code {name}")));
        }
    }
    findings
}

/// Where each code is first written. Codes are literals, so the text is read, not the scanned code.
fn codes(tree: &SourceTree) -> BTreeMap<String, (String, usize)> {
    let mut codes = BTreeMap::new();
    for file in tree.below(CODES).filter(|file| file.has_extension("rs") && !tree.is_test_file(file)) {
        let scanned = super::rust_source::RustSource::scan(&file.text);
        for ((number, _), text) in
            scanned.numbered().zip(file.text.lines()).filter(|((_, line), _)| !line.in_test)
        {
            for code in codes_in(text) {
                codes.entry(code).or_insert_with(|| (file.path.clone(), number));
            }
        }
    }
    codes
}

/// `WL-`, capitals, a hyphen, three digits.
fn codes_in(text: &str) -> Vec<String> {
    let candidates = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    candidates.filter(|candidate| is_code(candidate)).map(str::to_owned).collect()
}

fn is_code(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let &["WL", area, number] = parts.as_slice() else {
        return false;
    };
    !area.is_empty()
        && area.chars().all(|c| c.is_ascii_uppercase())
        && number.len() == 3
        && number.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERRORS: &str = "//! Codes.\nconst A: &str = \"WL-JOURNAL-001\";\nconst B: &str = \"WL-GIT-002\";\n\
                          #[cfg(test)]\nmod tests {\n const C: &str = \"WL-NONE-999\";\n}\n";

    fn check(files: &[(&str, &str)]) -> Vec<String> {
        codes_and_pages_agree(&SourceTree::with(files)).iter().map(Finding::text).collect()
    }

    #[test]
    fn a_code_without_page_and_a_page_without_code_are_refused() {
        let findings = check(&[
            ("crates/control-api/src/errors.rs", ERRORS),
            ("docs/errors/WL-JOURNAL-001.md", ""),
            ("docs/errors/WL-OLD-003.md", ""),
            ("docs/errors/README.md", ""),
        ]);
        assert_eq!(
            findings,
            [
                "crates/control-api/src/errors.rs:3: WL-GIT-002 has no page: write docs/errors/WL-GIT-002.md",
                "docs/errors/WL-OLD-003.md: no error has the code WL-OLD-003",
            ]
        );
    }

    #[test]
    fn codes_and_pages_that_agree_are_fine() {
        let pages = [
            ("crates/control-api/src/errors.rs", ERRORS),
            ("docs/errors/WL-JOURNAL-001.md", ""),
            ("docs/errors/WL-GIT-002.md", ""),
        ];
        assert!(check(&pages).is_empty());
    }

    #[test]
    fn only_the_full_pattern_is_a_code() {
        assert_eq!(codes_in("(WL-A-001, WL-a-002 WL-B-03, XWL-C-004, WL-D-0055)"), ["WL-A-001"]);
    }
}
