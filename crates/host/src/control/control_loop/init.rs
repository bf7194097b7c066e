//! `windlass control init`: the files that set a repository up for a control loop. What a person has edited is never
//! written over: ours goes beside it. Nothing is run and nothing is committed.

use super::detect::{self, Found};
use super::known::{self, Known, PlannedSensor};
use super::{InWorkTree, setup::SetupFiles};
use crate::durable_file::{Flush, replace};
use crate::fault::git_fault;
use std::path::Path;
use windlass_artifact_formats::control_loop::{
    AgentTemplate, DEFAULT_MAX_ITERATIONS, DEFAULT_TARGET, Dialect, FLOW_FILE, Flow, FlowActuator, FlowNode,
    FlowSensor, ListedSensor, OnError, RepoPath, SensorTemplate, is_known_rendering, measurement_command,
    paths, scaffold_flow,
};
use windlass_control_api::control_loop::{InitControl, InitLevels, InitReport};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::Checkout;

/// The original's suggestion for a loop around another one.
const OUTER_ITERATIONS: u32 = 5;
/// So that git keeps the folder.
const GIT_KEEP: &str = ".gitkeep";

pub(crate) fn init(command: &InitControl) -> Result<InitReport, Fault> {
    let checkout = Checkout::discover(&command.repository).map_err(git_fault)?;
    let top = checkout.work_tree();
    let files = InWorkTree(top);
    let known = known::read(&files);
    if command.levels == Some(InitLevels::Flat) && files.read(FLOW_FILE).is_some() {
        return Err(Fault::new(Code::BadArgument, format!("{FLOW_FILE} is there, and a run would go by it"))
            .kept("nothing was written")
            .hint(format!("`--flat` would write over agent files that the flow uses: remove {FLOW_FILE} first, or leave `--flat` away")));
    }
    let sensors = sensors(&files, &known, &command.sensors)?;
    let planned = plan(&known, &sensors, command.levels)?;
    let mut report = InitReport {
        repository: top.to_string_lossy().into_owned(),
        dialect: if planned.flow.is_some() { "hierarchical" } else { "flat" }.to_owned(),
        dry_run: command.dry_run,
        sensors: sensors.iter().map(shown).collect(),
        written: Vec::new(),
        unchanged: Vec::new(),
        kept: Vec::new(),
        warnings: warnings(&files, &known, &sensors),
        next_steps: Vec::new(),
    };
    let writer = if command.dry_run { Writer::Dry } else { Writer::Into(top) };
    for (path, text) in &planned.files {
        match standing(&files, path, text, planned.flow.as_ref()) {
            Standing::AsWanted => report.unchanged.push(path.clone()),
            Standing::Ours => {
                writer.put(path, text)?;
                report.written.push(path.clone());
            }
            Standing::Edited => {
                let beside = format!("{path}.new");
                writer.put(&beside, text)?;
                report.kept.push((path.clone(), beside));
            }
        }
    }
    report.next_steps = next_steps(&report);
    Ok(report)
}

/// Those there are, then those that were given; what the repository's own files tell only where there is neither.
fn sensors(
    files: &dyn SetupFiles,
    known: &Known,
    given: &[(String, String)],
) -> Result<Vec<PlannedSensor>, Fault> {
    let mut sensors = known.sensors.clone();
    for (name, command) in given {
        let sensor = planned(name, command, "given".to_owned())?;
        match sensors.iter_mut().find(|other| other.name == *name) {
            Some(other) => *other = PlannedSensor { target: other.target.take(), ..sensor },
            None => sensors.push(sensor),
        }
    }
    if sensors.is_empty() {
        for Found { name, command, why } in detect::sensors(files) {
            sensors.push(planned(&name, &command, why)?);
        }
    }
    if sensors.is_empty() {
        return Err(Fault::new(Code::BadArgument, "nothing in this repository says how it is measured")
            .kept("nothing was written")
            .hint("name a sensor and its command: `windlass control init --sensor test=\"make test\"`"));
    }
    Ok(sensors)
}

fn planned(name: &str, command: &str, why: String) -> Result<PlannedSensor, Fault> {
    let bad = |what: String| Err(Fault::new(Code::BadArgument, what).kept("nothing was written"));
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if !name.starts_with(|letter: char| letter.is_ascii_alphanumeric()) || !name.chars().all(plain) {
        return bad(format!("`{name}` cannot be a sensor's name: letters, digits, `.`, `_` and `-` can"));
    }
    let sensor = PlannedSensor {
        name: name.to_owned(),
        path: paths::sensor_agent(name),
        command: Some(command.trim().to_owned()),
        target: None,
        why,
    };
    // What is measured later is what the file says, so the file must say exactly this.
    let reread = measurement_command(&sensor_text(Dialect::Nested, &sensor).unwrap_or_default());
    if reread != sensor.command || command.trim().is_empty() {
        return bad(format!("the command of `{name}` cannot be written into an agent file: {command:?}"));
    }
    Ok(sensor)
}

