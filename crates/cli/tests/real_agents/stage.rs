//! A world with one repository, the agent programs and the scripted model, and what a test wants to know of a run in it.

use crate::script::{FILE, RIGHT, TASK};
use rustix::process::Pid;
use serde_json::Value;
use std::collections::BTreeSet;
use windlass_test_support::scripted_model::{ModelScript, RequestEnd, RequestKind, ScriptedModel, Usage};
use windlass_test_support::{AgentProgram, Background, Output, Repository, Script, When, World, wait_until};

pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) repository: Repository,
    pub(crate) model: ScriptedModel,
}

/// A run that came to an end.
pub(crate) struct Played {
    pub(crate) output: Output,
    /// The last line of the answer.
    pub(crate) outcome: Value,
}

/// How it is named to Windlass: the adapter by what it speaks.
pub(crate) fn word_for(program: AgentProgram) -> String {
    match program {
        AgentProgram::ClaudeAgentAcp => format!("acp:{}", program.name()),
        _ => program.name().to_owned(),
    }
}

/// Writes the right word at once.
fn easy_doer() -> Script {
    let write = format!("{{ write = '{FILE}', text = '{RIGHT}' }}");
    Script::new().doer(When::Always, &[&write, "{ handoff = 'the right word' }"])
}

impl Stage {
    /// Nothing where one of these programs is skipped.
    #[track_caller]
    pub(crate) fn with(programs: &[AgentProgram], script: ModelScript) -> Option<Self> {
        if !programs.iter().all(|program| program.can_run()) {
            return None;
        }
        let model = ScriptedModel::start(script);
        let mut world = World::new(env!("CARGO_BIN_EXE_windlass"));
        world.launch_agents_against(&model);
        // A provider that is out of order is tried once more, soon.
        world.set("WINDLASS_RETRIES", "1").set("WINDLASS_RETRY_SECONDS", "1");
        let repository = world.repository("repo");
        Some(Self { world, repository, model })
    }

    /// A judge that says yes at once and costs nothing, where the test is about the doer; and no auditor.
    pub(crate) fn easy_checkers(&self) -> [String; 3] {
        let script = Script::new().judge(When::Always, &["{ verdict = 'pass' }"]);
        ["--judge".to_owned(), self.world.agent("judge.toml", &script), "--no-audit".to_owned()]
    }

    /// Only the doer is this program.
    pub(crate) fn start_doer(&self, program: AgentProgram, flags: &[&str]) -> Background {
        let checkers = self.easy_checkers();
        let checkers: Vec<&str> = checkers.iter().map(String::as_str).collect();
        self.start(&[&["--doer", &word_for(program)], &checkers[..], flags].concat())
    }

    /// Only the judge is this program; the doer does its work at once, and there is no auditor.
    pub(crate) fn start_judge(&self, program: AgentProgram, flags: &[&str]) -> Background {
        let doer = self.world.agent("doer.toml", &easy_doer());
        self.start(&[&["--doer", &doer, "--judge", &word_for(program), "--no-audit"], flags].concat())
    }

    /// Only the auditor is this program; what comes before it is done at once.
    pub(crate) fn start_auditor(&self, program: AgentProgram, flags: &[&str]) -> Background {
        let others = easy_doer().judge(When::Always, &["{ verdict = 'pass' }"]);
        let others = self.world.agent("others.toml", &others);
        self.start(&[&["--agent", &others, "--auditor", &word_for(program)], flags].concat())
    }

    /// Goes on with the only run there is, beside the test, and is at work when this returns.
    #[track_caller]
    pub(crate) fn start_resume(&self) -> Background {
        let running = self.world.start_windlass(&["resume", &self.id(), "--json"]);
        wait_until("the run to be taken up", || running.stdout().contains("\"started\"").then_some(()));
        running
    }

    /// Runs the task to its end.
    #[track_caller]
    pub(crate) fn run(&self, flags: &[&str]) -> Played {
        self.played(self.start(flags))
    }

    pub(crate) fn start(&self, flags: &[&str]) -> Background {
        let words = ["run", "Write the right word", "--id", TASK, "--repo", self.repository.text(), "--json"];
        self.world.start_windlass(&[&words, flags].concat())
    }

    /// Goes on with the only run there is.
    #[track_caller]
    pub(crate) fn resume(&self, flags: &[&str]) -> Played {
        let id = self.id();
        self.played(self.world.start_windlass(&[&["resume", &id, "--json"], flags].concat()))
    }

    /// Waits for the end; whatever happened, there is an outcome and nothing is left alive.
    #[track_caller]
    pub(crate) fn played(&self, running: Background) -> Played {
        let output = running.wait();
        assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
        assert!(!output.stdout.contains("WL-BUG"), "{}", output.stdout);
        let outcome = output.json_lines().pop();
        let outcome = outcome.unwrap_or_else(|| panic!("no answer: {}", output.stderr));
        let left = self.world.processes();
        assert!(
            left.is_empty(),
            "left behind: {left:#?}\n{}\n{:?}\n{:#?}",
            output.stdout,
            output.code,
            self.turns()
        );
        Played { output, outcome }
    }

    #[track_caller]
    pub(crate) fn id(&self) -> String {
        let runs = self.world.windlass(&["ls", "--json"]).exits_with(0).json();
        runs[0]["run"].as_str().expect("a run has an id").to_owned()
    }

    #[track_caller]
    pub(crate) fn show(&self) -> Value {
        self.world.windlass(&["show", &self.id(), "--json"]).exits_with(0).json()
    }

