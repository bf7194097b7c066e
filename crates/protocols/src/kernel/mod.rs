//! Mechanisms the loops share: attempts, availability of agents, budget, conversation, fence, gate integrity, a person's
//! word, place, trouble. A loop uses them; they know no loop.

pub mod attempts;
pub mod availability;
pub mod budget;
pub mod conversation;
pub mod fence;
pub mod gate;
pub mod person;
pub mod place;
pub mod trouble;
pub(crate) mod watched_gate;
