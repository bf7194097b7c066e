//! Lets time pass until an agent can be asked. The moment stands in the journal, so whoever resumes the run waits for the
//! rest of it only.

use super::step::Told;
use crate::clock::SystemClock;
use std::time::Duration;
use windlass_engine::Clock;
use windlass_protocols::Outcome;
use windlass_protocols::effect::Wait;
use windlass_protocols::outcome::Usage;

/// The wall clock may be set, and a machine may sleep: it is looked at again after at most this long.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

pub(super) async fn run(asked: &Wait, mut told: Told) -> Outcome {
    told.mark_changed();
    loop {
        let left = asked.until.0.saturating_sub(SystemClock.now().0);
        if left == 0 {
            return Outcome::Waited;
        }
        tokio::select! {
            changed = told.changed() => {
                // Also when nobody is left who could tell us something: the process is going.
                if changed.is_err() || told.borrow_and_update().is_some() {
                    return Outcome::Interrupted { usage: Usage::default() };
                }
            }
            () = tokio::time::sleep(Duration::from_millis(left).min(LOOK_AGAIN)) => {}
        }
    }
}