    /// What held each step of the run to its places.
    #[track_caller]
    pub(crate) fn held_by(&self) -> BTreeSet<String> {
        let shown = self.show();
        let steps = shown["sandbox"]["steps"].as_array().expect("a run says what held its steps");
        steps.iter().map(|step| step["held_by"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Everything the journal holds of the run, as facts.
    #[track_caller]
    pub(crate) fn facts(&self) -> Vec<Value> {
        let log = self.world.windlass(&["log", &self.id(), "--json"]).exits_with(0).json();
        log["entries"].as_array().expect("a log has entries").clone()
    }

    /// The facts of one kind, as they are stored.
    #[track_caller]
    pub(crate) fn facts_of(&self, kind: &str) -> Vec<Value> {
        self.facts().into_iter().filter(|fact| fact["kind"] == kind).collect()
    }

    /// What the model was told in the conversations of one entry of its script.
    pub(crate) fn told_to_entry(&self, number: usize) -> String {
        let of_entry =
            |kind: &RequestKind| matches!(kind, RequestKind::Turn { entry, .. } if *entry == Some(number));
        let requests = self.model.requests().into_iter().filter(|request| of_entry(&request.kind));
        requests.map(|request| request.prompt).collect::<Vec<_>>().join("\n")
    }

    /// The process of this program that is at work in this world.
    pub(crate) fn process_of(&self, program: AgentProgram) -> Option<Pid> {
        let path = program.path().to_string_lossy().into_owned();
        let mut all = self.world.processes().into_iter();
        all.find(|process| process.contains(&path) && !process.contains("windlass keeper"))
            .and_then(|process| Pid::from_raw(process.split(' ').next()?.parse().ok()?))
    }

    /// The turns that were asked for, as `entry.turn end`, for messages.
    pub(crate) fn turns(&self) -> Vec<String> {
        let told = |request: windlass_test_support::scripted_model::ModelRequest| match &request.kind {
            RequestKind::Turn { entry, turn, .. } => {
                let end = match request.end {
                    RequestEnd::Served(_) => "served".to_owned(),
                    other => format!("{other:?}"),
                };
                Some(format!(
                    "{entry:?}.{turn} {end} {:?} {:?}",
                    request.impossible,
                    request.tool_results.last()
                ))
            }
            _ => None,
        };
        self.model.requests().into_iter().filter_map(told).collect()
    }

    /// The run's totals are those that the model served, and so is each kind of token.
    #[track_caller]
    pub(crate) fn assert_all_counted(&self) {
        let (counted, served) = (self.counted(), self.model.served_usage());
        assert_eq!(counted, served, "{:#?}", self.turns());
        assert_eq!(self.show()["used"]["tokens"], served.input + served.output);
    }

    /// Everything served is counted. Of a reply that broke off, a program may have told what stood at its opening, or not:
    /// that depends on how far it had read when it broke.
    #[track_caller]
    pub(crate) fn assert_counted_but_for_what_broke(&self) {
        let (counted, served) = (self.counted(), self.model.served_usage());
        let broken = |request: windlass_test_support::scripted_model::ModelRequest| match request.end {
            RequestEnd::Broken(told) => Some(told),
            _ => None,
        };
        let broken: Usage = self.model.requests().into_iter().filter_map(broken).sum();
        let fields = |usage: &Usage| [usage.input, usage.cached, usage.output, usage.reasoning];
        let within = fields(&counted)
            .into_iter()
            .zip(fields(&served).into_iter().zip(fields(&broken)))
            .all(|(counted, (served, broken))| (served..=served + broken).contains(&counted));
        assert!(within, "{counted:?} is not {served:?} and at most {broken:?} more: {:#?}", self.turns());
    }

    /// The sum over the steps in the journal.
    #[track_caller]
    pub(crate) fn counted(&self) -> Usage {
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        let settled = |fact: &Value| fact["kind"] == "effect-settled";
        let usages = self.facts().into_iter().filter(settled).filter_map(|fact| find_kinds(&fact));
        usages
            .map(|kinds| Usage {
                input: number(&kinds["input"]),
                cached: number(&kinds["cached"]),
                output: number(&kinds["output"]),
                reasoning: number(&kinds["reasoning"]),
            })
            .sum()
    }

    /// The right word is on the run's branch, and everything that was sealed is as it was.
    #[track_caller]
    pub(crate) fn assert_landed_and_verified(&self) {
        assert_eq!(self.repository.git(&["show", &format!("windlass/{TASK}:{FILE}")]), RIGHT);
        let _ = self.world.windlass(&["verify", &self.id()]).exits_with(0);
    }
}

impl Played {
    #[track_caller]
    pub(crate) fn exits_with(self, code: u8, stage: &Stage) -> Self {
        let told = || format!("{:#}\n{:#?}\n{}", self.outcome, stage.turns(), self.output.stderr);
        assert_eq!(self.output.code, Some(i32::from(code)), "{}", told());
        self
    }

    /// All that the outcome gives as its reasons.
    pub(crate) fn explained(&self) -> String {
        self.outcome["explanation"].to_string()
    }
}

/// The kinds of tokens in the usage of a settled step.
fn find_kinds(value: &Value) -> Option<Value> {
    match value {
        Value::Object(fields) => match fields.get("usage") {
            Some(usage) => Some(usage["kinds"].clone()),
            None => fields.values().find_map(find_kinds),
        },
        Value::Array(items) => items.iter().find_map(find_kinds),
        _ => None,
    }
}
