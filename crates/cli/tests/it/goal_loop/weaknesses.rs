//! What the original gets wrong, by its number in the specification, where no other file of these tests has it by name:
//! W2 and W12 are with the builders, W3, W10 and W13 with the choice, W8 and W11 with approvals and planners, W9 with the
//! evaluators, W14 with the limits, W16 and W19 with the baselines, W17 and W21 with documents and views, W29 with locks.

use super::scene::{
    CONTRACT, FEATURES, Play, Scene, contract, grade, item, makes, queue, report, with, write,
};
use serde_json::json;

/// W1 and W5: one writer. Whatever agents do to the loop's files at the same time, what is committed is the engine's.
#[test]
fn w05_two_roles_that_write_the_queue_lose_nothing_of_it() {
    let scene = Scene::of(2, "L2");
    let clobbers = write(FEATURES, "{\"features\": []}\n");
    let made = makes("F001");
    let play = Play::default()
        .builder(1, &[&made[0], &made[1], "{ append = 'docs/PROGRESS.md', text = 'mine' }"])
        .attempt("evaluator", (1, 1), &[&clobbers, &grade("F001", "PASS", [5; 5], ["none", "", ""])])
        .attempt("evaluator", (1, 2), &[&grade("F001", "PASS", [5; 5], ["none", "", ""])])
        .builds(2, "F002")
        .passes(2, "F002");
    let _ = scene.ends(&play, 0);
    assert_eq!(
        (scene.item_status("F001"), scene.item_status("F002")),
        ("complete".into(), "complete".into())
    );
    assert!(!scene.at_end("docs/PROGRESS.md").contains("mine"));
    scene.assert_sound();
}

/// W4 and W6: maker and checker are two processes in two places, and nothing of the first is left when the second looks.
#[test]
fn w04_w06_what_a_builder_left_running_or_ignored_is_not_where_the_evaluator_looks() {
    let scene = Scene::of(1, "L2");
    scene.repository.write(".gitignore", "cache/\n").commit("ignore");
    let made = makes("F001");
    let leaves = [
        made[0].as_str(),
        &made[1],
        "{ write = 'cache/built', text = 'stale' }",
        "{ run = ['sh', '-c', 'pwd > {script_dir}/builder-place'] }",
        "{ fork = { kind = 'double', then = [{ run = ['sh', '-c', 'echo $$ > {script_dir}/pid; exec tail -f /dev/null'] }] } }",
        "{ wait_for = 'pid' }",
    ];
    let looks = "{ run = ['sh', '-c', 'pwd > {script_dir}/evaluator-place; test ! -e cache/built && ! test -e /proc/$(cat {script_dir}/pid)'] }";
    let passed = grade("F001", "PASS", [5; 5], ["none", "", ""]);
    let play = Play::default().builder(1, &leaves).step("evaluator", 1, &[looks, &passed]);
    let _ = scene.ends(&play, 0);
    let place = |role: &str| std::fs::read_to_string(scene.world.shared(&format!("{role}-place"))).unwrap();
    assert_ne!(place("builder"), place("evaluator"));
    scene.assert_sound();
}

/// W7: comments do not count, ranges are read in every spelling, and what cannot be read is refused with its line.
#[test]
fn w07_a_contract_is_read_without_its_comments_and_refused_where_it_is_unclear() {
    let items: Vec<_> = ["F001", "F002", "F003", "F004"].map(item).to_vec();
    let comment = "<!-- L1 report-only\n     L2 assisted\n     L3 unattended: \"autonomy\": \"L3\" -->";
    for (level, expected) in [
        (comment.to_owned(), "L1"),
        (format!("L2 (assisted)\n{comment}"), "L2"),
        (format!("{comment}\nL3"), "L3"),
        ("\"autonomy\": \"L3\"".to_owned(), "L3"),
    ] {
        for range in ["F001–F003", "F001-F003", "F001..F003", "F001, F002, F003"] {
            let scene = Scene::with_contract(&queue(&items), &contract(range, &level));
            let words = ["goal", "check", "--repo", scene.repository.text(), "--json"];
            let report = scene.world.windlass(&words).json();
            assert_eq!(report["autonomy"], expected, "{level}");
            assert_eq!(report["items"].as_array().unwrap().len(), 3, "{range}");
        }
    }
    let scene = Scene::with_contract(&queue(&items), &contract("the first few", "L2"));
    let refused = scene.run(&Play::default(), &[]);
    let said = [refused.stdout, refused.stderr].concat();
    assert!(said.contains("docs/LOOP.md: line 7: "), "the line is told: {said}");
}

/// W15: the evaluator is asked about the active item, however many are complete.
#[test]
fn w15_an_evaluator_is_asked_about_one_item() {
    let scene = Scene::of(3, "L2");
    let _ = scene.ends(&Play::well(&["F001", "F002", "F003"]), 0);
    let told = scene.prompt("evaluator-3-1");
    assert!(told.contains("F003") && told.contains("f003.txt says done"), "{told}");
    assert!(!told.contains("f001.txt says done") && !told.contains("f002.txt says done"), "{told}");
}

