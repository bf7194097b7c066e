//! People who edit the state file and the roadmap between two looks: stepping back is theirs to do, skipping ahead is put
//! back, and they are told what was seen.

use crate::desk::{approved, implemented, plane, planned, update, with_round, with_update};
use crate::script::{Script, of};
use windlass_protocols::protocol::roadmap_rounds::facts::Fact as RoadmapFact;
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, MilestoneStatus, RetryTarget, RoundStage, UpdateStatus,
};
use windlass_protocols::protocol::roadmap_rounds::steps::{Held, WorkKind};
use windlass_protocols::{CommitId, Digest};

const ROUND: &str = "round-001";

fn implementing() -> Script {
    Script::on(with_round(RoundStage::Implement, planned())).marked()
}

fn noticed(script: &Script) -> Vec<String> {
    let told = script.facts().filter_map(|fact| match fact {
        RoadmapFact::PlaneTaken { noticed, .. } => Some(noticed.clone()),
        _ => None,
    });
    told.flatten().collect()
}

fn says(script: &Script, sentence: &str) {
    assert!(noticed(script).iter().any(|said| said.contains(sentence)), "{:?}", noticed(script));
}

#[test]
fn a_step_back_is_taken_up() {
    let script = implementing().edited(|desk| desk.round(ROUND).stage = RoundStage::Plan);
    let script = script.reports(&of(ROUND, WorkKind::Implement), |_| {});
    says(&script, "somebody set round-001 from implement to plan");
    script.asks(&[of(ROUND, WorkKind::Plan)]);
}

#[test]
fn a_skip_ahead_is_put_back() {
    let script = implementing().edited(|desk| desk.round(ROUND).stage = RoundStage::FinalizeRound);
    let script = script.reports(&of(ROUND, WorkKind::Implement), |_| {});
    script.stands_at(ROUND, RoundStage::Implement).asks(&[of(ROUND, WorkKind::Implement)]);
}

#[test]
fn a_round_that_somebody_blocked_goes_on_where_it_was() {
    let script = Script::on(with_round(RoundStage::Review, implemented())).marked();
    let script = script.edited(|desk| desk.round(ROUND).stage = RoundStage::Blocked);
    let script = script.reviews(ROUND, approved("r1", CloseoutMode::StatusOnly));
    script.stands_at(ROUND, RoundStage::Review).asks(&[of(ROUND, WorkKind::Review)]);
}

#[test]
fn a_round_that_was_given_up_and_set_back_by_hand_is_tried_again() {
    let mut two = with_round(RoundStage::Implement, planned());
    two.max_parallel = 2;
    let mut second = crate::desk::round("round-002", RoundStage::Implement);
    second.evidence.plan = Some(crate::desk::plan("M2", "D2"));
    two.rounds.push(second);
    let script = Script::on(two).edited(|desk| desk.round(ROUND).head = None);
    let script =
        script.reports(&of(ROUND, WorkKind::Implement), |_| {}).stands_at(ROUND, RoundStage::Blocked);
    let script = script.edited(|desk| {
        desk.round(ROUND).head = Some(CommitId::new("mended"));
        desk.round(ROUND).stage = RoundStage::Implement;
    });
    let script = script.implements("round-002");
    let script = script.asks(&[of(ROUND, WorkKind::Implement), of("round-002", WorkKind::Review)]);
    assert!(script.state().given_up.is_empty());
}

#[test]
fn a_round_that_somebody_added_is_taken_up() {
    let script = implementing().edited(|desk| {
        desk.plane.rounds.push(crate::desk::round("round-by-hand", RoundStage::Plan));
        desk.plane.max_parallel = 2;
    });
    let script = script.reports(&of(ROUND, WorkKind::Implement), |_| {});
    says(&script, "somebody added round-by-hand to the state");
    assert!(script.at_work().contains(&of("round-by-hand", WorkKind::Plan)));
}

