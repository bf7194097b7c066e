//! Whoever does something with the plane brings it along as it is afterwards. That spares a reading, as long as nothing else
//! happened meanwhile that the look may have missed.

use crate::desk::{approved, parallel};
use crate::script::{Script, of};
use windlass_protocols::effect::Effect;
use windlass_protocols::outcome::{Outcome, PlaneOutcome};
use windlass_protocols::protocol::roadmap_rounds::facts::Fact as RoadmapFact;
use windlass_protocols::protocol::roadmap_rounds::plane::{CloseoutMode, RoundStage};
use windlass_protocols::protocol::roadmap_rounds::steps::{PlaneStep, WorkKind};

const READ: &str = "read-plane";

fn looking(mut script: Script) -> Script {
    script.looks = true;
    script
}

fn whole_round(script: Script) -> Script {
    let script = script.plans("round-001", "D1").implements("round-001");
    script.reviews("round-001", approved("r-1", CloseoutMode::StatusOnly)).merges()
}

/// The agent of that work is back; what it left is not taken down yet.
fn comes_back(mut script: Script, round: &str, kind: WorkKind) -> Script {
    let (effect, request) = script.agent_id(&of(round, kind));
    let Effect::RunAgent(asked) = request else { unreachable!("looked for an agent") };
    script.answer(effect, Outcome::from(Script::sound(&asked)));
    script
}

/// Answers the first such step, with the plane as it is now if it is to look.
fn carries_out(mut script: Script, name: &str, look: bool) -> Script {
    let (effect, request) = script.expect(name, |request| request.name() == name);
    script.looks = look;
    let outcome = script.housework(&request);
    script.answer(effect, outcome);
    script
}

#[test]
fn a_round_is_read_once_for_each_thing_done_and_not_by_steps_of_its_own() {
    let plain = whole_round(Script::on(parallel(1)).marked());
    let looked = whole_round(looking(Script::on(parallel(1))).marked());
    assert!(plain.requests(READ) >= 8, "{}", plain.requests(READ));
    assert_eq!(looked.requests(READ), 0, "{:#?}", looked.names());
    assert_eq!(plain.times("plane-taken"), looked.times("plane-taken"));
    assert_eq!(plain.at_work(), looked.at_work());
}

#[test]
fn what_people_did_is_noticed_by_such_a_look_too() {
    let script = looking(Script::on(parallel(1))).plans("round-001", "D1");
    let script = comes_back(script, "round-001", WorkKind::Implement).marked();
    let script = script.edited(|desk| desk.round("round-001").stage = RoundStage::Plan).keep_house();
    let told = script.facts().any(|fact| match fact {
        RoadmapFact::PlaneTaken { noticed, .. } => noticed.iter().any(|line| line.contains("somebody set")),
        _ => false,
    });
    assert!(told, "{:#?}", script.names());
    script.asks(&[of("round-001", WorkKind::Plan)]);
}

#[test]
fn of_two_captures_at_once_neither_look_is_believed() {
    let script = looking(Script::on(parallel(2))).plans("round-001", "D1").plans("round-002", "D2");
    let script = comes_back(script, "round-001", WorkKind::Implement);
    let script = comes_back(script, "round-002", WorkKind::Implement).marked();
    let script = carries_out(script, "capture-work", true);
    assert_eq!((script.times("plane-taken"), script.requests(READ)), (0, 1), "{:#?}", script.names());
    let script = carries_out(script, "capture-work", true);
    assert_eq!(script.times("plane-taken"), 0, "{:#?}", script.names());
}

#[test]
fn a_capture_beside_a_step_of_the_controller_is_not_believed() {
    let script = writing_while_the_other_comes_back();
    let script = carries_out(script, "write-state", false);
    let script = carries_out(script, "capture-work", true);
    assert_eq!(script.times("plane-taken"), 0, "{:#?}", script.names());
}

#[test]
fn what_came_back_meanwhile_makes_a_look_old() {
    let script = carries_out(writing_while_the_other_comes_back(), "capture-work", true);
    let script = carries_out(script, "write-state", true);
    assert_eq!((script.times("plane-taken"), script.requests(READ)), (0, 1), "{:#?}", script.names());
}

/// The stage of the first round is being written when the second's agent is back and taken down.
fn writing_while_the_other_comes_back() -> Script {
    let mut script = Script::on(parallel(2)).plans("round-001", "D1").plans("round-002", "D2");
    script.desk.round("round-001").evidence.notes = true;
    let script = comes_back(script, "round-001", WorkKind::Implement);
    let script = carries_out(carries_out(script, "capture-work", false), READ, false);
    comes_back(script, "round-002", WorkKind::Implement).marked()
}

#[test]
fn a_look_comes_only_with_something_done() {
    let mut script = Script::on(parallel(1));
    script.desk.plane.base = windlass_protocols::CommitId::new("base-9");
    let script = comes_back(script, "round-001", WorkKind::Plan);
    let (_, request) = script.expect("capture", |request| request.name() == "capture-work");
    let Effect::Plane(step) = &request else { unreachable!("a capture is a step of the plane") };
    assert!(matches!(step, PlaneStep::CaptureWork(_)));
    let plane = Box::new(script.desk.plane.clone());
    for after in [PlaneOutcome::StateMoved, PlaneOutcome::Read(plane.clone())] {
        let looked = Outcome::Plane(PlaneOutcome::Looked { after: Box::new(after), plane: plane.clone() });
        assert!(!looked.fits(&request));
    }
}
