//! One run, played by scripted agents from its first word to its end, and everything a test wants to know of it.

use crate::world;
use serde_json::Value;
use std::path::{Path, PathBuf};
use windlass_artifact_formats::Reading;
use windlass_artifact_formats::task_loop::{
    AuditReport, AuditResults, EvalResults, Gate, Handoff, LayoutProblem, RunDirectory, RunKind, RunMetadata,
    Stated, Summary, Verdict, VerdictReport, WorktreesEnv, check_layout,
};
use windlass_artifact_formats::task_loop::{Entry, EntryKind};
use windlass_test_support::{Output, Repository, Script, World};

pub(crate) const TASK: &str = "TASK-1";

/// A world with one repository.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) repository: Repository,
}

/// A run that came to an end.
pub(crate) struct Played {
    pub(crate) code: i32,
    pub(crate) run_dir: PathBuf,
    /// The last line of the answer.
    pub(crate) outcome: Value,
    /// Every line of the answer.
    pub(crate) events: Vec<Value>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let world = world();
        let repository = world.repository("repo");
        Self { world, repository }
    }

    /// The same, with agents and checks that may write wherever the user may.
    pub(crate) fn without_sandbox(reason: &str) -> Self {
        let mut scene = Self::new();
        scene.world.without_sandbox(reason);
        scene
    }

    /// Runs the task with this script for every role.
    #[track_caller]
    pub(crate) fn play(&self, script: &Script, flags: &[&str]) -> Played {
        let agent = self.world.agent("script.toml", script);
        let words = [&["--agent", agent.as_str()], flags].concat();
        self.run(&words)
    }

    /// Runs the task with these flags, agents included.
    #[track_caller]
    pub(crate) fn run(&self, flags: &[&str]) -> Played {
        let repository = self.repository.text();
        let words = [&["run", "Add done.txt", "--id", TASK, "--repo", repository, "--json"], flags].concat();
        Played::of(&self.world.windlass(&words))
    }

    #[track_caller]
    pub(crate) fn assert_nothing_landed(&self) {
        let branches = self.repository.git(&["for-each-ref", "--format=%(refname)", "refs/heads/windlass"]);
        assert_eq!(branches, "", "something landed");
    }

    /// What a file says in the commit the run landed.
    #[track_caller]
    pub(crate) fn landed_file(&self, path: &str) -> String {
        self.repository.git(&["show", &format!("windlass/{TASK}:{path}")])
    }

    /// The paths a landed change differs in from its base, as `A<tab>path`.
    #[track_caller]
    pub(crate) fn landed_changes(&self) -> Vec<String> {
        let branch = format!("windlass/{TASK}");
        let base = format!("{branch}~1");
        let text = self.repository.git(&["diff", "--name-status", "--no-renames", &base, &branch]);
        text.lines().map(str::to_owned).collect()
    }
}

impl Played {
    /// Whatever happened, there is a typed outcome and a summary that agrees with it; a panic is neither.
    #[track_caller]
    pub(crate) fn of(output: &Output) -> Self {
        assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
        assert!(!output.stdout.contains("WL-BUG"), "{}", output.stdout);
        let code = output.code.unwrap_or_else(|| panic!("ended by a signal: {}", output.stderr));
        let events = output.json_lines();
        let outcome = events.last().cloned().unwrap_or_else(|| panic!("no answer: {}", output.stderr));
        let run_dir = outcome["run_dir"].as_str().map(PathBuf::from);
        let run_dir = run_dir.unwrap_or_else(|| panic!("no outcome: {}\n{}", output.stdout, output.stderr));
        let played = Self { code, run_dir, outcome, events };
        let summary = played.summary();
        assert_eq!(summary["final_verdict"], played.outcome["final_verdict"]);
        assert_eq!(summary["run_dir"], played.outcome["run_dir"]);
        played
    }

    #[track_caller]
    pub(crate) fn exits_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{:#}", self.outcome);
        self
    }

    /// Final verdict, the judge's and the auditor's word, rounds completed: the summary in one line.
    #[track_caller]
    pub(crate) fn words(&self) -> String {
        let summary = self.summary();
        let word = |key: &str| summary[key].as_str().map(str::to_owned).unwrap_or_default();
        let rounds = &summary["rounds_completed"];
        format!("{} {} {} {rounds}", word("final_verdict"), word("judge_verdict"), word("audit_gate"))
    }

    #[track_caller]
    pub(crate) fn summary(&self) -> Value {
        json(&self.run_dir.join("summary.json"))
    }

    /// The run, as every command takes it.
    #[track_caller]
    pub(crate) fn run(&self) -> &str {
        self.outcome["run"].as_str().expect("an outcome names its run")
    }

    pub(crate) fn round(&self, round: u32) -> PathBuf {
        self.run_dir.join("rounds").join(format!("round-{round}"))
    }

    /// An artifact of a round, as the engine wrote it.
    #[track_caller]
    pub(crate) fn artifact(&self, round: u32, name: &str) -> Value {
        json(&self.round(round).join(name))
    }

