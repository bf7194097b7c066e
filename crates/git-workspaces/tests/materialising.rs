//! A materialised directory holds exactly its tree, whatever was done to it before.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use support::{World, chmod, contents, take, write};
use windlass_git_workspaces::{Commit, Repository};

/// A judge directory that holds the base, and what it must look like.
fn judged(world: &World) -> (Repository, Commit, PathBuf) {
    let (repository, base) = world.ready();
    let judge = world.path("judge");
    repository.materialise(&judge, "judge", &base.tree).unwrap();
    assert_eq!(contents(&judge), contents(&world.repo));
    (repository, base, judge)
}

/// Tampers with a fresh judge directory and materialises again.
fn survives(tamper: impl FnOnce(&World, &Path)) {
    let world = World::new();
    let (repository, base, judge) = judged(&world);
    write(&world.path("outside/main.rs"), "must stay");
    write(&world.path("outside/deep/er/data.bin"), "must stay");
    let outside = contents(&world.path("outside"));
    tamper(&world, &judge);
    repository.materialise(&judge, "judge", &base.tree).unwrap();
    assert_eq!(contents(&judge), contents(&world.repo));
    assert_eq!(contents(&world.path("outside")), outside, "something outside was touched");
}

#[test]
fn edited_files_are_restored_even_with_their_times_restored() {
    survives(|_, judge| {
        let path = judge.join("readme.txt");
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        write(&path, "HELLO\n");
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    });
}

#[test]
fn deleted_files_and_directories_come_back() {
    survives(|_, judge| {
        fs::remove_file(judge.join("tool.sh")).unwrap();
        fs::remove_dir_all(judge.join("src")).unwrap();
    });
}

#[test]
fn changed_permissions_are_restored() {
    survives(|_, judge| {
        chmod(&judge.join("readme.txt"), 0o777);
        chmod(&judge.join("tool.sh"), 0o600);
        chmod(&judge.join("src/main.rs"), 0o400);
        chmod(&judge.join("src/deep"), 0o000);
    });
}

#[test]
fn ignored_and_untracked_leftovers_are_gone() {
    survives(|_, judge| {
        write(&judge.join("target/debug/cached"), "stale build output");
        write(&judge.join("src/x.ignored"), "x");
        write(&judge.join("untracked"), "x");
        fs::create_dir_all(judge.join("empty/dirs")).unwrap();
        fs::create_dir_all(judge.join("src/.git/objects")).unwrap();
    });
}

#[test]
fn a_directory_replaced_by_a_link_to_its_own_moved_content_is_restored() {
    // The files keep their inodes and times, so looking at them through the link shows nothing wrong.
    survives(|world, judge| {
        fs::rename(judge.join("src"), world.path("stolen")).unwrap();
        symlink(world.path("stolen"), judge.join("src")).unwrap();
    });
}

#[test]
fn links_to_the_outside_are_not_followed() {
    survives(|world, judge| {
        fs::remove_dir_all(judge.join("src")).unwrap();
        symlink(world.path("outside"), judge.join("src")).unwrap();
        fs::remove_file(judge.join("readme.txt")).unwrap();
        symlink(world.path("outside/main.rs"), judge.join("readme.txt")).unwrap();
        symlink(world.path("outside"), judge.join("extra")).unwrap();
    });
}

#[test]
fn files_and_directories_that_changed_places_are_restored() {
    survives(|_, judge| {
        fs::remove_file(judge.join("readme.txt")).unwrap();
        write(&judge.join("readme.txt/inside/deep"), "x");
        fs::remove_dir_all(judge.join("src")).unwrap();
        write(&judge.join("src"), "x");
    });
}

#[test]
fn a_file_with_a_second_name_outside_is_replaced_not_written_through() {
    survives(|world, judge| {
        fs::remove_file(judge.join("readme.txt")).unwrap();
        fs::hard_link(world.path("outside/main.rs"), judge.join("readme.txt")).unwrap();
    });
}

