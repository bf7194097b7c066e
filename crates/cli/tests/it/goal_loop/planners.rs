//! Designs: when one is needed, what it has to say, and who lets it through.

use super::scene::{Play, Scene, assert_because, item, outcome, with};
use serde_json::{Value, json};

const DESIGN: &str = "docs/designs/F001-design.md";

/// An item nobody may build without a design.
fn risky() -> Value {
    with(item("F001"), json!({ "risk": "high" }))
}

/// A planner's answer that names these files.
pub(crate) fn design(overview: &str, files: &[&str]) -> String {
    let answer = json!({
        "item_id": "F001",
        "overview": overview,
        "research_findings": "There is one test.",
        "decisions": [{ "question": "Where?", "options": ["one file", "two files"], "choice": "one file" }],
        "technical_design": "A file with one line.",
        "files": files,
        "implementation_plan": ["write it"],
        "testing_strategy": "A test reads it.",
        "rollout": "None.",
        "dependencies": [],
        "acceptance_criteria": ["f001.txt says done"],
        "open_questions": [],
        "contract": { "deliverable": "f001.txt", "verification": "sh test.sh" },
    });
    format!("{{ artifact = \"design.json\", text = '''\n{answer}\n''' }}")
}

fn planned(files: &[&str]) -> Play {
    Play::default().step("planner", 1, &[&design("One file that says it.", files)])
}

#[test]
fn an_item_that_is_not_trivial_is_designed_first_and_its_builder_reads_the_design() {
    let scene = Scene::set_up(&[risky()], "L2");
    let _ = scene.ends(&planned(&["f001.txt"]).builds(1, "F001").passes(1, "F001"), 0);
    assert_eq!(scene.world.steps(), ["planner 1 1", "builder 1 1", "evaluator 1 1"]);
    assert!(scene.prompt("builder-1-1").contains("F001-design.md"));
    let document = scene.at_end(DESIGN);
    assert!(document.contains("Draft") && document.contains("One file that says it."), "{document}");
    let queue = scene.at_end("docs/FEATURES.json");
    assert!(queue.contains("\"designed\": true") && queue.contains(DESIGN), "{queue}");
    assert!(!queue.contains("approved"), "nobody approved it: {queue}");
    scene.assert_sound();
}

/// The contract of the only item, as the loop's branch ends on it.
fn contract_at_end(scene: &Scene) -> Value {
    let queue: Value = serde_json::from_str(&scene.at_end("docs/FEATURES.json")).unwrap();
    queue["features"][0]["contract"].clone()
}

/// A design that says more exactly how the item is verified than its definition does.
fn refining() -> Play {
    let answer = design("One file.", &["f001.txt"]).replace("\"sh test.sh\"", "\"tests/f001.sh reads it\"");
    Play::default().step("planner", 1, &[&answer])
}

#[test]
fn what_a_design_makes_of_the_contract_is_written_into_the_queue_and_told_to_builder_and_evaluator() {
    let scene = Scene::set_up(&[risky()], "L2");
    let _ = scene.ends(&refining().builds(1, "F001").passes(1, "F001"), 0);
    let expected = json!({ "deliverable": "f001.txt", "verification": "tests/f001.sh reads it" });
    assert_eq!(contract_at_end(&scene), expected);
    for step in ["builder-1-1", "evaluator-1-1"] {
        let told = scene.prompt(step);
        assert!(told.contains("tests/f001.sh reads it"), "{step}: {told}");
    }
    scene.assert_sound();
}

#[test]
fn a_contract_that_a_person_edited_after_the_design_stands_as_they_left_it() {
    let scene = Scene::set_up(&[risky()], "L1");
    let play = refining().builds(1, "F001").passes(1, "F001");
    let ended = scene.ends(&play, 11);
    let name = ended["goal"]["proposed"]["tree"].as_str().unwrap().to_owned();
    let next = outcome(&scene.about("approve", &["--tree", &name, "--json"]).exits_with(11));
    assert!(scene.prompt("builder-1-1").contains("tests/f001.sh reads it"), "an approved design counts");
    let edited = scene.repository.read("docs/FEATURES.json").replace("\"sh test.sh\"", "\"kim looks\"");
    scene.repository.write("docs/FEATURES.json", &edited);
    let tree = next["goal"]["proposed"]["tree"].as_str().unwrap().to_owned();
    let _ = scene.about("approve", &["--tree", &tree]).exits_with(0);
    assert_eq!(contract_at_end(&scene)["verification"], "kim looks");
}

