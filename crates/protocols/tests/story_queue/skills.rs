//! Section 11: skills, their versions, and what came of them.

use crate::scene::{Scene, assert_least, epic, key, kind, project, story};
use windlass_protocols::protocol::story_queue::refusal::Kind;
use windlass_protocols::protocol::story_queue::skills::{
    self, ChangeSkill, CreateSkill, ImportedSkill, Imports, Metrics, NewVersion, RecordResult, SkillStatus,
    Verdict,
};
use windlass_protocols::protocol::story_queue::usage::{self, Place, UsageNumbers};
use windlass_protocols::protocol::story_queue::vocabulary::{KeyRole, SkillId};

fn new(name: &str, prompt_text: &str) -> CreateSkill {
    CreateSkill { name: name.into(), prompt_text: prompt_text.into(), ..CreateSkill::default() }
}

fn create(scene: &mut Scene, name: &str) -> SkillId {
    scene
        .run(&key(KeyRole::User), |draft| skills::create_skill(draft, new(name, "one")))
        .expect("the scene allows it")
}

fn version(scene: &mut Scene, skill: SkillId, text: &str) -> u32 {
    let ask = NewVersion { prompt_text: text.into(), changelog: Some("why".into()) };
    scene
        .run(&key(KeyRole::User), |draft| skills::add_version(draft, skill, ask))
        .expect("the scene allows it")
}

#[test]
fn creating_makes_version_one_and_a_text_makes_the_next() {
    let mut scene = Scene::new();
    let id = create(&mut scene, "loopctl:review");
    assert_eq!(version(&mut scene, id, "two"), 2);
    let skill = &scene.ledger.skills.skills[&id];
    assert_eq!(skill.current().map(|now| now.prompt_text.as_str()), Some("two"));
    assert_eq!(skill.version(1).map(|first| first.prompt_text.as_str()), Some("one"), "versions stay");
    assert!(skill.version(0).is_none() && skill.version(3).is_none());
}

#[test]
fn skills_are_a_users_to_change() {
    let mut scene = Scene::new();
    let mut names = 0..;
    assert_least(KeyRole::User, |caller| {
        let name = format!("skill-{}", names.next().unwrap());
        scene.run(caller, |draft| skills::create_skill(draft, new(&name, "text")))
    });
    let id = create(&mut scene, "one");
    let text = NewVersion { prompt_text: "x".into(), changelog: None };
    assert_least(KeyRole::User, |caller| {
        scene.run(caller, |draft| skills::add_version(draft, id, text.clone()))
    });
    assert_least(KeyRole::User, |caller| scene.run(caller, |draft| skills::cost_performance(draft, id)));
    assert_least(KeyRole::User, |caller| scene.run(caller, |draft| skills::archive_skill(draft, id)));
}

#[test]
fn a_name_is_unique_in_its_project() {
    let mut scene = Scene::new();
    create(&mut scene, "plan");
    let user = key(KeyRole::User);
    let again = scene.run(&user, |draft| skills::create_skill(draft, new("plan", "x")));
    assert_eq!(kind(again), Some(Kind::Conflict));
    let inside = CreateSkill { project: Some(project()), ..new("plan", "x") };
    scene.run(&user, |draft| skills::create_skill(draft, inside)).unwrap();
    for wrong in [new("", "x"), new("x", " ")] {
        assert_eq!(kind(scene.run(&user, |draft| skills::create_skill(draft, wrong))), Some(Kind::Invalid));
    }
    assert_eq!(scene.ledger.skills.matching("LA").count(), 2);
    assert_eq!(scene.ledger.skills.matching("p*n").count(), 2);
    assert_eq!(scene.ledger.skills.matching("n*p").count(), 0);
}

#[test]
fn an_archived_skill_takes_no_version_until_it_is_active_again() {
    let mut scene = Scene::new();
    let id = create(&mut scene, "status");
    let user = key(KeyRole::User);
    scene.run(&user, |draft| skills::archive_skill(draft, id)).unwrap();
    let text = NewVersion { prompt_text: "x".into(), changelog: None };
    let refused = scene.run(&user, |draft| skills::add_version(draft, id, text));
    assert_eq!(kind(refused), Some(Kind::Conflict));
    let again = ChangeSkill { status: Some(SkillStatus::Active), ..ChangeSkill::default() };
    scene.run(&user, |draft| skills::change_skill(draft, id, again)).unwrap();
    assert_eq!(version(&mut scene, id, "x"), 2);
}

fn imported(name: &str, text: &str) -> ImportedSkill {
    ImportedSkill { name: name.into(), description: None, prompt_text: text.into() }
}