#[test]
fn a_planted_git_directory_is_removed_but_a_git_file_stays() {
    survives(|world, judge| {
        world.git(judge, &["init", "-q"]);
        world.git(judge, &["commit", "-q", "--allow-empty", "-m", "x"]);
    });
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    repository.materialise(&doer, "doer", &base.tree).unwrap();
    assert!(doer.join(".git").is_file());
}

#[test]
fn a_link_in_place_of_the_whole_directory_is_refused() {
    let world = World::new();
    let (repository, base, judge) = judged(&world);
    fs::rename(&judge, world.path("elsewhere")).unwrap();
    symlink(world.path("elsewhere"), &judge).unwrap();
    write(&judge.join("kept"), "x");
    assert!(repository.materialise(&judge, "judge", &base.tree).is_err());
    assert!(world.path("elsewhere/kept").exists());
}

#[test]
fn moving_between_trees_changes_files_to_directories_and_back() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    fs::remove_file(doer.join("readme.txt")).unwrap();
    write(&doer.join("readme.txt/now a directory"), "x");
    fs::remove_dir_all(doer.join("src")).unwrap();
    symlink("readme.txt", doer.join("src")).unwrap();
    let changed = take(&repository, &doer, &base);
    let judge = world.path("judge");
    for _ in 0..2 {
        repository.materialise(&judge, "judge", &base.tree).unwrap();
        assert_eq!(contents(&judge), contents(&world.repo));
        repository.materialise(&judge, "judge", &changed.tree).unwrap();
        assert_eq!(contents(&judge), contents(&doer));
    }
}

#[test]
fn a_large_tree_is_moved_forward_by_its_difference_only() {
    let world = World::empty("repo", &[]);
    for number in 0..2000 {
        world.write(&format!("dir-{}/file-{number}", number % 40), format!("{number}\n"));
    }
    world.commit_all("many");
    let (repository, base, doer) = world.with_doer();
    let judge = world.path("judge");
    repository.materialise(&judge, "judge", &base.tree).unwrap();
    write(&doer.join("dir-1/file-1"), "changed\n");
    write(&doer.join("dir-2/added"), "x\n");
    fs::remove_file(doer.join("dir-3/file-3")).unwrap();
    let changed = take(&repository, &doer, &base);
    let before = identities(&judge);
    repository.materialise(&judge, "judge", &changed.tree).unwrap();
    let after = identities(&judge);
    let rewritten: Vec<_> = after.iter().filter(|identity| !before.contains(identity)).collect();
    let names: Vec<_> = rewritten.iter().take(5).map(|(path, ..)| path).collect();
    assert_eq!(rewritten.len(), 2, "{names:?}");
    assert_eq!(after.len(), 2000);
    assert_eq!(contents(&judge), contents(&doer));
}

#[test]
fn a_directory_that_holds_the_tree_and_no_less_needs_no_git() {
    let world = World::new();
    let (repository, git) = world.with_removable_git();
    let base = repository.head().unwrap();
    repository.import(&base).unwrap();
    let judge = world.path("judge");
    let show = || repository.materialise(&judge, "judge", &base.tree);
    show().unwrap();
    fs::rename(&git, git.with_extension("away")).unwrap();
    repository.import(&base).unwrap();
    for leftover in ["left.ignored", "src/left", "left/deep/er"] {
        show().unwrap();
        write(&judge.join(leftover), "x");
        show().unwrap();
        assert_eq!(contents(&judge), contents(&world.repo), "{leftover}");
    }
    write(&judge.join("readme.txt"), "HELLO\n");
    assert!(show().is_err(), "only git knows what is in a pack");
    fs::rename(git.with_extension("away"), &git).unwrap();
    show().unwrap();
    assert_eq!(contents(&judge), contents(&world.repo));
}

/// Path, inode and change time of every file: a rewritten file shows in at least one.
fn identities(directory: &Path) -> std::collections::BTreeSet<(PathBuf, u64, i64, i64)> {
    let paths = contents(directory).into_iter().map(|(path, ..)| directory.join(path));
    paths
        .map(|path| {
            let found = fs::symlink_metadata(&path).unwrap();
            (path, found.ino(), found.ctime(), found.ctime_nsec())
        })
        .collect()
}
