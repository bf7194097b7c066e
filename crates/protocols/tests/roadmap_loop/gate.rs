//! A round that changes what measures it: it is merged only when the checks pass without that too, and when its reviewer or a
//! person has waived every finding by its name.

use crate::desk::{approved, direct, implemented, planned, reviewed, with_round};
use crate::script::{Script, is_finalizing, of, spec};
use windlass_protocols::effect::Effect;
use windlass_protocols::inbox::waiting;
use windlass_protocols::kernel::gate::{
    FindingName, GateFinding, GateReport, GateRules, Integrity, OnFindings, PathKind, Touch, TouchedPath,
    Waiver,
};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::{Outcome, Usage};
use windlass_protocols::protocol::roadmap_rounds::facts::{Fact as RoadmapFact, Why};
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, Evidence, Plane, ReviewSeen, RoundStage,
};
use windlass_protocols::protocol::roadmap_rounds::spec::RoadmapSpec;
use windlass_protocols::protocol::roadmap_rounds::steps::WorkKind;
use windlass_protocols::{Observation, Rejection};

const ROUND: &str = "round-001";
const SKIPPED: FindingName = FindingName::TestSkipped;
const OWN_TESTS: FindingName = FindingName::PassesOnlyWithItsOwnTests;

fn gated() -> RoadmapSpec {
    let mut spec = spec();
    spec.checks = vec!["make test".to_owned()];
    spec.place.gate = GateRules { integrity: Integrity::Full, ..GateRules::default() };
    spec
}

fn asking() -> RoadmapSpec {
    let mut spec = gated();
    spec.place.gate.on_findings = OnFindings::Ask;
    spec
}

fn finding(kind: FindingName) -> GateFinding {
    GateFinding { kind, about: vec!["tests/a.sh".to_owned()] }
}

fn touched(how: Touch) -> TouchedPath {
    TouchedPath { path: "tests/a.sh".to_owned(), kind: PathKind::Test, how }
}

fn approving(waived: &[FindingName]) -> ReviewSeen {
    let ReviewSeen::Approved { closeout, artifact, .. } = approved("r1", CloseoutMode::StatusOnly) else {
        unreachable!("an approval is one")
    };
    let by_name = |finding: &FindingName| Waiver { finding: *finding, reason: "as asked".to_owned() };
    ReviewSeen::Approved { closeout, artifact, waivers: waived.iter().map(by_name).collect() }
}

/// A round at its review that skips a test.
fn skipping(spec: RoadmapSpec, evidence: Evidence, stage: RoundStage) -> Script {
    measuring(spec, with_round(stage, evidence), vec![touched(Touch::Modified)], vec![finding(SKIPPED)])
}

fn measuring(spec: RoadmapSpec, plane: Plane, paths: Vec<TouchedPath>, found: Vec<GateFinding>) -> Script {
    let mut script = Script::unprepared(spec, plane);
    script.measures = (paths, found);
    script.keep_house()
}

fn inspected(script: Script, kinds: &[FindingName]) -> Script {
    ran(script, kinds, Vec::new())
}

/// What the checks say, where these are red on the round as it is.
fn ran(mut script: Script, kinds: &[FindingName], red: Vec<String>) -> Script {
    let (effect, request) = script.expect("inspection", |request| matches!(request, Effect::InspectGate(_)));
    let Effect::InspectGate(asked) = request else { unreachable!("looked for it") };
    let report = GateReport {
        tree: asked.tree,
        ran_with_base: asked.commands.into_iter().filter(|command| !red.contains(command)).collect(),
        findings: kinds.iter().map(|kind| finding(*kind)).collect(),
        new_tests: Vec::new(),
        evidence: Vec::new(),
        usage: Usage::default(),
        red,
    };
    script.answer(effect, Outcome::GateInspected(Box::new(report)));
    script.keep_house()
}

fn at_review(spec: RoadmapSpec, kinds: &[FindingName]) -> Script {
    inspected(skipping(spec, implemented(), RoundStage::Review), kinds)
}

fn waive(finding: FindingName) -> Observation {
    Observation::PersonSaid { word: Word::Waive(Waiver { finding, reason: "as asked".to_owned() }) }
}

/// The findings it was sent back over.
fn sent_back(script: &Script) -> Vec<FindingName> {
    let last = script.facts().filter_map(|fact| match fact {
        RoadmapFact::StageDecided { why: Why::NotWaived { findings }, .. } => Some(findings),
        _ => None,
    });
    last.last().expect("it was sent back").iter().map(|finding| finding.kind).collect()
}

