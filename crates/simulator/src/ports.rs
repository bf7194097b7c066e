//! The engine's three ports as the simulation plays them: a journal that fails when told to, a runner that hands
//! everything to the world, a clock that somebody else moves.

use crate::world::World;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use windlass_engine::{
    Append, Clock, EffectRunner, Holder, Journal, JournalError, Lease, LeaseAnswer, MemoryJournal, Message,
    RunHead, Stored,
};
use windlass_protocols::{Effect, EffectId, Millis, Run, RunId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalFault {
    /// Says no and has stored nothing.
    AppendNotStored,
    /// Says no although everything was stored: nobody can tell this from the other one.
    AppendStored,
    ReadFails,
}

/// The reference journal behind a line that can break. The next call of the fault's kind hits it, once.
#[derive(Clone, Default)]
pub(crate) struct FaultyJournal {
    inner: MemoryJournal,
    armed: Arc<Mutex<Option<JournalFault>>>,
}

impl FaultyJournal {
    pub(crate) fn truth(&self) -> MemoryJournal {
        self.inner.clone()
    }

    pub(crate) fn arm(&self, fault: Option<JournalFault>) {
        *self.armed.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    fn hit(&self, faults: &[JournalFault]) -> Option<JournalFault> {
        let mut armed = self.armed.lock().unwrap_or_else(PoisonError::into_inner);
        armed.take_if(|fault| faults.contains(fault))
    }
}

fn broken() -> JournalError {
    JournalError::Unavailable { why: "the line is broken".to_owned() }
}

impl Journal for FaultyJournal {
    async fn append(&self, append: Append) -> Result<(), JournalError> {
        match self.hit(&[JournalFault::AppendNotStored, JournalFault::AppendStored]) {
            Some(JournalFault::AppendNotStored) => Err(broken()),
            Some(_) => {
                self.inner.append(append).await?;
                Err(broken())
            }
            None => self.inner.append(append).await,
        }
    }

    async fn read(&self, run: &RunId, from: u64) -> Result<Vec<Stored>, JournalError> {
        match self.hit(&[JournalFault::ReadFails]) {
            Some(_) => Err(broken()),
            None => self.inner.read(run, from).await,
        }
    }

    async fn runs(&self) -> Result<Vec<RunHead>, JournalError> {
        self.inner.runs().await
    }

    async fn acquire(&self, key: &str, owner: &str, at: Millis) -> Result<LeaseAnswer, JournalError> {
        self.inner.acquire(key, owner, at).await
    }

    async fn holder(&self, key: &str) -> Result<Option<Holder>, JournalError> {
        self.inner.holder(key).await
    }

    async fn take_over(&self, holder: &Holder, owner: &str, at: Millis) -> Result<LeaseAnswer, JournalError> {
        self.inner.take_over(holder, owner, at).await
    }

    async fn release(&self, lease: &Lease) -> Result<(), JournalError> {
        self.inner.release(lease).await
    }

    async fn post(&self, run: &RunId, body: &str, at: Millis) -> Result<(), JournalError> {
        self.inner.post(run, body, at).await
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<Message>, JournalError> {
        self.inner.messages(run).await
    }

    async fn acknowledge(&self, message: &Message) -> Result<(), JournalError> {
        self.inner.acknowledge(message).await
    }
}

/// One engine's way into the world; the number says which engine is asking.
#[derive(Clone)]
pub(crate) struct Runner {
    pub(crate) world: Rc<RefCell<World>>,
    pub(crate) incarnation: u32,
}

impl EffectRunner for Runner {
    fn start(&mut self, _run: &Run, effect: EffectId, request: &Effect) {
        self.world.borrow_mut().start(self.incarnation, effect, request);
    }
}

#[derive(Clone, Default)]
pub(crate) struct SimClock(Rc<Cell<u64>>);

impl SimClock {
    pub(crate) fn set(&self, at: u64) {
        self.0.set(at);
    }
}

impl Clock for SimClock {
    fn now(&self) -> Millis {
        Millis(self.0.get())
    }
}
