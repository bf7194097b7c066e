//! No file speaks of one person's machine: such a path works for its writer and for nobody else.

use super::Finding;
use super::source_tree::SourceTree;

const MACHINE_FOLDERS: [&str; 3] = ["home", "root", "work"];

pub(super) fn no_machine_paths(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        for (index, line) in file.text.lines().enumerate() {
            if let Some(folder) = MACHINE_FOLDERS.into_iter().find(|folder| begins_a_path(line, folder)) {
                let message = format!("an absolute path below /{folder} exists on one machine only");
                findings.push(Finding::at(&file.path, index + 1, message));
            }
        }
    }
    findings
}

/// Whether `/folder/` stands where a path begins, not in the middle of a longer one or of an address.
fn begins_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(&format!("/{folder}/")).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.~/})>]*$%".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Joined at run time, because this file is searched too.
    fn line(before: &str, folder: &str) -> String {
        format!("{before}/{folder}/x")
    }

    #[test]
    fn a_path_of_one_machine_is_refused_in_any_file() {
        for folder in MACHINE_FOLDERS {
            for before in ["", "cd ", "\"", "`", "(", "PATH=", "a:"] {
                let text = line(before, folder);
                let tree = SourceTree::with(&[("notes.txt", &text)]);
                assert_eq!(no_machine_paths(&tree).len(), 1, "{text}");
            }
        }
    }

    #[test]
    fn the_same_name_inside_a_longer_path_or_address_is_fine() {
        for before in ["crates", "https://example.org", "$HOME", "{root}", "<repository>", "..", "~"] {
            let text = line(before, "work");
            assert!(no_machine_paths(&SourceTree::with(&[("a.md", &text)])).is_empty(), "{text}");
        }
    }
}
