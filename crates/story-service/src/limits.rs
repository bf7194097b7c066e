//! How many requests a key and its tenant may make in a minute. Counted in memory: a restart forgives.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use windlass_protocols::protocol::story_queue::vocabulary::{KeyId, Micros, TenantId, Uuid};

/// A tenant may make so many times what one of its keys may.
const TENANT_TIMES: u64 = 3;
const MINUTE: u64 = 60_000_000;

#[derive(Debug, Default)]
pub(crate) struct Limits(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    minute: u64,
    counts: HashMap<Uuid, u64>,
}

/// What the headers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    pub limit: u64,
    pub remaining: u64,
    /// Seconds since 1970 at which a new window begins.
    pub reset: u64,
    pub retry_after: u64,
    pub exceeded: bool,
}

impl Limits {
    pub(crate) fn count(&self, tenant: TenantId, key: KeyId, per_minute: u64, at: Micros) -> Allowance {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let minute = at.0 / MINUTE;
        if window.minute != minute {
            *window = Window { minute, counts: HashMap::new() };
        }
        let mut take = |of: Uuid, limit: u64| {
            let count = window.counts.entry(of).or_default();
            *count += 1;
            limit.checked_sub(*count)
        };
        let of_key = take(key.0, per_minute);
        let of_tenant = take(tenant.0, per_minute.saturating_mul(TENANT_TIMES));
        let reset = (minute + 1) * 60;
        Allowance {
            limit: per_minute,
            remaining: of_key.unwrap_or(0).min(of_tenant.unwrap_or(0)),
            reset,
            retry_after: reset.saturating_sub(at.0 / 1_000_000).max(1),
            exceeded: of_key.is_none() || of_tenant.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(byte: u8) -> Uuid {
        Uuid([byte; 16])
    }

    #[test]
    fn a_key_has_its_limit_and_a_tenant_three_times_that() {
        let limits = Limits::default();
        let ask = |key: u8, at: u64| limits.count(TenantId(id(1)), KeyId(id(key)), 2, Micros(at)).exceeded;

        assert_eq!([ask(2, 0), ask(2, 1), ask(2, 2)], [false, false, true]);
        assert_eq!([ask(3, 3), ask(3, 4), ask(4, 5), ask(4, 6)], [false, false, false, true]);
        assert!(!ask(2, MINUTE), "a new minute is a new window");
    }
}
