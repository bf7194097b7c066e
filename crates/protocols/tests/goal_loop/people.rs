//! People: a yes to exactly what is proposed, a no that becomes a root cause, an item let be, an answer that is told.

use crate::script::{Script, approve, hand_back, reject, reopen, skip};
use crate::words::{NO_MORE, asking, at, built, design, fail, finding, item, one, parking, queue, two};
use windlass_protocols::effect::Effect;
use windlass_protocols::outcome::FindingKind;
use windlass_protocols::protocol::goal_contract::end::{Cause, End};
use windlass_protocols::protocol::goal_contract::facts::RejectedBy;
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Item, Status};
use windlass_protocols::{Observation, Outcome, Rejection, Role};

fn awaiting() -> Script {
    Script::of(at(Autonomy::L1, two())).passed("tree-1")
}

/// F001 escalates because its builder asks.
fn questioned(files: windlass_protocols::protocol::goal_contract::queue::Queue) -> Script {
    let cause = Cause::BuilderAsks { item: "F001".to_owned(), question: "which?".to_owned() };
    Script::of(files).leaves(asking("which?")).captured("tree-1").escalates(cause)
}

#[test]
fn an_approval_of_another_tree_is_refused() {
    awaiting().refuses_tree("tree-2", "tree-1").says(approve("tree-1")).committed();
}

#[test]
fn an_approval_of_what_is_not_proposed_is_refused() {
    let script = Script::of(two()).accepted("tree-1").read().accepted("tree-2").read().ends(&End::Success);
    script.does_not_hear(approve("tree-2"), "nothing is proposed");
}

#[test]
fn an_approval_counts_once_and_for_its_tree_only() {
    let script = awaiting().says(approve("tree-1")).refused("a hook said no");
    let cause = Cause::CommitRefused { item: "F001".to_owned(), reason: "a hook said no".to_owned() };
    let script = script.escalates(cause).resumed();
    assert_eq!(script.commit().tree.as_str(), "tree-1", "what is verified and approved is committed again");
}

#[test]
fn a_rejection_becomes_a_root_cause_that_the_next_builder_is_told() {
    let script = awaiting().says(reject("the name is bad"));
    let causes = script.state().item("F001").causes;
    assert_eq!((causes[0].by, causes[0].cause.as_str()), (RejectedBy::Person, "the name is bad"));
    let script = script.read().ends(&End::Paused { iteration: 1 }).resumed().read();
    assert_eq!(script.told(), ["iteration 1: a person rejected it: the name is bad"]);
    assert_eq!(script.asked().tree.as_ref().map(windlass_protocols::TreeId::as_str), Some("tree-1"));
}

#[test]
fn a_rejection_without_a_reason_is_refused() {
    awaiting().does_not_hear(reject("  "), "a rejection needs a reason: the next builder is told it");
}

#[test]
fn the_same_rejection_twice_is_not_held_against_the_person() {
    let mut files = at(Autonomy::L1, one());
    files.limits.rework = 9;
    let script = Script::of(files).passed("tree-1").says(reject("no")).read().resumed().read();
    let script = script.passed("tree-2").says(reject("no")).read();
    script.ends(&End::Paused { iteration: 2 });
}

#[test]
fn an_awaiting_run_is_not_simply_taken_up() {
    let script = awaiting().refuses_reopening("F001 waits with tree-1; approve or reject that");
    let landing = windlass_protocols::protocol::judged_task::spec::Landing::Current;
    let why = "a goal loop leaves its commits on loop/every-item; merge that".to_owned();
    script.refuses(Observation::LandingRequested { landing }, &Rejection::NothingToLand { why });
}

#[test]
fn a_running_run_hears_no_word() {
    let word = Observation::PersonSaid { word: approve("tree-1") };
    Script::of(one()).refuses(word, &Rejection::NotEnded);
}

#[test]
fn a_skip_puts_the_item_aside_and_goes_on_with_the_next() {
    let script = questioned(two()).says(skip()).read().asks(Role::Builder, "F002");
    assert_eq!(script.state().item("F001").status(), Some(Status::Blocked));
    let waiting = vec!["F001: it is blocked".to_owned()];
    script.accepted("tree-2").read().escalates(Cause::NothingReady { waiting });
}

#[test]
fn a_skip_of_what_awaits_approval_ends_its_iteration() {
    let script = awaiting().says(skip()).read();
    assert_eq!((script.times("iteration-ended"), script.state().open.is_none()), (1, true));
    script.ends(&End::Paused { iteration: 1 }).resumed().read().asks(Role::Builder, "F002");
}

#[test]
fn what_a_person_skipped_is_not_brought_back_by_another_items_skip_or_answer() {
    let files = queue(&[item("F001"), item("F002"), item("F003")]);
    let script = questioned(files).says(skip()).read().asks(Role::Builder, "F002");
    let cause = Cause::BuilderAsks { item: "F002".to_owned(), question: "why?".to_owned() };
    let script = script.leaves(asking("why?")).captured("tree-2").escalates(cause.clone());
    let script = script.reopened(NO_MORE, Some("because")).read().asks(Role::Builder, "F002");
    let script = script.leaves(asking("why?")).captured("tree-3").escalates(cause);
    let script = script.says(skip()).read().asks(Role::Builder, "F003");
    let waiting = vec!["F001: it is blocked".to_owned(), "F002: it is blocked".to_owned()];
    let script = script.accepted("tree-4").read().escalates(Cause::NothingReady { waiting });
    // Nothing else is left, so taking the run up is about them.
    script.resumed().read().asks(Role::Builder, "F001");
}

