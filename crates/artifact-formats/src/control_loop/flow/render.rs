//! Writes `flow.yaml`. What has its default value is left out, so that the original reads the file too.

use super::{Flow, FlowActuator, FlowBudget, FlowNode, OnError};
use crate::control_loop::yaml::scalar;
use crate::decimal;

impl Flow {
    pub fn render(&self) -> String {
        let mut text = format!(
            "version: {}\n\ndefaults:\n  termination:\n    on_error: fail-fast\n\nflow:\n",
            self.version
        );
        node(&mut text, &self.root, "  ");
        text
    }
}

fn node(text: &mut String, node: &FlowNode, indent: &str) {
    let mut line = |words: String| {
        text.push_str(indent);
        text.push_str(&words);
        text.push('\n');
    };
    line(format!("id: {}", scalar(&node.id)));
    line("type: loop".to_owned());
    line(format!("controller: {}", scalar(node.controller.as_str())));
    line(if node.sensors.is_empty() { "sensors: []".to_owned() } else { "sensors:".to_owned() });
    for sensor in &node.sensors {
        let path = scalar(sensor.path.as_str());
        if sensor.target.is_none() && sensor.required {
            line(format!("  - {path}"));
            continue;
        }
        line(format!("  - path: {path}"));
        if let Some(target) = &sensor.target {
            line(format!("    target: {}", scalar(target)));
        }
        if !sensor.required {
            line("    required: false".to_owned());
        }
    }
    line("termination:".to_owned());
    line(format!("  max_iterations: {}", node.max_iterations));
    if node.on_error != OnError::FailFast {
        line(format!("  on_error: {}", node.on_error.word()));
    }
    if let Some(minutes) = node.timeout_minutes {
        line(format!("timeout: {minutes}"));
    }
    for words in node.budget.iter().flat_map(budget) {
        line(words);
    }
    line("actuator:".to_owned());
    match &node.actuator {
        FlowActuator::Direct { agent } => {
            line("  strategy: direct".to_owned());
            line(format!("  agent: {}", scalar(agent.as_str())));
        }
        FlowActuator::Composite { child } => {
            line("  strategy: composite".to_owned());
            line("  child:".to_owned());
            self::node(text, child, &format!("{indent}    "));
        }
    }
}

fn budget(budget: &FlowBudget) -> Vec<String> {
    let caps = [
        ("actuations", budget.actuations.map(|cap| cap.to_string())),
        ("minutes", budget.minutes.map(|cap| cap.to_string())),
        ("tokens", budget.tokens.map(|cap| cap.to_string())),
        ("cost", budget.cost_micros.map(|cap| format!("\"{}\"", decimal::spelled(cap, 6)))),
    ];
    let caps: Vec<String> =
        caps.into_iter().filter_map(|(key, cap)| cap.map(|cap| format!("  {key}: {cap}"))).collect();
    if caps.is_empty() {
        return vec!["budget: {}".to_owned()];
    }
    std::iter::once("budget:".to_owned()).chain(caps).collect()
}
