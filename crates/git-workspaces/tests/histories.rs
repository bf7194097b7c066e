//! Where two commits part, which holds which, and what their messages say; and which paths differ between their trees.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use support::{World, text};
use windlass_git_workspaces::{Commit, CommitId, CommitRequest, Identity, Moment, Overlay, Part, Repository};

/// `main` and `side` part at the first commit; each has a commit of its own.
fn parted() -> (World, Repository, [Commit; 3]) {
    let world = World::new();
    world.git(&world.repo, &["checkout", "-q", "-b", "side"]);
    world.write("src/side.rs", "side\n");
    world.write("plane/state.json", "{}\n");
    world.commit_all("On the side\n\nWindlass-Round: round-002\nWindlass-Run: r-1");
    world.git(&world.repo, &["checkout", "-q", "main"]);
    world.write("readme.txt", "changed\n");
    world.commit_all("On main\n\nSome words.\n\nWindlass-Round: round-001");
    let repository = world.open();
    let commits = ["main~1", "main", "side"].map(|name| repository.resolve_commit(name).unwrap());
    for commit in &commits {
        repository.import(commit).unwrap();
    }
    (world, repository, commits)
}

#[test]
fn two_branches_part_where_they_have_their_newest_common_commit() {
    let (world, repository, [first, main, side]) = parted();
    assert_eq!(repository.merge_base(&main.id, &side.id).unwrap(), Some(first.clone()));
    assert_eq!(repository.merge_base(&first.id, &side.id).unwrap(), Some(first.clone()));
    world.git(&world.repo, &["checkout", "-q", "--orphan", "other"]);
    world.commit_all("nothing in common");
    let other = repository.resolve_commit("other").unwrap();
    assert_eq!(repository.merge_base(&other.id, &side.id).unwrap(), None);
}

#[test]
fn a_branch_is_read_as_it_stands_wherever_git_keeps_it() {
    let (world, repository, [first, main, side]) = parted();
    let read = |name: &str| repository.read_reference(name).unwrap();
    assert_eq!(read("refs/heads/main"), Some(main.id.clone()));
    world.git(&world.repo, &["pack-refs", "--all"]);
    assert_eq!(
        (read("refs/heads/main"), read("refs/heads/side")),
        (Some(main.id.clone()), Some(side.id.clone()))
    );
    world.git(&world.repo, &["update-ref", "refs/heads/main", first.id.as_str()]);
    assert_eq!(
        read("refs/heads/main"),
        Some(first.id.clone()),
        "the file of its own counts, not the packed line"
    );
    world.git(&world.repo, &["symbolic-ref", "refs/heads/alias", "refs/heads/side"]);
    assert_eq!(read("refs/heads/alias"), Some(side.id.clone()));
    world.git(&world.repo, &["tag", "-a", "-m", "words", "noted", "side"]);
    assert_eq!(read("refs/tags/noted"), Some(side.id.clone()), "a tag object leads to its commit");
    world.git(&world.repo, &["update-ref", "-d", "refs/heads/side"]);
    assert_eq!(read("refs/heads/side"), None);
}

#[test]
fn branches_are_listed_wherever_git_keeps_them() {
    let (world, repository, _) = parted();
    world.git(&world.repo, &["branch", "orchestrator/round-001"]);
    world.git(&world.repo, &["pack-refs", "--all"]);
    world.git(&world.repo, &["branch", "orchestrator/round-002/worker-a"]);
    let found = repository.branches_under("orchestrator/").unwrap();
    assert_eq!(found, ["orchestrator/round-001", "orchestrator/round-002/worker-a"]);
    assert_eq!(repository.branches_under("").unwrap().len(), 4);
    world.git(&world.repo, &["branch", "-D", "orchestrator/round-001"]);
    assert_eq!(repository.branches_under("orchestrator/").unwrap(), ["orchestrator/round-002/worker-a"]);
}

