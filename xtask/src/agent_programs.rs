//! The real agent programs that tests start: pinned versions from npm, installed once into a cache outside the work tree.
//! What cannot be installed is skipped and named. It does not know what the tests do with them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::commands::{self, Captured, Repository};
use crate::console;
use crate::stopwatch::{Stopwatch, readable};

/// Names with commas between them. Tests of these programs do nothing; tests of others fail where the program is missing.
pub const SKIPPED_VARIABLE: &str = "WINDLASS_AGENTS_SKIPPED";

const PINNED: &str = "crates/test-support/agent-programs.json";
const HALF_INSTALLED: &str = ".installing-";
/// One more try and no long waits: a machine without network must learn it soon.
const NPM_INSTALL: [&str; 9] = [
    "install",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--save-exact",
    "--loglevel=error",
    "--fetch-retries=1",
    // Its own least wait is ten seconds, and a least wait beyond the longest is refused.
    "--fetch-retry-mintimeout=500",
    "--fetch-retry-maxtimeout=2000",
];

/// A program, or something of the machine, that tests have to do without.
#[derive(Debug, PartialEq, Eq)]
pub struct Skipped {
    pub name: String,
    pub reason: String,
}

/// Installs what is missing; comes back with what is still missing.
pub fn install(repository: &Repository) -> Result<Vec<Skipped>> {
    let text =
        fs::read_to_string(repository.root().join(PINNED)).with_context(|| format!("read {PINNED}"))?;
    let cache = cache_directory(&commands::environment);
    let unwanted = commands::environment(SKIPPED_VARIABLE).unwrap_or_default();
    let machine = Machine { repository, cache, unwanted };
    remove_half_installed(&machine.cache);
    let mut skipped = Vec::new();
    for program in pinned(&text)? {
        if let Err(error) = machine.provide(&program) {
            let reason = format!("{error:#}");
            console::say(&format!("skipping {}: {reason}", program.title()));
            skipped.push(Skipped { name: program.name, reason });
        }
    }
    Ok(skipped)
}

/// For the end of a long command, where everybody looks.
pub fn report(skipped: &[Skipped]) {
    if skipped.is_empty() {
        return;
    }
    console::say("\nTests with these did NOT run:");
    for Skipped { name, reason } in skipped {
        console::say(&format!("  {name}: {reason}"));
    }
}

/// The value of [`SKIPPED_VARIABLE`].
pub fn names(skipped: &[Skipped]) -> String {
    skipped.iter().map(|program| program.name.as_str()).collect::<Vec<_>>().join(",")
}

struct Program {
    name: String,
    package: String,
    version: String,
    /// Below `node_modules`.
    file: String,
    megabytes: u64,
    /// For those that node runs.
    oldest_node: Option<u64>,
}

impl Program {
    fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}

fn pinned(text: &str) -> Result<Vec<Program>> {
    let list: Vec<Value> = serde_json::from_str(text).with_context(|| format!("{PINNED} is not a list"))?;
    let program = |entry: &Value| {
        let field = |name: &str| {
            let text = entry[name].as_str().map(str::to_owned);
            text.with_context(|| format!("{PINNED}: an entry without {name}"))
        };
        Ok(Program {
            name: field("name")?,
            package: field("package")?,
            version: field("version")?,
            file: field("program")?,
            megabytes: entry["megabytes"].as_u64().unwrap_or_default(),
            oldest_node: entry["oldest_node"].as_u64(),
        })
    };
    list.iter().map(program).collect()
}

struct Machine<'a> {
    repository: &'a Repository,
    cache: PathBuf,
    /// What the contributor does not want to be tested.
    unwanted: String,
}

