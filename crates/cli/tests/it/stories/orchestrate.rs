//! `windlass orchestrate`: stories worked through by program, with scripted agents, real git and the queue on this machine.

mod alarms;
mod claims;
pub(crate) mod crashes;
mod inbox;
mod keys;
mod people;
mod reviews;
pub(crate) mod stage;
mod tenants;
mod told;

use crate::keeping::leftovers::{assert_undone, worktrees_in};
use stage::{Stage, Turn, plan_of};

#[test]
fn five_stories_are_finished_with_one_sent_back_and_each_lands_once() {
    let turns = [
        Turn::good("1.1", 1),
        Turn::good("1.2", 1),
        Turn::sent_back("1.3", 1),
        Turn::good("1.3", 2),
        Turn::good("1.4", 1),
        Turn::good("1.5", 1),
    ];
    let stage =
        Stage::of(&plan_of(&["1.1", "1.2", "1.3", "1.4", "1.5"], &[("1.3", "1.1"), ("1.5", "1.4")]), &turns);
    let before = stage.repository.record();

    let ended = stage.orchestrate(&["--parallel", "2", "--check", "sh test.sh"]).exits_with(0).json_lines();

    let ended = ended.last().unwrap();
    assert_eq!((&ended["status"], &ended["verified_stories"]), (&"accepted".into(), &5.into()), "{ended}");
    let cycles: Vec<(&str, u64)> = ended["verified"]
        .as_array()
        .unwrap()
        .iter()
        .map(|story| (story["number"].as_str().unwrap(), story["cycles"].as_u64().unwrap()))
        .filter(|(_, cycles)| *cycles > 1)
        .collect();
    assert_eq!(cycles, [("1.3", 2)]);
    assert_eq!(stage.landed(), ["1.1", "1.2", "1.3", "1.4", "1.5"]);
    assert_eq!(stage.branch_file("part-1.3.txt"), "1.3 attempt 2");
    before.assert_holds(&stage.repository);
    let _ = stage.story(&["audit", "verify"]).exits_with(0);
    let again = stage.orchestrate(&["--check", "sh test.sh"]).exits_with(0);
    assert!(again.stdout.contains("all 5 stories are verified"), "{}", again.stdout);
    assert_eq!(stage.landed().len(), 5);
    stage.world.assert_no_processes();
}

#[test]
fn implementer_reporter_reviewer_and_verifier_are_four() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[Turn::good("1.1", 1)]);
    let _ = stage.orchestrate(&[]).exits_with(0);

    let story = stage.story(&["show", "US-1.1", "--json"]).exits_with(0).json();
    let history = stage.story(&["history", "US-1.1", "--json"]).exits_with(0).stdout;
    for part in ["implementer", "reporter", "reviewer", "verifier"] {
        assert!(history.contains(&format!("windlass-{part}-")), "{part} in {history}");
    }
    let text = story.to_string();
    assert!(text.contains("\"verified_status\":\"verified\""), "{text}");
}

#[test]
fn three_failures_wait_for_a_person_and_five_end_it() {
    let turns: Vec<Turn> = (1..=5).map(|attempt| Turn::sent_back("1.1", attempt)).collect();
    let stage = Stage::of(&plan_of(&["1.1", "1.2"], &[("1.2", "1.1")]), &turns);

    let ended = stage.orchestrate(&[]).exits_with(11).json_lines();

    let waiting = &ended.last().unwrap()["waiting"];
    assert!(waiting[0]["why"].as_str().unwrap().starts_with("sent back 3 times"), "{waiting}");
    let again = waiting[0]["commands"][1].as_str().unwrap();
    assert!(again.starts_with("windlass orchestrate --project app --repo "), "{again}");
    assert!(again.ends_with(" --no-audit --retry US-1.1"), "{again}");
    assert_eq!(waiting[1]["why"], "it waits for others");
    assert_eq!(stage.attempts(), 3);
    let inbox = stage.world.windlass(&["inbox", "--json"]).exits_with(0).json();
    let stories: Vec<_> = inbox.as_array().unwrap().iter().filter(|one| one["kind"] == "stories").collect();
    assert_eq!((stories.len(), stories[0]["task"].as_str()), (1, Some("app US-1.1")), "{inbox}");
    assert!(stories[0]["cause"].as_str().unwrap().starts_with("sent back 3 times"), "{inbox}");
    assert_eq!(stories[0]["tried"].as_array().unwrap().len(), 3, "{inbox}");
    assert_eq!(stories[0]["commands"][1], again);
    let _ = stage.orchestrate(&[]).exits_with(11);
    assert_eq!(stage.attempts(), 3, "without a person's word nothing is tried again");
    for attempts in [4, 5] {
        let _ = stage.orchestrate(&["--retry", "US-1.1"]).exits_with(11);
        assert_eq!(stage.attempts(), attempts);
    }
    let refused = stage.orchestrate(&["--retry", "US-1.1"]).exits_with(14);
    assert!(refused.stdout.contains("5 times"), "{}", refused.stdout);
    assert_eq!(stage.attempts(), 5);
}

