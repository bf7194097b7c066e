//! Each bug planted in a roadmap loop is caught, by the check and with the sentence that is there for it.

use windlass_simulator::{Check, PlantedBug, Profile, RoadmapBug, run_seed};

const SEEDS: u64 = 600;

/// The sentence is empty where the check itself says everything.
fn caught(bug: PlantedBug, check: Check, sentence: &str) {
    let profile = Profile::ROADMAP_ROUNDS.with_bug(bug);
    let found = (0..SEEDS).find_map(|seed| Some((seed, run_seed(seed, profile).violation?)));
    let (seed, violation) = found.unwrap_or_else(|| unreachable!("{bug:?} lived through {SEEDS} seeds"));
    assert_eq!(violation.check, check, "{bug:?} was caught by another check: {violation}");
    assert!(violation.sentence.contains(sentence), "{bug:?} was caught by another sentence: {violation}");
    let healthy = run_seed(seed, Profile::ROADMAP_ROUNDS);
    assert_eq!(healthy.violation, None, "seed {seed} without {bug:?}");
}

fn breaks(bug: RoadmapBug, sentence: &str) {
    caught(PlantedBug::Roadmap(bug), Check::Invariants, sentence);
}

#[test]
fn a_fact_of_another_loop_is_seen() {
    breaks(RoadmapBug::RecordsAnotherLoopsFact, "a fact of another loop");
}

#[test]
fn an_end_without_a_conclusion_is_seen() {
    breaks(RoadmapBug::DropsItsConclusion, "it ended without a conclusion");
}

#[test]
fn findings_about_the_gate_that_are_overlooked_are_seen() {
    breaks(RoadmapBug::OverlooksFindings, "which nobody waived");
}

#[test]
fn a_round_that_is_not_measured_without_its_own_tests_is_seen() {
    breaks(RoadmapBug::NeverInspects, "without the checks having run with the base's own tests");
}

#[test]
fn a_simple_round_that_is_believed_over_red_checks_is_seen() {
    breaks(RoadmapBug::OverlooksRedChecks, "is merged with red checks");
}

#[test]
fn a_merge_without_a_look_at_the_gate_is_seen() {
    breaks(RoadmapBug::MergesWithoutALook, "is merged without a look at its gate");
}

#[test]
fn two_steps_of_the_controller_at_once_are_seen() {
    breaks(RoadmapBug::AsksForTwoSteps, "while another step of the controller is under way");
}

#[test]
fn more_agents_than_rounds_may_be_live_are_seen() {
    breaks(RoadmapBug::ForgetsAgentsAtWork, "more agents at once than rounds may be live");
}

#[test]
fn a_live_round_too_many_is_seen() {
    breaks(RoadmapBug::OpensARoundTooMany, "is one live round too many");
}

#[test]
fn two_at_work_in_one_worktree_are_seen() {
    breaks(RoadmapBug::WorksWhereSomebodyWorks, "where somebody is at work");
}

#[test]
fn agents_after_the_conclusion_are_seen() {
    breaks(RoadmapBug::GoesOnAfterTheConclusion, "after the conclusion");
}

#[test]
fn agents_after_a_request_to_stop_are_seen() {
    breaks(RoadmapBug::IgnoresAStop, "an agent is asked after a request to stop");
}

#[test]
fn agents_with_nothing_left_of_a_cap_are_seen() {
    breaks(RoadmapBug::SpendsWithoutEnd, "an agent is asked with nothing left of the");
}

#[test]
fn an_update_by_another_file_is_seen() {
    breaks(RoadmapBug::PublishesByAnotherFile, "an update is published without an approval of exactly that");
}

#[test]
fn an_update_of_another_commit_than_the_approved_one_is_seen() {
    breaks(RoadmapBug::PublishesAnotherHead, "an update is published without an approval of exactly that");
}

