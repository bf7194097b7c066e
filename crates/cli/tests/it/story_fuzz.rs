//! The story queue's REST interface under whatever schemathesis makes of its OpenAPI document: every operation, by every
//! role, well-formed and malformed. The server may refuse anything; it may fail at nothing.

use crate::world;
use serde_json::json;
use windlass_test_support::{Output, RestFuzzer, StoryServer, World};

/// Set by `cargo xtask chaos`: how many seeds each role plays, a minute each. Unset, one seed is played for some seconds.
const SEEDS_VARIABLE: &str = "WINDLASS_FUZZ_SEEDS";

/// The same requests every time; a minute for all roles together.
mod with_a_fixed_seed {
    #[test]
    fn a_user_meets_no_fault() {
        super::no_fault_for("user");
    }

    #[test]
    fn an_orchestrator_meets_no_fault() {
        super::no_fault_for("orchestrator");
    }

    #[test]
    fn an_agent_meets_no_fault() {
        super::no_fault_for("agent");
    }

    /// What others are refused at the door is asked by the operator: `/admin` and what belongs to no tenant.
    #[test]
    fn an_operator_meets_no_fault() {
        super::no_fault_for("superadmin");
    }
}

fn no_fault_for(role: &str) {
    if !RestFuzzer::can_run() {
        return;
    }
    let world = world();
    let data = world.path().join("data");
    let mut server = StoryServer::start(&world, &data);
    let mut operator = None;
    if role == "superadmin" {
        let (again, key) = server.with_operator(&world, &data);
        (server, operator) = (again, Some(key));
    }
    server.lift_rate_limit();
    let mut user = server.user();
    // Something to be found, so that not every request ends at "no such thing".
    user.succeed("POST", "/api/v1/projects", &json!({ "name": "fuzzed", "slug": "fuzzed" }));
    let stories =
        [json!({ "number": "1.1", "title": "first" }), json!({ "number": "1.2", "title": "second" })];
    let plan = json!({ "epics": [{ "number": 1, "title": "epic", "stories": stories }] });
    user.succeed("POST", "/api/v1/projects/fuzzed/import", &plan);
    let key = match (role, &operator) {
        (_, Some(operator)) => operator.clone(),
        ("user", _) => server.user_key().to_owned(),
        _ => server.agent("fuzzer", role),
    };

    for mut words in plays() {
        if operator.is_some() {
            // Whatever else there is the operator asks for a tenant, as its user does above.
            words.extend(["--include-path-regex", "/(admin|audit|tenants)"].map(str::to_owned));
        }
        let done = fuzz(&world, &server, &key, &words);
        assert_eq!(done.code, Some(0), "{words:?}\n{}\n{}", done.stdout, done.stderr);
    }

    let (status, health) = server.user().call("GET", "/health", &json!(null));
    assert_eq!(status, 200, "{health}");
}

/// What each run of the fuzzer is told besides.
fn plays() -> Vec<Vec<String>> {
    let words = |words: &str| words.split(' ').map(str::to_owned).collect();
    let seeds = std::env::vars().find(|(name, _)| name == SEEDS_VARIABLE);
    if let Some(seeds) = seeds.map(|(_, seeds)| seeds.parse::<u32>().unwrap()) {
        return (1..=seeds)
            .map(|seed| words(&format!("--seed {seed} --max-time 60 --generation-database none")))
            .collect();
    }
    let short = "--phases examples,fuzzing --max-examples 3 --max-time 18";
    vec![words(&format!("--seed 7 --generation-deterministic {short}"))]
}

fn fuzz(world: &World, server: &StoryServer, key: &str, play: &[String]) -> Output {
    let document = format!("{}/api/v1/openapi", server.url());
    let (url, header) = (server.url(), format!("Authorization: Bearer {key}"));
    let mut words = vec!["run", &document, "--url", &url, "--header", &header, "--no-color"];
    words.extend(["--checks", "not_a_server_error", "--warnings", "off", "--workers", "1"]);
    words.push("--continue-on-failure");
    words.extend(play.iter().map(String::as_str));
    world.run(&RestFuzzer::path(), world.path(), &words, "")
}
