//! Looks at a roadmap loop's run, never at its files.

use super::report;
use crate::control::{find, queries};
use crate::fault::{git_fault, journal_fault};
use crate::headline;
use crate::host::Host;
use std::path::Path;
use windlass_artifact_formats::roadmap_loop::plane::STATE_FILE;
use windlass_control_api::roadmap_loop::RoadmapStatus;
use windlass_control_api::views::LoopKind;
use windlass_control_api::{Code, Fault};
use windlass_engine::Journal;
use windlass_git_workspaces::Checkout;
use windlass_protocols::protocol::Protocol;

pub(crate) async fn status(
    host: &Host,
    name: Option<&str>,
    repository: &Path,
) -> Result<RoadmapStatus, Fault> {
    let name = match name {
        Some(name) => name.to_owned(),
        None => newest(host, repository).await?,
    };
    let (head, _, run) = find::run(host, &name).await?;
    let Protocol::RoadmapRounds(state) = find::protocol(&run)? else {
        return Err(Fault::new(Code::NotAllowedNow, format!("{name} is not a roadmap loop"))
            .hint(format!("`windlass show {name}` shows any run")));
    };
    Ok(RoadmapStatus {
        run: head.run.to_string(),
        status: find::line(host, &head).await?.status,
        goal: state.spec.text.clone(),
        report: report::of(&run, state),
        explanation: queries::explain(host, head.run.as_str()).await?,
    })
}

/// The newest roadmap loop of the repository.
async fn newest(host: &Host, repository: &Path) -> Result<String, Fault> {
    let checkout = Checkout::discover(repository).map_err(git_fault)?;
    let wanted = checkout.common_dir().to_string_lossy().into_owned();
    let heads = host.journal.runs().await.map_err(journal_fault)?;
    let of_here = heads.iter().find(|head| {
        headline::common_dir(head).as_deref() == Some(wanted.as_str())
            && headline::line(head, false).kind == LoopKind::Roadmap
    });
    of_here.map(|head| head.run.to_string()).ok_or_else(|| {
        let hint = if checkout.work_tree().join(STATE_FILE).is_file() {
            "`windlass roadmap inspect` looks at the control plane and names what to do next"
        } else {
            "`windlass roadmap init` sets a control plane up; there is none yet"
        };
        Fault::new(Code::UnknownRun, "no roadmap loop was ever run in this repository").hint(hint)
    })
}
