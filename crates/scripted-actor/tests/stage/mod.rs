//! A place to play scripts in: a workspace, an outbox and a script directory under one temporary directory, and the
//! real process started exactly as the driver says. Whatever a script leaves running ends with it.

#![expect(clippy::unwrap_used, reason = "these functions are parts of tests")]
#![expect(dead_code, reason = "each test file uses its own part of the stage")]

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rustix::event::{Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use windlass_agent_drivers::{Access, AgentChoice, Commands, Invocation, Role, Session, driver};
use windlass_process_supervisor::escapees;

pub(crate) struct Stage {
    directory: TempDir,
    pub(crate) role: Role,
    pub(crate) round: u32,
    pub(crate) attempt: u32,
}

impl Stage {
    pub(crate) fn with_script(script: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["work space", "out box", "scripts"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        let stage = Self { directory, role: Role::Doer, round: 1, attempt: 1 };
        fs::write(stage.note("agent.toml"), script).unwrap();
        stage
    }

    /// One step for every role that does these actions.
    pub(crate) fn with_actions(actions: &str) -> Self {
        Self::with_script(&format!("[[step]]\ndo = [\n{actions}\n]\n"))
    }

    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.directory.path().join("work space").join(name)
    }

    pub(crate) fn outbox(&self, name: &str) -> PathBuf {
        self.directory.path().join("out box").join(name)
    }

    pub(crate) fn note(&self, name: &str) -> PathBuf {
        self.directory.path().join("scripts").join(name)
    }

    pub(crate) fn json(&self, artifact: &str) -> serde_json::Value {
        serde_json::from_slice(&fs::read(self.outbox(artifact)).unwrap()).unwrap()
    }

    /// Unique to this stage, and in the environment of everything it starts.
    fn cookie(&self) -> String {
        self.directory.path().file_name().unwrap().to_string_lossy().into_owned()
    }

    #[expect(clippy::disallowed_methods, reason = "the test stands where the supervisor stands")]
    pub(crate) fn command(&self) -> Command {
        let choice = AgentChoice::parse(&format!("scripted:{}", self.note("agent.toml").display())).unwrap();
        let line = driver::build(
            &choice,
            &Invocation {
                run_id: "run-1".to_owned(),
                task_id: "TASK-1".to_owned(),
                role: self.role,
                round: self.round,
                attempt: self.attempt,
                label: None,
                workspace: self.work(""),
                outbox: self.outbox(""),
                prompt_file: self.note("prompt.md"),
                access: Access::ReadWrite,
                commands: Commands::Allowed,
                readable: Vec::new(),
                session: Session::Fresh { id: None },
                answer_schema: None,
                usage_file: self.note("usage.json"),
                windlass_program: player(),
            },
        )
        .unwrap();
        let mut command = Command::new(line.program);
        command.args(line.arguments).current_dir(self.work("")).env_clear().envs(line.environment);
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("WINDLASS_COOKIE", self.cookie());
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn play(&self) -> Output {
        self.command().output().unwrap()
    }

    pub(crate) fn play_as(&mut self, role: Role, round: u32, attempt: u32) -> Output {
        (self.role, self.round, self.attempt) = (role, round, attempt);
        self.play()
    }

    pub(crate) fn start(&self) -> Child {
        self.command().spawn().unwrap()
    }

    /// Everything of this stage that still runs.
    pub(crate) fn alive(&self) -> Vec<u32> {
        escapees(&self.cookie()).unwrap().iter().map(|process| process.pid).collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for pid in self.alive() {
            // It may have ended by itself in between.
            let _ = kill_process(pid_of(pid), Signal::KILL);
        }
    }
}

/// The example `play` of this package, which Cargo builds beside the tests.
fn player() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(Path::parent).unwrap().join("examples/play");
    assert!(built.exists(), "{} is missing: build the examples of this package first", built.display());
    built
}

pub(crate) fn pid_of(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
}

pub(crate) fn stdout_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Looks until it is so, for half a minute at most.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        let _ = poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: 5_000_000 }));
    }
    panic!("it never came to be that {what}");
}
