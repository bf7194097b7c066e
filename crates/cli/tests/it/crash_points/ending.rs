//! Everything a run leaves behind, with what differs by nature (ids, stamps, places) taken out, so that a run that was
//! killed can be compared with one that was not.

use super::stage::{Stage, Standing};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) steps: Vec<String>,
    pub(crate) landed_tree: String,
    /// All of the run directory, contents and all.
    pub(crate) run_directory: BTreeMap<String, String>,
    /// Names only: git's own files, and what Windlass keeps for itself.
    pub(crate) git_files: Vec<String>,
    pub(crate) state_files: Vec<String>,
}

impl Ending {
    /// Fails when a process, a temporary file or a damaged record is found.
    pub(crate) fn of(stage: &Stage) -> Self {
        let _ = stage.end();
        Self::found(stage)
    }

    /// The same for whoever looks after the stage.
    pub(super) fn found(stage: &Stage) -> Self {
        let standing = stage.standing();
        let Standing::Ended { run } = &standing else { panic!("the run did not end: {standing:?}") };
        let repository = &stage.repository;
        let root = repository.path().join(".orchestrator/runs");
        let directories: Vec<PathBuf> = fs::read_dir(&root)
            .expect("a run has its directory")
            .flatten()
            .map(|entry| entry.path())
            .collect();
        let [directory] = directories.as_slice() else {
            panic!("more than one run directory: {directories:?}")
        };
        let plain = Plain { run, world: stage.world.path().to_str().expect("a readable place") };
        Self {
            steps: stage.world.steps(),
            landed_tree: stage.landed_tree(),
            run_directory: files(directory).iter().map(|path| plain.named_text(directory, path)).collect(),
            git_files: plain.names(&repository.path().join(".git")),
            state_files: plain.names(&stage.world.state_dir()),
        }
    }

    /// Every difference, short enough to read; none when both runs came to the same.
    pub(crate) fn differences(&self, expected: &Self) -> Vec<String> {
        let mut differences = differing(self.run_directory.keys(), expected.run_directory.keys());
        differences.extend(differing(self.git_files.iter(), expected.git_files.iter()));
        differences.extend(differing(self.state_files.iter(), expected.state_files.iter()));
        for (name, text) in &self.run_directory {
            let other = expected.run_directory.get(name);
            if other.is_some_and(|other| other != text) {
                differences.push(format!("{name} says\n{text}"));
            }
        }
        if self.steps != expected.steps {
            differences.push(format!("agent steps {:?}", self.steps));
        }
        if self.landed_tree != expected.landed_tree {
            differences.push(format!("landed tree {}", self.landed_tree));
        }
        differences
    }
}

/// What one has and the other has not, each with a word on which.
fn differing<'a>(
    found: impl Iterator<Item = &'a String> + Clone,
    expected: impl Iterator<Item = &'a String> + Clone,
) -> Vec<String> {
    let more = found.clone().filter(|name| !expected.clone().any(|other| other == *name));
    let less = expected.clone().filter(|name| !found.clone().any(|other| other == *name));
    more.map(|name| format!("stray {name}")).chain(less.map(|name| format!("missing {name}"))).collect()
}

struct Plain<'a> {
    run: &'a str,
    world: &'a str,
}

impl Plain<'_> {
    fn named_text(&self, directory: &Path, path: &Path) -> (String, String) {
        let name = self.text(&path.strip_prefix(directory).expect("found there").to_string_lossy());
        (name, self.text(&String::from_utf8_lossy(&fs::read(path).expect("a file that was found"))))
    }

    fn names(&self, directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = files(directory)
            .iter()
            .map(|path| self.text(&path.strip_prefix(directory).expect("found there").to_string_lossy()))
            .collect();
        names.sort();
        // Objects and sealed artifacts are stored by their content, which has ids and durations in it.
        names.dedup();
        names
    }

    /// Ids, stamps and the world's own place, replaced by words.
    fn text(&self, text: &str) -> String {
        without_ids(&text.replace(self.world, "WORLD").replace(self.run, "RUN"))
    }
}

/// Ids and stamps replaced by words.
pub(crate) fn without_ids(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut word = String::new();
    for character in text.chars() {
        if character.is_ascii_hexdigit() || character == '-' {
            word.push(character);
        } else {
            plain.push_str(&plain_word(&word));
            word.clear();
            plain.push(character);
        }
    }
    plain + &plain_word(&word)
}

fn plain_word(word: &str) -> String {
    let is_stamp = |text: &str| {
        text.len() == 15
            && text.char_indices().all(|(at, c)| if at == 8 { c == '-' } else { c.is_ascii_digit() })
    };
    let is_id = |text: &str| text.len() >= 16 && text.chars().all(|c| c.is_ascii_hexdigit());
    if let Some(from) = (0..word.len()).find(|from| word.get(*from..from + 15).is_some_and(is_stamp)) {
        return format!("{}STAMP{}", &word[..from], &word[from + 15..]);
    }
    let parts: Vec<&str> = word.split('-').map(|part| if is_id(part) { "ID" } else { part }).collect();
    parts.join("-")
}

/// Every file and link below, but for those that are named by their content.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).expect("a directory that was found").flatten() {
            let kind = entry.file_type().expect("an entry that was found");
            if kind.is_dir() { open.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    found.retain(|path| !by_content(path) && !path.ends_with(LOOKED_AT));
    found
}

/// Written where looking at the worktrees took long, which is a matter of the machine's mood.
const LOOKED_AT: &str = "worktree-budget.json";

/// Whether git or the evidence store named this file by its content: which there are differs with ids and durations.
fn by_content(path: &Path) -> bool {
    let hex = |name: &[u8]| name.len() >= 38 && name.iter().all(u8::is_ascii_hexdigit);
    let folder = path.parent().and_then(Path::file_name).map_or(&b""[..], OsStrExt::as_bytes);
    path.file_name().is_some_and(|name| hex(name.as_bytes())) && folder.len() == 2
}
