//! Plain files of a tree: many at once with one process for all of them, and the one that a path leads to.

use crate::error::GitError;
use crate::ids::{Oid, TreeId};
use crate::index_file::MODE_TYPE;
use crate::repository::Repository;

const MODE_REGULAR: u32 = 0o100_000;
/// A link to a link to a link: beyond this it leads nowhere that anybody meant.
const LINKS_FOLLOWED: usize = 8;

/// A file that a path of a tree leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainFile {
    /// Another one than was asked for where that is a symbolic link.
    pub path: String,
    pub content: Vec<u8>,
}

impl Repository {
    /// Path and content of every plain file whose path is wanted; a path that is no text is not. The tree must be known to
    /// the control directory.
    pub fn files_at(
        &self,
        tree: &TreeId,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<(String, Vec<u8>)>, GitError> {
        let listing = self.listing(tree)?;
        let mut found = Vec::new();
        let mut questions = String::new();
        for entry in listing.entries.iter().filter(|entry| entry.mode & MODE_TYPE == MODE_REGULAR) {
            let Ok(path) = std::str::from_utf8(entry.path.as_bytes()) else { continue };
            if !wanted(path) {
                continue;
            }
            let content = self.small_file(entry.oid);
            if content.is_none() {
                questions.extend([format!("{:?}", entry.oid).as_str(), "\n"]);
            }
            found.push((path.to_owned(), entry.oid, content));
        }
        let answers = if questions.is_empty() {
            Vec::new()
        } else {
            self.internal_call().args(["cat-file", "--batch"]).stdin(questions.into_bytes()).run()?
        };
        let mut rest = answers.as_slice();
        let mut files = Vec::with_capacity(found.len());
        for (path, id, content) in found {
            let content = match content {
                Some(content) => content,
                None => next_answer(&mut rest)
                    .inspect(|content| self.told.keep_file(id, content))
                    .ok_or_else(|| GitError::MissingObjects {
                        tree: tree.to_string(),
                        detail: format!("{path} cannot be read"),
                    })?,
            };
            files.push((path, content));
        }
        Ok(files)
    }
}

impl Repository {
    /// The plain file at a path, through symbolic links that stay in the tree. `None` for a directory, another repository,
    /// and a link that leads to none of the tree's files.
    pub fn plain_file_at(&self, tree: &TreeId, path: &str) -> Result<Option<PlainFile>, GitError> {
        let listing = self.listing(tree)?;
        let mut path = path.to_owned();
        for _ in 0..=LINKS_FOLLOWED {
            let Some(entry) = listing.find(path.as_bytes()) else { return Ok(None) };
            let is_link = entry.is_symlink();
            if !is_link && entry.mode & MODE_TYPE != MODE_REGULAR {
                return Ok(None);
            }
            let Some(content) = self.file_at(tree, &path)? else { return Ok(None) };
            if !is_link {
                return Ok(Some(PlainFile { path, content }));
            }
            let Some(target) = led_to(&path, &content) else { return Ok(None) };
            path = target;
        }
        Ok(None)
    }

    /// The content of a file that was read before or lies in our own store in a file of its own.
    pub(crate) fn small_file(&self, id: Oid) -> Option<Vec<u8>> {
        self.told.file(id).or_else(|| {
            let content = self.objects.read_blob(id)?;
            self.told.keep_file(id, &content);
            Some(content)
        })
    }
}

/// Where a link leads inside its tree; nowhere if it leaves it.
fn led_to(link: &str, target: &[u8]) -> Option<String> {
    let target = std::str::from_utf8(target).ok().filter(|target| !target.starts_with('/'))?;
    let mut parts: Vec<&str> = link.split('/').collect();
    let _its_own_name = parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                let _above = parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// One object as `cat-file --batch` prints it: a line with its size, the content, a line break.
pub(crate) fn next_answer(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&rest[..end]).ok()?;
    let size: usize = head.rsplit(' ').next()?.parse().ok()?;
    let content = rest.get(end + 1..end + 1 + size)?.to_vec();
    *rest = rest.get(end + 2 + size..)?;
    Some(content)
}
