//! Whole-program tests: the real binary in a hermetic world. One test binary, so that it is linked once.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod acceptance;
mod acp_agents;
mod agents_and_money;
mod cheats;
mod clean;
mod compat_words;
mod control_actuator;
mod control_loop;
mod control_setup;
mod control_views;
mod crash_points;
mod demo;
mod disturbed;
mod gate;
mod goal_loop;
mod goal_setup;
mod help;
mod hidden_commands;
mod holding;
mod inbox;
mod invariants;
mod journal_file;
mod keeping;
mod landing;
mod legacy;
mod looking;
mod machine_faults;
mod malformed;
mod newcomer;
mod notifications;
mod overlays;
mod played_run;
mod power_cuts;
mod random_kills;
mod reviewed_control;
mod reviewed_keeping;
mod reviewed_steps;
mod roadmap_loop;
mod roadmap_setup;
mod scene;
mod seeded;
mod settings_and_trust;
mod signals;
mod state_table;
mod stop_and_resume;
mod stories;
mod story_fuzz;
mod two_orchestrators;
mod under_attack;
mod usage;
mod verify;
mod weaknesses;

use windlass_test_support::World;

fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_windlass"))
}
