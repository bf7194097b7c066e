//! Root causes: the same one twice escalates in whatever words, different ones reach the cap, and a person who lets it be
//! tried again opens a new count beside the old one.

use crate::script::Script;
use crate::words::{NO_MORE, ONE_MORE, fail, one, parking, pass, queue, spec, two, with_status};
use windlass_protocols::Role;
use windlass_protocols::protocol::goal_contract::end::{Cap, Cause, End};
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Queue, Status};
use windlass_protocols::protocol::goal_contract::spec::GoalSpec;

fn twice(cause: &str) -> Cause {
    Cause::SameCauseTwice { item: "F001".to_owned(), cause: cause.to_owned() }
}

fn room_for(rework: u32, mut files: Queue) -> Queue {
    files.limits.rework = rework;
    files
}

#[test]
fn the_same_key_in_other_words_escalates() {
    let script = Script::of(room_for(9, one())).judged("tree-1", fail("a:b", "it is off by one")).read();
    let script = script.judged("tree-2", fail("a:b", "an index  is wrong"));
    assert_eq!(script.state().iteration, 2, "no third try");
    script.escalates(twice("an index is wrong"));
}

#[test]
fn the_same_words_under_another_key_escalate_too() {
    let script = Script::of(room_for(9, one())).judged("tree-1", fail("a:b", "off by one")).read();
    script.judged("tree-2", fail("a:c", "off  by one")).escalates(twice("off by one"));
}

#[test]
fn the_same_key_with_another_in_between_escalates() {
    let script = Script::of(room_for(9, one())).judged("tree-1", fail("a:b", "one")).read();
    let script = script.judged("tree-2", fail("c:d", "two")).read().judged("tree-3", fail("a:b", "three"));
    script.escalates(twice("three"));
}

#[test]
fn the_same_key_of_another_item_is_another_cause() {
    let script = Script::of(two()).judged("tree-1", fail("a:b", "one")).read().accepted("tree-2").read();
    script
        .asks(Role::Builder, "F002")
        .judged("tree-3", fail("a:b", "two"))
        .read()
        .asks(Role::Builder, "F002");
}

#[test]
fn the_same_red_check_twice_is_the_same_cause_twice() {
    let spec = GoalSpec { pre_commit: vec!["make lint".to_owned()], ..spec() };
    let script = Script::with(spec, room_for(9, one())).passed("tree-1").pre_checked(1).read();
    script.passed("tree-2").pre_checked(1).escalates(twice("`make lint` exited with 1"));
}

#[test]
fn different_causes_go_on_until_the_cap() {
    let mut script = Script::of(room_for(3, one()));
    for number in 1..3 {
        script = script.judged(&format!("tree-{number}"), fail(&format!("a:{number}"), &format!("{number}")));
        script = script.read();
    }
    script.judged("tree-3", fail("a:3", "3")).killed_by(Cap::Rework { item: "F001".to_owned() });
}

#[test]
fn a_builder_is_told_every_earlier_cause_and_the_last_issues() {
    let script = Script::of(room_for(9, one())).judged("tree-1", fail("a:b", "one")).read();
    let told = script.judged("tree-2", fail("c:d", "two")).read().told();
    assert_eq!(
        told,
        [
            "iteration 1: the evaluator failed it: one",
            "iteration 2: the evaluator failed it: two",
            "issue: src/lib.rs:7: off by one",
        ]
    );
}

#[test]
fn a_persons_retry_gives_a_fresh_count_and_keeps_the_old_one() {
    let script = Script::of(one()).judged("tree-1", fail("a:b", "one")).read();
    let script = script.judged("tree-2", fail("a:b", "two")).escalates(twice("two"));
    let script = script.reopened(NO_MORE, Some("it is the index")).read().asks(Role::Builder, "F001");
    let known = script.state().item("F001");
    assert_eq!((known.rework, known.rework_since, known.causes.len()), (2, 0, 2));
    assert!(script.told().contains(&"a person says: it is the index".to_owned()), "{:?}", script.told());
    // The old cause counts once again, and a second time it is one too many.
    let script = script.judged("tree-3", fail("a:b", "three")).read().asks(Role::Builder, "F001");
    script.judged("tree-4", fail("a:b", "four")).escalates(twice("four"));
}

