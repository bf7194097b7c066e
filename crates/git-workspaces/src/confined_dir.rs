//! A directory held open by descriptor, with operations that never leave it: every step names one component and
//! refuses to follow a symbolic link. Must not know git.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, SeekFrom, Stat};
use rustix::io::Errno;

use crate::error::GitError;
use crate::repo_path::RepoPath;

/// Deeper levels are moved up before they are removed, so that no nesting exhausts descriptors or stack.
const DEEPEST_HELD_OPEN: usize = 64;
/// Enough for a few hundred names at a time.
const LISTING_BYTES: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct ConfinedDir {
    descriptor: OwnedFd,
    path: PathBuf,
}

impl ConfinedDir {
    /// Opens a directory; a symbolic link in its place is refused.
    pub(crate) fn open(path: &Path) -> Result<Self, GitError> {
        match open_dir_at(CWD, path.as_os_str()) {
            Ok(descriptor) => Ok(Self { descriptor, path: path.to_owned() }),
            Err(Errno::NOTDIR | Errno::LOOP) => {
                Err(GitError::UnusableWorkspace { path: path.to_owned(), what: "it is not a directory" })
            }
            Err(errno) => Err(GitError::errno("open directory", path)(errno)),
        }
    }

    /// The same for one of ours that somebody may have closed; it is opened for good.
    pub(crate) fn open_even_if_closed(path: &Path) -> Result<Self, GitError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Self::open(path) };
        let parent =
            open_dir_at(CWD, parent.as_os_str()).map_err(GitError::errno("open directory", parent))?;
        // One that is open, or cannot be opened, is told of by the next step.
        let _ = open_and_make_usable(&parent, name);
        Self::open(path)
    }

    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.descriptor
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes whatever stands at `path`: a file, a link (not what it points to) or a directory with all it holds.
    /// Nothing there, or a way there that is not made of directories, is success.
    pub(crate) fn remove(&self, path: &RepoPath) -> Result<(), GitError> {
        let Some((parent, name)) = self.parent_of(path)? else { return Ok(()) };
        remove_entry(&parent, name).map_err(GitError::errno("remove", self.path.join(path.as_path())))
    }

    /// Removes everything inside, except the entries named.
    pub(crate) fn remove_all_but(&self, spared: &[&[u8]]) -> Result<(), GitError> {
        make_listable(&self.descriptor);
        let names = names_in(&self.descriptor).map_err(GitError::errno("list", &self.path))?;
        for name in names.iter().filter(|name| !spared.contains(&name.as_bytes())) {
            remove_entry(&self.descriptor, name).map_err(GitError::errno("remove", self.path.join(name)))?;
        }
        Ok(())
    }

    /// Makes a directory at `path` where nothing stands; its parents must exist or it is left out.
    pub(crate) fn ensure_directory(&self, path: &RepoPath) -> Result<(), GitError> {
        let Some((parent, name)) = self.parent_of(path)? else { return Ok(()) };
        match rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(GitError::errno("create directory", self.path.join(path.as_path()))(errno)),
        }
    }

    /// Target of the symbolic link at `path`, if one is there.
    pub(crate) fn link_target(&self, path: &RepoPath) -> Result<Option<Vec<u8>>, GitError> {
        let Some((parent, name)) = self.parent_of(path)? else { return Ok(None) };
        match rustix::fs::readlinkat(&parent, name, Vec::new()) {
            Ok(target) => Ok(Some(target.into_bytes())),
            Err(Errno::INVAL | Errno::NOENT) => Ok(None),
            Err(errno) => Err(GitError::errno("read link", self.path.join(path.as_path()))(errno)),
        }
    }

    /// Type and size of what stands at `path`, links not followed.
    pub(crate) fn kind_of(&self, path: &RepoPath) -> Result<Option<(FileType, u64)>, GitError> {
        let Some((parent, name)) = self.parent_of(path)? else { return Ok(None) };
        match rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                Ok(Some((FileType::from_raw_mode(stat.st_mode), u64::try_from(stat.st_size).unwrap_or(0))))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(GitError::errno("look at", self.path.join(path.as_path()))(errno)),
        }
    }

    /// Writes a file where nothing stands, with the directories on the way there. Comes back with what it looks like.
    pub(crate) fn write_file(&self, path: &RepoPath, mode: u32, content: &[u8]) -> Result<Stat, GitError> {
        let full = self.path.join(path.as_path());
        for (end, _) in path.as_bytes().iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            self.ensure_directory(&RepoPath::new(&path.as_bytes()[..end]))?;
        }
        let nowhere = || GitError::errno("write", &full)(Errno::NOENT);
        let (parent, name) = self.parent_of(path)?.ok_or_else(nowhere)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(mode));
        let mut file = File::from(opened.map_err(GitError::errno("write", &full))?);
        file.write_all(content).map_err(GitError::io("write", &full))?;
        rustix::fs::fstat(&file).map_err(GitError::errno("look at", &full))
    }

    /// What a plain file of at most `most` bytes looks like, and its content; `None` where none stands.
    pub(crate) fn read_file(&self, path: &RepoPath, most: u64) -> Result<Option<(Stat, Vec<u8>)>, GitError> {
        let full = self.path.join(path.as_path());
        let Some((parent, name)) = self.parent_of(path)? else { return Ok(None) };
        // Without waiting for a writer, should a pipe have taken its place.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&parent, name, flags, Mode::empty());
        let mut file = File::from(opened.map_err(GitError::errno("read", &full))?);
        let stat = rustix::fs::fstat(&file).map_err(GitError::errno("look at", &full))?;
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || size > most {
            return Ok(None);
        }
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(GitError::io("read", &full))?;
        Ok(Some((stat, content)))
    }

    /// Removes the directories above `path` that hold nothing any more.
    pub(crate) fn remove_empty_above(&self, path: &RepoPath) -> Result<(), GitError> {
        let bytes = path.as_bytes();
        for (end, _) in bytes.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/') {
            let directory = RepoPath::new(&bytes[..end]);
            let Some((parent, name)) = self.parent_of(&directory)? else { continue };
            if rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Names of what the directory at `path` holds; nothing if there is no such directory.
    pub(crate) fn names_under(&self, path: &RepoPath) -> Result<Vec<OsString>, GitError> {
        let Some((parent, name)) = self.parent_of(path)? else { return Ok(Vec::new()) };
        match open_dir_at(&parent, name).and_then(|directory| names_in(&directory)) {
            Ok(names) => Ok(names),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(Vec::new()),
            Err(errno) => Err(GitError::errno("list", self.path.join(path.as_path()))(errno)),
        }
    }

    /// A directory below, however long its path is; nothing is followed on the way there.
    pub(crate) fn open_below(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let whole: &[u8] = if path.is_empty() { b"." } else { path };
        match open_dir_at(&self.descriptor, OsStr::from_bytes(whole)) {
            Err(Errno::NAMETOOLONG) => {
                let mut directory = open_dir_at(&self.descriptor, OsStr::new("."))?;
                for component in path.split(|byte| *byte == b'/') {
                    directory = open_dir_at(&directory, OsStr::from_bytes(component))?;
                }
                Ok(directory)
            }
            other => other,
        }
    }

    /// As [`Self::open_below`]; a directory that its owner closed is opened for it, and stays open.
    pub(crate) fn open_below_even_if_closed(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let (above, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            None => (&b""[..], path),
        };
        if name.is_empty() {
            return self.open_below(path);
        }
        open_and_make_usable(&self.open_below(above)?, OsStr::from_bytes(name))
    }

    /// A short path to what stands at `path`, for calls that take no descriptor; it holds as long as the descriptor is open.
    pub(crate) fn short_path(&self, path: &RepoPath) -> Result<(OwnedFd, PathBuf), GitError> {
        let complain = || GitError::errno("find", self.path.join(path.as_path()))(Errno::NOENT);
        let (parent, name) = self.parent_of(path)?.ok_or_else(complain)?;
        let short = through(&parent).join(name);
        Ok((parent, short))
    }

    /// Sets the permissions of a file or directory; a link is refused.
    pub(crate) fn set_mode(&self, path: &RepoPath, mode: u32) -> Result<(), GitError> {
        let complain = |errno| GitError::errno("set the mode of", self.path.join(path.as_path()))(errno);
        let (parent, name) = self.parent_of(path)?.ok_or_else(|| complain(Errno::NOENT))?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let pinned = rustix::fs::openat(&parent, name, flags, Mode::empty()).map_err(complain)?;
        rustix::fs::chmod(through(&pinned), Mode::from_raw_mode(mode)).map_err(complain)
    }

    /// The directory that holds the last component, or `None` if the way there does not exist or leaves it.
    fn parent_of<'p>(&self, path: &'p RepoPath) -> Result<Option<(OwnedFd, &'p OsStr)>, GitError> {
        let complain = |errno| GitError::errno("open directory of", self.path.join(path.as_path()))(errno);
        let mut components: Vec<&[u8]> = path.components().collect();
        let Some(name) = components.pop() else { return Ok(None) };
        if components.iter().chain([&name]).any(|component| *component == b".." || *component == b".") {
            return Ok(None);
        }
        let mut directory = self.descriptor.try_clone().map_err(GitError::io("open", &self.path))?;
        for component in components {
            directory = match open_dir_at(&directory, OsStr::from_bytes(component)) {
                Ok(opened) => opened,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
                Err(errno) => return Err(complain(errno)),
            };
        }
        Ok(Some((directory, OsStr::from_bytes(name))))
    }
}

