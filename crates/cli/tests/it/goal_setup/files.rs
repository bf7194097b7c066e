//! `init`, `check`, `next` and `add`: what they write and what they leave alone.

use super::*;
use windlass_artifact_formats::goal_loop::{Autonomy, Budget, Contract, FeatureList, RunLog};

#[test]
fn a_bare_repository_gets_a_queue_only_with_features() {
    let place = Place::bare();
    let refused = place.goal("init", &[]).exits_with(2);
    assert_refused(&refused, "WL-GOAL-001", &["docs/FEATURES.json is not there", "--feature"]);
    assert!(!place.has("docs"));

    place.repository.write("Makefile", "test:\n\tsh test.sh\n").commit("a makefile");
    let words =
        ["--feature", "Hello: hello.txt says hello; has a test", "--feature", "Bye: bye.txt says bye"];
    let dry = place.goal("init", &[&words[..], &["--dry-run"]].concat()).exits_with(0).stdout;
    assert!(dry.contains("would write docs/LOOP.md") && !place.has("docs"), "{dry}");
    let done = place.goal("init", &words).exits_with(0).stdout;
    for words in
        ["wrote docs/FEATURES.json", "wrote docs/LOOP.md", "tests: make test", "next: windlass goal check"]
    {
        assert!(done.contains(words), "{words} in {done}");
    }
    let queue = FeatureList::parse(&place.repository.read(FEATURES)).unwrap();
    let ids: Vec<&str> = queue.items().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["F001", "F002"]);
    assert_eq!(queue.items().next().unwrap().acceptance_criteria, ["hello.txt says hello", "has a test"]);
    let contract = Contract::parse(&place.repository.read(CONTRACT)).unwrap();
    assert_eq!(contract.autonomy, Autonomy::L1);
    assert!(queue.items().all(|item| contract.scope.contains(&item.id)));
    assert_eq!(contract.pinned.test.as_deref(), Some("make test"));
    assert!(Budget::parse(&place.repository.read(BUDGET)).is_ok());
    assert_eq!(place.repository.read(RUN_LOG), RunLog::new().text());
}

#[test]
fn init_again_changes_nothing_and_features_only_begin_a_queue() {
    let place = Place::bare();
    place.repository.write(FEATURES, QUEUE);
    let first = place.goal("init", &["--json", "--test-cmd", "sh test.sh"]).exits_with(0).json();
    assert_eq!(first["written"], serde_json::json!([CONTRACT, BUDGET, RUN_LOG]));
    assert_eq!(place.repository.read(FEATURES), QUEUE);
    assert!(place.repository.read(CONTRACT).contains("- Include: [F001–F003]"));
    let before: Vec<String> = [CONTRACT, BUDGET, RUN_LOG].map(|file| place.repository.read(file)).into();
    let again = place.goal("init", &["--json", "--test-cmd", "other"]).exits_with(0).json();
    assert_eq!(again["written"], serde_json::json!([]));
    let after: Vec<String> = [CONTRACT, BUDGET, RUN_LOG].map(|file| place.repository.read(file)).into();
    assert_eq!(before, after);
    let refused = place.goal("init", &["--feature", "More: a"]).exits_with(2);
    assert_refused(&refused, "WL-USAGE-001", &["there already", "windlass goal add"]);
}

#[test]
fn files_of_other_tools_stay_and_the_way_out_is_named() {
    let place = Place::bare();
    let theirs = "# The main loop\n\nOurs is another.\n";
    place.repository.write(FEATURES, QUEUE).write(CONTRACT, theirs);
    let told = place.goal("init", &[]).exits_with(2).stdout;
    for words in [
        "docs/LOOP.md belongs to another tool and stays: it is not titled `# Loop Contract`",
        "next: git mv docs/LOOP.md docs/LOOP.other.md",
        "wrote docs/loop-budget.md",
    ] {
        assert!(told.contains(words), "{words} in {told}");
    }
    assert_eq!(place.repository.read(CONTRACT), theirs);

    let strings = "{\"features\": [\"hello\", \"bye\"]}";
    place.repository.write(FEATURES, strings);
    for command in [&["init"][..], &["add", "More", "--criterion", "a"], &["run", "--agent", "shell:true"]] {
        let words = [&["goal"], command, &["--repo", place.repository.text()]].concat();
        let refused = place.world.windlass(&words).exits_with(2);
        assert_refused(&refused, "WL-GOAL-001", &["docs/FEATURES.json belongs to another tool"]);
    }
    assert_eq!(place.repository.read(FEATURES), strings);
}

