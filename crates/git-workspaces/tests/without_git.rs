//! What is done without starting git is what git would have done: taking down changes, showing trees, making objects.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use support::{NOON, World, chmod, contents, take, write};
use windlass_git_workspaces::{ChangeKind, Commit, CommitRequest, Identity, Overlay, Repository};

/// Names that sort one way as paths and another way as words.
const AWKWARD: [&str; 6] = ["a-b", "a.b/c", "a/c", "a/d/e", "a0", "a0b/x"];

/// A worktree of a repository that has everything listed already, and no git any more.
fn without_git(world: &World) -> (Repository, Commit, PathBuf, PathBuf) {
    for path in AWKWARD {
        world.write(path, path);
    }
    world.commit_all("awkward");
    let (repository, git) = world.with_removable_git();
    let base = repository.head().unwrap();
    repository.import(&base).unwrap();
    let doer = world.path("doer");
    repository.add_worktree(&doer, "work", "doer", &base).unwrap();
    repository.names_at(&base.tree, "").unwrap();
    let away = git.with_extension("away");
    fs::rename(&git, &away).unwrap();
    (repository, base, doer, away)
}

#[test]
fn changes_of_tracked_files_are_taken_down_as_git_would() {
    let world = World::new();
    let (repository, base, doer, _) = without_git(&world);
    assert_eq!(take(&repository, &doer, &base).tree, base.tree);
    write(&doer.join("a/d/e"), "changed");
    write(&doer.join("readme.txt"), "");
    fs::remove_dir_all(doer.join("a.b")).unwrap();
    fs::remove_dir_all(doer.join("src/deep")).unwrap();
    chmod(&doer.join("a0"), 0o755);
    chmod(&doer.join("tool.sh"), 0o644);
    fs::remove_file(doer.join("link")).unwrap();
    symlink("a0", doer.join("link")).unwrap();
    // Written again as it was.
    write(&doer.join("a-b"), "a-b");
    let snapshot = take(&repository, &doer, &base);
    world.git(&doer, &["add", "-A"]);
    assert_eq!(snapshot.tree.as_str(), world.git(&doer, &["write-tree"]));
    let kinds: Vec<_> =
        snapshot.changes.iter().map(|change| (change.path.to_string(), change.kind)).collect();
    let expected = [
        ("a.b/c", ChangeKind::Deleted),
        ("a/d/e", ChangeKind::Modified),
        ("a0", ChangeKind::ModeChanged),
        ("link", ChangeKind::Modified),
        ("readme.txt", ChangeKind::Modified),
        ("src/deep/er/data.bin", ChangeKind::Deleted),
        ("tool.sh", ChangeKind::ModeChanged),
    ];
    assert_eq!(kinds, expected.map(|(path, kind)| (path.to_owned(), kind)));
    assert_eq!(take(&repository, &doer, &base), snapshot, "asked twice");
}

#[test]
fn what_git_took_up_once_is_taken_down_again_as_git_would() {
    let world = World::new();
    let (repository, base, doer, away) = without_git(&world);
    fs::rename(&away, away.with_extension("")).unwrap();
    write(&doer.join("new/deep/one.txt"), "one");
    write(&doer.join("new/two.txt"), "two");
    write(&doer.join("three.txt"), "three");
    let first = take(&repository, &doer, &base);
    fs::rename(away.with_extension(""), &away).unwrap();
    assert_eq!(take(&repository, &doer, &base), first, "asked twice");
    write(&doer.join("three.txt"), "changed");
    write(&doer.join("a0"), "changed");
    fs::remove_dir_all(doer.join("new/deep")).unwrap();
    chmod(&doer.join("new/two.txt"), 0o755);
    let snapshot = take(&repository, &doer, &base);
    world.git(&doer, &["add", "-A"]);
    assert_eq!(snapshot.tree.as_str(), world.git(&doer, &["write-tree"]));
    let paths: Vec<_> = snapshot.changes.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(paths, ["a0", "new/two.txt", "three.txt"]);
    fs::remove_file(doer.join("three.txt")).unwrap();
    assert_eq!(take(&repository, &doer, &base).changes.len(), 2);
}

#[test]
fn git_is_asked_again_when_the_rules_or_anything_else_is_new() {
    let world = World::new();
    let (repository, base, doer, away) = without_git(&world);
    fs::rename(&away, away.with_extension("")).unwrap();
    let fresh = || take(&world.open(), &doer, &base).tree;
    write(&doer.join("new.txt"), "one");
    write(&doer.join("part/kept.txt"), "kept");
    take(&repository, &doer, &base);
    // Each of these changes what git would take up of files that it has taken up before.
    for (path, content) in [
        (".gitignore", "new.txt\n"),
        (".gitignore", "kept.txt\n"),
        ("part/.gitignore", "*.txt\n"),
        ("other.txt", "other"),
        ("part/.gitignore", "!*.txt\n"),
    ] {
        write(&doer.join(path), content);
        assert_eq!(take(&repository, &doer, &base).tree, fresh(), "{path} {content}");
        write(&doer.join("new.txt"), format!("changed by {path} {content}"));
        assert_eq!(take(&repository, &doer, &base).tree, fresh(), "after {path} {content}");
    }
    fs::remove_file(doer.join(".gitignore")).unwrap();
    assert_eq!(take(&repository, &doer, &base).tree, fresh());
}

