//! Small values the scripts speak in: items, queues, suites, reports. Nothing here knows what a run decides.

use std::collections::BTreeMap;
use windlass_protocols::effect::SuitePurpose;
use windlass_protocols::kernel::availability::Patience;
use windlass_protocols::kernel::budget::{CapChange, Caps, Spend};
use windlass_protocols::kernel::fence::Fence;
use windlass_protocols::kernel::gate::{FindingName, Waiver};
use windlass_protocols::kernel::place::Place;
use windlass_protocols::outcome::{
    AgentReport, Answer, BuildReport, CapturedChange, Count, DesignReport, Evaluation, Finding, FindingKind,
    Price, RootCause, StepEnd, SuiteReport, TokenKinds, Told, Usage, WorkspaceAfter,
};
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Design, Item, Limits, Queue, Status};
use windlass_protocols::protocol::goal_contract::spec::{Claimed, DesignRule, GoalSpec, Home, Tightened};
use windlass_protocols::{ArtifactRef, CommitId, Digest, Millis, Role, TaskId, TreeId};

pub(crate) const BASE: &str = "base-commit";
pub(crate) const BASE_TREE: &str = "base-tree";

/// What each answered step of a script uses.
pub(crate) const STEP: Usage = Usage {
    duration: Millis(1_000),
    output_bytes: 100,
    tokens: 10,
    cost_micros: 5,
    kinds: TokenKinds { input: 0, cached: 0, output: 0, reasoning: 0 },
    told: Told { count: Count::All, price: Price::AsAmount },
    held_by: None,
};

pub(crate) const NO_MORE: CapChange = CapChange {
    more_rounds: 0,
    more_time: Millis(0),
    more_tokens: 0,
    more_cost_micros: 0,
    more_output_bytes: 0,
};

pub(crate) const ONE_MORE: CapChange = CapChange { more_rounds: 1, ..NO_MORE };

pub(crate) fn artifact(name: &str) -> ArtifactRef {
    ArtifactRef { name: name.to_owned(), digest: Digest::new(format!("digest of {name}")), bytes: 7 }
}

