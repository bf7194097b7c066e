//! Git in a maker's worktree writes a place of its own: what was staged or committed there stays readable in later steps,
//! the user's repository never changes, and steps that leave git alone leave nothing behind.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{World, write};
use windlass_git_workspaces::{Repository, is_untouched_place, worktree_set_apart_in};

struct Apart {
    world: World,
    repository: Repository,
    doer: PathBuf,
    folder: PathBuf,
}

impl Apart {
    fn new() -> Self {
        let world = World::new();
        let (repository, _, doer) = world.with_doer();
        let folder = world.repo.with_file_name("apart");
        fs::create_dir_all(&folder).unwrap();
        Self { world, repository, doer, folder }
    }

    /// A step begins; where its git writes.
    fn step(&self) -> PathBuf {
        let worktree = self.repository.worktree_at(&self.doer).unwrap();
        self.repository.set_apart(&worktree, &self.folder).unwrap().pop().unwrap()
    }

    fn git(&self, words: &[&str]) -> String {
        self.world.git(&self.doer, words)
    }

    fn places(&self) -> usize {
        fs::read_dir(&self.folder).unwrap().count()
    }

    fn commit(&self, text: &str) {
        write(&self.doer.join("new"), text);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", text]);
    }
}

fn everything_in(directory: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        use std::os::unix::fs::MetadataExt;
        let about = entry.path().symlink_metadata().unwrap();
        if about.is_dir() {
            found.extend(everything_in(&entry.path()));
        }
        found.push((entry.path(), about.ino()));
    }
    // Git notes in the index what it saw of the files.
    found.retain(|(path, _)| !path.ends_with("index"));
    found.sort();
    found
}

#[test]
fn steps_that_leave_git_alone_share_one_place_and_write_nothing_new() {
    let apart = Apart::new();
    let place = apart.step();
    let before = everything_in(&place);
    for _ in 0..3 {
        assert_eq!(apart.git(&["status", "--porcelain"]), "");
        assert_eq!(apart.step(), place);
    }
    assert_eq!((apart.places(), everything_in(&place)), (1, before));
}

/// Git looks at the HEAD, the reflog and the index of every worktree, also of those somebody works in just now.
#[test]
fn the_users_git_works_while_and_after_a_maker_commits() {
    let apart = Apart::new();
    let users = |words: &[&str]| apart.world.git(&apart.world.repo, words);
    let nothing_is_missing = || {
        users(&["log", "--all", "--oneline"]);
        users(&["rev-list", "--all", "--objects"]);
        users(&["fsck"]);
        users(&["gc", "--quiet"]);
        users(&["fetch", "--quiet", "."]);
    };
    for text in ["one", "two"] {
        apart.step();
        apart.commit(text);
        nothing_is_missing();
        apart.git(&["checkout", "-q", "--detach"]);
        apart.commit(&format!("{text}, detached"));
        nothing_is_missing();
        write(&apart.doer.join("new"), "staged\n");
        apart.git(&["add", "new"]);
        nothing_is_missing();
    }
}

#[test]
fn a_worktree_that_is_put_in_order_has_the_users_git_again() {
    let apart = Apart::new();
    let standing = apart.git(&["rev-parse", "HEAD"]);
    apart.step();
    apart.commit("one");
    let worktree = apart.repository.worktree_at(&apart.doer).unwrap();
    let id = windlass_git_workspaces::CommitId::parse(&standing).unwrap();
    assert!(!apart.repository.stands_at(&worktree, &id));
    apart.repository.restore_worktree(&worktree, "doer", &id).unwrap();
    assert!(apart.repository.stands_at(&worktree, &id));
    assert_eq!(apart.git(&["rev-parse", "HEAD"]), standing);
    let common = apart.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    assert_eq!(Path::new(&common), apart.world.repo.join(".git").canonicalize().unwrap());
}

#[test]
fn what_was_committed_is_there_in_the_next_step_and_not_in_the_users_repository() {
    let apart = Apart::new();
    let branch = apart.world.git(&apart.world.repo, &["rev-parse", "work"]);
    let first = apart.step();
    apart.commit("one");
    let committed = apart.git(&["rev-parse", "HEAD"]);
    let second = apart.step();
    assert_ne!(first, second);
    assert_eq!(apart.git(&["rev-parse", "HEAD"]), committed);
    assert_eq!(apart.step(), second, "nothing was left in the second place");
    assert_eq!(apart.git(&["rev-parse", "HEAD"]), committed);
    apart.commit("two");
    for _ in 0..2 {
        apart.step();
        assert_eq!(apart.git(&["log", "--format=%s", "-2"]), "two\none");
        // A step that only stages is no reason to forget the commits before it.
        write(&apart.doer.join("new"), "staged\n");
        apart.git(&["add", "new"]);
    }
    apart.git(&["fsck"]);
    assert_eq!(apart.world.git(&apart.world.repo, &["rev-parse", "work"]), branch);
}

