//! Roadmap loops with the real program: rounds that are planned, made, reviewed and merged, and whatever agents, people and
//! crashes do to them in between.

mod cheats;
mod cleaning;
pub(crate) mod crashes;
mod cut_off;
mod fan_out;
mod gate;
mod held_to;
mod ignored;
mod in_the_way;
mod ladder;
mod looking;
mod overtaking;
mod parallel;
mod people;
pub(crate) mod plane;
pub(crate) mod play;
mod resuming;
pub(crate) mod scene;
mod serial;
mod superseded;
mod taken_up;
mod taken_up_shares;
mod telling;
mod unsafe_work;
mod updates;
mod whose_word;
