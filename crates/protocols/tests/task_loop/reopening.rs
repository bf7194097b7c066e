//! The ways back into an ended run: from every end, allowed or refused, and with what the run goes on.

use crate::harness::words::{BASE_TREE, audit, caps, full_spec, one_round, spec, verdict};
use crate::harness::{NO_MORE, ONE_MORE_ROUND, Script, accepted, reopen, stopped_by_ada};
use windlass_protocols::effect::Ask;
use windlass_protocols::kernel::attempts::MAX_LOST;
use windlass_protocols::outcome::{Answer, StepEnd};
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::spec::TaskSpec;
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{Rejection, Role, TreeId};

fn nothing(why: &str) -> Rejection {
    Rejection::NothingToReopen { why: why.to_owned() }
}

fn used_up() -> Rejection {
    nothing("all its rounds are used up; give it more")
}

fn not_there() -> StepEnd {
    StepEnd::NotStarted { reason: "no such program".to_owned() }
}

#[test]
fn a_run_that_has_not_started_or_not_ended_is_not_reopened() {
    Script::unborn().refuses(reopen(NO_MORE, None), &Rejection::NotStarted);
    for stage in [Stage::Preparing, Stage::Doing, Stage::Auditing, Stage::Closing] {
        Script::at(stage, full_spec()).refuses(reopen(ONE_MORE_ROUND, None), &Rejection::NotEnded);
    }
}

#[test]
fn what_was_accepted_is_not_reopened() {
    Script::at_auditor(spec())
        .auditor("pass", &[])
        .ends(&accepted("tree-1"), "pass/pass/pass/1")
        .refuses(reopen(ONE_MORE_ROUND, None), &nothing("the change was accepted"));
}

#[test]
fn what_was_accepted_and_could_not_be_landed_is_landed_not_reopened() {
    let why = "the change was accepted and only its landing was refused; land it instead";
    Script::at(Stage::Landing, full_spec())
        .refused("the branch moved")
        .closed()
        .refuses(reopen(ONE_MORE_ROUND, None), &nothing(why));
}

#[test]
fn a_rejected_run_needs_another_round_and_goes_on_with_what_was_said() {
    let script = Script::at_judge(one_round())
        .judge("reject", &["- too long"])
        .closed()
        .refuses(reopen(NO_MORE, Some("please")), &used_up())
        .reopened(ONE_MORE_ROUND, Some("two lines are enough"))
        .decides(&["run-reopened", "round-opened", "effect-requested"])
        .asks(Role::Doer, 2, 1);
    assert_eq!(script.told_to_doer(), ["- too long", "- [human] two lines are enough"]);
    script
        .doer_hands_over("tree-2")
        .judge("pass", &[])
        .auditor("pass", &[])
        .ends(&accepted("tree-2"), "pass/pass/pass/2");
}

#[test]
fn a_run_rejected_again_after_reopening_ends_rejected_again() {
    let script = Script::at_judge(one_round())
        .judge("reject", &["- no"])
        .closed()
        .reopened(ONE_MORE_ROUND, None)
        .doer_hands_over("tree-2")
        .judge("reject", &["- still no"]);
    let end = script.state().end.clone().expect("the run is concluded");
    script.ends(&end, "reject/reject/not-run/2").refuses(reopen(NO_MORE, None), &used_up());
}

#[test]
fn a_judge_that_asked_for_a_person_is_answered_with_a_new_round() {
    let script = Script::at_judge(one_round())
        .judge("needs-human", &["- which greeting?"])
        .closed()
        .refuses(reopen(NO_MORE, Some("the polite one")), &used_up())
        .reopened(ONE_MORE_ROUND, Some("the polite one"))
        .asks(Role::Doer, 2, 1);
    assert_eq!(script.told_to_doer(), ["- which greeting?", "- [human] the polite one"]);
}

#[test]
fn an_auditor_that_asked_for_a_person_is_answered_with_a_new_round() {
    Script::at_auditor(spec())
        .auditor("needs-human", &["- who signs?"])
        .closed()
        .reopened(NO_MORE, Some("I do"))
        .asks(Role::Doer, 2, 1);
}

