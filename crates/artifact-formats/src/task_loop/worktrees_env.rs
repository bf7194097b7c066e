//! `worktrees.env`: seven `KEY=VALUE` lines, parsed as data and never given to a shell.
//! It knows the notation; it does not know whether the paths exist.

use crate::fields::{Choice, choice};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreesEnv {
    pub repo: String,
    pub base_ref: String,
    pub doer_branch: String,
    pub judge_branch: String,
    pub doer_dir: String,
    pub judge_dir: String,
    pub judge_access: JudgeAccess,
    /// Lines with keys we do not know, as they stood.
    pub extra_lines: Vec<String>,
}

choice! {
    /// `JUDGE_READONLY`.
    JudgeAccess {
        ReadOnly = "1",
        Writable = "0",
    }
}

/// Why a `worktrees.env` cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorktreesEnvError {
    #[error("worktrees.env is not UTF-8: invalid byte at offset {offset}")]
    NotUtf8 { offset: usize },
    #[error("line {line} of worktrees.env has no \"=\"")]
    NoAssignment { line: usize },
    #[error("worktrees.env has no {key}")]
    Missing { key: &'static str },
    #[error("line {line} of worktrees.env gives {key} again")]
    Repeated { key: &'static str, line: usize },
    #[error("line {line} of worktrees.env gives {key} where {expected} is due")]
    OutOfOrder { key: &'static str, expected: &'static str, line: usize },
    #[error("{key} in line {line} of worktrees.env has an unclosed or stray quote")]
    BadQuoting { key: &'static str, line: usize },
    #[error("JUDGE_READONLY in worktrees.env must be 1 or 0, found \"{found}\"")]
    BadAccess { found: String },
    #[error("{key} contains a line break or NUL, which worktrees.env cannot hold")]
    Unwritable { key: &'static str },
}

const KEYS: [&str; 7] =
    ["REPO", "BASE_REF", "DOER_BRANCH", "JUDGE_BRANCH", "DOER_DIR", "JUDGE_DIR", "JUDGE_READONLY"];

impl WorktreesEnv {
    pub const FILE_NAME: &'static str = "worktrees.env";

    pub fn parse(bytes: &[u8]) -> Result<Self, WorktreesEnvError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| WorktreesEnvError::NotUtf8 { offset: error.valid_up_to() })?;
        let mut values: Vec<String> = Vec::new();
        let mut extra_lines = Vec::new();
        for (index, content) in text.split('\n').enumerate() {
            if content.is_empty() {
                continue;
            }
            let line = index + 1;
            let (name, value) = content.split_once('=').ok_or(WorktreesEnvError::NoAssignment { line })?;
            let Some(position) = KEYS.iter().position(|key| *key == name) else {
                extra_lines.push(content.to_owned());
                continue;
            };
            let key = KEYS[position];
            if position < values.len() {
                return Err(WorktreesEnvError::Repeated { key, line });
            }
            if position > values.len() {
                return Err(WorktreesEnvError::OutOfOrder { key, expected: KEYS[values.len()], line });
            }
            values.push(unquoted(value).ok_or(WorktreesEnvError::BadQuoting { key, line })?);
        }
        let missing = |key| WorktreesEnvError::Missing { key };
        let [repo, base_ref, doer_branch, judge_branch, doer_dir, judge_dir, access] =
            <[String; 7]>::try_from(values).map_err(|values| missing(KEYS[values.len()]))?;
        let judge_access =
            JudgeAccess::spelled(&access).ok_or(WorktreesEnvError::BadAccess { found: access })?;
        Ok(Self { repo, base_ref, doer_branch, judge_branch, doer_dir, judge_dir, judge_access, extra_lines })
    }

    pub fn render(&self) -> Result<String, WorktreesEnvError> {
        let values = [
            self.repo.as_str(),
            &self.base_ref,
            &self.doer_branch,
            &self.judge_branch,
            &self.doer_dir,
            &self.judge_dir,
            self.judge_access.as_str(),
        ];
        let mut text = String::new();
        for (key, value) in KEYS.into_iter().zip(values) {
            if value.contains(['\n', '\0']) {
                return Err(WorktreesEnvError::Unwritable { key });
            }
            text.push_str(key);
            text.push('=');
            text.push_str(&quoted_if_needed(value));
            text.push('\n');
        }
        for line in &self.extra_lines {
            text.push_str(line);
            text.push('\n');
        }
        Ok(text)
    }
}

/// Quotes what a shell would change or run, because the original tools source this file.
fn quoted_if_needed(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:=@%^~".contains(&byte);
    // A shell expands a tilde at the start and after a colon; elsewhere (`HEAD~1`) it is an ordinary letter.
    let tilde_expands = value.starts_with('~') || value.contains(":~") || value.contains("=~");
    if value.bytes().all(plain) && !tilde_expands {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

/// Takes quotes off a value that begins with one. Any other value is literal, because the original wrote paths
/// without quoting and a quote inside one belongs to the path.
fn unquoted(value: &str) -> Option<String> {
    if !value.starts_with(['\'', '"']) {
        return Some(value.to_owned());
    }
    let mut result = String::new();
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => loop {
                match letters.next()? {
                    '\'' => break,
                    inside => result.push(inside),
                }
            },
            '"' => loop {
                match letters.next()? {
                    '"' => break,
                    '\\' => match letters.next()? {
                        escaped @ ('"' | '\\' | '$' | '`') => result.push(escaped),
                        other => result.extend(['\\', other]),
                    },
                    inside => result.push(inside),
                }
            },
            '\\' => result.push(letters.next()?),
            // A blank outside quotes would end the value in a shell; nobody writes that on purpose.
            ' ' | '\t' => return None,
            other => result.push(other),
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ORIGINAL: &str = "REPO=/r\nBASE_REF=HEAD~1\nDOER_BRANCH=codex/loop-20260101-000000-doer\n\
        JUDGE_BRANCH=codex/loop-20260101-000000-judge\nDOER_DIR=/r/worktrees/doer\nJUDGE_DIR=/r/worktrees/judge\n\
        JUDGE_READONLY=1\n";

    fn with_repo(repo: &str) -> WorktreesEnv {
        WorktreesEnv { repo: repo.to_owned(), ..WorktreesEnv::parse(ORIGINAL.as_bytes()).unwrap() }
    }

    #[test]
    fn the_seven_keys_are_written_in_order_without_needless_quotes() {
        let env = WorktreesEnv::parse(ORIGINAL.as_bytes()).unwrap();
        assert_eq!(env.base_ref, "HEAD~1");
        assert_eq!(env.judge_access, JudgeAccess::ReadOnly);
        assert_eq!(env.render().unwrap(), ORIGINAL);
    }

    #[test]
    fn values_split_at_the_first_equals_sign_and_stay_literal() {
        let text = ORIGINAL.replace("REPO=/r\n", "REPO=/a=b c/$(touch x)/it's\n");
        assert_eq!(WorktreesEnv::parse(text.as_bytes()).unwrap().repo, "/a=b c/$(touch x)/it's");
    }

    #[test]
    fn shell_quoted_values_are_tolerated() {
        for (written, meant) in [
            (r"'/a b'", "/a b"),
            (r"'/it'\''s'", "/it's"),
            (r#""/a \"b\" \$c \x""#, r#"/a "b" $c \x"#),
            (r#"'/a b'"/c d"/e"#, "/a b/c d/e"),
        ] {
            let text = ORIGINAL.replace("REPO=/r\n", &format!("REPO={written}\n"));
            assert_eq!(WorktreesEnv::parse(text.as_bytes()).unwrap().repo, meant, "{written}");
        }
    }

    #[test]
    fn a_path_that_a_shell_would_run_or_split_is_written_quoted() {
        assert!(with_repo("/a b").render().unwrap().starts_with("REPO='/a b'\n"));
        assert!(with_repo("/$(id)").render().unwrap().starts_with("REPO='/$(id)'\n"));
        assert!(with_repo("~/x").render().unwrap().starts_with("REPO='~/x'\n"));
        assert!(with_repo("").render().unwrap().starts_with("REPO=\n"));
    }

    #[test]
    fn a_line_break_in_a_value_is_refused() {
        assert_eq!(with_repo("/a\nb").render(), Err(WorktreesEnvError::Unwritable { key: "REPO" }));
    }

    #[test]
    fn broken_files_are_refused_by_kind() {
        let parse = |text: &str| WorktreesEnv::parse(text.as_bytes()).unwrap_err();
        assert_eq!(parse(""), WorktreesEnvError::Missing { key: "REPO" });
        let without_access = ORIGINAL.replace("JUDGE_READONLY=1\n", "");
        assert_eq!(parse(&without_access), WorktreesEnvError::Missing { key: "JUDGE_READONLY" });
        let swapped = ORIGINAL.replace("REPO=/r\n", "") + "REPO=/r\n";
        let out_of_order = WorktreesEnvError::OutOfOrder { key: "BASE_REF", expected: "REPO", line: 1 };
        assert_eq!(parse(&swapped), out_of_order);
        let repeated = format!("{ORIGINAL}REPO=/other\n");
        assert_eq!(parse(&repeated), WorktreesEnvError::Repeated { key: "REPO", line: 8 });
        let no_sign = ORIGINAL.replace("REPO=/r", "REPO");
        assert_eq!(parse(&no_sign), WorktreesEnvError::NoAssignment { line: 1 });
        let open = ORIGINAL.replace("REPO=/r", "REPO='/r");
        assert_eq!(parse(&open), WorktreesEnvError::BadQuoting { key: "REPO", line: 1 });
        let yes = ORIGINAL.replace("READONLY=1", "READONLY=yes");
        assert_eq!(parse(&yes), WorktreesEnvError::BadAccess { found: "yes".to_owned() });
    }

    #[test]
    fn lines_with_unknown_keys_are_kept_as_they_stood() {
        let text = format!("{ORIGINAL}SOMETHING_ELSE='kept  as \"is\"\n");
        assert_eq!(WorktreesEnv::parse(text.as_bytes()).unwrap().render().unwrap(), text);
    }

    proptest! {
        #[test]
        fn any_value_without_line_break_survives_the_round_trip(value in "[^\n\0]*", quoting in "['\"\\\\ $~=:a]{0,8}") {
            let env = WorktreesEnv { base_ref: quoting, ..with_repo(&value) };
            prop_assert_eq!(WorktreesEnv::parse(env.render().unwrap().as_bytes()).unwrap(), env);
        }

        #[test]
        fn parsing_arbitrary_bytes_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = WorktreesEnv::parse(&bytes);
        }
    }
}
