//! One test's world. Everything in it lies under one directory, so that whatever is left over can be recognised.

use crate::background::Background;
use crate::leftovers;
use crate::output::Output;
use crate::repository::Repository;
use crate::script::Script;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use windlass_process_supervisor::QuickCommand;

/// Long enough for a busy machine; a test that needs it is broken.
const PATIENCE: Duration = Duration::from_mins(2);

pub struct World {
    directory: tempfile::TempDir,
    program: PathBuf,
    environment: BTreeMap<OsString, OsString>,
}

impl World {
    /// `program` is the binary under test: `env!("CARGO_BIN_EXE_windlass")`, known in the tests of the cli crate only.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let directory =
            tempfile::Builder::new().prefix("windlass-world-").tempdir().expect("a temporary directory");
        for name in ["home", "scripts"] {
            std::fs::create_dir(directory.path().join(name)).expect("a fresh directory takes new entries");
        }
        let environment = clean_environment(directory.path());
        Self { directory, program: program.into(), environment }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    pub fn state_dir(&self) -> PathBuf {
        self.path().join("state")
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The complete environment of everything that is started here.
    pub fn environment(&self) -> &BTreeMap<OsString, OsString> {
        &self.environment
    }

    /// A variable for all programs from now on.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) -> &mut Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// From now on agents and checks may write wherever their user may. Everything else in the tests is held to its places, as
    /// users have it; `reason` says to a reader why this must not be.
    pub fn without_sandbox(&mut self, reason: &str) -> &mut Self {
        assert!(!reason.is_empty(), "nobody goes without a sandbox for no reason");
        self.set("WINDLASS_SANDBOX", "off")
    }

    pub fn unset(&mut self, name: &str) -> &mut Self {
        self.environment.remove(OsStr::new(name));
        self
    }

    /// A repository with one commit.
    pub fn repository(&self, name: &str) -> Repository {
        Repository::make(self.path().join(name), &self.environment)
    }

    /// Writes a script for scripted agents; `scripted:FILE` as `--agent` takes it.
    pub fn agent(&self, name: &str, script: &Script) -> String {
        self.agent_from_text(name, &script.text())
    }

    pub fn agent_from_text(&self, name: &str, text: &str) -> String {
        let path = self.path().join("scripts").join(name);
        std::fs::write(&path, text).expect("the scripts' directory can be written");
        format!("scripted:{}", path.display())
    }

    /// A program that is there and can be found, but whose interpreter is not: it fails when it is started, not before.
    pub fn agent_that_cannot_start(&self) -> String {
        let path = self.path().join("scripts").join("cannot-start");
        std::fs::write(&path, "#!/nowhere/interpreter\n").expect("the scripts' directory can be written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("the file is ours");
        format!("command:{}", path.display())
    }

    /// A file next to the scripts, where `count`, `wait_for` and `save_prompt` look. The one place outside its own that everybody
    /// may write who is started here.
    pub fn shared(&self, name: &str) -> PathBuf {
        self.path().join("scripts").join(name)
    }

    /// Every agent step so far, as `role round attempt`, in the order they began.
    pub fn steps(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.shared(Script::STEPS)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Runs the program to its end, standing in this world's directory.
    pub fn windlass(&self, args: &[&str]) -> Output {
        self.windlass_in(self.path(), args, "")
    }

    pub fn windlass_in(&self, directory: &Path, args: &[&str], stdin: &str) -> Output {
        self.run(&self.program, directory, args, stdin)
    }

    /// Runs another program to its end, in the same environment.
    pub fn run(&self, program: &Path, directory: &Path, args: &[&str], stdin: &str) -> Output {
        let command = QuickCommand::new(program, directory)
            .args(args.iter().copied())
            .envs(self.environment.clone())
            .stdin(stdin)
            .deadline(PATIENCE);
        Output::of(args, command.run().expect("the program can be run"))
    }

    /// Starts the program and comes back at once.
    pub fn start_windlass(&self, args: &[&str]) -> Background {
        self.start(&self.program, args)
    }

    /// The same for another program.
    pub fn start(&self, program: &Path, args: &[&str]) -> Background {
        Background::start(program, self.path(), args, &self.environment)
    }

    /// The same with variables for this one start.
    pub fn start_windlass_with(&self, args: &[&str], variables: &[(&str, OsString)]) -> Background {
        let mut environment = self.environment.clone();
        environment.extend(variables.iter().map(|(name, value)| ((*name).into(), value.clone())));
        Background::start(&self.program, self.path(), args, &environment)
    }

    /// Processes of this world that are still alive, as `pid command`. Empty when nothing was left behind.
    pub fn processes(&self) -> Vec<String> {
        leftovers::find(self.path()).into_iter().map(|process| process.to_string()).collect()
    }

    /// Whether a keeper is alive.
    pub fn has_keeper(&self) -> bool {
        leftovers::find(self.path()).iter().any(leftovers::Leftover::is_keeper)
    }

    /// Kills one of the keepers that are alive, counted from anywhere; whether there was one.
    pub fn kill_a_keeper(&self, number: usize) -> bool {
        let keepers: Vec<_> =
            leftovers::find(self.path()).into_iter().filter(leftovers::Leftover::is_keeper).collect();
        !keepers.is_empty() && keepers[number % keepers.len()].kill(self.path())
    }

    /// Kills every process of this world, and what they start meanwhile.
    pub fn kill_everything(&self) {
        leftovers::end(self.path());
    }

    /// Fails the test when an agent, a keeper or anything they started is still alive.
    #[track_caller]
    pub fn assert_no_processes(&self) {
        assert_eq!(self.processes(), Vec::<String>::new(), "processes were left behind");
    }
}

impl Drop for World {
    /// A failed test must not leave its agents to the next one.
    fn drop(&mut self) {
        leftovers::end(self.path());
    }
}

fn clean_environment(root: &Path) -> BTreeMap<OsString, OsString> {
    let path = std::env::vars_os().find(|(name, _)| name == "PATH").map(|(_, value)| value);
    let place = |name: &str| root.join(name).into_os_string();
    let fixed = [
        ("HOME", place("home")),
        ("WINDLASS_STATE_DIR", place("state")),
        ("PATH", path.unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into())),
        ("LANG", "C.UTF-8".into()),
        ("TZ", "UTC".into()),
        ("USER", "tester".into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("WINDLASS_SANDBOX_WRITE", place("scripts")),
    ];
    fixed.map(|(name, value)| (name.into(), value)).into()
}