#[test]
fn rules_that_nobody_sees_are_never_relied_on() {
    let world = World::new();
    let (repository, base, doer, away) = without_git(&world);
    fs::rename(&away, away.with_extension("")).unwrap();
    // Left out itself, it lets in what the rules above leave out.
    write(&doer.join(".gitignore"), "*.txt\n");
    write(&doer.join("part/.gitignore"), ".gitignore\n!new.txt\n");
    write(&doer.join("part/new.txt"), "new");
    let with = take(&repository, &doer, &base);
    assert!(with.changes.iter().any(|change| change.path.to_string() == "part/new.txt"));
    fs::remove_file(doer.join("part/.gitignore")).unwrap();
    let without = take(&repository, &doer, &base);
    assert!(without.changes.iter().all(|change| change.path.to_string() != "part/new.txt"));
}

#[test]
fn an_edit_that_leaves_every_time_but_one_as_it_was_is_taken_down() {
    let world = World::new();
    let (repository, base, doer, _) = without_git(&world);
    let path = doer.join("a0");
    for content in ["A0", "b1", "a0"] {
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, content).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        let tree = take(&repository, &doer, &base).tree;
        assert_eq!(tree == base.tree, content == "a0", "{content}");
    }
}

#[test]
fn what_is_new_is_left_to_git() {
    let world = World::new();
    let (repository, base, doer, away) = without_git(&world);
    write(&doer.join("a/new"), "x");
    write(&doer.join("a/seen.ignored"), "x");
    let limits = windlass_git_workspaces::SnapshotLimits::default();
    assert!(repository.snapshot(&doer, "doer", &base.tree, limits).is_err());
    fs::rename(&away, away.with_extension("")).unwrap();
    let snapshot = take(&repository, &doer, &base);
    world.git(&doer, &["add", "-A"]);
    assert_eq!(snapshot.tree.as_str(), world.git(&doer, &["write-tree"]));
}

#[test]
fn a_tree_that_differs_little_is_shown_by_its_difference() {
    let world = World::new();
    let (repository, base, doer, _) = without_git(&world);
    let overlay = |content, removed: &[&str], files: &[(&str, &str)]| {
        let files: Vec<_> =
            files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
        repository.overlay(&Overlay { content, replaced: &[], removed, files: &files }).unwrap()
    };
    let first =
        overlay(&base.tree, &["a/", "src/deep/"], &[("a", "a file"), ("new/deep/er", "1"), ("a0", "1")]);
    let second = overlay(&first, &["new/"], &[("a/x/y", "a directory"), ("new", "a file"), ("a0", "2")]);
    let untouched = fs::metadata(doer.join("a-b")).unwrap().modified().unwrap();
    for tree in [&first, &second, &first, &first, &second] {
        // Whatever was done to it meanwhile.
        fs::remove_file(doer.join("new"))
            .or_else(|_| fs::remove_dir_all(doer.join("new")))
            .unwrap_or_default();
        write(&doer.join("left/over"), "x");
        let shown = repository.materialise(&doer, "doer", tree).unwrap();
        assert_eq!(repository.drift_since(&shown).unwrap(), windlass_git_workspaces::Drift::default());
        let mut expected: Vec<_> = contents(&world.repo)
            .into_iter()
            .filter(|(path, ..)| {
                let path = path.to_str().unwrap();
                !path.starts_with("a/") && !path.starts_with("src/deep/") && path != "a0"
            })
            .collect();
        let new: &[(&str, &str)] = if *tree == first {
            &[("a", "a file"), ("new/deep/er", "1"), ("a0", "1")]
        } else {
            &[("a/x/y", "a directory"), ("new", "a file"), ("a0", "2")]
        };
        expected.extend(new.iter().map(|(path, text)| ((*path).into(), 0o644, text.as_bytes().to_vec())));
        expected.sort();
        assert_eq!(contents(&doer), expected);
    }
    assert_eq!(fs::metadata(doer.join("a-b")).unwrap().modified().unwrap(), untouched);
    let judged = take(&repository, &doer, &Commit { tree: second.clone(), ..base });
    assert_eq!(judged.tree, second);
}

#[test]
fn objects_made_without_git_pass_gits_own_examination() {
    let world = World::new();
    let (repository, base, doer, away) = without_git(&world);
    write(&doer.join("a/d/e"), "changed");
    let taken = take(&repository, &doer, &base);
    let files = [("a/z".to_owned(), b"\0\xff".repeat(5_000)), ("empty".to_owned(), Vec::new())];
    let parts = Overlay { content: &taken.tree, replaced: &[], removed: &["src/"], files: &files };
    let tree = repository.overlay(&parts).unwrap();
    let me = Identity::new("N", "e@x").unwrap();
    let request = CommitRequest {
        tree: &tree,
        parents: std::slice::from_ref(&base.id),
        message: "made",
        author: &me,
        committer: &me,
        time: NOON,
    };
    let commit = repository.commit(&request).unwrap();
    fs::rename(&away, away.with_extension("")).unwrap();
    let control = world.path("control");
    let in_control = |words: &[&str]| world.git(&control, &[&["--git-dir", "."], words].concat());
    in_control(&["fsck", "--strict", "--no-dangling", tree.as_str()]);
    assert_eq!(in_control(&["rev-parse", &format!("{commit}^{{tree}}")]), tree.as_str());
    assert_eq!(in_control(&["cat-file", "-s", &format!("{tree}:a/z")]), "10000");
    repository.publish(&Commit { id: commit.clone(), tree }, &base.tree).unwrap();
    world.git(&world.repo, &["fsck", "--strict", "--no-dangling", commit.as_str()]);
}
