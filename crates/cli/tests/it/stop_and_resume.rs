//! The ways back into a run: more room, a word to the doer, a run that was cut off, and every no with its reason.

mod caps;
mod naming;

use crate::played_run::{PlayedRun, waiting_doer};
use windlass_test_support::{Script, When};

#[test]
fn a_rejected_run_goes_on_with_one_round_more() {
    let played = PlayedRun::judged(&["reject", "pass"]);
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    let ended = played.about("resume", &["--rounds", "+1", "--json"]).exits_with(0);
    let outcome = ended.json_lines().pop().unwrap();
    assert_eq!((&outcome["status"], &outcome["rounds_completed"]), (&"accepted".into(), &2.into()));
    let steps = ["doer 1 1", "judge 1 1", "doer 2 1", "judge 2 1", "auditor 2 1"];
    assert_eq!(played.world.steps(), steps);
    assert_eq!(played.repository.git(&["show", "windlass/TASK-1:done.txt"]), "moremore");
}

#[test]
fn a_bare_number_of_rounds_is_the_number_in_all() {
    let played = PlayedRun::judged(&["reject", "reject", "pass"]);
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    let _ = played.about("resume", &["--rounds", "2"]).exits_with(10);
    assert_eq!(played.line()["rounds"], 2);
    let refused = played.about("resume", &["--rounds", "2"]).exits_with(14);
    assert!(refused.stderr.contains("all its rounds are used up; give it more"), "{}", refused.stderr);
    let _ = played.about("resume", &["--rounds", "3"]).exits_with(0);
}

#[test]
fn a_note_reaches_the_next_doer_and_no_later_one() {
    let played = PlayedRun::judged(&["reject", "reject", "pass"]);
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    let note = "mind the gap, and \"quotes\"";
    let _ = played.about("resume", &["--rounds", "+2", "--note", note]).exits_with(0);
    assert!(!played.prompt(1, "doer").contains(note));
    assert!(played.prompt(2, "doer").contains(note), "{}", played.prompt(2, "doer"));
    assert!(!played.prompt(3, "doer").contains(note), "{}", played.prompt(3, "doer"));
    for round in 1..=3 {
        assert!(!played.prompt(round, "judge").contains(note), "a note is no word to the judge");
    }
}

#[test]
fn a_run_that_asked_for_a_person_goes_on_with_that_persons_word() {
    let played = PlayedRun::judged(&["needs-human", "pass"]);
    let _ = played.run(&[]).exits_with(11);
    let _ = played.about("resume", &["--note", "yes, do it"]).exits_with(0);
    assert!(played.prompt(2, "doer").contains("yes, do it"));
}

#[test]
fn a_stopped_run_goes_on_where_it_was_stopped() {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    let _ = played.about("stop", &["--reason", "lunch"]).exits_with(0);
    let stopped = running.wait().exits_with(13);
    assert!(stopped.stdout.contains("lunch"), "{}", stopped.stdout);
    assert_eq!(played.line()["status"], "stopped");
    played.go();
    let _ = played.about("resume", &[]).exits_with(0);
    assert_eq!(played.world.steps(), ["doer 1 1", "doer 1 2", "judge 1 1", "auditor 1 1"]);
    played.world.assert_no_processes();
}

#[test]
fn an_interrupted_run_goes_on_with_the_agent_that_is_still_at_work() {
    let played = PlayedRun::interrupted();
    played.go();
    let _ = played.about("resume", &[]).exits_with(0);
    assert_eq!(played.world.steps(), ["doer 1 1", "judge 1 1", "auditor 1 1"]);
    played.world.assert_no_processes();
}

#[test]
fn an_interrupted_run_can_be_stopped_instead() {
    let played = PlayedRun::interrupted();
    let stopped = played.about("stop", &["--json"]).exits_with(0).json();
    assert_eq!(stopped["status"], "stopped");
    played.world.assert_no_processes();
    assert!(played.run_dir().join("summary.json").is_file());
    let again = played.about("stop", &[]).exits_with(14);
    assert!(again.stderr.contains("has ended already"), "{}", again.stderr);
}

#[test]
fn an_accepted_run_is_not_taken_up_again() {
    let played = PlayedRun::accepted();
    let before = played.about("log", &["--json"]).stdout;
    for more in [&[][..], &["--rounds", "+1"], &["--note", "more"]] {
        let refused = played.about("resume", more).exits_with(14);
        assert!(
            refused.stderr.contains("nothing to take up again: the change was accepted"),
            "{}",
            refused.stderr
        );
        assert!(!refused.stderr.contains("taken over"), "{}", refused.stderr);
    }
    assert_eq!(played.about("log", &["--json"]).stdout, before);
    assert!(played.run_dir().join("summary.json").is_file());
}

#[test]
fn a_rejected_run_without_more_room_is_refused() {
    let played = PlayedRun::judged(&["reject"]);
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    let refused = played.about("resume", &[]).exits_with(14);
    assert!(refused.stderr.contains("all its rounds are used up; give it more"), "{}", refused.stderr);
    assert_eq!(played.line()["status"], "rejected");
}

