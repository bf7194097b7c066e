//! What keeps a control plane from being run, written into its own state where that can be read: the precise words, under
//! the key that is there for them. A run that can begin takes them away again.

use super::{Trouble, TroubleKind, read_state};
use crate::durable_file::{Flush, replace};
use std::path::Path;
use windlass_artifact_formats::roadmap_loop::plane::STATE_FILE;
use windlass_control_api::Fault;

/// Whether it stands there now. Of what is only another branch, an edit or an older contract nothing is noted: that is no
/// error of the plane.
pub(crate) fn note_trouble(top: &Path, trouble: &Trouble) -> Result<bool, Fault> {
    if !matches!(trouble.kind, TroubleKind::Invalid | TroubleKind::Unreadable) {
        return Ok(false);
    }
    let Ok((state, _)) = read_state(top) else { return Ok(false) };
    let words = trouble.sentences.join("; ");
    if state.controller_error() == Some(words.as_str()) {
        return Ok(true);
    }
    let Ok(noted) = state.set_controller_error(Some(&words)) else { return Ok(false) };
    replace(&top.join(STATE_FILE), noted.text().as_bytes(), Flush::ToDisk)?;
    Ok(true)
}
