//! One file per command: what can be typed (`…Args`, whose comments are the help text) and what it does with a
//! `Control`. A command knows `control-api` and its output, nothing of how either is made.

pub(crate) mod agents;
pub(crate) mod answer;
pub(crate) mod approve;
pub(crate) mod checkout;
pub(crate) mod clean;
pub(crate) mod compat;
pub(crate) mod completions;
pub(crate) mod control;
pub(crate) mod cost;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod explain_error;
pub(crate) mod export;
mod fence_flags;
mod gate_flags;
pub(crate) mod goal;
pub(crate) mod inbox;
pub(crate) mod land;
pub(crate) mod log;
pub(crate) mod ls;
pub(crate) mod mcp;
pub(crate) mod notify;
pub(crate) mod orchestrate;
mod outcome;
pub(crate) mod resume;
pub(crate) mod roadmap;
pub(crate) mod run;
pub(crate) mod scratch_repository;
pub(crate) mod serve;
pub(crate) mod settings;
mod shell_words;
pub(crate) mod show;
pub(crate) mod skip;
pub(crate) mod stop;
pub(crate) mod story;
pub(crate) mod take_over;
mod task_text;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod verify;
pub(crate) mod waive;
mod work_flags;

use std::path::{Path, PathBuf};
use windlass_control_api::{Code, Fault};

/// A path as the user gave it, made absolute.
fn absolute(path: &Path) -> Result<PathBuf, Fault> {
    std::path::absolute(path).map_err(|error| {
        Fault::new(Code::BadArgument, format!("`{}` cannot be used as a path: {error}", path.display()))
    })
}

/// The repository that was named, or the one the current directory is in, if it is in one.
fn repository_here(named: Option<&Path>) -> Result<Option<PathBuf>, Fault> {
    if let Some(named) = named {
        let named = absolute(named)?;
        if !named.is_dir() {
            let message = format!("there is no directory {}", named.display());
            return Err(Fault::new(Code::NotARepository, message).hint("name a checkout with `--repo`"));
        }
        return Ok(Some(named));
    }
    let here = absolute(Path::new("."))?;
    let inside = here.ancestors().any(|directory| directory.join(".git").exists());
    Ok(inside.then_some(here))
}
