//! Goal loops of a repository that are not at their end: under way, resting for a person, or in a person's hands.

use crate::control::find;
use crate::fault::journal_fault;
use crate::headline;
use crate::host::Host;
use windlass_control_api::views::{LoopKind, Status};
use windlass_control_api::{Code, Fault};
use windlass_engine::Journal;
use windlass_git_workspaces::Checkout;
use windlass_protocols::Run;
use windlass_protocols::explain::explain;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::goal_contract::end::End;
use windlass_protocols::protocol::goal_contract::state::State;

/// In words, and what can be done about it.
pub(super) struct OpenBecause {
    pub(super) why: String,
    pub(super) commands: Vec<String>,
}

/// Its id, and why it is open.
pub(super) async fn open_run(
    host: &Host,
    checkout: &Checkout,
) -> Result<Option<(String, OpenBecause)>, Fault> {
    let wanted = checkout.common_dir().to_string_lossy().into_owned();
    for head in host.journal.runs().await.map_err(journal_fault)? {
        let line = headline::line(&head, false);
        let may_be_open = matches!(line.status, Status::NeedsHuman | Status::Interrupted | Status::Stopped);
        if line.kind != LoopKind::Goal
            || !may_be_open
            || headline::common_dir(&head).as_deref() != Some(wanted.as_str())
        {
            continue;
        }
        let (_, _, run) = find::run(host, head.run.as_str()).await?;
        if let Some(why) = goal_state(&run).and_then(|state| open_because(&run, state)) {
            let driven = find::driver_of(host, &head.run).await?.is_some();
            let why = if driven { "it is running".to_owned() } else { why };
            let commands = if driven { Vec::new() } else { explain(&run).commands };
            return Ok(Some((head.run.to_string(), OpenBecause { why, commands })));
        }
    }
    Ok(None)
}

pub(super) fn goal_state(run: &Run) -> Option<&State> {
    match &run.started.as_ref()?.protocol {
        Protocol::GoalContract(state) => Some(state),
        Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::RoadmapRounds(_) => None,
    }
}

/// A run with a summary is at its end, also where a person has to look.
fn open_because(run: &Run, state: &State) -> Option<String> {
    if let Some(taken) = &run.taken_over {
        return Some(format!("a person works on it on {}", taken.branch));
    }
    match &state.end {
        Some(End::AwaitsApproval { item, .. }) => Some(format!("{item} waits for approval")),
        Some(End::Paused { iteration }) => Some(format!("it pauses after iteration {iteration}")),
        _ if !run.ended => Some("it was interrupted".to_owned()),
        _ => None,
    }
}

pub(super) fn refusal(run: &str, open: &OpenBecause) -> Fault {
    let message = format!("the goal loop {run} of this repository is open: {}", open.why);
    let fault = Fault::new(Code::NotAllowedNow, message)
        .kept("nothing was begun")
        .hint(format!("`windlass explain {run}` says where it stands"));
    let fault = open.commands.iter().fold(fault, |fault, command| fault.hint(format!("`{command}`")));
    fault.hint("`--another` begins a second one beside it")
}
