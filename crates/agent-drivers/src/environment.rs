//! Names of environment variables an agent gets from its user. Every agent gets what programs need to find their files
//! and speak the user's language, none of it secret; a program with a dialect also gets the names it is set up by.

use crate::choice::AgentChoice;
use crate::program::AgentProgram;

const PASSED_THROUGH: [&str; 20] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// The way to the model's service. A proxy's address may hold a password, so only agents that need a service get it.
const NETWORK: [&str; 9] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
];

const CODEX: [&str; 4] = ["OPENAI_*", "CODEX_*", "AZURE_OPENAI_API_KEY", "OLLAMA_HOST"];
const CLAUDE: [&str; 6] =
    ["ANTHROPIC_*", "CLAUDE_CODE_*", "CLAUDE_CONFIG_DIR", "AWS_*", "CLOUD_ML_REGION", "GOOGLE_*"];
const GEMINI: [&str; 3] = ["GEMINI_*", "GOOGLE_*", "CLOUD_SHELL"];
// OpenCode speaks with every provider, each under the name of its own key.
const OPENCODE: [&str; 14] = [
    "OPENCODE_*",
    "OPENAI_*",
    "ANTHROPIC_*",
    "GEMINI_API_KEY",
    "GOOGLE_*",
    "AZURE_*",
    "AWS_*",
    "OPENROUTER_API_KEY",
    "XAI_API_KEY",
    "MISTRAL_API_KEY",
    "DEEPSEEK_API_KEY",
    "GROQ_API_KEY",
    "GITHUB_TOKEN",
    "OLLAMA_HOST",
];
const COPILOT: [&str; 4] = ["COPILOT_*", "GITHUB_TOKEN", "GH_TOKEN", "GH_HOST"];

/// Set by an agent program for its own children. Passed on, they make a program believe that it runs inside another.
const MARKS_OF_AN_OUTER_AGENT: [&str; 9] = [
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "GEMINI_CLI",
    "OPENCODE_PID",
];

/// The names this agent gets, for showing to people. A name that ends in `*` stands for all names with that beginning.
pub fn environment_allow_list(choice: &AgentChoice) -> Vec<&'static str> {
    let own: &[&str] = match choice {
        AgentChoice::Command { .. } | AgentChoice::Shell { .. } | AgentChoice::Scripted { .. } => {
            return PASSED_THROUGH.to_vec();
        }
        AgentChoice::Known { program, .. } => names_of(*program),
        AgentChoice::Acp { .. } => return adapter_names(choice),
    };
    [&PASSED_THROUGH[..], &NETWORK[..], own].concat()
}

const fn names_of(program: AgentProgram) -> &'static [&'static str] {
    match program {
        AgentProgram::Codex => &CODEX,
        AgentProgram::Claude => &CLAUDE,
        AgentProgram::Gemini => &GEMINI,
        AgentProgram::OpenCode => &OPENCODE,
        AgentProgram::Copilot => &COPILOT,
    }
}

/// An adapter is named after the program behind it: `gemini --acp`, `claude-agent-acp`, `codex-acp`.
fn adapter_names(choice: &AgentChoice) -> Vec<&'static str> {
    let name = choice.program_name().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    let behind = AgentProgram::ALL.into_iter().find(|program| name.starts_with(program.as_str()));
    let own = behind.map_or(&[][..], names_of);
    [&PASSED_THROUGH[..], &NETWORK[..], own].concat()
}

/// Whether a variable of the user is handed to every child without being asked for.
pub fn is_passed_through(name: &str) -> bool {
    is_among(&PASSED_THROUGH, name)
}

/// Whether a variable of the user is handed to this agent.
pub fn is_passed_to(choice: &AgentChoice, name: &str) -> bool {
    !MARKS_OF_AN_OUTER_AGENT.contains(&name) && is_among(&environment_allow_list(choice), name)
}

fn is_among(list: &[&str], name: &str) -> bool {
    list.iter().any(|allowed| match allowed.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == *allowed,
    })
}

const WORDS_OF_SECRETS: [&str; 8] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS", "COOKIE", "AUTH"];

/// A proxy's address may hold a password, custom headers and settings written into a variable usually hold a key.
const CARRIERS_OF_SECRETS: [&str; 3] = ["PROXY", "HEADERS", "CONTENT"];

/// Whether the value of a variable must never be shown, stored or sent on.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_path = ["_FILE", "_PATH", "_SOCK"].iter().any(|ending| name.ends_with(ending));
    if is_path || name == "NO_PROXY" || is_count_of_tokens(&name) {
        return false;
    }
    WORDS_OF_SECRETS.iter().any(|word| name.contains(word))
        || name.split('_').any(|part| CARRIERS_OF_SECRETS.contains(&part))
}

