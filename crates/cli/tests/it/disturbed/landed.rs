//! What landed without having been seen. In each loop the journal must say, before something lands, who passed exactly that:
//! judge and auditor of a task, the sensors and the controller of a met target, the evaluator of an item, the review of a round.

use serde_json::Value;
use std::collections::BTreeMap;

/// Every finding in the facts of one run.
pub(super) fn unseen(facts: &[Value]) -> Vec<String> {
    [of_task(facts), of_control(facts), of_goal(facts), of_roadmap(facts)].concat()
}

/// A loop's own facts, in their order.
fn own<'a>(facts: &'a [Value], kind: &'a str) -> impl DoubleEndedIterator<Item = &'a Value> {
    facts.iter().filter(move |fact| fact["fact"] == kind).map(|fact| &fact["data"])
}

fn of_task(facts: &[Value]) -> Vec<String> {
    let facts: Vec<&Value> = own(facts, "judged-task").collect();
    let Some(landed) = facts.iter().find_map(|fact| fact["landed"]["tree"].as_str()) else {
        return Vec::new();
    };
    let seen = |role: &str| {
        let verdict = |fact: &&&Value| fact["verdict-taken"]["role"] == role;
        facts.iter().rev().find(verdict).map(|fact| &fact["verdict-taken"])
    };
    let judged = ["judge", "auditor"].into_iter().filter_map(|role| Some((role, seen(role)?)));
    let other = judged.filter(|(_, said)| said["tree"] != landed || said["word"] != "pass");
    other.map(|(role, said)| format!("{landed} landed, and the {role} said {said}")).collect()
}

/// A node that is committed as having met its target.
fn of_control(facts: &[Value]) -> Vec<String> {
    let mut readings: BTreeMap<(u64, String), (&Value, &Value)> = BTreeMap::new();
    let mut decisions: BTreeMap<u64, &Value> = BTreeMap::new();
    let mut wrong = Vec::new();
    for fact in facts {
        let (taken, decided) = (&fact["data"]["readings-taken"], &fact["data"]["decision-taken"]);
        let committed = &fact["data"]["request"]["commit-iteration"];
        if let Some((depth, all)) = taken["depth"].as_u64().zip(taken["readings"].as_array()) {
            for reading in all {
                let sensor = reading["sensor"].as_str().expect("a sensor has a name");
                readings.insert((depth, sensor.to_owned()), (&taken["tree"], reading));
            }
        } else if let Some(depth) = decided["depth"].as_u64() {
            decisions.insert(depth, decided);
        } else if let Some(depth) = committed["depth"].as_u64().filter(|_| committed["target_met"] == true) {
            let plant = &committed["plant"];
            let said = decisions.get(&depth).copied().unwrap_or(&Value::Null);
            if said["tree"] != *plant || said["decision"]["target_met"] != true {
                wrong.push(format!(
                    "{plant} was committed as meeting the target, and the controller said {said}"
                ));
            }
            let required =
                readings.iter().filter(|((at, _), (_, reading))| *at == depth && reading["required"] == true);
            for ((_, sensor), (tree, reading)) in required {
                if *tree != plant || reading["status"] != "pass" {
                    wrong.push(format!(
                        "{plant} was committed as meeting the target, and {sensor} said {reading} of {tree}"
                    ));
                }
            }
        }
    }
    wrong
}

fn of_goal(facts: &[Value]) -> Vec<String> {
    let mut verdicts: BTreeMap<&str, &Value> = BTreeMap::new();
    let mut wrong = Vec::new();
    for fact in own(facts, "goal-contract") {
        let (verdict, committed) = (&fact["verdict-taken"], &fact["item-committed"]);
        if let Some(item) = verdict["item"].as_str() {
            verdicts.insert(item, verdict);
        } else if let Some(item) = committed["item"].as_str() {
            let said = verdicts.get(item).copied().unwrap_or(&Value::Null);
            if said["tree"] != committed["tree"] || said["pass"] != true {
                wrong.push(format!(
                    "{} was committed for {item}, and its verdict is {said}",
                    committed["tree"]
                ));
            }
        }
    }
    wrong
}

