//! Work taken over by a person blocks everything else, and what is handed back is tested and judged like anybody's.

use crate::script::{Script, approve, hand_back, reject, reopen, skip, take_over};
use crate::words::{NO_MORE, at, fail, one, pass, queue, spec, two, with_status};
use windlass_protocols::effect::Effect;
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::Answer;
use windlass_protocols::protocol::goal_contract::end::{Cap, Cause, End, Proposed};
use windlass_protocols::protocol::goal_contract::facts::RejectedBy;
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Status, Work};
use windlass_protocols::protocol::goal_contract::spec::GoalSpec;
use windlass_protocols::{Observation, Role, TreeId};

/// F001 failed twice for one cause and a person took it over.
fn taken_over() -> Script {
    let script = Script::of(two()).judged("tree-1", fail("a:b", "one")).read();
    let cause = Cause::SameCauseTwice { item: "F001".to_owned(), cause: "two".to_owned() };
    script.judged("tree-2", fail("a:b", "two")).escalates(cause).says(take_over())
}

#[test]
fn taking_over_blocks_every_other_word_and_the_reopening() {
    let mut script = taken_over().waits_for_the_hand_back(reopen(NO_MORE, None));
    for word in [approve("tree-2"), reject("no"), skip(), take_over()] {
        script = script.waits_for_the_hand_back(Observation::PersonSaid { word });
    }
}

#[test]
fn nothing_at_hand_cannot_be_taken_over() {
    let script = Script::of(one()).accepted("tree-1").read().ends(&End::Success);
    script.does_not_hear(take_over(), "no item is at hand that could be taken over");
}

#[test]
fn what_is_handed_back_is_taken_tested_judged_and_committed() {
    let script = taken_over().says(hand_back("tree-9"));
    assert_eq!(script.waiting().name(), "capture-change");
    let open = script.state().open.as_ref().expect("an iteration is open for it");
    assert_eq!((open.number, open.handed_back.as_ref().map(TreeId::as_str)), (3, Some("tree-9")));
    let script = script.captured("tree-9").green().asks(Role::Evaluator, "F001").leaves(pass());
    assert_eq!(script.commit().tree.as_str(), "tree-9");
    script.committed().read().asks(Role::Builder, "F002");
}

#[test]
fn what_is_handed_back_can_fail_like_anybodys_work() {
    let script = taken_over().says(hand_back("tree-9")).captured("tree-9");
    let script = script.red(&["t::old"], &["t::old"]);
    let causes = script.state().item("F001").causes;
    assert_eq!(causes.last().map(|failed| failed.by), Some(RejectedBy::Regression));
    script.read().asks(Role::Builder, "F001");
}

#[test]
fn handing_back_gives_a_fresh_count_as_a_retry_does() {
    let script = taken_over().says(hand_back("tree-9")).captured("tree-9").green();
    script.leaves(fail("a:b", "still")).read().asks(Role::Builder, "F001");
}

#[test]
fn what_awaits_approval_can_be_taken_over_and_is_judged_afresh() {
    let script = Script::of(at(Autonomy::L1, one())).passed("tree-1").says(take_over());
    let script = script.says(hand_back("tree-9")).captured("tree-9").green();
    let script = script.asks(Role::Evaluator, "F001").leaves(pass());
    let proposed = Proposed::Change { tree: TreeId::new("tree-9") };
    let script = script.ends(&End::AwaitsApproval { item: "F001".to_owned(), proposed });
    script.refuses_tree("tree-1", "tree-9").says(approve("tree-9")).committed();
}

#[test]
fn a_cap_on_iterations_does_not_hold_up_a_person() {
    let mut files = one();
    files.limits.iterations = 1;
    let script = Script::of(files).judged("tree-1", fail("a:b", "one")).read().killed_by(Cap::Iterations);
    let script = script.says(take_over()).says(hand_back("tree-9")).captured("tree-9").green().leaves(pass());
    script.committed().read().ends(&End::Success);
}

#[test]
fn work_handed_back_for_an_item_that_was_only_rechecked_is_looked_at() {
    let files = queue(&[with_status("F001", Status::Complete)]);
    let script = Script::of(files).leaves(Answer::Missing).leaves(Answer::Missing).leaves(Answer::Missing);
    let faults = vec!["the evaluator left no report".to_owned()];
    let script = script.escalates(Cause::NoVerdict { item: "F001".to_owned(), faults });
    let script = script.says(take_over()).says(hand_back("tree-9")).captured("tree-9").green();
    assert_eq!(script.state().open.as_ref().map(|open| open.work), Some(Work::Rework));
    let script = script.leaves(pass());
    assert_eq!(script.commit().tree.as_str(), "tree-9");
}

#[test]
fn handing_back_does_not_bring_back_what_was_skipped() {
    let script = taken_over().says(hand_back("tree-9")).captured("tree-9").green();
    let script = script.leaves(fail("a:b", "three")).read().judged("tree-10", fail("a:b", "four"));
    let cause = Cause::SameCauseTwice { item: "F001".to_owned(), cause: "four".to_owned() };
    let script = script.escalates(cause).says(skip()).read().asks(Role::Builder, "F002");
    let script = script.judged("tree-11", fail("c:d", "five")).read().judged("tree-12", fail("c:d", "six"));
    let cause = Cause::SameCauseTwice { item: "F002".to_owned(), cause: "six".to_owned() };
    let script = script.escalates(cause).says(take_over()).says(hand_back("tree-13"));
    assert_eq!(script.state().item("F001").status(), Some(Status::Blocked));
}

#[test]
fn a_stop_while_nobody_but_a_person_works_is_lifted_by_the_hand_back() {
    let spec = GoalSpec { suite: None, ..spec() };
    let script = Script::with(spec, at(Autonomy::L1, one())).stop_asked().leaves(crate::words::built());
    let end = End::Stopped { by: "ada".to_owned(), reason: "lunch".to_owned() };
    let script = script.ends(&end).says(take_over()).says(hand_back("tree-9"));
    assert!(matches!(script.waiting(), Effect::CaptureChange { .. }));
    assert_eq!(script.run().stop, None);
}

#[test]
fn letting_go_leaves_the_run_as_it_stood() {
    let script = Script::of(at(Autonomy::L1, one())).passed("tree-1").says(take_over()).says(Word::LetGo);
    assert!(script.run().ended);
    script.says(approve("tree-1")).committed().read().ends(&End::Success);
}
