//! The commands Windlass gives to itself.

use crate::world;

#[test]
fn a_keeper_without_its_directory_an_actor_without_its_script_and_a_client_without_its_agent_end_with_2() {
    let world = world();
    let _ = world.windlass(&["__keep"]).exits_with(2);
    let actor = world.windlass(&["__play"]).exits_with(2);
    assert!(actor.stderr.contains("windlass __play FILE"), "{}", actor.stderr);
    let client = world.windlass(&["__acp", "--read-only"]).exits_with(2);
    assert!(client.stderr.contains("usage: windlass __acp"), "{}", client.stderr);
}

#[test]
fn a_keeper_without_a_spec_fails_without_a_word_and_starts_nothing() {
    let world = world();
    let directory = world.path().join("effect");
    std::fs::create_dir(&directory).unwrap();
    let keeper = world.windlass(&["__keep", directory.to_str().unwrap()]).exits_with(1);
    assert_eq!((keeper.stdout.as_str(), keeper.stderr.as_str()), ("", ""));
    world.assert_no_processes();
}

#[test]
fn the_scripted_agent_plays_its_step_under_the_names_every_agent_gets() {
    let mut world = world();
    let outbox = world.path().join("outbox");
    std::fs::create_dir(&outbox).unwrap();
    let agent = world.agent_from_text(
        "a.toml",
        "[[step]]\nrole = 'judge'\ndo = [{ say = 'hm' }, { verdict = 'reject' }]\n",
    );
    let script = agent.strip_prefix("scripted:").unwrap().to_owned();
    world.set("WINDLASS_ROLE", "judge").set("WINDLASS_ROUND", "1").set("WINDLASS_ATTEMPT", "1");
    world.set("WINDLASS_TASK", "TASK-1").set("WINDLASS_RUN", "r").set("WINDLASS_OUTBOX", outbox.clone());
    let played = world.windlass(&["__play", &script]).exits_with(0);
    assert_eq!(played.stdout, "hm\n");
    let verdict = std::fs::read_to_string(outbox.join("verdict.json")).unwrap();
    let verdict: serde_json::Value = serde_json::from_str(&verdict).unwrap();
    assert_eq!(verdict["verdict"], "reject");
    assert_eq!(verdict["task_id"], "TASK-1");
}

#[test]
fn hidden_commands_are_in_no_help_text() {
    let help = world().windlass(&["--help"]).exits_with(0).stdout;
    assert!(!help.contains("__"), "{help}");
}
