//! Another git that holds a lock on what the loop is about to move: one that goes away is waited for, one that stays is named.

use super::plant::{ADDING_ACTUATOR, BRANCH, Plant, counting_controller, outcome};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The actuator adds one, and leaves that file as another git would that is at work.
fn locking(lock: &Path) -> String {
    format!("{ADDING_ACTUATOR}\n: > '{}'", lock.display())
}

fn plant() -> Plant {
    let mut plant = Plant::flat(1);
    plant.world.without_sandbox("the actuator plays another git in the user's repository");
    plant
}

fn lock_of_the_branch(plant: &Plant) -> PathBuf {
    plant.repository.path().join(format!(".git/refs/heads/{BRANCH}.lock"))
}

/// A git in front of the real one, after which the lock is gone once it was met. Comes back with the file that counts that.
fn letting_go(plant: &mut Plant, lock: &Path) -> PathBuf {
    let (folder, met) = (plant.world.shared("bin"), plant.world.shared("met"));
    std::fs::create_dir(&folder).unwrap();
    let path = plant.world.environment()[std::ffi::OsStr::new("PATH")].to_str().unwrap().to_owned();
    let lines = format!(
        "#!/bin/sh\nPATH=\"{path}\"\ncase \"$*\" in *update-ref*)\n  if [ -e '{lock}' ]; then echo x >> {met}; git \"$@\"; code=$?; rm '{lock}'; exit $code; fi;;\nesac\nexec git \"$@\"\n",
        lock = lock.display(),
        met = met.display(),
    );
    let git = folder.join("git");
    std::fs::write(&git, lines).unwrap();
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).unwrap();
    plant.world.set("PATH", format!("{}:{path}", folder.display()));
    met
}

#[test]
fn a_lock_on_the_branch_that_goes_away_is_waited_for_and_the_commit_is_made() {
    let mut plant = plant();
    let lock = lock_of_the_branch(&plant);
    let met = letting_go(&mut plant, &lock);
    let ended = outcome(&plant.run(&counting_controller(1), &locking(&lock), &[]).exits_with(0));
    assert_eq!(ended["final_verdict"], "complete");
    assert_eq!(std::fs::read_to_string(met).unwrap(), "x\n", "the first try met it");
    assert_eq!(plant.labels(), ["0", "1", "2"]);
}

/// Where another git would put its lock.
type LockOf = fn(&Plant) -> PathBuf;

#[test]
fn a_lock_that_stays_ends_the_run_with_the_name_of_its_file_and_resume_makes_the_commit() {
    let in_place = ["--in-place"];
    let cases: [(&[&str], LockOf); 3] = [
        (&[], lock_of_the_branch),
        (&in_place, lock_of_the_branch),
        (&in_place, |plant| plant.repository.path().join(".git/index.lock")),
    ];
    for (flags, lock) in cases {
        let plant = plant();
        let lock = lock(&plant);
        let base = plant.repository.git(&["rev-parse", "HEAD"]);
        let ended = outcome(&plant.run(&counting_controller(1), &locking(&lock), flags).exits_with(11));
        let because = ended["explanation"]["because"].to_string();
        let named = format!("remove {}", lock.display());
        assert!(because.contains("could not be committed") && because.contains(&named), "{because}");
        assert!(lock.exists(), "it is somebody else's");
        std::fs::remove_file(&lock).unwrap();
        let _ = plant.world.windlass(&["resume", &plant.run_id()]).exits_with(0);
        assert_eq!(plant.ends_with("value"), "1");
        assert_eq!(plant.repository.git(&["rev-list", "--count", &format!("{base}..{BRANCH}")]), "3");
        plant.assert_sound();
    }
}
