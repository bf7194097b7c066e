//! Snapshots name what is in the directory, whatever was done to git around it.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};

use support::{World, chmod, take, write};
use windlass_git_workspaces::{ChangeKind, Hazard, SnapshotLimits};

/// What plain git would record for the directory, staged afresh from the base: the independent answer.
fn tree_by_plain_git(world: &World, directory: &std::path::Path) -> String {
    let copy = world.path("plain-copy");
    world.git(&world.repo, &["worktree", "add", "-q", "--detach", copy.to_str().unwrap(), "main"]);
    for entry in fs::read_dir(&copy).unwrap().map(Result::unwrap).filter(|entry| entry.file_name() != ".git")
    {
        if entry.file_type().unwrap().is_dir() {
            fs::remove_dir_all(entry.path()).unwrap();
        } else {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    for (path, mode, content) in support::contents(directory) {
        let target = copy.join(&path);
        if mode == 0 {
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            symlink(OsStr::from_bytes(&content), target).unwrap();
        } else if mode != 1 {
            write(&target, &content);
            chmod(&target, mode);
        }
    }
    world.git(&copy, &["add", "-A"]);
    world.git(&copy, &["write-tree"])
}

#[test]
fn an_untouched_worktree_is_its_base() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    let snapshot = take(&repository, &doer, &base);
    assert_eq!(snapshot.tree, base.tree);
    assert_eq!((snapshot.changes.len(), snapshot.hazards.len()), (0, 0));
}

#[test]
fn every_kind_of_file_change_is_recorded_as_plain_git_would() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("readme.txt"), "changed\n");
    write(&doer.join("empty"), "");
    write(&doer.join("binary"), (0..=255).collect::<Vec<u8>>());
    write(&doer.join("new dir/with \"quotes\"\nand newline"), "x");
    write(&doer.join("seen.ignored"), "not recorded");
    fs::rename(doer.join("src/main.rs"), doer.join("src/moved.rs")).unwrap();
    fs::remove_dir_all(doer.join("src/deep")).unwrap();
    chmod(&doer.join("tool.sh"), 0o644);
    fs::remove_file(doer.join("link")).unwrap();
    write(&doer.join("link"), "now a file");
    symlink("new dir", doer.join("new-link")).unwrap();
    fs::write(doer.join(OsStr::from_bytes(b"latin-\xe9")), "x").unwrap();
    let snapshot = take(&repository, &doer, &base);
    assert_eq!(snapshot.tree.as_str(), tree_by_plain_git(&world, &doer));
    assert_eq!(snapshot.hazards, []);
    let kind_of =
        |path: &[u8]| snapshot.changes.iter().find(|change| change.path.as_bytes() == path).unwrap().kind;
    assert_eq!(kind_of(b"readme.txt"), ChangeKind::Modified);
    assert_eq!(kind_of(b"latin-\xe9"), ChangeKind::Added);
    assert_eq!(kind_of(b"src/main.rs"), ChangeKind::Deleted);
    assert_eq!(kind_of(b"src/deep/er/data.bin"), ChangeKind::Deleted);
    assert_eq!(kind_of(b"tool.sh"), ChangeKind::ModeChanged);
    assert_eq!(kind_of(b"link"), ChangeKind::TypeChanged);
    assert_eq!(snapshot.changes.iter().find(|change| change.path.as_bytes() == b"binary").unwrap().size, 256);
    assert_eq!(snapshot.changes.len(), 11);
}

#[test]
fn staging_committing_amending_resetting_and_switching_branch_change_nothing() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("readme.txt"), "changed\n");
    write(&doer.join("new"), "new\n");
    let expected = take(&repository, &doer, &base);
    let steps: [&[&str]; 8] = [
        &["add", "-A"],
        &["commit", "-q", "-m", "mine"],
        &["commit", "-q", "--amend", "-m", "amended"],
        &["checkout", "-q", "-b", "elsewhere"],
        &["reset", "-q", "--soft", "HEAD~1"],
        &["rm", "-q", "--cached", "readme.txt"],
        &["update-index", "--assume-unchanged", "tool.sh"],
        &["symbolic-ref", "HEAD", "refs/heads/nothing"],
    ];
    for step in steps {
        world.git(&doer, step);
        assert_eq!(take(&repository, &doer, &base), expected, "after {step:?}");
    }
}

