//! Why a control loop is where it is: in iterations and nodes.

use super::end::{Cause, End, Stall};
use super::frame::Frame;
use super::state::State;
use super::steadiness::Remark;
use crate::explain::{Explanation, room_for_more, waited_for, waiting};
use crate::kernel::gate::GateFinding;
use crate::outcome::ReadingStatus;
use crate::run::Run;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(crate) fn explain(run: &Run, state: &State, id: &str) -> Explanation {
    match &state.end {
        Some(end) if run.ended => ended(run, state, end, id),
        Some(_) | None => under_way(run, state, id),
    }
}

fn under_way(run: &Run, state: &State, id: &str) -> Explanation {
    let steps = run.unsettled.iter().map(|(effect, request)| waited_for(run, *effect, request));
    let mut because: Vec<String> = steps.collect();
    because.extend(state.stack.iter().map(|frame| standing(state, frame)));
    because.extend(state.frame().into_iter().flat_map(|frame| frame.remarks.iter().map(Remark::words)));
    because.extend(state.last_failure.iter().map(|how| format!("the last agent of this iteration {how}")));
    let doing = waiting(run).unwrap_or_else(|| state.stage.words().to_string());
    let now = match state.frame() {
        Some(frame) => format!("iteration {}: {doing}", frame.label()),
        None => doing,
    };
    Explanation {
        now,
        because,
        commands: alloc::vec![format!("windlass resume {id}"), format!("windlass stop {id}")],
    }
}

/// One node in one line.
pub(super) fn standing(state: &State, frame: &Frame) -> String {
    let node = state.spec.node(frame.depth as usize);
    let path = state.spec.node_path(frame.depth as usize).join(" > ");
    let sensors: Vec<String> = node
        .sensors
        .iter()
        .map(|sensor| {
            let reading = frame.readings.iter().find(|reading| reading.sensor == sensor.name);
            let status = reading.map_or(ReadingStatus::Pending, |reading| reading.status);
            format!("{} {}", sensor.name, status.word())
        })
        .collect();
    let sensors = if sensors.is_empty() { "no sensors".to_string() } else { sensors.join(", ") };
    let actuations = counted(frame.actuations, "actuation");
    format!("{path}: iteration {}, {actuations} so far; {sensors}", frame.label())
}

fn ended(run: &Run, state: &State, end: &End, id: &str) -> Explanation {
    let mut because: Vec<String> = state.stack.iter().map(|frame| standing(state, frame)).collect();
    let mut commands = Vec::new();
    let resume = resume_command(run, state, id);
    let now = match end {
        End::Complete => {
            if state.spec.root.sensors.iter().all(|sensor| !sensor.required) {
                because
                    .push("no required sensor measured it: the controller's word alone counts".to_string());
            }
            because.extend(state.integrity.gate.story());
            because.extend(who_waived(state));
            format!("the target is met after {}", actuations(state))
        }
        End::Exhausted { dimension: crate::kernel::budget::Dimension::Rounds } => {
            commands.push(resume);
            format!("out of iterations after {}", actuations(state))
        }
        End::Exhausted { dimension } => {
            because.push(format!("nothing is left of its {dimension} after {}", actuations(state)));
            commands.push(resume);
            format!("out of {dimension}")
        }
        End::Stalled { how } => {
            because.push(how.words().to_string());
            because.extend(
                state.stack.first().into_iter().flat_map(|frame| frame.remarks.iter().map(Remark::words)),
            );
            commands.extend(going_on_from(run, state, *how, &resume));
            format!("stopped early: {}", how.word())
        }
        End::NeedsHuman { cause } => {
            because.push(still_open(state, cause).words());
            because.extend(failed_inside(state, cause));
            because.extend(state.last_failure.iter().map(|how| format!("the last agent {how}")));
            if let Cause::GateFindings { findings } = still_open(state, cause) {
                commands.push(waive_command(id, &findings));
            }
            commands.push(if cause.can_be_talked_over() {
                format!("{resume} --note \"…\"")
            } else {
                resume
            });
            "needs a person".to_string()
        }
        End::Stopped { by, reason } => {
            because.push(format!("{by} asked it to stop: {reason}"));
            commands.push(resume);
            "stopped".to_string()
        }
        End::SetupFailed { reason } => {
            because.push(reason.clone());
            commands.push(resume);
            "could not be set up".to_string()
        }
    };
    if let (Some(best), true) = (state.best(), *end != End::Complete) {
        let commit = best.commit.as_ref().map_or("not committed", |commit| commit.as_str());
        because.push(format!(
            "the best so far is iteration {} ({commit}): {} of {} required sensors fail",
            best.label,
            best.required_failing(),
            state.spec.root.sensors.iter().filter(|sensor| sensor.required).count()
        ));
    }
    // A person who is asked about them was told already.
    if !matches!(end, End::Complete | End::NeedsHuman { cause: Cause::GateFindings { .. } }) {
        let open = state.open_findings().into_iter().map(GateFinding::words);
        because.extend(open.map(|words| format!("found about the gate, and nobody waived it: {words}")));
    }
    if state.commits > 0 {
        let offers_merge = *end == End::Complete || state.open_findings().is_empty();
        tell_of_the_branch(state, offers_merge, &mut because, &mut commands);
    }
    Explanation { now, because, commands }
}

fn failed_inside(state: &State, cause: &Cause) -> Option<String> {
    let inside = state.child_failure(0) == Some(cause);
    inside.then(|| format!("that was in the loop inside {}, which failed so again", state.spec.root.id))
}

