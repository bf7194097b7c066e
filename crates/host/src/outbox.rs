//! Reading what an agent left for us, as something a stranger left: no links followed, no pipe waited for, no file read
//! that is larger than an answer can be.

use rustix::fs::{FileType, Mode, OFlags};
use std::io::Read;
use std::path::Path;

/// No honest answer is larger.
pub(crate) const MAX_ANSWER_BYTES: u64 = 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Nothing,
    Content(Vec<u8>),
    /// Something is there that is not an answer; the sentence goes back to the agent.
    NotAFile(String),
}

pub(crate) fn read_answer(outbox: &Path, name: &str) -> Left {
    let path = outbox.join(name);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let descriptor = match rustix::fs::open(&path, flags, Mode::empty()) {
        Ok(descriptor) => descriptor,
        Err(rustix::io::Errno::NOENT) => return Left::Nothing,
        Err(rustix::io::Errno::LOOP) => return Left::NotAFile(format!("{name} is a symbolic link")),
        Err(error) => return Left::NotAFile(format!("{name} cannot be opened: {error}")),
    };
    let stat = match rustix::fs::fstat(&descriptor) {
        Ok(stat) => stat,
        Err(error) => return Left::NotAFile(format!("{name} cannot be looked at: {error}")),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        other => return Left::NotAFile(format!("{name} is not a plain file but {}", kind(other))),
    }
    // A hard link could be a file the agent cannot read itself and would have us quote.
    if stat.st_nlink != 1 {
        return Left::NotAFile(format!("{name} is a hard link to another file"));
    }
    let mut content = Vec::new();
    match std::fs::File::from(descriptor).take(MAX_ANSWER_BYTES + 1).read_to_end(&mut content) {
        Ok(_) if content.len() as u64 > MAX_ANSWER_BYTES => {
            Left::NotAFile(format!("{name} is larger than {MAX_ANSWER_BYTES} bytes"))
        }
        Ok(_) => Left::Content(content),
        Err(error) => Left::NotAFile(format!("{name} cannot be read: {error}")),
    }
}

const fn kind(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a directory",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Symlink => "a symbolic link",
        FileType::RegularFile | FileType::Unknown => "something else",
    }
}
