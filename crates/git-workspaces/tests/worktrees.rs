//! Linked worktrees of ours look right to plain git, survive awkward places and crashes, and never take work away.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use support::{World, chmod, contents, keeping, patch_text, take, write};
use windlass_git_workspaces::{
    Checkout, GitError, Hazard, Head, IgnoredFiles, Keeping, NewWorktree, Obstacle, Removal, SnapshotLimits,
};

#[test]
fn plain_git_sees_a_clean_checkout_on_the_new_branch() {
    let world = World::new();
    let (_, base, doer) = world.with_doer();
    assert_eq!(world.git(&doer, &["status", "--porcelain"]), "");
    assert_eq!(world.git(&doer, &["rev-parse", "--abbrev-ref", "HEAD"]), "work");
    assert_eq!(world.git(&doer, &["rev-parse", "HEAD"]), base.id.as_str());
    assert!(world.git(&world.repo, &["worktree", "list"]).contains("doer"));
    assert_eq!(contents(&doer), contents(&world.repo));
    assert_eq!(world.git(&world.repo, &["status", "--porcelain"]), "");
    world.git(&doer, &["worktree", "prune"]);
    write(&doer.join("new"), "x");
    world.git(&doer, &["add", "-A"]);
    world.git(&doer, &["commit", "-q", "-m", "an agent may commit"]);
    world.git(&doer, &["fsck"]);
}

#[test]
fn awkward_paths_work_from_discovery_to_landing() {
    let names: [&[u8]; 5] =
        [b"with space", b"quote'\"", b"new\nline", b"$(touch marker) `x`", b"latin-\xe9:colon"];
    for name in names {
        let world = World::empty(OsStr::from_bytes(name), &[]);
        world.write("sub/file", "x\n");
        world.commit_all("first");
        let repository = world.open_at(&world.repo.join("sub"));
        assert_eq!(repository.checkout().work_tree(), world.repo);
        let base = repository.head().unwrap();
        repository.import(&base).unwrap();
        let doer = world.repo.join(".orchestrator").join(OsStr::from_bytes(name)).join("doer");
        repository.add_worktree(&doer, "work", "doer", &base).unwrap();
        assert_eq!(world.git(&doer, &["status", "--porcelain"]), "");
        write(&doer.join("sub/file"), "y\n");
        let snapshot = take(&repository, &doer, &base);
        assert_eq!(snapshot.changes.len(), 1);
        let judge = doer.with_file_name("judge");
        repository.materialise(&judge, "judge", &snapshot.tree).unwrap();
        assert_eq!(contents(&judge), contents(&doer));
        let worktree = repository.worktree_at(&doer).unwrap();
        let removal = repository.remove_worktree(&worktree, "doer", &base, &keeping("w")).unwrap();
        assert!(matches!(removal, Removal::Removed { kept: Some(_) }));
        assert_eq!(world.git(&world.repo, &["show", "refs/windlass/kept/w:sub/file"]), "y");
    }
}

