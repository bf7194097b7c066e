//! Whether tests of runs in layers can run: a machine without overlays is told of by xtask at its end, and nothing passes by not
//! having been tried.

use crate::agent_programs::can_run_here;

/// As it stands in the list of what is skipped.
const NAME: &str = "overlays";

/// False only where xtask, which tried a mount of its own, has said that they are skipped; else `why_missing` fails the test.
#[track_caller]
pub fn overlays_can_be_tried(why_missing: Option<String>) -> bool {
    can_run_here(NAME, why_missing)
}
