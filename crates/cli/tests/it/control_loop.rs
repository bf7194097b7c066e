//! Control loops with the real program: the three forms in the wild, the rows of the original's tables, its weaknesses,
//! and kills at every place.

pub(crate) mod crashes;
mod dialects;
mod dirty;
mod edited_setup;
mod errors;
mod gate;
mod hints;
mod leftovers;
mod locks;
mod measurement;
mod nested;
mod original;
pub(crate) mod plant;
mod rows;
mod steadiness;
mod taken_up;
mod user_repository;
mod weaknesses;
