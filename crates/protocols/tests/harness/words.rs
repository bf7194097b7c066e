//! Small values the scripts speak in: specs, artifacts, reports. Nothing here knows what a run decides.

use std::collections::BTreeMap;
use windlass_protocols::effect::Effect;
use windlass_protocols::kernel::availability::Patience;
use windlass_protocols::kernel::budget::{Caps, Spend};
use windlass_protocols::kernel::fence::Fence;
use windlass_protocols::kernel::gate::{
    FindingName, GateFinding, GateReport, Integrity, NewTests, NewTestsSay, PathKind, Touch, TouchedPath,
    Waiver,
};
use windlass_protocols::outcome::{
    AgentReport, Answer, Audit, CapturedChange, CheckResult, ChecksReport, Count, Handoff, Price, StepEnd,
    TokenKinds, Told, Usage, Verdict, VerdictWord, WorkspaceAfter,
};
use windlass_protocols::protocol::judged_task::spec::{
    Adopted, AuditPolicy, Landing, OnNeedsHuman, Place, TaskSpec,
};
use windlass_protocols::{ArtifactRef, CommitId, Digest, Millis, Role, TaskId, TreeId};

pub(crate) const BASE: &str = "base-commit";
pub(crate) const BASE_TREE: &str = "base-tree";
pub(crate) const CHECK: &str = "make test";
pub(crate) const AUDIT_CHECK: &str = "make licences";

/// Three rounds, an auditor, no commands, nothing to land, no cap but rounds.
pub(crate) fn spec() -> TaskSpec {
    TaskSpec {
        task: TaskId::new("TASK-1"),
        text: "make it greet".to_owned(),
        caps: caps(3),
        checks: Vec::new(),
        audit_checks: Vec::new(),
        audit: AuditPolicy::Required,
        on_needs_human: OnNeedsHuman::Stop,
        landing: Landing::None,
        patience: Patience::default(),
        place: Place {
            repository: "/repo".to_owned(),
            common_dir: "/repo/.git".to_owned(),
            run_dir: "/repo/.orchestrator/runs/TASK-1".to_owned(),
            base_ref: "main".to_owned(),
            base: CommitId::new(BASE),
            doer_branch: "doer".to_owned(),
            judge_branch: "judge".to_owned(),
            agents: BTreeMap::from([(Role::Doer, "agent".to_owned())]),
            fallbacks: BTreeMap::new(),
            prompts: BTreeMap::new(),
            author: None,
            fence: Fence::default(),
            gate: windlass_protocols::kernel::gate::GateRules::default(),
        },
        criteria: Vec::new(),
        adopted: None,
    }
}

/// Every stage occurs: checks, an auditor with checks of its own, a branch to land on.
pub(crate) fn full_spec() -> TaskSpec {
    TaskSpec {
        checks: vec![CHECK.to_owned()],
        audit_checks: vec![AUDIT_CHECK.to_owned()],
        landing: Landing::Branch("main".to_owned()),
        ..spec()
    }
}

pub(crate) fn one_round() -> TaskSpec {
    TaskSpec { caps: caps(1), ..spec() }
}

pub(crate) fn unaudited() -> TaskSpec {
    TaskSpec { audit: AuditPolicy::Skipped, ..spec() }
}

/// The original's way with `needs-human`.
pub(crate) fn going_on() -> TaskSpec {
    TaskSpec { on_needs_human: OnNeedsHuman::Continue, ..spec() }
}

pub(crate) fn taken_over(adopted: Adopted, spec: TaskSpec) -> TaskSpec {
    TaskSpec { adopted: Some(adopted), ..spec }
}

pub(crate) fn caps(rounds: u32) -> Caps {
    Caps {
        rounds,
        time: None,
        tokens: None,
        cost_micros: None,
        output_bytes: None,
        step_time: Millis::minutes(10),
        step_idle: Some(Millis::minutes(2)),
        step: Spend::default(),
        day: Spend::default(),
        repository: Spend::default(),
    }
}

/// What each answered step of a script uses unless it says otherwise.
pub(crate) const STEP: Usage = Usage {
    duration: Millis(1_000),
    output_bytes: 100,
    tokens: 10,
    cost_micros: 5,
    kinds: UNTOLD,
    told: ALL,
    held_by: None,
};

const ALL: Told = Told { price: Price::AsAmount, count: Count::All };
const UNTOLD: TokenKinds = TokenKinds { input: 0, cached: 0, output: 0, reasoning: 0 };

pub(crate) fn artifact(name: &str) -> ArtifactRef {
    ArtifactRef { name: name.to_owned(), digest: Digest::new(format!("digest of {name}")), bytes: 7 }
}

