//! The script of the scripted agent: which step does what. Parsing and choosing only; playing it is the work of
//! the scripted actor. The format is described for users in docs/scripted-agent.md.

mod action_reader;
mod fields;
mod step_reader;
mod template;

use std::fmt;
use std::str::FromStr;

use crate::invocation::Role;

pub use fields::{ScriptError, ScriptProblem};
pub use template::{Places, Template};

#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub steps: Vec<Step>,
}

/// What an agent does when it is started in a certain role, round and attempt. `None` fits every value.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub role: Option<Role>,
    pub round: Option<u32>,
    pub attempt: Option<u32>,
    /// The iteration of a control loop's node, such as `2.1`.
    pub label: Option<String>,
    pub prompt: PromptReading,
    pub actions: Vec<Action>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptReading {
    /// Stdin is read to its end before the first action.
    ToTheEnd,
    /// Stdin is never touched, as a careless agent would.
    Ignored,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    Write {
        path: Template,
        content: Content,
        mode: Option<u32>,
    },
    Append {
        path: Template,
        content: Content,
    },
    /// A file, a link or a whole directory.
    Delete {
        path: Template,
    },
    Rename {
        from: Template,
        to: Template,
    },
    Chmod {
        path: Template,
        mode: u32,
    },
    Symlink {
        path: Template,
        target: Template,
    },
    Mkdir {
        path: Template,
    },
    Run {
        words: Vec<Template>,
        failure: RunFailure,
    },
    /// A valid artifact of the role: the given keys over sensible ones, some keys left out on purpose.
    Claim {
        artifact: ClaimKind,
        keys: serde_json::Map<String, serde_json::Value>,
        without: Vec<String>,
    },
    /// Anything at all in the outbox, malformed things included.
    Artifact {
        name: Template,
        thing: Thing,
        mode: Option<u32>,
    },
    Say {
        stream: Output,
        content: Content,
    },
    Flood {
        stream: Output,
        bytes: u64,
        line_length: Option<u64>,
    },
    Hang(Hang),
    IgnoreTerm,
    Crash(CrashSignal),
    Exit {
        code: u8,
    },
    Fork {
        kind: ForkKind,
        stdout: HeldStdout,
        then: Vec<Action>,
    },
    ForkStorm {
        count: u32,
        then: Vec<Action>,
    },
    WaitFor {
        path: Template,
    },
    Count {
        path: Template,
    },
    /// Appends to a file for ever, to show that somebody is still alive and writing.
    Beat {
        path: Template,
        every_ms: u64,
    },
    SavePrompt {
        path: Template,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Text(String),
    Bytes(Vec<u8>),
    /// So many bytes of filler, made while writing.
    Size(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunFailure {
    EndsTheScript,
    IsIgnored,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimKind {
    Handoff,
    Verdict,
    Audit,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thing {
    File(Content),
    Symlink { target: Template },
    HardLink { target: Template },
    Fifo,
    Directory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    Stdout,
    Stderr,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hang {
    Quiet,
    Chatty { every_ms: u64, text: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashSignal {
    Kill,
    Segv,
    Abrt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkKind {
    /// An ordinary child in the same process group.
    Child,
    /// A child in a session of its own: a signal to the group does not reach it.
    Setsid,
    /// A grandchild in a session of its own whose parent is gone: the classical daemon.
    Double,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldStdout {
    /// The descendant keeps the agent's stdout and stderr open.
    Kept,
    Closed,
}

impl Script {
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        step_reader::read_script(text)
    }

    /// The step that fits best: the one that names most of role, round, attempt and label; among equals the first.
    pub fn step_for(
        &self,
        role: Role,
        (round, attempt): (u32, u32),
        label: Option<&str>,
    ) -> Option<(usize, &Step)> {
        let mut best: Option<(usize, &Step)> = None;
        for (index, step) in self.steps.iter().enumerate() {
            let fits = step.fits(role, (round, attempt), label);
            if fits && best.is_none_or(|(_, chosen)| step.precision() > chosen.precision()) {
                best = Some((index, step));
            }
        }
        best
    }

    /// What the descendant at this place of the script does.
    pub fn actions_at(&self, address: &ForkAddress) -> Option<&[Action]> {
        let (step, places) = address.0.split_first()?;
        let mut actions = self.steps.get(*step)?.actions.as_slice();
        for place in places {
            actions = match actions.get(*place)? {
                Action::Fork { then, .. } | Action::ForkStorm { then, .. } => then,
                _ => return None,
            };
        }
        Some(actions)
    }
}

impl Step {
    fn fits(&self, role: Role, (round, attempt): (u32, u32), label: Option<&str>) -> bool {
        self.role.is_none_or(|wanted| wanted == role)
            && self.round.is_none_or(|wanted| wanted == round)
            && self.attempt.is_none_or(|wanted| wanted == attempt)
            && self.label.as_ref().is_none_or(|wanted| Some(wanted.as_str()) == label)
    }

    fn precision(&self) -> u8 {
        let named = [self.role.is_some(), self.round.is_some(), self.attempt.is_some(), self.label.is_some()];
        named.into_iter().map(u8::from).sum()
    }
}

impl ClaimKind {
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Handoff => "handoff.json",
            Self::Verdict => "verdict.json",
            Self::Audit => "audit.json",
        }
    }
}

/// Where in a script a list of actions stands: a step, then one fork inside the other. Handed to the descendant,
/// which reads the same script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkAddress(Vec<usize>);

impl ForkAddress {
    pub fn of_step(step: usize) -> Self {
        Self(vec![step])
    }

    #[must_use]
    pub fn inside(&self, action: usize) -> Self {
        Self(self.0.iter().copied().chain([action]).collect())
    }
}

impl fmt::Display for ForkAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(usize::to_string).collect();
        formatter.write_str(&numbers.join("."))
    }
}

impl FromStr for ForkAddress {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split('.').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(script: &Script, role: Role, round: u32, attempt: u32) -> Option<usize> {
        script.step_for(role, (round, attempt), None).map(|(index, _)| index)
    }

    #[test]
    fn the_step_that_names_most_wins_and_among_equals_the_first() {
        let script = Script::parse(
            "
            [[step]]
            role = 'doer'
            [[step]]
            role = 'doer'
            round = 2
            [[step]]
            role = 'doer'
            attempt = 2
            [[step]]
            role = 'doer'
            round = 2
            attempt = 2
            [[step]]
            role = 'judge'
            round = 1
            [[step]]
            role = 'judge'
            round = 1
            ",
        )
        .unwrap();
        assert_eq!(chosen(&script, Role::Doer, 1, 1), Some(0));
        assert_eq!(chosen(&script, Role::Doer, 2, 1), Some(1));
        assert_eq!(chosen(&script, Role::Doer, 3, 2), Some(2));
        assert_eq!(chosen(&script, Role::Doer, 2, 2), Some(3));
        assert_eq!(chosen(&script, Role::Judge, 1, 1), Some(4));
        assert_eq!(chosen(&script, Role::Judge, 2, 1), None);
        assert_eq!(chosen(&script, Role::Auditor, 1, 1), None);
    }

    #[test]
    fn a_step_that_names_nothing_fits_whatever_is_left() {
        let script = Script::parse("[[step]]\n[[step]]\nrole = 'judge'\n").unwrap();
        assert_eq!(chosen(&script, Role::Auditor, 9, 9), Some(0));
        assert_eq!(chosen(&script, Role::Judge, 9, 9), Some(1));
    }

    #[test]
    fn a_descendant_finds_its_actions_by_their_address() {
        let script = Script::parse(
            "[[step]]
             do = [
               { say = 'a' },
               { fork = { kind = 'double', then = [
                   { fork_storm = { count = 2, then = [{ exit = 7 }] } },
               ] } },
             ]",
        )
        .unwrap();
        let fork = ForkAddress::of_step(0).inside(1);
        assert_eq!(script.actions_at(&fork).map(<[_]>::len), Some(1));
        let storm: ForkAddress = fork.inside(0).to_string().parse().unwrap();
        assert_eq!(script.actions_at(&storm), Some([Action::Exit { code: 7 }].as_slice()));
        for nowhere in ["0.0", "1", "0.1.0.0", "0.9"] {
            assert_eq!(script.actions_at(&nowhere.parse().unwrap()), None, "{nowhere}");
        }
        assert!("0.x".parse::<ForkAddress>().is_err());
    }

    const MANUAL: &str = include_str!("../../../../docs/scripted-agent.md");

    #[test]
    fn every_script_in_the_manual_can_be_played() {
        let scripts: Vec<&str> =
            MANUAL.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert_eq!(scripts.len(), 4);
        for script in scripts {
            assert!(Script::parse(script).is_ok(), "{:?}", Script::parse(script));
        }
    }

    #[test]
    fn every_report_in_the_manual_is_understood() {
        use crate::{AgentChoice, Signal, Stream, driver};
        let choice = AgentChoice::parse("command:agent").unwrap();
        let reports: Vec<&str> =
            MANUAL.lines().filter(|line| line.starts_with("{\"windlass_signal\"")).collect();
        assert_eq!(reports.len(), 4);
        for report in reports {
            let signals = driver::read_line(&choice, Stream::Stdout, report);
            assert!(!matches!(signals[0], Signal::Unknown { .. } | Signal::Message { .. }), "{report}");
        }
    }

    #[test]
    fn every_verb_is_in_the_manual() {
        for (verb, further) in action_reader::VERBS {
            assert!(MANUAL.contains(&format!("{{ {verb} = ")), "{verb}");
            for key in further {
                assert!(
                    MANUAL.contains(&format!("{key} = ")) || MANUAL.contains(&format!("`{key}`")),
                    "{key}"
                );
            }
        }
    }
}
