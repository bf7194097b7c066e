//! Proves by compiling that the protocols cannot reach the clock, files, processes, the environment or chance.
//! The crate is compiled against a sysroot that holds `core` and `alloc` and nothing else, once as it is (must pass)
//! and once with forbidden lines planted in copies (must fail, and for that reason).

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::commands::{self, Captured, Repository};
use crate::console;

const PURE_CRATE: &str = "crates/protocols";

/// The whole standard library a pure crate may see.
const PERMITTED_LIBRARIES: [&str; 3] = ["libcore-", "liballoc-", "libcompiler_builtins-"];

/// A copy of the pure crate, and the lines put at the end of its `lib.rs`.
struct Copy {
    name: &'static str,
    planted: &'static [Planted],
}

struct Planted {
    code: &'static str,
    /// What the compiler must say about this very line, else it failed for another reason and proves nothing.
    refusal: &'static str,
}

/// Without it a copy that is broken anyway would look like a proof.
const UNCHANGED: Copy = Copy { name: "as-it-is", planted: &[] };

const UNRESOLVED: &str = "error[E0433]";

const THE_WORLD: Copy = Copy {
    name: "with-the-world",
    planted: &[
        Planted { code: "pub fn a() { let _ = std::time::SystemTime::now(); }", refusal: UNRESOLVED },
        Planted { code: "pub fn b() { let _ = std::fs::read(\"x\"); }", refusal: UNRESOLVED },
        Planted { code: "pub fn c() { let _ = std::env::var(\"X\"); }", refusal: UNRESOLVED },
        Planted { code: "pub fn d() { let _ = std::process::Command::new(\"x\"); }", refusal: UNRESOLVED },
        Planted {
            code: "pub fn e() { let _ = std::collections::HashMap::<u8, u8>::new(); }",
            refusal: UNRESOLVED,
        },
        Planted { code: "pub fn f() { println!(\"x\"); }", refusal: "cannot find macro `println`" },
    ],
};

/// `#![no_std]` alone allows this wherever a std is installed; the poor sysroot does not. A missing crate ends the
/// compilation at once, hence a copy of its own.
const STD_BY_NAME: Copy = Copy {
    name: "with-std-by-name",
    planted: &[Planted { code: "extern crate std;", refusal: "error[E0463]" }],
};

/// The proof, or the reason why there is none.
pub fn prove(repository: &Repository) -> Result<()> {
    let source = repository.root().join(PURE_CRATE);
    let library = source.join("src/lib.rs");
    let text = fs::read_to_string(&library).with_context(|| format!("cannot read {}", library.display()))?;
    ensure!(
        text.lines().any(|line| line.trim() == "#![no_std]"),
        "{PURE_CRATE}/src/lib.rs does not say #![no_std]"
    );

    // The first build may download what the copies then use offline.
    let laboratory = Laboratory::open(repository)?;
    commands::capture(&mut laboratory.check(repository.cargo(&["check", "-p", "windlass-protocols"])))?
        .expect_success()
        .context("the protocols do not compile without the standard library")?;

    laboratory.write_copies(repository, &source, &[UNCHANGED, THE_WORLD, STD_BY_NAME])?;
    laboratory
        .check_copies(repository, &[UNCHANGED])?
        .expect_success()
        .context("the unchanged copy must compile")?;
    let said = laboratory.check_copies(repository, &[THE_WORLD, STD_BY_NAME])?.stderr;
    let first_planted = text.lines().count() + 1;
    for copy in [THE_WORLD, STD_BY_NAME] {
        judge(&copy, first_planted, &said)?;
        for planted in copy.planted {
            console::say(&format!("refused by the compiler: {}", planted.code));
        }
    }
    Ok(())
}

/// Every planted line must be refused as expected, and nothing else in that copy.
fn judge(copy: &Copy, first_planted: usize, said: &str) -> Result<()> {
    let place = format!("{}/src/", copy.name);
    let mut errors: Vec<&str> =
        said.lines().filter(|line| line.starts_with(&place) && line.contains(": error")).collect();
    for (index, planted) in copy.planted.iter().enumerate() {
        let line = format!("{place}lib.rs:{}:", first_planted + index);
        let refused = errors.iter().any(|error| error.starts_with(&line) && error.contains(planted.refusal));
        ensure!(
            refused,
            "the compiler did not refuse `{}` with {}; it said:\n{said}",
            planted.code,
            planted.refusal
        );
        errors.retain(|error| !error.starts_with(&line));
    }
    match errors.first() {
        Some(other) => bail!("the copy {} fails also for another reason: {other}", copy.name),
        None => Ok(()),
    }
}

/// A folder below the target directory with the poor sysroot, the copies and what cargo builds of them.
struct Laboratory {
    target: PathBuf,
    copies: PathBuf,
    sysroot: PathBuf,
    host: String,
    /// The paths are always the same, so that dependencies are compiled once; hence one proof at a time.
    _lock: File,
}

impl Laboratory {
    fn open(repository: &Repository) -> Result<Self> {
        let target = repository.target_directory()?.join("no-std-proof");
        fs::create_dir_all(&target).with_context(|| format!("cannot create {}", target.display()))?;
        let lock = File::create(target.join("lock")).context("cannot create the lock of the proof")?;
        lock.lock().context("cannot take the lock of the proof")?;
        let version = commands::capture(repository.program("rustc").arg("-vV"))?.expect_success()?;
        let field = |name: &str| {
            version.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
        };
        let host = field("host:").context("rustc -vV names no host")?;
        let commit = field("commit-hash:").context("rustc -vV names no commit-hash")?;
        let sysroot = target.join(format!("sysroot-{commit}"));
        furnish(repository, &sysroot, &host)?;
        Ok(Self { copies: target.join("copies"), target, sysroot, host, _lock: lock })
    }

