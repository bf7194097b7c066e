//! What a person sees of much: long lists, long plans, and what was put away.

use super::server::{Server, founded};
use crate::world;
use serde_json::{Value, json};
use windlass_test_support::World;

fn story(world: &World, words: &[&str]) -> windlass_test_support::Output {
    world.windlass(&[&["story"], words].concat())
}

#[test]
fn every_row_of_a_long_list_can_be_seen() {
    let world = world();
    for number in 1..=25 {
        let name = format!("P{number:02}");
        let _ = story(&world, &["project", "create", &name]).exits_with(0);
    }
    let first = story(&world, &["project", "list"]).exits_with(0);
    assert!(first.stderr.contains("20 of 25; `--page` shows the others"), "{}", first.stderr);
    let second = story(&world, &["project", "list", "--page", "2", "--json"]).exits_with(0).json();
    assert_eq!(second["data"].as_array().unwrap().len(), 5, "{second}");
    let refused = story(&world, &["project", "list", "--limit", "0"]).exits_with(2);
    assert!(refused.stderr.contains("1..=100"), "{}", refused.stderr);

    let some = story(&world, &["changes", "--limit", "10"]).exits_with(0);
    assert!(some.stderr.contains("there is more: `--since "), "{}", some.stderr);
    let all = story(&world, &["changes"]).exits_with(0);
    assert!(!all.stderr.contains("there is more"), "{}", all.stderr);

    let unknown = story(&world, &["next", "--project", "nothing"]);
    assert!(unknown.stderr.contains("and more"), "{}", unknown.stderr);
    assert!(!unknown.stderr.contains("p11"), "{}", unknown.stderr);
}

#[test]
fn a_project_that_was_archived_is_found_and_brought_back() {
    let world = world();
    let _ = story(&world, &["project", "create", "Old", "--slug", "old"]).exits_with(0);
    let _ = story(&world, &["project", "archive", "old"]).exits_with(0);
    let rows = |words: &[&str]| {
        let words = [&["project", "list", "--json"], words].concat();
        story(&world, &words).exits_with(0).json()["data"].as_array().unwrap().len()
    };
    assert_eq!((rows(&[]), rows(&["--archived"])), (0, 1));
    let told = story(&world, &["project", "info", "old", "--json"]).exits_with(0).json();
    assert_eq!(told["project"]["status"], "archived", "{told}");
    let _ = story(&world, &["project", "activate", "old"]).exits_with(0);
    assert_eq!(rows(&[]), 1);
}

/// A plan that is longer than any other call may be.
fn long_plan() -> String {
    let note = "x".repeat(50_000);
    let one =
        |number: u32| json!({ "number": format!("1.{number}"), "title": "S", "metadata": { "note": note } });
    let stories: Vec<Value> = (1..=50).map(one).collect();
    json!({ "epics": [{ "number": 1, "title": "E", "stories": stories }] }).to_string()
}

#[test]
fn a_long_plan_is_taken_in_here_and_at_a_server() {
    let (mut world, key) = founded();
    let plan = long_plan();
    assert!(plan.len() > 2_000_000);
    std::fs::write(world.path().join("plan.json"), plan).unwrap();
    let import = |world: &World| {
        let _ = story(world, &["project", "create", "Long"]).exits_with(0);
        let told = story(world, &["import", "plan.json", "--project", "long"]).exits_with(0).stdout;
        assert!(told.contains("50 stories"), "{told}");
    };
    import(&world);
    let server = Server::start(&world).unwrap();
    world.set("LOOPCTL_SERVER", server.url()).set("LOOPCTL_API_KEY", &key);
    import(&world);

    std::fs::write(world.path().join("skill.md"), "x".repeat(3_000_000)).unwrap();
    let refused = story(&world, &["skill", "create", "--name", "s", "--file", "skill.md"]).exits_with(14);
    assert!(refused.stderr.contains("longer than 2000000 bytes"), "{}", refused.stderr);
    server.stop();
}

