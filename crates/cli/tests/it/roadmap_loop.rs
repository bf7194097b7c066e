//! Roadmap loops with the real program: rounds that are planned, made, reviewed and merged, and whatever agents, people and
//! crashes do to them in between.

pub(crate) mod plane;
pub(crate) mod play;
pub(crate) mod scene;
mod serial;
