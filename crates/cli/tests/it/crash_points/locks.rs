//! Kills the engine and its git in the middle of moving a reference: git's lock stays behind. Whoever goes on takes it away,
//! and leaves alone what another git has locked.

use super::ending::Ending;
use super::stage::{Stage, Standing};
use std::os::unix::fs::PermissionsExt;
use windlass_test_support::Output;

/// A git in front of the real one. The so-manieth time it is to move references it locks the first of them as git does, and
/// dies with its engine.
fn dying_git(stage: &mut Stage, time: usize) {
    let folder = stage.world.shared("bin");
    std::fs::create_dir(&folder).unwrap();
    let (count, common) = (stage.world.shared("count"), stage.repository.path().join(".git"));
    let path = stage.world.environment()[std::ffi::OsStr::new("PATH")].to_str().unwrap().to_owned();
    let lines = format!(
        r#"#!/bin/sh
PATH="{path}"
case "$*" in *update-ref*)
  echo x >> {count}
  if [ "$(wc -l < {count})" -eq {time} ]; then
    name=$(tr '\0' '\n' | sed -n '1s/^[a-z]* //p')
    mkdir -p "$(dirname "{common}/$name")"; : > "{common}/$name.lock"
    kill -9 $PPID; exit 1
  fi;;
esac
exec git "$@"
"#,
        count = count.display(),
        common = common.display(),
    );
    let git = folder.join("git");
    std::fs::write(&git, lines).unwrap();
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).unwrap();
    stage.world.set("PATH", format!("{}:{path}", folder.display()));
}

/// The first command, and the one a person gives then; none where the story had ended.
fn killed(time: usize) -> (Stage, Option<Output>) {
    let mut stage = Stage::set_up();
    dying_git(&mut stage, time);
    let killed = stage.run();
    if killed.signal != Some(9) {
        return (stage, None);
    }
    let resumed = stage.standing().way_on()(&stage);
    (stage, Some(resumed))
}

#[test]
fn a_lock_that_a_killed_git_left_is_in_nobodys_way() {
    let whole = Stage::set_up();
    let _ = whole.run().exits_with(0);
    let expected = Ending::of(&whole);
    let mut times = 0;
    while let (stage, Some(resumed)) = killed(times + 1) {
        times += 1;
        assert_eq!(resumed.code, Some(0), "killed the {times}. time: {}", resumed.stderr);
        assert_eq!(
            Ending::of(&stage).differences(&expected),
            Vec::<String>::new(),
            "killed the {times}. time"
        );
    }
    assert!(times >= 2, "references were moved {times} times");
}

#[test]
fn a_lock_of_another_git_stays() {
    let mut stage = Stage::set_up();
    dying_git(&mut stage, 1);
    assert_eq!(stage.run().signal, Some(9));
    let heads = stage.repository.path().join(".git/refs/heads/codex");
    let locks: Vec<_> = std::fs::read_dir(heads).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [lock] = locks.as_slice() else { panic!("one lock was left: {locks:?}") };
    let others = stage.repository.git(&["rev-parse", "HEAD^{tree}"]);
    std::fs::write(lock, &others).unwrap();
    let _ = stage.resume().exits_with(1);
    assert_eq!(std::fs::read_to_string(lock).unwrap(), others);
    assert!(matches!(stage.standing(), Standing::Ended { .. }));
}
