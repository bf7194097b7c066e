//! Reads error messages that were written for people: whose fault it was and how long to wait.
//! Programs wrap the words of the services they call, so the same words come out of all of them.

use crate::signal::{ErrorKind, RateLimitWait};

pub(crate) const fn kind_of_status(status: u16) -> ErrorKind {
    match status {
        401 | 403 => ErrorKind::Authentication,
        402 => ErrorKind::Quota,
        // No such model, or no such address: both were chosen by the user.
        404 => ErrorKind::Setup,
        408 => ErrorKind::Network,
        429 => ErrorKind::RateLimit,
        400..=499 => ErrorKind::BadRequest,
        500..=599 => ErrorKind::Server,
        _ => ErrorKind::Other,
    }
}

/// In this order, because a message about a quota often speaks of limits too.
const TELLING_WORDS: [(ErrorKind, &[&str]); 9] = [
    (
        ErrorKind::Quota,
        &[
            "credit balance",
            "insufficient_quota",
            "insufficient credit",
            "billing",
            "usage limit",
            "session limit",
            "weekly limit",
            "premium request",
            "payment required",
            "quota exceeded",
        ],
    ),
    (ErrorKind::RateLimit, &["rate limit", "rate_limit", "too many requests", "resource_exhausted"]),
    (
        ErrorKind::Authentication,
        &[
            "unauthorized",
            "invalid api key",
            "invalid x-api-key",
            "incorrect api key",
            "api key not valid",
            "authentication",
            "not logged in",
            "please run /login",
            "permission_denied",
            "invalid auth method",
            "set an auth method",
            "no authentication information",
        ],
    ),
    (
        ErrorKind::TokenLimit,
        &["max_output_tokens", "output token maximum", "output token limit", "finish reason: length"],
    ),
    (
        ErrorKind::Setup,
        &[
            "unknown option",
            "unexpected argument",
            "unknown argument",
            "invalid value",
            "error loading config",
            "model_not_found",
            "model not found",
            "unknown model",
            "no conversation found",
            "no session",
            "session not found",
            "no rollout found",
            "not inside a trusted directory",
            "not running in a trusted directory",
        ],
    ),
    (
        ErrorKind::Refused,
        &["content policy", "content_filter", "usage policy", "unable to respond to this request"],
    ),
    (
        ErrorKind::Server,
        &[
            "overloaded",
            "internal server error",
            "bad gateway",
            "service unavailable",
            "high demand",
            "server error",
        ],
    ),
    (
        ErrorKind::Network,
        &[
            "econnreset",
            "econnrefused",
            "enotfound",
            "etimedout",
            "connection",
            "could not connect",
            "cannot connect",
            "unable to connect",
            "stream disconnected",
            "network error",
            "fetch failed",
            "socket",
            "terminated",
            "timed out",
            "timeout",
            "dns",
            "error decoding response body",
            "error sending request",
        ],
    ),
    (
        ErrorKind::BadRequest,
        &["invalid_request", "bad request", "prompt is too long", "context length", "context window"],
    ),
];

pub(crate) fn kind_of_text(message: &str) -> ErrorKind {
    let message = message.to_lowercase();
    TELLING_WORDS
        .iter()
        .find(|(_, words)| words.iter().any(|word| message.contains(word)))
        .map_or(ErrorKind::Other, |(kind, _)| *kind)
}

/// An HTTP status that the message names as such; any other number of three digits is left alone.
pub(crate) fn status_in(message: &str) -> Option<u16> {
    let message = message.to_lowercase();
    let words: Vec<&str> =
        message.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let before = ["status", "code", "error", "http", "rejected"];
    let after = [
        "unauthorized",
        "forbidden",
        "too",
        "internal",
        "bad",
        "service",
        "gateway",
        "payment",
        "overloaded",
    ];
    words.iter().enumerate().find_map(|(index, word)| {
        let status: u16 =
            word.parse().ok().filter(|status| word.len() == 3 && (400..600).contains(status))?;
        let is_told = index.checked_sub(1).is_some_and(|previous| before.contains(&words[previous]))
            || words.get(index + 1).is_some_and(|next| after.contains(next));
        is_told.then_some(status)
    })
}

const CUES: [&str; 9] = [
    "try again in",
    "retry in",
    "retry after",
    "retry-after",
    "retry_after",
    "retrydelay",
    "resets in",
    "reset in",
    "reset after",
];

/// How long to wait, as far as the message says it without speaking of a time of day: there is no clock here.
pub(crate) fn wait_in(message: &str) -> RateLimitWait {
    let message = message.to_lowercase();
    let told = CUES.iter().find_map(|cue| {
        let (_, rest) = message.split_once(cue)?;
        duration_ms(rest.trim_start_matches([' ', ':', '=', '"', '\'', '\\']))
    });
    match told {
        Some(ms) => RateLimitWait::ForMs(ms),
        None => reset_second(&message)
            .map_or(RateLimitWait::Untold, |second| RateLimitWait::UntilMs(second.saturating_mul(1000))),
    }
}

/// `limit reached|1735689600`: seconds since the epoch behind a bar.
fn reset_second(message: &str) -> Option<u64> {
    let (_, rest) = message.split_once('|')?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    if digits.len() == 10 { digits.parse().ok() } else { None }
}

