//! Section 4: every action from every standing, by every role, and what each leaves behind.

use crate::world::{World, a_review};
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::facts::Change;
use windlass_protocols::protocol::story_queue::refusal::Kind;
use windlass_protocols::protocol::story_queue::vocabulary::{KeyRole, StoryId};
use windlass_protocols::protocol::story_queue::work::{
    self, AgentStatus, BackfillStory, Backfilled, CompleteReview, ContractEcho, Judge, JudgeOne,
    MarkComplete, Reject, ReportArtifact, ReportDone, RequestReview, Verdict, VerifiedStatus, VerifyAll,
    next_actions,
};

use AgentStatus::{Assigned, Contracted, Implementing, Pending, ReportedDone};
use VerifiedStatus::{Rejected, Unverified, Verified};

fn because(reason: &str) -> Reject {
    Reject { reason: reason.to_owned(), ..Reject::default() }
}

fn before_us() -> BackfillStory {
    BackfillStory { reason: "shipped before".to_owned(), pr_number: Some(7), ..BackfillStory::default() }
}

#[test]
fn the_whole_way_from_contract_to_verified() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (ann, verifier) = (world.ann.clone(), world.verifier.clone());
    world.contract(&ann, id);
    assert_eq!(world.standing(id), (Contracted, Unverified));
    world.must(&ann, |draft| work::claim(draft, id));
    assert_eq!(world.standing(id), (Assigned, Unverified));
    assert_eq!(world.track(id).assigned_agent(), ann.agent);
    world.must(&ann, |draft| work::start(draft, id, None));
    world.must(&ann, |draft| work::request_review(draft, id, RequestReview::default()));
    assert_eq!(world.standing(id), (Implementing, Unverified));
    assert!(world.track(id).verifier_needed);
    let reporter = world.reporter.clone();
    world.must(&reporter, |draft| work::report(draft, id, ReportDone::default()));
    assert_eq!(world.standing(id), (ReportedDone, Unverified));
    world.review(id);
    assert_eq!(world.standing(id), (ReportedDone, Unverified), "a review closes nothing");
    let judged = world.must(&verifier, |draft| work::verify(draft, id, Judge::default()));
    assert_eq!(world.standing(id), (ReportedDone, Verified));
    assert_eq!(judged.completed_epic, Some(world.epic(1)));
    assert_eq!(judged.verification.iteration, 1);
    world.hold();
}

#[test]
fn each_action_takes_only_its_roles() {
    type Action = fn(&mut Draft, StoryId) -> Decided<()>;
    let actions: [(&str, Action, &[KeyRole]); 9] = [
        ("claim", |d, id| work::claim(d, id).map(|_| ()), &[KeyRole::Agent]),
        ("start", |d, id| work::start(d, id, None).map(|_| ()), &[KeyRole::Agent]),
        (
            "request_review",
            |d, id| work::request_review(d, id, RequestReview::default()).map(|_| ()),
            &[KeyRole::Agent],
        ),
        ("unclaim", work::unclaim, &[KeyRole::Agent]),
        (
            "report",
            |d, id| work::report(d, id, ReportDone::default()).map(|_| ()),
            &[KeyRole::Agent, KeyRole::Orchestrator],
        ),
        (
            "review_complete",
            |d, id| work::complete_review(d, id, a_review()).map(|_| ()),
            &[KeyRole::Orchestrator, KeyRole::User],
        ),
        ("verify", |d, id| work::verify(d, id, Judge::default()).map(|_| ()), &[KeyRole::Orchestrator]),
        ("reject", |d, id| work::reject(d, id, because("no")).map(|_| ()), &[KeyRole::Orchestrator]),
        ("force_unclaim", work::force_unclaim, &[KeyRole::Orchestrator]),
    ];
    for (name, action, allowed) in actions {
        for role in [KeyRole::Agent, KeyRole::Orchestrator, KeyRole::User, KeyRole::Superadmin] {
            let mut world = World::new();
            let id = world.story("1.1");
            let asking = Caller { role, ..world.bob.clone() };
            let answer = world.ask(&asking, |draft| action(draft, id));
            let by_role = answer.err().is_some_and(|refusal| {
                refusal.kind == Kind::NotAllowed && refusal.message.contains("key of role")
            });
            assert_eq!(by_role, !allowed.contains(&role), "{name} by {}", role.name());
        }
    }
}

