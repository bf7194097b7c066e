//! Sections 15 and 16: how often something is tried in the same way, who looks into it, and what is tried after that.

use crate::desk::{implemented, planned, rejected, with_round};
use crate::script::{Script, of, spec};
use windlass_protocols::Role;
use windlass_protocols::effect::RoundWork;
use windlass_protocols::outcome::{AgentSession, StepEnd, Trouble, Usage};
use windlass_protocols::protocol::roadmap_rounds::facts::Fact as RoadmapFact;
use windlass_protocols::protocol::roadmap_rounds::plane::{Plane, RetryTarget, RoundStage};
use windlass_protocols::protocol::roadmap_rounds::spec::RoundLimits;
use windlass_protocols::protocol::roadmap_rounds::steps::{Mechanism, WorkKind};

const ROUND: &str = "round-001";

fn implementer() -> RoundWork {
    of(ROUND, WorkKind::Implement)
}

fn investigator() -> RoundWork {
    of(ROUND, WorkKind::Investigate { update: false })
}

fn failing(times: u32) -> Script {
    let script = Script::on(with_round(RoundStage::Implement, planned()));
    (0..times).fold(script, |script, _| script.fails(&implementer()))
}

fn mechanisms(script: &Script) -> Vec<Mechanism> {
    let tried = script.facts().filter_map(|fact| match fact {
        RoadmapFact::RetryDecided { mechanism, .. } => Some(*mechanism),
        _ => None,
    });
    tried.collect()
}

#[test]
fn a_failed_agent_is_asked_again_in_the_same_place_and_told_why() {
    let script = failing(1).asks(&[implementer()]);
    assert_eq!(mechanisms(&script), [Mechanism::SameHandle]);
    assert!(script.told(&implementer())[0].contains("exited with 1"));
    assert!(script.desk.plane.retry_noted);
    assert!(script.desk.plane.rounds[0].resume_error.is_some());
}

#[test]
fn the_third_failure_is_looked_into() {
    let script = failing(3).asks(&[investigator()]);
    assert_eq!(script.times("investigation-decided"), 1);
}

#[test]
fn what_the_investigator_advises_is_told_to_the_next() {
    let script = failing(3).diagnoses(&investigator(), false);
    assert!(script.told(&implementer()).contains(&"read again".to_owned()));
}

#[test]
fn after_the_investigation_a_fresh_agent_and_then_a_person() {
    let script = failing(3).diagnoses(&investigator(), false).fails(&implementer());
    assert_eq!(mechanisms(&script).last(), Some(&Mechanism::FreshAgent));
    script.fails(&implementer()).blocked_by("does not come to its end");
}

#[test]
fn another_adapter_is_asked_where_there_is_one() {
    let mut chained = spec();
    chained.place.fallbacks.insert(Role::Implementer, vec!["second".to_owned()]);
    let script = Script::with(chained, with_round(RoundStage::Implement, planned()));
    let script = (0..3).fold(script, |script, _| script.fails(&implementer()));
    let script = script.diagnoses(&investigator(), false).fails(&implementer());
    assert_eq!(mechanisms(&script).last(), Some(&Mechanism::OtherAdapter));
    assert_eq!(script.asked(&implementer()).agent.as_deref(), Some("second"));
}

#[test]
fn an_investigator_who_sees_nothing_lawful_ends_it() {
    failing(3).diagnoses(&investigator(), true).blocked_by("nothing lawful left to try: it misreads");
}

#[test]
fn an_investigator_without_an_answer_is_no_reason_to_stand_still() {
    failing(3).fails(&investigator()).asks(&[implementer()]);
}

#[test]
fn a_fresh_agent_does_not_go_on_with_the_old_conversation() {
    let remembers = |script: Script| {
        script.reports(&implementer(), |report| {
            report.end = StepEnd::Exited { code: 1 };
            report.session = Some(AgentSession { id: "old".to_owned(), so_far: Usage::default() });
        })
    };
    let script = remembers(failing(0));
    assert!(script.asked(&implementer()).session.is_some());
    let script = remembers(remembers(script)).diagnoses(&investigator(), false);
    let script = remembers(script);
    assert_eq!(script.asked(&implementer()).session, None);
}

#[test]
fn unreadable_files_go_back_once_and_then_up_the_ladder() {
    let script = Script::on(with_round(RoundStage::Implement, planned()));
    let spoils = |script: Script| {
        script.leaves(&implementer(), |desk| {
            desk.round(ROUND).evidence.notes_faults = vec!["notes: no tests".to_owned()];
        })
    };
    let script = spoils(script);
    assert_eq!(script.told(&implementer()), ["notes: no tests"]);
    let script = spoils(script);
    assert_eq!((script.times("repair-asked"), mechanisms(&script).len()), (1, 1));
}

#[test]
fn too_many_rejections_are_a_pattern_that_is_looked_into_once() {
    let mut script = Script::on(with_round(RoundStage::Review, implemented()));
    for _ in 0..3 {
        script = script.reviews(ROUND, rejected(RetryTarget::Implement)).implements(ROUND);
    }
    let script = script.reviews(ROUND, rejected(RetryTarget::Implement)).asks(&[investigator()]);
    let script = script.diagnoses(&investigator(), false).stands_at(ROUND, RoundStage::Implement);
    let told = script.told(&implementer());
    assert!(told.contains(&"read again".to_owned()), "{told:?}");
    let script = script.implements(ROUND).reviews(ROUND, rejected(RetryTarget::Implement));
    script.blocked_by("rejected 5 times, last: name it better");
}

#[test]
fn a_roadmaps_own_limits_count() {
    let limits = RoundLimits { same_mechanism: 1, review_cycles: 1, update_rejections: 1 };
    let tight = Plane { limits, ..with_round(RoundStage::Review, implemented()) };
    let script = Script::on(tight).reviews(ROUND, rejected(RetryTarget::Implement)).implements(ROUND);
    script.reviews(ROUND, rejected(RetryTarget::Implement)).asks(&[investigator()]);
}

#[test]
fn a_limit_of_the_provider_is_waited_for_and_no_failure() {
    let script = failing(0).has(&implementer(), Trouble::Limited { until: None, why: "later".to_owned() });
    assert_eq!((script.waiting(), script.times("retry-decided")), (vec!["wait"], 0));
}

#[test]
fn nobody_who_can_be_started_blocks_the_round_with_the_reason() {
    let script = failing(0).has(&implementer(), Trouble::Misconfigured { why: "no key".to_owned() });
    script.blocked_by("could not be started: no key");
}

#[test]
fn a_lost_agent_is_asked_again_but_not_for_ever() {
    let script = (0..4).fold(failing(0), |script, _| script.loses("run-agent").keep_house());
    let script = script.asks(&[implementer()]).loses("run-agent").keep_house();
    script.blocked_by("nobody ever saw the end of this step");
}