#[test]
fn an_item_without_paths_is_designed_at_l3_and_held_to_the_design_s_files() {
    let mut free = item("F001");
    free.as_object_mut().unwrap().remove("affected_files");
    let scene = Scene::set_up(&[free], "L3");
    let ended = scene.ends(&planned(&["other.txt"]).builds(1, "F001").passes(1, "F001"), 11);
    assert_because(&ended, "edited outside the item's paths: f001.txt");
    scene.assert_sound();
}

#[test]
fn a_design_without_files_is_sent_back_then_asked_of_a_fresh_planner_then_of_a_person() {
    let scene = Scene::set_up(&[risky()], "L2");
    let ended = scene.ends(&planned(&[]), 11);
    assert_because(&ended, "the planner left no usable design of F001");
    assert_because(&ended, "files");
    assert_eq!(scene.world.steps(), ["planner 1 1", "planner 1 2", "planner 1 3"]);
    scene.assert_sound();
}

#[test]
fn at_l1_a_design_waits_for_a_yes_and_the_builder_for_the_design() {
    let scene = Scene::set_up(&[risky()], "L1");
    let play = planned(&["f001.txt"]).builds(1, "F001").passes(1, "F001");
    let ended = scene.ends(&play, 11);
    assert_eq!(ended["goal"]["proposed"]["kind"], "design");
    assert_eq!(scene.world.steps(), ["planner 1 1"]);
    let name = ended["goal"]["proposed"]["tree"].as_str().unwrap().to_owned();
    let wrong = scene.about("approve", &["--tree", "0123456789"]);
    assert!(wrong.stderr.contains("WL-RUN-004"), "{}", wrong.stderr);
    let next = outcome(&scene.about("approve", &["--tree", &name, "--json"]).exits_with(11));
    assert_eq!(next["goal"]["proposed"]["kind"], "change", "an approved design is built at once: {next:#}");
    let tree = next["goal"]["proposed"]["tree"].as_str().unwrap().to_owned();
    let _ = scene.about("approve", &["--tree", &tree]).exits_with(0);
    let queue = scene.at_end("docs/FEATURES.json");
    assert!(queue.contains("\"design_status\": \"approved\""), "{queue}");
    assert!(scene.at_end(DESIGN).contains("Approved"), "{}", scene.at_end(DESIGN));
    scene.assert_sound();
}

#[test]
fn a_design_that_is_rejected_is_made_again_with_the_reason() {
    let scene = Scene::set_up(&[risky()], "L1");
    let play = Play::default()
        .attempt("planner", (1, 1), &[&design("Two files.", &["f001.txt", "f001-more.txt"])])
        .step("planner", 1, &[&design("One file.", &["f001.txt"])]);
    let _ = scene.ends(&play, 11);
    let _ = scene.about("reject", &["--reason", "one file is enough"]).exits_with(11);
    assert!(scene.world.steps().iter().all(|step| step.starts_with("planner")), "{:?}", scene.world.steps());
    let last = scene.world.steps().pop().unwrap().replace(' ', "-");
    let told = scene.prompt(&last);
    assert!(told.contains("one file is enough"), "{last}: {told}");
    assert_eq!(scene.status()["report"]["proposed"]["kind"], "design");
    assert_eq!(scene.status()["report"]["items"][0]["rework"], 0, "nothing was built");
    scene.assert_sound();
}

#[test]
fn a_planner_that_writes_code_is_not_believed() {
    let mut scene = Scene::set_up(&[risky()], "L2");
    scene.world.without_sandbox("the fence would keep it from writing");
    let answer = design("One file.", &["f001.txt"]);
    let writes = super::scene::write("f001.txt", "done\n");
    let ended = scene.ends(&Play::default().step("planner", 1, &[&writes, &answer]), 11);
    assert_because(&ended, "the planner of F001 may only read, and changed f001.txt again");
    scene.assert_sound();
}

#[test]
fn a_design_can_be_asked_for_or_left_out_by_flag() {
    let scene = Scene::of(1, "L2");
    let play = planned(&["f001.txt"]).builds(1, "F001").passes(1, "F001");
    let _ = scene.run(&play, &["--design", "always"]).exits_with(0);
    assert_eq!(scene.world.steps()[0], "planner 1 1");
    let scene = Scene::set_up(&[risky()], "L2");
    let _ = scene.run(&play, &["--design", "never"]).exits_with(0);
    assert_eq!(scene.world.steps()[0], "builder 1 1");
}
