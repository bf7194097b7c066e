//! Whose hands a deed went through. Whoever opens dispatches holds their keys, so everything below is also theirs; a person
//! who opens a root is nobody's hand.

use crate::world::{World, a_review};
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::custody;
use windlass_protocols::protocol::story_queue::vocabulary::{KeyRole, StoryId};
use windlass_protocols::protocol::story_queue::work::{
    self, AgentStatus, Judge, ReportDone, RequestReview, VerifiedStatus,
};

/// One orchestrator for whom a user opened several roots, with a sub-agent of another name under each.
struct Chief {
    implementer: Caller,
    reporter: Caller,
    reviewer: Caller,
    verifier: Caller,
}

impl Chief {
    fn of(world: &mut World) -> Self {
        let (user, chief) = (world.user.clone(), world.agent("chief", KeyRole::Orchestrator));
        let below = |world: &mut World, name: &str, role: KeyRole| {
            let agent = world.agent(name, KeyRole::Agent);
            let root = world.dispatched(&user, KeyRole::Orchestrator, &chief, None);
            let middle = world.agent(&format!("{name}'s middle"), KeyRole::Agent);
            let middle = world.dispatched(&root, KeyRole::Orchestrator, &middle, None);
            world.dispatched(&middle, role, &agent, None)
        };
        Self {
            implementer: below(world, "one", KeyRole::Agent),
            reporter: below(world, "two", KeyRole::Agent),
            reviewer: below(world, "three", KeyRole::Orchestrator),
            verifier: below(world, "four", KeyRole::Orchestrator),
        }
    }
}

fn release(world: &mut World, id: StoryId) {
    let user = world.user.clone();
    world.must(&user, |draft| custody::release(draft, id, "looked".to_owned()));
}

#[test]
fn sub_agents_of_one_orchestrator_close_nothing_that_it_implemented_whatever_their_roots() {
    let mut world = World::new();
    let id = world.story("1.1");
    let chief = Chief::of(&mut world);
    assert_ne!(chief.implementer.lineage[0], chief.reporter.lineage[0], "the roots are different");
    world.start(&chief.implementer, id);
    let refusal = world.caught(&chief.reporter, |draft| work::report(draft, id, ReportDone::default()));
    assert_eq!(refusal.code, Some("self_report_blocked"));
    release(&mut world, id);
    let reporter = world.reporter.clone();
    world.must(&reporter, |draft| work::report(draft, id, ReportDone::default()));
    let refusal = world.caught(&chief.reviewer, |draft| work::complete_review(draft, id, a_review()));
    assert_eq!(refusal.code, Some("self_review_blocked"));
    release(&mut world, id);
    world.review(id);
    let refusal = world.caught(&chief.verifier, |draft| work::verify(draft, id, Judge::default()));
    assert_eq!(refusal.code, Some("self_verify_blocked"));
    release(&mut world, id);
    world.verify(id);
    assert_eq!(world.standing(id), (AgentStatus::ReportedDone, VerifiedStatus::Verified));
    world.hold();
}

#[test]
fn reporter_reviewer_and_verifier_below_one_orchestrator_are_one_where_three_are_wanted() {
    let mut world = World::new();
    let id = world.story("1.1");
    let chief = Chief::of(&mut world);
    let ann = world.ann.clone();
    world.start(&ann, id);
    world.must(&chief.reporter, |draft| work::report(draft, id, ReportDone::default()));
    let refusal = world.refused(&chief.reviewer, |draft| work::complete_review(draft, id, a_review()));
    assert_eq!(refusal.code, Some("shared_principal_blocked"));
    world.review(id);
    let refusal = world.refused(&chief.verifier, |draft| work::verify(draft, id, Judge::default()));
    assert_eq!(refusal.code, Some("shared_principal_blocked"));
    world.set("distinct_reporter_reviewer_verifier", false);
    world.must(&chief.verifier, |draft| work::verify(draft, id, Judge::default()));
    world.hold();
}

