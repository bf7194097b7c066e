//! Names of families, revisions, rounds, branches and worktrees (section 2.1): how they are read and how new ones are
//! made. It knows spelling only; which names exist is handed in.

use crate::control_loop::slug;

/// Folder of the control plane at the top of the repository.
pub const PLANE_DIR: &str = "orchestrator";
/// Where worktrees lie unless somebody chose another place.
pub const WORKTREES: &str = "orchestrator/worktrees";
const UPDATES: &str = "orchestrator/roadmap-updates";

/// A family's id taken apart: date, ordinal of that day, slug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoadmapIdParts<'a> {
    pub date: &'a str,
    pub ordinal: u32,
    pub slug: &'a str,
}

/// Nothing for an id of another form; ids are opaque, so such an id is still an id.
pub fn roadmap_id_parts(id: &str) -> Option<RoadmapIdParts<'_>> {
    let (date, rest) = id.split_at_checked(10)?;
    let (ordinal, slug) = rest.strip_prefix('-')?.split_once('-')?;
    let is_date = date.bytes().enumerate().all(|(place, byte)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let is_ordinal = ordinal.len() >= 2 && is_number(ordinal);
    if !is_date || !is_ordinal || slug.is_empty() {
        return None;
    }
    Some(RoadmapIdParts { date, ordinal: ordinal.parse().ok()?, slug })
}

/// The id of a new family: the day's first free ordinal above every one in use.
pub fn new_roadmap_id<'a>(date: &str, title: &str, existing: impl IntoIterator<Item = &'a str>) -> String {
    let of_day = existing.into_iter().filter_map(roadmap_id_parts).filter(|parts| parts.date == date);
    let ordinal = of_day.map(|parts| parts.ordinal.saturating_add(1)).max().unwrap_or(0);
    format!("{date}-{ordinal:02}-{}", slug(title))
}

/// The number in `rev-001`.
pub fn revision_number(revision: &str) -> Option<u32> {
    let digits = revision.strip_prefix("rev-").filter(|digits| digits.len() >= 3 && is_number(digits))?;
    digits.parse().ok().filter(|number| *number > 0)
}

/// The revision above every one in use, for a revision that was used is history.
pub fn next_revision<'a>(existing: impl IntoIterator<Item = &'a str>) -> String {
    let highest = existing.into_iter().filter_map(revision_number).max().unwrap_or(0);
    format!("rev-{:03}", highest.saturating_add(1))
}

pub fn roadmap_dir(roadmap_id: &str, revision: &str) -> String {
    format!("{PLANE_DIR}/roadmaps/{roadmap_id}/{revision}")
}

pub fn history_file(roadmap_id: &str) -> String {
    format!("{PLANE_DIR}/roadmaps/{roadmap_id}/roadmap-history.md")
}

/// The number in a round's id, and in the names made of it: `round-323`, `round-02-session-loader`,
/// `orchestrator/round-7-x`, `round-12-roadmap-update.md`, `orchestrator/roadmap-update-round-9-split`.
pub fn round_number(name: &str) -> Option<u64> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.strip_prefix("roadmap-update-").unwrap_or(name);
    let rest = name.strip_prefix("round-")?;
    let digits = &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()];
    let ends = rest[digits.len()..].starts_with(['-', '.']) || digits.len() == rest.len();
    if ends { digits.parse().ok() } else { None }
}

/// One above every number in the names of round folders, live rounds, update artifacts and branches, so that a
/// cancelled round keeps its number.
pub fn next_round_number<'a>(names: impl IntoIterator<Item = &'a str>) -> u64 {
    names.into_iter().filter_map(round_number).max().unwrap_or(0).saturating_add(1)
}

/// `round-007`, with the words of a title behind it where there is one.
pub fn round_id(number: u64, title: Option<&str>) -> String {
    match title {
        Some(title) => format!("round-{number:03}-{}", slug(title)),
        None => format!("round-{number:03}"),
    }
}

pub fn round_branch(round_id: &str) -> String {
    format!("{PLANE_DIR}/{round_id}")
}

pub fn round_worktree(round_id: &str) -> String {
    format!("{WORKTREES}/{round_id}")
}

pub fn worker_branch(round_id: &str, worker_id: &str) -> String {
    format!("{PLANE_DIR}/{round_id}-{worker_id}")
}

pub fn worker_worktree(round_id: &str, worker_id: &str) -> String {
    format!("{WORKTREES}/{round_id}-{worker_id}")
}

pub fn update_branch(round_id: &str, title: &str) -> String {
    format!("{PLANE_DIR}/roadmap-update-{round_id}-{}", slug(title))
}

pub fn update_worktree(round_id: &str) -> String {
    format!("{WORKTREES}/roadmap-update-{round_id}")
}

pub fn update_artifact(round_id: &str) -> String {
    format!("{UPDATES}/{round_id}-roadmap-update.md")
}

pub fn update_review_artifact(round_id: &str) -> String {
    format!("{UPDATES}/{round_id}-roadmap-update-review.md")
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
