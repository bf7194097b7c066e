//! `windlass compat mk-worktrees`: two worktrees and `worktrees.env` in a run directory.

use super::super::absolute;
use super::Complaint;
use crate::output::Output;
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::compat::{Compat, JudgeAccess, MakeWorktrees, Standing};
use windlass_control_api::exit_codes;

/// Make the doer's and the judge's worktree, as `mk_worktrees` did
#[derive(Args, Debug)]
#[command(
    args_override_self = true,
    after_help = "\
Examples:
  windlass compat mk-worktrees --repo . --run-dir .orchestrator/runs/TASK-7-20260102-030405
  windlass compat mk-worktrees --repo . --run-dir /tmp/run --base-ref main --force

Exit status: 0 made, 1 could not be made, 2 arguments not understood."
)]
pub(crate) struct MkWorktreesArgs {
    /// A directory inside the repository (required)
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    repo: Option<PathBuf>,
    /// Where `worktrees/` and `worktrees.env` go (required)
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    run_dir: Option<PathBuf>,
    /// The revision both start from
    #[arg(long, value_name = "REV", default_value = "HEAD", allow_hyphen_values = true)]
    base_ref: String,
    /// The doer's branch; a generated name if not given
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    doer_branch: Option<String>,
    /// The judge's branch; a generated name if not given
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    judge_branch: Option<String>,
    /// Leave the judge's worktree writable
    #[arg(long)]
    judge_writable: bool,
    /// Replace what stands at the two places; its content is kept first
    #[arg(long)]
    force: bool,
}

pub(super) fn prepare(args: MkWorktreesArgs) -> Result<MakeWorktrees, Complaint> {
    let (Some(repository), Some(run_dir)) = (args.repo, args.run_dir) else {
        return Err(Complaint::usage("--repo and --run-dir are required"));
    };
    Ok(MakeWorktrees {
        repository: absolute(&repository)?,
        run_dir: absolute(&run_dir)?,
        base: args.base_ref,
        doer_branch: args.doer_branch,
        judge_branch: args.judge_branch,
        judge_access: if args.judge_writable { JudgeAccess::Writable } else { JudgeAccess::ReadOnly },
        standing: if args.force { Standing::Replace } else { Standing::Refuse },
    })
}

pub(super) async fn run(
    command: MakeWorktrees,
    compat: &dyn Compat,
    output: &mut Output,
) -> Result<u8, Complaint> {
    let written = compat.make_worktrees(command).await?;
    if output.is_json() {
        output.document(&serde_json::json!({ "worktrees_env": written }));
    } else {
        output.line(written.to_string_lossy());
    }
    Ok(exit_codes::ACCEPTED)
}