impl Machine<'_> {
    /// An error says why tests must do without the program.
    fn provide(&self, program: &Program) -> Result<()> {
        if self.unwanted.split(',').any(|name| name.trim() == program.name) {
            bail!("{SKIPPED_VARIABLE} names it");
        }
        if (std::env::consts::OS, std::env::consts::ARCH) != ("linux", "x86_64") {
            bail!("the pinned programs are those for Linux on x86-64");
        }
        if let Some(oldest) = program.oldest_node {
            self.check_node(oldest)?;
        }
        let folder = self.cache.join(format!("{}-{}", program.name, program.version));
        if folder.join("node_modules").join(&program.file).is_file() {
            console::say(&format!("found {}", program.title()));
            return Ok(());
        }
        self.install(program, &folder)
    }

    fn check_node(&self, oldest: u64) -> Result<()> {
        let said = self.ask("node")?;
        let major =
            said.trim().trim_start_matches('v').split('.').next().and_then(|word| word.parse::<u64>().ok());
        if major.is_none_or(|major| major < oldest) {
            bail!("it needs node {oldest} or newer, and this is {}", said.trim());
        }
        Ok(())
    }

    fn ask(&self, tool: &str) -> Result<String> {
        let answer = commands::capture(self.repository.program(tool).arg("--version"));
        answer.with_context(|| format!("{tool} is not installed"))?.expect_success()
    }

    /// Beside its place first and moved when whole, so that nobody ever finds half a program.
    fn install(&self, program: &Program, folder: &Path) -> Result<()> {
        self.ask("npm")?;
        let (title, package) = (program.title(), format!("{}@{}", program.package, program.version));
        console::say(&format!("installing {title} from npm, {} MB on disk", program.megabytes));
        let stopwatch = Stopwatch::start();
        let beside = self.cache.join(format!("{HALF_INSTALLED}{}-{}", program.name, std::process::id()));
        fs::create_dir_all(&beside).with_context(|| format!("make {}", beside.display()))?;
        let mut npm = self.repository.program("npm");
        npm.args(NPM_INSTALL).arg("--prefix").arg(&beside).arg(&package);
        let installed = commands::capture(&mut npm).and_then(|done| {
            if !done.success {
                bail!("npm could not install it: {}", complaint(&done));
            }
            let path = Path::new("node_modules").join(&program.file);
            if !beside.join(&path).is_file() {
                bail!("npm installed it, but there is no {}", path.display());
            }
            take_place(&beside, folder, &path)
        });
        // Gone already when all went well. If it stays, the next set-up removes it.
        let _ = fs::remove_dir_all(&beside);
        installed?;
        console::say(&format!("installed {title} in {}", readable(stopwatch.elapsed())));
        Ok(())
    }
}

/// Another set-up may have been faster, and what is there may be the rest of a cache that somebody has pruned.
fn take_place(beside: &Path, folder: &Path, file: &Path) -> Result<()> {
    if fs::rename(beside, folder).is_ok() || folder.join(file).is_file() {
        return Ok(());
    }
    fs::remove_dir_all(folder).with_context(|| format!("remove {}", folder.display()))?;
    fs::rename(beside, folder).with_context(|| format!("move it to {}", folder.display()))
}

/// The first few lines that npm itself calls errors.
fn complaint(done: &Captured) -> String {
    let lines = done.stderr.lines().filter_map(|line| line.strip_prefix("npm error "));
    let told: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).take(3).collect();
    if told.is_empty() { done.stderr.trim().to_owned() } else { told.join("; ") }
}

/// What a killed set-up left. One that is at work now is known by its process and left alone.
fn remove_half_installed(cache: &Path) {
    let Ok(entries) = fs::read_dir(cache) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(pid) = name.strip_prefix(HALF_INSTALLED).and_then(|rest| rest.rsplit('-').next()) else {
            continue;
        };
        if !Path::new("/proc").join(pid).exists() {
            // It is only room on the disk.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The same rule as in test-support, which looks there.
pub(crate) fn cache_directory(variable: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    if let Some(directory) = variable("WINDLASS_AGENTS_DIR") {
        return directory.into();
    }
    let at_home = || Path::new(&variable("HOME").unwrap_or_else(|| ".".to_owned())).join(".cache");
    variable("XDG_CACHE_HOME").map_or_else(at_home, PathBuf::from).join("windlass/agents")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_pinned_programs_can_be_read() {
        let text = fs::read_to_string(Repository::of_this_build().root().join(PINNED)).unwrap();
        let titles: Vec<String> = pinned(&text).unwrap().iter().map(Program::title).collect();
        assert_eq!(titles.len(), 7, "{titles:?}");
    }

    #[test]
    fn the_cache_is_where_the_user_says_else_where_caches_are() {
        let with = |pairs: &'static [(&str, &str)]| {
            move |name: &str| {
                pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            }
        };
        assert_eq!(cache_directory(&with(&[("WINDLASS_AGENTS_DIR", "/a"), ("HOME", "/h")])), Path::new("/a"));
        let xdg = with(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]);
        assert_eq!(cache_directory(&xdg), Path::new("/c/windlass/agents"));
        assert_eq!(cache_directory(&with(&[("HOME", "/h")])), Path::new("/h/.cache/windlass/agents"));
    }

    #[test]
    fn what_is_skipped_is_named_for_the_tests() {
        let skipped =
            ["codex", "gemini"].map(|name| Skipped { name: name.to_owned(), reason: String::new() });
        assert_eq!(names(&skipped), "codex,gemini");
        assert_eq!(names(&[]), "");
    }

    /// npm starts nothing at all when the least wait is longer than the longest, and every program was then skipped.
    #[test]
    fn npm_waits_between_a_least_and_a_longest_time() {
        let milliseconds = |name: &str| -> u32 {
            let option = NPM_INSTALL.iter().find_map(|option| option.strip_prefix(name)).unwrap();
            option.trim_start_matches('=').parse().unwrap()
        };
        assert!(milliseconds("--fetch-retry-mintimeout") <= milliseconds("--fetch-retry-maxtimeout"));
    }
}
