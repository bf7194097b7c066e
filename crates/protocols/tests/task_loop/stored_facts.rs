//! The stored form: lines written by version 1 are read for ever, and mean what they meant.

use crate::control_facts;
use crate::gate_facts;
use crate::goal_facts;
use crate::goal_gate_facts;
use crate::harness::words::{
    AUDIT_CHECK, STEP, agent_report, artifact, audit, change, full_spec, handoff, lines, taken_over, verdict,
};
use crate::roadmap_facts;
use crate::roadmap_gate_facts;
use std::collections::BTreeSet;
use windlass_protocols::effect::{
    Ask, CloseRun, Effect, LandChange, Purpose, RunAgent, RunChecks, StepLimits, Wait,
};
use windlass_protocols::fact::FACT_VERSION;
use windlass_protocols::kernel::budget::{CapChange, Dimension};
use windlass_protocols::kernel::fence::{Fence, SandboxKind, SandboxWish};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::{
    AgentSession, Answer, CheckResult, ChecksReport, LandedCommit, Outcome, StepEnd, TokenKinds, Trouble,
    Usage, VerdictWord, WorkspaceAfter,
};
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::facts::{
    Fact as TaskFact, OutKind, RejectedBy, RetryKind, Source,
};
use windlass_protocols::protocol::judged_task::spec::{Adopted, Landing};
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{Actor, CommitId, EffectId, Fact, Millis, Role, RunId, TreeId};

const STORED: &str = include_str!("../fixtures/facts-v1.jsonl");

/// One fact of every variant, with every variant of what it carries. New ones go to the end, here and in the fixture.
fn examples() -> Vec<Fact> {
    let mut facts = vec![started()];
    facts.extend(
        requests()
            .into_iter()
            .zip(0..)
            .map(|(request, id)| Fact::EffectRequested { effect: EffectId(id), request }),
    );
    facts.extend(
        outcomes()
            .into_iter()
            .zip(0..)
            .map(|(outcome, id)| Fact::EffectSettled { effect: EffectId(id), outcome }),
    );
    facts.extend([
        Fact::StopAsked { by: Actor::Engine, reason: "the machine shuts down".to_owned() },
        Fact::RunReopened {
            by: Actor::Human("ada".to_owned()),
            caps: CapChange {
                more_rounds: 1,
                more_time: Millis(2),
                more_tokens: 3,
                more_cost_micros: 4,
                more_output_bytes: 5,
            },
            note: Some("mind the plural".to_owned()),
        },
        Fact::LandingAsked { by: Actor::Human("ada".to_owned()), landing: Landing::Current },
        Fact::RunEnded,
    ]);
    facts.extend(task_facts().into_iter().map(Fact::JudgedTask));
    facts.extend(ends().into_iter().map(|end| Fact::JudgedTask(TaskFact::Concluded { end })));
    facts.extend(of_outages());
    facts.extend(control_facts::examples());
    facts.extend(people());
    facts.extend(goal_facts::examples());
    facts.extend(roadmap_facts::examples());
    facts.extend(fenced());
    facts.extend(gate_facts::examples());
    facts.extend(roadmap_facts::since_rounds_are_taken_up());
    facts.extend(goal_gate_facts::examples());
    facts.extend(roadmap_facts::since_handoffs_have_faults());
    facts.extend(control_facts::since_what_is_doubted_is_not_the_best());
    facts.extend(roadmap_gate_facts::examples());
    facts.extend(roadmap_facts::since_lost_shares_are_named());
    facts.extend(roadmap_facts::since_rounds_are_left_behind());
    facts.extend(control_facts::since_edits_are_told());
    facts
}

/// What came with the sandbox: how far a run is to be held, and what held each step.
fn fenced() -> Vec<Fact> {
    let fence = Fence {
        sandbox: SandboxWish::Required,
        means: Some(vec![SandboxKind::Namespaces, SandboxKind::Landlock]),
        writable: lines(&["/w"]),
        memory_bytes: Some(1024 * 1024),
        processes: Some(9),
        workspaces: windlass_protocols::kernel::fence::Workspaces::Worktrees,
    };
    let mut started = started();
    if let Fact::RunStarted { spec, .. } = &mut started {
        spec.place_mut().fence = fence;
    }
    let held = SandboxKind::ALL.into_iter().zip(0..).map(|(kind, effect)| Fact::EffectSettled {
        effect: EffectId(effect),
        outcome: Outcome::Interrupted { usage: Usage { held_by: Some(kind), ..STEP } },
    });
    std::iter::once(started).chain(held).collect()
}

