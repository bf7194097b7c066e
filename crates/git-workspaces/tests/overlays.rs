//! One tree made of several, without a work tree and whatever is ignored.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use support::{World, take, write};
use windlass_git_workspaces::{GitError, Overlay, TreeId};

fn file(path: &str, content: &str) -> (String, Vec<u8>) {
    (path.to_owned(), content.as_bytes().to_vec())
}

#[test]
fn a_directory_is_left_out_another_taken_from_elsewhere_and_files_are_written_over() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join(".loop/state.md"), "by an agent\n");
    write(&doer.join("agents/loop-a.md"), "edited\n");
    write(&doer.join("agents/other.md"), "kept\n");
    let snapshot = take(&repository, &doer, &base);
    let pinned = repository
        .overlay(&Overlay {
            content: &base.tree,
            replaced: &[],
            removed: &[],
            files: &[file("agents/loop-a.md", "pinned\n")],
        })
        .unwrap();
    let plant = repository
        .overlay(&Overlay {
            content: &snapshot.tree,
            replaced: &[(".loop/", None), ("agents/loop-", Some(&pinned))],
            removed: &[],
            files: &[],
        })
        .unwrap();
    let whole = repository
        .overlay(&Overlay {
            content: &plant,
            replaced: &[],
            removed: &[],
            files: &[file(".loop/state.md", "by the engine\n")],
        })
        .unwrap();
    let shown = world.path("shown");
    repository.materialise(&shown, "shown", &whole).unwrap();
    let read = |path: &str| std::fs::read_to_string(shown.join(path)).unwrap();
    assert_eq!(read(".loop/state.md"), "by the engine\n");
    assert_eq!(read("agents/loop-a.md"), "pinned\n");
    assert_eq!(read("agents/other.md"), "kept\n");
    assert!(shown.join("readme.txt").is_file(), "the rest of the content is there");
    repository.materialise(&shown, "shown", &plant).unwrap();
    assert!(!shown.join(".loop").exists());
}

#[test]
fn a_path_that_two_beginnings_name_is_brought_once_and_by_the_first() {
    let world = World::new();
    let (repository, base, _) = world.with_doer();
    let put = |text: &str| {
        let files = [file("agents/loop-a.md", text)];
        let parts = Overlay { content: &base.tree, replaced: &[], removed: &[], files: &files };
        repository.overlay(&parts).unwrap()
    };
    let (first, second) = (put("first\n"), put("second\n"));
    let overlapping = |replaced| Overlay { content: &second, replaced, removed: &[], files: &[] };
    let twice = [("agents/loop-", Some(&first)), ("agents/loop-a.md", Some(&second)), ("agents/", None)];
    assert_eq!(repository.overlay(&overlapping(&twice)).unwrap(), first);
    let nowhere = [("agents/", None), ("agents/loop-a.md", Some(&second))];
    assert_eq!(repository.overlay(&overlapping(&nowhere)).unwrap(), base.tree);
}

#[test]
fn the_same_parts_make_the_same_tree_and_nothing_put_over_it_changes_it() {
    let world = World::new();
    let (repository, base, _) = world.with_doer();
    let nothing = Overlay { content: &base.tree, replaced: &[], removed: &[], files: &[] };
    assert_eq!(repository.overlay(&nothing).unwrap(), base.tree);
    let files = [file("a b/ü\"'.md", "x")];
    let with = Overlay { content: &base.tree, replaced: &[], removed: &[], files: &files };
    assert_eq!(repository.overlay(&with).unwrap(), repository.overlay(&with).unwrap());
}

#[test]
fn a_path_that_is_brought_twice_is_there_once() {
    let world = World::new();
    let (repository, base, _) = world.with_doer();
    let replaced = [("read", Some(&base.tree)), ("readme.txt", Some(&base.tree))];
    let parts = Overlay { content: &base.tree, replaced: &replaced, removed: &[], files: &[] };
    assert_eq!(repository.overlay(&parts).unwrap(), base.tree);
}

#[test]
fn a_file_in_place_of_a_directory_and_a_directory_in_place_of_a_file_give_way() {
    let world = World::new();
    let (repository, base, _) = world.with_doer();
    let over = |tree, path| {
        repository
            .overlay(&Overlay { content: tree, replaced: &[], removed: &[], files: &[file(path, "x")] })
            .unwrap()
    };
    let deep = over(&base.tree, ".loop/deep/file");
    let flat = over(&deep, ".loop");
    assert_eq!(flat, over(&base.tree, ".loop"));
    assert_eq!(over(&flat, ".loop/deep/file"), deep);
    let gone = Overlay { content: &flat, replaced: &[(".loop/", None)], removed: &[], files: &[] };
    assert_eq!(repository.overlay(&gone).unwrap(), base.tree);
}

