//! Money and tokens as people read them.

use alloc::format;
use alloc::string::{String, ToString};

/// Two decimals, half up: 100,000 thousandths of a cent are `$1.00`.
pub fn dollars(millicents: i64) -> String {
    let cents = millicents.unsigned_abs().saturating_add(500) / 1000;
    let sign = if millicents < 0 && cents > 0 { "-" } else { "" };
    format!("{sign}${}.{:02}", cents / 100, cents % 100)
}

/// `950`, `1.5K`, `2.5M`.
pub fn token_count(tokens: i64) -> String {
    let sign = if tokens < 0 { "-" } else { "" };
    let size = tokens.unsigned_abs();
    // A number that would round up to the next unit is told in that unit: 999,960 is 1.0M, not 1000.0K.
    match size {
        0..1000 => tokens.to_string(),
        1000..999_950 => format!("{sign}{}K", tenths(size, 1000)),
        _ => format!("{sign}{}M", tenths(size, 1_000_000)),
    }
}

fn tenths(size: u64, unit: u64) -> String {
    let tenths = (u128::from(size) * 10 + u128::from(unit) / 2) / u128::from(unit);
    format!("{}.{}", tenths / 10, tenths % 10)
}
