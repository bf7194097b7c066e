//! What an agent left becomes a commit of its branch; what was not its to write is put back and named.

use super::super::site::Stop;
use super::texts;
use super::world::{BRANCH, ROUND, STATE, WORKTREE, World, words};
use std::fs;
use windlass_protocols::outcome::FindingKind;
use windlass_protocols::protocol::roadmap_rounds::plane::Generation;
use windlass_protocols::protocol::roadmap_rounds::steps::{WorkKind, WorktreePurpose};

const MARKDOWN: Generation = Generation::StructuredMarkdown;
const NOTHING: [&str; 0] = [];

fn plan_path() -> String {
    format!("orchestrator/rounds/{ROUND}/plan.md")
}

#[test]
fn an_agent_that_edits_the_state_and_other_rounds_has_it_put_back() {
    let world = World::with_round(MARKDOWN);
    let before = world.read(STATE);
    world.leave("src/new.rs", "new\n");
    world.leave(&texts::notes_path(), texts::NOTES);
    world.leave(STATE, "{\"controller_stage\": \"done\"}\n");
    world.leave("orchestrator/rounds/round-003/review.md", "forged\n");
    world.leave(&format!("orchestrator/rounds/{ROUND}/review.md"), "forged\n");
    world.leave("build.log", "ignored\n");
    fs::remove_file(world.repo.join(WORKTREE).join("orchestrator/project-contract.md")).unwrap();
    let captured = world.capture(WorkKind::Implement);
    assert_eq!(
        captured.put_back,
        [
            "orchestrator/project-contract.md",
            "orchestrator/rounds/round-003/review.md",
            "orchestrator/rounds/round-004/review.md",
            STATE,
        ]
    );
    assert_eq!(captured.files_changed, 2);
    assert_eq!(captured.commit, world.at(BRANCH));
    assert_eq!(captured.tree, world.tree_at(BRANCH));
    assert_eq!(world.names_of(BRANCH), [texts::notes_path(), "src/new.rs".to_owned()]);
    assert_eq!(world.read(&format!("{WORKTREE}/{STATE}")), before);
    assert_eq!(world.read(&format!("{WORKTREE}/build.log")), "ignored\n");
    assert!(!world.repo.join(WORKTREE).join("orchestrator/rounds/round-003").exists());
    world.is_settled(WORKTREE, BRANCH);
}

#[test]
fn asked_again_it_says_the_same_and_makes_no_second_commit() {
    let world = World::with_round(MARKDOWN);
    world.leave("src/new.rs", "new\n");
    world.leave(STATE, "{}\n");
    let asked = world.to_capture(WorkKind::Implement);
    let first = world.capture_as(&asked, "twice").unwrap();
    assert_eq!(first.put_back, [STATE]);
    assert_eq!(world.capture_as(&asked, "twice").unwrap(), first);
    assert_eq!(world.git(&["rev-list", "--count", &format!("main..{BRANCH}")]), "1");
    // Killed before anything was put back, but after it was written down.
    world.git(&["update-ref", &format!("refs/heads/{BRANCH}"), asked.parent.as_str()]);
    world.leave(STATE, "{}\n");
    assert_eq!(world.capture_as(&asked, "twice").unwrap(), first);
    world.is_settled(WORKTREE, BRANCH);
    assert_eq!(world.at(BRANCH), first.commit);
}

#[test]
fn an_agent_that_commits_by_itself_gets_one_commit_of_what_it_may_write() {
    let world = World::with_round(MARKDOWN);
    let asked = world.to_capture(WorkKind::Implement);
    world.leave("src/new.rs", "new\n");
    world.leave(STATE, "{}\n");
    world.git_in(WORKTREE, &["add", "-A"]);
    world.git_in(WORKTREE, &["commit", "-q", "-m", "mine"]);
    let own = world.at(BRANCH);
    world.git_in(WORKTREE, &["checkout", "-q", "--detach"]);
    let captured = world.capture_as(&asked, "committed").unwrap();
    assert_eq!(captured.put_back, [STATE]);
    assert_eq!(
        captured.findings.iter().map(|finding| finding.kind).collect::<Vec<_>>(),
        [FindingKind::Committed]
    );
    assert_eq!(world.git(&["rev-parse", &format!("{BRANCH}^@")]), asked.parent.as_str());
    assert_eq!(world.names_of(BRANCH), ["src/new.rs"]);
    world.is_settled(WORKTREE, BRANCH);
    let kept = world.git(&["for-each-ref", "--format=%(objectname)", "refs/windlass/kept/"]);
    assert!(kept.lines().any(|id| id == own.as_str()), "its own commit: {kept}");
    assert_eq!((kept.lines().count(), captured.kept.is_some()), (2, true), "and what was put back: {kept}");
    assert_eq!(world.capture_as(&asked, "committed").unwrap(), captured);
}

#[test]
fn nothing_left_is_no_commit() {
    let world = World::with_round(MARKDOWN);
    let captured = world.capture(WorkKind::Review);
    assert_eq!((captured.commit, captured.files_changed), (world.at("main"), 0));
    assert_eq!(world.at(BRANCH), world.at("main"));
}

#[test]
fn a_planner_may_not_write_code_unless_its_plan_is_a_simple_one() {
    let standard = World::with_round(MARKDOWN);
    standard.leave(&plan_path(), &texts::plan("standard"));
    standard.leave("src/main.rs", "fn main() { planned(); }\n");
    assert_eq!(standard.capture(WorkKind::Plan).put_back, ["src/main.rs"]);
    let simple = World::with_round(MARKDOWN);
    simple.leave(&plan_path(), &texts::plan("simple"));
    simple.leave(&texts::notes_path(), &texts::direct_notes());
    simple.leave("src/main.rs", "fn main() { planned(); }\n");
    let captured = simple.capture(WorkKind::Plan);
    assert_eq!((captured.put_back, captured.files_changed), (vec![], 3));
}

