//! Section 5: nobody marks their own work, on no path. Each defect of the original has its test.

use crate::world::{World, a_review, criterion};
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::custody::{self, OpenDispatch, ViolationStatus};
use windlass_protocols::protocol::story_queue::plan::{self, EditForce, StoryEdit};
use windlass_protocols::protocol::story_queue::refusal::Kind;
use windlass_protocols::protocol::story_queue::vocabulary::{AgentId, KeyRole, Micros, StoryId};
use windlass_protocols::protocol::story_queue::work::{
    self, AgentStatus, BackfillStory, ContractEcho, Judge, JudgeOne, MarkComplete, Reject, ReportDone,
    RequestReview, VerifiedStatus,
};

fn acting_as(caller: &Caller, agent: Option<AgentId>) -> Caller {
    Caller { agent, ..caller.clone() }
}

fn reworded(text: &str) -> StoryEdit {
    StoryEdit { criteria: Some(vec![criterion("AC-1", text)]), ..StoryEdit::default() }
}

#[test]
fn the_implementer_neither_reports_nor_reviews_nor_verifies() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (ann, user) = (world.ann.clone(), world.user.clone());
    world.start(&ann, id);
    let release = |world: &mut World| {
        world.must(&user, |draft| custody::release(draft, id, "looked at it".to_owned()));
    };
    let refusal = world.caught(&ann, |draft| work::report(draft, id, ReportDone::default()));
    assert_eq!((refusal.kind, refusal.code), (Kind::Conflict, Some("self_report_blocked")));
    release(&mut world);
    let reporter = world.reporter.clone();
    world.must(&reporter, |draft| work::report(draft, id, ReportDone::default()));
    // The same agent under an orchestrator's key, or under a user's, is the same agent.
    let disguised = acting_as(&world.verifier, ann.agent);
    let refusal = world.caught(&disguised, |draft| work::complete_review(draft, id, a_review()));
    assert_eq!(refusal.code, Some("self_review_blocked"));
    release(&mut world);
    let person = world.user_key(ann.agent);
    world.caught(&person, |draft| work::complete_review(draft, id, a_review()));
    release(&mut world);
    world.review(id);
    let refusal = world.caught(&disguised, |draft| work::verify(draft, id, Judge::default()));
    assert_eq!(refusal.code, Some("self_verify_blocked"));
    assert_eq!(world.standing(id), (AgentStatus::ReportedDone, VerifiedStatus::Unverified));
    world.hold();
}

#[test]
fn whoever_once_started_a_story_stays_an_implementer_of_it() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (ann, bob) = (world.ann.clone(), world.bob.clone());
    world.start(&ann, id);
    world.must(&ann, |draft| work::unclaim(draft, id));
    world.start(&bob, id);
    world.caught(&ann, |draft| work::report(draft, id, ReportDone::default()));
}

#[test]
fn whoever_once_claimed_a_story_could_have_worked_on_it_started_or_not() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (ann, bob) = (world.ann.clone(), world.bob.clone());
    world.contract(&ann, id);
    world.must(&ann, |draft| work::claim(draft, id));
    world.must(&ann, |draft| work::unclaim(draft, id));
    world.start(&bob, id);
    let reporter = world.reporter.clone();
    world.must(&reporter, |draft| work::report(draft, id, ReportDone::default()));
    let disguised = acting_as(&world.verifier, ann.agent);
    let refusal = world.caught(&disguised, |draft| work::complete_review(draft, id, a_review()));
    assert_eq!(refusal.code, Some("self_review_blocked"));
    world.hold();
}

