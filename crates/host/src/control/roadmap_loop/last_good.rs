//! Ways back from a state that cannot be read: to the last one that a run could read, else to the one that is committed.

use crate::effect_runner::LAST_GOOD_STATE;
use crate::fault::{git_fault, journal_fault};
use crate::headline;
use crate::host::Host;
use std::path::Path;
use windlass_agent_drivers::quote_words;
use windlass_artifact_formats::goal_loop::Recognised;
use windlass_artifact_formats::roadmap_loop::plane::names::PLANE_DIR;
use windlass_artifact_formats::roadmap_loop::plane::{STATE_FILE, StateFile};
use windlass_control_api::Fault;
use windlass_control_api::views::LoopKind;
use windlass_engine::Journal;
use windlass_git_workspaces::Repository;

/// A way back, from the top of the checkout.
pub(super) struct WayBack {
    pub(super) command: String,
    /// What it goes back to.
    pub(super) to: &'static str,
}

/// What it goes back to may be older than what people did to the file since.
pub(super) async fn way_back(host: &Host, repository: &Repository) -> Result<Option<WayBack>, Fault> {
    let kept = kept(host, repository.checkout().work_tree()).await?;
    if let Some(command) = kept {
        return Ok(Some(WayBack { command, to: "the last state a run could read" }));
    }
    let committed = is_committed(repository)?;
    Ok(committed.then(|| WayBack {
        command: format!("git checkout HEAD -- {STATE_FILE}"),
        to: "the state that is committed, in which no round lives",
    }))
}

/// Whether the state that is committed can be read and forgets nobody: where rounds have worktrees, it would.
fn is_committed(repository: &Repository) -> Result<bool, Fault> {
    let worktrees = repository.checkout().work_tree().join(PLANE_DIR).join("worktrees");
    if std::fs::read_dir(worktrees).into_iter().flatten().next().is_some() {
        return Ok(false);
    }
    let Ok(head) = repository.head() else { return Ok(false) };
    repository.import(&head).map_err(git_fault)?;
    let text = repository.file_at(&head.tree, STATE_FILE).map_err(git_fault)?;
    let text = text.and_then(|text| String::from_utf8(text).ok());
    Ok(text.is_some_and(|text| matches!(StateFile::recognise(&text), Recognised::Ours(_))))
}

async fn kept(host: &Host, top: &Path) -> Result<Option<String>, Fault> {
    let heads = host.journal.runs().await.map_err(journal_fault)?;
    let lines = heads.iter().map(|head| headline::line(head, false));
    let of_here = lines.filter(|line| line.kind == LoopKind::Roadmap && Path::new(&line.repository) == top);
    let kept = of_here.map(|line| Path::new(&line.run_dir).join(LAST_GOOD_STATE)).find(|path| path.is_file());
    Ok(kept.map(|path| {
        let shown = path.strip_prefix(top).unwrap_or(&path);
        format!("cp {} {STATE_FILE}", quote_words([shown.to_string_lossy().as_ref()]))
    }))
}
