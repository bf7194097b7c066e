//! Writing files so that nobody ever sees half of one: written beside its place, flushed, renamed.

use crate::fault::file_fault;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use windlass_control_api::Fault;
use windlass_crash_points::reach;

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Whether the content must survive the loss of power, or only that of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flush {
    ToDisk,
    /// Enough for files that can be written again from the journal.
    ToSystem,
}

pub(crate) fn replace(path: &Path, content: &[u8], flush: Flush) -> Result<(), Fault> {
    put(path, content, flush, Mode::USUAL).map(drop)
}

/// A file that nobody is meant to write again. It comes back, so that it can be flushed together with others.
pub(crate) fn place_read_only(path: &Path, content: &[u8]) -> Result<File, Fault> {
    put(path, content, Flush::ToSystem, Mode::READ_ONLY)
}

/// A file that nobody misses: flushed once, after the renaming, which makes content and name durable together. After the
/// loss of power before this returns it may be there and empty, which its reader must take for absent.
pub(crate) fn place_durably(path: &Path, content: &[u8]) -> Result<(), Fault> {
    let file = put(path, content, Flush::ToSystem, Mode::USUAL)?;
    file.sync_all().map_err(|error| file_fault("flush", path, &error))
}

#[derive(Clone, Copy)]
struct Mode(u32);

impl Mode {
    const USUAL: Self = Self(0o666);
    const READ_ONLY: Self = Self(0o400);
}

fn put(path: &Path, content: &[u8], flush: Flush, mode: Mode) -> Result<File, Fault> {
    let beside = beside(path);
    let written = write(&beside, content, flush, mode).and_then(|file| {
        reach("rename.before");
        std::fs::rename(&beside, path)?;
        reach("rename.after");
        // The content is safe by now; its name is when the directory is.
        if flush == Flush::ToDisk {
            File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()?;
        }
        Ok(file)
    });
    written.map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        file_fault("write", path, &error)
    })
}

/// Leaves a file alone that already says this, so that rewriting a projection costs nothing.
pub(crate) fn ensure(path: &Path, content: &[u8]) -> Result<(), Fault> {
    let plain = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    if plain && std::fs::read(path).is_ok_and(|found| found == content) {
        return Ok(());
    }
    replace(path, content, Flush::ToSystem)
}

fn write(path: &Path, content: &[u8], flush: Flush, mode: Mode) -> std::io::Result<File> {
    // A process with our number may have died here before; its leftover is in nobody's use.
    let _ = std::fs::remove_file(path);
    let mut file = File::options().write(true).create_new(true).mode(mode.0).open(path)?;
    file.write_all(content)?;
    match flush {
        Flush::ToDisk => file.sync_data()?,
        Flush::ToSystem => {}
    }
    Ok(file)
}

fn beside(path: &Path) -> std::path::PathBuf {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".");
    if let Some(prefix) = name.to_str() {
        windlass_process_supervisor::remove_leftovers(path, prefix);
    }
    name.push(format!("{}-{number}.part", std::process::id()));
    path.with_file_name(name)
}
