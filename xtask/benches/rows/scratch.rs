//! Where rows write on the real disk. Nothing is removed before the last row was measured: ext4 does not give the place of
//! a removed file away for minutes and looks at each of them whenever one is made, so that what a row removes would be
//! paid for by the next one.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xtask::bench::Bench;

/// A new directory on the disk the program lies on.
pub(crate) fn directory(bench: &Bench) -> Result<PathBuf> {
    let all = all(&bench.program)?;
    std::fs::create_dir_all(&all)?;
    Ok(tempfile::Builder::new().disable_cleanup(true).tempdir_in(all)?.keep())
}

/// After the last row.
pub(crate) fn clear(program: &Path) -> Result<()> {
    match std::fs::remove_dir_all(all(program)?) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn all(program: &Path) -> Result<PathBuf> {
    let beside = program.parent().context("the program stands in no directory")?;
    Ok(beside.join(format!("bench-{}", std::process::id())))
}