/// Removes a directory tree by path, never through a link. Absent is success.
pub(crate) fn remove_tree(path: &Path) -> Result<(), GitError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(GitError::UnusableWorkspace {
            path: path.to_owned(),
            what: "it has no parent directory",
        });
    };
    match open_dir_at(CWD, parent.as_os_str()) {
        Ok(parent) => remove_entry(&parent, name).map_err(GitError::errno("remove", path)),
        Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(GitError::errno("open directory", parent)(errno)),
    }
}

pub(crate) fn open_dir_at(parent: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

/// Names of all entries but the two dots.
pub(crate) fn names_in(directory: &OwnedFd) -> Result<Vec<OsString>, Errno> {
    let mut names = Vec::new();
    // It may have been read before.
    rustix::fs::seek(directory, SeekFrom::Start(0))?;
    let mut buffer = [MaybeUninit::uninit(); LISTING_BYTES];
    let mut entries = RawDir::new(directory, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsString::from_vec(name.to_vec()));
        }
    }
    Ok(names)
}

fn remove_entry(parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        // Linux says ISDIR, POSIX says PERM; both may mean a directory.
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(Errno::ACCESS) => {
            make_listable(parent);
            match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
                Ok(()) => return Ok(()),
                Err(Errno::ISDIR | Errno::PERM) => {}
                Err(errno) => return Err(errno),
            }
        }
        Err(errno) => return Err(errno),
    }
    let directory = open_and_make_usable(parent, name)?;
    let mut moved_up = 0;
    // Directories that lie too deep are moved to the top; each pass brings the next levels within reach.
    loop {
        let before = moved_up;
        empty(&directory, &directory, 0, &mut moved_up)?;
        if moved_up == before {
            break;
        }
    }
    rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)
}