#[test]
fn trap_3_bulk_cannot_do_what_a_single_call_cannot() {
    let mut world = World::new();
    let id = world.story("1.1");
    let untouched = world.story("1.2");
    world.report(id);
    let implementer = acting_as(&world.verifier, world.ann.agent);
    let judge = |story: StoryId| vec![JudgeOne { story, ask: Judge::default() }];
    let done = |story: StoryId| vec![JudgeOne { story, ask: MarkComplete::default() }];
    let verifier = world.verifier.clone();
    let unreviewed = world.must(&verifier, |draft| work::bulk_verify(draft, judge(id)));
    assert_eq!(unreviewed[0].1.as_ref().unwrap_err().code, Some("no_review_record"));
    world.review(id);
    let own = world.must(&implementer, |draft| work::bulk_verify(draft, judge(id)));
    assert_eq!(own[0].1.as_ref().unwrap_err().code, Some("self_verify_blocked"));
    let never_worked = world.must(&verifier, |draft| work::bulk_mark_complete(draft, done(untouched)));
    assert_eq!(never_worked[0].1.as_ref().unwrap_err().code, Some("invalid_transition"));
    let user = world.user.clone();
    world.must(&user, |draft| custody::release(draft, id, "looked at it".to_owned()));
    let own = world.must(&implementer, |draft| work::bulk_mark_complete(draft, done(id)));
    assert_eq!(own[0].1.as_ref().unwrap_err().code, Some("self_verify_blocked"));
    let reject = vec![JudgeOne { story: id, ask: Reject { reason: "no".to_owned(), ..Reject::default() } }];
    let own = world.must(&implementer, |draft| work::bulk_reject(draft, reject));
    assert_eq!(own[0].1.as_ref().unwrap_err().code, Some("self_verify_blocked"));
    world.hold();
}

#[test]
fn trap_4_reporter_reviewer_and_verifier_are_three_unless_the_tenant_says_otherwise() {
    let mut world = World::new();
    let id = world.story("1.1");
    world.report(id);
    let (reporter, reviewer) = (world.reporter.clone(), world.reviewer.clone());
    let refusal = world.refused(&reporter, |draft| work::complete_review(draft, id, a_review()));
    assert_eq!(refusal.code, Some("shared_principal_blocked"));
    world.review(id);
    for one in [&reporter, &reviewer] {
        let refusal = world.refused(one, |draft| work::verify(draft, id, Judge::default()));
        assert_eq!(refusal.code, Some("shared_principal_blocked"));
    }
    world.set("distinct_reporter_reviewer_verifier", false);
    world.must(&reporter, |draft| work::verify(draft, id, Judge::default()));
    world.hold();
}

#[test]
fn trap_5_an_orchestrator_makes_no_fresh_root_and_no_keys_of_people() {
    let mut world = World::new();
    let (orchestrator, user, ann) = (world.reporter.clone(), world.user.clone(), world.ann.clone());
    let ask = |world: &mut World, role, parent| OpenDispatch {
        role,
        agent: ann.agent.unwrap(),
        parent,
        story: None,
        expires_in_seconds: None,
        key: world.secret(),
    };
    let root = ask(&mut world, KeyRole::Agent, None);
    let refusal = world.refused(&orchestrator, |draft| custody::open(draft, root));
    assert_eq!((refusal.kind, refusal.code), (Kind::NotAllowed, Some("root_dispatch_forbidden")));
    let sent = world.dispatched(&user, KeyRole::Orchestrator, &orchestrator, None);
    let person = ask(&mut world, KeyRole::User, None);
    assert_eq!(world.refused(&sent, |draft| custody::open(draft, person)).code, Some("role_escalation"));
    let below = world.dispatched(&sent, KeyRole::Agent, &ann, None);
    assert_eq!(below.lineage.len(), 2, "without a parent it is below its own dispatch");
    assert_eq!(below.lineage[0], sent.lineage[0]);
    let other = world.dispatched(&user, KeyRole::Orchestrator, &ann, None);
    let beside = ask(&mut world, KeyRole::Agent, other.lineage.last().copied());
    assert_eq!(world.refused(&sent, |draft| custody::open(draft, beside)).code, Some("wrong_lineage"));
    world.set("orchestrator_root_dispatches", true);
    let root = ask(&mut world, KeyRole::Agent, None);
    world.must(&orchestrator, |draft| custody::open(draft, root));
    world.hold();
}

