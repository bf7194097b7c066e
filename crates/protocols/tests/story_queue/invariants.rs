//! The invariants themselves: an honest history breaks none, and each deed put into other hands breaks its own.

use crate::world::World;
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::custody;
use windlass_protocols::protocol::story_queue::facts::{Change, Entry};
use windlass_protocols::protocol::story_queue::invariants::{Broken, broken};
use windlass_protocols::protocol::story_queue::vocabulary::{KeyRole, StoryId};
use windlass_protocols::protocol::story_queue::work::{
    self, AgentStatus, BackfillStory, How, ReportDone, VerifiedStatus,
};

fn finished() -> (World, StoryId) {
    let mut world = World::new();
    let id = world.story("1.1");
    world.finish(id);
    assert_eq!(broken(&world.entries), None);
    (world, id)
}

/// The history as if somebody else had done what `deed` picks.
fn forged(world: &World, by: &Caller, deed: fn(&work::Change) -> bool) -> Vec<Entry> {
    let mut entries = world.entries.clone();
    let mut found = 0;
    for entry in &mut entries {
        if matches!(&entry.change, Change::Work(change) if deed(change)) {
            entry.by = by.actor();
            found += 1;
        }
    }
    assert_eq!(found, 1);
    entries
}

fn moved(change: &work::Change, how: fn(&How) -> bool) -> bool {
    matches!(change, work::Change::Moved { how: done, .. } if how(done))
}

#[test]
fn a_deed_of_the_implementer_is_found() {
    let (world, id) = finished();
    let ann = &world.ann;
    let reported = forged(&world, ann, |change| moved(change, |how| matches!(how, How::Reported)));
    assert_eq!(broken(&reported), Some(Broken::ReportedByImplementer(id)));
    let reviewed = forged(&world, ann, |change| matches!(change, work::Change::Reviewed { .. }));
    assert_eq!(broken(&reviewed), Some(Broken::ReviewedByImplementer(id)));
    let verified = forged(&world, ann, |change| moved(change, |how| matches!(how, How::Verified { .. })));
    assert_eq!(broken(&verified), Some(Broken::VerifiedByImplementer(id)));
}

#[test]
fn a_missing_or_doubled_step_is_found() {
    let (world, id) = finished();
    let mut unreviewed = world.entries.clone();
    unreviewed.retain(|entry| !matches!(&entry.change, Change::Work(work::Change::Reviewed { .. })));
    assert_eq!(broken(&unreviewed), Some(Broken::VerifiedWithoutReview(id)));
    let mut again = world.entries.clone();
    let last = again.iter().rfind(|entry| matches!(&entry.change, Change::Work(work::Change::Moved { .. })));
    let last = last.unwrap().clone();
    again.push(last);
    assert_eq!(broken(&again), Some(Broken::WrongStanding(id)));
    let mut elsewhere = world.entries.clone();
    for entry in &mut elsewhere {
        entry.project = None;
    }
    assert_eq!(broken(&elsewhere), Some(Broken::OutsideAnyProject(id)), "the feed is asked by project");
}

#[test]
fn work_before_a_backfill_is_found() {
    let mut world = World::new();
    let id = world.story("1.1");
    let by = world.reporter.clone();
    let ask = BackfillStory { reason: "before".to_owned(), pr_number: Some(7), ..BackfillStory::default() };
    world.must(&by, |draft| work::backfill(draft, id, ask));
    assert_eq!(broken(&world.entries), None);
    let mut entries = world.entries.clone();
    let at = entries.iter().position(|entry| matches!(&entry.change, Change::Work(_))).unwrap();
    let mut claimed = entries[at].clone();
    let standing = work::Standing::default();
    claimed.change =
        Change::Work(work::Change::Moved { story: id, from: standing, to: standing, how: How::Claimed });
    entries.insert(at, claimed);
    assert_eq!(broken(&entries), Some(Broken::BackfilledAfterWork(id)));
}

