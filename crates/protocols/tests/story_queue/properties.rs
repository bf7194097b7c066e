//! What holds whatever anybody tries: random actors under random keys, through every command, bulk and import included.

use crate::world::{World, a_review, criterion};
use proptest::prelude::*;
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::custody::{
    self, Presented, Signature, TokenKind, ViolationStatus,
};
use windlass_protocols::protocol::story_queue::plan::{
    self, AddStory, CriterionStatus, EditForce, Import, ImportEdge, ImportEpic, ImportMode, ImportStory,
    InitialStatus, StoryEdit,
};
use windlass_protocols::protocol::story_queue::vocabulary::{JsonText, KeyRole, StoryId, TokenId};
use windlass_protocols::protocol::story_queue::work::{
    self, AgentStatus, BackfillStory, CompleteReview, ContractEcho, Judge, JudgeCriterion, JudgeOne,
    MarkComplete, Reject, ReportDone, RequestReview, Verdict, VerifiedStatus, VerifyAll,
};

/// Who asks, for which story, what, and how.
type Step = (usize, usize, usize, usize);

const ACTIONS: usize = 29;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec((0..256_usize, 0..6_usize, 0..ACTIONS, 0..8_usize), 1..120)
}

/// The world's cast, everybody under every other role (an agent who got hold of an orchestrator's key and so on), and
/// sub-agents three deep: one orchestrator with several roots, and one that opens roots itself where that is allowed.
fn cast(world: &mut World, own_roots: bool) -> Vec<Caller> {
    let honest = [&world.ann, &world.bob, &world.reporter, &world.reviewer, &world.verifier, &world.user];
    let mut cast: Vec<Caller> = honest.into_iter().cloned().collect();
    for agent in [world.ann.clone(), world.bob.clone()] {
        cast.push(Caller { role: KeyRole::Orchestrator, ..agent.clone() });
        cast.push(world.user_key(agent.agent));
    }
    cast.push(Caller { agent: None, ..world.verifier.clone() });
    cast.extend([world.superadmin.clone(), world.user_key(None)]);
    let user = world.user.clone();
    for one in [world.reporter.clone(), world.verifier.clone()] {
        let root = world.dispatched(&user, KeyRole::Orchestrator, &one, None);
        let below = world.dispatched(&root, KeyRole::Agent, &world.bob.clone(), None);
        cast.extend([root, below]);
    }
    let chief = world.agent("chief", KeyRole::Orchestrator);
    let opener = world.agent("opener", KeyRole::Orchestrator);
    world.set("orchestrator_root_dispatches", own_roots);
    for place in 0..3 {
        let names = ["top", "middle", "agent", "judge"].map(|name| format!("{name} {place}"));
        let [top, middle, agent, judge] = names.map(|name| world.agent(&name, KeyRole::Agent));
        let by = if own_roots && place > 0 { &opener } else { &user };
        let top = if place == 0 { &top } else { &chief };
        let root = world.dispatched(by, KeyRole::Orchestrator, top, None);
        let middle = world.dispatched(&root, KeyRole::Orchestrator, &middle, None);
        let agent = world.dispatched(&middle, KeyRole::Agent, &agent, None);
        let judge = world.dispatched(&middle, KeyRole::Orchestrator, &judge, None);
        cast.extend([root, agent, judge]);
    }
    cast.extend([chief, opener]);
    cast
}

/// What would bring the story on, and somebody who may: random tries alone hardly ever get past the contract.
fn onwards(world: &World, cast: &[Caller], place: usize, how: usize) -> (Caller, usize) {
    let number = NUMBERS[place].parse().expect("a number");
    let story = world.ledger.plan.story_by_number(world.project, number);
    let Some(track) = story.and_then(|story| world.ledger.work.track(story.id)) else {
        return (world.user.clone(), 0);
    };
    let agents: Vec<&Caller> = cast.iter().filter(|one| one.role == KeyRole::Agent).collect();
    let implementer = agents[(how + place) % agents.len()];
    let assigned = track.assigned.as_ref().and_then(|assigned| assigned.key);
    let holder = agents.into_iter().find(|one| Some(one.key) == assigned).unwrap_or(implementer);
    let reviewed = track.reviews.len() > track.reviews_outdated;
    let (by, action) = match track.standing.agent {
        _ if track.is_quarantined() => (&world.user, if how < 4 { 24 } else { 26 }),
        AgentStatus::Pending => (implementer, 1),
        AgentStatus::Contracted => (implementer, 2),
        AgentStatus::Assigned => (holder, 4),
        AgentStatus::Implementing if track.review_requested_at.is_none() && how > 2 => (holder, 6),
        AgentStatus::Implementing => (&world.reporter, 7),
        AgentStatus::ReportedDone if !reviewed => (&world.reviewer, 9),
        AgentStatus::ReportedDone => (&world.verifier, 11),
    };
    (by.clone(), action)
}

