//! The task loop: doer → engine's checks → judge → auditor, in rounds, over one task. `spec` is what was asked, `state`
//! what is known, `facts` what can become known, `decide` what an outcome means, `next` what to ask for then, `end` how it
//! can end, `reopen` and `person` the ways back in, `invariants` what must hold whatever happens.

pub mod decide;
pub mod end;
pub(crate) mod explain;
pub mod facts;
pub(crate) mod inbox;
pub mod invariants;
pub mod next;
pub(crate) mod person;
pub mod reopen;
pub mod spec;
pub mod stage;
pub mod state;
mod trouble;
