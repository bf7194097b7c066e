//! The rows of `cargo xtask bench`, each measured beside the bare minimum for the same work in the same run.
//! What the frame can do stands in `xtask::bench`; a row is one entry in `ROWS` and one function.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use windlass_process_supervisor::QuickCommand;
use xtask::bench::{self, Bench, BenchArgs, Goal, Measurement, Row, interleaved};
use xtask::commands::{self, Repository};
use xtask::console;

const ROWS: &[Row] = &[
    Row {
        name: "start-up",
        what: "`windlass --version` against starting `true`",
        goal: Goal::RatioAtMost(3.0),
        measure: start_up,
    },
    Row {
        name: "helper-process",
        what: "`true` as a QuickCommand of the supervisor against a bare start with pipes",
        goal: Goal::RatioAtMost(1.5),
        measure: helper_process,
    },
];

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    bench: BenchArgs,
    /// Cargo adds this to every benchmark it starts.
    #[arg(long = "bench", hide = true)]
    _from_cargo: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match Bench::from_environment().and_then(|bench| bench::run(&bench, ROWS, &arguments.bench)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn start_up(bench: &Bench) -> Result<Measurement> {
    let repository = Repository::of_this_build();
    let ours = || {
        commands::capture(repository.program(&bench.program).arg("--version"))?
            .expect_success()
            .map(drop)
    };
    let floor = || {
        commands::capture(&mut repository.program("true"))?
            .expect_success()
            .map(drop)
    };
    Ok(Measurement::of_times(interleaved(101, ours, floor)?))
}

/// Each git call pays this price, so it bounds what a round can cost.
fn helper_process(_: &Bench) -> Result<Measurement> {
    let repository = Repository::of_this_build();
    let quick = QuickCommand::new("/bin/true", repository.root());
    let ours = || {
        quick
            .run()
            .map(drop)
            .context("the supervisor could not run /bin/true")
    };
    let floor = || {
        commands::capture(repository.program("/bin/true").env_clear())?
            .expect_success()
            .map(drop)
    };
    Ok(Measurement::of_times(interleaved(301, ours, floor)?))
}
