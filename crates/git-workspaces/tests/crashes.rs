//! A process killed at any point leaves nothing that stops the next one, and the end is the same.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use support::{NOON, World, contents, keeping, take, write};
use windlass_git_workspaces::{
    Checkout, Commit, CommitRequest, FastForward, Identity, Removal, Repository, SnapshotLimits,
};
use windlass_process_supervisor::QuickCommand;

/// Where the child finds its world; the scenario makes its own when it runs as an ordinary test.
const WORLD_VARIABLE: &str = "WINDLASS_TEST_WORLD";

/// Everything from opening to removal, written so that it can be started again at any time.
fn scenario(root: &Path) {
    let checkout = Checkout::discover(&root.join("repo")).unwrap();
    let repository = Repository::open(support::locate_git(), checkout, &root.join("control")).unwrap();
    repository.checkout().exclude("/.orchestrator/").unwrap();
    let base = repository.resolve_commit("refs/heads/base").unwrap();
    repository.import(&base).unwrap();
    let doer = root.join("doer");
    let worktree = repository.worktree_at(&doer).unwrap();
    // Once the work is kept and gone, a restart goes on behind it.
    if repository.read_reference("refs/windlass/kept/w").unwrap().is_none() {
        repository.add_worktree(&doer, "work", "doer", &base).unwrap();
        write(&doer.join("readme.txt"), "changed\n");
        write(&doer.join("new"), "new\n");
        let snapshot = repository.snapshot(&doer, "doer", &base.tree, SnapshotLimits::default()).unwrap();
        repository.materialise(&root.join("judge"), "judge", &snapshot.tree).unwrap();
        let me = Identity::new("L", "l@example.com").unwrap();
        let id = repository
            .commit(&CommitRequest {
                tree: &snapshot.tree,
                parents: std::slice::from_ref(&base.id),
                message: "Land",
                author: &me,
                committer: &me,
                time: NOON,
            })
            .unwrap();
        let landed = Commit { id, tree: snapshot.tree };
        repository.publish(&landed, &base.tree).unwrap();
        assert_eq!(repository.fast_forward_current(&base, &landed).unwrap(), FastForward::Done);
    }
    let removal = repository.remove_worktree(&worktree, "doer", &base, &keeping("w")).unwrap();
    assert!(matches!(removal, Removal::Removed { .. }), "{removal:?}");
}

fn prepared() -> World {
    let world = World::new();
    world.git(&world.repo, &["branch", "base"]);
    world
}

/// What a user can see at the end.
fn visible_end(world: &World) -> (String, String, Vec<support::Found>) {
    let kept = world.git(&world.repo, &["rev-parse", "refs/windlass/kept/w^{tree}"]);
    assert_eq!(world.git(&world.repo, &["status", "--porcelain"]), "");
    assert!(!world.path("doer").exists());
    assert!(!world.git(&world.repo, &["worktree", "list"]).contains("doer"));
    world.git(&world.repo, &["fsck", "--strict"]);
    assert_eq!(contents(&world.path("judge")), contents(&world.repo));
    (world.git(&world.repo, &["rev-parse", "main"]), kept, contents(&world.repo))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the parent test hands the world over in the environment")]
fn the_scenario_runs_through() {
    if let Some(root) = std::env::var_os(WORLD_VARIABLE) {
        scenario(Path::new(&root));
    } else {
        let world = prepared();
        scenario(&world.path(""));
        visible_end(&world);
    }
}

fn run_child(root: &Path, crash_at: Option<u32>, log: Option<&Path>) -> bool {
    let mut command = QuickCommand::new(std::env::current_exe().unwrap(), root)
        .args(["--exact", "the_scenario_runs_through"])
        .env(WORLD_VARIABLE, root)
        .env("PATH", "/usr/bin:/bin")
        .deadline(Duration::from_secs(50));
    if let Some(number) = crash_at {
        command = command.env("WINDLASS_CRASH_AT", number.to_string());
    }
    if let Some(log) = log {
        command = command.env("WINDLASS_CRASH_LOG", log);
    }
    let output = command.run().unwrap();
    let killed = output.status.code().is_none();
    assert!(killed || output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    killed
}

fn check_crash_points(share: u32) {
    let world = prepared();
    let log = world.path("points");
    assert!(!run_child(&world.path(""), None, Some(&log)));
    let expected = visible_end(&world);
    let points = fs::read_to_string(&log).unwrap().lines().count();
    assert!(points > 60, "only {points} crash points");
    for number in (1..=u32::try_from(points).unwrap()).filter(|number| number % 4 == share) {
        let world = prepared();
        assert!(run_child(&world.path(""), Some(number), None), "point {number} was not reached");
        assert!(!run_child(&world.path(""), None, None));
        assert_eq!(visible_end(&world), expected, "killed at point {number}");
    }
}

#[test]
fn a_kill_at_any_point_is_survived_first_quarter() {
    check_crash_points(0);
}

#[test]
fn a_kill_at_any_point_is_survived_second_quarter() {
    check_crash_points(1);
}

#[test]
fn a_kill_at_any_point_is_survived_third_quarter() {
    check_crash_points(2);
}

#[test]
fn a_kill_at_any_point_is_survived_fourth_quarter() {
    check_crash_points(3);
}

#[test]
fn locks_and_temporary_files_of_killed_calls_are_in_nobodys_way() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    let indexes = world.path("control/indexes");
    let existing: Vec<PathBuf> = fs::read_dir(&indexes).unwrap().map(|entry| entry.unwrap().path()).collect();
    for path in existing {
        write(&PathBuf::from(format!("{}.lock", path.display())), "stale");
    }
    for number in 0..20 {
        let name = format!("key-doer.index.tmp-{}-{number}", std::process::id());
        write(&indexes.join(format!("{name}.lock")), "stale");
        write(&indexes.join(name), "stale");
    }
    write(&doer.join("new"), "x");
    let snapshot = take(&repository, &doer, &base);
    assert_eq!(snapshot.changes.len(), 1);
    repository.materialise(&doer, "doer", &base.tree).unwrap();
    assert_eq!(contents(&doer), contents(&world.repo));
}

#[test]
fn a_damaged_private_index_costs_time_but_not_correctness() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("new"), "x");
    let expected = take(&repository, &doer, &base);
    let indexes = world.path("control/indexes");
    for damage in [&b""[..], b"DIRC", b"garbage of some length that is no index at all", &[0; 4096]] {
        for entry in fs::read_dir(&indexes).unwrap() {
            write(&entry.unwrap().path(), damage);
        }
        assert_eq!(take(&repository, &doer, &base), expected);
        repository.materialise(&world.path("judge"), "judge", &expected.tree).unwrap();
        assert_eq!(contents(&world.path("judge")), contents(&doer));
    }
}

#[test]
fn a_half_made_control_directory_is_completed() {
    let world = World::new();
    let (_, base) = world.ready();
    for missing in ["config", "HEAD", "info/attributes", "info", "objects/info", "views", "indexes", "refs"] {
        let path = world.path("control").join(missing);
        if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.unwrap();
        let (repository, head) = world.ready();
        assert_eq!(head, base, "without {missing}");
        repository.materialise(&world.path("judge"), "judge", &base.tree).unwrap();
    }
}
