//! Reads the control plane for the loop. What cannot be read is refused in words, and a state file that nobody can read is
//! kept beside the run as it was found.

use super::state::refused;
use crate::context::RunContext;
use crate::control_plane::{self, Trouble, TroubleKind, folder};
use crate::durable_file::ensure;
use std::path::PathBuf;
use windlass_agent_drivers::quote_words;
use windlass_artifact_formats::roadmap_loop::plane::STATE_FILE;
use windlass_artifact_formats::roadmap_loop::round::sha256_hex;
use windlass_control_api::Fault;
use windlass_protocols::protocol::roadmap_rounds::plane::Plane;
use windlass_protocols::protocol::roadmap_rounds::steps::PlaneOutcome;
use windlass_protocols::{Digest, Outcome};

/// Where a state file that cannot be read is kept, in the run directory.
const KEPT_STATE: &str = "state.json.as-found";
/// Where the last one that could be read is kept, beside it.
pub(crate) const LAST_GOOD_STATE: &str = "state.json.last-good";

pub(super) fn run(context: &RunContext) -> Result<Outcome, Fault> {
    match look(context)? {
        Ok(plane) => Ok(Outcome::Plane(PlaneOutcome::Read(plane))),
        Err(trouble) => {
            let kept = if trouble.kind == TroubleKind::Unreadable { keep_state(context)? } else { None };
            Ok(match kept {
                Some(place) => Outcome::Refused {
                    reason: format!(
                        "{}; a copy is kept at {}{}",
                        trouble.sentence(),
                        place.display(),
                        way_back(context)
                    ),
                },
                None => refused(&trouble),
            })
        }
    }
}

/// The plane as it stands, of which the state is kept.
pub(super) fn look(context: &RunContext) -> Result<Result<Box<Plane>, Trouble>, Fault> {
    Ok(match control_plane::look_again(&context.repository, &context.planes)? {
        Ok(looked) => {
            keep_good(context, &looked.plane.state)?;
            Ok(Box::new(looked.plane))
        }
        Err(trouble) => Err(trouble),
    })
}

/// The state with its live rounds is nowhere else: on the base branch it is always at rest.
fn keep_good(context: &RunContext, seen: &Digest) -> Result<(), Fault> {
    let top = context.repository.checkout().work_tree();
    match folder::read(top, STATE_FILE).text() {
        Some(text) if sha256_hex(text.as_bytes()) == seen.as_str() && context.run_dir().is_dir() => {
            ensure(&context.run_dir().join(LAST_GOOD_STATE), text.as_bytes())
        }
        // Somebody was faster; the next look keeps it.
        _ => Ok(()),
    }
}

fn way_back(context: &RunContext) -> String {
    let good = context.run_dir().join(LAST_GOOD_STATE);
    if !good.is_file() {
        return String::new();
    }
    let typed = quote_words([good.to_string_lossy().as_ref()]);
    let good = good.display();
    format!("; the last state that could be read is {good}: `cp {typed} {STATE_FILE}` goes back to it")
}

/// Where it is kept, if there is anything to keep.
fn keep_state(context: &RunContext) -> Result<Option<PathBuf>, Fault> {
    let path = context.repository.checkout().work_tree().join(STATE_FILE);
    let plain = path.symlink_metadata().is_ok_and(|found| found.is_file());
    match std::fs::read(&path) {
        Ok(bytes) if plain => {
            let place = context.run_dir().join(KEPT_STATE);
            ensure(&place, &bytes)?;
            Ok(Some(place))
        }
        _ => Ok(None),
    }
}