fn sensor_text(dialect: Dialect, sensor: &PlannedSensor) -> Option<String> {
    let command = sensor.command.as_deref()?;
    let target = match dialect {
        // There it stands in the controller's file.
        Dialect::Flat => None,
        Dialect::Nested => sensor.target.as_deref(),
    };
    let template = SensorTemplate { name: &sensor.name, command, target };
    Some(AgentTemplate::Sensor(dialect, template).render())
}

fn shown(sensor: &PlannedSensor) -> (String, String, String) {
    let command = sensor.command.clone().unwrap_or_else(|| "an agent".to_owned());
    (sensor.name.clone(), command, sensor.why.clone())
}

/// Everything that will be there, by path.
struct Plan {
    flow: Option<Flow>,
    files: Vec<(String, String)>,
}

fn plan(known: &Known, sensors: &[PlannedSensor], levels: Option<InitLevels>) -> Result<Plan, Fault> {
    let flow = match (levels.or(known.levels), &known.flow) {
        (None, Some(flow)) => Some(with_new_sensors(flow, sensors)?),
        (Some(InitLevels::Flat), _) => None,
        (Some(InitLevels::One) | None, _) => Some(one_level(sensors)?),
        (Some(InitLevels::Two), _) => Some(two_levels(sensors)?),
    };
    let dialect = if flow.is_some() { Dialect::Nested } else { Dialect::Flat };
    // A file under another name was put there by a person.
    let ours = sensors.iter().filter(|sensor| sensor.path == paths::sensor_agent(&sensor.name));
    let mut files: Vec<(String, String)> =
        ours.filter_map(|sensor| Some((sensor.path.clone(), sensor_text(dialect, sensor)?))).collect();
    files.push((paths::ACTUATOR.to_owned(), AgentTemplate::Actuator(dialect).render()));
    match &flow {
        None => {
            files.push((paths::FLAT_CONTROLLER.to_owned(), flat_controller(sensors)));
            files.push((format!("{}/{GIT_KEEP}", paths::LOOP_DIRECTORY), String::new()));
        }
        Some(flow) => {
            files.extend(flow.nodes().into_iter().filter_map(|(_, node)| controller(node)));
            files.push((FLOW_FILE.to_owned(), scaffold_flow(flow)));
            files.push((format!("{}/runs/{GIT_KEEP}", paths::LOOP_DIRECTORY), String::new()));
        }
    }
    Ok(Plan { flow, files })
}

fn flat_controller(sensors: &[PlannedSensor]) -> String {
    let listed: Vec<ListedSensor<'_>> = sensors
        .iter()
        .enumerate()
        .map(|(at, sensor)| ListedSensor {
            name: &sensor.name,
            target: sensor.target.as_deref().unwrap_or(DEFAULT_TARGET),
            priority: if at == 0 { "high" } else { "medium" },
        })
        .collect();
    AgentTemplate::FlatController { sensors: &listed }.render()
}

/// The controller's file of a node, where it has the name we would give it.
fn controller(node: &FlowNode) -> Option<(String, String)> {
    let path = paths::controller_of_node(&node.id);
    let template = match node.actuator {
        FlowActuator::Direct { .. } => AgentTemplate::InnerController { node_id: &node.id },
        FlowActuator::Composite { .. } => AgentTemplate::OuterController { node_id: &node.id },
    };
    (node.controller.as_str() == path).then(|| (path, template.render()))
}

fn with_new_sensors(flow: &Flow, sensors: &[PlannedSensor]) -> Result<Flow, Fault> {
    let mut flow = flow.clone();
    let named: Vec<String> =
        flow.nodes().iter().flat_map(|(_, node)| &node.sensors).map(FlowSensor::name).collect();
    let new: Vec<&PlannedSensor> = sensors.iter().filter(|sensor| !named.contains(&sensor.name)).collect();
    flow.root.sensors.extend(in_flow(&new)?);
    Ok(flow)
}

fn one_level(sensors: &[PlannedSensor]) -> Result<Flow, Fault> {
    let root = node("main", in_flow(&sensors.iter().collect::<Vec<_>>())?, DEFAULT_MAX_ITERATIONS, None)?;
    Ok(Flow { version: 1, root })
}

/// The outer loop measures what is slow and final, the inner one what tells an edit is sound. Where that leaves one of
/// them blind, it measures everything.
fn two_levels(sensors: &[PlannedSensor]) -> Result<Flow, Fault> {
    let is_final = |sensor: &&PlannedSensor| {
        ["test", "check", "e2e", "coverage", "bench"].iter().any(|word| sensor.name.starts_with(word))
    };
    let all: Vec<&PlannedSensor> = sensors.iter().collect();
    let (outer, inner): (Vec<_>, Vec<_>) = sensors.iter().partition(is_final);
    let or_all = |some: Vec<&PlannedSensor>| in_flow(if some.is_empty() { &all } else { &some });
    let child = node("inner", or_all(inner)?, DEFAULT_MAX_ITERATIONS, None)?;
    Ok(Flow { version: 1, root: node("outer", or_all(outer)?, OUTER_ITERATIONS, Some(child))? })
}

