//! The place of the demo: a real repository, the agents' scripts, and a state directory of its own, so that the user's
//! journal stays clean and the user's settings change nothing.

use super::{DemoArgs, scripts};
use crate::commands::absolute;
use crate::commands::work_flags::{list, number, text};
use crate::wiring::{self, Environment};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use windlass_control_api::commands::{SettingValue, StartRun};
use windlass_control_api::{Code, Fault};
use windlass_process_supervisor::QuickCommand;

pub(crate) struct Stage {
    root: PathBuf,
    program: PathBuf,
    environment: Environment,
    /// `windlass` as it can be typed into the user's shell.
    typed: String,
}

impl Stage {
    pub(crate) fn set_up(args: &DemoArgs, environment: &Environment) -> Result<Self, Fault> {
        let root = match &args.keep {
            Some(directory) => empty_directory(&absolute(directory)?)?,
            None => tempfile::Builder::new()
                .prefix("windlass-demo-")
                .tempdir()
                .map(tempfile::TempDir::keep)
                .map_err(|error| {
                    Fault::new(Code::FileSystem, format!("cannot make a temporary directory: {error}"))
                })?,
        };
        let program = wiring::program()?;
        let stage = Self {
            typed: typed_program(&program, environment),
            environment: demo_environment(&root, environment),
            program,
            root,
        };
        stage.write_files(args)?;
        stage.make_repository()?;
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

    fn write_files(&self, args: &DemoArgs) -> Result<(), Fault> {
        let repository = self.repository();
        let files = scripts::FILES.iter().map(|(name, text)| (repository.join(name), (*text).to_owned()));
        let script = (self.shared("script.toml"), scripts::script(args.play()));
        for (path, text) in files.chain([script]) {
            let folder = path.parent().unwrap_or(&self.root);
            std::fs::create_dir_all(folder)
                .map_err(|error| file_fault("make the directory", folder, &error))?;
            std::fs::write(&path, text).map_err(|error| file_fault("write", &path, &error))?;
        }
        Ok(())
    }

    fn make_repository(&self) -> Result<(), Fault> {
        self.git(&["init", "--quiet", "--initial-branch=main"])?;
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--message=A script, and a test that is red"])
    }

    /// With nothing of the user's configuration: a hook or a signing key has no place here.
    fn git(&self, args: &[&str]) -> Result<(), Fault> {
        let path = self.environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        let command = QuickCommand::new("git", self.repository())
            .args(args.iter().copied())
            .env("PATH", path)
            .env("HOME", self.root.as_os_str())
            .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("LC_ALL", "C")])
            .envs([("GIT_AUTHOR_NAME", "Demo"), ("GIT_AUTHOR_EMAIL", "demo@localhost")])
            .envs([("GIT_COMMITTER_NAME", "Demo"), ("GIT_COMMITTER_EMAIL", "demo@localhost")]);
        let failed = |what: String| {
            Fault::new(Code::GitUnusable, format!("`git {}` failed: {what}", args.join(" ")))
                .hint("`windlass doctor` says whether git can be used")
        };
        let output = command.run().map_err(|error| failed(error.to_string()))?;
        if output.status.success() {
            return Ok(());
        }
        Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }
}

fn empty_directory(path: &Path) -> Result<PathBuf, Fault> {
    std::fs::create_dir_all(path).map_err(|error| file_fault("make the directory", path, &error))?;
    let mut entries = std::fs::read_dir(path).map_err(|error| file_fault("read", path, &error))?;
    if entries.next().is_some() {
        let fault = Fault::new(Code::BadArgument, format!("{} is not empty", path.display()));
        return Err(fault.kept("nothing was changed").hint("give an empty or a new directory to --keep"));
    }
    Ok(path.to_owned())
}

fn state_directory(root: &Path) -> PathBuf {
    root.join("state")
}

fn demo_environment(root: &Path, user: &Environment) -> Environment {
    let ours = |name: &OsString| name.to_string_lossy().starts_with("WINDLASS_");
    let mut environment: Environment = user
        .iter()
        .filter(|(name, _)| !ours(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    environment.insert("WINDLASS_STATE_DIR".into(), state_directory(root).into());
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

/// As a shell wants it.
pub(super) fn quoted(text: &str) -> String {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+=:@%,".contains(&byte);
    if !text.is_empty() && text.bytes().all(harmless) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

pub(super) fn file_fault(doing: &str, path: &Path, error: &std::io::Error) -> Fault {
    Fault::new(Code::FileSystem, format!("cannot {doing} {}: {error}", path.display()))
        .hint("is there room on the disk, and may you write there?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_only_where_a_shell_would_stumble() {
        assert_eq!(quoted("/tmp/windlass-demo-aB3"), "/tmp/windlass-demo-aB3");
        assert_eq!(quoted("/tmp/it's here"), r"'/tmp/it'\''s here'");
        assert_eq!(quoted(""), "''");
    }

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
