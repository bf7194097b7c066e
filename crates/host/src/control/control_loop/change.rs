//! What a control loop changed: in all, or in one iteration of one node. The loop's own files are none of it.

use crate::context::git_tree;
use crate::control::find;
use crate::fault::{git_fault, journal_fault};
use crate::host::Host;
use windlass_control_api::views::{ChangeView, Diff};
use windlass_control_api::{Code, Fault};
use windlass_engine::Stored;
use windlass_git_workspaces::Patch;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::feedback_control::facts::Fact as ControlFact;
use windlass_protocols::protocol::feedback_control::frame::Frame;
use windlass_protocols::protocol::feedback_control::state::State;
use windlass_protocols::{Fact, Run, RunId, TreeId};

/// A patch beyond this is nothing to look at.
const MAX_PATCH_BYTES: usize = 256 * 1024 * 1024;

/// Where something began and ended.
struct Span {
    from: TreeId,
    to: TreeId,
}

pub(crate) fn diff(
    host: &Host,
    (id, stored): (&RunId, &[Stored]),
    run: &Run,
    iteration: Option<&str>,
) -> Result<Diff, Fault> {
    let protocol = find::protocol(run)?;
    let span = span(id, stored, run, iteration)?;
    let repository = find::context(host, id, protocol)?.repository;
    let (from, to) = (git_tree(&span.from)?, git_tree(&span.to)?);
    let patch = match repository.patch(&from, &to, MAX_PATCH_BYTES).map_err(git_fault)? {
        Patch::Complete(patch) => patch,
        Patch::TooLarge { limit } => {
            let message = format!("the patch would be larger than {limit} bytes");
            return Err(
                Fault::new(Code::NotAllowedNow, message).hint("`--iteration N` shows one iteration of it")
            );
        }
    };
    Ok(Diff {
        run: id.to_string(),
        round: protocol.round(),
        iteration: iteration.map(str::to_owned),
        base: match iteration {
            Some(_) => span.from.to_string(),
            None => protocol.place().base.to_string(),
        },
        tree: span.to.to_string(),
        patch,
    })
}

/// In file names. A run is worth showing without its repository; an iteration that there is not is a mistake.
pub(crate) fn view(
    host: &Host,
    (id, stored): (&RunId, &[Stored]),
    run: &Run,
    iteration: Option<&str>,
) -> Result<Option<ChangeView>, Fault> {
    if iteration.is_some() {
        span(id, stored, run, iteration)?;
    }
    let Ok(diff) = diff(host, (id, stored), run, iteration) else { return Ok(None) };
    Ok(Some(ChangeView { iteration: iteration.map(str::to_owned), files: files(&diff.patch) }))
}

pub(crate) fn no_iterations() -> Fault {
    Fault::new(Code::BadArgument, "this run is a task loop: it has rounds, not iterations")
        .hint("`windlass diff RUN --round N` shows the change of one")
}

/// Every path that a patch of ours changes; there are no renames in it.
fn files(patch: &[u8]) -> Vec<String> {
    let heads = patch.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"diff --git "));
    heads
        .map(|names| {
            let names = String::from_utf8_lossy(names).into_owned();
            let one = names.get(names.len() / 2 + 1..).unwrap_or_default();
            let quoted = one.strip_prefix('"').and_then(|one| one.strip_suffix('"'));
            let one = quoted.unwrap_or(one);
            one.strip_prefix("b/").unwrap_or(one).to_owned()
        })
        .collect()
}

fn span(id: &RunId, stored: &[Stored], run: &Run, iteration: Option<&str>) -> Result<Span, Fault> {
    match iteration {
        None => whole(id, run),
        Some(label) => of_iteration(id, stored, label),
    }
}

fn state(run: &Run) -> Option<&State> {
    match run.started.as_ref().map(|started| &started.protocol) {
        Some(Protocol::FeedbackControl(state)) => Some(state),
        Some(Protocol::JudgedTask(_) | Protocol::GoalContract(_) | Protocol::RoadmapRounds(_)) | None => None,
    }
}

fn whole(id: &RunId, run: &Run) -> Result<Span, Fault> {
    let found = state(run).and_then(|state| state.base.as_ref().zip(state.plant.as_ref()));
    let ((_, base), plant) = found.ok_or_else(|| {
        Fault::new(Code::NotAllowedNow, "the run has not begun to work")
            .hint(format!("`windlass explain {id}` says where it stands"))
    })?;
    Ok(Span { from: base.clone(), to: plant.clone() })
}

/// From what the iteration found to what was committed for it, or to what there is while it goes on.
fn of_iteration(id: &RunId, stored: &[Stored], label: &str) -> Result<Span, Fault> {
    let mut so_far = Run::default();
    let mut span: Option<Span> = None;
    for row in stored {
        let fact = row.fact(id).map_err(journal_fault)?;
        so_far.evolve(&fact);
        let Some((state, plant)) = state(&so_far).and_then(|state| Some((state, state.plant.clone()?)))
        else {
            continue;
        };
        let is_at_work = state.frame().map(Frame::label).as_deref() == Some(label);
        match fact {
            Fact::FeedbackControl(ControlFact::NodeEntered { .. } | ControlFact::IterationOpened { .. })
                if is_at_work =>
            {
                span = Some(Span { from: plant.clone(), to: plant });
            }
            Fact::FeedbackControl(_) if is_at_work || state.stack.iter().any(|one| one.label() == label) => {
                if let Some(span) = &mut span {
                    span.to = plant;
                }
            }
            _ => {}
        }
    }
    span.ok_or_else(|| {
        Fault::new(Code::BadArgument, format!("there was no iteration {label}"))
            .hint(format!("`windlass log {id}` names them all"))
    })
}

#[cfg(test)]
mod tests {
    use super::files;

    #[test]
    fn a_patch_tells_its_files_whatever_they_are_called() {
        let patch = b"diff --git a/src/a b.rs b/src/a b.rs\n+diff --git a/x b/x\ndiff --git \"a/\\303\\244\" \"b/\\303\\244\"\n";
        assert_eq!(files(patch), ["src/a b.rs", "\\303\\244"]);
    }
}
