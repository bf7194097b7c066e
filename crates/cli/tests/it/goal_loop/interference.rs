//! Somebody else at the same time: a second run, a person who stops it, moves branches, takes worktrees away or says the
//! same thing twice.

use super::stage::{Stage, Turn};
use windlass_test_support::{Background, Output, Signal};

/// A builder that waits for `go` in its first iteration.
fn waiting() -> Turn {
    Turn::passing(1).first("{ wait_for = 'go' }")
}

fn says(output: &Output, words: &[&str]) {
    for words in words {
        let told = output.stdout.contains(words) || output.stderr.contains(words);
        assert!(told, "{words} in {}\n{}", output.stdout, output.stderr);
    }
}

#[test]
fn a_second_run_is_refused_while_one_is_at_work() {
    let stage = Stage::of(1, "L2", &[waiting()]);
    let first = stage.start_until(1, &[]);
    let second = stage.run(&[]);
    assert!(!matches!(second.code, Some(0 | 11)), "{second:?}");
    says(&second, &[&stage.id()]);
    stage.go();
    let _ = first.wait().exits_with(0);
    assert_eq!(stage.world.windlass(&["ls", "--json"]).json().as_array().unwrap().len(), 1);
    assert_eq!(stage.steps(), ["builder 1 1", "evaluator 1 1"]);
    stage.assert_sound();
}

#[test]
fn of_two_that_begin_at_once_one_goes_on() {
    let stage = Stage::of(1, "L2", &[Turn::passing(1)]);
    let words = stage.run_words(&[]);
    let both = [stage.world.start_windlass(&words), stage.world.start_windlass(&words)];
    let mut codes = both.map(|running: Background| running.wait().code);
    codes.sort_unstable();
    assert_eq!(codes[0], Some(0), "{codes:?}");
    // The later one either finds the repository held, or everything done already.
    let commits = stage.subjects();
    assert_eq!(commits.iter().filter(|subject| subject.starts_with("feat(F001)")).count(), 1, "{commits:?}");
    stage.assert_sound();
}

/// Ended while the builder was at work, and finished later in the same iteration.
#[track_caller]
fn is_finished_later(stage: &Stage, running: Background) {
    let _ = running.wait().exits_with(13);
    stage.world.assert_no_processes();
    stage.go();
    let _ = stage.about("resume", &[]).exits_with(0);
    assert_eq!(stage.steps(), ["builder 1 1", "builder 1 2", "evaluator 1 1"]);
    let report = stage.report();
    assert_eq!((&report["outcome"], &report["iterations"]["used"]), (&"SUCCESS".into(), &1.into()));
    let subjects = stage.subjects();
    assert_eq!(subjects.iter().filter(|subject| subject.starts_with("feat")).count(), 1, "{subjects:?}");
    stage.assert_sound();
}

#[test]
fn stop_ends_the_builder_and_resume_finishes_its_iteration() {
    let stage = Stage::of(1, "L2", &[waiting()]);
    let running = stage.start_until(1, &[]);
    let _ = stage.about("stop", &["--reason", "lunch"]).exits_with(0);
    is_finished_later(&stage, running);
    says(&stage.about("log", &[]), &["lunch"]);
}

#[test]
fn ctrl_c_ends_the_builder_and_resume_finishes_its_iteration() {
    let stage = Stage::of(1, "L2", &[waiting()]);
    let running = stage.start_until(1, &[]);
    running.signal(Signal::INT);
    is_finished_later(&stage, running);
}

#[test]
fn a_base_branch_that_moved_meanwhile_changes_nothing() {
    let stage = Stage::of(2, "L2", &[waiting(), Turn::passing(2)]);
    let running = stage.start_until(1, &[]);
    let before = stage.repository.git(&["rev-parse", "main"]);
    stage.repository.write("of-the-user.txt", "mine\n").commit("meanwhile");
    stage.go();
    let _ = running.wait().exits_with(0);
    assert_eq!(stage.repository.git(&["merge-base", "main", &stage.branch()]), before);
    assert!(!stage.repository.git_succeeds(&[
        "cat-file",
        "-e",
        &format!("{}:of-the-user.txt", stage.branch())
    ]));
    assert_eq!(stage.repository.git(&["status", "--porcelain"]), "");
    stage.assert_sound();
}

/// At L1, with a change that waits for a yes.
fn proposed() -> Stage {
    let stage = Stage::of(1, "L1", &[Turn::passing(1)]);
    let _ = stage.run(&[]).exits_with(11);
    stage
}

/// The yes could not become a commit and is not lost: once the way is free, nobody builds or grades again.
#[track_caller]
fn commits_when_the_way_is_free(stage: &Stage, words: &[&str], free: impl FnOnce()) {
    let tree = stage.proposed();
    let refused = stage.about("approve", &["--tree", &tree]).exits_with(11);
    says(&refused, words);
    free();
    let _ = stage.about("resume", &[]).exits_with(0);
    assert_eq!(stage.file("part-1.txt"), "done");
    let subjects = stage.subjects();
    assert_eq!(subjects.iter().filter(|subject| subject.starts_with("feat")).count(), 1, "{subjects:?}");
    assert_eq!(stage.steps(), ["builder 1 1", "evaluator 1 1"], "nothing is done twice");
    stage.assert_sound();
}

#[test]
fn a_branch_that_was_deleted_is_not_made_again_behind_a_persons_back() {
    let stage = proposed();
    let branch = format!("refs/heads/{}", stage.branch());
    let at = stage.repository.git(&["rev-parse", &branch]);
    stage.repository.git(&["update-ref", "-d", &branch]);
    commits_when_the_way_is_free(&stage, &["was deleted", "brings it back"], || {
        stage.repository.git(&["update-ref", &branch, &at]);
    });
}

