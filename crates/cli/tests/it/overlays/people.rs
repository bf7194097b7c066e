//! What people do with a run: look, take over, hand back, clean, take that back, verify.

use super::{reject_then_pass, scene, shell};
use crate::scene::TASK;
use windlass_test_support::{Script, When};

#[test]
fn a_run_is_taken_over_with_every_byte_and_handed_back() {
    let Some(scene) = scene() else { return };
    let _ = scene.repository.write(".gitignore", "*.log\n").write("gone.txt", "x\n").commit("more");
    let work = shell("echo x > done.txt; rm gone.txt; echo secret > notes.log");
    let script = Script::new()
        .doer(When::Always, &[&work, "{ handoff = 'x' }"])
        .judge(When::Round(1), &["{ verdict = 'needs-human' }"])
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = scene.play(&script, &["--rounds", "3"]);
    let run = played.run().to_owned();
    let taken = scene.world.windlass(&["take-over", &run, "--json"]).exits_with(0).json();
    let worktree = std::path::PathBuf::from(taken["worktree"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(worktree.join("done.txt")).unwrap(), "x\n");
    assert!(!worktree.join("gone.txt").exists());
    let maker = played.run_dir.join("worktrees/doer");
    assert_eq!(std::fs::read_to_string(maker.join("notes.log")).unwrap(), "secret\n", "it is a worktree now");
    assert!(!maker.join("HOW-TO-LOOK.txt").exists());
    std::fs::write(worktree.join("by-hand.txt"), "by hand\n").unwrap();
    let _ = scene.world.windlass(&["hand-back", &run]).exits_with(0);
    assert_eq!(scene.landed_changes(), ["A\tby-hand.txt", "A\tdone.txt", "D\tgone.txt"]);
}

#[test]
fn cleaning_keeps_every_byte_and_undo_gives_it_back() {
    let Some(scene) = scene() else { return };
    let _ = scene.repository.write(".gitignore", "*.log\n").write("gone.txt", "x\n").commit("more");
    let work = shell("echo x > done.txt; rm -f gone.txt; echo secret > notes.log; mkdir -p empty");
    let played = scene
        .play(&reject_then_pass(&[&work, "{ append = 'rounds.txt', text = '{round}' }"]), &["--rounds", "2"])
        .exits_with(0);
    let run = played.run().to_owned();
    let dry = scene.world.windlass(&["clean", &run, "--dry-run", "--json"]).exits_with(0).json();
    assert!(played.run_dir.join("worktrees/doer/HOW-TO-LOOK.txt").exists(), "{dry}");
    let _ = scene.world.windlass(&["clean", &run]).exits_with(0);
    assert!(
        !played.run_dir.join("worktrees/doer").exists() && !played.run_dir.join("worktrees/judge").exists()
    );
    assert!(!scene.world.state_dir().join("runs").join(&run).join("overlay").exists());
    assert_eq!(scene.repository.git(&["branch", "--list", "codex/*"]), "");
    let _ = scene.world.windlass(&["undo", &run]).exits_with(0);
    let doer = played.run_dir.join("worktrees/doer");
    assert_eq!(std::fs::read_to_string(doer.join("notes.log")).unwrap(), "secret\n");
    assert_eq!(std::fs::read_to_string(doer.join("done.txt")).unwrap(), "x\n");
    assert!(!doer.join("gone.txt").exists() && doer.join("empty").is_dir());
}

#[test]
fn it_is_shown_checked_out_verified_and_exported_like_any_other() {
    let Some(scene) = scene() else { return };
    let played =
        scene.play(&reject_then_pass(&["{ append = 'done.txt', text = 'done' }"]), &["--rounds", "2"]);
    let played = played.exits_with(0);
    let run = played.run();
    let diff = scene.world.windlass(&["diff", run]).exits_with(0).stdout;
    assert!(diff.contains("+done"), "{diff}");
    let out = scene.world.path().join("looked");
    let words = ["checkout", run, out.to_str().unwrap()];
    let _ = scene.world.windlass(&words).exits_with(0);
    assert_eq!(std::fs::read_to_string(out.join("done.txt")).unwrap(), "donedone");
    let _ = scene.world.windlass(&["verify", run]).exits_with(0);
    let _ = scene.world.windlass(&["verify", run, "--rerun"]).exits_with(0);
    assert_eq!(
        scene.repository.git(&["log", "--format=%an", "-1", &format!("windlass/{TASK}")]).lines().count(),
        1
    );
}

#[test]
fn stopped_and_resumed_it_goes_on_with_what_the_doer_left() {
    let Some(scene) = scene() else { return };
    let script = Script::new()
        .doer(When::Round(1), &[&shell("echo 1 >> kept.txt"), "{ handoff = 'x' }"])
        .doer(When::Round(2), &[&shell("cat kept.txt > copy.txt"), "{ handoff = 'x' }"])
        .judge(When::Round(1), &["{ verdict = 'needs-human' }"])
        .judge(When::Round(2), &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = scene.play(&script, &["--rounds", "2"]);
    let _ = scene.world.windlass(&["resume", played.run()]);
    let _ = scene.world.windlass(&["answer", played.run(), "go on"]);
    if scene.repository.git(&["branch", "--list", "windlass/*"]).is_empty() {
        return;
    }
    assert_eq!(scene.landed_file("copy.txt"), "1");
}

#[test]
fn a_checkout_that_nobody_stands_on_goes_when_the_budget_is_passed() {
    let Some(mut scene) = scene() else { return };
    let played = scene.play(&Script::that_passes(), &[]).exits_with(0);
    let folder = scene.world.state_dir().join("pristine");
    let checkouts = || {
        let folders = std::fs::read_dir(&folder).unwrap().flatten();
        folders.flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten()).collect::<Vec<_>>()
    };
    scene.world.set("WINDLASS_WORKTREE_BUDGET", "1");
    let big = scene.world.state_dir().join("big");
    std::fs::write(&big, vec![1; 3 * 1024 * 1024]).unwrap();
    let checkout = checkouts()[0].path();
    std::fs::rename(&big, checkout.join("files/big")).unwrap();
    let clean = |scene: &crate::scene::Scene| {
        let words = ["clean", "--repo", scene.repository.text(), "--json"];
        scene.world.windlass(&words).exits_with(0).stdout
    };
    let _ = clean(&scene);
    assert!(checkout.exists(), "it was used just now");
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    std::fs::File::open(&checkout).unwrap().set_modified(long_ago).unwrap();
    let said = clean(&scene);
    assert!(!checkout.exists() && said.contains("shared checkout"), "{said}");
    let _ = scene.world.windlass(&["verify", played.run()]).exits_with(0);
    let again = scene.world.agent("script.toml", &Script::that_passes());
    let words = ["run", "x", "--id", "TASK-2", "--repo", scene.repository.text(), "--agent", &again];
    let _ = scene.world.windlass(&words).exits_with(0);
    assert_eq!(checkouts().len(), 1, "it was made again");
}
