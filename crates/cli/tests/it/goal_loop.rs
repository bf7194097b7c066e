//! Goal loops with the real program: killed at every place, held to their caps, and with somebody else at the same files.

mod caps;
mod crashes;
mod interference;
mod stage;
