//! Who drives a run now, and what an agent that failed or left nonsense said: told where somebody looks for it.

use crate::played_run::{PlayedRun, waiting_doer};
use windlass_test_support::{Script, When, wait_until};

#[test]
fn a_driven_run_names_its_driver_and_an_interrupted_one_how_to_go_on() {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    for command in ["explain", "show"] {
        let said = played.about(command, &[]).exits_with(0).stdout;
        let who = format!("process {} (windlass run TASK-1) drives it since 20", running.pid());
        assert!(said.contains(&who), "{said}");
        assert!(!said.contains("windlass resume"), "{said}");
    }
    let view = played.about("explain", &["--json"]).exits_with(0).json();
    assert_eq!(view["driver"]["pid"], running.pid());
    let _ = running.kill();
    let said = played.about("explain", &[]).exits_with(0).stdout;
    assert!(said.contains("it was interrupted: nobody drives it now"), "{said}");
    assert!(said.contains(&format!("windlass resume {}", played.id())), "{said}");
}

#[test]
fn following_an_interrupted_run_ends_and_says_why() {
    let played = PlayedRun::interrupted();
    let followed = played.about("log", &["-f"]).exits_with(0);
    assert!(followed.stdout.contains("the doer works"), "{}", followed.stdout);
    let said = format!("nobody drives it now; `windlass resume {}` goes on", played.id());
    assert!(followed.stderr.contains(&said), "{}", followed.stderr);
    let lines = played.about("log", &["-f", "--json"]).exits_with(0).json_lines();
    assert_eq!(lines.last().unwrap()["status"], "interrupted");
}

#[test]
fn following_ends_when_whoever_drives_the_run_is_killed() {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    let follower = played.world.start_windlass(&["log", "-f", &played.id()]);
    wait_until("the story so far", || follower.stdout().contains("the doer works").then_some(()));
    let _ = running.kill();
    let output = follower.wait().exits_with(0);
    assert!(output.stderr.contains("nobody drives it now"), "{}", output.stderr);
}

#[test]
fn the_last_errors_of_a_failed_doer_are_explained_shown_and_told_to_the_next_one() {
    let script = Script::new()
        .doer(When::Round(1), &["{ complain = 'the key has expired' }", "{ exit = 3 }"])
        .doer(When::Always, &["{ write = 'done.txt', text = 'done' }", "{ handoff = 'did it' }"])
        .judge(When::Always, &["{ verdict = 'reject' }"]);
    let played = PlayedRun::of(&script);
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    for command in ["explain", "show"] {
        let said = played.about(command, &[]).exits_with(0).stdout;
        assert!(said.contains("exited with 3") && said.contains("the key has expired"), "{said}");
    }
    let _ = played.about("resume", &["--rounds", "+1"]).exits_with(10);
    let prompt = played.prompt(2, "doer");
    let (before, _) = prompt.split_once("the key has expired").expect("the next doer is told");
    let block = before.rfind("```data: feedback of round 1").expect("in a block of data");
    assert!(!before[block + 3..].contains("```"), "the block is still open: {before}");
    // What was said about round 1 is not why round 2 ended.
    let said = played.about("explain", &[]).exits_with(0).stdout;
    assert!(!said.contains("the key has expired"), "{said}");
}

#[test]
fn a_judge_that_keeps_failing_is_quoted() {
    let script = Script::new()
        .doer(When::Always, &["{ write = 'done.txt', text = 'done' }", "{ handoff = 'did it' }"])
        .judge(When::Always, &["{ complain = 'no model answers here' }", "{ exit = 4 }"]);
    let played = PlayedRun::of(&script);
    let output = played.run(&[]).exits_with(11);
    assert!(output.stdout.contains("no model answers here"), "{}", output.stdout);
    let said = played.about("explain", &[]).exits_with(0).stdout;
    assert!(said.contains("the judge keeps failing") && said.contains("no model answers here"), "{said}");
}

#[test]
fn whoever_is_asked_to_mend_an_answer_is_shown_it() {
    let script = Script::that_passes().judge(
        When::Attempt { round: 1, attempt: 1 },
        &["{ artifact = 'verdict.json', text = 'PASS, looks good ``` to me' }"],
    );
    let played = PlayedRun::of(&script);
    let _ = played.run(&[]).exits_with(0);
    let prompt = played.prompt(1, "judge");
    assert!(
        prompt.contains("````data: verdict.json as you left it\nPASS, looks good ``` to me\n````"),
        "{prompt}"
    );
}

#[test]
fn a_landing_refused_on_the_current_branch_is_suggested_there_again() {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.write("README.md", "changed by hand\n");
    played.repository.write("done.txt", "in the way\n");
    let output = played.run(&["--land", "current"]).exits_with(11);
    let command = format!("windlass land {} --current", played.id());
    assert!(output.stdout.contains(&command), "{}", output.stdout);
    std::fs::remove_file(played.repository.path().join("done.txt")).unwrap();
    played.repository.git(&["checkout", "--quiet", "--", "README.md"]);
    let _ = played.about("land", &["--current"]).exits_with(0);
    assert_eq!(played.repository.read("done.txt"), "done");
}

#[test]
fn a_reason_to_stop_is_shown_once() {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    let _ = played.about("stop", &["--reason", "lunch is ready"]).exits_with(0);
    let _ = running.wait().exits_with(13);
    let said = played.about("explain", &[]).exits_with(0).stdout;
    assert_eq!(said.matches("lunch is ready").count(), 1, "{said}");
}