#[test]
fn an_item_that_was_taken_out_of_the_scope_is_no_longer_at_hand() {
    let mut files = two();
    files.limits.iterations = 1;
    let script = Script::of(files).judged("tree-1", fail("a:b", "wrong"));
    let script = script.edited(|files| files.scope.retain(|id| id != "F001")).read();
    let cap = windlass_protocols::protocol::goal_contract::end::Cap::Iterations;
    let why = "no item is at hand that could be taken over";
    script.killed_by(cap).does_not_hear(crate::script::take_over(), why);
}

#[test]
fn a_skip_of_a_run_without_an_item_at_hand_lets_the_run_be() {
    let script = Script::of(one()).accepted("tree-1").read().ends(&End::Success).says(skip());
    assert!(script.run().dismissed && script.run().ended);
}

#[test]
fn a_word_about_an_item_waits_for_a_commit_that_nobody_saw_the_end_of() {
    let mut script = Script::of(two()).passed("tree-1");
    for _ in 0..5 {
        script = script.lost();
    }
    let script = script.answer(Outcome::Closed);
    let why = "nobody saw the end of its last commit; resume it to see that first";
    let script = script.does_not_hear(skip(), why).does_not_hear(crate::script::take_over(), why).resumed();
    assert!(matches!(script.waiting(), Effect::CommitItem(commit) if commit.tree.as_str() == "tree-1"));
    let script = script.committed().read().asks(Role::Builder, "F002");
    assert_eq!(script.times("item-committed"), 1);
}

#[test]
fn an_answer_is_told_to_the_builder_and_to_no_evaluator() {
    let script = questioned(one()).reopened(NO_MORE, Some("the second")).read().asks(Role::Builder, "F001");
    assert_eq!(script.told(), ["a person says: the second"]);
    let script = script.builds("tree-2").green();
    assert_eq!(script.told(), Vec::<String>::new());
}

#[test]
fn an_answer_is_told_again_when_the_builder_that_was_told_got_lost_or_failed() {
    let script = questioned(one()).reopened(NO_MORE, Some("the second")).read().lost();
    assert_eq!(script.told(), ["a person says: the second"]);
    let script = script.exits(1).captured("tree-2").read();
    assert_eq!(script.told(), ["a person says: the second"]);
    let script = script.judged("tree-3", fail("a:b", "wrong")).read();
    assert!(!script.told().iter().any(|line| line.contains("a person says")), "{:?}", script.told());
}

#[test]
fn an_answer_reaches_the_builder_also_when_a_planner_is_asked_first() {
    let files = queue(&[Item { risky: true, ..item("F001") }]);
    let script = Script::of(files).leaves(design("a.md", &[])).leaves(design("a.md", &[]));
    let script = script.leaves(design("a.md", &[])).committed().answer(Outcome::Closed);
    let script = script.reopened(NO_MORE, Some("in src")).asks(Role::Planner, "F001");
    assert_eq!(script.told(), ["a person says: in src"]);
    let script = script.leaves(design("a.md", &["src/a.rs"])).asks(Role::Builder, "F001");
    assert_eq!(script.told(), ["a person says: in src"]);
}

#[test]
fn three_rejected_designs_are_enough() {
    let files = at(Autonomy::L1, queue(&[Item { risky: true, ..item("F001") }]));
    let mut script = Script::of(files);
    for reason in ["one", "two", "three"] {
        script = script.leaves(design("a.md", &["src/a.rs"])).says(reject(reason));
    }
    let faults = vec!["one".to_owned(), "two".to_owned(), "three".to_owned()];
    script.escalates(Cause::NoDesign { item: "F001".to_owned(), faults });
}

#[test]
fn a_hand_back_of_what_nobody_took_over_is_refused() {
    awaiting().does_not_hear(hand_back("tree-2"), "nobody took it over");
}

#[test]
fn more_room_is_given_with_the_reopening_and_not_refused_where_the_contract_is_full() {
    let mut files = two();
    files.limits.iterations = 1;
    let script = Script::of(files).accepted("tree-1").read();
    let cap = windlass_protocols::protocol::goal_contract::end::Cap::Iterations;
    let script = script.killed_by(cap.clone());
    // People widen the contract in its file; the run looks again and, finding it as it was, says the same without a commit.
    let script = script.resumed().read().killed_by(cap);
    assert_eq!(script.times("summary-committed"), 1);
    let more = windlass_protocols::kernel::budget::CapChange { more_rounds: 1, ..NO_MORE };
    script.reopened(more, None).read().asks(Role::Builder, "F002");
}

#[test]
fn a_run_whose_own_cap_is_used_up_is_not_taken_up_without_more() {
    let mut spec = crate::words::spec();
    spec.caps.tokens = Some(30);
    let cap = windlass_protocols::protocol::goal_contract::end::Cap::Used {
        dimension: windlass_protocols::kernel::budget::Dimension::Tokens,
    };
    let script = Script::with(spec, one()).leaves(built()).killed_by(cap);
    let why = "nothing is left of its tokens; give it more".to_owned();
    script.refuses(reopen(NO_MORE, None), &Rejection::NothingToReopen { why });
}

#[test]
fn scope_creep_can_be_tried_again_from_the_head_when_the_paths_are_stated() {
    let finding = finding(FindingKind::OutsidePaths, "src/b.rs");
    let what = vec![finding.words()];
    let script = Script::of(parking(one())).leaves(built());
    let script = script.captured_as("tree-1", |change| change.findings = vec![finding]);
    let script = script.escalates(Cause::ScopeCreep { item: "F001".to_owned(), what }).resumed().read();
    let start = script.state().open.as_ref().map(|open| open.start.as_str().to_owned());
    assert_eq!(start.as_deref(), Some("base-tree"));
}
