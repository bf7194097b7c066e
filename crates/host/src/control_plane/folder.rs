//! Reads files of a folder that somebody else can write: no link is followed, no pipe waited for, nothing read that is larger
//! than a file of the loop can be. Must not know what the files mean.

use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags};
use std::io::Read;
use std::path::Path;
use windlass_artifact_formats::roadmap_loop::round::{MAX_FILE_BYTES, readable_text};

/// Deeper than any file of the loop stands.
const MAX_DEPTH: usize = 4;
/// More files than any honest round leaves.
const MAX_FILES: usize = 400;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Absent,
    Text(String),
    /// Something is there that is no text of ours; the sentence says what.
    Unusable(String),
}

impl Found {
    pub(crate) fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Unusable(_) => None,
        }
    }
}

/// The files below a folder, by their paths from there, and those that are no texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    pub(crate) texts: std::collections::BTreeMap<String, String>,
    pub(crate) unusable: Vec<(String, String)>,
}

fn directory(top: &Path, path: &str) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // The top itself may be reached through a link: where it is was not said by whoever writes in it.
    let mut open =
        rustix::fs::open(top, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        if part == ".." {
            return None;
        }
        open = rustix::fs::openat(&open, part, flags, Mode::empty()).ok()?;
    }
    Some(open)
}

/// One file, by its path from the top.
pub(crate) fn read(top: &Path, path: &str) -> Found {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match directory(top, folder) {
        Some(folder) => read_in(&folder, name, path),
        None => Found::Absent,
    }
}

fn read_in(folder: &OwnedFd, name: &str, path: &str) -> Found {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Found::Absent,
        Err(rustix::io::Errno::LOOP) => return Found::Unusable("it is a symbolic link".to_owned()),
        Err(error) => return Found::Unusable(format!("it cannot be opened: {error}")),
    };
    match rustix::fs::fstat(&file).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Ok(FileType::RegularFile) => {}
        Ok(_) => return Found::Unusable("it is not a plain file".to_owned()),
        Err(error) => return Found::Unusable(format!("it cannot be looked at: {error}")),
    }
    let mut content = Vec::new();
    let most = u64::try_from(MAX_FILE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    if let Err(error) = std::fs::File::from(file).take(most).read_to_end(&mut content) {
        return Found::Unusable(format!("it cannot be read: {error}"));
    }
    of_bytes(path, &content)
}

/// Bytes from wherever, as a text of the loop.
pub(crate) fn of_bytes(path: &str, content: &[u8]) -> Found {
    match readable_text(path, content) {
        // Byte for byte: a mark at the beginning is part of what is edited and hashed.
        Ok(_) => Found::Text(String::from_utf8_lossy(content).into_owned()),
        Err(faults) => Found::Unusable(faults.sentences().join("; ")),
    }
}

/// Every file below a folder of the top.
pub(crate) fn read_all(top: &Path, path: &str) -> Texts {
    let mut found = Texts::default();
    if let Some(folder) = directory(top, path) {
        collect(&folder, "", 0, &mut found);
    }
    found
}

fn collect(folder: &OwnedFd, prefix: &str, depth: usize, found: &mut Texts) {
    let Ok(entries) = rustix::fs::Dir::read_from(folder) else { return };
    let mut names: Vec<(String, FileType)> = entries
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str().ok()?.to_owned(), entry.file_type())))
        .filter(|(name, _)| name != "." && name != "..")
        .collect();
    names.sort_by(|one, other| one.0.cmp(&other.0));
    for (name, kind) in names {
        if found.texts.len() + found.unusable.len() >= MAX_FILES {
            return;
        }
        let path = format!("{prefix}{name}");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if kind == FileType::Directory && depth < MAX_DEPTH {
            if let Ok(inner) = rustix::fs::openat(folder, name.as_str(), flags, Mode::empty()) {
                collect(&inner, &format!("{path}/"), depth + 1, found);
            }
            continue;
        }
        match read_in(folder, &name, &path) {
            Found::Text(text) => {
                found.texts.insert(path, text);
            }
            Found::Unusable(why) => found.unusable.push((path, why)),
            Found::Absent => {}
        }
    }
}
