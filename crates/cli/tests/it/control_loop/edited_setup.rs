//! A person edits the set-up while a run works with the copy it pinned: nothing changes for the run, and it says so once.

use super::plant::{ADDING_ACTUATOR, BRANCH, Plant, counting_controller, outcome};
use serde_json::Value;

const FLOW: &str = ".ai-loop/flow.yaml";
const SENSOR: &str = ".claude/agents/loop-sensor-high.md";

/// Acts, and in its first iteration plays the person as well, who does this in their checkout.
fn while_it_acts(plant: &Plant, what: &str) -> String {
    let checkout = plant.repository.text();
    let person = "git -c user.name=Ada -c user.email=ada@example.com";
    format!(
        "{ADDING_ACTUATOR}\nif [ \"$WINDLASS_LABEL\" = 1 ]; then cd '{checkout}'; person='{person}'; {what}\nfi"
    )
}

/// One loop with a flow; outside of the sandbox, where the person is.
fn plant() -> Plant {
    let mut plant = Plant::levels(0, 3);
    plant.world.without_sandbox("the actuator plays a person at work in the checkout");
    plant
}

/// The sentences in which the run spoke of an edit.
fn told(plant: &Plant) -> Vec<String> {
    let of_edits = plant.log().into_iter().filter(|entry| entry["kind"] == "setup-edited");
    of_edits.map(|entry| entry["text"].as_str().expect("a sentence").to_owned()).collect()
}

fn edited(ended: &Value) -> Vec<&str> {
    let list = ended["control"]["setup_edited"].as_array().expect("a list");
    list.iter().filter_map(Value::as_str).collect()
}

#[test]
fn a_flow_that_is_edited_in_the_checkout_changes_nothing_and_is_told_once() {
    let plant = plant();
    let before = plant.repository.read(FLOW);
    // With what they write, the loop would have one iteration and could never meet its target.
    let what = format!("sed -i s/5/1/ {FLOW}; sed -i 's/-ge 3/-ge 9/' {SENSOR}");
    let ran = plant.run(&counting_controller(3), &while_it_acts(&plant, &what), &[]).exits_with(0);
    let lived = ran.json_lines().into_iter().filter(|line| line["kind"] == "setup-edited").count();
    let ended = outcome(&ran);
    assert_eq!((&ended["control"]["actuations"], lived), (&3.into(), 1), "{ended}");
    assert_eq!(plant.ends_with(FLOW), before.trim_end());
    assert_ne!(plant.repository.read(FLOW), before);
    assert_eq!(edited(&ended), [FLOW, SENSOR]);
    let told = told(&plant);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(FLOW) && told[0].contains("the set-up it began with"), "{told:?}");
    let status = plant.world.windlass(&["control", "status", &plant.run_id()]).exits_with(0).stdout;
    assert!(status.contains("set-up") && status.contains(&format!("{FLOW}, {SENSOR} edited")), "{status}");
    plant.assert_sound();
}

/// The checkout stands on another branch, whose own set-up is nobody's edit.
#[test]
fn a_flow_that_is_committed_on_the_base_branch_changes_nothing_and_is_told_once() {
    let plant = plant();
    let what = format!(
        "git checkout -q -b theirs && sed -i 's/-ge 3/-ge 9/' {SENSOR} && $person commit -qam elsewhere && git checkout -q main && sed -i s/5/1/ {FLOW} && $person commit -qam edited && git checkout -q theirs"
    );
    let ran = plant.run(&counting_controller(3), &while_it_acts(&plant, &what), &[]).exits_with(0);
    let ended = outcome(&ran);
    assert_eq!((edited(&ended), &ended["control"]["actuations"]), (vec![FLOW], &3.into()));
    assert_eq!(told(&plant).len(), 1);
    assert!(plant.ends_with(FLOW).contains("max_iterations: 5"));
}

/// What was there when the run began is no edit: changes that were taken along, line ends of the checkout.
#[test]
fn a_set_up_as_it_was_at_the_start_is_not_told() {
    let plant = plant();
    plant.repository.git(&["config", "core.autocrlf", "true"]);
    plant.repository.git(&["rm", "-q", "--cached", "-r", "."]);
    plant.repository.git(&["reset", "-q", "--hard"]);
    assert!(plant.repository.read(SENSOR).contains("\r\n"));
    let flow = plant.repository.read(FLOW).replace("max_iterations: 5", "max_iterations: 4");
    let _ = plant.repository.write(FLOW, &flow);
    let ran = plant.count_to(3, &["--allow-dirty"]).exits_with(0);
    assert_eq!(told(&plant), Vec::<String>::new());
    assert_eq!(edited(&outcome(&ran)), Vec::<&str>::new());
    assert!(plant.repository.git(&["show", &format!("{BRANCH}:{FLOW}")]).contains("max_iterations: 4"));
}

#[test]
fn one_more_sensor_of_a_flat_set_up_is_an_edit() {
    let mut plant = Plant::flat(2);
    plant.world.without_sandbox("the actuator plays a person at work in the checkout");
    let more = ".claude/agents/loop-sensor-more.md";
    let what = format!("cp {SENSOR} {more}");
    let ran = plant.run(&counting_controller(2), &while_it_acts(&plant, &what), &[]).exits_with(0);
    let ended = outcome(&ran);
    assert_eq!(edited(&ended), [more]);
    assert_eq!(ended["control"]["nodes"][0]["sensors"].as_array().map(Vec::len), Some(1));
}
