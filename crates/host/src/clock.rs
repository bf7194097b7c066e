//! The machine's clocks: the only place in the product that reads them outside the supervisor.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use windlass_engine::Clock;
use windlass_protocols::Millis;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> Millis {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = windlass_crash_points::wall_clock(since);
        Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

/// The same clock, for names and texts.
pub(crate) fn timestamp() -> jiff::Timestamp {
    let millis = i64::try_from(SystemClock.now().0).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX)
}

/// The same clock, as the user's wall has it.
pub(crate) fn zoned() -> jiff::Zoned {
    timestamp().to_zoned(jiff::tz::TimeZone::system())
}

/// Measures how long something takes, whatever happens to the wall clock meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// So long from now on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    since: Stopwatch,
    length: Duration,
}

impl Deadline {
    pub(crate) fn minutes(minutes: u64) -> Self {
        Self { since: Stopwatch::start(), length: Duration::from_secs(minutes.saturating_mul(60)) }
    }

    /// Nothing when it is over.
    pub(crate) fn left(&self) -> Duration {
        self.length.saturating_sub(self.since.elapsed())
    }
}
