//! What holds whatever anybody tries: random actors under random keys, through every command, bulk and import included.

use crate::world::{World, a_review, criterion};
use proptest::prelude::*;
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::custody::{self, OpenDispatch, TokenKind};
use windlass_protocols::protocol::story_queue::plan::{
    self, AddStory, EditForce, Import, ImportEdge, ImportEpic, ImportMode, ImportStory, InitialStatus,
    StoryEdit,
};
use windlass_protocols::protocol::story_queue::vocabulary::{JsonText, KeyRole, StoryId};
use windlass_protocols::protocol::story_queue::work::{
    self, AgentStatus, BackfillStory, ContractEcho, Judge, JudgeOne, MarkComplete, Reject, ReportDone,
    RequestReview, Verdict, VerifiedStatus, VerifyAll,
};

/// Who asks, for which story, what, and how.
type Step = (usize, usize, usize, usize);

const ACTIONS: usize = 26;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec((0..64_usize, 0..6_usize, 0..ACTIONS, 0..8_usize), 1..120)
}

/// The world's cast, and everybody under every other role: an agent who got hold of an orchestrator's key and so on.
fn cast(world: &mut World) -> Vec<Caller> {
    let honest = [&world.ann, &world.bob, &world.reporter, &world.reviewer, &world.verifier, &world.user];
    let mut cast: Vec<Caller> = honest.into_iter().cloned().collect();
    for agent in [world.ann.clone(), world.bob.clone()] {
        for role in [KeyRole::Orchestrator, KeyRole::User] {
            cast.push(Caller { role, ..agent.clone() });
        }
    }
    cast.push(Caller { agent: None, ..world.verifier.clone() });
    cast.push(world.superadmin.clone());
    let (user, roots) = (world.user.clone(), [world.reporter.clone(), world.verifier.clone()]);
    for one in roots {
        let root = dispatched(world, &user, KeyRole::Orchestrator, &one);
        let below = dispatched(world, &root, KeyRole::Agent, &world.bob.clone());
        cast.extend([root, below]);
    }
    cast
}

fn dispatched(world: &mut World, by: &Caller, role: KeyRole, agent: &Caller) -> Caller {
    let ask = OpenDispatch {
        role,
        agent: agent.agent.unwrap(),
        parent: None,
        story: None,
        expires_in_seconds: None,
        key: world.secret(),
    };
    let opened = world.must(by, |draft| custody::open(draft, ask));
    Caller {
        key: opened.key.id,
        role,
        lineage: opened.dispatch.lineage,
        label: "dispatched".to_owned(),
        ..agent.clone()
    }
}

const NUMBERS: [&str; 6] = ["1.1", "1.2", "1.3", "2.1", "2.2", "3.1"];

fn play(world: &mut World, by: &Caller, place: usize, action: usize, how: usize) {
    let number = NUMBERS[place].parse().unwrap();
    let Some(id) = world.ledger.plan.story_by_number(world.project, number).map(|story| story.id) else {
        add_again(world, by, place);
        return;
    };
    let result = [Verdict::Pass, Verdict::Pass, Verdict::Fail, Verdict::Partial][how % 4];
    let judge = || Judge { result: Some(result), ..Judge::default() };
    let reject = || Reject { reason: "not yet".to_owned(), ..Reject::default() };
    let backfill = || BackfillStory { reason: "before".to_owned(), ..BackfillStory::default() };
    let echo = world.echo(id);
    let all: Vec<StoryId> =
        world.ledger.plan.stories_of_project(world.project).map(|story| story.id).collect();
    let epic = world.ledger.plan.story(id).map(|story| story.epic).unwrap();
    // Whether it is allowed is the commands' business; here only the history counts.
    let _ = world.ask(by, |d| match action {
        0 | 1 => work::contract(d, id, if how == 0 { ContractEcho::default() } else { echo }),
        2 | 3 => work::claim(d, id).map(|_| ()),
        4 | 5 => work::start(d, id, None).map(|_| ()),
        6 => work::request_review(d, id, RequestReview { draw: how as u64, lazy_score: None }).map(|_| ()),
        7 | 8 => work::report(d, id, ReportDone::default()).map(|_| ()),
        9 | 10 => work::complete_review(d, id, a_review()).map(|_| ()),
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
        23 if how == 0 => plan::delete_story(d, id),
        23 => custody::recover(d, id, TokenKind::VerifyCap).map(|_| ()),
        24 | _ if how < 6 => custody::release(d, id, "looked".to_owned()),
        _ => plan::import(d, an_import(d.ledger().plan.story(id).unwrap().project, place, how)).map(|_| ()),
    });
}

fn each<T>(all: &[StoryId], ask: impl Fn() -> T) -> Vec<JudgeOne<T>> {
    all.iter().map(|story| JudgeOne { story: *story, ask: ask() }).collect()
}

fn an_import(
    project: windlass_protocols::protocol::story_queue::vocabulary::ProjectId,
    place: usize,
    how: usize,
) -> Import {
    let number = if how == 6 { NUMBERS[place] } else { "9.1" };
    let story = ImportStory {
        number: number.parse().unwrap(),
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
        mode: if how == 6 { ImportMode::Merge } else { ImportMode::Fresh },
        epics: vec![ImportEpic {
            number,
            title: Some("E".to_owned()),
            stories: vec![story],
            ..ImportEpic::default()
        }],
        story_dependencies: vec![ImportEdge { from: "9.1".parse().unwrap(), on: "1.1".parse().unwrap() }],
        epic_dependencies: Vec::new(),
        reason: (place > 2).then(|| "moved".to_owned()),
    }
}

fn add_again(world: &mut World, by: &Caller, place: usize) {
    let number: plan::StoryNumber = NUMBERS[place].parse().unwrap();
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
    let _ = world.ask(by, |draft| plan::add_story(draft, add));
}

/// What the indices say, found the slow way.
fn compare_indices(world: &World) {
    let ledger = &world.ledger;
    let verified = |id: StoryId| world.standing(id).1 == VerifiedStatus::Verified;
    let (mut ready, mut blocked, mut counts) = (Vec::new(), Vec::new(), (0, 0));
    for story in ledger.plan.stories_of_project(world.project) {
        let own = ledger.plan.story_needs(story.id).all(verified);
        let mut epics = ledger.plan.epic_needs(story.epic);
        let met = own && epics.all(|epic| ledger.plan.stories_of(epic).all(|story| verified(story.id)));
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
    let progress = ledger.work.progress(world.project);
    assert_eq!((progress.stories, progress.verified[1]), counts);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn nobody_ever_marks_their_own_work(steps in steps(), distinct in any::<bool>(), reset in any::<bool>()) {
        let mut world = World::new();
        world.set("distinct_reporter_reviewer_verifier", distinct);
        world.set("auto_reset_on_rejection", reset);
        for number in NUMBERS {
            world.story(number);
        }
        world.depend("1.2", "1.1").unwrap();
        world.depend_epics(2, 1).unwrap();
        let cast = cast(&mut world);
        for (who, place, action, how) in steps {
            let by = cast[who % cast.len()].clone();
            play(&mut world, &by, place, action, how);
        }
        compare_indices(&world);
        world.hold();
    }
}
