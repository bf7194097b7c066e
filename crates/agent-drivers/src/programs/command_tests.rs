//! The exact command of each program for a maker, a checker and a conversation that goes on. These lines were accepted by
//! the real programs when the recordings of this crate were made; a flag that changes here must be tried there.

use std::path::{Path, PathBuf};

use crate::{
    Access, AgentChoice, AgentProgram, AnswerBy, AnswerSchema, CommandLine, Commands, Invocation, Role,
    Session, Stdin, driver,
};

const UUID: &str = "5f0c1d5e-9f3b-4f0a-8a55-0c8f3f2f7a11";

fn invocation(access: Access, session: Session) -> Invocation {
    let schema =
        AnswerSchema { text: r#"{"type":"object"}"#.to_owned(), file: PathBuf::from("/step/schema.json") };
    Invocation {
        run_id: "run-7".to_owned(),
        task_id: "TASK-1".to_owned(),
        role: if access == Access::ReadWrite { Role::Doer } else { Role::Judge },
        round: 2,
        attempt: 1,
        label: None,
        workspace: PathBuf::from("/tree"),
        outbox: PathBuf::from("/step/out box"),
        prompt_file: PathBuf::from("/step/prompt.md"),
        access,
        commands: Commands::Allowed,
        readable: vec![PathBuf::from("/round")],
        session,
        answer_schema: (access == Access::ReadOnly).then_some(schema),
        usage_file: PathBuf::from("/step/usage.json"),
        windlass_program: PathBuf::from("/bin/windlass"),
    }
}

fn build(choice: &str, access: Access, session: Session) -> CommandLine {
    driver::build(&AgentChoice::parse(choice).unwrap(), &invocation(access, session)).unwrap()
}

/// As the actuator of a control loop is started.
fn build_without_commands(choice: &str) -> CommandLine {
    let choice = AgentChoice::parse(choice).unwrap();
    assert!(
        driver::commands_off(&choice, Commands::Off) && !driver::commands_off(&choice, Commands::Allowed)
    );
    let usual = invocation(Access::ReadWrite, fresh());
    driver::build(&choice, &Invocation { role: Role::Actuator, commands: Commands::Off, ..usual }).unwrap()
}

fn fresh() -> Session {
    Session::Fresh { id: Some(UUID.to_owned()) }
}

fn resumed() -> Session {
    Session::Resume { id: UUID.to_owned() }
}

fn assert_words(built: &CommandLine, expected: &str) {
    let found = std::iter::once(&built.program).chain(&built.arguments).map(String::as_str);
    assert_eq!(crate::quote_words(found), expected);
    assert_eq!(built.stdin, Stdin::Prompt);
}

#[test]
fn codex() {
    let settings = "--disable unbounded_connection_retries -c check_for_update_on_startup=false -c analytics.enabled=false";
    assert_words(
        &build("codex:gpt-5.5@high", Access::ReadWrite, fresh()),
        &format!(
            "codex exec --json --sandbox workspace-write --add-dir '/step/out box' -c \
             sandbox_workspace_write.exclude_slash_tmp=true {settings} --model gpt-5.5 -c \
             'model_reasoning_effort=\"high\"' -"
        ),
    );
    assert_words(
        &build("codex", Access::ReadOnly, fresh()),
        &format!("codex exec --json --sandbox read-only {settings} --output-schema /step/schema.json -"),
    );
    assert_words(
        &build("codex", Access::ReadOnly, resumed()),
        &format!(
            "codex exec --json --sandbox read-only {settings} --output-schema /step/schema.json resume {UUID} -"
        ),
    );
}

#[test]
fn claude() {
    let base =
        "claude -p --output-format stream-json --verbose --strict-mcp-config --include-partial-messages";
    assert_words(
        &build("claude:opus@max", Access::ReadWrite, fresh()),
        &format!(
            "{base} --permission-mode acceptEdits --allowedTools Bash --add-dir '/step/out box' --add-dir /round --model opus --effort \
             max --session-id {UUID}"
        ),
    );
    let checker = build("claude", Access::ReadOnly, resumed());
    assert_words(
        &checker,
        &format!(
            "{base} --permission-mode dontAsk --tools Read,Grep,Glob --add-dir /round --resume {UUID} --json-schema \
             '{{\"type\":\"object\"}}'"
        ),
    );
    assert_eq!(checker.environment["CLAUDE_CODE_MAX_RETRIES"], "2");
    assert_words(
        &build_without_commands("claude"),
        &format!(
            "{base} --permission-mode acceptEdits --tools Read,Grep,Glob,Edit,Write --add-dir '/step/out box' --add-dir /round \
             --session-id {UUID}"
        ),
    );
}

#[test]
fn gemini() {
    let base = "gemini --output-format stream-json --skip-trust --approval-mode";
    let maker = build("gemini:gemini-2.5-pro", Access::ReadWrite, fresh());
    assert_words(
        &maker,
        &format!(
            "{base} yolo --include-directories '/step/out box' --include-directories /round --model gemini-2.5-pro --session-id {UUID}"
        ),
    );
    assert_eq!(maker.environment["GEMINI_CLI_NO_RELAUNCH"], "true");
    assert_words(
        &build("gemini", Access::ReadOnly, resumed()),
        &format!("{base} plan --include-directories /round --resume {UUID}"),
    );
    let actuator = build_without_commands("gemini");
    assert_words(
        &actuator,
        &format!(
            "{base} auto_edit --admin-policy /step/gemini-policy.toml --include-directories '/step/out box' \
             --include-directories /round --session-id {UUID}"
        ),
    );
    let policy = &actuator.files[Path::new("/step/gemini-policy.toml")];
    assert!(policy.contains("toolName = \"*\"\ndecision = \"deny\""), "{policy}");
    assert!(!policy.contains("run_shell_command"), "{policy}");
}

#[test]
fn opencode() {
    let maker = build("opencode:anthropic/claude-opus@high", Access::ReadWrite, fresh());
    assert_words(
        &maker,
        "opencode run --format json --auto --model anthropic/claude-opus --variant high --title 'Windlass run-7, doer, \
         round 2'",
    );
    assert!(!maker.environment.contains_key("OPENCODE_PERMISSION"));
    let checker = build("opencode", Access::ReadOnly, resumed());
    assert_words(&checker, &format!("opencode run --format json --session {UUID}"));
    let denied: serde_json::Value =
        serde_json::from_str(&checker.environment["OPENCODE_PERMISSION"]).unwrap();
    for way_to_write in ["edit", "bash", "task"] {
        assert_eq!(denied[way_to_write], "deny", "{way_to_write}");
    }
    assert_eq!(denied["external_directory"], serde_json::json!({"*": "deny", "/round/*": "allow"}));
    let actuator = build_without_commands("opencode");
    assert_words(
        &actuator,
        "opencode run --format json --auto --agent windlass-run-7 --title 'Windlass run-7, actuator, round 2'",
    );
    assert_eq!(actuator.environment["OPENCODE_CONFIG_DIR"], "/step/opencode");
    let settings: serde_json::Value =
        serde_json::from_str(&actuator.files[Path::new("/step/opencode/opencode.json")]).unwrap();
    assert_eq!(settings["agent"]["windlass-run-7"]["permission"]["bash"], "deny");
}

#[test]
fn copilot() {
    let base = "copilot --output-format json --no-ask-user --allow-all-tools";
    assert_words(
        &build("copilot:gpt-5.1@low", Access::ReadWrite, fresh()),
        &format!(
            "{base} --add-dir '/step/out box' --add-dir /round --model gpt-5.1 --reasoning-effort low --session-id {UUID} \
             --usage-output-file /step/usage.json"
        ),
    );
    assert_words(
        &build("copilot", Access::ReadOnly, resumed()),
        &format!(
            "{base} --available-tools view grep glob --add-dir /round --resume={UUID} --usage-output-file /step/usage.json"
        ),
    );
    assert_words(
        &build_without_commands("copilot"),
        &format!(
            "{base} --deny-tool shell --add-dir '/step/out box' --add-dir /round --session-id {UUID} --usage-output-file \
             /step/usage.json"
        ),
    );
}

#[test]
fn an_agent_behind_the_client_protocol_is_started_by_our_own_client() {
    let gemini = build("acp:gemini --acp", Access::ReadOnly, fresh());
    assert_words(&gemini, "/bin/windlass __acp --read-only -- gemini --acp");
    assert_eq!(gemini.environment["GEMINI_CLI_NO_RELAUNCH"], "true");
    assert_words(
        &build("acp:codex-acp", Access::ReadWrite, resumed()),
        &format!("/bin/windlass __acp --read-write --resume {UUID} -- codex-acp"),
    );
}

#[test]
fn whoever_cannot_be_told_to_run_no_commands_is_started_as_ever() {
    for told in ["codex", "command:a", "shell:a", "scripted:a", "acp:gemini --acp"] {
        let choice = AgentChoice::parse(told).unwrap();
        assert!(!driver::commands_off(&choice, Commands::Off), "{told}");
        let usual = invocation(Access::ReadWrite, fresh());
        let off = Invocation { commands: Commands::Off, ..usual.clone() };
        assert_eq!(driver::build(&choice, &off), driver::build(&choice, &usual), "{told}");
    }
}

#[test]
fn makers_write_into_the_outbox_and_checkers_that_cannot_write_speak() {
    for program in AgentProgram::ALL {
        let choice = AgentChoice::parse(program.as_str()).unwrap();
        assert_eq!(driver::answer_by(&choice, Access::ReadWrite), AnswerBy::Outbox, "{program}");
        let spoken =
            if program == AgentProgram::Claude { AnswerBy::ClosingWord } else { AnswerBy::FinalMessage };
        assert_eq!(driver::answer_by(&choice, Access::ReadOnly), spoken, "{program}");
    }
    for plain in ["command:a", "shell:a", "scripted:a"] {
        let choice = AgentChoice::parse(plain).unwrap();
        assert_eq!(driver::answer_by(&choice, Access::ReadOnly), AnswerBy::Outbox, "{plain}");
    }
}

#[test]
fn no_program_is_ever_freed_of_all_its_safety() {
    for program in AgentProgram::ALL {
        for access in [Access::ReadWrite, Access::ReadOnly] {
            for session in [fresh(), resumed()] {
                let built = build(program.as_str(), access, session);
                let words = built.arguments.join(" ");
                for freed in [
                    "dangerously",
                    "danger-full-access",
                    "bypassPermissions",
                    "allow-all-paths",
                    "network_access",
                ] {
                    assert!(!words.contains(freed), "{program}: {words}");
                }
            }
        }
    }
}

#[test]
fn every_program_finds_its_place_in_the_environment() {
    for program in AgentProgram::ALL {
        let environment = build(program.as_str(), Access::ReadWrite, fresh()).environment;
        assert_eq!(environment["WINDLASS_OUTBOX"], "/step/out box", "{program}");
        assert_eq!(environment["WINDLASS_ROLE"], "doer", "{program}");
    }
}
