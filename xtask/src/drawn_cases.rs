//! Campaigns whose cases are drawn from a seed: they are told through the environment how many to play, and leave a line for
//! every try in a file, from which the table at the end is made. What a case is, they alone know.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::commands::{self, Repository};
use crate::console;

const CASES_VARIABLE: &str = "WINDLASS_CHAOS_CASES";
const SEED_VARIABLE: &str = "WINDLASS_CHAOS_SEED";
const CASE_VARIABLE: &str = "WINDLASS_CHAOS_CASE";
const REPORT_VARIABLE: &str = "WINDLASS_CHAOS_REPORT";

pub struct Drawn {
    pub seed: u64,
    pub cases: u32,
    /// One case alone.
    pub only: Option<u32>,
}

/// A seed nobody chose. Small, because somebody may have to type it.
pub fn new_seed() -> Result<u64> {
    let bytes = std::fs::File::open("/dev/urandom").and_then(|mut source| {
        let mut bytes = [0; 4];
        std::io::Read::read_exact(&mut source, &mut bytes)?;
        Ok(bytes)
    });
    Ok(u32::from_le_bytes(bytes.context("cannot draw a seed from /dev/urandom; give one with --seed")?)
        .into())
}

impl Drawn {
    pub fn play(&self, repository: &Repository, command: &mut Command) -> Result<()> {
        let report = repository.target_directory()?.join("chaos-report.txt");
        // What an earlier campaign left is not a part of this one.
        std::fs::write(&report, "").with_context(|| format!("cannot write {}", report.display()))?;
        console::say(&format!("seed {}, {} tries", self.seed, self.only.map_or(self.cases, |_| 1)));
        command
            .env(SEED_VARIABLE, self.seed.to_string())
            .env(CASES_VARIABLE, self.cases.to_string())
            .env(REPORT_VARIABLE, &report);
        if let Some(case) = self.only {
            command.env(CASE_VARIABLE, case.to_string());
        }
        let result = commands::stream(command);
        console::say(&format!("\nseed {}\n{}", self.seed, console::table(&told(&report)?)));
        result
    }
}

fn told(report: &Path) -> Result<Vec<Vec<String>>> {
    let text =
        std::fs::read_to_string(report).with_context(|| format!("cannot read {}", report.display()))?;
    Ok(table(&text))
}

/// How often each pair of words was tried, how often it hit, and how often all was well afterwards.
#[derive(Default, Clone, Copy)]
struct Count {
    tried: usize,
    hit: usize,
    survived: usize,
}

impl Count {
    fn add(&mut self, hit: bool, survived: bool) {
        self.tried += 1;
        self.hit += usize::from(hit);
        self.survived += usize::from(survived);
    }

    fn row(self, first: &str, second: &str) -> Vec<String> {
        let numbers = [self.tried, self.hit, self.survived].map(|number| number.to_string());
        [vec![first.to_owned(), second.to_owned()], numbers.to_vec()].concat()
    }
}

/// Lines are `where what hit|missed survived|failed`; others say why something failed.
fn table(report: &str) -> Vec<Vec<String>> {
    let mut pairs: BTreeMap<(&str, &str), Count> = BTreeMap::new();
    let mut kinds: BTreeMap<&str, Count> = BTreeMap::new();
    let mut all = Count::default();
    for line in report.lines().filter(|line| !line.starts_with('#')) {
        let [place, what, hit, survived] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let (hit, survived) = (hit == "hit", survived == "survived");
        pairs.entry((place, what)).or_default().add(hit, survived);
        kinds.entry(what).or_default().add(hit, survived);
        all.add(hit, survived);
    }
    let heading = ["where", "what", "tried", "hit", "survived"].map(str::to_owned).to_vec();
    std::iter::once(heading)
        .chain(pairs.into_iter().map(|((place, what), count)| count.row(place, what)))
        .chain(kinds.into_iter().map(|(what, count)| count.row("all", what)))
        .chain([all.row("all", "")])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_are_counted_by_place_and_by_kind() {
        let report = "task_loop engine hit survived\ntask_loop engine missed survived\ngoal_loop engine hit failed\n# four words of why\n";
        let rows: Vec<String> = table(report).iter().map(|row| row.join(" ").trim_end().to_owned()).collect();
        assert_eq!(
            rows[1..],
            ["goal_loop engine 1 1 0", "task_loop engine 2 1 2", "all engine 3 2 2", "all  3 2 2"]
        );
    }

    #[test]
    fn a_seed_can_be_typed() {
        assert!(u32::try_from(new_seed().unwrap()).is_ok());
    }
}