/// What came with the inbox: every word a person can say.
fn people() -> Vec<Fact> {
    let tree = || TreeId::new("tree-1");
    let reason = || "not now".to_owned();
    let words = [
        Word::Approve { tree: tree() },
        Word::Reject { reason: reason() },
        Word::Skip { reason: reason() },
        Word::TakeOver { branch: "windlass/take-over/run-1".to_owned() },
        Word::HandBack { tree: tree(), report: artifact("handoff.json") },
        Word::LetGo,
    ];
    let said = |word| Fact::PersonSaid { by: Actor::Human("ada".to_owned()), word };
    words.map(said).into_iter().collect()
}

/// What came when agents got providers: limits, chains, conversations, kinds of tokens.
fn of_outages() -> Vec<Fact> {
    let kinds = TokenKinds { input: 7, cached: 2, output: 3, reasoning: 1 };
    let session = AgentSession { id: "session-1".to_owned(), so_far: Usage { kinds, ..STEP } };
    let limits = StepLimits {
        total: Millis(60_000),
        idle: None,
        output_bytes: None,
        tokens: Some(100),
        cost_micros: Some(200),
    };
    let why = || "try again later".to_owned();
    let mut facts = vec![
        Fact::EffectRequested {
            effect: EffectId(100),
            request: Effect::RunAgent(RunAgent {
                role: Role::Doer,
                round: 1,
                attempt: 1,
                tree: None,
                ask: Ask::Repair { faults: Vec::new() },
                inputs: Vec::new(),
                limits,
                agent: Some("codex".to_owned()),
                session: Some(session.clone()),
                node: None,
                item: None,
                work: None,
            }),
        },
        Fact::EffectRequested {
            effect: EffectId(101),
            request: Effect::Wait(Wait { role: Role::Judge, until: Millis(1_700_000_000_000), why: why() }),
        },
        Fact::EffectSettled { effect: EffectId(101), outcome: Outcome::Waited },
    ];
    let troubles = [
        Trouble::Limited { until: Some(Millis(1_700_000_000_000)), why: why() },
        Trouble::Unavailable { why: why() },
        Trouble::Misconfigured { why: why() },
        Trouble::CapPassed { dimension: Dimension::DayMoney },
        Trouble::Failed { why: why() },
    ];
    facts.extend(troubles.map(|trouble| {
        let mut report = agent_report(Role::Doer, StepEnd::Exited { code: 1 }, Answer::Missing, STEP);
        report.usage.kinds = kinds;
        report.trouble = Some(trouble);
        report.session = Some(session.clone());
        report.model = Some("a-model".to_owned());
        Fact::EffectSettled { effect: EffectId(100), outcome: Outcome::from(report) }
    }));
    let kinds_of_outage = [OutKind::Limited, OutKind::Unavailable, OutKind::Misconfigured];
    facts.extend(kinds_of_outage.map(|kind| {
        Fact::JudgedTask(TaskFact::AgentOut {
            role: Role::Doer,
            agent: "codex".to_owned(),
            until: Millis(1_700_000_000_000),
            kind,
            why: why(),
        })
    }));
    let dimensions = [
        Dimension::StepTokens,
        Dimension::StepMoney,
        Dimension::DayTokens,
        Dimension::DayMoney,
        Dimension::RepositoryTokens,
        Dimension::RepositoryMoney,
    ];
    let ends = dimensions.map(|dimension| End::Exhausted { dimension });
    facts.extend(ends.map(|end| Fact::JudgedTask(TaskFact::Concluded { end })));
    facts
}

fn started() -> Fact {
    let adopted = Adopted {
        round: 2,
        tree: None,
        handoff: Some(handoff(&["RQ-001"])),
        verdict: Some(verdict("pass", &["- fine"])),
        audit: Some(audit("needs-human", &["- who signs?"])),
    };
    Fact::RunStarted {
        version: FACT_VERSION,
        run: RunId::new("run-1"),
        spec: Spec::JudgedTask(Box::new(taken_over(adopted, full_spec()))),
        by: Actor::Human("ada".to_owned()),
    }
}

