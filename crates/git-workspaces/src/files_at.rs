//! Many files of one tree at once: one process for all of them, however many there are.

use crate::error::GitError;
use crate::ids::{Oid, TreeId};
use crate::index_file::MODE_TYPE;
use crate::repository::Repository;

const MODE_REGULAR: u32 = 0o100_000;

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
    /// The content of a file that was read before or lies in our own store in a file of its own.
    pub(crate) fn small_file(&self, id: Oid) -> Option<Vec<u8>> {
        self.told.file(id).or_else(|| {
            let content = self.objects.read_blob(id)?;
            self.told.keep_file(id, &content);
            Some(content)
        })
    }
}

/// One object as `cat-file --batch` prints it: a line with its size, the content, a line break.
fn next_answer(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&rest[..end]).ok()?;
    let size: usize = head.rsplit(' ').next()?.parse().ok()?;
    let content = rest.get(end + 1..end + 1 + size)?.to_vec();
    *rest = rest.get(end + 2 + size..)?;
    Some(content)
}