#[test]
fn an_operator_may_ask_for_one_tenant_after_the_other() {
    let (mut world, _) = founded();
    let _ = world.windlass(&["serve", "new-tenant", "Team Red"]).exits_with(0);
    let told = world.windlass(&["serve", "new-key", "ops", "--superadmin", "--json"]).exits_with(0);
    let line: Value = serde_json::from_str(told.stdout.trim()).unwrap();
    let server = Server::start(&world).unwrap();
    world.set("LOOPCTL_SERVER", server.url()).set("LOOPCTL_API_KEY", line["key"].as_str().unwrap());
    for (tenant, name) in [("team-blue", "Aa"), ("team-red", "Bb"), ("team-blue", "Cc"), ("team-red", "Dd")] {
        let body = json!({ "name": name, "slug": name.to_lowercase() }).to_string();
        let words = ["admin", "impersonate", tenant, "post", "/projects", &body];
        let _ = story(&world, &words).exits_with(0);
    }
    for (verb, status) in [("suspend", "suspended"), ("activate", "active")] {
        let told = story(&world, &["admin", verb, "team-red", "--json"]).exits_with(0).json();
        assert_eq!(told["tenant"]["status"], status, "{told}");
    }
    let unknown = story(&world, &["admin", "suspend", "team-green"]);
    assert!(unknown.stderr.contains("admin tenants"), "{}", unknown.stderr);
    server.stop();
}

#[test]
fn skills_are_taken_in_with_every_file_named() {
    let world = world();
    let folder = world.path().join("skills");
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("page.md", "# Just a page\n");
    let nothing = story(&world, &["skill", "import", "skills"]).exits_with(2);
    assert!(nothing.stderr.contains("holds no skill"), "{}", nothing.stderr);
    write("a.md", "---\r\nname: reads\r\n---\r\nRead.\r\n");
    let taken = story(&world, &["skill", "import", "skills"]).exits_with(0).stdout;
    assert!(taken.contains("1 new") && taken.contains("page.md"), "{taken}");
    write("b.md", "---\nname: reads\n---\nAgain.\n");
    let twice = story(&world, &["skill", "import", "skills"]).exits_with(2);
    assert!(twice.stderr.contains("a.md and in b.md"), "{}", twice.stderr);

    std::fs::remove_file(folder.join("a.md")).unwrap();
    let _ = story(&world, &["skill", "archive", "reads"]).exits_with(0);
    let archived = story(&world, &["skill", "import", "skills"]).exits_with(14);
    assert!(archived.stderr.contains("skill activate"), "{}", archived.stderr);
    let _ = story(&world, &["skill", "activate", "reads"]).exits_with(0);
    let taken = story(&world, &["skill", "import", "skills"]).exits_with(0).stdout;
    assert!(taken.contains("1 with a new version"), "{taken}");
}

#[test]
fn what_stands_out_is_found_without_a_server() {
    let world = world();
    let _ = story(&world, &["project", "create", "App"]).exits_with(0);
    let stories: Vec<Value> =
        (1..=8).map(|number| json!({ "number": format!("1.{number}"), "title": "S" })).collect();
    let plan = json!({ "epics": [{ "number": 1, "title": "E", "stories": stories }] });
    std::fs::write(world.path().join("plan.json"), plan.to_string()).unwrap();
    let _ = story(&world, &["import", "plan.json"]).exits_with(0);
    for number in 1..=8 {
        let (number, cost) = (format!("1.{number}"), if number == 8 { "50000" } else { "1000" });
        let words = ["token-usage", "--story", &number, "--input", "1", "--output", "1", "--model", "m"];
        let _ = story(&world, &[&words[..], &["--cost", cost, "--as", "agent:al"]].concat()).exits_with(0);
    }
    let told = story(&world, &["anomalies"]).exits_with(0).stdout;
    assert!(told.contains("1.8") && told.contains("high_cost") && told.contains("7.0"), "{told}");
    let by_agent = story(&world, &["cost-summary", "--by-agent"]).exits_with(0).stdout;
    assert!(by_agent.contains("57000"), "{by_agent}");
    let by_epic = story(&world, &["cost-summary", "--by-epic"]).exits_with(0).stdout;
    assert!(by_epic.contains("57000"), "{by_epic}");

    let found = story(&world, &["anomalies", "--json"]).exits_with(0).json();
    let id = found["data"][0]["id"].as_str().unwrap();
    let _ = story(&world, &["anomalies", "--settle", id]).exits_with(0);
    let left = story(&world, &["anomalies", "--json"]).exits_with(0).json();
    assert_eq!(left["meta"]["total_count"], 0, "{left}");
}
