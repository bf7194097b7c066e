//! The task loop's acceptance list: base refs, odd changes, odd names, odd agents. Its first point is `state_table`, its
//! third is in `legacy`, the runs at the same time are in `holding`.

mod bases;
mod changes;
mod names;
mod odd_agents;

use crate::scene::Scene;
use windlass_test_support::{Script, When};

/// The second point: what the original's writers emit is taken, and what we write is what its validators ask for.
#[test]
fn artifacts_as_the_original_s_writers_emit_them_are_taken() {
    let scene = Scene::new();
    let handoff = "{\n  \"task_id\": \"TASK-1\",\n  \"summary\": \"adds done.txt\",\n  \"requirements_touched\": \
                   [\"RQ-001\"],\n  \"files_touched\": [\"done.txt\"],\n  \"assumptions\": [],\n  \"smoke_checks\": \
                   [{\"command\": \"true\", \"status\": \"pass\"}],\n  \"notes\": \"\"\n}\n";
    let verdict = "{\n  \"task_id\": \"TASK-1\",\n  \"verdict\": \"pass\",\n  \"reasons\": [],\n  \
                   \"required_changes\": [],\n  \"suggested_tests\": [],\n  \"requirements_checked\": [\"RQ-001\"],\n  \
                   \"requirements_missing\": [],\n  \"notes\": \"\"\n}\n";
    let audit = "{\n  \"task_id\": \"TASK-1\",\n  \"gate\": \"pass\",\n  \"findings\": [],\n  \"traceability\": \
                 {\"task_id_match\": \"pass\", \"requirements_coverage\": \"pass\", \"issues\": []},\n  \
                 \"required_actions\": [],\n  \"notes\": \"\"\n}\n";
    let leave = |name: &str, text: &str| format!("{{ artifact = '{name}', text = '''{text}''' }}");
    let script = Script::new()
        .doer(When::Always, &["{ write = 'done.txt', text = 'done' }", &leave("handoff.json", handoff)])
        .judge(When::Always, &[&leave("verdict.json", verdict)])
        .auditor(When::Always, &[&leave("audit.json", audit)]);
    let played = scene.play(&script, &[]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    assert_eq!(
        played.text(1, "verdict.json").replace(char::is_whitespace, ""),
        verdict.replace(char::is_whitespace, "")
    );
    played.assert_strict_layout();
}

/// The sixth point.
#[test]
fn a_judge_that_writes_into_its_tree_or_edits_patch_or_handoff_is_void() {
    let round = "{workspace}/../../rounds/round-1";
    let edits = [
        "{ write = 'new.txt', text = 'x' }".to_owned(),
        format!("{{ append = '{round}/patch.diff', text = 'x' }}"),
        format!("{{ write = '{round}/handoff.json', text = 'x' }}"),
    ];
    for edit in edits {
        let scene = Scene::without_sandbox("the fence would keep the judge from writing");
        let script = Script::that_passes().judge(When::Round(1), &[&edit, "{ verdict = 'pass' }"]);
        let played = scene.play(&script, &[]).exits_with(11);
        assert_eq!(played.words(), "needs-human needs-human not-run 1", "{edit}");
        scene.assert_nothing_landed();
    }
}
