//! One fact of every variant of the goal loop and of a person's word, with every variant of what it carries, for the
//! stored form. New ones go to the end, here and in the fixture.

use crate::harness::words::{STEP, agent_report, artifact, caps, change, lines, spec};
use windlass_protocols::effect::{Ask, CommitItem, Effect, RunAgent, RunSuite, StepLimits, SuitePurpose};
use windlass_protocols::kernel::availability::Patience;
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::outcome::{
    Answer, BuildReport, CapturedChange, DesignReport, Evaluation, Finding, FindingKind, Outcome, RootCause,
    StepEnd, SuiteReport, Trouble,
};
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::goal_contract::end::{Cap, Cause, End, NotReady, Proposed};
use windlass_protocols::protocol::goal_contract::facts::{
    Ending, Fact as GoalFact, OutKind, RejectedBy, RetryKind,
};
use windlass_protocols::protocol::goal_contract::queue::{
    Autonomy, Design, Item, Limits, Queue, Status, Work,
};
use windlass_protocols::protocol::goal_contract::spec::{Claimed, DesignRule, GoalSpec, Home, Tightened};
use windlass_protocols::protocol::goal_contract::stage::Stage;
use windlass_protocols::{Actor, CommitId, EffectId, Fact, Millis, Role, RunId, TaskId, TreeId};

pub(crate) fn examples() -> Vec<Fact> {
    let mut facts = vec![started(goal_spec()), started(tightened_spec(Home::InPlace, DesignRule::Never))];
    facts.push(started(tightened_spec(Home::OwnBranch, DesignRule::Always)));
    let requested = |(request, id)| Fact::EffectRequested { effect: EffectId(id), request };
    facts.extend(requests().into_iter().zip(300..).map(requested));
    let settled = |(outcome, id)| Fact::EffectSettled { effect: EffectId(id), outcome };
    facts.extend(outcomes().into_iter().zip(300..).map(settled));
    let goal = steps().into_iter().chain(endings()).chain(troubles()).chain(ends());
    facts.extend(goal.map(Fact::GoalContract));
    facts
}

fn started(spec: GoalSpec) -> Fact {
    Fact::RunStarted {
        version: windlass_protocols::fact::FACT_VERSION,
        run: RunId::new("run-3"),
        spec: Spec::GoalContract(Box::new(spec)),
        by: Actor::Human("ada".to_owned()),
    }
}

pub(crate) fn goal_spec() -> GoalSpec {
    GoalSpec {
        task: TaskId::new("TASK-3"),
        text: "every feature works".to_owned(),
        caps: caps(10),
        once: false,
        tightened: Tightened::default(),
        suite: Some("make test".to_owned()),
        pre_commit: Vec::new(),
        claimed: Claimed::Recheck,
        design: DesignRule::Auto,
        home: Home::OwnBranch,
        began: "2026-01-31T12:00:00Z".to_owned(),
        patience: Patience::default(),
        place: spec().place,
    }
}

fn tightened_spec(home: Home, design: DesignRule) -> GoalSpec {
    GoalSpec {
        tightened: Tightened {
            scope: Some(lines(&["F001"])),
            autonomy: Some(Autonomy::L2),
            commits: Some(3),
            rework: Some(1),
        },
        suite: None,
        pre_commit: lines(&["make lint"]),
        claimed: Claimed::Trust,
        design,
        home,
        patience: Patience { tries: 1, ..Patience::default() },
        ..goal_spec()
    }
}

const LIMITS: StepLimits =
    StepLimits { total: Millis(60_000), idle: None, output_bytes: None, tokens: None, cost_micros: None };

