//! Every decision of the roadmap loop, by theme, through one script. Modules named after sections follow the tables of the
//! original's description.

mod desk;
mod fan_out;
mod finalizing;
mod gate;
mod going_round;
mod ladder;
mod livelocks;
mod looking;
mod parallel_rounds;
mod people;
mod properties;
mod resuming;
mod round_stages;
mod script;
mod simple_rounds;
mod stages;
mod stops;
mod unsafe_work;
mod updates;
