//! What people do to the queue while an orchestrator works, or is away.

use super::stage::{Stage, Turn, plan_of};
use windlass_test_support::{Signal, wait_until};

fn waits(number: &'static str) -> Turn {
    Turn { more: "{ wait_for = 'go' },", ..Turn::good(number, 1) }
}

#[test]
fn a_story_that_a_person_took_back_is_begun_anew_and_one_that_was_backfilled_is_not() {
    let turns = [waits("1.1"), Turn::good("1.1", 2), Turn::good("1.3", 1)];
    let stage = Stage::of(&plan_of(&["1.1", "1.2", "1.3"], &[("1.3", "1.2")]), &turns);
    let running = stage.world.start_windlass(&stage.words(&["--parallel", "1"]));
    wait_until("the implementer", || (stage.attempts() > 0).then_some(()));
    let _ = running.kill();

    let _ = stage.story(&["force-unclaim", "US-1.1", "--as", "orchestrator:olga"]).exits_with(0);
    let _ =
        stage.story(&["backfill", "US-1.2", "--reason", "done by hand", "--pr-number", "7"]).exits_with(0);
    let ended = stage.orchestrate(&["--parallel", "1"]).exits_with(0).json_lines();

    let ended = ended.last().unwrap();
    assert_eq!((&ended["total_stories"], &ended["verified_stories"]), (&3.into(), &3.into()), "{ended}");
    assert_eq!(stage.landed(), ["1.1", "1.3"]);
    assert_eq!(stage.branch_file("part-1.1.txt"), "1.1 attempt 2");
    stage.world.assert_no_processes();
}

#[test]
fn an_interrupted_orchestration_goes_on_with_the_same_agent_s_work() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[waits("1.1")]);
    let running = stage.world.start_windlass(&stage.words(&[]));
    wait_until("the implementer", || (stage.attempts() > 0).then_some(()));
    let _ = running.kill();
    std::fs::write(stage.world.shared("go"), "").unwrap();

    let _ = stage.orchestrate(&[]).exits_with(0);

    assert_eq!((stage.attempts(), stage.landed()), (1, vec!["1.1".to_owned()]));
}

#[test]
fn people_can_ask_the_queue_while_an_orchestrator_works() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[waits("1.1")]);
    let running = stage.world.start_windlass(&stage.words(&[]));
    wait_until("the implementer", || (stage.attempts() > 0).then_some(()));

    let status = stage.story(&["show", "US-1.1", "--json"]).exits_with(0).stdout;
    assert!(status.contains("implementing"), "{status}");
    let second = stage.orchestrate(&[]).exits_with(14);
    assert!(second.stdout.contains("the project is held by process"), "{}", second.stdout);

    std::fs::write(stage.world.shared("go"), "").unwrap();
    let _ = running.wait().exits_with(0);
}

#[test]
fn a_signal_ends_it_in_good_order() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[waits("1.1")]);
    let running = stage.world.start_windlass(&stage.words(&[]));
    wait_until("the implementer", || (stage.attempts() > 0).then_some(()));

    running.signal(Signal::TERM);
    let _ = running.wait().exits_with(13);

    assert_eq!(stage.landed(), Vec::<String>::new());
    stage.world.assert_no_processes();
}

#[test]
fn a_reviewer_whose_answer_could_not_be_read_is_asked_again_and_nothing_is_made_twice() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[Turn::good("1.1", 1)]);
    let sound = std::fs::read_to_string(stage.world.path().join("scripts/agents.toml")).unwrap();
    let (before, verdict) = sound.split_once("do = [{ verdict").unwrap();
    let broken = format!("{before}do = [{{ artifact = 'verdict.json', hex = '50415353' }}]\n");
    assert!(verdict.contains("'pass'"), "{sound}");
    let _ = stage.world.agent_from_text("agents.toml", &broken);
    let ended = stage.orchestrate(&[]).exits_with(11).json_lines();
    let waiting = &ended.last().unwrap()["waiting"][0];
    assert_eq!(waiting["number"], "1.1", "{ended:?}");
    let inbox = stage.world.windlass(&["inbox"]).exits_with(0).stdout;
    assert!(inbox.contains(" --retry US-1.1"), "{inbox}");

    let _ = stage.world.agent_from_text("agents.toml", &sound);
    let _ = stage.orchestrate(&["--retry", "US-1.1"]).exits_with(0);
    assert_eq!((stage.attempts(), stage.landed()), (1, vec!["1.1".to_owned()]));
    let inbox = stage.world.windlass(&["inbox", "--json"]).exits_with(0).json();
    assert_eq!(inbox, serde_json::json!([]), "nothing waits any more");
}
