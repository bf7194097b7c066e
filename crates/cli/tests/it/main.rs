//! Whole-program tests: the real binary in a hermetic world. One test binary, so that it is linked once.

mod compat_words;
mod help;
mod hidden_commands;
mod usage;

use windlass_test_support::World;

fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_windlass"))
}
