//! A notification through a command of somebody's own: JSON on its input, the key fields in its environment, held by a
//! keeper. One that outlives this process is found again by the next one and is not started twice.

use super::plan::Given;
use super::{Kit, Message, Trouble};
use crate::durable_file::{Flush, replace};
use crate::state_dir::make_private;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use windlass_control_api::Fault;
use windlass_process_supervisor::{
    ChildEnd, ChildSpec, ChildStdin, EndedBy, HowEnded, KeeperProgram, Limits, last_line,
};

const LIMIT_MS: u64 = 30_000;
const OUTPUT_BYTES: u64 = 1024 * 1024;

pub(super) fn send(
    kit: &Kit,
    (command, given): (&str, Given),
    message: &Message,
    place: &Path,
) -> Result<(), Trouble> {
    let passing = |fault: Fault| Trouble::Passing(fault.message);
    make_private(place).map_err(passing)?;
    let input = place.join("message.json");
    let body = serde_json::to_vec_pretty(message).map_err(|error| Trouble::Lasting(error.to_string()))?;
    replace(&input, &body, Flush::ToSystem).map_err(passing)?;
    let (spec, secrets) = spec(kit, (command, given), message, input);
    let keeper = KeeperProgram {
        program: kit.program.clone(),
        args: vec![OsString::from("__keep")],
        environment: secrets.into_iter().chain(windlass_crash_points::child_environment()).collect(),
    };
    let kept = place.join("kept");
    let end = run(&keeper, &kept, &spec).map_err(Trouble::Passing)?;
    let outcome = if end.is_success() { Ok(()) } else { Err(Trouble::Passing(words(&end, &kept))) };
    // The next try must not find this one's end.
    let _ = std::fs::remove_dir_all(place);
    outcome
}

fn run(keeper: &KeeperProgram, kept: &Path, spec: &ChildSpec) -> Result<ChildEnd, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let ended = runtime.block_on(async {
        let mut child = windlass_process_supervisor::start(keeper, kept, spec)?;
        child.wait().await
    });
    ended.map_err(|error| error.to_string())
}

fn spec(
    kit: &Kit,
    (command, given): (&str, Given),
    message: &Message,
    input: PathBuf,
) -> (ChildSpec, BTreeMap<OsString, OsString>) {
    let os = |(name, value): (&String, &String)| (OsString::from(name), OsString::from(value));
    let (open, others): (Vec<_>, Vec<_>) =
        kit.environment.0.iter().partition(|(name, _)| windlass_agent_drivers::is_passed_through(name));
    let mut environment: BTreeMap<OsString, OsString> = open.into_iter().map(os).collect();
    // What the user has beside that may be secret: it goes through the keeper and is stored nowhere.
    let secrets: BTreeMap<OsString, OsString> = match given {
        Given::AsChecks => BTreeMap::new(),
        // The places at which a test kills this process are not the command's.
        Given::UsersOwn => {
            others.into_iter().filter(|(name, _)| !name.starts_with("WINDLASS_CRASH")).map(os).collect()
        }
    };
    let told = [
        ("WINDLASS_DELIVERY", message.id.as_str()),
        ("WINDLASS_EVENT", message.event.word()),
        ("WINDLASS_RUN", &message.run),
        ("WINDLASS_TASK", &message.task),
        ("WINDLASS_STATUS", &message.status),
        ("WINDLASS_TITLE", &message.title),
        ("WINDLASS_TEXT", &message.text),
        ("WINDLASS_REPOSITORY", &message.repository),
        ("WINDLASS_RUN_DIR", &message.run_dir),
    ];
    environment
        .extend(told.map(|(name, value)| (OsString::from(name), OsString::from(value.replace('\0', "")))));
    let directory = Path::new(&message.repository);
    let spec = ChildSpec {
        program: PathBuf::from("/bin/sh"),
        args: vec!["-c".into(), command.into()],
        // A repository that is gone is no reason to be silent.
        directory: if directory.is_dir() { directory.to_owned() } else { PathBuf::from("/") },
        environment,
        secret_names: secrets.keys().cloned().collect(),
        stdin: ChildStdin::File { path: input },
        limits: Limits { total_ms: LIMIT_MS, output_bytes: Some(OUTPUT_BYTES), ..Limits::default() },
        sandbox: None,
        overlay: None,
        cookie: format!("notify/{}", message.id),
        outlasts_power_cuts: false,
    };
    (spec, secrets)
}

fn words(end: &ChildEnd, kept: &Path) -> String {
    let how = match (end.ended_by, &end.how) {
        (Some(EndedBy::TotalLimit | EndedBy::IdleLimit), _) => {
            format!("it took longer than {} s", LIMIT_MS / 1000)
        }
        (Some(EndedBy::OutputLimit), _) => "it printed too much".to_owned(),
        (Some(EndedBy::MemoryLimit | EndedBy::ProcessLimit), _) => "it grew too large".to_owned(),
        (Some(EndedBy::StopRequest), _) => "it was stopped".to_owned(),
        (None, HowEnded::Exited { code }) => format!("exit code {code}"),
        (None, HowEnded::Signaled { signal }) => format!("ended by signal {signal}"),
        (None, HowEnded::NotStarted { reason, .. } | HowEnded::Lost { reason }) => reason.clone(),
    };
    match last_line(kept) {
        Some(line) => format!("{how}: {line}"),
        None => how,
    }
}
