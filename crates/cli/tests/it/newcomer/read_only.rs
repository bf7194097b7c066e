//! A state directory that cannot be written: looked at all the same, and nothing is begun in it.

use super::is_a_usage_error;
use crate::played_run::PlayedRun;
use crate::world;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use windlass_process_supervisor::QuickCommand;
use windlass_test_support::World;

/// Whoever may write everywhere gives that right away first.
fn without_privileges(world: &World, words: &[&str]) -> (Option<i32>, String, String) {
    let program = world.program().to_str().unwrap();
    let plain = [&[program], words].concat();
    let drop_rights = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"];
    let words =
        if rustix::process::geteuid().is_root() { [&drop_rights, &plain[..]].concat() } else { plain };
    let command = QuickCommand::new(words[0], world.path())
        .args(words[1..].iter().copied())
        .envs(world.environment().clone());
    let output = command.run().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Takes or gives the right to write in a directory and all below it.
fn writable(directory: &Path, yes: bool) {
    let mode = |mode: u32| if yes { mode | 0o200 } else { mode & !0o222 };
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        let found = path.symlink_metadata().unwrap();
        if found.is_symlink() {
            continue;
        }
        let permissions = std::fs::Permissions::from_mode(mode(found.permissions().mode()));
        std::fs::set_permissions(&path, permissions).unwrap();
        if found.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
        }
    }
}

#[test]
fn runs_can_be_looked_at_and_none_can_be_started() {
    let played = PlayedRun::accepted();
    let run = played.id();
    let state = played.world.state_dir();
    writable(&state, false);
    let looks: [&[&str]; 6] =
        [&["ls"], &["show", &run], &["log", &run], &["diff", &run], &["explain", &run], &["verify", &run]];
    let answers: Vec<_> = looks.iter().map(|look| (look, without_privileges(&played.world, look))).collect();
    let doctor = without_privileges(&played.world, &["doctor"]);
    let words = ["run", "x", "--repo", played.repository.text(), "--agent", &played.agent];
    let started = without_privileges(&played.world, &words);
    writable(&state, true);
    for (look, (code, stdout, stderr)) in answers {
        assert_eq!(code, Some(0), "{look:?}\n{stdout}\n{stderr}");
        assert!(!stdout.is_empty(), "{look:?}");
    }
    assert_eq!(doctor.0, Some(1), "{doctor:?}");
    assert!(doctor.1.contains("can be read but not written"), "{doctor:?}");
    assert_eq!(started.0, Some(2), "{started:?}");
    assert!(started.2.contains(&format!("the state directory {}", state.display())), "{started:?}");
    assert_eq!(played.world.steps().len(), 3);
}

#[test]
fn a_state_directory_that_is_none_is_named_and_is_a_finding_of_the_doctor() {
    let mut world = world();
    let file = world.path().join("file");
    std::fs::write(&file, "").unwrap();
    world.set("WINDLASS_STATE_DIR", file.clone());
    let words = format!("the state directory {} cannot be used: it is not a directory", file.display());
    is_a_usage_error(world.windlass(&["ls"]), &words);
    is_a_usage_error(world.windlass(&["run", "x"]), "choose another with WINDLASS_STATE_DIR");
    let findings = world.windlass(&["doctor"]).exits_with(1);
    assert!(findings.stdout.contains(&words) && findings.stdout.contains("git: "), "{}", findings.stdout);
    assert_eq!(findings.stderr, "");
}
