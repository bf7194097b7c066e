//! The queue on this machine for somebody who asks for hours. Only one process can have it open, so it is opened for each
//! call and closed after it: people and agents get their turn in between.

use super::local::Local;
use std::path::PathBuf;
use windlass_control_api::stories::{Answering, Call, StoryApi, Unreachable};

pub(crate) struct ByTurns {
    directory: PathBuf,
    /// Two calls of this process must not wait for each other's hold.
    turn: tokio::sync::Mutex<()>,
}

impl ByTurns {
    pub(crate) fn at(directory: PathBuf) -> Self {
        Self { directory, turn: tokio::sync::Mutex::new(()) }
    }
}

impl StoryApi for ByTurns {
    fn call(&self, call: Call) -> Answering<'_> {
        Box::pin(async move {
            let _turn = self.turn.lock().await;
            let local =
                Local::open(&self.directory, |_| {}).await.map_err(|fault| Unreachable(fault.message))?;
            local.api().call(call).await
        })
    }
}
