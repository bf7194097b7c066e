//! The contributor's tools: set-up, tests, tidy rules, the proof of the pure core, the frame of the benchmark.
//! A library so that `benches/rows` can use the frame. It knows no type of the product; only rows do.

pub mod agent_programs;
pub mod bench;
pub mod bench_command;
pub mod chaos_command;
pub mod commands;
pub mod console;
mod control_groups;
pub mod drawn_cases;
pub mod no_std_proof;
mod overlays;
mod power_cuts;
pub mod rest_fuzzer;
pub mod set_up;
pub mod stages;
pub mod stopwatch;
pub mod test_command;
pub mod tidy;
