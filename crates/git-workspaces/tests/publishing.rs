//! Commits are reproducible, objects arrive intact in the user's repository, references move only as expected.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::fs;

use support::{NOON, World, chmod, take, write};
use windlass_git_workspaces::{
    Commit, CommitRequest, FastForward, GitError, Identity, NotFastForwarded, Overlay, ReferenceUpdate,
    Repository, TreeId,
};

fn commit(repository: &Repository, base: &Commit, tree: &TreeId, message: &str) -> Commit {
    let author = Identity::new("Å Author", "author@example.com").unwrap();
    let committer = Identity::new("windlass", "windlass@example.com").unwrap();
    let request = CommitRequest {
        tree,
        parents: std::slice::from_ref(&base.id),
        message,
        author: &author,
        committer: &committer,
        time: NOON,
    };
    Commit { id: repository.commit(&request).unwrap(), tree: tree.clone() }
}

/// A change by the doer, as a commit on the base.
fn landing(world: &World) -> (Repository, Commit, Commit) {
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("readme.txt"), "landed\n");
    write(&doer.join("new/file"), "new\n");
    fs::remove_file(doer.join("tool.sh")).unwrap();
    let snapshot = take(&repository, &doer, &base);
    let landed = commit(&repository, &base, &snapshot.tree, "Land it\n\nRun: 7");
    (repository, base, landed)
}

#[test]
fn the_same_commit_has_the_same_id_and_plain_git_reads_it() {
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    assert_eq!(commit(&repository, &base, &landed.tree, "Land it\n\nRun: 7"), landed);
    assert_ne!(commit(&repository, &base, &landed.tree, "Land it").id, landed.id);
    repository.publish(&landed, &base.tree).unwrap();
    let shown =
        world.git(&world.repo, &["show", "-s", "--format=%an <%ae> %ai|%cn|%P|%B", landed.id.as_str()]);
    let parent = base.id.as_str();
    assert_eq!(
        shown.trim_end(),
        format!(
            "Å Author <author@example.com> 2023-11-14 23:13:20 +0100|windlass|{parent}|Land it\n\nRun: 7"
        )
    );
    world.git(&world.repo, &["fsck", "--strict"]);
}

#[test]
fn published_objects_are_whole_readable_only_and_survive_without_the_control_directory() {
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    repository.publish(&landed, &base.tree).unwrap();
    repository.publish(&landed, &base.tree).unwrap();
    assert_eq!(
        repository.update_reference("refs/heads/landed", &landed.id, None).unwrap(),
        ReferenceUpdate::Updated
    );
    fs::remove_dir_all(world.path("control")).unwrap();
    world.git(&world.repo, &["fsck", "--strict", "--full"]);
    assert_eq!(world.git(&world.repo, &["show", "landed:readme.txt"]), "landed");
    let id = landed.id.as_str();
    let object = world.repo.join(".git/objects").join(&id[..2]).join(&id[2..]);
    assert!(fs::metadata(object).unwrap().permissions().readonly());
}

#[test]
fn a_change_of_many_files_arrives_as_whole_as_one_of_few() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    for number in 0..40 {
        write(&doer.join(format!("part-{number}/file")), format!("content {number}\n"));
    }
    let tree = take(&repository, &doer, &base).tree;
    let author = Identity::new("a", "a@example.com").unwrap();
    let request = CommitRequest {
        tree: &tree,
        parents: std::slice::from_ref(&base.id),
        message: "Land much",
        author: &author,
        committer: &author,
        time: NOON,
    };
    let landed = repository.publish_new(&request, &base.tree).unwrap();
    assert_eq!(landed.id, repository.commit(&request).unwrap());
    world.git(&world.repo, &["update-ref", "refs/heads/landed", landed.id.as_str()]);
    fs::remove_dir_all(world.path("control")).unwrap();
    world.git(&world.repo, &["fsck", "--strict", "--full"]);
    assert_eq!(world.git(&world.repo, &["show", "landed:part-39/file"]), "content 39");
}

