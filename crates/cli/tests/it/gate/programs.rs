//! Programs that stand in the way of the real ones.

use super::{doer, found, names, scene, waiving};
use crate::scene::Scene;
use std::os::unix::fs::PermissionsExt;

const HONEST: &str = "#!/bin/sh\n[ \"$(sh sum.sh 0 5)\" = 5 ]\n";

/// The user has a program `verify-sum` in a folder of their own, first on the search path.
fn with_program(entries: &str) -> (Scene, std::path::PathBuf) {
    let mut scene = scene();
    let folder = scene.world.home().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("verify-sum");
    std::fs::write(&program, HONEST).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{entries}{}:/usr/local/bin:/usr/bin:/bin", folder.display());
    scene.world.set("PATH", path);
    (scene, program)
}

const BROKEN: &str = "{ write = 'sum.sh', text = 'echo 4' }";
const FLAGS: [&str; 4] = ["--rounds", "1", "--check", "verify-sum"];

#[test]
fn a_program_of_the_users_that_the_maker_overwrites() {
    let (mut scene, program) = with_program("");
    scene.world.without_sandbox("the maker must be able to overwrite the program of the user's");
    let attack = format!("{{ run = ['cp', '/bin/true', '{}'], may_fail = true }}", program.display());
    let played = scene.play(&waiving(doer(&[BROKEN, &attack]), &[]), &FLAGS).exits_with(10);
    scene.assert_nothing_landed();
    assert_ne!(std::fs::read(&program).unwrap(), HONEST.as_bytes(), "it was overwritten");
    assert_eq!(found(&played), names(&["check-replaced-on-path"]));
    assert!(played.explained().contains("[gate] check-replaced-on-path: "), "{}", played.explained());
}

#[test]
fn a_wrapper_in_the_tree_is_not_run_for_a_relative_entry_of_the_search_path() {
    let wrapper = "{ write = 'tools/verify-sum', text = \"#!/bin/sh\\nexit 0\\n\", mode = 0o755 }";
    let (scene, _) = with_program("tools::");
    let played = scene.play(&waiving(doer(&[BROKEN, wrapper]), &[]), &FLAGS).exits_with(10);
    assert!(
        played.explained().contains("a required check is red"),
        "the honest program ran: {}",
        played.explained()
    );
    scene.assert_nothing_landed();

    let (scene, _) = with_program("tools::");
    let work = "{ write = 'done.txt', text = 'done' }";
    let played = scene.play(&waiving(doer(&[work, wrapper]), &[]), &FLAGS).exits_with(10);
    assert_eq!(found(&played), names(&["check-replaced-on-path"]));
    scene.assert_nothing_landed();
}
