//! How much one client may take: connections, time, and memory for long bodies. Nobody alone can keep the others out.

use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Whoever comes when so many are connected waits.
    pub connections: usize,
    /// Of these, how many may come from one address.
    pub from_one_address: usize,
    /// The head of a request must have arrived by then; an idle connection is closed after it.
    pub head_patience: Duration,
    /// A body must have arrived by then, a long one within four times that.
    pub body_patience: Duration,
    /// How many bodies beyond the usual length are taken in at once; the next wait for their turn.
    pub long_bodies: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            from_one_address: 256,
            head_patience: Duration::from_secs(10),
            body_patience: Duration::from_secs(30),
            long_bodies: 4,
        }
    }
}
