//! Arbitrary stored values, for properties that must hold whatever a journal says: facts in any order, sense or not.

use crate::control_generators;
use crate::goal_generators;
use crate::harness::words::{change, full_spec, lines, spec, taken_over};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use windlass_protocols::effect::{
    Ask, CloseRun, Effect, LandChange, Purpose, RunAgent, RunChecks, StepLimits, Wait,
};
use windlass_protocols::kernel::budget::{CapChange, Caps, Dimension};
use windlass_protocols::kernel::fence::SandboxKind;
use windlass_protocols::outcome::{
    AgentReport, AgentSession, Answer, Audit, CapturedChange, CheckResult, ChecksReport, Count, Handoff,
    LandedCommit, Outcome, Price, StepEnd, TokenKinds, Told, Trouble, Usage, Verdict, VerdictWord,
    WorkspaceAfter,
};
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::facts::{
    Fact as TaskFact, OutKind, RejectedBy, RetryKind, Source,
};
use windlass_protocols::protocol::judged_task::spec::{
    Adopted, AuditPolicy, Landing, OnNeedsHuman, TaskSpec,
};
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{Actor, ArtifactRef, CommitId, Digest, EffectId, Fact, Millis, Role, RunId, TreeId};

pub(crate) fn text() -> BoxedStrategy<String> {
    prop_oneof![select(lines(&["", "a", "- [eval] red\nline"])), any::<String>()].boxed()
}

pub(crate) fn texts() -> BoxedStrategy<Vec<String>> {
    vec(text(), 0..3).boxed()
}

pub(crate) fn number() -> BoxedStrategy<u64> {
    prop_oneof![6 => 0..50_u64, 1 => any::<u64>(), 1 => Just(u64::MAX)].boxed()
}

pub(crate) fn small() -> BoxedStrategy<u32> {
    prop_oneof![5 => 0..4_u32, 1 => Just(u32::MAX)].boxed()
}

pub(crate) fn tree() -> BoxedStrategy<TreeId> {
    select(vec!["base-tree", "tree-1", "tree-2", "tree-3"]).prop_map(TreeId::new).boxed()
}

pub(crate) fn commit() -> BoxedStrategy<CommitId> {
    text().prop_map(CommitId::new).boxed()
}

pub(crate) fn artifact() -> BoxedStrategy<ArtifactRef> {
    (text(), text(), number())
        .prop_map(|(name, digest, bytes)| ArtifactRef { name, digest: Digest::new(digest), bytes })
        .boxed()
}

pub(crate) fn artifacts() -> BoxedStrategy<Vec<ArtifactRef>> {
    vec(artifact(), 0..3).boxed()
}

pub(crate) fn role() -> BoxedStrategy<Role> {
    select(vec![
        Role::Doer,
        Role::Judge,
        Role::Auditor,
        Role::Sensor,
        Role::Controller,
        Role::Actuator,
        Role::Planner,
        Role::Builder,
        Role::Evaluator,
        Role::Implementer,
        Role::Reviewer,
        Role::Investigator,
    ])
    .boxed()
}

fn word() -> BoxedStrategy<VerdictWord> {
    select(vec![VerdictWord::Pass, VerdictWord::Reject, VerdictWord::NeedsHuman]).boxed()
}

fn stage() -> BoxedStrategy<Stage> {
    select(vec![Stage::Preparing, Stage::Checking, Stage::AuditChecking, Stage::Closing]).boxed()
}

fn purpose() -> BoxedStrategy<Purpose> {
    select(vec![Purpose::Baseline, Purpose::Acceptance, Purpose::Audit]).boxed()
}

pub(crate) fn landing() -> BoxedStrategy<Landing> {
    prop_oneof![Just(Landing::None), Just(Landing::Current), text().prop_map(Landing::Branch)].boxed()
}

pub(crate) fn usage() -> BoxedStrategy<Usage> {
    (number(), number(), number(), number())
        .prop_map(|(duration, output_bytes, tokens, cost_micros)| Usage {
            duration: Millis(duration),
            output_bytes,
            tokens,
            cost_micros,
            kinds: TokenKinds { input: tokens, cached: output_bytes, output: cost_micros, reasoning: 0 },
            told: told(tokens, cost_micros),
            held_by: held_by(duration),
        })
        .boxed()
}