#[test]
fn a_deleted_or_replaced_git_link_changes_nothing() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("new"), "new\n");
    let expected = take(&repository, &doer, &base);
    fs::remove_file(doer.join(".git")).unwrap();
    assert_eq!(take(&repository, &doer, &base), expected);
    world.git(&doer, &["init", "-q"]);
    world.git(&doer, &["commit", "-q", "--allow-empty", "-m", "a repository of its own"]);
    assert_eq!(take(&repository, &doer, &base), expected);
    fs::remove_dir_all(doer.join(".git")).unwrap();
    symlink("/dev/null", doer.join(".git")).unwrap();
    assert_eq!(take(&repository, &doer, &base), expected);
}

#[test]
fn an_edit_of_the_same_size_within_the_same_tick_is_seen() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    for _ in 0..10 {
        // The content of the base, then something else of the same length: only the content tells.
        write(&doer.join("readme.txt"), "hello\n");
        assert_eq!(take(&repository, &doer, &base).tree, base.tree);
        write(&doer.join("readme.txt"), "HELLO\n");
        assert_ne!(take(&repository, &doer, &base).tree, base.tree);
    }
}

/// Returns when files begin to be stamped with a new second.
fn until_the_next_second(world: &World) {
    let stamp = || {
        write(&world.path("probe"), "");
        fs::metadata(world.path("probe")).unwrap().ctime()
    };
    let now = stamp();
    while stamp() == now {
        std::thread::yield_now();
    }
}

#[test]
fn an_edit_in_the_second_of_the_last_snapshot_is_seen_by_a_later_one() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    until_the_next_second(&world);
    write(&doer.join("readme.txt"), "hello\n");
    assert_eq!(take(&repository, &doer, &base).tree, base.tree);
    write(&doer.join("readme.txt"), "HELLO\n");
    until_the_next_second(&world);
    assert_ne!(take(&repository, &doer, &base).tree, base.tree);
}

#[test]
fn an_edit_in_the_second_of_the_checkout_is_seen_by_a_later_snapshot() {
    let world = World::new();
    until_the_next_second(&world);
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("readme.txt"), "HELLO\n");
    until_the_next_second(&world);
    assert_ne!(take(&repository, &doer, &base).tree, base.tree);
}

#[test]
fn a_restored_modification_time_does_not_hide_an_edit() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    let path = doer.join("readme.txt");
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    for content in ["aaaaa\n", "bbbbb\n", "ccccc\n"] {
        write(&path, content);
        fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        let tree = take(&repository, &doer, &base).tree;
        repository.materialise(&world.path("judge"), "judge", &tree).unwrap();
        assert_eq!(fs::read_to_string(world.path("judge").join("readme.txt")).unwrap(), content);
    }
}

#[test]
fn the_answer_does_not_depend_on_earlier_snapshots() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("later.log"), "recorded at first\n");
    take(&repository, &doer, &base);
    write(&doer.join(".gitignore"), "*.log\n");
    let with_history = take(&repository, &doer, &base);
    let fresh = repository.snapshot(&doer, "another key", &base.tree, SnapshotLimits::default()).unwrap();
    assert_eq!(with_history.tree, fresh.tree);
    assert_eq!(fresh.changes.len(), 1, "{:?}", fresh.changes);
}

#[test]
fn a_tracked_file_stays_tracked_when_it_becomes_ignored() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join(".gitignore"), "readme.txt\n");
    write(&doer.join("readme.txt"), "changed\n");
    let snapshot = take(&repository, &doer, &base);
    assert!(snapshot.changes.iter().any(|change| change.path.as_bytes() == b"readme.txt"));
}

