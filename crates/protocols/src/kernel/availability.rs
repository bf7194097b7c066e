//! Which of a role's agents can be asked now, and when the next one can. A provider's limit is a moment to wait for, not a
//! failure. Loops share this; it knows no loop.

use crate::vocabulary::Millis;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

/// Out until a person has looked.
pub const FOR_GOOD: Millis = Millis(u64::MAX);
/// A limit without a stated end is asked about again after this many first delays, then twice as many, and so on.
const LIMIT_DELAYS: u64 = 12;
/// An agent that is limited this often in a row, each time after waiting, will be limited for ever.
pub const MAX_LIMITED: u32 = 100;

/// How an agent is waited for that its provider does not serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patience {
    pub first_delay: Millis,
    pub longest_delay: Millis,
    /// How often a provider that is out of order is tried again before a person is asked.
    pub tries: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Self { first_delay: Millis(5_000), longest_delay: Millis::minutes(30), tries: 5 }
    }
}

impl Patience {
    pub(crate) fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// For a provider that is out of order, after this many tries that ended so.
    pub fn after_outage(&self, earlier: u32) -> Millis {
        self.doubled(self.first_delay.0, earlier)
    }

    /// For a limit whose end nobody told.
    pub fn after_untold_limit(&self, earlier: u32) -> Millis {
        self.doubled(self.first_delay.0.saturating_mul(LIMIT_DELAYS), earlier)
    }

    fn doubled(&self, first: u64, times: u32) -> Millis {
        let factor = 1_u64.checked_shl(times).unwrap_or(u64::MAX);
        Millis(first.saturating_mul(factor).min(self.longest_delay.0))
    }
}

/// Agents that cannot be asked before some moment, by the text that names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Availability {
    out_until: BTreeMap<String, Millis>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Available<'a> {
    Now(&'a str),
    From(Millis),
    /// Every one of them is out for good.
    Never,
}

impl Availability {
    /// The first of the chain that can be asked now, else the moment at which one can.
    pub fn choose<'a>(&self, chain: impl Iterator<Item = &'a str>, now: Millis) -> Available<'a> {
        let mut earliest = FOR_GOOD;
        for agent in chain {
            match self.out_until.get(agent) {
                Some(until) if *until > now => earliest = earliest.min(*until),
                Some(_) | None => return Available::Now(agent),
            }
        }
        if earliest == FOR_GOOD { Available::Never } else { Available::From(earliest) }
    }

    pub(crate) fn is_out(&mut self, agent: &str, until: Millis) {
        self.out_until.insert(agent.to_string(), until);
    }

    /// Whoever was waited for can be asked, also when the clock was set back meanwhile.
    pub(crate) fn waited_until(&mut self, moment: Millis) {
        self.out_until.retain(|_, until| *until > moment);
    }

    pub(crate) fn forget(&mut self) {
        self.out_until.clear();
    }
}
