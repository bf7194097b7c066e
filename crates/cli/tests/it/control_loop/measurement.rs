//! Sensors of several lines: every line counts, and what is shown is what is run.

use super::plant::{Plant, outcome};

fn with_measurement(section: &str) -> Plant {
    let plant = Plant::flat(0);
    let text = format!(
        "---\nname: loop-sensor-high\n---\n\n# Sensor: high\n\n## Measurement\n\n{section}\n\n## Output\n\nWrite it down.\n"
    );
    plant.repository.write(".claude/agents/loop-sensor-high.md", &text).commit("a sensor");
    plant
}

const CLAIMS: &str = r#"printf -- '---\ntarget-met: true\n---\n\n## Gap Analysis\n\nnone\n' > "$WINDLASS_OUTBOX/controller-output.md""#;

#[test]
fn a_line_that_fails_fails_the_sensor() {
    let plant = with_measurement("    ls /nonexistent\n    echo built");
    let ended = outcome(&plant.run(CLAIMS, "true", &[]).exits_with(11));
    assert_eq!(ended["control"]["nodes"][0]["sensors"][0]["status"], "fail", "{ended}");
    let sound = with_measurement("    ls > /dev/null\n    echo built");
    let _ = sound.run(CLAIMS, "true", &[]).exits_with(0);
    // One line is what its author made of it.
    let one = with_measurement("    false; true");
    let _ = one.run(CLAIMS, "true", &[]).exits_with(0);
}

#[test]
fn check_and_trust_show_the_lines_as_they_are_run() {
    let plant = with_measurement("    false\n    true");
    let shown = plant.world.windlass(&["trust", "--show", "--repo", plant.repository.text()]).exits_with(0);
    let lines: Vec<&str> = shown.stdout.lines().map(str::trim).collect();
    assert!(lines.windows(2).any(|two| two[0].ends_with(" false") && two[1] == "true"), "{lines:?}");
    let checked = plant.world.windlass(&["control", "check", "--repo", plant.repository.text()]).stdout;
    let lines: Vec<&str> = checked.lines().map(str::trim).collect();
    assert!(lines.windows(2).any(|two| two == ["false", "true"]), "{checked}");
    assert!(!checked.contains("false true"), "{checked}");
}

#[test]
fn a_second_block_is_not_left_out_without_a_word() {
    let plant = with_measurement("    make build\n\nand then\n\n    make test");
    let checked =
        plant.world.windlass(&["control", "check", "--repo", plant.repository.text()]).exits_with(2);
    assert!(checked.stdout.contains("has 2 blocks of code"), "{}", checked.stdout);
    assert!(!checked.stdout.contains("windlass control init"), "{}", checked.stdout);
    let ran = plant.run(CLAIMS, "true", &[]).exits_with(2);
    assert!(ran.stdout.contains("has 2 blocks of code"), "{} {}", ran.stdout, ran.stderr);
}

#[test]
fn an_empty_block_is_not_taken_for_a_sensor_that_is_an_agent() {
    let plant = with_measurement("```sh\n\n```");
    let checked =
        plant.world.windlass(&["control", "check", "--repo", plant.repository.text()]).exits_with(2);
    assert!(checked.stdout.contains("`## Measurement` is empty"), "{}", checked.stdout);
}
