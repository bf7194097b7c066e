//! A goal loop in sentences: iterations and items.

use super::{found, local_time, short};
use windlass_control_api::events::Tone;
use windlass_protocols::Run;
use windlass_protocols::effect::{CommitItem, RunChecks, RunSuite, SuitePurpose};
use windlass_protocols::kernel::availability::FOR_GOOD;
use windlass_protocols::outcome::{CapturedChange, Finding, SuiteReport};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::goal_contract::end::{End, Proposed};
use windlass_protocols::protocol::goal_contract::facts::{Ending, Fact, OutKind, RetryKind};
use windlass_protocols::protocol::goal_contract::queue::{Queue, Work};
use windlass_protocols::protocol::goal_contract::state::State;

pub(super) fn testing(asked: &RunSuite) -> (String, Tone) {
    let words = match asked.purpose {
        SuitePurpose::Baseline => "the engine runs the test suite before anything is changed",
        SuitePurpose::BaselineAgain => "once more, to see what is flaky",
        SuitePurpose::Item => "the engine runs the test suite",
    };
    (words.to_owned(), Tone::Plain)
}

pub(super) fn tested(report: &SuiteReport) -> (String, Tone) {
    let count =
        if report.total > 0 { format!(": {}/{}", report.passed, report.total) } else { String::new() };
    match (report.is_green(), report.regressions.is_empty()) {
        (true, true) => (format!("tests green{count}"), Tone::Good),
        (_, false) => {
            (format!("tests that were green are not: {}", report.regressions.join(", ")), Tone::Bad)
        }
        (false, true) if report.failing.is_empty() => {
            (format!("tests red{count}: the suite {}", super::ended(&report.end)), Tone::Bad)
        }
        (false, true) => (format!("tests red{count}: {}", report.failing.join(", ")), Tone::Bad),
    }
}

pub(super) fn committing(asked: &CommitItem) -> (String, Tone) {
    match &asked.item {
        Some(item) => (format!("{item}: committing"), Tone::Quiet),
        None => ("the closing commit".to_owned(), Tone::Quiet),
    }
}

/// The engine's own checks on a verified tree; other loops have other names for them.
pub(super) fn pre_commit(checks: &RunChecks) -> (String, Tone) {
    let words = match checks.commands.len() {
        1 => "the engine runs the pre-commit check".to_owned(),
        count => format!("the engine runs {count} pre-commit checks"),
    };
    (words, Tone::Plain)
}

/// The contract and the queue as they were told before: their items are told when something happens to them.
pub(super) fn is_known(run: &Run, fact: &windlass_protocols::Fact) -> bool {
    let windlass_protocols::Fact::GoalContract(Fact::QueueTaken { queue }) = fact else { return false };
    let Some(state) = state(run) else { return false };
    state.queue.as_ref().is_some_and(|before| {
        let told = |queue: &Queue| (queue.scope.len(), queue.items.len(), queue.autonomy, queue.limits);
        told(before) == told(queue) && before.notices == queue.notices
    })
}

pub(super) fn state(run: &Run) -> Option<&State> {
    match &run.started.as_ref()?.protocol {
        Protocol::GoalContract(state) => Some(state),
        Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::RoadmapRounds(_) => None,
    }
}

pub(super) fn sentence(run: &Run, fact: &Fact) -> (String, Tone) {
    let quiet = || (String::new(), Tone::Quiet);
    match fact {
        Fact::BaseFixed { commit, .. } => {
            (format!("the loop begins at {}", short(commit.as_str())), Tone::Quiet)
        }
        Fact::QueueTaken { queue } => queue_taken(run, queue),
        Fact::BaselineTaken { suite, flaky } => baseline(suite.as_ref(), flaky),
        Fact::IterationOpened { iteration, item, work, .. } => {
            let what = match work {
                Work::Build => "",
                Work::Rework => ", rework",
                Work::Recheck => ", checked before its \"complete\" counts",
            };
            (format!("iteration {iteration}: {item}{what}"), Tone::Plain)
        }
        Fact::DesignTaken { item, design } => {
            (format!("{item} is designed: {} ({} files)", design.summary, design.paths.len()), Tone::Plain)
        }
        Fact::DesignApproved { item } => (format!("the design of {item} is approved"), Tone::Good),
        Fact::DesignRejected { item, reason } => {
            (format!("the design of {item} is rejected: {reason}"), Tone::Bad)
        }
        Fact::BuildTaken { report } if report.question.is_some() => {
            (format!("the builder asks: {}", report.question.as_deref().unwrap_or_default()), Tone::Attention)
        }
        Fact::BuildTaken { report } => (report.summary.clone(), Tone::Quiet),
        Fact::BuildFailed { why } => (format!("the builder {why}"), Tone::Bad),
        Fact::ChangeTaken { change } => changed(change),
        Fact::TestsTaken { suite } if !suite.gate.is_empty() => found(&suite.gate),
        Fact::PreCommitPassed { gate, .. } if !gate.is_empty() => found(gate),
        Fact::TestsTaken { .. } | Fact::PreCommitPassed { .. } => quiet(),
        Fact::GateInspected { report } if report.findings.is_empty() => {
            ("it passes with the base's own tests and configuration too".to_owned(), Tone::Good)
        }
        Fact::GateInspected { report } => found(&report.findings),
        Fact::VerdictTaken { item, pass: true, waivers, .. } if !waivers.is_empty() => {
            let names: Vec<&str> = waivers.iter().map(|waiver| waiver.finding.name()).collect();
            (format!("the evaluator says PASS for {item}, waives {}", names.join(", ")), Tone::Good)
        }
        Fact::VerdictTaken { item, pass: true, .. } => {
            (format!("the evaluator says PASS for {item}"), Tone::Good)
        }
        Fact::VerdictTaken { item, why, artifact: Some(_), .. } => {
            (format!("the evaluator says FAIL for {item}: {why}"), Tone::Bad)
        }
        Fact::VerdictTaken { item, why, artifact: None, .. } => {
            (format!("the engine says FAIL for {item}: {why}"), Tone::Bad)
        }
        Fact::ChangeApproved { item, tree } => {
            (format!("{item} is approved: tree {}", short(tree.as_str())), Tone::Good)
        }
        Fact::ItemCommitted { item, commit, .. } => {
            (format!("{item} is committed as {}", short(commit.as_str())), Tone::Good)
        }
        Fact::IterationEnded { iteration, item, result, .. } => ended(*iteration, item, result),
        Fact::ItemParked { item, why } => (format!("{item} is put aside: {why}"), Tone::Attention),
        Fact::RepairAsked { role, faults } => {
            (format!("the {role}'s answer cannot be used: {}", faults.join("; ")), Tone::Attention)
        }
        Fact::StepRetried { stage, why, kind } => {
            let again = match kind {
                RetryKind::Interrupted => "goes on",
                RetryKind::Lost | RetryKind::Failed => "tried again",
            };
            (format!("{}: {why}; {again}", stage.words()), Tone::Attention)
        }
        Fact::AgentOut { agent, until, kind: OutKind::Misconfigured, .. } if *until == FOR_GOOD => {
            (format!("{agent} is not asked again before a person has looked"), Tone::Attention)
        }
        Fact::AgentOut { agent, until, .. } => {
            (format!("{agent} is not asked before {}", local_time(until.0)), Tone::Attention)
        }
        Fact::Concluded { end } => concluded(end),
        Fact::SummaryCommitted { commit: Some(commit), .. } => {
            (format!("the summary is committed as {}", short(commit.as_str())), Tone::Quiet)
        }
        Fact::SummaryCommitted { why_not, .. } => {
            (format!("the summary could not be committed: {why_not}"), Tone::Attention)
        }
    }
}

