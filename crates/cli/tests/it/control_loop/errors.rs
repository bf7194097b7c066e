//! What goes wrong, and what comes of it: unreadable words, contradictions, meddling, missing programs.

use super::plant::{ADDING_ACTUATOR, BRANCH, Plant, counting_controller, outcome};

fn says(text: &str) -> String {
    format!("printf -- '{text}' > \"$WINDLASS_OUTBOX/controller-output.md\"")
}

#[test]
fn s12_3_what_a_controller_says_unreadably_is_asked_for_once_more_and_then_an_error() {
    let bad = [
        "nothing at all",
        "---\\ntarget-met: maybe\\n---\\n\\n## Gap Analysis\\n\\nx\\n",
        "---\\n: : :\\n---\\n",
        "---\\ntarget-met: false\\n---\\n\\n## Gap Analysis\\n\\nno plan\\n",
        "",
    ];
    for text in bad {
        let plant = Plant::flat(1);
        let ended = outcome(&plant.run(&says(text), ADDING_ACTUATOR, &[]).exits_with(11));
        let because = ended["explanation"]["because"].to_string();
        assert!(because.contains("no readable answer"), "{text:?}: {because}");
        let asked = plant.log().iter().filter(|entry| entry["kind"] == "repair-asked").count();
        assert_eq!(asked, 1, "{text:?}");
        plant.assert_sound();
    }
}

#[test]
fn a_controller_that_mends_its_words_is_taken_at_them() {
    let plant = Plant::flat(1);
    let controller = format!(
        "if [ \"$WINDLASS_ATTEMPT\" = 1 ]; then echo nonsense > \"$WINDLASS_OUTBOX/controller-output.md\"; else\n{}\nfi",
        counting_controller(1)
    );
    let _ = plant.run(&controller, ADDING_ACTUATOR, &[]).exits_with(0);
}

#[test]
fn s12_3_a_plan_with_headings_of_its_own_reaches_the_actuator_whole_and_a_quoted_true_is_true() {
    let plant = Plant::flat(1);
    let controller = format!(
        "if [ \"$(cat value)\" -ge 1 ]; then\n{}\nelse\n{}\nfi",
        says("---\\ntarget-met: \"true\"\\n---\\n\\n## Gap Analysis\\n\\nx\\n"),
        says(
            "---\\ntarget-met: false\\n---\\n\\n## Gap Analysis\\n\\nx\\n\\n## Action Plan\\n\\n## Step one\\n\\nDo A.\\n\\n## Step two\\n\\nDo B.\\n\\n## Hints\\n\\nC.\\n"
        )
    );
    let keep = plant.world.shared("plan.md");
    let actuator = format!("cp .ai-loop/controller-output.md {}\n{ADDING_ACTUATOR}", keep.display());
    let _ = plant.run(&controller, &actuator, &[]).exits_with(0);
    let plan = std::fs::read_to_string(keep).unwrap();
    assert!(plan.contains("Do A.") && plan.contains("Do B.") && plan.contains("## Step two"), "{plan}");
}

#[test]
fn s12_6_an_actuator_that_touches_the_loop_s_own_files_is_undone_there_and_flagged() {
    let plant = Plant::flat(1);
    let before = plant.repository.read(".claude/agents/loop-controller.md");
    let actuator = format!(
        "{ADDING_ACTUATOR}\necho evil >> .claude/agents/loop-controller.md\nrm .ai-loop/sensor-high-output.md\necho x > .ai-loop/new.md"
    );
    let _ = plant.run(&counting_controller(1), &actuator, &[]).exits_with(0);
    assert_eq!(plant.ends_with(".claude/agents/loop-controller.md"), before.trim_end());
    let names = plant.repository.git(&["ls-tree", "-r", "--name-only", BRANCH]);
    assert!(
        names.contains(".ai-loop/sensor-high-output.md") && !names.contains(".ai-loop/new.md"),
        "{names}"
    );
    let told = plant.log().iter().any(|entry| {
        entry["kind"] == "change-taken" && entry["text"].as_str().unwrap().contains("loop-controller.md")
    });
    assert!(told, "the log says so");
}

/// It measures in a copy of its own: nothing of what it does there is committed, and the record says what it touched.
#[test]
fn s12_6_a_sensor_that_edits_code_and_the_loop_s_files_changes_nothing_and_is_named() {
    let plant = Plant::flat(1);
    let edits = "echo 9 > value; mkdir -p .ai-loop; echo spoilt > .ai-loop/controller-output.md; rm .claude/agents/loop-actuator.md";
    plant.sensor("high", &format!("v=$(cat value); {edits}; test \"$v\" -ge 1"));
    plant.repository.commit("a sensor that edits");
    let ended = outcome(&plant.count_to(1, &[]).exits_with(0));
    assert_eq!(ended["control"]["actuations"], 1, "what it wrote is not what is measured next: {ended}");
    assert_eq!(plant.ends_with("value"), "1");
    assert!(!plant.ends_with(".ai-loop/controller-output.md").contains("spoilt"));
    assert!(plant.ends_with(".claude/agents/loop-actuator.md").contains("# Actuator"));
    let told = plant.log().into_iter().filter(|entry| entry["kind"] == "readings-taken");
    for entry in told {
        let text = entry["text"].as_str().unwrap();
        assert!(text.contains("in its own copy") && text.contains("value"), "{text}");
    }
}