#[test]
fn a_dispatch_ends_with_its_time_and_its_parent() {
    let mut world = World::new();
    let (user, orchestrator, ann) = (world.user.clone(), world.reporter.clone(), world.ann.clone());
    for seconds in [59, 14_401] {
        let ask = OpenDispatch {
            role: KeyRole::Agent,
            agent: ann.agent.unwrap(),
            parent: None,
            story: None,
            expires_in_seconds: Some(seconds),
            key: world.secret(),
        };
        assert_eq!(world.refused(&user, |draft| custody::open(draft, ask)).kind, Kind::Invalid);
    }
    let root = world.dispatched(&user, KeyRole::Orchestrator, &orchestrator, None);
    let child = world.dispatched(&root, KeyRole::Orchestrator, &ann, None);
    let grandchild = world.dispatched(&child, KeyRole::Agent, &ann, None);
    let ended = world.must(&user, |draft| custody::revoke(draft, root.lineage[0]));
    assert_eq!(ended.len(), 3);
    let at = world.now;
    for caller in [&root, &child, &grandchild] {
        assert!(!world.ledger.tenancy.key(caller.key).unwrap().is_active(at), "its key is dead");
    }
    let ask = OpenDispatch {
        role: KeyRole::Agent,
        agent: ann.agent.unwrap(),
        parent: child.lineage.last().copied(),
        story: None,
        expires_in_seconds: None,
        key: world.secret(),
    };
    let refusal = world.refused(&user, |draft| custody::open(draft, ask));
    assert_eq!(refusal.code, Some("parent_dispatch_expired"));
    let other = world.dispatched(&user, KeyRole::Agent, &ann, None);
    world.now = world.now.plus(Micros::seconds(3601));
    assert_eq!(world.must(&user, custody::revoke_expired), [other.lineage[0]]);
    assert!(world.must(&user, custody::revoke_expired).is_empty());
    world.hold();
}

#[test]
fn hands_of_one_root_are_one_actor() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (user, orchestrator) = (world.user.clone(), world.reporter.clone());
    let (ann, bob, reviewer) = (world.ann.clone(), world.bob.clone(), world.reviewer.clone());
    let root = world.dispatched(&user, KeyRole::Orchestrator, &orchestrator, None);
    let implementer = world.dispatched(&root, KeyRole::Agent, &ann, None);
    let sibling = world.dispatched(&root, KeyRole::Agent, &bob, None);
    world.start(&implementer, id);
    world.caught(&sibling, |draft| work::report(draft, id, ReportDone::default()));
    world.must(&user, |draft| custody::release(draft, id, "looked".to_owned()));
    let elsewhere = world.dispatched(&user, KeyRole::Orchestrator, &reviewer, None);
    world.must(&elsewhere, |draft| work::report(draft, id, ReportDone::default()));
    world.caught(&root, |draft| work::complete_review(draft, id, a_review()));
    world.hold();
}

#[test]
fn the_server_chooses_the_verifier_among_other_roots() {
    let mut world = World::new();
    let id = world.story("1.1");
    let user = world.user.clone();
    let (ann, bob, verifier, reviewer) =
        (world.ann.clone(), world.bob.clone(), world.verifier.clone(), world.reviewer.clone());
    let implementer = world.dispatched(&user, KeyRole::Agent, &ann, None);
    let first = world.dispatched(&user, KeyRole::Orchestrator, &verifier, None);
    let second = world.dispatched(&user, KeyRole::Orchestrator, &reviewer, None);
    world.start(&implementer, id);
    let ask = RequestReview { draw: 3, lazy_score: None };
    let asked = world.must(&implementer, |draft| work::request_review(draft, id, ask));
    assert_eq!(asked.verifier, second.lineage.last().copied(), "3 mod 2 of the pool by creation");
    assert_eq!(asked.verify_cap.unwrap().holder.unwrap().lineage, second.lineage);
    world.must(&bob, |draft| work::report(draft, id, ReportDone::default()));
    world.must(&user, |draft| work::complete_review(draft, id, a_review()));
    let refusal = world.refused(&first, |draft| work::verify(draft, id, Judge::default()));
    assert_eq!(refusal.code, Some("not_chosen_verifier"));
    world.must(&second, |draft| work::verify(draft, id, Judge::default()));
    world.hold();
}

