//! The original's known weaknesses, each by its number, as things that no longer happen.

mod agents;
mod housekeeping;
mod integrity;
mod wrong_results;

use windlass_test_support::{Script, When};

/// A doer that delivers something new in each round.
fn working_doer() -> Script {
    Script::new()
        .doer(When::Always, &["{ write = 'done-{round}.txt', text = 'done' }", "{ handoff = 'adds a file' }"])
}

fn accepting(script: Script) -> Script {
    script.judge(When::Always, &["{ verdict = 'pass' }"]).auditor(When::Always, &["{ audit = 'pass' }"])
}