#[test]
fn a_judge_without_a_readable_answer_is_asked_afresh_about_the_same_tree() {
    let script = Script::at_judge(one_round())
        .agent_leaves(Answer::Missing)
        .agent_leaves(Answer::Missing)
        .closed()
        .reopened(NO_MORE, None)
        .asks(Role::Judge, 1, 3);
    assert!(matches!(script.asked().ask, Ask::Fresh { .. }));
    assert_eq!(script.asked().tree.as_ref().map(TreeId::as_str), Some("tree-1"));
    script.judge("pass", &[]).auditor("pass", &[]).ends(&accepted("tree-1"), "pass/pass/pass/1");
}

#[test]
fn an_auditor_without_a_readable_answer_is_asked_afresh_and_the_verdict_stands() {
    Script::at_auditor(one_round())
        .agent_leaves(Answer::Missing)
        .agent_leaves(Answer::Missing)
        .closed()
        .reopened(NO_MORE, None)
        .asks(Role::Auditor, 1, 3)
        .auditor("pass", &[])
        .ends(&accepted("tree-1"), "pass/pass/pass/1");
}

#[test]
fn a_judge_that_wrote_is_asked_afresh() {
    Script::at_judge(one_round())
        .agent_writes(Answer::Verdict(verdict("pass", &[])), &["a"])
        .closed()
        .reopened(NO_MORE, None)
        .asks(Role::Judge, 1, 2);
}

#[test]
fn an_auditor_that_wrote_is_asked_afresh() {
    Script::at_auditor(one_round())
        .agent_writes(Answer::Audit(audit("pass", &[])), &["a"])
        .closed()
        .reopened(NO_MORE, None)
        .asks(Role::Auditor, 1, 2);
}

#[test]
fn a_program_that_was_not_there_is_asked_again_in_the_same_round() {
    for role in [Role::Doer, Role::Judge, Role::Auditor] {
        let script = match role {
            Role::Doer => Script::at_doer(one_round()),
            Role::Judge => Script::at_judge(one_round()),
            _ => Script::at_auditor(one_round()),
        };
        script.agent_ends(not_there(), Answer::Missing).closed().reopened(NO_MORE, None).asks(role, 1, 2);
    }
}

#[test]
fn a_checker_that_kept_failing_is_asked_again_with_all_its_tries() {
    for role in [Role::Judge, Role::Auditor] {
        let script = match role {
            Role::Auditor => Script::at_auditor(one_round()),
            _ => Script::at_judge(one_round()),
        };
        script
            .agent_exits(1)
            .agent_exits(1)
            .agent_exits(1)
            .closed()
            .reopened(NO_MORE, None)
            .asks(role, 1, 4)
            .agent_exits(1)
            .agent_exits(1)
            .asks(role, 1, 6);
    }
}

#[test]
fn a_doer_that_kept_failing_gets_three_more_rounds_if_it_has_them() {
    let roomy = TaskSpec { caps: caps(6), ..spec() };
    Script::at_doer(roomy)
        .agent_exits(1)
        .agent_exits(1)
        .agent_exits(1)
        .closed()
        .reopened(NO_MORE, None)
        .asks(Role::Doer, 4, 1)
        .agent_exits(1)
        .agent_exits(1)
        .asks(Role::Doer, 6, 1);
}

#[test]
fn a_doer_that_kept_failing_in_its_last_rounds_needs_more_of_them() {
    Script::at_doer(spec())
        .agent_exits(1)
        .agent_exits(1)
        .agent_exits(1)
        .closed()
        .refuses(reopen(NO_MORE, None), &used_up())
        .reopened(ONE_MORE_ROUND, None)
        .asks(Role::Doer, 4, 1);
}

#[test]
fn a_lost_step_is_asked_for_again_where_it_was() {
    let stages = [Stage::Preparing, Stage::Baseline, Stage::Capturing, Stage::AuditChecking];
    for stage in stages {
        let mut script = Script::at(stage, full_spec());
        for _ in 0..=MAX_LOST {
            script = script.lost();
        }
        script.closed().reopened(NO_MORE, None).waits_in(stage);
    }
}

#[test]
fn a_stuck_run_goes_on_with_a_new_round_and_a_word() {
    let roomy = TaskSpec { caps: caps(4), ..spec() };
    Script::at_judge(roomy)
        .judge("reject", &["- no"])
        .doer_hands_over("tree-1")
        .doer_hands_over("tree-1")
        .closed()
        .reopened(NO_MORE, Some("try something else"))
        .asks(Role::Doer, 4, 1);
}

