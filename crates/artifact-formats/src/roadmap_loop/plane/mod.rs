//! The control plane's own files: `state.json`, the active bundle with its roadmap, and what is read off their names.
//! It knows what the files say and how they are edited; which action follows from them is decided elsewhere.

mod bundle;
mod closeout;
mod documents;
mod generation;
mod migrate;
pub mod names;
mod old_roadmap;
mod problem;
mod roadmap;
mod state;

pub use crate::recognised::Recognised;
pub use bundle::BundleTexts;
pub use closeout::{
    Applied, Standing, apply_closeout, closeout_faults, closeout_matches, closeout_matches_in_words,
    closeout_standing,
};
pub use documents::{History, LimitOverrides, Verification, blank_contract_sections};
pub use generation::{Generation, PlaneFiles, PlaneKind};
pub use migrate::{Migration, migrate};
pub use problem::{Problem, Problems, Severity};
pub use roadmap::{
    Anchor, Direction, Milestone, Place, Roadmap, RoadmapText, RoadmapView, Words, states_not_carried_over,
};
pub use state::{
    ActiveBundle, ControllerStage, LEGACY_KEYS, ResumeError, Retry, RetryMechanism, RetryRecord, RetryScope,
    RoundRecord, RoundStage, STATE_FILE, StateFile, UpdateRecord, UpdateStatus, UpdateTrigger,
};
