//! A control loop waits in the same inbox and is answered with the same words.

use super::{inbox, only, refused};
use crate::control_loop::plant::{ADDING_ACTUATOR, Plant, counting_controller, outcome};

/// Its controller never sees what the sensor sees.
fn stalled() -> (Plant, String) {
    let plant = Plant::flat(9);
    let ended = outcome(&plant.run(&counting_controller(0), ADDING_ACTUATOR, &[]).exits_with(11));
    let run = ended["run"].as_str().unwrap().to_owned();
    (plant, run)
}

#[test]
fn a_control_loop_that_needs_a_person_waits_in_the_same_inbox() {
    let (plant, run) = stalled();
    let entry = only(&plant.world);
    assert_eq!((&entry["run"], &entry["kind"]), (&run.as_str().into(), &"control".into()));
    assert!(entry["cause"].as_str().unwrap().contains("high"), "{entry:#}");
    assert!(entry["tried"][0].as_str().unwrap().contains("high fail"), "{entry:#}");
    assert!(entry["commands"][0].as_str().unwrap().starts_with(&format!("windlass answer {run}")));
}

#[test]
fn a_control_loop_can_be_dismissed_and_answered_but_not_taken_over() {
    let (plant, run) = stalled();
    for words in [&["take-over", &run][..], &["reject", &run, "--reason", "no"], &["approve", &run]] {
        let no = plant.world.windlass(words).exits_with(14);
        refused(&no, "a control loop commits every iteration on");
    }
    let _ = plant.world.windlass(&["skip", &run]).exits_with(0);
    assert!(inbox(&plant.world, &[]).is_empty());
    // It goes on, is as blind as before, and waits again.
    let _ = plant.world.windlass(&["answer", &run, "look at the sensor"]).exits_with(11);
    assert_eq!(inbox(&plant.world, &[]).len(), 1);
    let _ = plant.world.windlass(&["verify", &run]).exits_with(0);
}