fn requests() -> Vec<Effect> {
    let mut requests = vec![Effect::ReadQueue { iteration: 1 }];
    requests.extend([Role::Planner, Role::Builder, Role::Evaluator].map(|role| {
        Effect::RunAgent(RunAgent {
            role,
            round: 1,
            attempt: 1,
            tree: Some(TreeId::new("tree-1")),
            ask: Ask::Fresh { feedback: lines(&["iteration 1: tests are red"]), history: Vec::new() },
            inputs: vec![artifact("FEATURES.json")],
            limits: LIMITS,
            agent: None,
            session: None,
            node: None,
            item: Some("F001".to_owned()),
            work: None,
        })
    }));
    let purposes = [
        (SuitePurpose::Baseline, None, Vec::new()),
        (SuitePurpose::BaselineAgain, Some(artifact("tests.json")), Vec::new()),
        (SuitePurpose::Item, Some(artifact("tests.json")), lines(&["t::flaky"])),
    ];
    requests.extend(purposes.map(|(purpose, baseline, flaky)| {
        Effect::RunSuite(RunSuite {
            purpose,
            iteration: 1,
            tree: TreeId::new("tree-1"),
            command: "make test".to_owned(),
            baseline,
            flaky,
            limits: LIMITS,
        })
    }));
    requests.extend([Some("F001".to_owned()), None].map(|item| {
        Effect::CommitItem(CommitItem {
            item,
            iteration: 1,
            parent: CommitId::new("base-commit"),
            tree: TreeId::new("tree-1"),
            used: STEP,
            decided_at: Millis(1_700_000_000_000),
        })
    }));
    requests
}

/// With everything that may be absent, then without.
fn suites() -> [SuiteReport; 2] {
    let bare = SuiteReport {
        purpose: SuitePurpose::Baseline,
        tree: TreeId::new("tree-1"),
        end: StepEnd::Exited { code: 0 },
        passed: 0,
        total: 0,
        failing: Vec::new(),
        regressions: Vec::new(),
        list: None,
        log: artifact("tests.log"),
        usage: STEP,
        gate: Vec::new(),
    };
    let full = SuiteReport {
        purpose: SuitePurpose::Item,
        end: StepEnd::Exited { code: 1 },
        passed: 3,
        total: 5,
        failing: lines(&["t::new", "t::old"]),
        regressions: lines(&["t::old"]),
        list: Some(artifact("tests.json")),
        ..bare.clone()
    };
    [full, bare]
}

fn design() -> DesignReport {
    DesignReport {
        summary: "a parser in two files".to_owned(),
        paths: lines(&["src/parser.rs"]),
        artifact: artifact("F001-design.md"),
        refined: None,
    }
}

fn builds() -> [BuildReport; 2] {
    let full = BuildReport {
        summary: "add the parser".to_owned(),
        question: Some("which dialect?".to_owned()),
        artifact: Some(artifact("build-report.json")),
    };
    [full, BuildReport::default()]
}

fn evaluations() -> [Evaluation; 2] {
    let pass = Evaluation {
        pass: true,
        cause: None,
        issues: Vec::new(),
        artifact: artifact("evaluation.json"),
        waivers: Vec::new(),
    };
    let cause = RootCause { key: "correctness:src/parser.rs".to_owned(), text: "off by one".to_owned() };
    let fail =
        Evaluation { pass: false, cause: Some(cause), issues: lines(&["src/parser.rs:7"]), ..pass.clone() };
    [pass, fail]
}

const FINDINGS: [FindingKind; 7] = [
    FindingKind::OutsidePaths,
    FindingKind::ItemEdited,
    FindingKind::StatusSet,
    FindingKind::Committed,
    FindingKind::TestsDeleted,
    FindingKind::Secret,
    FindingKind::LoopFile,
];

fn beyond_its_item() -> CapturedChange {
    let findings = FINDINGS.map(|kind| Finding { kind, about: lines(&["src/other.rs"]) });
    CapturedChange { findings: findings.into(), ..change(1, "tree-1") }
}

