//! A notification on the desktop, through `notify-send` of the freedesktop world. Where there is no such program or no
//! session to show it in, there is no such channel; `windlass doctor` says so.

use super::plan::EventKind;
use super::{Kit, Message, Trouble};
use crate::settings::Environment;
use std::path::{Path, PathBuf};
use std::time::Duration;
use windlass_process_supervisor::QuickCommand;

const PROGRAM: &str = "notify-send";
/// Shorter than what a process that ends waits for its last notifications.
const LIMIT: Duration = Duration::from_secs(2);
const SESSION: [&str; 7] = [
    "HOME",
    "PATH",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

pub(super) fn find(environment: &Environment) -> Result<PathBuf, &'static str> {
    let path = environment.get("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(path).map(|directory| directory.join(PROGRAM)).find(|file| file.is_file());
    let program = found.ok_or("notify-send was not found")?;
    let bus = environment.get("XDG_RUNTIME_DIR").is_some_and(|place| Path::new(place).join("bus").exists());
    if environment.get("DBUS_SESSION_BUS_ADDRESS").is_none() && !bus {
        return Err("there is no desktop session: DBUS_SESSION_BUS_ADDRESS is not set");
    }
    Ok(program)
}

pub(super) fn send(kit: &Kit, message: &Message) -> Result<(), Trouble> {
    let program = find(&kit.environment).map_err(|why| Trouble::Passing(why.to_owned()))?;
    let urgency = if message.event == EventKind::NeedsPerson { "critical" } else { "normal" };
    let command = QuickCommand::new(program, "/")
        .args(["--app-name=Windlass", &format!("--urgency={urgency}"), "--"])
        .args([message.title.as_str(), escaped(&message.text).as_str()])
        .envs(SESSION.iter().filter_map(|name| Some((*name, kit.environment.get(name)?))))
        .deadline(LIMIT)
        .output_limit(64 * 1024);
    let output = command.run().map_err(|error| Trouble::Passing(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Trouble::Passing(format!(
        "notify-send: {}: {}",
        output.status,
        said.lines().next().unwrap_or_default()
    )))
}

/// The text of a notification is markup to many desktops.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
