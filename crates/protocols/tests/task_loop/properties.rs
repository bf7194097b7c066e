//! What holds for every run, whatever happens to it: nothing panics, refusals change nothing, caps hold, replay is exact,
//! and good answers always lead to an end. `Script::observe` holds each step against replay and invariants.

use crate::generators::{cap_change, fact, landing, outcome, started, task_spec, tree, usage};
use crate::harness::words::{
    BASE, BASE_TREE, STEP, agent_report, audit, change, checks_report, finding, gate_report, handoff, lines,
    malformed, touching, verdict,
};
use crate::harness::{Script, said, start, stop};
use crate::people::word;
use proptest::prelude::*;
use windlass_protocols::effect::Effect;
use windlass_protocols::explain::explain;
use windlass_protocols::kernel::budget::{Budget, CapChange, Dimension};
use windlass_protocols::kernel::gate::FindingName;
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::{
    Answer, Audit, CapturedChange, LandedCommit, Outcome, StepEnd, Trouble, Usage, Verdict, WorkspaceAfter,
};
use windlass_protocols::protocol::feedback_control::facts::NewLimits;
use windlass_protocols::protocol::judged_task::spec::{Landing, TaskSpec};
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{CommitId, EffectId, Fact, Millis, Observation, Role, Run, TreeId, invariants};

/// What the world does next, before it is known what is waited for.
#[derive(Clone, Debug)]
enum Happening {
    /// The awaited step ends; the number says how well.
    Answer {
        how: u8,
        tree: TreeId,
        usage: Usage,
    },
    /// Any outcome at all for the awaited step.
    Stray(Outcome),
    /// Any outcome for any step.
    Late {
        effect: u64,
        outcome: Outcome,
    },
    Stop,
    Reopen {
        caps: CapChange,
        note: Option<String>,
    },
    Land(Landing),
    StartAgain(Box<TaskSpec>),
    Say(Word),
}

fn happening() -> BoxedStrategy<Happening> {
    prop_oneof![
        14 => (any::<u8>(), tree(), usage()).prop_map(|(how, tree, usage)| Happening::Answer { how, tree, usage }),
        1 => outcome().prop_map(Happening::Stray),
        1 => (0..40_u64, outcome()).prop_map(|(effect, outcome)| Happening::Late { effect, outcome }),
        1 => Just(Happening::Stop),
        2 => (cap_change(), proptest::option::of("[a-z]{1,5}"))
            .prop_map(|(caps, note)| Happening::Reopen { caps, note }),
        1 => landing().prop_map(Happening::Land),
        2 => word().prop_map(Happening::Say),
        1 => task_spec().prop_map(|spec| Happening::StartAgain(Box::new(spec))),
    ]
    .boxed()
}

fn doer_answer(how: u8) -> Answer {
    match how % 8 {
        0 => Answer::Missing,
        1 => malformed(&["not JSON"]),
        2 => Answer::Verdict(verdict("pass", &[])),
        3 => Answer::Handoff(handoff(&["RQ-001"])),
        _ => Answer::Handoff(handoff(&[])),
    }
}

fn checker_answer(role: Role, how: u8) -> Answer {
    let words = ["pass", "pass", "pass", "reject", "needs-human"];
    let feedback: &[&str] = &["- [check] why"];
    let word = words[usize::from(how) % words.len()];
    match (how % 7, role) {
        (0, _) => Answer::Missing,
        (1, _) => malformed(&["not JSON"]),
        (2, Role::Auditor) => Answer::Audit(Audit {
            contradictions: lines(&["policy.eval_commands says fail"]),
            ..audit("pass", &[])
        }),
        (2, _) => {
            Answer::Verdict(Verdict { requirements_missing: lines(&["RQ-001"]), ..verdict("pass", &[]) })
        }
        (_, Role::Auditor) => Answer::Audit(audit(word, feedback)),
        (_, _) => {
            Answer::Verdict(Verdict { requirements_checked: lines(&["RQ-001"]), ..verdict(word, feedback) })
        }
    }
}

fn trouble(how: u8) -> Option<Trouble> {
    let why = "of the provider".to_owned();
    match how % 23 {
        0 => Some(Trouble::Limited { until: Some(Millis(u64::from(how) * 100)), why }),
        1 => Some(Trouble::Limited { until: None, why }),
        2 => Some(Trouble::Unavailable { why }),
        3 => Some(Trouble::Misconfigured { why }),
        4 => Some(Trouble::Failed { why }),
        5 => Some(Trouble::CapPassed { dimension: Dimension::StepTokens }),
        6 => Some(Trouble::CapPassed { dimension: Dimension::DayMoney }),
        _ => None,
    }
}