#[test]
fn check_shows_what_the_contract_comes_to_and_what_no_machine_holds_to() {
    let place = Place::set_up("F001-F003", "L2");
    let report = place.check(&[]);
    assert_eq!(report["problems"], serde_json::json!([]));
    assert_eq!(report["autonomy"], "L2");
    let standing: Vec<(&str, &str)> = report["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["id"].as_str().unwrap(), item["standing"].as_str().unwrap()))
        .collect();
    assert_eq!(standing, [("F001", "ready"), ("F002", "waiting"), ("F003", "claimed")]);
    assert_eq!(report["items"][1]["why"], "waits for F001 (not-started)");
    assert_eq!(report["not_enforced"], serde_json::json!(["It feels fast"]));
    assert_eq!(report["test_command"]["command"], "sh test.sh");
    assert_eq!(report["test_command"]["from"], CONTRACT);
    assert_eq!(report["caps"][0], serde_json::json!(["iterations", "10"]));

    let shown = place.goal("check", &[]).exits_with(14).stdout;
    for words in [
        "autonomy  L2",
        "iterations 10, commits 15, rework per item 2, minutes 60",
        "2 not-started, 1 complete",
        "no machine holds to: It feels fast",
        "the contract is not confirmed yet",
        "not trusted yet",
    ] {
        assert!(shown.contains(words), "{words} in {shown}");
    }
}

#[test]
fn check_says_everything_that_is_wrong_at_once_with_its_line() {
    let place = Place::bare();
    place
        .repository
        .write(FEATURES, &QUEUE.replace("\"not-started\", \"description\": \"Says bye\"", "\"someday\""));
    place.repository.write(CONTRACT, &contract("F00x", "L2"));
    place.repository.write(
        BUDGET,
        "# Loop Budget\n\n| Control | Cap | Used |\n|---|---|---|\n| Iterations | many | 0 |\n",
    );
    let problems = place.check(&[])["problems"].to_string();
    for words in [
        "docs/FEATURES.json: 4:60: F002: status",
        "docs/LOOP.md: line 7: Include",
        "docs/loop-budget.md: line 5: the cap of `Iterations`",
    ] {
        assert!(problems.contains(words), "{words} in {problems}");
    }
    assert_eq!(place.goal("check", &[]).code, Some(2));
}

#[test]
fn next_is_the_item_a_run_would_take_in_full() {
    let place = Place::set_up("F001, F002", "L1");
    let next = place.goal("next", &[]).exits_with(0).stdout;
    for words in [
        "2 not-started, 1 complete",
        "next         F001 Hello",
        "not-started, to be built",
        "hello.txt says hello",
    ] {
        assert!(next.contains(words), "{words} in {next}");
    }
    place
        .repository
        .write(FEATURES, &QUEUE.replacen("not-started", "complete", 1))
        .write(CONTRACT, &contract("all F", "L1"));
    let recheck = place.goal("next", &["--json"]).exits_with(0).json();
    assert_eq!((&recheck["next"]["id"], &recheck["next"]["work"]), (&"F001".into(), &"recheck".into()));
    let trusted = place.goal("next", &["--json", "--trust-complete"]).exits_with(0).json();
    assert_eq!((&trusted["next"]["id"], &trusted["next"]["work"]), (&"F002".into(), &"build".into()));
}

#[test]
fn add_appends_an_item_and_leaves_every_other_byte() {
    let place = Place::set_up("F001", "L1");
    let added = place
        .goal("add", &["Tidy", "--refactor", "--criterion", "no file is long", "--depends", "F001", "--json"])
        .exits_with(0)
        .json();
    assert_eq!((&added["id"], &added["in_scope"]), (&"R001".into(), &false.into()));
    let text = place.repository.read(FEATURES);
    let end = QUEUE.rfind("\n  ]").unwrap();
    assert!(text.starts_with(&QUEUE[..end]) && text.ends_with(&QUEUE[end..]), "{text}");
    let queue = FeatureList::parse(&text).unwrap();
    let item = queue.items().last().unwrap();
    assert_eq!(item.acceptance_criteria, ["no file is long", "Existing tests still pass"]);
    assert_eq!(item.dependencies[0].as_str(), "F001");
    assert_eq!(place.goal("add", &["More", "--criterion", "a", "--json"]).exits_with(0).json()["id"], "F004");
    let paths = ["Colours", "--criterion", "a", "--path", "src/output/", "--path", "README.md", "--json"];
    let coloured = place.goal("add", &paths).exits_with(0).json();
    let queue = FeatureList::parse(&place.repository.read(FEATURES)).unwrap();
    let coloured = queue.items().find(|item| item.id.as_str() == coloured["id"]).unwrap();
    assert_eq!(coloured.affected_files, ["src/output/", "README.md"]);
    let before = place.repository.read(FEATURES);
    for wrong in [
        &["X", "--criterion", "a", "--path", "../elsewhere"][..],
        &["X", "--criterion", "a", "--path", "/etc/passwd"],
        &["X", "--criterion", "a", "--path", ""],
        &["X", "--criterion", "a", "--depends", "F999"],
        &["X", "--criterion", " "],
        &["X", "--criterion", "a", "--depends", "one"],
    ] {
        let refused = place.goal("add", wrong).exits_with(2);
        assert_refused(&refused, "WL-USAGE-001", &["kept: nothing was written"]);
    }
    assert_eq!(place.repository.read(FEATURES), before);
}
