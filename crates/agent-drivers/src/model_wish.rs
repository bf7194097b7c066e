//! What stands after the colon of a program with a dialect: `MODEL`, `MODEL@EFFORT` or `@EFFORT`.
//! Knows the forms of names, not the names: models come and go.

use crate::choice::{AgentChoice, ChoiceError};
use crate::nearest::{advice, nearest};
use crate::program::{AgentProgram, Efforts};

/// The choice of this program with what stands after its colon.
pub(crate) fn parse(text: &str, program: AgentProgram, rest: &str) -> Result<AgentChoice, ChoiceError> {
    let (model, effort) = match rest.rsplit_once('@') {
        // `name@20250929` is how one provider writes the version of a model; no effort begins with a digit.
        Some((model, effort)) if !effort.starts_with(|first: char| first.is_ascii_digit()) => {
            (model, Some(effort))
        }
        _ => (rest, None),
    };
    if let Some(effort) = effort {
        check_effort(text, program, effort)?;
    }
    if model.is_empty() && effort.is_some() {
        return Ok(AgentChoice::Known { program, model: None, effort: effort.map(str::to_owned) });
    }
    let is_word =
        !model.starts_with(['-', '@']) && model.chars().all(|c| !c.is_whitespace() && !c.is_control());
    let has_provider =
        model.split_once('/').is_some_and(|(provider, name)| !provider.is_empty() && !name.is_empty());
    if model.is_empty() || !is_word || (program == AgentProgram::OpenCode && !has_provider) {
        return Err(ChoiceError::BadModel { program, text: text.to_owned() });
    }
    Ok(AgentChoice::Known { program, model: Some(model.to_owned()), effort: effort.map(str::to_owned) })
}

fn check_effort(text: &str, program: AgentProgram, effort: &str) -> Result<(), ChoiceError> {
    let (given, text) = (effort.to_owned(), text.to_owned());
    let known = match program.efforts() {
        Efforts::None => return Err(ChoiceError::EffortUnsupported { program, given, text }),
        _ if effort.is_empty() => return Err(ChoiceError::NoEffort { program, text }),
        Efforts::Words(words) => words.contains(&effort),
        Efforts::ByProvider => effort.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'),
    };
    if known { Ok(()) } else { Err(ChoiceError::UnknownEffort { program, given, text }) }
}

pub(crate) fn model_shape(program: AgentProgram) -> String {
    match program {
        AgentProgram::OpenCode => "write `opencode:PROVIDER/MODEL`, or `opencode` for its default".to_owned(),
        _ => format!("write `{program}:MODEL`, or `{program}` for its default"),
    }
}

pub(crate) fn effort_words(program: AgentProgram) -> String {
    match program.efforts() {
        Efforts::Words(words) => format!("one of {}", words.join(", ")),
        Efforts::None | Efforts::ByProvider => "the word its model's provider uses".to_owned(),
    }
}

pub(crate) fn effort_advice(program: AgentProgram, given: &str) -> String {
    match program.efforts() {
        Efforts::Words(words) => advice(nearest(given, words), words),
        Efforts::None | Efforts::ByProvider => "write one word of letters and digits".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(program: AgentProgram, model: Option<&str>, effort: Option<&str>) -> AgentChoice {
        AgentChoice::Known { program, model: model.map(str::to_owned), effort: effort.map(str::to_owned) }
    }

    #[test]
    fn programs_are_named_with_or_without_model_and_effort() {
        let table = [
            ("codex", known(AgentProgram::Codex, None, None)),
            ("codex:gpt-5.5", known(AgentProgram::Codex, Some("gpt-5.5"), None)),
            ("codex:gpt-5.5@high", known(AgentProgram::Codex, Some("gpt-5.5"), Some("high"))),
            ("codex:@xhigh", known(AgentProgram::Codex, None, Some("xhigh"))),
            ("claude:opus@max", known(AgentProgram::Claude, Some("opus"), Some("max"))),
            ("claude:claude-opus@20250929", known(AgentProgram::Claude, Some("claude-opus@20250929"), None)),
            (
                "claude:claude-opus@20250929@low",
                known(AgentProgram::Claude, Some("claude-opus@20250929"), Some("low")),
            ),
            ("gemini:gemini-2.5-pro", known(AgentProgram::Gemini, Some("gemini-2.5-pro"), None)),
            (
                "opencode:openrouter/a/b:free@thinking",
                known(AgentProgram::OpenCode, Some("openrouter/a/b:free"), Some("thinking")),
            ),
            ("copilot:claude-sonnet-4.5", known(AgentProgram::Copilot, Some("claude-sonnet-4.5"), None)),
        ];
        for (text, choice) in table {
            assert_eq!(AgentChoice::parse(text).as_ref(), Ok(&choice), "{text}");
            assert_eq!(choice.to_string(), text);
            assert_eq!(choice.kind(), text.split(':').next().unwrap());
        }
    }

    #[test]
    fn a_model_or_an_effort_that_cannot_be_is_refused_with_the_right_form() {
        let table = [
            (
                "codex:",
                "agent `codex:` names no model that codex could be given: write `codex:MODEL`, or `codex` for its default",
            ),
            (
                "codex:a b",
                "agent `codex:a b` names no model that codex could be given: write `codex:MODEL`, or `codex` for its default",
            ),
            (
                "claude:--continue",
                "agent `claude:--continue` names no model that claude could be given: write `claude:MODEL`, or `claude` for its default",
            ),
            (
                "opencode:gpt-5",
                "agent `opencode:gpt-5` names no model that opencode could be given: write `opencode:PROVIDER/MODEL`, or \
                 `opencode` for its default",
            ),
            (
                "opencode:/gpt-5",
                "agent `opencode:/gpt-5` names no model that opencode could be given: write `opencode:PROVIDER/MODEL`, or `opencode` for its default",
            ),
            (
                "codex:gpt-5@hihg",
                "codex does not know the effort `hihg` in `codex:gpt-5@hihg`: did you mean `high`? (known: none, minimal, \
                 low, medium, high, xhigh)",
            ),
            (
                "codex:gpt-5@",
                "agent `codex:gpt-5@` names no effort after the `@`: leave the `@` out, or write one of none, minimal, low, \
                 medium, high, xhigh",
            ),
            (
                "gemini:gemini-2.5-pro@high",
                "gemini cannot be told an effort, so `@high` in `gemini:gemini-2.5-pro@high` means nothing: write \
                 `gemini:MODEL`",
            ),
            (
                "opencode:a/b@x y",
                "opencode does not know the effort `x y` in `opencode:a/b@x y`: write one word of letters and digits",
            ),
            (
                "cluade",
                "unknown kind of agent `cluade` in `cluade`: did you mean `claude`? (known: codex, claude, gemini, opencode, copilot, acp, command, shell, scripted)",
            ),
            ("acp:", "agent `acp:` names no program"),
        ];
        for (text, message) in table {
            assert_eq!(AgentChoice::parse(text).unwrap_err().to_string(), message, "{text:?}");
        }
    }
}