const NUMBERS: [&str; 6] = ["1.1", "1.2", "1.3", "2.1", "2.2", "3.1"];

fn play(world: &mut World, by: &Caller, place: usize, action: usize, how: usize) {
    let number = NUMBERS[place].parse().expect("a number");
    let Some(id) = world.ledger.plan.story_by_number(world.project, number).map(|story| story.id) else {
        bring_again(world, by, place, how);
        return;
    };
    // Now and then with a token that nobody issued.
    let cap = (how == 7).then(|| Presented { token: TokenId::default(), signature: Signature::Fails });
    let seen = world.ledger.custody.unsettled(id).next();
    let violation = seen.map(|violation| violation.id).unwrap_or_default();
    let result = [Verdict::Pass, Verdict::Pass, Verdict::Fail, Verdict::Partial][how % 4];
    let judge = || Judge { result: Some(result), cap, ..Judge::default() };
    let reject = || Reject { reason: "not yet".to_owned(), ..Reject::default() };
    let backfill =
        || BackfillStory { reason: "before".to_owned(), pr_number: Some(7), ..BackfillStory::default() };
    let echo = world.echo(id);
    let all: Vec<StoryId> =
        world.ledger.plan.stories_of_project(world.project).map(|story| story.id).collect();
    let epic = world.ledger.plan.story(id).map(|story| story.epic).expect("the story exists");
    // Whether it is allowed is the commands' business; here only the history counts.
    let _ = world.ask(by, |d| match action {
        0 | 1 => work::contract(d, id, if how == 0 { ContractEcho::default() } else { echo }),
        2 | 3 => work::claim(d, id).map(|_| ()),
        4 | 5 => work::start(d, id, cap).map(|_| ()),
        6 => work::request_review(d, id, RequestReview { draw: how as u64, lazy_score: None }).map(|_| ()),
        7 | 8 => work::report(d, id, ReportDone { cap, ..ReportDone::default() }).map(|_| ()),
        9 | 10 => work::complete_review(d, id, CompleteReview { cap, ..a_review() }).map(|_| ()),
        11 | 12 => work::verify(d, id, judge()).map(|_| ()),
        13 => work::reject(d, id, reject()).map(|_| ()),
        14 => work::unclaim(d, id),
        15 => work::force_unclaim(d, id),
        16 => work::backfill(d, id, backfill()).map(|_| ()),
        17 => work::bulk_claim(d, all).map(|_| ()),
        18 => work::bulk_verify(d, each(&all, judge)).map(|_| ()),
        19 if how < 4 => work::bulk_reject(d, each(&all, reject)).map(|_| ()),
        19 | 20 => work::bulk_mark_complete(d, each(&all, MarkComplete::default)).map(|_| ()),
        21 => work::verify_all(d, epic, VerifyAll::default()).map(|_| ()),
        22 => {
            let edit = StoryEdit {
                criteria: Some(vec![criterion("AC-1", ["a", "b"][how % 2])]),
                ..StoryEdit::default()
            };
            let force = if how < 4 { EditForce::Ordinary } else { EditForce::Forced };
            plan::change_story(d, id, edit, force).map(|_| ())
        }
        23 if how < 3 => plan::delete_story(d, id),
        23 if how < 5 => plan::delete_epic(d, epic),
        23 => custody::recover(d, id, TokenKind::VerifyCap).map(|_| ()),
        28 => work::judge_criterion(d, id, a_criterion(how)).map(|_| ()),
        26 => custody::resolve_violation(d, violation, ViolationStatus::Resolved, "looked".to_owned()),
        27 => custody::resolve_violation(d, violation, ViolationStatus::Ignored, "looked".to_owned()),
        _ if how < 6 => custody::release(d, id, "looked".to_owned()),
        _ => plan::import(
            d,
            an_import(d.ledger().plan.story(id).expect("the story exists").project, place, how == 6),
        )
        .map(|_| ()),
    });
}

fn a_criterion(how: usize) -> JudgeCriterion {
    let status = [CriterionStatus::Failed, CriterionStatus::Verified][how % 2];
    JudgeCriterion { ac_id: "AC-1".to_owned(), status, evidence: Some("tests".to_owned()) }
}

fn each<T>(all: &[StoryId], ask: impl Fn() -> T) -> Vec<JudgeOne<T>> {
    all.iter().map(|story| JudgeOne { story: *story, ask: ask() }).collect()
}

