//! The parts of the loop's files that grow: the run log, the story, the inbox. Each is what the newest
//! commit has, with what the run has come to since at its end.

use super::files::{end, is_titled, iso, item_id, text_at_head};
use crate::context::RunContext;
use crate::fault::bug;
use windlass_artifact_formats::goal_loop::{
    InboxLine, ItemId, IterationEntry, LoggedAction, LoggedVerdict, LoggedWork, LoopSummary, Of,
    PROGRESS_FILE, RUN_LOG_FILE, Recognised, RunEnd, RunLog, SessionEntry, StartSnapshot, append_progress,
    commit_subject,
};
use windlass_control_api::Fault;
use windlass_protocols::effect::CommitItem;
use windlass_protocols::protocol::goal_contract::end::{Cap, Cause, End};
use windlass_protocols::protocol::goal_contract::facts::Ending;
use windlass_protocols::protocol::goal_contract::iteration::PastIteration;
use windlass_protocols::protocol::goal_contract::queue::Work;
use windlass_protocols::protocol::goal_contract::state::State;

/// Everything up to the last iteration that ended. The one that is being committed comes with the next commit, which
/// knows this one's id.
pub(super) fn run_log(context: &RunContext, state: &State) -> Result<String, Fault> {
    let spec = context.goal_loop()?;
    let text = text_at_head(context, state, RUN_LOG_FILE)?.unwrap_or_default();
    let mut log = ours(&text);
    let begun = log.starts.iter().rposition(|(began, _)| *began == spec.began);
    let told = begun.map_or(0, |position| log.iterations.len() - log.starts[position].1);
    if begun.is_none() {
        let start = StartSnapshot {
            started: &spec.began,
            branch: &spec.place.base_ref,
            head: spec.place.base.as_str(),
            baseline: &baseline(state),
        };
        log = ours(&log.with(&start.render()));
    }
    for past in state.past.iter().skip(told) {
        log = ours(&log.with(&block(state, past)?));
    }
    Ok(log.text().to_owned())
}

fn ours(text: &str) -> RunLog {
    match RunLog::recognise(text) {
        Recognised::Ours(log) => log,
        // Looked at before the run began; what is foreign by now is begun anew beside what git keeps of it.
        Recognised::Foreign(_) | Recognised::Invalid(_) => RunLog::new(),
    }
}

fn baseline(state: &State) -> String {
    let Some(baseline) = &state.baseline else { return "not measured".to_owned() };
    let flaky = if baseline.flaky.is_empty() {
        String::new()
    } else {
        format!(", flaky: {}", baseline.flaky.join(", "))
    };
    match &state.first_baseline {
        Some(suite) if suite.total > 0 => format!("{}/{} green{flaky}", suite.passed, suite.total),
        Some(_) => format!("green by its exit code, no tests could be read{flaky}"),
        None => "no test command".to_owned(),
    }
}

pub(super) fn name(state: &State, id: &str) -> String {
    let item = state.queue.as_ref().and_then(|queue| queue.item(id));
    item.map(|item| item.name.clone()).unwrap_or_default()
}

fn block(state: &State, past: &PastIteration) -> Result<String, Fault> {
    let limits = state.limits().ok_or_else(|| bug("an iteration before the contract was read"))?;
    let before = state.past.iter().take_while(|one| one.number <= past.number);
    let commits = before.clone().filter(|one| one.commit.is_some()).count();
    let rework =
        before.filter(|one| one.item == past.item && matches!(one.ending, Ending::Rework { .. })).count();
    let count = |number: usize, cap: u32| Of { used: u32::try_from(number).unwrap_or(u32::MAX), cap };
    let (action, verdict) = match &past.ending {
        Ending::Accepted if past.commit.is_none() => (LoggedAction::Accept, LoggedVerdict::Pass),
        Ending::Accepted => (LoggedAction::Commit, LoggedVerdict::Pass),
        Ending::Rework { by, cause, .. } => (LoggedAction::Rework, LoggedVerdict::Fail(by.sentence(cause))),
        Ending::Inconclusive { why } => (LoggedAction::Rework, LoggedVerdict::Inconclusive(why.clone())),
        Ending::Escalated { why } => (LoggedAction::Escalate, LoggedVerdict::Inconclusive(why.clone())),
    };
    let (id, item_name) = (item_id(&past.item)?, name(state, &past.item));
    let subject = subject_of(&id, &item_name, &past.summary);
    Ok(IterationEntry {
        number: past.number,
        time: &iso(past.at),
        id: &id,
        name: &item_name,
        work: if past.work == Work::Recheck { LoggedWork::Recheck } else { LoggedWork::Build },
        action,
        verdict,
        tests: past.tests.filter(|(_, total)| *total > 0),
        commit: past.commit.as_ref().map(|commit| (commit.as_str(), subject.as_str())),
        iterations: Of { used: past.number, cap: limits.iterations },
        commits: count(commits, limits.commits),
        rework: count(rework, limits.rework),
        notes: &past.findings.join("; "),
    }
    .render())
}