#[test]
fn a_tree_that_the_engine_put_together_arrives_whole() {
    let world = World::new();
    for number in 0..5 {
        world.write(&format!("part-{number}/deep/file"), format!("content {number}\n"));
    }
    world.commit_all("parts");
    let (repository, base, _) = world.with_doer();
    let put = |content: &TreeId, path: &str| {
        let files = [(path.to_owned(), b"new\n".to_vec())];
        let parts = Overlay { content, replaced: &[], removed: &["part-2/"], files: &files };
        repository.overlay(&parts).unwrap()
    };
    let tree = put(&put(&base.tree, "part-1/deep/er/file"), ".loop/state.md");
    let author = Identity::new("a", "a@example.com").unwrap();
    let request = CommitRequest {
        tree: &tree,
        parents: std::slice::from_ref(&base.id),
        message: "Land it",
        author: &author,
        committer: &author,
        time: NOON,
    };
    let landed = repository.publish_new(&request, &base.tree).unwrap();
    world.git(&world.repo, &["update-ref", "refs/heads/landed", landed.id.as_str()]);
    fs::remove_dir_all(world.path("control")).unwrap();
    world.git(&world.repo, &["fsck", "--strict", "--full"]);
    assert_eq!(world.git(&world.repo, &["show", "landed:part-1/deep/er/file"]), "new");
    let changed = world.git(&world.repo, &["diff-tree", "-r", "--name-status", "main", "landed"]);
    assert_eq!(changed, "A\t.loop/state.md\nA\tpart-1/deep/er/file\nD\tpart-2/deep/file");
}

#[test]
fn leftovers_of_a_killed_publish_do_no_harm() {
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    repository.publish(&landed, &base.tree).unwrap();
    // As if the first attempt had written only some objects and left a temporary file.
    let id = landed.id.as_str();
    let directory = world.repo.join(".git/objects").join(&id[..2]);
    fs::remove_file(directory.join(&id[2..])).unwrap();
    write(&directory.join("tmp_obj_killed"), "half");
    repository.publish(&landed, &base.tree).unwrap();
    world.git(&world.repo, &["cat-file", "-e", id]);
}

#[test]
fn an_object_forged_in_the_users_store_is_noticed() {
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    // The agent foresees the content it will hand over and stores something else under its name.
    let foreseen = world.path("foreseen");
    write(&foreseen, "landed\n");
    let id = world.git(&world.repo, &["hash-object", "-w", foreseen.to_str().unwrap()]);
    write(&foreseen, "benign\n");
    let benign = world.git(&world.repo, &["hash-object", "-w", foreseen.to_str().unwrap()]);
    let object = |id: &str| world.repo.join(".git/objects").join(&id[..2]).join(&id[2..]);
    chmod(&object(&id), 0o644);
    fs::copy(object(&benign), object(&id)).unwrap();
    // What the judge gets is unaffected; what would land is refused.
    repository.materialise(&world.path("judge"), "judge", &landed.tree).unwrap();
    assert_eq!(fs::read_to_string(world.path("judge").join("readme.txt")).unwrap(), "landed\n");
    let error = repository.publish(&landed, &base.tree).unwrap_err();
    assert!(matches!(error, GitError::ForgedObject { .. }), "{error}");
}

#[test]
fn an_object_forged_in_a_pack_is_noticed_although_the_file_of_its_own_is_right() {
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    let foreseen = world.path("foreseen");
    write(&foreseen, "landed\n");
    let id = world.git(&world.repo, &["hash-object", "-w", foreseen.to_str().unwrap()]);
    write(&foreseen, "benign\n");
    let benign = world.git(&world.repo, &["hash-object", "-w", foreseen.to_str().unwrap()]);
    let object = |id: &str| world.repo.join(".git/objects").join(&id[..2]).join(&id[2..]);
    chmod(&object(&id), 0o644);
    fs::copy(object(&benign), object(&id)).unwrap();
    // Git looks into packs first, and what it packs it takes at its word.
    let listed = world.path("listed");
    write(&listed, format!("{id}\n"));
    let packing = format!("git pack-objects -q .git/objects/pack/pack < {}", listed.display());
    world.shell(&world.repo, &packing);
    fs::remove_file(object(&id)).unwrap();
    let error = repository.publish(&landed, &base.tree).unwrap_err();
    assert!(matches!(error, GitError::ForgedObject { .. }), "{error}");
}

