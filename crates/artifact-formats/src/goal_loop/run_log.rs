//! `docs/loop-run-log.md`: the ledger, one block per iteration, only ever appended to. Reading is tolerant, because
//! people and the original write it too; what the engine needs to know it keeps in its journal.

use std::fmt::Write;

use super::item_id::ItemId;
use crate::markdown::{bullets, headings};
use crate::one_line::one_line;
use crate::recognised::Recognised;
use crate::text_lines::{appended, without_mark};

pub const RUN_LOG_FILE: &str = "docs/loop-run-log.md";

const MAX_FIELD_CHARS: usize = 400;
const HEADER: &str =
    "# Loop Run Log\n\nOne block per iteration, newest last. Written by windlass, read by people.\n";
const START: &str = "Run started — ";

/// The state of the repository when a run starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartSnapshot<'a> {
    pub started: &'a str,
    pub branch: &'a str,
    pub head: &'a str,
    /// Such as `42/42 green`.
    pub baseline: &'a str,
}

impl StartSnapshot<'_> {
    pub fn render(&self) -> String {
        let field = |text: &str| one_line(text, MAX_FIELD_CHARS);
        format!(
            "## {START}{}\n- **Branch**: {}\n- **HEAD**: {}\n- **Baseline tests**: {}\n",
            field(self.started),
            field(self.branch),
            field(self.head),
            field(self.baseline)
        )
    }
}

/// What was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoggedWork {
    Build,
    /// Something called complete: nothing was built.
    Recheck,
}

/// What followed build and verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoggedAction {
    Commit,
    /// There was nothing to commit.
    Accept,
    /// Verified and waiting for a person.
    Propose,
    Rework,
    Escalate,
}

impl LoggedAction {
    const fn word(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Accept => "accept",
            Self::Propose => "wait for approval",
            Self::Rework => "rework",
            Self::Escalate => "escalate",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoggedVerdict {
    Pass,
    /// With the root cause on one line.
    Fail(String),
    /// No verdict could be had.
    Inconclusive(String),
}

/// A counter and its cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Of {
    pub used: u32,
    pub cap: u32,
}

/// One iteration as it goes into the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationEntry<'a> {
    pub number: u32,
    pub time: &'a str,
    pub id: &'a ItemId,
    pub name: &'a str,
    pub work: LoggedWork,
    pub action: LoggedAction,
    pub verdict: LoggedVerdict,
    /// Passed and total, as the engine counted them; nothing where they cannot be counted.
    pub tests: Option<(u32, u32)>,
    /// Id and subject.
    pub commit: Option<(&'a str, &'a str)>,
    pub iterations: Of,
    pub commits: Of,
    pub rework: Of,
    pub notes: &'a str,
}

impl IterationEntry<'_> {
    pub fn render(&self) -> String {
        let field = |text: &str| one_line(text, MAX_FIELD_CHARS);
        let verdict = match &self.verdict {
            LoggedVerdict::Pass => "PASS".to_owned(),
            LoggedVerdict::Fail(cause) => format!("FAIL — {}", field(cause)),
            LoggedVerdict::Inconclusive(why) => format!("INCONCLUSIVE — {}", field(why)),
        };
        let tests =
            self.tests.map_or("not counted".to_owned(), |(passed, total)| format!("{passed}/{total}"));
        let commit = match self.commit {
            Some((sha, subject)) => format!("{} {}", field(sha), field(subject)),
            None => "(none)".to_owned(),
        };
        let notes = if self.notes.trim().is_empty() { "none".to_owned() } else { field(self.notes) };
        let mut text = format!("### Iteration {} — {}\n", self.number, field(self.time));
        let _ = writeln!(text, "- **Feature**: {} — {}", self.id, field(self.name));
        let work = match self.work {
            LoggedWork::Build => "build → verify",
            LoggedWork::Recheck => "recheck",
        };
        let _ = writeln!(text, "- **Action**: {work} → {}", self.action.word());
        let _ = writeln!(text, "- **Evaluator verdict**: {verdict}");
        let _ = writeln!(text, "- **Tests**: {tests}");
        let _ = writeln!(text, "- **Commit**: {commit}");
        let _ = writeln!(
            text,
            "- **Budget**: iter {}/{} · commits {}/{} · rework {}/{}",
            self.iterations.used,
            self.iterations.cap,
            self.commits.used,
            self.commits.cap,
            self.rework.used,
            self.rework.cap
        );
        let _ = writeln!(text, "- **Notes**: {notes}");
        text
    }
}

