//! Whether tests of what only some kernels and users have can run: a machine without it is told of by xtask at its end, and
//! nothing passes by not having been tried.

use crate::agent_programs::can_run_here;

/// As they stand in the list of what is skipped.
const OVERLAYS: &str = "overlays";
const CONTROL_GROUPS: &str = "control-groups";

/// False only where xtask, which tried a mount of its own, has said that they are skipped; else `why_missing` fails the test.
#[track_caller]
pub fn overlays_can_be_tried(why_missing: Option<String>) -> bool {
    can_run_here(OVERLAYS, why_missing)
}

/// The same for control groups that limit what a child may have.
#[track_caller]
pub fn control_groups_can_be_tried(why_missing: Option<String>) -> bool {
    can_run_here(CONTROL_GROUPS, why_missing)
}