fn node(
    id: &str,
    sensors: Vec<FlowSensor>,
    max_iterations: u32,
    child: Option<FlowNode>,
) -> Result<FlowNode, Fault> {
    Ok(FlowNode {
        id: id.to_owned(),
        controller: inside(&paths::controller_of_node(id))?,
        actuator: match child {
            Some(child) => FlowActuator::Composite { child: Box::new(child) },
            None => FlowActuator::Direct { agent: inside(paths::ACTUATOR)? },
        },
        sensors,
        max_iterations,
        on_error: OnError::FailFast,
        timeout_minutes: None,
        budget: None,
    })
}

fn in_flow(sensors: &[&PlannedSensor]) -> Result<Vec<FlowSensor>, Fault> {
    let one = |sensor: &&PlannedSensor| {
        Ok(FlowSensor { path: inside(&sensor.path)?, target: None, required: true })
    };
    sensors.iter().map(one).collect()
}

fn inside(path: &str) -> Result<RepoPath, Fault> {
    RepoPath::parse(path).map_err(|fault| Fault::new(Code::BadArgument, format!("{path} {fault}")))
}

enum Standing {
    AsWanted,
    /// Not there, or exactly as some version of us wrote it.
    Ours,
    Edited,
}

fn standing(files: &InWorkTree<'_>, path: &str, wanted: &str, flow: Option<&Flow>) -> Standing {
    let Some(bytes) = files.read(path) else {
        let free = files.0.join(path).symlink_metadata().is_err();
        return if free { Standing::Ours } else { Standing::Edited };
    };
    let Ok(text) = String::from_utf8(bytes) else { return Standing::Edited };
    let says_the_same = match path {
        _ if path.ends_with(GIT_KEEP) => true,
        FLOW_FILE => Flow::parse(&text).is_ok_and(|(there, _)| Some(&there) == flow),
        // A sensor is its command; how a person worded the rest of the file is theirs.
        _ if path.contains(paths::SENSOR_PREFIX) && !is_known_rendering(&text) => {
            measurement_command(&text) == measurement_command(wanted)
        }
        _ => text.replace("\r\n", "\n") == wanted,
    };
    match (says_the_same, is_known_rendering(&text)) {
        (true, _) => Standing::AsWanted,
        (false, true) => Standing::Ours,
        (false, false) => Standing::Edited,
    }
}

enum Writer<'a> {
    Into(&'a Path),
    Dry,
}

impl Writer<'_> {
    /// Never through a link: what is written must be in this repository.
    fn put(&self, path: &str, text: &str) -> Result<(), Fault> {
        let Self::Into(top) = self else { return Ok(()) };
        let failed = |what: String| {
            Fault::new(Code::FileSystem, what)
                .kept("what you have written; files before this one may be there already")
                .hint("mend that and run `windlass control init` again")
        };
        let mut folder = top.to_path_buf();
        for part in Path::new(path).parent().into_iter().flatten() {
            folder.push(part);
            if folder.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
                return Err(failed(format!("{} is no plain directory", folder.display())));
            }
        }
        std::fs::create_dir_all(&folder)
            .map_err(|error| failed(format!("cannot make the directory {}: {error}", folder.display())))?;
        replace(&top.join(path), text.as_bytes(), Flush::ToSystem).map_err(|fault| failed(fault.message))
    }
}

fn warnings(files: &dyn SetupFiles, known: &Known, sensors: &[PlannedSensor]) -> Vec<String> {
    let mut warnings = known.warnings.clone();
    let measured = sensors.iter().filter_map(|sensor| {
        let command = sensor.command.clone()?;
        Some(Found { name: sensor.name.clone(), command, why: String::new() })
    });
    warnings.extend(detect::overlaps(&measured.collect::<Vec<_>>(), files));
    let ignored = files.read(".gitignore").map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    for folder in [paths::LOOP_DIRECTORY, ".claude", paths::AGENTS_DIRECTORY] {
        if ignored.iter().flat_map(|text| text.lines()).any(|line| line.trim().trim_matches('/') == folder) {
            warnings.push(format!(
                ".gitignore leaves {folder} out: the loop's files must be committed, so take that line away"
            ));
        }
    }
    warnings
}

fn next_steps(report: &InitReport) -> Vec<String> {
    let mut steps: Vec<String> =
        report.kept.iter().map(|(file, beside)| format!("diff {file} {beside}")).collect();
    if !report.written.is_empty() {
        let folders = [paths::AGENTS_DIRECTORY, paths::LOOP_DIRECTORY].join(" ");
        steps.push(format!("git add {folders} && git commit -m \"Set up the control loop\""));
    }
    steps.push("windlass trust".to_owned());
    steps.push("windlass control run \"TASK\" --agent claude".to_owned());
    steps
}
