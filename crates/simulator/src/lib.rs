//! A seeded world that crashes, repeats and loses, around the real engine. Reading order: `simulation` (what happens),
//! `host` (how an engine is lost and found), `world` and `answers` (what comes back), `checks` (what must hold),
//! `planted` (bugs that must be caught). Knows no thread, no file and no real time: a seed is the whole story.

mod answers;
pub mod checks;
pub mod choices;
mod control;
pub mod coverage;
mod goal;
mod host;
mod ledger;
mod misfits;
pub mod planted;
mod ports;
pub mod profile;
mod roadmap;
mod shrink;
mod simulation;
mod stops;
mod story;
mod temper;
mod world;

pub use checks::{Check, Violation};
pub use coverage::Coverage;
pub use goal::planted::GoalBug;
pub use planted::PlantedBug;
pub use profile::{Loop, Profile};
pub use roadmap::planted::RoadmapBug;

use choices::Choices;
use host::Host;
use ledger::Proving;
use std::fmt;
use std::mem::take;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use story::Story;
use windlass_engine::Stored;
use windlass_protocols::Fact;

/// What became of one seed.
#[derive(Clone, Debug)]
pub struct Report {
    pub choices: Vec<u32>,
    /// The record the run left, row by row.
    pub journal: Vec<Stored>,
    pub moves: u64,
    pub coverage: Coverage,
    pub violation: Option<Violation>,
    facts: Vec<Fact>,
    /// Told by `reproduce` only.
    pub script: Vec<String>,
}

/// A seed that failed, made as small as it gets.
#[derive(Clone, Debug)]
pub struct Failure {
    pub seed: u64,
    pub violation: Violation,
    pub shrunk: Vec<u32>,
    pub script: Vec<String>,
    pub reproduction: String,
}

/// What became of many seeds.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub seeds: u64,
    pub moves: u64,
    pub facts: u64,
    pub coverage: Coverage,
    /// At most a few: the rest would say the same.
    pub failures: Vec<Failure>,
}

const ENOUGH_FAILURES: usize = 3;

/// One seed, played twice: the second time must tell the same story to the byte.
pub fn run_seed(seed: u64, profile: Profile) -> Report {
    let mut report = play(Choices::from_seed(seed), profile, Story::untold(), Proving::EveryRow);
    if report.violation.is_none() {
        let first = Proving::SameAs { rows: report.journal.clone(), facts: take(&mut report.facts) };
        let again = play(Choices::from_seed(seed), profile, Story::untold(), first);
        let same = again.journal == report.journal && again.choices == report.choices;
        report.violation = again.violation.or_else(|| {
            let sentence = "the second time left another journal";
            (!same).then(|| Violation::new(Check::Deterministic, sentence))
        });
    }
    report
}

/// Seeds one after the other; what fails is shrunk and told.
pub fn run_many(seeds: Range<u64>, profile: Profile) -> Summary {
    let mut summary = Summary::default();
    for seed in seeds {
        let report = run_seed(seed, profile);
        summary.seeds += 1;
        summary.moves += report.moves;
        summary.facts += report.journal.len() as u64;
        summary.coverage.add(&report.coverage);
        if let Some(violation) = &report.violation {
            summary.failures.push(failure(seed, &report, violation, profile));
            if summary.failures.len() == ENOUGH_FAILURES {
                break;
            }
        }
    }
    summary
}

/// Plays a list of choices, with its script.
pub fn reproduce(choices: &[u32], profile: Profile) -> Report {
    play(Choices::from_list(choices.to_vec()), profile, Story::told(), Proving::EveryRow)
}

/// The smallest story that fails in the same check as this seed's.
pub fn failure(seed: u64, report: &Report, violation: &Violation, profile: Profile) -> Failure {
    let same = |list: &[u32]| {
        let choices = Choices::from_list(list.to_vec());
        let told = play(choices, profile, Story::untold(), Proving::EveryRow);
        told.violation.is_some_and(|found| found.check == violation.check)
    };
    let shrunk = shrink::shrink(report.choices.clone(), same);
    let told = reproduce(&shrunk, profile);
    Failure {
        seed,
        violation: told.violation.unwrap_or_else(|| violation.clone()),
        reproduction: shrink::reproduction(profile, violation.check, &shrunk),
        shrunk,
        script: told.script,
    }
}

fn play(choices: Choices, profile: Profile, story: Story, proving: Proving) -> Report {
    let mut host = Host::new(profile, choices, story, proving);
    let result = catch_unwind(AssertUnwindSafe(|| host.simulate()));
    let violation = match result {
        Ok(result) => result.err(),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("without a word");
            Some(Violation::new(Check::NoPanic, text))
        }
    };
    let (journal, facts) = {
        let mut ledger = host.ledger.borrow_mut();
        (take(&mut ledger.rows), take(&mut ledger.facts))
    };
    host.coverage.facts(&facts);
    Report {
        choices: host.choices.taken().to_vec(),
        journal,
        facts,
        moves: host.moves,
        coverage: host.coverage,
        violation,
        script: host.story.lines(),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} fails: {}", self.seed, self.violation)?;
        for (number, line) in self.script.iter().enumerate() {
            writeln!(f, "{:>4}  {line}", number + 1)?;
        }
        writeln!(f, "to see it again: {}", self.reproduction)
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} seeds, {} moves, {} facts, {} failures",
            self.seeds,
            self.moves,
            self.facts,
            self.failures.len()
        )?;
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        Ok(())
    }
}
