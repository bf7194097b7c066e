//! Real programs as the actuator of a control loop: told to run a command, they find no way to where they can be told to
//! run none, whatever the settings they find allow; and the record says which of them could have.

use crate::script::figures;
use crate::stage::Stage;
use windlass_test_support::AgentProgram;
use windlass_test_support::scripted_model::{Action, ModelScript, ScriptEntry, Turn};

const CONTROLLER: &str = r#"if test -e made.txt; then printf -- '---\ntarget-met: true\n---\n\n## Gap Analysis\n\nIt is there.\n'
else printf -- '---\ntarget-met: false\n---\n\n## Gap Analysis\n\nIt is missing.\n\n## Action Plan\n\n1. Make `made.txt`.\n'
fi > "$WINDLASS_OUTBOX/controller-output.md""#;

const REPORT: &str =
    "# Actuator Output\n\n## What Was Done\n\nMade it.\n\n## Files Changed\n\n- `made.txt` (created)\n";

/// Told to run a command and to write two files, it writes the files.
fn runs_no_command_where_it_can_be_told_to(program: AgentProgram) {
    let write = |path: &str, text: &str| Action::Write { path: path.to_owned(), text: text.to_owned() };
    let work = Turn::shell("echo ran > ran.txt")
        .then(write("${cwd}/made.txt", "made\n"))
        .then(write("${outbox}/actuator-output.md", REPORT));
    let entry = ScriptEntry::when("Role: actuator")
        .turn(work.usage(figures(1)))
        .turn(Turn::say("Done.").usage(figures(2)));
    let Some(stage) = Stage::with(&[program], ModelScript::new().entry(entry)) else { return };
    set_up(&stage);
    let controller = stage.world.shared("controller.sh");
    std::fs::write(&controller, CONTROLLER).unwrap();
    let controller = format!("command:/bin/sh {}", controller.display());
    let running = stage.world.start_windlass(&[
        "control",
        "run",
        "Make it",
        "--repo",
        stage.repository.text(),
        "--yes",
        "--json",
        "--controller",
        &controller,
        "--actuator",
        program.name(),
    ]);
    let _ = stage.played(running).exits_with(0, &stage);
    let files = stage.repository.git(&["ls-tree", "--name-only", "ai-loop/make-it"]);
    let (made, ran) = (files.contains("made.txt"), files.contains("ran.txt"));
    assert!(made, "{files}\n{:#?}", stage.turns());
    let cannot_be_told = program == AgentProgram::Codex;
    assert_eq!(ran, cannot_be_told, "{files}\n{:#?}", stage.turns());
    let log = stage.world.windlass(&["log", &stage.id()]).exits_with(0).stdout;
    assert!(log.contains("the actuator reports: Made it."), "{log}");
    assert_eq!(log.contains("its program could have run commands"), cannot_be_told, "{log}");
    stage.assert_all_counted();
}

/// One sensor, both roles, and settings for each program that would let it run whatever it likes.
fn set_up(stage: &Stage) {
    let front = |name: &str| format!("---\nname: {name}\ndescription: plays\n---\n\n");
    let sensor = format!("{}## Measurement\n\n    test -e made.txt\n", front("loop-sensor-made"));
    stage
        .repository
        .write(".claude/agents/loop-sensor-made.md", &sensor)
        .write(
            ".claude/agents/loop-controller.md",
            &format!("{}Compare and plan.\n", front("loop-controller")),
        )
        .write(".claude/agents/loop-actuator.md", &format!("{}Edit files.\n", front("loop-actuator")))
        .write(".claude/settings.json", r#"{"permissions":{"allow":["Bash"]}}"#)
        .write("opencode.json", r#"{"agent":{"build":{"permission":{"bash":"allow"}}}}"#)
        .commit("set up");
    let policies = stage.world.home().join(".gemini/policies");
    std::fs::create_dir_all(&policies).unwrap();
    let allowed = "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"allow\"\npriority = 100\n";
    std::fs::write(policies.join("own.toml"), allowed).unwrap();
}

each_program!(runs_no_command_where_it_can_be_told_to);
