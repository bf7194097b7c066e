//! Mechanisms the loops share: attempts, availability of agents, budget, place, trouble. A loop uses them; they know no loop.

pub mod attempts;
pub mod availability;
pub mod budget;
pub mod place;
pub mod trouble;