#[test]
fn a_base_and_a_roadmap_that_somebody_moved_are_told() {
    let script = implementing().edited(|desk| {
        desk.plane.base = CommitId::new("base-9");
        desk.plane.bundle = Digest::new("bundle-9");
        desk.plane.milestones[1].status = MilestoneStatus::Done;
    });
    let script = script.reports(&of(ROUND, WorkKind::Implement), |_| {});
    says(&script, "somebody moved main to base-9");
    says(&script, "somebody edited the roadmap");
}

#[test]
fn a_round_that_makes_way_for_its_update_is_not_told_as_somebodys() {
    let script = Script::on(with_round(RoundStage::Review, implemented())).marked();
    let script = script.reviews(ROUND, approved("r1", CloseoutMode::SemanticUpdateRequired)).merges();
    assert_eq!(noticed(&script), Vec::<String>::new());
}

#[test]
fn our_own_merge_is_not_told_as_somebodys() {
    let script = Script::on(with_round(RoundStage::Review, implemented())).marked();
    let script = script.reviews(ROUND, approved("r1", CloseoutMode::StatusOnly)).merges();
    assert_eq!(noticed(&script), Vec::<String>::new());
}

#[test]
fn an_approval_by_hand_does_not_publish_an_update() {
    let script = Script::on(with_update(update(UpdateStatus::Authoring)));
    let script = script.edited(|desk| desk.update().status = UpdateStatus::Approved);
    let mut script = script.leaves(&of(ROUND, WorkKind::AuthorUpdate), |desk| desk.update().authored = true);
    assert_eq!(script.desk.update().status, UpdateStatus::Review);
    script.asks(&[of(ROUND, WorkKind::ReviewUpdate)]);
}

#[test]
fn an_update_that_is_not_authored_is_not_reviewed_because_somebody_says_so() {
    let script = Script::on(with_update(update(UpdateStatus::Authoring)));
    let script = script.edited(|desk| desk.update().status = UpdateStatus::Review);
    let script = script.reports(&of(ROUND, WorkKind::AuthorUpdate), |_| {});
    script.asks(&[of(ROUND, WorkKind::AuthorUpdate)]);
}

#[test]
fn a_state_file_that_moved_under_a_write_is_read_again_and_nothing_is_lost() {
    let script = Script::unprepared(crate::script::spec(), plane()).prepared().reads().opens().reads();
    let script = script.moves_the_state().keep_house();
    script.stands_at(ROUND, RoundStage::Plan).asks(&[of(ROUND, WorkKind::Plan)]);
}

#[test]
fn a_roadmap_that_somebody_finished_by_hand_ends_after_what_is_live() {
    let script = Script::on(with_round(RoundStage::Review, implemented()));
    let script = script.edited(|desk| {
        desk.plane.milestones.iter_mut().for_each(|known| known.status = MilestoneStatus::Done);
    });
    let script = script.reviews(ROUND, approved("r1", CloseoutMode::StatusOnly)).held(Held::BaseMoved);
    script.merges().ends(|end| end.word() == "complete");
}

#[test]
fn what_a_person_answers_reaches_everybody_until_something_is_merged() {
    let mut hopeless = with_round(RoundStage::Review, implemented());
    hopeless.milestones.truncate(1);
    let blocks = crate::desk::rejected(RetryTarget::Blocked);
    let script = Script::on(hopeless).reviews(ROUND, blocks);
    let looking = of(ROUND, WorkKind::Investigate { update: false });
    let script = script.diagnoses(&looking, false).blocked_by("no lawful retry");
    let hears = |script: &Script, kind: WorkKind| {
        script.told(&of(ROUND, kind)).iter().any(|words| words == "a person says: take the other door")
    };
    let script = script.answered("take the other door");
    assert!(hears(&script, WorkKind::Plan));
    let script = script.plans(ROUND, "D1");
    assert!(hears(&script, WorkKind::Implement), "not only whoever is asked first");
    let script = script.implements(ROUND);
    assert!(hears(&script, WorkKind::Review), "nor only those who make something");
    let script = script.reviews(ROUND, approved("r2", CloseoutMode::StatusOnly)).merges();
    let next = of("round-002", WorkKind::Plan);
    assert!(
        !script.told(&next).iter().any(|words| words.contains("other door")),
        "it was about what is over"
    );
}