fn an_import(
    project: windlass_protocols::protocol::story_queue::vocabulary::ProjectId,
    place: usize,
    merge: bool,
) -> Import {
    let number = if merge { NUMBERS[place] } else { "9.1" };
    let story = ImportStory {
        number: number.parse().expect("a number"),
        title: Some("Brought".to_owned()),
        description: None,
        criteria: Some(vec![criterion("AC-1", "brought")]),
        estimated_hours: None,
        metadata: None,
        initial: [InitialStatus::ReportedDone, InitialStatus::Verified][place % 2],
    };
    let number = u32::from(story.number.major);
    Import {
        project,
        mode: if merge { ImportMode::Merge } else { ImportMode::Fresh },
        epics: vec![ImportEpic {
            number,
            title: Some("E".to_owned()),
            stories: vec![story],
            ..ImportEpic::default()
        }],
        story_dependencies: vec![ImportEdge {
            from: "9.1".parse().expect("a number"),
            on: "1.1".parse().expect("a number"),
        }],
        epic_dependencies: Vec::new(),
        reason: (place > 2).then(|| "moved".to_owned()),
    }
}

/// What was deleted comes back: added, or imported as done where its epic is gone too.
fn bring_again(world: &mut World, by: &Caller, place: usize, how: usize) {
    let number: plan::StoryNumber = NUMBERS[place].parse().expect("a number");
    if how.is_multiple_of(2) {
        let mut ask = an_import(world.project, place, true);
        ask.mode = ImportMode::Fresh;
        ask.epics[0].stories[0].initial = [InitialStatus::Verified, InitialStatus::ReportedDone][how / 2 % 2];
        ask.story_dependencies = Vec::new();
        ask.reason = Some("moved".to_owned());
        if world.ask(by, |draft| plan::import(draft, ask)).is_ok() {
            return;
        }
    }
    let epic = world.epic(u32::from(number.major));
    let add = AddStory {
        epic,
        number,
        title: "Again".to_owned(),
        description: None,
        criteria: Vec::new(),
        estimated_hours: None,
        metadata: JsonText::empty_object(),
    };
    let added = world.ask(by, |draft| plan::add_story(draft, add));
    let before =
        BackfillStory { reason: "before".to_owned(), pr_number: Some(7), ..BackfillStory::default() };
    if let Ok(story) = added {
        let _ = world.ask(by, |draft| work::backfill(draft, story.id, before));
    }
}

/// What the indices say, found the slow way.
fn compare_indices(world: &World) {
    let ledger = &world.ledger;
    let verified = |id: StoryId| world.standing(id).1 == VerifiedStatus::Verified;
    let good = |id: StoryId| verified(id) && !world.track(id).is_quarantined();
    let (mut ready, mut blocked, mut counts) = (Vec::new(), Vec::new(), (0, 0));
    for story in ledger.plan.stories_of_project(world.project) {
        let own = ledger.plan.story_needs(story.id).all(good);
        let mut epics = ledger.plan.epic_needs(story.epic);
        let met = own && epics.all(|epic| ledger.plan.stories_of(epic).all(|story| good(story.id)));
        let track = world.track(story.id);
        let open = !verified(story.id);
        if open && met && track.standing.agent == AgentStatus::Pending && !track.is_quarantined() {
            ready.push(story.number.to_string());
        }
        if open && !met {
            blocked.push(story.number.to_string());
        }
        counts = (counts.0 + 1, counts.1 + u32::from(!open));
    }
    assert_eq!(world.ready(), ready);
    assert_eq!(world.blocked(), blocked);
    // How many there are is kept beside the lists, not counted.
    for project in [None, Some(world.project)] {
        let work = &ledger.work;
        for listed in [work.ready(project), work.blocked(project), work.awaiting_verdict(project)] {
            assert_eq!(listed.len(), listed.iter().count());
        }
    }
    let progress = ledger.work.progress(world.project);
    assert_eq!((progress.stories, progress.verified[1]), counts);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn nobody_ever_marks_their_own_work(
        steps in steps(), distinct in any::<bool>(), reset in any::<bool>(), own_roots in any::<bool>()
    ) {
        let mut world = World::new();
        world.set("distinct_reporter_reviewer_verifier", distinct);
        world.set("auto_reset_on_rejection", reset);
        for number in NUMBERS {
            world.story(number);
        }
        world.depend("1.2", "1.1").unwrap();
        world.depend_epics(2, 1).unwrap();
        let cast = cast(&mut world, own_roots);
        for (who, place, action, how) in steps {
            let (honest, next) = onwards(&world, &cast, place, how);
            // Half go the story's way, a quarter try the story's next step as somebody else, a quarter try anything.
            let (by, action) = match who % 4 {
                0 | 1 => (honest, next),
                2 => (cast[(who / 4) % cast.len()].clone(), next),
                _ => (cast[(who / 4) % cast.len()].clone(), action),
            };
            play(&mut world, &by, place, action, if who % 4 < 2 { how.min(5) } else { how });
        }
        compare_indices(&world);
        world.hold();
    }
}
