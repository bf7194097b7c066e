//! The queue on this machine without a server, and the same program under the original's name: the seed's own lines.

use crate::world;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use windlass_test_support::{Output, World};

/// A world with a project of two stories, the second waiting for the first.
fn planned() -> World {
    let world = world();
    let _ = world
        .windlass(&["story", "project", "create", "My App", "--repo", "https://example.org/app"])
        .exits_with(0);
    let plan = json!({
        "epics": [{"number": 2, "title": "Ingest", "stories": [
            {"number": "2.1", "title": "Read feed", "acceptance_criteria": [{"id": "AC-1", "description": "feed is parsed"}]},
            {"number": "2.2", "title": "Store feed"},
        ]}],
        "story_dependencies": [{"story": "2.2", "depends_on": "2.1"}],
    });
    std::fs::write(world.path().join("plan.json"), plan.to_string()).unwrap();
    let imported = world
        .windlass(&["story", "import", "plan.json", "--project", "my-app", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(imported["stories_created"], 2, "{imported}");
    world
}

/// The same program, called as the original is.
fn loopctl(world: &World) -> PathBuf {
    let link = world.path().join("loopctl");
    if !link.exists() {
        std::os::unix::fs::symlink(world.program(), &link).unwrap();
    }
    link
}

fn says(world: &World, words: &[&str]) -> Output {
    world.run(&loopctl(world), world.path(), words, "")
}

#[test]
fn a_story_is_finished_by_four_without_any_server() {
    let world = planned();
    let story = |words: &[&str]| world.windlass(&[&["story"], words].concat());
    for step in ["contract", "claim", "start", "request-review"] {
        let _ = story(&[step, "US-2.1", "--as", "agent:ann"]).exits_with(0);
    }
    let own = story(&["report", "US-2.1", "--as", "agent:ann"]).exits_with(14);
    assert!(own.stderr.contains("self_report_blocked") && own.stderr.contains("hint:"), "{}", own.stderr);
    let _ = story(&["release", "2.1", "--reason", "a mistake"]).exits_with(0);
    let _ = story(&["report", "2.1", "--as", "agent:rob"]).exits_with(0);
    let waiting = story(&["pending", "--json"]).exits_with(0).json();
    assert_eq!(waiting["data"][0]["number"], "2.1", "{waiting}");
    let _ = story(&["review-complete", "2.1"]).exits_with(0);
    let _ = story(&["verify", "2.1", "--as", "orchestrator:olga", "--summary", "met"]).exits_with(0);
    let next = story(&["next", "--json"]).exits_with(0).json();
    assert_eq!(next["data"][0]["number"], "2.2", "{next}");
    assert!(story(&["pending", "--json"]).exits_with(0).json()["data"].as_array().unwrap().is_empty());
}

#[test]
fn a_step_that_is_somebodys_work_says_whose() {
    let world = planned();
    let refused = world.windlass(&["story", "claim", "US-2.1"]).exits_with(2);
    assert!(
        refused.stderr.contains("WL-STORY-004") && refused.stderr.contains("--as agent:NAME"),
        "{}",
        refused.stderr
    );
}

#[test]
fn keys_of_this_machine_are_for_their_owner_alone() {
    let world = planned();
    let keys = world.state_dir().join("stories/keys.json");
    assert_eq!(keys.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(keys.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn an_artifact_that_is_no_json_is_refused_before_anything_is_sent() {
    let world = planned();
    for step in ["contract", "claim", "start"] {
        let _ = world.windlass(&["story", step, "US-2.1", "--as", "agent:ann"]).exits_with(0);
    }
    for wrong in ["{artifact_type: x}", "[1]", "\"text\""] {
        let refused =
            world.windlass(&["story", "report", "US-2.1", "--artifact", wrong, "--as", "agent:rob"]);
        let refused = refused.exits_with(2);
        assert!(refused.stderr.contains("--artifact is no JSON object"), "{}", refused.stderr);
    }
    let story = world.windlass(&["story", "show", "US-2.1", "--json"]).exits_with(0).json();
    assert_eq!(story["story"]["agent_status"], "implementing", "{story}");
}

#[test]
fn flags_may_stand_before_the_verb_too() {
    let world = planned();
    for words in [
        &["story", "--project", "my-app", "next", "--json"][..],
        &["story", "--json", "--as", "user", "--project=my-app", "next"],
        &["--json", "story", "-p", "my-app", "next"],
    ] {
        assert_eq!(world.windlass(words).exits_with(0).json()["data"][0]["number"], "2.1", "{words:?}");
    }
    let claimed = says(&world, &["--project", "my-app", "contract", "US-2.1", "--as", "agent:ann"]);
    assert_eq!(claimed.exits_with(0).json()["story"]["agent_status"], "contracted");
    let unknown = world.windlass(&["story", "--project", "other", "next"]);
    assert_ne!(unknown.code, Some(0), "it is heard, not dropped");
}

#[test]
fn a_plan_is_told_by_number_what_is_wrong_with_it_and_what_became_of_it() {
    let world = planned();
    let file = world.path().join("again.json");
    let plan = |numbers: &[&str]| {
        let stories: Vec<Value> =
            numbers.iter().map(|number| json!({ "number": number, "title": "S" })).collect();
        json!({ "epics": [{ "number": 7, "title": "E", "stories": stories }] }).to_string()
    };
    std::fs::write(&file, plan(&["7.4.2", "7.1", "7.4.3"])).unwrap();
    let refused = world.windlass(&["story", "import", "again.json"]).exits_with(14);
    for words in ["7.4.2 is no number", "7.4.3 is no number", "hint:", "nothing was taken in"] {
        assert!(refused.stderr.contains(words), "{words} in {}", refused.stderr);
    }
    std::fs::write(&file, plan(&["7.1", "2.1", "2.2"])).unwrap();
    let refused = world.windlass(&["story", "import", "again.json"]).exits_with(14);
    assert!(refused.stderr.contains("these exist already: 2 stories (2.1, 2.2)"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--merge"), "{}", refused.stderr);

    let planning = world.path().join("planning/epic_7");
    std::fs::create_dir_all(&planning).unwrap();
    for id in ["7.1", "7.4.2", "7.4b"] {
        let text = json!({ "id": format!("US-{id}"), "title": "S", "acceptance_criteria": [] });
        std::fs::write(planning.join(format!("us_{id}.json")), text.to_string()).unwrap();
    }
    let came = world.windlass(&["story", "import", "planning"]).exits_with(0).stdout;
    for words in
        ["made: 1 epic, 3 stories, 0 dependencies", "US-7.4.2 is 7.402", "US-7.4b is 7.492", "stands once: 2"]
    {
        assert!(came.contains(words), "{words} in {came}");
    }
}

#[test]
fn a_checkpoint_can_be_saved_again_and_again() {
    let world = planned();
    for number in 1..=3 {
        let data = format!("{{\"phase\": {number}}}");
        let _ = says(&world, &["state", "save", "--project", "my-app", "--data", &data]).exits_with(0);
    }
    let loaded = says(&world, &["state", "load", "--project", "my-app"]).exits_with(0).json();
    assert_eq!(
        (&loaded["state"]["version"], &loaded["state"]["state_data"]["phase"]),
        (&json!(3), &json!(3)),
        "{loaded}"
    );
    let stale = ["state", "save", "--project", "my-app", "--data", "{}", "--version", "1"];
    assert!(says(&world, &stale).exits_with(14).stderr.contains("version_conflict"));
}

#[test]
fn the_lines_of_the_seed_work_as_they_are_written() {
    let world = planned();
    let me = says(&world, &["auth", "whoami"]).exits_with(0).json();
    assert_eq!(me["tenant"]["slug"], "local", "{me}");
    let status = says(&world, &["status", "--project", "My App"]).exits_with(0).json();
    assert!(status.to_string().contains("verification_percentage"), "{status}");
    let next = says(&world, &["next", "--project", "my-app"]).exits_with(0).json();
    assert_eq!(next["data"][0]["number"], "2.1", "{next}");
    let blocked = says(&world, &["blocked", "--project", "my-app"]).exits_with(0).json();
    assert_eq!(blocked["data"][0]["number"], "2.2", "{blocked}");
    let contract = says(&world, &["contract", "US-2.1", "--as", "agent:ann"]).exits_with(0).json();
    assert!(contract.to_string().contains("feed is parsed"), "{contract}");
    for step in ["claim", "start"] {
        let _ = says(&world, &[step, "US-2.1", "--as", "agent:ann"]).exits_with(0);
    }
    let artifact = r#"{"artifact_type": "commit_diff", "path": "lib/feed.ex"}"#;
    let _ = says(&world, &["report", "US-2.1", "--artifact", artifact, "--as", "agent:rob"]).exits_with(0);
    let changes = says(&world, &["changes", "--project", "my-app", "--since", "2020-01-01T00:00:00Z"])
        .exits_with(0)
        .json();
    assert!(
        changes["data"].to_string().contains("reported_done"),
        "the feed of a project shows its stories: {changes}"
    );
    let _ = says(&world, &["review-complete", "US-2.1"]).exits_with(0);
    let verify =
        ["verify", "US-2.1", "--result", "pass", "--summary", "All ACs met", "--as", "orchestrator:olga"];
    let _ = says(&world, &verify).exits_with(0);
    let story = says(&world, &["status", "US-2.1"]).exits_with(0).json();
    assert_eq!(story["story"]["verified_status"], "verified", "{story}");
    let reject = ["reject", "US-2.1", "--reason", "Missing tests", "--as", "orchestrator:olga"];
    let _ = says(&world, &reject).exits_with(0);
    let skill = world.path().join("review.md");
    std::fs::write(&skill, "Read the difference.\n").unwrap();
    let _ =
        says(&world, &["skill", "create", "--name", "loopctl:review", "--file", "review.md"]).exits_with(0);
    let skill = says(&world, &["skill", "get", "loopctl:review"]).exits_with(0);
    assert!(skill.stdout.contains("Read the difference."), "{}", skill.stdout);
}

#[test]
fn loopctl_answers_in_json_complains_in_words_and_never_ends_with_zero_then() {
    let world = planned();
    let unknown = says(&world, &["status", "US-9.9"]).exits_with(2);
    assert!(
        unknown.stdout.is_empty() && unknown.stderr.starts_with("error[WL-STORY-002]"),
        "{}",
        unknown.stderr
    );
    let csv = says(&world, &["next", "--format", "csv"]).exits_with(0);
    assert_eq!(csv.stdout, "number,agent_status,verified_status,title\n2.1,pending,unverified,Read feed\n");
    let human = says(&world, &["--format", "human", "next"]).exits_with(0);
    assert!(human.stdout.starts_with("STORY"), "{}", human.stdout);
}

#[test]
fn a_server_that_is_not_there_is_said_and_local_is_a_way_out() {
    let mut world = planned();
    world.set("LOOPCTL_SERVER", "http://127.0.0.1:1").set("LOOPCTL_API_KEY", "lc_x");
    let refused = world.windlass(&["story", "next", "--json"]).exits_with(1).json();
    assert_eq!(refused["error"]["code"], "WL-STORY-003", "{refused}");
    let next = world.windlass(&["story", "next", "--local", "--json"]).exits_with(0).json();
    assert_eq!(next["data"][0]["number"], "2.1", "{next}");
    let both: Value = world.windlass(&["story", "next", "--as", "user", "--json"]).exits_with(2).json();
    assert_eq!(both["error"]["code"], "WL-USAGE-001", "{both}");
}

#[test]
fn the_chain_is_checked_here_and_a_changed_byte_is_found() {
    let world = planned();
    let whole = world.windlass(&["story", "audit", "verify", "--json"]).exits_with(0).json();
    assert_eq!(whole["holds"], true, "{whole}");
    let _ = world.windlass(&["story", "audit", "export", "chain.jsonl"]).exits_with(0);
    let _ = world.windlass(&["story", "audit", "verify", "chain.jsonl"]).exits_with(0);
    let file = world.path().join("chain.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("Read feed"), "{text}");
    std::fs::write(&file, text.replace("Read feed", "Read need")).unwrap();
    let _ = world.windlass(&["story", "audit", "verify", "chain.jsonl"]).exits_with(15);
}
