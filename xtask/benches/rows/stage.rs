//! Where rows play: a repository in memory, so that the noise of a disk does not drown what is measured, and a state
//! directory on the real disk, because durability is part of what is measured. Knows the program only from outside.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use xtask::bench::Bench;
use xtask::commands::{self, Repository, environment};

use crate::agent;
use crate::roadmap_plane;
use crate::scratch;

/// Where files cost no disk, on systems that have such a place.
const IN_MEMORY: &str = "/dev/shm";
/// What the sensor of a control loop runs.
pub(crate) const SENSOR: &str = "echo fine";
const FILES_PER_DIRECTORY: usize = 50;
const FILE_BYTES: usize = 4 * 1024;

pub(crate) struct Stage {
    program: PathBuf,
    memory: TempDir,
    disk: PathBuf,
    state: PathBuf,
    search_path: String,
    git: PathBuf,
    /// What runs work in; as it is chosen, it depends on how many files there are.
    workspaces: &'static str,
}

impl Stage {
    /// A repository with one commit of that many files.
    pub(crate) fn with_files(bench: &Bench, files: usize) -> Result<Self> {
        let memory = if Path::new(IN_MEMORY).is_dir() {
            tempfile::tempdir_in(IN_MEMORY)?
        } else {
            tempfile::tempdir()?
        };
        let disk = scratch::directory(bench)?;
        let search_path = environment("PATH").unwrap_or_else(|| "/usr/bin:/bin".to_owned());
        let git = agent::real_git()?;
        let workspaces = "worktrees";
        let stage = Self {
            program: bench.program.clone(),
            memory,
            state: disk.join("state"),
            disk,
            search_path,
            git,
            workspaces,
        };
        stage.make_repository(files)?;
        Ok(stage)
    }

    /// Runs work in these from now on.
    pub(crate) fn with_workspaces(mut self, workspaces: &'static str) -> Self {
        self.workspaces = workspaces;
        self
    }

    /// The same with the agent files of a control loop in it: one sensor that costs nothing and always passes.
    pub(crate) fn with_control_loop(bench: &Bench, files: usize) -> Result<Self> {
        let stage = Self::with_files(bench, files)?;
        let agents = stage.repository().join(".claude/agents");
        std::fs::create_dir_all(&agents)?;
        let body = |role: &str| match role {
            "sensor-fine" => {
                format!("# Sensor: fine\n\n## Measurement\n\n    {SENSOR}\n\n## Output\n\nAll of it.\n")
            }
            role => format!("# {role}\n\nDo your part.\n"),
        };
        for role in ["sensor-fine", "controller", "actuator"] {
            let text = format!("---\nname: loop-{role}\ndescription: plays\n---\n\n{}", body(role));
            std::fs::write(agents.join(format!("loop-{role}.md")), text)?;
        }
        for words in [&["add", "--all"][..], &["commit", "--quiet", "--message=set up"], &["gc", "--quiet"]] {
            commands::capture(stage.git().arg("-C").arg(stage.repository()).args(words))?.expect_success()?;
        }
        Ok(stage)
    }

    /// A control loop whose controller is content after so many iterations.
    pub(crate) fn control(&self, branch: &str, iterations: u32) -> Result<()> {
        let agent = format!("command:{} {} {iterations}", own_program()?.display(), agent::PLAY);
        let most = (iterations + 1).to_string();
        let repository = self.repository();
        let repository = repository.to_str().context("the repository has a plain path")?;
        self.windlass(&[
            "control",
            "run",
            "a change",
            "--repo",
            repository,
            "--agent",
            &agent,
            "--branch",
            branch,
            "--max-iterations",
            &most,
            "--patience",
            "0",
            "--yes",
        ])
        .map(drop)
    }

    /// The same with a control plane in it.
    pub(crate) fn with_roadmap(bench: &Bench, files: usize) -> Result<Self> {
        let stage = Self::with_files(bench, files)?;
        for (path, text) in roadmap_plane::files() {
            let path = stage.repository().join(path);
            std::fs::create_dir_all(path.parent().context("a file of the plane has a folder")?)?;
            std::fs::write(path, text)?;
        }
        for words in [&["add", "--all"][..], &["commit", "--quiet", "--message=set up"], &["gc", "--quiet"]] {
            commands::capture(stage.git().arg("-C").arg(stage.repository()).args(words))?.expect_success()?;
        }
        Ok(stage)
    }

