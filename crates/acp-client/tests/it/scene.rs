//! A place for one turn: a workspace, an outbox, a scripted agent, and the real client between the two. Whatever a test
//! leaves running ends with it.

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::event::{Timespec, poll};
use rustix::process::{Pid, Signal as Sent, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use windlass_agent_drivers::{AgentChoice, Conclusion, HowItEnded, Signal, Stream, driver};
use windlass_process_supervisor::{COOKIE_VARIABLE, escapees};

pub(crate) struct Scene {
    directory: TempDir,
    pub(crate) options: Vec<String>,
}

pub(crate) struct Turn {
    pub(crate) code: i32,
    pub(crate) signals: Vec<Signal>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Steps that bring an agent to its prompt: an ordinary handshake and an ordinary session.
pub(crate) fn up_to_prompt() -> Vec<Value> {
    vec![initialized(json!({})), json!({"answer": {"sessionId": "s1"}})]
}

pub(crate) fn initialized(capabilities: Value) -> Value {
    json!({"answer": {"protocolVersion": 1, "agentCapabilities": capabilities}})
}

pub(crate) fn ended(reason: &str) -> Value {
    json!({"answer": {"stopReason": reason}})
}

pub(crate) fn piece(text: &str) -> Value {
    json!({"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}})
}

impl Scene {
    pub(crate) fn new(steps: &[Value]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["work", "out"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        let scene = Self { directory, options: vec!["--read-write".to_owned()] };
        scene.script(steps);
        scene
    }

    /// For scripts that name the scene's own paths.
    pub(crate) fn script(&self, steps: &[Value]) {
        let script: Vec<String> = steps.iter().map(Value::to_string).collect();
        fs::write(self.path("script"), script.join("\n")).unwrap();
    }

    /// A scene in which the agent is prompted and then does this.
    pub(crate) fn after_prompt(steps: &[Value]) -> Self {
        Self::new(&[up_to_prompt(), steps.to_vec()].concat())
    }

    pub(crate) fn with(mut self, options: &[&str]) -> Self {
        self.options = options.iter().map(|option| (*option).to_owned()).collect();
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn play(&self) -> Turn {
        let script = self.path("script").to_str().unwrap().to_owned();
        let heard = self.path("heard").to_str().unwrap().to_owned();
        self.play_program(&[example("acp_agent").to_str().unwrap(), &script, &heard])
    }

    /// With another program in the agent's place.
    pub(crate) fn play_program(&self, agent: &[&str]) -> Turn {
        let turn = finish(self.start_program(agent, Stdio::piped()));
        assert_eq!(self.alive(), 0, "nothing is left of the agent");
        turn
    }

    pub(crate) fn start(&self) -> Child {
        let (script, heard) = (self.path("script"), self.path("heard"));
        let agent = [example("acp_agent"), script, heard];
        let agent: Vec<&str> = agent.iter().map(|word| word.to_str().unwrap()).collect();
        self.start_program(&agent, Stdio::piped())
    }

    #[expect(clippy::disallowed_methods, reason = "the test stands where the supervisor stands")]
    pub(crate) fn start_program(&self, agent: &[&str], stdout: Stdio) -> Child {
        let mut command = Command::new(example("acp_client"));
        command.arg("__acp").args(&self.options).arg("--").args(agent);
        command.current_dir(self.path("work")).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("WINDLASS_OUTBOX", self.path("out")).env(COOKIE_VARIABLE, self.cookie());
        command.process_group(0).stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::piped());
        let mut client = command.spawn().unwrap();
        // A client that refuses its order does not read.
        let _ = client.stdin.take().unwrap().write_all(b"Do it.\n");
        client
    }

    /// What the agent was sent, in order.
    pub(crate) fn heard(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("heard")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    pub(crate) fn methods(&self) -> Vec<String> {
        let heard = self.heard();
        heard.iter().filter_map(|message| message["method"].as_str()).map(str::to_owned).collect()
    }

    /// The answer the agent got to its own request with this id.
    pub(crate) fn answer_to(&self, id: &Value) -> Value {
        let heard = self.heard();
        let answer = heard.iter().find(|message| message.get("method").is_none() && message["id"] == *id);
        answer.unwrap_or_else(|| panic!("no answer to {id} in {heard:?}")).clone()
    }

    /// How many processes of this scene run.
    pub(crate) fn alive(&self) -> usize {
        escapees(&self.cookie()).unwrap().len()
    }

    fn cookie(&self) -> String {
        self.directory.path().file_name().unwrap().to_string_lossy().into_owned()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for process in escapees(&self.cookie()).unwrap() {
            // It may have ended by itself in between.
            let _ = kill_process(pid_of(process.pid), Sent::KILL);
        }
    }
}

pub(crate) fn finish(client: Child) -> Turn {
    let output = client.wait_with_output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let choice = AgentChoice::parse("acp:agent").unwrap();
    let signals = stdout.lines().flat_map(|line| driver::read_line(&choice, Stream::Stdout, line)).collect();
    Turn {
        code: output.status.code().unwrap_or(-1),
        signals,
        stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Turn {
    /// What the engine will make of it.
    pub(crate) fn conclusion(&self) -> Conclusion {
        let choice = AgentChoice::parse("acp:agent").unwrap();
        driver::conclude(&choice, &HowItEnded::Exited { code: self.code }, &self.signals)
    }
}

pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(Path::parent).unwrap().join("examples").join(name);
    assert!(built.exists(), "{} is missing: build the examples of this package first", built.display());
    built
}

pub(crate) fn pid_of(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
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
