//! A judge or an auditor that changes what it looks at: its step is void, a person is asked, nothing lands.

use super::unfenced;
use crate::invariants::Watched;
use windlass_test_support::{Script, When};

const GIT: &str = "'git', '-c', 'user.name=x', '-c', 'user.email=x@x'";
/// The change's objects are not in the user's repository; a git that shall write them finds them after this.
const OWN_OBJECT: &str = "{ run = ['git', 'hash-object', '-w', 'done.txt'] }";

#[derive(Clone, Copy, Debug)]
enum Reader {
    Judge,
    Auditor,
}

#[track_caller]
fn is_void(reader: Reader, actions: &[&str], touched: &str) {
    let scene = unfenced();
    scene.repository.write("kept.txt", "kept\n").write("run.sh", "#!/bin/sh\n").commit("more files");
    let watched = Watched::begin(&scene.repository);
    let said = [actions, &["{ verdict = 'pass' }"]].concat();
    let gated = [actions, &["{ audit = 'pass' }"]].concat();
    let script = Script::that_passes();
    let (script, words, steps) = match reader {
        Reader::Judge => (script.judge(When::Round(1), &said), "needs-human needs-human not-run 1", 2),
        Reader::Auditor => (script.auditor(When::Round(1), &gated), "needs-human pass needs-human 1", 3),
    };
    let played = scene.play(&script, &[]).exits_with(11);
    assert_eq!(played.words(), words);
    assert_eq!(scene.world.steps().len(), steps, "a void step is not repeated: {:?}", scene.world.steps());
    let void = played.told("verdict-taken").into_iter().any(|text| text.contains("the step is void"));
    assert!(void, "{:?}", played.told("verdict-taken"));
    assert!(played.explained().contains(touched), "{touched} is not in {}", played.explained());
    played.assert_strict_layout();
    scene.assert_nothing_landed();
    // Without a fence it may have made these, which all worktrees share.
    let _ = watched.end(&scene.world, &scene.repository, &["refs/stash", "refs/heads/mine"]);
}

macro_rules! void {
    ($($name:ident: $actions:expr, $touched:literal;)+) => {
        $(mod $name {
            use super::*;

            #[test]
            fn by_the_judge_voids_its_step() {
                is_void(Reader::Judge, $actions, $touched);
            }

            #[test]
            fn by_the_auditor_voids_its_step() {
                is_void(Reader::Auditor, $actions, $touched);
            }
        })+
    };
}

void! {
    editing_a_tracked_file: &["{ append = 'kept.txt', text = 'more' }"], "kept.txt";
    editing_the_change_itself: &["{ write = 'done.txt', text = 'better' }"], "done.txt";
    deleting_a_tracked_file: &["{ delete = 'kept.txt' }"], "kept.txt";
    adding_a_file: &["{ write = 'extra.txt', text = 'x' }"], "extra.txt";
    making_a_file_executable: &["{ chmod = 'run.sh', mode = 0o755 }"], "run.sh";
    swapping_a_file_for_a_link: &["{ rename = 'kept.txt', to = '{script_dir}/moved' }",
        "{ symlink = 'kept.txt', target = '{script_dir}/moved' }"], "kept.txt";
    editing_the_handoff: &["{ append = '{workspace}/../../rounds/round-1/handoff.json', text = ' ' }"],
        "handoff.json";
    editing_the_patch: &["{ append = '{workspace}/../../rounds/round-1/patch.diff', text = ' ' }"],
        "patch.diff";
    deleting_the_patch: &["{ delete = '{workspace}/../../rounds/round-1/patch.diff' }"], "patch.diff";
    swapping_the_handoff_for_a_pipe: &["{ delete = '{workspace}/../../rounds/round-1/handoff.json' }",
        "{ run = ['mkfifo', '{workspace}/../../rounds/round-1/handoff.json'] }"], "handoff.json";
    swapping_the_patch_for_a_link_to_a_copy:
        &["{ rename = '{workspace}/../../rounds/round-1/patch.diff', to = '{script_dir}/copy' }",
          "{ symlink = '{workspace}/../../rounds/round-1/patch.diff', target = '{script_dir}/copy' }"],
        "patch.diff";
    committing: &[OWN_OBJECT, &format!("{{ run = [{GIT}, 'commit', '-qm', 'mine'] }}")], "HEAD";
    switching_to_a_branch: &["{ run = ['git', 'checkout', '-q', '-b', 'mine'] }"], "HEAD";
    resetting: &["{ run = ['git', 'reset', '-q', '--hard'] }"], "done.txt";
    stashing: &[OWN_OBJECT, &format!("{{ run = [{GIT}, 'stash', '-q'] }}")], "done.txt";
    deleting_everything: &["{ run = ['sh', '-c', 'rm -rf -- *'] }"], "kept.txt";
}

#[test]
fn editing_the_verdict_by_the_auditor_voids_its_step() {
    let path = "{workspace}/../../rounds/round-1/verdict.json";
    is_void(Reader::Auditor, &[&format!("{{ append = '{path}', text = ' ' }}")], "verdict.json");
}

#[test]
fn a_voided_file_is_kept_and_what_the_engine_wrote_stands_in_its_place() {
    let scene = unfenced();
    let path = "{workspace}/../../rounds/round-1/verdict.json";
    let forge = format!("{{ write = '{path}', text = 'mine' }}");
    let script = Script::that_passes().auditor(When::Round(1), &[&forge, "{ audit = 'pass' }"]);
    let played = scene.play(&script, &[]).exits_with(11);
    assert_eq!(played.artifact(1, "verdict.json")["verdict"], "pass");
    let notices = played.told("notice");
    assert!(
        notices.iter().any(|text| text.contains("verdict.json was not written by Windlass")),
        "{notices:?}"
    );
}

#[test]
fn build_output_that_the_repository_ignores_is_no_change() {
    let scene = unfenced();
    scene.repository.write(".gitignore", "build/\n").commit("ignore build output");
    let script = Script::that_passes()
        .judge(When::Round(1), &["{ write = 'build/out', text = 'x' }", "{ verdict = 'pass' }"]);
    let played = scene.play(&script, &[]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
}
