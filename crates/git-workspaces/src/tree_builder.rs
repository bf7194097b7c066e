//! Makes the tree objects of a list of entries. Directories in which nothing was changed keep the ids that are noted of
//! them, so that a change of one file costs the directories above it and no others. Writes nothing.

use std::collections::HashMap;

use crate::control_dir::ObjectFormat;
use crate::error::GitError;
use crate::ids::Oid;
use crate::index_file::IndexEntry;
use crate::noted_trees::{Node, NotedTrees};
use crate::own_objects::{Kind, NewObject};

pub(crate) struct Built {
    pub(crate) root: Oid,
    pub(crate) noted: NotedTrees,
    /// Only trees that were not noted before.
    pub(crate) new: Vec<NewObject>,
}

/// Entries must be in the order of an index. `None` where a path is a file and a directory at once: no tree can say so.
pub(crate) fn build(
    entries: &[IndexEntry],
    known: &NotedTrees,
    format: ObjectFormat,
) -> Result<Option<Built>, GitError> {
    let places = known.nodes.iter().enumerate().map(|(at, node)| (node.path.as_slice(), at)).collect();
    let mut builder = Builder { known, places, nodes: Vec::new(), new: Vec::new(), format };
    let root = builder.directory(entries, (b"", b""))?;
    Ok(root.map(|root| Built { root, noted: NotedTrees { nodes: builder.nodes }, new: builder.new }))
}

struct Builder<'k> {
    known: &'k NotedTrees,
    places: HashMap<&'k [u8], usize>,
    nodes: Vec<Node>,
    new: Vec<NewObject>,
    format: ObjectFormat,
}

impl Builder<'_> {
    /// The order of an index is the order of a tree: a directory sorts as if its name ended with a slash.
    fn directory(
        &mut self,
        entries: &[IndexEntry],
        (path, name): (&[u8], &[u8]),
    ) -> Result<Option<Oid>, GitError> {
        if let Some(id) = self.noted(path, entries.len()) {
            return Ok(Some(id));
        }
        let own = self.nodes.len();
        let (path_owned, name_owned) = (path.to_vec(), name.to_vec());
        self.nodes.push(Node {
            path: path_owned,
            name: name_owned,
            entries: entries.len(),
            below: 0,
            id: None,
        });
        let mut content = Vec::new();
        let mut at = 0;
        while let Some(entry) = entries.get(at) {
            let whole = entry.path.as_bytes();
            let rest = &whole[path.len()..];
            let Some(slash) = rest.iter().position(|byte| *byte == b'/') else {
                add(&mut content, entry.mode, rest, entry.oid);
                at += 1;
                continue;
            };
            let inner = &whole[..path.len() + slash];
            if entries.binary_search_by(|found| found.path.as_bytes().cmp(inner)).is_ok() {
                return Ok(None);
            }
            let inner = &whole[..=path.len() + slash];
            let length =
                entries[at..].iter().take_while(|found| found.path.as_bytes().starts_with(inner)).count();
            let below = self.directory(&entries[at..at + length], (inner, &rest[..slash]))?;
            let Some(below) = below else { return Ok(None) };
            add(&mut content, MODE_DIRECTORY, &rest[..slash], below);
            self.nodes[own].below += 1;
            at += length;
        }
        let object = NewObject::new(Kind::Tree, &content, self.format)?;
        self.nodes[own].id = Some(object.id);
        let id = object.id;
        self.new.push(object);
        Ok(Some(id))
    }

    /// What is known of a directory with that many entries, taken over with everything below it.
    fn noted(&mut self, path: &[u8], entries: usize) -> Option<Oid> {
        let at = *self.places.get(path)?;
        let node = &self.known.nodes[at];
        let id = node.id.filter(|_| node.entries == entries)?;
        let inside = self.known.nodes[at..].iter().take_while(|node| node.path.starts_with(path));
        self.nodes.extend(inside.cloned());
        Some(id)
    }
}

const MODE_DIRECTORY: u32 = 0o40_000;

fn add(content: &mut Vec<u8>, mode: u32, name: &[u8], id: Oid) {
    content.extend(format!("{mode:o} ").into_bytes());
    content.extend(name);
    content.push(0);
    content.extend(id.as_bytes());
}
