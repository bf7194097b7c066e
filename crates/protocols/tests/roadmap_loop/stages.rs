//! Sections 6, 8 and 22: the controller's stages, what a run does first on a plane, and when it may claim success.

use crate::desk::{approved, implemented, plane, planned, round, update, with_round, with_update};
use crate::script::{Script, of, spec};
use windlass_protocols::inbox;
use windlass_protocols::protocol::roadmap_rounds::end::End;
use windlass_protocols::protocol::roadmap_rounds::facts::Fact as RoadmapFact;
use windlass_protocols::protocol::roadmap_rounds::outlook::{outlook, outlook_of};
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, ControllerStage, MilestoneStatus, Plane, RoundStage, UpdateStatus,
};
use windlass_protocols::protocol::roadmap_rounds::steps::WorkKind;

const ROUND: &str = "round-001";

fn done(mut plane: Plane) -> Plane {
    plane.milestones.iter_mut().for_each(|known| known.status = MilestoneStatus::Done);
    plane
}

fn merges(script: Script, closeout: CloseoutMode) -> Script {
    script.plans(ROUND, "D1").implements(ROUND).reviews(ROUND, approved("r1", closeout)).merges()
}

#[test]
fn nothing_live_and_open_milestones_open_one_round_and_ask_its_planner() {
    let script = Script::on(plane()).asks(&[of(ROUND, WorkKind::Plan)]).stands_at(ROUND, RoundStage::Plan);
    assert_eq!(script.desk.plane.stage, ControllerStage::DispatchRounds);
    assert_eq!(script.times("round-opened"), 1);
}

#[test]
fn a_stale_done_goes_back_to_dispatching() {
    let script = Script::on(Plane { stage: ControllerStage::Done, ..plane() });
    assert_eq!(script.desk.plane.stage, ControllerStage::DispatchRounds);
    let noticed = script.facts().any(|fact| {
        matches!(fact, RoadmapFact::PlaneTaken { noticed, .. } if noticed.iter().any(|said| said.contains("says done")))
    });
    assert!(noticed, "{:#?}", script.names());
    script.asks(&[of(ROUND, WorkKind::Plan)]);
}

#[test]
fn a_merged_round_with_open_milestones_is_followed_by_another() {
    let script = merges(Script::on(plane()), CloseoutMode::StatusOnly);
    assert_eq!(script.desk.plane.stage, ControllerStage::DispatchRounds);
    script.asks(&[of("round-002", WorkKind::Plan)]);
}

#[test]
fn the_last_milestone_ends_the_run_as_done() {
    let mut one = plane();
    one.milestones.truncate(1);
    let script = Script::on(one).plans(ROUND, "D1").implements(ROUND);
    let script = script.reviews(ROUND, approved("r1", CloseoutMode::StatusOnly));
    let script = script.edited(|desk| desk.plane.milestones[0].status = MilestoneStatus::Done);
    let script = script.merges().ends(|end| *end == End::Complete);
    assert_eq!(script.desk.plane.stage, ControllerStage::Done);
    assert!(script.desk.plane.is_complete());
}

#[test]
fn a_done_plane_is_complete_at_once_and_nobody_is_asked() {
    let script = Script::on(done(Plane { stage: ControllerStage::Done, ..plane() }));
    let script = script.ends(|end| *end == End::Complete);
    assert_eq!(script.times("round-opened"), 0);
}

#[test]
fn success_is_not_claimed_while_an_error_stands() {
    let mut wrong = done(plane());
    wrong.errors.insert("controller".to_owned(), "it stood still".to_owned());
    let script = Script::on(wrong);
    assert_eq!(script.times("recovered"), 1, "the error is left behind first");
    let script = script.ends(|end| *end == End::Complete);
    assert!(script.desk.plane.errors.is_empty());
}

#[test]
fn success_is_not_claimed_while_a_round_is_live() {
    let live = done(with_round(RoundStage::Implement, planned()));
    Script::on(live).asks(&[of(ROUND, WorkKind::Implement)]);
}

#[test]
fn a_state_that_says_done_beside_a_live_round_is_done_only_when_that_round_is_over() {
    let live = done(with_round(RoundStage::Implement, planned()));
    let script = Script::on(Plane { stage: ControllerStage::Done, ..live });
    let script = script.asks(&[of(ROUND, WorkKind::Implement)]);
    assert_eq!(script.desk.plane.stage, ControllerStage::DispatchRounds, "the claim is taken back at once");
    let script = script.implements(ROUND).reviews(ROUND, approved("r1", CloseoutMode::None));
    assert_eq!(script.desk.plane.stage, ControllerStage::DispatchRounds);
    let script = script.merges().ends(|end| *end == End::Complete);
    assert_eq!(script.desk.plane.stage, ControllerStage::Done);
}

