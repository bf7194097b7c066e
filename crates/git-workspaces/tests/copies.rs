//! Copies of a repository that borrow its objects, and what comes back from them.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use support::{World, locate_git};
use windlass_git_workspaces::{Checkout, Commit, CommitRequest, Identity, Repository};

#[test]
fn a_copy_has_the_history_and_what_is_made_in_it_comes_back() {
    let world = World::new();
    world.write("second.txt", "2\n");
    world.commit_all("second");
    let users = world.open();
    let base = users.resolve_commit("main").unwrap();
    users.import(&base).unwrap();
    let place = world.path("copy");

    users.copy_to(&place, &base).unwrap();
    users.copy_to(&place, &base).unwrap();

    assert_eq!(world.git(&place, &["log", "--format=%s", "main"]), "second\nfirst");
    let checkout = Checkout::discover(&place).unwrap();
    let copy = Repository::open(locate_git(), checkout, &world.path("control-of-copy")).unwrap();
    let begun = copy.resolve_commit("HEAD").unwrap();
    assert_eq!(begun, base);
    copy.import(&begun).unwrap();
    let work = world.path("work");
    std::fs::create_dir(&work).unwrap();
    let _ = copy.materialise(&work, "doer", &base.tree).unwrap();
    std::fs::write(work.join("made.txt"), "made elsewhere\n").unwrap();
    let made = support::take(&copy, &work, &base).tree;
    let author = Identity::new("A", "a@example.com").unwrap();
    let request = CommitRequest {
        tree: &made,
        parents: std::slice::from_ref(&base.id),
        message: "made",
        author: &author,
        committer: &author,
        time: support::NOON,
    };
    let commit = Commit { id: copy.commit(&request).unwrap(), tree: made.clone() };

    users.take_from(&copy, &commit).unwrap();
    users.take_from(&copy, &commit).unwrap();
    std::fs::remove_dir_all(&place).unwrap();

    assert_eq!(users.file_at(&made, "made.txt").unwrap().unwrap(), b"made elsewhere\n");
    users.publish(&commit, &base.tree).unwrap();
    assert_eq!(world.git(&world.repo, &["show", &format!("{}:made.txt", commit.id)]), "made elsewhere");
}
