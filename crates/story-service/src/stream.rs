//! One stream of the journal and what it folds to, in memory. A decision is made under a lock and believed at once; the
//! journal gets it in the order of the decisions, many at a time; nobody is answered before what they were told of is
//! durable. Where the journal did not take something, all that was believed is thrown away and read again.

use crate::feed::Feed;
use std::sync::{Mutex, MutexGuard};
use thiserror::Error;
use windlass_engine::chain;
use windlass_engine::{Append, Journal, JournalError, Lease, LeaseAnswer};
use windlass_protocols::protocol::story_queue::facts::{Entry, EntryText};
use windlass_protocols::{Fact, Millis, RunId};

/// What entries come to.
pub(crate) trait Fold: Default {
    fn evolve(&mut self, entry: &Entry);

    /// The stream that this was read from does not hold.
    fn doubt(&mut self, _at: Millis, _why: String) {}
}

#[derive(Debug, Error)]
pub enum StreamError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Decided together with something the journal did not take.
    #[error("the journal did not take this, and nothing of it was kept")]
    ThrownAway,
    #[error("{stream} holds at place {version} what is no entry of a story queue")]
    Foreign { stream: String, version: u64 },
}

pub(crate) struct Stream<F> {
    name: RunId,
    owner: String,
    held: Mutex<Held<F>>,
    /// Who holds this appends; the lease is absent until the first time, after a failure, and while it cannot be had.
    appending: tokio::sync::Mutex<Option<Lease>>,
}

struct Held<F> {
    fold: F,
    feed: Feed,
    /// Decided and not yet handed to the journal.
    waiting: Vec<Entry>,
    durable: u64,
    /// How often everything was thrown away; a decision of an earlier time is not what is being made durable now.
    era: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Whole,
    /// To be read (again) before anything else.
    Unread,
}

/// What must be durable before an answer may be given.
#[derive(Clone, Copy)]
struct Mark {
    era: u64,
    version: u64,
}

impl<F: Fold> Held<F> {
    fn empty(era: u64) -> Self {
        let (fold, feed, waiting) = (F::default(), Feed::default(), Vec::new());
        Self { fold, feed, waiting, durable: 0, era, state: State::Unread }
    }

    fn mark(&self) -> Mark {
        Mark { era: self.era, version: self.feed.version() }
    }
}

impl<F: Fold> Stream<F> {
    pub(crate) fn new(name: RunId, owner: &str) -> Self {
        let held = Mutex::new(Held::empty(0));
        Self { name, owner: owner.to_owned(), held, appending: tokio::sync::Mutex::new(None) }
    }

    /// Looks at what is known. Returns when all of it is durable.
    pub(crate) async fn look<J: Journal, T>(
        &self,
        journal: &J,
        at: Millis,
        look: impl FnOnce(&F, &Feed) -> T,
    ) -> Result<T, StreamError> {
        self.decide(journal, at, |fold, feed| (look(fold, feed), Vec::new())).await
    }

    /// Looks at what is believed, durable or not: enough to tell who asks, for a key is not known to anybody before it is
    /// durable, and one that is about to be revoked may be refused early.
    pub(crate) async fn peek<J: Journal, T>(
        &self,
        journal: &J,
        at: Millis,
        look: impl FnOnce(&F) -> T,
    ) -> Result<T, StreamError> {
        loop {
            self.read_if_needed(journal, at).await?;
            let held = self.held();
            if held.state == State::Whole {
                return Ok(look(&held.fold));
            }
        }
    }

    /// The decision has already put its entries into the fold. Returns when they are durable.
    pub(crate) async fn decide<J: Journal, T>(
        &self,
        journal: &J,
        at: Millis,
        decide: impl FnOnce(&mut F, &Feed) -> (T, Vec<Entry>),
    ) -> Result<T, StreamError> {
        let mut decide = Some(decide);
        let (answer, mark) = loop {
            self.read_if_needed(journal, at).await?;
            let mut held = self.held();
            if held.state == State::Unread {
                continue;
            }
            let Some(decide) = decide.take() else { return Err(StreamError::ThrownAway) };
            let Held { fold, feed, .. } = &mut *held;
            let (answer, entries) = decide(fold, feed);
            for entry in &entries {
                held.feed.push(entry.clone());
            }
            held.waiting.extend(entries);
            break (answer, held.mark());
        };
        self.settle(journal, at, mark).await?;
        Ok(answer)
    }

