//! A control plane with a long past: forty roadmap families and the artifacts of hundreds of rounds.

use std::path::Path;

use anyhow::{Context, Result};
use xtask::bench::{Bench, Measurement, interleaved};
use xtask::commands;

use crate::stage::Stage;

const FAMILIES: usize = 40;
const FILES: usize = 3_000;
const ROUND_FILES: [&str; 4] = ["plan.md", "implementation-notes.md", "review.md", "merge.md"];
const ANSWERS: &str = "title = 'Bench'\noutcome = 'It is measured'\n\n[[milestones]]\ntitle = 'First'\n\n[[milestones]]\ntitle = 'Second'\ndepends-on = ['1']\n";

/// From the start of the program to its answer, against git's own look at the same files.
pub(crate) fn inspect(bench: &Bench) -> Result<Measurement> {
    let stage = Stage::with_files(bench, 20)?;
    let repository = stage.repository();
    let place = repository.to_str().context("the repository has a plain path")?.to_owned();
    let answers = stage.in_memory("answers.toml");
    std::fs::write(&answers, ANSWERS)?;
    let answers = answers.to_str().context("the answers have a plain path")?.to_owned();
    stage.windlass(&["roadmap", "init", "--repo", &place, "--answers", &answers])?;
    write_past(&repository.join("orchestrator"))?;
    for words in [&["add", "--all"][..], &["commit", "--quiet", "--message=a long past"], &["gc", "--quiet"]]
    {
        commands::capture(stage.git().arg("-C").arg(&repository).args(words))?.expect_success()?;
    }
    let ours = || stage.windlass(&["roadmap", "inspect", &place, "--json"]).map(drop);
    let floor = || {
        let mut status = stage.git();
        status.arg("-C").arg(&repository).args(["status", "--porcelain"]);
        commands::capture(&mut status)?.expect_success().map(drop)
    };
    Ok(Measurement::of_times(interleaved(11, ours, floor)?))
}

fn write_past(plane: &Path) -> Result<()> {
    let text = |what: &str| format!("### {what}\n\n{}", "Words about what was done.\n".repeat(40));
    let mut written = 0;
    for family in 1..FAMILIES {
        let revision = plane.join(format!("roadmaps/2026-01-01-{family:02}-old/rev-001"));
        std::fs::create_dir_all(&revision)?;
        for name in ["roadmap.md", "verification.md"] {
            std::fs::write(revision.join(name), text(name))?;
            written += 1;
        }
    }
    for round in 1.. {
        let folder = plane.join(format!("rounds/round-{round:03}"));
        std::fs::create_dir_all(&folder)?;
        for name in ROUND_FILES {
            if written >= FILES {
                return Ok(());
            }
            std::fs::write(folder.join(name), text(name))?;
            written += 1;
        }
    }
    Ok(())
}
