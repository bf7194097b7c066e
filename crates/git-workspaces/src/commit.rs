//! Writes commit objects. The same request gives the same id, on any machine and at any time.

use crate::error::GitError;
use crate::ids::{Commit, CommitId, TreeId};
use crate::own_objects::{Kind, NewObject};
use crate::repository::Repository;

/// Everything a commit's id depends on.
#[derive(Debug, Clone)]
pub struct CommitRequest<'a> {
    pub tree: &'a TreeId,
    pub parents: &'a [CommitId],
    pub message: &'a str,
    pub author: &'a Identity,
    pub committer: &'a Identity,
    pub time: Moment,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    name: String,
    email: String,
}

/// A point in time with the offset of the place it is told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub seconds: i64,
    pub offset_minutes: i16,
}

impl Identity {
    /// Refuses what would break the lines of a commit object.
    pub fn new(name: &str, email: &str) -> Result<Self, GitError> {
        let usable = |text: &str| !text.trim().is_empty() && !text.contains(['<', '>', '\n', '\r', '\0']);
        if usable(name) && usable(email) {
            Ok(Self { name: name.trim().to_owned(), email: email.trim().to_owned() })
        } else {
            Err(GitError::BadIdentity)
        }
    }
}

impl Repository {
    /// Stores a commit in the control directory, durable with the tree it names; [`Self::publish`] brings it into the user's
    /// repository. Whoever made the tree to be committed need not have flushed it: one flush does for both.
    pub fn commit(&self, request: &CommitRequest<'_>) -> Result<CommitId, GitError> {
        let object = NewObject::new(Kind::Commit, render(request).as_bytes(), self.format)?;
        let id = CommitId::parse(&format!("{:?}", object.id))?;
        let made = object.id;
        self.objects.store(&[object])?;
        let tree = self.objects_listed(request.tree);
        self.objects.flush(|id| *id == made || tree.as_ref().is_none_or(|tree| tree.contains(id)))?;
        // Whoever builds on it need not ask what its tree is.
        self.remember(Commit { id: id.clone(), tree: request.tree.clone() });
        Ok(id)
    }
}

fn render(request: &CommitRequest<'_>) -> String {
    let Moment { seconds, offset_minutes } = request.time;
    let sign = if offset_minutes < 0 { '-' } else { '+' };
    let minutes = offset_minutes.unsigned_abs();
    let time = format!("{seconds} {sign}{:02}{:02}", minutes / 60, minutes % 60);
    let parents: String =
        request.parents.iter().flat_map(|parent| ["parent ", parent.as_str(), "\n"]).collect();
    let who = |identity: &Identity| format!("{} <{}> {time}", identity.name, identity.email);
    // A NUL would end the message for every reader but git's hash.
    let message = request.message.replace('\0', "\u{fffd}");
    format!(
        "tree {}\n{parents}author {}\ncommitter {}\n\n{}\n",
        request.tree,
        who(request.author),
        who(request.committer),
        message.trim_end()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_cannot_smuggle_lines_into_a_commit() {
        for (name, email) in [("a\nb", "x"), ("a", "x>y"), ("", "x"), ("a", " "), ("a<", "x")] {
            assert!(Identity::new(name, email).is_err(), "{name:?} {email:?}");
        }
    }

    #[test]
    fn offsets_are_written_as_hours_and_minutes() {
        let tree = TreeId::parse(&"a".repeat(40)).unwrap();
        let me = Identity::new("N", "e@x").unwrap();
        let time = Moment { seconds: 5, offset_minutes: -210 };
        let request =
            CommitRequest { tree: &tree, parents: &[], message: "m\n\n", author: &me, committer: &me, time };
        let text = render(&request);
        assert!(text.contains("author N <e@x> 5 -0330\n") && text.ends_with("\n\nm\n"), "{text}");
    }
}
