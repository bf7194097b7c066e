//! What of a set-up is there already, however complete: the sensors it names and the flow they stand in. `init` builds on
//! it; whether a run could work with it is decided elsewhere.

use super::setup::{SetupFiles, is_sensor_file};
use windlass_artifact_formats::control_loop::{
    AgentFile, DEFAULT_TARGET, FLOW_FILE, Flow, paths, readable_text, sensor_entries, sensor_name,
};
use windlass_control_api::control_loop::InitLevels;

/// One sensor, wherever it was heard of.
#[derive(Clone, Debug)]
pub(super) struct PlannedSensor {
    pub(super) name: String,
    /// Where its agent file is or will be.
    pub(super) path: String,
    /// None where an agent measures by its file's prose.
    pub(super) command: Option<String>,
    pub(super) target: Option<String>,
    pub(super) why: String,
}

pub(super) struct Known {
    /// As it stands in the repository; absent where there is none or it cannot be read.
    pub(super) flow: Option<Flow>,
    pub(super) levels: Option<InitLevels>,
    pub(super) sensors: Vec<PlannedSensor>,
    pub(super) warnings: Vec<String>,
}

pub(super) fn read(files: &dyn SetupFiles) -> Known {
    let mut known = Known { flow: None, levels: None, sensors: Vec::new(), warnings: Vec::new() };
    let flat_controller = files.read(paths::FLAT_CONTROLLER);
    match files.read(FLOW_FILE) {
        Some(bytes) => match readable_text(FLOW_FILE, &bytes).and_then(Flow::parse) {
            Ok((flow, _)) => known.flow = Some(flow),
            Err(faults) => known.warnings.extend(faults.sentences().iter().cloned()),
        },
        None if flat_controller.is_some() => known.levels = Some(InitLevels::Flat),
        None => {}
    }
    known.sensors = match &known.flow {
        Some(flow) => of_flow(files, flow),
        None => of_folder(files, flat_controller.as_deref()),
    };
    known
}

fn of_flow(files: &dyn SetupFiles, flow: &Flow) -> Vec<PlannedSensor> {
    let mut sensors: Vec<PlannedSensor> = Vec::new();
    for sensor in flow.nodes().into_iter().flat_map(|(_, node)| &node.sensors) {
        if sensors.iter().any(|other| other.path == sensor.path.as_str()) {
            continue;
        }
        sensors.extend(read_sensor(files, sensor.path.as_str()));
    }
    sensors
}

fn of_folder(files: &dyn SetupFiles, controller: Option<&[u8]>) -> Vec<PlannedSensor> {
    // Of the flat form, targets stand in the controller's file.
    let controller = controller.and_then(|bytes| readable_text(paths::FLAT_CONTROLLER, bytes).ok());
    let targets = controller.map(sensor_entries).unwrap_or_default();
    let listed = |name: &str| targets.iter().position(|entry| entry.name == name);
    let mut sensors: Vec<PlannedSensor> = files
        .names_in(paths::AGENTS_DIRECTORY)
        .iter()
        .filter(|name| is_sensor_file(name))
        .filter_map(|name| read_sensor(files, &format!("{}/{name}", paths::AGENTS_DIRECTORY)))
        .map(|mut sensor| {
            let target = listed(&sensor.name).and_then(|at| targets[at].target.clone());
            sensor.target = sensor.target.or(target).filter(|target| target != DEFAULT_TARGET);
            sensor
        })
        .collect();
    // The controller's list is in order of priority; a folder has none.
    sensors.sort_by_key(|sensor| listed(&sensor.name).unwrap_or(usize::MAX));
    sensors
}

fn read_sensor(files: &dyn SetupFiles, path: &str) -> Option<PlannedSensor> {
    let bytes = files.read(path)?;
    let (file, _) = readable_text(path, &bytes).and_then(|text| AgentFile::parse(path, text)).ok()?;
    let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md");
    Some(PlannedSensor {
        name: sensor_name(stem, Some(file.name.as_str()).filter(|name| !name.is_empty())),
        path: path.to_owned(),
        command: file.measurement_command(),
        target: file.target,
        why: "already set up".to_owned(),
    })
}