#[test]
fn trap_7_a_refused_call_quarantines_the_story_and_nothing_else() {
    let mut world = World::new();
    let (id, other) = (world.story("1.1"), world.story("1.2"));
    let (ann, reporter) = (world.ann.clone(), world.reporter.clone());
    world.start(&ann, id);
    world.caught(&ann, |draft| work::report(draft, id, ReportDone::default()));
    assert!(world.ledger.custody.halted().is_none());
    let refusal = world.refused(&reporter, |draft| work::report(draft, id, ReportDone::default()));
    assert_eq!(refusal.code, Some("story_quarantined"));
    world.finish(other);
    let note = || "looked at it".to_owned();
    let refusal = world.refused(&acting_as(&reporter, ann.agent), |d| custody::release(d, id, note()));
    assert_eq!(refusal.code, Some("self_release_blocked"));
    assert_eq!(world.refused(&reporter, |d| custody::release(d, id, " ".to_owned())).kind, Kind::Invalid);
    world.must(&reporter, |draft| custody::release(draft, id, note()));
    let statuses: Vec<_> = world.ledger.custody.violations().map(|violation| violation.status).collect();
    assert_eq!(statuses, [ViolationStatus::Resolved]);
    world.must(&reporter, |draft| work::report(draft, id, ReportDone::default()));
    world.hold();
}

#[test]
fn a_quarantined_story_is_not_offered_as_ready() {
    let mut world = World::new();
    let id = world.story("1.1");
    let ann = world.ann.clone();
    world.start(&ann, id);
    world.caught(&ann, |draft| work::report(draft, id, ReportDone::default()));
    let orchestrator = world.verifier.clone();
    world.must(&orchestrator, |draft| work::force_unclaim(draft, id));
    assert!(world.ready().is_empty());
    world.must(&orchestrator, |draft| custody::release(draft, id, "looked".to_owned()));
    assert_eq!(world.ready(), ["1.1"]);
}

#[test]
fn a_halt_stops_custody_and_leaves_the_plan_alone() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (ann, user) = (world.ann.clone(), world.user.clone());
    world.must(&user, |draft| custody::halt(draft, "two heads at 12".to_owned()));
    let echo = world.echo(id);
    let refusal = world.refused(&ann, |draft| work::contract(draft, id, echo));
    assert_eq!((refusal.kind, refusal.code), (Kind::Halted, Some("tenant_halted")));
    world.story("1.2");
    assert_eq!(
        world.refused(&user, |draft| custody::clear_halt(draft, "seen".to_owned())).kind,
        Kind::NotAllowed
    );
    let superadmin = world.superadmin.clone();
    assert_eq!(world.refused(&superadmin, |d| custody::clear_halt(d, String::new())).kind, Kind::Invalid);
    world.must(&superadmin, |draft| custody::clear_halt(draft, "seen".to_owned()));
    world.contract(&ann, id);
}

#[test]
fn trap_11_what_was_worked_on_is_never_backfilled() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (ann, orchestrator, user) = (world.ann.clone(), world.reporter.clone(), world.user.clone());
    world.contract(&ann, id);
    world.must(&ann, |draft| work::claim(draft, id));
    world.must(&orchestrator, |draft| work::force_unclaim(draft, id));
    let ask =
        || BackfillStory { reason: "done before".to_owned(), pr_number: Some(7), ..BackfillStory::default() };
    let refusal = world.refused(&orchestrator, |draft| work::backfill(draft, id, ask()));
    assert_eq!(refusal.code, Some("backfill_refused"));
    // Nor under the same number after deletion.
    world.must(&user, |draft| plan::delete_story(draft, id));
    let again = world.story("1.1");
    assert_ne!(again, id);
    let refusal = world.refused(&orchestrator, |draft| work::backfill(draft, again, ask()));
    assert_eq!(refusal.code, Some("backfill_refused"));
    // Nor when somebody was sent to it.
    let sent = world.story("1.2");
    let open = OpenDispatch {
        role: KeyRole::Agent,
        agent: ann.agent.unwrap(),
        parent: None,
        story: Some(sent),
        expires_in_seconds: None,
        key: world.secret(),
    };
    world.must(&user, |draft| custody::open(draft, open));
    let refusal = world.refused(&orchestrator, |draft| work::backfill(draft, sent, ask()));
    assert_eq!(refusal.code, Some("backfill_refused"));
    world.hold();
}

