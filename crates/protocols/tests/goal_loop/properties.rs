//! What holds for every goal loop, whatever happens to it: nothing panics, refusals change nothing, caps hold, replay is
//! exact, counters only grow, and every run comes to rest. `Script::observe` holds each step against replay and invariants.

use crate::script::{Script, hand_back, reopen, start};
use crate::words::{
    asking, built, change, design, fail, fail_without_a_cause, finding, item, malformed, pass, queue, report,
    spec, suite, waiving,
};
use proptest::prelude::*;
use proptest::sample::select;
use windlass_protocols::effect::{Effect, SuitePurpose};
use windlass_protocols::explain::explain;
use windlass_protocols::kernel::budget::{CapChange, Dimension};
use windlass_protocols::kernel::gate::{
    FindingName, GateFinding, GateReport, GateRules, Integrity, OnFindings, PathKind, Touch, TouchedPath,
    Waiver,
};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::{
    Answer, CheckResult, ChecksReport, FindingKind, Outcome, StepEnd, Trouble, Usage, WorkspaceAfter,
};
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Item, Queue, Status};
use windlass_protocols::protocol::goal_contract::spec::{Claimed, DesignRule, GoalSpec};
use windlass_protocols::{CommitId, Millis, Observation, Role, TreeId};

fn goal_spec() -> BoxedStrategy<GoalSpec> {
    let rule = select(vec![DesignRule::Auto, DesignRule::Always, DesignRule::Never]);
    let integrity = select(vec![Integrity::Off, Integrity::Findings, Integrity::Full]);
    let on_findings = select(vec![OnFindings::Reject, OnFindings::Ask]);
    let tokens = proptest::option::weighted(0.2, 1..200_u64);
    ((any::<bool>(), any::<bool>(), any::<bool>()), rule, tokens, (integrity, on_findings))
        .prop_map(|((tested, checked, trusts), design, tokens, (integrity, on_findings))| {
            let mut goal = spec();
            goal.place.gate = GateRules { integrity, on_findings, ..GateRules::default() };
            goal.suite = goal.suite.filter(|_| tested);
            goal.pre_commit = if checked { vec!["make lint".to_owned()] } else { Vec::new() };
            goal.claimed = if trusts { Claimed::Trust } else { Claimed::Recheck };
            goal.caps.tokens = tokens;
            GoalSpec { design, ..goal }
        })
        .boxed()
}

fn files() -> BoxedStrategy<Queue> {
    let statuses = vec![
        Status::NotStarted,
        Status::NotStarted,
        Status::InProgress,
        Status::Complete,
        Status::NeedsRework,
        Status::Blocked,
        Status::Existing,
        Status::Cancelled,
    ];
    let one = (select(statuses), any::<bool>(), any::<bool>(), proptest::option::of(0..3_i64), any::<bool>());
    let level = select(vec![Autonomy::L1, Autonomy::L2, Autonomy::L3]);
    let caps = (0..5_u32, 0..4_u32, 0..4_u32, proptest::option::weighted(0.3, 1..150_u64));
    (proptest::collection::vec(one, 1..5), level, caps, any::<bool>(), 0..5_usize)
        .prop_map(|(items, level, (iterations, commits, rework, tokens), parks, left_out)| {
            let items: Vec<Item> = items
                .into_iter()
                .zip(["F001", "R002", "E003", "B004"])
                .zip([None, Some("F001"), Some("R002"), Some("F001")])
                .map(|(((status, risky, depends, priority, passed_before), id), before)| Item {
                    status,
                    risky,
                    priority,
                    passed_before,
                    dependencies: before.filter(|_| depends).map(str::to_owned).into_iter().collect(),
                    ..item(id)
                })
                .collect();
            let mut files = queue(&items);
            (files.autonomy, files.parks, files.limits.tokens) = (level, parks, tokens);
            (files.limits.iterations, files.limits.commits, files.limits.rework) =
                (iterations, commits, rework);
            if left_out < files.scope.len() {
                files.scope.remove(left_out);
            }
            files
        })
        .boxed()
}

