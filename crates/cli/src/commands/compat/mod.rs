//! `windlass compat`: the original scripts' command lines, output and exit codes on our engine.

mod mk_worktrees;
mod run_loop;

use crate::output::Output;
use clap::{Args, Subcommand};
use windlass_control_api::compat::{Compat, MakeWorktrees};
use windlass_control_api::{Code, Control, Fault, exit_codes};

/// Stand in for the original scripts: their flags, output and exit codes
#[derive(Args, Debug)]
pub(crate) struct CompatArgs {
    #[command(subcommand)]
    script: Script,
}

#[derive(Debug, Subcommand)]
enum Script {
    RunLoop(Box<run_loop::RunLoopArgs>),
    MkWorktrees(mk_worktrees::MkWorktreesArgs),
}

/// A command line whose words are in order, as far as that shows without a host.
pub(crate) enum Prepared {
    RunLoop(Box<run_loop::Prepared>),
    MkWorktrees(MakeWorktrees),
}

/// The original complains about its words before it looks at anything else. `Err` is the exit code of a complaint that
/// was printed.
pub(crate) fn prepare(args: CompatArgs, output: &mut Output) -> Result<Prepared, u8> {
    let prepared = match args.script {
        Script::RunLoop(args) => run_loop::prepare(*args, output).map(Box::new).map(Prepared::RunLoop),
        Script::MkWorktrees(args) => mk_worktrees::prepare(args).map(Prepared::MkWorktrees),
    };
    prepared.map_err(|complaint| complaint.print(output))
}

pub(crate) async fn run(
    prepared: Prepared,
    control: &dyn Control,
    compat: &dyn Compat,
    output: &mut Output,
) -> u8 {
    let answer = match prepared {
        Prepared::RunLoop(prepared) => run_loop::run(*prepared, control, output).await,
        Prepared::MkWorktrees(command) => mk_worktrees::run(command, compat, output).await,
    };
    answer.unwrap_or_else(|complaint| complaint.print(output))
}

/// A fault with the exit code the original would have given, which is not the one our own commands give.
struct Complaint {
    fault: Fault,
    exit_code: u8,
}

impl Complaint {
    fn usage(message: impl Into<String>) -> Self {
        let fault = Fault::new(Code::BadArgument, message);
        Self { fault, exit_code: exit_codes::USAGE }
    }

    fn print(&self, output: &mut Output) -> u8 {
        output.fault(&self.fault);
        self.exit_code
    }

    fn of(code: Code, message: impl Into<String>) -> Self {
        Fault::new(code, message).into()
    }
}

impl From<Fault> for Complaint {
    /// The original ends with 1 for everything it finds out after its arguments were understood.
    fn from(fault: Fault) -> Self {
        Self { fault, exit_code: exit_codes::FAULT }
    }
}