#[test]
fn commits_made_here_lead_back_and_are_whole_without_the_users_objects() {
    let (world, repository, [first, main, side]) = parted();
    let me = Identity::new("N", "e@x").unwrap();
    let mut made = main.clone();
    for (path, content) in [("one", "1"), ("two", "2")] {
        let files = [(path.to_owned(), content.as_bytes().to_vec())];
        let parts = Overlay { content: &made.tree, replaced: &[], removed: &[], files: &files };
        let request = CommitRequest {
            tree: &repository.overlay(&parts).unwrap(),
            parents: std::slice::from_ref(&made.id),
            message: path,
            author: &me,
            committer: &me,
            time: Moment { seconds: 1, offset_minutes: 0 },
        };
        made = repository.publish_new(&request, &made.tree).unwrap();
    }
    assert_eq!(repository.merge_base(&main.id, &made.id).unwrap(), Some(main.clone()));
    assert_eq!(repository.merge_base(&made.id, &main.id).unwrap(), Some(main.clone()));
    assert_eq!(repository.merge_base(&made.id, &side.id).unwrap(), Some(first));
    let beside = CommitRequest {
        tree: &main.tree,
        parents: std::slice::from_ref(&main.id),
        message: "beside",
        author: &me,
        committer: &me,
        time: Moment { seconds: 1, offset_minutes: 0 },
    };
    let beside = repository.publish_new(&beside, &main.tree).unwrap();
    repository.import(&made).unwrap();
    std::fs::remove_dir_all(world.repo.join(".git/objects")).unwrap();
    assert_eq!(repository.merge_base(&made.id, &beside.id).unwrap(), Some(main.clone()));
    assert_eq!(repository.merge_base(&beside.id, &made.id).unwrap(), Some(main));
    let whole = repository.files_at(&made.tree, |_| true).unwrap();
    let names: Vec<&str> = whole.iter().map(|(path, _)| path.as_str()).collect();
    assert!(names.contains(&"one") && names.contains(&"readme.txt"), "{names:?}");
}

#[test]
fn a_commit_that_comes_later_is_seen_then() {
    let (world, repository, [first, main, side]) = parted();
    let absent = CommitId::parse(&"cd".repeat(20)).unwrap();
    assert!(!repository.is_ancestor(&absent, &main.id).unwrap());
    world.commit_all("Later");
    let later = repository.resolve_commit("main").unwrap();
    for _ in 0..2 {
        assert!(repository.is_ancestor(&main.id, &later.id).unwrap());
        assert!(!repository.is_ancestor(&later.id, &main.id).unwrap());
        assert_eq!(repository.merge_base(&later.id, &side.id).unwrap(), Some(first.clone()));
        assert_eq!(repository.trailers("Windlass-Round", &later.id, &first.id).unwrap().len(), 1);
    }
}

#[test]
fn a_commit_holds_itself_and_what_came_before_it_and_nothing_beside_it() {
    let (_world, repository, [first, main, side]) = parted();
    assert!(repository.is_ancestor(&first.id, &side.id).unwrap());
    assert!(repository.is_ancestor(&side.id, &side.id).unwrap());
    assert!(!repository.is_ancestor(&main.id, &side.id).unwrap());
    assert!(!repository.is_ancestor(&side.id, &first.id).unwrap());
    let absent = CommitId::parse(&"ab".repeat(20)).unwrap();
    assert!(!repository.is_ancestor(&absent, &side.id).unwrap());
}

#[test]
fn trailers_are_found_newest_first_and_only_since_the_base() {
    let (world, repository, [first, main, _]) = parted();
    world.commit_all("Later\n\nWindlass-Round: round-003\n");
    let last = repository.resolve_commit("main").unwrap();
    let found = repository.trailers("Windlass-Round", &last.id, &first.id).unwrap();
    let expected = [(last.id.clone(), "round-003".to_owned()), (main.id.clone(), "round-001".to_owned())];
    assert_eq!(found, expected);
    assert_eq!(repository.trailers("Windlass-Round", &last.id, &main.id).unwrap().len(), 1);
    assert_eq!(repository.trailers("Windlass-Item", &last.id, &first.id).unwrap(), []);
}