fn empty(top: &OwnedFd, directory: &OwnedFd, depth: usize, moved_up: &mut u32) -> Result<(), Errno> {
    for name in names_in(directory)? {
        match rustix::fs::unlinkat(directory, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => continue,
            Err(Errno::ISDIR | Errno::PERM) => {}
            Err(errno) => return Err(errno),
        }
        if depth >= DEEPEST_HELD_OPEN {
            move_to_top(top, directory, &name, moved_up)?;
            continue;
        }
        let child = open_and_make_usable(directory, &name)?;
        empty(top, &child, depth + 1, moved_up)?;
        rustix::fs::unlinkat(directory, &name, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

/// Moves a directory to the top under the next name that is free; names may have been taken to stop us.
fn move_to_top(top: &OwnedFd, directory: &OwnedFd, name: &OsStr, moved_up: &mut u32) -> Result<(), Errno> {
    loop {
        *moved_up += 1;
        match rustix::fs::renameat(directory, name, top, format!(".windlass-removing-{moved_up}")) {
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
            other => return other,
        }
    }
}

/// Opens a directory whose mode bits may have been stripped.
fn open_and_make_usable(parent: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let opened = match open_dir_at(parent, name) {
        Err(Errno::ACCESS) => {
            // The path descriptor pins the directory itself, so that no link can take its place before the chmod.
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let pinned = rustix::fs::openat(parent, name, flags, Mode::empty())?;
            rustix::fs::chmod(through(&pinned), Mode::RWXU)?;
            open_dir_at(parent, name)?
        }
        other => other?,
    };
    make_listable(&opened);
    Ok(opened)
}

/// The kernel's own name for what a descriptor has open.
fn through(descriptor: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(descriptor)))
}

/// Gives the owner back read, write and search. A failure shows in the operation that needed it.
fn make_listable(directory: &OwnedFd) {
    if let Ok(stat) = rustix::fs::fstat(directory)
        && !Mode::from_raw_mode(stat.st_mode).contains(Mode::RWXU)
    {
        let _ = rustix::fs::fchmod(directory, Mode::from_raw_mode(stat.st_mode) | Mode::RWXU);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn removal_takes_links_and_stripped_directories_but_nothing_outside() {
        let world = tempfile::tempdir().unwrap();
        let outside = world.path().join("outside");
        fs::create_dir_all(outside.join("deep")).unwrap();
        fs::write(outside.join("deep/kept"), "x").unwrap();
        let inside = world.path().join("inside");
        fs::create_dir_all(inside.join("a/b")).unwrap();
        fs::write(inside.join("a/b/file"), "x").unwrap();
        symlink(&outside, inside.join("a/link")).unwrap();
        fs::set_permissions(inside.join("a/b"), fs::Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(inside.join("a"), fs::Permissions::from_mode(0o500)).unwrap();
        remove_tree(&inside).unwrap();
        assert!(!inside.exists());
        assert!(outside.join("deep/kept").exists());
        remove_tree(&inside).unwrap();
    }

    #[test]
    fn a_path_through_a_link_is_not_there() {
        let world = tempfile::tempdir().unwrap();
        fs::create_dir(world.path().join("inside")).unwrap();
        fs::create_dir(world.path().join("outside")).unwrap();
        fs::write(world.path().join("outside/kept"), "x").unwrap();
        symlink("../outside", world.path().join("inside/way")).unwrap();
        let inside = ConfinedDir::open(&world.path().join("inside")).unwrap();
        for path in ["way/kept", "../outside/kept", "way/../kept"] {
            inside.remove(&RepoPath::new(path)).unwrap();
        }
        assert!(world.path().join("outside/kept").exists());
        assert!(inside.kind_of(&RepoPath::new("way/kept")).unwrap().is_none());
        assert!(ConfinedDir::open(&world.path().join("inside/way")).is_err());
    }

    #[test]
    fn nesting_deeper_than_the_descriptor_limit_is_removed() {
        let world = tempfile::tempdir().unwrap();
        let top = world.path().join("top");
        fs::create_dir(&top).unwrap();
        let mut directory = open_dir_at(CWD, top.as_os_str()).unwrap();
        for _ in 0..1500 {
            rustix::fs::mkdirat(&directory, "d", Mode::RWXU).unwrap();
            directory = open_dir_at(&directory, OsStr::new("d")).unwrap();
        }
        drop(directory);
        remove_tree(&top).unwrap();
        assert!(!top.exists());
    }
}
