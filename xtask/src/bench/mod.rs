//! The frame of the benchmark: rows with goals, measured side by side, shown as a table or as JSON.
//! It does not know what any row measures.

mod measurement;
mod medians;
mod report;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::commands;
use crate::console;
pub use measurement::{BenchVerdict, Goal, Measurement, Quantity};
pub use medians::{Medians, interleaved, median};

/// Tells the rows where the release build of the program lies.
pub const PROGRAM_VARIABLE: &str = "WINDLASS_BENCH_PROGRAM";

/// One line of the benchmark. Names are words with hyphens, so that they can be typed after `--row`.
pub struct Row {
    pub name: &'static str,
    /// What is measured, against which bare minimum.
    pub what: &'static str,
    pub goal: Goal,
    pub measure: fn(&Bench) -> Result<Measurement>,
}

/// What rows are given.
pub struct Bench {
    /// The release build of `windlass`.
    pub program: PathBuf,
}

#[derive(Args)]
pub struct BenchArgs {
    /// Only this row (may be repeated)
    #[arg(long = "row", value_name = "NAME")]
    rows: Vec<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

impl BenchArgs {
    /// The same arguments for the program that holds the rows.
    pub fn as_arguments(&self) -> Vec<String> {
        let rows = self.rows.iter().flat_map(|name| ["--row".to_owned(), name.clone()]);
        rows.chain(self.json.then(|| "--json".to_owned())).collect()
    }
}

impl Bench {
    pub fn from_environment() -> Result<Self> {
        let program = commands::environment(PROGRAM_VARIABLE).context("run this as `cargo xtask bench`")?;
        Ok(Self { program: PathBuf::from(program) })
    }
}

/// Measures the chosen rows and prints them. A missed goal is an error, so that a script sees it; so is a row that could
/// not be measured, but only after the others, which took minutes.
pub fn run(bench: &Bench, rows: &[Row], args: &BenchArgs) -> Result<()> {
    let chosen = choose(rows, &args.rows)?;
    let (mut results, mut unmeasured) = (Vec::new(), Vec::new());
    for row in chosen {
        if !args.json {
            console::say(&format!("measuring {}: {}", row.name, row.what));
        }
        match (row.measure)(bench) {
            Ok(measurement) => {
                if !args.json {
                    console::say(&format!("  {}", report::in_a_line(row, &measurement)));
                }
                results.push((row, measurement));
            }
            Err(error) => {
                console::complain(&format!("error: row {}: {error:#}", row.name));
                unmeasured.push(row.name);
            }
        }
    }
    console::say(&if args.json {
        report::as_json(&results)?
    } else {
        format!("\n{}", report::as_table(&results))
    });
    let missed: Vec<&str> = results
        .iter()
        .filter(|(row, measurement)| measurement.verdict(row.goal) == BenchVerdict::Missed)
        .map(|(row, _)| row.name)
        .collect();
    let failures = [("goals missed", missed), ("not measured", unmeasured)];
    let told = failures.iter().filter(|(_, names)| !names.is_empty());
    let told: Vec<String> = told.map(|(what, names)| format!("{what}: {}", names.join(", "))).collect();
    if told.is_empty() { Ok(()) } else { bail!(told.join("; ")) }
}

fn choose<'a>(rows: &'a [Row], names: &[String]) -> Result<Vec<&'a Row>> {
    let known = || rows.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = names.iter().find(|name| rows.iter().all(|row| row.name != name.as_str())) {
        bail!("no row is called {unknown:?}; there are: {}", known());
    }
    Ok(rows.iter().filter(|row| names.is_empty() || names.iter().any(|name| name == row.name)).collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    pub(super) fn times(ours: u64, floor: u64) -> Measurement {
        let medians = Medians { ours: Duration::from_millis(ours), floor: Duration::from_millis(floor) };
        Measurement::of_times(medians)
    }

    pub(super) fn row(name: &'static str, goal: Goal, measure: fn(&Bench) -> Result<Measurement>) -> Row {
        Row { name, what: "a thing against its floor", goal, measure }
    }

    fn bench() -> Bench {
        Bench { program: PathBuf::from("windlass") }
    }

    #[test]
    fn a_missed_goal_fails_the_command_by_name() {
        let rows = [
            row("good", Goal::RatioAtMost(2.0), |_| Ok(times(10, 10))),
            row("bad", Goal::RatioAtMost(2.0), |_| Ok(times(30, 10))),
        ];
        let all = BenchArgs { rows: vec![], json: false };
        assert_eq!(run(&bench(), &rows, &all).unwrap_err().to_string(), "goals missed: bad");
        let good = BenchArgs { rows: vec!["good".to_owned()], json: true };
        run(&bench(), &rows, &good).unwrap();
    }

    #[test]
    fn a_row_that_cannot_be_measured_does_not_take_the_others_with_it() {
        let rows = [
            row("broken", Goal::None, |_| bail!("the agent was kept out")),
            row("bad", Goal::RatioAtMost(2.0), |_| Ok(times(30, 10))),
        ];
        let all = BenchArgs { rows: vec![], json: false };
        let message = run(&bench(), &rows, &all).unwrap_err().to_string();
        assert_eq!(message, "goals missed: bad; not measured: broken");
    }

    #[test]
    fn an_unknown_row_is_refused_with_the_known_ones() {
        let rows = [row("good", Goal::None, |_| Ok(times(1, 1)))];
        let message = choose(&rows, &["god".to_owned()]).err().unwrap().to_string();
        assert!(message.contains("god") && message.contains("there are: good"), "{message}");
    }

    #[test]
    fn arguments_reach_the_rows_unchanged() {
        let args = BenchArgs { rows: vec!["a".to_owned(), "b".to_owned()], json: true };
        assert_eq!(args.as_arguments(), ["--row", "a", "--row", "b", "--json"]);
    }
}
