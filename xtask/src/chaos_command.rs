//! `cargo xtask chaos`: what is too long for every change. Each crash campaign at every single place, kills and cuts of power
//! at moments that are drawn, then a night's worth of simulation seeds. All stages run, so that one failure does not hide another.

use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;

use crate::commands::{self, Repository};
use crate::console;
use crate::drawn_cases::{self, Drawn};
use crate::stopwatch::{Stopwatch, readable};
use crate::test_command::SEEDS_VARIABLE;

/// Read by the crash campaigns that usually visit only some of their places.
const EVERY_VARIABLE: &str = "WINDLASS_CRASH_EVERY";
const SEEDS: u32 = 100_000;
const RANDOM_KILLS: &str = "random-kills";
/// Read by the fuzz run of the story queue's REST interface, which plays one seed for some seconds without it.
const FUZZ_SEEDS_VARIABLE: &str = "WINDLASS_FUZZ_SEEDS";

#[derive(Args)]
#[command(after_help = list_of_campaigns())]
pub struct ChaosArgs {
    /// Only this campaign (may be repeated)
    #[arg(long = "campaign", value_name = "NAME")]
    campaigns: Vec<String>,
    /// Visit every so many places of each campaign
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// How many seeds the simulator plays
    #[arg(long, value_name = "COUNT", default_value_t = SEEDS)]
    seeds: u32,
    /// How many kills at random moments; without --campaign only these are made
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    kills: Option<u32>,
    /// How many cases other campaigns draw that draw them, instead of their own number
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    cases: Option<u32>,
    /// What cases are drawn from, where a campaign draws them; without it a new one, which is printed
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Only this case of what the seed draws; needs one --campaign
    #[arg(long, value_name = "NUMBER", requires = "seed", requires = "campaigns")]
    case: Option<u32>,
    /// How many seeds the fuzzer plays for each role, a minute each
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    fuzz_seeds: u32,
}

/// Tests that belong together, by package, target and the beginning of their names: each one word or several.
struct Campaign {
    name: &'static str,
    what: &'static str,
    package: &'static str,
    target: &'static str,
    tests: &'static str,
    /// How many cases it draws, if it does.
    drawn: Option<u32>,
}

const CAMPAIGNS: &[Campaign] = &[
    in_program("task-loop", "a task killed at every place, and again in every resume", "crash_points::"),
    in_program("control-loop-0", "a control loop without a loop inside", "killed_at_depth_0::"),
    in_program("control-loop-1", "a control loop with one loop inside", "killed_at_depth_1::"),
    in_program("control-loop-2", "a control loop with two loops inside", "killed_at_depth_2::"),
    in_program("goal-loop", "a goal loop with a rework, approved item by item", "killed_while_approved::"),
    in_program("goal-loop-by-hand", "a goal loop rejected, taken over, skipped", "killed_by_hand::"),
    in_program("goal-loop-in-place", "a goal loop on the branch that is checked out", "killed_in_place::"),
    in_program("roadmap-loop", "a round rejected and merged, another roadmap, its round", "killed_serial::"),
    in_program("roadmap-loop-fan-out", "a round whose work is shared out and integrated", "killed_fan_out::"),
    in_program(
        "roadmap-loop-parallel",
        "two rounds at once, one after the other merged",
        "killed_parallel::",
    ),
    in_program(
        "roadmap-loop-anew",
        "all three of them killed, and another run begun instead of a resume",
        "killed_and_run_anew::",
    ),
    in_program("roadmap-setup", "a control plane killed while it is set up", "roadmap_setup::crashes::"),
    in_program("by-hand", "a task killed while a person takes it over or hands it back", "inbox::killed::"),
    in_program(
        "machine-faults",
        "no space at 64 sizes, places that cannot be written, no git, a clock that is set, no home, limits on files",
        "machine_faults::",
    ),
    in_program("malformed", "every answer of every loop in every shape that is none", "malformed::"),
    in_program("cheats", "makers and checkers that cheat, in all five loops", "cheats::"),
    in_program("layers", "tasks in layers over one checkout: changes, cheats, kills, people", "overlays::"),
    Campaign {
        name: "runaway",
        what: "children of every kind that will not die, with every end",
        package: "windlass-process-supervisor",
        target: "runaway_matrix runaway_children",
        tests: "",
        drawn: None,
    },
    Campaign {
        name: "old-journals",
        what: "every stored form of a fact, an entry and a journal that was ever released",
        package: "windlass-protocols windlass-journal",
        target: "task_loop story_queue journal",
        tests: "facts:: stored_entries:: record::",
        drawn: None,
    },
    drawn(
        RANDOM_KILLS,
        "engine, keeper, group or everything killed at random moments, in all five loops",
        "random_kills::",
        1000,
    ),
    drawn(
        "power-cuts",
        "the power cut at drawn places and moments, what was not flushed lost or torn, in all five loops",
        "power_cuts::",
        3000,
    ),
    drawn(
        "two-orchestrators",
        "two programs at once, one killed, stopped or replaced beside the other, in all five loops",
        "two_orchestrators::",
        500,
    ),
    in_program(
        "story-fuzz",
        "the story queue's REST interface, fuzzed for --fuzz-seeds minutes a role",
        "story_fuzz::",
    ),
    Campaign {
        name: "git-workspaces",
        what: "git calls killed half way",
        package: "windlass-git-workspaces",
        target: "crashes",
        tests: "",
        drawn: None,
    },
    Campaign {
        name: "simulator",
        what: "seeded worlds, as many as --seeds says",
        package: "windlass-simulator",
        target: "seeds",
        tests: "",
        drawn: None,
    },
];

