//! Pipes, devices and sockets where git looks for a file: nothing here ever waits for them.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use support::{NOON, World, keeping, take, text, write};
use windlass_git_workspaces::{
    ChangeKind, Commit, FastForward, Hazard, NotFastForwarded, Removal, Repository, Snapshot, SnapshotLimits,
};

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

fn blocking(snapshot: &Snapshot) -> Vec<String> {
    let path = |hazard: &Hazard| match hazard {
        Hazard::BlocksGit { path } => path.to_string(),
        other => panic!("{other}"),
    };
    snapshot.hazards.iter().map(path).collect()
}

/// The snapshot names what is in the way and the base; once that is gone, the work is recorded.
#[track_caller]
fn holds_the_snapshot_back(path: &str, plant: impl FnOnce(&World, &Path)) {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("work.txt"), "work");
    write(&doer.join("src/main.rs"), "fn changed() {}\n");
    plant(&world, &doer.join(path));
    let snapshot = take(&repository, &doer, &base);
    assert_eq!(blocking(&snapshot), [path]);
    assert_eq!((&snapshot.tree, snapshot.changes.len()), (&base.tree, 1));
    let planted = doer.join(path);
    if planted.symlink_metadata().unwrap().is_dir() {
        fs::remove_dir_all(planted).unwrap();
    } else {
        fs::remove_file(planted).unwrap();
    }
    let snapshot = take(&repository, &doer, &base);
    assert!(snapshot.hazards.is_empty(), "{:?}", snapshot.hazards);
    assert!(snapshot.changes.iter().any(|change| change.path.as_bytes() == b"work.txt"));
}

#[test]
fn a_pipe_in_the_place_of_any_rule_file_holds_the_snapshot_back() {
    for path in
        [".gitattributes", ".gitmodules", "src/.gitignore", "src/deep/er/.gitattributes", "new/.gitmodules"]
    {
        holds_the_snapshot_back(path, |_, planted| pipe(planted));
    }
}

#[test]
fn so_do_sockets_directories_and_links_to_pipes_and_devices() {
    holds_the_snapshot_back("src/.gitignore", |_, planted| drop(UnixListener::bind(planted).unwrap()));
    holds_the_snapshot_back("src/.gitignore", |_, planted| fs::create_dir(planted).unwrap());
    holds_the_snapshot_back("src/.gitignore", |_, planted| symlink("/dev/zero", planted).unwrap());
    holds_the_snapshot_back("src/.gitattributes", |world, planted| {
        pipe(&world.path("pipe"));
        symlink(world.path("pipe"), planted).unwrap();
    });
}

#[test]
fn so_does_a_repository_inside_that_git_would_wait_in() {
    holds_the_snapshot_back("inner/.git", |_, planted| {
        write(&planted.with_file_name("file"), "x");
        pipe(&planted.join("HEAD"));
    });
    holds_the_snapshot_back("inner/.git", |world, planted| {
        pipe(&world.path("elsewhere/HEAD"));
        write(planted, format!("gitdir: {}\n", world.path("elsewhere").display()));
    });
    holds_the_snapshot_back("inner/.git", |world, planted| {
        write(&planted.join("HEAD"), "ref: refs/heads/main\n");
        write(&planted.join("commondir"), format!("{}\n", world.path("elsewhere").display()));
        pipe(&world.path("elsewhere/refs/heads/main"));
    });
}

#[test]
fn a_link_to_plain_rules_holds_nothing_back() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("src/rules"), "*.tmp\n");
    symlink("rules", doer.join("src/.gitignore")).unwrap();
    symlink("nowhere", doer.join("src/.gitattributes")).unwrap();
    let snapshot = take(&repository, &doer, &base);
    assert!(!snapshot.hazards.iter().any(|hazard| matches!(hazard, Hazard::BlocksGit { .. })));
    assert_eq!(snapshot.changes.len(), 3);
}

#[test]
fn pipes_and_sockets_elsewhere_are_not_waited_for() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("work.txt"), "work");
    pipe(&doer.join("new-pipe"));
    pipe(&doer.join("target/pipe"));
    pipe(&doer.join("deep/er/pipe"));
    drop(UnixListener::bind(doer.join("socket")).unwrap());
    let snapshot = take(&repository, &doer, &base);
    assert!(snapshot.hazards.is_empty(), "{:?}", snapshot.hazards);
    assert_eq!(snapshot.changes.len(), 1);
    // In the place of a tracked file it is a change that git refuses.
    fs::remove_file(doer.join("readme.txt")).unwrap();
    pipe(&doer.join("readme.txt"));
    let snapshot = take(&repository, &doer, &base);
    assert!(matches!(snapshot.hazards[..], [Hazard::Refused { .. }]), "{:?}", snapshot.hazards);
    assert!(snapshot.changes.iter().any(|change| change.kind == ChangeKind::Added));
}

