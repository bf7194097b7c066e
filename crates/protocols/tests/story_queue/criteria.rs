//! Single criteria: every story has a status for each of its own, given by whoever may verify it, with evidence.

use crate::world::{World, criterion};
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::decide::Decided;
use windlass_protocols::protocol::story_queue::plan::{self, CriterionStatus, EditForce, StoryEdit};
use windlass_protocols::protocol::story_queue::refusal::Kind;
use windlass_protocols::protocol::story_queue::vocabulary::StoryId;
use windlass_protocols::protocol::story_queue::work::{
    self, CriterionVerdict, Judge, JudgeCriterion, JudgeOne, MarkComplete, Reject, Verdict, VerifiedStatus,
    VerifyAll,
};

fn saying(status: CriterionStatus) -> JudgeCriterion {
    JudgeCriterion { ac_id: "AC-1".to_owned(), status, evidence: Some("tests/a.rs".to_owned()) }
}

fn said(world: &mut World, by: &Caller, id: StoryId, status: CriterionStatus) -> Decided<CriterionVerdict> {
    world.ask(by, |draft| work::judge_criterion(draft, id, saying(status)))
}

#[test]
fn a_failed_criterion_keeps_a_story_open_on_every_path() {
    let mut world = World::new();
    let id = world.story("1.1");
    world.report(id);
    world.review(id);
    let verifier = world.verifier.clone();
    let verdict = said(&mut world, &verifier, id, CriterionStatus::Failed).unwrap();
    assert_eq!((verdict.by.agent, verdict.evidence.as_deref()), (verifier.agent, Some("tests/a.rs")));
    let refusal = world.refused(&verifier, |draft| work::verify(draft, id, Judge::default()));
    assert_eq!((refusal.kind, refusal.code), (Kind::Invalid, Some("criterion_failed")));
    let one = vec![JudgeOne { story: id, ask: Judge::default() }];
    let done = vec![JudgeOne { story: id, ask: MarkComplete::default() }];
    let epic = world.epic(1);
    let tried = [
        world.must(&verifier, |draft| work::bulk_verify(draft, one)),
        world.must(&verifier, |draft| work::bulk_mark_complete(draft, done)),
        world.must(&verifier, |draft| work::verify_all(draft, epic, VerifyAll::default())),
    ];
    for results in tried {
        assert_eq!(results[0].1.as_ref().unwrap_err().code, Some("criterion_failed"));
    }
    let partial = Judge { result: Some(Verdict::Partial), ..Judge::default() };
    world.must(&verifier, |draft| work::verify(draft, id, partial));
    said(&mut world, &verifier, id, CriterionStatus::Verified).unwrap();
    world.verify(id);
    assert_eq!(world.standing(id).1, VerifiedStatus::Verified);
    assert!(said(&mut world, &verifier, id, CriterionStatus::Failed).is_err(), "what is closed is closed");
    world.hold();
}

#[test]
fn only_whoever_may_verify_judges_a_criterion_and_says_where_to_look() {
    let mut world = World::new();
    let id = world.story("1.1");
    let verifier = world.verifier.clone();
    assert_eq!(said(&mut world, &verifier, id, CriterionStatus::Verified).unwrap_err().kind, Kind::Conflict);
    world.report(id);
    world.review(id);
    let (ann, user) = (world.ann.clone(), world.user.clone());
    for by in [&ann, &user] {
        assert_eq!(said(&mut world, by, id, CriterionStatus::Verified).unwrap_err().kind, Kind::NotAllowed);
    }
    for by in [world.reporter.clone(), world.reviewer.clone()] {
        let refusal = said(&mut world, &by, id, CriterionStatus::Verified).unwrap_err();
        assert_eq!(refusal.code, Some("shared_principal_blocked"));
    }
    let bare = |status| JudgeCriterion { evidence: Some(" ".to_owned()), ..saying(status) };
    for status in [CriterionStatus::Verified, CriterionStatus::Failed, CriterionStatus::Unverifiable] {
        let refusal = world.refused(&verifier, |draft| work::judge_criterion(draft, id, bare(status)));
        assert_eq!(refusal.details[0].0, "evidence_path");
    }
    let refusal = said(&mut world, &verifier, id, CriterionStatus::Pending).unwrap_err();
    assert_eq!(refusal.details[0].0, "status", "nothing becomes undecided again");
    said(&mut world, &verifier, id, CriterionStatus::Unverifiable).unwrap();
    let unknown = JudgeCriterion { ac_id: "AC-9".to_owned(), ..saying(CriterionStatus::Failed) };
    assert_eq!(
        world.refused(&verifier, |draft| work::judge_criterion(draft, id, unknown)).kind,
        Kind::NotFound
    );
    let disguised = Caller { agent: ann.agent, ..verifier };
    let refusal =
        world.caught(&disguised, |d| work::judge_criterion(d, id, saying(CriterionStatus::Verified)));
    assert_eq!(refusal.code, Some("self_verify_blocked"));
    world.hold();
}

#[test]
fn what_was_said_of_a_criterion_is_shown_until_the_story_is_reported_again_or_reworded() {
    let mut world = World::new();
    let (id, other) = (world.story("1.1"), world.story("1.2"));
    let (verifier, user) = (world.verifier.clone(), world.user.clone());
    for id in [id, other] {
        world.report(id);
        world.review(id);
        said(&mut world, &verifier, id, CriterionStatus::Failed).unwrap();
        let reject = Reject { reason: "AC-1".to_owned(), ..Reject::default() };
        world.must(&verifier, |draft| work::reject(draft, id, reject));
        assert_eq!(world.track(id).criteria.len(), 1, "the next implementer sees what failed");
    }
    world.finish(id);
    assert!(world.track(id).criteria.is_empty());
    let edit =
        StoryEdit { criteria: Some(vec![criterion("AC-1", "something else")]), ..StoryEdit::default() };
    world.must(&user, |draft| plan::change_story(draft, other, edit, EditForce::Ordinary));
    assert!(world.track(other).criteria.is_empty());
    world.hold();
}
