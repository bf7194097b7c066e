//! Whatever a doer does to its tree lands as it lands from a worktree.

use super::{KIND, reject_then_pass, scene, shell};
use crate::scene::{Scene, TASK};

fn filled(scene: &Scene) {
    let repository = &scene.repository;
    for (path, text) in [
        ("src/a.txt", "a\n"),
        ("src/deep/b.txt", "b\n"),
        ("docs/c.md", "c\n"),
        ("tool.sh", "#!/bin/sh\n"),
        (".gitignore", "*.log\n/build/\n"),
    ] {
        let _ = repository.write(path, text);
    }
    std::os::unix::fs::symlink("src/a.txt", repository.path().join("link")).unwrap();
    let _ = repository.commit("more files");
}

#[test]
fn the_same_work_lands_as_the_same_tree_as_from_a_worktree() {
    let works = [
        "echo {round} >> src/a.txt; echo new > src/new-{round}.txt",
        "rm -rf src/deep docs; mv src moved 2>/dev/null; chmod +x .gitignore",
        "rm -rf src; echo file > src; rm -rf tool.sh; mkdir -p tool.sh; echo x > tool.sh/in",
        "echo x > a.log; mkdir -p build; echo x > build/out; echo \"*.md\" >> .gitignore; echo y > y.md; echo z > z.txt",
        "ln -sf docs/c.md link; git add -A; git -c user.name=a -c user.email=a@b commit -qm mine; echo more > more.txt",
    ];
    for work in works {
        let Some(layered) = scene() else { return };
        let mut ordinary = Scene::new();
        ordinary.world.set(KIND, "worktrees");
        let landed = |scene: &Scene| {
            filled(scene);
            let script = reject_then_pass(&[&shell(work), "{ append = 'rounds.txt', text = '{round}' }"]);
            let check = "test -e .gitignore && echo x > trace.log && test ! -e a.log";
            let played = scene.play(&script, &["--rounds", "2", "--check", check]).exits_with(0);
            assert_eq!(played.words(), "pass pass pass 2", "{work}");
            scene.repository.git(&["rev-parse", &format!("windlass/{TASK}^{{tree}}")])
        };
        assert_eq!(landed(&layered), landed(&ordinary), "{work}");
        layered.world.assert_no_processes();
    }
}

#[test]
fn each_reader_and_check_sees_the_judged_tree_and_git_shows_the_change() {
    let Some(mut scene) = scene() else { return };
    scene.world.without_sandbox("a reader leaves something behind that the next one must not find");
    filled(&scene);
    let look = shell(
        "{ git status --porcelain; ls; git rev-parse HEAD; } > {script_dir}/seen-by-{role}; touch trace.log",
    );
    let script = windlass_test_support::Script::new()
        .doer(
            windlass_test_support::When::Always,
            &[&shell("echo x > new.txt; rm tool.sh; echo x > a.log"), "{ handoff = 'did it' }"],
        )
        .judge(windlass_test_support::When::Always, &[&look, "{ verdict = 'pass' }"])
        .auditor(windlass_test_support::When::Always, &[&look, "{ audit = 'pass' }"]);
    let base = scene.repository.git(&["rev-parse", "HEAD"]);
    let checks = ["--check", "test ! -e left && touch left", "--check", "test ! -e left && test -e new.txt"];
    let played = scene.play(&script, &checks).exits_with(0);
    for role in ["judge", "auditor"] {
        let seen = std::fs::read_to_string(scene.world.shared(&format!("seen-by-{role}"))).unwrap();
        assert!(seen.starts_with("A  new.txt\nD  tool.sh\n"), "{seen}");
        assert!(
            seen.contains("\nnew.txt\n") && !seen.contains("a.log") && !seen.contains("trace.log"),
            "{seen}"
        );
        assert!(seen.ends_with(&format!("{base}\n")), "{seen}");
    }
    let place = played.run_dir.join("worktrees/judge");
    let told = std::fs::read_to_string(place.join("HOW-TO-LOOK.txt")).unwrap();
    assert!(told.contains(&format!("windlass checkout {}", played.run())), "{told}");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 1, "nothing else is there for others");
    let shown = scene.world.windlass(&["show", played.run(), "--json"]).exits_with(0).json();
    assert_eq!(shown["workspaces"], "overlay");
    assert_eq!(scene.repository.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_second_run_on_the_same_base_makes_no_checkout() {
    let Some(scene) = scene() else { return };
    filled(&scene);
    let script = windlass_test_support::Script::that_passes();
    let run = |id: &str| {
        let agent = scene.world.agent("script.toml", &script);
        let words =
            ["run", "x", "--id", id, "--repo", scene.repository.text(), "--agent", &agent, "--land", "none"];
        let _ = scene.world.windlass(&words).exits_with(0);
    };
    run("TASK-A");
    let checkouts = || {
        let folder = std::fs::read_dir(scene.world.state_dir().join("pristine")).unwrap();
        let repository = folder.flatten().next().unwrap().path();
        let found = std::fs::read_dir(repository).unwrap().flatten();
        let inode = |path: &std::path::Path| std::os::unix::fs::MetadataExt::ino(&path.metadata().unwrap());
        found.map(|entry| inode(&entry.path().join("files/tool.sh"))).collect::<Vec<_>>()
    };
    let before = checkouts();
    run("TASK-B");
    assert_eq!(before.len(), 1);
    assert_eq!(checkouts(), before);
}

#[test]
fn a_repository_with_few_files_gets_worktrees_and_one_that_cannot_have_overlays_is_told() {
    let Some(mut scene) = scene() else { return };
    scene.world.set(KIND, "auto");
    let script = windlass_test_support::Script::that_passes();
    let played = scene.play(&script, &[]).exits_with(0);
    assert!(played.run_dir.join("worktrees/doer/.git").exists());
    scene.world.set(KIND, "layers");
    let agent = scene.world.agent("script.toml", &script);
    let words = ["run", "x", "--repo", scene.repository.text(), "--agent", &agent];
    let refused = scene.world.windlass(&words).exits_with(2);
    assert!(refused.stderr.contains("workspaces"), "{}", refused.stderr);
}
