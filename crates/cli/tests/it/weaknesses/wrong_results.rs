//! W10 to W19: results that were wrong.

use super::{accepting, working_doer};
use crate::scene::{Scene, TASK};
use windlass_test_support::{Script, When};

#[test]
fn w10_a_relative_base_means_the_same_commit_for_doer_and_judge() {
    let scene = Scene::new();
    scene.repository.write("second.txt", "2\n").commit("second");
    scene.repository.write("third.txt", "3\n").commit("third");
    let base = scene.repository.git(&["rev-parse", "HEAD~1"]);
    let look = "{ run = ['sh', '-c', 'git rev-parse HEAD >> {script_dir}/heads; ls >> {script_dir}/files'] }";
    let script = Script::new()
        .doer(When::Always, &[look, "{ write = 'done-{round}.txt', text = 'x' }", "{ handoff = 'x' }"])
        .judge(When::Round(1), &[look, "{ verdict = 'reject' }"])
        .judge(When::Round(2), &[look, "{ verdict = 'pass' }"])
        .auditor(When::Always, &[look, "{ audit = 'pass' }"]);
    scene.play(&script, &["--base", "HEAD~1", "--rounds", "2"]).exits_with(0);
    let heads = std::fs::read_to_string(scene.world.shared("heads")).unwrap();
    assert_eq!(heads.lines().collect::<Vec<_>>(), [base.as_str(); 5]);
    assert!(!std::fs::read_to_string(scene.world.shared("files")).unwrap().contains("third.txt"));
    assert_eq!(scene.repository.git(&["rev-parse", &format!("windlass/{TASK}~1")]), base);
}

