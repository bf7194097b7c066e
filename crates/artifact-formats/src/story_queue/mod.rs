//! What agents are told about a story of the queue, and what a reviewer's verdict says about its acceptance criteria.
//! It knows wording, not the queue: who may move a story is decided elsewhere.

mod brief;
mod review;

pub use brief::{Criterion, StoryBrief, reviewer_prompt};
pub use review::{Finding, Severity, StoryReview};
