//! Two trees brought together on trees alone, and one tree made of chosen paths of two.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use support::{World, chmod, text};
use windlass_git_workspaces::{Commit, MergedTree, Repository, Side};

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

struct Parted {
    world: World,
    repository: Repository,
    base: Commit,
    ours: Commit,
    theirs: Commit,
}

fn parted(ours: impl FnOnce(&World), theirs: impl FnOnce(&World)) -> Parted {
    let world = World::new();
    world.write("lines", LINES);
    world.write("run.sh", LINES);
    chmod(&world.repo.join("run.sh"), 0o755);
    world.commit_all("base");
    world.git(&world.repo, &["checkout", "-q", "-b", "ours"]);
    ours(&world);
    world.commit_all("ours");
    world.git(&world.repo, &["checkout", "-q", "-b", "theirs", "main"]);
    theirs(&world);
    world.commit_all("theirs");
    let repository = world.open();
    let [base, ours, theirs] = ["main", "ours", "theirs"].map(|name| {
        let commit = repository.resolve_commit(name).unwrap();
        repository.import(&commit).unwrap();
        commit
    });
    Parted { world, repository, base, ours, theirs }
}

impl Parted {
    fn merge(&self) -> MergedTree {
        let side = |tree, name| Side { tree, name };
        let merged = self.repository.merge_trees(
            &self.base.tree,
            side(&self.ours.tree, "round-001"),
            side(&self.theirs.tree, "main"),
        );
        merged.unwrap()
    }

    fn file(&self, merged: &MergedTree, path: &str) -> String {
        String::from_utf8(self.repository.file_at(&merged.tree, path).unwrap().unwrap()).unwrap()
    }
}

#[test]
fn what_fits_together_is_what_git_makes_of_it() {
    let parted = parted(
        |world| world.write("lines", LINES.replace("one", "ONE")),
        |world| {
            world.write("lines", LINES.replace("seven", "SEVEN"));
            world.git(&world.repo, &["mv", "readme.txt", "read.me"]);
        },
    );
    let merged = parted.merge();
    assert_eq!(merged.conflicts, []);
    parted.world.git(&parted.world.repo, &["merge", "-q", "--no-edit", "ours"]);
    let expected = parted.world.git(&parted.world.repo, &["rev-parse", "HEAD^{tree}"]);
    assert_eq!(merged.tree.as_str(), expected);
    assert_eq!(parted.merge(), merged);
}

#[test]
fn what_does_not_fit_is_named_and_marked_in_the_files_with_names_people_know() {
    let edit = |word: &'static str| {
        move |world: &World| {
            world.write("lines", LINES.replace("four", word));
            world.write("run.sh", LINES.replace("four", word));
            world.write(word, "new\n");
        }
    };
    let parted = parted(edit("OURS"), edit("THEIRS"));
    let merged = parted.merge();
    assert_eq!(text(&merged.conflicts), ["lines", "run.sh"]);
    let marked = "three\n<<<<<<< round-001\nOURS\n=======\nTHEIRS\n>>>>>>> main\nfive\n";
    for path in ["lines", "run.sh"] {
        let found = parted.file(&merged, path);
        assert!(found.contains(marked), "{found}");
    }
    assert_eq!(parted.file(&merged, "THEIRS"), "new\n");
    let listed =
        parted.world.git(&parted.world.path("control"), &["ls-tree", merged.tree.as_str(), "run.sh"]);
    assert!(listed.starts_with("100755"), "{listed}");
    assert_eq!(parted.merge(), merged);
}

#[test]
fn a_file_that_one_side_changed_and_the_other_took_away_is_a_conflict() {
    let parted = parted(
        |world| world.write("lines", "mine\n"),
        |world| std::fs::remove_file(world.repo.join("lines")).unwrap(),
    );
    let merged = parted.merge();
    assert_eq!(text(&merged.conflicts), ["lines"]);
    assert_eq!(parted.file(&merged, "lines"), "mine\n");
}

#[test]
fn a_side_that_did_nothing_gives_way_to_the_other() {
    let parted = parted(|world| world.write("new", "new\n"), |_| ());
    assert_eq!(parted.merge(), MergedTree { tree: parted.ours.tree.clone(), conflicts: vec![] });
}

#[test]
fn attributes_in_the_tree_choose_no_way_of_merging() {
    let edit = |word: &'static str| {
        move |world: &World| {
            world.write(".gitattributes", "lines merge=ours -text\n*.sh merge=union\n");
            world.write("lines", LINES.replace("four", word));
            world.write("run.sh", LINES.replace("four", word));
        }
    };
    let parted = parted(edit("OURS"), edit("THEIRS"));
    assert_eq!(text(&parted.merge().conflicts), ["lines", "run.sh"]);
}

#[test]
fn only_chosen_paths_are_taken_and_the_others_are_named() {
    let parted = parted(
        |world| {
            world.write("lines", "changed\n");
            world.write("new/file", "new\n");
            world.write("plane/state.json", "{}\n");
            std::fs::remove_file(world.repo.join("tool.sh")).unwrap();
            std::fs::remove_file(world.repo.join("readme.txt")).unwrap();
        },
        |_| (),
    );
    let Parted { repository, base, ours, .. } = &parted;
    let selected = repository
        .select(&base.tree, &ours.tree, |path| {
            let path = path.as_bytes();
            path.starts_with(b"new/") || path == b"lines" || path == b"tool.sh"
        })
        .unwrap();
    assert_eq!(text(&selected.left), ["plane/state.json", "readme.txt"]);
    let has = |path: &str| repository.file_at(&selected.tree, path).unwrap();
    assert_eq!(has("lines").unwrap(), b"changed\n");
    assert_eq!(has("new/file").unwrap(), b"new\n");
    assert_eq!(has("readme.txt").unwrap(), b"hello\n");
    assert_eq!((has("tool.sh"), has("plane/state.json")), (None, None));
    let everything = repository.select(&base.tree, &ours.tree, |_| true).unwrap();
    assert_eq!((everything.tree, everything.left), (ours.tree.clone(), vec![]));
    let nothing = repository.select(&base.tree, &ours.tree, |_| false).unwrap();
    assert_eq!(nothing.tree, base.tree);
    assert_eq!(nothing.left.len(), 5);
}

#[test]
fn a_chosen_file_does_not_push_a_directory_of_the_base_aside() {
    let parted = parted(
        |world| {
            std::fs::remove_dir_all(world.repo.join("src")).unwrap();
            world.write("src", "a file now\n");
        },
        |_| (),
    );
    let Parted { repository, base, ours, .. } = &parted;
    let selected = repository.select(&base.tree, &ours.tree, |path| path.as_bytes() == b"src").unwrap();
    assert_eq!(selected.tree, base.tree);
    assert_eq!(text(&selected.left), ["src", "src/deep/er/data.bin", "src/main.rs"]);
}
