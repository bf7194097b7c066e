//! A run directory as a listing: its name, what lies in it, and where an unfinished run goes on.
//! It knows names and parsed decisions that callers hand in; it opens no file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::audit::Gate;
use super::summary::FinalVerdict;
use super::verdict::Verdict;

/// Where an unfinished run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// `summary.json` is there: nothing to do.
    Finished,
    /// No worktrees yet.
    Prepare,
    Doer {
        round: u32,
        start: DoerStart,
    },
    TransferAndJudge {
        round: u32,
    },
    TransferAndAudit {
        round: u32,
    },
    WriteSummary {
        rounds_completed: u32,
        final_verdict: FinalVerdict,
    },
}

/// What the doer starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoerStart {
    /// Nothing happened before.
    Fresh,
    /// The same round again in the same tree, which is kept by a snapshot first.
    Again,
    AfterVerdict {
        round: u32,
    },
    AfterAudit {
        round: u32,
    },
}

/// What the flags of the run say; none of it stands in the run directory of the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunRules {
    pub max_rounds: u32,
    pub audit: AuditMode,
    pub needs_human: NeedsHuman,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditMode {
    Required,
    Skipped,
}

/// Whether `needs-human` ends the run or is one more reason for another round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeedsHuman {
    Stop,
    Continue,
}

/// A decision found in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stated<T> {
    Known(T),
    /// The file is there and cannot be used; its role has to speak again.
    Unreadable,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Relative to the run directory, with `/`, no slash at the end.
    pub path: String,
    pub kind: EntryKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    File,
    Directory,
    /// Link, pipe, device: never part of a run directory.
    Other,
}

/// A listing of a run directory with the decisions found in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunDirectory {
    entries: BTreeMap<String, EntryKind>,
    verdicts: BTreeMap<u32, Stated<Verdict>>,
    gates: BTreeMap<u32, Stated<Gate>>,
}

impl RunDirectory {
    pub fn new(entries: impl IntoIterator<Item = Entry>) -> Self {
        let entries = entries.into_iter().map(|entry| (entry.path, entry.kind)).collect();
        Self { entries, ..Self::default() }
    }

    /// Adds what `verdict.json` of a round says.
    #[must_use]
    pub fn with_verdict(mut self, round: u32, verdict: Stated<Verdict>) -> Self {
        self.verdicts.insert(round, verdict);
        self
    }

    /// Adds what `audit.json` of a round says.
    #[must_use]
    pub fn with_gate(mut self, round: u32, gate: Stated<Gate>) -> Self {
        self.gates.insert(round, gate);
        self
    }

    /// Whether this is a run directory at all: it holds the task and the rounds.
    pub fn is_run(&self) -> bool {
        self.has_file("task.txt") && self.entries.get("rounds") == Some(&EntryKind::Directory)
    }

    /// Numbers of the round directories.
    pub fn rounds(&self) -> BTreeSet<u32> {
        let directories = self.entries.iter().filter(|(_, kind)| **kind == EntryKind::Directory);
        directories.filter_map(|(path, _)| round_number(path.strip_prefix("rounds/")?)).collect()
    }

    /// Where the run goes on. An unreadable decision counts as absent, and a decision without the hand-off and
    /// patch it should rest on counts for nothing.
    pub fn position(&self, rules: RunRules) -> Position {
        if self.has_file("summary.json") {
            return Position::Finished;
        }
        if !self.has_file("worktrees.env") {
            return Position::Prepare;
        }
        let Some(round) = self.rounds().last().copied() else {
            return Position::Doer { round: 1, start: DoerStart::Fresh };
        };
        if !self.round_has(round, "handoff.json") || !self.round_has(round, "patch.diff") {
            return Position::Doer { round, start: DoerStart::Again };
        }
        match self.verdict(round) {
            None => Position::TransferAndJudge { round },
            Some(Verdict::Pass) => self.after_pass(round, rules),
            Some(verdict) => after_refusal(round, rules, verdict.into(), DoerStart::AfterVerdict { round }),
        }
    }

    fn after_pass(&self, round: u32, rules: RunRules) -> Position {
        if rules.audit == AuditMode::Skipped {
            return Position::WriteSummary { rounds_completed: round, final_verdict: FinalVerdict::Pass };
        }
        match self.gate(round) {
            None => Position::TransferAndAudit { round },
            Some(Gate::Pass) => {
                Position::WriteSummary { rounds_completed: round, final_verdict: FinalVerdict::Pass }
            }
            Some(gate) => after_refusal(round, rules, gate.into(), DoerStart::AfterAudit { round }),
        }
    }

    /// The usable verdict of a round. The listing must show the file too: a decision nobody can see is none.
    pub(super) fn verdict(&self, round: u32) -> Option<Verdict> {
        match self.verdicts.get(&round) {
            Some(Stated::Known(verdict)) if self.round_has(round, "verdict.json") => Some(*verdict),
            _ => None,
        }
    }

    fn gate(&self, round: u32) -> Option<Gate> {
        match self.gates.get(&round) {
            Some(Stated::Known(gate)) if self.round_has(round, "audit.json") => Some(*gate),
            _ => None,
        }
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, EntryKind)> {
        self.entries.iter().map(|(path, kind)| (path.as_str(), *kind))
    }

    pub(super) fn has_file(&self, path: &str) -> bool {
        self.entries.get(path) == Some(&EntryKind::File)
    }

    pub(super) fn round_has(&self, round: u32, name: &str) -> bool {
        self.has_file(&format!("rounds/round-{round}/{name}"))
    }
}

fn after_refusal(round: u32, rules: RunRules, final_verdict: FinalVerdict, start: DoerStart) -> Position {
    let waits_for_human = final_verdict == FinalVerdict::NeedsHuman && rules.needs_human == NeedsHuman::Stop;
    if waits_for_human || round >= rules.max_rounds {
        return Position::WriteSummary { rounds_completed: round, final_verdict };
    }
    Position::Doer { round: round + 1, start }
}

/// Reads `round-<n>`, n from one and not padded.
pub(super) fn round_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("round-")?;
    let number: u32 = digits.parse().ok()?;
    (number > 0 && number.to_string() == digits).then_some(number)
}

/// `<task-id>-<YYYYMMDD>-<HHMMSS>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectoryName {
    pub task_id: String,
    /// Eight digits.
    pub date: String,
    /// Six digits.
    pub time: String,
}

impl RunDirectoryName {
    /// Recognises the name of a run directory; by itself it proves nothing, see [`RunDirectory::is_run`].
    pub fn parse(name: &str) -> Option<Self> {
        let (rest, time) = name.rsplit_once('-')?;
        let (task_id, date) = rest.rsplit_once('-')?;
        let digits =
            |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
        let fits = !task_id.is_empty() && digits(date, 8) && digits(time, 6);
        fits.then(|| Self { task_id: task_id.to_owned(), date: date.to_owned(), time: time.to_owned() })
    }
}

impl fmt::Display for RunDirectoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.task_id, self.date, self.time)
    }
}
