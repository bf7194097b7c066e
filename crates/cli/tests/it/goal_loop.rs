//! Goal loops with the real program: what misbehaving agents come to, the rows of the original's tables and its
//! weaknesses, files that stay as they are, caps, kills at every place, and somebody else at the same files.

mod baselines;
mod builders;
mod caps;
mod choosing;
pub(crate) mod crashes;
mod documents;
mod edited;
mod evaluators;
mod gate;
mod interference;
pub(crate) mod planners;
pub(crate) mod scene;
mod stage;
mod told;
mod weaknesses;
