//! `cargo xtask bench`: builds the program as users get it, then runs the rows, built the same way.
//! The rows are a target of their own because what they measure in process must not burden `cargo xtask`.

use anyhow::Result;

use crate::bench::{BenchArgs, PROGRAM_VARIABLE};
use crate::commands::{self, Repository};

pub fn bench(repository: &Repository, args: &BenchArgs) -> Result<()> {
    commands::stream(&mut repository.cargo(&["build", "--quiet", "--release", "--package", "windlass"]))?;
    let program = repository.target_directory()?.join("release/windlass");
    let mut rows = repository.cargo(&["bench", "--quiet", "--package", "xtask", "--bench", "rows", "--"]);
    rows.args(args.as_arguments()).env(PROGRAM_VARIABLE, program);
    commands::stream(&mut rows)
}
