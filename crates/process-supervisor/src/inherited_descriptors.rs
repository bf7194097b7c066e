//! Keeps what our own parent left open (a job server, somebody's pipe or lock) from reaching a kept child. Our own
//! descriptors are closed on exec anyway.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::io::{FdFlags, fcntl_setfd};

/// Marks every descriptor above the standard streams to be closed when a program is started. To be called early, while
/// this process has only one thread.
pub(crate) fn close_on_exec() -> io::Result<()> {
    let open: Vec<i32> = std::fs::read_dir("/proc/self/fd")?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|descriptor| *descriptor > 2)
        .collect();
    for descriptor in open {
        // SAFETY: the number is only borrowed for one call that cannot close it. Should it have been closed since the
        // list was read (the list's own descriptor has been), the kernel answers with an error and nothing else happens.
        #[expect(unsafe_code, reason = "an inherited descriptor is known by its number only")]
        let inherited = unsafe { BorrowedFd::borrow_raw(descriptor) };
        match fcntl_setfd(inherited, FdFlags::CLOEXEC) {
            Ok(()) | Err(rustix::io::Errno::BADF) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