pub(crate) fn lines(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

pub(crate) fn handoff(requirements: &[&str]) -> Handoff {
    Handoff { requirements_touched: lines(requirements), artifact: artifact("handoff.json") }
}

pub(crate) fn word(text: &str) -> VerdictWord {
    match text {
        "pass" => VerdictWord::Pass,
        "reject" | "fail" => VerdictWord::Reject,
        "needs-human" => VerdictWord::NeedsHuman,
        other => panic!("no judge says {other:?}"),
    }
}

pub(crate) fn verdict(text: &str, feedback: &[&str]) -> Verdict {
    Verdict {
        word: word(text),
        feedback: lines(feedback),
        requirements_checked: Vec::new(),
        requirements_missing: Vec::new(),
        artifact: artifact("verdict.json"),
        waivers: Vec::new(),
    }
}

pub(crate) fn audit(text: &str, feedback: &[&str]) -> Audit {
    Audit {
        word: word(text),
        feedback: lines(feedback),
        contradictions: Vec::new(),
        artifact: artifact("audit.json"),
    }
}

pub(crate) fn malformed(faults: &[&str]) -> Answer {
    Answer::Malformed { faults: lines(faults) }
}

pub(crate) fn agent_report(role: Role, end: StepEnd, answer: Answer, usage: Usage) -> AgentReport {
    AgentReport {
        role,
        end,
        answer,
        workspace: if role.may_write() { WorkspaceAfter::MayDiffer } else { WorkspaceAfter::Unchanged },
        evidence: vec![artifact("prompt.md")],
        usage,
        trouble: None,
        session: None,
        model: None,
        last_words: String::new(),
        commands_off: false,
    }
}

pub(crate) fn change(round: u32, tree: &str) -> CapturedChange {
    CapturedChange {
        round,
        tree: TreeId::new(tree),
        files_changed: 1,
        fingerprint: None,
        hazards: Vec::new(),
        patch: artifact("patch.diff"),
        reverted: Vec::new(),
        findings: Vec::new(),
        left_out: Vec::new(),
        gate: Vec::new(),
        protected: Vec::new(),
    }
}

/// The report a command runner would send for that request; the named commands end as given, all others well.
pub(crate) fn checks_report(request: &Effect, red: &[(&str, StepEnd, &str)], usage: Usage) -> ChecksReport {
    let Effect::RunChecks(asked) = request else {
        panic!("no checks are waited for, but {}", request.name());
    };
    let result = |command: &String| {
        let red = red.iter().find(|(name, ..)| name == command);
        CheckResult {
            command: command.clone(),
            end: red.map_or(StepEnd::Exited { code: 0 }, |(_, end, _)| end.clone()),
            tail: red.map_or(String::new(), |(.., tail)| (*tail).to_owned()),
            duration: Millis(20),
            tests: None,
        }
    };
    ChecksReport {
        purpose: asked.purpose,
        tree: asked.tree.clone(),
        results: asked.commands.iter().map(result).collect(),
        evidence: vec![artifact("eval-results.json")],
        usage,
        gate: Vec::new(),
    }
}

/// The same with an eye on its gate.
pub(crate) fn gated(mut spec: TaskSpec) -> TaskSpec {
    spec.place.gate.integrity = Integrity::Full;
    spec
}

/// A change of a test that was there before.
pub(crate) fn touching(round: u32, tree: &str) -> CapturedChange {
    let touched = TouchedPath { path: "tests/a.rs".to_owned(), kind: PathKind::Test, how: Touch::Modified };
    CapturedChange { protected: vec![touched], ..change(round, tree) }
}

pub(crate) fn finding(kind: FindingName) -> GateFinding {
    GateFinding { kind, about: lines(&["tests/a.rs"]) }
}

pub(crate) fn waiver(finding: FindingName) -> Waiver {
    Waiver { finding, reason: "as asked".to_owned() }
}

/// What a look at the gate comes back with for that request.
pub(crate) fn gate_report(request: &Effect, findings: &[FindingName], usage: Usage) -> GateReport {
    let Effect::InspectGate(asked) = request else {
        panic!("no look at the gate is waited for, but {}", request.name());
    };
    let new_tests = asked
        .commands
        .iter()
        .map(|command| NewTests { command: command.clone(), say: NewTestsSay::WouldHaveFailedBefore });
    GateReport {
        tree: asked.tree.clone(),
        ran_with_base: asked.commands.clone(),
        findings: findings.iter().map(|kind| finding(*kind)).collect(),
        new_tests: new_tests.collect(),
        evidence: vec![artifact("gate.json")],
        usage,
        red: Vec::new(),
    }
}