fn held_by(number: u64) -> Option<SandboxKind> {
    let kinds = [SandboxKind::Landlock, SandboxKind::Namespaces, SandboxKind::None];
    kinds.get(usize::try_from(number % 4).unwrap_or(3)).copied()
}

fn told(tokens: u64, cost_micros: u64) -> Told {
    Told {
        price: if cost_micros == 0 { Price::Free } else { Price::AsAmount },
        count: if tokens.is_multiple_of(2) { Count::All } else { Count::AtLeast },
    }
}

pub(crate) fn step_end() -> BoxedStrategy<StepEnd> {
    prop_oneof![
        4 => Just(StepEnd::Exited { code: 0 }),
        1 => any::<i32>().prop_map(|code| StepEnd::Exited { code }),
        1 => any::<i32>().prop_map(|signal| StepEnd::Signaled { signal }),
        1 => select(vec![
            StepEnd::TotalLimit,
            StepEnd::IdleLimit,
            StepEnd::OutputLimit,
            StepEnd::MemoryLimit,
            StepEnd::ProcessLimit,
        ]),
        1 => text().prop_map(|reason| StepEnd::NotStarted { reason }),
    ]
    .boxed()
}

fn handoff() -> BoxedStrategy<Handoff> {
    (texts(), artifact())
        .prop_map(|(requirements_touched, artifact)| Handoff { requirements_touched, artifact })
        .boxed()
}

fn verdict() -> BoxedStrategy<Verdict> {
    (word(), texts(), texts(), texts(), artifact())
        .prop_map(|(word, feedback, requirements_checked, requirements_missing, artifact)| Verdict {
            word,
            feedback,
            requirements_checked,
            requirements_missing,
            artifact,
            waivers: Vec::new(),
        })
        .boxed()
}

fn audit() -> BoxedStrategy<Audit> {
    (word(), texts(), texts(), artifact())
        .prop_map(|(word, feedback, contradictions, artifact)| Audit {
            word,
            feedback,
            contradictions,
            artifact,
        })
        .boxed()
}

fn answer() -> BoxedStrategy<Answer> {
    prop_oneof![
        Just(Answer::Missing),
        texts().prop_map(|faults| Answer::Malformed { faults }),
        handoff().prop_map(Answer::Handoff),
        verdict().prop_map(Answer::Verdict),
        audit().prop_map(Answer::Audit),
        control_generators::answer(),
        goal_generators::answer(),
    ]
    .boxed()
}

fn agent_report() -> BoxedStrategy<AgentReport> {
    let workspace = prop_oneof![
        Just(WorkspaceAfter::MayDiffer),
        Just(WorkspaceAfter::Unchanged),
        texts().prop_map(|paths| WorkspaceAfter::Changed { paths }),
    ];
    let told =
        (option::weighted(0.2, trouble()), option::of(session()), option::of(text()), text(), any::<bool>());
    (role(), step_end(), answer(), workspace, artifacts(), usage(), told)
        .prop_map(|(role, end, answer, workspace, evidence, usage, told)| {
            let (trouble, session, model, last_words, commands_off) = told;
            AgentReport {
                role,
                end,
                answer,
                workspace,
                evidence,
                usage,
                trouble,
                session,
                model,
                last_words,
                commands_off,
            }
        })
        .boxed()
}

fn session() -> BoxedStrategy<AgentSession> {
    (text(), usage()).prop_map(|(id, so_far)| AgentSession { id, so_far }).boxed()
}

fn trouble() -> BoxedStrategy<Trouble> {
    let dimension = select(vec![
        Dimension::Tokens,
        Dimension::Money,
        Dimension::StepTokens,
        Dimension::StepMoney,
        Dimension::DayTokens,
        Dimension::DayMoney,
        Dimension::RepositoryTokens,
        Dimension::RepositoryMoney,
    ]);
    prop_oneof![
        (option::of(number()), text())
            .prop_map(|(until, why)| Trouble::Limited { until: until.map(Millis), why }),
        text().prop_map(|why| Trouble::Unavailable { why }),
        text().prop_map(|why| Trouble::Misconfigured { why }),
        dimension.prop_map(|dimension| Trouble::CapPassed { dimension }),
        text().prop_map(|why| Trouble::Failed { why }),
        text().prop_map(|command| Trouble::Destructive { command }),
    ]
    .boxed()
}