    #[track_caller]
    pub(crate) fn text(&self, round: u32, name: &str) -> String {
        let path = self.round(round).join(name);
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(crate) fn has(&self, round: u32, name: &str) -> bool {
        self.round(round).join(name).symlink_metadata().is_ok()
    }

    /// The sentences of one kind of fact or event.
    pub(crate) fn told(&self, kind: &str) -> Vec<String> {
        let of_kind = |event: &&Value| event["kind"] == kind || event["event"] == kind;
        let text = |event: &Value| event["text"].as_str().map(str::to_owned);
        self.events.iter().filter(of_kind).filter_map(text).collect()
    }

    /// The stored facts of one kind.
    pub(crate) fn facts(&self, kind: &str) -> Vec<Value> {
        self.events.iter().filter(|event| event["kind"] == kind).map(|event| event["fact"].clone()).collect()
    }

    /// All that the outcome gives as its reasons.
    pub(crate) fn explained(&self) -> String {
        self.outcome["explanation"].to_string()
    }

    /// The names of everything sealed in the run so far, such as `verdict.json.as-left`.
    pub(crate) fn sealed(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.events.iter().for_each(|event| collect_names(&event["fact"], &mut names));
        names
    }

    /// Reads the whole directory as a strict reader of the layout does; every file of it must parse.
    #[track_caller]
    pub(crate) fn assert_strict_layout(&self) {
        assert_strict_layout(&self.run_dir, RunKind::Real);
    }
}

#[track_caller]
pub(crate) fn json(path: &Path) -> Value {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[track_caller]
pub(crate) fn assert_strict_layout(run_dir: &Path, kind: RunKind) {
    let (listing, unreadable) = read_strictly(run_dir);
    assert_eq!(check_layout(&listing, kind), Vec::<LayoutProblem>::new(), "{}", run_dir.display());
    assert_eq!(unreadable, Vec::<String>::new(), "{}", run_dir.display());
}

/// The listing of a run directory with the decisions in it, and what is wrong with files that cannot be parsed.
fn read_strictly(run_dir: &Path) -> (RunDirectory, Vec<String>) {
    let mut entries = Vec::new();
    list(run_dir, "", &mut entries);
    let mut decisions: Vec<(u32, Option<Verdict>, Option<Gate>)> = Vec::new();
    let mut unreadable = Vec::new();
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::File) {
        if entry.path.starts_with("worktrees/") {
            continue;
        }
        let bytes = std::fs::read(run_dir.join(&entry.path)).expect("a listed file can be read");
        match parse(&entry.path, &bytes) {
            Ok(Decision::None) => {}
            Ok(Decision::Verdict(verdict)) => decisions.push((round_of(&entry.path), Some(verdict), None)),
            Ok(Decision::Gate(gate)) => decisions.push((round_of(&entry.path), None, Some(gate))),
            Err(fault) => unreadable.push(format!("{}: {fault}", entry.path)),
        }
    }
    let mut listing = RunDirectory::new(entries);
    for (round, verdict, gate) in decisions {
        if let Some(verdict) = verdict {
            listing = listing.with_verdict(round, Stated::Known(verdict));
        }
        if let Some(gate) = gate {
            listing = listing.with_gate(round, Stated::Known(gate));
        }
    }
    (listing, unreadable)
}

enum Decision {
    None,
    Verdict(Verdict),
    Gate(Gate),
}

fn parse(path: &str, bytes: &[u8]) -> Result<Decision, String> {
    let reading = Reading { expected_task_id: Some(TASK), ..Reading::default() };
    let legacy = Reading::legacy();
    let name = path.rsplit('/').next().unwrap_or(path);
    let text = |error: &dyn std::fmt::Display| error.to_string();
    match name {
        "handoff.json" => Handoff::parse(bytes, &reading).map(|_| Decision::None).map_err(|e| text(&e)),
        "verdict.json" => VerdictReport::parse(bytes, &reading)
            .map(|file| Decision::Verdict(file.verdict))
            .map_err(|e| text(&e)),
        "audit.json" => {
            AuditReport::parse(bytes, &reading).map(|file| Decision::Gate(file.gate)).map_err(|e| text(&e))
        }
        "eval-results.json" => {
            EvalResults::parse(bytes, &legacy).map(|_| Decision::None).map_err(|e| text(&e))
        }
        "audit-results.json" => {
            AuditResults::parse(bytes, &legacy).map(|_| Decision::None).map_err(|e| text(&e))
        }
        "summary.json" => Summary::parse(bytes, &reading).map(|_| Decision::None).map_err(|e| text(&e)),
        "windlass.json" => RunMetadata::parse(bytes, &legacy).map(|_| Decision::None).map_err(|e| text(&e)),
        "worktrees.env" => WorktreesEnv::parse(bytes).map(|_| Decision::None).map_err(|e| text(&e)),
        _ => Ok(Decision::None),
    }
}

fn round_of(path: &str) -> u32 {
    let number = path.split('/').nth(1).and_then(|name| name.strip_prefix("round-")?.parse().ok());
    number.unwrap_or_default()
}

/// Worktrees are listed, not entered: what is in them is the repository's own business.
fn list(directory: &Path, prefix: &str, entries: &mut Vec<Entry>) {
    for entry in std::fs::read_dir(directory).expect("a run directory can be listed").flatten() {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().expect("a listed entry has a kind");
        let inside = kind.is_dir() && !path.starts_with("worktrees/");
        let kind = match (kind.is_file(), kind.is_dir()) {
            (true, _) => EntryKind::File,
            (_, true) => EntryKind::Directory,
            _ => EntryKind::Other,
        };
        entries.push(Entry { path: path.clone(), kind });
        if inside {
            list(&entry.path(), &format!("{path}/"), entries);
        }
    }
}

/// Every `name` beside a `digest` is a sealed artifact.
fn collect_names(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            if let (Some(Value::String(name)), Some(_)) = (object.get("name"), object.get("digest")) {
                names.push(name.clone());
            }
            object.values().for_each(|value| collect_names(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_names(item, names)),
        _ => {}
    }
}
