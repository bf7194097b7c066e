//! What `goal run` refuses before anything is begun: missing, foreign and broken files, a dirty checkout, no tests.

use super::*;

#[test]
fn without_a_queue_nothing_is_written() {
    let place = Place::bare();
    let refused = place.run(&["--yes"]).exits_with(2);
    assert_refused(&refused, "WL-GOAL-001", &["docs/FEATURES.json is not there", "windlass goal init"]);
    assert!(!place.has("docs"));
    place.assert_nothing_begun();
}

#[test]
fn without_a_contract_the_template_is_written_and_nothing_is_built() {
    let place = Place::bare();
    place.repository.write(FEATURES, QUEUE).commit("a queue");
    let dry = place.run(&["--dry-run"]).exits_with(2);
    assert_refused(&dry, "WL-GOAL-001", &["docs/LOOP.md is not there"]);
    assert!(!place.has(CONTRACT), "a dry run writes nothing");
    let refused = place.run(&["--yes", "--test-cmd", "sh test.sh"]).exits_with(14);
    assert_refused(&refused, "WL-GOAL-002", &["was written from the template", "goal check"]);
    let text = place.repository.read(CONTRACT);
    assert!(
        text.contains("- Include: [F001–F003]") && text.contains("- Test command: `sh test.sh`"),
        "{text}"
    );
    place.assert_nothing_begun();
}

#[test]
fn a_broken_queue_is_named_by_its_line_and_never_rewritten() {
    let place = Place::set_up("F001", "L1");
    let broken = QUEUE.replace("\"F002\", \"name\"", "\"F001\", \"name\"");
    place.repository.write(FEATURES, &broken).commit("twice the same id");
    let refused = place.run(&["--yes"]).exits_with(2);
    assert_refused(&refused, "WL-GOAL-001", &["docs/FEATURES.json: 4:5: F001", "this id is taken"]);
    assert_eq!(place.repository.read(FEATURES), broken);
    place.assert_nothing_begun();
}

#[test]
fn a_dirty_checkout_is_refused_but_for_the_loops_own_files() {
    let place = Place::set_up("F001", "L1");
    place.repository.write("notes.txt", "mine");
    let refused = place.run(&["--yes"]).exits_with(14);
    assert_refused(&refused, "WL-RUN-002", &["1 uncommitted change: notes.txt"]);
    let looked = place.goal("check", &[]).exits_with(14).stdout;
    assert!(looked.contains("cannot run a goal loop yet"), "{looked}");
    assert!(looked.contains("your checkout has 1 uncommitted change: notes.txt"), "{looked}");
    place.repository.commit("notes");
    place.repository.write(CONTRACT, &contract("F001", "L1").replace("Every", "Each"));
    let dry = place.run(&["--dry-run"]).exits_with(0);
    assert!(dry.stderr.contains("docs/LOOP.md count as they lie in your checkout"), "{}", dry.stderr);
    let looked = place.goal("check", &[]).stdout;
    assert!(looked.contains("docs/LOOP.md count as they lie in your checkout"), "{looked}");
    let in_place = place.run(&["--yes", "--in-place"]).exits_with(14);
    assert_refused(&in_place, "WL-RUN-002", &["docs/LOOP.md", "--in-place"]);
    place.assert_nothing_begun();
}

#[test]
fn only_l1_may_do_without_tests() {
    let place = Place::set_up("F001", "L2");
    let without = contract("F001", "L2").replace("- Test command: `sh test.sh`\n", "");
    place.repository.git(&["rm", "--quiet", "test.sh"]);
    place.repository.write(CONTRACT, &without).commit("no test command, and none to be found");
    let refused = place.run(&["--yes"]).exits_with(2);
    assert_refused(&refused, "WL-GOAL-001", &["no test command is known, and L2 needs one", "--test-cmd"]);
    let tightened = place.run(&["--dry-run", "--autonomy", "L1"]).exits_with(0).stdout;
    assert!(tightened.contains("tests: none") && tightened.contains("autonomy: L1"), "{tightened}");
    place.assert_nothing_begun();
}

#[test]
fn a_contract_without_a_goal_or_without_items_is_refused() {
    let place = Place::set_up("F001", "L1");
    place
        .repository
        .write(CONTRACT, &contract("F001", "L1").replace("Every file is there.\n", ""))
        .commit("no goal");
    assert_refused(&place.run(&["--yes"]).exits_with(2), "WL-GOAL-001", &["`## Goal` says nothing"]);
    place.repository.write(CONTRACT, &contract("all B", "L1")).commit("no items");
    assert_refused(&place.run(&["--yes"]).exits_with(2), "WL-GOAL-001", &["the scope names no item"]);
    place.assert_nothing_begun();
}

#[test]
fn an_agent_for_building_and_grading_must_be_named() {
    let place = Place::set_up("F001", "L1");
    let refused = place.goal("run", &["--yes", "--builder", "shell:true"]).exits_with(2);
    assert_refused(&refused, "WL-USAGE-001", &["no agent is named for the evaluator"]);
    let dry = place.goal("run", &["--dry-run", "--builder", "shell:true", "--evaluator", "shell:false"]);
    let dry = dry.exits_with(0).stdout;
    assert!(dry.contains("planner: shell:true"), "whoever builds also designs: {dry}");
    place.assert_nothing_begun();
}
