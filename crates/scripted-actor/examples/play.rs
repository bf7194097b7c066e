//! The scripted agent as a program of its own, started as the driver starts windlass: `play __play FILE`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(windlass_scripted_actor::play_from_environment(std::env::args_os().skip(2)))
}