#[test]
fn a_state_that_says_done_beside_an_update_goes_on_with_the_update() {
    let both = done(Plane { stage: ControllerStage::Done, ..with_update(update(UpdateStatus::Review)) });
    let script = Script::on(both).asks(&[of(ROUND, WorkKind::ReviewUpdate)]);
    assert_eq!(script.desk.plane.stage, ControllerStage::UpdateRoadmap);
}

#[test]
fn a_merged_round_that_asks_for_it_brings_the_roadmap_update() {
    let script = merges(Script::on(plane()), CloseoutMode::SemanticUpdateRequired);
    assert_eq!(script.desk.plane.stage, ControllerStage::UpdateRoadmap);
    assert!(script.desk.plane.rounds.is_empty());
    script.asks(&[of(ROUND, WorkKind::AuthorUpdate)]);
}

#[test]
fn a_planners_request_cancels_its_round_and_brings_the_roadmap_update() {
    let script = Script::on(plane());
    let script = script.leaves(&of(ROUND, WorkKind::Plan), |desk| desk.round(ROUND).evidence.request = true);
    assert_eq!(script.desk.plane.stage, ControllerStage::UpdateRoadmap);
    assert!(script.desk.plane.rounds.is_empty(), "removed before the update begins");
    script.asks(&[of(ROUND, WorkKind::AuthorUpdate)]);
}

#[test]
fn an_update_is_resumed_before_anything_else() {
    let mut both = with_update(update(UpdateStatus::Authoring));
    both.rounds.push(round("round-002", RoundStage::Plan));
    Script::on(both).asks(&[of(ROUND, WorkKind::AuthorUpdate)]);
}

#[test]
fn the_stage_update_roadmap_without_an_update_is_stale() {
    let script = Script::on(Plane { stage: ControllerStage::UpdateRoadmap, ..plane() });
    assert_eq!(script.desk.plane.stage, ControllerStage::DispatchRounds);
    script.asks(&[of(ROUND, WorkKind::Plan)]);
}

#[test]
fn an_update_under_another_stage_brings_the_stage_with_it() {
    let odd =
        Plane { stage: ControllerStage::DispatchRounds, ..with_update(update(UpdateStatus::Authoring)) };
    let script =
        Script::on(odd).leaves(&of(ROUND, WorkKind::AuthorUpdate), |desk| desk.update().authored = true);
    assert_eq!(script.desk.plane.stage, ControllerStage::UpdateRoadmap);
}

#[test]
fn blocked_is_left_at_once_and_its_errors_with_it() {
    let mut blocked = with_round(RoundStage::Implement, planned());
    blocked.stage = ControllerStage::Blocked;
    blocked.errors.insert("controller".to_owned(), "nobody answered".to_owned());
    let script = Script::on(blocked);
    assert_eq!(script.desk.plane.stage, ControllerStage::DispatchRounds);
    assert!(script.desk.plane.errors.is_empty());
    script.asks(&[of(ROUND, WorkKind::Implement)]);
}

#[test]
fn blocked_with_an_update_goes_back_to_the_update() {
    let blocked = Plane { stage: ControllerStage::Blocked, ..with_update(update(UpdateStatus::Blocked)) };
    let script = Script::on(blocked);
    assert_eq!(script.desk.plane.stage, ControllerStage::UpdateRoadmap);
    script.asks(&[of(ROUND, WorkKind::AuthorUpdate)]);
}

#[test]
fn when_nothing_lawful_is_left_the_precise_text_stands_in_the_file() {
    let mut script = Script::on(with_round(RoundStage::Implement, planned()));
    script.desk.round(ROUND).head = None;
    let script = script.reports(&of(ROUND, WorkKind::Implement), |_| {});
    let script = script.blocked_by("its branch orchestrator/round-001-walls is gone");
    assert_eq!(script.desk.plane.stage, ControllerStage::Blocked);
    let error = script.desk.plane.errors.get("controller").cloned().unwrap_or_default();
    assert!(error.contains("is gone"), "{error}");
    assert_eq!(script.desk.plane.round(ROUND).map(|round| round.stage), Some(RoundStage::Blocked));
}

