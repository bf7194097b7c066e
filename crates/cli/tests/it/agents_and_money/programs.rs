//! Which agent programs are there: in `windlass agents`, in `doctor`, and before a run begins.

use super::{KNOWN, Stage};
use serde_json::Value;

#[track_caller]
fn agent<'a>(agents: &'a Value, name: &str) -> &'a Value {
    let found = agents.as_array().unwrap().iter().find(|agent| agent["name"] == name);
    found.unwrap_or_else(|| panic!("{name} in {agents:#}"))
}

#[test]
fn each_program_is_told_with_its_version_its_login_and_the_roles_that_use_it() {
    let mut stage = Stage::new();
    let codex = stage.install_codex();
    stage.install("claude", "2.0.1 (Claude Code)", "exit 1");
    stage.install("gemini", "99.1.0", "exit 1");
    stage.install("opencode", "who knows", "exit 1");
    std::fs::create_dir(stage.world.home().join(".claude")).unwrap();
    std::fs::write(stage.world.home().join(".claude/.credentials.json"), "token-of-claude").unwrap();
    stage.world.set("OPENAI_API_KEY", "key-of-codex");
    stage.repository.write(
        "windlass.toml",
        "agent = 'codex:gpt-5.5'\njudge = 'claude'\njudge-fallback = ['gemini', 'codex']\n",
    );
    let output = stage.world.windlass(&["agents", "--json", "--repo", stage.repository.text()]).exits_with(0);
    for secret in ["key-of-codex", "token-of-claude"] {
        assert!(!output.stdout.contains(secret), "{}", output.stdout);
    }
    let agents = output.json();
    assert_eq!(agents.as_array().unwrap().len(), KNOWN.len());
    let view = agent(&agents, "codex");
    assert_eq!(view["path"], codex.to_str().unwrap());
    assert_eq!((&view["version"], &view["version_state"]), (&"0.166.0".into(), &"known".into()));
    assert_eq!(view["login"]["variables"], serde_json::json!(["OPENAI_API_KEY"]));
    assert_eq!(view["used_by"], serde_json::json!(["agent", "judge-fallback"]));
    assert_eq!((&view["fences_commands"], &view["read_only_mode"]), (&true.into(), &true.into()));
    let view = agent(&agents, "claude");
    assert_eq!((&view["version_state"], &view["fences_commands"]), (&"older".into(), &false.into()));
    assert!(
        view["advice"].as_str().unwrap().contains("npm install --global @anthropic-ai/claude-code@latest")
    );
    assert!(view["login"]["file"].as_str().unwrap().ends_with(".claude/.credentials.json"));
    assert_eq!(agent(&agents, "gemini")["version_state"], "newer");
    assert_eq!((agent(&agents, "opencode")["version_state"].as_str()), Some("untold"));
    let view = agent(&agents, "copilot");
    assert_eq!(
        (&view["path"], &view["install"]),
        (&Value::Null, &"npm install --global @github/copilot".into())
    );
}

#[test]
fn the_table_says_what_is_missing_and_what_to_type() {
    let mut stage = Stage::new();
    stage.install_codex();
    stage.install_claude();
    stage.world.set("CODEX_API_KEY", "x");
    let shown = stage.world.windlass(&["agents"]).exits_with(0).stdout;
    let row = |name: &str| {
        let line = shown.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{shown}"));
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("codex"), "✓ codex 0.166.0 CODEX_API_KEY sandboxed own read-only mode -");
    assert_eq!(row("claude"), "! claude 2.1.325 none seen commands not fenced own read-only mode -");
    assert_eq!(row("gemini"), "✗ gemini missing - - - -");
    assert!(shown.contains("gemini: install with `npm install --global @google/gemini-cli`"), "{shown}");
    assert!(shown.contains("claude: log in with `claude`"), "{shown}");
}