#[test]
fn trap_12_editing_criteria_voids_the_contract() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (ann, orchestrator) = (world.ann.clone(), world.reporter.clone());
    world.contract(&ann, id);
    let unchanged = StoryEdit { title: Some("Story 1.1".to_owned()), ..StoryEdit::default() };
    world.must(&orchestrator, |draft| plan::change_story(draft, id, unchanged, EditForce::Ordinary));
    assert_eq!(world.standing(id).0, AgentStatus::Contracted, "the same words void nothing");
    let edit = reworded("it half works");
    world.must(&orchestrator, |draft| plan::change_story(draft, id, edit, EditForce::Ordinary));
    assert_eq!(world.standing(id).0, AgentStatus::Pending);
    world.contract(&ann, id);
    let described = StoryEdit { description: Some("by line".to_owned()), ..StoryEdit::default() };
    world.must(&orchestrator, |draft| plan::change_story(draft, id, described, EditForce::Ordinary));
    assert_eq!(world.standing(id).0, AgentStatus::Pending, "the description is of the contract too");
    world.contract(&ann, id);
    world.must(&ann, |draft| work::claim(draft, id));
    world.must(&ann, |draft| work::start(draft, id, None));
    let force = EditForce::Forced;
    let refusal =
        world.refused(&orchestrator, |draft| plan::change_story(draft, id, reworded("nothing"), force));
    assert_eq!(refusal.code, Some("contract_bound"), "an orchestrator cannot force it");
    let user = world.user.clone();
    let refusal =
        world.refused(&user, |d| plan::change_story(d, id, reworded("nothing"), EditForce::Ordinary));
    assert_eq!(refusal.code, Some("contract_bound"));
    world.must(&user, |draft| plan::change_story(draft, id, reworded("nothing"), force));
    assert!(world.track(id).is_quarantined());
    world.hold();
}

#[test]
fn criteria_of_a_verified_story_are_not_edited() {
    let mut world = World::new();
    let id = world.story("1.1");
    let orchestrator = world.reporter.clone();
    let ask =
        BackfillStory { reason: "done before".to_owned(), pr_number: Some(7), ..BackfillStory::default() };
    world.must(&orchestrator, |draft| work::backfill(draft, id, ask));
    let edit = reworded("something else");
    let refusal =
        world.refused(&orchestrator, |draft| plan::change_story(draft, id, edit, EditForce::Ordinary));
    assert_eq!(refusal.code, Some("contract_bound"));
    let echo = ContractEcho::default();
    assert_eq!(world.refused(&orchestrator, |draft| work::contract(draft, id, echo)).kind, Kind::Conflict);
}

#[test]
fn a_review_and_a_verdict_are_of_the_words_they_looked_at() {
    let mut world = World::new();
    let (id, next) = (world.story("1.1"), world.story("1.2"));
    world.depend("1.2", "1.1").unwrap();
    world.report(id);
    world.review(id);
    let (orchestrator, user, verifier) = (world.reporter.clone(), world.user.clone(), world.verifier.clone());
    let described = |text: &str| StoryEdit { description: Some(text.to_owned()), ..StoryEdit::default() };
    let refusal = world
        .refused(&orchestrator, |d| plan::change_story(d, id, described("more of it"), EditForce::Ordinary));
    assert_eq!(refusal.code, Some("contract_bound"), "the description is what was agreed to as well");
    world.must(&user, |d| plan::change_story(d, id, described("more of it"), EditForce::Forced));
    world.must(&verifier, |draft| custody::release(draft, id, "looked".to_owned()));
    let refusal = world.refused(&verifier, |draft| work::verify(draft, id, Judge::default()));
    assert_eq!(refusal.code, Some("review_outdated"));
    world.review(id);
    world.verify(id);
    assert!(world.ready().contains(&"1.2".to_owned()));
    let refusal =
        world.refused(&user, |d| plan::change_story(d, id, described("all of it"), EditForce::Ordinary));
    assert_eq!(refusal.code, Some("contract_bound"));
    world.must(&user, |d| plan::change_story(d, id, described("all of it"), EditForce::Forced));
    assert_eq!(world.standing(id), (AgentStatus::ReportedDone, VerifiedStatus::Unverified));
    assert!(world.track(id).is_quarantined() && world.ledger.work.unmet(next) == 1);
    world.hold();
}