#[test]
fn a_linked_worktree_of_the_user_serves_as_checkout() {
    let world = World::new();
    let linked = world.path("users-worktree");
    world.git(&world.repo, &["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    world.git(&linked, &["commit", "-q", "--allow-empty", "-m", "side"]);
    let main = world.open();
    let side = world.open_at(&linked.join("src"));
    assert_eq!(side.checkout().common_dir(), main.checkout().common_dir());
    assert_eq!(side.checkout().repository_key(), main.checkout().repository_key());
    assert_eq!(side.current_branch().unwrap().as_deref(), Some("refs/heads/side"));
    assert_eq!(side.head().unwrap().id.as_str(), world.git(&linked, &["rev-parse", "HEAD"]));
    assert_eq!(main.head().unwrap().id.as_str(), world.git(&world.repo, &["rev-parse", "HEAD"]));
    assert_ne!(side.head().unwrap(), main.head().unwrap());
}

#[test]
fn places_without_a_checkout_are_refused_by_name() {
    let world = World::new();
    let bare = world.path("bare.git");
    world.git(&world.repo, &["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    assert!(matches!(Checkout::discover(&bare).unwrap_err(), GitError::NoWorkTree { .. }));
    assert!(matches!(
        Checkout::discover(&world.repo.join(".git/refs")).unwrap_err(),
        GitError::NoWorkTree { .. }
    ));
    assert!(matches!(Checkout::discover(world.root.path()).unwrap_err(), GitError::NotARepository { .. }));
    assert!(matches!(Checkout::discover(Path::new("/nonexistent")).unwrap_err(), GitError::Io { .. }));
}

#[test]
fn a_sha256_repository_works_like_any_other() {
    let world = World::empty("repo", &["--object-format=sha256"]);
    world.write("file", "x\n");
    world.commit_all("first");
    let (repository, base, doer) = world.with_doer();
    assert_eq!(base.id.as_str().len(), 64);
    write(&doer.join("file"), "y\n");
    let snapshot = take(&repository, &doer, &base);
    assert_eq!(snapshot.changes.len(), 1);
    assert!(!patch_text(&repository, &base.tree, &snapshot.tree).is_empty());
    let worktree = repository.worktree_at(&doer).unwrap();
    repository.remove_worktree(&worktree, "doer", &base, &keeping("w")).unwrap();
    assert_eq!(world.git(&world.repo, &["show", "refs/windlass/kept/w:file"]), "y");
}

#[test]
fn the_private_exclude_file_gets_a_pattern_once_and_gitignore_stays() {
    let world = World::new();
    let repository = world.open();
    write(&world.repo.join(".orchestrator/runs/x"), "x");
    for _ in 0..2 {
        repository.checkout().exclude("/.orchestrator/").unwrap();
    }
    assert_eq!(world.git(&world.repo, &["status", "--porcelain"]), "");
    let exclude = fs::read_to_string(world.repo.join(".git/info/exclude")).unwrap();
    assert_eq!(exclude.matches("/.orchestrator/").count(), 1);
}

#[test]
fn adding_again_leaves_work_alone() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("new"), "work in progress");
    world.git(&doer, &["add", "-A"]);
    world.git(&doer, &["commit", "-q", "-m", "mine"]);
    write(&doer.join("readme.txt"), "more work");
    let before = contents(&doer);
    repository.add_worktree(&doer, "work", "doer", &base).unwrap();
    assert_eq!(contents(&doer), before);
    assert_eq!(world.git(&doer, &["log", "-1", "--format=%s"]), "mine");
}

#[test]
fn work_survives_even_when_the_agent_deleted_every_trace_of_the_worktree() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("new"), "work in progress");
    fs::remove_file(doer.join(".git")).unwrap();
    fs::remove_dir_all(world.repo.join(".git/worktrees")).unwrap();
    let worktree = repository.add_worktree(&doer, "work", "doer", &base).unwrap();
    assert!(doer.join("new").exists(), "work was taken for a half-made checkout");
    take(&repository, &doer, &base);
    repository.restore_worktree(&worktree, "doer", &base.id).unwrap();
    assert_eq!(world.git(&doer, &["status", "--porcelain"]), "A  new");
    fs::remove_dir_all(world.repo.join(".git/worktrees")).unwrap();
    let removal = repository.remove_worktree(&worktree, "doer", &base, &keeping("w")).unwrap();
    assert!(matches!(removal, Removal::Removed { kept: Some(_) }), "{removal:?}");
    assert_eq!(world.git(&world.repo, &["show", "refs/windlass/kept/w:new"]), "work in progress");
    assert!(!doer.exists());
    write(&doer.join("somebody elses"), "x");
    assert!(repository.remove_worktree(&worktree, "doer", &base, &keeping("w")).is_err());
    assert!(doer.join("somebody elses").exists());
}

#[test]
fn work_is_not_overwritten_when_the_control_directory_was_lost() {
    let world = World::new();
    let (_, _, doer) = world.with_doer();
    write(&doer.join("new"), "work in progress");
    fs::remove_dir_all(world.path("control")).unwrap();
    let (repository, base) = world.ready();
    let error = repository.add_worktree(&doer, "work", "doer", &base).unwrap_err();
    assert!(matches!(error, GitError::NotOurs { .. }), "{error}");
    assert!(doer.join("new").exists());
}

