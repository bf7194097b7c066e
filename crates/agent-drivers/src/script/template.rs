//! Text with places to fill in, such as `{workspace}`. Filled once, never scanned again, and never through a lossy
//! form of a path.

use std::ffi::OsString;
use std::path::Path;

use crate::invocation::Role;

use super::fields::ScriptProblem;

const PLACEHOLDERS: [&str; 7] = ["workspace", "outbox", "script_dir", "task", "role", "round", "attempt"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Placeholder(&'static str),
}

/// What the placeholders stand for.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    pub workspace: &'a Path,
    pub outbox: &'a Path,
    pub script_dir: &'a Path,
    pub task: &'a str,
    pub role: Role,
    pub round: u32,
    pub attempt: u32,
}

impl Template {
    /// For paths: `{name}` must be a placeholder, `{{` and `}}` are single braces. A slip must not become a file
    /// with a brace in its name.
    pub(super) fn strict(text: &str) -> Result<Self, ScriptProblem> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
                plain.push_str(&from[..1]);
                rest = after;
                continue;
            }
            let name = from.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let Some((name, after)) = name else {
                return Err(ScriptProblem::LoneBrace { text: text.to_owned() });
            };
            let Some(known) = PLACEHOLDERS.into_iter().find(|known| *known == name) else {
                return Err(ScriptProblem::UnknownPlaceholder {
                    given: name.to_owned(),
                    known: PLACEHOLDERS.to_vec(),
                });
            };
            parts.push(Part::Text(std::mem::take(&mut plain)));
            parts.push(Part::Placeholder(known));
            rest = after;
        }
        plain.push_str(rest);
        parts.push(Part::Text(plain));
        Ok(Self { parts })
    }

    /// For words of a command, where braces are everyday characters: all but the placeholders stay as they are.
    pub(super) fn lenient(text: &str) -> Self {
        let mut parts = vec![Part::Text(text.to_owned())];
        for name in PLACEHOLDERS {
            parts = parts.into_iter().flat_map(|part| replace_in(part, name)).collect();
        }
        Self { parts }
    }

    pub fn fill(&self, places: &Places<'_>) -> OsString {
        let mut filled = OsString::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => filled.push(text),
                Part::Placeholder("workspace") => filled.push(places.workspace),
                Part::Placeholder("outbox") => filled.push(places.outbox),
                Part::Placeholder("script_dir") => filled.push(places.script_dir),
                Part::Placeholder("task") => filled.push(places.task),
                Part::Placeholder("role") => filled.push(places.role.as_str()),
                Part::Placeholder("round") => filled.push(places.round.to_string()),
                Part::Placeholder(_) => filled.push(places.attempt.to_string()),
            }
        }
        filled
    }
}

fn replace_in(part: Part, name: &'static str) -> Vec<Part> {
    let Part::Text(text) = part else {
        return vec![part];
    };
    let mut parts = Vec::new();
    for piece in text.split(&format!("{{{name}}}")) {
        if !parts.is_empty() {
            parts.push(Part::Placeholder(name));
        }
        parts.push(Part::Text(piece.to_owned()));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places<'static> {
        Places {
            workspace: Path::new("/w/{round}"),
            outbox: Path::new("/o"),
            script_dir: Path::new("/s"),
            task: "TASK-1",
            role: Role::Judge,
            round: 2,
            attempt: 3,
        }
    }

    #[test]
    fn placeholders_are_filled_once() {
        let table = [
            ("plain/path.rs", "plain/path.rs"),
            ("{workspace}/x", "/w/{round}/x"),
            ("{outbox}{script_dir}", "/o/s"),
            ("{task}-{role}-{round}-{attempt}.log", "TASK-1-judge-2-3.log"),
            ("a{{b}}c", "a{b}c"),
            ("{{{role}}}", "{judge}"),
            ("größe {{", "größe {"),
        ];
        for (text, filled) in table {
            assert_eq!(Template::strict(text).unwrap().fill(&places()), filled, "{text}");
        }
    }

    #[test]
    fn in_commands_all_other_braces_stay() {
        let table = [
            ("{print $1}", "{print $1}"),
            ("${X} {{ {role} }} {", "${X} {{ judge }} {"),
            ("{workspace}:{round}:{round}", "/w/{round}:2:2"),
        ];
        for (text, filled) in table {
            assert_eq!(Template::lenient(text).fill(&places()), filled, "{text}");
        }
    }

    #[test]
    fn slips_in_paths_are_refused() {
        assert_eq!(
            Template::strict("{workspce}/x").unwrap_err().to_string(),
            "unknown placeholder `{workspce}`: did you mean `workspace`? \
             (known: workspace, outbox, script_dir, task, role, round, attempt)"
        );
        for text in ["a{", "a}b", "{role", "}{"] {
            assert_eq!(
                Template::strict(text).unwrap_err(),
                ScriptProblem::LoneBrace { text: text.to_owned() },
                "{text}"
            );
        }
    }
}
