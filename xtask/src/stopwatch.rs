//! The one place where xtask reads the clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Runs from the moment it is made.
pub struct Stopwatch {
    started: Instant,
}

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "xtask measures real time and decides nothing from it")]
    pub fn start() -> Self {
        Self { started: Instant::now() }
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// The machine's wall clock, for moments that two processes compare.
#[expect(clippy::disallowed_methods, reason = "xtask measures real time and decides nothing from it")]
pub fn wall_clock() -> Duration {
    // A clock before 1970 gives differences of nothing, which no row takes for a measurement.
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Time as a person reads it, with three figures or so.
pub fn readable(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 120.0 {
        format!("{} min {:02} s", time.as_secs() / 60, time.as_secs() % 60)
    } else if seconds >= 1.0 {
        format!("{seconds:.1} s")
    } else if seconds >= 0.001 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{:.1} µs", seconds * 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_the_unit_that_fits() {
        let micros = |n| readable(Duration::from_micros(n));
        assert_eq!(micros(12), "12.0 µs");
        assert_eq!(micros(1_500), "1.5 ms");
        assert_eq!(micros(2_340_000), "2.3 s");
        assert_eq!(micros(125_000_000), "2 min 05 s");
    }
}
