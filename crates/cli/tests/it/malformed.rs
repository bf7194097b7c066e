//! What an agent can leave where its answer is expected, in all five loops, and the typed end each of it comes to: asked once
//! more, then a rejected round or a person; the thing itself kept, within bounded memory, and never a pass.

mod shapes;

use crate::crash_points::is_campaign;
use crate::scene::{Played, Scene, assert_strict_layout};
use crate::seeded;
use crate::under_attack::{Answer, Attacked, Ended, Loop};
use shapes::{Expected, Shape};
use std::path::Path;
use windlass_artifact_formats::task_loop::RunKind;
use windlass_test_support::{Script, When};

/// All that there are.
const CASES: usize = 401;
/// Of the other loops each answer is left in so many shapes for every change: every so-manieth, each answer begins elsewhere.
/// A campaign leaves them all.
const APART: usize = 6;

fn shapes_of(answer: Answer) -> Vec<Shape> {
    // One that waits for a writer hangs whoever opens it carelessly: always.
    let mine = |(number, shape): &(usize, Shape)| {
        (number + answer as usize).is_multiple_of(APART) || *shape == Shape::Pipe
    };
    let all = is_campaign() || answer.of() == Loop::Task;
    Shape::ALL.into_iter().enumerate().filter(|one| all || mine(one)).map(|(_, shape)| shape).collect()
}

/// Leaves it whenever it is asked, and looks at all that came of it; whether there is such a thing.
fn survives(answer: Answer, shape: Shape) -> bool {
    let mut attacked = Attacked::about(answer);
    let Some(actions) = shape.left(&attacked) else { return false };
    attacked.instead(answer, &actions);
    let means: &[&str] = if shape == Shape::UnreadableMode { &WITHOUT_PRIVILEGES } else { &[] };
    let ended = attacked.run_under(means);
    let is_json = attacked.sound().is_json();
    match shape.expected(answer, is_json) {
        Expected::Read => assert_eq!(ended.code, 0, "{:#}", ended.outcome),
        Expected::Either => {}
        Expected::Refused(words) => is_refused(&attacked, &ended, (answer, shape), words),
    }
    // Whatever was accepted was accepted in the end, and the other way round.
    assert_eq!(ended.code == 0, !attacked.let_through().is_empty(), "{:?}", attacked.let_through());
    let _ = attacked.end(&[]);
    true
}

/// Root may read what nobody may; this gives that right away.
const WITHOUT_PRIVILEGES: [&str; 3] =
    ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"];

fn is_refused(attacked: &Attacked, ended: &Ended, (answer, shape): (Answer, Shape), words: &str) {
    assert!(ended.log.contains(words), "{words:?} is not in {}", ended.log);
    if !answer.only_tells() {
        let code = if matches!(answer, Answer::Handoff | Answer::StoryHandoff) { 10 } else { 11 };
        assert_eq!(ended.code, code, "{:#}", ended.outcome);
    }
    if answer.of() == Loop::Task {
        let run_dir = ended.outcome["run_dir"].as_str().expect("an outcome names its directory");
        assert_strict_layout(Path::new(run_dir), RunKind::Real);
    }
    let sound = attacked.sound();
    let is_there = !matches!(shape, Shape::Nothing | Shape::WrongCaseOfItsName);
    if sound.is_in_outbox() && is_there {
        assert!(!attacked.left_in_outboxes(sound.name()).is_empty(), "what was left is kept");
    }
}

/// Every shape whose turn it is; one that fails does not hide the others.
fn survives_every_shape(answer: Answer) {
    let mut failures = Vec::new();
    for shape in shapes_of(answer) {
        if let Err(why) = seeded::survived(|| survives(answer, shape)) {
            failures.push(format!("{answer:?} {shape:?}: {why}"));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

macro_rules! answers {
    ($($name:ident = $answer:ident;)+) => {
        $(#[test]
        fn $name() {
            survives_every_shape(Answer::$answer);
        })+
    };
}

answers! {
    a_doers_handoff = Handoff;
    a_judges_verdict = Verdict;
    an_auditors_audit = Audit;
    a_controllers_decision = Decision;
    an_actuators_report = ActionReport;
    a_sensors_reading = Reading;
    a_planners_design = Design;
    a_builders_report = BuildReport;
    an_evaluators_grades = Evaluation;
    a_rounds_plan = Plan;
    a_rounds_plan_record = PlanRecord;
    an_implementers_notes = Notes;
    a_rounds_review = Review;
    a_rounds_review_record = ReviewRecord;
    a_storys_handoff = StoryHandoff;
    a_storys_verdict = StoryVerdict;
}

#[test]
fn a_malformed_file_is_kept_byte_for_byte_as_evidence() {
    let scene = Scene::new();
    let script =
        Script::that_passes().judge(When::Round(1), &["{ artifact = 'verdict.json', text = 'PASS' }"]);
    let played: Played = scene.play(&script, &["--rounds", "1"]).exits_with(11);
    let as_left: Vec<String> =
        played.sealed().into_iter().filter(|name| name == "verdict.json.as-left").collect();
    // Found after each of two attempts, and shown to the second one.
    assert_eq!(as_left.len(), 3);
    let run = played.run();
    let shown = scene.world.windlass(&["show", run, "--json"]).exits_with(0).json();
    let artifacts = shown["artifacts"].as_array().unwrap();
    let kept = artifacts.iter().find(|artifact| artifact["name"] == "verdict.json.as-left").unwrap();
    assert_eq!(std::fs::read(kept["path"].as_str().unwrap()).unwrap(), b"PASS");
}

#[test]
fn the_table_has_as_many_cases_as_the_page_about_reliability_says() {
    let of = |answer| {
        let attacked = Attacked::about(answer);
        Shape::ALL.into_iter().filter(|shape| shape.left(&attacked).is_some()).count()
    };
    let cases: usize = Answer::ALL.into_iter().map(of).sum();
    let everyday: usize = Answer::ALL.into_iter().map(|answer| shapes_of(answer).len()).sum();
    assert_eq!((cases, is_campaign() || everyday < 200), (CASES, true), "{everyday}");
}