/// A round whose newest stage was not reached by an approval, or in which somebody worked since.
fn of_roadmap(facts: &[Value]) -> Vec<String> {
    const BY_APPROVAL: [&str; 3] = ["approved", "direct", "proven"];
    const WORK: [&str; 4] = ["plan", "implement", "worker", "integrate"];
    let word = |value: &Value| match value {
        Value::String(word) => word.clone(),
        Value::Object(one) => one.keys().next().cloned().unwrap_or_default(),
        _ => String::new(),
    };
    let mut standing: BTreeMap<&str, String> = BTreeMap::new();
    let mut wrong = Vec::new();
    for fact in own(facts, "roadmap-rounds") {
        let (decided, merged) = (&fact["stage-decided"], &fact["round-merged"]);
        let taken = &fact["work-taken"]["captured"]["work"];
        if let Some(round) = decided["round"].as_str() {
            standing.insert(round, word(&decided["why"]));
        } else if let Some(round) =
            taken["round"].as_str().filter(|_| WORK.contains(&word(&taken["kind"]).as_str()))
        {
            standing.insert(round, "worked on".to_owned());
        } else if let Some(round) = merged["round"].as_str() {
            let stands = standing.get(round).map_or("unknown", String::as_str);
            if !BY_APPROVAL.contains(&stands) {
                wrong.push(format!("{round} was merged, and what last happened to it: {stands}"));
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn facts(kind: &str, told: &[Value]) -> Vec<Value> {
        told.iter().map(|data| json!({ "fact": kind, "data": data })).collect()
    }

    #[test]
    fn a_tree_that_landed_and_was_not_judged_is_found() {
        let verdict = |role: &str, tree: &str| json!({ "verdict-taken": { "role": role, "word": "pass", "tree": tree } });
        let landed = |judged: &str, audited: &str| {
            let told =
                [verdict("judge", judged), verdict("auditor", audited), json!({ "landed": { "tree": "t" } })];
            unseen(&facts("judged-task", &told))
        };
        assert_eq!(landed("t", "t"), Vec::<String>::new());
        assert!(landed("other", "t")[0].contains("the judge said"), "{:?}", landed("other", "t"));
        assert!(landed("t", "other")[0].contains("the auditor said"), "{:?}", landed("t", "other"));
    }

    #[test]
    fn a_met_target_that_was_not_measured_or_not_decided_on_its_tree_is_found() {
        let committed = |measured: &str, status: &str, decided: &str| {
            let reading = json!({ "sensor": "tests", "status": status, "required": true });
            let mut all = facts(
                "feedback-control",
                &[
                    json!({ "readings-taken": { "depth": 0, "tree": measured, "readings": [reading] } }),
                    json!({ "decision-taken": { "depth": 0, "tree": decided, "decision": { "target_met": true } } }),
                ],
            );
            let request = json!({ "commit-iteration": { "depth": 0, "plant": "t", "target_met": true } });
            all.extend(facts("effect-requested", &[json!({ "effect": 1, "request": request })]));
            unseen(&all).concat()
        };
        assert_eq!(committed("t", "pass", "t"), "");
        assert!(committed("other", "pass", "t").contains("tests said"));
        assert!(committed("t", "fail", "t").contains("tests said"));
        assert!(committed("t", "pass", "other").contains("the controller said"));
    }

    #[test]
    fn an_item_that_was_committed_without_its_verdict_is_found() {
        let committed = |tree: &str, pass: bool| {
            let told = [
                json!({ "verdict-taken": { "item": "F-1", "tree": tree, "pass": pass } }),
                json!({ "item-committed": { "item": "F-1", "tree": "t" } }),
            ];
            unseen(&facts("goal-contract", &told)).len()
        };
        assert_eq!((committed("t", true), committed("t", false), committed("other", true)), (0, 1, 1));
    }

    #[test]
    fn a_round_that_was_merged_unapproved_or_worked_on_since_is_found() {
        let merged = |before: &[Value]| {
            let told = [before, &[json!({ "round-merged": { "round": "round-1" } })]].concat();
            unseen(&facts("roadmap-rounds", &told)).concat()
        };
        let stage = |why: Value| json!({ "stage-decided": { "round": "round-1", "why": why } });
        let approved = stage(json!({ "approved": { "artifact": "a" } }));
        let worked =
            json!({ "work-taken": { "captured": { "work": { "round": "round-1", "kind": "implement" } } } });
        assert_eq!(merged(&[worked.clone(), approved.clone()]), "");
        assert!(merged(&[]).contains("unknown"));
        assert!(merged(&[approved.clone(), stage(json!("implemented"))]).contains("implemented"));
        assert!(merged(&[approved, worked]).contains("worked on"));
    }
}
