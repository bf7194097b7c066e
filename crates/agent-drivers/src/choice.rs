//! Which agent a user chose, written as `kind:rest`. The text form is the stored form, so it never changes meaning.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model_wish::{self, effort_advice, effort_words, model_shape};
use crate::nearest::{advice, nearest};
use crate::program::AgentProgram;
use crate::vendor::{self, Vendor};
use crate::words::{WordsError, quote_words, split_words};

const KINDS: [&str; 9] =
    ["codex", "claude", "gemini", "opencode", "copilot", "acp", "command", "shell", "scripted"];

/// The agent to start for a role.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AgentChoice {
    /// `command:/path/to/program --flag 'a b'`: a program of the user's own, started without a shell.
    Command { program: String, arguments: Vec<String> },
    /// `shell:text`: handed to `/bin/sh -c`.
    Shell { text: String },
    /// `scripted:FILE`: this program plays a script.
    Scripted { file: String },
    /// `codex`, `codex:MODEL`, `codex:MODEL@EFFORT`, `codex:@EFFORT`: a program with a dialect of its own.
    Known { program: AgentProgram, model: Option<String>, effort: Option<String> },
    /// `acp:gemini --acp`: anything that speaks the Agent Client Protocol on its stdin and stdout.
    Acp { program: String, arguments: Vec<String> },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    #[error(
        "no agent named; write one of {}, or KIND:REST, for example `command:/path/to/agent --flag`",
        programs()
    )]
    Empty,
    #[error("unknown kind of agent `{given}` in `{text}`: {}", advice(nearest(.given, &KINDS), &KINDS))]
    UnknownKind { given: String, text: String },
    #[error(
        "agent `{text}` does not say which kind it is: write `command:{text}` to run that program, or one of {}",
        programs()
    )]
    NoKind { text: String },
    #[error("agent `{kind}:` names no {wanted}")]
    NothingAfterKind { kind: &'static str, wanted: &'static str },
    #[error("agent `{text}` cannot be split into words: {source}")]
    Words { text: String, source: WordsError },
    #[error("agent `{kind}:` contains a NUL character, which no program can be given")]
    Nul { kind: &'static str },
    #[error("agent `{text}` names no model that {program} could be given: {}", model_shape(*program))]
    BadModel { program: AgentProgram, text: String },
    #[error("agent `{text}` names no effort after the `@`: leave the `@` out, or write {}", effort_words(*program))]
    NoEffort { program: AgentProgram, text: String },
    #[error("{program} does not know the effort `{given}` in `{text}`: {}", effort_advice(*program, given))]
    UnknownEffort { program: AgentProgram, given: String, text: String },
    #[error(
        "{program} cannot be told an effort, so `@{given}` in `{text}` means nothing: write `{program}:MODEL`"
    )]
    EffortUnsupported { program: AgentProgram, given: String, text: String },
    #[error("the directory {directory:?} is not valid UTF-8, so no agent can be found relative to it")]
    DirectoryNotText { directory: std::path::PathBuf },
}

impl AgentChoice {
    pub fn parse(text: &str) -> Result<Self, ChoiceError> {
        if text.trim().is_empty() {
            return Err(ChoiceError::Empty);
        }
        let Some((kind, rest)) = text.split_once(':') else {
            if let Some(program) = named(text) {
                return Ok(Self::Known { program, model: None, effort: None });
            }
            return Err(if nearest(text, &KINDS).is_some() {
                ChoiceError::UnknownKind { given: text.to_owned(), text: text.to_owned() }
            } else {
                ChoiceError::NoKind { text: text.to_owned() }
            });
        };
        if let Some(program) = named(kind) {
            return model_wish::parse(text, program, rest);
        }
        match kind {
            "command" => {
                let (program, arguments) = command_words("command", text, rest)?;
                Ok(Self::Command { program, arguments })
            }
            "acp" => {
                let (program, arguments) = command_words("acp", text, rest)?;
                Ok(Self::Acp { program, arguments })
            }
            "shell" => Ok(Self::Shell { text: non_empty("shell", "command", rest)? }),
            "scripted" => Ok(Self::Scripted { file: non_empty("scripted", "script file", rest)? }),
            other => Err(ChoiceError::UnknownKind { given: other.to_owned(), text: text.to_owned() }),
        }
    }

