//! The agent files `.claude/agents/loop-*.md`: who the agent is and what it is told, for all dialects.
//! It knows their form; it neither starts agents nor runs the commands it finds.

mod placeholders;
mod scaffold;
mod sensor_list;

use super::front_matter::{self, Keys};
use super::paths::SENSOR_PREFIX;
use super::yaml::Yaml;
use crate::faults::{Faults, MAX_FILE_BYTES, Parsed};
use crate::markdown;
use crate::metric::{Better, MetricLabel, MetricRule};

pub use placeholders::Placeholders;
pub use scaffold::{AgentTemplate, Dialect, ListedSensor, SensorTemplate, is_known_rendering, scaffold_flow};
pub use sensor_list::{SensorEntry, sensor_entries};

/// A report is a file that bears the name with a few letters more.
const MAX_NAME_BYTES: usize = 100;
/// The target of a sensor for which none is written down anywhere.
pub const DEFAULT_TARGET: &str = "exits 0";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    /// Empty where the file has no front matter, as before the first release.
    pub name: String,
    pub description: String,
    pub tools: Vec<String>,
    pub disallowed_tools: Vec<String>,
    pub model: Option<String>,
    /// Our additions, all optional, so that old files run unchanged.
    pub target: Option<String>,
    pub metric: Option<MetricRule>,
    pub required: bool,
    pub timeout_minutes: Option<u64>,
    /// The Markdown below the front matter, without the mark that `init` leaves.
    pub body: String,
}

impl AgentFile {
    /// `file` names the file in messages only.
    pub fn parse(file: &str, text: &str) -> Parsed<Self> {
        if text.len() > MAX_FILE_BYTES {
            return Err(Faults::one(file, format!("it is longer than {MAX_FILE_BYTES} bytes")));
        }
        let split = front_matter::split(text);
        let mut warnings = Vec::new();
        let keys = match split.front {
            None => {
                warnings.push("it has no front matter; only its text is used".to_owned());
                Keys::default()
            }
            Some(front) => {
                let (keys, note) = Keys::read_forgiving(front);
                warnings.extend(note);
                keys
            }
        };
        for key in keys.names().filter(|key| !KNOWN_KEYS.contains(key)) {
            warnings
                .push(format!("the key {} is not known and has no effect here", crate::fault::excerpt(key)));
        }
        let body = markdown::without_blank_lines(scaffold::without_mark(split.body)).to_owned();
        let mut faults = Vec::new();
        if body.is_empty() {
            faults.push("it says nothing below its front matter".to_owned());
        }
        let metric = metric_rule(&keys).unwrap_or_else(|fault| {
            faults.push(fault);
            None
        });
        let agent = Self {
            name: keys.words("name").unwrap_or_default(),
            description: keys.words("description").unwrap_or_default(),
            tools: names(keys.get("tools")),
            disallowed_tools: names(keys.get("disallowedTools")),
            model: keys.words("model").filter(|model| !model.is_empty()),
            target: keys.words("target").filter(|target| !target.trim().is_empty()),
            metric,
            required: truth(&keys, "required", &mut faults).unwrap_or(true),
            timeout_minutes: minutes(&keys, &mut faults),
            body,
        };
        Faults::unless_empty(file, faults, || Some(agent)).map(|agent| (agent, warnings))
    }

    /// The command in the section "Measurement". Nothing: the sensor is prose only and needs an agent.
    pub fn measurement_command(&self) -> Option<String> {
        measurement_command(&self.body)
    }

    /// How many blocks the section "Measurement" has; only one can be meant.
    pub fn measurement_blocks(&self) -> usize {
        measurement_blocks(&self.body).len()
    }
}

const KNOWN_KEYS: [&str; 9] =
    ["name", "description", "tools", "disallowedTools", "model", "target", "metric", "required", "timeout"];

/// The name of a sensor: its file's stem without the prefix, else the front matter's name without it.
pub fn sensor_name(stem: &str, front_name: Option<&str>) -> String {
    let stripped =
        |name: &str| name.strip_prefix(SENSOR_PREFIX).filter(|rest| !rest.is_empty()).map(str::to_owned);
    stripped(stem)
        .or_else(|| front_name.and_then(stripped))
        .or_else(|| front_name.filter(|name| !name.is_empty()).map(str::to_owned))
        .unwrap_or_else(|| stem.to_owned())
}

