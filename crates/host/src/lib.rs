//! The imperative shell: real adapters wired to the engine. Reading order: `host` (what a face talks to), `drive` (one
//! run in the foreground), `effect_runner/` (how each effect is carried out), `projection` (the run directory's files).

mod archive;
mod clock;
mod context;
mod control;
mod control_plane;
mod drive;
mod durable_file;
mod effect_runner;
mod engine_word;
mod evidence;
mod fault;
mod fence;
mod foreign;
mod goal_queue;
mod headline;
mod holder;
mod host;
mod narrate;
mod notify;
mod outbox;
mod own_files;
mod past;
mod prices;
mod projection;
mod repository_lock;
pub mod settings;
mod shell_words;
mod shutdown;
mod spending;
mod state_dir;
mod submodules;
mod workspaces;

pub use control::diagnose::without_state as diagnose_without_state;
pub use host::{Access, Host};
pub use settings::Environment;
pub use windlass_agent_drivers::is_passed_through as is_given_to_every_child;
