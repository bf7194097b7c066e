//! Locks of references that a git of ours left when it was killed. Before git is started a note says which references it is
//! going to lock; by a note whose writer and whose git are gone such locks are told from everybody else's and taken away.
//! Must not know what references are moved for.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windlass_process_supervisor::{ProcessIdentity, SupervisorError, escapees};

use crate::error::GitError;

/// What the notes in the control directory are called, before the number of their process.
const PREFIX: &str = "references-";
/// A git that its engine did not survive is soon done; it does nothing but move references.
const PAUSE: Duration = Duration::from_millis(20);
const PAUSES: u32 = 500;

/// References that a git of this process may lock, for as long as this lives.
#[derive(Debug)]
pub(crate) struct InHand {
    note: PathBuf,
    pub(crate) cookie: String,
}

impl InHand {
    /// Notes down the instructions for `update-ref -z` before they are carried out. Durable: after a cut of power a lock
    /// may be found as well.
    pub(crate) fn take(control: &Path, instructions: &str) -> Result<Self, GitError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let note = control.join(format!("{PREFIX}{}-{number}", std::process::id()));
        let cookie = format!("references {} {number}", owner()?);
        let written = File::create(&note).and_then(|mut file| {
            file.write_all(format!("{cookie}\n{instructions}").as_bytes())?;
            file.sync_all()
        });
        written.map_err(GitError::io("write", &note))?;
        Ok(Self { note, cookie })
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        // One that stays is taken away by whoever finds that its writer is gone.
        let _ = fs::remove_file(&self.note);
    }
}

fn owner() -> Result<String, GitError> {
    let ProcessIdentity { pid, start_ticks, boot_id } = ProcessIdentity::current().map_err(unreadable)?;
    Ok(format!("{pid} {start_ticks} {boot_id}"))
}

fn unreadable(error: SupervisorError) -> GitError {
    GitError::io("read", Path::new("/proc"))(std::io::Error::other(error))
}

/// Takes away what gits of ours left locked whose engine was killed. What is in doubt stays, and is told as locked.
pub(crate) fn clear(control: &Path, view: &Path, common_dir: &Path) {
    let entries = fs::read_dir(control).into_iter().flatten().flatten();
    let notes = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    for note in notes.map(|entry| entry.path()) {
        let Ok(text) = fs::read_to_string(&note) else { continue };
        match Note::parse(&text) {
            Some(left) if left.is_done_with() => {
                left.clear(view, common_dir);
                let _ = fs::remove_file(&note);
            }
            Some(_) => {}
            // Cut off while it was written, so that no git was started; or by a process that writes it just now.
            None => windlass_process_supervisor::remove_leftovers(&note, PREFIX),
        }
    }
}

/// What a note says.
struct Note<'a> {
    cookie: &'a str,
    writer: ProcessIdentity,
    instructions: &'a str,
}

impl<'a> Note<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (cookie, instructions) = text.split_once('\n')?;
        let mut words = cookie.split(' ').skip(1);
        let writer = ProcessIdentity {
            pid: words.next()?.parse().ok()?,
            start_ticks: words.next()?.parse().ok()?,
            boot_id: words.next()?.to_owned(),
        };
        instructions.ends_with('\0').then_some(Self { cookie, writer, instructions })
    }

    /// Whether the process is gone that wrote it, and the git it started has come to its end.
    fn is_done_with(&self) -> bool {
        let git_is_gone = || escapees(self.cookie).is_ok_and(|found| found.is_empty());
        !self.writer.is_alive() && (0..PAUSES).any(|_| git_is_gone() || pause())
    }

    fn clear(&self, view: &Path, common_dir: &Path) {
        for (name, new) in self.references() {
            remove(&common_dir.join(format!("{name}.lock")), new);
            if new.is_none() {
                remove(&common_dir.join("packed-refs.lock"), None);
            }
        }
        // In a directory of our own.
        let _ = fs::remove_file(view.join("HEAD.lock"));
    }

    /// Each name, and the id it was to get; none where it was to be deleted.
    fn references(&self) -> Vec<(&'a str, Option<&'a str>)> {
        let mut parts = self.instructions.split('\0');
        let mut found = Vec::new();
        while let Some(part) = parts.next() {
            if let Some(name) = part.strip_prefix("update ") {
                found.push((name, parts.next()));
                parts.next();
            } else if let Some(name) = part.strip_prefix("delete ") {
                found.push((name, None));
                parts.next();
            }
        }
        found
    }
}

