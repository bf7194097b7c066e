//! Each planted bug is caught, and by the check that is there for it; without a bug the same seeds hold.

use windlass_simulator::{Check, PlantedBug, Profile, Report, Violation, failure, reproduce, run_seed};

const SEEDS: u64 = 2_000;

fn first_catch(bug: PlantedBug, healthy: Profile) -> (u64, Report, Violation) {
    let profile = healthy.with_bug(bug);
    let caught = (0..SEEDS).find_map(|seed| {
        let report = run_seed(seed, profile);
        let violation = report.violation.clone()?;
        Some((seed, report, violation))
    });
    caught.unwrap_or_else(|| unreachable!("{bug:?} lived through {SEEDS} seeds"))
}

fn caught_by(bug: PlantedBug, expected: &[Check]) {
    caught_in(Profile::JUDGED_TASK, bug, expected);
}

fn caught_in(profile: Profile, bug: PlantedBug, expected: &[Check]) {
    let (seed, _, violation) = first_catch(bug, profile);
    assert!(expected.contains(&violation.check), "{bug:?} was caught by another check: {violation}");
    // `seeds` plays every seed in question without a bug; this one says that the bug alone made the difference.
    let healthy = run_seed(seed, profile);
    assert_eq!(healthy.violation, None, "seed {seed} without {bug:?}");
}

#[test]
fn nothing_sent_again_after_a_restart_never_ends() {
    caught_by(PlantedBug::NothingSentAgainAfterARestart, &[Check::Ends]);
}

#[test]
fn an_effect_settled_twice_breaks_the_invariants() {
    caught_by(PlantedBug::SettlesTwice, &[Check::Invariants]);
}

#[test]
fn acting_although_the_append_failed_is_seen_by_the_world() {
    // The append of an engine whose lease was taken over fails as well.
    caught_by(PlantedBug::ActsAlthoughTheAppendFailed, &[Check::StoredFirst, Check::Fencing]);
}

#[test]
fn believing_although_the_append_failed_differs_from_the_journal() {
    caught_by(PlantedBug::BelievesAlthoughTheAppendFailed, &[Check::Replay, Check::Fencing]);
}

#[test]
fn ids_that_start_again_name_two_effects() {
    let seen_by = [Check::IdNamesOneEffect, Check::StartedOnce, Check::Invariants];
    caught_by(PlantedBug::CountsEffectsFromZeroAfterARestart, &seen_by);
}

#[test]
fn red_checks_that_count_as_green_break_the_invariants() {
    caught_by(PlantedBug::RedChecksCountAsGreen, &[Check::Invariants]);
}

#[test]
fn red_checks_reported_green_are_known_to_the_world() {
    caught_by(PlantedBug::RedChecksReportedGreen, &[Check::AcceptedInTruth]);
}

#[test]
fn findings_about_the_gate_that_are_overlooked_break_the_invariants() {
    caught_by(PlantedBug::FindingsOverlooked, &[Check::Invariants]);
}

#[test]
fn content_that_was_found_out_and_is_put_back_as_the_best_breaks_the_invariants() {
    let bug = PlantedBug::PutsDoubtedContentBack;
    caught_in(Profile::FEEDBACK_CONTROL, bug, &[Check::Invariants]);
    let (_, _, violation) = first_catch(bug, Profile::FEEDBACK_CONTROL);
    assert!(violation.sentence.contains("put back as the best"), "{violation}");
}

#[test]
fn landing_another_tree_breaks_the_invariants() {
    caught_by(PlantedBug::LandsAnotherTree, &[Check::Invariants]);
}

#[test]
fn a_maker_that_is_told_nothing_breaks_the_invariants() {
    caught_by(PlantedBug::FeedbackDropped, &[Check::Invariants]);
}

#[test]
fn a_budget_that_starts_again_becomes_less() {
    caught_by(PlantedBug::BudgetResetAfterARestart, &[Check::BudgetOnlyGrows]);
}

#[test]
fn a_ghost_that_is_not_fenced_writes() {
    caught_by(PlantedBug::SecondEngineNotFenced, &[Check::Fencing]);
}

#[test]
fn a_stop_acknowledged_before_it_is_stored_can_be_lost() {
    caught_by(PlantedBug::StopAcknowledgedTooEarly, &[Check::StopIsKept]);
}

#[test]
fn a_stop_forgotten_by_a_restart_differs_from_the_journal() {
    caught_by(PlantedBug::StopForgottenAfterARestart, &[Check::Replay, Check::Invariants]);
}

#[test]
fn an_effect_carried_out_again_is_seen_by_the_world() {
    caught_by(PlantedBug::CarriesOutAgain, &[Check::StartedOnce]);
}

