//! The agent that takes no time, and the counting stand-in for git. Both are this very program under another name, so
//! that the benchmark needs nothing built besides. They know nothing of the rows.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use xtask::commands::{Repository, environment};
use xtask::console;
use xtask::stopwatch::wall_clock;

use crate::roadmap_plane;

/// The first argument of an agent; the second one is how many rounds its judge or controller rejects, and a third one a file where it
/// leaves the moments of its first and its last instruction.
pub(crate) const PLAY: &str = "--play-agent";
/// The first argument of the least keeper there is; the second one is the file for the end of what it keeps, and what
/// follows is the command.
pub(crate) const KEEP: &str = "--keep-agent";
/// The first argument of an agent in layers: where it sees them, the upper one, the kernel's own, what is changed, the checkout.
pub(crate) const LAYERS: &str = "--in-layers";
/// The file that each change is in.
const CHANGED_FILE: &str = "changed.txt";
/// What the counting git is called, and where it leaves one byte for each time it is started.
const GIT: &str = "git";
const CALLS: &str = "calls";
/// The git that does the work, beside the one that counts.
const REAL: &str = "real";

/// Plays the part this process was started for; `None` when that is to measure.
pub(crate) fn play() -> Option<ExitCode> {
    let words: Vec<String> = std::env::args().collect();
    let played = if words.get(1).is_some_and(|word| word == PLAY) {
        act_on_the_clock(words.get(2).map_or("", String::as_str), words.get(3))
    } else if words.get(1).is_some_and(|word| word == KEEP) {
        keep(&words[2..])
    } else if words.get(1).is_some_and(|word| word == LAYERS) {
        enter_layers(&words)
    } else if Path::new(words.first()?).file_name()? == GIT {
        count_and_become_git(&words)
    } else {
        return None;
    };
    Some(match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    })
}

fn act_on_the_clock(rejected_rounds: &str, moments: Option<&String>) -> Result<()> {
    let began = wall_clock();
    act(rejected_rounds)?;
    let Some(file) = moments else { return Ok(()) };
    let role = environment("WINDLASS_ROLE").context("WINDLASS_ROLE is not set")?;
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(file)?;
    let line = format!("{role} {} {}\n", began.as_nanos(), wall_clock().as_nanos());
    Ok(file.write_all(line.as_bytes())?)
}

/// What a controller needs that may be killed: a process that outlives it, is the parent of the agent, has what the agent
/// says, and leaves durably how it ended. No limits, no tree of processes to end, nobody to be found again.
fn keep(words: &[String]) -> Result<()> {
    let [end, program, arguments @ ..] = words else { bail!("nothing to keep") };
    let here = std::env::current_dir()?;
    let said = std::fs::File::create(Path::new(end).with_extension("log"))?;
    let mut agent = Repository::of_this_build().program(program);
    agent.args(arguments).current_dir(here).stdin(Stdio::inherit());
    let status = agent.stdout(said.try_clone()?).stderr(said).status()?;
    let mut file = std::fs::File::create(end)?;
    file.write_all(format!("{}\n", status.code().unwrap_or(-1)).as_bytes())?;
    Ok(file.sync_all()?)
}

/// Becomes the agent once the layers are there, by the launcher that the supervisor has for it.
fn enter_layers(words: &[String]) -> Result<()> {
    let [own, _, place, upper, work, change, files, arguments @ ..] = words else { bail!("no layers") };
    // Bad news goes nowhere; that it came back is news enough.
    let nowhere = std::fs::File::options().write(true).open("/dev/null")?;
    let descriptor = nowhere.into_raw_fd().to_string();
    let order = [&descriptor, "none", "5", place, upper, work, change, files, "0", own, own];
    let order: Vec<OsString> =
        order.into_iter().map(OsString::from).chain(arguments.iter().map(OsString::from)).collect();
    bail!("no layers: {}", windlass_process_supervisor::launch(&order))
}

