//! The queue through its one door, over the journal in memory: what a client of the REST interface sees.

mod isolation;
mod lifecycle;
mod once;
mod support;
mod table;
