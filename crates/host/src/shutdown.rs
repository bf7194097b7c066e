//! Requests to shut down, heard from the first run this process drives until the process ends. A signal that comes
//! between two runs is for the next one: nobody else would hear it, and it no longer ends the process by itself.

use crate::fault::supervisor_fault;
use std::sync::{Arc, Mutex, PoisonError};
use windlass_control_api::Fault;
use windlass_process_supervisor::{Shutdown, ShutdownRequests};

#[derive(Clone, Debug, Default)]
pub(crate) struct ShutdownListener(Arc<Mutex<Option<ShutdownRequests>>>);

impl ShutdownListener {
    /// Must be called inside a tokio runtime.
    pub(crate) fn borrow(&self) -> Result<Listening, Fault> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let requests = match kept {
            Some(requests) => requests,
            None => ShutdownRequests::listen().map_err(supervisor_fault)?,
        };
        Ok(Listening { requests: Some(requests), home: self.clone() })
    }
}

/// What one driver listens with; it goes back with everything nobody has heard yet.
#[derive(Debug)]
pub(crate) struct Listening {
    /// Empty only while this is being dropped.
    requests: Option<ShutdownRequests>,
    home: ShutdownListener,
}

impl Listening {
    /// The next request. Safe to drop and call again: no request is lost.
    pub(crate) async fn next(&mut self) -> Shutdown {
        match &mut self.requests {
            Some(requests) => requests.next().await,
            None => std::future::pending().await,
        }
    }

    /// A request that is there already.
    pub(crate) async fn waiting(&mut self) -> Option<Shutdown> {
        tokio::select! {
            biased;
            request = self.next() => Some(request),
            () = std::future::ready(()) => None,
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        *self.home.0.lock().unwrap_or_else(PoisonError::into_inner) = self.requests.take();
    }
}
