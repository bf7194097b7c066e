//! The states of an item: what the loop writes for it, and what it makes of a file that others left.

use crate::script::{Script, skip};
use crate::words::{fail, item, one, pass, queue, spec, two, with_status};
use windlass_protocols::Role;
use windlass_protocols::effect::Effect;
use windlass_protocols::protocol::goal_contract::end::End;
use windlass_protocols::protocol::goal_contract::queue::{Item, Status, Work};
use windlass_protocols::protocol::goal_contract::spec::{Claimed, GoalSpec};

fn status(script: &Script, id: &str) -> Option<Status> {
    script.state().item(id).status()
}

#[test]
fn not_started_is_in_progress_from_the_build_until_the_verdict() {
    let script = Script::of(one());
    assert_eq!(status(&script, "F001"), Some(Status::InProgress));
    let script = script.builds("tree-1").green();
    assert_eq!(status(&script, "F001"), Some(Status::InProgress));
}

#[test]
fn complete_is_written_only_when_the_commit_is_there() {
    let script = Script::of(one()).passed("tree-1");
    assert_eq!(status(&script, "F001"), Some(Status::InProgress));
    assert_eq!(status(&script.committed(), "F001"), Some(Status::Complete));
}

#[test]
fn in_progress_becomes_needs_rework_and_that_becomes_complete() {
    let script = Script::of(one()).judged("tree-1", fail("a:b", "wrong"));
    assert_eq!(status(&script, "F001"), Some(Status::NeedsRework));
    let script = script.read().accepted("tree-2");
    assert_eq!(status(&script, "F001"), Some(Status::Complete));
}

#[test]
fn an_item_put_aside_is_blocked() {
    let script = Script::of(two()).builds("tree-1").red(&["t::old"], &["t::old"]).read();
    let script = script.builds("tree-2").red(&["t::old"], &["t::old"]).committed();
    let script = script.answer(windlass_protocols::Outcome::Closed).says(skip());
    assert_eq!(status(&script, "F001"), Some(Status::Blocked));
}

#[test]
fn a_claimed_complete_is_looked_at_before_it_counts_and_needs_no_commit() {
    let script = Script::of(queue(&[with_status("F001", Status::Complete)])).asks(Role::Evaluator, "F001");
    assert_eq!(script.state().open.as_ref().map(|open| open.work), Some(Work::Recheck));
    let script = script.leaves(pass()).read().ends(&End::Success);
    assert_eq!(script.times("item-committed"), 0);
}

#[test]
fn a_claimed_complete_that_does_not_hold_needs_rework_and_is_charged_no_try() {
    let script = Script::of(queue(&[with_status("F001", Status::Complete)])).leaves(fail("a:b", "absent"));
    let known = script.state().item("F001");
    assert_eq!((known.status(), known.rework), (Some(Status::NeedsRework), 0));
    script.read().asks(Role::Builder, "F001");
}

#[test]
fn a_claimed_complete_is_believed_where_history_is_trusted_or_a_pass_is_logged() {
    let claimed = with_status("F001", Status::Complete);
    let trusting = GoalSpec { claimed: Claimed::Trust, ..spec() };
    Script::with(trusting, queue(std::slice::from_ref(&claimed))).ends(&End::Success);
    let logged = Item { passed_before: true, ..claimed };
    Script::of(queue(&[logged])).ends(&End::Success);
}

#[test]
fn cancelled_is_let_be_and_does_not_stand_in_the_way_of_success() {
    let script = Script::of(queue(&[item("F001"), with_status("F002", Status::Cancelled)]));
    script.accepted("tree-1").read().ends(&End::Success);
}

#[test]
fn an_item_a_person_cancels_between_two_tries_is_let_be() {
    let script = Script::of(two()).judged("tree-1", fail("a:b", "wrong"));
    let script = script.edited(|files| files.items[0].status = Status::Cancelled).read();
    script.asks(Role::Builder, "F002").accepted("tree-2").read().ends(&End::Success);
}

#[test]
fn what_existed_before_stays_unless_rework_is_assigned_to_it() {
    let mut files = queue(&[item("F001"), with_status("E001", Status::Existing)]);
    files.scope = vec!["F001".to_owned()];
    let script = Script::of(files.clone()).accepted("tree-1").read().ends(&End::Success);
    assert_eq!(script.state().item("E001").status(), None);
    files.items[1].status = Status::NeedsRework;
    files.scope.push("E001".to_owned());
    Script::of(files).asks(Role::Builder, "E001");
}

#[test]
fn one_iteration_works_on_one_item() {
    let script = Script::of(two()).accepted("tree-1").read().accepted("tree-2").read();
    assert_eq!(script.times("iteration-opened"), 2);
    assert!(matches!(script.waiting(), Effect::CommitItem(commit) if commit.item.is_none()));
}
