//! What becomes of builders and planners that fail, ask, do nothing or do more than they were asked (section 9).

use crate::script::Script;
use crate::words::{built, design, fail, finding, item, malformed, one, parking, pass, queue, two};
use windlass_protocols::Role;
use windlass_protocols::outcome::{Answer, FindingKind, StepEnd, Trouble};
use windlass_protocols::protocol::goal_contract::end::Cause;
use windlass_protocols::protocol::goal_contract::facts::{Ending, RejectedBy};
use windlass_protocols::protocol::goal_contract::queue::Item;

fn risky() -> Script {
    Script::of(queue(&[Item { risky: true, ..item("F001") }])).asks(Role::Planner, "F001")
}

fn rejected_by(script: &Script) -> Option<RejectedBy> {
    script.state().item("F001").causes.last().map(|failed| failed.by)
}

#[test]
fn a_builder_that_crashes_is_inconclusive_counts_as_an_iteration_and_is_tried_once_more() {
    let script = Script::of(one()).exits(1).captured("tree-1");
    assert!(matches!(script.endings()[..], [Ending::Inconclusive { .. }]), "{:?}", script.endings());
    let script = script.read().asks(Role::Builder, "F001");
    assert_eq!((script.state().iteration, script.state().item("F001").rework), (2, 0));
    let script = script.exits(1).captured("tree-2");
    script.escalates(Cause::BuilderKeepsFailing { item: "F001".to_owned(), why: "exited with 1".to_owned() });
}

#[test]
fn a_builder_that_leaves_no_report_is_asked_for_it_once() {
    let script = Script::of(one()).leaves(Answer::Missing).asks(Role::Builder, "F001");
    assert_eq!(script.faults(), ["the builder left no report"]);
    script.leaves(built()).captured("tree-1").green().asks(Role::Evaluator, "F001");
}

#[test]
fn a_builder_that_never_leaves_a_report_is_inconclusive() {
    let script = Script::of(one()).leaves(malformed()).leaves(malformed()).captured("tree-1");
    assert!(matches!(script.endings()[..], [Ending::Inconclusive { .. }]), "{:?}", script.endings());
}

#[test]
fn a_failure_in_between_is_forgotten_after_a_verdict() {
    let mut files = one();
    files.limits.rework = 5;
    let script = Script::of(files).exits(1).captured("tree-1").read();
    let script = script.judged("tree-2", fail("a:b", "wrong")).read().exits(1).captured("tree-3");
    script.read().asks(Role::Builder, "F001");
}

#[test]
fn a_hung_builder_that_its_time_limit_ended_is_a_failed_one() {
    let script = Script::of(one()).reports(Answer::Missing, |report| report.end = StepEnd::TotalLimit);
    script.captured("tree-1").read().asks(Role::Builder, "F001");
}

#[test]
fn a_builder_that_edits_outside_its_paths_or_another_item_is_stopped_by_name() {
    for (kind, words) in [
        (FindingKind::OutsidePaths, "edited outside the item's paths: src/b.rs"),
        (FindingKind::ItemEdited, "edited the definition of an item: src/b.rs"),
    ] {
        let script = Script::of(one()).leaves(built());
        let script = script.captured_as("tree-1", |change| change.findings = vec![finding(kind, "src/b.rs")]);
        assert_eq!(script.state().item("F001").attempt, None, "nothing is built upon it");
        let what = vec![words.to_owned()];
        script.escalates(Cause::ScopeCreep { item: "F001".to_owned(), what });
    }
}

#[test]
fn scope_creep_stops_the_loop_also_where_failed_items_are_put_aside() {
    let finding = finding(FindingKind::OutsidePaths, "src/b.rs");
    let script = Script::of(parking(two())).leaves(built());
    let what = vec![finding.words()];
    let script = script.captured_as("tree-1", |change| change.findings = vec![finding]);
    script.escalates(Cause::ScopeCreep { item: "F001".to_owned(), what });
}

#[test]
fn a_status_a_commit_and_a_loop_file_of_the_builder_count_for_nothing_and_are_remembered() {
    for kind in [FindingKind::StatusSet, FindingKind::Committed, FindingKind::LoopFile] {
        let script = Script::of(one()).leaves(built());
        let script = script.captured_as("tree-1", |change| change.findings = vec![finding(kind, "F001")]);
        let script = script.green().leaves(pass()).committed();
        let [past] = &script.state().past[..] else { panic!("one iteration is past") };
        assert_eq!(past.findings, [format!("{}: F001", kind.words())]);
    }
}

