//! Turns SIGINT, SIGTERM and SIGHUP into a counted request to shut down. What each count means is the host's affair.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::SupervisorError;

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
}
