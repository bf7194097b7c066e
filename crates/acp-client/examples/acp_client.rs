//! The client as a program of its own, started as the driver starts windlass: `acp_client __acp …`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(windlass_acp_client::converse_from_environment(std::env::args_os().skip(2)))
}