fn checks_report() -> BoxedStrategy<ChecksReport> {
    let result = (text(), step_end(), text(), number()).prop_map(|(command, end, tail, duration)| {
        CheckResult { command, end, tail, duration: Millis(duration), tests: None }
    });
    (purpose(), tree(), vec(result, 0..3), artifacts(), usage())
        .prop_map(|(purpose, tree, results, evidence, usage)| ChecksReport {
            purpose,
            tree,
            results,
            evidence,
            usage,
            gate: Vec::new(),
        })
        .boxed()
}

fn captured() -> BoxedStrategy<CapturedChange> {
    (small(), tree(), texts())
        .prop_map(|(round, tree, hazards)| CapturedChange { hazards, ..change(round, tree.as_str()) })
        .boxed()
}

pub(crate) fn outcome() -> BoxedStrategy<Outcome> {
    prop_oneof![
        (commit(), tree()).prop_map(|(base, base_tree)| Outcome::Prepared { base, base_tree }),
        checks_report().prop_map(Outcome::ChecksRan),
        agent_report().prop_map(Outcome::from),
        captured().prop_map(Outcome::ChangeCaptured),
        (commit(), tree(), text()).prop_map(|(commit, tree, reference)| {
            Outcome::Landed(LandedCommit { commit, tree, reference })
        }),
        Just(Outcome::Closed),
        Just(Outcome::Waited),
        text().prop_map(|reason| Outcome::Refused { reason }),
        usage().prop_map(|usage| Outcome::Interrupted { usage }),
        (text(), usage()).prop_map(|(reason, usage)| Outcome::Lost { reason, usage }),
        control_generators::outcome(),
        goal_generators::outcome(),
    ]
    .boxed()
}

pub(crate) fn limits() -> BoxedStrategy<StepLimits> {
    (number(), option::of(number()), option::of(number()), option::of(number()))
        .prop_map(|(total, idle, output_bytes, spend)| StepLimits {
            total: Millis(total),
            idle: idle.map(Millis),
            output_bytes,
            tokens: spend,
            cost_micros: spend,
        })
        .boxed()
}

fn effect() -> BoxedStrategy<Effect> {
    let ask = prop_oneof![
        (texts(), texts()).prop_map(|(feedback, history)| Ask::Fresh { feedback, history }),
        texts().prop_map(|faults| Ask::Repair { faults }),
    ];
    let place = (
        option::of(session()),
        option::of(control_generators::node_step()),
        option::of(goal_generators::id()),
    );
    let agent = (role(), small(), option::of(tree()), ask, artifacts(), limits(), place);
    prop_oneof![
        Just(Effect::PrepareWorkspaces),
        (role(), number(), text()).prop_map(|(role, until, why)| Effect::Wait(Wait {
            role,
            until: Millis(until),
            why
        })),
        (purpose(), small(), tree(), texts(), limits()).prop_map(
            |(purpose, round, tree, commands, limits)| {
                Effect::RunChecks(RunChecks { purpose, round, tree, commands, limits })
            }
        ),
        control_generators::effect(),
        goal_generators::effect(),
        agent.prop_map(|(role, round, tree, ask, inputs, limits, (session, node, item))| {
            let (attempt, agent) = (round, session.as_ref().map(|session| session.id.clone()));
            Effect::RunAgent(RunAgent {
                role,
                round,
                attempt,
                tree,
                ask,
                inputs,
                limits,
                agent,
                session,
                node,
                item,
                work: None,
            })
        }),
        small().prop_map(|round| Effect::CaptureChange { round }),
        (tree(), commit(), landing(), small(), artifacts(), number()).prop_map(
            |(tree, base, landing, round, evidence, moment)| {
                Effect::LandChange(LandChange {
                    tree,
                    base,
                    landing,
                    round,
                    evidence,
                    decided_at: Millis(moment),
                })
            }
        ),
        (text(), small()).prop_map(|(word, rounds_completed)| {
            Effect::CloseRun(CloseRun {
                final_verdict: word.clone(),
                judge_verdict: word.clone(),
                audit_gate: word,
                rounds_completed,
            })
        }),
    ]
    .boxed()
}