/// What was committed, and what a person does with it.
fn tell_of_the_branch(
    state: &State,
    offers_merge: bool,
    because: &mut Vec<String>,
    commands: &mut Vec<String>,
) {
    let (branch, base) = (&state.spec.place.doer_branch, &state.spec.base_branch);
    because.push(format!("{} on {branch}, made from {base}", counted(state.commits_on_branch(), "commit")));
    commands.push(format!("git log --oneline {base}..{branch}"));
    if state.spec.taken_along {
        because.push(
            "your uncommitted changes are the first of them, and lie in your checkout too: stash them before you merge"
                .to_string(),
        );
        commands.push("git stash --include-untracked".to_string());
    }
    if offers_merge {
        commands.push(format!("git merge {branch}"));
    }
}

/// Of which node a waiver is, where there are several: an inner one is shown less than the outer ones.
fn who_waived(state: &State) -> Vec<String> {
    if state.spec.root.chain().nth(1).is_none() {
        return Vec::new();
    }
    let found = |name| state.integrity.gate.findings.iter().any(|finding| finding.kind == name);
    let waived = state.integrity.waived_at().into_iter().filter(|(name, _)| found(*name));
    let words = waived.map(|(name, depth)| {
        let path = state.spec.node_path(depth as usize).join("/");
        format!("`{}` was waived in the node {path}", name.name())
    });
    words.collect()
}

/// A person may have waived some of what the run waits with.
pub(super) fn still_open(state: &State, cause: &Cause) -> Cause {
    match cause {
        Cause::GateFindings { findings } => {
            let open = state.open_findings();
            let open = |one: &&GateFinding| open.iter().any(|finding| finding.kind == one.kind);
            Cause::GateFindings { findings: findings.iter().filter(open).cloned().collect() }
        }
        other => other.clone(),
    }
}

/// Of the outermost node; where others are inside it, how often the actuator worked is said too.
fn actuations(state: &State) -> String {
    let outermost = counted(state.stack.first().map_or(0, |frame| frame.actuations), "actuation");
    if state.spec.root.child().is_none() {
        return outermost;
    }
    let worked = if state.captures == 1 { "once".to_string() } else { format!("{} times", state.captures) };
    format!("{outermost} of {}, in which the actuator worked {worked}", state.spec.root.id)
}

fn counted(count: u32, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

pub(super) fn waive_command(id: &str, findings: &[GateFinding]) -> String {
    let names: Vec<&str> = findings.iter().map(|finding| finding.kind.name()).collect();
    format!("windlass waive {id} {} --reason \"…\"", names.join(" "))
}

/// What a person can do about a loop that went nowhere.
fn going_on_from(run: &Run, state: &State, how: Stall, resume: &str) -> Vec<String> {
    // Without one more the controller would be asked, and nobody could do what it says.
    let cap = run.started.as_ref().map(|started| started.budget.caps.rounds);
    let more = match cap {
        Some(cap) if super::reopen::all_are_used(state, cap) => " --max-iterations +1",
        _ => "",
    };
    let mut commands = alloc::vec![format!("{resume}{more} --note \"…\"")];
    if state.spec.steady_limit > 0 && how != Stall::NoChange {
        let patience = state.spec.steady_limit.saturating_mul(2);
        commands.push(format!("{resume}{more} --patience {patience}"));
    }
    commands
}

pub(super) fn resume_command(run: &Run, state: &State, id: &str) -> String {
    let mut command = format!("windlass resume {id}");
    if let Some(started) = &run.started {
        if super::reopen::needs_another_iteration(state, started.budget.caps.rounds) {
            command.push_str(" --max-iterations +1");
        }
        let share = super::reopen::spent_budget(state, &started.budget);
        command.push_str(&room_for_more(share.unwrap_or(started.budget)));
    }
    command
}

impl Cause {
    /// In one sentence.
    pub fn words(&self) -> String {
        match self {
            Self::NoReadableAnswer { role, faults } => {
                format!("the {role} left no readable answer, also when asked again: {}", faults.join("; "))
            }
            Self::FalseClaim { failing } => format!(
                "the controller keeps saying that the target is met while these sensors do not pass: {}",
                failing.join(", ")
            ),
            Self::WorkspaceChanged { role, paths } => {
                format!("the {role} may only read, and changed {}; its word does not count", paths.join(", "))
            }
            Self::Hazard { hazards } => {
                let hazards = hazards.join("; ");
                format!(
                    "what the actuator left cannot be taken safely: {hazards}; it is kept, in its worktree and as patch.diff among the run's evidence"
                )
            }
            Self::AgentNotStarted { role, reason } => format!("the {role} could not be started: {reason}"),
            Self::AgentKeepsFailing { role, why } => format!("the {role} keeps failing: it {why}"),
            Self::StepKeepsGettingLost { stage } => {
                format!("nobody ever saw the end of this step: {}", stage.words())
            }
            Self::CaptureRefused { reason } => format!("the snapshot could not be taken: {reason}"),
            Self::CommitRefused { reason } => format!("the iteration could not be committed: {reason}"),
            Self::GateFindings { findings } => {
                let words: Vec<String> = findings.iter().map(GateFinding::words).collect();
                format!(
                    "the controller says that the target is met, and did not waive what the change did to its own measures: {}",
                    words.join("; ")
                )
            }
        }
    }

    /// Whether the same could be avoided by an agent that is told so; everything else is mended outside.
    const fn can_be_talked_over(&self) -> bool {
        match self {
            Self::NoReadableAnswer { .. }
            | Self::FalseClaim { .. }
            | Self::WorkspaceChanged { .. }
            | Self::GateFindings { .. }
            | Self::Hazard { .. } => true,
            Self::AgentNotStarted { .. }
            | Self::AgentKeepsFailing { .. }
            | Self::StepKeepsGettingLost { .. }
            | Self::CaptureRefused { .. }
            | Self::CommitRefused { .. } => false,
        }
    }
}