    async fn settle<J: Journal>(&self, journal: &J, at: Millis, mark: Mark) -> Result<(), StreamError> {
        if self.is_durable(mark)? {
            return Ok(());
        }
        let mut lease = self.appending.lock().await;
        // Most find here that whoever was before them has taken their entries along.
        if self.is_durable(mark)? {
            return Ok(());
        }
        let (entries, expected_version) = {
            let mut held = self.held();
            (std::mem::take(&mut held.waiting), held.durable)
        };
        let count = entries.len() as u64;
        // Also when the caller stops waiting: whether the journal took it is then unknown.
        let unless_stored = ThrowAway(self);
        let holding = match lease.clone() {
            Some(holding) => holding,
            None => lease.insert(self.lease(journal, at).await?).clone(),
        };
        let facts = entries.iter().map(as_fact).collect::<Result<_, _>>()?;
        let append = Append {
            lease: holding,
            run: self.name.clone(),
            expected_version,
            at,
            facts,
            headline: String::new(),
        };
        match journal.append(append).await {
            Ok(()) => {
                std::mem::forget(unless_stored);
                self.held().durable = expected_version + count;
                Ok(())
            }
            Err(error) => {
                drop(unless_stored);
                *lease = None;
                Err(error.into())
            }
        }
    }

    fn is_durable(&self, mark: Mark) -> Result<bool, StreamError> {
        let held = self.held();
        if held.era == mark.era { Ok(held.durable >= mark.version) } else { Err(StreamError::ThrownAway) }
    }

    async fn read_if_needed<J: Journal>(&self, journal: &J, at: Millis) -> Result<(), StreamError> {
        if self.held().state == State::Whole {
            return Ok(());
        }
        let mut lease = self.appending.lock().await;
        if self.held().state == State::Whole {
            return Ok(());
        }
        // A full disk takes no lease and can still be read; whoever writes asks again.
        let mine = match self.lease(journal, at).await {
            Ok(lease) => Some(lease),
            Err(JournalError::Unavailable { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let mut fresh = Held::<F>::empty(self.held().era);
        let rows = journal.read(&self.name, 0).await?;
        let flaw = chain::verify(&self.name, &rows).err();
        for stored in rows {
            let Fact::StoryQueue(text) = stored.fact(&self.name)? else {
                let (stream, version) = (self.name.to_string(), stored.version);
                return Err(StreamError::Foreign { stream, version });
            };
            let entry: Entry = serde_json::from_str(&text.0).map_err(|error| JournalError::Corrupt {
                run: self.name.clone(),
                version: stored.version,
                why: format!("the entry cannot be read: {error}"),
            })?;
            fresh.fold.evolve(&entry);
            fresh.feed.push(entry);
        }
        if let Some(flaw) = flaw {
            fresh.fold.doubt(at, format!("the audit chain does not hold: {flaw}"));
        }
        fresh.durable = fresh.feed.version();
        fresh.state = State::Whole;
        *self.held() = fresh;
        *lease = mine;
        Ok(())
    }

    /// Taken from whoever holds it: the data directory's lock says that no other server lives, and if one did, the
    /// rising fence would stop it at its next append.
    async fn lease<J: Journal>(&self, journal: &J, at: Millis) -> Result<Lease, JournalError> {
        let mut answer = journal.acquire(self.name.as_str(), &self.owner, at).await?;
        loop {
            match answer {
                LeaseAnswer::Granted(lease) => return Ok(lease),
                LeaseAnswer::Held(holder) => answer = journal.take_over(&holder, &self.owner, at).await?,
            }
        }
    }

    /// Whether the journal takes anything at all now: the lease is taken anew, which must be written down.
    pub(crate) async fn try_writing<J: Journal>(&self, journal: &J, at: Millis) -> Result<(), StreamError> {
        let mut lease = self.appending.lock().await;
        *lease = None;
        *lease = Some(self.lease(journal, at).await?);
        Ok(())
    }

    fn held(&self) -> MutexGuard<'_, Held<F>> {
        self.held.lock().unwrap_or_else(|poison| {
            // Somebody panicked in the middle of a decision: what is in memory may be half of it.
            self.held.clear_poison();
            let mut held = poison.into_inner();
            *held = Held::empty(held.era + 1);
            held
        })
    }

    fn throw_away(&self) {
        let mut held = self.held();
        *held = Held::empty(held.era + 1);
    }
}

fn as_fact(entry: &Entry) -> Result<Fact, JournalError> {
    let text = serde_json::to_string(entry);
    let text =
        text.map_err(|error| JournalError::Unavailable { why: format!("an entry has no JSON: {error}") })?;
    Ok(Fact::StoryQueue(EntryText(text)))
}

/// Throws everything away when dropped.
struct ThrowAway<'a, F: Fold>(&'a Stream<F>);

impl<F: Fold> Drop for ThrowAway<'_, F> {
    fn drop(&mut self) {
        self.0.throw_away();
    }
}
