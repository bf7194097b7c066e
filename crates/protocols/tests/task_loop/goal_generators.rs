//! Arbitrary stored values of the goal loop and of people: specs, queues, effects, outcomes and facts in any order, sense
//! or not.

use crate::generators::{
    artifact, artifacts, commit, limits, number, out_kind, retry_kind, role, small, step_end, text, texts,
    tree, usage,
};
use crate::goal_facts::{STAGES, STATUSES, goal_spec, queue as example_queue};
use crate::harness::words::{change, finding};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use windlass_protocols::Millis;
use windlass_protocols::effect::{CommitItem, Effect, RunSuite, SuitePurpose};
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::kernel::gate::{FindingName, GateReport};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::{
    Answer, BuildReport, CapturedChange, DesignReport, Evaluation, Finding, FindingKind, Outcome, RootCause,
    SuiteReport, Usage,
};
use windlass_protocols::protocol::goal_contract::end::{Cap, Cause, End, NotReady, Proposed};
use windlass_protocols::protocol::goal_contract::facts::{Ending, Fact as GoalFact, RejectedBy};
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Design, Item, Limits, Queue, Work};
use windlass_protocols::protocol::goal_contract::reports::{ContractWords, RefinedContract};
use windlass_protocols::protocol::goal_contract::spec::{Claimed, DesignRule, GoalSpec, Tightened};
use windlass_protocols::protocol::goal_contract::stage::Stage;

pub(crate) fn id() -> BoxedStrategy<String> {
    select(vec!["F001", "F002", "E001", "nobody's"]).prop_map(str::to_owned).boxed()
}

fn autonomy() -> BoxedStrategy<Autonomy> {
    select(vec![Autonomy::L1, Autonomy::L2, Autonomy::L3]).boxed()
}

pub(crate) fn spec() -> BoxedStrategy<GoalSpec> {
    let tightened = (option::of(vec(id(), 0..3)), option::of(autonomy()), option::of(small()));
    let rule = select(vec![DesignRule::Auto, DesignRule::Always, DesignRule::Never]);
    (tightened, rule, any::<bool>(), any::<bool>(), texts())
        .prop_map(|((scope, autonomy, commits), design, tested, trusts, pre_commit)| {
            let mut spec = goal_spec();
            spec.tightened = Tightened { scope, autonomy, commits, rework: commits };
            spec.suite = spec.suite.filter(|_| tested);
            spec.claimed = if trusts { Claimed::Trust } else { Claimed::Recheck };
            GoalSpec { design, pre_commit, ..spec }
        })
        .boxed()
}