/// An outcome that fits the request: well, badly, lost or interrupted.
fn fitting(request: &Effect, how: u8, tree: &TreeId, usage: Usage) -> Outcome {
    let works = matches!(request, Effect::RunAgent(_) | Effect::RunChecks(_));
    let usage = if works { usage } else { Usage::default() };
    match how {
        0..10 => {
            return Outcome::Lost { reason: "gone".to_owned(), usage };
        }
        10..20 => return Outcome::Interrupted { usage },
        20..25 if !works && !matches!(request, Effect::CloseRun(_) | Effect::Wait(_)) => {
            return Outcome::Refused { reason: "no".to_owned() };
        }
        _ => {}
    }
    match request {
        Effect::PrepareWorkspaces => {
            Outcome::Prepared { base: CommitId::new(BASE), base_tree: TreeId::new(BASE_TREE) }
        }
        Effect::RunChecks(asked) => {
            let red = [(asked.commands[0].as_str(), StepEnd::Exited { code: 1 }, "red")];
            let red = if how.is_multiple_of(4) { &red[..] } else { &[] };
            Outcome::ChecksRan(checks_report(request, red, usage))
        }
        Effect::InspectGate(_) => {
            let found = [FindingName::PassesOnlyWithItsOwnTests];
            let found = if how.is_multiple_of(3) { &found[..] } else { &[] };
            Outcome::GateInspected(Box::new(gate_report(request, found, usage)))
        }
        Effect::RunAgent(asked) => {
            let end = match how % 9 {
                0 => StepEnd::Exited { code: 1 },
                1 if how.is_multiple_of(2) => StepEnd::NotStarted { reason: "no such program".to_owned() },
                _ => StepEnd::Exited { code: 0 },
            };
            let answer = match asked.role {
                Role::Doer => doer_answer(how),
                Role::Judge | Role::Auditor => checker_answer(asked.role, how),
                Role::Sensor
                | Role::Controller
                | Role::Actuator
                | Role::Planner
                | Role::Builder
                | Role::Evaluator
                | Role::Implementer
                | Role::Reviewer
                | Role::Investigator => unreachable!("a role of another loop"),
            };
            let mut report = agent_report(asked.role, end, answer, usage);
            if how.is_multiple_of(11) {
                report.workspace = WorkspaceAfter::Changed { paths: lines(&["a"]) };
            }
            report.trouble = trouble(how);
            Outcome::from(report)
        }
        Effect::CaptureChange { round } => Outcome::ChangeCaptured(CapturedChange {
            hazards: if how.is_multiple_of(13) { lines(&["a link out"]) } else { Vec::new() },
            gate: if how.is_multiple_of(5) { vec![finding(FindingName::TestDeleted)] } else { Vec::new() },
            ..if how.is_multiple_of(2) {
                touching(*round, tree.as_str())
            } else {
                change(*round, tree.as_str())
            }
        }),
        Effect::LandChange(asked) => Outcome::Landed(LandedCommit {
            commit: CommitId::new("landed-commit"),
            tree: asked.tree.clone(),
            reference: "refs/heads/main".to_owned(),
        }),
        Effect::Wait(_) => Outcome::Waited,
        Effect::CloseRun(_) => Outcome::Closed,
        Effect::Measure(_)
        | Effect::CommitIteration(_)
        | Effect::ReadQueue { .. }
        | Effect::RunSuite(_)
        | Effect::CommitItem(_)
        | Effect::Plane(_) => unreachable!("a step of another loop"),
    }
}

fn observation(run: &Run, happening: &Happening) -> Observation {
    let waiting = run.unsettled.iter().next();
    match (happening, waiting) {
        (Happening::Answer { how, tree, usage }, Some((effect, request))) => {
            Observation::EffectFinished { effect: *effect, outcome: fitting(request, *how, tree, *usage) }
        }
        (Happening::Stray(outcome), Some((effect, _))) if !outcome_overspends(run, outcome) => {
            Observation::EffectFinished { effect: *effect, outcome: outcome.clone() }
        }
        (Happening::Late { effect, outcome }, _) if !run.unsettled.contains_key(&EffectId(*effect)) => {
            Observation::EffectFinished { effect: EffectId(*effect), outcome: outcome.clone() }
        }
        (Happening::Reopen { caps, note }, _) => {
            Observation::Reopened { caps: *caps, note: note.clone(), limits: NewLimits::default() }
        }
        (Happening::Land(landing), _) => Observation::LandingRequested { landing: landing.clone() },
        (Happening::Say(word), _) => said(word.clone()),
        (Happening::StartAgain(spec), _) => start(TaskSpec::clone(spec)),
        (Happening::Answer { .. }, None) => Observation::Reopened {
            caps: CapChange { more_rounds: 1, ..CapChange::default() },
            note: None,
            limits: NewLimits::default(),
        },
        (Happening::Stray(_) | Happening::Late { .. } | Happening::Stop, _) => stop(),
    }
}

/// Only working steps use anything up; a stray answer that says otherwise would blur what a cap means.
fn outcome_overspends(run: &Run, outcome: &Outcome) -> bool {
    let works =
        run.unsettled.values().any(|request| matches!(request, Effect::RunAgent(_) | Effect::RunChecks(_)));
    !works && outcome.usage() != Usage::default()
}

