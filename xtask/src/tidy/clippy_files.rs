//! One `clippy.toml`, at the root: the nearest one wins whole, so a second would silently lift every ban.

use super::Finding;
use super::source_tree::SourceTree;

pub(super) fn one_clippy_file(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        if matches!(name, "clippy.toml" | ".clippy.toml") && file.path != "clippy.toml" {
            let message = "put this into the root's clippy.toml: a nearer file replaces that one as a whole";
            findings.push(Finding::of_file(&file.path, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_clippy_file_is_refused_wherever_it_hides() {
        let tree = SourceTree::with(&[
            ("clippy.toml", ""),
            ("crates/a/clippy.toml", ""),
            (".clippy.toml", ""),
            ("docs/clippy.toml.md", ""),
        ]);
        let paths: Vec<String> = one_clippy_file(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["crates/a/clippy.toml", ".clippy.toml"]);
    }
}
