//! Whether whoever grades is whoever builds. That is allowed, and a person should know it.

use windlass_agent_drivers::AgentChoice;
use windlass_protocols::Role;

/// By program and model; what a user's own command or script does is not known here.
pub(super) fn notice(builder: Option<&str>, evaluator: Option<&str>) -> Option<String> {
    let (builder, evaluator) = (AgentChoice::parse(builder?).ok()?, AgentChoice::parse(evaluator?).ok()?);
    let told = matches!(builder, AgentChoice::Known { .. } | AgentChoice::Acp { .. });
    (told && builder.to_string() == evaluator.to_string()).then(|| {
        format!(
            "`{builder}` builds and grades: no other model looks at what it made; `--{} AGENT` names another",
            Role::Evaluator
        )
    })
}

#[cfg(test)]
mod tests {
    use super::notice;

    #[test]
    fn only_the_same_program_with_the_same_model_is_told_of() {
        for (builder, evaluator) in [("claude", "claude"), ("claude:opus", "claude:opus"), ("acp:x", "acp:x")]
        {
            assert!(notice(Some(builder), Some(evaluator)).is_some(), "{builder}");
        }
        for (builder, evaluator) in [
            ("claude", "claude:opus"),
            ("claude", "codex"),
            ("shell:true", "shell:true"),
            ("scripted:a.toml", "scripted:a.toml"),
        ] {
            assert_eq!(notice(Some(builder), Some(evaluator)), None, "{builder} {evaluator}");
        }
        assert_eq!(notice(Some("claude"), None), None);
    }
}