fn budget(run: &Run) -> Option<&Budget> {
    run.started.as_ref().map(|started| &started.budget)
}

/// No cap is passed by more than the one step that was under way when it was reached.
fn caps_hold(run: &Run, last_charge: Usage) {
    let Some(Budget { caps, used }) = budget(run) else { return };
    let dimensions = [
        (used.duration.0, caps.time.map(|time| time.0), last_charge.duration.0),
        (used.tokens, caps.tokens, last_charge.tokens),
        (used.cost_micros, caps.cost_micros, last_charge.cost_micros),
        (used.output_bytes, caps.output_bytes, last_charge.output_bytes),
    ];
    for (used, cap, charge) in dimensions {
        let Some(cap) = cap else { continue };
        assert!(used <= cap.saturating_add(charge), "{used} of {cap} used, the last step {charge}");
    }
}

/// Plays the happenings; returns the script and the charge of the last step that began within all caps.
fn play(spec: TaskSpec, happenings: &[Happening]) -> Option<Script> {
    let mut script = Script::unborn();
    script.observe(start(spec)).ok()?;
    let mut last_charge = Usage::default();
    for happening in happenings {
        let observation = observation(script.run(), happening);
        let charge = match &observation {
            Observation::EffectFinished { outcome, .. } => outcome.usage(),
            _ => Usage::default(),
        };
        let charged = script.observe(observation).is_ok() && charge != Usage::default();
        if charged {
            last_charge = charge;
        }
        caps_hold(script.run(), last_charge);
        let begins = script.run().unsettled.values().any(|request| {
            matches!(request, Effect::RunAgent(_) | Effect::RunChecks(_) | Effect::CaptureChange { .. })
        });
        let exhausted = budget(script.run()).and_then(Budget::exhausted);
        assert!(!begins || exhausted.is_none(), "a step began with nothing left of {exhausted:?}");
        assert!(!explain(script.run()).now.is_empty());
    }
    Some(script)
}

fn answer_well(script: Script) -> Script {
    if matches!(script.waiting(), Effect::Wait(_)) {
        return script.answer(Outcome::Waited);
    }
    match script.state().stage {
        Stage::Preparing => script.prepared(),
        Stage::Baseline | Stage::Checking | Stage::AuditChecking => script.checks_pass(),
        Stage::Inspecting => script.gate_shows(&[]),
        Stage::Doing => script.doer_answers(&[]),
        Stage::Capturing => {
            let handed = script.state().handed_back.as_ref().map(|tree| tree.as_str().to_owned());
            let tree = handed.unwrap_or_else(|| format!("good-tree-{}", script.state().round));
            script.captured(&tree)
        }
        Stage::Judging => {
            let touched = script.state().handoff.clone().map(|handoff| handoff.requirements_touched);
            script.judge_says(Verdict {
                requirements_checked: touched.unwrap_or_default(),
                ..verdict("pass", &[])
            })
        }
        Stage::Auditing => script.auditor("pass", &[]),
        Stage::Landing => script.landed(),
        Stage::Closing => script.closed(),
    }
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_fact_survives_being_stored(fact in fact()) {
        let line = serde_json::to_string(&fact).expect("facts are always writable");
        prop_assert!(!line.contains('\n'), "one fact is one line");
        let read: Fact = serde_json::from_str(&line).expect("what was written is read");
        prop_assert_eq!(read, fact);
    }

    #[test]
    fn any_journal_at_all_is_folded_checked_and_explained(
        first in prop_oneof![fact(), started()],
        rest in proptest::collection::vec(fact(), 0..40),
    ) {
        let facts: Vec<Fact> = std::iter::once(first).chain(rest).collect();
        let mut run = Run::default();
        for (position, fact) in facts.iter().enumerate() {
            run.evolve(fact);
            prop_assert_eq!(run.version, position as u64 + 1);
            prop_assert!(!explain(&run).now.is_empty());
        }
        prop_assert_eq!(&run, &Run::replay(&facts));
        let _sentences = invariants::violations(&facts);
    }

    #[test]
    fn no_run_breaks_a_rule_whatever_happens_to_it(
        spec in task_spec(),
        happenings in proptest::collection::vec(happening(), 0..60),
    ) {
        play(spec, &happenings);
    }

    #[test]
    fn good_answers_lead_every_run_to_its_end(
        spec in task_spec(),
        happenings in proptest::collection::vec(happening(), 0..30),
    ) {
        if let Some(mut script) = play(spec, &happenings) {
            script = script.each_step_uses(Usage { tokens: 1, ..STEP });
            let mut steps = 0;
            while !script.run().ended {
                script = answer_well(script);
                steps += 1;
                prop_assert!(steps < 30, "the run does not end");
            }
            // People may have said something since.
            let last = script.facts().iter().map(Fact::name).rfind(|name| *name != "person-said");
            prop_assert_eq!(last, Some("run-ended"));
        }
    }
}
