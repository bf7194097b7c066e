//! Which version of an agent program is there: the question, how to read the answer, and what to say of it.
//! Asking is somebody else's work.

use std::fmt;

use crate::choice::AgentChoice;
use crate::program::AgentProgram;

/// The command that asks a program for its version. It needs no login and no network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    pub program: String,
    pub arguments: Vec<String>,
}

/// `None` for agents whose version nobody can ask for: commands and scripts of the user's own.
pub fn probe(choice: &AgentChoice) -> Option<Probe> {
    match choice {
        AgentChoice::Known { program, .. } => {
            Some(Probe { program: program.as_str().to_owned(), arguments: vec!["--version".to_owned()] })
        }
        AgentChoice::Command { .. }
        | AgentChoice::Shell { .. }
        | AgentChoice::Scripted { .. }
        | AgentChoice::Acp { .. } => None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl Version {
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The first thing in the output that looks like a version; programs put their name or a word around it.
pub fn read_version(output: &str) -> Option<Version> {
    output.split_whitespace().find_map(|word| {
        let mut parts = word.trim_start_matches('v').trim_end_matches(['.', ',', ';']).splitn(3, '.');
        let (major, minor, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let patch = rest.split(['-', '+']).next()?;
        Some(Version::new(major.parse().ok()?, minor.parse().ok()?, patch.parse().ok()?))
    })
}

/// The versions whose streams were recorded and are read by the tests of this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownVersions {
    pub oldest: Version,
    pub newest: Version,
}

impl AgentProgram {
    pub const fn known_versions(self) -> KnownVersions {
        let (oldest, newest) = match self {
            Self::Codex => (Version::new(0, 154, 0), Version::new(0, 166, 0)),
            Self::Claude => (Version::new(2, 1, 300), Version::new(2, 1, 325)),
            Self::Gemini => (Version::new(0, 51, 0), Version::new(0, 61, 0)),
            Self::OpenCode => (Version::new(1, 18, 3), Version::new(1, 18, 33)),
            Self::Copilot => (Version::new(1, 0, 92), Version::new(1, 0, 102)),
        };
        KnownVersions { oldest, newest }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionVerdict {
    Known,
    /// Flags it needs may be missing.
    Older,
    /// Probably fine: new lines are kept as unknown, never misread.
    Newer,
}

pub fn judge_version(program: AgentProgram, version: Version) -> VersionVerdict {
    let known = program.known_versions();
    if version < known.oldest {
        VersionVerdict::Older
    } else if version > known.newest {
        VersionVerdict::Newer
    } else {
        VersionVerdict::Known
    }
}

/// What to tell the user of a version outside the known range; `None` inside it.
pub fn version_advice(program: AgentProgram, version: Version) -> Option<String> {
    let KnownVersions { oldest, newest } = program.known_versions();
    match judge_version(program, version) {
        VersionVerdict::Known => None,
        VersionVerdict::Older => Some(format!(
            "{} {version} is older than {oldest}, the oldest version Windlass was tried with: update it with `{}@latest`",
            program.title(),
            program.install_command()
        )),
        VersionVerdict::Newer => Some(format!(
            "{} {version} is newer than {newest}, the newest version Windlass was tried with: it most likely works",
            program.title()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_is_asked_by_its_own_name() {
        for program in AgentProgram::ALL {
            let choice = AgentChoice::parse(program.as_str()).unwrap();
            let probe = probe(&choice).unwrap();
            assert_eq!(
                (probe.program.as_str(), probe.arguments.as_slice()),
                (program.as_str(), &["--version".to_owned()][..])
            );
        }
        for other in ["command:codex", "shell:codex", "scripted:codex", "acp:gemini --acp"] {
            assert_eq!(probe(&AgentChoice::parse(other).unwrap()), None, "{other}");
        }
    }

    #[test]
    fn every_way_a_program_writes_its_version_is_read() {
        let table = [
            ("codex-cli 0.166.0\n", Some(Version::new(0, 166, 0))),
            ("2.1.325 (Claude Code)\n", Some(Version::new(2, 1, 325))),
            ("0.61.0\n", Some(Version::new(0, 61, 0))),
            ("1.18.33\n", Some(Version::new(1, 18, 33))),
            (
                "GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.\n",
                Some(Version::new(1, 0, 102)),
            ),
            ("v1.2.3-preview.4+build\n", Some(Version::new(1, 2, 3))),
            ("", None),
            ("command not found", None),
            ("1.2", None),
        ];
        for (output, expected) in table {
            assert_eq!(read_version(output), expected, "{output:?}");
        }
    }

    #[test]
    fn a_version_outside_the_recorded_range_is_told_with_what_to_do() {
        for program in AgentProgram::ALL {
            let known = program.known_versions();
            assert_eq!(judge_version(program, known.oldest), VersionVerdict::Known);
            assert_eq!(judge_version(program, known.newest), VersionVerdict::Known);
            assert_eq!(version_advice(program, known.newest), None);
        }
        assert_eq!(
            version_advice(AgentProgram::Codex, Version::new(0, 20, 0)).unwrap(),
            "OpenAI Codex 0.20.0 is older than 0.154.0, the oldest version Windlass was tried with: update it with \
             `npm install --global @openai/codex@latest`"
        );
        let newer = version_advice(AgentProgram::Claude, Version::new(3, 0, 0)).unwrap();
        assert!(newer.contains("it most likely works"), "{newer}");
    }
}
