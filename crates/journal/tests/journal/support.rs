//! What these tests share: a journal in a directory of its own, a held lease, an append, a child that appends.

use std::fmt::Debug;
use std::future::Future;
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use tempfile::TempDir;
use tokio::sync::mpsc::channel;
use windlass_engine::chain::Tip;
use windlass_engine::{Append, Journal, JournalError, Lease, LeaseAnswer, Stored, chain};
use windlass_journal::{Batch, SqliteJournal};
use windlass_protocols::{Actor, Fact, Millis, RunId};

pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.directory.path().join("journal.db")
    }

    pub(crate) fn open(&self) -> SqliteJournal {
        SqliteJournal::open(self.file()).unwrap()
    }
}

pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

pub(crate) fn granted(answer: Result<LeaseAnswer, JournalError>) -> Lease {
    match answer {
        Ok(LeaseAnswer::Granted(lease)) => lease,
        other => unreachable!("the lease must be granted, got {other:?}"),
    }
}

pub(crate) async fn lease(journal: &SqliteJournal, run: &RunId) -> Lease {
    granted(journal.acquire(run.as_str(), "test", Millis(1)).await)
}

pub(crate) fn fact(text: &str) -> Fact {
    Fact::StopAsked { by: Actor::Human("test".to_owned()), reason: text.to_owned() }
}

pub(crate) fn append(lease: &Lease, run: &RunId, expected_version: u64, facts: Vec<Fact>) -> Append {
    Append {
        lease: lease.clone(),
        run: run.clone(),
        expected_version,
        at: Millis(1_000 + expected_version),
        facts,
        headline: "{}".to_owned(),
    }
}

/// A run with as many facts as asked for, each with its own append.
pub(crate) async fn fill(journal: &SqliteJournal, run: &RunId, facts: u64) -> Lease {
    let lease = lease(journal, run).await;
    for version in 0..facts {
        let one = vec![fact(&format!("fact {version}"))];
        journal.append(append(&lease, run, version, one)).await.unwrap();
    }
    lease
}

/// What is stored of a run, after its chain was checked.
pub(crate) async fn verified(journal: &SqliteJournal, run: &RunId) -> Vec<Stored> {
    let stored = journal.read(run, 0).await.unwrap();
    chain::verify(run, &stored).unwrap();
    stored
}

/// The same while the chain is checked on the way, and how far it was followed.
pub(crate) async fn read_proven(
    journal: &SqliteJournal,
    run: &RunId,
) -> Result<(Vec<Fact>, Tip), JournalError> {
    read_beyond(journal, Tip::start(run)).await
}

pub(crate) async fn read_beyond(journal: &SqliteJournal, tip: Tip) -> Result<(Vec<Fact>, Tip), JournalError> {
    let (batches, mut coming) = channel::<Batch>(1);
    let run = tip.run().clone();
    let taken_in = async {
        let mut facts = Vec::new();
        while let Some(batch) = coming.recv().await {
            facts.extend(batch.into_facts(&run)?);
        }
        Ok(facts)
    };
    let (tip, facts) = tokio::join!(journal.read_proven(tip, batches), taken_in);
    tip.and_then(|tip| Ok((facts?, tip)))
}

/// The example of this package as a child process, and what it says.
pub(crate) struct Appender {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    acknowledged: u64,
    last_line: String,
}

impl Appender {
    pub(crate) fn start(database: &Path, run: &RunId, more: &[&str], environment: &[(&str, &str)]) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the supervisor ends its children kindly; this one is to be killed"
        )]
        let mut command = Command::new(program());
        let mut child = command
            .arg(database)
            .arg(run.as_str())
            .args(more)
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines, acknowledged: 0, last_line: String::new() }
    }

    /// The next thing it says; nothing when it has ended.
    pub(crate) fn line(&mut self) -> Option<String> {
        let line = self.lines.next()?.unwrap();
        if let Some(version) = line.strip_prefix("acknowledged ") {
            self.acknowledged = number(version);
        }
        self.last_line.clone_from(&line);
        Some(line)
    }

    /// SIGKILL; what it said before still counts. Returns the last acknowledged version.
    pub(crate) fn kill(mut self) -> u64 {
        self.child.kill().unwrap();
        self.end().0
    }

    /// Waits for its own end: the last acknowledged version, its last line, how it ended.
    pub(crate) fn end(mut self) -> (u64, String, ExitStatus) {
        while self.line().is_some() {}
        let status = self.child.wait().unwrap();
        (self.acknowledged, std::mem::take(&mut self.last_line), status)
    }
}

/// A test that fails half way must not leave its child behind.
impl Drop for Appender {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn number<E: Debug, N: std::str::FromStr<Err = E>>(text: &str) -> N {
    text.parse().unwrap()
}

/// Examples are built beside the tests: `<target>/<profile>/deps/<test>`, `<target>/<profile>/examples/<example>`.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().and_then(Path::parent).unwrap().join("examples/append_forever");
    assert!(program.exists(), "{} is missing: build the examples of this package first", program.display());
    program
}
