//! What the tests need from the machine: looked for, installed when this is root on Debian, else named.
//! It does not know which test needs what.

use anyhow::{Context, Result, bail};

use crate::agent_programs::{self, Skipped};
use crate::commands::{self, Repository};
use crate::console;
use crate::control_groups;
use crate::overlays;
use crate::power_cuts;
use crate::rest_fuzzer;

/// Older versions lack what the private control git directory relies on.
const OLDEST_GIT: (u32, u32) = (2, 39);

/// Something the tests cannot do without.
struct Need {
    name: &'static str,
    debian_packages: &'static [&'static str],
    /// Says what was found, or what is wrong.
    look: fn(&Repository) -> Result<String>,
}

const NEEDS: &[Need] = &[
    Need { name: "git 2.39 or newer", debian_packages: &["git"], look: find_git },
    Need {
        name: "a C compiler with the C library's headers",
        debian_packages: &["gcc", "libc6-dev"],
        look: find_c_compiler,
    },
];

/// Makes sure that all needs are met; comes back with what the tests have to do without.
pub fn set_up(repository: &Repository) -> Result<Vec<Skipped>> {
    rust_components(repository)?;
    meet_needs(repository)?;
    let mut skipped = agent_programs::install(repository)?;
    skipped.extend(rest_fuzzer::install(repository));
    skipped.extend(power_cuts::look(repository));
    skipped.extend(overlays::look(repository));
    skipped.extend(control_groups::look(repository));
    Ok(skipped)
}

fn meet_needs(repository: &Repository) -> Result<()> {
    let missing = report_missing(repository, NEEDS);
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().flat_map(|need| need.debian_packages.iter().copied()).collect();
    install(repository, &missing, &packages)?;
    let still_missing = report_missing(repository, NEEDS);
    if still_missing.is_empty() {
        return Ok(());
    }
    bail!("installed {}, but this is still missing: {}", packages.join(" "), names(&still_missing))
}

fn report_missing<'a>(repository: &Repository, needs: &'a [Need]) -> Vec<&'a Need> {
    let mut missing = Vec::new();
    for need in needs {
        match (need.look)(repository) {
            Ok(found) => console::say(&format!("found {found}")),
            Err(error) => {
                console::say(&format!("missing {}: {error:#}", need.name));
                missing.push(need);
            }
        }
    }
    missing
}

fn names(needs: &[&Need]) -> String {
    needs.iter().map(|need| need.name).collect::<Vec<_>>().join(", ")
}

fn install(repository: &Repository, missing: &[&Need], packages: &[&str]) -> Result<()> {
    if !commands::succeeds(repository.program("apt-get").arg("--version")) {
        bail!("this is not a Debian system, so install by its own means: {}", names(missing));
    }
    if !is_root(repository)? {
        bail!(
            "not root, so run this yourself:\n  sudo apt-get update && \
             sudo apt-get install -y --no-install-recommends {}",
            packages.join(" ")
        );
    }
    commands::stream(&mut apt_get(repository, &["update"]))?;
    let install = [&["install", "-y", "--no-install-recommends"], packages].concat();
    commands::stream(&mut apt_get(repository, &install))
}

fn apt_get(repository: &Repository, args: &[&str]) -> std::process::Command {
    let mut command = repository.program("apt-get");
    // Without it a package may stop to ask a question that nobody answers.
    command.env("DEBIAN_FRONTEND", "noninteractive").args(args);
    command
}

fn is_root(repository: &Repository) -> Result<bool> {
    let id = commands::capture(repository.program("id").arg("-u"))?.expect_success()?;
    Ok(id.trim() == "0")
}

/// The toolchain file asks rustup for both components; other ways to install Rust may leave them out.
fn rust_components(repository: &Repository) -> Result<()> {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if commands::succeeds(&mut repository.cargo(&[subcommand, "--version"])) {
            continue;
        }
        console::say(&format!("missing {component}"));
        let mut rustup = repository.program("rustup");
        commands::stream(rustup.args(["component", "add", component]))
            .with_context(|| format!("install the Rust component {component}"))?;
    }
    Ok(())
}

fn find_git(repository: &Repository) -> Result<String> {
    let said = commands::capture(repository.program("git").arg("--version"))?.expect_success()?;
    let said = said.trim();
    let version = git_version(said).with_context(|| format!("cannot read a version from {said:?}"))?;
    if version < OLDEST_GIT {
        bail!("{said} is too old");
    }
    Ok(said.to_owned())
}

fn git_version(said: &str) -> Option<(u32, u32)> {
    let mut parts = said.split_whitespace().nth(2)?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// A compiler without headers answers `--version` happily and then fails in the middle of SQLite.
fn find_c_compiler(repository: &Repository) -> Result<String> {
    let compiler = commands::environment("CC").unwrap_or_else(|| "cc".to_owned());
    let mut version = repository.program(&compiler);
    let said = commands::capture(version.arg("--version"))?.expect_success()?;
    let mut headers = repository.program(&compiler);
    commands::capture(headers.args(["-fsyntax-only", "-x", "c", "-include", "stdio.h", "-"]))?
        .expect_success()
        .with_context(|| format!("{compiler} cannot include stdio.h"))?;
    Ok(said.lines().next().unwrap_or(&compiler).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_versions_are_read_with_and_without_a_vendor_suffix() {
        assert_eq!(git_version("git version 2.47.3"), Some((2, 47)));
        assert_eq!(git_version("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(git_version("git version 3.0.rc1"), Some((3, 0)));
        assert_eq!(git_version("command not found"), None);
        assert!(git_version("git version 2.9.1").unwrap() < OLDEST_GIT);
    }

    #[test]
    fn what_cannot_be_found_is_missing_and_what_is_found_is_not() {
        let needs = [
            Need { name: "air", debian_packages: &[], look: |_| Ok("air".to_owned()) },
            Need { name: "gold", debian_packages: &["gold"], look: |_| bail!("none here") },
        ];
        let missing = report_missing(&Repository::of_this_build(), &needs);
        assert_eq!(names(&missing), "gold");
    }

    #[test]
    fn this_machine_runs_tests_so_its_compiler_and_git_are_found() {
        let repository = Repository::of_this_build();
        assert!(find_git(&repository).unwrap().starts_with("git version"));
        find_c_compiler(&repository).unwrap();
    }
}
