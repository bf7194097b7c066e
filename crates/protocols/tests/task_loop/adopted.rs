//! Runs begun by the original and cut off: each row of its table of positions, and what must not be taken on trust.

use crate::harness::words::{
    AUDIT_CHECK, BASE_TREE, CHECK, audit, caps, full_spec, going_on, handoff, lines, spec, taken_over,
    unaudited, verdict,
};
use crate::harness::{NO_MORE, Script, accepted, start, stopped_by_ada};
use windlass_protocols::outcome::{Audit, Verdict};
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::facts::RejectedBy;
use windlass_protocols::protocol::judged_task::spec::{Adopted, TaskSpec};
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{Rejection, Role, TreeId};

/// A run that stood in its second of three rounds.
fn position(handed_over: bool, verdict: Option<Verdict>, audit: Option<Audit>) -> Adopted {
    let tree = Some(TreeId::new("tree-2"));
    Adopted { round: 2, tree, handoff: handed_over.then(|| handoff(&[])), verdict, audit }
}

fn last_round(spec: TaskSpec) -> TaskSpec {
    TaskSpec { caps: caps(2), ..spec }
}

#[test]
fn prompt_only_continues_at_the_doer_of_that_round() {
    let spec = taken_over(position(false, None, None), spec());
    Script::start(spec)
        .prepared()
        .decides(&["effect-settled", "base-fixed", "baseline-measured", "round-opened", "effect-requested"])
        .asks(Role::Doer, 2, 1);
}

#[test]
fn patch_and_handoff_continue_at_the_transfer_and_the_judge() {
    let spec = taken_over(position(true, None, None), spec());
    Script::start(spec).prepared().waits_in(Stage::Capturing).captured("tree-2").asks(Role::Judge, 2, 1);
}

#[test]
fn verdict_not_pass_continues_at_the_next_doer_with_that_feedback() {
    let reject = verdict("reject", &["- [style] too long", "- shorten it"]);
    let spec = taken_over(position(true, Some(reject), None), spec());
    let script = Script::start(spec).prepared().captured("tree-2").asks(Role::Doer, 3, 1);
    assert_eq!(script.told_to_doer(), ["- [style] too long", "- shorten it"]);
}

#[test]
fn verdict_not_pass_is_not_measured_again_and_its_feedback_not_lost() {
    let reject = verdict("reject", &["- [style] too long"]);
    let spec = taken_over(position(true, Some(reject), None), full_spec());
    let script = Script::start(spec).prepared().checks_pass().captured("tree-2").asks(Role::Doer, 3, 1);
    assert_eq!(script.told_to_doer(), ["- [style] too long"]);
}

#[test]
fn verdict_pass_with_audit_continues_at_the_auditor_on_the_transferred_tree() {
    let spec = taken_over(position(true, Some(verdict("pass", &[])), None), spec());
    let script = Script::start(spec).prepared().captured("tree-2").asks(Role::Auditor, 2, 1);
    assert_eq!(script.asked().tree.as_ref().map(TreeId::as_str), Some("tree-2"));
    script.auditor("pass", &[]).ends(&accepted("tree-2"), "pass/pass/pass/2");
}

/// The pass was about another tree: nobody has judged this one.
#[test]
fn a_pass_that_was_brought_along_does_not_count_for_a_tree_that_was_changed_since() {
    let brought = || position(true, Some(verdict("pass", &[])), Some(audit("pass", &[])));
    let spec_of = |adopted| taken_over(adopted, spec());
    Script::start(spec_of(brought())).prepared().captured("tree-3").asks(Role::Judge, 2, 1);
    let unknown = Adopted { tree: None, ..brought() };
    Script::start(spec_of(unknown)).prepared().captured("tree-2").asks(Role::Judge, 2, 1);
}

#[test]
fn verdict_pass_is_held_against_the_checks_first() {
    let spec = taken_over(position(true, Some(verdict("pass", &[])), None), full_spec());
    let script = Script::start(spec)
        .prepared()
        .checks_pass()
        .captured("tree-2")
        .waits_in(Stage::Checking)
        .check_is_red(CHECK, "")
        .asks(Role::Doer, 3, 1);
    assert_eq!(script.state().last_rejection, Some(RejectedBy::Check));
}

#[test]
fn verdict_and_gate_pass_lead_to_the_summary() {
    let spec = taken_over(position(true, Some(verdict("pass", &[])), Some(audit("pass", &[]))), spec());
    Script::start(spec).prepared().captured("tree-2").ends(&accepted("tree-2"), "pass/pass/pass/2");
}

#[test]
fn verdict_pass_without_audit_leads_to_the_summary() {
    let spec = taken_over(position(true, Some(verdict("pass", &[])), None), unaudited());
    Script::start(spec).prepared().captured("tree-2").ends(&accepted("tree-2"), "pass/pass/not-run/2");
}

#[test]
fn gate_pass_is_held_against_the_audit_checks_first() {
    let spec = taken_over(position(true, Some(verdict("pass", &[])), Some(audit("pass", &[]))), full_spec());
    Script::start(spec)
        .prepared()
        .checks_pass()
        .captured("tree-2")
        .checks_pass()
        .waits_in(Stage::AuditChecking)
        .check_is_red(AUDIT_CHECK, "")
        .asks(Role::Doer, 3, 1);
}

#[test]
fn gate_fail_continues_at_the_next_doer_with_that_feedback() {
    let fail = audit("fail", &["- [licence] unknown"]);
    let spec = taken_over(position(true, Some(verdict("pass", &[])), Some(fail)), spec());
    let script = Script::start(spec).prepared().captured("tree-2").asks(Role::Doer, 3, 1);
    assert_eq!(script.told_to_doer(), ["- [licence] unknown"]);
}