    /// The word before the colon.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Command { .. } => "command",
            Self::Shell { .. } => "shell",
            Self::Scripted { .. } => "scripted",
            Self::Known { program, .. } => program.as_str(),
            Self::Acp { .. } => "acp",
        }
    }

    /// The model the user asked for by name.
    pub fn model(&self) -> Option<&str> {
        match self {
            Self::Known { model, .. } => model.as_deref(),
            Self::Command { .. } | Self::Shell { .. } | Self::Scripted { .. } | Self::Acp { .. } => None,
        }
    }

    /// Who makes the model behind it; `None` where the text does not tell.
    pub fn vendor(&self) -> Option<Vendor> {
        match self {
            Self::Known { program, model, .. } => Some(vendor::vendor(*program, model.as_deref())),
            Self::Command { .. } | Self::Shell { .. } | Self::Scripted { .. } | Self::Acp { .. } => None,
        }
    }

    /// What must be on PATH, or at that path if it has a slash; `None` for scripts, which this program plays itself.
    pub fn program_name(&self) -> Option<&str> {
        match self {
            Self::Command { program, .. } | Self::Acp { program, .. } => Some(program),
            Self::Shell { .. } => Some("/bin/sh"),
            Self::Known { program, .. } => Some(program.as_str()),
            Self::Scripted { .. } => None,
        }
    }

    /// The same choice with its relative paths made absolute.
    ///
    /// Agents are started in their workspace, so a path relative to where the user stood must be settled first. A
    /// program without a slash is left for PATH, the text of `shell:` is left alone.
    pub fn anchored(&self, directory: &Path) -> Result<Self, ChoiceError> {
        let anchor = |path: &str| match directory.join(path).into_os_string().into_string() {
            Ok(joined) => Ok(joined),
            Err(_) => Err(ChoiceError::DirectoryNotText { directory: directory.to_owned() }),
        };
        Ok(match self {
            Self::Command { program, arguments } if program.contains('/') => {
                Self::Command { program: anchor(program)?, arguments: arguments.clone() }
            }
            Self::Acp { program, arguments } if program.contains('/') => {
                Self::Acp { program: anchor(program)?, arguments: arguments.clone() }
            }
            Self::Scripted { file } => Self::Scripted { file: anchor(file)? },
            Self::Command { .. } | Self::Shell { .. } | Self::Known { .. } | Self::Acp { .. } => self.clone(),
        })
    }
}

fn named(kind: &str) -> Option<AgentProgram> {
    AgentProgram::ALL.into_iter().find(|program| program.as_str() == kind)
}

fn programs() -> String {
    AgentProgram::ALL.map(AgentProgram::as_str).join(", ")
}

fn command_words(kind: &'static str, text: &str, rest: &str) -> Result<(String, Vec<String>), ChoiceError> {
    let words = split_words(rest).map_err(|source| ChoiceError::Words { text: text.to_owned(), source })?;
    let mut words = words.into_iter();
    match words.next() {
        Some(program) if !program.is_empty() => Ok((program, words.collect())),
        _ => Err(ChoiceError::NothingAfterKind { kind, wanted: "program" }),
    }
}

fn non_empty(kind: &'static str, wanted: &'static str, rest: &str) -> Result<String, ChoiceError> {
    if rest.trim().is_empty() {
        Err(ChoiceError::NothingAfterKind { kind, wanted })
    } else if rest.contains('\0') {
        Err(ChoiceError::Nul { kind })
    } else {
        Ok(rest.to_owned())
    }
}

impl fmt::Display for AgentChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = match self {
            Self::Command { program, arguments } | Self::Acp { program, arguments } => {
                &quote_words(std::iter::once(program).chain(arguments).map(String::as_str))
            }
            Self::Shell { text } => text,
            Self::Scripted { file } => file,
            Self::Known { program, model: None, effort: None } => return program.fmt(formatter),
            Self::Known { model, effort, .. } => {
                let effort = effort.as_ref().map(|effort| format!("@{effort}"));
                &format!("{}{}", model.as_deref().unwrap_or_default(), effort.unwrap_or_default())
            }
        };
        write!(formatter, "{}:{rest}", self.kind())
    }
}

impl FromStr for AgentChoice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        Self::parse(text)
    }
}

