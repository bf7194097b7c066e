//! A doer that uses git to hide, move or destroy what it did: it is judged by what lies in its worktree.

use super::{both_ways, judged_as_if_it_had_not, passing_doer_also, unfenced};
use crate::invariants::Watched;
use crate::scene::Scene;

const COMMIT: &str =
    "{ run = ['git', '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qam', 'mine'] }";
const AMEND: &str = "{ run = ['git', '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-q', '--amend', \
                     '-m', 'mine'] }";
const ADD: &str = "{ run = ['git', 'add', '-A'] }";

#[track_caller]
fn makes_no_difference(actions: &[&str]) {
    for scene in both_ways() {
        let watched = Watched::begin(&scene.repository);
        let played = scene.play(&passing_doer_also(actions), &["--check", "test -f done.txt"]);
        judged_as_if_it_had_not(&scene, played);
        let _ = watched.end(&scene.world, &scene.repository, &[]);
    }
}

#[test]
fn staging_makes_no_difference() {
    makes_no_difference(&[ADD]);
}

#[test]
fn committing_makes_no_difference() {
    makes_no_difference(&[ADD, COMMIT]);
}

#[test]
fn amending_the_base_makes_no_difference() {
    makes_no_difference(&[ADD, AMEND]);
}

#[test]
fn switching_to_another_branch_makes_no_difference() {
    makes_no_difference(&["{ run = ['git', 'checkout', '-q', '-b', 'windlass/elsewhere'] }", ADD]);
}

#[test]
fn an_orphan_branch_makes_no_difference() {
    makes_no_difference(&["{ run = ['git', 'checkout', '-q', '--orphan', 'windlass/orphan'] }", ADD, COMMIT]);
}

#[test]
fn resetting_the_index_makes_no_difference() {
    makes_no_difference(&[ADD, COMMIT, "{ run = ['git', 'reset', '-q', 'HEAD~1'] }"]);
}

#[test]
fn resetting_hard_is_judged_by_what_is_left() {
    makes_no_difference(&[
        "{ write = 'other.txt', text = 'x' }",
        ADD,
        "{ run = ['git', 'reset', '-q', '--hard'] }",
        "{ write = 'done.txt', text = 'done' }",
    ]);
}

#[test]
fn hiding_files_in_the_index_makes_no_difference() {
    makes_no_difference(&[
        ADD,
        "{ run = ['git', 'update-index', '--assume-unchanged', 'done.txt'] }",
        "{ run = ['git', 'update-index', '--skip-worktree', 'README.md'] }",
    ]);
}

#[test]
fn deleting_dot_git_makes_no_difference() {
    makes_no_difference(&["{ delete = '.git' }"]);
}

#[test]
fn replacing_dot_git_by_a_repository_of_its_own_makes_no_difference() {
    makes_no_difference(&["{ delete = '.git' }", "{ run = ['git', 'init', '-q', '.'] }", ADD, COMMIT]);
}

#[test]
fn pointing_dot_git_elsewhere_makes_no_difference() {
    makes_no_difference(&[
        "{ run = ['git', 'init', '-q', '--bare', '{script_dir}/mine'] }",
        "{ write = '.git', text = 'gitdir: /nowhere' }",
    ]);
}

#[test]
fn breaking_its_private_git_directory_makes_no_difference() {
    makes_no_difference(&["{ run = ['sh', '-c', 'rm -rf \"$(git rev-parse --git-dir)\" || true'] }"]);
}

#[test]
fn locking_its_index_makes_no_difference() {
    makes_no_difference(&["{ run = ['sh', '-c', 'touch \"$(git rev-parse --git-dir)/index.lock\"'] }"]);
}

#[test]
fn excluding_everything_makes_no_difference() {
    let scene = unfenced();
    let exclude =
        "{ run = ['sh', '-c', 'echo \"*\" >> \"$(git rev-parse --git-common-dir)/info/exclude\"'] }";
    let played = scene.play(&passing_doer_also(&[exclude]), &[]);
    judged_as_if_it_had_not(&scene, played);
}

#[test]
fn attributes_outside_the_tree_make_no_difference() {
    let scene = unfenced();
    let attributes = "{ run = ['sh', '-c', 'd=\"$(git rev-parse --git-common-dir)/info\"; mkdir -p \"$d\"; \
                      echo \"* text eol=crlf ident working-tree-encoding=UTF-16\" > \"$d/attributes\"'] }";
    let played = scene.play(&passing_doer_also(&[attributes]), &[]);
    judged_as_if_it_had_not(&scene, played);
}

