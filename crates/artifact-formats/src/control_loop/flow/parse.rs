//! Reads `flow.yaml` and says everything that is wrong with it at once. Unknown keys are warnings, so that a file for a
//! newer program still runs.

use super::{
    DEFAULT_MAX_ITERATIONS, FLOW_FILE, Flow, FlowActuator, FlowBudget, FlowNode, FlowSensor, OnError,
};
use crate::control_loop::yaml::{Yaml, YamlFault};
use crate::decimal;
use crate::fault::excerpt;
use crate::faults::{Faults, Parsed};
use crate::repo_path::RepoPath;

/// Longest node id: each is a folder's name, and the names of all levels make one path.
const MAX_ID_CHARS: usize = 64;

/// What the YAML reader's own limit leaves room for; far beyond what caps make affordable.
const MAX_LOOPS: usize = 30;

fn too_deep() -> String {
    format!("a flow is at most {MAX_LOOPS} loops deep, and this one is nested deeper")
}

impl Flow {
    pub fn parse(text: &str) -> Parsed<Self> {
        let document = Yaml::parse(text).map_err(|fault| {
            let words = match fault {
                YamlFault::TooDeep => too_deep(),
                YamlFault::Unreadable(why) => format!("it is not YAML: {why}"),
            };
            Faults::one(FLOW_FILE, words)
        })?;
        let mut reader = Reader::default();
        let flow = reader.flow(&document);
        let Reader { faults, warnings, .. } = reader;
        Faults::unless_empty(FLOW_FILE, faults, || flow).map(|flow| (flow, warnings))
    }
}

#[derive(Default)]
struct Reader {
    faults: Vec<String>,
    warnings: Vec<String>,
    default_max_iterations: Option<u32>,
    default_on_error: OnError,
    /// Ids from the root to the node being read.
    ids: Vec<String>,
}

type Entries = [(String, Yaml)];

impl Reader {
    fn flow(&mut self, document: &Yaml) -> Option<Flow> {
        let entries = self.mapping(document, "the file")?;
        self.unknown_keys(entries, &["version", "defaults", "flow"], "at the top");
        let version = match get(entries, "version") {
            Some(Yaml::Int(1)) => Some(1),
            Some(other) => {
                let found = other.as_words().unwrap_or_else(|| other.kind().to_owned());
                self.faults.push(format!("`version` must be 1; found {}", excerpt(&found)));
                None
            }
            None => {
                self.faults.push("`version: 1` is missing".to_owned());
                None
            }
        };
        self.defaults(entries);
        let Some(root) = get(entries, "flow") else {
            self.faults.push("`flow` with the outermost loop is missing".to_owned());
            return None;
        };
        let root = self.node(root);
        Some(Flow { version: version?, root: root? })
    }

    fn defaults(&mut self, entries: &Entries) {
        let Some(defaults) = present(entries, "defaults") else { return };
        let Some(defaults) = self.mapping(defaults, "`defaults`") else { return };
        self.unknown_keys(defaults, &["termination"], "in `defaults`");
        let Some(termination) = present(defaults, "termination") else { return };
        let Some(termination) = self.mapping(termination, "`defaults.termination`") else { return };
        self.unknown_keys(termination, &["on_error", "max_iterations"], "in `defaults.termination`");
        self.default_max_iterations = self.at_least_one(termination, "max_iterations", "defaults");
        self.default_on_error = self.on_error(termination, "defaults").unwrap_or_default();
    }

    fn node(&mut self, value: &Yaml) -> Option<FlowNode> {
        let place =
            if self.ids.is_empty() { "`flow`".to_owned() } else { format!("the child of {}", self.place()) };
        if self.ids.len() >= MAX_LOOPS {
            self.faults.push(too_deep());
            return None;
        }
        let entries = self.mapping(value, &place)?;
        let id = self.id(entries, &place);
        self.ids.push(id.clone().unwrap_or_else(|| "?".to_owned()));
        let place = self.place();
        let known = ["id", "type", "controller", "actuator", "sensors", "termination", "timeout", "budget"];
        self.unknown_keys(entries, &known, &format!("in {place}"));
        match get(entries, "type") {
            Some(Yaml::Text(kind)) if kind == "loop" => {}
            Some(_) => self.faults.push(format!("{place}: `type` must be `loop`")),
            None => self.faults.push(format!("{place}: `type: loop` is missing")),
        }
        let controller = self.path(get(entries, "controller"), "controller", &place);
        let sensors = self.sensors(entries, &place);
        let (max_iterations, on_error) = self.termination(entries, &place);
        let timeout_minutes = self.timeout(entries, &place);
        let budget = self.budget(entries, &place);
        let actuator = self.actuator(entries, &place);
        self.ids.pop();
        Some(FlowNode {
            id: id?,
            controller: controller?,
            actuator: actuator?,
            sensors,
            max_iterations,
            on_error,
            timeout_minutes,
            budget,
        })
    }

