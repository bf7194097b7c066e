//! Times as people say them. What "now" is comes in from the caller.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// `just now`, `3 min ago`, `2 days ago`.
pub(crate) fn ago(at_ms: u64, now: Timestamp) -> String {
    let Some(at) = timestamp(at_ms) else { return String::from("unknown") };
    let seconds = now.duration_since(at).as_secs();
    let (count, unit) = match seconds {
        i64::MIN..5 => return String::from("just now"),
        5..60 => (seconds, "s"),
        60..3_600 => (seconds / 60, "min"),
        3_600..86_400 => (seconds / 3_600, "h"),
        86_400..172_800 => return String::from("yesterday"),
        _ => (seconds / 86_400, "days"),
    };
    format!("{count} {unit} ago")
}

/// The time of day where the reader is.
pub(crate) fn clock_time(at_ms: u64) -> String {
    timestamp(at_ms).map_or_else(
        || String::from("--:--:--"),
        |at| at.to_zoned(TimeZone::system()).strftime("%H:%M:%S").to_string(),
    )
}

/// `4.2s`, `3m 07s`, `2h 05m`.
pub(crate) fn duration(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0..10 => format!("{seconds}.{}s", milliseconds % 1000 / 100),
        10..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3_600, seconds % 3_600 / 60),
    }
}

fn timestamp(at_ms: u64) -> Option<Timestamp> {
    let since_1970 = SignedDuration::from_millis(i64::try_from(at_ms).ok()?);
    Timestamp::UNIX_EPOCH.checked_add(since_1970).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_told_by_its_distance() {
        let now = timestamp(1_000_000_000_000).unwrap();
        let table = [
            (1_000_000_000_500, "just now"),
            (999_999_958_000, "42 s ago"),
            (999_999_800_000, "3 min ago"),
            (999_990_000_000, "2 h ago"),
            (999_900_000_000, "yesterday"),
            (999_000_000_000, "11 days ago"),
            (u64::MAX, "unknown"),
        ];
        for (at, expected) in table {
            assert_eq!(ago(at, now), expected);
        }
    }

    #[test]
    fn a_duration_has_two_units_at_the_most() {
        let table = [(4_250, "4.2s"), (59_999, "59s"), (187_000, "3m 07s"), (7_500_000, "2h 05m")];
        for (milliseconds, expected) in table {
            assert_eq!(duration(milliseconds), expected);
        }
    }
}