#[test]
fn agent_files_are_put_back_where_an_actuator_left_a_file_or_a_link_for_their_directory() {
    for instead in
        ["mv .claude/agents .claude/others; ln -s others .claude/agents", "rm -rf .claude; echo x > .claude"]
    {
        let plant = Plant::flat(1);
        let before = plant.repository.read(".claude/agents/loop-controller.md");
        let _ =
            plant.run(&counting_controller(1), &format!("{ADDING_ACTUATOR}\n{instead}"), &[]).exits_with(0);
        assert_eq!(plant.ends_with(".claude/agents/loop-controller.md"), before.trim_end(), "{instead}");
        assert_eq!(plant.ends_with("value"), "1", "{instead}");
    }
}

#[test]
fn a_report_that_an_actuator_leaves_where_the_original_wants_it_is_found() {
    let plant = Plant::flat(1);
    let actuator =
        ADDING_ACTUATOR.replace("\"$WINDLASS_OUTBOX/actuator-output.md\"", ".ai-loop/actuator-output.md");
    let _ = plant.run(&counting_controller(1), &actuator, &[]).exits_with(0);
    assert!(plant.ends_with(".ai-loop/actuator-output.md").contains("Added one."));
    assert!(!plant.log().iter().any(|entry| entry["kind"] == "repair-asked"));
}

#[test]
fn a_sensor_that_cannot_be_run_fails_and_says_why() {
    let plant = Plant::flat(0);
    plant.sensor("high", "no-such-program-anywhere");
    plant.repository.commit("a sensor that cannot run");
    let controller = counting_controller(0);
    let ended = outcome(&plant.run(&controller, ADDING_ACTUATOR, &["--max-iterations", "1"]).exits_with(11));
    let reading = &ended["control"]["nodes"][0]["sensors"][0];
    assert_eq!((reading["status"].as_str(), reading["cause"].as_str()), (Some("fail"), Some("not-runnable")));
}

#[test]
fn a_sensor_without_a_command_is_an_agent_that_reads() {
    let plant = Plant::flat(1);
    plant.role("loop-sensor-taste", "# Sensor: taste\n\n## Measurement\n\nLook whether it reads well.\n");
    plant.repository.commit("a sensor of taste");
    let sensor = plant.agent(
        "sensor",
        r#"printf -- '---\nsensor: taste\nstatus: pass\n---\n\n# Sensor Output: taste\n\n## Output\n\nReads well.\n' > "$WINDLASS_OUTBOX/sensor-taste-output.md""#,
    );
    let _ = plant.count_to(1, &["--sensor", &sensor]).exits_with(0);
    assert!(plant.ends_with(".ai-loop/sensor-taste-output.md").contains("status: pass"));
    let without = Plant::flat(1);
    without.role("loop-sensor-taste", "# Sensor: taste\n\n## Measurement\n\nLook.\n");
    without.repository.commit("a sensor of taste");
    let refused = without.count_to(1, &[]);
    assert_eq!(refused.code, Some(2), "no agent for it: {refused:?}");
}

#[test]
fn commands_of_a_strange_repository_need_a_person_s_word_once() {
    let plant = Plant::flat(1);
    let controller = plant.agent("controller", &counting_controller(1));
    let actuator = plant.agent("actuator", ADDING_ACTUATOR);
    let words = [
        "control",
        "run",
        "Raise the value",
        "--repo",
        plant.repository.text(),
        "--json",
        "--controller",
        &controller,
        "--actuator",
        &actuator,
    ];
    let refused = plant.world.windlass(&words);
    assert_eq!(refused.code, Some(14), "{refused:?}");
    assert!(refused.stdout.contains("cat value"), "{refused:?}");
    let _ = plant.world.windlass(&["trust", "--repo", plant.repository.text()]).exits_with(0);
    let _ = plant.world.windlass(&words).exits_with(0);
}

#[test]
fn a_branch_that_somebody_moved_stops_the_loop_and_nothing_is_overwritten() {
    let mut plant = Plant::flat(2);
    plant.world.without_sandbox("the maker plays somebody who moves a branch");
    let repository = plant.repository.text().to_owned();
    let actuator = format!(
        "{ADDING_ACTUATOR}\nif [ \"$WINDLASS_LABEL\" = 2 ]; then git -C {repository} branch -f {BRANCH} HEAD; fi"
    );
    let ended = outcome(&plant.run(&counting_controller(2), &actuator, &[]).exits_with(11));
    let because = ended["explanation"]["because"].to_string();
    assert!(because.contains("could not be committed") && because.contains("was moved to"), "{because}");
}

/// The last commit has everything, so nothing is lost but what the actuator had done since.
#[test]
fn a_worktree_that_somebody_took_away_is_made_again() {
    let mut plant = Plant::flat(1);
    plant.world.without_sandbox("inside, nobody can take a worktree away");
    let actuator = format!(
        "{ADDING_ACTUATOR}\nif [ ! -e {0} ]; then touch {0}; here=$(pwd); cd /; rm -rf \"$here\"; fi",
        plant.world.shared("once").display()
    );
    let ended = outcome(&plant.run(&counting_controller(1), &actuator, &[]).exits_with(0));
    assert_eq!(ended["control"]["actuations"], 2, "the first one came to nothing: {ended}");
    assert_eq!(plant.ends_with("value"), "1");
    plant.assert_sound();
}