#[test]
fn an_end_without_closing_breaks_the_invariants() {
    caught_by(PlantedBug::EndsWithoutClosing, &[Check::Invariants]);
}

#[test]
fn landing_again_with_another_time_makes_a_second_commit() {
    caught_by(PlantedBug::LandsAgainWithAnotherTime, &[Check::LandedOnce]);
}

#[test]
fn time_from_outside_tells_another_story_the_second_time() {
    caught_by(PlantedBug::TimeFromOutside, &[Check::Deterministic]);
}

#[test]
fn failing_sensors_that_count_as_passing_break_the_invariants() {
    let bug = PlantedBug::FailingSensorsCountAsPassing;
    caught_in(Profile::FEEDBACK_CONTROL, bug, &[Check::Invariants]);
}

#[test]
fn failing_sensors_reported_passing_are_known_to_the_plant() {
    let bug = PlantedBug::FailingSensorsReportedPassing;
    caught_in(Profile::FEEDBACK_CONTROL, bug, &[Check::MetInTruth]);
}

#[test]
fn committing_another_tree_breaks_the_invariants() {
    caught_in(Profile::FEEDBACK_CONTROL, PlantedBug::CommitsAnotherTree, &[Check::Invariants]);
}

#[test]
fn committing_again_with_another_time_makes_a_second_commit() {
    caught_in(Profile::FEEDBACK_CONTROL, PlantedBug::CommitsAgainWithAnotherTime, &[Check::CommittedOnce]);
}

#[test]
fn an_actuation_beyond_the_cap_breaks_the_invariants() {
    caught_in(Profile::FEEDBACK_CONTROL, PlantedBug::ActsOnceMoreThanTheCap, &[Check::Invariants]);
}

#[test]
fn iterations_without_a_bound_are_seen_on_the_branch() {
    caught_in(Profile::FEEDBACK_CONTROL, PlantedBug::OpensIterationsForEver, &[Check::Capped]);
}

#[test]
fn measuring_the_tree_before_breaks_the_invariants() {
    caught_in(Profile::FEEDBACK_CONTROL, PlantedBug::MeasuresTheTreeBefore, &[Check::Invariants]);
}

#[test]
fn an_iteration_that_is_said_to_be_committed_and_is_not_is_missed_on_the_branch() {
    caught_in(Profile::FEEDBACK_CONTROL, PlantedBug::SkipsCommits, &[Check::CommittedOnce]);
}

#[test]
fn an_agent_that_may_use_nothing_is_not_asked() {
    caught_in(Profile::FEEDBACK_CONTROL, PlantedBug::AsksWithoutRoom, &[Check::RoomToWork]);
}

#[test]
fn the_general_bugs_are_caught_in_a_control_loop_too() {
    let bugs = [
        (PlantedBug::NothingSentAgainAfterARestart, Check::Ends),
        (PlantedBug::SettlesTwice, Check::Invariants),
        (PlantedBug::BudgetResetAfterARestart, Check::BudgetOnlyGrows),
        (PlantedBug::CarriesOutAgain, Check::StartedOnce),
        (PlantedBug::EndsWithoutClosing, Check::Invariants),
    ];
    for (bug, check) in bugs {
        caught_in(Profile::FEEDBACK_CONTROL, bug, &[check]);
    }
}

#[test]
fn the_copy_of_the_engine_without_a_bug_leaves_the_same_journal_as_the_real_one() {
    for profile in [Profile::JUDGED_TASK, Profile::FEEDBACK_CONTROL] {
        for seed in 0..30 {
            let real = run_seed(seed, profile);
            let copy = run_seed(seed, profile.with_bug(PlantedBug::None));
            assert_eq!(copy.violation, None);
            assert_eq!(copy.journal, real.journal, "seed {seed}");
        }
    }
}

#[test]
fn a_failure_is_made_small_and_tells_how_to_see_it_again() {
    let bug = PlantedBug::LandsAnotherTree;
    let profile = Profile::JUDGED_TASK.with_bug(bug);
    let (seed, report, violation) = first_catch(bug, Profile::JUDGED_TASK);
    let small = failure(seed, &report, &violation, profile);
    assert!(small.shrunk.len() < report.choices.len(), "nothing was left out of {:?}", report.choices);
    let told = reproduce(&small.shrunk, profile);
    assert_eq!(told.violation.map(|found| found.check), Some(violation.check));
    let text = small.to_string();
    assert!(text.contains(&format!("seed {seed} fails")) && text.contains("   1  "), "{text}");
    assert!(text.contains("PlantedBug::LandsAnotherTree"), "{text}");
    assert_eq!(reproduce(&small.shrunk, Profile::JUDGED_TASK).violation, None);
}
