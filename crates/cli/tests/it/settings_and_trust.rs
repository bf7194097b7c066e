//! Where settings come from, and whose commands may run.