#[test]
fn garbage_collection_by_the_maker_does_not_lose_a_snapshot() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("new"), "made by the agent\n");
    // The objects exist in the user's store already when the snapshot is taken.
    world.git(&doer, &["add", "-A"]);
    world.git(&doer, &["commit", "-q", "-m", "mine"]);
    let snapshot = take(&repository, &doer, &base);
    world.git(&doer, &["reset", "-q", "--hard", "HEAD~1"]);
    world.git(&doer, &["reflog", "expire", "--expire=now", "--all"]);
    world.git(&doer, &["gc", "-q", "--prune=now"]);
    assert!(
        world.try_git(&doer, &["cat-file", "-e", snapshot.tree.as_str()]).is_err(),
        "the tree was not collected"
    );
    repository.materialise(&world.path("judge"), "judge", &snapshot.tree).unwrap();
    assert_eq!(fs::read_to_string(world.path("judge").join("new")).unwrap(), "made by the agent\n");
}

#[test]
fn links_out_of_the_tree_are_hazards_but_old_ones_are_not() {
    let world = World::new();
    symlink("/etc/hostname", world.repo.join("old-absolute")).unwrap();
    world.commit_all("with a link");
    let (repository, base, doer) = world.with_doer();
    symlink("/etc/passwd", doer.join("absolute")).unwrap();
    symlink("../../outside", doer.join("src/upwards")).unwrap();
    symlink("../readme.txt", doer.join("src/inside")).unwrap();
    let hazards = take(&repository, &doer, &base).hazards;
    let named: Vec<String> = hazards.iter().map(ToString::to_string).collect();
    assert_eq!(named.len(), 2, "{named:?}");
    assert!(named[0].contains("absolute") && named[1].contains("src/upwards"), "{named:?}");
}

#[test]
fn repositories_inside_the_tree_are_hazards_in_every_form() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    let hazards_now = || take(&repository, &doer, &base).hazards;
    // Around tracked files.
    world.git(&doer.join("src"), &["init", "-q"]);
    assert!(
        hazards_now()
            .iter()
            .any(|hazard| matches!(hazard, Hazard::EmbeddedRepository { path } if path.as_bytes() == b"src"))
    );
    fs::remove_dir_all(doer.join("src/.git")).unwrap();
    // With a commit: git would record a bare link to it.
    write(&doer.join("vendored/file"), "hidden");
    world.git(&doer.join("vendored"), &["init", "-q"]);
    world.git(&doer.join("vendored"), &["commit", "-q", "--allow-empty", "-m", "x"]);
    assert!(hazards_now().iter().any(
        |hazard| matches!(hazard, Hazard::EmbeddedRepository { path } if path.as_bytes() == b"vendored")
    ));
    fs::remove_dir_all(doer.join("vendored/.git")).unwrap();
    // Without a commit: git refuses it.
    world.git(&doer.join("vendored"), &["init", "-q"]);
    assert!(
        hazards_now()
            .iter()
            .any(|hazard| matches!(hazard, Hazard::Refused { detail } if detail.contains("vendored")))
    );
    fs::remove_dir_all(doer.join("vendored/.git")).unwrap();
    assert_eq!(hazards_now(), []);
}

#[test]
fn what_git_refuses_is_a_hazard_and_the_rest_is_recorded() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("good"), "x");
    write(&doer.join("sub/.GIT/config"), "x");
    fs::remove_file(doer.join("readme.txt")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        doer.join("readme.txt"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let snapshot = take(&repository, &doer, &base);
    assert!(snapshot.changes.iter().any(|change| change.path.as_bytes() == b"good"));
    let refused: Vec<String> = snapshot.hazards.iter().map(ToString::to_string).collect();
    assert!(refused.iter().any(|text| text.contains("readme.txt")), "{refused:?}");
    assert!(refused.iter().any(|text| text.contains(".GIT")), "{refused:?}");
}

#[test]
fn limits_on_number_and_size_are_reported() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    for number in 0..5 {
        write(&doer.join(format!("file-{number}")), vec![b'x'; 1000]);
    }
    let limits = SnapshotLimits { paths: 4, bytes: 4999 };
    let snapshot = repository.snapshot(&doer, "doer", &base.tree, limits).unwrap();
    assert_eq!(
        snapshot.hazards,
        [
            Hazard::TooManyPaths { count: 5, limit: 4 },
            Hazard::TooLarge { bytes: 5000, limit: 4999 },
            Hazard::NotRecorded
        ]
    );
    assert_eq!((snapshot.tree, snapshot.changes.len()), (base.tree.clone(), 4), "nothing of it is read");
    let limits = SnapshotLimits { paths: 5, bytes: 5000 };
    assert_eq!(repository.snapshot(&doer, "doer", &base.tree, limits).unwrap().hazards, []);
    let all = repository.snapshot(&doer, "doer", &base.tree, SnapshotLimits::NONE).unwrap();
    assert_eq!((all.hazards, all.changes.len()), (Vec::new(), 5));
}

