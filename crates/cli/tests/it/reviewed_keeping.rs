//! What a review found wrong with keeping and landing: names without room, worktrees that are none any more, pipes where
//! git looks for its rules, files that cleaning threw away.

mod cleaning;

use crate::played_run::{PlayedRun, waiting_doer};
use crate::scene::Scene;
use windlass_test_support::{Script, When, wait_until};

fn doer_that(actions: &[&str]) -> Script {
    Script::new()
        .doer(When::Always, actions)
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"])
}

#[test]
fn a_branch_called_windlass_makes_the_change_land_beside_it() {
    let scene = Scene::new();
    scene.repository.git(&["branch", "windlass"]);
    for pack in [false, true] {
        if pack {
            scene.repository.git(&["pack-refs", "--all"]);
        }
        let _ = scene.play(&Script::that_passes(), &[]).exits_with(0);
    }
    for branch in ["windlass-TASK-1", "windlass-TASK-1-2"] {
        assert_eq!(scene.repository.git(&["show", &format!("{branch}:done.txt")]), "done");
    }
}

#[test]
fn a_locked_branch_waits_for_a_person_and_lands_once_the_lock_is_gone() {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    let lock = played.repository.path().join(".git/refs/heads/windlass/TASK-1.lock");
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    std::fs::write(&lock, "").unwrap();
    played.go();
    let ended = running.wait().exits_with(11);
    assert!(ended.stdout.contains("TASK-1.lock"), "{}", ended.stdout);
    std::fs::remove_file(&lock).unwrap();
    let _ = played.about("land", &[]).exits_with(0);
    assert_eq!(played.repository.git(&["show", "windlass/TASK-1:done.txt"]), "done");
}

#[test]
fn a_locked_branch_that_is_checked_out_waits_for_a_person_too() {
    let played = PlayedRun::of(&Script::that_passes());
    let branch = played.repository.git(&["symbolic-ref", "HEAD"]);
    let lock = played.repository.path().join(format!(".git/{branch}.lock"));
    std::fs::write(&lock, "").unwrap();
    let ended = played.run(&["--land", "current"]).exits_with(11);
    assert!(ended.stdout.contains(".lock"), "{}", ended.stdout);
    std::fs::remove_file(&lock).unwrap();
    let _ = played.about("land", &["--current"]).exits_with(0);
    assert_eq!(played.repository.git(&["status", "--porcelain"]), "");
    assert_eq!(played.repository.read("done.txt"), "done");
}

/// The way a doer makes something else of its own worktree; `HERE` stands for its path.
const REPLACEMENTS: [&str; 3] = [
    "mv HERE HERE-moved && ln -s HERE-moved HERE",
    "mv HERE HERE-moved && echo x > HERE",
    "mv HERE HERE-moved && mkfifo HERE",
];

fn replacing(replacement: &str) -> String {
    let program = replacement.replace("HERE", "{workspace}");
    format!("{{ run = ['sh', '-c', 'cd / && {program}'] }}")
}

#[test]
fn a_worktree_that_its_doer_replaced_waits_for_a_person_and_is_looked_at_again_when_it_is_back() {
    for replacement in REPLACEMENTS {
        let script = doer_that(&[
            "{ append = 'done.txt', text = 'done' }",
            "{ handoff = 'adds done.txt' }",
            &replacing(replacement),
        ]);
        let mut played = PlayedRun::of(&script);
        played.world.without_sandbox("the fence would keep it from that");
        let ended = played.run(&["--rounds", "1"]).exits_with(11);
        assert!(ended.stdout.contains("is not a directory"), "{replacement}: {}", ended.stdout);
        let worktree = played.run_dir().join("worktrees/doer");
        let moved = worktree.with_file_name("doer-moved");
        assert_eq!(std::fs::read_to_string(moved.join("done.txt")).unwrap(), "done", "{replacement}");
        // As nobody put it back, the answer is the same.
        let again = played.about("resume", &["--rounds", "+1"]);
        assert_eq!(again.code, Some(11), "{replacement}: {}{}", again.stdout, again.stderr);
    }
}

#[test]
fn a_run_whose_worktree_was_replaced_can_be_stopped() {
    for replacement in REPLACEMENTS {
        let script = doer_that(&[
            "{ write = 'done.txt', text = 'done' }",
            &replacing(replacement),
            "{ wait_for = 'go' }",
            "{ handoff = 'adds done.txt' }",
        ]);
        let mut played = PlayedRun::of(&script);
        played.world.without_sandbox("the fence would keep it from that");
        let running = played.start_until_the_doer_works();
        let moved = played.run_dir().join("worktrees/doer-moved");
        wait_until("the replacement", || moved.is_dir().then_some(()));
        let _ = running.kill();
        let stopped = played.about("stop", &[]);
        assert_eq!(stopped.code, Some(0), "{replacement}: {}{}", stopped.stdout, stopped.stderr);
        assert!(moved.join("done.txt").is_file(), "{replacement}");
    }
}

#[test]
fn a_pipe_in_the_place_of_git_s_rules_costs_the_round_and_the_next_one_may_mend_it() {
    let plant = "{ run = ['sh', '-c', 'mkdir -p deep/inner/.git; mkfifo .gitignore deep/.gitattributes deep/inner/.git/HEAD'] }";
    let script = Script::new()
        .doer(
            When::Round(1),
            &["{ write = 'done.txt', text = 'done' }", plant, "{ handoff = 'adds done.txt' }"],
        )
        .doer(
            When::Round(2),
            &["{ delete = '.gitignore' }", "{ delete = 'deep' }", "{ handoff = 'takes the pipes away' }"],
        )
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let scene = Scene::new();
    let played = scene.play(&script, &["--rounds", "2"]).exits_with(0);
    let told = played.text(2, "doer.prompt.md");
    for path in [".gitignore", "deep/.gitattributes", "deep/inner/.git"] {
        assert!(told.contains(&format!("{path} is no plain file")), "{path}: {told}");
    }
    assert_eq!(scene.landed_changes(), ["A\tdone.txt"]);
}
