//! A hermetic world for whole-program tests: own home, own state directory, clean environment, real git, the real
//! binary. It knows the program only from outside, as a user does.

mod agent_launchers;
mod agent_programs;
mod background;
mod leftovers;
mod of_the_kernel;
mod output;
mod power_disk;
mod private_mounts;
mod repository;
mod rest_fuzzer;
mod script;
pub mod scripted_model;
mod story_server;
mod tree_hash;
mod untouched;
mod waiting;
mod webhook_receiver;
mod world;

pub use agent_programs::{AgentProgram, McpLibrary, missing_agent_programs};
pub use background::Background;
pub use of_the_kernel::{control_groups_can_be_tried, overlays_can_be_tried};
pub use output::Output;
pub use power_disk::{PowerDisk, Tails};
pub use private_mounts::{ReadOnly, SmallDisk, in_private_mounts, with_own_disks};
pub use repository::Repository;
pub use rest_fuzzer::RestFuzzer;
pub use rustix::process::Signal;
pub use script::{Script, When};
pub use story_server::{StoryClient, StoryServer};
pub use tree_hash::tree_hash;
pub use untouched::Untouched;
pub use waiting::{let_pass, wait_until};
pub use webhook_receiver::{Said, Told, WebhookReceiver};
pub use world::World;
