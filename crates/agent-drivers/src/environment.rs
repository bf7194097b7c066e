//! Names of environment variables an agent gets from its user: what programs need to find their files and speak the
//! user's language. No name here carries a secret; a key reaches an agent only when somebody names it.

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

/// The names, for showing to people. A name that ends in `*` stands for all names with that beginning.
pub fn environment_allow_list() -> &'static [&'static str] {
    &PASSED_THROUGH
}

/// Whether a variable of the user is handed to agents without being asked for.
pub fn is_passed_through(name: &str) -> bool {
    PASSED_THROUGH.iter().any(|allowed| match allowed.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == *allowed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_need_passes_and_secrets_and_git_settings_do_not() {
        for name in ["PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "SSL_CERT_FILE"] {
            assert!(is_passed_through(name), "{name}");
        }
        let kept_back = [
            "OPENAI_API_KEY",
            "ANTHROPIC_API_KEY",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
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
        }
    }

    #[test]
    fn the_list_shown_to_people_names_no_key_and_no_token() {
        for name in environment_allow_list() {
            assert!(!["KEY", "TOKEN", "SECRET", "PASS"].iter().any(|word| name.contains(word)), "{name}");
        }
    }
}
