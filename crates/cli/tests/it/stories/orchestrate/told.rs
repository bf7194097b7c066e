//! What an orchestration says for people: success looks like success, and what it tells them to type works.

use super::stage::{Stage, Turn, plan_of};

#[test]
fn success_is_told_as_success_and_no_landing_is_told_that_is_none() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[Turn::sent_back("1.1", 1), Turn::good("1.1", 2)]);

    let told = stage.told(&[]).exits_with(0);

    let said = |line: &str| told.stderr.lines().any(|known| known.starts_with(line));
    assert!(said("✓ US-1.1 is verified and landed as "), "{}", told.stderr);
    assert!(said("✗ US-1.1 was sent back (1): "), "{}", told.stderr);
    assert!(said("• US-1.1 begun by "), "{}", told.stderr);
    assert!(!told.stderr.contains("on windlass/US-1.1"), "a copy's branch is nobody's: {}", told.stderr);
    assert!(
        told.stdout.ends_with("✓ the only story is verified; 1 story landed on windlass/app\n"),
        "{}",
        told.stdout
    );
}

#[test]
fn a_round_in_which_everything_was_sent_back_is_no_success() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[Turn::sent_back("1.1", 1)]);
    let ended = stage.told(&["--once"]).exits_with(10);
    let told = "one round is done, and 1 of 1 stories in it came to nothing yet; 0 of 1 stories are verified";
    let last = ended.stdout.lines().last().unwrap_or_default();
    assert!(last.contains(told) && !last.contains('✓'), "{}", ended.stdout);
}

#[test]
fn a_story_that_is_ready_and_was_not_begun_is_told_as_that_with_a_command_that_begins_it() {
    let stage = Stage::of(&plan_of(&["1.1", "1.2"], &[]), &[Turn::good("1.1", 1), Turn::good("1.2", 1)]);
    let sound = std::fs::read_to_string(stage.world.path().join("scripts/agents.toml")).unwrap();
    let unsaid =
        sound.replacen("reasons = [{ check = 'AC-1 verified', details = 'it is there' }]", "reasons = []", 1);
    assert_ne!(sound, unsaid);
    let _ = stage.world.agent_from_text("agents.toml", &unsaid);

    let ended = stage.orchestrate(&["--once", "--max-stories", "1"]).exits_with(11).json_lines();

    let waiting = ended.last().unwrap()["waiting"].clone();
    assert_eq!((&waiting[0]["number"], &waiting[1]["number"]), (&"1.1".into(), &"1.2".into()), "{waiting}");
    assert_eq!(waiting[1]["why"], "it is ready, and was not begun by this command", "{waiting}");
    let typed = waiting[1]["commands"][0].as_str().unwrap().to_owned();
    let words: Vec<&str> = typed.split(' ').skip(1).collect();
    let _ = stage.world.windlass(&words).exits_with(11);
    assert_eq!(stage.landed(), ["1.2"], "{typed}");
}