#[test]
fn an_unknown_identity_is_refused_wherever_work_changes_hands() {
    let mut world = World::new();
    let id = world.story("1.1");
    world.report(id);
    let nobody = |caller: &Caller| Caller { agent: None, ..caller.clone() };
    let (agent, orchestrator) = (nobody(&world.bob), nobody(&world.verifier));
    assert_eq!(world.refused(&agent, |d| work::claim(d, id)).kind, Kind::Malformed);
    assert_eq!(world.refused(&agent, |d| work::report(d, id, ReportDone::default())).kind, Kind::Malformed);
    assert_eq!(world.refused(&orchestrator, |d| work::verify(d, id, Judge::default())).kind, Kind::Malformed);
    assert_eq!(world.refused(&orchestrator, |d| work::reject(d, id, because("no"))).kind, Kind::Malformed);
    assert_eq!(world.refused(&orchestrator, |d| work::force_unclaim(d, id)).kind, Kind::Malformed);
    assert_eq!(
        world.refused(&orchestrator, |d| work::complete_review(d, id, a_review())).kind,
        Kind::Malformed
    );
    let one = || vec![JudgeOne { story: id, ask: Judge::default() }];
    assert_eq!(world.refused(&orchestrator, |d| work::bulk_verify(d, one())).kind, Kind::Malformed);
    let user = world.user.clone();
    world.must(&user, |draft| work::complete_review(draft, id, a_review()));
}

#[test]
fn a_contract_repeats_the_story_as_it_reads() {
    let mut world = World::new();
    let id = world.story("1.1");
    let ann = world.ann.clone();
    let wrong = ContractEcho { story_title: Some("Another".to_owned()), ac_count: Some(3) };
    let refusal = world.refused(&ann, |draft| work::contract(draft, id, wrong));
    assert_eq!((refusal.kind, refusal.code), (Kind::Invalid, Some("contract_mismatch")));
    let fields: Vec<&str> = refusal.details.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(fields, ["story_title", "ac_count"]);
    let orchestrator = world.reporter.clone();
    world.must(&orchestrator, |draft| work::contract(draft, id, ContractEcho::default()));
    let again = world.echo(id);
    let refusal = world.refused(&ann, |draft| work::contract(draft, id, again));
    assert_eq!(refusal.code, Some("invalid_transition"));
    let names: Vec<&str> = refusal.context.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["current_agent_status", "current_verified_status", "attempted_action"]);
}

#[test]
fn out_of_order_steps_are_told_what_comes_first() {
    let mut world = World::new();
    let id = world.story("1.1");
    let ann = world.ann.clone();
    let code = |world: &mut World, step: fn(&mut Draft, StoryId) -> Decided<()>| {
        world.refused(&ann, |draft| step(draft, id)).code
    };
    let claim: fn(&mut Draft, StoryId) -> Decided<()> = |draft, id| work::claim(draft, id).map(|_| ());
    let start: fn(&mut Draft, StoryId) -> Decided<()> = |draft, id| work::start(draft, id, None).map(|_| ());
    assert_eq!(code(&mut world, claim), Some("must_contract_first"));
    assert_eq!(code(&mut world, start), Some("must_contract_first"));
    world.contract(&ann, id);
    assert_eq!(code(&mut world, start), Some("must_claim_first"));
}