#[test]
fn more_room_for_a_run_that_has_not_ended_is_refused() {
    let played = PlayedRun::interrupted();
    for more in [["--rounds", "+1"], ["--minutes", "+5"], ["--note", "hurry"], ["--tokens", "+5"]] {
        let refused = played.about("resume", &more).exits_with(14);
        assert!(refused.stderr.contains("the run has not ended"), "{}", refused.stderr);
    }
    assert_eq!(played.line()["status"], "interrupted");
}

#[test]
fn a_run_whose_landing_was_refused_is_landed_not_resumed() {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.git(&["checkout", "--quiet", "--detach"]);
    let _ = played.run(&["--land", "current"]).exits_with(11);
    let refused = played.about("resume", &[]).exits_with(14);
    assert!(refused.stderr.contains("only its landing was refused; land it instead"), "{}", refused.stderr);
    let _ = played.about("land", &[]).exits_with(0);
}

#[test]
fn a_run_that_could_not_be_set_up_goes_on_once_that_is_mended() {
    // Git keeps branches as paths: with `codex` there is no room for `codex/…`.
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.git(&["branch", "codex"]);
    let ended = played.run(&[]).exits_with(1);
    assert!(ended.stdout.contains("could not be set up"), "{}", ended.stdout);
    assert!(ended.stdout.contains("refs/heads/codex: git keeps references as paths"), "{}", ended.stdout);
    assert_eq!(played.line()["status"], "failed");
    let _ = played.about("verify", &[]).exits_with(0);
    let _ = played.about("resume", &[]).exits_with(1);
    played.repository.git(&["branch", "-D", "codex"]);
    let _ = played.about("resume", &[]).exits_with(0);
    assert_eq!(played.world.steps(), ["doer 1 1", "judge 1 1", "auditor 1 1"]);
    let _ = played.about("verify", &[]).exits_with(0);
}

#[test]
fn a_checker_without_a_word_is_asked_again_in_the_same_round() {
    let script = Script::new()
        .doer(When::Always, &["{ write = 'done.txt', text = 'done' }", "{ handoff = 'done' }"])
        .judge(When::Attempt { round: 1, attempt: 1 }, &[])
        .judge(When::Attempt { round: 1, attempt: 2 }, &[])
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = PlayedRun::of(&script);
    let _ = played.run(&["--rounds", "1"]).exits_with(11);
    let _ = played.about("resume", &[]).exits_with(0);
    let steps = ["doer 1 1", "judge 1 1", "judge 1 2", "judge 1 3", "auditor 1 1"];
    assert_eq!(played.world.steps(), steps);
}

#[test]
fn a_run_of_a_repository_that_is_held_waits_its_turn() {
    let mut played = PlayedRun::interrupted();
    played.world.set("WINDLASS_LAND", "none");
    let interrupted = played.id();
    let holder = played.start_until_the_doer_works();
    let refused = played.world.windlass(&["resume", &interrupted]).exits_with(14);
    assert!(refused.stderr.contains("error[WL-RUN-003]"), "{}", refused.stderr);
    assert!(refused.stderr.contains(&format!("process {}", holder.pid())), "{}", refused.stderr);
    played.go();
    let _ = holder.wait().exits_with(0);
    let _ = played.world.windlass(&["resume", &interrupted]).exits_with(0);
}

#[test]
fn all_interrupted_runs_go_on_one_after_the_other() {
    let played = PlayedRun::interrupted();
    let other = played.world.repository("other");
    let words = ["run", "Another", "--id", "TASK-2", "--repo", other.text(), "--agent", &played.agent];
    let running = played.world.start_windlass(&words);
    windlass_test_support::wait_until("both doers", || (played.world.steps().len() == 2).then_some(()));
    let _ = running.kill();
    played.go();
    let _ = played.world.windlass(&["resume", "--all"]).exits_with(0);
    let list = played.world.windlass(&["ls", "--json"]).json();
    let ends: Vec<&str> = list.as_array().unwrap().iter().filter_map(|run| run["status"].as_str()).collect();
    assert_eq!(ends, ["accepted", "accepted"]);
    let nothing = played.world.windlass(&["resume", "--all"]).exits_with(0);
    assert!(nothing.stderr.contains("nothing to resume"), "{}", nothing.stderr);
}

#[test]
fn a_run_that_cannot_be_resumed_does_not_keep_the_others_waiting() {
    let played = PlayedRun::interrupted();
    let other = played.world.repository("other");
    let words = ["run", "Another", "--id", "TASK-2", "--repo", other.text(), "--agent", &played.agent];
    let running = played.world.start_windlass(&words);
    windlass_test_support::wait_until("both doers", || (played.world.steps().len() == 2).then_some(()));
    let _ = running.kill();
    played.go();
    std::fs::rename(other.path(), played.world.path().join("moved away")).unwrap();
    let output = played.world.windlass(&["resume", "--all"]);
    assert_ne!(output.code, Some(0), "{}", output.stderr);
    let list = played.world.windlass(&["ls", "--json"]).json();
    let first = list.as_array().unwrap().iter().find(|run| run["task"] == "TASK-1").unwrap();
    assert_eq!(first["status"], "accepted");
}
