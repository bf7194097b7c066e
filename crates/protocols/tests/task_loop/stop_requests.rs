//! Somebody asks to stop: what is under way may end, nothing new begins, and the run can be taken up where it stood.

use crate::harness::words::{AUDIT_CHECK, CHECK, full_spec, going_on};
use crate::harness::{NO_MORE, Script, accepted, stop, stopped_by_ada};
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{Rejection, Role};

/// Answers the step that is waited for as well as it can be answered.
fn succeeds(script: Script) -> Script {
    match script.state().stage {
        Stage::Preparing => script.prepared(),
        Stage::Baseline | Stage::Checking | Stage::AuditChecking => script.checks_pass(),
        Stage::Inspecting => script.gate_shows(&[]),
        Stage::Doing => script.doer_answers(&[]),
        Stage::Capturing => script.captured("tree-1"),
        Stage::Judging => script.judge("pass", &[]),
        Stage::Auditing => script.auditor("pass", &[]),
        Stage::Landing => script.landed(),
        Stage::Closing => script.closed(),
    }
}

const BEFORE_ACCEPTANCE: [(Stage, Stage, &str); 7] = [
    (Stage::Preparing, Stage::Baseline, "needs-human/not-run/not-run/0"),
    (Stage::Baseline, Stage::Doing, "needs-human/not-run/not-run/0"),
    (Stage::Doing, Stage::Capturing, "needs-human/not-run/not-run/0"),
    (Stage::Capturing, Stage::Checking, "needs-human/not-run/not-run/0"),
    (Stage::Checking, Stage::Judging, "needs-human/not-run/not-run/0"),
    (Stage::Judging, Stage::AuditChecking, "needs-human/pass/not-run/0"),
    (Stage::AuditChecking, Stage::Auditing, "needs-human/pass/not-run/0"),
];

#[test]
fn a_stop_alone_settles_nothing_and_requests_nothing() {
    for (stage, ..) in BEFORE_ACCEPTANCE {
        let script = Script::at(stage, full_spec());
        let waiting = script.waiting_id();
        let script = script.stop_asked().decides(&["stop-asked"]).waits_in(stage);
        assert_eq!(script.waiting_id(), waiting);
    }
}

#[test]
fn the_step_under_way_may_end_and_nothing_new_begins() {
    for (stage, _, summary) in BEFORE_ACCEPTANCE {
        let script = succeeds(Script::at(stage, full_spec()).stop_asked());
        script.ends(&stopped_by_ada(), summary);
    }
}

#[test]
fn a_stopped_run_goes_on_with_the_step_it_did_not_begin() {
    for (stage, next, summary) in BEFORE_ACCEPTANCE {
        let mut script = succeeds(Script::at(stage, full_spec()).stop_asked())
            .ends(&stopped_by_ada(), summary)
            .reopened(NO_MORE, None)
            .waits_in(next);
        while script.state().stage != Stage::Closing {
            script = succeeds(script);
        }
        script.ends(&accepted("tree-1"), "pass/pass/pass/1");
    }
}

#[test]
fn an_interrupted_step_of_a_stopped_run_is_not_begun_again_and_charges_no_round() {
    let stages = [Stage::Baseline, Stage::Doing, Stage::Judging, Stage::Auditing];
    for stage in stages {
        let script = Script::at(stage, full_spec()).stop_asked().interrupted();
        assert_eq!(script.state().end, Some(stopped_by_ada()), "{stage:?}");
        assert_eq!(script.state().rounds_completed, 0);
        script.closed().reopened(NO_MORE, None).waits_in(stage);
    }
}

#[test]
fn a_lost_step_of_a_stopped_run_is_not_begun_again() {
    for stage in [Stage::Baseline, Stage::Doing, Stage::Judging, Stage::Auditing] {
        let script = Script::at(stage, full_spec()).stop_asked().lost();
        assert_eq!(script.state().end, Some(stopped_by_ada()), "{stage:?}");
    }
}

#[test]
fn a_rejected_round_of_a_stopped_run_has_no_successor_until_it_is_taken_up() {
    let rejected: [Script; 3] = [
        Script::at(Stage::Checking, full_spec()).stop_asked().check_is_red(CHECK, ""),
        Script::at(Stage::Judging, full_spec()).stop_asked().judge("reject", &["- no"]),
        Script::at(Stage::AuditChecking, full_spec()).stop_asked().check_is_red(AUDIT_CHECK, ""),
    ];
    for script in rejected {
        assert_eq!(script.state().end, Some(stopped_by_ada()));
        assert_eq!(script.state().rounds_completed, 1, "the round came to its own end");
        let feedback = script.state().feedback.clone();
        let script = script.closed().reopened(NO_MORE, None).asks(Role::Doer, 2, 1);
        assert_eq!(script.told_to_doer(), feedback);
    }
}

#[test]
fn a_malformed_answer_to_a_stopped_run_is_not_sent_back() {
    let script = Script::at(Stage::Judging, full_spec())
        .stop_asked()
        .agent_leaves(crate::harness::words::malformed(&["not JSON"]));
    assert_eq!(script.state().end, Some(stopped_by_ada()));
}

#[test]
fn a_person_who_is_needed_counts_more_than_a_stop() {
    let script = Script::at(Stage::Judging, full_spec()).stop_asked().judge("needs-human", &["- unclear"]);
    let cause = Cause::JudgeAsked;
    assert_eq!(script.state().end, Some(End::NeedsHuman { cause }));
}

#[test]
fn going_on_after_needs_human_is_still_stopped() {
    let script = Script::at_judge(going_on()).stop_asked().judge("needs-human", &["- unclear"]);
    assert_eq!(script.state().end, Some(stopped_by_ada()));
}

#[test]
fn what_was_accepted_is_brought_home_in_spite_of_a_stop() {
    for stage in [Stage::Auditing, Stage::Landing] {
        let script = succeeds(Script::at(stage, full_spec()).stop_asked());
        let script = if stage == Stage::Auditing { script.landed() } else { script };
        script.ends(&accepted("tree-1"), "pass/pass/pass/1");
    }
    Script::at(Stage::Closing, full_spec()).stop_asked().ends(&accepted("tree-1"), "pass/pass/pass/1");
}

#[test]
fn asking_twice_keeps_the_last_reason() {
    let mut script = Script::at(Stage::Doing, full_spec()).stop_asked();
    let later = windlass_protocols::Observation::StopRequested { reason: "fire".to_owned() };
    script.observe(later).expect("asking again is no mistake");
    let script = script.interrupted();
    let end = End::Stopped { by: "ada".to_owned(), reason: "fire".to_owned() };
    script.ends(&end, "needs-human/not-run/not-run/0");
}

#[test]
fn a_run_that_has_not_started_or_has_ended_cannot_be_stopped() {
    Script::unborn().refuses(stop(), &Rejection::NotStarted);
    Script::at(Stage::Closing, full_spec()).closed().refuses(stop(), &Rejection::AlreadyEnded);
}