fn actor() -> BoxedStrategy<Actor> {
    prop_oneof![Just(Actor::Engine), text().prop_map(Actor::Human)].boxed()
}

pub(crate) fn cap_change() -> BoxedStrategy<CapChange> {
    (small(), number(), number(), number(), number())
        .prop_map(|(more_rounds, time, tokens, money, bytes)| CapChange {
            more_rounds,
            more_time: Millis(time),
            more_tokens: tokens,
            more_cost_micros: money,
            more_output_bytes: bytes,
        })
        .boxed()
}

/// Specs as users give them, most of them good.
pub(crate) fn task_spec() -> BoxedStrategy<TaskSpec> {
    let caps = (0..5_u32, vec(option::weighted(0.3, 1..80_u64), 4)).prop_map(|(rounds, caps)| Caps {
        rounds,
        time: caps[0].map(Millis),
        tokens: caps[1],
        cost_micros: caps[2],
        output_bytes: caps[3],
        ..spec().caps
    });
    let adopted = (0..3_u32, option::of(handoff()), option::of(verdict()), option::of(audit()))
        .prop_map(|(round, handoff, verdict, audit)| Adopted { round, tree: None, handoff, verdict, audit });
    let policies = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (caps, policies, landing(), option::weighted(0.3, adopted))
        .prop_map(|(caps, (full, audited, stop, audit_checks), landing, adopted)| {
            let mut spec = if full { full_spec() } else { spec() };
            spec.caps = caps;
            spec.landing = landing;
            if !audit_checks {
                spec.audit_checks.clear();
            }
            if !audited {
                spec.audit = AuditPolicy::Skipped;
            }
            if !stop {
                spec.on_needs_human = OnNeedsHuman::Continue;
            }
            match adopted {
                Some(adopted) => taken_over(adopted, spec),
                None => spec,
            }
        })
        .boxed()
}

fn rejected_by() -> BoxedStrategy<RejectedBy> {
    use RejectedBy::{AuditCheck, Auditor, Check, DoerFailed, Handoff, Hazard, Judge, NoChange, Repetition};
    select(vec![DoerFailed, Handoff, NoChange, Repetition, Hazard, Check, Judge, AuditCheck, Auditor]).boxed()
}

fn end() -> BoxedStrategy<End> {
    let dimension = select(vec![Dimension::Rounds, Dimension::Minutes, Dimension::OutputBytes]);
    let cause = prop_oneof![
        Just(Cause::JudgeAsked),
        Just(Cause::AuditorAsked),
        (role(), texts()).prop_map(|(role, faults)| Cause::NoReadableAnswer { role, faults }),
        (role(), texts()).prop_map(|(role, paths)| Cause::WorkspaceChanged { role, paths }),
        (role(), text()).prop_map(|(role, reason)| Cause::AgentNotStarted { role, reason }),
        (role(), text()).prop_map(|(role, why)| Cause::AgentKeepsFailing { role, why }),
        stage().prop_map(|stage| Cause::StepKeepsGettingLost { stage }),
        small().prop_map(|round| Cause::Stuck { round }),
        text().prop_map(|reason| Cause::CaptureRefused { reason }),
        text().prop_map(|reason| Cause::LandingRefused { reason }),
    ];
    prop_oneof![
        tree().prop_map(|tree| End::Accepted { tree }),
        rejected_by().prop_map(|by| End::Rejected { by }),
        cause.prop_map(|cause| End::NeedsHuman { cause }),
        dimension.prop_map(|dimension| End::Exhausted { dimension }),
        (text(), text()).prop_map(|(by, reason)| End::Stopped { by, reason }),
        text().prop_map(|reason| End::SetupFailed { reason }),
    ]
    .boxed()
}

pub(crate) fn retry_kind() -> BoxedStrategy<RetryKind> {
    select(vec![RetryKind::Lost, RetryKind::Failed, RetryKind::Interrupted]).boxed()
}

