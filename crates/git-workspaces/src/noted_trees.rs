//! Git's notes, in an index, on the trees that its entries make up. What is known of them need not be asked of git, and
//! what still holds of them need not be hashed again. Must not know where an index lies.

use crate::ids::Oid;
use crate::repo_path::RepoPath;

/// One tree each, a directory before those inside it.
#[derive(Debug, Default)]
pub(crate) struct NotedTrees {
    pub(crate) nodes: Vec<Node>,
}

#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// From the top, with a slash at the end; empty for the top itself.
    pub(crate) path: Vec<u8>,
    pub(crate) name: Vec<u8>,
    pub(crate) entries: usize,
    pub(crate) below: usize,
    /// Absent when an entry in it was changed since.
    pub(crate) id: Option<Oid>,
}

impl NotedTrees {
    /// `None` for anything that git would not write.
    pub(crate) fn parse(mut bytes: &[u8], hash_length: usize) -> Option<Self> {
        let mut nodes: Vec<Node> = Vec::new();
        // The directories we are inside of, and how many trees of each are still to come.
        let mut open: Vec<(Vec<u8>, usize)> = Vec::new();
        while !bytes.is_empty() {
            let (name, rest) = split(bytes, 0)?;
            let (counts, rest) = split(rest, b'\n')?;
            let (entries, below) = std::str::from_utf8(counts).ok()?.split_once(' ')?;
            let (entries, below): (i64, usize) = (entries.parse().ok()?, below.parse().ok()?);
            let id_bytes = if entries < 0 { 0 } else { hash_length };
            let (id, rest) = rest.split_at_checked(id_bytes)?;
            while open.last().is_some_and(|(_, missing)| *missing == 0) {
                open.pop();
            }
            let path = match open.last_mut() {
                Some((above, missing)) => {
                    *missing -= 1;
                    [above.as_slice(), name, b"/"].concat()
                }
                None if nodes.is_empty() => Vec::new(),
                None => return None,
            };
            open.push((path.clone(), below));
            let id = (entries >= 0).then(|| Oid::from_bytes(id));
            let entries = usize::try_from(entries).unwrap_or_default();
            nodes.push(Node { path, name: name.to_vec(), entries, below, id });
            bytes = rest;
        }
        let complete = open.iter().all(|(_, missing)| *missing == 0);
        (complete && !nodes.is_empty()).then_some(Self { nodes })
    }

    /// The ids of all trees; `None` when one of them is not known.
    pub(crate) fn ids(&self) -> Option<Vec<Oid>> {
        self.nodes.iter().map(|node| node.id).collect()
    }

    /// Takes back what is said of every directory that one of these paths lies in.
    pub(crate) fn forget_around<'a>(&mut self, changed: impl Iterator<Item = &'a RepoPath> + Clone) {
        for node in &mut self.nodes {
            if changed.clone().any(|path| path.as_bytes().starts_with(&node.path)) {
                node.id = None;
            }
        }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for node in &self.nodes {
            bytes.extend(&node.name);
            bytes.push(0);
            match &node.id {
                Some(id) => {
                    bytes.extend(format!("{} {}\n", node.entries, node.below).into_bytes());
                    bytes.extend(id.as_bytes());
                }
                None => bytes.extend(format!("-1 {}\n", node.below).into_bytes()),
            }
        }
        bytes
    }
}

fn split(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == at)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: [u8; 20] = [7; 20];

    /// Two directories at the top, one of them with one inside.
    fn noted() -> Vec<u8> {
        let lines = [&b"\x004 2\n"[..], b"a\x002 1\n", b"deep\x001 0\n", b"b\x001 0\n"];
        lines.iter().flat_map(|line| [line, &ID[..]].concat()).collect()
    }

    #[test]
    fn what_holds_a_changed_path_is_forgotten_and_nothing_else() {
        let mut trees = NotedTrees::parse(&noted(), 20).unwrap();
        assert_eq!(trees.to_bytes(), noted());
        assert_eq!(trees.ids().unwrap().len(), 4);
        trees.forget_around([RepoPath::new("a/file")].iter());
        assert_eq!(trees.ids(), None);
        let expected = [&b"\x00-1 2\na\x00-1 1\ndeep\x001 0\n"[..], &ID, b"b\x001 0\n", &ID].concat();
        assert_eq!(trees.to_bytes(), expected);
        assert_eq!(NotedTrees::parse(&expected, 20).unwrap().to_bytes(), expected);
    }

    #[test]
    fn what_git_would_not_write_is_not_believed() {
        let whole = noted();
        let twice = [&whole[..], &whole].concat();
        let missing = [&b"\x004 3\n"[..], &whole[5..]].concat();
        for wrong in [&whole[..whole.len() - 1], &twice, &missing, b"", b"\x00x 0\n"] {
            assert!(NotedTrees::parse(wrong, 20).is_none(), "{wrong:?}");
        }
    }
}
