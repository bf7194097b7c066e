//! Section 11: test runs of a user interface.

use crate::scene::{Scene, key, kind, project, uuid};
use windlass_protocols::protocol::story_queue::decide::Draft;
use windlass_protocols::protocol::story_queue::refusal::Kind;
use windlass_protocols::protocol::story_queue::ui_tests::{self, Finding, RunStatus, Severity};
use windlass_protocols::protocol::story_queue::vocabulary::{JsonText, KeyRole, ProjectId, UiTestId};

fn start(scene: &mut Scene) -> UiTestId {
    let begin =
        |draft: &mut Draft<'_>| ui_tests::start_run(draft, project(), "guide.md".into(), JsonText::default());
    scene.run(&key(KeyRole::Agent), begin).expect("the scene allows it")
}

fn finding(severity: Severity) -> Finding {
    Finding {
        step: "log in".into(),
        severity,
        kind: "crash".into(),
        description: "white page".into(),
        screenshot_path: None,
        console_errors: None,
    }
}

#[test]
fn a_run_takes_findings_until_it_is_over() {
    let mut scene = Scene::new();
    let agent = key(KeyRole::Agent);
    let run = start(&mut scene);
    for severity in [Severity::Critical, Severity::Low, Severity::Critical] {
        scene.run(&agent, |draft| ui_tests::add_finding(draft, project(), run, finding(severity))).unwrap();
    }
    let open =
        |draft: &mut Draft<'_>| ui_tests::complete_run(draft, project(), run, RunStatus::InProgress, None);
    assert_eq!(kind(scene.run(&agent, open)), Some(Kind::Invalid));
    let end = |draft: &mut Draft<'_>| {
        ui_tests::complete_run(draft, project(), run, RunStatus::Failed, Some("bad".into()))
    };
    scene.run(&agent, end).unwrap();
    let kept = &scene.ledger.ui_tests.runs[&run];
    assert_eq!((kept.status, kept.count(Severity::Critical), kept.findings.len()), (RunStatus::Failed, 2, 3));
    let late =
        scene.run(&agent, |draft| ui_tests::add_finding(draft, project(), run, finding(Severity::Low)));
    assert_eq!(kind(late), Some(Kind::Conflict));
    let twice =
        |draft: &mut Draft<'_>| ui_tests::complete_run(draft, project(), run, RunStatus::Passed, None);
    assert_eq!(kind(scene.run(&agent, twice)), Some(Kind::Conflict), "a failed run is not made to pass");
}

#[test]
fn a_run_is_found_only_in_its_project() {
    let mut scene = Scene::new();
    let run = start(&mut scene);
    let other = ProjectId(uuid(9));
    let elsewhere = scene
        .run(&key(KeyRole::User), |draft| ui_tests::add_finding(draft, other, run, finding(Severity::Low)));
    assert_eq!(kind(elsewhere), Some(Kind::NotFound));
    assert_eq!(scene.ledger.ui_tests.of_project(other).count(), 0);
    assert_eq!(scene.ledger.ui_tests.of_project(project()).count(), 1);
}

#[test]
fn a_guide_and_words_are_needed() {
    let mut scene = Scene::new();
    let agent = key(KeyRole::Agent);
    for guide in [String::new(), "x".repeat(1001)] {
        let begin = |draft: &mut Draft<'_>| ui_tests::start_run(draft, project(), guide, JsonText::default());
        assert_eq!(kind(scene.run(&agent, begin)), Some(Kind::Invalid));
    }
    let run = start(&mut scene);
    let blank = Finding { description: " ".into(), ..finding(Severity::High) };
    let refusal = scene.run(&agent, |draft| ui_tests::add_finding(draft, project(), run, blank)).unwrap_err();
    assert_eq!(refusal.details[0].0, "description");
}
