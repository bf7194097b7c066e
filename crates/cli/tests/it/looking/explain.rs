//! Every end is explained, and the command it names is one that works.

use crate::played_run::{PlayedRun, waiting_doer};
use windlass_test_support::{Script, When};

/// What stands, and the first command that goes on from there.
#[track_caller]
fn explained(played: &PlayedRun, now: &str, because: &str) -> Vec<String> {
    let view = played.about("explain", &["--json"]).exits_with(0).json();
    assert!(view["now"].as_str().unwrap().contains(now), "{view}");
    let reasons: Vec<&str> =
        view["because"].as_array().unwrap().iter().filter_map(|why| why.as_str()).collect();
    assert!(reasons.iter().any(|reason| reason.contains(because)), "{view}");
    let plain = played.about("explain", &[]).exits_with(0).stdout;
    assert!(plain.contains(now) && plain.contains(because), "{plain}");
    let commands = view["commands"].as_array().unwrap();
    commands.iter().map(|command| command.as_str().unwrap().to_owned()).collect()
}

/// Types the command as it stands there.
#[track_caller]
fn works(played: &PlayedRun, command: &str, code: u8) {
    let words: Vec<&str> = command.split(' ').skip(1).map(|word| word.trim_matches('"')).collect();
    let _ = played.world.windlass(&words).exits_with(code);
}

#[test]
fn accepted_and_landed() {
    let played = PlayedRun::accepted();
    let commands = explained(&played, "accepted", "the judge and the auditor passed tree");
    for command in commands {
        works(&played, &command, 0);
    }
}

#[test]
fn accepted_and_not_landed() {
    let played = PlayedRun::of(&Script::that_passes());
    let _ = played.run(&["--land", "none"]).exits_with(0);
    let commands = explained(&played, "accepted", "nobody asked for that");
    works(&played, &commands[0], 0);
    assert!(played.repository.git_succeeds(&["rev-parse", "--verify", "windlass/TASK-1"]));
}

#[test]
fn rejected() {
    let played = PlayedRun::judged(&["reject", "pass"]);
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    let commands = explained(&played, "rejected", "the judge rejected it");
    works(&played, &commands[0], 0);
}

#[test]
fn needs_a_person_by_the_judge_s_word() {
    let played = PlayedRun::judged(&["needs-human", "pass"]);
    let _ = played.run(&[]).exits_with(11);
    let commands = explained(&played, "person", "the judge asks for a person");
    works(&played, &commands[0], 0);
}

#[test]
fn needs_a_person_because_an_agent_cannot_be_started() {
    let mut played = PlayedRun::of(&Script::that_passes());
    played.agent = played.world.agent_that_cannot_start();
    let _ = played.run(&[]).exits_with(11);
    let commands = explained(&played, "person", "the doer could not be started");
    works(&played, &commands[0], 11);
}

#[test]
fn needs_a_person_because_the_landing_was_refused() {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.git(&["checkout", "--quiet", "--detach"]);
    let _ = played.run(&["--land", "current"]).exits_with(11);
    let commands = explained(&played, "person", "the change is accepted, but could not be landed");
    // A branch of its own can be had at once; the current one only when somebody stands on a branch.
    assert_eq!(commands[1], format!("{} --current", commands[0]));
    works(&played, &commands[1], 11);
    works(&played, &commands[0], 0);
}

#[test]
fn needs_a_person_because_the_doer_is_stuck() {
    let script = Script::new()
        .doer(When::Always, &["{ write = 'done.txt', text = 'same' }", "{ handoff = 'the same' }"])
        .judge(When::Always, &["{ verdict = 'reject' }"]);
    let played = PlayedRun::of(&script);
    let _ = played.run(&["--rounds", "9"]).exits_with(11);
    let commands = explained(&played, "person", "keeps handing over the change that round 1 rejected");
    works(&played, &commands[0], 11);
}

#[test]
fn stopped() {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    let _ = played.about("stop", &["--reason", "lunch"]).exits_with(0);
    let _ = running.wait().exits_with(13);
    let commands = explained(&played, "stopped", "lunch");
    played.go();
    works(&played, &commands[0], 0);
}

#[test]
fn interrupted() {
    let played = PlayedRun::interrupted();
    let commands = explained(&played, "the doer works", "the doer of round 1, attempt 1");
    assert_eq!(commands.len(), 2);
    played.go();
    works(&played, &commands[0], 0);
}