#[test]
fn a_branch_that_the_user_moved_takes_the_place_of_the_makers() {
    let apart = Apart::new();
    apart.step();
    apart.commit("one");
    let users =
        apart.world.git(&apart.world.repo, &["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "moved"]);
    apart.world.git(&apart.world.repo, &["update-ref", "refs/heads/work", &users]);
    apart.step();
    assert_eq!(apart.git(&["rev-parse", "HEAD"]), users);
}

#[test]
fn what_is_only_staged_stays_readable() {
    let apart = Apart::new();
    apart.step();
    write(&apart.doer.join("new"), "staged\n");
    apart.git(&["add", "new"]);
    apart.step();
    assert_eq!(apart.git(&["show", ":new"]), "staged");
}

#[test]
fn a_place_whose_files_were_changed_begins_again_with_the_users() {
    let apart = Apart::new();
    let place = apart.step();
    apart.git(&["config", "core.hooksPath", "/planted"]);
    assert_eq!(apart.git(&["config", "core.hooksPath"]), "/planted");
    assert_eq!(apart.step(), place);
    assert_eq!(
        fs::read(place.join("config")).unwrap(),
        fs::read(apart.world.repo.join(".git/config")).unwrap()
    );
}

#[test]
fn anything_that_was_left_in_a_place_makes_a_new_one() {
    let plant: [fn(&Path); 6] = [
        |place| fs::write(place.join("stray"), "x").unwrap(),
        |place| fs::write(place.join("refs/heads/planted"), "x").unwrap(),
        |place| fs::write(place.join("objects/pack/planted.pack"), "x").unwrap(),
        |place| fs::create_dir(place.join("logs")).unwrap(),
        |place| {
            fs::remove_file(place.join("config")).unwrap();
            std::os::unix::fs::symlink("/etc/hostname", place.join("config")).unwrap();
        },
        |place| {
            fs::remove_dir(place.join("refs/heads")).unwrap();
            std::os::unix::fs::symlink("/tmp", place.join("refs/heads")).unwrap();
        },
    ];
    for (number, plant) in plant.into_iter().enumerate() {
        let apart = Apart::new();
        let place = apart.step();
        plant(&place);
        assert_ne!(apart.step(), place, "plant {number}");
        assert_eq!(apart.git(&["status", "--porcelain"]), "");
    }
}

#[test]
fn a_branch_that_the_user_moved_is_seen_by_the_next_step() {
    let apart = Apart::new();
    apart.step();
    apart.world.git(&apart.world.repo, &["branch", "more"]);
    let place = apart.step();
    assert_eq!(apart.places(), 1);
    assert!(apart.git(&["branch", "--list", "more"]).contains("more"));
    apart.world.git(&apart.world.repo, &["branch", "-D", "more"]);
    assert_eq!(apart.step(), place);
    assert_eq!(apart.git(&["branch", "--list", "more"]), "");
}

#[test]
fn whose_place_it_is_and_whether_anything_was_left_in_it_can_be_told() {
    let apart = Apart::new();
    let common = apart.world.repo.join(".git");
    assert_eq!(worktree_set_apart_in(&common, &apart.folder), None, "nobody works there yet");
    let place = apart.step();
    assert_eq!(worktree_set_apart_in(&common, &apart.folder), Some(apart.doer.canonicalize().unwrap()));
    assert_eq!(worktree_set_apart_in(&common, &apart.world.repo), None);
    apart.git(&["status"]);
    assert!(is_untouched_place(&place));
    apart.commit("mine");
    assert!(!is_untouched_place(&place), "a commit is nowhere else");
    fs::remove_dir_all(&apart.doer).unwrap();
    apart.world.git(&apart.world.repo, &["worktree", "prune"]);
    assert_eq!(worktree_set_apart_in(&common, &apart.folder), None, "the worktree is gone");
}

/// Else every crash of a run that is killed again and again would leave a place of its own, with all references in it.
#[test]
fn a_place_that_was_not_finished_is_finished_and_no_other_is_made() {
    // A number that no process has.
    let half = |place: &Path, name: &str| {
        let path = place.join(name);
        fs::remove_file(&path).unwrap();
        fs::write(
            path.with_file_name(format!("{}.tmp-4194999-7", path.file_name().unwrap().display())),
            "ha",
        )
        .unwrap();
    };
    let linked = |place: &Path| {
        let registered = fs::read_dir(place.join("worktrees")).unwrap().next().unwrap().unwrap();
        PathBuf::from("worktrees").join(registered.file_name())
    };
    let killed: [&dyn Fn(&Path); 5] = [
        &|place| half(place, "config"),
        &|place| half(place, "packed-refs"),
        &|place| half(place, linked(place).join("gitdir").to_str().unwrap()),
        &|place| fs::remove_dir_all(place.join("refs")).unwrap(),
        &|place| {
            fs::remove_dir_all(place.join("info")).unwrap();
            fs::remove_file(place.join("objects/info/alternates")).unwrap();
        },
    ];
    for (number, kill) in killed.iter().enumerate() {
        let apart = Apart::new();
        let place = apart.step();
        let whole: Vec<PathBuf> = everything_in(&place).into_iter().map(|(path, _)| path).collect();
        kill(&place);
        assert_eq!(apart.step(), place, "killed {number}");
        let again: Vec<PathBuf> = everything_in(&place).into_iter().map(|(path, _)| path).collect();
        assert_eq!(again.len(), whole.len(), "killed {number}: {again:?}");
        assert_eq!(apart.git(&["status", "--porcelain"]), "");
    }
}
