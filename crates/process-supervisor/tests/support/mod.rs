//! A small world for each test: its own effect directory, a cookie nobody else has, waiting without sleeping.

#![expect(clippy::unwrap_used, reason = "these functions are parts of tests")]
#![expect(dead_code, reason = "every test file uses its own part of this module")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::event::{Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use windlass_process_supervisor::{
    ChildEnd, ChildSpec, ChildStdin, DetachedCommand, DetachedGroup, DetachedStdio, Found, KeeperProgram,
    KeptChild, Limits, ProcessIdentity, escapees, find, spawn_detached, start, sweep,
};

pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) cookie: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().file_name().unwrap().to_string_lossy().into_owned();
        Self { cookie: format!("cookie-{}-{name}", std::process::id()), folder }
    }

    pub(crate) fn effect(&self) -> PathBuf {
        self.folder.path().join("effect")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A shell script as the child; `$T` is the folder of the test.
    pub(crate) fn script(&self, script: &str) -> ChildSpec {
        ChildSpec {
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            directory: self.folder.path().to_owned(),
            environment: BTreeMap::from([
                ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
                ("T".into(), self.folder.path().into()),
            ]),
            secret_names: Vec::new(),
            stdin: ChildStdin::Nothing,
            limits: Limits { total_ms: 60_000, grace_ms: 5_000, ..Limits::default() },
            sandbox: None,
            overlay: None,
            cookie: self.cookie.clone(),
            outlasts_power_cuts: false,
        }
    }

    pub(crate) fn start(&self, spec: &ChildSpec) -> KeptChild {
        start(&keeper(), &self.effect(), spec).unwrap()
    }

    /// Runs to the end and checks what must hold after every end.
    pub(crate) fn run(&self, spec: &ChildSpec) -> ChildEnd {
        let mut child = self.start(spec);
        let end = wait(&mut child);
        self.assert_settled();
        end
    }

    /// Nothing of ours is alive, and every file of the directory is whole.
    pub(crate) fn assert_settled(&self) {
        assert_eq!(escapees(&self.cookie).unwrap(), [], "processes were left behind");
        let mut names = Vec::new();
        for entry in std::fs::read_dir(self.effect()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let text = std::fs::read(&path).unwrap();
                serde_json::from_slice::<serde_json::Value>(&text).unwrap();
            }
            names.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
        assert!(names.contains(&"exit.json".to_owned()), "there is an end: {names:?}");
        let leftover = names.iter().find(|name| name.starts_with('.') || name.contains(".tail."));
        assert_eq!(leftover, None, "a temporary file was left in {names:?}");
    }

    /// A log that is not there is an empty one.
    fn said(&self, log: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.effect().join(log)).unwrap_or_default()).into_owned()
    }

    pub(crate) fn stdout(&self) -> String {
        self.said("stdout.log")
    }

    pub(crate) fn stderr(&self) -> String {
        self.said("stderr.log")
    }

    pub(crate) fn keeper_identity(&self) -> ProcessIdentity {
        read_json(&self.effect().join("keeper.json"))
    }

    pub(crate) fn wait_for_file(&self, name: &str) {
        let path = self.file(name);
        wait_until(name, || path.exists());
    }
}

/// A test that failed half-way must not leave its child to the next one.
impl Drop for World {
    fn drop(&mut self) {
        if let Ok(Found::Running(child)) = find(&self.effect()) {
            child.kill().unwrap();
            wait_until("the keeper to end", || !matches!(find(&self.effect()), Ok(Found::Running(_))));
        }
        if let Ok(Found::Orphaned) = find(&self.effect()) {
            sweep(&self.effect()).unwrap();
        }
    }
}

pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

pub(crate) fn keeper() -> KeeperProgram {
    KeeperProgram { program: example("keeper"), args: Vec::new(), environment: BTreeMap::new() }
}

/// Examples are built beside the tests: `<target>/debug/deps/<test>` and `<target>/debug/examples/<example>`.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(path.is_file(), "{} is built together with the tests", path.display());
    path
}

pub(crate) fn wait(child: &mut KeptChild) -> ChildEnd {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(child.wait()).unwrap()
}

/// Starts an example program with its output in a file.
pub(crate) fn run_aside(program: PathBuf, args: &[&Path], output: &Path) -> ProcessIdentity {
    spawn_detached(&DetachedCommand {
        program,
        args: args.iter().map(|arg| arg.as_os_str().to_owned()).collect(),
        directory: "/".into(),
        environment: BTreeMap::new(),
        stdin: DetachedStdio::Null,
        stdout: DetachedStdio::File(output.to_owned()),
        stderr: DetachedStdio::Inherit,
        group: DetachedGroup::Own,
    })
    .unwrap()
}

/// A process that does nothing but be there, with these variables.
pub(crate) fn sleeper(world: &World, environment: BTreeMap<OsString, OsString>) -> ProcessIdentity {
    let sleeper = spawn_detached(&DetachedCommand {
        program: "/bin/sleep".into(),
        args: vec!["600".into()],
        directory: world.folder.path().to_owned(),
        environment,
        stdin: DetachedStdio::Null,
        stdout: DetachedStdio::Null,
        stderr: DetachedStdio::Null,
        group: DetachedGroup::Own,
    });
    let sleeper = sleeper.unwrap();
    let environ = format!("/proc/{}/environ", sleeper.pid);
    wait_until("the sleeper to be itself", || std::fs::read(&environ).is_ok_and(|told| !told.is_empty()));
    sleeper
}

pub(crate) fn signal(process: &ProcessIdentity, signal: Signal) {
    kill_process(Pid::from_raw(process.pid.try_into().unwrap()).unwrap(), signal).unwrap();
}

/// Looks every few milliseconds; gives up after half a minute.
pub(crate) fn wait_until(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if condition() {
            return;
        }
        poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: 5_000_000 })).unwrap();
    }
    panic!("waited in vain for {what}");
}
