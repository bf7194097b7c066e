//! Links between Markdown files of the repository lead somewhere, down to the heading. The web is not asked.

use std::collections::BTreeMap;

use super::Finding;
use super::source_tree::{SourceFile, SourceTree};

pub(super) fn links_resolve(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.with_extension("md") {
        for (line, text) in prose(&file.text) {
            for target in targets(&text) {
                if let Some(message) = broken(tree, file, &target) {
                    findings.push(Finding::at(&file.path, line, message));
                }
            }
        }
    }
    findings
}

/// Lines outside of fenced code, without code spans, numbered from one.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => lines.push((index + 1, without_code_spans(line))),
            _ => {}
        }
    }
    lines
}

fn without_code_spans(line: &str) -> String {
    let pieces: Vec<&str> = line.split('`').collect();
    // An even number of pieces means that the last backtick opens nothing.
    let closed = pieces.len() - usize::from(pieces.len().is_multiple_of(2));
    let kept =
        |(index, piece): (usize, &&str)| (index % 2 == 0 || index >= closed).then(|| (*piece).to_owned());
    pieces.iter().enumerate().filter_map(kept).collect()
}

/// The targets of `[…](target)`, `![…](target "title")` and `[…]: target`.
fn targets(line: &str) -> Vec<String> {
    let inline = line.match_indices("](").filter_map(|(at, mark)| {
        let rest = &line[at + mark.len()..];
        closing_parenthesis(rest).map(|end| &rest[..end])
    });
    let defined =
        line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, rest)| rest);
    let bare = |target: &str| {
        let first = target.split_whitespace().next().unwrap_or_default();
        first.trim_start_matches('<').trim_end_matches('>').to_owned()
    };
    inline.chain(defined).map(bare).collect()
}

fn closing_parenthesis(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Why the link leads nowhere, if it does.
fn broken(tree: &SourceTree, file: &SourceFile, target: &str) -> Option<String> {
    let elsewhere = target.contains("://") || target.starts_with("mailto:");
    if elsewhere {
        return None;
    }
    let (path, heading) =
        target.split_once('#').map_or((target, None), |(path, heading)| (path, Some(heading)));
    let Some(path) = resolve(&file.path, path) else {
        return Some(format!("the link {target:?} leaves the repository"));
    };
    let Some(found) = tree.find(&path) else {
        let folder = path.is_empty() || tree.has_folder(&path);
        return (!folder).then(|| format!("the link {target:?} leads nowhere"));
    };
    let heading = heading.filter(|_| found.has_extension("md"))?;
    let known = headings(&found.text).contains(&heading.to_owned());
    (!known).then(|| format!("the link {target:?} names a heading that {path} does not have"))
}

/// The path from the root, or nothing when it climbs out.
fn resolve(from: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = Vec::new();
    if !target.starts_with('/') {
        parts.extend(from.split('/'));
        parts.pop();
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The names under which the usual viewers offer the headings of a page.
fn headings(text: &str) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut names = Vec::new();
    for (_, line) in fenced_out(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let name: String =
            title.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-");
        let count = seen.entry(name.clone()).or_default();
        names.push(if *count == 0 { name } else { format!("{name}-{count}") });
        *count += 1;
    }
    names
}

/// As [`prose`], with code spans: their words are part of a heading's name.
fn fenced_out(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let kept: Vec<usize> = prose(text).into_iter().map(|(line, _)| line).collect();
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(move |(line, _)| kept.contains(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str) -> Vec<String> {
        let tree = SourceTree::with(&[
            ("docs/page.md", page),
            ("docs/other.md", "# The `one` model\n## Again\n## Again\n```\n# not a heading\n```\n"),
            ("README.md", ""),
            ("crates/a/src/lib.rs", ""),
        ]);
        links_resolve(&tree).iter().map(Finding::text).collect()
    }

    #[test]
    fn links_to_files_folders_headings_and_the_web_are_fine() {
        let page = "# Top\n[a](other.md) ![b](../README.md \"title\") [c](../crates/a) [d](#top) [e](/README.md)\n\
                    [f](other.md#the-one-model) [g](other.md#again-1) [h](https://example.org/x) [i](mailto:a@b)\n\
                    [ref]: other.md\n[up](..)\n";
        assert_eq!(check(page), Vec::<String>::new());
    }

    #[test]
    fn broken_links_are_refused_with_their_line() {
        let page = "\n[a](gone.md)\n[b](../../out.md)\n[c](other.md#no)\n[ref]: gone.txt\n";
        assert_eq!(
            check(page),
            [
                "docs/page.md:2: the link \"gone.md\" leads nowhere",
                "docs/page.md:3: the link \"../../out.md\" leaves the repository",
                "docs/page.md:4: the link \"other.md#no\" names a heading that docs/other.md does not have",
                "docs/page.md:5: the link \"gone.txt\" leads nowhere",
            ]
        );
    }

    #[test]
    fn code_is_not_searched_for_links() {
        assert_eq!(check("`[a](gone.md)` and\n```\n[b](gone.md)\n```\n"), Vec::<String>::new());
        assert_eq!(check("a ` alone, then [b](gone.md)").len(), 1);
    }
}
