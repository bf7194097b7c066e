//! The one place where the program meets its surroundings: the environment, its own path, and the host behind
//! `Control`. Commands get what they need from here and look nowhere else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use windlass_control_api::compat::Compat;
use windlass_control_api::{Code, Control, Fault};

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

/// The host in this process.
pub(crate) fn control(environment: &Environment) -> Result<Box<dyn Wired>, Fault> {
    // Names and values that are no text cannot be settings and are never passed on to a child.
    let text = environment
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())))
        .collect();
    Ok(Box::new(windlass_host::Host::open(windlass_host::Environment(text), program()?)?))
}