#[test]
fn only_the_assigned_agent_starts_asks_for_review_and_unclaims() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (ann, bob) = (world.ann.clone(), world.bob.clone());
    world.contract(&ann, id);
    assert_eq!(world.refused(&ann, |draft| work::unclaim(draft, id)).kind, Kind::NotAllowed);
    world.must(&ann, |draft| work::claim(draft, id));
    assert_eq!(world.refused(&bob, |draft| work::claim(draft, id)).kind, Kind::Conflict, "claimed once");
    assert_eq!(world.refused(&bob, |draft| work::start(draft, id, None)).kind, Kind::NotAllowed);
    world.must(&ann, |draft| work::start(draft, id, None));
    let ask = RequestReview::default();
    assert_eq!(world.refused(&bob, |draft| work::request_review(draft, id, ask)).kind, Kind::NotAllowed);
    assert_eq!(world.refused(&bob, |draft| work::unclaim(draft, id)).kind, Kind::NotAllowed);
    world.must(&ann, |draft| work::unclaim(draft, id));
    assert_eq!(world.standing(id), (Pending, Unverified));
    assert_eq!(world.track(id).assigned, None);
    assert_eq!(world.refused(&ann, |draft| work::unclaim(draft, id)).kind, Kind::Conflict);
}

#[test]
fn a_rejected_story_comes_back_and_waits_for_a_new_verdict_when_done_again() {
    let mut world = World::new();
    let id = world.story("1.1");
    world.report(id);
    let verifier = world.verifier.clone();
    let blank = world.refused(&verifier, |draft| work::reject(draft, id, because("  ")));
    assert_eq!((blank.kind, blank.code), (Kind::Invalid, Some("reason_required")));
    world.must(&verifier, |draft| work::reject(draft, id, because("no tests")));
    assert_eq!(world.standing(id), (Pending, Rejected));
    assert_eq!(world.ready(), ["1.1"]);
    assert_eq!(world.track(id).rejection_reason.as_deref(), Some("no tests"));
    world.report(id);
    assert_eq!(world.standing(id), (ReportedDone, Unverified));
    world.review(id);
    let judged = world.must(&verifier, |draft| work::verify(draft, id, Judge::default()));
    assert_eq!(judged.verification.iteration, 2);
    assert_eq!(world.track(id).rejection_reason, None);
    world.hold();
}

#[test]
fn without_auto_reset_a_rejected_story_stays_where_it_is() {
    let mut world = World::new();
    world.set("auto_reset_on_rejection", false);
    let id = world.story("1.1");
    world.finish(id);
    let verifier = world.verifier.clone();
    world.must(&verifier, |draft| work::reject(draft, id, because("it broke later")));
    assert_eq!(world.standing(id), (ReportedDone, Rejected));
    world.must(&verifier, |draft| work::force_unclaim(draft, id));
    assert_eq!(world.standing(id), (Pending, Rejected));
    world.must(&verifier, |draft| work::force_unclaim(draft, id));
    world.hold();
}

#[test]
fn a_result_of_fail_rejects_and_partial_moves_nothing() {
    let mut world = World::new();
    let id = world.story("1.1");
    world.report(id);
    world.review(id);
    let verifier = world.verifier.clone();
    let saying = |result| Judge { result: Some(result), ..Judge::default() };
    let judged = world.must(&verifier, |draft| work::verify(draft, id, saying(Verdict::Partial)));
    assert_eq!(judged.standing.verified, Unverified);
    let judged = world.must(&verifier, |draft| work::verify(draft, id, saying(Verdict::Fail)));
    assert_eq!((judged.standing.agent, judged.standing.verified), (Pending, Rejected));
    assert_eq!(judged.verification.iteration, 2);
}

#[test]
fn a_verdict_needs_a_review_newer_than_the_report() {
    let mut world = World::new();
    let id = world.story("1.1");
    world.report(id);
    let verifier = world.verifier.clone();
    let refusal = world.refused(&verifier, |draft| work::verify(draft, id, Judge::default()));
    assert_eq!((refusal.kind, refusal.code), (Kind::Invalid, Some("no_review_record")));
    world.review(id);
    world.must(&verifier, |draft| work::reject(draft, id, because("no")));
    world.report(id);
    let refusal = world.refused(&verifier, |draft| work::verify(draft, id, Judge::default()));
    assert_eq!((refusal.kind, refusal.code), (Kind::Invalid, Some("review_before_report")));
    let early = CompleteReview { completed_at: Some(world.track(id).assigned_at.unwrap()), ..a_review() };
    let reviewer = world.reviewer.clone();
    let refusal = world.refused(&reviewer, |draft| work::complete_review(draft, id, early));
    assert_eq!(refusal.code, Some("review_before_report"));
    let open = CompleteReview { findings_count: 3, fixes_count: 1, disproved_count: 1, ..a_review() };
    assert_eq!(world.refused(&reviewer, |draft| work::complete_review(draft, id, open)).kind, Kind::Invalid);
    world.review(id);
    world.verify(id);
    assert_eq!(world.refused(&verifier, |d| work::verify(d, id, Judge::default())).kind, Kind::Conflict);
    world.hold();
}

