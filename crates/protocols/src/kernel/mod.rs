//! Mechanisms the loops share: attempts and budget. A loop uses them; they know no loop.

pub mod attempts;
pub mod budget;
