//! The files of the repository as the rules see them: path and text, in memory, so that a rule's test needs no disk.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};

use super::rust_source::RustSource;
use crate::commands::{self, Repository};

pub(super) struct SourceFile {
    /// From the root, with forward slashes.
    pub(super) path: String,
    pub(super) text: String,
}

impl SourceFile {
    /// Git's names are compared as they are written: `.RS` is no Rust file to cargo either.
    pub(super) fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }
}

pub(super) struct SourceTree {
    files: Vec<SourceFile>,
    /// Files compiled only for tests because a parent says `#[cfg(test)] mod name;`.
    test_modules: BTreeSet<String>,
}

impl SourceTree {
    /// Everything tracked, and everything that `git add --all` would track.
    pub(super) fn read(repository: &Repository) -> Result<Self> {
        let mut git = repository.program("git");
        // A container often runs as another user than the one who owns the checkout; we only list names.
        git.args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let listed =
            commands::capture(&mut git)?.expect_success().context("tidy asks git which files there are")?;
        let mut files = Vec::new();
        for path in listed.split_terminator('\0') {
            match fs::read(repository.root().join(path)) {
                // A binary fixture has no lines for a rule to look at, but a link may point to it.
                Ok(bytes) => {
                    let text = String::from_utf8(bytes).unwrap_or_default();
                    files.push(SourceFile { path: path.to_owned(), text });
                }
                // Deleted but not yet staged, or a link to a folder: not a file.
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => {}
                Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
            }
        }
        Ok(Self::of(files))
    }

    fn of(files: Vec<SourceFile>) -> Self {
        let mut tree = Self { files, test_modules: BTreeSet::new() };
        let declared: Vec<String> = tree
            .rust_files()
            .flat_map(|file| {
                let children = folder_of_children(&file.path);
                RustSource::scan(&file.text)
                    .test_modules()
                    .into_iter()
                    .map(move |name| format!("{children}/{name}"))
            })
            .collect();
        tree.test_modules.extend(declared);
        tree
    }

    #[cfg(test)]
    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let file =
            |(path, text): &(&str, &str)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() };
        Self::of(files.iter().map(file).collect())
    }

    pub(super) fn files(&self) -> &[SourceFile] {
        &self.files
    }

    pub(super) fn rust_files(&self) -> impl Iterator<Item = &SourceFile> {
        self.with_extension("rs")
    }

    pub(super) fn with_extension(&self, extension: &str) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(move |file| file.has_extension(extension))
    }

    pub(super) fn below(&self, folder: &str) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(move |file| file.path.starts_with(folder))
    }

    pub(super) fn find(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    pub(super) fn has_folder(&self, path: &str) -> bool {
        let prefix = format!("{path}/");
        self.files.iter().any(|file| file.path.starts_with(&prefix))
    }

    /// Whether all of the file is compiled for tests only.
    pub(super) fn is_test_file(&self, file: &SourceFile) -> bool {
        let stem = file.path.trim_end_matches(".rs");
        let name = stem.rsplit('/').next().unwrap_or(stem);
        file.path.split('/').any(|part| part == "tests")
            || name == "tests"
            || name.ends_with("_tests")
            || file.text.contains("#![cfg(test)]")
            || self.test_modules.iter().any(|module| {
                let inside = stem.strip_prefix(module.as_str());
                inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }
}

/// Where `mod name;` in this file looks for `name`.
fn folder_of_children(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
        _ => format!("{folder}/{}", name.trim_end_matches(".rs")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_are_known_by_folder_name_attribute_and_declaration() {
        let tree = SourceTree::with(&[
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod world;\nmod real;\n"),
            ("crates/a/src/world.rs", ""),
            ("crates/a/src/world/inner.rs", ""),
            ("crates/a/src/real.rs", "#[cfg(test)] mod deep;"),
            ("crates/a/src/real/deep.rs", ""),
            ("crates/a/src/real/tests.rs", ""),
            ("crates/a/src/real_tests.rs", ""),
            ("crates/a/tests/whole.rs", ""),
            ("crates/a/src/marked.rs", "//! A.\n#![cfg(test)]\n"),
        ]);
        let product: Vec<&str> = tree
            .rust_files()
            .filter(|file| !tree.is_test_file(file))
            .map(|file| file.path.as_str())
            .collect();
        assert_eq!(product, ["crates/a/src/lib.rs", "crates/a/src/real.rs"]);
    }

    #[test]
    fn the_real_tree_holds_this_very_file() {
        let tree = SourceTree::read(&Repository::of_this_build()).unwrap();
        assert!(tree.find("xtask/src/tidy/source_tree.rs").is_some());
        assert!(tree.has_folder("xtask/src") && !tree.has_folder("xtask/src/tid"));
    }
}
