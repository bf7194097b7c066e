//! Goal loops of a repository that a new one would get in the way of: under way, resting for a person, in a person's hands,
//! or ended with accepted items that nobody merged, which a new one would build again.

use crate::control::find;
use crate::fault::{git_fault, journal_fault};
use crate::headline;
use crate::host::Host;
use windlass_control_api::views::{LoopKind, Status};
use windlass_control_api::{Code, Fault};
use windlass_engine::{Journal, RunHead};
use windlass_git_workspaces::{Checkout, Commit, Repository};
use windlass_protocols::Run;
use windlass_protocols::explain::explain;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::goal_contract::end::End;
use windlass_protocols::protocol::goal_contract::queue::{Item, Queue, Standing};
use windlass_protocols::protocol::goal_contract::spec::{Claimed, Home};
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
    for head in of_repository(host, checkout).await? {
        let status = headline::line(&head, false).status;
        if !matches!(status, Status::NeedsHuman | Status::Interrupted | Status::Stopped) {
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

/// Every goal loop of the repository, the newest first.
pub(super) async fn of_repository(host: &Host, checkout: &Checkout) -> Result<Vec<RunHead>, Fault> {
    let wanted = checkout.common_dir().to_string_lossy().into_owned();
    let mut heads = host.journal.runs().await.map_err(journal_fault)?;
    heads.retain(|head| {
        headline::line(head, false).kind == LoopKind::Goal
            && headline::common_dir(head).as_deref() == Some(wanted.as_str())
    });
    Ok(heads)
}

/// A branch with accepted items that the base does not have.
pub(super) struct Unmerged {
    run: String,
    branch: String,
    items: Vec<String>,
}

/// The newest one that holds items which a run from this base would build again.
pub(super) async fn unmerged(
    host: &Host,
    repository: &Repository,
    base: &Commit,
    (queue, scope, claimed): (&Queue, &[String], Claimed),
) -> Result<Option<Unmerged>, Fault> {
    let mut branches = repository.branches_under("goal").map_err(git_fault)?;
    for head in of_repository(host, repository.checkout()).await? {
        // Reading a run costs more than looking at names: without branches there is nothing to find.
        if branches.is_empty() {
            break;
        }
        let (_, _, run) = find::run(host, head.run.as_str()).await?;
        let Some(state) = goal_state(&run).filter(|state| state.spec.home == Home::OwnBranch) else {
            continue;
        };
        let branch = &state.spec.place.doer_branch;
        let Some(position) = branches.iter().position(|name| name == branch) else { continue };
        branches.remove(position);
        let open = |item: &Item| queue.standing_in_file(item, claimed) != Standing::Accepted;
        let again = |id: &String| scope.contains(id) && queue.item(id).is_some_and(open);
        let mut items = Vec::new();
        for (item, commit) in state.commits.iter().filter(|(item, _)| again(item)) {
            if !repository.first_parents(commit.as_str(), base.id.as_str()).map_err(git_fault)?.is_empty() {
                items.push(item.clone());
            }
        }
        if !items.is_empty() {
            return Ok(Some(Unmerged { run: head.run.to_string(), branch: branch.clone(), items }));
        }
    }
    Ok(None)
}

impl Unmerged {
    pub(super) fn words(&self) -> String {
        let Self { run, branch, items } = self;
        format!(
            "{branch} of the goal loop {run} is not merged and holds accepted items: {}",
            items.join(", ")
        )
    }

    pub(super) fn refusal(&self) -> Fault {
        Fault::new(Code::NotAllowedNow, self.words())
            .kept("nothing was begun")
            .hint(format!("`git merge {}` takes them over; they are not built again then", self.branch))
            .hint(format!("`windlass goal status {}` shows what it holds", self.run))
            .hint("`--another` builds them once more beside it")
    }
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
