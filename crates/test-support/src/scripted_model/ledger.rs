//! What was asked and what was served, shared by the connections and the test, and the places where one waits for the
//! other. It does not know HTTP.

use super::asked::Wire;
use super::script::ModelScript;
use super::usage::Usage;
use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Long enough for a program that starts slowly on a busy machine; a test that needs it is broken.
const PATIENCE: Duration = Duration::from_mins(2);
/// How often a hanging reply looks whether its client is still there.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// One request, as far as tests care.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    pub kind: RequestKind,
    pub path: String,
    pub model: String,
    /// As the client sent it.
    pub api_key: Option<String>,
    /// Texts of the user, with the context that the program adds.
    pub prompt: String,
    pub tools: Vec<String>,
    /// What the tools answered so far.
    pub tool_results: Vec<String>,
    /// Actions of the script for which the request offers no tool.
    pub impossible: Vec<String>,
    pub end: RequestEnd,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A turn of a conversation. `entry` is `None` when no entry of the script fits.
    Turn {
        wire: Wire,
        entry: Option<usize>,
        turn: usize,
        conversation: String,
    },
    /// Titles, summaries, ratings: answered with a few words, at no cost.
    Aside {
        wire: Wire,
    },
    TokenCount,
    ModelList,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEnd {
    Underway,
    /// The reply went out to its end, with these figures in it.
    Served(Usage),
    Refused(u16),
    /// Cut, or an error told in the stream. The figures are those that went out before, which Anthropic's stream has in
    /// its first event.
    Broken(Usage),
    ClientLeft,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HangEnd {
    Released,
    NobodyWaits,
}

#[derive(Default)]
pub(super) struct Ledger {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    requests: Vec<ModelRequest>,
    /// Which entry a conversation was given.
    given: HashMap<String, usize>,
    attempts: HashMap<(usize, usize), u32>,
    hanging: usize,
    releases: u64,
    stopped: bool,
    connections: Vec<TcpStream>,
}

impl Ledger {
    pub(super) fn begin(&self, request: ModelRequest) -> usize {
        let mut state = self.lock();
        state.requests.push(request);
        self.changed.notify_all();
        state.requests.len() - 1
    }

    pub(super) fn end(&self, number: usize, end: RequestEnd) {
        self.lock().requests[number].end = end;
        self.changed.notify_all();
    }

    pub(super) fn requests(&self) -> Vec<ModelRequest> {
        self.lock().requests.clone()
    }

    /// The entry this conversation has, or the first that fits and has uses left.
    pub(super) fn entry_for(&self, script: &ModelScript, conversation: &str, prompt: &str) -> Option<usize> {
        let mut state = self.lock();
        if let Some(entry) = state.given.get(conversation) {
            return Some(*entry);
        }
        let taken = |number: usize| state.given.values().filter(|given| **given == number).count();
        let fits = script.entries.iter().enumerate().find(|(number, entry)| {
            entry.fits(prompt) && entry.uses.is_none_or(|uses| taken(*number) < uses)
        });
        let (number, _) = fits?;
        state.given.insert(conversation.to_owned(), number);
        Some(number)
    }

    /// How often this turn has been asked for, this time included.
    pub(super) fn attempt(&self, entry: usize, turn: usize) -> u32 {
        let mut state = self.lock();
        let attempts = state.attempts.entry((entry, turn)).or_default();
        *attempts += 1;
        *attempts
    }

    /// Holds a reply back until the test releases it or nobody waits for it any more.
    pub(super) fn hang(&self, client_has_left: impl Fn() -> bool) -> HangEnd {
        let mut state = self.lock();
        let releases = state.releases;
        state.hanging += 1;
        self.changed.notify_all();
        let end = loop {
            if state.releases > releases {
                break HangEnd::Released;
            } else if state.stopped || client_has_left() {
                break HangEnd::NobodyWaits;
            }
            let waited =
                self.changed.wait_timeout(state, BETWEEN_LOOKS).expect("no thread dies with the lock");
            state = waited.0;
        };
        state.hanging -= 1;
        self.changed.notify_all();
        end
    }

    pub(super) fn release(&self) {
        self.lock().releases += 1;
        self.changed.notify_all();
    }

    #[track_caller]
    pub(super) fn wait_for_hanging(&self, count: usize) {
        self.wait("replies that hang", |state| state.hanging == count);
    }

    #[track_caller]
    pub(super) fn wait_for_turns(&self, count: usize) {
        let is_turn = |request: &&ModelRequest| matches!(request.kind, RequestKind::Turn { .. });
        self.wait("turns", |state| state.requests.iter().filter(is_turn).count() >= count);
    }

    #[track_caller]
    fn wait(&self, what: &str, ready: impl Fn(&State) -> bool) {
        let waited = self.changed.wait_timeout_while(self.lock(), PATIENCE, |state| !ready(state));
        let (state, timeout) = waited.expect("no thread dies with the lock");
        let seen: Vec<_> = state.requests.iter().map(|request| (&request.kind, request.end)).collect();
        assert!(
            !timeout.timed_out(),
            "waited in vain for {what}; {} hang; asked so far: {seen:?}",
            state.hanging
        );
    }

    /// Whether the server still takes clients; if so the connection is ended when the server stops.
    pub(super) fn admit(&self, stream: TcpStream) -> bool {
        let mut state = self.lock();
        if !state.stopped {
            state.connections.push(stream);
        }
        !state.stopped
    }

    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        self.changed.notify_all();
        for connection in state.connections.drain(..) {
            // Most are closed already.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread dies with the lock")
    }
}
