//! The branch a run works on: `ai-loop/<slug>`, made of the task's first words.
//! It knows what git accepts as a name; which names are taken is the caller's knowledge.

use crate::task_loop::task_id::fingerprint;

pub const BRANCH_PREFIX: &str = "ai-loop/";
const MAX_SLUG_CHARS: usize = 50;

/// The first free branch name for a task: the slug itself, then with `-2`, `-3` and so on.
pub fn branch_for(task: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let slug = slug(task);
    let mut number = 1_u64;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let kept = slug[..slug.len().min(MAX_SLUG_CHARS - suffix.len())].trim_end_matches('-');
        let branch = format!("{BRANCH_PREFIX}{kept}{suffix}");
        if !is_taken(&branch) {
            return branch;
        }
        number += 1;
    }
}

/// Lower case ASCII letters and digits with single hyphens between words; at most fifty; never empty. Such a name needs
/// no escaping anywhere and is a valid ref by construction.
pub fn slug(task: &str) -> String {
    let mut slug = String::new();
    let mut word = String::new();
    for letter in task.chars().chain([' ']) {
        if letter.is_ascii_alphanumeric() {
            word.push(letter.to_ascii_lowercase());
            continue;
        }
        // An apostrophe is inside a word, not between two.
        if matches!(letter, '\'' | '’') || word.is_empty() {
            continue;
        }
        let needed = word.len() + usize::from(!slug.is_empty());
        if slug.len() + needed > MAX_SLUG_CHARS {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word);
        word.clear();
    }
    if slug.is_empty() {
        // Either no usable letter at all, or a first word that is too long by itself.
        slug.push_str(&word[..word.len().min(MAX_SLUG_CHARS)]);
    }
    if slug.is_empty() {
        // Nothing of the task can stand in a name: a fingerprint still tells one such task from another.
        #[expect(clippy::cast_possible_truncation, reason = "eight digits are enough to tell tasks apart")]
        let short = fingerprint(task) as u32;
        return format!("task-{short:08x}");
    }
    slug
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tasks_become_kebab_case() {
        assert_eq!(slug("Fix the user's login: 2 bugs!"), "fix-the-users-login-2-bugs");
        assert_eq!(slug("  --force \n.lock @{x}"), "force-lock-x");
        assert_eq!(slug(&"a".repeat(80)), "a".repeat(50));
        assert_eq!(
            slug("one two three four five six seven eight nine ten eleven"),
            "one-two-three-four-five-six-seven-eight-nine-ten"
        );
    }

    #[test]
    fn tasks_in_other_alphabets_are_told_apart() {
        let (tests, docs) = (slug("すべてのテストを通す"), slug("文書を書き直す"));
        assert_eq!(tests.len(), "task-".len() + 8);
        assert!(tests.starts_with("task-") && docs.starts_with("task-") && tests != docs, "{tests} {docs}");
        assert_eq!(tests, slug("すべてのテストを通す"));
        assert_eq!(slug("テスト test を通す"), "test");
    }

    #[test]
    fn a_taken_branch_gets_a_number_within_the_length() {
        let long = "a".repeat(80);
        let first = branch_for(&long, |_| false);
        let second = branch_for(&long, |name| name == first);
        assert_eq!(second, format!("ai-loop/{}-2", "a".repeat(48)));
        let third = branch_for("do it", |name| matches!(name, "ai-loop/do-it" | "ai-loop/do-it-2"));
        assert_eq!(third, "ai-loop/do-it-3");
    }

    proptest! {
        #[test]
        fn any_task_has_a_valid_branch(task in "\\PC{0,120}|[-./~^:?*\\[@{\\\\ \na-z]{0,120}") {
            let slug = slug(&task);
            prop_assert!((1..=50).contains(&slug.len()));
            prop_assert!(slug.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
            prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"));
        }
    }
}
