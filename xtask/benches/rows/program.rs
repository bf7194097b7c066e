//! The program itself: how fast it starts, how large it is, what one helper process costs it.

use anyhow::{Context, Result};
use windlass_process_supervisor::QuickCommand;
use xtask::bench::{Bench, Measurement, Quantity, interleaved};
use xtask::commands::{self, Repository};

pub(crate) fn start_up(bench: &Bench) -> Result<Measurement> {
    let repository = Repository::of_this_build();
    let ours =
        || commands::capture(repository.program(&bench.program).arg("--version"))?.expect_success().map(drop);
    let floor = || commands::capture(&mut repository.program("true"))?.expect_success().map(drop);
    Ok(Measurement::of_times(interleaved(101, ours, floor)?))
}

/// Each git call pays this price, so it bounds what a round can cost.
pub(crate) fn helper_process(_: &Bench) -> Result<Measurement> {
    let repository = Repository::of_this_build();
    let quick = QuickCommand::new("/bin/true", repository.root());
    let ours = || quick.run().map(drop).context("the supervisor could not run /bin/true");
    let floor = || commands::capture(repository.program("/bin/true").env_clear())?.expect_success().map(drop);
    Ok(Measurement::of_times(interleaved(301, ours, floor)?))
}

pub(crate) fn size(bench: &Bench) -> Result<Measurement> {
    let bytes = std::fs::metadata(&bench.program)?.len();
    Ok(Measurement { measured: Quantity::Count(bytes), floor: None })
}