impl Serialize for AgentChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AgentChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn command(words: &[&str]) -> AgentChoice {
        AgentChoice::Command {
            program: words[0].to_owned(),
            arguments: words[1..].iter().map(|&word| word.to_owned()).collect(),
        }
    }

    #[test]
    fn each_kind_is_understood() {
        assert_eq!(
            AgentChoice::parse("command:/opt/agent --flag 'a b'").unwrap(),
            command(&["/opt/agent", "--flag", "a b"])
        );
        assert_eq!(AgentChoice::parse("command: agent ").unwrap(), command(&["agent"]));
        assert_eq!(
            AgentChoice::parse("shell:cat > \"$WINDLASS_OUTBOX/x\"").unwrap(),
            AgentChoice::Shell { text: "cat > \"$WINDLASS_OUTBOX/x\"".to_owned() }
        );
        assert_eq!(
            AgentChoice::parse("scripted:my scripts/a:b.toml").unwrap(),
            AgentChoice::Scripted { file: "my scripts/a:b.toml".to_owned() }
        );
    }

    #[test]
    fn who_stands_behind_an_agent_and_what_must_be_installed() {
        let table = [
            ("codex", Some(Vendor::OpenAi), Some("codex")),
            ("claude:opus", Some(Vendor::Anthropic), Some("claude")),
            ("gemini", Some(Vendor::Google), Some("gemini")),
            ("opencode", Some(Vendor::OpenCode), Some("opencode")),
            ("opencode:anthropic/claude-opus", Some(Vendor::Anthropic), Some("opencode")),
            ("copilot:gpt-5.1", Some(Vendor::OpenAi), Some("copilot")),
            ("acp:gemini --acp", None, Some("gemini")),
            ("command:/opt/agent x", None, Some("/opt/agent")),
            ("shell:codex exec", None, Some("/bin/sh")),
            ("scripted:x.toml", None, None),
        ];
        for (text, vendor, program) in table {
            let choice = AgentChoice::parse(text).unwrap();
            assert_eq!((choice.vendor(), choice.program_name()), (vendor, program), "{text}");
        }
    }

    const NOTHING_NAMED: &str = "no agent named; write one of codex, claude, gemini, opencode, copilot, or KIND:REST, \
         for example `command:/path/to/agent --flag`";

    #[test]
    fn each_mistake_says_what_to_do() {
        let table = [
            ("", NOTHING_NAMED),
            (" ", NOTHING_NAMED),
            (
                "comand:x",
                "unknown kind of agent `comand` in `comand:x`: did you mean `command`? (known: codex, claude, gemini, \
                 opencode, copilot, acp, command, shell, scripted)",
            ),
            (
                "docker:x",
                "unknown kind of agent `docker` in `docker:x`: known: codex, claude, gemini, opencode, copilot, acp, \
                 command, shell, scripted",
            ),
            (
                "agent",
                "agent `agent` does not say which kind it is: write `command:agent` to run that program, or one of codex, \
                 claude, gemini, opencode, copilot",
            ),
            (
                "scriptd",
                "unknown kind of agent `scriptd` in `scriptd`: did you mean `scripted`? (known: codex, claude, gemini, \
                 opencode, copilot, acp, command, shell, scripted)",
            ),
            (
                "/bin/agent",
                "agent `/bin/agent` does not say which kind it is: write `command:/bin/agent` to run that program, or one \
                 of codex, claude, gemini, opencode, copilot",
            ),
            ("command:", "agent `command:` names no program"),
            ("command:'' x", "agent `command:` names no program"),
            ("shell: ", "agent `shell:` names no command"),
            ("scripted:", "agent `scripted:` names no script file"),
            (
                "command:a 'b",
                "agent `command:a 'b` cannot be split into words: the quote ' opened at character 3 is never closed",
            ),
            ("shell:a\0", "agent `shell:` contains a NUL character, which no program can be given"),
        ];
        for (text, message) in table {
            assert_eq!(AgentChoice::parse(text).unwrap_err().to_string(), message, "{text:?}");
        }
    }

    #[test]
    fn relative_paths_are_settled_and_bare_names_are_left_for_path() {
        let anchored = |text: &str| {
            AgentChoice::parse(text).unwrap().anchored(Path::new("/anywhere/me")).unwrap().to_string()
        };
        assert_eq!(anchored("command:./agent.sh x/y"), "command:/anywhere/me/./agent.sh x/y");
        assert_eq!(anchored("command:/opt/agent"), "command:/opt/agent");
        assert_eq!(anchored("command:agent"), "command:agent");
        assert_eq!(anchored("scripted:a.toml"), "scripted:/anywhere/me/a.toml");
        assert_eq!(anchored("shell:./x"), "shell:./x");
        assert_eq!(anchored("acp:./adapter x/y"), "acp:/anywhere/me/./adapter x/y");
        assert_eq!(anchored("acp:gemini --acp"), "acp:gemini --acp");
        assert_eq!(anchored("opencode:a/b"), "opencode:a/b");
    }

    #[test]
    fn the_stored_form_is_the_text_form() {
        let choice = command(&["agent", "it's", ""]);
        let stored = serde_json::to_string(&choice).unwrap();
        assert_eq!(stored, r#""command:agent 'it'\\''s' ''""#);
        assert_eq!(serde_json::from_str::<AgentChoice>(&stored).unwrap(), choice);
        let refused = serde_json::from_str::<AgentChoice>(r#""shel:x""#).unwrap_err();
        assert!(refused.to_string().contains("did you mean `shell`?"), "{refused}");
    }

    proptest! {
        #[test]
        fn every_choice_reads_back_from_its_text(
            program in "[^\0]+",
            arguments in prop::collection::vec("[^\0]*", 0..4),
            rest in "[^\0]*[^\0\\s][^\0]*",
        ) {
            for choice in [
                AgentChoice::Acp { program: program.clone(), arguments: arguments.clone() },
                AgentChoice::Command { program, arguments },
                AgentChoice::Shell { text: rest.clone() },
                AgentChoice::Scripted { file: rest },
            ] {
                prop_assert_eq!(AgentChoice::parse(&choice.to_string()).unwrap(), choice);
            }
        }

        #[test]
        fn every_program_that_parses_reads_back_from_its_text(
            program in prop::sample::select(AgentProgram::ALL.to_vec()),
            rest in "(:[a-z0-9@/.:-]{0,12}(@(low|high|minimal))?)?",
        ) {
            if let Ok(choice) = AgentChoice::parse(&format!("{program}{rest}")) {
                prop_assert_eq!(AgentChoice::parse(&choice.to_string()).unwrap(), choice);
            }
        }
    }
}