pub(crate) fn out_kind() -> BoxedStrategy<OutKind> {
    select(vec![OutKind::Limited, OutKind::Unavailable, OutKind::Misconfigured]).boxed()
}

fn task_fact() -> BoxedStrategy<TaskFact> {
    let source = prop_oneof![
        artifact().prop_map(|artifact| Source::Agent { artifact }),
        text().prop_map(|why| Source::Engine { why }),
    ];
    let kind = retry_kind();
    prop_oneof![
        (commit(), tree()).prop_map(|(commit, tree)| TaskFact::BaseFixed { commit, tree }),
        (texts(), artifacts()).prop_map(|(red, evidence)| TaskFact::BaselineMeasured {
            red,
            evidence,
            tests: Vec::new(),
        }),
        small().prop_map(|round| TaskFact::RoundOpened { round }),
        handoff().prop_map(|handoff| TaskFact::HandoffTaken { handoff }),
        captured().prop_map(|change| TaskFact::ChangeTaken { change }),
        (stage(), tree(), artifacts()).prop_map(|(stage, tree, evidence)| TaskFact::ChecksPassed {
            stage,
            tree,
            evidence,
            gate: Vec::new(),
        }),
        (role(), texts()).prop_map(|(role, faults)| TaskFact::RepairAsked { role, faults }),
        (stage(), text(), kind).prop_map(|(stage, why, kind)| TaskFact::StepRetried { stage, why, kind }),
        (role(), text(), number(), out_kind(), text()).prop_map(|(role, agent, until, kind, why)| {
            TaskFact::AgentOut { role, agent, until: Millis(until), kind, why }
        }),
        (role(), word(), tree(), source, texts()).prop_map(|(role, word, tree, source, feedback)| {
            TaskFact::VerdictTaken { role, word, tree, source, feedback, waivers: Vec::new() }
        }),
        (small(), rejected_by(), texts()).prop_map(|(round, by, feedback)| TaskFact::RoundRejected {
            round,
            by,
            feedback,
        }),
        end().prop_map(|end| TaskFact::Concluded { end }),
        (commit(), tree(), text()).prop_map(|(commit, tree, reference)| TaskFact::Landed {
            commit,
            tree,
            reference,
        }),
    ]
    .boxed()
}

pub(crate) fn started() -> BoxedStrategy<Fact> {
    let spec = prop_oneof![
        task_spec().prop_map(|spec| Spec::JudgedTask(Box::new(spec))),
        control_generators::spec().prop_map(|spec| Spec::FeedbackControl(Box::new(spec))),
        goal_generators::spec().prop_map(|spec| Spec::GoalContract(Box::new(spec))),
    ];
    (small(), text(), spec, actor())
        .prop_map(|(version, run, spec, by)| Fact::RunStarted { version, run: RunId::new(run), spec, by })
        .boxed()
}

pub(crate) fn fact() -> BoxedStrategy<Fact> {
    let id = || number().prop_map(EffectId);
    prop_oneof![
        1 => started(),
        2 => (id(), effect()).prop_map(|(effect, request)| Fact::EffectRequested { effect, request }),
        2 => (id(), outcome()).prop_map(|(effect, outcome)| Fact::EffectSettled { effect, outcome }),
        1 => (actor(), text()).prop_map(|(by, reason)| Fact::StopAsked { by, reason }),
        1 => (actor(), cap_change(), option::of(text()))
            .prop_map(|(by, caps, note)| Fact::RunReopened { by, caps, note }),
        1 => (actor(), landing()).prop_map(|(by, landing)| Fact::LandingAsked { by, landing }),
        1 => (actor(), crate::people::word()).prop_map(|(by, word)| Fact::PersonSaid { by, word }),
        8 => task_fact().prop_map(Fact::JudgedTask),
        8 => control_generators::fact().prop_map(Fact::FeedbackControl),
        8 => goal_generators::fact().prop_map(Fact::GoalContract),
        2 => (actor(), goal_generators::word()).prop_map(|(by, word)| Fact::PersonSaid { by, word }),
        1 => Just(Fact::RunEnded),
    ]
    .boxed()
}
