//! A maker that goes in circles is noticed: the same rejected tree is not judged again, and a person is asked in the end.

use crate::harness::words::{CHECK, caps, going_on, lines, spec};
use crate::harness::{NO_MORE, Script, accepted};
use windlass_protocols::Role;
use windlass_protocols::effect::Ask;
use windlass_protocols::outcome::Answer;
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::facts::RejectedBy;
use windlass_protocols::protocol::judged_task::spec::TaskSpec;

fn roomy() -> TaskSpec {
    TaskSpec { caps: caps(20), ..spec() }
}

fn stuck(round: u32) -> End {
    End::NeedsHuman { cause: Cause::Stuck { round } }
}

#[test]
fn the_same_rejected_change_is_not_judged_again() {
    let script = Script::at_judge(roomy())
        .judge("reject", &["- [style] too long"])
        .doer_hands_over("tree-1")
        .asks(Role::Doer, 3, 1);
    assert_eq!(script.state().last_rejection, Some(RejectedBy::Repetition));
    assert_eq!(
        script.told_to_doer(),
        [
            "- [style] too long",
            "- [repetition] this exact change was already rejected in round 1; it was not judged again"
        ]
    );
}

#[test]
fn a_change_that_was_red_is_not_measured_again_either() {
    let checked = TaskSpec { checks: lines(&[CHECK]), ..roomy() };
    Script::at_doer(checked)
        .doer_hands_over("tree-1")
        .check_is_red(CHECK, "")
        .doer_hands_over("tree-1")
        .asks(Role::Doer, 3, 1);
}

#[test]
fn the_same_change_for_the_third_time_is_stuck() {
    Script::at_judge(roomy())
        .judge("reject", &["- no"])
        .doer_hands_over("tree-1")
        .doer_hands_over("tree-1")
        .ends(&stuck(1), "needs-human/not-run/not-run/3");
}

#[test]
fn going_back_and_forth_between_two_rejected_changes_is_stuck() {
    Script::at_judge(roomy())
        .judge("reject", &["- no"])
        .doer_hands_over("tree-2")
        .judge("reject", &["- no"])
        .doer_hands_over("tree-1")
        .doer_hands_over("tree-2")
        .ends(&stuck(2), "needs-human/not-run/not-run/4");
}

#[test]
fn a_new_change_breaks_the_row_of_repetitions() {
    Script::at_judge(roomy())
        .judge("reject", &["- no"])
        .doer_hands_over("tree-1")
        .doer_hands_over("tree-3")
        .judge("reject", &["- no"])
        .doer_hands_over("tree-1")
        .asks(Role::Doer, 5, 1);
}

#[test]
fn what_a_person_has_looked_at_may_be_judged_anew() {
    let script = Script::at_judge(roomy())
        .judge("reject", &["- no"])
        .doer_hands_over("tree-1")
        .doer_hands_over("tree-1")
        .ends(&stuck(1), "needs-human/not-run/not-run/3")
        .reopened(NO_MORE, Some("it is right as it is"))
        .asks(Role::Doer, 4, 1);
    assert_eq!(script.told_to_doer().last().map(String::as_str), Some("- [human] it is right as it is"));
    script
        .doer_hands_over("tree-1")
        .asks(Role::Judge, 4, 1)
        .judge("pass", &[])
        .auditor("pass", &[])
        .ends(&accepted("tree-1"), "pass/pass/pass/4");
}

/// Nobody said no to it, so handing it over once more is not a repetition; the original judged it again, too.
#[test]
fn a_change_nobody_could_judge_is_judged_when_it_comes_again() {
    let asked_for_a_person = Script::at_judge(going_on()).judge("needs-human", &["- unclear"]);
    let unreadable = Script::at_judge(going_on()).agent_leaves(Answer::Missing).agent_leaves(Answer::Missing);
    let gate_unclear = Script::at_auditor(going_on()).auditor("needs-human", &["- unclear"]);
    for script in [asked_for_a_person, unreadable, gate_unclear] {
        script.doer_hands_over("tree-1").asks(Role::Judge, 2, 1);
    }
}

#[test]
fn the_doer_sees_one_line_for_each_earlier_round() {
    let script = Script::at_judge(roomy())
        .judge("reject", &["- first\nwith more", "- second"])
        .agent_exits(1)
        .doer_hands_over("tree-3")
        .judge("reject", &["- third"]);
    let Ask::Fresh { feedback, history } = &script.asked().ask else {
        panic!("the doer is not asked afresh");
    };
    assert_eq!(feedback, &["- third"]);
    assert_eq!(history.len(), 3);
    assert_eq!(history[0], "round 1: the judge rejected it: - first");
    assert!(history[1].starts_with("round 2: the doer failed: "));
    assert_eq!(history[2], "round 3: the judge rejected it: - third");
}

#[test]
fn the_history_is_bounded_in_rounds_and_in_width() {
    let long = "x".repeat(5_000);
    let mut script = Script::at_doer(roomy());
    for round in 1..=12 {
        script = script.doer_hands_over(&format!("tree-{round}")).judge("reject", &[long.as_str()]);
    }
    let Ask::Fresh { history, .. } = &script.asked().ask else {
        panic!("the doer is not asked afresh");
    };
    assert_eq!(history.len(), 8);
    assert!(history[0].starts_with("round 5: ") && history[7].starts_with("round 12: "));
    assert!(history.iter().all(|line| line.len() < 250));
}
