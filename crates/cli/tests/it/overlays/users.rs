//! A user without any rights has them too, in a user namespace.

use super::{KIND, scene, shell};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use windlass_test_support::{Script, When};

const NOBODY: &str = "65534";

fn give_to_nobody(path: &Path) {
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
    let script = Script::new()
        .doer(When::Always, &[&shell("echo x > done.txt; rm gone.txt; rm -r src"), "{ handoff = 'x' }"])
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let agent = scene.world.agent("script.toml", &script);
    let folder = scene.world.path().join("program");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("windlass");
    std::fs::copy(scene.world.program(), &program).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    give_to_nobody(scene.world.path());
    let mut words = vec!["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", program.to_str().unwrap()];
    words.extend(["run", "x", "--id", "TASK-1", "--repo", scene.repository.text(), "--agent", &agent]);
    let setpriv = Path::new("/usr/bin/setpriv");
    let output = scene.world.run(setpriv, scene.repository.path(), &words, "");
    let _ = output.exits_with(0);
    give_back(scene.world.path());
    assert_eq!(scene.landed_changes(), ["A\tdone.txt", "D\tgone.txt", "D\tsrc/a.txt"]);
}

/// Git refuses to look at a repository of somebody else's.
fn give_back(path: &Path) {
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