/// `20s`, `1.5 seconds`, `2 hours 5 minutes`, `1h2m`, `30`: a number alone means seconds.
fn duration_ms(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total: Option<u64> = None;
    while let Some((thousandths, after)) = leading_number(rest) {
        let after = after.trim_start();
        let unit_length = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, remainder) = after.split_at(unit_length);
        let Some(ms) = unit_ms(unit) else {
            // A bare number counts only when nothing was read before: "2 hours 5 left" has no second part.
            return total.or(Some(thousandths));
        };
        total = Some(total.unwrap_or(0).saturating_add(thousandths.saturating_mul(ms) / 1000));
        rest = remainder.trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    total
}

/// A number in thousandths, so that `1.5` needs no floating point.
fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (whole, fraction) = text[..end].split_once('.').unwrap_or((&text[..end], ""));
    let whole: u64 = whole.parse().ok()?;
    let fraction: String =
        fraction.chars().take_while(char::is_ascii_digit).chain("000".chars()).take(3).collect();
    Some((whole.saturating_mul(1000).saturating_add(fraction.parse().ok()?), &text[end..]))
}

fn unit_ms(unit: &str) -> Option<u64> {
    Some(match unit {
        "ms" | "millisecond" | "milliseconds" => 1,
        "s" | "sec" | "secs" | "second" | "seconds" => 1000,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000,
        "d" | "day" | "days" => 86_400_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn waits_are_read_in_every_way_they_are_written() {
        let table = [
            ("Rate limit reached. Please try again in 20s.", RateLimitWait::ForMs(20_000)),
            ("Please try again in 1.898s. Visit", RateLimitWait::ForMs(1_898)),
            ("try again in 6 minutes", RateLimitWait::ForMs(360_000)),
            ("Try again in 3 days 2 hours 5 minutes.", RateLimitWait::ForMs(266_700_000)),
            ("try again in 2 hours, and 5 minutes", RateLimitWait::ForMs(7_500_000)),
            ("try again in 1h2m3s", RateLimitWait::ForMs(3_723_000)),
            ("Please retry in 34.074824224s.", RateLimitWait::ForMs(34_074)),
            (r#""retryDelay": "34s""#, RateLimitWait::ForMs(34_000)),
            (r#"{\"retryDelay\":\"250ms\"}"#, RateLimitWait::ForMs(250)),
            ("Retry-After: 120", RateLimitWait::ForMs(120_000)),
            ("retry after 30 seconds", RateLimitWait::ForMs(30_000)),
            ("quota will reset after 15h30m", RateLimitWait::ForMs(55_800_000)),
            ("Claude AI usage limit reached|1735689600", RateLimitWait::UntilMs(1_735_689_600_000)),
            ("try again in a while", RateLimitWait::Untold),
            ("Try again at 3:45 PM", RateLimitWait::Untold),
            ("table a|12 rows", RateLimitWait::Untold),
            ("", RateLimitWait::Untold),
        ];
        for (message, expected) in table {
            assert_eq!(wait_in(message), expected, "{message:?}");
        }
    }

    #[test]
    fn a_status_counts_only_where_the_message_calls_it_one() {
        let table = [
            ("exceeded retry limit, last status: 429 Too Many Requests", Some(429)),
            ("unexpected status 401 Unauthorized: bad key", Some(401)),
            ("API Error: Request rejected (429) · scripted rate limit", Some(429)),
            ("HTTP 503", Some(503)),
            ("529 Overloaded", Some(529)),
            ("read 500 lines", None),
            ("error 42", None),
            ("status 200", None),
        ];
        for (message, expected) in table {
            assert_eq!(status_in(message), expected, "{message:?}");
        }
    }

    #[test]
    fn each_status_has_its_owner() {
        let table = [
            (400, ErrorKind::BadRequest),
            (401, ErrorKind::Authentication),
            (402, ErrorKind::Quota),
            (403, ErrorKind::Authentication),
            (404, ErrorKind::Setup),
            (413, ErrorKind::BadRequest),
            (429, ErrorKind::RateLimit),
            (500, ErrorKind::Server),
            (529, ErrorKind::Server),
            (200, ErrorKind::Other),
        ];
        for (status, kind) in table {
            assert_eq!(kind_of_status(status), kind, "{status}");
        }
    }

    #[test]
    fn each_message_has_its_owner() {
        let table = [
            ("Your credit balance is too low to access the API", ErrorKind::Quota),
            ("You've hit your usage limit. Try again at 3:45 PM", ErrorKind::Quota),
            ("Rate limit reached for gpt-5", ErrorKind::RateLimit),
            ("Invalid API key · Please run /login", ErrorKind::Authentication),
            ("Incomplete response returned, reason: max_output_tokens", ErrorKind::TokenLimit),
            ("No conversation found with session ID: x", ErrorKind::Setup),
            ("stream disconnected before completion: Transport error", ErrorKind::Network),
            ("[API Error: terminated]", ErrorKind::Network),
            ("We're currently experiencing high demand", ErrorKind::Server),
            ("prompt is too long: 250000 tokens > 200000 maximum", ErrorKind::BadRequest),
            ("no idea", ErrorKind::Other),
        ];
        for (message, kind) in table {
            assert_eq!(kind_of_text(message), kind, "{message:?}");
        }
    }

    proptest! {
        #[test]
        fn no_message_makes_it_panic(cue in prop::sample::select(&CUES[..]), rest in any::<String>()) {
            let message = format!("{cue}{rest}");
            let _ = (wait_in(&message), status_in(&message), kind_of_text(&message));
        }
    }
}