/// `CLAUDE_CODE_MAX_OUTPUT_TOKENS` is a number.
fn is_count_of_tokens(name: &str) -> bool {
    name.ends_with("_TOKENS")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(text: &str) -> AgentChoice {
        AgentChoice::parse(text).unwrap()
    }

    #[test]
    fn what_programs_need_passes_and_secrets_and_git_settings_do_not() {
        for name in ["PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "SSL_CERT_FILE"] {
            assert!(is_passed_through(name), "{name}");
            assert!(is_passed_to(&choice("codex"), name), "{name}");
        }
        let kept_back = [
            "OPENAI_API_KEY",
            "ANTHROPIC_API_KEY",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "HTTPS_PROXY",
            "SSH_AUTH_SOCK",
            "GIT_DIR",
            "GIT_CONFIG_GLOBAL",
            "LD_PRELOAD",
            "PATHS",
            "LC",
            "WINDLASS_CRASH_AT",
            "",
        ];
        for name in kept_back {
            assert!(!is_passed_through(name), "{name}");
            for plain in ["command:codex", "shell:codex", "scripted:codex"] {
                assert!(!is_passed_to(&choice(plain), name), "{plain} {name}");
            }
        }
    }

    #[test]
    fn each_program_gets_its_own_keys_and_no_other_program_s() {
        let keys = [
            ("codex", "OPENAI_API_KEY"),
            ("codex", "CODEX_HOME"),
            ("claude", "ANTHROPIC_API_KEY"),
            ("claude", "CLAUDE_CODE_OAUTH_TOKEN"),
            ("gemini", "GEMINI_API_KEY"),
            ("opencode", "OPENCODE_CONFIG_CONTENT"),
            ("copilot", "COPILOT_GITHUB_TOKEN"),
            ("copilot", "GH_TOKEN"),
        ];
        for (program, name) in keys {
            assert!(is_passed_to(&choice(program), name), "{program} {name}");
        }
        let others = [
            ("codex", "ANTHROPIC_API_KEY"),
            ("claude", "OPENAI_API_KEY"),
            ("gemini", "ANTHROPIC_API_KEY"),
            ("copilot", "OPENAI_API_KEY"),
            ("codex", "GITHUB_TOKEN"),
        ];
        for (program, name) in others {
            assert!(!is_passed_to(&choice(program), name), "{program} {name}");
        }
        assert!(is_passed_to(&choice("codex"), "HTTPS_PROXY"));
        for git in ["GIT_DIR", "LD_PRELOAD", "SSH_AUTH_SOCK"] {
            assert!(
                AgentProgram::ALL.iter().all(|program| !is_passed_to(&choice(program.as_str()), git)),
                "{git}"
            );
        }
    }

    #[test]
    fn an_adapter_gets_the_keys_of_the_program_it_is_named_after() {
        assert!(is_passed_to(&choice("acp:gemini --acp"), "GEMINI_API_KEY"));
        assert!(is_passed_to(&choice("acp:/opt/bin/claude-agent-acp"), "ANTHROPIC_API_KEY"));
        assert!(!is_passed_to(&choice("acp:codex-acp"), "ANTHROPIC_API_KEY"));
        assert!(!is_passed_to(&choice("acp:my-agent"), "OPENAI_API_KEY"));
        assert!(is_passed_to(&choice("acp:my-agent"), "HTTPS_PROXY"));
    }

    #[test]
    fn the_marks_of_an_agent_around_us_are_not_passed_on() {
        assert!(!is_passed_to(&choice("claude"), "CLAUDE_CODE_ENTRYPOINT"));
        assert!(!is_passed_to(&choice("codex"), "CODEX_SANDBOX"));
        assert!(!is_passed_to(&choice("claude"), "CLAUDECODE"));
        assert!(!is_passed_to(&choice("gemini"), "GEMINI_CLI"));
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        let secrets = [
            "OPENAI_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "GH_TOKEN",
            "GOOGLE_APPLICATION_CREDENTIALS_JSON",
            "ANTHROPIC_CUSTOM_HEADERS",
            "HTTPS_PROXY",
            "https_proxy",
            "COPILOT_PROVIDER_API_KEY",
            "OPENCODE_CONFIG_CONTENT",
        ];
        for name in secrets {
            assert!(is_secret(name), "{name}");
        }
        let open = [
            "PATH",
            "HOME",
            "NO_PROXY",
            "OPENAI_BASE_URL",
            "CODEX_HOME",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
            "SSL_CERT_FILE",
            "ANTHROPIC_MODEL",
        ];
        for name in open {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn what_every_agent_gets_holds_no_secret() {
        for name in environment_allow_list(&choice("command:a")) {
            assert!(!is_secret(name), "{name}");
        }
    }
}