#[test]
fn twenty_runs_starting_together_do_not_disturb_each_other() {
    let world = World::new();
    let base = world.open().head().unwrap();
    std::thread::scope(|scope| {
        for number in 0..20 {
            let (world, base) = (&world, &base);
            scope.spawn(move || {
                let repository = world.open();
                repository.import(base).unwrap();
                let doer = world.path(&format!("doer-{number}"));
                let key = format!("doer-{number}");
                repository.add_worktree(&doer, &format!("work-{number}"), &key, base).unwrap();
                write(&doer.join("mine"), number.to_string());
                let limits = SnapshotLimits::default();
                let snapshot = repository.snapshot(&doer, &key, &base.tree, limits).unwrap();
                assert_eq!(snapshot.changes.len(), 1);
                let judge = world.path(&format!("judge-{number}"));
                repository.materialise(&judge, &format!("judge-{number}"), &snapshot.tree).unwrap();
                assert_eq!(fs::read_to_string(judge.join("mine")).unwrap(), number.to_string());
            });
        }
    });
    assert_eq!(world.git(&world.repo, &["worktree", "list"]).lines().count(), 21);
}

#[test]
fn what_stands_in_the_way_and_is_not_ours_stays() {
    let world = World::new();
    let (repository, base) = world.ready();
    let taken = world.path("taken");
    write(&taken.join("precious"), "x");
    let error = repository.add_worktree(&taken, "work", "doer", &base).unwrap_err();
    assert!(matches!(error, GitError::NotOurs { .. }), "{error}");
    assert!(taken.join("precious").exists());
    world.git(&world.repo, &["branch", "busy"]);
    world.git(&world.repo, &["commit", "-q", "--allow-empty", "-m", "on"]);
    world.git(&world.repo, &["branch", "-f", "busy", "HEAD"]);
    let error = repository.add_worktree(&world.path("doer"), "busy", "doer", &base).unwrap_err();
    assert!(matches!(error, GitError::BranchTaken { .. }), "{error}");
    symlink(&taken, world.path("link")).unwrap();
    assert!(repository.add_worktree(&world.path("link"), "other", "doer", &base).is_err());
}

#[test]
fn head_is_asked_for_anew_however_it_moves() {
    let world = World::new();
    let repository = world.open();
    let standing = || {
        let found = repository.head().unwrap();
        assert_eq!(found.id.as_str(), world.git(&world.repo, &["rev-parse", "HEAD"]));
        assert_eq!(found.tree.as_str(), world.git(&world.repo, &["rev-parse", "HEAD^{tree}"]));
        found.id
    };
    let first = standing();
    write(&world.repo.join("readme.txt"), "moved on");
    world.git(&world.repo, &["commit", "-q", "-a", "-m", "on"]);
    assert_ne!(standing(), first);
    world.git(&world.repo, &["pack-refs", "--all"]);
    assert_ne!(standing(), first);
    world.git(&world.repo, &["checkout", "-q", first.as_str()]);
    assert_eq!(standing(), first);
    world.git(&world.repo, &["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    world.git(&world.repo, &["symbolic-ref", "HEAD", "refs/heads/alias"]);
    assert_ne!(standing(), first);
}

#[test]
fn worktrees_made_together_stand_each_on_its_branch() {
    let world = World::new();
    let (repository, base) = world.ready();
    let (doer, judge) = (world.path("doer"), world.path("judge"));
    let wanted = [("one", &doer), ("two", &judge)];
    let wanted = wanted.map(|(name, path)| NewWorktree { path, branch: name, key: name });
    repository.add_worktrees(&wanted, &base).unwrap();
    for NewWorktree { path, branch, .. } in wanted {
        assert_eq!(world.git(path, &["symbolic-ref", "--short", "HEAD"]), branch);
        assert_eq!(world.git(path, &["rev-parse", "HEAD"]), base.id.as_str());
        assert_eq!(world.git(path, &["status", "--porcelain"]), "");
    }
    fs::remove_dir_all(&judge).unwrap();
    write(&doer.join("new"), "work in progress");
    repository.add_worktrees(&wanted, &base).unwrap();
    assert!(doer.join("new").exists(), "a worktree that stood there was made again");
    assert_eq!(world.git(&judge, &["status", "--porcelain"]), "");
}

#[test]
fn of_worktrees_made_together_the_taken_branch_is_named() {
    let world = World::new();
    let (repository, base) = world.ready();
    world.git(&world.repo, &["commit", "-q", "--allow-empty", "-m", "on"]);
    world.git(&world.repo, &["branch", "busy"]);
    let (doer, judge) = (world.path("doer"), world.path("judge"));
    let wanted = [("free", &doer), ("busy", &judge)];
    let wanted = wanted.map(|(name, path)| NewWorktree { path, branch: name, key: name });
    let error = repository.add_worktrees(&wanted, &base).unwrap_err();
    assert!(matches!(&error, GitError::BranchTaken { branch, .. } if branch == "busy"), "{error}");
    assert!(!doer.exists() && !judge.exists(), "a directory was made all the same");
}

#[test]
fn a_judge_sees_new_files_in_its_own_diff() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("new"), "x\n");
    let snapshot = take(&repository, &doer, &base);
    let judge = world.path("judge");
    let worktree = repository.add_worktree(&judge, "judge", "judge", &base).unwrap();
    repository.materialise(&judge, "judge", &snapshot.tree).unwrap();
    fs::remove_file(judge.join(".git")).unwrap();
    repository.restore_worktree(&worktree, "judge", &base.id).unwrap();
    assert_eq!(worktree.head(), Head::Detached(base.id.clone()));
    assert_eq!(world.git(&judge, &["status", "--porcelain"]), "A  new");
    assert_eq!(world.git(&judge, &["diff", "HEAD", "--name-only"]), "new");
}