fn item() -> BoxedStrategy<Item> {
    let said = (option::of(any::<i64>()), select(STATUSES.to_vec()), vec(id(), 0..2), small());
    let design = select(vec![Design::None, Design::Draft, Design::Approved]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (id(), text(), said, design, flags)
        .prop_map(|(id, name, (priority, status, dependencies, criteria), design, flags)| {
            let (paths_stated, risky, passed_before) = flags;
            Item {
                id,
                name,
                priority,
                status,
                dependencies,
                criteria,
                paths_stated,
                risky,
                design,
                passed_before,
            }
        })
        .boxed()
}

fn queue() -> BoxedStrategy<Queue> {
    let caps = (small(), small(), small(), option::of(number()), option::of(number()));
    (vec(item(), 0..4), vec(id(), 0..3), autonomy(), caps, any::<bool>())
        .prop_map(|(items, scope, autonomy, (iterations, commits, rework, time, spend), parks)| {
            let limits = Limits {
                iterations,
                commits,
                rework,
                time: time.map(Millis),
                tokens: spend,
                cost_micros: spend,
            };
            Queue { items, scope, autonomy, limits, parks, ..example_queue() }
        })
        .boxed()
}

fn suite_purpose() -> BoxedStrategy<SuitePurpose> {
    select(vec![SuitePurpose::Baseline, SuitePurpose::BaselineAgain, SuitePurpose::Item]).boxed()
}

fn suite() -> BoxedStrategy<SuiteReport> {
    let read = (small(), small(), texts(), texts());
    (suite_purpose(), tree(), step_end(), read, option::of(artifact()), artifact(), usage())
        .prop_map(|(purpose, tree, end, (passed, total, failing, regressions), list, log, usage)| {
            SuiteReport {
                purpose,
                tree,
                end,
                passed,
                total,
                failing,
                regressions,
                list,
                log,
                usage,
                gate: Vec::new(),
            }
        })
        .boxed()
}

fn design() -> BoxedStrategy<DesignReport> {
    let words = || {
        (text(), text()).prop_map(|(deliverable, verification)| ContractWords { deliverable, verification })
    };
    let refined = (words(), words()).prop_map(|(from, to)| RefinedContract { from, to });
    (text(), texts(), artifact(), option::of(refined))
        .prop_map(|(summary, paths, artifact, refined)| DesignReport { summary, paths, artifact, refined })
        .boxed()
}

fn build() -> BoxedStrategy<BuildReport> {
    (text(), option::of(text()), option::of(artifact()))
        .prop_map(|(summary, question, artifact)| BuildReport { summary, question, artifact })
        .boxed()
}

pub(crate) fn answer() -> BoxedStrategy<Answer> {
    let cause = (text(), text()).prop_map(|(key, text)| RootCause { key, text });
    prop_oneof![
        design().prop_map(Answer::Design),
        build().prop_map(Answer::Build),
        (any::<bool>(), option::of(cause), texts(), artifact()).prop_map(
            |(pass, cause, issues, artifact)| {
                Answer::Evaluation(Evaluation { pass, cause, issues, artifact, waivers: Vec::new() })
            }
        ),
    ]
    .boxed()
}

pub(crate) fn outcome() -> BoxedStrategy<Outcome> {
    prop_oneof![
        queue().prop_map(|queue| Outcome::QueueRead(Box::new(queue))),
        suite().prop_map(|suite| Outcome::SuiteRan(Box::new(suite))),
        (commit(), tree()).prop_map(|(commit, tree)| Outcome::ItemCommitted { commit, tree }),
        captured().prop_map(Outcome::ChangeCaptured),
    ]
    .boxed()
}

pub(crate) fn effect() -> BoxedStrategy<Effect> {
    let suite = (suite_purpose(), small(), tree(), text(), option::of(artifact()), texts(), limits());
    prop_oneof![
        small().prop_map(|iteration| Effect::ReadQueue { iteration }),
        suite.prop_map(|(purpose, iteration, tree, command, baseline, flaky, limits)| {
            Effect::RunSuite(RunSuite { purpose, iteration, tree, command, baseline, flaky, limits })
        }),
        (option::of(id()), small(), commit(), tree(), usage(), number()).prop_map(
            |(item, iteration, parent, tree, used, moment)| {
                let decided_at = Millis(moment);
                Effect::CommitItem(CommitItem { item, iteration, parent, tree, used, decided_at })
            }
        ),
    ]
    .boxed()
}

pub(crate) fn word() -> BoxedStrategy<Word> {
    prop_oneof![
        tree().prop_map(|tree| Word::Approve { tree }),
        text().prop_map(|reason| Word::Reject { reason }),
        text().prop_map(|reason| Word::Skip { reason }),
        text().prop_map(|branch| Word::TakeOver { branch }),
        (tree(), artifact()).prop_map(|(tree, report)| Word::HandBack { tree, report }),
        Just(Word::LetGo),
    ]
    .boxed()
}

fn captured() -> BoxedStrategy<CapturedChange> {
    let kinds = vec![
        FindingKind::OutsidePaths,
        FindingKind::StatusSet,
        FindingKind::TestsDeleted,
        FindingKind::Secret,
    ];
    let finding = (select(kinds), texts()).prop_map(|(kind, about)| Finding { kind, about });
    (small(), tree(), vec(finding, 0..2))
        .prop_map(|(round, tree, findings)| CapturedChange { findings, ..change(round, tree.as_str()) })
        .boxed()
}

fn stage() -> BoxedStrategy<Stage> {
    select(STAGES.into_iter().chain([Stage::Inspecting]).collect::<Vec<_>>()).boxed()
}

fn ending() -> BoxedStrategy<Ending> {
    let by = vec![
        RejectedBy::NoChange,
        RejectedBy::Tests,
        RejectedBy::Regression,
        RejectedBy::Evaluator,
        RejectedBy::Person,
    ];
    prop_oneof![
        Just(Ending::Accepted),
        (select(by), text(), text(), texts()).prop_map(|(by, key, cause, issues)| Ending::Rework {
            by,
            key,
            cause,
            issues
        }),
        text().prop_map(|why| Ending::Inconclusive { why }),
        text().prop_map(|why| Ending::Escalated { why }),
    ]
    .boxed()
}

fn cause() -> BoxedStrategy<Cause> {
    prop_oneof![
        texts().prop_map(|waiting| Cause::NothingReady { waiting }),
        (id(), text()).prop_map(|(item, cause)| Cause::SameCauseTwice { item, cause }),
        (id(), texts()).prop_map(|(item, tests)| Cause::Regression { item, tests }),
        (id(), text()).prop_map(|(item, question)| Cause::BuilderAsks { item, question }),
        (id(), role(), texts()).prop_map(|(item, role, paths)| Cause::WorkspaceChanged { item, role, paths }),
        (id(), texts()).prop_map(|(item, hazards)| Cause::Hazard { item, hazards }),
        (id(), text()).prop_map(|(item, reason)| Cause::CommitRefused { item, reason }),
        (role(), text()).prop_map(|(role, reason)| Cause::AgentNotStarted { role, reason }),
        stage().prop_map(|stage| Cause::StepKeepsGettingLost { stage }),
        text().prop_map(|reason| Cause::Unreadable { reason }),
    ]
    .boxed()
}

fn end() -> BoxedStrategy<End> {
    let cap = prop_oneof![
        Just(Cap::Iterations),
        Just(Cap::Commits),
        id().prop_map(|item| Cap::Rework { item }),
        select(vec![Dimension::Minutes, Dimension::Tokens, Dimension::DayMoney])
            .prop_map(|dimension| Cap::Used { dimension }),
        text().prop_map(|command| Cap::Destructive { command }),
    ];
    let proposed = prop_oneof![
        tree().prop_map(|tree| Proposed::Change { tree }),
        artifact().prop_map(|artifact| Proposed::Design { artifact }),
    ];
    prop_oneof![
        Just(End::Success),
        cap.prop_map(|cap| End::HardKill { cap }),
        cause().prop_map(|cause| End::Escalated { cause }),
        (id(), proposed).prop_map(|(item, proposed)| End::AwaitsApproval { item, proposed }),
        small().prop_map(|iteration| End::Paused { iteration }),
        small().prop_map(|iteration| End::AsAsked { iteration }),
        (text(), text()).prop_map(|(by, reason)| End::Stopped { by, reason }),
        texts().prop_map(|failing| End::NotReady { why: NotReady::RedBaseline { failing } }),
    ]
    .boxed()
}

pub(crate) fn fact() -> BoxedStrategy<GoalFact> {
    let work = select(vec![Work::Recheck, Work::Rework, Work::Build]);
    let opened = (small(), id(), work, tree()).prop_map(|(iteration, item, work, start)| {
        GoalFact::IterationOpened { iteration, item, work, start }
    });
    let building = prop_oneof![
        (commit(), tree()).prop_map(|(commit, tree)| GoalFact::BaseFixed { commit, tree }),
        queue().prop_map(|queue| GoalFact::QueueTaken { queue: Box::new(queue) }),
        (option::of(suite()), texts()).prop_map(|(suite, flaky)| GoalFact::BaselineTaken { suite, flaky }),
        opened,
        (id(), design()).prop_map(|(item, design)| GoalFact::DesignTaken { item, design }),
        id().prop_map(|item| GoalFact::DesignApproved { item }),
        (id(), text()).prop_map(|(item, reason)| GoalFact::DesignRejected { item, reason }),
        build().prop_map(|report| GoalFact::BuildTaken { report }),
        text().prop_map(|why| GoalFact::BuildFailed { why }),
        captured().prop_map(|change| GoalFact::ChangeTaken { change }),
    ];
    let judging = prop_oneof![
        suite().prop_map(|suite| GoalFact::TestsTaken { suite }),
        (id(), tree(), any::<bool>(), text(), option::of(artifact())).prop_map(
            |(item, tree, pass, why, artifact)| {
                GoalFact::VerdictTaken { item, tree, pass, why, artifact, waivers: Vec::new() }
            }
        ),
        (tree(), artifacts()).prop_map(|(tree, evidence)| {
            GoalFact::PreCommitPassed { tree, evidence, gate: vec![finding(FindingName::LockChanged)] }
        }),
        tree().prop_map(|tree| GoalFact::GateInspected {
            report: GateReport {
                tree,
                ran_with_base: Vec::new(),
                findings: vec![finding(FindingName::TestSkipped)],
                new_tests: Vec::new(),
                evidence: Vec::new(),
                usage: Usage::default(),
                red: Vec::new(),
            }
        }),
        (id(), tree()).prop_map(|(item, tree)| GoalFact::ChangeApproved { item, tree }),
        (id(), commit(), tree()).prop_map(|(item, commit, tree)| GoalFact::ItemCommitted {
            item,
            commit,
            tree
        }),
        (small(), id(), ending(), small()).prop_map(|(iteration, item, result, at)| {
            GoalFact::IterationEnded { iteration, item, result, at: Millis(at.into()) }
        }),
        (id(), text()).prop_map(|(item, why)| GoalFact::ItemParked { item, why }),
    ];
    let rest = prop_oneof![
        (role(), texts()).prop_map(|(role, faults)| GoalFact::RepairAsked { role, faults }),
        (stage(), text(), retry_kind()).prop_map(|(stage, why, kind)| GoalFact::StepRetried {
            stage,
            why,
            kind
        }),
        (role(), text(), number(), out_kind(), text()).prop_map(|(role, agent, until, kind, why)| {
            GoalFact::AgentOut { role, agent, until: Millis(until), kind, why }
        }),
        end().prop_map(|end| GoalFact::Concluded { end }),
        (option::of(commit()), text())
            .prop_map(|(commit, why_not)| GoalFact::SummaryCommitted { commit, why_not }),
    ];
    prop_oneof![2 => building, 2 => judging, 1 => rest].boxed()
}
