//! Runs a future that never waits: journals in memory and the simulator need no runtime.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// # Panics
/// When the future has to wait; that is a mistake of the caller, who promised it never does.
pub fn block_on<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a future that promised to be ready is waiting"),
    }
}