#[test]
fn an_import_creates_updates_or_leaves_and_is_whole() {
    let mut scene = Scene::new();
    let user = key(KeyRole::User);
    create(&mut scene, "same");
    let id = create(&mut scene, "other");
    let files = vec![imported("same", "  one\n"), imported("other", "two"), imported("new", "three")];
    let counts = scene.run(&user, |draft| skills::import_skills(draft, None, files)).unwrap();
    assert_eq!(counts, Imports { total: 3, created: 1, updated: 1, unchanged: 1 });
    assert_eq!(scene.ledger.skills.skills[&id].versions.len(), 2);
    let wrong = vec![imported("good", "x"), imported("bad", "")];
    let refusal = scene.run(&user, |draft| skills::import_skills(draft, None, wrong)).unwrap_err();
    assert_eq!(refusal.message, "skills[1].prompt_text can't be blank");
    let twice = vec![imported("good", "x"), imported("good", "y")];
    assert_eq!(
        kind(scene.run(&user, |draft| skills::import_skills(draft, None, twice))),
        Some(Kind::Invalid)
    );
    assert!(scene.ledger.skills.named(None, "good").is_none());

    scene.run(&user, |draft| skills::archive_skill(draft, id)).unwrap();
    let name = scene.ledger.skills.skills[&id].name.clone();
    let put_away = vec![imported("good", "x"), imported(&name, "another text")];
    let refusal = scene.run(&user, |draft| skills::import_skills(draft, None, put_away)).unwrap_err();
    assert_eq!(refusal.message, format!("the skill {name} is archived"));
    assert!(scene.ledger.skills.named(None, "good").is_none(), "all or none");
}

#[test]
fn results_are_recorded_by_orchestrators_and_counted_by_version() {
    let mut scene = Scene::new();
    let id = create(&mut scene, "review");
    let version = scene.ledger.skills.skills[&id].versions[0].id;
    let result = |verdict, findings_count, false_positive_count, iterations| RecordResult {
        version,
        verification: None,
        story: story(1),
        project: project(),
        verdict,
        metrics: Metrics { findings_count, false_positive_count, iterations, ..Metrics::default() },
    };
    for role in [KeyRole::Agent, KeyRole::User] {
        let refused =
            scene.run(&key(role), |draft| skills::record_result(draft, result(Verdict::Pass, 0, 0, None)));
        assert_eq!(kind(refused), Some(Kind::NotAllowed), "the role is exact");
    }
    let orchestrator = key(KeyRole::Orchestrator);
    for told in [
        result(Verdict::Pass, 4, 1, Some(2)),
        result(Verdict::Fail, 4, 3, Some(3)),
        result(Verdict::Partial, 0, 0, None),
    ] {
        scene.run(&orchestrator, |draft| skills::record_result(draft, told)).unwrap();
    }
    let wrong =
        scene.run(&orchestrator, |draft| skills::record_result(draft, result(Verdict::Pass, 1, 2, None)));
    assert_eq!(kind(wrong), Some(Kind::Invalid));
    let stats = &skills::stats(&scene.ledger.skills.skills[&id])[0];
    assert_eq!((stats.results, stats.pass, stats.fail, stats.partial), (3, 1, 1, 1));
    assert_eq!((stats.pass_per_mille(), stats.false_positive_per_mille()), (Some(333), Some(500)));
    assert_eq!(stats.average_iterations(), Some(2500));
}

#[test]
fn a_version_twice_as_dear_with_three_calls_is_a_regression() {
    let mut scene = Scene::new();
    let id = create(&mut scene, "review");
    version(&mut scene, id, "two");
    let versions: Vec<_> =
        scene.ledger.skills.skills[&id].versions.iter().map(|version| version.id).collect();
    let place = Place { story: story(1), epic: epic(), project: project() };
    let call = |scene: &mut Scene, number: usize, cost| {
        let numbers =
            UsageNumbers { skill_version: Some(versions[number]), ..UsageNumbers::new("opus", 1, 1, cost) };
        scene.run(&key(KeyRole::Agent), |draft| usage::report_usage(draft, place, numbers)).unwrap();
    };
    call(&mut scene, 0, 100);
    call(&mut scene, 1, 201);
    call(&mut scene, 1, 201);
    let regressed = |scene: &mut Scene| {
        let rows = scene.run(&key(KeyRole::User), |draft| skills::cost_performance(draft, id)).unwrap();
        rows.iter().map(|row| row.regressed).collect::<Vec<_>>()
    };
    assert_eq!(regressed(&mut scene), [false, false], "two calls prove nothing");
    call(&mut scene, 1, 201);
    assert_eq!(regressed(&mut scene), [false, true]);
    call(&mut scene, 1, 197);
    assert_eq!(regressed(&mut scene), [false, false], "twice is not more than twice");
}