fn baseline(suite: Option<&SuiteReport>, flaky: &[String]) -> (String, Tone) {
    match suite {
        None => ("no test command: nothing but the evaluator can say no".to_owned(), Tone::Attention),
        Some(_) if !flaky.is_empty() => {
            (format!("the baseline is flaky: {}", flaky.join(", ")), Tone::Attention)
        }
        Some(suite) if suite.total == 0 => (
            "the baseline is green, but no tests can be read from what the command prints: only its exit code counts"
                .to_owned(),
            Tone::Attention,
        ),
        Some(_) => ("the baseline is green".to_owned(), Tone::Good),
    }
}

fn queue_taken(run: &Run, queue: &Queue) -> (String, Tone) {
    let limits = &queue.limits;
    let mut notices = queue.notices.join("; ");
    let tone = if notices.is_empty() { Tone::Plain } else { Tone::Attention };
    if !notices.is_empty() {
        notices.insert_str(0, "; ");
    }
    let words = format!(
        "{} of {} items in scope, {}, at most {} iterations and {} commits{notices}",
        queue.scope.len(),
        queue.items.len(),
        state(run).and_then(State::level).unwrap_or(queue.autonomy).word(),
        limits.iterations,
        limits.commits
    );
    (words, tone)
}

fn changed(change: &CapturedChange) -> (String, Tone) {
    let plural = if change.files_changed == 1 { "file" } else { "files" };
    let tree = short(change.tree.as_str());
    let words = format!("{} {plural} changed, tree {tree}", change.files_changed);
    let words = match change.gate.as_slice() {
        [] => words,
        gate => format!("{words}; {}", found(gate).0),
    };
    if change.findings.is_empty() {
        return (words, if change.gate.is_empty() { Tone::Plain } else { Tone::Attention });
    }
    let findings = change.findings.iter().map(Finding::words).collect::<Vec<_>>().join("; ");
    (format!("{words}; the builder {findings}"), Tone::Attention)
}

fn ended(iteration: u32, item: &str, result: &Ending) -> (String, Tone) {
    match result {
        Ending::Accepted => (format!("iteration {iteration}: {item} is complete"), Tone::Good),
        Ending::Rework { by, cause, .. } => {
            (format!("iteration {iteration}: {item} needs rework: {}", by.sentence(cause)), Tone::Bad)
        }
        Ending::Inconclusive { why } => {
            (format!("iteration {iteration}: {item} is undecided: {why}"), Tone::Attention)
        }
        Ending::Escalated { why } => {
            (format!("iteration {iteration}: {item} is given to a person: {why}"), Tone::Bad)
        }
    }
}

fn concluded(end: &End) -> (String, Tone) {
    match end {
        End::Success => ("SUCCESS".to_owned(), Tone::Good),
        End::HardKill { cap } => (format!("HARD KILL ({})", cap.words()), Tone::Bad),
        End::Escalated { cause } => (format!("ESCALATED: {}", cause.words()), Tone::Attention),
        End::AwaitsApproval { item, proposed: Proposed::Change { tree } } => {
            (format!("{item} waits for a person's yes to tree {}", short(tree.as_str())), Tone::Attention)
        }
        End::AwaitsApproval { item, proposed: Proposed::Design { .. } } => {
            (format!("{item} waits for a person's yes to its design"), Tone::Attention)
        }
        End::Paused { iteration } => (format!("iteration {iteration} is done; paused"), Tone::Attention),
        End::AsAsked { iteration } => (format!("iteration {iteration} is done, as asked"), Tone::Good),
        End::Stopped { by, .. } => (format!("stopped by {by}"), Tone::Attention),
        End::NotReady { why } => (format!("it did not begin: {}", why.words()), Tone::Bad),
    }
}
