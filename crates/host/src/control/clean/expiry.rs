//! What was kept longer than anybody can ask for it back. It is the last copy, so it goes only where somebody says so.

use crate::control::undo::{is_old, keep_days, kind_and_name, run_of};
use crate::fault::git_fault;
use crate::host::Host;
use std::path::Path;
use windlass_control_api::Fault;
use windlass_control_api::commands::{CleanMode, OldKept};
use windlass_control_api::views::{CleanItem, CleanReport};
use windlass_git_workspaces::{Checkout, ReferenceUpdate};

pub(super) fn sweep(
    host: &Host,
    path: &Path,
    (mode, old_kept): (CleanMode, OldKept),
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let checkout = Checkout::discover(path).map_err(git_fault)?;
    let days = keep_days(host, &checkout)?;
    let repository = host.repository(checkout)?;
    for thing in repository.kept_things("").map_err(git_fault)? {
        if !is_old(&thing, days) {
            continue;
        }
        let (kind, what) = kind_and_name(&thing);
        let item = |why: String| CleanItem {
            run: run_of(&thing).to_owned(),
            kind: format!("kept {kind}"),
            what: what.clone(),
            why,
        };
        if old_kept == OldKept::Stay {
            let why = format!("it was kept for {days} days; `windlass clean --expire-kept` lets it go");
            report.kept.push(item(why));
            continue;
        }
        let gone = match mode {
            CleanMode::DryRun => ReferenceUpdate::Updated,
            CleanMode::Remove => repository.forget_kept(&thing).map_err(git_fault)?,
        };
        match gone {
            ReferenceUpdate::Updated => {
                report
                    .items
                    .push(item(format!("it was kept for {days} days as refs/windlass/kept/{}", thing.name)));
            }
            ReferenceUpdate::Conflict { .. } => report.kept.push(item("it changed just now".to_owned())),
        }
    }
    Ok(())
}
