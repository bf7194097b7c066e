//! `cargo xtask`: reads the arguments and hands over. What each command does stands in its own module.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::bench::BenchArgs;
use xtask::chaos_command::ChaosArgs;
use xtask::commands::Repository;
use xtask::test_command::TestArgs;
use xtask::{
    agent_programs, bench_command, chaos_command, console, no_std_proof, set_up, test_command, tidy,
};

/// What a contributor to Windlass runs.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Look for what the tests need; install it when this is root on Debian, else say what to install. The agent programs
    /// come from npm into a cache outside the work tree; what cannot be had is skipped
    SetUp,
    /// Everything CI runs: set-up, format, lints, tidy, no-std proof, tests, simulation seeds
    Test(TestArgs),
    /// The rules of the house that no compiler or linter knows
    Tidy,
    /// Prove by compiling that the protocols cannot reach the standard library
    NoStdProof,
    /// Ratios against the bare minimum for the same work, measured side by side
    Bench(BenchArgs),
    /// The crash campaigns at every single place and a night's worth of simulation seeds; takes hours
    Chaos(ChaosArgs),
}

fn main() -> ExitCode {
    let repository = Repository::of_this_build();
    let result = match Arguments::parse().task {
        Task::SetUp => set_up::set_up(&repository).map(|skipped| agent_programs::report(&skipped)),
        Task::Test(args) => test_command::test(&repository, &args),
        Task::Tidy => tidy::tidy(&repository),
        Task::NoStdProof => no_std_proof::prove(&repository),
        Task::Bench(args) => bench_command::bench(&repository, &args),
        Task::Chaos(args) => chaos_command::chaos(&repository, &args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
