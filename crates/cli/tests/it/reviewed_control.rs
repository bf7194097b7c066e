//! Stop, land, resume and verify at awkward moments: what another run holds stays untouched, and nobody is started by a
//! command that is refused.

mod records;
mod several_runs;

use crate::played_run::{PlayedRun, waiting_doer};
use windlass_test_support::{Background, Script, wait_until};

/// The places an undisturbed run with these flags comes through, by name.
pub(crate) fn places(flags: &[&str]) -> Vec<String> {
    let mut played = PlayedRun::of(&Script::that_passes());
    let log = played.world.shared("places.txt");
    played.world.set("WINDLASS_CRASH_LOG", &log);
    let _ = played.run(flags).exits_with(0);
    let text = std::fs::read_to_string(&log).unwrap();
    text.lines().filter_map(|line| Some(line.split_once(' ')?.1.to_owned())).collect()
}

/// The numbers of the places of this name after the last agent was started.
fn after_the_last_agent(flags: &[&str], name: &str) -> Vec<usize> {
    let places = places(flags);
    let last = places.iter().rposition(|place| place == "spawn.after").expect("agents were started");
    let numbered = (1..).zip(&places).skip(last + 1);
    numbered.filter(|(_, place)| *place == name).map(|(number, _)| number).collect()
}

/// A run that was killed at this place.
pub(crate) fn killed_at(place: usize, flags: &[&str]) -> PlayedRun {
    let mut played = PlayedRun::of(&Script::that_passes());
    played.world.set("WINDLASS_CRASH_AT", place.to_string());
    let killed = played.run(flags);
    assert_eq!(killed.signal, Some(9), "place {place} was not reached: {}", killed.stderr);
    played.world.unset("WINDLASS_CRASH_AT");
    played
}

const CURRENT: &[&str] = &["--land", "current", "--no-audit"];

/// A second run of the same repository, whose doer is at work and waits for `go`.
fn start_another(played: &PlayedRun, agent: &str) -> Background {
    let before = played.world.steps().len();
    let words = ["run", "Another", "--id", "TASK-2", "--repo", played.repository.text(), "--agent", agent];
    let running = played.world.start_windlass(&words);
    wait_until("the other doer", || (played.world.steps().len() > before).then_some(()));
    running
}

#[test]
fn a_run_is_not_stopped_while_another_one_holds_its_repository() {
    let landing_asked = after_the_last_agent(CURRENT, "append.after")[0];
    let played = killed_at(landing_asked, CURRENT);
    let (id, base) = (played.id(), played.repository.git(&["rev-parse", "main"]));
    let agent = played.world.agent("waiting.toml", &waiting_doer());
    let other = start_another(&played, &agent);
    let refused = played.world.windlass(&["stop", &id]).exits_with(14);
    assert!(refused.stderr.contains("error[WL-RUN-003]"), "{}", refused.stderr);
    assert!(refused.stderr.contains(&format!("process {}", other.pid())), "{}", refused.stderr);
    assert_eq!(played.repository.git(&["rev-parse", "main"]), base, "the user's branch moved");
    played.go();
    let _ = other.wait().exits_with(0);
}

#[test]
fn stopping_a_run_before_its_landing_lands_nothing_and_keeps_the_change() {
    let landing_asked = after_the_last_agent(CURRENT, "append.after")[0];
    let played = killed_at(landing_asked, CURRENT);
    let base = played.repository.git(&["rev-parse", "main"]);
    let stopped = played.about("stop", &["--json"]).exits_with(0).json();
    assert_eq!(stopped["status"], "needs-human", "{stopped}");
    assert_eq!(played.repository.git(&["rev-parse", "main"]), base, "the user's branch moved");
    assert_eq!(played.repository.git(&["status", "--porcelain"]), "");
    let explained = played.about("explain", &[]).exits_with(0).stdout;
    assert!(explained.contains("the run was stopped before it landed"), "{explained}");
    let _ = played.about("land", &["--current"]).exits_with(0);
    assert_eq!(played.repository.git(&["show", "main:done.txt"]), "done");
    let _ = played.about("verify", &[]).exits_with(0);
}

/// A crash can fall between the user's files and the user's branch; a stop must not leave them like that.
#[test]
fn stopping_a_run_in_the_middle_of_its_landing_leaves_the_checkout_whole() {
    // The last four are the files, the branch, and a look at each of them.
    for place in after_the_last_agent(CURRENT, "git.after").into_iter().rev().take(4) {
        let played = killed_at(place, CURRENT);
        let when = format!("after a crash at place {place}");
        let stopped = played.about("stop", &["--json"]).exits_with(0).json();
        assert_eq!(played.repository.git(&["status", "--porcelain"]), "", "{when}");
        let landed = played.repository.git_succeeds(&["cat-file", "-e", "main:done.txt"]);
        assert_eq!(stopped["status"], if landed { "accepted" } else { "needs-human" }, "{when}");
        assert_eq!(played.repository.path().join("done.txt").exists(), landed, "{when}");
    }
}

#[test]
fn a_refused_landing_starts_no_agent() {
    let first_agent = places(&[]).iter().position(|place| place == "spawn.before").expect("a doer") + 1;
    let played = killed_at(first_agent, &[]);
    let before = played.about("log", &["--json"]).stdout;
    let refused = played.about("land", &[]).exits_with(14);
    assert!(refused.stderr.contains("the run has not ended"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("taken over"), "{}", refused.stderr);
    wait_until("every process to end", || played.world.processes().is_empty().then_some(()));
    assert_eq!(played.world.steps(), Vec::<String>::new(), "an agent was started");
    assert_eq!(played.about("log", &["--json"]).stdout, before);
    let _ = played.about("resume", &[]).exits_with(0);
    assert_eq!(played.world.steps(), ["doer 1 1", "judge 1 1", "auditor 1 1"]);
}

#[test]
fn a_landing_that_is_repeated_makes_the_same_commit_whoever_is_set_as_author_now() {
    // After the branch was made, before that was written down.
    let places = after_the_last_agent(&[], "git.after");
    let place = places.last().expect("landing runs git");
    let mut played = PlayedRun::of(&Script::that_passes());
    played.world.set("WINDLASS_CRASH_AT", place.to_string()).set("WINDLASS_AUTHOR", "Ann <ann@localhost>");
    assert_eq!(played.run(&[]).signal, Some(9));
    let commit = played.repository.git(&["rev-parse", "windlass/TASK-1"]);
    played.world.unset("WINDLASS_CRASH_AT").set("WINDLASS_AUTHOR", "Bob <bob@localhost>");
    let _ = played.about("resume", &[]).exits_with(0);
    assert_eq!(played.repository.git(&["rev-parse", "windlass/TASK-1"]), commit);
    assert_eq!(played.repository.git(&["log", "-1", "--format=%an", "windlass/TASK-1"]), "Ann");
}