    fn place(&self) -> String {
        format!("node `{}`", self.ids.join("/"))
    }

    fn id(&mut self, entries: &Entries, place: &str) -> Option<String> {
        let Some(id) = get(entries, "id").and_then(Yaml::as_words) else {
            self.faults.push(format!("{place}: `id` is missing"));
            return None;
        };
        if let Some(fault) = id_fault(&id) {
            self.faults.push(format!("{place}: the id {} {fault}", excerpt(&id)));
            return None;
        }
        if self.ids.contains(&id) {
            self.faults.push(format!("{place}: the id `{id}` is already that of a loop around it"));
            return None;
        }
        Some(id)
    }

    fn termination(&mut self, entries: &Entries, place: &str) -> (u32, OnError) {
        let own = present(entries, "termination")
            .and_then(|termination| self.mapping(termination, &format!("{place}: `termination`")))
            .unwrap_or_default();
        self.unknown_keys(own, &["max_iterations", "on_error"], &format!("in `termination` of {place}"));
        let max_iterations = self.at_least_one(own, "max_iterations", place);
        let on_error = self.on_error(own, place);
        (
            max_iterations.or(self.default_max_iterations).unwrap_or(DEFAULT_MAX_ITERATIONS),
            on_error.unwrap_or(self.default_on_error),
        )
    }

    fn on_error(&mut self, entries: &Entries, place: &str) -> Option<OnError> {
        let value = present(entries, "on_error")?;
        let found = [OnError::FailFast, OnError::ReportToParent]
            .into_iter()
            .find(|policy| *value == Yaml::Text(policy.word().to_owned()));
        if found.is_none() {
            self.faults.push(format!("{place}: `on_error` must be `fail-fast` or `report-to-parent`"));
        }
        found
    }

    fn actuator(&mut self, entries: &Entries, place: &str) -> Option<FlowActuator> {
        let Some(value) = present(entries, "actuator") else {
            self.faults.push(format!("{place}: `actuator` is missing"));
            return None;
        };
        let actuator = self.mapping(value, &format!("{place}: `actuator`"))?;
        self.unknown_keys(actuator, &["strategy", "agent", "child"], &format!("in `actuator` of {place}"));
        let strategy = get(actuator, "strategy").and_then(Yaml::as_words);
        match strategy.as_deref() {
            Some("direct") => {
                if get(actuator, "child").is_some() {
                    self.faults.push(format!("{place}: a direct actuator has no `child`"));
                }
                let agent = self.path(get(actuator, "agent"), "actuator.agent", place)?;
                Some(FlowActuator::Direct { agent })
            }
            Some("composite") => {
                if get(actuator, "agent").is_some() {
                    self.warnings.push(format!("{place}: `agent` of a composite actuator is not used"));
                }
                let Some(child) = present(actuator, "child") else {
                    self.faults.push(format!("{place}: a composite actuator needs a `child`"));
                    return None;
                };
                if let Yaml::List(_) = child {
                    self.faults
                        .push(format!("{place}: a composite actuator has exactly one `child`, not a list"));
                    return None;
                }
                Some(FlowActuator::Composite { child: Box::new(self.node(child)?) })
            }
            _ => {
                self.faults.push(format!("{place}: `actuator.strategy` must be `direct` or `composite`"));
                None
            }
        }
    }

    fn sensors(&mut self, entries: &Entries, place: &str) -> Vec<FlowSensor> {
        let items = match present(entries, "sensors") {
            None => return Vec::new(),
            Some(Yaml::List(items)) => items,
            Some(other) => {
                self.faults.push(format!("{place}: `sensors` must be a list, not {}", other.kind()));
                return Vec::new();
            }
        };
        let mut sensors: Vec<FlowSensor> = Vec::new();
        for item in items {
            let Some(sensor) = self.sensor(item, place) else { continue };
            if sensors.iter().any(|other| other.name() == sensor.name()) {
                self.faults.push(format!(
                    "{place}: two sensors are called `{}`; their reports would be one file",
                    sensor.name()
                ));
            }
            sensors.push(sensor);
        }
        sensors
    }

    fn sensor(&mut self, item: &Yaml, place: &str) -> Option<FlowSensor> {
        let Yaml::Map(entries) = item else {
            let path = self.path(Some(item), "sensors", place)?;
            return Some(FlowSensor { path, target: None, required: true });
        };
        self.unknown_keys(entries, &["path", "target", "required"], &format!("in a sensor of {place}"));
        let path = self.path(get(entries, "path"), "path` of a sensor, `sensors[].path", place);
        let target = present(entries, "target").and_then(|target| {
            let words = target.as_words();
            if words.is_none() {
                self.faults.push(format!("{place}: a sensor's `target` must be a text"));
            }
            words
        });
        let required = match present(entries, "required") {
            None => true,
            Some(Yaml::Bool(required)) => *required,
            Some(_) => {
                self.faults.push(format!("{place}: a sensor's `required` must be true or false"));
                true
            }
        };
        Some(FlowSensor { path: path?, target, required })
    }