#[test]
fn a_hand_that_two_parts_share_is_found() {
    let mut world = World::new();
    let id = world.story("1.1");
    let (user, chief) = (world.user.clone(), world.agent("chief", KeyRole::Orchestrator));
    let below = |world: &mut World, role: KeyRole, name: &str| {
        let (root, agent) =
            (world.dispatched(&user, KeyRole::Orchestrator, &chief, None), world.agent(name, KeyRole::Agent));
        world.dispatched(&root, role, &agent, None)
    };
    let (one, two) = (below(&mut world, KeyRole::Agent, "one"), below(&mut world, KeyRole::Agent, "two"));
    let three = below(&mut world, KeyRole::Orchestrator, "three");
    world.start(&one, id);
    let reporter = world.reporter.clone();
    world.must(&reporter, |draft| work::report(draft, id, ReportDone::default()));
    world.review(id);
    world.verify(id);
    assert_eq!(broken(&world.entries), None);
    let as_reported = |change: &work::Change| moved(change, |how| matches!(how, How::Reported));
    let judged = |change: &work::Change| moved(change, |how| matches!(how, How::Verified { .. }));
    assert_eq!(broken(&forged(&world, &two, as_reported)), Some(Broken::ReportedByImplementer(id)));
    assert_eq!(broken(&forged(&world, &three, judged)), Some(Broken::VerifiedByImplementer(id)));
    let reviewer = world.reviewer.clone();
    assert_eq!(broken(&forged(&world, &reviewer, judged)), Some(Broken::OneActorForTwoParts(id)));
    let mut chosen = world.entries.clone();
    let at =
        chosen.iter().position(|entry| matches!(&entry.change, Change::Work(change) if as_reported(change)));
    let mut asked = chosen[at.unwrap()].clone();
    let verifier = three.lineage.last().copied();
    asked.change = Change::Work(work::Change::ReviewRequested { story: id, verifier, lazy_score: None });
    chosen.insert(at.unwrap(), asked);
    assert_eq!(broken(&chosen), Some(Broken::ChosenAmongImplementers(id)));
}

#[test]
fn a_dead_end_and_a_violation_in_the_wrong_hands_are_found() {
    let (mut world, id) = finished();
    let mut stuck = world.entries.clone();
    let mut last = stuck
        .iter()
        .rfind(|entry| matches!(&entry.change, Change::Work(work::Change::Moved { .. })))
        .unwrap()
        .clone();
    let from = work::Standing { agent: AgentStatus::ReportedDone, verified: VerifiedStatus::Verified };
    let to = work::Standing { agent: AgentStatus::Pending, ..from };
    last.change = Change::Work(work::Change::Moved { story: id, from, to, how: How::ForceUnclaimed });
    stuck.push(last);
    assert_eq!(broken(&stuck), Some(Broken::VerifiedAndPending(id)));

    let (other, ann, bob) = (world.story("1.2"), world.ann.clone(), world.bob.clone());
    let user = world.user.clone();
    world.start(&ann, other);
    world.caught(&ann, |draft| work::report(draft, other, ReportDone::default()));
    world.must(&user, |draft| custody::release(draft, other, "looked".to_owned()));
    let mut strangers = world.entries.clone();
    let mut settled = world.entries.clone();
    let mut found = None;
    for (theirs, own) in strangers.iter_mut().zip(&mut settled) {
        match &mut theirs.change {
            Change::Custody(custody::Change::ViolationSeen { violation }) => {
                violation.by = bob.actor();
                found = Some(violation.id);
            }
            Change::Custody(custody::Change::ViolationClosed { .. }) => own.by = ann.actor(),
            _ => {}
        }
    }
    assert_eq!(broken(&strangers), found.map(Broken::HeldByAStranger));
    assert_eq!(broken(&settled), found.map(Broken::SettledByItsCause));
}
