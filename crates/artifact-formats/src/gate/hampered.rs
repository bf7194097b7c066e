//! What was done to a test that is still there under its name: it is compiled under a condition only, or it returns before it
//! comes to its assertions. Marks and indentation, no grammar.

use super::assertions::stands_alone;
use super::languages::{Language, Tests};

/// In sentences.
#[derive(Debug, Default)]
pub(super) struct Hampered {
    pub(super) left_out: Vec<String>,
    pub(super) cut_short: Vec<String>,
}

/// A function that is marked as a test, or a module in a file of its own.
struct Marked<'t> {
    name: &'t str,
    is_module: bool,
    /// Its own and those of the modules around it.
    conditions: Vec<&'t str>,
    returns: usize,
}

impl Hampered {
    /// Of the tests of one file, before and after. Those of one name are told apart by their order.
    pub(super) fn compare(&mut self, language: &Language, path: &str, (before, after): (&str, &str)) {
        let Tests::Marked(marks, ["fn "]) = language.tests else { return };
        let mut earlier = marked(marks, before);
        for now in marked(marks, after) {
            let same = |one: &Marked<'_>| (one.name, one.is_module) == (now.name, now.is_module);
            let Some(at) = earlier.iter().position(same) else { continue };
            let was = earlier.remove(at);
            // A module that had nothing to do with tests may be left out like any code.
            let of_tests =
                !now.is_module || was.conditions.iter().any(|condition| condition.contains("test"));
            let new = now.conditions.iter().find(|one| of_tests && !was.conditions.contains(one));
            self.left_out.extend(new.map(|condition| format!("{path}: {} is under {condition}", now.name)));
            if now.returns > was.returns {
                self.cut_short.push(format!("{path}: {} returns before its end", now.name));
            }
        }
    }
}

fn marked<'t>(marks: &[&str], text: &'t str) -> Vec<Marked<'t>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    // How far in each module begins that is open, and its conditions.
    let mut around: Vec<(usize, Vec<&str>)> = Vec::new();
    let (mut is_test, mut own) = (false, Vec::new());
    for (at, line) in lines.iter().enumerate() {
        let bare = line.trim();
        let indent = line.len() - line.trim_start().len();
        if bare.starts_with("#![cfg") {
            around.insert(0, (0, vec![bare]));
        } else if bare.starts_with("#[") {
            is_test |= marks.iter().any(|mark| bare.contains(mark));
            own.extend(Some(bare).filter(|bare| bare.starts_with("#[cfg")));
        }
        if bare.is_empty() || (bare.starts_with('#') && !bare.contains("fn ")) {
            continue;
        }
        if bare.starts_with('}') {
            while around.pop_if(|(begins, _)| *begins > indent).is_some() {}
            let _closed = around.pop_if(|(begins, conditions)| *begins == indent && !is_of_file(conditions));
        }
        let conditions = |own: &[&'t str]| {
            around.iter().flat_map(|(_, conditions)| conditions).chain(own).copied().collect::<Vec<_>>()
        };
        if let Some(module) = module_in(bare) {
            if bare.ends_with(';') {
                found.push(Marked {
                    name: module,
                    is_module: true,
                    conditions: conditions(&own),
                    returns: 0,
                });
            } else if bare.ends_with('{') {
                around.push((indent, own.clone()));
            }
        } else if let Some(name) = function_in(bare).filter(|_| is_test) {
            let returns = body(&lines[at..]).iter().filter(|line| returns(line)).count();
            found.push(Marked { name, is_module: false, conditions: conditions(&own), returns });
        }
        (is_test, own) = (false, Vec::new());
    }
    found
}

fn is_of_file(conditions: &[&str]) -> bool {
    conditions.first().is_some_and(|first| first.starts_with("#!"))
}

fn module_in(bare: &str) -> Option<&str> {
    let rest = bare.strip_prefix("pub ").or_else(|| bare.strip_prefix("pub(crate) ")).unwrap_or(bare);
    rest.strip_prefix("mod ").map(|rest| rest.trim_end_matches([' ', '{', ';']))
}

fn function_in(bare: &str) -> Option<&str> {
    let at = bare.match_indices("fn ").map(|(at, _)| at).find(|at| stands_alone(bare, *at, "fn "))?;
    let rest = &bare[at + 3..];
    let end = rest.find(|one: char| !one.is_alphanumeric() && one != '_').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| !name.is_empty())
}

/// To the line with the bracket that closes it, which stands as far in as its first line.
fn body<'l, 't>(lines: &'l [&'t str]) -> &'l [&'t str] {
    let Some(first) = lines.first() else { return lines };
    if first.trim_end().ends_with('}') {
        return &lines[..1];
    }
    let indent = &first[..first.len() - first.trim_start().len()];
    let closes = |line: &&str| line.strip_prefix(indent).is_some_and(|rest| rest.starts_with('}'));
    let end = lines.iter().skip(1).position(closes).map_or(lines.len(), |at| at + 1);
    &lines[..end]
}

fn returns(line: &str) -> bool {
    line.contains("process::exit(")
        || line.match_indices("return").any(|(at, word)| {
            let after = line[at + word.len()..].chars().next();
            stands_alone(line, at, word) && after.is_none_or(|one| !one.is_alphanumeric() && one != '_')
        })
}