#[test]
fn removal_keeps_untracked_files_and_the_agents_commits() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("committed"), "c");
    world.git(&doer, &["add", "-A"]);
    world.git(&doer, &["commit", "-q", "-m", "mine"]);
    let agents = repository.resolve_commit("work").unwrap();
    write(&doer.join("untracked"), "u\n");
    write(&doer.join("readme.txt"), "edited\n");
    for path in ["src/deep/er", "src/deep", "src"] {
        chmod(&doer.join(path), 0o500);
    }
    let worktree = repository.worktree_at(&doer).unwrap();
    let removal = repository.remove_worktree(&worktree, "doer", &base, &keeping("run-1/doer")).unwrap();
    let Removal::Removed { kept: Some(kept) } = removal else { panic!("{removal:?}") };
    assert_eq!(kept.reference, "refs/windlass/kept/run-1/doer");
    assert_eq!(world.git(&world.repo, &["show", &format!("{}:untracked", kept.reference)]), "u");
    assert_eq!(world.git(&world.repo, &["show", &format!("{}:readme.txt", kept.reference)]), "edited");
    assert_eq!(world.git(&world.repo, &["rev-parse", &format!("{}^1", kept.reference)]), agents.id.as_str());
    assert!(!doer.exists());
    assert!(!world.git(&world.repo, &["worktree", "list"]).contains("doer"));
    repository.delete_branch_if("work", &agents.id).unwrap();
    world.git(&world.repo, &["gc", "-q", "--prune=now"]);
    assert_eq!(world.git(&world.repo, &["show", &format!("{}:committed", kept.reference)]), "c");
    let again = repository.remove_worktree(&worktree, "doer", &base, &keeping("run-1/doer")).unwrap();
    assert_eq!(again, Removal::Removed { kept: None });
}

#[test]
fn what_cannot_be_kept_is_not_removed() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("vendored/file"), "only copy");
    world.git(&doer.join("vendored"), &["init", "-q"]);
    world.git(&doer.join("vendored"), &["commit", "-q", "--allow-empty", "-m", "x"]);
    let worktree = repository.worktree_at(&doer).unwrap();
    let removal = repository.remove_worktree(&worktree, "doer", &base, &keeping("w")).unwrap();
    assert!(matches!(removal, Removal::NotEverythingCouldBeKept { .. }), "{removal:?}");
    assert!(doer.join("vendored/file").exists());
    fs::remove_dir_all(doer.join("vendored/.git")).unwrap();
    world.git(&world.repo, &["worktree", "lock", doer.to_str().unwrap()]);
    assert_eq!(repository.remove_worktree(&worktree, "doer", &base, &keeping("w")).unwrap(), Removal::Locked);
    assert!(doer.join("vendored/file").exists());
}

