//! W1 to W9: how agents are started, and the points where the original crashed.

use super::{accepting, working_doer};
use crate::scene::{Played, Scene, TASK};
use std::path::PathBuf;
use windlass_test_support::{Script, Signal, When, wait_until};

/// A program that is no scripted agent: it knows the environment it is promised and nothing else.
fn plain_program(scene: &Scene) -> PathBuf {
    let path = scene.world.shared("agent.sh");
    let seen = scene.world.shared("seen");
    let text = format!(
        r#"printf '%s|' "$WINDLASS_ROLE" "$@" >> '{}'; echo >> '{0}'
cat > /dev/null
case $WINDLASS_ROLE in
  doer) echo done > done.txt; cat > "$WINDLASS_OUTBOX/handoff.json" <<'END'
{{ "task_id": "{TASK}", "summary": "adds done.txt", "requirements_touched": [], "files_touched": ["done.txt"],
  "assumptions": [], "smoke_checks": [], "notes": "" }}
END
  ;;
  judge) cat > "$WINDLASS_OUTBOX/verdict.json" <<'END'
{{ "task_id": "{TASK}", "verdict": "pass", "reasons": [], "required_changes": [], "suggested_tests": [],
  "requirements_checked": [], "requirements_missing": [], "notes": "" }}
END
  ;;
  auditor) cat > "$WINDLASS_OUTBOX/audit.json" <<'END'
{{ "task_id": "{TASK}", "gate": "pass", "findings": [], "required_actions": [], "notes": "",
  "traceability": {{ "task_id_match": "pass", "requirements_coverage": "unknown", "issues": [] }} }}
END
  ;;
esac
"#,
        seen.display()
    );
    std::fs::write(&path, text).expect("the world can be written");
    path
}

#[test]
fn w01_an_agent_is_started_with_the_words_it_was_given_and_no_others() {
    let scene = Scene::new();
    let agent = format!("command:sh {} --mine 'two words'", plain_program(&scene).display());
    let played = scene.run(&["--agent", &agent]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    let seen = std::fs::read_to_string(scene.world.shared("seen")).unwrap();
    assert_eq!(seen, "doer|--mine|two words|\njudge|--mine|two words|\nauditor|--mine|two words|\n");
}

#[test]
fn w02_the_engine_writes_the_canonical_artifact_from_what_lies_in_the_outbox() {
    let scene = Scene::new();
    let agent = format!("command:sh {}", plain_program(&scene).display());
    let played = scene.run(&["--agent", &agent]).exits_with(0);
    let verdict = played.text(1, "verdict.json");
    assert!(verdict.starts_with("{\n  \"task_id\": \"TASK-1\",\n  \"verdict\": \"pass\",\n"), "{verdict}");
    // The auditor left out what its prompt does not insist on; the canonical file has every key.
    let audit = played.artifact(1, "audit.json");
    assert_eq!(audit["risk"]["level"], "high");
    assert_eq!(audit["policy"]["eval_commands"], "unknown");
    played.assert_strict_layout();
}

#[test]
fn w03_new_files_are_in_the_patch_without_any_git_of_the_doer() {
    let scene = Scene::new();
    let agent = format!("command:sh {}", plain_program(&scene).display());
    let played = scene.run(&["--agent", &agent]).exits_with(0);
    assert!(played.text(1, "patch.diff").contains("+++ b/done.txt\n@@ -0,0 +1 @@\n+done\n"));
}

#[test]
fn w04_output_is_capped_and_what_was_said_is_kept() {
    let scene = Scene::new();
    let script = accepting(Script::new().doer(
        When::Always,
        &["{ complain = 'something is wrong' }", "{ flood = { bytes = 8_000_000 } }", "{ handoff = 'x' }"],
    ));
    let played = scene.play(&script, &["--max-output-mb", "1"]).exits_with(12);
    assert_eq!(played.outcome["status"], "exhausted");
    assert!(played.sealed().contains(&"doer.stderr.log".to_owned()), "{:?}", played.sealed());
    scene.world.assert_no_processes();
}

#[test]
fn w05_the_minimal_call_without_any_check_works_and_says_that_there_are_none() {
    let scene = Scene::new();
    let played = scene.play(&Script::that_passes(), &[]).exits_with(0);
    for prompt in ["judge.prompt.md", "audit.prompt.md"] {
        let text = played.text(1, prompt);
        assert!(
            text.contains(" commands were supplied. Say in your notes where that limits the evidence"),
            "{text}"
        );
    }
    assert!(!played.has(1, "eval-results.json"));
}

#[test]
fn w06_an_empty_change_is_feedback_and_counts_as_a_round() {
    let scene = Scene::new();
    let script = accepting(Script::new().doer(When::Always, &["{ handoff = 'nothing to do' }"]));
    let played = scene.play(&script, &["--rounds", "1"]).exits_with(10);
    assert_eq!(played.words(), "reject not-run not-run 1");
    assert!(played.explained().contains("no-change"), "{}", played.explained());
}

#[test]
fn w07_a_malformed_verdict_is_asked_for_once_more_and_then_a_person_is() {
    let scene = Scene::new();
    let script = accepting(working_doer())
        .judge(When::Round(1), &["{ artifact = 'verdict.json', text = '{ \"reasons\": [1] }' }"]);
    let played = scene.play(&script, &[]).exits_with(11);
    assert_eq!(scene.world.steps(), ["doer 1 1", "judge 1 1", "judge 1 2"]);
    assert!(played.text(1, "judge.prompt.md").contains("/reasons/0"), "the faults are told");
}

#[test]
fn w08_a_failing_agent_costs_its_round_not_the_run() {
    let scene = Scene::new();
    let script = accepting(working_doer()).doer(When::Round(1), &["{ crash = 'ABRT' }"]);
    let played = scene.play(&script, &["--rounds", "2"]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 2");
}

#[test]
fn w09_an_interrupted_run_leaves_no_agent_behind_and_goes_on_later() {
    let scene = Scene::new();
    let script = accepting(Script::new())
        .doer(
            When::Attempt { round: 1, attempt: 1 },
            &[
                "{ write = 'done.txt', text = 'done' }",
                "{ wait_for = 'go' }",
                "{ handoff = 'adds done.txt' }",
            ],
        )
        .doer(When::Round(1), &["{ write = 'done.txt', text = 'done' }", "{ handoff = 'adds done.txt' }"]);
    let agent = scene.world.agent("script.toml", &script);
    let words =
        ["run", "Add done.txt", "--id", TASK, "--repo", scene.repository.text(), "--json", "--agent", &agent];
    let background = scene.world.start_windlass(&words);
    wait_until("the doer to begin", || (!scene.world.steps().is_empty()).then_some(()));
    background.signal(Signal::TERM);
    let ended = background.wait().exits_with(13);
    scene.world.assert_no_processes();
    let run = ended.json_lines().last().unwrap()["run"].as_str().unwrap().to_owned();
    let played = Played::of(&scene.world.windlass(&["resume", &run, "--json"])).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
}
