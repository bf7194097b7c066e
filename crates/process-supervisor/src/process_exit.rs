//! Waits for the end of any process, child or not, without a thread.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Returns when the process behind this pidfd has ended. May be dropped and called again.
pub(crate) async fn ended(process: &OwnedFd) -> io::Result<()> {
    // SAFETY: the descriptor must stay open and the same for as long as it is registered. `watched` borrows it from
    // `process`, which owns it and cannot be closed or replaced before the registration is dropped at the end.
    #[expect(
        unsafe_code,
        reason = "tokio has no safe way to watch a descriptor that is neither pipe nor socket"
    )]
    let watched = unsafe { AsyncFd::register_with_interest(process.as_fd(), Interest::READABLE) }?;
    watched.readable().await.map(drop)
}
