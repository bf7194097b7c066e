//! Ends a run for the reader of its directory: the summary is on disk before the journal says that the run is over.

use crate::context::RunContext;
use crate::durable_file::{Flush, replace};
use windlass_artifact_formats::task_loop::Summary;
use windlass_control_api::Fault;
use windlass_protocols::Outcome;
use windlass_protocols::effect::CloseRun;

pub(super) fn run(context: &RunContext, asked: &CloseRun) -> Result<Outcome, Fault> {
    let run_dir = context.run_dir();
    // A setup that failed may have left no directory to write into; the journal has the end all the same.
    if !run_dir.is_dir() && std::fs::create_dir_all(run_dir).is_err() {
        return Ok(Outcome::Closed);
    }
    let summary = crate::projection::summary(context, context.task_loop()?.audit, asked).render();
    replace(&run_dir.join(Summary::FILE_NAME), summary.as_bytes(), Flush::ToDisk)?;
    Ok(Outcome::Closed)
}
