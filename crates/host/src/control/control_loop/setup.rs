//! Reads how a repository is set up for a control loop: which of the forms in the wild it is, its nodes, and the text of
//! every agent file. All that is wrong is said at once; nothing is started on half a set-up.

use std::collections::BTreeMap;
use windlass_artifact_formats::control_loop::{
    AgentFile, DEFAULT_TARGET, FLOW_FILE, Flow, FlowActuator, FlowNode, NodePaths, NodePlace, NodeState,
    NodeStatus, OnError, ResultOutput, RunState, paths, readable_text, sensor_entries, sensor_name,
    sensor_name_fault,
};
use windlass_protocols::Millis;
use windlass_protocols::protocol::feedback_control::spec::{
    Actuator, AgentText, Dialect, Node, NodeBudget, OnError as SpecOnError, Sensor,
};

/// The id of the one node of a flat loop; it stands in no file of it.
const FLAT_NODE: &str = "loop";
/// Where the runs of a nested loop keep their state.
const RUNS_DIRECTORY: &str = ".ai-loop/runs";
/// The original's word for how many iterations a flat loop has.
const FLAT_ITERATIONS: u32 = 10;

/// Where the files of a set-up are read from: a work tree, or a commit.
pub(crate) trait SetupFiles {
    /// Names of the files directly in that directory of the repository.
    fn names_in(&self, directory: &str) -> Vec<String>;
    fn read(&self, path: &str) -> Option<Vec<u8>>;
}

#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) dialect: Dialect,
    pub(crate) root: Node,
    pub(crate) warnings: Vec<String>,
    pub(crate) left_open: Vec<LeftOpen>,
}

impl Setup {
    /// Every command that the engine would run.
    pub(crate) fn commands(&self) -> Vec<String> {
        let sensors = self.root.chain().flat_map(|node| &node.sensors);
        let mut commands: Vec<String> = Vec::new();
        // Two levels may measure by the same one.
        for command in sensors.filter_map(|sensor| sensor.command.as_ref()) {
            if !commands.contains(command) {
                commands.push(command.clone());
            }
        }
        commands
    }

    pub(crate) fn has_agent_sensors(&self) -> bool {
        self.root.chain().flat_map(|node| &node.sensors).any(|sensor| sensor.command.is_none())
    }
}

/// The set-up, or every reason why there is none.
pub(crate) fn read(files: &dyn SetupFiles) -> Result<Setup, Vec<String>> {
    let mut reader = Reader { files, problems: Vec::new(), warnings: Vec::new() };
    let setup = match files.read(FLOW_FILE) {
        Some(bytes) => reader.hierarchical(&bytes).map(|root| (Dialect::Hierarchical, root)),
        None => reader.flat().map(|root| (Dialect::Flat, root)),
    };
    match setup {
        Some((dialect, root)) if reader.problems.is_empty() => {
            Ok(Setup { dialect, root, warnings: reader.warnings, left_open: left_open(files) })
        }
        _ => Err(reader.problems),
    }
}

/// Which form a set-up has that cannot be used; nothing where none was begun.
pub(crate) fn begun(files: &dyn SetupFiles) -> Option<Dialect> {
    let has_sensor = || {
        let names = files.names_in(paths::AGENTS_DIRECTORY);
        names.iter().any(|name| name.starts_with(paths::SENSOR_PREFIX))
    };
    match files.read(FLOW_FILE) {
        Some(_) => Some(Dialect::Hierarchical),
        None => has_sensor().then_some(Dialect::Flat),
    }
}

/// A loop that these files call running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOpen {
    pub(super) path: String,
    pub(super) branch: String,
    /// Its name; a flat one has none.
    pub(super) run: Option<String>,
}

impl LeftOpen {
    /// The original would offer to go on with it.
    pub(super) fn words(&self) -> String {
        let branch = if self.branch.is_empty() { String::new() } else { format!(" on {}", self.branch) };
        format!(
            "{} says that a loop{branch} is still running; it is not taken up: a run begins anew and writes its own state, and what that loop committed stays where it is",
            self.path
        )
    }
}

fn left_open(files: &dyn SetupFiles) -> Vec<LeftOpen> {
    let path = NodePaths::flat().orchestrator_output();
    let flat = files.read(&path).and_then(|bytes| NodeState::parse(&bytes).ok());
    let mut open = Vec::new();
    if let Some((NodeState { status: NodeStatus::Running, place: NodePlace::Flat { branch, .. }, .. }, _)) =
        flat
    {
        open.push(LeftOpen { path, branch, run: None });
    }
    for name in files.names_in(RUNS_DIRECTORY) {
        let directory = format!("{RUNS_DIRECTORY}/{name}");
        let path = format!("{directory}/{}", RunState::FILE_NAME);
        let state = files.read(&path).and_then(|bytes| RunState::parse(&bytes).ok());
        let is_open =
            |state: &RunState| state.status == NodeStatus::Running && !has_result(files, &directory);
        if let Some((state, _)) = state.filter(|(state, _)| is_open(state)) {
            open.push(LeftOpen { path, branch: state.branch, run: Some(state.run_id) });
        }
    }
    open
}