#[test]
fn an_update_that_breaks_a_rule_is_seen() {
    breaks(RoadmapBug::PublishesWhatBreaksARule, "an update is published that breaks a rule");
}

#[test]
fn a_merge_under_words_that_nobody_held_it_against_is_seen() {
    breaks(
        RoadmapBug::MergesUnderOtherWords,
        "is merged under words of the roadmap that nobody held it against",
    );
}

#[test]
fn a_merge_by_another_file_is_seen() {
    breaks(RoadmapBug::MergesByAnotherFile, "is merged without an approval of exactly that");
}

#[test]
fn a_merge_of_another_commit_is_seen() {
    breaks(RoadmapBug::MergesAnotherHead, "is merged without an approval of exactly that");
}

#[test]
fn a_merge_ahead_of_the_declared_order_is_seen() {
    breaks(RoadmapBug::MergesAhead, "is merged ahead of its declared order");
}

#[test]
fn a_merge_under_another_revision_is_seen() {
    breaks(RoadmapBug::MergesUnderAnotherRevision, "under another revision than it was planned for");
}

#[test]
fn a_merge_while_the_roadmap_is_updated_is_seen() {
    // Who forgets the update may claim success over it first, which is caught by another sentence.
    let profile =
        Profile::ROADMAP_ROUNDS.with_bug(PlantedBug::Roadmap(RoadmapBug::MergesWhileTheRoadmapIsUpdated));
    let mut found = (0..SEEDS).filter_map(|seed| run_seed(seed, profile).violation);
    assert!(found.any(|violation| violation.sentence.contains("while the roadmap is updated")));
}

#[test]
fn a_second_merge_is_seen() {
    breaks(RoadmapBug::MergesASecondTime, "is merged a second time");
}

#[test]
fn a_skipped_review_is_seen() {
    breaks(RoadmapBug::SkipsTheReview, "goes from implement to finalize-round");
}

#[test]
fn a_round_that_is_sent_back_from_its_merge_without_end_is_seen() {
    breaks(RoadmapBug::SendsBackWithoutEnd, "is sent back from its merge for the");
}

#[test]
fn two_updates_at_once_are_seen() {
    breaks(RoadmapBug::OpensTwoUpdates, "two roadmap updates at once");
}

#[test]
fn more_rounds_than_the_run_may_open_are_seen() {
    breaks(RoadmapBug::OpensRoundsForEver, "is more than the rounds of this run");
}

#[test]
fn a_success_with_open_milestones_is_seen() {
    breaks(RoadmapBug::SucceedsWithOpenMilestones, "success is claimed over an open milestone");
}

#[test]
fn a_success_that_the_repository_does_not_know_of_is_seen() {
    let bug = PlantedBug::Roadmap(RoadmapBug::ReadsEveryMilestoneAsDone);
    caught(bug, Check::AcceptedInTruth, "the repository says otherwise");
}

#[test]
fn an_old_review_that_counts_for_new_work_is_known_to_the_world() {
    let bug = PlantedBug::Roadmap(RoadmapBug::TakesOldReviewsForNew);
    caught(bug, Check::JudgedInTruth, "its reviewer never saw");
}

#[test]
fn a_counter_that_a_restart_loses_is_seen() {
    let bug = PlantedBug::Roadmap(RoadmapBug::LosesACounterAfterARestart);
    caught(bug, Check::CountersOnlyGrow, "counters were");
}

#[test]
fn an_agent_that_may_use_nothing_is_not_asked() {
    caught(PlantedBug::AsksWithoutRoom, Check::RoomToWork, "may use nothing");
}

#[test]
fn the_general_bugs_are_caught_in_a_roadmap_loop_too() {
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
        let real = run_seed(seed, Profile::ROADMAP_ROUNDS);
        let copy = run_seed(seed, Profile::ROADMAP_ROUNDS.with_bug(PlantedBug::None));
        assert_eq!(copy.violation, None);
        assert_eq!(copy.journal, real.journal, "seed {seed}");
    }
}
