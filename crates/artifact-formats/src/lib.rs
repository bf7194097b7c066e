//! The files of the loops: parse, validate and render them, and write the prompts that ask for them.
//! Pure: callers hand in bytes and get text back. It knows no files, processes, clock or environment.

#[cfg(test)]
mod agreement_tests;
mod answer_schema;
mod artifact;
pub mod control_loop;
pub mod data_block;
mod decimal;
mod document;
mod extra_keys;
mod fault;
mod faults;
mod fields;
pub mod gate;
pub mod goal_loop;
mod json_edit;
mod markdown;
mod metric;
mod one_line;
mod output_text;
mod recognised;
mod render;
mod repo_path;
pub mod roadmap_loop;
mod schema;
mod schema_rules;
pub mod story_queue;
pub mod task_loop;
mod template;
mod text_lines;

pub use artifact::{Reading, Strictness};
pub use document::{Document, Limits, parse_untrusted};
pub use extra_keys::ExtraKeys;
pub use fault::{ArtifactFault, ArtifactFaults, FaultKind};
