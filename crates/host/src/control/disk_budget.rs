//! The budget of worktrees when a run starts: looked at now and then, told in one line what went. A budget that cannot be
//! held to never keeps a run from starting.

use super::clean::{Held, hold_to};
use super::disk_use::MEGABYTE;
use crate::clock::SystemClock;
use crate::durable_file::{Flush, replace};
use crate::host::Host;
use crate::settings::Settings;
use serde::{Deserialize, Serialize};
use windlass_control_api::commands::CleanMode;
use windlass_control_api::events::{Event, Watcher};
use windlass_engine::Clock;

/// A look at large worktrees takes its time; at most this part of all time is spent on looking.
const ONE_PART_IN: u64 = 100;
/// A look that is over sooner may be had with every run.
const WORTH_NOTING: u64 = 50;

/// When was looked last, and how long that took.
#[derive(Serialize, Deserialize)]
struct LastLook {
    at_ms: u64,
    took_ms: u64,
}

/// The budget in bytes; `None` where there is none.
pub(crate) fn budget(settings: &Settings) -> Option<u64> {
    let megabytes = settings.number("worktree-budget").filter(|megabytes| *megabytes > 0)?;
    Some(megabytes.saturating_mul(MEGABYTE))
}

/// Before a run takes more. Not while it holds its repository: what goes may be of an earlier run there.
pub(crate) async fn hold_before_a_run(host: &Host, settings: &Settings, watcher: &dyn Watcher) {
    let Some(budget) = budget(settings) else { return };
    let (file, began) = (host.state.budget_look(), SystemClock.now().0);
    let last = std::fs::read(&file).ok().and_then(|text| serde_json::from_slice::<LastLook>(&text).ok());
    if last.is_some_and(|last| !is_due(&last, began)) {
        return;
    }
    let held = hold_to(host, budget, CleanMode::Remove).await;
    let look = LastLook { at_ms: began, took_ms: SystemClock.now().0.saturating_sub(began) };
    if look.took_ms >= WORTH_NOTING {
        // Without it the next run looks again, that is all.
        let _ = serde_json::to_vec(&look).map(|text| replace(&file, &text, Flush::ToSystem));
    }
    let told = match held {
        Ok(held) => told(&held, budget),
        Err(fault) => Some(format!("worktrees could not be held to their budget: {}", fault.message)),
    };
    if let Some(text) = told {
        watcher.hear(&Event::Notice { text });
    }
}

/// Also when the clock was set back: then nobody knows how long ago it was.
fn is_due(last: &LastLook, now: u64) -> bool {
    now < last.at_ms || now - last.at_ms >= last.took_ms.saturating_mul(ONE_PART_IN)
}

/// In one line what went, and what helps where that was not enough.
fn told(held: &Held, budget: u64) -> Option<String> {
    let mut sentences = Vec::new();
    if !held.items.is_empty() {
        let (count, size) = (held.items.len(), held.bytes / MEGABYTE);
        let mut runs: Vec<&str> = held.items.iter().map(|item| item.run.as_str()).collect();
        runs.dedup();
        // What many runs share is no single one's.
        let runs = runs.into_iter().map(|run| if run.is_empty() { "all" } else { run });
        let runs = runs.collect::<Vec<_>>().join(", ");
        sentences.push(format!(
            "{count} worktrees that can be made again went to keep to the budget ({size} MB, of {runs}); \
             `windlass undo RUN` gives them back"
        ));
    }
    if let Some(repository) = &held.largest {
        sentences.push(format!(
            "worktrees take {} MB of a budget of {} MB, and nothing more of them can be made again: \
             `windlass clean --repo {repository}` takes those of ended runs, after they are kept",
            held.used / MEGABYTE,
            budget / MEGABYTE
        ));
    }
    (!sentences.is_empty()).then(|| sentences.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_that_took_long_is_not_soon_repeated() {
        let last = LastLook { at_ms: 1_000, took_ms: 20 };
        assert!(!is_due(&last, 1_000) && !is_due(&last, 2_999));
        assert!(is_due(&last, 3_000));
        assert!(is_due(&last, 999), "the clock was set back");
    }

    #[test]
    fn what_went_and_what_helps_are_one_line() {
        let held = Held { used: 30 * MEGABYTE, largest: Some("/r".to_owned()), ..Held::default() };
        let text = told(&held, 20 * MEGABYTE).unwrap();
        assert!(text.contains("30 MB of a budget of 20 MB") && text.contains("windlass clean --repo /r"));
        assert!(!text.contains('\n'));
        assert_eq!(told(&Held::default(), 1), None);
    }
}
