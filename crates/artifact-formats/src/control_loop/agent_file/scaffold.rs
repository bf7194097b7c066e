//! The agent files that `init` writes, and how it later knows which of them nobody has edited.
//! It knows wording and the mark; where the files go and whether one is replaced is decided elsewhere.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::control_loop::flow::Flow;
use crate::control_loop::front_matter;
use crate::control_loop::paths::NodePaths;
use crate::control_loop::yaml::quoted;
use crate::markdown::contained;
use crate::template::fill;

/// Which form of file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// One loop, fixed paths, the controller lists the sensors.
    Flat,
    /// `flow.yaml`, placeholders for paths and sensors.
    Nested,
}

#[derive(Debug, Clone, Copy)]
pub struct SensorTemplate<'a> {
    pub name: &'a str,
    pub command: &'a str,
    pub target: Option<&'a str>,
}

/// A sensor as a flat controller file lists it; the list is in order of priority.
#[derive(Debug, Clone, Copy)]
pub struct ListedSensor<'a> {
    pub name: &'a str,
    pub target: &'a str,
    pub priority: &'a str,
}

/// One file of `init`.
#[derive(Debug, Clone, Copy)]
pub enum AgentTemplate<'a> {
    Sensor(Dialect, SensorTemplate<'a>),
    Actuator(Dialect),
    FlatController {
        sensors: &'a [ListedSensor<'a>],
    },
    /// The controller of a node whose actuator edits files.
    InnerController {
        node_id: &'a str,
    },
    /// The controller of a node whose actuator is a child loop.
    OuterController {
        node_id: &'a str,
    },
}

const MARK_START: &str = "<!-- windlass:unedited sha256=";
const MARK_END: &str = " -->";

impl AgentTemplate<'_> {
    pub fn render(&self) -> String {
        let mut text = match *self {
            Self::Sensor(dialect, sensor) => sensor_file(dialect, sensor),
            Self::Actuator(dialect) => actuator_file(dialect),
            Self::FlatController { sensors } => controller_file(
                "loop-controller",
                include_str!("../../../prompts/control-loop/agent-controller-flat.md"),
                &[("sensors", sensor_list(sensors).trim_end())],
            ),
            Self::InnerController { node_id } => controller_file(
                &format!("loop-controller-{node_id}"),
                include_str!("../../../prompts/control-loop/agent-controller-inner.md"),
                &[("node_id", node_id)],
            ),
            Self::OuterController { node_id } => controller_file(
                &format!("loop-controller-{node_id}"),
                include_str!("../../../prompts/control-loop/agent-controller-outer.md"),
                &[("node_id", node_id)],
            ),
        };
        mark(&mut text);
        text
    }
}

/// `flow.yaml` as `init` writes it: the mark stands in a comment.
pub fn scaffold_flow(flow: &Flow) -> String {
    let mut text = format!("{}\n# ", flow.render());
    mark(&mut text);
    text
}

fn mark(text: &mut String) {
    let digest = digest(text);
    let _ = writeln!(text, "{MARK_START}{digest}{MARK_END}");
}

/// Whether a file is exactly what some version of `init` wrote. Anything else was edited, or was not written by us,
/// and must be kept.
pub fn is_known_rendering(text: &str) -> bool {
    // A checkout may have changed the line ends; that is no edit.
    let text = text.replace("\r\n", "\n");
    split_mark(&text).is_some_and(|(content, stated)| digest(content) == stated)
}

/// The text without the mark, for an agent has no use for it.
pub(super) fn without_mark(text: &str) -> &str {
    split_mark(text).map_or(text, |(content, _)| content)
}

fn split_mark(text: &str) -> Option<(&str, &str)> {
    let marked = text.trim_end().strip_suffix(MARK_END)?;
    let (content, stated) = marked.rsplit_once(MARK_START)?;
    (stated.len() == 64 && stated.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some((content, stated))
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn sensor_file(dialect: Dialect, sensor: SensorTemplate<'_>) -> String {
    let SensorTemplate { name, command, target } = sensor;
    let one_line = command.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut keys = vec![
        ("name", front_matter::text(&format!("loop-sensor-{name}"))),
        ("description", quoted(&format!("Measures {name} by running: {one_line}"))),
        ("tools", "Read, Glob, Bash, Write".to_owned()),
        ("disallowedTools", "Edit, NotebookEdit".to_owned()),
        ("model", "haiku".to_owned()),
    ];
    keys.extend(target.map(|target| ("target", quoted(target))));
    let output_path = match dialect {
        Dialect::Flat => NodePaths::flat().sensor_output(name),
        Dialect::Nested => "{output-path}".to_owned(),
    };
    let block = command.trim_end().lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n");
    let values = [("name", name), ("command", block.as_str()), ("output_path", &output_path)];
    format!(
        "{}\n{}",
        front_matter::render(&keys),
        body(include_str!("../../../prompts/control-loop/agent-sensor.md"), &values)
    )
}

fn actuator_file(dialect: Dialect) -> String {
    let keys = [
        ("name", "loop-actuator".to_owned()),
        ("description", quoted("Carries out the controller's plan by editing files")),
        ("tools", "Read, Edit, Write, Glob, Grep".to_owned()),
        ("disallowedTools", "Bash, NotebookEdit".to_owned()),
        ("model", "sonnet".to_owned()),
    ];
    let flat = NodePaths::flat();
    let (input, output) = match dialect {
        Dialect::Flat => (flat.controller_output(), flat.actuator_output()),
        Dialect::Nested => ("{input-path}".to_owned(), "{output-path}".to_owned()),
    };
    let values = [("input_path", input.as_str()), ("output_path", &output)];
    format!(
        "{}\n{}",
        front_matter::render(&keys),
        body(include_str!("../../../prompts/control-loop/agent-actuator.md"), &values)
    )
}

fn controller_file(name: &str, template: &str, values: &[(&str, &str)]) -> String {
    let keys = [
        ("name", front_matter::text(name)),
        ("description", quoted("Compares the measurements with the task and plans the next step")),
        ("tools", "Read, Glob, Grep, Bash, Write".to_owned()),
        ("disallowedTools", "Edit, NotebookEdit".to_owned()),
        ("model", "opus".to_owned()),
    ];
    format!("{}\n{}", front_matter::render(&keys), body(template, values))
}

fn body(template: &str, values: &[(&str, &str)]) -> String {
    fill(template, values).expect("every template of an agent file is filled in by a test with these names")
}

fn sensor_list(sensors: &[ListedSensor<'_>]) -> String {
    if sensors.is_empty() {
        return "There are none. Judge from the files alone.\n".to_owned();
    }
    let mut list = String::new();
    for (number, sensor) in sensors.iter().enumerate() {
        let ListedSensor { name, target, priority } = sensor;
        let output = NodePaths::flat().sensor_output(name);
        let target = contained(&target.split_whitespace().collect::<Vec<_>>().join(" "));
        let _ = write!(
            list,
            "### {}. {name} (priority: {priority})\n- **Output file:** `{output}`\n- **Target:** {target}\n\n",
            number + 1
        );
    }
    list
}