fn requests() -> Vec<Effect> {
    let limits = StepLimits {
        total: Millis(60_000),
        idle: Some(Millis(1_000)),
        output_bytes: Some(4_096),
        tokens: None,
        cost_micros: None,
    };
    let agent = |role, tree, ask| {
        Effect::RunAgent(RunAgent {
            role,
            round: 1,
            attempt: 2,
            tree,
            ask,
            inputs: vec![artifact("handoff.json")],
            limits,
            agent: None,
            session: None,
            node: None,
            item: None,
            work: None,
        })
    };
    let repair = Ask::Repair { faults: lines(&["not JSON"]) };
    let fresh =
        Ask::Fresh { feedback: lines(&["- no"]), history: lines(&["round 1: the judge rejected it: - no"]) };
    let mut requests = vec![
        Effect::PrepareWorkspaces,
        agent(Role::Doer, None, fresh),
        agent(Role::Judge, Some(TreeId::new("tree-1")), repair.clone()),
        agent(Role::Auditor, Some(TreeId::new("tree-1")), repair),
        Effect::CaptureChange { round: 1 },
        Effect::LandChange(LandChange {
            tree: TreeId::new("tree-1"),
            base: CommitId::new("base-commit"),
            landing: Landing::Branch("main".to_owned()),
            round: 1,
            evidence: vec![artifact("verdict.json")],
            decided_at: Millis(1_700_000_000_000),
        }),
        Effect::CloseRun(CloseRun {
            final_verdict: "pass".to_owned(),
            judge_verdict: "pass".to_owned(),
            audit_gate: "not-run".to_owned(),
            rounds_completed: 1,
        }),
    ];
    requests.extend([Purpose::Baseline, Purpose::Acceptance, Purpose::Audit].map(|purpose| {
        Effect::RunChecks(RunChecks {
            purpose,
            round: 1,
            tree: TreeId::new("tree-1"),
            commands: lines(&[AUDIT_CHECK]),
            limits,
        })
    }));
    requests
}

fn outcomes() -> Vec<Outcome> {
    let ends = [
        StepEnd::Exited { code: 1 },
        StepEnd::Signaled { signal: 9 },
        StepEnd::TotalLimit,
        StepEnd::IdleLimit,
        StepEnd::OutputLimit,
        StepEnd::NotStarted { reason: "no shell".to_owned() },
    ];
    let results = ends.map(|end| CheckResult {
        command: "make".to_owned(),
        end,
        tail: "line".to_owned(),
        duration: Millis(20),
        tests: None,
    });
    let well = StepEnd::Exited { code: 0 };
    let agent = |role, answer| agent_report(role, well.clone(), answer, STEP);
    let mut writer = agent(Role::Auditor, Answer::Audit(audit("fail", &[])));
    writer.workspace = WorkspaceAfter::Changed { paths: lines(&["a"]) };
    vec![
        Outcome::Prepared { base: CommitId::new("base-commit"), base_tree: TreeId::new("base-tree") },
        Outcome::ChecksRan(ChecksReport {
            purpose: Purpose::Acceptance,
            tree: TreeId::new("tree-1"),
            results: results.into(),
            evidence: vec![artifact("eval-results.json")],
            usage: STEP,
            gate: Vec::new(),
        }),
        Outcome::from(agent(Role::Doer, Answer::Handoff(handoff(&["RQ-001"])))),
        Outcome::from(agent(Role::Judge, Answer::Verdict(verdict("reject", &["- no"])))),
        Outcome::from(writer),
        Outcome::from(agent(Role::Judge, Answer::Missing)),
        Outcome::from(agent(Role::Judge, crate::harness::words::malformed(&["not JSON"]))),
        Outcome::ChangeCaptured(change(1, "tree-1")),
        Outcome::Landed(LandedCommit {
            commit: CommitId::new("landed-commit"),
            tree: TreeId::new("tree-1"),
            reference: "refs/heads/main".to_owned(),
        }),
        Outcome::Closed,
        Outcome::Refused { reason: "the branch moved".to_owned() },
        Outcome::Interrupted { usage: STEP },
        Outcome::Lost { reason: "gone".to_owned(), usage: STEP },
    ]
}