#[test]
fn trees_that_were_listed_before_are_put_together_without_git() {
    let world = World::new();
    let (repository, git) = world.with_removable_git();
    let base = repository.head().unwrap();
    repository.import(&base).unwrap();
    let files = [file(".loop/state.md", "1\n")];
    let with = Overlay { content: &base.tree, replaced: &[], removed: &[], files: &files };
    repository.names_at(&base.tree, "").unwrap();
    std::fs::remove_file(git).unwrap();
    let made = repository.overlay(&with).unwrap();
    assert_eq!(repository.overlay(&with).unwrap(), made);
    let replaced = [(".loop/", Some(&made))];
    let brought = Overlay { content: &base.tree, replaced: &replaced, removed: &[], files: &[] };
    assert_eq!(repository.overlay(&brought).unwrap(), made, "the other tree, brought whole");
    let without = Overlay { content: &made, replaced: &replaced, removed: &[], files: &[] };
    assert_eq!(repository.overlay(&without).unwrap(), made);
}

#[test]
fn what_is_brought_wins_over_a_file_of_the_content_and_two_that_are_brought_must_agree() {
    let world = World::new();
    let (repository, base) = world.ready();
    let file_at = |path: &str| {
        let files = [file(path, "x")];
        let parts = Overlay { content: &base.tree, replaced: &[], removed: &[], files: &files };
        repository.overlay(&parts).unwrap()
    };
    let (as_file, inside) = (file_at("deep/both"), file_at("deep/both/inside"));
    let brings = |replaced: &[(&str, Option<&TreeId>)]| {
        repository.overlay(&Overlay { content: &as_file, replaced, removed: &[], files: &[] })
    };
    assert_eq!(brings(&[("deep/both/in", Some(&inside))]).unwrap(), inside);
    let error = brings(&[("deep/both/in", Some(&inside)), ("deep/both", Some(&as_file))]).unwrap_err();
    assert!(matches!(error, GitError::FileAndDirectory), "{error}");
}

#[test]
fn directories_that_are_noted_from_before_are_right_in_the_new_tree() {
    let world = World::new();
    for path in ["a/deep/one", "a/deep/two", "a/other", "b/one", "b/deep/er/one"] {
        world.write(path, path);
    }
    world.commit_all("directories");
    let (repository, base, doer) = world.with_doer();
    let files = [file("a/deep/two", "changed"), file("b/deep/er/new", "new"), file("c/d/e", "new")];
    let replaced = [("a/other", None), ("b/one", None)];
    let parts = Overlay { content: &base.tree, replaced: &replaced, removed: &[], files: &files };
    let made = repository.overlay(&parts).unwrap();
    for (path, content) in &files {
        write(&doer.join(path), content);
    }
    std::fs::remove_file(doer.join("a/other")).unwrap();
    std::fs::remove_file(doer.join("b/one")).unwrap();
    assert_eq!(take(&repository, &doer, &base).tree, made);
    let back = Overlay { content: &made, replaced: &[("", Some(&base.tree))], removed: &[], files: &[] };
    assert_eq!(repository.overlay(&back).unwrap(), base.tree);
}

#[test]
fn the_plain_file_that_a_path_leads_to_is_found_through_links_and_through_nothing_else() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("there/deep.txt"), "deep\n");
    for (link, target) in [
        ("there/first", "deep.txt"),
        ("second", "./there/../there/first"),
        ("itself", "itself"),
        ("outside", "../elsewhere.txt"),
        ("absolute", "/etc/passwd"),
        ("folder", "there"),
    ] {
        std::os::unix::fs::symlink(target, doer.join(link)).unwrap();
    }
    let tree = take(&repository, &doer, &base).tree;
    let led = |path: &str| repository.plain_file_at(&tree, path).unwrap();
    for path in ["there/deep.txt", "there/first", "second"] {
        let file = led(path).unwrap();
        assert_eq!(
            (file.path.as_str(), file.content.as_slice()),
            ("there/deep.txt", &b"deep\n"[..]),
            "{path}"
        );
    }
    for path in ["there", "itself", "outside", "absolute", "folder", "nowhere"] {
        assert_eq!(led(path), None, "{path}");
    }
}
