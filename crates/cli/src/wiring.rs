//! The one place where the program meets its surroundings: the environment, its own path, and the host behind
//! `Control`. Commands get what they need from here and look nowhere else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use windlass_control_api::compat::Compat;
use windlass_control_api::views::Diagnosis;
use windlass_control_api::{Code, Control, Fault};
use windlass_host::Access;

/// The variables this program was started with, taken once.
pub(crate) type Environment = BTreeMap<OsString, OsString>;

pub(crate) trait Wired: Control + Compat {}

impl<T: Control + Compat> Wired for T {}

pub(crate) fn environment() -> Environment {
    std::env::vars_os().collect()
}

/// This program, to be started again as a keeper, a scripted agent or a second engine.
pub(crate) fn program() -> Result<PathBuf, Fault> {
    std::env::current_exe().map_err(|error| {
        Fault::new(Code::Supervisor, format!("cannot find out where this program is: {error}"))
    })
}

/// The host in this process, for a command that records something.
pub(crate) fn control(environment: &Environment) -> Result<Box<dyn Wired>, Fault> {
    open(environment, Access::Change)
}

/// The host in this process, for a command that only looks.
pub(crate) fn looking(environment: &Environment) -> Result<Box<dyn Wired>, Fault> {
    open(environment, Access::Look)
}

/// What can be said about a machine on which there is no host.
pub(crate) async fn diagnosis(
    environment: &Environment,
    reason: &Fault,
    repository: Option<&Path>,
) -> Diagnosis {
    windlass_host::diagnose_without_state(&text_of(environment), reason, repository).await
}

fn open(environment: &Environment, access: Access) -> Result<Box<dyn Wired>, Fault> {
    Ok(Box::new(windlass_host::Host::open(text_of(environment), program()?, access)?))
}

/// Names and values that are no text cannot be settings and are never passed on to a child.
fn text_of(environment: &Environment) -> windlass_host::Environment {
    let text = environment
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())));
    windlass_host::Environment(text.collect())
}