/// Reads the prompt, does what the role does, leaves its artifact.
fn act(rejected_rounds: &str) -> Result<()> {
    let variable = |name: &str| environment(name).with_context(|| format!("{name} is not set"));
    let rejected_rounds: u32 = rejected_rounds.parse().context("how many rounds are rejected?")?;
    let round: u32 = variable("WINDLASS_ROUND")?.parse()?;
    let task = variable("WINDLASS_TASK")?;
    let outbox = PathBuf::from(variable("WINDLASS_OUTBOX")?);
    let mut prompt = Vec::new();
    std::io::stdin().read_to_end(&mut prompt)?;
    let role = variable("WINDLASS_ROLE")?;
    if let Some((path, text)) = roadmap_plane::artifact(&role, round) {
        if role == "implementer" {
            std::fs::write(CHANGED_FILE, format!("round {round}\n"))?;
        }
        std::fs::create_dir_all(path.parent().context("a round has a folder")?)?;
        return Ok(std::fs::write(path, text)?);
    }
    let text = match role.as_str() {
        "doer" => {
            std::fs::write(CHANGED_FILE, format!("round {round}\n"))?;
            handoff(&task)
        }
        "judge" => verdict(&task, round > rejected_rounds),
        "actuator" => {
            std::fs::write(CHANGED_FILE, format!("iteration {round}\n"))?;
            action()
        }
        "controller" => decision(round > rejected_rounds),
        _ => audit(&task),
    };
    std::fs::write(outbox.join(answer_of(&role)?), text)?;
    Ok(())
}

/// The file in which a role answers.
pub(crate) fn answer_of(role: &str) -> Result<&'static str> {
    match role {
        "doer" => Ok("handoff.json"),
        "judge" => Ok("verdict.json"),
        "auditor" => Ok("audit.json"),
        "controller" => Ok("controller-output.md"),
        "actuator" => Ok("actuator-output.md"),
        other => bail!("no agent plays {other}"),
    }
}

fn handoff(task: &str) -> String {
    format!(
        r#"{{"task_id":"{task}","summary":"a change","requirements_touched":[],"files_touched":["{CHANGED_FILE}"],
"assumptions":[],"smoke_checks":[],"notes":""}}"#
    )
}

fn verdict(task: &str, passes: bool) -> String {
    let (word, reasons) =
        if passes { ("pass", "") } else { ("reject", r#"{"check":"looks","details":"not yet"}"#) };
    format!(
        r#"{{"task_id":"{task}","verdict":"{word}","reasons":[{reasons}],"required_changes":[],
"suggested_tests":[],"requirements_checked":[],"requirements_missing":[],"notes":""}}"#
    )
}

fn audit(task: &str) -> String {
    format!(
        r#"{{"task_id":"{task}","gate":"pass","findings":[],"traceability":{{"task_id_match":"pass",
"requirements_coverage":"pass","issues":[]}},"required_actions":[],"notes":""}}"#
    )
}

fn decision(target_met: bool) -> String {
    let plan = if target_met { "" } else { "\n## Action Plan\n\n1. Change the file.\n" };
    format!("---\ntarget-met: {target_met}\n---\n\n## Gap Analysis\n\nNot there before it is.\n{plan}")
}

fn action() -> String {
    format!(
        "# Actuator Output\n\n## What Was Done\n\nA change.\n\n## Files Changed\n\n- `{CHANGED_FILE}` (modified)\n"
    )
}

/// A directory whose `git` counts how often it is started.
pub(crate) struct CountingGit {
    directory: tempfile::TempDir,
}

impl CountingGit {
    pub(crate) fn make() -> Result<Self> {
        let directory = tempfile::tempdir()?;
        std::os::unix::fs::symlink(real_git()?, directory.path().join(REAL))?;
        std::os::unix::fs::symlink(std::env::current_exe()?, directory.path().join(GIT))?;
        std::fs::write(directory.path().join(CALLS), "")?;
        Ok(Self { directory })
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn calls(&self) -> Result<u64> {
        Ok(std::fs::metadata(self.directory.path().join(CALLS))?.len())
    }
}

/// The git that PATH leads to.
pub(crate) fn real_git() -> Result<PathBuf> {
    let search = environment("PATH").context("PATH is not set")?;
    std::env::split_paths(&search)
        .map(|directory| directory.join(GIT))
        .find(|candidate| candidate.is_file())
        .context("there is no git in PATH")
}

fn count_and_become_git(words: &[String]) -> Result<()> {
    let own = Path::new(&words[0]).parent().context("the counting git stands in no directory")?;
    std::fs::OpenOptions::new().append(true).open(own.join(CALLS))?.write_all(b".")?;
    let here = std::env::current_dir()?;
    let error = Repository::of_this_build()
        .program(own.join(REAL))
        .args(&words[1..])
        .current_dir(here)
        .stdin(Stdio::inherit())
        .exec();
    Err(error).context("cannot become git")
}
