//! A path inside the repository, as the loops' files name them. It can be read off the text alone that it never leaves
//! the repository; whether the file exists is for the caller to find out.

use std::fmt;

/// Relative, without `.` and `..`, with `/` between the parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepoPath(String);

/// Why a text is no path inside the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RepoPathFault {
    #[error("is empty")]
    Empty,
    #[error("is absolute; paths start at the top of the repository")]
    Absolute,
    #[error("leaves the repository")]
    Leaves,
    #[error("leads into a git directory")]
    IntoGit,
    #[error("contains a backslash or a control character")]
    Unusable,
}

impl RepoPath {
    pub fn parse(text: &str) -> Result<Self, RepoPathFault> {
        if text.chars().any(|letter| letter.is_control() || letter == '\\') {
            return Err(RepoPathFault::Unusable);
        }
        let has_drive = text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic();
        if text.starts_with(['/', '~']) || has_drive {
            return Err(RepoPathFault::Absolute);
        }
        let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if parts.contains(&"..") {
            return Err(RepoPathFault::Leaves);
        }
        if parts.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
            return Err(RepoPathFault::IntoGit);
        }
        if parts.is_empty() { Err(RepoPathFault::Empty) } else { Ok(Self(parts.join("/"))) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file's name without its folders and its last extension.
    pub fn stem(&self) -> &str {
        let name = self.0.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_inside_the_repository_are_taken() {
        assert_eq!(RepoPath::parse("./.claude//agents/a.md").unwrap().as_str(), ".claude/agents/a.md");
        assert_eq!(RepoPath::parse("a /.").unwrap().as_str(), "a ", "a blank is part of a name");
        assert_eq!(RepoPath::parse("a/loop-sensor-x.y.md").unwrap().stem(), "loop-sensor-x.y");
        for (text, fault) in [
            ("", RepoPathFault::Empty),
            ("./", RepoPathFault::Empty),
            ("/etc/passwd", RepoPathFault::Absolute),
            ("~/x", RepoPathFault::Absolute),
            ("C:/x", RepoPathFault::Absolute),
            ("a/../../b", RepoPathFault::Leaves),
            ("a\\b", RepoPathFault::Unusable),
            ("a\nb", RepoPathFault::Unusable),
            ("x/.GIT/config", RepoPathFault::IntoGit),
        ] {
            assert_eq!(RepoPath::parse(text), Err(fault), "{text:?}");
        }
    }
}