fn outcomes() -> Vec<Outcome> {
    let agent = |role, answer| agent_report(role, StepEnd::Exited { code: 0 }, answer, STEP);
    let mut outcomes = vec![Outcome::from(agent(Role::Planner, Answer::Design(design())))];
    outcomes.extend(builds().map(|build| Outcome::from(agent(Role::Builder, Answer::Build(build)))));
    outcomes
        .extend(evaluations().map(|found| Outcome::from(agent(Role::Evaluator, Answer::Evaluation(found)))));
    let mut stopped = agent(Role::Builder, Answer::Missing);
    stopped.trouble = Some(Trouble::Destructive { command: "rm -rf /".to_owned() });
    outcomes.push(Outcome::from(stopped));
    outcomes.push(Outcome::ChangeCaptured(beyond_its_item()));
    outcomes.push(Outcome::QueueRead(Box::new(queue())));
    outcomes.extend(suites().map(|suite| Outcome::SuiteRan(Box::new(suite))));
    outcomes.push(Outcome::ItemCommitted { commit: CommitId::new("commit-1"), tree: TreeId::new("tree-2") });
    outcomes
}

pub(crate) const STATUSES: [Status; 7] = [
    Status::NotStarted,
    Status::InProgress,
    Status::Complete,
    Status::NeedsRework,
    Status::Blocked,
    Status::Existing,
    Status::Cancelled,
];

/// Items of every status and design, the first with everything that may be absent, the others without.
pub(crate) fn queue() -> Queue {
    let designs = [Design::None, Design::Draft, Design::Approved];
    let mut items: Vec<Item> = STATUSES
        .iter()
        .zip(1..)
        .zip(designs.iter().cycle())
        .map(|((status, number), design)| Item {
            id: format!("F{number:03}"),
            name: format!("feature {number}"),
            priority: None,
            status: *status,
            dependencies: Vec::new(),
            criteria: 2,
            paths_stated: false,
            risky: false,
            design: *design,
            passed_before: false,
        })
        .collect();
    items[0] = Item {
        priority: Some(1_500),
        dependencies: lines(&["F002"]),
        paths_stated: true,
        risky: true,
        passed_before: true,
        ..items[0].clone()
    };
    Queue {
        items,
        scope: lines(&["F001", "F002"]),
        autonomy: Autonomy::L2,
        limits: Limits {
            iterations: 10,
            commits: 15,
            rework: 2,
            time: Some(Millis::minutes(60)),
            tokens: Some(1_000),
            cost_micros: Some(2_000),
        },
        parks: true,
        sources: vec![artifact("FEATURES.json")],
        notices: lines(&["a row is unknown"]),
    }
}

fn bare_queue(autonomy: Autonomy) -> Queue {
    let limits = Limits { time: None, tokens: None, cost_micros: None, ..queue().limits };
    Queue { autonomy, limits, parks: false, sources: Vec::new(), notices: Vec::new(), ..queue() }
}

