//! `cargo xtask test`: everything that must hold before a change is good, in the order of what fails soonest.
//! CI runs exactly this.

use std::cell::RefCell;

use anyhow::Result;
use clap::Args;

use crate::agent_programs::{self, SKIPPED_VARIABLE};
use crate::commands::{self, Repository};
use crate::stages::{self, Stage};
use crate::{no_std_proof, set_up, tidy};

/// Read by the simulator's tests; unset, they use their own default.
pub const SEEDS_VARIABLE: &str = "WINDLASS_SEEDS";

const SIMULATOR: &str = "windlass-simulator";

#[derive(Args)]
pub struct TestArgs {
    /// For the desk, not for CI: a hundred simulation seeds, no doc tests
    #[arg(long)]
    quick: bool,
    /// How many seeds the simulator plays
    #[arg(long, value_name = "COUNT", conflicts_with = "quick")]
    seeds: Option<u32>,
}

/// All stages, up to the first that fails. What had to be skipped is said again at the end.
pub fn test(repository: &Repository, args: &TestArgs) -> Result<()> {
    let runner = Runner::find(repository);
    let skipped = RefCell::new(Vec::new());
    let seeds = if args.quick { Some(100) } else { args.seeds };
    let cargo = |remedy, name, command: &'static [&'static str]| Stage {
        name,
        remedy,
        work: Box::new(move || commands::stream(&mut repository.cargo(command))),
    };
    let mut stages = vec![
        Stage {
            name: "set-up",
            remedy: "install what is named above, then run this again",
            work: Box::new(|| {
                skipped.replace(set_up::set_up(repository)?);
                Ok(())
            }),
        },
        cargo("run `cargo fmt --all`", "format", &["fmt", "--all", "--check"]),
        cargo(
            "mend what clippy names; a ban that is rightly lifted is an `#[expect(lint, reason = \"…\")]`",
            "lints",
            &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
        ),
        Stage {
            name: "tidy",
            remedy: "each line above names the file and the rule; CONTRIBUTING.md has the reasons",
            work: Box::new(|| tidy::tidy(repository)),
        },
        Stage {
            name: "no-std proof",
            remedy: "the protocols must compile without the standard library",
            work: Box::new(|| no_std_proof::prove(repository)),
        },
        Stage {
            name: "tests",
            remedy: "run one test alone with `cargo test -p CRATE NAME`",
            work: Box::new(|| runner.tests(repository, &agent_programs::names(&skipped.borrow()))),
        },
    ];
    if !args.quick {
        let doc_tests = &["test", "--workspace", "--doc", "--quiet"];
        stages.push(cargo("an example in a doc comment no longer holds", "doc tests", doc_tests));
    }
    stages.push(Stage {
        name: "simulation seeds",
        remedy: "the failing seed and its shortest script are printed above",
        work: Box::new(move || runner.simulation(repository, seeds)),
    });
    let result = stages::run(&stages);
    agent_programs::report(&skipped.borrow());
    result
}

/// The program that runs tests: nextest ends a hanging test, but a plain machine has only cargo's own.
#[derive(Clone, Copy)]
enum Runner {
    Nextest,
    CargoTest,
}

impl Runner {
    fn find(repository: &Repository) -> Self {
        let present = commands::succeeds(&mut repository.cargo(&["nextest", "--version"]));
        if present { Self::Nextest } else { Self::CargoTest }
    }

    fn tests(self, repository: &Repository, skipped: &str) -> Result<()> {
        let mut command = repository.cargo(&self.tests_arguments());
        commands::stream(command.env(SKIPPED_VARIABLE, skipped))
    }

    /// A stage of its own, so that the number of seeds and their time are seen.
    fn simulation(self, repository: &Repository, seeds: Option<u32>) -> Result<()> {
        let mut command = repository.cargo(&self.simulation_arguments());
        if let Some(seeds) = seeds {
            command.env(SEEDS_VARIABLE, seeds.to_string());
        }
        commands::stream(&mut command)
    }

    /// No target is named: both runners then also build the examples that tests start as programs.
    fn tests_arguments(self) -> Vec<&'static str> {
        match self {
            Self::Nextest => {
                vec!["nextest", "run", "--workspace", "-E", "not package(=windlass-simulator)"]
            }
            Self::CargoTest => {
                vec!["test", "--workspace", "--exclude", SIMULATOR, "--no-fail-fast"]
            }
        }
    }

    /// Nextest selects from the whole workspace: `-p` would build the dependencies again with fewer features.
    fn simulation_arguments(self) -> Vec<&'static str> {
        match self {
            Self::Nextest => vec!["nextest", "run", "--workspace", "-E", "package(=windlass-simulator)"],
            Self::CargoTest => vec!["test", "-p", SIMULATOR],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_runners_play_the_simulator_only_in_its_own_stage() {
        for runner in [Runner::Nextest, Runner::CargoTest] {
            let tests = runner.tests_arguments().join(" ");
            assert!(tests.contains("--workspace"), "{tests}");
            assert!(
                tests.contains(&format!("not package(={SIMULATOR})"))
                    || tests.contains(&format!("--exclude {SIMULATOR}"))
            );
            let simulation = runner.simulation_arguments().join(" ");
            assert!(simulation.contains(SIMULATOR) && !simulation.contains("exclude"), "{simulation}");
        }
    }
}
