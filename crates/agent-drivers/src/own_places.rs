//! Where an agent program keeps what is its own: sessions, settings, caches. Names only, from the user's variables; whoever
//! fences a program in lets it write there.

use std::path::{Path, PathBuf};

use crate::choice::AgentChoice;
use crate::program::AgentProgram;

/// The places this agent must be able to write besides its workspace, as far as they can be named. Single files and
/// directories; not all need be there.
///
/// A command of the user's may start any of the programs, so it is given the places of all.
pub fn own_places(choice: &AgentChoice, variable: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    match choice {
        AgentChoice::Known { program, .. } => places_of(*program, &variable),
        AgentChoice::Scripted { file } => Path::new(file).parent().map(Path::to_owned).into_iter().collect(),
        AgentChoice::Command { .. } | AgentChoice::Shell { .. } | AgentChoice::Acp { .. } => {
            AgentProgram::ALL.into_iter().flat_map(|program| places_of(program, &variable)).collect()
        }
    }
}

/// Directories that a program makes in `/tmp` whatever it is told about temporary files, and cannot work without: Codex keeps
/// there what its own sandbox mounts, one for each user.
pub fn rooms_in_tmp(choice: &AgentChoice, user: u32) -> Vec<PathBuf> {
    match choice {
        AgentChoice::Known { program: AgentProgram::Codex, .. }
        | AgentChoice::Command { .. }
        | AgentChoice::Shell { .. }
        | AgentChoice::Acp { .. } => vec![PathBuf::from(format!("/tmp/codex-daemon-{user}"))],
        AgentChoice::Known { .. } | AgentChoice::Scripted { .. } => Vec::new(),
    }
}

/// The variables by which programs are told where temporary files go. Claude uses `/tmp` unless it has one of its own.
pub const fn temporary_variables() -> [&'static str; 2] {
    ["TMPDIR", "CLAUDE_CODE_TMPDIR"]
}

/// Whether the program may build a sandbox of its own out of mounts, which a fence must then leave room for.
pub fn brings_own_sandbox(choice: &AgentChoice) -> bool {
    match choice {
        AgentChoice::Known { program, .. } => program.confinement().fences_commands,
        AgentChoice::Acp { program, .. } => program.contains(AgentProgram::Codex.as_str()),
        AgentChoice::Command { .. } | AgentChoice::Shell { .. } | AgentChoice::Scripted { .. } => false,
    }
}

fn places_of(program: AgentProgram, variable: &impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let home = variable("HOME").map(PathBuf::from);
    let at_home = |place: &str| home.as_ref().map(|home| home.join(place));
    let moved = |name: &str, usual: &str| variable(name).map(PathBuf::from).or_else(|| at_home(usual));
    let base = |name: &str, usual: &str, own: &str| moved(name, usual).map(|base| base.join(own));
    let places = match program {
        AgentProgram::Codex => vec![moved("CODEX_HOME", ".codex")],
        // Not `.local/share/claude`: there lie the versions of the program itself, which the user runs. Nor `.claude.json`, which
        // names programs to be started: Claude only ever puts another file in its place, which nobody can be allowed for one
        // file, and does without where it cannot.
        AgentProgram::Claude => vec![moved("CLAUDE_CONFIG_DIR", ".claude")],
        AgentProgram::Gemini => vec![at_home(".gemini")],
        AgentProgram::OpenCode => vec![
            base("XDG_DATA_HOME", ".local/share", "opencode"),
            base("XDG_CONFIG_HOME", ".config", "opencode"),
            base("XDG_STATE_HOME", ".local/state", "opencode"),
        ],
        AgentProgram::Copilot => vec![
            moved("COPILOT_HOME", ".copilot"),
            base("XDG_CONFIG_HOME", ".config", "github-copilot"),
            base("XDG_STATE_HOME", ".local/state", ".copilot"),
        ],
    };
    places.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(agent: &str, variables: &[(&str, &str)]) -> Vec<String> {
        let choice = AgentChoice::parse(agent).unwrap();
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        own_places(&choice, variable).iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn each_program_has_its_own_places_and_a_command_has_all() {
        let home = [("HOME", "/h")];
        assert_eq!(places("codex", &home), ["/h/.codex"]);
        assert_eq!(places("codex", &[("HOME", "/h"), ("CODEX_HOME", "/c")]), ["/c"]);
        assert_eq!(places("claude", &home), ["/h/.claude"], "the others name programs, or are programs");
        assert!(places("opencode", &[("XDG_DATA_HOME", "/d")]).contains(&"/d/opencode".to_owned()));
        let all = places("command:./maker", &home);
        for program in ["codex", "claude", "gemini", "opencode", "copilot"] {
            assert!(places(program, &home).iter().all(|place| all.contains(place)), "{program}");
        }
        assert_eq!(places("scripted:/s/play.toml", &home), ["/s"]);
        assert_eq!(places("codex", &[]), Vec::<String>::new(), "without a home there is nothing to name");
    }

    #[test]
    fn codex_has_a_room_in_tmp_for_each_user_and_so_has_whoever_may_start_it() {
        let rooms = |agent: &str| rooms_in_tmp(&AgentChoice::parse(agent).unwrap(), 1000);
        for agent in ["codex", "command:./maker", "shell:codex exec", "acp:codex-acp"] {
            assert_eq!(rooms(agent), [Path::new("/tmp/codex-daemon-1000")], "{agent}");
        }
        assert!(rooms("claude").is_empty() && rooms("scripted:/s/play.toml").is_empty());
    }

    #[test]
    fn codex_needs_room_for_its_own_sandbox() {
        let needs = |agent: &str| brings_own_sandbox(&AgentChoice::parse(agent).unwrap());
        assert!(needs("codex") && needs("acp:/opt/codex-acp"));
        assert!(!needs("claude") && !needs("command:./maker") && !needs("scripted:/s"));
    }
}
