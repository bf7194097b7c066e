//! Folds the errors of the adapters into faults a person can act on. The one place where our codes are given out for
//! git, files, processes and the journal.

use rustix::io::Errno;
use std::error::Error;
use std::io::ErrorKind;
use std::path::Path;
use windlass_control_api::{Code, Fault};
use windlass_engine::{EngineError, JournalError};
use windlass_git_workspaces::GitError;
use windlass_process_supervisor::SupervisorError;
use windlass_protocols::Rejection;

const RESUME: &str = "then `windlass resume RUN` goes on where it stopped";
/// What helps where no further process, thread or descriptor can be had.
pub(crate) const MAKE_ROOM: &str =
    "end other programs of yours or raise the limit (`ulimit -u` for processes, `ulimit -n` for files)";
const JOURNAL_KEPT: &str = "everything recorded so far; nothing was acted on that is not recorded";

pub(crate) fn file_fault(action: &str, path: &Path, error: &std::io::Error) -> Fault {
    Fault::new(Code::FileSystem, format!("cannot {action} {}: {error}", path.display()))
        .kept(JOURNAL_KEPT)
        .hint(format!("mend what the message names, {RESUME}"))
}

/// What happened and why: an error of ours says only the first, and what refused (no space, read-only) is what a person
/// can mend.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    message
}

/// Whether something further down says that no space is left.
fn is_full(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(cause) = next {
        let kind = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        if matches!(kind, Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded)) {
            return true;
        }
        next = cause.source();
    }
    false
}

/// Whether something further down says that there is no room for a further process or thread, or for a descriptor.
pub(crate) fn lacks_room(error: &(dyn Error + 'static)) -> bool {
    let scarce =
        [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE].map(|errno| Some(errno.raw_os_error()));
    let mut next = Some(error);
    while let Some(cause) = next {
        let number = cause.downcast_ref::<std::io::Error>().map(std::io::Error::raw_os_error);
        if number.is_some_and(|number| scarce.contains(&number)) {
            return true;
        }
        next = cause.source();
    }
    false
}

pub(crate) fn git_fault(error: GitError) -> Fault {
    let message = with_causes(&error);
    let (full, short) = (error.is_about_space() || is_full(&error), lacks_room(&error));
    let code = match error {
        GitError::NotARepository { .. } | GitError::NoWorkTree { .. } => Code::NotARepository,
        // A directory that was named and is not there.
        GitError::Io { action: "find", ref source, .. } if source.kind() == ErrorKind::NotFound => {
            Code::NotARepository
        }
        GitError::BadReferenceName { .. } => Code::BadArgument,
        GitError::UnknownRevision { .. } => Code::BadRevision,
        _ => Code::GitUnusable,
    };
    let fault = Fault::new(code, message);
    match code {
        Code::NotARepository => {
            fault.hint("name a checkout with `--repo`, or make one with `git init` or `git clone`")
        }
        Code::BadArgument => {
            fault.hint("`git check-ref-format --branch NAME` tells whether git takes a name")
        }
        Code::BadRevision => {
            fault.hint("give a branch, a tag or a commit id with `--base`; `git log` shows them")
        }
        _ if full => fault.kept(JOURNAL_KEPT).hint(format!("free space there, {RESUME}")),
        _ if short => fault.kept(JOURNAL_KEPT).hint(format!("{MAKE_ROOM}, {RESUME}")),
        _ => fault.kept(JOURNAL_KEPT).hint(format!("`windlass doctor` looks at git; {RESUME}")),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
pub(crate) fn supervisor_fault(error: SupervisorError) -> Fault {
    if lacks_room(&error) {
        return no_room(with_causes(&error));
    }
    Fault::new(Code::Supervisor, with_causes(&error))
        .kept("the journal; the step is unsettled and will be asked for again")
        .hint(format!("mend what the message names, {RESUME}"))
}

/// The machine has no room for what was to be started; nobody's fault, and gone when others have ended.
pub(crate) fn no_room(message: String) -> Fault {
    Fault::new(Code::Supervisor, message)
        .kept("the journal; the step is unsettled and will be asked for again")
        .hint(format!("{MAKE_ROOM}, {RESUME}"))
}

pub(crate) fn no_thread(purpose: &str, error: &std::io::Error) -> Fault {
    no_room(format!("cannot start a thread for {purpose}: {error}"))
}

pub(crate) fn journal_fault(error: JournalError) -> Fault {
    let message = error.to_string();
    match error {
        JournalError::Corrupt { .. } => Fault::new(Code::JournalDamaged, message)
            .kept("every row before the damaged one, the sealed artifacts and the worktrees")
            .hint("do not resume this run; `windlass verify RUN` names the first bad row"),
        JournalError::Fenced { .. } | JournalError::VersionConflict { .. } => {
            Fault::new(Code::JournalFenced, message)
                .kept("everything: the other process goes on with the run")
                .hint("`windlass ls` shows who drives it")
        }
        JournalError::Unavailable { .. } => Fault::new(Code::JournalUnavailable, message)
            .kept(JOURNAL_KEPT)
            .hint(format!("free space or mend the permissions (`windlass doctor` names the file), {RESUME}")),
    }
}

pub(crate) fn engine_fault(error: EngineError) -> Fault {
    match error {
        EngineError::Rejected(rejection @ Rejection::OtherTree { .. }) => other_tree(rejection.to_string()),
        EngineError::Rejected(rejection @ Rejection::TakenOver { .. }) => {
            Fault::new(Code::TakenOver, rejection.to_string())
                .kept("nothing was changed")
                .hint("`windlass hand-back RUN` brings the work back, with `--discard` as it was")
        }
        EngineError::Rejected(rejection) => Fault::new(Code::NotAllowedNow, rejection.to_string())
            .hint("`windlass explain RUN` says where it stands and what can be done"),
        EngineError::Journal(error) => journal_fault(error),
    }
}

pub(crate) fn other_tree(message: String) -> Fault {
    Fault::new(Code::OtherTree, message)
        .kept("nothing was changed")
        .hint("`windlass diff RUN` shows what waits now; approve that, or leave `--tree` out")
}

pub(crate) fn bug(message: impl Into<String>) -> Fault {
    Fault::new(Code::Bug, message)
        .kept("the journal: what was recorded before is safe")
        .hint("`windlass resume RUN` often goes on; please report this message")
}