fn steps() -> Vec<GoalFact> {
    let item = || "F001".to_owned();
    let tree = || TreeId::new("tree-1");
    let [full, bare] = suites();
    let mut facts = vec![
        GoalFact::BaseFixed { commit: CommitId::new("base-commit"), tree: TreeId::new("base-tree") },
        GoalFact::QueueTaken { queue: Box::new(queue()) },
        GoalFact::QueueTaken { queue: Box::new(bare_queue(Autonomy::L1)) },
        GoalFact::QueueTaken { queue: Box::new(bare_queue(Autonomy::L3)) },
        GoalFact::BaselineTaken { suite: Some(bare), flaky: lines(&["t::flaky"]) },
        GoalFact::BaselineTaken { suite: None, flaky: Vec::new() },
    ];
    facts.extend([Work::Recheck, Work::Rework, Work::Build].map(|work| GoalFact::IterationOpened {
        iteration: 1,
        item: item(),
        work,
        start: tree(),
    }));
    facts.extend(builds().map(|report| GoalFact::BuildTaken { report }));
    facts.extend([
        GoalFact::DesignTaken { item: item(), design: design() },
        GoalFact::DesignApproved { item: item() },
        GoalFact::DesignRejected { item: item(), reason: "too big".to_owned() },
        GoalFact::BuildFailed { why: "exited with 1".to_owned() },
        GoalFact::ChangeTaken { change: beyond_its_item() },
        GoalFact::TestsTaken { suite: full },
        GoalFact::VerdictTaken {
            item: item(),
            tree: tree(),
            pass: true,
            why: String::new(),
            artifact: Some(artifact("evaluation.json")),
            waivers: Vec::new(),
        },
        GoalFact::VerdictTaken {
            item: item(),
            tree: tree(),
            pass: false,
            why: "tests are red".to_owned(),
            artifact: None,
            waivers: Vec::new(),
        },
        GoalFact::PreCommitPassed {
            tree: tree(),
            evidence: vec![artifact("audit-results.json")],
            gate: Vec::new(),
        },
        GoalFact::ChangeApproved { item: item(), tree: tree() },
        GoalFact::ItemCommitted { item: item(), commit: CommitId::new("commit-1"), tree: tree() },
        GoalFact::ItemParked { item: item(), why: "skipped by a person".to_owned() },
        GoalFact::SummaryCommitted { commit: Some(CommitId::new("commit-2")), why_not: String::new() },
        GoalFact::SummaryCommitted { commit: None, why_not: "a hook said no".to_owned() },
    ]);
    facts
}

fn endings() -> Vec<GoalFact> {
    let why = || "because".to_owned();
    let mut endings =
        vec![Ending::Accepted, Ending::Inconclusive { why: why() }, Ending::Escalated { why: why() }];
    let by = [
        RejectedBy::NoChange,
        RejectedBy::TestsDeleted,
        RejectedBy::Secret,
        RejectedBy::Tests,
        RejectedBy::Regression,
        RejectedBy::Evaluator,
        RejectedBy::PreCommit,
        RejectedBy::Person,
    ];
    endings.extend(by.map(|by| Ending::Rework {
        by,
        key: "tests:t::new".to_owned(),
        cause: why(),
        issues: lines(&["src/parser.rs:7"]),
    }));
    let ended = |result| GoalFact::IterationEnded {
        iteration: 1,
        item: "F001".to_owned(),
        result,
        at: Millis(1_700_000_000_000),
    };
    endings.into_iter().map(ended).collect()
}

pub(crate) const STAGES: [Stage; 11] = [
    Stage::Preparing,
    Stage::Reading,
    Stage::Baseline,
    Stage::Designing,
    Stage::Building,
    Stage::Capturing,
    Stage::Testing,
    Stage::Evaluating,
    Stage::PreCommit,
    Stage::Committing,
    Stage::Closing,
];

fn troubles() -> Vec<GoalFact> {
    let mut facts = vec![GoalFact::RepairAsked { role: Role::Evaluator, faults: lines(&["no verdict"]) }];
    facts.extend(STAGES.map(|stage| GoalFact::StepRetried {
        stage,
        why: "gone".to_owned(),
        kind: RetryKind::Lost,
    }));
    facts.extend([OutKind::Limited, OutKind::Unavailable, OutKind::Misconfigured].map(|kind| {
        GoalFact::AgentOut {
            role: Role::Builder,
            agent: "codex".to_owned(),
            until: Millis(1_700_000_000_000),
            kind,
            why: "try again later".to_owned(),
        }
    }));
    facts
}

