//! Goal loops with the real program: held to their caps.

mod caps;
mod stage;