#[derive(Clone, Debug)]
enum Happening {
    /// The awaited step ends; the first number says how well, the second which tree comes of it.
    Answer(u8, u8),
    Misfit(u8),
    Stop,
    Reopen(CapChange, Option<String>),
    Say(u8, u8),
    /// A person leaves other files.
    Edit(Box<Queue>),
}

fn happening() -> BoxedStrategy<Happening> {
    let caps = (0..3_u32, 0..100_u64).prop_map(|(more_rounds, more_tokens)| CapChange {
        more_rounds,
        more_tokens,
        ..CapChange::default()
    });
    prop_oneof![
        24 => (any::<u8>(), 0..6_u8).prop_map(|(how, tree)| Happening::Answer(how, tree)),
        1 => any::<u8>().prop_map(Happening::Misfit),
        1 => Just(Happening::Stop),
        2 => (caps, proptest::option::of("[a-z]{1,5}")).prop_map(|(caps, note)| Happening::Reopen(caps, note)),
        6 => (any::<u8>(), 0..6_u8).prop_map(|(word, tree)| Happening::Say(word, tree)),
        1 => files().prop_map(|files| Happening::Edit(Box::new(files))),
    ]
    .boxed()
}

fn answer(role: Role, how: u8) -> Answer {
    match (how % 11, role) {
        (0, _) => Answer::Missing,
        (1, _) => malformed(),
        (2, Role::Evaluator) => fail_without_a_cause(),
        (3, Role::Evaluator) => fail("a:b", "one"),
        (4, Role::Evaluator) => fail("c:d", "two"),
        (5 | 6, Role::Evaluator) => waiving(&[FindingName::TestSkipped]),
        (_, Role::Evaluator) => pass(),
        (2, Role::Planner) => design("a.md", &[]),
        (_, Role::Planner) => design("a.md", &["src/a.rs"]),
        (2, _) => asking("which?"),
        (_, _) => built(),
    }
}

fn trouble(how: u8) -> Option<Trouble> {
    let why = "of the provider".to_owned();
    match how % 37 {
        0 => Some(Trouble::Limited { until: None, why }),
        1 => Some(Trouble::Unavailable { why }),
        2 => Some(Trouble::Misconfigured { why }),
        3 => Some(Trouble::Failed { why }),
        4 => Some(Trouble::CapPassed { dimension: Dimension::Tokens }),
        5 => Some(Trouble::Destructive { command: "rm -rf /".to_owned() }),
        _ => None,
    }
}