/// The original leaves the state of a run at `running` for ever; that the run has ended is said by the result of its outermost
/// node.
fn has_result(files: &dyn SetupFiles, run_directory: &str) -> bool {
    let nodes = format!("{run_directory}/nodes");
    let of_node = |node: &String| files.read(&format!("{nodes}/{node}/{}", ResultOutput::FILE_NAME));
    let mut results = files.names_in(&nodes).into_iter().filter_map(|node| of_node(&node));
    results.any(|bytes| ResultOutput::parse(&bytes).is_ok())
}

struct Reader<'a> {
    files: &'a dyn SetupFiles,
    problems: Vec<String>,
    warnings: Vec<String>,
}

impl Reader<'_> {
    fn flat(&mut self) -> Option<Node> {
        let names = self.files.names_in(paths::AGENTS_DIRECTORY);
        let stem = paths::SENSOR_PREFIX;
        let sensors: Vec<String> = names
            .iter()
            .filter(|name| name.starts_with(stem) && name.strip_suffix(".md").is_some())
            .map(|name| format!("{}/{name}", paths::AGENTS_DIRECTORY))
            .collect();
        if sensors.is_empty() {
            self.problems.push(format!(
                "there is no sensor: no file {}/{stem}<name>.md; `windlass control init` writes them",
                paths::AGENTS_DIRECTORY
            ));
        }
        let controller = self.agent_text(paths::FLAT_CONTROLLER, "the controller");
        let actuator = self.agent_text(paths::ACTUATOR, "the actuator");
        let targets: BTreeMap<String, String> = controller
            .as_ref()
            .and_then(|controller| AgentFile::parse(&controller.path, &controller.text).ok())
            .map(|(file, _)| sensor_entries(&file.body))
            .unwrap_or_default()
            .into_iter()
            .filter_map(|entry| Some((entry.name, entry.target?)))
            .collect();
        let read: Vec<Sensor> = sensors
            .iter()
            .filter_map(|path| self.sensor(path, None, true))
            .map(|mut sensor| {
                // Of the flat form, targets stand in the controller's file.
                if let Some(target) = targets.get(&sensor.name) {
                    sensor.target.clone_from(target);
                }
                sensor
            })
            .collect();
        self.called_alike(FLAT_NODE, &read);
        Some(Node {
            id: FLAT_NODE.to_owned(),
            controller: controller?,
            actuator: Actuator::Direct(actuator?),
            sensors: read,
            max_iterations: FLAT_ITERATIONS,
            on_error: SpecOnError::FailFast,
            budget: NodeBudget::default(),
        })
    }

    fn hierarchical(&mut self, bytes: &[u8]) -> Option<Node> {
        let text = match readable_text(FLOW_FILE, bytes) {
            Ok(text) => text,
            Err(faults) => {
                self.problems.extend(in_file(&faults));
                return None;
            }
        };
        match Flow::parse(text) {
            Ok((flow, warnings)) => {
                self.warnings.extend(warnings);
                self.node(&flow.root)
            }
            Err(faults) => {
                self.problems.extend(in_file(&faults));
                None
            }
        }
    }

    fn node(&mut self, node: &FlowNode) -> Option<Node> {
        let controller = self.agent_text(node.controller.as_str(), "the controller");
        let actuator = match &node.actuator {
            FlowActuator::Direct { agent } => {
                self.agent_text(agent.as_str(), "the actuator").map(Actuator::Direct)
            }
            FlowActuator::Composite { child } => {
                self.node(child).map(|child| Actuator::Cascade(Box::new(child)))
            }
        };
        let sensors: Vec<Sensor> = node
            .sensors
            .iter()
            .filter_map(|sensor| self.sensor(sensor.path.as_str(), sensor.target.as_deref(), sensor.required))
            .collect();
        self.called_alike(&node.id, &sensors);
        let budget = node.budget.unwrap_or_default();
        let minutes = [node.timeout_minutes, budget.minutes].into_iter().flatten().min();
        Some(Node {
            id: node.id.clone(),
            controller: controller?,
            actuator: actuator?,
            sensors,
            max_iterations: budget
                .actuations
                .map_or(node.max_iterations, |most| most.min(node.max_iterations)),
            on_error: match node.on_error {
                OnError::FailFast => SpecOnError::FailFast,
                OnError::ReportToParent => SpecOnError::ReportToParent,
            },
            budget: NodeBudget {
                time: minutes.map(Millis::minutes),
                tokens: budget.tokens,
                cost_micros: budget.cost_micros,
            },
        })
    }

    /// Their reports would be one file.
    fn called_alike(&mut self, node: &str, sensors: &[Sensor]) {
        for (at, sensor) in sensors.iter().enumerate() {
            if let Some(other) = sensors[..at].iter().find(|other| other.name == sensor.name) {
                let (one, two) = (&other.file.path, &sensor.file.path);
                self.problems
                    .push(format!("{node}: {one} and {two} are both called {}; rename one", sensor.name));
            }
        }
    }

    fn sensor(&mut self, path: &str, target: Option<&str>, required: bool) -> Option<Sensor> {
        let file = self.agent_text(path, "the sensor")?;
        let (parsed, notes) = match AgentFile::parse(path, &file.text) {
            Ok(parsed) => parsed,
            Err(faults) => {
                self.problems.extend(in_file(&faults));
                return None;
            }
        };
        self.warnings.extend(notes.into_iter().map(|note| format!("{path}: {note}")));
        self.measurement(path, &parsed);
        let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md");
        let front = Some(parsed.name.as_str()).filter(|name| !name.is_empty());
        let name = sensor_name(stem, front);
        if let Some(fault) = sensor_name_fault(&name) {
            self.problems.push(format!("{path}: the sensor's name {name:?} {fault}"));
        }
        Some(Sensor {
            name,
            command: parsed.measurement_command(),
            target: target.or(parsed.target.as_deref()).unwrap_or(DEFAULT_TARGET).to_owned(),
            required: required && parsed.required,
            timeout: parsed.timeout_minutes.map(Millis::minutes),
            file,
        })
    }

    fn measurement(&mut self, path: &str, parsed: &AgentFile) {
        let blocks = parsed.measurement_blocks();
        // One that would be left out could be the half that fails; one that is run could be somebody's example of an output.
        if blocks > 1 {
            self.problems.push(format!(
                "{path}: the section `## Measurement` has {blocks} blocks of code, and one is run; put all lines that are to be run into one"
            ));
        }
        // An agent's word would stand for a measurement that somebody meant to write down.
        if blocks == 1 && parsed.measurement_command().is_none() {
            self.problems.push(format!(
                "{path}: the block of code in `## Measurement` is empty; write the command, or take the block out to have an agent look"
            ));
        }
    }

    fn agent_text(&mut self, path: &str, what: &str) -> Option<AgentText> {
        let Some(bytes) = self.files.read(path) else {
            self.problems.push(format!("{what}'s file {path} is not there"));
            return None;
        };
        match readable_text(path, &bytes) {
            Ok(text) => Some(AgentText { path: path.to_owned(), text: text.to_owned() }),
            Err(faults) => {
                self.problems.extend(in_file(&faults));
                None
            }
        }
    }
}