#[test]
fn whoever_opened_a_root_without_being_in_it_is_a_hand_unless_a_person() {
    let mut world = World::new();
    let (id, other) = (world.story("1.1"), world.story("1.2"));
    world.set("orchestrator_root_dispatches", true);
    let (chief, user) = (world.agent("chief", KeyRole::Orchestrator), world.user.clone());
    let (bob, reviewer) = (world.bob.clone(), world.reviewer.clone());
    // The orchestrator's own key opens both roots; its agent is in neither lineage.
    let implementer = world.dispatched(&chief, KeyRole::Agent, &bob, None);
    let reporter = world.dispatched(&chief, KeyRole::Orchestrator, &reviewer, None);
    world.start(&implementer, id);
    world.caught(&reporter, |draft| work::report(draft, id, ReportDone::default()));
    release(&mut world, id);
    world.caught(&chief, |draft| work::report(draft, id, ReportDone::default()));
    // A person opens roots for everybody, and they stay apart.
    let implementer = world.dispatched(&user, KeyRole::Agent, &bob, None);
    let reporter = world.dispatched(&user, KeyRole::Orchestrator, &reviewer, None);
    world.start(&implementer, other);
    world.must(&reporter, |draft| work::report(draft, other, ReportDone::default()));
    world.must(&user, |draft| work::complete_review(draft, other, a_review()));
    world.verify(other);
    world.hold();
}

#[test]
fn a_users_key_of_an_agent_is_the_agents_hand_and_no_persons() {
    let mut world = World::new();
    let id = world.story("1.1");
    let chief = world.agent("chief", KeyRole::Orchestrator);
    let (bob, reviewer) = (world.bob.clone(), world.reviewer.clone());
    let disguised = world.user_key(chief.agent);
    let implementer = world.dispatched(&disguised, KeyRole::Agent, &bob, None);
    let reporter = world.dispatched(&disguised, KeyRole::Orchestrator, &reviewer, None);
    world.start(&implementer, id);
    world.caught(&reporter, |draft| work::report(draft, id, ReportDone::default()));
    world.hold();
}

#[test]
fn the_server_chooses_no_verifier_that_shares_a_hand_with_an_implementer() {
    let mut world = World::new();
    let id = world.story("1.1");
    let chief = Chief::of(&mut world);
    let bob = world.bob.clone();
    // Bob worked on it before: his dispatch is no choice either.
    world.start(&bob, id);
    world.must(&bob, |draft| work::unclaim(draft, id));
    let user = world.user.clone();
    world.dispatched(&user, KeyRole::Orchestrator, &bob, None);
    world.start(&chief.implementer, id);
    let ask = |draw| RequestReview { draw, lazy_score: None };
    for draw in 0..12 {
        let asked = world.must(&chief.implementer, |draft| work::request_review(draft, id, ask(draw)));
        assert_eq!(asked.verifier, None, "every dispatch that runs is below or above an implementer");
    }
    let other = world.verifier.clone();
    let other = world.dispatched(&user, KeyRole::Orchestrator, &other, None);
    for draw in 0..12 {
        let asked = world.must(&chief.implementer, |draft| work::request_review(draft, id, ask(draw)));
        assert_eq!(asked.verifier, other.lineage.last().copied());
    }
    world.hold();
}

#[test]
fn a_chosen_verifier_who_took_another_part_binds_nobody() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (user, ann, verifier) = (world.user.clone(), world.ann.clone(), world.verifier.clone());
    let reporter = world.reporter.clone();
    let chosen = world.dispatched(&user, KeyRole::Orchestrator, &reporter, None);
    world.start(&ann, id);
    let ask = RequestReview { draw: 0, lazy_score: None };
    let asked = world.must(&ann, |draft| work::request_review(draft, id, ask));
    assert_eq!(asked.verifier, chosen.lineage.last().copied());
    world.must(&chosen, |draft| work::report(draft, id, ReportDone::default()));
    world.review(id);
    let refusal = world.refused(&chosen, |draft| work::verify(draft, id, Judge::default()));
    assert_eq!(refusal.code, Some("shared_principal_blocked"));
    world.must(&verifier, |draft| work::verify(draft, id, Judge::default()));
    world.hold();
}