#[test]
fn a_round_that_leaves_its_measures_alone_is_looked_at_once_and_nothing_is_run() {
    let script = measuring(gated(), with_round(RoundStage::Review, implemented()), Vec::new(), Vec::new());
    let script = script.reviews(ROUND, approving(&[]));
    script.expect("merge", is_finalizing);
    assert_eq!((script.requests("look-at-gate"), script.requests("inspect-gate")), (1, 0));
}

#[test]
fn the_checks_run_without_what_the_round_changed_before_its_reviewer_is_asked() {
    let script = skipping(gated(), implemented(), RoundStage::Review).asks(&[]);
    let (_, request) = script.expect("inspection", |request| matches!(request, Effect::InspectGate(_)));
    let Effect::InspectGate(asked) = request else { unreachable!("looked for it") };
    assert_eq!((asked.commands, asked.unmeasured), (vec!["make test".to_owned()], true));
    let script = inspected(script, &[]).asks(&[of(ROUND, WorkKind::Review)]);
    let script = script.reviews(ROUND, approving(&[SKIPPED]));
    script.expect("merge", is_finalizing);
    assert_eq!(script.requests("look-at-gate"), 1, "a reviewer's own files change nothing");
}

#[test]
fn nothing_is_run_without_checks_and_nothing_is_looked_at_where_it_is_off() {
    let mut without = gated();
    without.checks.clear();
    let script = skipping(without, implemented(), RoundStage::Review).asks(&[of(ROUND, WorkKind::Review)]);
    assert_eq!(sent_back(&script.reviews(ROUND, approving(&[]))), [SKIPPED], "what was read counts");
    let script = skipping(spec(), implemented(), RoundStage::Review).reviews(ROUND, approving(&[]));
    script.expect("merge", is_finalizing);
    assert_eq!(script.requests("look-at-gate"), 0);
}

#[test]
fn an_approval_over_an_open_finding_is_a_rejection_with_the_findings_as_its_reason() {
    let script = at_review(gated(), &[OWN_TESTS]).reviews(ROUND, approving(&[SKIPPED]));
    assert_eq!(sent_back(&script), [OWN_TESTS], "one of the two was waived");
    let implementer = of(ROUND, WorkKind::Implement);
    let script = script.stands_at(ROUND, RoundStage::Implement).asks(std::slice::from_ref(&implementer));
    let told = script.told(&implementer).join("\n");
    assert!(told.contains("passes-only-with-its-own-tests"), "{told}");
    // It is put back: what it holds then is looked at anew, and nothing has to be waived.
    let mut script = script;
    script.measures = (Vec::new(), Vec::new());
    let script = script.implements(ROUND).reviews(ROUND, approving(&[]));
    script.expect("merge", is_finalizing);
}

#[test]
fn a_waiver_without_a_reason_or_of_another_name_counts_for_nothing() {
    let other = at_review(gated(), &[]).reviews(ROUND, approving(&[FindingName::CiChanged]));
    assert_eq!(sent_back(&other), [SKIPPED]);
    let ReviewSeen::Approved { closeout, artifact, mut waivers } = approving(&[SKIPPED]) else {
        unreachable!()
    };
    waivers[0].reason = " ".to_owned();
    let silent = ReviewSeen::Approved { closeout, artifact, waivers };
    assert_eq!(sent_back(&at_review(gated(), &[]).reviews(ROUND, silent)), [SKIPPED]);
}

#[test]
fn whoever_never_waives_ends_with_a_person() {
    let mut script = at_review(gated(), &[]);
    for _ in 0..=4 {
        script = script.reviews(ROUND, approving(&[]));
        if script.state().end.is_some() {
            break;
        }
        script = inspected(script.implements(ROUND), &[]);
    }
    script.blocked_by("nobody waives what was found about its gate");
}

#[test]
fn what_another_controller_left_approved_is_held_to_it_too() {
    let lies = reviewed(approving(&[]));
    let script = inspected(skipping(gated(), lies, RoundStage::FinalizeRound), &[]);
    assert_eq!(sent_back(&script), [SKIPPED]);
    let _ = script.asks(&[of(ROUND, WorkKind::Implement)]);
    let waived = reviewed(approving(&[SKIPPED]));
    let script = inspected(skipping(gated(), waived, RoundStage::FinalizeRound), &[]);
    script.expect("merge", is_finalizing);
}

#[test]
fn a_simple_round_has_nobody_to_waive_anything_and_is_planned_for_others() {
    let mut evidence = planned();
    evidence.plan = Some(direct("d1"));
    let script = skipping(gated(), evidence, RoundStage::FinalizeRound);
    let script = inspected(script, &[]);
    assert_eq!(sent_back(&script), [SKIPPED]);
    let _ = script.stands_at(ROUND, RoundStage::Plan).asks(&[of(ROUND, WorkKind::Plan)]);
}