#[test]
fn w11_a_doer_that_commits_in_every_round_hands_over_the_whole_change() {
    let scene = Scene::new();
    let commit = "{ run = ['sh', '-c', 'git add -A; git -c user.name=x -c user.email=x@x commit -qm mine'] }";
    let script = Script::new()
        .doer(When::Always, &["{ write = 'done-{round}.txt', text = 'x' }", commit, "{ handoff = 'x' }"])
        .judge(When::Round(1), &["{ verdict = 'reject' }"])
        .judge(When::Round(2), &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = scene.play(&script, &["--rounds", "2"]).exits_with(0);
    let patch = played.text(2, "patch.diff");
    assert!(patch.contains("b/done-1.txt") && patch.contains("b/done-2.txt"), "{patch}");
    assert_eq!(scene.landed_changes(), ["A\tdone-1.txt", "A\tdone-2.txt"]);
}

#[test]
fn w12_the_user_s_git_configuration_does_not_change_the_patch() {
    let plain = Scene::new();
    let expected = plain.play(&Script::that_passes(), &[]).exits_with(0).text(1, "patch.diff");
    let scene = Scene::new();
    let settings = [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("color.ui", "always"),
        ("diff.external", "false"),
        ("core.autocrlf", "true"),
        ("diff.context", "9"),
        ("core.quotePath", "false"),
        ("diff.orderFile", "/nowhere"),
        ("core.safecrlf", "true"),
    ];
    for (key, value) in settings {
        scene.repository.git(&["config", key, value]);
    }
    let played = scene.play(&Script::that_passes(), &[]).exits_with(0);
    assert_eq!(played.text(1, "patch.diff"), expected);
}

#[test]
fn w13_a_word_nobody_knows_never_becomes_the_final_verdict() {
    let scene = Scene::new();
    let script = accepting(working_doer()).judge(When::Round(1), &["{ verdict = { verdict = 'approved' } }"]);
    let played = scene.play(&script, &["--rounds", "1"]).exits_with(11);
    assert_eq!(played.words(), "needs-human needs-human not-run 1");
    let gated = Scene::new();
    let script = accepting(working_doer()).auditor(When::Round(1), &["{ audit = { gate = 'approved' } }"]);
    let played = gated.play(&script, &["--rounds", "1"]).exits_with(11);
    assert_eq!(played.words(), "needs-human pass needs-human 1");
}

#[test]
fn w14_the_gate_in_the_summary_belongs_to_the_round_of_the_verdict() {
    let scene = Scene::new();
    let script = working_doer()
        .judge(When::Round(1), &["{ verdict = 'pass' }"])
        .auditor(When::Round(1), &["{ audit = 'fail' }"])
        .judge(When::Round(2), &["{ verdict = 'reject' }"]);
    let played = scene.play(&script, &["--rounds", "2"]).exits_with(10);
    assert_eq!(played.words(), "reject reject not-run 2");
}

#[test]
fn w15_a_handoff_that_breaks_its_rules_is_not_taken() {
    for wrong in [
        "{ task_id = 'TASK-2' }",
        "{ requirements_touched = ['R1'] }",
        "{ smoke_checks = [{ command = '', status = 'pass' }] }",
    ] {
        let scene = Scene::new();
        let handoff = format!("{{ handoff = {wrong} }}");
        let script = accepting(Script::new().doer(When::Always, &["{ write = 'a', text = 'a' }", &handoff]));
        let played = scene.play(&script, &["--rounds", "1"]).exits_with(10);
        assert_eq!(played.words(), "reject not-run not-run 1", "{wrong}");
    }
}

#[test]
fn w15_a_pass_with_missing_requirements_is_not_a_pass() {
    let scene = Scene::new();
    let verdict = "{ verdict = { verdict = 'pass', requirements_missing = ['RQ-007'] } }";
    let script = accepting(working_doer()).judge(When::Round(1), &[verdict]);
    let played = scene.play(&script, &["--rounds", "1"]).exits_with(10);
    assert_eq!(played.words(), "reject reject not-run 1");
    assert_eq!(played.artifact(1, "verdict.json")["verdict"], "reject");
    assert!(played.explained().contains("RQ-007"), "{}", played.explained());
}

#[test]
fn w15_a_pass_that_is_silent_about_a_touched_requirement_is_sent_back() {
    let scene = Scene::new();
    let script = accepting(Script::new().doer(
        When::Always,
        &["{ write = 'a', text = 'a' }", "{ handoff = { requirements_touched = ['RQ-001'] } }"],
    ));
    let played = scene.play(&script, &["--rounds", "1"]).exits_with(11);
    assert_eq!(scene.world.steps(), ["doer 1 1", "judge 1 1", "judge 1 2"]);
    assert!(played.explained().contains("RQ-001"), "{}", played.explained());
}

#[test]
fn w15_a_gate_that_passes_over_failed_evidence_is_not_a_pass() {
    let scene = Scene::new();
    let audit = "{ audit = { gate = 'pass', policy = { eval_commands = 'fail' } } }";
    let script = accepting(working_doer()).auditor(When::Round(1), &[audit]);
    let played = scene.play(&script, &["--rounds", "1"]).exits_with(10);
    assert_eq!(played.words(), "reject pass fail 1");
    scene.assert_nothing_landed();
}

#[test]
fn w16_the_engine_runs_the_checks_and_a_red_one_cannot_be_talked_away() {
    let scene = Scene::new();
    let played = scene.play(&accepting(working_doer()), &["--check", "echo why; exit 4", "--rounds", "1"]);
    let played = played.exits_with(10);
    assert_eq!(played.words(), "reject reject not-run 1");
    assert_eq!(scene.world.steps(), ["doer 1 1"]);
    let results = played.artifact(1, "eval-results.json");
    assert_eq!(results["results"][0]["status"], "fail");
    assert_eq!(results["results"][0]["exit_code"], 4);
    assert_eq!(played.text(1, "logs/cmd-01.stdout.log"), "why\n");
    assert!(played.sealed().contains(&"logs/cmd-01.stdout.log".to_owned()), "logs are sealed by hash");
}

#[test]
fn w16_the_judge_is_given_the_results() {
    let scene = Scene::new();
    let played = scene.play(&accepting(working_doer()), &["--check", "echo all is well"]).exits_with(0);
    let prompt = played.text(1, "judge.prompt.md");
    assert!(prompt.contains("echo all is well") && prompt.contains("\nall is well"), "{prompt}");
}

#[test]
fn w17_what_the_judge_leaves_ignored_does_not_reach_the_auditor() {
    let scene = Scene::new();
    scene.repository.write(".gitignore", "build/\n").commit("ignore build output");
    let script = working_doer()
        .judge(When::Always, &["{ write = 'build/ok', text = 'x' }", "{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ run = ['test', '!', '-e', 'build/ok'] }", "{ audit = 'pass' }"]);
    scene.play(&script, &[]).exits_with(0);
}

#[test]
fn w18_the_judge_s_own_git_shows_new_files() {
    let scene = Scene::new();
    let look = "{ run = ['sh', '-c', 'git diff HEAD > {script_dir}/diff; git status --short > {script_dir}/status'] }";
    let script = accepting(working_doer()).judge(When::Round(1), &[look, "{ verdict = 'pass' }"]);
    scene.play(&script, &[]).exits_with(0);
    assert!(std::fs::read_to_string(scene.world.shared("diff")).unwrap().contains("+++ b/done-1.txt"));
    assert_eq!(std::fs::read_to_string(scene.world.shared("status")).unwrap(), "A  done-1.txt\n");
}

#[test]
fn w19_the_doer_hears_of_earlier_rounds_too() {
    let scene = Scene::new();
    let no = |word: &str| {
        format!(
            "{{ verdict = {{ verdict = 'reject', reasons = [{{ check = 'unit', details = '{word}' }}] }} }}"
        )
    };
    let script = accepting(working_doer())
        .judge(When::Round(1), &[&no("the first reason")])
        .judge(When::Round(2), &[&no("the second reason")]);
    let played = scene.play(&script, &["--rounds", "3"]).exits_with(0);
    let prompt = played.text(3, "doer.prompt.md");
    assert!(prompt.contains("the second reason") && prompt.contains("the first reason"), "{prompt}");
}

#[test]
fn w19_a_doer_that_goes_in_circles_is_noticed() {
    let scene = Scene::new();
    let script = Script::new()
        .doer(When::Always, &["{ write = 'same.txt', text = 'same' }", "{ handoff = 'the same again' }"])
        .judge(When::Always, &["{ verdict = 'reject' }"]);
    let played = scene.play(&script, &["--rounds", "9"]).exits_with(11);
    assert_eq!(scene.world.steps(), ["doer 1 1", "judge 1 1", "doer 2 1", "doer 3 1"]);
    assert_eq!(played.summary()["final_verdict"], "needs-human");
}