/// A lock holds the new id, or nothing yet. Another git that takes it just now writes its own id a moment later.
fn remove(lock: &Path, new: Option<&str>) {
    let is_ours = || {
        let found = fs::symlink_metadata(lock).is_ok_and(|found| found.is_file());
        let text = fs::read_to_string(lock).unwrap_or_default();
        found && (text.is_empty() || new.is_some_and(|new| text.trim_end() == new))
    };
    if is_ours() {
        pause();
        if is_ours() {
            let _ = fs::remove_file(lock);
        }
    }
}

/// False, so that it can stand where one looks again.
fn pause() -> bool {
    #[expect(clippy::disallowed_methods, reason = "nothing tells when another process has come to its end")]
    std::thread::sleep(PAUSE);
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const GONE: &str = "references 4194305 1 another-boot 0\n";

    struct Left {
        directory: tempfile::TempDir,
    }

    impl Left {
        /// A note of a process that is gone, and these locks.
        fn of(instructions: &str, locks: &[(&str, &str)]) -> Self {
            let left = Self { directory: tempfile::tempdir().unwrap() };
            for (name, text) in locks {
                let lock = left.path(name);
                fs::create_dir_all(lock.parent().unwrap()).unwrap();
                fs::write(lock, text).unwrap();
            }
            fs::write(left.path("references-4194305-0"), format!("{GONE}{instructions}")).unwrap();
            left
        }

        fn path(&self, name: &str) -> PathBuf {
            self.directory.path().join(name)
        }

        fn clear(&self) {
            clear(self.directory.path(), &self.path("view"), self.directory.path());
        }
    }

    #[test]
    fn locks_that_a_killed_git_of_ours_left_are_taken_away_and_no_others() {
        let instructions =
            "update refs/a\x0012ab\x0000\0update refs/b\x0012ab\x0000\0update refs/c\x0012ab\x0000\0";
        let locks = [
            ("refs/a.lock", ""),
            ("refs/b.lock", "12ab\n"),
            ("refs/c.lock", "34cd\n"),
            ("refs/d.lock", ""),
            ("packed-refs.lock", ""),
            ("view/HEAD.lock", ""),
        ];
        let left = Left::of(instructions, &locks);
        left.clear();
        let there: Vec<&str> =
            locks.iter().map(|(name, _)| *name).filter(|name| left.path(name).exists()).collect();
        assert_eq!(there, ["refs/c.lock", "refs/d.lock", "packed-refs.lock"]);
        assert!(!left.path("references-4194305-0").exists());
    }

    #[test]
    fn a_deletion_locks_the_list_of_packed_references_too() {
        let left = Left::of("delete refs/a\x0012ab\0", &[("refs/a.lock", ""), ("packed-refs.lock", "")]);
        left.clear();
        assert!(!left.path("refs/a.lock").exists() && !left.path("packed-refs.lock").exists());
    }

    #[test]
    fn a_note_is_believed_only_when_it_is_whole_and_its_writer_gone() {
        let torn = Left::of("update refs/a\x0012", &[("refs/a.lock", "")]);
        torn.clear();
        assert!(torn.path("refs/a.lock").exists() && !torn.path("references-4194305-0").exists());

        let living = Left::of("", &[("refs/a.lock", "")]);
        let in_hand = InHand::take(living.directory.path(), "update refs/a\x0012ab\x0000\0").unwrap();
        living.clear();
        assert!(living.path("refs/a.lock").exists() && in_hand.note.exists());
        let note = in_hand.note.clone();
        drop(in_hand);
        assert!(!note.exists());
    }
}