#[test]
fn a_reference_moves_only_from_where_it_was_expected() {
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    repository.publish(&landed, &base.tree).unwrap();
    let name = "refs/heads/target";
    let update = |expected| repository.update_reference(name, &landed.id, expected).unwrap();
    assert_eq!(update(Some(&base.id)), ReferenceUpdate::Conflict { found: None });
    world.git(&world.repo, &["branch", "target", "main"]);
    assert_eq!(update(None), ReferenceUpdate::Conflict { found: Some(base.id.clone()) });
    assert_eq!(update(Some(&base.id)), ReferenceUpdate::Updated);
    assert_eq!(update(Some(&base.id)), ReferenceUpdate::Updated, "repeating a fulfilled wish is fine");
    assert_eq!(repository.read_reference(name).unwrap(), Some(landed.id.clone()));
    assert_eq!(world.git(&world.repo, &["rev-parse", "target"]), landed.id.as_str());
    let conflict = ReferenceUpdate::Conflict { found: Some(landed.id.clone()) };
    assert_eq!(repository.delete_branch_if("target", &base.id).unwrap(), conflict);
    world.git(&world.repo, &["pack-refs", "--all"]);
    assert_eq!(repository.delete_branch_if("target", &landed.id).unwrap(), ReferenceUpdate::Updated);
    assert_eq!(repository.delete_branch_if("target", &landed.id).unwrap(), ReferenceUpdate::Updated);
    assert!(world.try_git(&world.repo, &["rev-parse", "--verify", "target"]).is_err());
    world.git(&world.repo, &["rev-parse", "--verify", "main"]);
}

#[test]
fn the_users_checkout_is_moved_forward_and_clean_afterwards() {
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    repository.publish(&landed, &base.tree).unwrap();
    write(&world.repo.join("untracked"), "mine");
    for _ in 0..2 {
        assert_eq!(repository.fast_forward_current(&base, &landed).unwrap(), FastForward::Done);
        assert_eq!(world.git(&world.repo, &["rev-parse", "main"]), landed.id.as_str());
        assert_eq!(world.git(&world.repo, &["status", "--porcelain"]), "?? untracked");
        assert_eq!(fs::read_to_string(world.repo.join("readme.txt")).unwrap(), "landed\n");
        assert!(!world.repo.join("tool.sh").exists());
    }
    world.git(&world.repo, &["fsck", "--strict"]);
}

#[test]
fn the_users_own_changes_and_files_are_never_overwritten() {
    let refused_when = |prepare: &dyn Fn(&World), expected: &str| {
        let world = World::new();
        let (repository, base, landed) = landing(&world);
        repository.publish(&landed, &base.tree).unwrap();
        prepare(&world);
        let before = support::contents(&world.repo);
        let status = world.git(&world.repo, &["status", "--porcelain"]);
        match repository.fast_forward_current(&base, &landed).unwrap() {
            FastForward::Refused(NotFastForwarded::InTheWay { detail }) => {
                assert!(detail.contains(expected), "{detail}");
            }
            other => panic!("{expected}: {other:?}"),
        }
        assert_eq!(support::contents(&world.repo), before);
        assert_eq!(world.git(&world.repo, &["status", "--porcelain"]), status);
        assert_eq!(world.git(&world.repo, &["rev-parse", "main"]), base.id.as_str());
    };
    refused_when(&|world| world.write("readme.txt", "my own edit\n"), "readme.txt");
    refused_when(&|world| world.write("new/file", "my own file\n"), "new/file");
    refused_when(&|world| world.write("new", "my own file\n"), "new");
    // Git itself writes over what it ignores.
    let ignored = |path: &'static str| {
        move |world: &World| {
            world.write(".gitignore", "new\n");
            world.write(path, "the only copy\n");
        }
    };
    refused_when(&ignored("new/file"), "git ignores new/file");
    refused_when(&ignored("new"), "git ignores new");
    refused_when(&ignored("new/file/deep/er"), "git ignores new/file/deep/er");
    refused_when(&|world| world.write("tool.sh", "edited\n"), "tool.sh");
    refused_when(
        &|world| {
            world.write("src/main.rs", "staged\n");
            world.git(&world.repo, &["add", "-A"]);
        },
        "src/main.rs",
    );
}

#[test]
fn a_moved_or_detached_head_is_left_alone() {
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    repository.publish(&landed, &base.tree).unwrap();
    world.git(&world.repo, &["commit", "-q", "--allow-empty", "-m", "meanwhile"]);
    let refused = repository.fast_forward_current(&base, &landed).unwrap();
    assert!(matches!(refused, FastForward::Refused(NotFastForwarded::HeadMoved { .. })), "{refused:?}");
    world.git(&world.repo, &["checkout", "-q", "--detach", base.id.as_str()]);
    let refused = repository.fast_forward_current(&base, &landed).unwrap();
    assert_eq!(refused, FastForward::Refused(NotFastForwarded::HeadIsDetached));
}

