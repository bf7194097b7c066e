//! What an agent offers for a session it has opened: its modes, in two forms that agents use, and the model it starts with.

use serde_json::{Value, json};

/// The request that switches to a mode in which the agent changes nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ModeRequest {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
}

/// Names of such modes, the strictest first.
const READ_ONLY_NAMES: [&str; 2] = ["readonly", "plan"];

/// `None` where no such mode is offered. `opened` is the answer to `session/new` or `session/load`.
pub(crate) fn read_only_mode(opened: &Value, session: &str) -> Option<ModeRequest> {
    let modes = list(opened.pointer("/modes/availableModes"));
    if let Some(mode) = strictest(modes, "id") {
        let params = json!({ "sessionId": session, "modeId": mode });
        return Some(ModeRequest { method: "session/set_mode", params });
    }
    let option = list(opened.get("configOptions")).find(|option| option["category"] == "mode")?;
    // The choices may stand in groups.
    let choices = list(option.get("options")).flat_map(|choice| match choice.get("options") {
        Some(group) => list(Some(group)).collect(),
        None => vec![choice],
    });
    let value = strictest(choices, "value")?;
    let params = json!({ "sessionId": session, "configId": option["id"], "value": value });
    Some(ModeRequest { method: "session/set_config_option", params })
}

/// The model's name, unless the agent leaves the choice open.
pub(crate) fn model(opened: &Value) -> Option<&str> {
    let of_options = || {
        let option = list(opened.get("configOptions")).find(|option| option["category"] == "model")?;
        option.get("currentValue")?.as_str()
    };
    let told = opened.pointer("/models/currentModelId").and_then(Value::as_str).or_else(of_options);
    told.filter(|name| !name.is_empty() && !["auto", "default"].contains(name))
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn strictest<'a>(choices: impl Iterator<Item = &'a Value>, id: &str) -> Option<&'a str> {
    let ranked = choices.filter_map(|choice| {
        let value = choice.get(id)?.as_str()?;
        let names = [value, choice.get("name").and_then(Value::as_str).unwrap_or_default()].map(plain_name);
        let rank = READ_ONLY_NAMES.iter().position(|known| names.iter().any(|name| name == known))?;
        Some((rank, value))
    });
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, value)| value)
}

/// `read-only`, `Read Only` and `https://host/modes#readonly` are one name.
fn plain_name(name: &str) -> String {
    let last = name.rsplit(['#', '/']).next().unwrap_or(name);
    last.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(opened: Value) -> Option<(&'static str, Value)> {
        read_only_mode(&opened, "s").map(|request| (request.method, request.params))
    }

    #[test]
    fn the_strictest_mode_that_is_offered_is_chosen_whatever_its_name_looks_like() {
        let modes = |ids: &[&str]| {
            let modes: Vec<Value> = ids.iter().map(|id| json!({"id": id, "name": id})).collect();
            json!({"modes": {"availableModes": modes, "currentModeId": ids.first()}})
        };
        let mode = |id: &str| Some(("session/set_mode", json!({"sessionId": "s", "modeId": id})));
        assert_eq!(chosen(modes(&["default", "autoEdit", "yolo", "plan"])), mode("plan"));
        assert_eq!(chosen(modes(&["plan", "read-only", "full-access"])), mode("read-only"));
        let far = "https://agentclientprotocol.com/protocol/session-modes#plan";
        assert_eq!(chosen(modes(&["x#agent", far])), mode(far));
        assert_eq!(chosen(modes(&["default", "planner"])), None);
        let named = json!({"modes": {"availableModes": [{"id": "m7", "name": "Read Only"}]}});
        assert_eq!(chosen(named), mode("m7"));
    }

    #[test]
    fn modes_may_hide_among_the_options_and_in_groups() {
        let options = |options: Value| {
            json!({"modes": null, "configOptions": [{"id": "model", "category": "model"},
                {"id": "m", "category": "mode", "options": options}]})
        };
        let expected =
            Some(("session/set_config_option", json!({"sessionId": "s", "configId": "m", "value": "plan"})));
        let plan = json!({"value": "plan", "name": "Plan"});
        assert_eq!(chosen(options(json!([{"value": "build", "name": "build"}, plan]))), expected);
        assert_eq!(chosen(options(json!([{"group": "g", "options": [plan]}]))), expected);
        assert_eq!(chosen(options(json!("odd"))), None);
        assert_eq!(chosen(json!(null)), None);
    }

    #[test]
    fn a_model_is_told_only_where_one_was_chosen() {
        assert_eq!(model(&json!({"models": {"currentModelId": "m-1"}})), Some("m-1"));
        let option = json!({"configOptions": [{"category": "model", "currentValue": "a/b"}]});
        assert_eq!(model(&option), Some("a/b"));
        assert_eq!(model(&json!({"models": {"currentModelId": "auto"}})), None);
        assert_eq!(model(&json!({})), None);
    }
}
