//! Where the last state that a run could read is kept, for whoever has to mend one that cannot be read.

use crate::effect_runner::LAST_GOOD_STATE;
use crate::fault::journal_fault;
use crate::headline;
use crate::host::Host;
use std::path::Path;
use windlass_agent_drivers::quote_words;
use windlass_artifact_formats::roadmap_loop::plane::STATE_FILE;
use windlass_control_api::Fault;
use windlass_control_api::views::LoopKind;
use windlass_engine::Journal;

/// The command that puts it back, from the top of the checkout. It may be older than what people did to the file since.
pub(super) async fn command(host: &Host, top: &Path) -> Result<Option<String>, Fault> {
    let heads = host.journal.runs().await.map_err(journal_fault)?;
    let lines = heads.iter().map(|head| headline::line(head, false));
    let of_here = lines.filter(|line| line.kind == LoopKind::Roadmap && Path::new(&line.repository) == top);
    let kept = of_here.map(|line| Path::new(&line.run_dir).join(LAST_GOOD_STATE)).find(|path| path.is_file());
    Ok(kept.map(|path| {
        let shown = path.strip_prefix(top).unwrap_or(&path);
        format!("cp {} {STATE_FILE}", quote_words([shown.to_string_lossy().as_ref()]))
    }))
}