#[test]
fn a_simple_round_is_run_whatever_it_touches_and_is_not_believed_over_red_checks() {
    let alone = || {
        let mut evidence = planned();
        evidence.plan = Some(direct("d1"));
        measuring(gated(), with_round(RoundStage::FinalizeRound, evidence), Vec::new(), Vec::new())
    };
    inspected(alone(), &[]).expect("merge", is_finalizing);
    let planner = of(ROUND, WorkKind::Plan);
    let script = ran(alone(), &[], vec!["make test".to_owned()]).stands_at(ROUND, RoundStage::Plan);
    let script = script.asks(std::slice::from_ref(&planner));
    let told = script.told(&planner).join("\n");
    assert!(told.contains("it does not pass `make test`"), "{told}");
}

#[test]
fn an_answer_that_says_nothing_of_a_check_is_none() {
    let mut script = skipping(gated(), implemented(), RoundStage::Review);
    let (effect, request) = script.expect("inspection", |request| matches!(request, Effect::InspectGate(_)));
    let Effect::InspectGate(asked) = request else { unreachable!("looked for it") };
    let report = |red: Vec<String>| {
        Outcome::GateInspected(Box::new(GateReport {
            tree: asked.tree.clone(),
            ran_with_base: Vec::new(),
            findings: Vec::new(),
            new_tests: Vec::new(),
            evidence: Vec::new(),
            usage: Usage::default(),
            red,
        }))
    };
    let refused = script.observe(Observation::EffectFinished { effect, outcome: report(Vec::new()) });
    assert!(refused.is_err(), "it was taken for a look");
    script.answer(effect, report(asked.commands.clone()));
    let _ = script.keep_house().asks(&[of(ROUND, WorkKind::Review)]);
}

#[test]
fn a_new_test_file_is_measured_with_the_base_too() {
    let plane = with_round(RoundStage::Review, implemented());
    let mut spec = gated();
    spec.place.gate.integrity = Integrity::Findings;
    let script = measuring(spec, plane, vec![touched(Touch::Added)], Vec::new()).asks(&[]);
    let script = inspected(script, &[OWN_TESTS]).reviews(ROUND, approving(&[]));
    assert_eq!(sent_back(&script), [OWN_TESTS]);
}

#[test]
fn a_person_is_asked_where_the_user_wants_that_and_a_waiver_merges_without_asking_anybody_again() {
    let held = || at_review(asking(), &[]).reviews(ROUND, approving(&[])).blocked_by("test-skipped");
    let mut script = held();
    let asked = waiting(script.run()).expect("it waits");
    assert_eq!(asked.commands[0], "windlass waive run-1 test-skipped --reason \"…\"");
    let refused = script.observe(waive(FindingName::CiChanged));
    assert!(matches!(refused, Err(Rejection::NotAsked { .. })), "{refused:?}");
    let agents = script.requests("run-agent");
    script.observe(waive(SKIPPED)).expect("it is open");
    let script = script.keep_house();
    script.expect("merge", is_finalizing);
    assert_eq!(script.requests("run-agent"), agents, "nobody was asked again");
    // Whoever goes on without waiving wants it put right.
    let script = held().reopened(0);
    assert_eq!(sent_back(&script), [SKIPPED]);
    let _ = script.asks(&[of(ROUND, WorkKind::Implement)]);
}

#[test]
fn nobody_can_waive_what_nobody_asked_about() {
    let mut script = at_review(gated(), &[]).stop_asked();
    script = script.reports(&of(ROUND, WorkKind::Review), |_| {}).ends(|_| true);
    let refused = script.observe(waive(SKIPPED));
    assert!(matches!(refused, Err(Rejection::NotAsked { .. })), "{refused:?}");
}

#[test]
fn two_rounds_are_not_inspected_in_one_place_at_once() {
    let mut plane = with_round(RoundStage::Review, implemented());
    plane.max_parallel = 2;
    let mut other = crate::desk::round("round-002", RoundStage::Review);
    other.evidence =
        Evidence { plan: Some(crate::desk::plan("M2", "D2")), notes: true, ..Evidence::default() };
    plane.rounds.push(other);
    let script = measuring(gated(), plane, vec![touched(Touch::Modified)], Vec::new());
    assert_eq!(script.waiting().iter().filter(|name| **name == "inspect-gate").count(), 1);
    let script = inspected(script, &[]);
    let script = inspected(script, &[]);
    let _ = script.asks(&[of(ROUND, WorkKind::Review), of("round-002", WorkKind::Review)]);
}
