//! Submodules of a repository: their places are empty in every worktree of a run, and whoever begins one is told.

use windlass_git_workspaces::{Repository, TreeId};

const FILE: &str = ".gitmodules";

/// One sentence, or nothing where there are none.
pub(crate) fn in_words(repository: &Repository, tree: &TreeId) -> Option<String> {
    let file = repository.file_at(tree, FILE).ok().flatten()?;
    let paths = places(&String::from_utf8_lossy(&file));
    let (are, their) = if paths.len() == 1 { ("is a submodule", "its") } else { ("are submodules", "their") };
    (!paths.is_empty()).then(|| {
        format!("{} {are}: {their} place is empty for agents and checks, who have only this repository's own files", paths.join(", "))
    })
}

fn places(text: &str) -> Vec<String> {
    let value = |line: &str| {
        let (key, value) = line.split_once('=')?;
        let value = value.trim().trim_matches('"');
        (key.trim() == "path" && !value.is_empty()).then(|| value.to_owned())
    };
    text.lines().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_of_submodules_are_read() {
        let text = "[submodule \"lib\"]\n\tpath = third party/lib\n\turl = ../lib\n[submodule \"b\"]\n\turl=x\n\tpath=b\n";
        assert_eq!(places(text), ["third party/lib", "b"]);
        assert!(places("").is_empty());
    }
}
