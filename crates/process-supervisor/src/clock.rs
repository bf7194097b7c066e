//! The two clocks children are measured by. Limits use the monotonic one only: a jump of the wall clock must not end
//! an agent. The wall clock is for the record.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const A_CENTURY: Duration = Duration::from_hours(24 * 36_525);

#[expect(
    clippy::disallowed_methods,
    reason = "limits of real processes run on the machine's monotonic clock"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The instant so much later. A time too far away for the clock becomes one that nobody will live to see.
pub(crate) fn after(duration: Duration) -> Instant {
    let now = now();
    now.checked_add(duration).unwrap_or_else(|| now + A_CENTURY)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the record says when a child was started; nothing is decided by it"
)]
pub(crate) fn wall_ms() -> u64 {
    // A clock before 1970 is recorded as 1970: the field is for people, and failing over it would lose the child.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, whole_ms)
}

/// Milliseconds of a duration, saturating, so that no cast can wrap.
pub(crate) fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
