//! From the text of a script to its steps.

use toml::de::DeTable;

use crate::invocation::Role;

use super::action_reader::read_actions;
use super::fields::{Fields, Node, ScriptError, syntax_error};
use super::{PromptReading, Script, Step};

pub(super) fn read_script(text: &str) -> Result<Script, ScriptError> {
    let document = DeTable::parse(text).map_err(|error| syntax_error(text, &error))?;
    let root = Fields::root(text, document.get_ref());
    root.only("the script", &["step"])?;
    let steps = root.need("step", "the script", "at least one [[step]]")?.list()?;
    Ok(Script { steps: steps.iter().map(read_step).collect::<Result<_, _>>()? })
}

fn read_step(node: &Node<'_>) -> Result<Step, ScriptError> {
    let fields = node.fields()?;
    fields.only("a step", &["role", "round", "attempt", "label", "stdin", "do"])?;
    let roles = Role::ALL.map(|role| (role.as_str(), role));
    let readings = [("read", PromptReading::ToTheEnd), ("ignore", PromptReading::Ignored)];
    Ok(Step {
        role: fields.get("role").map(|role| role.one_of("role", &roles)).transpose()?,
        round: fields.get("round").map(|round| counted_from_one(&round)).transpose()?,
        attempt: fields.get("attempt").map(|attempt| counted_from_one(&attempt)).transpose()?,
        label: fields.get("label").map(|label| label.text().map(str::to_owned)).transpose()?,
        prompt: fields
            .get("stdin")
            .map_or(Ok(PromptReading::ToTheEnd), |stdin| stdin.one_of("use of stdin", &readings))?,
        actions: fields.get("do").map_or(Ok(Vec::new()), |actions| read_actions(&actions))?,
    })
}

fn counted_from_one(node: &Node<'_>) -> Result<u32, ScriptError> {
    match node.small_number()? {
        0 => Err(node.wrong_type("a whole number from 1 up")),
        number => Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_names_its_line_and_the_nearest_word() {
        let table = [
            ("", "line 1: the script needs at least one [[step]]"),
            (
                "\n[[steps]]\n",
                "line 2: unknown key `steps` in the script: did you mean `step`? (known: step)",
            ),
            (
                "[[step]]\nroll = 'doer'",
                "line 2: unknown key `roll` in a step: did you mean `role`? (known: role, round, attempt, label, stdin, do)",
            ),
            (
                "[[step]]\nrole = 'dooer'",
                "line 2: unknown role `dooer`: did you mean `doer`? (known: doer, judge, auditor, sensor, controller, actuator, planner, builder, evaluator, implementer, reviewer, recovery-investigator)",
            ),
            ("[[step]]\nrole = 3", "line 2: `role` must be text, but is the number 3"),
            ("[[step]]\nround = 0", "line 2: `round` must be a whole number from 1 up, but is the number 0"),
            (
                "[[step]]\nround = -1",
                "line 2: `round` must be a whole number from 0 up, but is the number -1",
            ),
            (
                "[[step]]\n\nattempt = '1'",
                "line 3: `attempt` must be a whole number from 0 up, but is the text `1`",
            ),
            (
                "[[step]]\nstdin = 'ignored'",
                "line 2: unknown use of stdin `ignored`: did you mean `ignore`? (known: read, ignore)",
            ),
            ("[[step]]\ndo = 'x'", "line 2: `do` must be a list, but is the text `x`"),
            ("step = 3", "line 1: `step` must be a list, but is the number 3"),
        ];
        for (text, message) in table {
            assert_eq!(read_script(text).unwrap_err().to_string(), message, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_toml_is_refused_with_its_line() {
        let error = read_script("[[step]]\nrole = 'doer\n").unwrap_err();
        assert_eq!(error.line, 2, "{error}");
    }

    #[test]
    fn a_step_may_ignore_its_prompt() {
        let script = read_script("[[step]]\nstdin = 'ignore'\n[[step]]\n").unwrap();
        let readings: Vec<_> = script.steps.iter().map(|step| step.prompt).collect();
        assert_eq!(readings, [PromptReading::Ignored, PromptReading::ToTheEnd]);
    }
}
