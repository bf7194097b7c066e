//! Brings two trees that grew out of a third together, as git would, on trees alone: no branch, no index and no work tree
//! takes part. Who made them and what becomes of conflicts is not known here.

use std::sync::Arc;

use crate::commit::{CommitRequest, Identity, Moment};
use crate::error::GitError;
use crate::ids::{CommitId, TreeId};
use crate::index_file::{Index, MODE_TYPE};
use crate::own_objects::{Kind, NewObject};
use crate::repo_path::RepoPath;
use crate::repository::Repository;

const MODE_REGULAR: u32 = 0o100_000;

/// One of the two, and what its side of a conflict is called.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    pub tree: &'a TreeId,
    pub name: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedTree {
    /// Where the two do not fit together, both stand in the file between marks.
    pub tree: TreeId,
    pub conflicts: Vec<RepoPath>,
}

impl Repository {
    /// The same trees make the same tree, with the same git. All three must be known to the control directory.
    pub fn merge_trees(
        &self,
        base: &TreeId,
        ours: Side<'_>,
        theirs: Side<'_>,
    ) -> Result<MergedTree, GitError> {
        let plain = |tree: &TreeId| Ok(MergedTree { tree: tree.clone(), conflicts: Vec::new() });
        if base == theirs.tree || ours.tree == theirs.tree {
            return plain(ours.tree);
        }
        if base == ours.tree {
            return plain(theirs.tree);
        }
        // Older gits look for the common tree themselves and know commits only. Three commits that nobody else ever sees
        // tell them, without the real history, which somebody could have forged.
        let root = self.stand_in(base, &[])?;
        let left = self.stand_in(ours.tree, std::slice::from_ref(&root))?;
        let right = self.stand_in(theirs.tree, std::slice::from_ref(&root))?;
        let answer = self
            .internal_call()
            .args(["-c", "merge.renames=true", "-c", "merge.directoryRenames=false"])
            .args(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"])
            .args([left.as_str(), right.as_str()])
            .run_accepting(&[0, 1])?;
        let mut fields = answer.stdout.split(|byte| *byte == 0).filter(|field| !field.is_empty());
        let tree = TreeId::parse(&String::from_utf8_lossy(fields.next().unwrap_or_default()))?;
        if answer.status.success() {
            return plain(&tree);
        }
        let conflicts: Vec<RepoPath> = fields.map(RepoPath::new).collect();
        let names = [("<<<<<<< ", left, ours.name), (">>>>>>> ", right, theirs.name)];
        let tree = self.with_names(&tree, &conflicts, &names)?;
        Ok(MergedTree { tree, conflicts })
    }

    fn stand_in(&self, tree: &TreeId, parents: &[CommitId]) -> Result<CommitId, GitError> {
        let windlass = Identity::new("windlass", "windlass@localhost")?;
        let time = Moment { seconds: 0, offset_minutes: 0 };
        let (author, message) = (&windlass, "One side of a merge");
        self.commit(&CommitRequest { tree, parents, message, author, committer: author, time })
    }

    /// The marks as git sets them name commits that nobody knows.
    fn with_names(
        &self,
        tree: &TreeId,
        conflicts: &[RepoPath],
        names: &[(&str, CommitId, &str)],
    ) -> Result<TreeId, GitError> {
        let listing = self.listing(tree)?;
        let mut whole = Index::clone(&listing);
        let mut files = Vec::new();
        for entry in &mut whole.entries {
            if entry.mode & MODE_TYPE != MODE_REGULAR || !conflicts.contains(&entry.path) {
                continue;
            }
            let content = self.blob(&format!("{:?}", entry.oid))?;
            let renamed = named_marks(&content, names);
            if renamed != content {
                let file = NewObject::new(Kind::Blob, &renamed, self.format)?;
                entry.oid = file.id;
                files.push(file);
            }
        }
        if files.is_empty() {
            return Ok(tree.clone());
        }
        let whole = Index::of_entries(whole.entries);
        let (tree, _) = self.write_tree(whole, &Arc::unwrap_or_clone(listing), files)?;
        self.make_durable(&tree)?;
        Ok(tree)
    }

    pub(crate) fn blob(&self, id: &str) -> Result<Vec<u8>, GitError> {
        match self.objects.read(id) {
            Some((_, content)) => Ok(content),
            None => self.internal_call().args(["cat-file", "blob", id]).run(),
        }
    }
}

fn named_marks(content: &[u8], names: &[(&str, CommitId, &str)]) -> Vec<u8> {
    let lines = content.split_inclusive(|byte| *byte == b'\n');
    let renamed = lines.map(|line| {
        let found = names.iter().find_map(|(mark, id, name)| {
            let rest = line.strip_prefix(mark.as_bytes())?.strip_prefix(id.as_str().as_bytes())?;
            Some([mark.as_bytes(), name.as_bytes(), rest].concat())
        });
        found.unwrap_or_else(|| line.to_vec())
    });
    renamed.collect::<Vec<_>>().concat()
}
