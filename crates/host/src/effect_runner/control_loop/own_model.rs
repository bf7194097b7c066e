//! The model that an agent file of the repository asks for. Whoever named a model for the role has the last word; of the
//! names of models only those three are known here that agent files use.

use windlass_agent_drivers::{AgentChoice, AgentProgram};
use windlass_artifact_formats::control_loop::AgentFile;
use windlass_protocols::Role;
use windlass_protocols::effect::RunAgent;
use windlass_protocols::protocol::feedback_control::spec::{Actuator, AgentText, ControlSpec};

/// The words of agent files. Only claude knows what they mean.
const WORDS: [&str; 3] = ["opus", "sonnet", "haiku"];

/// The agent of this step, with the model of its file where the user left the model open.
pub(in super::super) fn given(spec: &ControlSpec, asked: &RunAgent, choice: AgentChoice) -> AgentChoice {
    let AgentChoice::Known { program: AgentProgram::Claude, model: None, effort } = choice else {
        return choice;
    };
    let file = file(spec, asked).and_then(|file| AgentFile::parse(&file.path, &file.text).ok());
    let model = file.and_then(|(file, _)| file.model).filter(|model| WORDS.contains(&model.as_str()));
    AgentChoice::Known { program: AgentProgram::Claude, model, effort }
}

fn file<'a>(spec: &'a ControlSpec, asked: &RunAgent) -> Option<&'a AgentText> {
    let step = asked.node.as_ref()?;
    let node = spec.node(step.depth as usize);
    match (asked.role, &node.actuator) {
        (Role::Controller, _) => Some(&node.controller),
        (Role::Actuator, Actuator::Direct(file)) => Some(file),
        (Role::Sensor, _) => {
            let sensor = node.sensors.iter().find(|sensor| Some(&sensor.name) == step.sensor.as_ref());
            sensor.map(|sensor| &sensor.file)
        }
        _ => None,
    }
}
