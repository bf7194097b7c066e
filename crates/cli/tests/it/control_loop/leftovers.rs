//! What an actuator began and could not finish is kept under a reference, however it was cut off, and the report names it.

use super::plant::{ADDING_ACTUATOR, Plant, TASK, counting_controller, outcome};
use crate::agents_and_money::uses;
use serde_json::Value;
use windlass_test_support::wait_until;

/// Leaves half of something, says so, and then never ends by itself unless somebody was here before.
fn half(plant: &Plant) -> String {
    let begun = plant.world.shared("begun");
    format!(
        "if [ ! -e {0} ]; then echo half > half.txt; echo 7 > value; touch {0}; exec sleep 1000; fi\n{ADDING_ACTUATOR}",
        begun.display()
    )
}

/// Writes half of something, reports more tokens than it may use and then never ends by itself.
pub(super) fn spending(plant: &Plant) -> String {
    let usage = uses(r#""input":900,"output":300"#);
    let script = format!(
        "[[step]]\nrole = 'actuator'\ndo = [{{ write = 'half.txt', text = 'half' }}, {usage}, {{ hang = 'quiet' }}]\n"
    );
    plant.world.agent_from_text("spending.toml", &script)
}

/// The one reference that the report names, whose content is what the actuator had done.
fn the_kept_one(plant: &Plant, ended: &Value) -> String {
    let kept = ended["control"]["kept"].as_array().expect("a list");
    assert_eq!(kept.len(), 1, "{ended}");
    let name = kept[0].as_str().expect("a name").to_owned();
    assert!(name.starts_with(&format!("refs/windlass/kept/{}/interrupted-", plant.run_id())), "{name}");
    assert_eq!(plant.repository.git(&["show", &format!("{name}:half.txt")]), "half");
    name
}

#[test]
fn what_an_actuator_left_when_its_run_was_stopped_is_kept_and_named() {
    let plant = Plant::flat(1);
    let controller = plant.agent("controller", &counting_controller(1));
    let actuator = plant.agent("actuator", &half(&plant));
    let words = ["control", "run", TASK, "--repo", plant.repository.text(), "--yes", "--json"];
    let agents = ["--controller", &controller, "--actuator", &actuator];
    let running = plant.world.start_windlass(&[&words[..], &agents].concat());
    wait_until("the actuator at work", || plant.world.shared("begun").exists().then_some(()));
    let _ = plant.world.windlass(&["stop", &plant.run_id()]).exits_with(0);
    let name = the_kept_one(&plant, &outcome(&running.wait().exits_with(13)));
    assert_eq!(plant.repository.git(&["show", &format!("{name}:value")]), "7");
    let shown = plant.world.windlass(&["show", &plant.run_id()]).exits_with(0).stdout;
    assert!(shown.contains(&name), "{shown}");
    // Whoever goes on begins at the last commit, and what was kept stays.
    let resumed = plant.world.windlass(&["resume", &plant.run_id(), "--json"]).exits_with(0);
    assert_eq!(the_kept_one(&plant, &outcome(&resumed)), name);
    assert_eq!(plant.ends_with("value"), "1");
    plant.assert_sound();
}

#[test]
fn what_an_actuator_left_at_the_end_of_a_budget_is_kept_and_named() {
    let plant = Plant::flat(1);
    let controller = plant.agent("controller", &counting_controller(1));
    let actuator = spending(&plant);
    let words = ["control", "run", TASK, "--repo", plant.repository.text(), "--yes", "--json"];
    let agents = ["--controller", &controller, "--actuator", &actuator, "--max-tokens", "1000"];
    let ended = plant.world.windlass(&[&words[..], &agents].concat()).exits_with(12);
    the_kept_one(&plant, &outcome(&ended));
    plant.assert_sound();
}

/// The node ends with a commit and its worktree is tidied: what was begun must be kept before that.
#[test]
fn what_an_actuator_left_at_the_end_of_its_nodes_share_is_kept_and_named() {
    let plant = Plant::levels(0, 1);
    let flow = plant.repository.read(".ai-loop/flow.yaml");
    let share = flow.replacen("  type: loop\n", "  type: loop\n  budget:\n    tokens: 1000\n", 1);
    assert_ne!(share, flow);
    plant.repository.write(".ai-loop/flow.yaml", &share).commit("a share");
    let controller = plant.agent("controller", &counting_controller(1));
    let actuator = spending(&plant);
    let words = ["control", "run", TASK, "--repo", plant.repository.text(), "--yes", "--json"];
    let agents = ["--controller", &controller, "--actuator", &actuator];
    let ended = plant.world.windlass(&[&words[..], &agents].concat()).exits_with(12);
    the_kept_one(&plant, &outcome(&ended));
    assert_eq!(plant.commits().last().expect("its last commit").status, "max-iterations-reached");
    plant.assert_sound();
}

#[test]
fn a_run_whose_actuators_all_ended_keeps_nothing_beside_its_branch() {
    let plant = Plant::flat(2);
    let swing = ADDING_ACTUATOR.replacen("echo $((v + 1))", "echo $((v == 1 ? -1 : 1))", 1);
    assert_ne!(swing, ADDING_ACTUATOR);
    for keep in ["best", "last"] {
        let ended = outcome(&plant.run(
            &counting_controller(2),
            &swing,
            &["--keep", keep, "--max-iterations", "2", "--branch", keep],
        ));
        assert_eq!(ended["control"]["kept"].as_array().map(Vec::len), Some(0), "{ended}");
    }
}