/// An iteration as it was found; what a block does not say is left open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundIteration {
    pub number: u32,
    pub time: String,
    pub id: Option<ItemId>,
    pub action: String,
    pub verdict: Option<LoggedVerdict>,
    pub tests: Option<(u32, u32)>,
    pub commit: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunLog {
    source: String,
    pub iterations: Vec<FoundIteration>,
    /// Starts of runs with the number of iterations that stand above them.
    pub starts: Vec<(String, usize)>,
}

impl RunLog {
    /// A log for a repository that has none.
    pub fn new() -> Self {
        Self { source: HEADER.to_owned(), iterations: Vec::new(), starts: Vec::new() }
    }

    pub fn recognise(text: &str) -> Recognised<Self> {
        let mut log = Self { source: text.to_owned(), iterations: Vec::new(), starts: Vec::new() };
        let visible = without_mark(text);
        let all = headings(&visible);
        for (position, heading) in all.iter().enumerate() {
            let end = all.get(position + 1).map_or(text.len(), |next| next.line_start);
            if let Some((number, time)) = iteration_title(heading.title).filter(|_| heading.level == 3) {
                log.iterations.push(found(number, time, &text[heading.content_start..end]));
            } else if let Some(start) = heading.title.strip_prefix(START) {
                log.starts.push((start.trim().to_owned(), log.iterations.len()));
            }
        }
        let titled = all.first().is_some_and(|heading| {
            heading.level == 1 && heading.title.to_ascii_lowercase().contains("run log")
        });
        // A header alone is a few lines of prose; a page that explains another ledger is longer or holds code.
        let only_header = titled && all.len() == 1 && text.lines().count() <= 12 && !text.contains("```");
        if text.trim().is_empty() || only_header || !log.iterations.is_empty() || !log.starts.is_empty() {
            return Recognised::Ours(log);
        }
        Recognised::Foreign("it has no block `### Iteration <N> — <time>` and no header of ours".to_owned())
    }

    pub fn text(&self) -> &str {
        &self.source
    }

    /// The log with a rendered block at its end; everything above stays as it is.
    pub fn with(&self, block: &str) -> String {
        appended(if self.source.trim().is_empty() { HEADER } else { &self.source }, block)
    }

    /// Iterations in which an item passed, newest last.
    pub fn passes<'l>(&'l self, id: &'l ItemId) -> impl Iterator<Item = &'l FoundIteration> {
        let passed = move |block: &&FoundIteration| {
            block.id.as_ref() == Some(id) && block.verdict == Some(LoggedVerdict::Pass)
        };
        self.iterations.iter().filter(passed)
    }
}

impl Default for RunLog {
    fn default() -> Self {
        Self::new()
    }
}

fn iteration_title(title: &str) -> Option<(u32, &str)> {
    let rest = title.strip_prefix("Iteration ")?;
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest[..digits].parse().ok()?;
    Some((number, rest[digits..].trim_start_matches([' ', '—', '–', '-', ':']).trim()))
}

fn found(number: u32, time: &str, block: &str) -> FoundIteration {
    let mut iteration = FoundIteration { number, time: time.to_owned(), ..FoundIteration::default() };
    for bullet in bullets(block, 0) {
        let text = bullet.text.replace("**", "");
        let Some((label, value)) = text.split_once(':') else { continue };
        let value = value.trim();
        match label.trim().to_ascii_lowercase().as_str() {
            "feature" => {
                iteration.id = ItemId::parse(value.split([' ', '—', '-']).next().unwrap_or_default());
            }
            "action" => value.clone_into(&mut iteration.action),
            "evaluator verdict" => iteration.verdict = verdict(value),
            "tests" => iteration.tests = counts(value),
            "commit" if !value.starts_with("(none)") => {
                iteration.commit = value.split_whitespace().next().map(str::to_owned);
            }
            _ => {}
        }
    }
    iteration
}

/// Exact words: `PASSED WITH REMARKS` or the template's `PASS | FAIL` is no pass.
fn verdict(value: &str) -> Option<LoggedVerdict> {
    let value = value.trim_matches(['`', ' ']);
    let cause = |rest: &str| rest.trim_start_matches([' ', '—', '–', '-', ':']).trim().to_owned();
    if value == "PASS" {
        return Some(LoggedVerdict::Pass);
    }
    if let Some(rest) = value.strip_prefix("FAIL") {
        return Some(LoggedVerdict::Fail(cause(rest)));
    }
    value.strip_prefix("INCONCLUSIVE").map(|rest| LoggedVerdict::Inconclusive(cause(rest)))
}

fn counts(value: &str) -> Option<(u32, u32)> {
    let (passed, rest) = value.split_once('/')?;
    let total = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
    Some((passed.trim().parse().ok()?, total.parse().ok()?))
}
