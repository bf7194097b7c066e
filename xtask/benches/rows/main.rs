//! The rows of `cargo xtask bench`, each measured beside the bare minimum for the same work in the same run.
//! What the frame can do stands in `xtask::bench`; a row is one entry in `ROWS` and one function.

mod agent;
mod appends;
mod bare_journal;
mod between_agents;
mod by_hand;
mod control;
mod control_by_hand;
mod counts;
mod crowd;
mod history;
mod long_journals;
mod overlays;
mod overlays_by_hand;
mod planes;
mod program;
mod roadmap;
mod roadmap_by_hand;
mod roadmap_plane;
mod rounds;
mod scratch;
mod script_loop;
mod stage;
mod steps;
mod stories;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use xtask::bench::{self, Bench, BenchArgs, Goal, Row};
use xtask::console;

const ROWS: &[Row] = &[
    Row {
        name: "start-up",
        what: "`windlass --version` against starting `true`",
        goal: Goal::RatioAtMost(3.0),
        measure: program::start_up,
    },
    Row {
        name: "program-size",
        what: "bytes of the program as it is given to users",
        goal: Goal::CountAtMost(25_000_000),
        measure: program::size,
    },
    Row {
        name: "helper-process",
        what: "`true` as a QuickCommand of the supervisor against a bare start with pipes",
        goal: Goal::RatioAtMost(1.5),
        measure: program::helper_process,
    },
    Row {
        name: "sleeping-agents-256",
        what: "256 agents that sleep three seconds at once, against the same started by hand",
        goal: Goal::RatioAtMost(1.15),
        measure: crowd::sleeping,
    },
    Row {
        name: "sleeping-agents-256-memory",
        what: "bytes that the keepers of 256 agents have for themselves",
        goal: Goal::CountAtMost(64_000_000),
        measure: crowd::sleeping_memory,
    },
    Row {
        name: "sleeping-agents-256-threads",
        what: "threads beyond the number of cores in the process that waits for 256 agents",
        goal: Goal::CountAtMost(8),
        measure: crowd::sleeping_threads,
    },
    Row {
        name: "output-10-gigabytes",
        what: "bytes by which the keeper of an agent grows that prints ten gigabytes",
        goal: Goal::CountAtMost(16_000_000),
        measure: crowd::output,
    },
    Row {
        name: "rejected-round-20-files",
        what: "one rejected round among twenty against the same agents, git and durable commits by hand",
        goal: Goal::RatioAtMost(1.5),
        measure: rounds::rejected_small,
    },
    Row {
        name: "rejected-round-700-files",
        what: "the same with 700 files",
        goal: Goal::RatioAtMost(1.5),
        measure: rounds::rejected_medium,
    },
    Row {
        name: "rejected-round-2000-files",
        what: "the same with 2,000 files",
        goal: Goal::RatioAtMost(1.5),
        measure: rounds::rejected_large,
    },
    Row {
        name: "rejected-round-100000-files",
        what: "the same with 100,000 files",
        goal: Goal::RatioAtMost(1.5),
        measure: rounds::rejected_huge,
    },
    Row {
        name: "script-round-20-files",
        what: "one rejected round against a shell script that does the same, nothing durable on either side",
        goal: Goal::RatioAtMost(0.2),
        measure: script_loop::small,
    },
    Row {
        name: "script-round-700-files",
        what: "the same with 700 files",
        goal: Goal::RatioAtMost(0.1),
        measure: script_loop::medium,
    },
    Row {
        name: "script-round-2000-files",
        what: "the same with 2,000 files",
        goal: Goal::RatioAtMost(0.05),
        measure: script_loop::large,
    },
    Row {
        name: "script-round-100000-files",
        what: "the same with 100,000 files",
        goal: Goal::RatioAtMost(0.1),
        measure: script_loop::huge,
    },
    Row {
        name: "overlay-round-20-files",
        what: "one rejected round in layers against the same agents, overlays, git and durable commits by hand",
        goal: Goal::RatioAtMost(2.0),
        measure: overlays::small,
    },
    Row {
        name: "overlay-round-700-files",
        what: "the same with 700 files",
        goal: Goal::RatioAtMost(2.0),
        measure: overlays::medium,
    },
    Row {
        name: "overlay-round-2000-files",
        what: "the same with 2,000 files",
        goal: Goal::RatioAtMost(2.0),
        measure: overlays::large,
    },
    Row {
        name: "overlay-round-100000-files",
        what: "the same with 100,000 files",
        goal: Goal::RatioAtMost(2.0),
        measure: overlays::huge,
    },
    Row {
        name: "overlay-round-growth",
        what: "the slowest of those four sizes against the fastest",
        goal: Goal::RatioAtMost(1.3),
        measure: overlays::growth,
    },
    Row {
        name: "second-run-100000-files",
        what: "both workspaces of a second run on the same base, against one `git worktree add`",
        goal: Goal::RatioAtMost(0.01),
        measure: overlays::second_run,
    },
    Row {
        name: "pass-round-20-files",
        what: "a whole `windlass run` of one round that passes and lands, against the same by hand",
        goal: Goal::RatioAtMost(2.0),
        measure: rounds::passing_small,
    },
    Row {
        name: "pass-round-2000-files",
        what: "the same with 2,000 files",
        goal: Goal::RatioAtMost(2.0),
        measure: rounds::passing_large,
    },
    Row {
        name: "round-100",
        what: "the last of 105 rounds against the rounds of a fresh run",
        goal: Goal::RatioAtMost(1.1),
        measure: rounds::late_round,
    },
    Row {
        name: "processes-a-round",
        what: "processes of a rejected round besides its two agents",
        goal: Goal::CountAtMost(3),
        measure: rounds::processes,
    },
    Row {
        name: "commits-a-round",
        what: "durable appends of a rejected round",
        goal: Goal::CountAtMost(6),
        measure: rounds::commits,
    },
    Row {
        name: "files-made-a-round",
        what: "files made in a rejected round in which one file is changed, those of its agents and temporary ones included",
        goal: Goal::CountAtMost(21),
        measure: counts::files_made_small,
    },
    Row {
        name: "files-made-a-round-2000-files",
        what: "the same with 2,000 files",
        goal: Goal::CountAtMost(21),
        measure: counts::files_made_large,
    },
    Row {
        name: "chmods-a-round",
        what: "changes of permissions in a rejected round with 2,000 files",
        goal: Goal::CountAtMost(0),
        measure: counts::chmods,
    },
    Row {
        name: "journal-read-a-round",
        what: "bytes of the journal read in each of a hundred rounds, against each of ten",
        goal: Goal::RatioAtMost(1.1),
        measure: counts::journal_read,
    },
    Row {
        name: "control-iteration-20-files",
        what: "one iteration of a control loop among twenty, against the same agents, sensor, git and durable commits by hand",
        goal: Goal::RatioAtMost(1.5),
        measure: control::small,
    },
    Row {
        name: "control-iteration-2000-files",
        what: "the same with 2,000 files",
        goal: Goal::RatioAtMost(1.5),
        measure: control::large,
    },
    Row {
        name: "control-iteration-1000",
        what: "the last of 1,000 iterations against those of fresh runs",
        goal: Goal::RatioAtMost(1.1),
        measure: control::late,
    },
    Row {
        name: "control-iteration-4000",
        what: "the average of 4,000 iterations against that of a hundred",
        goal: Goal::RatioAtMost(1.1),
        measure: control::four_thousand,
    },
    Row {
        name: "git-calls-an-iteration",
        what: "calls of git of one iteration of a control loop",
        goal: Goal::None,
        measure: control::git_calls,
    },
    Row {
        name: "roadmap-round-20-files",
        what: "one merged round of a roadmap among ten, against the same kept agents, worktree, commits, squash and state by hand",
        goal: Goal::RatioAtMost(1.5),
        measure: roadmap::small,
    },
    Row {
        name: "roadmap-round-2000-files",
        what: "the same with 2,000 files",
        goal: Goal::RatioAtMost(1.5),
        measure: roadmap::large,
    },
    Row {
        name: "git-calls-a-roadmap-round",
        what: "calls of git of one merged round of a roadmap",
        goal: Goal::None,
        measure: roadmap::git_calls,
    },
    Row {
        name: "commits-a-roadmap-round",
        what: "durable appends of one merged round of a roadmap",
        goal: Goal::CountAtMost(14),
        measure: roadmap::commits,
    },
    Row {
        name: "between-agents-20-files",
        what: "from an agent's last instruction to the next agent's first, against two bare starts in a row",
        goal: Goal::TimeBelow(Duration::from_millis(50)),
        measure: between_agents::small,
    },
    Row {
        name: "between-agents-2000-files",
        what: "the same with 2,000 files",
        goal: Goal::TimeBelow(Duration::from_millis(50)),
        measure: between_agents::large,
    },
    Row {
        name: "iteration-without-git",
        what: "a kept agent that takes no time and a turn of the engine, less the durable commits, against a bare start",
        goal: Goal::TimeBelow(Duration::from_micros(2_300)),
        measure: steps::iteration,
    },
    Row {
        name: "silent-agent",
        what: "a kept agent that says nothing against one that talks",
        goal: Goal::RatioAtMost(2.0),
        measure: steps::silent,
    },
    Row {
        name: "turn",
        what: "decide and append durably, against a bare SQLite commit of the same rows",
        goal: Goal::RatioAtMost(1.3),
        measure: appends::turn,
    },
    Row {
        name: "append-1-fact",
        what: "one durable append against a bare SQLite commit of the same rows",
        goal: Goal::RatioAtMost(1.3),
        measure: appends::one_fact,
    },
    Row {
        name: "append-8-facts",
        what: "the same with 8 facts",
        goal: Goal::RatioAtMost(1.3),
        measure: appends::eight_facts,
    },
    Row {
        name: "append-64-facts",
        what: "the same with 64 facts",
        goal: Goal::RatioAtMost(1.3),
        measure: appends::sixty_four_facts,
    },
    Row {
        name: "resume-100000-facts",
        what: "`windlass resume` through the rest of a round, against the same of a run of 20 facts",
        goal: Goal::TimeBelow(Duration::from_secs(1)),
        measure: long_journals::resume,
    },
    Row {
        name: "replay-100000-facts",
        what: "opening and folding in process, against opening and scanning the rows",
        goal: Goal::RatioAtMost(10.0),
        measure: long_journals::replay,
    },
    Row {
        name: "list-10000-runs",
        what: "`windlass ls --json` against the bare query",
        goal: Goal::RatioAtMost(10.0),
        measure: long_journals::list,
    },
    Row {
        name: "inspect-3000-files",
        what: "`windlass roadmap inspect` of 40 families and 3,000 files, against `git status` of the same",
        goal: Goal::TimeBelow(Duration::from_secs(1)),
        measure: planes::inspect,
    },
    Row {
        name: "story-claims-64-clients",
        what: "10,000 stories claimed over HTTP by 64 clients, against bare SQLite commits of the same rows by 64 threads",
        goal: Goal::RatioAtMost(2.0),
        measure: stories::claims,
    },
    Row {
        name: "story-claims-64-clients-p99",
        what: "how long the slowest hundredth of those claims waits, against the same of the bare commits",
        goal: Goal::RatioAtMost(2.0),
        measure: stories::slowest_claims,
    },
    Row {
        name: "story-next-100-to-10000",
        what: "a page of ready stories over HTTP among 10,000 stories, against the same among 100",
        goal: Goal::RatioAtMost(1.3),
        measure: stories::next,
    },
    Row {
        name: "story-blocked-100-to-10000",
        what: "the same of blocked stories",
        goal: Goal::RatioAtMost(1.3),
        measure: stories::blocked,
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
    if let Some(played) = agent::play() {
        return played;
    }
    let arguments = Arguments::parse();
    let measured = Bench::from_environment().and_then(|bench| {
        let measured = bench::run(&bench, ROWS, &arguments.bench);
        scratch::clear(&bench.program).and(measured)
    });
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
