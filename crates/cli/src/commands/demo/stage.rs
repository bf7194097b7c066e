//! The place of the demo: a real repository, the agents' scripts, and a state directory of its own, so that the user's
//! journal stays clean and the user's settings change nothing.

use super::{
    DemoArgs, Play, control, control_scripts, goal, goal_scripts, roadmap_scripts, scripts, stories_scripts,
};
use crate::commands::absolute;
use crate::commands::scratch_repository::{self, empty_directory, file_fault, temporary_directory};
use crate::commands::shell_words::quoted;
use crate::commands::work_flags::{list, number, text};
use crate::wiring::{self, Environment};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use windlass_control_api::Fault;
use windlass_control_api::commands::{SettingValue, StartRun};

pub(crate) struct Stage {
    root: PathBuf,
    program: PathBuf,
    environment: Environment,
    /// `windlass` as it can be typed into the user's shell.
    typed: String,
}

impl Stage {
    pub(crate) fn set_up(args: &DemoArgs, environment: &Environment) -> Result<Self, Fault> {
        let play = args.play()?;
        let root = match &args.keep {
            Some(directory) => empty_directory(&absolute(directory)?)?,
            None => temporary_directory("windlass-demo-")?.keep(),
        };
        let program = wiring::program()?;
        let stage = Self {
            typed: typed_program(&program, environment),
            environment: demo_environment(&root, environment),
            program,
            root,
        };
        stage.write_files(play)?;
        stage.make_repositories(play)?;
        Ok(stage)
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    pub(super) fn repository(&self) -> PathBuf {
        self.root.join("repository")
    }

    /// A file the agents' script and the demo share.
    pub(super) fn shared(&self, name: &str) -> PathBuf {
        self.root.join("agents").join(name)
    }

    /// The program with the state directory of the demo, ready to be pasted.
    pub(super) fn windlass(&self) -> String {
        let state = quoted(&state_directory(&self.root).to_string_lossy());
        format!("WINDLASS_STATE_DIR={state} {}", self.typed)
    }

    pub(super) fn agent(&self) -> String {
        format!("scripted:{}", self.shared("script.toml").display())
    }

    pub(super) fn start(&self, rounds: u64) -> StartRun {
        let mut settings = vec![("audit".to_owned(), SettingValue::Switch(true))];
        number(&mut settings, "rounds", Some(rounds));
        list(&mut settings, "checks", &[scripts::CHECK.to_owned()]);
        list(&mut settings, "audit-checks", &[scripts::AUDIT_CHECK.to_owned()]);
        text(&mut settings, "agent", &self.agent());
        text(&mut settings, "land", "branch");
        text(&mut settings, "on-needs-human", "stop");
        StartRun {
            repository: self.repository(),
            directory: self.root.clone(),
            task: scripts::TASK.to_owned(),
            task_id: Some(scripts::TASK_ID.to_owned()),
            settings,
            ..StartRun::default()
        }
    }

    fn write_files(&self, play: Play) -> Result<(), Fault> {
        let into = |folder: PathBuf, files: &[(&str, &str)]| -> Vec<(PathBuf, String)> {
            files.iter().map(|(name, text)| (folder.join(name), (*text).to_owned())).collect()
        };
        let mut files = match play {
            Play::TwoRounds | Play::Crash | Play::Cheat => into(self.repository(), &scripts::FILES),
            Play::Control => into(self.repository(), &control_scripts::SLUG_FILES),
            Play::Goal => into(self.repository(), &goal_scripts::FILES),
            Play::Roadmap => into(self.repository(), &roadmap_scripts::FILES),
            Play::Stories => into(self.repository(), &stories_scripts::FILES),
        };
        files.push((self.shared("script.toml"), scripts::script(play)));
        if play == Play::Control {
            files.extend(into(self.root.join(control::CACHE), &control_scripts::CACHE_FILES));
            files.push((self.shared(control::CACHE_SCRIPT), control_scripts::oscillating()));
        }
        if play == Play::Goal {
            files.push((self.shared(goal::SECOND_SCRIPT), goal_scripts::second()));
        }
        for (path, text) in files {
            let folder = path.parent().unwrap_or(&self.root);
            std::fs::create_dir_all(folder)
                .map_err(|error| file_fault("make the directory", folder, &error))?;
            std::fs::write(&path, text).map_err(|error| file_fault("write", &path, &error))?;
        }
        Ok(())
    }

    fn make_repositories(&self, play: Play) -> Result<(), Fault> {
        let message = match play {
            Play::Goal => "A queue of items and a contract",
            Play::Roadmap => "A name and a purpose",
            Play::Stories => "A purpose, and a place for tests",
            Play::TwoRounds | Play::Crash | Play::Cheat | Play::Control => "A script, and a test that is red",
        };
        scratch_repository::make(&self.repository(), message, &self.environment)?;
        if play == Play::Control {
            let message = "A size, and two wishes about it";
            scratch_repository::make(&self.root.join(control::CACHE), message, &self.environment)?;
        }
        Ok(())
    }
}

fn state_directory(root: &Path) -> PathBuf {
    root.join("state")
}

fn demo_environment(root: &Path, user: &Environment) -> Environment {
    let mut environment = scratch_repository::environment(&state_directory(root), user);
    environment.insert("XDG_CONFIG_HOME".into(), root.join("config").into());
    environment
}

/// `windlass` when the shell finds this very program under that name, else its path.
fn typed_program(program: &Path, environment: &Environment) -> String {
    let path = environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|folder| folder.join("windlass")).find(|file| file.is_file());
    let same = found.and_then(|file| file.canonicalize().ok()).is_some_and(|file| file == program);
    if same { String::from("windlass") } else { quoted(&program.to_string_lossy()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_s_settings_do_not_reach_the_demo() {
        let user: Environment = [("WINDLASS_ROUNDS", "1"), ("PATH", "/bin")]
            .map(|(name, value)| (name.into(), value.into()))
            .into();
        let environment = demo_environment(Path::new("/demo"), &user);
        assert!(!environment.contains_key(OsStr::new("WINDLASS_ROUNDS")));
        assert_eq!(environment.get(OsStr::new("PATH")).unwrap(), "/bin");
        assert_eq!(environment.get(OsStr::new("WINDLASS_STATE_DIR")).unwrap(), "/demo/state");
    }
}