#[test]
fn deleting_the_worktree_asks_a_person_and_loses_nothing_else() {
    let scene = unfenced();
    let before = scene.repository.record();
    let script = passing_doer_also(&["{ delete = '{workspace}' }"]);
    let played = scene.play(&script, &[]).exits_with(11);
    assert_eq!(played.words(), "needs-human not-run not-run 0");
    assert_eq!(scene.world.steps(), ["doer 1 1"]);
    scene.assert_nothing_landed();
    before.assert_holds(&scene.repository);
}

#[test]
fn moving_the_base_branch_forward_does_not_move_the_base() {
    let scene = unfenced();
    let base = scene.repository.git(&["rev-parse", "HEAD"]);
    let script =
        passing_doer_also(&[ADD, COMMIT, "{ run = ['git', 'update-ref', 'refs/heads/main', 'HEAD'] }"]);
    let played = scene.play(&script, &["--base", "main"]);
    judged_as_if_it_had_not(&scene, played);
    assert_eq!(scene.repository.git(&["rev-parse", "windlass/TASK-1~1"]), base);
}

/// What a doer does with the shell, unfenced: inside the sandbox it cannot reach the user's git directory at all.
fn plays(lines: &str) -> Scene {
    let scene = unfenced();
    let file = scene.world.shared("trick.sh");
    std::fs::write(&file, lines).unwrap();
    let script = passing_doer_also(&[&format!("{{ run = ['sh', '{}'] }}", file.display())]);
    let played = scene.play(&script, &["--check", "! grep -q forged README.md"]);
    judged_as_if_it_had_not(&scene, played);
    scene
}

#[test]
fn replacing_objects_makes_no_difference() {
    let scene = plays(
        "git replace $(git rev-parse HEAD:README.md) $(echo forged | git hash-object -w --stdin)\n\
         git replace $(git rev-parse HEAD) $(git -c user.name=x -c user.email=x@x commit-tree -m forged 'HEAD^{tree}')\n",
    );
    assert_ne!(scene.repository.git(&["replace", "--list"]), "", "nothing was replaced");
    let read = |name: &str| scene.repository.git(&["--no-replace-objects", "cat-file", "-p", name]);
    assert_eq!(read("windlass/TASK-1:README.md"), "# A repository");
    assert!(
        read("windlass/TASK-1").contains(&format!("parent {}", scene.repository.git(&["rev-parse", "HEAD"])))
    );
}

#[test]
fn a_grafted_history_makes_no_difference() {
    let scene = plays("git rev-parse HEAD > $(git rev-parse --git-common-dir)/info/grafts\n");
    let commit = scene.repository.git(&["cat-file", "-p", "windlass/TASK-1"]);
    assert!(commit.contains(&format!("parent {}", scene.repository.git(&["rev-parse", "HEAD"]))), "{commit}");
}

#[test]
fn objects_in_a_borrowed_store_are_not_relied_on() {
    let scene = plays(
        "common=$(git rev-parse --git-common-dir); mkdir -p $common/../../borrowed\n\
         borrowed=$(cd $common/../../borrowed && pwd)\n\
         GIT_OBJECT_DIRECTORY=$borrowed GIT_ALTERNATE_OBJECT_DIRECTORIES=$common/objects git hash-object -w done.txt\n\
         echo $borrowed > $common/objects/info/alternates\n",
    );
    let alternates = scene.repository.path().join(".git/objects/info/alternates");
    let borrowed = std::fs::read_to_string(&alternates).unwrap();
    assert!(std::fs::read_dir(borrowed.trim_end()).unwrap().next().is_some(), "nothing was borrowed");
    std::fs::remove_file(alternates).unwrap();
    let _ = scene.repository.git(&["rev-list", "--objects", "windlass/TASK-1"]);
    assert_eq!(scene.landed_file("done.txt"), "done");
}

#[test]
fn rebasing_makes_no_difference() {
    let rebase = "{ run = ['git', '-c', 'user.name=x', '-c', 'user.email=x@x', 'rebase', '-q', '--root'] }";
    makes_no_difference(&[ADD, COMMIT, rebase]);
}