/// Sentences that say which file they are about.
fn in_file(faults: &windlass_artifact_formats::control_loop::Faults) -> Vec<String> {
    faults.sentences().iter().map(|sentence| format!("{}: {sentence}", faults.file())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Texts(BTreeMap<String, String>);

    impl SetupFiles for Texts {
        fn names_in(&self, directory: &str) -> Vec<String> {
            let inside = self.0.keys().filter_map(|path| path.strip_prefix(directory)?.strip_prefix('/'));
            inside.map(str::to_owned).collect()
        }

        fn read(&self, path: &str) -> Option<Vec<u8>> {
            self.0.get(path).map(|text| text.clone().into_bytes())
        }
    }

    #[test]
    fn the_timeout_of_a_sensors_file_is_its_limit() {
        let sensor = |timeout: &str| format!("---\nname: x\n{timeout}---\n\n## Measurement\n\n    make\n");
        let files = [
            (".claude/agents/loop-sensor-slow.md", sensor("timeout: 2h\n")),
            (".claude/agents/loop-sensor-usual.md", sensor("")),
            (paths::FLAT_CONTROLLER, "# Controller\n".to_owned()),
            (paths::ACTUATOR, "# Actuator\n".to_owned()),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text));
        let setup = read(&Texts(BTreeMap::from(files))).unwrap();
        let limits: Vec<_> = setup.root.sensors.iter().map(|sensor| sensor.timeout).collect();
        assert_eq!(limits, [Some(Millis::minutes(120)), None]);
    }
}
