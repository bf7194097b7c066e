//! `docs/PROGRESS.md`: the story of the project, appended to and never rewritten.
//! It knows the forms of the entries; what they say comes from elsewhere.

use std::fmt::Write;

use super::item_id::ItemId;
use crate::markdown::headings;
use crate::one_line::one_line;
use crate::text_lines::appended;

pub const PROGRESS_FILE: &str = "docs/PROGRESS.md";

const TITLE: &str = "# Progress Log\n";
const SUMMARY: &str = "Loop Run Summary";
const MAX_FIELD_CHARS: usize = 600;

/// One piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEntry<'a> {
    pub time: &'a str,
    pub id: &'a ItemId,
    pub name: &'a str,
    pub status: &'a str,
    pub built: &'a str,
    pub tests: &'a str,
    pub issues: &'a str,
    pub next: &'a str,
}

/// A design that was written or approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DesignEntry<'a> {
    pub date: &'a str,
    pub id: &'a ItemId,
    pub name: &'a str,
    pub document: &'a str,
    pub approval: DesignApproval,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DesignApproval {
    Approved,
    /// Waits for a person.
    Waiting,
    /// Used without approval, as the autonomy level allows.
    UsedUnapproved,
}

/// How a run ended, in the original's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    Success,
    /// With the cap that was reached.
    HardKill(String),
    Escalated(String),
    /// Stopped by a person; the original has no word for it.
    Stopped(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopSummary<'a> {
    /// Full time, so that it can be told from an earlier run of the same day.
    pub time: &'a str,
    pub end: RunEnd,
    pub iterations: u32,
    pub commits: u32,
    pub completed: &'a [ItemId],
    /// Items that went back, each with its cause.
    pub unfinished: &'a [(ItemId, String)],
    /// Such as `iterations 4/10 · commits 2/15 · wall-clock 12/60`.
    pub budget: &'a str,
    /// Commits whose differences a person should read.
    pub to_read: &'a [String],
    pub next: &'a str,
}

impl SessionEntry<'_> {
    pub fn render(&self) -> String {
        let mut text = format!("## Session — {}\n", field(self.time));
        line(&mut text, "Feature", &format!("{} — {}", self.id, field(self.name)));
        line(&mut text, "Status", self.status);
        line(&mut text, "What was built", self.built);
        line(&mut text, "Tests", self.tests);
        line(&mut text, "Issues", self.issues);
        line(&mut text, "Next", self.next);
        text
    }
}

impl DesignEntry<'_> {
    pub fn render(&self) -> String {
        let heading = match self.approval {
            DesignApproval::Approved => "Design Approved",
            DesignApproval::Waiting | DesignApproval::UsedUnapproved => "Feature Design",
        };
        let status = match self.approval {
            DesignApproval::Approved => "approved",
            DesignApproval::Waiting => "waits for approval",
            DesignApproval::UsedUnapproved => "used without approval, as the autonomy level allows",
        };
        let mut text = format!("## {heading} — {}\n", field(self.date));
        line(&mut text, "Feature", &format!("{} — {}", self.id, field(self.name)));
        line(&mut text, "Design", self.document);
        line(&mut text, "Status", status);
        text
    }
}

impl RunEnd {
    pub fn words(&self) -> String {
        match self {
            Self::Success => "SUCCESS".to_owned(),
            Self::HardKill(cap) => format!("HARD KILL ({})", field(cap)),
            Self::Escalated(why) if why.trim().is_empty() => "ESCALATED".to_owned(),
            Self::Escalated(why) => format!("ESCALATED — {}", field(why)),
            Self::Stopped(why) => format!("STOPPED — {}", field(why)),
        }
    }
}

impl LoopSummary<'_> {
    pub fn render(&self) -> String {
        let list = |words: Vec<String>| if words.is_empty() { "none".to_owned() } else { words.join(", ") };
        let completed = list(self.completed.iter().map(ToString::to_string).collect());
        let unfinished =
            list(self.unfinished.iter().map(|(id, cause)| format!("{id} — {}", field(cause))).collect());
        let to_read = match list(self.to_read.iter().map(|sha| field(sha)).collect()).as_str() {
            "none" => "nothing to read".to_owned(),
            shas => format!("read these diffs → {shas}"),
        };
        let mut text = format!("## {SUMMARY} — {}\n", field(self.time));
        line(&mut text, "Outcome", &self.end.words());
        let _ = writeln!(text, "- **Iterations**: {}   **Commits**: {}", self.iterations, self.commits);
        line(&mut text, "Completed this run", &completed);
        line(&mut text, "Needs-rework / escalated", &unfinished);
        line(&mut text, "Budget", self.budget);
        line(&mut text, "Comprehension debt", &to_read);
        line(&mut text, "Next", self.next);
        text
    }
}

/// The log with an entry at its end; a missing or empty one gets its title first.
pub fn append_progress(log: Option<&str>, entry: &str) -> String {
    match log {
        Some(log) if !log.trim().is_empty() => appended(log, entry),
        _ => appended(TITLE, entry),
    }
}

/// Whether a run that started at this time has its summary: the mark that it is over.
pub fn has_summary_since(log: &str, started: &str) -> bool {
    progress_headings(log)
        .iter()
        .any(|(title, time)| title.eq_ignore_ascii_case(SUMMARY) && !is_earlier(time, started))
}

/// The entries' titles and times, in the order of the file.
pub fn progress_headings(log: &str) -> Vec<(String, String)> {
    let second = headings(log).into_iter().filter(|heading| heading.level == 2);
    second
        .map(|heading| {
            let (title, time) = [" — ", " – ", " - "]
                .iter()
                .find_map(|dash| heading.title.split_once(dash))
                // `Session 2026-11-16` is the one form without a dash.
                .or_else(|| heading.title.split_once(' ').filter(|(word, _)| *word == "Session"))
                .unwrap_or((heading.title, ""));
            (title.trim().to_owned(), time.trim().to_owned())
        })
        .collect()
}

/// Compares as much of two times as both state: a mere date is not earlier than any time of its day.
fn is_earlier(time: &str, than: &str) -> bool {
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).take(14).collect::<Vec<u8>>();
    let (time, than) = (digits(time), digits(than));
    let shared = time.len().min(than.len());
    time[..shared] < than[..shared]
}

fn line(text: &mut String, label: &str, value: &str) {
    let value = field(value);
    let _ = writeln!(text, "- **{label}**: {}", if value.is_empty() { "none" } else { &value });
}

fn field(text: &str) -> String {
    one_line(text, MAX_FIELD_CHARS)
}