#[test]
fn a_refused_snapshot_is_taken_again() {
    Script::at(Stage::Capturing, full_spec())
        .refused("disk full")
        .closed()
        .reopened(NO_MORE, None)
        .waits_in(Stage::Capturing);
}

#[test]
fn a_failed_setup_is_tried_again() {
    let end = End::SetupFailed { reason: "no room".to_owned() };
    Script::start(spec())
        .refused("no room")
        .ends(&end, "needs-human/not-run/not-run/0")
        .reopened(NO_MORE, None)
        .waits_in(Stage::Preparing)
        .prepared()
        .asks(Role::Doer, 1, 1);
}

#[test]
fn a_new_stop_is_needed_to_stop_a_reopened_run() {
    let script = Script::at_doer(spec())
        .stop_asked()
        .interrupted()
        .ends(&stopped_by_ada(), "needs-human/not-run/not-run/0")
        .reopened(NO_MORE, None)
        .asks(Role::Doer, 1, 2);
    assert_eq!(script.run().stop, None);
    script.stop_asked().doer_answers(&[]).ends(&stopped_by_ada(), "needs-human/not-run/not-run/0");
}

/// The note is for the maker; that a checker is asked first must not lose it.
#[test]
fn a_note_given_while_a_checker_is_next_reaches_the_doer_after_it() {
    let script = Script::at(Stage::Checking, full_spec())
        .stop_asked()
        .checks_pass()
        .closed()
        .reopened(NO_MORE, Some("mind the plural"))
        .asks(Role::Judge, 1, 1)
        .judge("reject", &["- no"])
        .asks(Role::Doer, 2, 1);
    assert_eq!(script.told_to_doer(), ["- no", "- [human] mind the plural"]);
    let script = script.doer_hands_over("another tree").checks_pass().judge("reject", &["- still no"]);
    assert_eq!(script.asks(Role::Doer, 3, 1).told_to_doer(), ["- still no"], "said once is enough");
}

/// A round in which nobody said anything about the change leaves what was said before open.
#[test]
fn what_a_checker_said_stays_open_while_the_doer_does_nothing() {
    let script = Script::at_judge(spec()).judge("reject", &["- mind the plural"]).asks(Role::Doer, 2, 1);
    let told = script.doer_hands_over(BASE_TREE).asks(Role::Doer, 3, 1).told_to_doer();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], "- mind the plural");
    assert!(told[1].starts_with("- [no-change] "), "{told:?}");
}

#[test]
fn a_note_given_before_a_checker_asks_for_a_person_is_kept_beside_its_words() {
    let script = Script::at(Stage::Checking, full_spec())
        .stop_asked()
        .checks_pass()
        .closed()
        .reopened(NO_MORE, Some("mind the plural"))
        .judge("needs-human", &["- which plural?"])
        .closed()
        .reopened(NO_MORE, Some("the first"));
    assert_eq!(
        script.told_to_doer(),
        ["- which plural?", "- [human] mind the plural", "- [human] the first"]
    );
}

#[test]
fn a_note_to_a_doer_that_gets_lost_is_said_again() {
    let script = Script::at_judge(one_round())
        .judge("reject", &["- no"])
        .closed()
        .reopened(ONE_MORE_ROUND, Some("mind the plural"))
        .lost()
        .asks(Role::Doer, 2, 2);
    assert_eq!(script.told_to_doer(), ["- no", "- [human] mind the plural"]);
}

#[test]
fn more_rounds_alone_do_not_make_up_for_an_empty_purse() {
    let mut capped = one_round();
    capped.caps.tokens = Some(20);
    let script = Script::at_judge(capped).judge("reject", &["- no"]).closed();
    let why = "nothing is left of its tokens; give it more";
    script.refuses(reopen(ONE_MORE_ROUND, None), &nothing(why));
}

#[test]
fn causes_that_end_a_round_and_causes_that_cut_it_off_are_told_apart() {
    let ended = Script::at_judge(spec()).judge("needs-human", &["- unclear"]);
    assert_eq!(ended.state().rounds_completed, 1);
    let cut_off = Script::at_judge(spec()).agent_ends(not_there(), Answer::Missing);
    assert_eq!(cut_off.state().rounds_completed, 0);
    let cause = Cause::AgentNotStarted { role: Role::Judge, reason: "no such program".to_owned() };
    assert_eq!(cut_off.state().end, Some(End::NeedsHuman { cause }));
}