fn task_facts() -> Vec<TaskFact> {
    let tree = TreeId::new("tree-1");
    let mut facts = vec![
        TaskFact::BaseFixed { commit: CommitId::new("base-commit"), tree: TreeId::new("base-tree") },
        TaskFact::BaselineMeasured {
            red: lines(&["make"]),
            evidence: vec![artifact("baseline-results.json")],
            tests: Vec::new(),
        },
        TaskFact::RoundOpened { round: 1 },
        TaskFact::HandoffTaken { handoff: handoff(&["RQ-001"]) },
        TaskFact::ChangeTaken { change: change(1, "tree-1") },
        TaskFact::ChecksPassed {
            stage: Stage::Checking,
            tree: tree.clone(),
            evidence: vec![artifact("eval-results.json")],
            gate: Vec::new(),
        },
        TaskFact::RepairAsked { role: Role::Judge, faults: lines(&["not JSON"]) },
        TaskFact::VerdictTaken {
            role: Role::Judge,
            word: VerdictWord::Reject,
            tree: tree.clone(),
            source: Source::Engine { why: "1 of 2 required checks are red".to_owned() },
            feedback: Vec::new(),
            waivers: Vec::new(),
        },
        TaskFact::VerdictTaken {
            role: Role::Auditor,
            word: VerdictWord::NeedsHuman,
            tree: tree.clone(),
            source: Source::Agent { artifact: artifact("audit.json") },
            feedback: lines(&["- who signs?"]),
            waivers: Vec::new(),
        },
        TaskFact::Landed {
            commit: CommitId::new("landed-commit"),
            tree,
            reference: "refs/heads/main".to_owned(),
        },
    ];
    facts.extend(
        [RetryKind::Lost, RetryKind::Failed, RetryKind::Interrupted].map(|kind| TaskFact::StepRetried {
            stage: Stage::Judging,
            why: "gone".to_owned(),
            kind,
        }),
    );
    let rejections = [
        RejectedBy::DoerFailed,
        RejectedBy::Handoff,
        RejectedBy::NoChange,
        RejectedBy::Repetition,
        RejectedBy::Hazard,
        RejectedBy::Check,
        RejectedBy::Judge,
        RejectedBy::AuditCheck,
        RejectedBy::Auditor,
    ];
    facts.extend(rejections.map(|by| TaskFact::RoundRejected { round: 1, by, feedback: lines(&["- no"]) }));
    facts
}

fn ends() -> Vec<End> {
    let reason = || "because".to_owned();
    let (role, stage) = (Role::Judge, Stage::Judging);
    let mut ends = vec![
        End::Accepted { tree: TreeId::new("tree-1") },
        End::Rejected { by: RejectedBy::Judge },
        End::Stopped { by: "ada".to_owned(), reason: reason() },
        End::SetupFailed { reason: reason() },
    ];
    let dimensions =
        [Dimension::Rounds, Dimension::Minutes, Dimension::Tokens, Dimension::Money, Dimension::OutputBytes];
    ends.extend(dimensions.map(|dimension| End::Exhausted { dimension }));
    let causes = [
        Cause::JudgeAsked,
        Cause::AuditorAsked,
        Cause::NoReadableAnswer { role, faults: lines(&["not JSON"]) },
        Cause::WorkspaceChanged { role, paths: lines(&["a"]) },
        Cause::AgentNotStarted { role, reason: reason() },
        Cause::AgentKeepsFailing { role, why: reason() },
        Cause::StepKeepsGettingLost { stage },
        Cause::Stuck { round: 1 },
        Cause::CaptureRefused { reason: reason() },
        Cause::LandingRefused { reason: reason() },
    ];
    ends.extend(causes.map(|cause| End::NeedsHuman { cause }));
    ends
}