#[test]
fn backfill_is_told_once_and_only_of_untouched_stories() {
    let mut world = World::new();
    let id = world.story("1.1");
    let by = world.reporter.clone();
    let agent = world.ann.clone();
    assert_eq!(world.refused(&agent, |draft| work::backfill(draft, id, before_us())).kind, Kind::NotAllowed);
    for bad in [
        BackfillStory::default(),
        BackfillStory { pr_number: Some(0), ..before_us() },
        BackfillStory { evidence_url: Some("ftp://host/x".to_owned()), ..before_us() },
        BackfillStory { evidence_url: Some("https://me:secret@host/x".to_owned()), ..before_us() },
        BackfillStory { evidence_url: Some("https://".to_owned()), ..before_us() },
        BackfillStory { reason: "x".repeat(2001), ..before_us() },
    ] {
        assert_eq!(world.refused(&by, |draft| work::backfill(draft, id, bad)).kind, Kind::Invalid);
    }
    let done = world.must(&by, |draft| work::backfill(draft, id, before_us()));
    assert_eq!(done, Backfilled::Done { completed_epic: Some(world.epic(1)) });
    assert_eq!(world.standing(id), (ReportedDone, Verified));
    assert_eq!(world.must(&by, |draft| work::backfill(draft, id, before_us())), Backfilled::Already);
    let other = BackfillStory { pr_number: Some(9), ..before_us() };
    assert_eq!(world.refused(&by, |draft| work::backfill(draft, id, other)).code, Some("backfill_refused"));
    let contracted = world.story("1.2");
    world.contract(&agent, contracted);
    let refusal = world.refused(&by, |draft| work::backfill(draft, contracted, before_us()));
    assert_eq!(refusal.code, Some("backfill_refused"));
    world.hold();
}

#[test]
fn bulk_calls_answer_story_by_story_in_order_of_ids() {
    let mut world = World::new();
    let stories: Vec<StoryId> = ["1.1", "1.2", "1.3"].iter().map(|number| world.story(number)).collect();
    let (ann, bob) = (world.ann.clone(), world.bob.clone());
    world.contract(&ann, stories[0]);
    world.contract(&ann, stories[2]);
    let backwards: Vec<StoryId> = stories.iter().rev().copied().collect();
    let results = world.must(&bob, |draft| work::bulk_claim(draft, backwards));
    let told: Vec<(StoryId, bool)> = results.iter().map(|(id, answer)| (*id, answer.is_ok())).collect();
    assert_eq!(told, [(stories[0], true), (stories[1], false), (stories[2], true)]);
    let many = vec![stories[0]; 51];
    assert_eq!(world.refused(&bob, |draft| work::bulk_claim(draft, many)).code, Some("batch_size"));
    assert_eq!(world.refused(&bob, |draft| work::bulk_claim(draft, Vec::new())).code, Some("batch_size"));
    let twice = world.must(&bob, |draft| work::bulk_claim(draft, vec![stories[0], stories[0]]));
    assert!(twice.iter().all(|(_, answer)| answer.is_err()));
}

#[test]
fn verify_all_judges_every_reported_story_by_the_single_rule() {
    let mut world = World::new();
    let (reviewed, unreviewed, pending) = (world.story("1.1"), world.story("1.2"), world.story("1.3"));
    world.report(reviewed);
    world.review(reviewed);
    world.report(unreviewed);
    let (verifier, epic) = (world.verifier.clone(), world.epic(1));
    let results = world.must(&verifier, |draft| work::verify_all(draft, epic, VerifyAll::default()));
    let told: Vec<(StoryId, bool)> = results.iter().map(|(id, answer)| (*id, answer.is_ok())).collect();
    assert_eq!(told, [(reviewed, true), (unreviewed, false)]);
    assert_eq!(world.standing(pending), (Pending, Unverified));
    let ask = || vec![JudgeOne { story: unreviewed, ask: MarkComplete::default() }];
    let results = world.must(&verifier, |draft| work::bulk_mark_complete(draft, ask()));
    assert!(results.iter().all(|(_, answer)| answer.is_err()), "no shortcut past the review");
    world.hold();
}

