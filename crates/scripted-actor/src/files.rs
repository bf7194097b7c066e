//! Actions on files. An agent that cannot do what its script says must say so, hence an error for each of them.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use windlass_agent_drivers::script::{Content, Template, Thing};

use crate::ActorError;

const FILLER_CHUNK: usize = 64 * 1024;

pub(crate) fn write(path: &Path, content: &Content) -> Result<(), ActorError> {
    make_parent(path)?;
    File::create(path).and_then(|mut file| write_content(&mut file, content)).map_err(failed("write", path))
}

pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), ActorError> {
    make_parent(path)?;
    fs::write(path, bytes).map_err(failed("write", path))
}

pub(crate) fn append(path: &Path, content: &Content) -> Result<(), ActorError> {
    make_parent(path)?;
    open_to_append(path)
        .and_then(|mut file| write_content(&mut file, content))
        .map_err(failed("append to", path))
}

/// One write call, so that lines of several processes do not mix.
pub(crate) fn append_bytes(path: &Path, bytes: &[u8]) -> Result<(), ActorError> {
    make_parent(path)?;
    open_to_append(path).and_then(|mut file| file.write_all(bytes)).map_err(failed("append to", path))
}

fn open_to_append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

pub(crate) fn delete(path: &Path) -> Result<(), ActorError> {
    fs::symlink_metadata(path)
        .and_then(|found| if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) })
        .map_err(failed("delete", path))
}

pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), ActorError> {
    make_parent(to)?;
    fs::rename(from, to).map_err(failed("rename", from))
}

pub(crate) fn set_mode(path: &Path, mode: u32) -> Result<(), ActorError> {
    fs::set_permissions(path, Permissions::from_mode(mode)).map_err(failed("change the mode of", path))
}

pub(crate) fn symlink(target: &Path, path: &Path) -> Result<(), ActorError> {
    make_parent(path)?;
    std::os::unix::fs::symlink(target, path).map_err(failed("make the symbolic link", path))
}

pub(crate) fn make_directory(path: &Path) -> Result<(), ActorError> {
    fs::create_dir_all(path).map_err(failed("make the directory", path))
}

/// Leaves something in the outbox, be it a file or a trap.
pub(crate) fn leave_thing(
    path: &Path,
    thing: &Thing,
    fill: impl Fn(&Template) -> OsString,
    workspace: &Path,
) -> Result<(), ActorError> {
    match thing {
        Thing::File(content) => write(path, content),
        Thing::Symlink { target } => symlink(Path::new(&fill(target)), path),
        Thing::HardLink { target } => {
            make_parent(path)?;
            fs::hard_link(workspace.join(fill(target)), path).map_err(failed("make the hard link", path))
        }
        Thing::Fifo => {
            make_parent(path)?;
            let mode = rustix::fs::Mode::from_raw_mode(0o644);
            rustix::fs::mkfifoat(rustix::fs::CWD, path, mode)
                .map_err(|errno| failed("make the named pipe", path)(errno.into()))
        }
        Thing::Directory => make_directory(path),
    }
}

pub(crate) fn write_content(target: &mut impl Write, content: &Content) -> io::Result<()> {
    match content {
        Content::Text(text) => target.write_all(text.as_bytes()),
        Content::Bytes(bytes) => target.write_all(bytes),
        Content::Size(size) => write_filler(target, *size, Some(79)),
    }
}

/// Writes lines of `line_length` characters, or one endless line, without holding more than a chunk in memory.
pub(crate) fn write_filler(target: &mut impl Write, size: u64, line_length: Option<u64>) -> io::Result<()> {
    let mut chunk = vec![b'x'; FILLER_CHUNK];
    let mut written = 0_u64;
    while written < size {
        if let Some(length) = line_length {
            for (place, byte) in (written..).zip(chunk.iter_mut()) {
                *byte = if place % (length + 1) == length { b'\n' } else { b'x' };
            }
        }
        let wanted = usize::try_from(size - written).unwrap_or(FILLER_CHUNK).min(FILLER_CHUNK);
        target.write_all(&chunk[..wanted])?;
        written += wanted as u64;
    }
    Ok(())
}

fn make_parent(path: &Path) -> Result<(), ActorError> {
    path.parent().map_or(Ok(()), make_directory)
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ActorError {
    let path = path.to_owned();
    move |source| ActorError::File { doing, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filler_has_the_wanted_size_and_lines_across_chunks() {
        let mut lines = Vec::new();
        write_filler(&mut lines, 200_001, Some(79)).unwrap();
        assert_eq!(lines.len(), 200_001);
        let lengths: Vec<usize> = lines.split(|byte| *byte == b'\n').map(<[u8]>::len).collect();
        assert!(lengths[..lengths.len() - 1].iter().all(|length| *length == 79));

        let mut endless = Vec::new();
        write_filler(&mut endless, 100_000, None).unwrap();
        assert_eq!(endless, vec![b'x'; 100_000]);

        let mut empty_lines = Vec::new();
        write_filler(&mut empty_lines, 3, Some(0)).unwrap();
        assert_eq!(empty_lines, b"\n\n\n");
    }
}
