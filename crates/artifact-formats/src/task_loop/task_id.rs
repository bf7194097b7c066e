//! Task ids: they become directory names, JSON text and prompt text, so what could break any of these is refused.
//! It knows names only, not which tasks exist.

use std::fmt;

/// Leaves room for the time stamp and a suffix within the 255 bytes a file name may have.
pub const MAX_TASK_ID_BYTES: usize = 120;

const PREFIX: &str = "TASK-";
const MAX_SLUG_BYTES: usize = 40;

/// A task id that is safe in paths, JSON and prompts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(String);

/// Why a text cannot be a task id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TaskIdRefusal {
    #[error("the task id is empty")]
    Empty,
    #[error("the task id has {bytes} bytes, at most {MAX_TASK_ID_BYTES} fit into a directory name")]
    TooLong { bytes: usize },
    #[error("the task id contains a slash or backslash, which would lead out of the run directory")]
    Slash,
    #[error("the task id contains \"..\", which would lead out of the run directory")]
    DotDot,
    #[error("the task id contains a quote or backtick")]
    Quote,
    #[error("the task id contains a control character")]
    Control,
    #[error("the task id begins with a dash and would be taken for an option")]
    LeadingDash,
    #[error("the task id begins with a dot and would be a hidden directory")]
    LeadingDot,
    #[error("the task id begins or ends with a blank")]
    OuterBlank,
}

/// Accepts an id or says why not.
pub fn validate_task_id(id: &str) -> Result<TaskId, TaskIdRefusal> {
    if id.is_empty() {
        return Err(TaskIdRefusal::Empty);
    }
    if id.len() > MAX_TASK_ID_BYTES {
        return Err(TaskIdRefusal::TooLong { bytes: id.len() });
    }
    if id.chars().any(char::is_control) {
        return Err(TaskIdRefusal::Control);
    }
    if id.contains(['/', '\\']) {
        return Err(TaskIdRefusal::Slash);
    }
    if id.contains("..") {
        return Err(TaskIdRefusal::DotDot);
    }
    if id.contains(['"', '\'', '`']) {
        return Err(TaskIdRefusal::Quote);
    }
    if id.starts_with('-') {
        return Err(TaskIdRefusal::LeadingDash);
    }
    if id.starts_with('.') {
        return Err(TaskIdRefusal::LeadingDot);
    }
    if id.trim() != id {
        return Err(TaskIdRefusal::OuterBlank);
    }
    Ok(TaskId(id.to_owned()))
}

/// An id for a task that was given none: the same text always gets the same id.
pub fn derive_task_id(text: &str) -> TaskId {
    let first_line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut slug = String::new();
    for word in
        first_line.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
    {
        let separator = usize::from(!slug.is_empty());
        if slug.len() + separator + word.len() > MAX_SLUG_BYTES {
            break;
        }
        if separator == 1 {
            slug.push('-');
        }
        slug.push_str(&word.to_ascii_lowercase());
    }
    // No word in the Latin alphabet, or one too long to keep: a fingerprint still tells tasks apart.
    if slug.is_empty() {
        slug = format!("{:016x}", fingerprint(text));
    }
    TaskId(format!("{PREFIX}{slug}"))
}

impl TaskId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the id looks like `TASK-…`; others work, but deserve a warning.
    pub fn follows_convention(&self) -> bool {
        self.0.strip_prefix(PREFIX).is_some_and(|rest| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
            !rest.is_empty() && rest.bytes().all(allowed)
        })
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// FNV-1a: stable for ever, unlike the standard library's hasher; it only has to tell names apart.
pub(crate) fn fingerprint(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_dangerous_id_is_refused_by_kind() {
        let cases = [
            ("", TaskIdRefusal::Empty),
            ("a/b", TaskIdRefusal::Slash),
            ("a\\b", TaskIdRefusal::Slash),
            ("../../..", TaskIdRefusal::Slash),
            ("TASK-..", TaskIdRefusal::DotDot),
            ("TASK-\"", TaskIdRefusal::Quote),
            ("TASK-'x", TaskIdRefusal::Quote),
            ("TASK-`id`", TaskIdRefusal::Quote),
            ("TASK-\n1", TaskIdRefusal::Control),
            ("TASK-\u{7f}", TaskIdRefusal::Control),
            ("-rf", TaskIdRefusal::LeadingDash),
            (".git", TaskIdRefusal::LeadingDot),
            (" TASK-1", TaskIdRefusal::OuterBlank),
            ("TASK-1 ", TaskIdRefusal::OuterBlank),
        ];
        for (id, refusal) in cases {
            assert_eq!(validate_task_id(id), Err(refusal), "{id:?}");
        }
        let long = "a".repeat(MAX_TASK_ID_BYTES + 1);
        assert_eq!(validate_task_id(&long), Err(TaskIdRefusal::TooLong { bytes: MAX_TASK_ID_BYTES + 1 }));
        assert!(validate_task_id(&long[1..]).is_ok());
    }

    #[test]
    fn an_id_outside_the_convention_is_accepted_and_told_apart() {
        assert!(validate_task_id("TASK-1.a_b-C").unwrap().follows_convention());
        for id in ["fix the bug", "task-1", "TASK-", "TASK-a b", "TASK-ä"] {
            assert!(!validate_task_id(id).unwrap().follows_convention(), "{id}");
        }
    }

    #[test]
    fn a_derived_id_is_made_of_the_first_words() {
        assert_eq!(derive_task_id("Fix the LOGIN bug!\n\nDetails …").as_str(), "TASK-fix-the-login-bug");
        assert_eq!(derive_task_id("\n\n  second line counts").as_str(), "TASK-second-line-counts");
        let long = derive_task_id("one two three four five six seven eight nine ten eleven");
        assert_eq!(long.as_str(), "TASK-one-two-three-four-five-six-seven-eight");
    }

    #[test]
    fn texts_without_latin_words_get_distinct_fingerprints() {
        assert_ne!(derive_task_id("修复错误"), derive_task_id("添加功能"));
        assert_ne!(derive_task_id(&"x".repeat(80)), derive_task_id(&"x".repeat(81)));
    }

    proptest! {
        #[test]
        fn every_derived_id_is_valid_conventional_and_stable(text in any::<String>()) {
            let id = derive_task_id(&text);
            prop_assert_eq!(validate_task_id(id.as_str()), Ok(id.clone()));
            prop_assert!(id.follows_convention());
            prop_assert_eq!(derive_task_id(&text), id);
        }
    }
}
