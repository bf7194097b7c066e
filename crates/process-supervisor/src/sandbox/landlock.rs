//! Landlock: the calling thread, and every process it starts, can write below the given places only. Three system calls
//! that no library we have wraps. Nothing here starts a process.
//!
//! Only writing is restricted. Modes, owners and times of files outside are not Landlock's to guard.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::capabilities;

/// Before this one, truncating a file was free for all and moving one between directories for nobody.
pub(crate) const OLDEST_ABI: u32 = 3;
/// From here on a process can be kept from sending signals to those outside its fence, and from sockets that have no file.
const ABI_WITH_SCOPES: u32 = 6;

const WRITE_FILE: u64 = 1 << 1;
const REMOVE_DIR: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_DIR: u64 = 1 << 7;
const MAKE_REG: u64 = 1 << 8;
const MAKE_SOCK: u64 = 1 << 9;
const MAKE_FIFO: u64 = 1 << 10;
const MAKE_BLOCK: u64 = 1 << 11;
const MAKE_SYM: u64 = 1 << 12;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;

const ON_FILES: u64 = WRITE_FILE | TRUNCATE;
const ALL_WRITING: u64 = ON_FILES
    | REMOVE_DIR
    | REMOVE_FILE
    | MAKE_CHAR
    | MAKE_DIR
    | MAKE_REG
    | MAKE_SOCK
    | MAKE_FIFO
    | MAKE_BLOCK
    | MAKE_SYM
    | REFER;

const SCOPE_ABSTRACT_SOCKETS: u64 = 1 << 0;
const SCOPE_SIGNALS: u64 = 1 << 1;
const ALL_SCOPES: u64 = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS;
const VERSION_FLAG: u32 = 1;
const RULE_PATH_BENEATH: libc::c_int = 1;

#[repr(C)]
#[derive(Default)]
struct RulesetAttributes {
    handled_access_fs: u64,
    handled_access_net: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed_access: u64,
    parent_fd: i32,
}

/// The version the kernel offers; an error where it offers none.
pub(crate) fn abi() -> io::Result<u32> {
    // SAFETY: with no attributes and this flag the call only answers with a number.
    #[expect(unsafe_code, reason = "there is no wrapper for this system call")]
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<RulesetAttributes>(),
            0_usize,
            VERSION_FLAG,
        )
    };
    u32::try_from(answer).map_err(|_| io::Error::last_os_error())
}

/// Fences the calling thread in, for good. To be called on a thread of its own that then starts the child.
pub(crate) fn restrict_this_thread<'a>(writable: impl Iterator<Item = &'a Path>) -> io::Result<()> {
    let abi = abi()?;
    if abi < OLDEST_ABI {
        return Err(io::Error::other(format!("this kernel's Landlock is too old: {abi}")));
    }
    let scoped = if abi >= ABI_WITH_SCOPES { ALL_SCOPES } else { 0 };
    let ruleset = ruleset(ALL_WRITING, scoped)?;
    for place in writable {
        allow(&ruleset, place)?;
    }
    // Before the fence, which nobody without privileges may put up unless this is done. A kernel lets root read the variables
    // of any process past Landlock, and root can make a device of the disk.
    capabilities::give_up()?;
    restrict(&ruleset)
}

/// Keeps the calling thread, and what it starts, from signalling, tracing or speaking to processes outside, where the kernel can.
/// Files are no matter of this one, so that mounts go on working inside. The capabilities must have been given up before.
pub(crate) fn keep_to_itself() -> io::Result<()> {
    if !abi().is_ok_and(|abi| abi >= ABI_WITH_SCOPES) {
        return Ok(());
    }
    restrict(&ruleset(0, ALL_SCOPES)?)
}

fn restrict(ruleset: &OwnedFd) -> io::Result<()> {
    // SAFETY: the descriptor is a ruleset of ours and stays open during the call; no memory is handed over.
    #[expect(unsafe_code, reason = "there is no wrapper for this system call")]
    let answer = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn ruleset(handled_access_fs: u64, scoped: u64) -> io::Result<OwnedFd> {
    let attributes = RulesetAttributes { handled_access_fs, handled_access_net: 0, scoped };
    // An older kernel takes a longer structure as long as what it does not know is zero.
    // SAFETY: the pointer and the size are those of a structure that lives until the call returns.
    #[expect(unsafe_code, reason = "there is no wrapper for this system call")]
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::from_ref(&attributes),
            size_of::<RulesetAttributes>(),
            0_u32,
        )
    };
    let descriptor = i32::try_from(answer).ok().filter(|number| *number >= 0);
    let descriptor = descriptor.ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel just made this descriptor for us; nobody else has it.
    #[expect(unsafe_code, reason = "the system call answers with a number")]
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn allow(ruleset: &OwnedFd, place: &Path) -> io::Result<()> {
    let opened = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(place);
    let opened: File = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let allowed_access = if opened.metadata()?.is_dir() { ALL_WRITING } else { ON_FILES };
    let rule = PathBeneath { allowed_access, parent_fd: opened.as_raw_fd() };
    // SAFETY: both descriptors are open and the structure lives until the call returns.
    #[expect(unsafe_code, reason = "there is no wrapper for this system call")]
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            RULE_PATH_BENEATH,
            std::ptr::from_ref(&rule),
            0_u32,
        )
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
