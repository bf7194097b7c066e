//! A keeper as the tests start it: the effect directory is the only argument. It is also the launcher of what it keeps.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use windlass_process_supervisor::{keep, launch};

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    ExitCode::from(match words.split_first() {
        Some((word, rest)) if word == "__launch" => launch(rest),
        Some((directory, [])) => keep(Path::new(directory)),
        _ => 2,
    })
}