#[test]
fn the_doctor_looks_at_every_agent_the_settings_name() {
    let mut stage = Stage::new();
    stage.install_codex();
    stage.install("claude", "2.0.1 (Claude Code)", "exit 1");
    stage
        .repository
        .write("windlass.toml", "doer = 'codex'\njudge = 'claude'\nauditor-fallback = ['gemini']\n");
    let doctor = |stage: &Stage| {
        let output = stage.world.windlass(&["doctor", "--json", "--repo", stage.repository.text()]);
        let lines = output.exits_with(1).json()["lines"].as_array().unwrap().clone();
        move |what: &str| {
            let line =
                lines.iter().find(|line| line["what"] == what).unwrap_or_else(|| panic!("{what}: {lines:?}"));
            let text = |key: &str| line[key].as_str().unwrap().to_owned();
            (text("state"), text("details"), text("fix"))
        }
    };
    let line = doctor(&stage);
    let (health, details, fix) = line("agent (doer)");
    assert_eq!(
        (health.as_str(), details.as_str()),
        ("warning", "codex, version 0.166.0: no sign of a login")
    );
    assert!(fix.contains("codex login"), "{fix}");
    let (health, _, fix) = line("agent (judge)");
    assert!(health == "warning" && fix.contains("older than"), "{health}: {fix}");
    let (health, _, fix) = line("agent (auditor-fallback)");
    assert_eq!((health.as_str(), fix.as_str()), ("broken", "npm install --global @google/gemini-cli"));
    stage.world.set("OPENAI_API_KEY", "x");
    assert_eq!(doctor(&stage)("agent (doer)").0, "good");
}

#[test]
fn a_run_whose_agent_is_not_installed_is_refused_before_anything_exists() {
    let stage = Stage::new();
    stage.install_codex();
    for flags in [
        &["--agent", "claude:opus"][..],
        &["--agent", "codex", "--judge", "claude"],
        &["--agent", "codex", "--judge-fallback", "claude"],
    ] {
        let refused = stage.run(flags).exits_with(2);
        assert!(refused.stderr.contains("error[WL-AGENT-001]"), "{}", refused.stderr);
        assert!(
            refused.stderr.contains("npm install --global @anthropic-ai/claude-code"),
            "{}",
            refused.stderr
        );
        assert_eq!(refused.stdout, "");
    }
    let refused = stage.run(&["--agent", "acp:no-such-adapter --acp"]).exits_with(2);
    assert!(refused.stderr.contains("no program `no-such-adapter` on PATH"), "{}", refused.stderr);
    assert_eq!(stage.world.windlass(&["ls", "--json"]).exits_with(0).json(), serde_json::json!([]));
    assert!(!stage.repository.path().join(".orchestrator").exists());
}

#[test]
fn an_agent_program_that_is_too_old_is_told_of_before_it_is_asked() {
    let stage = Stage::new();
    stage.install_codex();
    let current = stage.run(&["--agent", "codex"]).exits_with(0);
    assert!(!current.stderr.contains("is older than"), "{}", current.stderr);
    let body = std::fs::read_to_string(stage.world.path().join("bin/codex")).unwrap();
    std::fs::write(stage.world.path().join("bin/codex"), body.replace("0.166.0", "0.9.1")).unwrap();
    let old = stage.run(&["--agent", "codex"]).exits_with(0);
    let notice = old.stderr.find("OpenAI Codex 0.9.1 is older than 0.154.0").expect("a notice");
    assert!(notice < old.stderr.find("the doer works").unwrap(), "{}", old.stderr);
}

#[test]
fn the_stand_in_for_the_original_takes_codex_as_the_original_did() {
    let stage = Stage::new();
    let words =
        ["compat", "run-loop", "--repo", stage.repository.text(), "--task-id", "TASK-1", "--task", "x"];
    let missing = stage.world.windlass(&words).exits_with(1);
    assert!(missing.stderr.contains("npm install --global @openai/codex"), "{}", missing.stderr);
    assert!(missing.stderr.contains("choose another with `--agent`"), "{}", missing.stderr);
    stage.install_codex();
    let output = stage.world.windlass(&[&words[..], &["--skip-audit"]].concat()).exits_with(0);
    assert!(output.stdout.contains("final_verdict=pass"), "{}", output.stdout);
    let dry = stage.world.windlass(&[&words[..], &["--dry-run"]].concat()).exits_with(0);
    assert!(dry.stdout.contains("[DRY-RUN] doer: codex"), "{}", dry.stdout);
}
