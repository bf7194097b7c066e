//! Goal loops with the real program: what misbehaving agents come to, the rows of the original's tables and its
//! weaknesses, files that stay as they are, and kills at every place.

mod baselines;
mod builders;
mod choosing;
mod documents;
mod edited;
mod evaluators;
mod planners;
pub(crate) mod scene;
mod told;
mod weaknesses;
