//! What real agent programs printed, read by their drivers: every line known, every end concluded as it was, every
//! token counted once. A recording is `fixtures/PROGRAM/VERSION/CASE.jsonl` (stdout) with `.stderr` and `.usage.json`
//! where there was one, and `.expect.toml` with how it ended and what the model's side of it knows to be true.

#![expect(clippy::unwrap_used, reason = "a recording that cannot be read is a failed test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use windlass_agent_drivers::{
    Access, AgentChoice, AgentProgram, Conclusion, HowItEnded, Signal, Stream, Totals, UsageTally, Version,
    driver, final_message, read_version,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectation {
    /// How the process ended: one of the two.
    exit: Option<i32>,
    signal: Option<i32>,
    #[serde(default)]
    access: AccessName,
    /// The conclusion's kind.
    conclusion: String,
    /// Whose fault, where the conclusion says so.
    error: Option<String>,
    /// How long to wait, where the conclusion says so.
    wait_ms: Option<u64>,
    /// Words that the reason must hold.
    reason: Option<String>,
    /// What the model served in this run.
    tokens: Option<u64>,
    cost_micros: Option<u64>,
    /// What the conversation had used before it was resumed.
    before: Option<Totals>,
    final_message: Option<String>,
    answer: Option<serde_json::Value>,
    #[serde(default)]
    changed_files: Vec<String>,
    #[serde(default)]
    retries: usize,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum AccessName {
    #[default]
    ReadWrite,
    ReadOnly,
}

struct Recording {
    name: String,
    choice: AgentChoice,
    version: Version,
    expected: Expectation,
    signals: Vec<Signal>,
    lines: usize,
}

impl Recording {
    fn read(choice: &AgentChoice, directory: &Path, case: &str) -> Self {
        let read =
            |ending: &str| fs::read_to_string(directory.join(format!("{case}.{ending}"))).unwrap_or_default();
        let name = format!("{}/{case}", directory.display());
        let mut signals = Vec::new();
        let (stdout, stderr) = (read("jsonl"), read("stderr"));
        for line in stderr.lines() {
            signals.extend(driver::read_line(choice, Stream::Stderr, line));
        }
        for line in stdout.lines() {
            signals.extend(driver::read_line(choice, Stream::Stdout, line));
        }
        signals.extend(driver::read_usage_file(choice, &read("usage.json")));
        let expected = match toml::from_str(&read("expect.toml")) {
            Ok(expected) => expected,
            Err(error) => panic!("{name}: {error}"),
        };
        let version = read_version(&directory.file_name().unwrap().to_string_lossy()).unwrap();
        Self { name, choice: choice.clone(), version, expected, signals, lines: stdout.lines().count() }
    }

    fn access(&self) -> Access {
        match self.expected.access {
            AccessName::ReadWrite => Access::ReadWrite,
            AccessName::ReadOnly => Access::ReadOnly,
        }
    }

    fn conclusion(&self) -> Conclusion {
        let ended = match (self.expected.exit, self.expected.signal) {
            (Some(code), None) => HowItEnded::Exited { code },
            (None, Some(signal)) => HowItEnded::Signaled { signal },
            _ => panic!("{}: says neither or both of exit and signal", self.name),
        };
        driver::conclude(&self.choice, &ended, &self.signals)
    }
}

fn recordings() -> Vec<Recording> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut found = Vec::new();
    for program in AgentProgram::ALL {
        let choice = AgentChoice::parse(program.as_str()).unwrap();
        for version in entries(&fixtures.join(program.as_str())) {
            let names: BTreeSet<String> = entries(&version)
                .iter()
                .filter_map(|file| Some(file.file_name()?.to_str()?.split('.').next()?.to_owned()))
                .collect();
            found.extend(names.iter().map(|case| Recording::read(&choice, &version, case)));
        }
    }
    let lines: usize = found.iter().map(|recording| recording.lines).sum();
    assert!(
        found.len() > 100 && lines > 1000,
        "only {} recordings with {lines} lines were found",
        found.len()
    );
    found
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// What is wrong with any recording, all at once: a new version of a program is read by the whole list.
fn assert_of_each(check: impl Fn(&Recording) -> Result<(), String>) {
    let wrong: Vec<String> = recordings()
        .iter()
        .filter_map(|recording| check(recording).err().map(|why| format!("{}: {why}", recording.name)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn same<T: PartialEq + Debug>(what: &str, found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what} is {found:?}, not {expected:?}")) }
}

#[test]
fn every_line_of_a_known_version_has_a_meaning() {
    assert_of_each(|recording| {
        let is_unknown = |signal: &&Signal| matches!(signal, Signal::Unknown { .. });
        match recording.signals.iter().find(is_unknown) {
            None => Ok(()),
            Some(signal) => Err(format!("{signal:?}")),
        }
    });
}

#[test]
fn every_end_is_concluded_as_what_it_was() {
    assert_of_each(|recording| {
        let expected = &recording.expected;
        let conclusion = recording.conclusion();
        let told = serde_json::to_value(&conclusion).unwrap();
        let text = |name: &str| told[name].as_str().map(str::to_owned);
        let check = || {
            same("the conclusion", &text("kind"), &Some(expected.conclusion.clone()))?;
            same("the error", &text("error"), &expected.error)?;
            same("the wait", &told["wait"]["for-ms"].as_u64(), &expected.wait_ms)?;
            let words = expected.reason.as_deref().unwrap_or_default();
            same("whether the reason is told", &text("reason").unwrap_or_default().contains(words), &true)
        };
        check().map_err(|why| format!("{why} ({conclusion:?})"))
    });
}

#[test]
fn what_the_model_served_is_what_is_counted() {
    assert_of_each(|recording| {
        let mut tally = UsageTally::new(recording.expected.before);
        for signal in &recording.signals {
            tally.hear(signal);
        }
        if let Some(tokens) = recording.expected.tokens {
            same("the sum of tokens", &tally.tokens(), &tokens)?;
        }
        if recording.expected.cost_micros.is_some() {
            same("the cost", &tally.cost_micros(), &recording.expected.cost_micros)?;
        }
        Ok(())
    });
}

#[test]
fn programs_that_count_while_they_work_never_count_back() {
    assert_of_each(|recording| {
        if !driver::capabilities(&recording.choice).reports_usage_live {
            return Ok(());
        }
        let mut tally = UsageTally::new(recording.expected.before);
        let mut seen = vec![0];
        for signal in &recording.signals {
            tally.hear(signal);
            seen.push(tally.tokens());
        }
        same(&format!("the order of {seen:?}"), &seen.is_sorted(), &true)?;
        if recording.name.ends_with("/hello") {
            let last =
                recording.signals.iter().rposition(|signal| matches!(signal, Signal::ToolResult { .. }));
            let so_far = seen[last.unwrap()];
            same("what was known in mid-turn", &(so_far > 0 && so_far < tally.tokens()), &true)?;
        }
        Ok(())
    });
}

#[test]
fn answers_and_last_words_are_found() {
    assert_of_each(|recording| {
        if recording.expected.final_message.is_some() {
            same("the last message", &final_message(&recording.signals), &recording.expected.final_message)?;
        }
        let answer = driver::spoken_answer(&recording.choice, recording.access(), &recording.signals);
        let answer: Option<serde_json::Value> = answer.map(|answer| serde_json::from_str(&answer).unwrap());
        same("the answer", &answer, &recording.expected.answer)
    });
}

#[test]
fn changes_and_retries_are_told() {
    assert_of_each(|recording| {
        let changed = recording.signals.iter().filter_map(|signal| match signal {
            Signal::FileChange { path } => Some(path.clone()),
            _ => None,
        });
        same("the list of changed files", &changed.collect(), &recording.expected.changed_files)?;
        let retries = recording.signals.iter().filter(|signal| matches!(signal, Signal::Retry { .. }));
        same("the number of retries", &retries.count(), &recording.expected.retries)
    });
}

#[test]
fn the_versions_called_known_are_the_recorded_ones() {
    let mut recorded: BTreeMap<AgentProgram, BTreeSet<Version>> = BTreeMap::new();
    for recording in recordings() {
        if let AgentChoice::Known { program, .. } = recording.choice {
            recorded.entry(program).or_default().insert(recording.version);
        }
    }
    let page = include_str!("../../../docs/agents.md");
    for program in AgentProgram::ALL {
        let known = program.known_versions();
        let row = format!("| `{program}` | {} | {} |", known.oldest, known.newest);
        assert!(page.contains(&row), "docs/agents.md does not say {row}");
        let versions = &recorded[&program];
        assert!(versions.len() > 1, "{program} was recorded in one version only");
        assert_eq!(
            (versions.first(), versions.last()),
            (Some(&known.oldest), Some(&known.newest)),
            "{program}"
        );
    }
}