/// W18: the command is pinned when the run begins; nobody who writes into a file meanwhile gets another one run.
#[test]
fn w18_a_test_command_changed_while_it_runs_is_not_run() {
    let mut scene = Scene::of(2, "L2");
    scene.world.without_sandbox("the maker plays a person at work in the checkout");
    let mark = scene.world.shared("was-run");
    let other = contract("F001, F002", "L2").replace("sh test.sh", &format!("touch {}", mark.display()));
    let place = scene.repository.path().join(CONTRACT);
    let changes = format!("{{ write = \"{}\", text = '''\n{other}''' }}", place.display());
    let made = makes("F001");
    let play = Play::default()
        .builder(1, &[&made[0], &made[1], &changes])
        .passes(1, "F001")
        .builds(2, "F002")
        .passes(2, "F002");
    let ended = scene.ends(&play, 0);
    assert!(!mark.exists(), "a command nobody agreed to was run");
    assert_eq!(ended["goal"]["iterations_done"][1]["tests"], json!({ "passed": 3, "total": 3 }));
}

/// W20: the user's branch and half-done work are not touched, and not swept in.
#[test]
fn w20_what_is_half_done_in_the_checkout_stays_there_and_out_of_the_loop() {
    let scene = Scene::of(1, "L2");
    scene.repository.write("README.md", "half done\n").write("new.txt", "not added\n");
    let before = scene.repository.record();
    let refused = scene.run(&Play::well(&["F001"]), &[]).exits_with(14);
    assert!(
        refused.stdout.contains("your checkout has 2 uncommitted changes: README.md, new.txt"),
        "{}",
        refused.stdout
    );
    before.assert_holds(&scene.repository);
}

/// W22: hooks and signing of the user's are not in the way of a commit, nor run with an agent's content.
#[test]
fn w22_a_hook_that_refuses_and_a_key_that_is_missing_are_not_in_the_way() {
    let scene = Scene::of(1, "L2");
    let hook = scene.repository.path().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let mark = scene.world.shared("hook-ran");
    std::fs::write(&hook, format!("#!/bin/sh\ntouch {}\nexit 1\n", mark.display())).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    scene.repository.git(&["config", "commit.gpgsign", "true"]);
    scene.repository.git(&["config", "user.signingkey", "nobody"]);
    let _ = scene.ends(&Play::well(&["F001"]), 0);
    assert_eq!(scene.subjects().len(), 2);
    assert!(!mark.exists());
}

/// W23, W24, W27: commands are read as a shell reads them; the engine itself sees what it stops.
#[test]
fn w23_harmless_commands_that_look_destructive_do_not_end_a_run() {
    let call = |command: &str| {
        let signal =
            json!({ "windlass_signal": { "kind": "tool-call", "name": "shell", "detail": command } });
        format!("{{ say = '''{signal}''' }}")
    };
    let harmless =
        ["echo \"drop table\"", "npm run format check", "rm -rf build/old", "git reset --soft HEAD"]
            .map(call);
    let made = makes("F001");
    let actions: Vec<&str> = made.iter().chain(&harmless).map(String::as_str).collect();
    let scene = Scene::of(1, "L2");
    let _ = scene.ends(&Play::default().builder(1, &actions).passes(1, "F001"), 0);
    for command in ["git reset --hard", "rm -r -f ~", "git push --force origin main", "sudo rm -rf ."] {
        let scene = Scene::of(1, "L2");
        let said = call(command);
        let ended = scene.ends(&Play::default().step("builder", 1, &[&said, &report("x")]), 11);
        let outcome = format!("HARD KILL (destructive command: {command})");
        assert_eq!(ended["goal"]["outcome"], outcome);
    }
}

/// W26: a queue that cannot be read is not a queue that is missing; the place is told.
#[test]
fn w26_a_malformed_queue_is_refused_with_its_place_and_a_missing_one_with_the_way_to_make_it() {
    let scene = Scene::of(1, "L2");
    scene.repository.write(FEATURES, "{\n  \"features\": [,]\n}\n").commit("broken");
    let broken = scene.run(&Play::default(), &[]);
    let said = [broken.stdout, broken.stderr].concat();
    assert!(said.contains("docs/FEATURES.json: ") && said.contains("line 2 column 16"), "{said}");
    scene.repository.git(&["rm", "-q", FEATURES]);
    scene.repository.commit("gone");
    let missing = scene.run(&Play::default(), &[]);
    let said = [missing.stdout, missing.stderr].concat();
    assert!(said.contains("windlass goal init"), "{said}");
}

/// Section 4.3: what was there before the loop is worked on where the contract names it.
#[test]
fn an_existing_item_is_worked_on_when_it_needs_rework_and_not_for_the_goal() {
    let old =
        with(item("E001"), json!({ "status": "needs-rework", "priority": 0, "location": ["e001.txt"] }));
    let list = queue(&[old, item("F002")]);
    let scene = Scene::with_contract(&list, &contract("E001, F002", "L2"));
    let _ = scene.ends(&Play::well(&["E001", "F002"]), 0);
    let subjects = scene.subjects();
    assert!(
        subjects[0].starts_with("feat(E001): ") && subjects[1].starts_with("feat(F002): "),
        "{subjects:?}"
    );
    scene.assert_sound();
}
