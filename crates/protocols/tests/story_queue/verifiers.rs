//! Section 5.1: who is drawn to verify, whom that binds, and for how long. Nobody waits for somebody who cannot come.

use crate::world::{World, a_review};
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::custody::{self, OpenDispatch, TokenKind};
use windlass_protocols::protocol::story_queue::tenancy;
use windlass_protocols::protocol::story_queue::vocabulary::{DispatchId, KeyRole, Micros, StoryId};
use windlass_protocols::protocol::story_queue::work::{self, Judge, ReportDone, RequestReview};

fn asked(world: &mut World, id: StoryId, draw: u64) -> Option<DispatchId> {
    let (ann, ask) = (world.ann.clone(), RequestReview { draw, lazy_score: None });
    world.must(&ann, |draft| work::request_review(draft, id, ask)).verifier
}

/// Started by ann; the verifier's agent has a dispatch, and so has another orchestrator.
fn two_sent(world: &mut World) -> (StoryId, Caller, Caller) {
    let id = world.story("1.1");
    let (user, ann) = (world.user.clone(), world.ann.clone());
    world.start(&ann, id);
    let (one, two) = (world.agent("one", KeyRole::Orchestrator), world.agent("two", KeyRole::Orchestrator));
    let one = world.dispatched(&user, KeyRole::Orchestrator, &one, None);
    let two = world.dispatched(&user, KeyRole::Orchestrator, &two, None);
    (id, one, two)
}

fn reviewed(world: &mut World, id: StoryId) {
    let reporter = world.reporter.clone();
    world.must(&reporter, |draft| work::report(draft, id, ReportDone::default()));
    let reviewer = world.reviewer.clone();
    world.must(&reviewer, |draft| work::complete_review(draft, id, a_review()));
}

#[test]
fn only_a_dispatch_that_could_verify_this_story_is_drawn() {
    let mut world = World::new();
    let (id, other) = (world.story("1.1"), world.story("1.2"));
    let (user, ann, bob) = (world.user.clone(), world.ann.clone(), world.bob.clone());
    world.start(&ann, id);
    let elsewhere = world.agent("elsewhere", KeyRole::Orchestrator);
    let revoked = world.agent("revoked", KeyRole::Orchestrator);
    world.dispatched(&user, KeyRole::Agent, &bob, None);
    let sent_elsewhere = OpenDispatch {
        role: KeyRole::Orchestrator,
        agent: elsewhere.agent.unwrap(),
        parent: None,
        story: Some(other),
        expires_in_seconds: None,
        key: world.secret(),
    };
    world.must(&user, |draft| custody::open(draft, sent_elsewhere));
    let revoked = world.dispatched(&user, KeyRole::Orchestrator, &revoked, None);
    world.must(&user, |draft| tenancy::revoke_key(draft, revoked.key));
    for draw in 0..6 {
        assert_eq!(asked(&mut world, id, draw), None, "an agent, one sent elsewhere, and one without a key");
    }
    let free = world.agent("free", KeyRole::Orchestrator);
    let free = world.dispatched(&user, KeyRole::Orchestrator, &free, None);
    for draw in 0..6 {
        assert_eq!(asked(&mut world, id, draw), free.lineage.last().copied());
    }
    world.hold();
}

#[test]
fn the_draw_binds_those_who_were_sent_and_no_key_that_a_person_made_for_an_agent() {
    let mut world = World::new();
    let (id, one, two) = two_sent(&mut world);
    assert_eq!(asked(&mut world, id, 0), one.lineage.last().copied());
    reviewed(&mut world, id);
    let refusal = world.refused(&two, |draft| work::verify(draft, id, Judge::default()));
    assert_eq!(refusal.code, Some("not_chosen_verifier"));
    let refusal = world.refused(&two, |draft| custody::recover(draft, id, TokenKind::VerifyCap));
    assert_eq!(refusal.code, Some("cap_not_recoverable"));
    let appointed = world.verifier.clone();
    world.must(&appointed, |draft| custody::recover(draft, id, TokenKind::VerifyCap));
    world.must(&appointed, |draft| work::verify(draft, id, Judge::default()));
    world.hold();
}

#[test]
fn a_choice_lapses_with_whoever_was_chosen() {
    type Gone = fn(&mut World, &Caller);
    let ways: [Gone; 3] = [
        |world, _| world.now = world.now.plus(Micros::seconds(3601)),
        |world, one| {
            let user = world.user.clone();
            world.must(&user, |draft| custody::revoke(draft, one.lineage[0])).clear();
        },
        |world, one| {
            let user = world.user.clone();
            world.must(&user, |draft| tenancy::revoke_key(draft, one.key));
        },
    ];
    for gone in ways {
        let mut world = World::new();
        let (id, one, _) = two_sent(&mut world);
        assert_eq!(asked(&mut world, id, 0), one.lineage.last().copied());
        reviewed(&mut world, id);
        gone(&mut world, &one);
        let user = world.user.clone();
        let late = world.agent("late", KeyRole::Orchestrator);
        let late = world.dispatched(&user, KeyRole::Orchestrator, &late, None);
        world.must(&late, |draft| custody::recover(draft, id, TokenKind::VerifyCap));
        world.must(&late, |draft| work::verify(draft, id, Judge::default()));
        world.hold();
    }
}
