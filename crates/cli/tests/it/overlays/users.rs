//! A user without any rights has them too, in a user namespace.

use super::{KIND, scene, shell};
use crate::scene::Scene;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use windlass_test_support::{Output, Script, When, World};

pub(crate) const NOBODY: &str = "65534";

pub(crate) fn give_to_nobody(path: &Path) {
    let owner = rustix::fs::Uid::from_raw(65_534);
    let group = rustix::fs::Gid::from_raw(65_534);
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        rustix::fs::chownat(
            rustix::fs::CWD,
            &path,
            Some(owner),
            Some(group),
            rustix::fs::AtFlags::SYMLINK_NOFOLLOW,
        )
        .unwrap();
        if path.symlink_metadata().unwrap().is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
        }
    }
}

#[test]
fn a_user_without_rights_lands_the_same_change() {
    let Some(mut scene) = scene() else { return };
    if !rustix::process::geteuid().is_root() {
        // Everything else here was that user already.
        return;
    }
    let _ = scene.repository.write("gone.txt", "x\n").write("src/a.txt", "a\n").commit("more");
    scene.world.set(KIND, "overlay");
    let agent = passing(&scene, "echo x > done.txt; rm gone.txt; rm -r src");
    let words = ["run", "x", "--id", "TASK-1", "--repo", scene.repository.text(), "--agent", &agent];
    let _ = as_ordinary_user(&scene, &words).exits_with(0);
    give_back(scene.world.path());
    assert_eq!(scene.landed_changes(), ["A\tdone.txt", "D\tgone.txt", "D\tsrc/a.txt"]);
}

/// The agent of a run whose doer does this and which is passed at once.
fn passing(scene: &Scene, doer: &str) -> String {
    let script = Script::new()
        .doer(When::Always, &[&shell(doer), "{ handoff = 'x' }"])
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    scene.world.agent("script.toml", &script)
}

/// By a user to whom all of the world belongs, and who may do no more than that.
fn as_ordinary_user(scene: &Scene, words: &[&str]) -> Output {
    if !rustix::process::geteuid().is_root() {
        return scene.world.windlass(words);
    }
    let program = program_for_anybody(&scene.world);
    give_to_nobody(scene.world.path());
    let user = ["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", program.to_str().unwrap()];
    let words = [&user, words].concat();
    scene.world.run(Path::new("/usr/bin/setpriv"), scene.repository.path(), &words, "")
}

/// The directories above the one that was built need not be open to everybody.
pub(crate) fn program_for_anybody(world: &World) -> PathBuf {
    let program = world.path().join("program/windlass");
    if !program.exists() {
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::copy(world.program(), &program).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    program
}

/// It can be read by nobody who is not root, its owner too, until somebody opens it.
#[test]
fn what_the_maker_closed_outlives_cleaning_and_is_kept_once_it_is_open() {
    let Some(scene) = scene() else { return };
    let _ = scene.repository.write(".gitignore", "*.log\n").commit("more");
    let closes =
        "echo x > done.txt; mkdir -p notes.log/deep; echo kept > notes.log/deep/f; chmod 000 notes.log";
    let agent = passing(&scene, closes);
    let words = ["run", "x", "--id", "TASK-1", "--repo", scene.repository.text(), "--agent", &agent];
    let _ = as_ordinary_user(&scene, &words).exits_with(0);
    let listed = as_ordinary_user(&scene, &["ls", "--json"]).exits_with(0).json();
    let run = listed[0]["run"].as_str().unwrap();
    let layers = scene.world.state_dir().join("runs").join(run).join("overlay");
    assert!(layers.exists(), "it ran in layers");
    let runs = std::fs::read_dir(scene.repository.path().join(".orchestrator/runs")).unwrap();
    let doer = runs.flatten().next().unwrap().path().join("worktrees/doer");
    let notes = doer.join("notes.log");
    let _ = as_ordinary_user(&scene, &["clean", run]).exits_with(0);
    assert!(!layers.exists() && doer.join("done.txt").exists(), "it is a worktree now, and stays");
    assert_eq!(std::fs::metadata(&notes).unwrap().permissions().mode() & 0o777, 0);
    std::fs::set_permissions(&notes, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(std::fs::read_to_string(notes.join("deep/f")).unwrap(), "kept\n");
    let _ = as_ordinary_user(&scene, &["clean", run]).exits_with(0);
    assert!(!doer.exists());
    let _ = as_ordinary_user(&scene, &["undo", run]).exits_with(0);
    assert_eq!(std::fs::read_to_string(notes.join("deep/f")).unwrap(), "kept\n");
    give_back(scene.world.path());
}

/// Git refuses to look at a repository of somebody else's.
pub(crate) fn give_back(path: &Path) {
    let own = (rustix::process::geteuid(), rustix::process::getegid());
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
        rustix::fs::chownat(rustix::fs::CWD, &path, Some(own.0), Some(own.1), flags).unwrap();
        if path.symlink_metadata().unwrap().is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
        }
    }
}
