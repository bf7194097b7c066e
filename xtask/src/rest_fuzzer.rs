//! The program that fuzzes the REST interface of the story queue: schemathesis from PyPI, pinned with all it needs, in a
//! Python environment of its own outside the work tree. Where it cannot be had, its tests are skipped and named.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::agent_programs::{self, SKIPPED_VARIABLE, Skipped};
use crate::commands::{self, Captured, Repository};
use crate::console;
use crate::stopwatch::{Stopwatch, readable};

const NAME: &str = "schemathesis";
const PINNED: &str = "crates/test-support/schemathesis.txt";
/// Written last. An environment has its own path inside, so it cannot be made elsewhere and moved when it is whole.
const WHOLE: &str = "whole";

/// Comes back with the reason why tests must do without it.
pub fn install(repository: &Repository) -> Option<Skipped> {
    let reason = format!("{:#}", provide(repository).err()?);
    console::say(&format!("skipping {NAME}: {reason}"));
    Some(Skipped { name: NAME.to_owned(), reason })
}

fn provide(repository: &Repository) -> Result<()> {
    let unwanted = commands::environment(SKIPPED_VARIABLE).unwrap_or_default();
    if unwanted.split(',').any(|name| name.trim() == NAME) {
        bail!("{SKIPPED_VARIABLE} names it");
    }
    let list = repository.root().join(PINNED);
    let text = fs::read_to_string(&list).with_context(|| format!("read {PINNED}"))?;
    let version = version(&text).with_context(|| format!("{PINNED} does not pin {NAME}"))?;
    let folder = agent_programs::cache_directory(&commands::environment).join(format!("{NAME}-{version}"));
    // What was installed from another list is not what the tests were written for.
    if fs::read_to_string(folder.join(WHOLE)).is_ok_and(|installed| installed == text) {
        console::say(&format!("found {NAME} {version}"));
        return Ok(());
    }
    console::say(&format!("installing {NAME} {version} from PyPI, 93 MB on disk"));
    let stopwatch = Stopwatch::start();
    make_environment(repository, &folder, &list)?;
    fs::write(folder.join(WHOLE), &text).with_context(|| format!("write to {}", folder.display()))?;
    console::say(&format!("installed {NAME} {version} in {}", readable(stopwatch.elapsed())));
    Ok(())
}

fn make_environment(repository: &Repository, folder: &Path, list: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("remove {}", folder.display()))?;
    }
    let mut python = repository.program("python3");
    let made =
        commands::capture(python.args(["-m", "venv"]).arg(folder)).context("python3 is not installed")?;
    succeeded(&made, "python3 could not make an environment")?;
    let own_python = folder.join("bin/python");
    let mut pip = repository.program(own_python.to_str().context("the cache has a plain path")?);
    pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--retries=1"]);
    succeeded(&commands::capture(pip.arg("-r").arg(list))?, "pip could not install it")
}

/// Both tools say the reason last.
fn succeeded(done: &Captured, otherwise: &str) -> Result<()> {
    if done.success {
        return Ok(());
    }
    let said = [done.stdout.as_str(), done.stderr.as_str()].concat();
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it did not say why");
    bail!("{otherwise}: {}", last.trim())
}

fn version(list: &str) -> Option<&str> {
    list.lines().find_map(|line| line.strip_prefix(NAME)?.strip_prefix("=="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_pins_everything_it_names() {
        let list = fs::read_to_string(Repository::of_this_build().root().join(PINNED)).unwrap();
        assert!(version(&list).is_some_and(|version| version.starts_with("4.")), "{list}");
        let pins = list.lines().filter(|line| !line.starts_with('#'));
        assert!(pins.clone().count() > 10 && pins.clone().all(|line| line.contains("==")), "{list}");
    }
}
