//! Puts a directory together from layers, for a process with mounts of its own. What the layers are is the caller's affair.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::namespaces::{self, mount_kind};
use crate::child_spec::OverlayMount;
use crate::launcher::{LAUNCH_COMMAND, TRY_OVERLAY};
use crate::quick_command::QuickCommand;

/// Marks a directory of an upper layer that hides all of what lies below it. Of this name because a mount without privileges
/// may write no other.
const OPAQUE: &str = "user.overlay.opaque";

static TRIALS: AtomicU32 = AtomicU32::new(0);

/// To be called after [`namespaces::own_mounts`].
pub(crate) fn mount(overlay: &OverlayMount) -> io::Result<()> {
    let opened = |path: &Path| -> io::Result<File> {
        File::options().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY).open(path)
    };
    let lower: Vec<File> = overlay.lower.iter().map(|path| opened(path)).collect::<Result<_, _>>()?;
    let (upper, work) = (opened(&overlay.upper)?, opened(&overlay.work)?);
    // By their descriptors: a path may hold what separates options, and all of them together be longer than is allowed.
    let named = |file: &File| format!("/proc/self/fd/{}", file.as_raw_fd());
    let layers: Vec<String> = lower.iter().map(named).collect();
    let options = format!(
        "lowerdir={},upperdir={},workdir={},userxattr",
        layers.join(":"),
        named(&upper),
        named(&work)
    );
    let place = CString::new(overlay.place.as_os_str().as_bytes())?;
    let options = CString::new(options)?;
    let flags = libc::MS_NODEV | libc::MS_NOSUID;
    mount_kind(Some(c"overlay"), &place, Some((c"overlay", &options)), flags)
}

/// Whether overlays can be had in this directory, by making one there and changing it in every way. `program` is ours.
pub fn try_overlay(program: &Path, directory: &Path) -> Result<(), String> {
    let number = TRIALS.fetch_add(1, Ordering::Relaxed);
    let trial = Trial(directory.join(format!(".overlay-trial-{}-{number}", std::process::id())));
    trial.run(program).map_err(|error| format!("a directory of layers cannot be made: {error}"))
}

struct Trial(PathBuf);

impl Trial {
    fn run(&self, program: &Path) -> io::Result<()> {
        for name in ["place", "lower/directory", "upper", "work"] {
            fs::create_dir_all(self.0.join(name))?;
        }
        fs::write(self.0.join("lower/gone"), "")?;
        fs::write(self.0.join("lower/directory/file"), "")?;
        let command = QuickCommand::new(program, "/").arg(LAUNCH_COMMAND).arg(TRY_OVERLAY).arg(&self.0);
        let output = command.deadline(Duration::from_secs(10)).run().map_err(io::Error::other)?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        let gone = self.0.join("upper/gone").symlink_metadata()?;
        let mut mark = [0_u8; 1];
        let opaque = rustix::fs::lgetxattr(self.0.join("upper/directory"), OPAQUE, &mut mark);
        if gone.file_type().is_char_device() && gone.rdev() == 0 && opaque == Ok(1) && mark == *b"y" {
            return Ok(());
        }
        Err(io::Error::other("what was removed in it is not marked in a way that can be read"))
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        // The kernel closes its own directory to everybody. What stays is litter.
        let own = self.0.join("work/work");
        let _ = fs::set_permissions(own, fs::Permissions::from_mode(0o700));
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The part of a trial that needs mounts of its own.
pub(crate) fn trial(directory: &Path) -> io::Result<()> {
    namespaces::own_mounts()?;
    let place = directory.join("place");
    mount(&OverlayMount {
        place: place.clone(),
        lower: vec![directory.join("lower")],
        upper: directory.join("upper"),
        work: directory.join("work"),
    })?;
    fs::remove_file(place.join("gone"))?;
    fs::remove_dir_all(place.join("directory"))?;
    fs::create_dir(place.join("directory"))
}