const fn in_program(name: &'static str, what: &'static str, tests: &'static str) -> Campaign {
    Campaign { name, what, package: "windlass", target: "it", tests, drawn: None }
}

const fn drawn(name: &'static str, what: &'static str, tests: &'static str, cases: u32) -> Campaign {
    Campaign { drawn: Some(cases), ..in_program(name, what, tests) }
}

fn list_of_campaigns() -> String {
    let lines: Vec<String> =
        CAMPAIGNS.iter().map(|campaign| format!("  {:<22} {}", campaign.name, campaign.what)).collect();
    format!("Campaigns:\n{}", lines.join("\n"))
}

pub fn chaos(repository: &Repository, args: &ChaosArgs) -> Result<()> {
    let chosen = choose(args)?;
    let seed = args.seed.map_or_else(drawn_cases::new_seed, Ok)?;
    let mut rows = vec![["campaign", "result", "took"].map(str::to_owned).to_vec()];
    let mut failed = Vec::new();
    for (number, campaign) in chosen.iter().enumerate() {
        console::say(&format!(
            "\n==> {} of {}: {}: {}",
            number + 1,
            chosen.len(),
            campaign.name,
            campaign.what
        ));
        let stopwatch = Stopwatch::start();
        let result = campaign.play(repository, args, seed);
        if let Err(error) = &result {
            console::complain(&format!("{error:#}"));
            failed.push(campaign.name);
        }
        rows.push(row(campaign.name, result.is_ok(), stopwatch.elapsed()));
    }
    console::say(&format!("\n{}", console::table(&rows)));
    if failed.is_empty() { Ok(()) } else { bail!("campaigns failed: {}", failed.join(", ")) }
}

impl Campaign {
    fn play(&self, repository: &Repository, args: &ChaosArgs, seed: u64) -> Result<()> {
        let mut command = repository.cargo(&self.arguments());
        command
            .env(EVERY_VARIABLE, args.every.to_string())
            .env(SEEDS_VARIABLE, args.seeds.to_string())
            .env(FUZZ_SEEDS_VARIABLE, args.fuzz_seeds.to_string());
        let Some(cases) = self.drawn else { return commands::stream(&mut command) };
        let asked = if self.name == RANDOM_KILLS { args.kills } else { args.cases };
        let drawn = Drawn { seed, cases: asked.unwrap_or(cases), only: args.case };
        drawn.play(repository, &mut command)
    }

    /// Cargo's own runner: a share at every place takes longer than nextest lets a test take. From the whole workspace where
    /// the target's name is enough: `--package` would build the dependencies again with fewer features.
    fn arguments(&self) -> Vec<&'static str> {
        let packages = if self.target == "it" {
            vec!["--workspace"]
        } else {
            self.package.split(' ').flat_map(|package| ["--package", package]).collect()
        };
        let targets = self.target.split(' ').flat_map(|target| ["--test", target]);
        std::iter::once("test")
            .chain(packages)
            .chain(targets)
            .chain(["--no-fail-fast", "--"])
            .chain(self.tests.split_whitespace())
            .collect()
    }
}

fn choose(args: &ChaosArgs) -> Result<Vec<&'static Campaign>> {
    let only_kills = args.campaigns.is_empty() && args.kills.is_some();
    let names = if only_kills { &[RANDOM_KILLS.to_owned()][..] } else { &args.campaigns };
    if let Some(unknown) = names.iter().find(|name| CAMPAIGNS.iter().all(|one| one.name != name.as_str())) {
        let known: Vec<&str> = CAMPAIGNS.iter().map(|campaign| campaign.name).collect();
        bail!("no campaign is called {unknown:?}; there are: {}", known.join(", "));
    }
    let chosen = |campaign: &&Campaign| names.is_empty() || names.iter().any(|name| name == campaign.name);
    Ok(CAMPAIGNS.iter().filter(chosen).collect())
}

