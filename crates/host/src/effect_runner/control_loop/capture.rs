//! Takes down what an actuator left. Files of the loop itself are put back as they were; what is left is the plant.

use super::super::gate::touched::{Looked, Step, look_after_step};
use super::files;
use super::shown;
use crate::context::{RunContext, git_tree};
use crate::fault::git_fault;
use crate::foreign::{ForeignShelf, is_real_directory};
use std::path::Path;
use windlass_artifact_formats::control_loop::is_loop_owned;
use windlass_artifact_formats::control_loop::paths::AGENTS_DIRECTORY;
use windlass_artifact_formats::roadmap_loop::round::sha256_hex;
use windlass_control_api::Fault;
use windlass_git_workspaces::Overlay;
use windlass_protocols::outcome::CapturedChange;
use windlass_protocols::protocol::feedback_control::spec::{Actuator, ControlSpec};
use windlass_protocols::protocol::feedback_control::state::State;
use windlass_protocols::{Outcome, Role, Run, TreeId};

/// More of them say nothing new.
const MAX_LEFT_OUT: usize = 20;

pub(in super::super) fn run(context: &RunContext, round: u32, run: &Run) -> Result<Outcome, Fault> {
    let (spec, state) = (context.control_loop()?, files::state(run)?);
    let before = shown::tree_for(context, Role::Actuator, run)?;
    let place = context.worktree(Role::Actuator);
    if !is_real_directory(&place) {
        // Somebody took it away, and what was done in it is gone: nothing was changed, and the loop goes on from there.
        if place.symlink_metadata().is_ok() {
            ForeignShelf::of(context).take(&place, Path::new("worktrees/actuator"))?;
        }
        shown::show(context, state, (&place, &context.index_key(Role::Actuator)), &before)?;
    }
    let taken = match super::super::capture::take(context, Role::Actuator, &before)? {
        Ok(taken) => taken,
        Err(reason) => return Ok(Outcome::Refused { reason }),
    };
    let left_out =
        context.repository.passed_over(&place, &context.index_key(Role::Actuator)).map_err(git_fault)?;
    let named = agent_files(spec);
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    let paths: Vec<String> = taken.snapshot.changes.iter().map(|change| change.path.to_string()).collect();
    let (owned, changed): (Vec<String>, Vec<String>) =
        paths.into_iter().partition(|path| is_loop_owned(path, &named));
    let plant = plant_in(context, spec, (&taken.snapshot.tree, &before))?;
    let was = state.plant.as_ref().map(git_tree).transpose()?.unwrap_or_else(|| before.clone());
    let (patch, mut hazards) = super::super::capture::patch(context, &was, &plant)?;
    hazards.splice(0..0, taken.hazards);
    let text = context.evidence.read(&patch)?;
    let looked =
        if hazards.is_empty() { look_at_gate(context, state, &plant, &changed)? } else { Looked::default() };
    Ok(Outcome::ChangeCaptured(CapturedChange {
        round,
        tree: TreeId::new(plant.as_str()),
        files_changed: changed.len() as u64,
        fingerprint: (!changed.is_empty()).then(|| fingerprint(&text)),
        hazards,
        patch,
        reverted: owned,
        findings: Vec::new(),
        left_out: left_out.iter().take(MAX_LEFT_OUT).map(ToString::to_string).collect(),
        protected: looked.touched,
        gate: looked.findings,
    }))
}

/// What of this content is none of the loop's own files; agent files are as they were before.
pub(super) fn plant_in(
    context: &RunContext,
    spec: &ControlSpec,
    (whole, previous): (&windlass_git_workspaces::TreeId, &windlass_git_workspaces::TreeId),
) -> Result<windlass_git_workspaces::TreeId, Fault> {
    let (directory, of_nodes) = (shown::loop_directory(), agent_files(spec));
    let agents = format!("{AGENTS_DIRECTORY}/loop-");
    let mut replaced: Vec<(&str, Option<&windlass_git_workspaces::TreeId>)> =
        vec![(&directory, None), (&agents, Some(previous))];
    replaced.extend(of_nodes.iter().map(|path| (path.as_str(), Some(previous))));
    replaced.dedup();
    let parts = Overlay { content: whole, replaced: &replaced, removed: &[], files: &[] };
    context.repository.overlay(&parts).map_err(git_fault)
}

/// What all iterations together did to their own measures. One that leaves them alone is not looked at closely.
fn look_at_gate(
    context: &RunContext,
    state: &State,
    plant: &windlass_git_workspaces::TreeId,
    paths: &[String],
) -> Result<Looked, Fault> {
    let Some((_, base)) = state.base.as_ref().filter(|_| !context.spec.place().gate.is_off()) else {
        return Ok(Looked::default());
    };
    let step = Step { paths, touched_before: state.integrity.touches() };
    look_after_step(context, (&git_tree(base)?, plant), &step)
}

/// The same for the same change, wherever its lines stand: paths, the lines and those around them count, positions and ids of
/// contents do not.
fn fingerprint(patch: &[u8]) -> String {
    let counts = |line: &&[u8]| !line.starts_with(b"@@ ") && !line.starts_with(b"index ");
    let lines: Vec<&[u8]> = patch.split(|byte| *byte == b'\n').filter(counts).collect();
    sha256_hex(&lines.join(b"\n".as_slice()))
}

/// Every agent file that the flow names, wherever it lies.
pub(super) fn agent_files(spec: &ControlSpec) -> Vec<String> {
    spec.root
        .chain()
        .flat_map(|node| {
            let actuator = match &node.actuator {
                Actuator::Direct(file) => Some(file.path.clone()),
                Actuator::Cascade(_) => None,
            };
            let sensors = node.sensors.iter().map(|sensor| sensor.file.path.clone());
            sensors.chain([node.controller.path.clone()]).chain(actuator).collect::<Vec<_>>()
        })
        .collect()
}
