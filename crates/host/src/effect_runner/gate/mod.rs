//! Gate integrity: what a change did to its own measures, seen in trees and in what the checks do without it. Every loop
//! uses the same look; what a finding leads to is decided by the loop.

pub(super) mod inspect;
pub(crate) mod tools;
pub(super) mod touched;
