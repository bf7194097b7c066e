//! The first line of the one commit an item gets: `feat(F001): …`. It knows the form; when to commit is decided elsewhere.

use super::item_id::ItemId;
use crate::one_line::one_line;

/// Longest subject; longer ones are cut by the lists that show them.
const MAX_CHARS: usize = 100;

/// `refactor` for R, `fix` for B, `feat` for all others.
pub fn commit_subject(id: &ItemId, text: &str) -> String {
    let kind = match id.prefix() {
        'R' => "refactor",
        'B' => "fix",
        _ => "feat",
    };
    let lead = format!("{kind}({id}): ");
    let text = one_line(text, MAX_CHARS.saturating_sub(lead.chars().count()));
    format!("{lead}{}", if text.is_empty() { "work on the item" } else { &text })
}

/// The item a subject of this form belongs to, for counting the commits of a run.
pub fn item_of_subject(subject: &str) -> Option<ItemId> {
    let (kind, rest) = subject.split_once('(')?;
    let (id, _) = rest.split_once("): ")?;
    let id = ItemId::parse(id)?;
    let expected = commit_subject(&id, "");
    expected.starts_with(&format!("{kind}(")).then_some(id)
}
