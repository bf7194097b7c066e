//! Who makes the model behind an agent, as far as the agent's text form tells. Used to keep maker and checker apart.

use std::fmt;

use crate::program::AgentProgram;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Vendor {
    OpenAi,
    Anthropic,
    Google,
    XAi,
    Mistral,
    DeepSeek,
    OpenCode,
    GitHub,
}

impl Vendor {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Google => "google",
            Self::XAi => "xai",
            Self::Mistral => "mistral",
            Self::DeepSeek => "deepseek",
            Self::OpenCode => "opencode",
            Self::GitHub => "github",
        }
    }

    /// Whether this vendor's agents run its own models. OpenCode and Copilot pass on the models of others, so two
    /// agents of which one is theirs may have the same model behind them unless the model is named.
    pub const fn makes_models(self) -> bool {
        !matches!(self, Self::OpenCode | Self::GitHub)
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Beginnings of model names and names of providers.
const TELLING: [(&str, Vendor); 17] = [
    ("openai", Vendor::OpenAi),
    ("gpt", Vendor::OpenAi),
    ("chatgpt", Vendor::OpenAi),
    ("codex", Vendor::OpenAi),
    ("o1", Vendor::OpenAi),
    ("o3", Vendor::OpenAi),
    ("o4", Vendor::OpenAi),
    ("anthropic", Vendor::Anthropic),
    ("claude", Vendor::Anthropic),
    ("google", Vendor::Google),
    ("gemini", Vendor::Google),
    ("gemma", Vendor::Google),
    ("xai", Vendor::XAi),
    ("grok", Vendor::XAi),
    ("mistral", Vendor::Mistral),
    ("codestral", Vendor::Mistral),
    ("deepseek", Vendor::DeepSeek),
];

pub(crate) fn vendor(program: AgentProgram, model: Option<&str>) -> Vendor {
    let home = program.home_vendor();
    if home.makes_models() {
        return home;
    }
    model.and_then(told_by).unwrap_or(home)
}

/// The model's own name tells more than the provider that resells it, so the parts are asked from the last.
fn told_by(model: &str) -> Option<Vendor> {
    let model = model.to_ascii_lowercase();
    // Resellers write the maker with a dot too: `amazon-bedrock/us.anthropic.claude-sonnet`.
    model.rsplit(['/', '.']).find_map(|part| {
        TELLING.iter().find(|(name, _)| begins_with_word(part, name)).map(|(_, vendor)| *vendor)
    })
}

/// `gpt-5`, `o3` and `gemini2` begin with their word; `gptune` and `o3000x` are somebody else's.
fn begins_with_word(part: &str, word: &str) -> bool {
    part.strip_prefix(word).is_some_and(|rest| {
        let ends_in_digit = word.ends_with(|last: char| last.is_ascii_digit());
        match rest.chars().next() {
            None => true,
            Some(next) if next.is_ascii_digit() => !ends_in_digit,
            Some(next) => !next.is_ascii_alphabetic(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_a_model_maker_are_always_theirs() {
        assert_eq!(vendor(AgentProgram::Codex, None), Vendor::OpenAi);
        assert_eq!(vendor(AgentProgram::Claude, Some("opus")), Vendor::Anthropic);
        assert_eq!(vendor(AgentProgram::Gemini, Some("gemini-2.5-pro")), Vendor::Google);
    }

    #[test]
    fn resellers_are_known_by_the_model_where_it_tells() {
        let table = [
            (None, Vendor::OpenCode),
            (Some("anthropic/claude-sonnet-4-5"), Vendor::Anthropic),
            (Some("openai/whatever"), Vendor::OpenAi),
            (Some("openrouter/anthropic/claude-opus"), Vendor::Anthropic),
            (Some("amazon-bedrock/us.anthropic.claude-sonnet-4-v1:0"), Vendor::Anthropic),
            (Some("github-copilot/gpt-5.5"), Vendor::OpenAi),
            (Some("github-copilot/o3"), Vendor::OpenAi),
            (Some("google-vertex/gemini-2.5-pro"), Vendor::Google),
            (Some("azure/gpt5-deployment"), Vendor::OpenAi),
            (Some("xai/grok-code-fast-1"), Vendor::XAi),
            (Some("local/o3000x"), Vendor::OpenCode),
            (Some("local/gptune"), Vendor::OpenCode),
            (Some("fake/fake-model"), Vendor::OpenCode),
        ];
        for (model, expected) in table {
            assert_eq!(vendor(AgentProgram::OpenCode, model), expected, "{model:?}");
        }
        assert_eq!(vendor(AgentProgram::Copilot, Some("claude-sonnet-4.5")), Vendor::Anthropic);
        assert_eq!(vendor(AgentProgram::Copilot, Some("gpt-5.1-codex")), Vendor::OpenAi);
        assert_eq!(vendor(AgentProgram::Copilot, Some("auto")), Vendor::GitHub);
    }
}
