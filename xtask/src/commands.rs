//! The one place where xtask starts programs, and where it finds the repository they run in.
//! It does not know what the programs are for.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The work tree these tools belong to.
pub struct Repository {
    root: PathBuf,
}

impl Repository {
    /// Cargo says at run time where this package lies, which stays right when a checkout is moved.
    pub fn of_this_build() -> Self {
        let package =
            environment("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").to_owned());
        let package = PathBuf::from(package);
        Self { root: package.parent().map_or_else(|| package.clone(), Path::to_path_buf) }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `cargo` as this program was started by, with the root as its directory.
    pub fn cargo(&self, args: &[&str]) -> Command {
        let program = environment("CARGO").unwrap_or_else(|| "cargo".to_owned());
        let mut command = self.program(program);
        command.args(args);
        command
    }

    /// Any other program, with the root as its directory.
    #[expect(clippy::disallowed_methods, reason = "xtask is not the product; all its children start here")]
    pub fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }

    /// Where cargo puts what it builds for this work tree.
    pub fn target_directory(&self) -> Result<PathBuf> {
        let metadata =
            capture(&mut self.cargo(&["metadata", "--no-deps", "--offline", "--format-version", "1"]))?
                .expect_success()?;
        let metadata: serde_json::Value =
            serde_json::from_str(&metadata).context("cargo metadata is not JSON")?;
        let directory =
            metadata["target_directory"].as_str().context("cargo metadata names no target_directory")?;
        Ok(PathBuf::from(directory))
    }
}

/// What a program said and whether it succeeded.
pub struct Captured {
    pub success: bool,
    pub stdout: String,
    pub stderr: String,
    described: String,
}

impl Captured {
    /// The standard output, or an error with everything that was said.
    pub fn expect_success(self) -> Result<String> {
        if self.success {
            return Ok(self.stdout);
        }
        bail!("`{}` failed:\n{}{}", self.described, self.stdout, self.stderr)
    }
}

/// Runs a program with its output going where ours goes.
pub fn stream(command: &mut Command) -> Result<()> {
    let described = describe(command);
    let status = command.status().with_context(|| format!("cannot start `{described}`"))?;
    if status.success() {
        return Ok(());
    }
    bail!("`{described}` ended with {status}")
}

/// Runs a program and keeps its output.
pub fn capture(command: &mut Command) -> Result<Captured> {
    let described = describe(command);
    let output = command.output().with_context(|| format!("cannot start `{described}`"))?;
    Ok(Captured {
        success: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        described,
    })
}

/// Whether the program can be started and says that all is well; its output is nobody's concern.
pub fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// A variable that cargo or the contributor gave to xtask.
#[expect(
    clippy::disallowed_methods,
    reason = "xtask has no settings; cargo talks to it through the environment"
)]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let args = command.get_args().map(|arg| arg.to_string_lossy().into_owned());
    std::iter::once(name).chain(args).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_where_the_workspace_manifest_lies() {
        let manifest =
            std::fs::read_to_string(Repository::of_this_build().root().join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[workspace]"));
    }

    #[test]
    fn a_failed_program_is_reported_with_its_arguments_and_words() {
        let repository = Repository::of_this_build();
        let mut command = repository.program("sh");
        let failed = capture(command.args(["-c", "echo spoken; echo shouted >&2; exit 3"])).unwrap();
        let message = failed.expect_success().unwrap_err().to_string();
        assert!(
            message.contains("sh -c") && message.contains("spoken") && message.contains("shouted"),
            "{message}"
        );
    }

    #[test]
    fn a_streamed_failure_carries_the_exit_status() {
        let repository = Repository::of_this_build();
        let message = stream(repository.program("sh").args(["-c", "exit 3"])).unwrap_err().to_string();
        assert!(message.contains("exit status: 3"), "{message}");
    }

    #[test]
    fn a_program_that_is_not_there_does_not_succeed() {
        assert!(!succeeds(&mut Repository::of_this_build().program("no-such-program-anywhere")));
    }
}
