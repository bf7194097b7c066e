//! Launchers named like the agent programs, for the front of a world's `PATH`: each starts the real program with what it
//! needs to talk to the scripted model and to nobody else. They pass on whatever arguments they are given.

use crate::agent_programs::AgentProgram;
use crate::scripted_model::ScriptedModel;
use crate::world::World;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use windlass_process_supervisor::QuickCommand;

/// How often a program may repeat a failed request by itself. Their own numbers would keep tests waiting for minutes.
const RETRIES: u32 = 1;

impl World {
    /// Puts the six launchers before everything else on the world's `PATH`. A launcher becomes the program by `exec`, so
    /// pid, signals and exit code are the program's own.
    pub fn launch_agents_against(&mut self, model: &ScriptedModel) {
        let bin = self.agent_launchers();
        std::fs::create_dir_all(&bin).expect("the world can be written");
        write_gemini_settings(&self.home());
        for program in AgentProgram::ALL {
            write_program(&bin.join(program.name()), &launcher(program, &model.url()));
        }
        let before = self.environment().get(&OsString::from("PATH")).cloned().unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&before)));
        self.set("PATH", path.expect("a world's directory can stand in PATH"));
    }

    /// Where the launchers are.
    pub fn agent_launchers(&self) -> PathBuf {
        self.path().join("agent-launchers")
    }
}

/// The home is the world's, where each program has its places beside those of the others, as on a user's machine.
fn launcher(program: AgentProgram, url: &str) -> String {
    let mut lines =
        vec!["#!/bin/sh".to_owned(), format!("# The real {} against the scripted model.", program.name())];
    let exported = |(name, value): (&str, String)| format!("export {name}={}", quoted(&value));
    lines.extend(environment(program, url).into_iter().map(exported));
    // A key that comes through from the test is used, so that it can be looked for in what the model was sent.
    lines.extend(key_variable(program).map(|key| format!("export {key}=\"${{{key}:-scripted-key}}\"")));
    let mut words = vec![program.path().to_string_lossy().into_owned()];
    if program == AgentProgram::Codex {
        words.extend(codex_options(url));
    }
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    lines.push(format!("exec {} \"$@\"\n", words.join(" ")));
    lines.join("\n")
}

fn key_variable(program: AgentProgram) -> Option<&'static str> {
    match program {
        AgentProgram::Codex => Some("OPENAI_API_KEY"),
        AgentProgram::Claude | AgentProgram::ClaudeAgentAcp => Some("ANTHROPIC_API_KEY"),
        AgentProgram::Gemini => Some("GEMINI_API_KEY"),
        AgentProgram::Copilot => Some("COPILOT_PROVIDER_API_KEY"),
        // Its key stands in its configuration.
        AgentProgram::OpenCode => None,
    }
}

/// Where the model is, and nothing else: no updates, no telemetry, no lists from elsewhere.
fn environment(program: AgentProgram, url: &str) -> Vec<(&'static str, String)> {
    let on = |name| (name, "1".to_owned());
    match program {
        AgentProgram::Codex => Vec::new(),
        AgentProgram::Claude | AgentProgram::ClaudeAgentAcp => {
            let mut variables = vec![
                ("ANTHROPIC_BASE_URL", url.to_owned()),
                on("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"),
                on("DISABLE_AUTOUPDATER"),
                on("DISABLE_TELEMETRY"),
                on("DISABLE_ERROR_REPORTING"),
                ("CLAUDE_CODE_MAX_RETRIES", RETRIES.to_string()),
            ];
            // The adapter always asks for a permission that root gets only inside a sandbox.
            if program == AgentProgram::ClaudeAgentAcp {
                variables.push(on("IS_SANDBOX"));
            }
            variables
        }
        AgentProgram::Gemini => vec![("GOOGLE_GEMINI_BASE_URL", url.to_owned())],
        AgentProgram::OpenCode => vec![
            ("OPENCODE_CONFIG_CONTENT", opencode_configuration(url)),
            on("OPENCODE_DISABLE_AUTOUPDATE"),
            on("OPENCODE_DISABLE_MODELS_FETCH"),
            on("OPENCODE_DISABLE_DEFAULT_PLUGINS"),
            on("OPENCODE_DISABLE_LSP_DOWNLOAD"),
            // It looks for packages all the same; here the answer is a quick "not found".
            ("npm_config_registry", url.to_owned()),
        ],
        AgentProgram::Copilot => vec![
            ("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")),
            ("COPILOT_MODEL", "scripted-model".to_owned()),
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_AUTO_UPDATE", "false".to_owned()),
        ],
    }
}

/// The name of the model decides which tools codex offers; this is one it knows.
fn codex_options(url: &str) -> Vec<String> {
    let provider = format!(
        "model_providers.scripted={{name=\"scripted\",base_url=\"{url}/v1\",wire_api=\"responses\",\
         env_key=\"OPENAI_API_KEY\",request_max_retries={RETRIES},stream_max_retries={RETRIES}}}"
    );
    let options = [
        "model=\"gpt-5.5\"",
        "model_provider=\"scripted\"",
        &provider,
        "features.plugins=false",
        "features.apps=false",
        "analytics.enabled=false",
        "check_for_update_on_startup=false",
    ];
    options.iter().flat_map(|option| ["-c".to_owned(), (*option).to_owned()]).collect()
}

/// The prices are made up, so that a cost is not nothing: 1 and 10 dollars a million, cached a tenth.
fn opencode_configuration(url: &str) -> String {
    let model = serde_json::json!({
        "name": "scripted-model", "tool_call": true, "limit": { "context": 200_000, "output": 32_000 },
        "cost": { "input": 1, "output": 10, "cache_read": 0.1 },
    });
    let provider = serde_json::json!({
        "npm": "@ai-sdk/openai-compatible", "name": "scripted",
        "options": { "baseURL": format!("{url}/v1"), "apiKey": "scripted-key" },
        "models": { "scripted-model": model },
    });
    serde_json::json!({
        "autoupdate": false, "share": "disabled", "model": "scripted/scripted-model",
        "small_model": "scripted/scripted-model", "enabled_providers": ["scripted"],
        "provider": { "scripted": provider },
    })
    .to_string()
}

/// Without the kind of key gemini guesses, and then refuses its own guess.
fn write_gemini_settings(home: &Path) {
    let settings = serde_json::json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "general": { "enableAutoUpdate": false, "maxAttempts": RETRIES + 1 },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
    });
    let folder = home.join(".gemini");
    std::fs::create_dir_all(&folder).expect("the world can be written");
    std::fs::write(folder.join("settings.json"), settings.to_string()).expect("the world can be written");
}

/// Written by another process: a file that this one has open for writing could not be executed while a thread of it
/// forks.
fn write_program(path: &Path, text: &str) {
    let folder = path.parent().expect("a launcher lies in a directory");
    let write = QuickCommand::new("/bin/sh", folder)
        .args(["-c", "cat >\"$1\" && chmod 755 \"$1\"", "sh"])
        .arg(path)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .stdin(text);
    let written = write.run().expect("a shell can be run");
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
}

/// One word for the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
