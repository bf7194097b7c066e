//! Worktrees that a person asked for with `windlass checkout`: one in which nobody worked goes, every other one stays.

use super::item;
use super::keeping::{Corner, KEPT_IGNORED_FILES, worktree_of};
use crate::context::RunContext;
use crate::fault::git_fault;
use windlass_control_api::Fault;
use windlass_control_api::commands::CleanMode;
use windlass_control_api::views::CleanReport;
use windlass_engine::RunHead;

pub(super) fn sweep(
    context: &RunContext,
    head: &RunHead,
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let repository = &context.repository;
    for checkout in repository.checkouts_of(head.run.as_str()) {
        let shown = checkout.path.display().to_string();
        if checkout.path.symlink_metadata().is_err() {
            continue;
        }
        if !repository.is_untouched(&checkout).map_err(git_fault)? {
            let why = "somebody worked in it; `git worktree remove` takes it away".to_owned();
            report.kept.push(item(head, "checkout", &shown, why));
            continue;
        }
        let base = repository.take_in(&checkout.commit).map_err(git_fault)?;
        let name = checkout.path.file_name().unwrap_or_default().to_string_lossy();
        let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let corner = Corner {
            path: checkout.path,
            key: checkout.key,
            kept_name: format!("{}/checkouts/c{name}", context.run),
            ignored: KEPT_IGNORED_FILES,
        };
        match worktree_of(context, &corner, &base, mode)? {
            Ok(why) => report.items.push(item(head, "checkout", &shown, why)),
            Err(why) => report.kept.push(item(head, "checkout", &shown, why)),
        }
    }
    Ok(())
}
