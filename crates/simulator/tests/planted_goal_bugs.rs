//! Each bug planted in a goal loop is caught, by the check and with the sentence that is there for it.

use windlass_simulator::{Check, GoalBug, PlantedBug, Profile, run_seed};

const SEEDS: u64 = 600;

/// The sentence is empty where the check itself says everything.
fn caught(bug: PlantedBug, check: Check, sentence: &str) {
    let profile = Profile::GOAL_CONTRACT.with_bug(bug);
    let found = (0..SEEDS).find_map(|seed| Some((seed, run_seed(seed, profile).violation?)));
    let (seed, violation) = found.unwrap_or_else(|| unreachable!("{bug:?} lived through {SEEDS} seeds"));
    assert_eq!(violation.check, check, "{bug:?} was caught by another check: {violation}");
    assert!(violation.sentence.contains(sentence), "{bug:?} was caught by another sentence: {violation}");
    let healthy = run_seed(seed, Profile::GOAL_CONTRACT);
    assert_eq!(healthy.violation, None, "seed {seed} without {bug:?}");
}

fn breaks(bug: GoalBug, sentence: &str) {
    caught(PlantedBug::Goal(bug), Check::Invariants, sentence);
}

#[test]
fn a_fact_of_another_loop_is_seen() {
    breaks(GoalBug::RecordsAnotherLoopsFact, "a fact of another loop");
}

#[test]
fn an_end_without_its_summary_is_seen() {
    caught(PlantedBug::EndsWithoutClosing, Check::Invariants, "ended without its summary");
}

#[test]
fn a_run_that_awaits_a_word_and_is_simply_taken_up_is_seen() {
    breaks(GoalBug::TakesUpWhatAwaitsAWord, "was taken up without one");
}

#[test]
fn an_approval_of_what_was_not_proposed_is_seen() {
    breaks(GoalBug::ApprovesAnything, "a person approved what was not proposed");
}

#[test]
fn a_person_who_is_not_heard_is_missed() {
    caught(PlantedBug::Goal(GoalBug::HearsNoApproval), Check::PersonHeard, "approve was refused");
}

#[test]
fn two_steps_at_once_are_seen() {
    breaks(GoalBug::AsksForTwoSteps, "a second effect was requested");
}

#[test]
fn work_under_a_persons_hands_is_seen() {
    breaks(GoalBug::WorksUnderAPersonsHands, "is not for whoever has the work in hand");
}

#[test]
fn work_after_a_request_to_stop_is_seen() {
    breaks(GoalBug::IgnoresAStop, "after a request to stop");
}

#[test]
fn more_than_one_step_beyond_a_cap_is_seen() {
    breaks(GoalBug::SpendsWithoutEnd, "with nothing left of a cap");
}

#[test]
fn an_agent_that_may_use_nothing_is_not_asked() {
    caught(PlantedBug::AsksWithoutRoom, Check::RoomToWork, "may use nothing");
}

#[test]
fn a_question_about_another_item_is_seen() {
    breaks(GoalBug::AsksAboutAnotherItem, "an item that is not the iteration's");
}

#[test]
fn a_third_try_of_a_known_cause_is_seen() {
    breaks(GoalBug::ForgetsCauses, "a third try after the same root cause twice");
}

#[test]
fn a_commit_beside_the_branch_is_seen() {
    breaks(GoalBug::CommitsOnAnotherParent, "a commit is not made on the one before it");
}

#[test]
fn a_tree_that_nobody_tested_is_not_committed() {
    breaks(GoalBug::CommitsAnotherTree, "a tree is to be committed");
}

#[test]
fn a_commit_asked_for_again_with_another_time_is_a_second_one() {
    caught(PlantedBug::Goal(GoalBug::CommitsAgainWithAnotherTime), Check::CommittedOnce, "");
}

#[test]
fn a_commit_that_is_said_to_be_made_and_is_not_is_missed_on_the_branch() {
    caught(PlantedBug::SkipsCommits, Check::CommittedOnce, "the branch");
}

#[test]
fn red_suites_that_count_as_green_are_seen() {
    breaks(GoalBug::RedSuitesCountAsGreen, "on which the suite was not green");
}

#[test]
fn red_suites_that_are_reported_green_are_known_to_the_world() {
    caught(PlantedBug::Goal(GoalBug::RedSuitesReportedGreen), Check::JudgedInTruth, "the suite is red");
}

#[test]
fn fails_that_count_as_passes_are_seen() {
    breaks(GoalBug::FailsCountAsPasses, "no evaluator passed");
}