    fn timeout(&mut self, entries: &Entries, place: &str) -> Option<u64> {
        let minutes = minutes(present(entries, "timeout")?);
        if minutes.is_none() {
            self.faults
                .push(format!("{place}: `timeout` must be whole minutes, such as `30`, `30m` or `2h`"));
        }
        minutes
    }

    fn budget(&mut self, entries: &Entries, place: &str) -> Option<FlowBudget> {
        let budget = self.mapping(present(entries, "budget")?, &format!("{place}: `budget`"))?;
        self.unknown_keys(
            budget,
            &["actuations", "minutes", "tokens", "cost"],
            &format!("in `budget` of {place}"),
        );
        let mut whole = |key: &str| {
            let value = present(budget, key)?;
            let number = match value {
                Yaml::Int(number) => u64::try_from(*number).ok(),
                Yaml::Text(text) => text.parse().ok(),
                _ => None,
            };
            // With nothing at all a node could begin nothing.
            let number = number.filter(|number| *number > 0);
            if number.is_none() {
                self.faults.push(format!("{place}: `budget.{key}` must be a whole number of at least 1"));
            }
            number
        };
        let (actuations, minutes, tokens) = (whole("actuations"), whole("minutes"), whole("tokens"));
        let cost_micros = present(budget, "cost").and_then(|value| {
            let micros = value.as_words().and_then(|words| decimal::parse(words.trim(), 6));
            let micros = micros.and_then(|micros| u64::try_from(micros).ok()).filter(|micros| *micros > 0);
            if micros.is_none() {
                self.faults.push(format!("{place}: `budget.cost` must be an amount such as `2.50`"));
            }
            micros
        });
        let actuations = actuations.map(|cap| u32::try_from(cap).unwrap_or(u32::MAX));
        Some(FlowBudget { actuations, minutes, tokens, cost_micros })
    }

    fn at_least_one(&mut self, entries: &Entries, key: &str, place: &str) -> Option<u32> {
        let value = present(entries, key)?;
        let number = if let Yaml::Int(number) = value { u32::try_from(*number).ok() } else { None };
        let number = number.filter(|number| *number >= 1);
        if number.is_none() {
            self.faults.push(format!("{place}: `{key}` must be a whole number of at least 1"));
        }
        number
    }

    fn path(&mut self, value: Option<&Yaml>, key: &str, place: &str) -> Option<RepoPath> {
        let Some(text) = value.and_then(Yaml::as_words) else {
            self.faults.push(format!("{place}: `{key}` must name a file"));
            return None;
        };
        match RepoPath::parse(&text) {
            Ok(path) => Some(path),
            Err(fault) => {
                self.faults.push(format!("{place}: the path {} of `{key}` {fault}", excerpt(&text)));
                None
            }
        }
    }

    fn mapping<'a>(&mut self, value: &'a Yaml, place: &str) -> Option<&'a Entries> {
        if let Yaml::Map(entries) = value {
            return Some(entries);
        }
        self.faults.push(format!("{place} must be a mapping, not {}", value.kind()));
        None
    }

    fn unknown_keys(&mut self, entries: &Entries, known: &[&str], place: &str) {
        for (key, _) in entries.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
            self.warnings.push(format!("the key {} {place} is not known and has no effect", excerpt(key)));
        }
    }
}

fn get<'a>(entries: &'a Entries, key: &str) -> Option<&'a Yaml> {
    entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// As [`get`]; a key without value counts as absent.
fn present<'a>(entries: &'a Entries, key: &str) -> Option<&'a Yaml> {
    get(entries, key).filter(|value| **value != Yaml::Null)
}

fn id_fault(id: &str) -> Option<&'static str> {
    let first_is_plain = id.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    let rest_is_plain =
        id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    if !first_is_plain || !rest_is_plain {
        return Some("must start with a letter or digit and hold only letters, digits, `.`, `_` and `-`");
    }
    if id.len() > MAX_ID_CHARS {
        return Some("is too long");
    }
    // A child's folder lies beside its parent's reports.
    let is_report_like = id.len() > 3 && id[id.len() - 3..].eq_ignore_ascii_case(".md");
    is_report_like.then_some("ends in `.md` like the reports its folder would lie beside")
}

/// A limit in whole minutes: `30`, `30m` or `2h`.
pub(crate) fn minutes(value: &Yaml) -> Option<u64> {
    let minutes = match value {
        Yaml::Int(minutes) => u64::try_from(*minutes).ok(),
        Yaml::Text(text) => minutes_of(text),
        _ => None,
    };
    minutes.filter(|minutes| *minutes > 0)
}

fn minutes_of(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.split_at_checked(text.len().checked_sub(1)?)? {
        (number, "m") => number.parse().ok(),
        (number, "h") => number.parse::<u64>().ok()?.checked_mul(60),
        _ => text.parse().ok(),
    }
}