#[test]
fn keeping_twice_under_one_name_loses_neither_state() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    let worktree = repository.worktree_at(&doer).unwrap();
    write(&doer.join("state"), "one\n");
    let first = repository.keep(&worktree, "doer", &base, &keeping("w")).unwrap();
    assert_eq!(repository.keep(&worktree, "doer", &base, &keeping("w")).unwrap(), first);
    write(&doer.join("state"), "two\n");
    let second = repository.keep(&worktree, "doer", &base, &keeping("w")).unwrap();
    assert_eq!(world.git(&world.repo, &["show", &format!("{}:state", second.commit)]), "two");
    assert_eq!(
        world.git(&world.repo, &["rev-parse", &format!("{}^2", second.reference)]),
        first.commit.as_str()
    );
}

#[test]
fn removal_keeps_ignored_files_up_to_a_limit_and_else_removes_nothing() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("notes.ignored"), "only copy\n");
    write(&doer.join("target/debug/output"), "built\n");
    let worktree = repository.worktree_at(&doer).unwrap();
    let remove = |paths, bytes| {
        let ignored = IgnoredFiles::Recorded(SnapshotLimits { paths, bytes });
        let obstacle = repository.obstacle_to_removal(&worktree, "doer", &base, ignored).unwrap();
        (
            obstacle,
            repository
                .remove_worktree(&worktree, "doer", &base, &Keeping { ignored, ..keeping("w") })
                .unwrap(),
        )
    };
    for (paths, bytes) in [(1, 1000), (100, 15)] {
        let (obstacle, removal) = remove(paths, bytes);
        let Some(Obstacle::CannotBeKept(hazards)) = obstacle else { panic!("{obstacle:?}") };
        assert!(matches!(hazards[..], [Hazard::TooMuchIgnored { .. }]), "{hazards:?}");
        assert!(matches!(removal, Removal::NotEverythingCouldBeKept { .. }), "{removal:?}");
        assert!(doer.join("notes.ignored").is_file() && doer.join("target/debug/output").is_file());
    }
    let (obstacle, removal) = remove(2, 16);
    assert_eq!(obstacle, None);
    let Removal::Removed { kept: Some(kept) } = removal else { panic!("{removal:?}") };
    assert!(!doer.exists());
    for (path, content) in [("notes.ignored", "only copy"), ("target/debug/output", "built")] {
        assert_eq!(world.git(&world.repo, &["show", &format!("{}:{path}", kept.reference)]), content);
    }
}

/// Its name outlived the power cut that took what it says.
#[test]
fn a_registration_that_a_power_cut_tore_is_made_again_and_one_of_somebody_else_is_not() {
    let world = World::new();
    let (repository, base) = world.ready();
    let place = world.path("shown");
    let show = || repository.show_worktree((&place, "shown"), &base.tree, &base.id).map(drop);
    show().unwrap();
    let registered = fs::read_dir(world.repo.join(".git/worktrees")).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(registered.join("gitdir")).unwrap();
    for torn in [&whole[..0], &whole[..5]] {
        for name in ["gitdir", "HEAD", "commondir", "index"] {
            fs::write(registered.join(name), if name == "gitdir" { torn } else { b"" }).unwrap();
        }
        show().unwrap();
        assert_eq!(fs::read(registered.join("gitdir")).unwrap(), whole);
        assert_eq!(world.git(&place, &["status", "--porcelain"]), "");
        world.git(&world.repo, &["fsck", "--strict"]);
    }
    fs::write(registered.join("gitdir"), "/somewhere/else/.git\n").unwrap();
    assert!(matches!(show(), Err(GitError::NotOurs { .. })));
}
