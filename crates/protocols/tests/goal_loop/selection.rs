//! Which item is next: rework first, then priority, ties by the order of the file, unmet dependencies skipped.

use crate::script::Script;
use crate::words::{after, fail, item, queue, spec, two, with_status};
use windlass_protocols::Role;
use windlass_protocols::protocol::goal_contract::end::{Cause, End, NotReady};
use windlass_protocols::protocol::goal_contract::queue::{Item, Queue, Status};
use windlass_protocols::protocol::goal_contract::spec::{GoalSpec, Tightened};

fn with_priority(id: &str, priority: Option<i64>) -> Item {
    Item { priority, ..item(id) }
}

fn first(items: &[Item]) -> String {
    let script = Script::of(queue(items));
    script.state().open.as_ref().map(|open| open.item.clone()).expect("an item is selected")
}

#[test]
fn rework_comes_before_new_work_whatever_the_priorities() {
    let rework = Item { priority: Some(9_000), ..with_status("F002", Status::NeedsRework) };
    assert_eq!(first(&[with_priority("F001", Some(1)), rework]), "F002");
}

#[test]
fn what_somebody_left_in_progress_counts_as_rework() {
    assert_eq!(first(&[item("F001"), with_status("F002", Status::InProgress)]), "F002");
}

#[test]
fn the_smaller_priority_comes_first() {
    assert_eq!(first(&[with_priority("F001", Some(2_000)), with_priority("F002", Some(1_500))]), "F002");
}

#[test]
fn ties_go_by_the_order_of_the_file() {
    assert_eq!(first(&[item("F002"), item("F001")]), "F002");
}

#[test]
fn a_missing_priority_is_last() {
    assert_eq!(first(&[with_priority("F001", None), with_priority("F002", Some(9_000))]), "F002");
}

#[test]
fn an_item_whose_dependency_is_open_is_skipped_while_another_is_ready() {
    let script = Script::of(queue(&[after("F001", &["F002"]), item("F002")])).asks(Role::Builder, "F002");
    script.accepted("tree-1").read().asks(Role::Builder, "F001");
}

#[test]
fn a_dependency_is_met_by_what_existed_before() {
    let mut files = queue(&[after("F001", &["E001"]), with_status("E001", Status::Existing)]);
    files.scope = vec!["F001".to_owned()];
    Script::of(files).asks(Role::Builder, "F001");
}

#[test]
fn a_dependency_that_is_only_claimed_is_looked_at_first() {
    let files = queue(&[after("F001", &["F002"]), with_status("F002", Status::Complete)]);
    Script::of(files).asks(Role::Evaluator, "F002");
}

#[test]
fn nothing_ready_escalates_with_every_reason() {
    let files = queue(&[after("F001", &["F002"]), with_status("F002", Status::Blocked)]);
    let waiting = vec!["F001: a dependency is not accepted".to_owned(), "F002: it is blocked".to_owned()];
    Script::of(files).escalates(Cause::NothingReady { waiting });
}

#[test]
fn an_item_that_existed_before_and_waits_does_not_stand_in_the_way_of_success() {
    let waiting = Item { status: Status::NeedsRework, ..after("E001", &["F002"]) };
    let mut files = queue(&[item("F001"), waiting, with_status("F002", Status::Blocked)]);
    files.scope = vec!["F001".to_owned(), "E001".to_owned()];
    Script::of(files).accepted("tree-1").read().ends(&End::Success);
}

#[test]
fn an_item_that_existed_before_is_looked_at_when_the_contract_names_it() {
    Script::of(queue(&[with_status("E001", Status::Existing)])).asks(Role::Evaluator, "E001");
}

#[test]
fn what_is_not_in_scope_is_never_begun() {
    let files = Queue { scope: vec!["F002".to_owned()], ..two() };
    let script = Script::of(files).asks(Role::Builder, "F002");
    script.accepted("tree-1").read().ends(&End::Success);
}

#[test]
fn the_command_line_takes_items_out_of_the_scope_and_can_add_none() {
    let scope = Some(vec!["F002".to_owned(), "F009".to_owned()]);
    let spec = GoalSpec { tightened: Tightened { scope, ..Tightened::default() }, ..spec() };
    let script = Script::with(spec, two()).asks(Role::Builder, "F002");
    assert_eq!(script.state().queue.as_ref().map(|queue| queue.scope.len()), Some(1));
}

#[test]
fn a_scope_without_any_item_does_not_begin() {
    Script::of(Queue { scope: Vec::new(), ..two() }).unready_for(NotReady::NothingInScope);
}

#[test]
fn an_item_under_rework_is_gone_on_with_before_others_that_need_it_too() {
    let rework = Item { priority: Some(1), ..with_status("F001", Status::NeedsRework) };
    let files = queue(&[rework, with_status("F002", Status::NeedsRework)]);
    let script = Script::of(files).asks(Role::Builder, "F001").judged("tree-1", fail("a:b", "wrong"));
    let script = script.edited(|files| files.items[1].priority = Some(0)).read();
    script.asks(Role::Builder, "F001");
}

#[test]
fn a_scope_that_a_person_changes_counts_from_the_next_look() {
    let script = Script::of(two()).accepted("tree-1");
    script.edited(|files| files.scope.retain(|id| id != "F002")).read().ends(&End::Success);
}
