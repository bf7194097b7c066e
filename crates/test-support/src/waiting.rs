//! Waiting for a condition instead of for time, but for campaigns whose moments are drawn.

use std::sync::mpsc;
use std::time::Duration;

const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
const LOOKS: u32 = 12_000;

/// Looks until there is something, and fails the test after a minute or more.
#[track_caller]
pub fn wait_until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    // Nothing is ever sent: receiving is how this thread rests between two looks.
    let (_sender, rest) = mpsc::channel::<()>();
    for _ in 0..LOOKS {
        if let Some(found) = look() {
            return found;
        }
        let _ = rest.recv_timeout(BETWEEN_LOOKS);
    }
    panic!("waited in vain for {what}");
}

/// Lets time pass, for a kill at a moment that was drawn: there the time itself is what is tried.
pub fn let_pass(time: Duration) {
    let (_sender, rest) = mpsc::channel::<()>();
    let _ = rest.recv_timeout(time);
}