#[test]
fn one_live_round_is_resumed_at_its_stage() {
    Script::on(with_round(RoundStage::Review, implemented())).asks(&[of(ROUND, WorkKind::Review)]);
    Script::on(with_round(RoundStage::Implement, planned())).asks(&[of(ROUND, WorkKind::Implement)]);
}

#[test]
fn a_run_that_may_open_no_more_rounds_says_so() {
    let mut one = spec();
    one.caps.rounds = 1;
    let script = merges(Script::with(one, plane()), CloseoutMode::StatusOnly);
    let script = script.ends(|end| *end == End::RoundsUsed);
    script.reopened(1).asks(&[of("round-002", WorkKind::Plan)]);
}

#[test]
fn a_run_that_is_given_one_round_finishes_the_live_one_and_opens_none() {
    let mut one = spec();
    one.caps.rounds = 1;
    let script = Script::with(one, with_round(RoundStage::Implement, planned()));
    let script = script.implements(ROUND).reviews(ROUND, approved("r1", CloseoutMode::StatusOnly)).merges();
    let script = script.ends(|end| *end == End::RoundsUsed);
    assert_eq!(script.state().opened, 0);
    script.reopened(1).asks(&[of("round-002", WorkKind::Plan)]);
}

#[test]
fn a_plane_that_cannot_be_read_is_not_ready_and_nothing_is_written() {
    let script = Script::unprepared(spec(), plane()).prepared();
    let script = script.refuses("read-plane", "state.json: line 3: no comma");
    let script = script.ends(|end| matches!(end, End::NotReady { why } if why.contains("no comma")));
    assert_eq!(script.desk.counter, 0, "nobody wrote");
    assert_eq!(inbox::waiting(script.run()), None, "it never began");
}

#[test]
fn a_plane_that_cannot_be_read_in_the_middle_is_waited_for_in_the_inbox() {
    let mut script = Script::on(with_round(RoundStage::Implement, planned()));
    script.refusing = Some(("read-plane", "roadmap.md: it is not what is committed"));
    let script = script.implements(ROUND).ends(|end| matches!(end, End::NotReady { .. }));
    let waiting = inbox::waiting(script.run()).expect("a person is waited for");
    assert!(waiting.cause.contains("not what is committed"), "{waiting:?}");
    assert!(waiting.commands.iter().any(|command| command == "windlass retry run-1"), "{waiting:?}");
}

#[test]
fn the_outlook_says_what_a_run_would_do_first() {
    assert_eq!(outlook(&plane()), "open round-001 and ask its planner");
    assert_eq!(outlook(&done(plane())), "note that every milestone is done, and stop");
    let over = Plane { stage: ControllerStage::Done, ..done(plane()) };
    assert_eq!(outlook(&over), "stop: every milestone is done");
    assert_eq!(
        outlook(&with_update(update(UpdateStatus::Review))),
        "ask the reviewer of the roadmap update to rev-002 (attempt 1)"
    );
    let mut planned = with_round(RoundStage::Plan, planned());
    assert_eq!(
        outlook(&planned),
        "take round-001 from plan to implement: planned: item-D1 of D1, milestone M1"
    );
    planned.rounds[0].stage = RoundStage::Blocked;
    let left = "leave the blockage and go on from what the artifacts prove: round-001 (at implement)";
    assert_eq!(outlook(&planned), left);
}

#[test]
fn the_outlook_is_the_decision_of_a_run_and_no_story_about_it() {
    let gone = {
        let mut plane = with_round(RoundStage::Implement, planned());
        plane.rounds[0].head = None;
        plane
    };
    assert_eq!(outlook(&gone), "give up round-001: its branch orchestrator/round-001-walls is gone");
    let mut swept = with_round(RoundStage::Implement, planned());
    swept.rounds[0].worktree_stands = false;
    assert_eq!(outlook(&swept), "bring back the worktree orchestrator/worktrees/round-001 of round-001");
    let merged = {
        let mut plane = with_round(RoundStage::FinalizeRound, planned());
        plane.rounds[0].evidence.merged = true;
        plane
    };
    assert_eq!(outlook(&merged), "take round-001 out of the state, for it is merged");
    let mut used = spec();
    used.caps.rounds = 1;
    let live = with_round(RoundStage::Implement, planned());
    assert_eq!(outlook_of(&used, &live), "ask the implementer of round-001 (implement)");
}