fn ends() -> Vec<GoalFact> {
    let reason = || "because".to_owned();
    let item = || "F001".to_owned();
    let mut ends = vec![
        End::Success,
        End::AwaitsApproval { item: item(), proposed: Proposed::Change { tree: TreeId::new("tree-1") } },
        End::AwaitsApproval {
            item: item(),
            proposed: Proposed::Design { artifact: artifact("F001-design.md") },
        },
        End::Paused { iteration: 1 },
        End::Stopped { by: "ada".to_owned(), reason: reason() },
    ];
    let caps = [
        Cap::Iterations,
        Cap::Commits,
        Cap::Rework { item: item() },
        Cap::Used { dimension: Dimension::Minutes },
        Cap::Destructive { command: "rm -rf /".to_owned() },
    ];
    ends.extend(caps.map(|cap| End::HardKill { cap }));
    let not_ready = [
        NotReady::RedBaseline { failing: lines(&["t::old"]) },
        NotReady::NoTests,
        NotReady::Unreadable { reason: reason() },
        NotReady::NothingInScope,
        NotReady::Setup { reason: reason() },
    ];
    ends.extend(not_ready.map(|why| End::NotReady { why }));
    ends.extend(causes().map(|cause| End::Escalated { cause }));
    ends.into_iter().map(|end| GoalFact::Concluded { end }).collect()
}

fn causes() -> [Cause; 16] {
    let reason = || "because".to_owned();
    let item = || "F001".to_owned();
    let role = Role::Evaluator;
    [
        Cause::NothingReady { waiting: lines(&["F002: it is blocked"]) },
        Cause::SameCauseTwice { item: item(), cause: reason() },
        Cause::Regression { item: item(), tests: lines(&["t::old"]) },
        Cause::ScopeCreep { item: item(), what: lines(&["src/other.rs"]) },
        Cause::BuilderAsks { item: item(), question: "which dialect?".to_owned() },
        Cause::BuilderKeepsFailing { item: item(), why: reason() },
        Cause::NoVerdict { item: item(), faults: lines(&["no verdict"]) },
        Cause::WorkspaceChanged { item: item(), role, paths: lines(&["a"]) },
        Cause::NoDesign { item: item(), faults: lines(&["no paths"]) },
        Cause::AgentNotStarted { role, reason: reason() },
        Cause::AgentKeepsFailing { role, why: reason() },
        Cause::StepKeepsGettingLost { stage: Stage::Building },
        Cause::Hazard { item: item(), hazards: lines(&["a link leads out of the tree"]) },
        Cause::CaptureRefused { reason: reason() },
        Cause::CommitRefused { item: item(), reason: reason() },
        Cause::Unreadable { reason: reason() },
    ]
}

/// Every variant has a number here, so that a new one does not compile until it has an example below `COUNT`.
pub(crate) const fn variant(fact: &GoalFact) -> usize {
    match fact {
        GoalFact::BaseFixed { .. } => 0,
        GoalFact::QueueTaken { .. } => 1,
        GoalFact::BaselineTaken { .. } => 2,
        GoalFact::IterationOpened { .. } => 3,
        GoalFact::DesignTaken { .. } => 4,
        GoalFact::DesignApproved { .. } => 5,
        GoalFact::DesignRejected { .. } => 6,
        GoalFact::BuildTaken { .. } => 7,
        GoalFact::BuildFailed { .. } => 8,
        GoalFact::ChangeTaken { .. } => 9,
        GoalFact::TestsTaken { .. } => 10,
        GoalFact::VerdictTaken { .. } => 11,
        GoalFact::PreCommitPassed { .. } => 12,
        GoalFact::ChangeApproved { .. } => 13,
        GoalFact::ItemCommitted { .. } => 14,
        GoalFact::IterationEnded { .. } => 15,
        GoalFact::ItemParked { .. } => 16,
        GoalFact::RepairAsked { .. } => 17,
        GoalFact::StepRetried { .. } => 18,
        GoalFact::AgentOut { .. } => 19,
        GoalFact::Concluded { .. } => 20,
        GoalFact::SummaryCommitted { .. } => 21,
        GoalFact::GateInspected { .. } => 22,
    }
}

pub(crate) const COUNT: usize = 23;