fn row(name: &str, passed: bool, took: Duration) -> Vec<String> {
    vec![name.to_owned(), if passed { "survived" } else { "FAILED" }.to_owned(), readable(took)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_campaign_names_tests_that_there_are() {
        let root = Repository::of_this_build().root().to_owned();
        let packages = [
            ("windlass", "crates/cli/tests/it"),
            ("windlass-git-workspaces", "crates/git-workspaces/tests"),
            ("windlass-simulator", "crates/simulator/tests"),
            ("windlass-process-supervisor", "crates/process-supervisor/tests"),
            ("windlass-protocols", "crates/protocols/tests"),
            ("windlass-journal", "crates/journal/tests"),
        ];
        for campaign in CAMPAIGNS {
            let of = |package| &packages.iter().find(|(known, _)| *known == package).unwrap().1;
            let folders: Vec<_> = campaign.package.split(' ').map(|package| root.join(of(package))).collect();
            for place in places_of(campaign.name) {
                let text = std::fs::read_to_string(folders[0].join(place)).unwrap();
                let module = campaign.tests.trim_end_matches("::");
                assert!(
                    place.starts_with(&module.replace("::", "/")) || text.contains(module),
                    "{module} in {place}"
                );
            }
            let is_there = |target: &str| {
                let [file, folder] = [format!("{target}.rs"), format!("{target}/main.rs")];
                folders.iter().any(|tests| tests.join(&file).is_file() || tests.join(&folder).is_file())
            };
            let there = campaign.target.split(' ').all(|target| target == "it" || is_there(target));
            assert!(there, "{} of {}", campaign.target, campaign.name);
        }
        let stored = ["task_loop/stored_facts.rs", "story_queue/stored_entries.rs"];
        let stored = stored.map(|file| root.join("crates/protocols/tests").join(file));
        assert!(
            stored.iter().all(|file| file.is_file())
                && root.join("crates/journal/tests/journal/record.rs").is_file()
        );
    }

    /// Where the tests of a campaign stand.
    fn places_of(name: &str) -> &'static [&'static str] {
        match name {
            "task-loop" => &["crash_points.rs"],
            name if name.starts_with("control-loop") => &["control_loop/crashes.rs"],
            name if name.starts_with("goal-loop") => &["goal_loop/crashes.rs"],
            "machine-faults" => &["machine_faults.rs"],
            "malformed" => &["malformed.rs", "malformed/shapes.rs"],
            "cheats" => &["cheats.rs", "cheats/every_loop.rs"],
            "layers" => &["overlays.rs"],
            RANDOM_KILLS => &["random_kills.rs"],
            "power-cuts" => &["power_cuts.rs"],
            "two-orchestrators" => &["two_orchestrators.rs"],
            "story-fuzz" => &["story_fuzz.rs"],
            name if name.starts_with("roadmap-loop") => &["roadmap_loop/crashes.rs"],
            "roadmap-setup" => &["roadmap_setup/crashes.rs"],
            _ => &[],
        }
    }

    #[test]
    fn the_help_names_every_campaign() {
        let list = list_of_campaigns();
        assert!(
            CAMPAIGNS.iter().all(|campaign| list.contains(campaign.name) && list.contains(campaign.what))
        );
    }

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: ChaosArgs,
    }

    fn args(words: &[&str]) -> Result<ChaosArgs, clap::Error> {
        let words = std::iter::once("chaos").chain(words.iter().copied());
        <Line as clap::Parser>::try_parse_from(words).map(|line| line.args)
    }

    #[test]
    fn a_campaign_is_chosen_by_name_and_a_wrong_name_is_told_the_right_ones() {
        assert_eq!(choose(&args(&[]).unwrap()).unwrap().len(), CAMPAIGNS.len());
        assert_eq!(choose(&args(&["--campaign", "simulator"]).unwrap()).unwrap()[0].target, "seeds");
        let message = choose(&args(&["--campaign", "storm"]).unwrap()).err().unwrap().to_string();
        assert!(message.contains("\"storm\"") && message.contains("control-loop-2"), "{message}");
    }

    #[test]
    fn kills_alone_are_one_campaign_and_a_case_needs_its_seed_and_campaign() {
        let kills = args(&["--kills", "1000"]).unwrap();
        let names: Vec<&str> = choose(&kills).unwrap().iter().map(|campaign| campaign.name).collect();
        assert_eq!(names, [RANDOM_KILLS]);
        assert!(args(&["--case", "3"]).is_err());
        assert!(args(&["--case", "3", "--seed", "9", "--campaign", RANDOM_KILLS]).is_ok());
    }
}
