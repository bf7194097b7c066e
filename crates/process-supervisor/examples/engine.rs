//! An engine that starts one kept child and waits for it, so that a test can kill it in between. Arguments: keeper
//! program, effect directory, file with the spec. It says "started" on its output once the child is under a keeper.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use windlass_process_supervisor::{KeeperProgram, start};

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [program, directory, spec] = arguments.as_slice() else {
        return ExitCode::from(2);
    };
    let keeper = KeeperProgram { program: program.clone(), args: Vec::new(), environment: BTreeMap::new() };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(async {
        let text = std::fs::read(spec).expect("the spec can be read");
        let spec = serde_json::from_slice(&text).expect("the spec is valid");
        let mut child = start(&keeper, directory, &spec).expect("the child can be started");
        writeln!(std::io::stdout(), "started").expect("the test is listening");
        child.wait().await.expect("the end is known");
    });
    ExitCode::SUCCESS
}