/// An outcome that fits the request: well, badly, lost or interrupted.
fn fitting(request: &Effect, how: u8, tree: u8, files: &Queue) -> Outcome {
    let usage = Usage { tokens: u64::from(how % 12), duration: Millis(3), ..Usage::default() };
    let refusable = matches!(
        request,
        Effect::PrepareWorkspaces
            | Effect::CaptureChange { .. }
            | Effect::CommitItem(_)
            | Effect::ReadQueue { .. }
    );
    match how {
        0..12 => return Outcome::Lost { reason: "gone".to_owned(), usage },
        12..18 => return Outcome::Interrupted { usage },
        18..24 if refusable => return Outcome::Refused { reason: "no".to_owned() },
        _ => {}
    }
    match request {
        Effect::PrepareWorkspaces => {
            Outcome::Prepared { base: CommitId::new("base-commit"), base_tree: TreeId::new("base-tree") }
        }
        Effect::ReadQueue { .. } => Outcome::QueueRead(Box::new(files.clone())),
        Effect::RunSuite(asked) => {
            let mut report = suite(asked.purpose, &asked.tree);
            report.usage = usage;
            if how.is_multiple_of(5) {
                report.end = StepEnd::Exited { code: 1 };
                report.failing = vec!["t::new".to_owned()];
            }
            if how.is_multiple_of(7) && asked.purpose != SuitePurpose::Baseline {
                report.end = StepEnd::Exited { code: 1 };
                report.regressions = vec!["t::old".to_owned()];
            }
            Outcome::SuiteRan(Box::new(report))
        }
        Effect::RunAgent(asked) => {
            let mut report = report(asked.role, answer(asked.role, how));
            report.usage = usage;
            report.trouble = trouble(how);
            report.end = StepEnd::Exited { code: i32::from(how.is_multiple_of(19)) };
            if how.is_multiple_of(23) && !asked.role.may_write() {
                report.workspace = WorkspaceAfter::Changed { paths: vec!["a".to_owned()] };
            }
            Outcome::from(report)
        }
        Effect::CaptureChange { round } => Outcome::ChangeCaptured(captured(*round, how, tree)),
        Effect::RunChecks(asked) => Outcome::ChecksRan(ChecksReport {
            purpose: asked.purpose,
            tree: asked.tree.clone(),
            results: asked
                .commands
                .iter()
                .map(|command| CheckResult {
                    command: command.clone(),
                    end: StepEnd::Exited { code: i32::from(how.is_multiple_of(3)) },
                    tail: String::new(),
                    duration: Millis(1),
                    tests: None,
                })
                .collect(),
            evidence: Vec::new(),
            usage,
            gate: Vec::new(),
        }),
        Effect::InspectGate(asked) => Outcome::GateInspected(Box::new(GateReport {
            tree: asked.tree.clone(),
            ran_with_base: asked.commands.clone(),
            findings: if how.is_multiple_of(3) { vec![gate_finding()] } else { Vec::new() },
            new_tests: Vec::new(),
            evidence: Vec::new(),
            usage,
            red: Vec::new(),
        })),
        Effect::CommitItem(asked) => Outcome::ItemCommitted {
            commit: CommitId::new(format!("{:?} {} at {}", asked.item, asked.iteration, asked.decided_at.0)),
            tree: asked.tree.clone(),
        },
        Effect::Wait(_) => Outcome::Waited,
        Effect::CloseRun(_) => Outcome::Closed,
        Effect::Measure(_) | Effect::CommitIteration(_) | Effect::LandChange(_) | Effect::Plane(_) => {
            unreachable!("a step of another loop")
        }
    }
}

fn captured(round: u32, how: u8, tree: u8) -> windlass_protocols::outcome::CapturedChange {
    let tree = if tree == 0 { "base-tree".to_owned() } else { format!("tree-{round}-{tree}") };
    let mut change = change(round, &tree);
    change.hazards = if how.is_multiple_of(43) { vec!["a link out".to_owned()] } else { Vec::new() };
    let kind = match how % 31 {
        0 => FindingKind::OutsidePaths,
        1 => FindingKind::Secret,
        2 => FindingKind::TestsDeleted,
        _ => FindingKind::StatusSet,
    };
    change.findings = vec![finding(kind, "src/b.rs")];
    if how.is_multiple_of(2) {
        let path = "tests/a.rs".to_owned();
        change.protected = vec![TouchedPath { path, kind: PathKind::Test, how: Touch::Modified }];
    }
    change.gate = if how.is_multiple_of(4) { vec![gate_finding()] } else { Vec::new() };
    change
}

fn gate_finding() -> GateFinding {
    GateFinding { kind: FindingName::TestSkipped, about: Vec::new() }
}

fn misfit(how: u8) -> Outcome {
    match how % 3 {
        0 => Outcome::SuiteRan(Box::new(suite(SuitePurpose::Item, &TreeId::new("elsewhere")))),
        1 => Outcome::from(report(Role::Judge, Answer::Missing)),
        _ => Outcome::ChangeCaptured(change(99, "tree-1")),
    }
}