#[test]
fn fails_that_are_reported_as_passes_are_known_to_the_world() {
    let bug = PlantedBug::Goal(GoalBug::FailsReportedAsPasses);
    caught(bug, Check::JudgedInTruth, "no evaluator passed");
}

#[test]
fn findings_about_the_gate_that_are_overlooked_are_seen() {
    breaks(GoalBug::OverlooksFindings, "which nobody waived");
}

#[test]
fn a_change_of_tests_that_is_not_measured_without_them_is_seen() {
    breaks(GoalBug::NeverInspects, "without the checks having run with the base's own tests");
}

#[test]
fn a_commit_without_approval_at_l1_is_seen() {
    breaks(GoalBug::CommitsWithoutApproval, "at L1 a tree is to be committed that no person approved");
}

#[test]
fn a_commit_without_tests_at_a_level_that_needs_them_is_seen() {
    breaks(GoalBug::RunsWithoutTests, "without tests at a level that needs them");
}

#[test]
fn a_commit_that_was_there_before_is_seen() {
    breaks(GoalBug::ReportsAnOldCommit, "one commit was made twice");
}

#[test]
fn an_iteration_opened_twice_is_seen() {
    breaks(GoalBug::OpensAnIterationTwice, "an iteration was opened while one was open");
}

#[test]
fn a_wrong_count_of_iterations_is_seen() {
    breaks(GoalBug::CountsIterationsByTwo, "iterations are not counted one by one");
}

#[test]
fn an_item_outside_the_scope_is_seen() {
    breaks(GoalBug::LeavesTheScope, "an item outside the scope was begun");
}

#[test]
fn an_item_that_was_put_aside_is_not_begun() {
    breaks(GoalBug::ForgetsWhatWasPutAside, "an item that was put aside was begun");
}

#[test]
fn one_iteration_too_many_is_seen() {
    breaks(GoalBug::OneIterationMore, "more iterations than the cap");
}

#[test]
fn the_end_of_another_items_iteration_is_seen() {
    breaks(GoalBug::EndsAnotherItem, "an iteration ended that was not open");
}

#[test]
fn one_rework_too_many_is_seen() {
    breaks(GoalBug::ForgetsRework, "more rework than the cap");
}

#[test]
fn an_acceptance_without_a_commit_is_seen() {
    breaks(GoalBug::AcceptsWithoutACommit, "accepted that was not committed");
}

#[test]
fn two_commits_of_one_item_are_seen() {
    breaks(GoalBug::RecordsACommitTwice, "an item has two commits");
}

#[test]
fn a_cap_on_commits_that_was_not_reached_is_no_end() {
    breaks(GoalBug::BlamesTheCapOnCommits, "a cap on commits that was not reached");
}

#[test]
fn nobody_is_asked_to_approve_what_no_evaluator_passed() {
    breaks(GoalBug::ProposesAnotherTree, "asked to approve what no evaluator passed");
}

#[test]
fn a_success_with_open_items_is_seen() {
    breaks(GoalBug::SucceedsWithOpenItems, "success with open items");
}

#[test]
fn a_success_without_a_queue_is_seen() {
    breaks(GoalBug::SucceedsWithoutAQueue, "success without a queue");
}

#[test]
fn a_counter_that_a_restart_loses_is_seen() {
    caught(PlantedBug::Goal(GoalBug::LosesACounterAfterARestart), Check::CountersOnlyGrow, "counters were");
}

#[test]
fn the_general_bugs_are_caught_in_a_goal_loop_too() {
    let bugs = [
        (PlantedBug::NothingSentAgainAfterARestart, Check::Ends),
        (PlantedBug::SettlesTwice, Check::Invariants),
        (PlantedBug::BudgetResetAfterARestart, Check::BudgetOnlyGrows),
        (PlantedBug::CarriesOutAgain, Check::StartedOnce),
        (PlantedBug::SecondEngineNotFenced, Check::Fencing),
    ];
    for (bug, check) in bugs {
        caught(bug, check, "");
    }
}

#[test]
fn the_copy_of_the_engine_without_a_bug_leaves_the_same_journal_as_the_real_one() {
    for seed in 0..30 {
        let real = run_seed(seed, Profile::GOAL_CONTRACT);
        let copy = run_seed(seed, Profile::GOAL_CONTRACT.with_bug(PlantedBug::None));
        assert_eq!(copy.violation, None);
        assert_eq!(copy.journal, real.journal, "seed {seed}");
    }
}
