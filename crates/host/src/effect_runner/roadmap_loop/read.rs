//! Reads the control plane for the loop. What cannot be read is refused in words, and a state file that nobody can read is
//! kept beside the run as it was found.

use super::state::refused;
use crate::context::RunContext;
use crate::control_plane::{self, TroubleKind};
use crate::durable_file::ensure;
use std::path::PathBuf;
use windlass_artifact_formats::roadmap_loop::plane::STATE_FILE;
use windlass_control_api::Fault;
use windlass_protocols::Outcome;
use windlass_protocols::protocol::roadmap_rounds::steps::PlaneOutcome;

/// Where a state file that cannot be read is kept, in the run directory.
const KEPT_STATE: &str = "state.json.as-found";

pub(super) fn run(context: &RunContext) -> Result<Outcome, Fault> {
    match control_plane::look_again(&context.repository, &context.planes)? {
        Ok(looked) => Ok(Outcome::Plane(PlaneOutcome::Read(Box::new(looked.plane)))),
        Err(trouble) => {
            let kept = if trouble.kind == TroubleKind::Unreadable { keep_state(context)? } else { None };
            Ok(match kept {
                Some(place) => Outcome::Refused {
                    reason: format!("{}; a copy is kept at {}", trouble.sentence(), place.display()),
                },
                None => refused(&trouble),
            })
        }
    }
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
