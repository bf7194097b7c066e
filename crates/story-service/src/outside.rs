//! What comes from outside a decision: the time and randomness. The only place of this crate that asks the machine.

use std::time::{SystemTime, UNIX_EPOCH};
use windlass_protocols::protocol::story_queue::vocabulary::{Ids, Micros, Uuid};

pub trait Outside: Send + Sync {
    fn now(&self) -> Micros;
    fn random(&self, bytes: &mut [u8]);
}

impl dyn Outside + '_ {
    pub fn ids(&self) -> Ids {
        let mut seed = [0; 16];
        self.random(&mut seed);
        Ids::new(self.now(), Uuid(seed))
    }
}

/// This machine's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

impl Outside for Machine {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> Micros {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }

    fn random(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("a machine without randomness cannot make keys");
    }
}