#[test]
fn no_story_begins_on_a_red_base() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[Turn::good("1.1", 1)]);

    let ended = stage.orchestrate(&["--check", "test -f part-1.1.txt"]).exits_with(11).json_lines();

    let now = ended.last().unwrap()["now"].as_str().unwrap().to_owned();
    assert!(now.contains("is red, so no story begins: `test -f part-1.1.txt` failed"), "{now}");
    assert_eq!(stage.attempts(), 0);
}

#[test]
fn two_stories_that_change_one_line_are_not_merged_blindly() {
    let same = |number, attempt| Turn {
        more: "{ write = 'shared.txt', text = '{task_id}' },",
        ..Turn::good(number, attempt)
    };
    let turns = [same("1.1", 1), same("1.2", 1), same("1.1", 2), same("1.2", 2)];
    let stage = Stage::of(&plan_of(&["1.1", "1.2"], &[]), &turns);

    let ended = stage.orchestrate(&["--parallel", "2"]).exits_with(0).json_lines();

    let ended = ended.last().unwrap();
    let cycles = |place: usize| ended["verified"][place]["cycles"].as_u64().unwrap();
    assert_eq!(cycles(0) + cycles(1), 3, "one of them was sent back: {ended}");
    assert_eq!(stage.landed().len(), 2);
}

#[test]
fn the_worktrees_of_a_story_s_run_come_back_after_cleaning() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[Turn::good("1.1", 1)]);
    let _ = stage.orchestrate(&[]).exits_with(0);
    let run = stage.world.windlass(&["ls", "--json"]).exits_with(0).json()[0].clone();
    let places = worktrees_in(run["run_dir"].as_str().unwrap().as_ref());
    assert_undone(&stage.world, run["run"].as_str().unwrap(), &places);
}

#[test]
fn an_implementer_and_a_reviewer_are_enough_and_nobody_audits_unasked() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[Turn::good("1.1", 1)]);
    let agent = stage.agent();
    let ended = stage
        .orchestrate_by(&["--implementer", agent, "--reviewer", agent, "--check", "sh test.sh"])
        .exits_with(0)
        .json_lines();
    assert_eq!(ended.last().unwrap()["verified_stories"], 1, "{ended:?}");
    assert_eq!(stage.landed(), ["1.1"]);
}

#[test]
fn agents_that_are_not_there_are_refused_before_anything_is_claimed() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[Turn::good("1.1", 1)]);
    let agent = stage.agent();
    for words in [
        &["--implementer", agent][..],
        &["--implementer", agent, "--reviewer", "clade"],
        &["--implementer", agent, "--reviewer", "command:/no/such/program"],
    ] {
        let refused = stage.orchestrate_by(words);
        assert!(
            !matches!(refused.code, Some(0 | 11)),
            "{:?} {}{}",
            refused.code,
            refused.stdout,
            refused.stderr
        );
        let story = stage.story(&["show", "US-1.1", "--json"]).exits_with(0).json();
        assert_eq!(story["story"]["agent_status"], "pending", "{words:?}: {story}");
    }
    assert_eq!(stage.attempts(), 0);
}