#[test]
fn a_fast_forward_killed_half_way_is_completed_by_the_next() {
    // Files written, branch and index not yet.
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    repository.publish(&landed, &base.tree).unwrap();
    world.write("readme.txt", "landed\n");
    world.write("new/file", "new\n");
    assert_eq!(repository.fast_forward_current(&base, &landed).unwrap(), FastForward::Done);
    assert_eq!(world.git(&world.repo, &["diff-files", "--name-only"]), "", "the next one must get through");
    assert_eq!(world.git(&world.repo, &["status", "--porcelain"]), "");
    // Files and branch, and the lock was left.
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    repository.publish(&landed, &base.tree).unwrap();
    let index = fs::read(world.repo.join(".git/index")).unwrap();
    assert_eq!(repository.fast_forward_current(&base, &landed).unwrap(), FastForward::Done);
    write(&world.repo.join(".git/index"), index);
    write(&world.repo.join(".git/windlass-index"), "half");
    fs::hard_link(world.repo.join(".git/windlass-index"), world.repo.join(".git/index.lock")).unwrap();
    assert_eq!(repository.fast_forward_current(&base, &landed).unwrap(), FastForward::Done);
    assert_eq!(world.git(&world.repo, &["status", "--porcelain"]), "");
}

#[test]
fn a_file_that_is_to_be_kept_stays_as_it_lies_while_branch_and_index_move_past_it() {
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    repository.publish(&landed, &base.tree).unwrap();
    world.write("readme.txt", "live\n");
    for _ in 0..2 {
        let moved = repository.fast_forward_keeping(&base, &landed, &["readme.txt"]).unwrap();
        assert_eq!(moved, FastForward::Done);
        assert_eq!(fs::read_to_string(world.repo.join("readme.txt")).unwrap(), "live\n");
        assert_eq!(world.git(&world.repo, &["show", ":readme.txt"]), "landed");
        assert_eq!(world.git(&world.repo, &["status", "--porcelain"]), " M readme.txt");
        assert_eq!(fs::read_to_string(world.repo.join("new/file")).unwrap(), "new\n");
    }
    // Another file that somebody changed is in the way as ever.
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    repository.publish(&landed, &base.tree).unwrap();
    world.write("readme.txt", "live\n");
    world.write("tool.sh", "edited\n");
    let refused = repository.fast_forward_keeping(&base, &landed, &["readme.txt"]).unwrap();
    assert!(matches!(refused, FastForward::Refused(NotFastForwarded::InTheWay { .. })), "{refused:?}");
    assert_eq!(
        world.git(&world.repo, &["show", ":readme.txt"]),
        world.git(&world.repo, &["show", "main:readme.txt"])
    );
}

#[test]
fn a_file_that_was_only_touched_is_not_in_the_way() {
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    repository.publish(&landed, &base.tree).unwrap();
    let touched = fs::File::options().append(true).open(world.repo.join("readme.txt")).unwrap();
    touched.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(repository.fast_forward_current(&base, &landed).unwrap(), FastForward::Done);
    assert_eq!(world.git(&world.repo, &["diff-files", "--name-only"]), "", "the index knows its files");
}

#[test]
fn somebody_elses_index_lock_is_respected_before_anything_is_touched() {
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    repository.publish(&landed, &base.tree).unwrap();
    let before = support::contents(&world.repo);
    write(&world.repo.join(".git/index.lock"), "");
    let refused = repository.fast_forward_current(&base, &landed).unwrap();
    assert_eq!(refused, FastForward::Refused(NotFastForwarded::IndexBusy));
    assert_eq!(world.git(&world.repo, &["rev-parse", "main"]), base.id.as_str());
    assert_eq!(support::contents(&world.repo), before);
    assert!(world.repo.join(".git/index.lock").is_file(), "it is not ours to take away");
    fs::remove_file(world.repo.join(".git/index.lock")).unwrap();
    assert_eq!(repository.fast_forward_current(&base, &landed).unwrap(), FastForward::Done);
    assert_eq!(world.git(&world.repo, &["status", "--porcelain"]), "");
    for leftover in ["index.lock", "windlass-index"] {
        assert!(!world.repo.join(".git").join(leftover).exists(), "{leftover}");
    }
}

