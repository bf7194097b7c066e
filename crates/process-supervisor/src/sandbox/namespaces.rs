//! The second way: a mount namespace in which everything but the given places is read-only. A namespace of a user can only be
//! entered by a process with one thread, so a launcher of ours enters it and then becomes the program.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::process::{getegid, geteuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::{capabilities, landlock};

/// Settings of the kernel, which root can write without any capability that is given up.
const SETTINGS: &CStr = c"/proc/sys";

/// `struct mount_attr` of the kernel.
#[repr(C)]
#[derive(Default)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    userns_fd: u64,
}

const READ_ONLY: u64 = 1;

/// Gives this process mounts of its own, which nobody else sees. To be called by a process with one thread, which must look
/// up its working directory anew once something was mounted.
pub(crate) fn own_mounts() -> io::Result<Whose> {
    let whose = separate()?;
    mount(None, c"/", libc::MS_REC | libc::MS_PRIVATE)?;
    Ok(whose)
}

/// Keeps whatever is mounted from being written below these places, where nothing else does.
pub(crate) fn make_read_only<'a>(places: impl Iterator<Item = &'a Path>) -> io::Result<()> {
    for place in places {
        let place = CString::new(place.as_os_str().as_bytes())?;
        mount(Some(&place), &place, libc::MS_BIND)?;
        let closed = MountAttributes { set: READ_ONLY, ..MountAttributes::default() };
        set_attributes(&place, &closed, Below::Not)?;
    }
    Ok(())
}

/// Fences a process with mounts of its own in, for good.
pub(crate) fn fence<'a>(whose: Whose, writable: impl Iterator<Item = &'a Path>) -> io::Result<()> {
    let places: Vec<CString> = writable
        .filter(|place| place.exists())
        .map(|place| CString::new(place.as_os_str().as_bytes()))
        .collect::<Result<_, _>>()?;
    for place in &places {
        mount(Some(place), place, libc::MS_BIND | libc::MS_REC)?;
    }
    set_attributes(c"/", &MountAttributes { set: READ_ONLY, ..MountAttributes::default() }, Below::Too)?;
    // A process writes about itself below /proc, and a sandbox inside ours does too.
    let open = MountAttributes { clear: READ_ONLY, ..MountAttributes::default() };
    for place in places.iter().map(CString::as_c_str).chain([c"/proc"]) {
        // What was mounted read-only before stays that, and must not keep the rest from being opened.
        set_attributes(place, &open, Below::Too).or_else(|_| set_attributes(place, &open, Below::Not))?;
    }
    if whose == Whose::Roots {
        mount(Some(SETTINGS), SETTINGS, libc::MS_BIND | libc::MS_REC)?;
        set_attributes(
            SETTINGS,
            &MountAttributes { set: READ_ONLY, ..MountAttributes::default() },
            Below::Too,
        )?;
    }
    capabilities::give_up()?;
    // The mounts say nothing about other processes: root could enter those of another step through `/proc`.
    landlock::keep_to_itself()
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The mounts are made with the rights of the machine's root.
    Roots,
    /// In a namespace of this user's own.
    OwnUsers,
}

fn separate() -> io::Result<Whose> {
    let (user, group) = (geteuid(), getegid());
    if user.is_root() && split(UnshareFlags::NEWNS).is_ok() {
        return Ok(Whose::Roots);
    }
    split(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    let (user, group) = (user.as_raw(), group.as_raw());
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    Ok(Whose::OwnUsers)
}

fn split(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: neither flag touches the table of descriptors, which is what could surprise other code of this process.
    #[expect(unsafe_code, reason = "some flags of this call are unsafe; these are not")]
    let split = unsafe { unshare_unsafe(flags) };
    split.map_err(io::Error::from)
}

fn mount(source: Option<&CStr>, target: &CStr, flags: libc::c_ulong) -> io::Result<()> {
    mount_kind(source, target, None, flags)
}

/// With a kind of file system, and what it is to be told.
pub(super) fn mount_kind(
    source: Option<&CStr>,
    target: &CStr,
    kind: Option<(&CStr, &CStr)>,
    flags: libc::c_ulong,
) -> io::Result<()> {
    let source = source.map_or(std::ptr::null(), CStr::as_ptr);
    let (kind, options) = kind
        .map_or((std::ptr::null(), std::ptr::null()), |(kind, options)| (kind.as_ptr(), options.as_ptr()));
    // SAFETY: all texts end with a zero and live until the call returns; all but the target are allowed to be null.
    #[expect(unsafe_code, reason = "the wrapper we have leaves this call out")]
    let answer = unsafe { libc::mount(source, target.as_ptr(), kind, flags, options.cast()) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    Too,
    Not,
}

fn set_attributes(place: &CStr, attributes: &MountAttributes, below: Below) -> io::Result<()> {
    let flags = if below == Below::Too { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the text ends with a zero, the size is the structure's own, and both live until the call returns.
    #[expect(unsafe_code, reason = "there is no wrapper for this system call")]
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            place.as_ptr(),
            flags,
            std::ptr::from_ref(attributes),
            size_of::<MountAttributes>(),
        )
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
