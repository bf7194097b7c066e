//! The program at work beside the test, to be signalled, killed and waited for.

use crate::output::Output;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, waitpid};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use windlass_process_supervisor::{
    DetachedCommand, DetachedGroup, DetachedStdio, ProcessIdentity, spawn_detached,
};

static STARTED: AtomicU32 = AtomicU32::new(0);

pub struct Background {
    command: String,
    identity: ProcessIdentity,
    stdout: PathBuf,
    stderr: PathBuf,
    ended: Option<WaitStatus>,
}

impl Background {
    pub(crate) fn start(
        program: &Path,
        directory: &Path,
        args: &[&str],
        environment: &BTreeMap<OsString, OsString>,
    ) -> Self {
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let stream = |name: &str| directory.join(format!("background-{number}.{name}"));
        let (stdout, stderr) = (stream("stdout"), stream("stderr"));
        let command = DetachedCommand {
            program: program.to_owned(),
            args: args.iter().map(Into::into).collect(),
            directory: directory.to_owned(),
            environment: environment.clone(),
            stdin: DetachedStdio::Null,
            stdout: DetachedStdio::File(stdout.clone()),
            stderr: DetachedStdio::File(stderr.clone()),
            group: DetachedGroup::Own,
        };
        let identity = spawn_detached(&command).expect("the program can be started");
        Self { command: args.join(" "), identity, stdout, stderr, ended: None }
    }

    pub fn pid(&self) -> u32 {
        self.identity.pid
    }

    pub fn is_alive(&self) -> bool {
        self.ended.is_none() && self.identity.is_alive()
    }

    /// What it has printed so far.
    pub fn stdout(&self) -> String {
        std::fs::read_to_string(&self.stdout).unwrap_or_default()
    }

    pub fn stderr(&self) -> String {
        std::fs::read_to_string(&self.stderr).unwrap_or_default()
    }

    pub fn signal(&self, signal: Signal) {
        // A process that has ended but was not waited for still has its pid, so this cannot hit another one.
        if self.ended.is_none() {
            kill_process(self.raw(), signal).expect("our own child can be signalled");
        }
    }

    /// SIGKILL, and gone when this returns.
    pub fn kill(mut self) -> Output {
        self.signal(Signal::KILL);
        self.reap();
        self.output()
    }

    /// SIGKILL to it and to all that is still in its process group.
    pub fn kill_group(&self) {
        if self.ended.is_none() {
            // Somebody of it is always there: the one that was not waited for.
            kill_process_group(self.raw(), Signal::KILL).expect("our own group can be signalled");
        }
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Output {
        self.reap();
        self.output()
    }

    fn reap(&mut self) {
        if self.ended.is_none() {
            let waited =
                waitpid(Some(self.raw()), WaitOptions::empty()).expect("our own child can be waited for");
            self.ended = waited.map(|(_, status)| status);
        }
    }

    fn output(&self) -> Output {
        Output {
            command: self.command.clone(),
            stdout: self.stdout(),
            stderr: self.stderr(),
            code: self.ended.and_then(WaitStatus::exit_status),
            signal: self.ended.and_then(WaitStatus::terminating_signal),
        }
    }

    fn raw(&self) -> Pid {
        let pid = i32::try_from(self.identity.pid).ok().and_then(Pid::from_raw);
        pid.expect("a started process has a pid that fits")
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if self.ended.is_none() {
            // Nothing better can be done about a failure while a test is being torn down.
            let _ = kill_process(self.raw(), Signal::KILL);
            let _ = waitpid(Some(self.raw()), WaitOptions::empty());
        }
    }
}