    /// With `--target` the flags hold for the crate and its dependencies, but not for macros that run on the host.
    fn check(&self, mut cargo: Command) -> Command {
        cargo
            .args(["--quiet", "--target", &self.host])
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_ENCODED_RUSTFLAGS", format!("--sysroot\u{1f}{}", self.sysroot.display()))
            .env("CARGO_TERM_COLOR", "never");
        cargo
    }

    fn check_copies(&self, repository: &Repository, copies: &[Copy]) -> Result<Captured> {
        let mut cargo =
            repository.cargo(&["check", "--offline", "--keep-going", "--message-format", "short"]);
        cargo.current_dir(&self.copies);
        for copy in copies {
            cargo.args(["-p", copy.name]);
        }
        commands::capture(&mut self.check(cargo))
    }

    /// One small workspace in which each member is the pure crate with one thing planted.
    fn write_copies(&self, repository: &Repository, source: &Path, copies: &[Copy]) -> Result<()> {
        match fs::remove_dir_all(&self.copies) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot empty {}", self.copies.display()));
            }
            _ => fs::create_dir_all(&self.copies)?,
        }
        let members: Vec<&str> = copies.iter().map(|copy| copy.name).collect();
        let workspace =
            workspace_manifest(&fs::read_to_string(repository.root().join("Cargo.toml"))?, &members)?;
        fs::write(self.copies.join("Cargo.toml"), workspace)?;
        fs::copy(repository.root().join("Cargo.lock"), self.copies.join("Cargo.lock"))?;
        let manifest = fs::read_to_string(source.join("Cargo.toml"))?;
        for copy in copies {
            let folder = self.copies.join(copy.name);
            copy_folder(&source.join("src"), &folder.join("src"))?;
            fs::write(folder.join("Cargo.toml"), member_manifest(&manifest, copy.name)?)?;
            let library = folder.join("src/lib.rs");
            let mut text = fs::read_to_string(&library)?;
            for planted in copy.planted {
                text.push_str(planted.code);
                text.push('\n');
            }
            fs::write(&library, text)?;
        }
        Ok(())
    }
}

/// Fills a sysroot with links to the permitted libraries of the real one.
fn furnish(repository: &Repository, sysroot: &Path, host: &str) -> Result<()> {
    let real =
        commands::capture(repository.program("rustc").args(["--print", "sysroot"]))?.expect_success()?;
    let place = Path::new("lib/rustlib").join(host).join("lib");
    let (from, to) = (Path::new(real.trim()).join(&place), sysroot.join(&place));
    fs::create_dir_all(&to)?;
    for entry in fs::read_dir(&from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let name = entry.file_name();
        let permitted = PERMITTED_LIBRARIES.iter().any(|prefix| name.to_string_lossy().starts_with(prefix));
        if !permitted {
            continue;
        }
        match std::os::unix::fs::symlink(entry.path(), to.join(&name)) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// The real workspace with other members and without its own crates among the dependencies.
fn workspace_manifest(real: &str, members: &[&str]) -> Result<String> {
    let mut manifest: toml::Table = real.parse().context("the workspace's Cargo.toml is not TOML")?;
    let workspace = manifest
        .get_mut("workspace")
        .and_then(toml::Value::as_table_mut)
        .context("no [workspace] in Cargo.toml")?;
    workspace.remove("default-members");
    workspace.remove("lints");
    workspace.insert("members".to_owned(), members.to_vec().into());
    if let Some(dependencies) = workspace.get_mut("dependencies").and_then(toml::Value::as_table_mut) {
        dependencies.retain(|_, dependency| dependency.get("path").is_none());
    }
    Ok(toml::to_string(&manifest)?)
}

/// The pure crate's manifest under another name, without what only its tests and lints need.
fn member_manifest(real: &str, name: &str) -> Result<String> {
    let mut manifest: toml::Table = real.parse().context("the pure crate's Cargo.toml is not TOML")?;
    for section in ["lints", "dev-dependencies", "bench", "example", "test"] {
        manifest.remove(section);
    }
    let package = manifest.get_mut("package").and_then(toml::Value::as_table_mut).context("no [package]")?;
    package.insert("name".to_owned(), name.into());
    Ok(toml::to_string(&manifest)?)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocols_compile_without_std_and_nothing_forbidden_does() {
        prove(&Repository::of_this_build()).unwrap();
    }

    const FIRST: &str = "with-std-by-name/src/lib.rs:9:1: error[E0463]: can't find crate for `std`\n";

    #[test]
    fn the_expected_refusal_is_the_proof() {
        judge(&STD_BY_NAME, 9, FIRST).unwrap();
    }

    #[test]
    fn a_planted_line_that_compiles_breaks_the_proof() {
        for said in ["", "with-the-world/src/lib.rs:9:1: error[E0463]: another copy\n"] {
            let message = judge(&STD_BY_NAME, 9, said).unwrap_err().to_string();
            assert!(message.contains("did not refuse `extern crate std;`"), "{message}");
        }
    }

    #[test]
    fn a_refusal_of_another_kind_or_line_proves_nothing() {
        assert!(judge(&STD_BY_NAME, 8, FIRST).is_err());
        assert!(judge(&STD_BY_NAME, 9, &FIRST.replace("E0463", "E0308")).is_err());
    }

    #[test]
    fn a_copy_that_fails_elsewhere_as_well_proves_nothing() {
        let said = format!("{FIRST}with-std-by-name/src/run.rs:2:5: error[E0308]: mismatched types\n");
        let message = judge(&STD_BY_NAME, 9, &said).unwrap_err().to_string();
        assert!(message.contains("E0308"), "{message}");
    }
}
