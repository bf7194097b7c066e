//! Turns SIGINT, SIGTERM and SIGHUP into a counted request to shut down. What each count means is the host's affair.

use std::ops::ControlFlow;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::SupervisorError;

const XFSZ: i32 = rustix::process::Signal::XFSZ.as_raw();

/// How often the user has asked by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shutdown {
    First,
    Second,
    /// The third and every later one.
    Third,
}

/// The stream of requests. While it exists these signals no longer end the process by themselves.
#[derive(Debug)]
pub struct ShutdownRequests {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
    last: Option<Shutdown>,
}

impl ShutdownRequests {
    /// Must be called inside a tokio runtime.
    pub fn listen() -> Result<Self, SupervisorError> {
        let listen = |kind| signal(kind).map_err(|source| SupervisorError::Signals { source });
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
            last: None,
        })
    }

    /// The next request. Safe to drop and call again: no request is lost.
    pub async fn next(&mut self) -> Shutdown {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
        let count = match self.last {
            None => Shutdown::First,
            Some(Shutdown::First) => Shutdown::Second,
            Some(Shutdown::Second | Shutdown::Third) => Shutdown::Third,
        };
        self.last = Some(count);
        count
    }
}

/// From now on a file that may not grow any further (`ulimit -f`) is an error of the write and not the end of this process.
/// A handler, not "ignored": a child must not inherit that. Must be called inside a tokio runtime.
pub fn report_files_that_may_not_grow() -> Result<(), SupervisorError> {
    // The stream may go: the handler stays for the rest of the process.
    signal(SignalKind::from_raw(XFSZ)).map(drop).map_err(|source| SupervisorError::Signals { source })
}

/// For a program without a runtime: calls `heard` for each request, from a thread that ends when `heard` breaks or the
/// process does. When this returns, the signals no longer end the process by themselves.
pub fn on_shutdown_request(
    mut heard: impl FnMut(Shutdown) -> ControlFlow<()> + Send + 'static,
) -> Result<(), SupervisorError> {
    let failed = |source| SupervisorError::Signals { source };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let entered = runtime.enter();
    let mut requests = ShutdownRequests::listen()?;
    drop(entered);
    let listen = move || {
        runtime.block_on(async { while heard(requests.next().await).is_continue() {} });
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen).map(drop).map_err(failed)
}

#[cfg(test)]
mod tests {
    use rustix::process::{Signal as Sent, getpid, kill_process};

    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn requests_are_counted_whatever_signal_carries_them() {
        let mut requests = ShutdownRequests::listen().unwrap();
        let expected = [
            (Sent::TERM, Shutdown::First),
            (Sent::INT, Shutdown::Second),
            (Sent::HUP, Shutdown::Third),
            (Sent::TERM, Shutdown::Third),
        ];
        for (sent, counted) in expected {
            kill_process(getpid(), sent).unwrap();
            assert_eq!(requests.next().await, counted);
        }
    }

    #[test]
    fn without_a_runtime_requests_come_to_whoever_asked_for_them() {
        let (sender, heard) = std::sync::mpsc::channel();
        on_shutdown_request(move |request| {
            sender.send(request).map_or(ControlFlow::Break(()), ControlFlow::Continue)
        })
        .unwrap();
        for counted in [Shutdown::First, Shutdown::Second] {
            kill_process(getpid(), Sent::TERM).unwrap();
            assert_eq!(heard.recv().unwrap(), counted);
        }
    }
}
