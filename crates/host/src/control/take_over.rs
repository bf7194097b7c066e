//! A person goes on by hand: a worktree of their own with what the maker last left, and the way back into the run.

use super::find;
use super::people::{go_on, person, record};
use super::resume::refuse_early;
use super::start::may_wait;
use super::task_spec::free_branch;
use crate::context::RunContext;
use crate::effect_runner::by_hand::{self, Made, Maker, Place};
use crate::effect_runner::restore_worktrees;
use crate::fault::{bug, git_fault};
use crate::holder::{IfHeld, Owner, hold_repository};
use crate::host::Host;
use crate::past::Past;
use windlass_control_api::events::Watcher;
use windlass_control_api::inbox::{HandBackRun, TakeOverRun, TakenOver};
use windlass_control_api::views::RunOutcome;
use windlass_control_api::{Code, Fault};
use windlass_engine::RunHead;
use windlass_git_workspaces::Moment;
use windlass_protocols::kernel::person::Word;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::{Observation, Role, Run};

/// Recorded first, made after that: who asks again finds the worktree, or has it made if it was not.
pub(crate) async fn take_over(
    host: &Host,
    command: TakeOverRun,
    watcher: &dyn Watcher,
) -> Result<TakenOver, Fault> {
    let (head, past) = find::past(host, &command.run).await?;
    if past.run.taken_over.is_none() {
        let first = (person(host), said(String::new()));
        refuse_early(&past.run, Some(&first))?;
    }
    let protocol = find::protocol(&past.run)?;
    let context = find::context(host, &head.run, protocol)?;
    let owner = Owner::this_process(head.run.as_str(), "windlass take-over")?;
    let common_dir = protocol.place().common_dir.clone();
    let repository = hold_repository(host, &common_dir, &owner, IfHeld::waiting(command.wait), watcher);
    let repository = repository.await.map_err(may_wait)?;
    let taken = take(host, &head, &context, past).await;
    repository.release(host, taken).await
}

fn said(branch: String) -> Observation {
    Observation::PersonSaid { word: Word::TakeOver { branch } }
}

async fn take(host: &Host, head: &RunHead, context: &RunContext, past: Past) -> Result<TakenOver, Fault> {
    let run = if past.run.taken_over.is_some() {
        past.run
    } else {
        let branch = free_branch(&context.repository, &format!("take-over/{}", head.run))?;
        record(host, &head.run, "windlass take-over", (past, person(host), said(branch))).await?
    };
    let place = place_of(context, &run)?;
    crate::workspaces::unfold(context)?.map_err(git_fault)?;
    restore_worktrees(context, find::protocol(&run)?)?;
    // A moment of the run, not of this command: made again after a crash it must be the same commit.
    let seconds = i64::try_from(head.started_at.0 / 1000).unwrap_or(i64::MAX);
    let time = Moment { seconds, offset_minutes: 0 };
    let Made { tree, left_out } = by_hand::make(context, &maker(context, &run)?, &place, time)?;
    Ok(TakenOver {
        run: head.run.to_string(),
        worktree: place.path.to_string_lossy().into_owned(),
        branch: place.branch,
        tree: tree.to_string(),
        left_out,
    })
}

pub(crate) async fn hand_back(
    host: &Host,
    command: HandBackRun,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    let (head, past) = find::past(host, &command.run).await?;
    // Whether anything can be handed back does not depend on what.
    let letting_go = Observation::PersonSaid { word: Word::LetGo };
    refuse_early(&past.run, Some(&(person(host), letting_go)))?;
    let context = find::context(host, &head.run, find::protocol(&past.run)?)?;
    let place = place_of(&context, &past.run)?;
    if !place.stands(&context)? {
        let message = format!("there is no worktree at {} to hand back", place.path.display());
        return Err(Fault::new(Code::NotAllowedNow, message)
            .kept("nothing was changed")
            .hint("`windlass take-over RUN` makes it again from what the maker last left")
            .hint("`windlass hand-back RUN --discard` gives the run back without changes"));
    }
    let by = (host.person(), command.note);
    let (tree, report) =
        by_hand::take_down(&context, &maker(&context, &past.run)?.base, &place, (&by.0, by.1.as_deref()))?;
    let said = Observation::PersonSaid { word: Word::HandBack { tree, report } };
    go_on(host, (&head.run, past, said), command.wait, watcher).await
}

fn place_of(context: &RunContext, run: &Run) -> Result<Place, Fault> {
    let taken = run.taken_over.as_ref().ok_or_else(|| bug("nobody took the run over"))?;
    Ok(Place::of(context, &taken.branch))
}

/// Whose place a person takes.
fn maker(context: &RunContext, run: &Run) -> Result<Maker, Fault> {
    let never = || bug("a run without a base was taken over");
    match find::protocol(run)? {
        Protocol::JudgedTask(state) => {
            let (_, tree) = state.base.as_ref().ok_or_else(never)?;
            Ok(Maker { role: Role::Doer, base: context.base(tree)? })
        }
        Protocol::GoalContract(state) => {
            let (head, _) = state.head.as_ref().ok_or_else(never)?;
            let base = context.repository.resolve_commit(head.as_str()).map_err(git_fault)?;
            Ok(Maker { role: Role::Builder, base })
        }
        Protocol::FeedbackControl(_) => Err(bug("a control loop was taken over")),
        Protocol::RoadmapRounds(_) => Err(bug("a roadmap loop was taken over")),
    }
}