#[test]
fn terminal_rejections_lead_to_the_summary() {
    let reject = Some(verdict("reject", &["- no"]));
    let by_judge = taken_over(position(true, reject, None), last_round(spec()));
    let end = End::Rejected { by: RejectedBy::Judge };
    Script::start(by_judge).prepared().captured("tree-2").ends(&end, "reject/reject/not-run/2");

    let fail = Some(audit("fail", &["- no"]));
    let by_auditor = taken_over(position(true, Some(verdict("pass", &[])), fail), last_round(spec()));
    let end = End::Rejected { by: RejectedBy::Auditor };
    Script::start(by_auditor).prepared().captured("tree-2").ends(&end, "reject/pass/fail/2");
}

#[test]
fn needs_human_leads_to_the_summary_and_keeps_what_was_said() {
    let unclear = verdict("needs-human", &["- which greeting?"]);
    let spec = taken_over(position(true, Some(unclear), None), spec());
    let end = End::NeedsHuman { cause: Cause::JudgeAsked };
    let script = Script::start(spec)
        .prepared()
        .captured("tree-2")
        .ends(&end, "needs-human/needs-human/not-run/2")
        .reopened(NO_MORE, Some("the polite one"))
        .asks(Role::Doer, 3, 1);
    assert_eq!(script.told_to_doer(), ["- which greeting?", "- [human] the polite one"]);
}

#[test]
fn needs_human_continues_where_the_original_is_asked_for_while_rounds_are_left() {
    let position = position(true, Some(verdict("needs-human", &["- which?"])), None);
    Script::start(taken_over(position.clone(), going_on())).prepared().captured("tree-2").asks(
        Role::Doer,
        3,
        1,
    );
    let end = End::NeedsHuman { cause: Cause::JudgeAsked };
    Script::start(taken_over(position, last_round(going_on())))
        .prepared()
        .captured("tree-2")
        .ends(&end, "needs-human/needs-human/not-run/2");
}

#[test]
fn a_brought_pass_with_missing_requirements_is_judged_anew() {
    let contradiction = Verdict { requirements_missing: lines(&["RQ-001"]), ..verdict("pass", &[]) };
    let spec = taken_over(position(true, Some(contradiction), None), spec());
    Script::start(spec).prepared().captured("tree-2").asks(Role::Judge, 2, 1);
}

#[test]
fn a_brought_pass_that_leaves_requirements_untraced_is_judged_anew() {
    let adopted =
        Adopted { handoff: Some(handoff(&["RQ-001"])), ..position(true, Some(verdict("pass", &[])), None) };
    Script::start(taken_over(adopted, spec())).prepared().captured("tree-2").asks(Role::Judge, 2, 1);
}

#[test]
fn a_brought_gate_that_contradicts_itself_is_asked_for_anew() {
    let contradicted =
        Audit { contradictions: lines(&["policy.artifact_integrity says fail"]), ..audit("pass", &[]) };
    let position = position(true, Some(verdict("pass", &[])), Some(contradicted));
    Script::start(taken_over(position, spec())).prepared().captured("tree-2").asks(Role::Auditor, 2, 1);
}

/// The doer works again, so whatever was said before was not said about this tree.
#[test]
fn words_brought_without_a_handoff_do_not_count_for_new_work() {
    let position = position(false, Some(verdict("pass", &[])), Some(audit("pass", &[])));
    Script::start(taken_over(position, spec()))
        .prepared()
        .asks(Role::Doer, 2, 1)
        .doer_hands_over("tree-9")
        .asks(Role::Judge, 2, 1)
        .judge("pass", &[])
        .asks(Role::Auditor, 2, 1);
}

#[test]
fn a_gate_brought_without_its_verdict_does_not_count() {
    let position = position(true, None, Some(audit("pass", &[])));
    Script::start(taken_over(position, spec())).prepared().captured("tree-2").judge("pass", &[]).asks(
        Role::Auditor,
        2,
        1,
    );
}

#[test]
fn what_was_brought_counts_for_its_round_only() {
    let spec = taken_over(position(true, Some(verdict("reject", &["- no"])), None), spec());
    Script::start(spec).prepared().captured("tree-2").doer_hands_over("tree-3").asks(Role::Judge, 3, 1);
}

#[test]
fn a_worktree_without_a_change_is_sent_back_like_any_other() {
    let spec = taken_over(position(true, None, None), spec());
    let script = Script::start(spec).prepared().captured(BASE_TREE).asks(Role::Doer, 3, 1);
    assert_eq!(script.state().last_rejection, Some(RejectedBy::NoChange));
}

#[test]
fn the_rounds_before_the_brought_one_count_as_completed() {
    let spec = taken_over(position(false, None, None), spec());
    Script::start(spec)
        .prepared()
        .stop_asked()
        .interrupted()
        .ends(&stopped_by_ada(), "needs-human/not-run/not-run/1");
}

#[test]
fn a_note_given_before_a_brought_rejection_reaches_the_doer_with_it() {
    let spec = taken_over(position(true, Some(verdict("reject", &["- no"])), None), spec());
    let script = Script::start(spec)
        .stop_asked()
        .prepared()
        .closed()
        .reopened(NO_MORE, Some("mind the plural"))
        .captured("tree-2")
        .asks(Role::Doer, 3, 1);
    assert_eq!(script.told_to_doer(), ["- no", "- [human] mind the plural"]);
}

#[test]
fn a_brought_position_in_no_round_is_refused() {
    let nowhere = Adopted { round: 0, ..position(true, None, None) };
    Script::unborn().refuses(
        start(taken_over(nowhere, spec())),
        &Rejection::InvalidSpec {
            why: "rounds are counted from 1; the run to take over stands in round 0".to_owned(),
        },
    );
}
