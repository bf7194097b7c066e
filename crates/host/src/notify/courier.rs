//! Sends what lies ready, one thread per channel, so that a channel that hangs holds up no other and never a run. The
//! courier belongs to the host: what is not sent when the host goes is given a moment, and then left to the next process.

use super::deliveries::{Deliveries, Policy};
use super::{Kit, follower, send};
use crate::clock::{Stopwatch, SystemClock};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use windlass_engine::Clock;
use windlass_journal::SqliteJournal;

const CHANNELS: [&str; 3] = ["desktop", "command", "webhook"];

const SOON_MS: u64 = 200;

#[derive(Clone)]
pub(crate) struct Courier(Arc<Inner>);

struct Inner {
    deliveries: Deliveries,
    kit: Kit,
    journal: SqliteJournal,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Grows with everything that is put down.
    news: u64,
    started: bool,
    leaving: bool,
    /// This process has put something down itself.
    ours: bool,
    resting: [Option<Rest>; CHANNELS.len()],
}

/// A channel with nothing to do: after which news, and when its next try is due.
#[derive(Clone, Copy)]
struct Rest {
    news: u64,
    next_ms: Option<u64>,
}

/// How long whoever leaves waits for what is not sent yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// A moment: longer for what is our own than for what others left.
    Usual,
    /// Somebody asked for just this.
    Long,
}

impl Courier {
    pub(crate) fn new(deliveries: Deliveries, kit: Kit, journal: SqliteJournal) -> Self {
        let inner =
            Inner { deliveries, kit, journal, state: Mutex::new(State::default()), changed: Condvar::new() };
        Self(Arc::new(inner))
    }

    pub(crate) fn deliveries(&self) -> &Deliveries {
        &self.0.deliveries
    }

    pub(crate) fn kit(&self) -> &Kit {
        &self.0.kit
    }

    /// For what other processes left behind.
    pub(crate) fn look_for_leftovers(&self) {
        if self.0.deliveries.has_some() {
            self.set_out();
        }
    }

    /// Something was put down.
    pub(crate) fn wake(&self) {
        let mut state = self.0.lock();
        state.news += 1;
        state.ours = true;
        drop(state);
        self.0.changed.notify_all();
        self.set_out();
    }

    fn set_out(&self) {
        if std::mem::replace(&mut self.0.lock().started, true) {
            return;
        }
        for (number, channel) in CHANNELS.iter().enumerate() {
            let inner = Arc::clone(&self.0);
            let name = format!("notify-{channel}");
            // Without a thread everything stays where it is, for the next process.
            let _ = std::thread::Builder::new().name(name).spawn(move || inner.work(number));
        }
    }

    /// Whoever was told to leave at once does not wait.
    pub(crate) fn abandon(&self) {
        let mut state = self.0.lock();
        state.started = false;
        state.leaving = true;
    }

    /// Waits until there is nothing left that can be sent in time.
    pub(crate) fn finish(&self, patience: Patience) {
        let mut state = self.0.lock();
        let patience = match (patience, state.ours) {
            (Patience::Long, _) => Duration::from_secs(15),
            (Patience::Usual, true) => Duration::from_secs(3),
            (Patience::Usual, false) => Duration::from_secs(1),
        };
        let (since, until_ms) = (Stopwatch::start(), SystemClock.now().0.saturating_add(as_ms(patience)));
        while state.started && !state.is_done(until_ms) {
            let Some(left) = patience.checked_sub(since.elapsed()).filter(|left| !left.is_zero()) else {
                break;
            };
            state = self.0.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.leaving = true;
        drop(state);
        self.0.changed.notify_all();
    }
}

impl State {
    fn is_done(&self, until_ms: u64) -> bool {
        let done = |rest: &Rest| rest.news == self.news && rest.next_ms.is_none_or(|next| next > until_ms);
        self.resting.iter().all(|rest| rest.as_ref().is_some_and(done))
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, number: usize) {
        if number == 0 {
            self.take_up();
        }
        // What others left is tried at once, whatever they meant to wait: the trouble may be over.
        let mut due_ms = u64::MAX;
        loop {
            let news = self.lock().news;
            let next_ms = self.send_due(CHANNELS[number], due_ms);
            due_ms = self.rest(number, Rest { news, next_ms });
            if self.lock().leaving {
                return;
            }
        }
    }

    /// Until there is news or the next try is due, whichever comes first.
    fn rest(&self, number: usize, rest: Rest) -> u64 {
        let mut state = self.lock();
        state.resting[number] = Some(rest);
        self.changed.notify_all();
        while state.news == rest.news && !state.leaving {
            let now = SystemClock.now().0;
            state = match rest.next_ms {
                Some(next) if next <= now => break,
                Some(next) => {
                    let left = Duration::from_millis(next - now);
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        state.resting[number] = None;
        SystemClock.now().0
    }

    /// Tries everything that is due, and says when the next try is.
    fn send_due(&self, channel: &str, now_ms: u64) -> Option<u64> {
        for (name, next_ms) in self.deliveries.due(channel) {
            if next_ms > now_ms {
                continue;
            }
            if let Some(claimed) = self.deliveries.claim(&name) {
                let tried = claimed.try_with(Policy::USUAL, |delivery, place| {
                    send(&self.kit, &delivery.channel, &delivery.message, place)
                });
                // What cannot be recorded stays pending, as `windlass doctor` shows; a full disk it shows as well.
                drop(tried);
            }
        }
        // What another process sends right now is looked at again in a while.
        let soon = SystemClock.now().0.saturating_add(SOON_MS);
        self.deliveries.due(channel).into_iter().map(|(_, next_ms)| next_ms.max(soon)).min()
    }

    fn take_up(&self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        // What cannot be read now keeps its mark, for the next process.
        let _ = runtime.map(|runtime| runtime.block_on(follower::take_up(&self.deliveries, &self.journal)));
        self.lock().news += 1;
        self.changed.notify_all();
    }
}

fn as_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
