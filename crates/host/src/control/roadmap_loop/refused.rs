//! What a run that cannot begin leaves behind: the precise error in a state that can be read, and a copy of one that cannot,
//! which is never written over.

use super::hold_briefly;
use crate::control_plane::{Trouble, TroubleKind, note_trouble, read_state};
use crate::durable_file::ensure;
use crate::fault::{file_fault, git_fault};
use crate::host::Host;
use windlass_artifact_formats::roadmap_loop::plane::STATE_FILE;
use windlass_control_api::Fault;
use windlass_git_workspaces::Repository;

/// Beside the files of the runs, which git does not see.
const KEPT_STATE: &str = ".orchestrator/roadmap/state.json.as-found";

pub(super) enum Left {
    Nothing,
    Noted,
    Kept,
}

/// Nothing is left where another run holds the repository, or nothing can be written: that hides no refusal.
pub(super) async fn leave(host: &Host, repository: &Repository, trouble: &Trouble) -> Left {
    let left = hold_briefly(host, repository, "windlass roadmap run", || left(repository, trouble));
    left.await.unwrap_or(Left::Nothing)
}

fn left(repository: &Repository, trouble: &Trouble) -> Result<Left, Fault> {
    let top = repository.checkout().work_tree();
    if note_trouble(top, trouble)? {
        return Ok(Left::Noted);
    }
    let unreadable = trouble.kind == TroubleKind::Unreadable && read_state(top).is_err();
    let state = top.join(STATE_FILE);
    let plain = state.symlink_metadata().is_ok_and(|found| found.is_file());
    if !unreadable || !plain {
        return Ok(Left::Nothing);
    }
    let bytes = std::fs::read(&state).map_err(|error| file_fault("read", &state, &error))?;
    repository.checkout().exclude("/.orchestrator/").map_err(git_fault)?;
    let kept = top.join(KEPT_STATE);
    if let Some(folder) = kept.parent() {
        std::fs::create_dir_all(folder).map_err(|error| file_fault("make", folder, &error))?;
    }
    ensure(&kept, &bytes)?;
    Ok(Left::Kept)
}

pub(super) fn refusal(trouble: &Trouble, left: &Left) -> Fault {
    let kept = match left {
        Left::Nothing => "nothing was begun and nothing was written".to_owned(),
        Left::Noted => format!(
            "nothing was begun; the error is noted in {STATE_FILE} under `resume_errors` until a run can begin"
        ),
        Left::Kept => {
            format!("nothing was begun; {STATE_FILE} is as it was, and a copy is kept as {KEPT_STATE}")
        }
    };
    let fault =
        Fault::new(trouble.kind.code(), trouble.sentences.join("\n")).kept(kept).hint(trouble.hint.clone());
    match trouble.kind {
        TroubleKind::Absent | TroubleKind::WrongBranch | TroubleKind::Uncommitted | TroubleKind::Outdated => {
            fault
        }
        _ => fault.hint("`windlass roadmap inspect` shows all of it"),
    }
}