#[test]
fn a_directory_is_made_to_hold_its_tree_over_all_of_them() {
    let world = World::new();
    let (repository, base) = world.ready();
    let judge = world.path("judge");
    repository.materialise(&judge, "judge", &base.tree).unwrap();
    let clean = support::contents(&judge);
    fs::remove_file(judge.join(".gitignore")).unwrap();
    for path in [".gitignore", "src/.gitattributes", "src/.gitignore", "inner/.git/HEAD", "left/.gitignore"] {
        pipe(&judge.join(path));
    }
    fs::remove_file(judge.join("src/main.rs")).unwrap();
    write(&judge.join("src/main.rs/in/the/way"), "x");
    repository.materialise(&judge, "judge", &base.tree).unwrap();
    assert_eq!(support::contents(&judge), clean);
}

#[test]
fn a_reader_that_leaves_one_has_written() {
    let world = World::new();
    let (repository, base) = world.ready();
    let judge = world.path("judge");
    repository.materialise(&judge, "judge", &base.tree).unwrap();
    let fingerprint = repository.fingerprint(&judge, "judge").unwrap();
    write(&judge.join("target/output"), "x");
    pipe(&judge.join("src/.gitignore"));
    let drift = repository.drift_since(&fingerprint).unwrap();
    assert_eq!(text(&drift.added), ["src/.gitignore", "target"]);
}

/// A commit on the base, published.
fn next(repository: &Repository, world: &World, base: &Commit) -> Commit {
    let next = world.path("next");
    repository.materialise(&next, "next", &base.tree).unwrap();
    write(&next.join("readme.txt"), "landed\n");
    let tree = repository.snapshot(&next, "next", &base.tree, SnapshotLimits::default()).unwrap().tree;
    let me = windlass_git_workspaces::Identity::new("A", "a@x").unwrap();
    let request = windlass_git_workspaces::CommitRequest {
        tree: &tree,
        parents: std::slice::from_ref(&base.id),
        message: "next",
        author: &me,
        committer: &me,
        time: NOON,
    };
    let commit = Commit { id: repository.commit(&request).unwrap(), tree };
    repository.publish(&commit, &base.tree).unwrap();
    commit
}

#[test]
fn the_users_checkout_with_one_in_it_is_left_alone() {
    let world = World::new();
    let (repository, base) = world.ready();
    let landed = next(&repository, &world, &base);
    pipe(&world.repo.join("src/.gitignore"));
    match repository.fast_forward_current(&base, &landed).unwrap() {
        FastForward::Refused(NotFastForwarded::InTheWay { detail }) => {
            assert!(detail.contains("src/.gitignore"), "{detail}");
        }
        other => panic!("{other:?}"),
    }
    fs::remove_file(world.repo.join("src/.gitignore")).unwrap();
    assert_eq!(repository.fast_forward_current(&base, &landed).unwrap(), FastForward::Done);
}

#[test]
fn only_worktrees_that_were_made_here_may_have_one_below_the_users_checkout() {
    let world = World::new();
    let (repository, base) = world.ready();
    let landed = next(&repository, &world, &base);
    let ours = world.repo.join("worktrees/round-001");
    repository.add_worktree(&ours, "round-001", "round-001", &base).unwrap();
    pipe(&ours.join("src/.gitignore"));
    // Registered by somebody else, under a name as ours has them.
    let admin = world.repo.join(".git/worktrees/windlass-planted-0123456789abcdef");
    write(&admin.join("gitdir"), format!("{}\n", world.repo.join("planted/.git").display()));
    pipe(&world.repo.join("planted/.gitignore"));
    match repository.fast_forward_current(&base, &landed).unwrap() {
        FastForward::Refused(NotFastForwarded::InTheWay { detail }) => {
            assert!(detail.contains("planted/.gitignore"), "{detail}");
        }
        other => panic!("{other:?}"),
    }
    fs::remove_dir_all(world.repo.join("planted")).unwrap();
    assert_eq!(repository.fast_forward_current(&base, &landed).unwrap(), FastForward::Done);
}

#[test]
fn a_worktree_with_one_in_it_is_not_removed() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("work.txt"), "work");
    pipe(&doer.join("src/.gitignore"));
    let worktree = repository.worktree_at(&doer).unwrap();
    let removal = repository.remove_worktree(&worktree, "doer", &base, &keeping("run/doer")).unwrap();
    assert!(matches!(removal, Removal::NotEverythingCouldBeKept { .. }), "{removal:?}");
    assert!(doer.join("work.txt").is_file());
}
