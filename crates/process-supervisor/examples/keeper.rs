//! A keeper as the tests start it: the effect directory is the only argument.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1) else {
        return ExitCode::from(2);
    };
    ExitCode::from(windlass_process_supervisor::keep(&PathBuf::from(directory)))
}