fn word(script: &Script, how: u8, tree: u8) -> Word {
    let proposed = match &script.state().end {
        Some(windlass_protocols::protocol::goal_contract::end::End::AwaitsApproval { proposed, .. }) => {
            proposed.name().to_owned()
        }
        _ => format!("tree-{tree}"),
    };
    match how % 9 {
        8 => Word::Waive(Waiver { finding: FindingName::TestSkipped, reason: "as asked".to_owned() }),
        0 | 1 => Word::Approve { tree: TreeId::new(proposed) },
        2 => Word::Approve { tree: TreeId::new(format!("tree-{tree}")) },
        3 => Word::Reject { reason: "no".to_owned() },
        4 => Word::Skip { reason: String::new() },
        5 => Word::TakeOver { branch: "ada".to_owned() },
        6 => Word::LetGo,
        _ => hand_back(&format!("by-hand-{tree}")),
    }
}

/// Iterations, commits, the ledger and rework of the run so far.
fn counters(script: &Script) -> (u32, usize, usize, u32) {
    let state = script.state();
    let rework = state.items.values().map(|item| item.rework).sum();
    (state.iteration, state.commits.len(), state.past.len(), rework)
}

fn play(spec: GoalSpec, mut files: Queue, happenings: &[Happening]) -> (Script, Queue) {
    let mut script = Script::unborn(files.clone());
    script.observe(start(spec)).expect("the spec is a good one");
    for happening in happenings {
        let before = counters(&script);
        let waiting = script.run().unsettled.iter().next();
        let observation = match (happening, waiting) {
            (Happening::Edit(other), _) => {
                files = (**other).clone();
                continue;
            }
            (Happening::Answer(how, tree), Some((effect, request))) => Observation::EffectFinished {
                effect: *effect,
                outcome: fitting(request, *how, *tree, &files),
            },
            (Happening::Misfit(how), Some((effect, _))) => {
                Observation::EffectFinished { effect: *effect, outcome: misfit(*how) }
            }
            (Happening::Reopen(caps, note), _) => reopen(*caps, note.as_deref()),
            (Happening::Say(how, tree) | Happening::Answer(how, tree), _) => {
                Observation::PersonSaid { word: word(&script, *how, *tree) }
            }
            (Happening::Misfit(_), None) => {
                reopen(CapChange { more_tokens: 50, ..CapChange::default() }, None)
            }
            (Happening::Stop, _) => Observation::StopRequested { reason: "lunch".to_owned() },
        };
        let expected = match (happening, waiting) {
            (Happening::Answer(..), Some(_)) => Some(true),
            (Happening::Misfit(_), Some(_)) => Some(false),
            _ => None,
        };
        let taken = script.observe(observation).is_ok();
        assert_eq!(
            expected.unwrap_or(taken),
            taken,
            "an answer was taken that does not fit, or one refused that does"
        );
        assert!(!explain(script.run()).now.is_empty());
        let after = counters(&script);
        assert!(
            after.0 >= before.0 && after.1 >= before.1 && after.2 >= before.2 && after.3 >= before.3,
            "a counter went back: {before:?}, {after:?}"
        );
    }
    (script, files)
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_loop_breaks_a_rule_whatever_happens_to_it(
        spec in goal_spec(),
        files in files(),
        happenings in proptest::collection::vec(happening(), 0..80),
    ) {
        play(spec, files, &happenings);
    }

    #[test]
    fn every_loop_comes_to_rest_when_its_steps_do(
        spec in goal_spec(),
        files in files(),
        happenings in proptest::collection::vec(happening(), 0..30),
        trees in proptest::collection::vec(0..6_u8, 300),
    ) {
        let (mut script, files) = play(spec, files, &happenings);
        for tree in trees {
            let Some((effect, request)) = script.run().unsettled.iter().next() else { break };
            let outcome = fitting(request, 100 + tree, tree, &files);
            let body = Observation::EffectFinished { effect: *effect, outcome };
            prop_assert!(script.observe(body).is_ok());
        }
        prop_assert!(script.run().ended, "the run does not come to rest");
    }
}