#[test]
fn a_branch_that_was_moved_is_not_written_over() {
    let stage = proposed();
    let branch = format!("refs/heads/{}", stage.branch());
    let at = stage.repository.git(&["rev-parse", &branch]);
    let other = stage.repository.write("of-the-user.txt", "mine\n").commit("elsewhere");
    stage.repository.git(&["update-ref", &branch, &other]);
    commits_when_the_way_is_free(&stage, &["was moved to", &other], || {
        assert_eq!(stage.repository.git(&["rev-parse", &branch]), other);
        stage.repository.git(&["update-ref", &branch, &at]);
    });
}

#[test]
fn a_checkout_that_is_in_the_way_is_not_overwritten_in_place() {
    let stage = Stage::of(1, "L1", &[Turn::passing(1)]);
    let _ = stage.run(&["--in-place"]).exits_with(11);
    let base = stage.repository.git(&["rev-parse", "main"]);
    stage.repository.write("part-1.txt", "of the user\n");
    let tree = stage.proposed();
    let refused = stage.about("approve", &["--tree", &tree]).exits_with(11);
    says(&refused, &["part-1.txt"]);
    assert_eq!(stage.repository.read("part-1.txt"), "of the user\n");
    let made = || stage.repository.git(&["log", "--reverse", "--format=%s", &format!("{base}..main")]);
    assert_eq!(made(), "chore(loop): run summary", "which is not in anybody's way");
    std::fs::remove_file(stage.repository.path().join("part-1.txt")).unwrap();
    let _ = stage.about("resume", &[]).exits_with(0);
    assert_eq!(stage.repository.read("part-1.txt"), "done");
    assert_eq!(made(), "chore(loop): run summary\nfeat(F001): Part 1\nchore(loop): run summary");
    assert_eq!(stage.repository.git(&["status", "--porcelain"]), "");
    stage.assert_sound();
}

#[test]
fn a_worktree_that_was_taken_away_does_not_void_what_was_verified() {
    let stage = proposed();
    let tree = stage.proposed();
    std::fs::remove_dir_all(stage.builder_worktree()).unwrap();
    let _ = stage.about("approve", &["--tree", &tree]).exits_with(0);
    assert_eq!(stage.file("part-1.txt"), "done");
    stage.assert_sound();
}

#[test]
fn a_worktree_that_was_taken_away_between_iterations_is_made_again_with_the_work_in_it() {
    let stage = Stage::of(
        1,
        "L1",
        &[
            Turn::failing(1, "part-1.txt"),
            Turn::passing(1).first("{ run = ['grep', 'part-1.txt', 'part-1.txt'] }"),
        ],
    );
    let _ = stage.run(&[]).exits_with(11);
    std::fs::remove_dir_all(stage.builder_worktree()).unwrap();
    let _ = stage.about("resume", &[]).exits_with(11);
    let tree = stage.proposed();
    let _ = stage.about("approve", &["--tree", &tree]).exits_with(0);
    assert_eq!(stage.steps().len(), 4);
    stage.assert_sound();
}

#[test]
fn a_second_yes_is_refused_and_commits_nothing() {
    let stage = proposed();
    let tree = stage.proposed();
    let _ = stage.about("approve", &["--tree", &tree]).exits_with(0);
    let before = stage.subjects();
    let again = stage.about("approve", &["--tree", &tree]).exits_with(14);
    says(&again, &["waits with no content that could be approved"]);
    assert_eq!(stage.subjects(), before);
}

#[test]
fn beside_a_run_that_waits_for_a_word_nothing_is_begun_and_no_command_is_named_that_is_refused() {
    let stage = proposed();
    let run = stage.id();
    let refused = stage.run(&[]).exits_with(14);
    says(&refused, &["F001 waits for approval", &format!("windlass explain {run}"), "--another"]);
    for command in ["stop", "resume"] {
        let _ = stage.about(command, &[]).exits_with(14);
        assert!(!refused.stderr.contains(&format!("windlass {command} {run}")), "{}", refused.stderr);
    }
    let _ = stage.run(&["--another"]).exits_with(11);
    assert_ne!(stage.id(), run);
    assert_eq!(stage.branch(), "goal/f001-2");
    stage.assert_sound();
}

#[test]
fn of_two_that_say_yes_at_once_one_is_heard() {
    let stage = proposed();
    let (run, tree) = (stage.id(), stage.proposed());
    let words = ["approve", &run, "--tree", &tree];
    let both = [stage.world.start_windlass(&words), stage.world.start_windlass(&words)];
    let codes = both.map(|running: Background| running.wait().code);
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    assert_eq!(stage.subjects(), ["feat(F001): Part 1", "chore(loop): run summary"]);
    stage.assert_sound();
}

#[test]
fn a_yes_to_another_tree_or_to_a_worktree_that_changed_is_refused_and_says_so() {
    let stage = proposed();
    let (tree, base) = (stage.proposed(), stage.repository.git(&["rev-parse", "main^{tree}"]));
    says(&stage.about("approve", &["--tree", &base]).exits_with(14), &[&tree, &base]);
    let file = stage.builder_worktree().join("part-1.txt");
    std::fs::write(&file, "afterwards").unwrap();
    says(&stage.about("approve", &["--tree", &tree]).exits_with(14), &["was verified"]);
    assert_eq!(stage.subjects(), Vec::<String>::new());
    std::fs::write(&file, "done").unwrap();
    let _ = stage.about("approve", &["--tree", &tree]).exits_with(0);
    assert_eq!(stage.file("part-1.txt"), "done");
}