#[test]
fn an_epic_is_completed_once() {
    let mut world = World::new();
    let (first, second) = (world.story("1.1"), world.story("1.2"));
    world.finish(first);
    world.finish(second);
    let verifier = world.verifier.clone();
    world.must(&verifier, |draft| work::reject(draft, second, because("it broke")));
    world.finish(second);
    let completed = world.entries.iter().filter(|entry| {
        matches!(&entry.change, Change::Work(work::Change::EpicCompleted { .. })) && entry.project.is_some()
    });
    assert_eq!(completed.count(), 1);
    let counts = world.ledger.work.progress(world.project);
    assert_eq!((counts.stories, counts.verified, counts.verified_per_mille()), (2, [0, 2, 0], 1000));
}

#[test]
fn next_actions_follow_the_standing_and_the_role() {
    let mut world = World::new();
    let id = world.story("1.1");
    let names = |world: &World, role| -> Vec<&'static str> {
        next_actions(id, world.track(id), role).iter().map(|next| next.action).collect()
    };
    assert_eq!(names(&world, KeyRole::Agent), ["contract"]);
    let ann = world.ann.clone();
    world.contract(&ann, id);
    assert_eq!(names(&world, KeyRole::Agent), ["claim"]);
    world.must(&ann, |draft| work::claim(draft, id));
    assert_eq!(names(&world, KeyRole::Agent), ["start"]);
    assert!(names(&world, KeyRole::Orchestrator).is_empty());
    world.must(&ann, |draft| work::start(draft, id, None));
    assert_eq!(names(&world, KeyRole::Agent), ["request_review"]);
    let reporter = world.reporter.clone();
    world.must(&reporter, |draft| work::report(draft, id, ReportDone::default()));
    assert!(names(&world, KeyRole::Agent).is_empty());
    assert_eq!(names(&world, KeyRole::Orchestrator), ["verify", "reject"]);
    let path = next_actions(id, world.track(id), KeyRole::User).remove(0).path;
    assert_eq!(path, format!("/api/v1/stories/{id}/verify"));
}

#[test]
fn an_artifact_comes_with_the_report_or_by_itself() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (ann, reporter) = (world.ann.clone(), world.reporter.clone());
    world.start(&ann, id);
    let artifact = |path: &str| ReportArtifact {
        artifact_type: "commit_diff".to_owned(),
        path: path.to_owned(),
        exists: true,
        details: windlass_protocols::protocol::story_queue::vocabulary::JsonText::empty_object(),
    };
    let blank = ReportDone { artifact: Some(artifact(" ")), cap: None };
    assert_eq!(world.refused(&reporter, |draft| work::report(draft, id, blank)).kind, Kind::Invalid);
    let with = ReportDone { artifact: Some(artifact("src/feed.rs")), cap: None };
    world.must(&reporter, |draft| work::report(draft, id, with));
    world.must(&ann, |draft| work::report_artifact(draft, id, artifact("src/lib.rs")));
    let paths: Vec<&str> = world.track(id).artifacts.iter().map(|artifact| artifact.path.as_str()).collect();
    assert_eq!(paths, ["src/feed.rs", "src/lib.rs"]);
}

#[test]
fn a_lazy_score_above_seven_tenths_leaves_the_verifier_to_people() {
    let mut world = World::new();
    let id = world.story("1.1");
    let ann = world.ann.clone();
    world.start(&ann, id);
    let ask = RequestReview { draw: 1, lazy_score: Some(900) };
    let asked = world.must(&ann, |draft| work::request_review(draft, id, ask));
    assert_eq!(asked.verifier, None);
    assert!(world.track(id).verifier_needed);
    assert_eq!(world.track(id).lazy_score, Some(900));
}
