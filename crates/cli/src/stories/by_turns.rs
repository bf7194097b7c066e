//! The queue on this machine for somebody who asks for hours. Only one process can have it open, so it is opened for each
//! call and closed after it: people and agents get their turn in between. Whoever has to wait for another says so at once.

use super::local::Local;
use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use tokio::sync::mpsc;
use windlass_control_api::stories::{Answering, Call, StoryApi, Unreachable};

pub(crate) struct ByTurns {
    directory: PathBuf,
    /// What others are told who come while we have it.
    who: &'static str,
    /// Two calls of this process must not wait for each other's hold.
    turn: tokio::sync::Mutex<()>,
    notices: mpsc::UnboundedSender<String>,
}

/// For whom a call waits, as it begins to wait.
pub(crate) struct Notices(Option<mpsc::UnboundedReceiver<String>>);

impl ByTurns {
    pub(crate) fn at(directory: PathBuf, who: &'static str) -> (Self, Notices) {
        let (notices, heard) = mpsc::unbounded_channel();
        (Self { directory, who, turn: tokio::sync::Mutex::new(()), notices }, Notices(Some(heard)))
    }
}

impl Notices {
    /// Of a queue for which nobody waits.
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    /// Tells what there is to tell while something goes on.
    pub(crate) async fn during<T>(mut self, work: impl Future<Output = T>, mut tell: impl FnMut(&str)) -> T {
        let mut work = pin!(work);
        loop {
            let heard = async {
                match &mut self.0 {
                    Some(heard) => heard.recv().await,
                    None => None,
                }
            };
            tokio::select! {
                biased;
                done = &mut work => return done,
                Some(text) = heard => tell(&text),
            }
        }
    }
}

impl StoryApi for ByTurns {
    fn call(&self, call: Call) -> Answering<'_> {
        Box::pin(async move {
            let _turn = self.turn.lock().await;
            let notices = &self.notices;
            // Who does not listen any more does not need to know.
            let waiting = move |text: &str| drop(notices.send(text.to_owned()));
            let opened = Local::open(&self.directory, self.who, waiting).await;
            // There is no place for hints where nobody could be reached, so they go with the message.
            let local = opened.map_err(|fault| {
                let words: Vec<String> = std::iter::once(fault.message).chain(fault.hints).collect();
                Unreachable(words.join("; "))
            })?;
            local.api().call(call).await
        })
    }
}