#[test]
fn the_cap_on_rework_counts_on_until_somebody_answers_or_gives_room() {
    let cap = || Cap::Rework { item: "F001".to_owned() };
    let worked_up = || {
        let script = Script::of(one()).judged("tree-1", fail("a:b", "one")).read();
        script.judged("tree-2", fail("c:d", "two")).killed_by(cap())
    };
    worked_up().resumed().read().killed_by(cap());
    for script in [worked_up().reopened(ONE_MORE, None), worked_up().reopened(NO_MORE, Some("like this"))] {
        script.read().asks(Role::Builder, "F001").accepted("tree-3").read().ends(&End::Success);
    }
}

#[test]
fn a_contract_that_says_so_puts_the_item_aside_and_goes_on_with_others() {
    let script = Script::of(parking(two())).judged("tree-1", fail("a:b", "one")).read();
    let script = script.judged("tree-2", fail("a:b", "two")).read();
    assert_eq!(script.state().item("F001").status(), Some(Status::Blocked));
    let script = script.asks(Role::Builder, "F002");
    assert_eq!(script.asked().tree.as_ref().map(windlass_protocols::TreeId::as_str), Some("base-tree"));
    let waiting = vec!["F001: it is blocked".to_owned()];
    script.accepted("tree-3").read().escalates(Cause::NothingReady { waiting });
}

#[test]
fn the_cap_on_rework_puts_aside_too_where_the_contract_says_so() {
    let script = Script::of(parking(two())).judged("tree-1", fail("a:b", "one")).read();
    script.judged("tree-2", fail("c:d", "two")).read().asks(Role::Builder, "F002");
}

#[test]
fn at_l1_nothing_is_put_aside_without_a_person() {
    let files = crate::words::at(Autonomy::L1, parking(two()));
    let script = Script::of(files).judged("tree-1", fail("a:b", "one")).read().resumed().read();
    script.judged("tree-2", fail("a:b", "two")).escalates(twice("two"));
}

#[test]
fn what_was_put_aside_is_tried_again_when_a_person_takes_the_run_up() {
    let script = Script::of(parking(two())).judged("tree-1", fail("a:b", "one")).read();
    let script = script.judged("tree-2", fail("a:b", "two")).read().accepted("tree-3").read();
    let waiting = vec!["F001: it is blocked".to_owned()];
    let script = script.escalates(Cause::NothingReady { waiting }).reopened(ONE_MORE, None).read();
    script.asks(Role::Builder, "F001").accepted("tree-4").read().ends(&End::Success);
}

#[test]
fn a_cause_that_a_recheck_found_counts_for_the_build_that_follows() {
    let files = queue(&[with_status("F001", Status::Complete)]);
    let script = Script::of(files).leaves(fail("a:b", "absent")).read();
    assert_eq!(script.told()[0], "iteration 1: the evaluator failed it: absent");
    script.judged("tree-1", fail("a:b", "still absent")).escalates(twice("still absent"));
}

#[test]
fn an_escalation_keeps_what_was_half_built_for_the_next_try() {
    let script = Script::of(one()).judged("tree-1", fail("a:b", "one")).read();
    let script =
        script.judged("tree-2", fail("a:b", "two")).escalates(twice("two")).reopened(ONE_MORE, None).read();
    // The closing commit that stands between the two changed nothing of the content.
    let start = script.state().open.as_ref().map(|open| open.start.as_str().to_owned());
    assert_eq!(start.as_deref(), Some("tree-2"));
    let script = script.leaves(crate::words::built()).captured("tree-3").green().leaves(pass());
    assert_eq!(script.commit().tree.as_str(), "tree-3");
}