/// The story with what this commit adds to it: a session for an item, a summary for the end.
pub(super) fn progress(context: &RunContext, state: &State, asked: &CommitItem) -> Result<String, Fault> {
    let before = text_at_head(context, state, PROGRESS_FILE)?;
    if let Some(foreign) = before.as_ref().filter(|text| !is_titled(text, "Progress")) {
        // Somebody else's page of that name: the run log and the record tell the story.
        return Ok(foreign.clone());
    }
    let time = iso(asked.decided_at);
    let entry = match &asked.item {
        Some(id) => {
            let item = item_id(id)?;
            let open = state.open.as_ref();
            let built = open.and_then(|open| open.build.as_ref()).map(|build| build.summary.clone());
            let suite = open.and_then(|open| open.suite.as_ref());
            let tests = match suite {
                Some(suite) if suite.total > 0 => format!("{}/{} green", suite.passed, suite.total),
                Some(_) => "green".to_owned(),
                None => "no test command".to_owned(),
            };
            let causes = state.item(id).causes;
            let issues = causes.iter().map(|failed| failed.cause.clone()).collect::<Vec<_>>().join("; ");
            SessionEntry {
                time: &time,
                id: &item,
                name: &name(state, id),
                status: "complete",
                built: built.as_deref().filter(|built| !built.is_empty()).unwrap_or("see the commit"),
                tests: &tests,
                issues: if issues.is_empty() { "none" } else { &issues },
                next: "the loop goes on with its queue",
            }
            .render()
        }
        None => summary(state, asked, &time)?,
    };
    Ok(append_progress(before.as_deref(), &entry))
}

fn summary(state: &State, asked: &CommitItem, time: &str) -> Result<String, Fault> {
    let limits = state.limits().ok_or_else(|| bug("a summary before the contract was read"))?;
    let end = end(state)?;
    let accepted = state.past.iter().filter(|past| past.ending == Ending::Accepted);
    let completed = accepted.map(|past| item_id(&past.item)).collect::<Result<Vec<_>, _>>()?;
    let mut unfinished = Vec::new();
    for (id, known) in &state.items {
        if known.passed {
            continue;
        }
        let cause = known.parked.clone().or_else(|| known.causes.last().map(|failed| failed.cause.clone()));
        if let Some(cause) = cause {
            unfinished.push((item_id(id)?, cause));
        }
    }
    let minutes = asked.used.duration.0 / 60_000;
    let cap = limits.time.map_or_else(|| "–".to_owned(), |time| (time.0 / 60_000).to_string());
    let budget = format!(
        "iterations {}/{} · commits {}/{} · wall-clock {minutes}/{cap}",
        state.iteration,
        limits.iterations,
        state.commits.len(),
        limits.commits
    );
    let to_read: Vec<String> = state.commits.iter().map(|(_, commit)| commit.to_string()).collect();
    Ok(LoopSummary {
        time,
        end: match end {
            End::Success => RunEnd::Success,
            End::HardKill { cap } => RunEnd::HardKill(cap.words()),
            End::Escalated { cause } => RunEnd::Escalated(cause.words()),
            End::AsAsked { .. } => RunEnd::Stopped("one iteration was asked for".to_owned()),
            End::Stopped { reason, .. } => RunEnd::Stopped(reason.clone()),
            End::AwaitsApproval { .. } | End::Paused { .. } | End::NotReady { .. } => {
                return Err(bug("a summary of a run that is only held up"));
            }
        },
        iterations: state.iteration,
        commits: u32::try_from(state.commits.len()).unwrap_or(u32::MAX),
        completed: &completed,
        unfinished: &unfinished,
        budget: &budget,
        to_read: &to_read,
        next: match end {
            End::Success => "done",
            End::AsAsked { .. } => "read what was committed, then run the next iteration",
            End::HardKill { .. } => "look at what was used, raise the cap or resume with more room",
            _ => "triage the inbox of docs/LOOP.md, then resume",
        },
    }
    .render())
}

/// What a person has to look at, item by item.
pub(super) fn inbox(context: &RunContext, state: &State) -> Result<Vec<InboxLine>, Fault> {
    let began = &context.goal_loop()?.began;
    let line = |id: &str, cause: String, next: &str| {
        Ok::<_, Fault>(InboxLine {
            id: item_id(id)?,
            name: name(state, id),
            cause,
            next: next.to_owned(),
            run: began.clone(),
        })
    };
    let mut lines = Vec::new();
    for (id, known) in &state.items {
        if let Some(why) = &known.parked {
            lines.push(line(id, why.clone(), "answer, take it over or take it out of the scope")?);
        }
    }
    match end(state)? {
        End::Escalated { cause } => match (cause, cause.item()) {
            (Cause::NothingReady { waiting }, _) => {
                for one in waiting {
                    let (id, why) = one.split_once(": ").unwrap_or((one, ""));
                    // Why it was put aside says more than that it is.
                    if state.item(id).parked.is_none() {
                        lines.push(line(id, why.to_owned(), cause.suggestion())?);
                    }
                }
            }
            (_, Some(id)) => lines.push(line(id, cause.words(), cause.suggestion())?),
            (_, None) => {}
        },
        End::HardKill { cap: cap @ Cap::Rework { item } } => {
            lines.push(line(item, cap.sentence(), "answer, take it over or skip it")?);
        }
        End::HardKill { cap: cap @ Cap::Destructive { .. } } => {
            if let Some(past) = state.past.last() {
                let next = "look at what the agent was about to do, then retry or skip the item";
                lines.push(line(&past.item, cap.sentence(), next)?);
            }
        }
        _ => {}
    }
    Ok(lines)
}

/// Used by the commit's message as well.
pub(super) fn subject(state: &State, id: &str) -> Result<String, Fault> {
    let built = state.open.as_ref().and_then(|open| open.build.as_ref()).map(|build| build.summary.as_str());
    let item_name = name(state, id);
    Ok(subject_of(&item_id(id)?, &item_name, built.unwrap_or_default()))
}

fn subject_of(id: &ItemId, item_name: &str, built: &str) -> String {
    commit_subject(id, if built.trim().is_empty() { item_name } else { built })
}