/// Every variant has a number here, so that a new one does not compile until it has an example below `COUNT`.
const fn variant(fact: &Fact) -> usize {
    match fact {
        Fact::RunStarted { .. } => 0,
        Fact::EffectRequested { .. } => 1,
        Fact::EffectSettled { .. } => 2,
        Fact::StopAsked { .. } => 3,
        Fact::RunReopened { .. } => 4,
        Fact::LandingAsked { .. } => 5,
        Fact::RunEnded => 6,
        Fact::JudgedTask(fact) => match fact {
            TaskFact::BaseFixed { .. } => 7,
            TaskFact::BaselineMeasured { .. } => 8,
            TaskFact::RoundOpened { .. } => 9,
            TaskFact::HandoffTaken { .. } => 10,
            TaskFact::ChangeTaken { .. } => 11,
            TaskFact::ChecksPassed { .. } => 12,
            TaskFact::RepairAsked { .. } => 13,
            TaskFact::StepRetried { .. } => 14,
            TaskFact::VerdictTaken { .. } => 15,
            TaskFact::RoundRejected { .. } => 16,
            TaskFact::Concluded { .. } => 17,
            TaskFact::Landed { .. } => 18,
            TaskFact::AgentOut { .. } => 19,
            TaskFact::GateInspected { .. } => 20,
        },
        Fact::FeedbackControl(fact) => 21 + control_facts::variant(fact),
        Fact::PersonSaid { .. } => 21 + control_facts::COUNT,
        Fact::GoalContract(fact) => 22 + control_facts::COUNT + goal_facts::variant(fact),
        Fact::RoadmapRounds(fact) => {
            22 + control_facts::COUNT + goal_facts::COUNT + roadmap_facts::variant(fact)
        }
        // Entries of the story queue have examples of their own, in tests/story_queue/stored_entries.rs.
        Fact::StoryQueue(_) => COUNT,
    }
}

const COUNT: usize = 22 + control_facts::COUNT + goal_facts::COUNT + roadmap_facts::COUNT;

/// Two loops may give one name to what is the same in both.
const fn family(fact: &Fact) -> u8 {
    match fact {
        Fact::FeedbackControl(_) => 1,
        Fact::GoalContract(_) => 2,
        Fact::RoadmapRounds(_) => 3,
        _ => 0,
    }
}

fn stored() -> Vec<Fact> {
    let read = |(number, line): (usize, &str)| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("line {} is not read: {error}", number + 1))
    };
    STORED.lines().enumerate().map(read).collect()
}

#[test]
fn every_stored_line_is_read_and_means_what_it_meant() {
    let stored = stored();
    for (number, (stored, example)) in stored.iter().zip(examples()).enumerate() {
        assert_eq!(stored, &example, "line {}", number + 1);
    }
}

#[test]
fn every_stored_line_is_written_as_it_was() {
    for (line, fact) in STORED.lines().zip(stored()) {
        let written = serde_json::to_string(&fact).expect("facts are always writable");
        assert_eq!(written, line);
    }
}

#[test]
fn every_variant_has_a_stored_line() {
    let stored = stored();
    let missing: Vec<_> = examples()
        .iter()
        .skip(stored.len())
        .map(|fact| serde_json::to_string(fact).expect("facts are always writable"))
        .collect();
    assert!(missing.is_empty(), "append to facts-v1.jsonl:\n{}", missing.join("\n"));
    let seen: BTreeSet<_> = stored.iter().map(variant).collect();
    assert_eq!(seen, (0..COUNT).collect());
    let names: BTreeSet<_> = stored.iter().map(|fact| (family(fact), fact.name())).collect();
    assert_eq!(names.len(), COUNT, "names tell the variants apart");
}

#[test]
fn a_spec_from_before_runs_were_taken_over_is_still_read() {
    let first = STORED.lines().next().expect("the first line starts a run");
    let mut json: serde_json::Value = serde_json::from_str(first).expect("JSON");
    let spec = &mut json["data"]["spec"]["judged-task"];
    assert!(spec.as_object_mut().and_then(|spec| spec.remove("adopted")).is_some());
    let fact: Fact = serde_json::from_value(json).expect("an optional field may be absent");
    let Fact::RunStarted { spec: Spec::JudgedTask(spec), .. } = fact else {
        panic!("the first line starts a run");
    };
    assert_eq!(spec.adopted, None);
}