/// Why a sensor cannot be called so: its name stands in the names of files and in the list of sensors of every commit.
pub fn sensor_name_fault(name: &str) -> Option<&'static str> {
    let splits = |letter: char| letter.is_control() || matches!(letter, '/' | '\\' | ',' | ':');
    if name.trim().is_empty() || name.starts_with('.') {
        Some("must begin with something else than a dot")
    } else if name.contains(splits) {
        Some("must hold no slash, comma, colon or line break")
    } else if name.len() > MAX_NAME_BYTES {
        Some("is too long")
    } else {
        None
    }
}

/// The first indented or fenced block in the section "Measurement".
pub fn measurement_command(body: &str) -> Option<String> {
    let first = measurement_blocks(body).into_iter().next()?;
    (!first.trim().is_empty()).then(|| first.trim_end().to_owned())
}

/// All of them; more than one says that the file means something else than would be run.
fn measurement_blocks(body: &str) -> Vec<String> {
    let section = markdown::section(
        body,
        |heading| heading.level == 2 && heading.is("Measurement"),
        |heading| heading.level <= 2,
    );
    section.map(markdown::code_blocks).unwrap_or_default()
}

/// A comma list or a YAML list of tool names.
fn names(value: Option<&Yaml>) -> Vec<String> {
    let words = match value {
        Some(Yaml::List(items)) => items.iter().filter_map(Yaml::as_words).collect(),
        Some(other) => other.as_words().unwrap_or_default().split(',').map(str::to_owned).collect(),
        None => Vec::new(),
    };
    words.iter().map(|name: &String| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// `metric: auto`; a text beginning with `/` is a pointer, any other a pattern; or a mapping with one of `pattern` and
/// `pointer`, and optionally `name`, `unit` and `better`.
fn metric_rule(keys: &Keys) -> Result<Option<MetricRule>, String> {
    let rule = match keys.get("metric") {
        None | Some(Yaml::Null) => return Ok(None),
        Some(Yaml::Text(text)) if text == "auto" => Ok(MetricRule::Auto),
        Some(Yaml::Text(text)) if text.starts_with('/') => MetricRule::pointer(text, MetricLabel::default()),
        Some(Yaml::Text(text)) => MetricRule::pattern(text, MetricLabel::default()),
        Some(Yaml::Map(entries)) => {
            let text = |key: &str| {
                entries.iter().find(|(name, _)| name == key).and_then(|(_, value)| value.as_words())
            };
            let default = MetricLabel::default();
            let better = match text("better").as_deref() {
                None => default.better,
                Some("higher") => Better::Higher,
                Some("lower") => Better::Lower,
                Some(_) => return Err("`metric.better` must be `higher` or `lower`".to_owned()),
            };
            let name = text("name").filter(|name| !name.trim().is_empty()).unwrap_or(default.name);
            let label = MetricLabel { name, unit: text("unit").unwrap_or(default.unit), better };
            match (text("pattern"), text("pointer")) {
                (Some(pattern), None) => MetricRule::pattern(&pattern, label),
                (None, Some(pointer)) => MetricRule::pointer(&pointer, label),
                _ => return Err("`metric` must have exactly one of `pattern` and `pointer`".to_owned()),
            }
        }
        Some(other) => return Err(format!("`metric` must be a text or a mapping, not {}", other.kind())),
    };
    rule.map(Some).map_err(|error| format!("`metric` cannot be used: {error}"))
}

fn truth(keys: &Keys, key: &str, faults: &mut Vec<String>) -> Option<bool> {
    match keys.get(key)? {
        Yaml::Bool(value) => Some(*value),
        Yaml::Text(text) if text == "true" || text == "false" => Some(text == "true"),
        _ => {
            faults.push(format!("`{key}` must be true or false"));
            None
        }
    }
}

fn minutes(keys: &Keys, faults: &mut Vec<String>) -> Option<u64> {
    let value = keys.get("timeout").filter(|value| **value != Yaml::Null)?;
    let minutes = super::flow::minutes(value);
    if minutes.is_none() {
        faults.push("`timeout` must be whole minutes, such as `30`, `30m` or `2h`".to_owned());
    }
    minutes
}