    /// A roadmap loop that merges so many rounds more.
    pub(crate) fn roadmap(&self, rounds: u32) -> Result<()> {
        let agent = format!("command:{} {} 0", own_program()?.display(), agent::PLAY);
        let repository = self.repository();
        let repository = repository.to_str().context("the repository has a plain path")?;
        let rounds = rounds.to_string();
        let words = ["roadmap", "run", "--repo", repository, "--agent", &agent, "--rounds", &rounds];
        let mut command = self.start(&self.program);
        command.env("WINDLASS_STATE_DIR", self.state_directory()).args(words);
        let ended = commands::capture(&mut command)?;
        // The milestone stays open, so that the run ends with its rounds used up, which is no success.
        if ended.stdout.contains("rounds-used") { Ok(()) } else { ended.expect_success().map(drop) }
    }

    fn make_repository(&self, files: usize) -> Result<()> {
        let repository = self.repository();
        for number in 0..files {
            let directory = repository.join(format!("part-{}", number / FILES_PER_DIRECTORY));
            std::fs::create_dir_all(&directory)?;
            let line = format!("line of file {number}\n");
            let lines = FILE_BYTES / line.len();
            std::fs::write(directory.join(format!("file-{number}.txt")), line.repeat(lines))?;
        }
        for words in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["config", "user.name", "bench"],
            &["config", "user.email", "bench@localhost"],
            // A commit of many files would begin one of its own behind our back, and the one below would find it at work.
            &["config", "maintenance.auto", "false"],
            &["add", "--all"],
            &["commit", "--quiet", "--message=base"],
            &["gc", "--quiet"],
        ] {
            commands::capture(self.git().arg("-C").arg(&repository).args(words))?.expect_success()?;
        }
        Ok(())
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.memory.path().join("repository")
    }

    /// A place in memory beside the repository.
    pub(crate) fn in_memory(&self, name: &str) -> PathBuf {
        self.memory.path().join(name)
    }

    /// A place on the disk beside the state directory.
    pub(crate) fn on_disk(&self, name: &str) -> PathBuf {
        self.disk.join(name)
    }

    pub(crate) fn state_directory(&self) -> PathBuf {
        self.state.clone()
    }

    /// For what is held against something that makes nothing durable.
    pub(crate) fn with_state_in_memory(mut self) -> Self {
        self.state = self.in_memory("state");
        self
    }

    /// The worktrees of runs that have ended, which nobody will look at. They lie in memory, where removing costs no later
    /// row anything and keeping them would fill it.
    pub(crate) fn clear_worktrees(&self) -> Result<()> {
        let runs = self.repository().join(".orchestrator/runs");
        for run in std::fs::read_dir(&runs).with_context(|| runs.display().to_string())? {
            let worktrees = run?.path().join("worktrees");
            if worktrees.is_dir() {
                std::fs::remove_dir_all(&worktrees)?;
            }
        }
        Ok(())
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.state_directory().join("journal.db")
    }

    /// Programs are looked for there first from now on.
    pub(crate) fn look_first_in(&mut self, directory: &Path) {
        self.search_path = format!("{}:{}", directory.display(), self.search_path);
    }

    /// Any program with nothing in its environment but what every program needs.
    pub(crate) fn start(&self, program: &Path) -> Command {
        let mut command = Repository::of_this_build().program(program);
        command.env_clear().env("PATH", &self.search_path).env("HOME", self.memory.path());
        command.current_dir(self.memory.path());
        command
    }

    /// By its full path: a program that has to be searched for is started in a slower way.
    pub(crate) fn git(&self) -> Command {
        self.start(&self.git)
    }

    /// What `windlass` prints for these words.
    pub(crate) fn windlass(&self, words: &[&str]) -> Result<String> {
        let mut command = self.start(&self.program);
        command.env("WINDLASS_STATE_DIR", self.state_directory()).args(words);
        commands::capture(&mut command)?.expect_success()
    }

    /// A run whose judge rejects that many rounds before it passes one.
    pub(crate) fn run(&self, task: &str, rejected_rounds: u32, landing: &str) -> Result<()> {
        self.run_with(&rejected_rounds.to_string(), task, rejected_rounds, landing)
    }

    /// The same with these words for the agent that takes no time.
    pub(crate) fn run_with(
        &self,
        words: &str,
        task: &str,
        rejected_rounds: u32,
        landing: &str,
    ) -> Result<()> {
        let (_, words) = self.run_words(words, task, rejected_rounds, landing)?;
        self.windlass(&words.iter().map(String::as_str).collect::<Vec<_>>()).map(drop)
    }

    /// The program and what it is told for such a run.
    pub(crate) fn run_words(
        &self,
        words: &str,
        task: &str,
        rejected_rounds: u32,
        landing: &str,
    ) -> Result<(&Path, Vec<String>)> {
        let agent = format!("command:{} {} {words}", own_program()?.display(), agent::PLAY);
        let rounds = (rejected_rounds + 1).to_string();
        let repository = self.repository();
        let repository = repository.to_str().context("the repository has a plain path")?;
        let disk = self.disk.to_str().context("the disk has a plain path")?;
        // The agents' moments lie beside the state directory, where no agent may write of itself.
        let words = [
            "run",
            "a change",
            "--id",
            task,
            "--repo",
            repository,
            "--agent",
            &agent,
            "--rounds",
            &rounds,
            "--land",
            landing,
            "--workspaces",
            self.workspaces,
            "--sandbox-write",
            disk,
        ];
        Ok((&self.program, words.map(str::to_owned).to_vec()))
    }

    /// The run's facts as `log --json` gives them.
    pub(crate) fn facts(&self, run: &str) -> Result<Vec<Value>> {
        let mut log: Value = serde_json::from_str(&self.windlass(&["log", run, "--json"])?)?;
        match log["entries"].take() {
            Value::Array(entries) => Ok(entries),
            other => anyhow::bail!("the log has no entries but {other}"),
        }
    }

    /// Where that agent leaves its answers.
    pub(crate) fn outbox(&self) -> PathBuf {
        self.on_disk("outbox")
    }

    /// The agent that takes no time, as the program starts it.
    pub(crate) fn agent(
        &self,
        role: &str,
        round: u32,
        rejected_rounds: u32,
        directory: &Path,
    ) -> Result<Command> {
        let outbox = self.outbox();
        std::fs::create_dir_all(&outbox)?;
        let prompt = self.prompt();
        std::fs::write(&prompt, "what is to be done\n".repeat(200))?;
        let mut command = self.start(&own_program()?);
        command.args([agent::PLAY, &rejected_rounds.to_string()]).current_dir(directory);
        command.env("WINDLASS_TASK", "by-hand").env("WINDLASS_ROLE", role);
        command.env("WINDLASS_ROUND", round.to_string()).env("WINDLASS_OUTBOX", outbox);
        command.stdin(std::fs::File::open(prompt)?).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    }
}

impl Stage {
    /// The same under a keeper that leaves its end in that file.
    pub(crate) fn kept_agent(&self, role: &str, round: u32, directory: &Path, end: &Path) -> Result<Command> {
        let agent = self.agent(role, round, 0, directory)?;
        let mut kept = self.start(&own_program()?);
        kept.arg(agent::KEEP).arg(end).arg(agent.get_program()).args(agent.get_args());
        kept.current_dir(directory);
        for (name, value) in agent.get_envs().filter_map(|(name, value)| Some((name, value?))) {
            kept.env(name, value);
        }
        kept.stdin(std::fs::File::open(self.prompt())?).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(kept)
    }

    pub(crate) fn prompt(&self) -> PathBuf {
        self.on_disk("prompt.md")
    }
}

/// What the journal's answers are waited for with, as the program does.
pub(crate) fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

pub(crate) fn own_program() -> Result<PathBuf> {
    std::env::current_exe().context("this program does not know its own file")
}