#[test]
fn deleted_tests_and_secrets_are_rework_before_anybody_is_asked() {
    for (kind, by) in
        [(FindingKind::TestsDeleted, RejectedBy::TestsDeleted), (FindingKind::Secret, RejectedBy::Secret)]
    {
        let script = Script::of(one()).leaves(built());
        let script = script.captured_as("tree-1", |change| change.findings = vec![finding(kind, "src/a.rs")]);
        assert_eq!(rejected_by(&script), Some(by));
        script.read().asks(Role::Builder, "F001");
    }
}

#[test]
fn a_hazard_is_not_looked_at() {
    let script = Script::of(one()).leaves(built());
    let hazards = vec!["a link leads out of the tree".to_owned()];
    let script = script.captured_as("tree-1", |change| change.hazards.clone_from(&hazards));
    script.escalates(Cause::Hazard { item: "F001".to_owned(), hazards });
}

#[test]
fn a_builder_that_changes_nothing_is_told_so_and_is_not_judged() {
    let script = Script::of(one()).builds("base-tree");
    assert_eq!(rejected_by(&script), Some(RejectedBy::NoChange));
    let told = script.read().told();
    assert_eq!(told, ["iteration 1: the builder changed nothing"]);
}

#[test]
fn a_rework_that_leaves_the_failed_tree_as_it_was_changed_nothing() {
    let script = Script::of(one()).judged("tree-1", fail("a:b", "wrong")).read().builds("tree-1");
    assert_eq!(rejected_by(&script), Some(RejectedBy::NoChange));
}

#[test]
fn a_snapshot_that_cannot_be_taken_asks_a_person_and_goes_on_from_there() {
    let script = Script::of(one()).leaves(built()).refused("the index is locked");
    let cause = Cause::CaptureRefused { reason: "the index is locked".to_owned() };
    script.escalates(cause).resumed().captured("tree-1").green().asks(Role::Evaluator, "F001");
}

#[test]
fn a_design_without_files_is_sent_back_once_then_asked_for_afresh_then_a_persons() {
    let script = risky().leaves(design("a.md", &[]));
    assert!(script.faults()[0].contains("names no file"), "{:?}", script.faults());
    let script = script.leaves(design("a.md", &[])).asks(Role::Planner, "F001");
    assert_eq!(script.told(), Vec::<String>::new());
    let script = script.leaves(design("a.md", &[]));
    assert!(matches!(
        script.state().end,
        Some(windlass_protocols::protocol::goal_contract::end::End::Escalated {
            cause: Cause::NoDesign { .. }
        })
    ));
}

#[test]
fn a_planner_that_edits_is_not_believed() {
    let script = risky().edits(design("a.md", &["src/a.rs"]), &["src/a.rs"]).asks(Role::Planner, "F001");
    let script = script.edits(design("a.md", &["src/a.rs"]), &["src/a.rs"]);
    let paths = vec!["src/a.rs".to_owned()];
    script.escalates(Cause::WorkspaceChanged { item: "F001".to_owned(), role: Role::Planner, paths });
}

#[test]
fn a_program_that_is_not_there_needs_a_person() {
    let reason = "no such program".to_owned();
    let script = Script::of(one()).reports(Answer::Missing, |report| {
        report.end = StepEnd::NotStarted { reason: reason.clone() };
    });
    script.escalates(Cause::AgentNotStarted { role: Role::Builder, reason });
}

#[test]
fn a_wrong_key_needs_a_person_and_a_limit_is_waited_for() {
    let why = "no key".to_owned();
    let script = Script::of(one()).has(Trouble::Misconfigured { why: why.clone() });
    script.escalates(Cause::AgentNotStarted { role: Role::Builder, reason: why.clone() });
    let script = Script::of(one()).has(Trouble::Limited { until: None, why });
    assert_eq!(script.waiting().name(), "wait");
    script.answer(windlass_protocols::Outcome::Waited).asks(Role::Builder, "F001");
}