#[test]
fn trailers_of_commits_made_here_are_read_here_and_what_is_not_plain_is_gits_to_judge() {
    let (world, repository, [_, main, _]) = parted();
    let me = Identity::new("N", "e@x").unwrap();
    let made = |message: &str, on: &Commit| {
        let request = CommitRequest {
            tree: &main.tree,
            parents: std::slice::from_ref(&on.id),
            message,
            author: &me,
            committer: &me,
            time: support::NOON,
        };
        repository.publish_new(&request, &main.tree).unwrap()
    };
    let round =
        "Complete round-004\n\nWindlass-Run: r-1\nWindlass-Round: round-004\nWindlass-Review: sha256:ab\n";
    let first = made(round, &main);
    let second = made("Words: and more\n\nwindlass-round:  round-005 \n", &first);
    let expected = [(second.id.clone(), "round-005".to_owned()), (first.id.clone(), "round-004".to_owned())];
    let theirs = world.git(
        &world.repo,
        &[
            "log",
            "--format=%(trailers:key=Windlass-Round,valueonly,separator=%x2C)",
            second.id.as_str(),
            &format!("^{}", main.id),
        ],
    );
    assert_eq!(theirs.split_whitespace().collect::<Vec<_>>(), ["round-005", "round-004"]);
    let mixed = made("Words\n\nnothing to see\nWindlass-Round: round-006\nstill nothing\nat all\n", &second);
    assert_eq!(repository.trailers("Windlass-Round", &mixed.id, &second.id).unwrap(), []);
    // From here on there is nothing that git could read.
    std::fs::remove_dir_all(world.repo.join(".git/objects")).unwrap();
    assert_eq!(repository.trailers("Windlass-Round", &second.id, &main.id).unwrap(), expected);
    assert_eq!(repository.trailers("Windlass-Item", &second.id, &main.id).unwrap(), []);
}

#[test]
fn paths_that_differ_are_told_by_folder() {
    let (_world, repository, [first, main, side]) = parted();
    let differing = |part| text(&repository.differing_paths(&main.tree, &side.tree, part).unwrap());
    assert_eq!(differing(Part::Everything), ["plane/state.json", "readme.txt", "src/side.rs"]);
    assert_eq!(differing(Part::Within("plane")), ["plane/state.json"]);
    assert_eq!(differing(Part::Outside("plane")), ["readme.txt", "src/side.rs"]);
    // A folder is no beginning of a name.
    assert_eq!(differing(Part::Within("pla")), [""; 0]);
    assert_eq!(repository.differing_paths(&first.tree, &first.tree, Part::Everything).unwrap(), []);
    let all = text(&repository.paths_of(&side.tree, Part::Within("plane")).unwrap());
    assert_eq!(all, ["plane/state.json"]);
}

#[test]
fn what_was_made_here_is_read_here_whatever_the_users_store_says() {
    let (world, repository, [first, main, _]) = parted();
    let me = Identity::new("M", "m@example.com").unwrap();
    let request = CommitRequest {
        tree: &main.tree,
        parents: std::slice::from_ref(&first.id),
        message: "made here",
        author: &me,
        committer: &me,
        time: support::NOON,
    };
    let made = repository.publish_new(&request, &first.tree).unwrap();
    // Under its name now lies another commit, as an agent with the right to write there can arrange.
    let place = |id: &CommitId| {
        let (directory, name) = id.as_str().split_at(2);
        world.repo.join(".git/objects").join(directory).join(name)
    };
    std::fs::remove_file(place(&made.id)).unwrap();
    std::fs::copy(place(&first.id), place(&made.id)).unwrap();
    let later = world.open();
    assert_eq!(later.commit_of(&made.id).unwrap().tree, main.tree);
}

/// Neither commit was imported, and a place is a name and no pattern.
#[test]
fn files_that_two_commits_do_not_have_alike_are_named_by_their_places() {
    let world = World::new();
    world.write("plane/state.json", "{}\n");
    world.write("plan*", "a name\n");
    world.commit_all("second");
    world.git(&world.repo, &["rm", "-q", "readme.txt"]);
    world.commit_all("third");
    let repository = world.open();
    let [first, last] = ["main~2", "main"].map(|name| repository.resolve_commit(name).unwrap().id);
    let differ = |places: &[&str]| text(&repository.differing_in_history(&first, &last, places).unwrap());
    assert_eq!(differ(&["plane", "readme.txt"]), ["plane/state.json", "readme.txt"]);
    assert_eq!(differ(&["plan*"]), ["plan*"]);
    assert_eq!(differ(&["src"]), Vec::<String>::new());
}