#[test]
fn a_worker_writes_its_scope_and_its_own_files() {
    let world = World::with_round(Generation::Records);
    for (path, text) in texts::planned(Generation::Records) {
        world.leave(&path, &text);
    }
    world.leave(&format!("orchestrator/rounds/{ROUND}/round-plan-record.json"), &fanned_out());
    for worker in ["a", "b"] {
        world.leave(&format!("orchestrator/rounds/{ROUND}/workers/{worker}/assignment.md"), "Do it.\n");
    }
    assert_eq!(world.capture(WorkKind::Plan).put_back, NOTHING);
    world.open(WorktreePurpose::Worker { round: ROUND.to_owned(), worker: "a".to_owned() }).unwrap();
    let place = format!("orchestrator/worktrees/{ROUND}-a");
    world.write(&format!("{place}/src/a/mod.rs"), "mine\n");
    world.write(&format!("{place}/src/b/mod.rs"), "not mine\n");
    world.write(&format!("{place}/orchestrator/rounds/{ROUND}/workers/a/handoff.md"), "done\n");
    world.write(&format!("{place}/orchestrator/rounds/{ROUND}/workers/b/handoff.md"), "done\n");
    let captured = world.capture(WorkKind::Worker { worker: "a".to_owned() });
    let other = format!("orchestrator/rounds/{ROUND}/workers/b/handoff.md");
    assert_eq!(captured.put_back, [other, "src/b/mod.rs".to_owned()]);
    assert_eq!(captured.files_changed, 2);
}

fn fanned_out() -> String {
    let planned = texts::planned(Generation::Records);
    let (_, text) = planned.iter().find(|(path, _)| path.ends_with("round-plan-record.json")).unwrap();
    let mut record: serde_json::Value = serde_json::from_str(text).unwrap();
    let worker = |id: &str| {
        let own = |name: &str| format!("orchestrator/rounds/{ROUND}/workers/{id}/{name}.md");
        serde_json::json!({
            "worker_id": id, "summary": "a share", "assignment_path": own("assignment"),
            "implementation_notes_path": own("implementation-notes"), "handoff_path": own("handoff"),
            "branch": format!("orchestrator/{ROUND}-{id}"), "worktree_path": format!("orchestrator/worktrees/{ROUND}-{id}"),
            "write_scope": [format!("src/{id}/")], "depends_on_worker_ids": [], "blocks_integration": true,
            "verification_commands": ["true"],
        })
    };
    record["worker_mode"] = "fanout".into();
    record["workers"] = [worker("a"), worker("b")].to_vec().into();
    record["integration"] = serde_json::json!({
        "summary": "together", "depends_on_worker_ids": ["a", "b"], "verification_commands": ["true"],
        "integration_notes_path": texts::notes_path(),
    });
    format!("{record:#}\n")
}

#[test]
fn what_cannot_be_looked_at_safely_is_left_as_it_is_and_named() {
    let world = World::with_round(MARKDOWN);
    let inner = format!("{WORKTREE}/vendored");
    fs::create_dir_all(world.repo.join(&inner)).unwrap();
    world.git_in(&inner, &["init", "-q"]);
    world.write(&format!("{inner}/file"), "x\n");
    world.git_in(&inner, &["add", "-A"]);
    world.git_in(&inner, &["commit", "-q", "-m", "inner"]);
    let captured = world.capture(WorkKind::Implement);
    assert!(captured.hazards.iter().any(|hazard| hazard.contains("vendored")), "{:?}", captured.hazards);
    assert_eq!(captured.commit, world.at("main"));
    assert!(world.repo.join(&inner).join("file").exists());
}

#[test]
fn a_worktree_that_was_taken_away_leaves_nothing_to_take() {
    let world = World::with_round(MARKDOWN);
    let asked = world.to_capture(WorkKind::Implement);
    fs::remove_dir_all(world.repo.join(WORKTREE)).unwrap();
    let captured = world.capture_as(&asked, "gone").unwrap();
    assert_eq!((captured.commit, captured.files_changed), (asked.parent, 0));
}

#[test]
fn content_that_somebody_forged_in_the_users_store_is_refused() {
    let world = World::with_round(MARKDOWN);
    world.leave("src/new.rs", "new\n");
    // Under the name the new file will have lies another one.
    let name = world.git_in(WORKTREE, &["hash-object", "src/new.rs"]);
    let other = world.git_in(WORKTREE, &["hash-object", "-w", "src/main.rs"]);
    let place = |id: &str| world.repo.join(".git/objects").join(&id[..2]).join(&id[2..]);
    fs::create_dir_all(place(&name).parent().unwrap()).unwrap();
    fs::copy(place(&other), place(&name)).unwrap();
    let asked = world.to_capture(WorkKind::Implement);
    let stop = world.capture_as(&asked, "forged").unwrap_err();
    assert!(matches!(&stop, Stop::Refused(_)), "{stop:?}");
    assert!(words(stop).contains("forged"));
    assert_eq!(world.at(BRANCH), asked.parent);
}

#[test]
fn programs_planted_in_the_users_configuration_do_not_run() {
    let world = World::with_round(MARKDOWN);
    let witness = world.repo.join("witness");
    let run = format!("touch {}", witness.display());
    world.git(&["config", "core.fsmonitor", &run]);
    world.git(&["config", "filter.evil.clean", &run]);
    world.leave(".gitattributes", "* filter=evil\n");
    world.leave("src/new.rs", "new\n");
    world.capture(WorkKind::Implement);
    assert!(!witness.exists());
}