pub(crate) fn lines(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

pub(crate) fn caps(rounds: u32) -> Caps {
    Caps {
        rounds,
        time: None,
        tokens: None,
        cost_micros: None,
        output_bytes: None,
        step_time: Millis::minutes(10),
        step_idle: None,
        step: Spend::default(),
        day: Spend::default(),
        repository: Spend::default(),
    }
}

/// With a suite, without pre-commit checks, designs where an item is not trivial, and rechecks.
pub(crate) fn spec() -> GoalSpec {
    let roles = [Role::Planner, Role::Builder, Role::Evaluator];
    GoalSpec {
        task: TaskId::new("TASK-1"),
        text: "every item works".to_owned(),
        caps: caps(100),
        once: false,
        tightened: Tightened::default(),
        suite: Some("make test".to_owned()),
        pre_commit: Vec::new(),
        claimed: Claimed::Recheck,
        design: DesignRule::Auto,
        home: Home::OwnBranch,
        began: "2026-01-31T12:00:00Z".to_owned(),
        patience: Patience::default(),
        place: Place {
            repository: "/repo".to_owned(),
            common_dir: "/repo/.git".to_owned(),
            run_dir: "/repo/.windlass".to_owned(),
            base_ref: "main".to_owned(),
            base: CommitId::new(BASE),
            doer_branch: "loop/every-item".to_owned(),
            judge_branch: String::new(),
            agents: roles.map(|role| (role, "first".to_owned())).into(),
            fallbacks: BTreeMap::new(),
            prompts: BTreeMap::new(),
            author: None,
            fence: Fence::default(),
            gate: windlass_protocols::kernel::gate::GateRules::default(),
        },
    }
}

/// An item to be built, trivial, with paths of its own.
pub(crate) fn item(id: &str) -> Item {
    Item {
        id: id.to_owned(),
        name: format!("the {id}"),
        priority: Some(1_000),
        status: Status::NotStarted,
        dependencies: Vec::new(),
        criteria: 2,
        paths_stated: true,
        risky: false,
        design: Design::None,
        passed_before: false,
    }
}

pub(crate) fn with_status(id: &str, status: Status) -> Item {
    Item { status, ..item(id) }
}

pub(crate) fn after(id: &str, dependencies: &[&str]) -> Item {
    Item { dependencies: lines(dependencies), ..item(id) }
}

/// Everything in scope, at L2, with the usual caps.
pub(crate) fn queue(items: &[Item]) -> Queue {
    Queue {
        items: items.to_vec(),
        scope: items.iter().map(|item| item.id.clone()).collect(),
        autonomy: Autonomy::L2,
        limits: Limits {
            iterations: 10,
            commits: 15,
            rework: 2,
            time: None,
            tokens: None,
            cost_micros: None,
        },
        parks: false,
        sources: vec![artifact("FEATURES.json")],
        notices: Vec::new(),
    }
}

pub(crate) fn one() -> Queue {
    queue(&[item("F001")])
}

pub(crate) fn two() -> Queue {
    queue(&[item("F001"), item("F002")])
}

pub(crate) fn at(autonomy: Autonomy, queue: Queue) -> Queue {
    Queue { autonomy, ..queue }
}

pub(crate) fn parking(queue: Queue) -> Queue {
    Queue { parks: true, ..queue }
}

pub(crate) fn suite(purpose: SuitePurpose, tree: &TreeId) -> SuiteReport {
    SuiteReport {
        purpose,
        tree: tree.clone(),
        end: StepEnd::Exited { code: 0 },
        passed: 3,
        total: 3,
        failing: Vec::new(),
        regressions: Vec::new(),
        list: Some(artifact("tests.json")),
        log: artifact("tests.log"),
        usage: STEP,
        gate: Vec::new(),
    }
}

pub(crate) fn built() -> Answer {
    Answer::Build(BuildReport {
        summary: "add it".to_owned(),
        question: None,
        artifact: Some(artifact("build.json")),
    })
}

pub(crate) fn asking(question: &str) -> Answer {
    let report = BuildReport { question: Some(question.to_owned()), ..BuildReport::default() };
    Answer::Build(report)
}

pub(crate) fn pass() -> Answer {
    Answer::Evaluation(Evaluation {
        pass: true,
        cause: None,
        issues: Vec::new(),
        artifact: artifact("evaluation.json"),
        waivers: Vec::new(),
    })
}

/// A pass that lets these findings about the gate be.
pub(crate) fn waiving(findings: &[FindingName]) -> Answer {
    let Answer::Evaluation(mut evaluation) = pass() else { unreachable!("a pass is an evaluation") };
    let waiver = |finding: &FindingName| Waiver { finding: *finding, reason: "as asked".to_owned() };
    evaluation.waivers = findings.iter().map(waiver).collect();
    Answer::Evaluation(evaluation)
}

pub(crate) fn fail(key: &str, text: &str) -> Answer {
    Answer::Evaluation(Evaluation {
        pass: false,
        cause: Some(RootCause { key: key.to_owned(), text: text.to_owned() }),
        issues: lines(&["src/lib.rs:7: off by one"]),
        artifact: artifact("evaluation.json"),
        waivers: Vec::new(),
    })
}

pub(crate) fn fail_without_a_cause() -> Answer {
    Answer::Evaluation(Evaluation {
        pass: false,
        cause: None,
        issues: Vec::new(),
        artifact: artifact("evaluation.json"),
        waivers: Vec::new(),
    })
}

pub(crate) fn design(name: &str, paths: &[&str]) -> Answer {
    Answer::Design(DesignReport {
        summary: "one file".to_owned(),
        paths: lines(paths),
        artifact: artifact(name),
        refined: None,
    })
}

pub(crate) fn malformed() -> Answer {
    Answer::Malformed { faults: lines(&["no verdict"]) }
}

pub(crate) fn finding(kind: FindingKind, about: &str) -> Finding {
    Finding { kind, about: lines(&[about]) }
}

pub(crate) fn report(role: Role, answer: Answer) -> AgentReport {
    AgentReport {
        commands_off: false,
        role,
        end: StepEnd::Exited { code: 0 },
        answer,
        workspace: if role.may_write() { WorkspaceAfter::MayDiffer } else { WorkspaceAfter::Unchanged },
        evidence: Vec::new(),
        usage: STEP,
        trouble: None,
        session: None,
        model: None,
        last_words: String::new(),
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
