//! What a round did to what measures it, read off the two contents. Nothing is run here; what is found belongs to that content.

use super::super::capture::look_at_gate;
use super::super::gate::tools;
use super::site::{Site, Step};
use crate::context::RunContext;
use windlass_protocols::TreeId;
use windlass_protocols::protocol::roadmap_rounds::steps::{GateLooked, LookAtGate, PlaneOutcome};

pub(super) fn look(context: &RunContext, site: &Site<'_>, asked: &LookAtGate) -> Step<PlaneOutcome> {
    let (fork, head) = (site.commit(&asked.fork)?, site.commit(&asked.head)?);
    let looked = look_at_gate(context, (&fork.tree, &head.tree))?;
    let mut findings = looked.findings;
    // A program of the checks may be another one by now, whoever replaced it.
    findings.extend(tools::replaced(context));
    Ok(PlaneOutcome::GateLooked(Box::new(GateLooked {
        round: asked.round.clone(),
        fork: asked.fork.clone(),
        head: asked.head.clone(),
        base: TreeId::new(fork.tree.as_str()),
        tree: TreeId::new(head.tree.as_str()),
        touched: looked.touched,
        findings,
    })))
}
