//! Section 5.2: tokens are returned by the call that mints them, taken by the next, and used once. Trap 1 and 2 of the
//! original are the whole way below.

use crate::world::{World, a_review};
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::custody::{self, Presented, Signature, Token, TokenKind};
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::vocabulary::{Micros, StoryId, TokenId};
use windlass_protocols::protocol::story_queue::work::{
    self, AgentStatus, CompleteReview, Judge, ReportDone, VerifiedStatus,
};

fn show(token: &Token) -> Option<Presented> {
    Some(Presented { token: token.id, signature: Signature::Holds })
}

fn reason(refusal: &Refusal) -> Option<&str> {
    assert_eq!(refusal.code, Some("cap_rejected"));
    refusal.context.iter().find(|(name, _)| *name == "reason").map(|(_, why)| why.as_str())
}

fn claimed(world: &mut World, number: &str) -> (StoryId, Token) {
    let id = world.story(number);
    let ann = world.ann.clone();
    world.contract(&ann, id);
    (id, world.must(&ann, |draft| work::claim(draft, id)).start_cap)
}

fn release(world: &mut World, id: StoryId) {
    let user = world.user.clone();
    world.must(&user, |draft| custody::release(draft, id, "looked".to_owned()));
}

#[test]
fn trap_1_the_whole_way_works_where_tokens_are_required() {
    let mut world = World::new();
    world.set("require_capabilities", true);
    let (id, start_cap) = claimed(&mut world, "1.1");
    let (ann, reporter, verifier, reviewer) =
        (world.ann.clone(), world.reporter.clone(), world.verifier.clone(), world.reviewer.clone());
    let refusal = world.refused(&ann, |draft| work::start(draft, id, None));
    assert_eq!(refusal.code, Some("missing_capability"));
    let report_cap = world.must(&ann, |draft| work::start(draft, id, show(&start_cap))).report_cap;
    let bare = ReportDone::default();
    assert_eq!(world.refused(&reporter, |d| work::report(d, id, bare)).code, Some("missing_capability"));
    let ask = ReportDone { cap: show(&report_cap), ..ReportDone::default() };
    let review_cap = world.must(&reporter, |draft| work::report(draft, id, ask)).review_complete_cap;
    let refusal = world.refused(&reviewer, |draft| work::complete_review(draft, id, a_review()));
    assert_eq!(refusal.code, Some("missing_capability"), "trap 2: the review's token is checked");
    let ask = CompleteReview { cap: show(&review_cap), ..a_review() };
    world.must(&reviewer, |draft| work::complete_review(draft, id, ask));
    let refusal = world.refused(&verifier, |draft| work::verify(draft, id, Judge::default()));
    assert_eq!(refusal.code, Some("missing_capability"));
    let verify_cap = world.must(&verifier, |draft| custody::recover(draft, id, TokenKind::VerifyCap));
    let ask = Judge { cap: show(&verify_cap), ..Judge::default() };
    world.must(&verifier, |draft| work::verify(draft, id, ask));
    assert_eq!(world.standing(id), (AgentStatus::ReportedDone, VerifiedStatus::Verified));
    world.hold();
}

#[test]
fn a_presented_token_is_checked_also_where_none_is_required() {
    let mut world = World::new();
    let (id, _) = claimed(&mut world, "1.1");
    let ann = world.ann.clone();
    let unknown = Some(Presented { token: TokenId::default(), signature: Signature::Holds });
    let refusal = world.caught(&ann, |draft| work::start(draft, id, unknown));
    assert_eq!(reason(&refusal), Some("invalid_capability"));
    release(&mut world, id);
    world.must(&ann, |draft| work::start(draft, id, None));
}

#[test]
fn the_checks_come_in_their_order() {
    let mut world = World::new();
    let (id, cap) = claimed(&mut world, "1.1");
    let (other, other_cap) = claimed(&mut world, "1.2");
    let ann = world.ann.clone();
    let report_cap = world.must(&ann, |draft| work::start(draft, other, show(&other_cap))).report_cap;
    let mut told = Vec::new();
    let forged = Some(Presented { token: cap.id, signature: Signature::Fails });
    let spent = show(&other_cap);
    for presented in [show(&report_cap), spent, forged] {
        let refusal = world.caught(&ann, |draft| work::start(draft, id, presented));
        told.push(reason(&refusal).unwrap().to_owned());
        release(&mut world, id);
    }
    assert_eq!(told, ["wrong_type", "wrong_story", "invalid_signature"]);
    world.now = world.now.plus(Micros::seconds(3600));
    let refusal = world.refused(&ann, |draft| work::start(draft, id, show(&cap)));
    assert_eq!(reason(&refusal), Some("expired"), "an expired token is no violation");
    let fresh = world.must(&ann, |draft| custody::recover(draft, id, TokenKind::StartCap));
    world.must(&ann, |draft| work::start(draft, id, show(&fresh)));
    world.hold();
}

#[test]
fn a_token_is_used_once_and_by_its_holder() {
    let mut world = World::new();
    let (id, cap) = claimed(&mut world, "1.1");
    let ann = world.ann.clone();
    world.must(&ann, |draft| work::start(draft, id, show(&cap)));
    world.must(&ann, |draft| work::unclaim(draft, id));
    let bob = world.bob.clone();
    world.contract(&bob, id);
    world.must(&bob, |draft| work::claim(draft, id));
    let refusal = world.caught(&bob, |draft| work::start(draft, id, show(&cap)));
    assert_eq!(reason(&refusal), Some("wrong_lineage"));
    release(&mut world, id);
    world.must(&bob, |draft| work::unclaim(draft, id));
    world.contract(&ann, id);
    world.must(&ann, |draft| work::claim(draft, id));
    let refusal = world.caught(&ann, |draft| work::start(draft, id, show(&cap)));
    assert_eq!(reason(&refusal), Some("replay"));
}

#[test]
fn recovery_mints_only_what_the_caller_could_have_got() {
    let mut world = World::new();
    let id = world.story("1.1");
    let ann = world.ann.clone();
    world.start(&ann, id);
    let (bob, reporter, verifier) = (world.bob.clone(), world.reporter.clone(), world.verifier.clone());
    let kinds =
        [TokenKind::StartCap, TokenKind::ReportCap, TokenKind::VerifyCap, TokenKind::ReviewCompleteCap];
    let gets = |world: &mut World, who: &Caller| -> Vec<TokenKind> {
        kinds
            .into_iter()
            .filter(|kind| world.ask(who, |draft| custody::recover(draft, id, *kind)).is_ok())
            .collect()
    };
    assert_eq!(gets(&mut world, &ann), [], "the implementer gets neither report nor verify");
    assert_eq!(gets(&mut world, &bob), [TokenKind::ReportCap]);
    world.must(&reporter, |draft| work::report(draft, id, ReportDone::default()));
    assert_eq!(gets(&mut world, &ann), []);
    assert_eq!(gets(&mut world, &reporter), [], "the reporter neither reviews nor verifies");
    assert_eq!(gets(&mut world, &verifier), [TokenKind::VerifyCap, TokenKind::ReviewCompleteCap]);
    assert_eq!(gets(&mut world, &bob), []);
}
