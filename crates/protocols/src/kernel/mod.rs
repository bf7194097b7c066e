//! Mechanisms the loops share: attempts, availability of agents, budget, conversation, place, trouble. A loop uses them; they know no loop.

pub mod attempts;
pub mod availability;
pub mod budget;
pub mod conversation;
pub mod place;
pub mod trouble;