#[test]
fn what_is_ignored_is_no_part_of_a_change_that_is_too_large() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join(".gitignore"), "build/\n");
    for number in 0..20 {
        write(&doer.join(format!("build/{number}")), vec![b'x'; 1000]);
    }
    write(&doer.join("new.txt"), "new\n");
    let limits = SnapshotLimits { paths: 4, bytes: 4999 };
    let snapshot = repository.snapshot(&doer, "doer", &base.tree, limits).unwrap();
    assert_eq!((snapshot.hazards, snapshot.changes.len()), (Vec::new(), 2));
    assert_ne!(snapshot.tree, base.tree);
}

#[test]
fn a_tracked_file_that_became_gigabytes_is_not_read() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    fs::OpenOptions::new()
        .write(true)
        .open(doer.join("readme.txt"))
        .and_then(|file| file.set_len(4 << 30))
        .unwrap();
    let limits = SnapshotLimits::default();
    let snapshot = repository.snapshot(&doer, "doer", &base.tree, limits).unwrap();
    let too_large = Hazard::TooLarge { bytes: 4 << 30, limit: limits.bytes };
    assert_eq!(snapshot.hazards, [too_large, Hazard::NotRecorded]);
    assert_eq!((snapshot.tree, snapshot.changes.len()), (base.tree, 1));
}

#[test]
fn a_submodule_stays_as_it_is_and_filling_it_is_a_hazard() {
    let world = World::new();
    let link = format!("160000,{},sub", "1".repeat(40));
    world.git(&world.repo, &["update-index", "--add", "--cacheinfo", &link]);
    world.git(&world.repo, &["commit", "-q", "-m", "submodule"]);
    let (repository, base, doer) = world.with_doer();
    let snapshot = take(&repository, &doer, &base);
    assert_eq!((&snapshot.tree, snapshot.hazards.len()), (&base.tree, 0));
    write(&doer.join("sub/file"), "x");
    let snapshot = take(&repository, &doer, &base);
    assert_eq!(snapshot.tree, base.tree);
    assert!(matches!(&snapshot.hazards[..], [Hazard::FilledSubmodule { path }] if path.as_bytes() == b"sub"));
}

#[test]
fn base_given_as_branch_tag_or_ancestor_is_one_commit_even_when_the_branch_moves() {
    let world = World::new();
    let first = world.git(&world.repo, &["rev-parse", "HEAD"]);
    world.git(&world.repo, &["tag", "-a", "v1", "-m", "annotated"]);
    world.git(&world.repo, &["branch", "moving"]);
    world.write("second", "x");
    world.commit_all("second");
    let repository = world.open();
    for revision in ["HEAD~1", "v1", "moving", "refs/heads/moving", &first] {
        assert_eq!(repository.resolve_commit(revision).unwrap().id.as_str(), first, "{revision}");
    }
    let base = repository.resolve_commit("moving").unwrap();
    repository.import(&base).unwrap();
    world.git(&world.repo, &["branch", "-f", "moving", "main"]);
    for (name, key) in [("doer", "d"), ("judge", "j")] {
        repository.add_worktree(&world.path(name), name, key, &base).unwrap();
        assert_eq!(world.git(&world.path(name), &["rev-parse", "HEAD"]), first);
        assert!(!world.path(name).join("second").exists());
    }
    for wrong in ["", "nope", "--all", "-h", "HEAD:readme.txt", "HEAD\nHEAD"] {
        assert!(repository.resolve_commit(wrong).is_err(), "{wrong:?}");
    }
}
