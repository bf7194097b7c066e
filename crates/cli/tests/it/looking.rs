//! ls, show, log, diff, explain, doctor: looking without touching.