#[test]
fn what_has_landed_is_never_called_refused() {
    // The branch holds the commit already, and whatever happened since is the user's business.
    let happened: [&dyn Fn(&World); 4] = [
        &|world| write(&world.repo.join(".git/index.lock"), ""),
        &|world| world.write("readme.txt", "my own edit\n"),
        &|world| fs::remove_file(world.repo.join(".git/index")).unwrap(),
        &|world| {
            world.git(&world.repo, &["commit", "-q", "--allow-empty", "-m", "one"]);
            world.git(&world.repo, &["commit", "-q", "--allow-empty", "-m", "two"]);
        },
    ];
    for happens in happened {
        let world = World::new();
        let (repository, base, landed) = landing(&world);
        repository.publish(&landed, &base.tree).unwrap();
        assert_eq!(repository.fast_forward_current(&base, &landed).unwrap(), FastForward::Done);
        happens(&world);
        let before = support::contents(&world.repo);
        assert_eq!(repository.fast_forward_current(&base, &landed).unwrap(), FastForward::Done);
        assert_eq!(support::contents(&world.repo), before);
    }
}

#[test]
fn files_go_back_when_the_branch_cannot_be_moved() {
    let world = World::new();
    let (repository, base, landed) = landing(&world);
    repository.publish(&landed, &base.tree).unwrap();
    let before = support::contents(&world.repo);
    write(&world.repo.join(".git/refs/heads/main.lock"), "");
    let error = repository.fast_forward_current(&base, &landed).unwrap_err();
    assert!(matches!(error, GitError::ReferenceLocked { .. }), "{error}");
    assert_eq!(support::contents(&world.repo), before);
    assert_eq!(world.git(&world.repo, &["status", "--porcelain"]), "");
    fs::remove_file(world.repo.join(".git/refs/heads/main.lock")).unwrap();
    assert_eq!(repository.fast_forward_current(&base, &landed).unwrap(), FastForward::Done);
    assert_eq!(world.git(&world.repo, &["status", "--porcelain"]), "");
}

#[test]
fn a_name_is_taken_whether_its_reference_is_loose_packed_or_below_it() {
    let world = World::new();
    let repository = world.open();
    let taken = |name: &str| repository.is_taken(name).unwrap();
    world.git(&world.repo, &["branch", "windlass/one/two"]);
    for pack in [false, true] {
        if pack {
            world.git(&world.repo, &["pack-refs", "--all"]);
        }
        assert!(taken("refs/heads/main") && taken("refs/heads/windlass/one/two"));
        assert!(taken("refs/heads/windlass/one"), "nothing can stand where others stand below");
        assert!(
            !taken("refs/heads/mai")
                && !taken("refs/heads/windlass/on")
                && !taken("refs/heads/windlass/one2")
        );
    }
    assert!(repository.is_taken("refs/heads/../../x").is_err());
}

#[test]
fn a_reference_without_room_beside_another_says_which_one_is_in_its_way() {
    let world = World::new();
    let (repository, base) = world.ready();
    world.git(&world.repo, &["branch", "windlass"]);
    world.git(&world.repo, &["branch", "deep/er/one"]);
    let refused = |name: &str| repository.update_reference(name, &base.id, None).unwrap_err();
    for pack in [false, true] {
        if pack {
            world.git(&world.repo, &["pack-refs", "--all"]);
        }
        for (name, other) in [
            ("refs/heads/windlass/one", "refs/heads/windlass"),
            ("refs/heads/deep", "refs/heads/deep/er/one"),
        ] {
            assert_eq!(repository.in_the_way_of(name).unwrap().as_deref(), Some(other));
            match refused(name) {
                GitError::ReferenceBlocked { by, .. } => assert_eq!(by, other),
                error => panic!("{error}"),
            }
        }
        assert_eq!(repository.in_the_way_of("refs/heads/windlass-one").unwrap(), None);
    }
    // Git takes away directories in which no reference is left.
    fs::create_dir_all(world.repo.join(".git/refs/heads/hollow/inner")).unwrap();
    assert_eq!(repository.in_the_way_of("refs/heads/hollow").unwrap(), None);
    let made = repository.update_reference("refs/heads/hollow", &base.id, None).unwrap();
    assert_eq!(made, ReferenceUpdate::Updated);
}

#[test]
fn a_locked_reference_is_told_from_every_other_failure() {
    let world = World::new();
    let (repository, base) = world.ready();
    write(&world.repo.join(".git/refs/heads/target.lock"), "");
    let error = repository.update_reference("refs/heads/target", &base.id, None).unwrap_err();
    assert!(matches!(error, GitError::ReferenceLocked { .. }), "{error}");
    assert!(error.to_string().contains("target.lock"), "{error}");
}
