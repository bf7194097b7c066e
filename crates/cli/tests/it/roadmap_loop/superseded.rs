//! A blocked run whose round another run merged: it asks nobody any more, and what is said to it is refused.

use super::plane::{Style, milestone};
use super::play::Play;
use super::scene::Scene;
use serde_json::{Value, json};

fn inbox(scene: &Scene) -> Value {
    scene.world.windlass(&["inbox", "--json"]).exits_with(0).json()
}

fn waits(scene: &Scene) -> Vec<(String, bool)> {
    let list = scene.world.windlass(&["ls", "--json"]).exits_with(0).json();
    let lines = list.as_array().unwrap().iter();
    lines.map(|line| (line["run"].as_str().unwrap().to_owned(), line["waits"] == true)).collect()
}

/// A file of the user's is in the way of the first round's merge.
fn blocked(scene: &Scene, play: &Play) -> String {
    scene.repository.write("src/round-001.txt", "a draft of mine\n");
    let _ = scene.run(play, &[]).exits_with(11);
    std::fs::remove_file(scene.repository.path().join("src/round-001.txt")).unwrap();
    scene.run_id()
}

#[test]
fn a_blocked_run_leaves_the_inbox_when_another_run_went_on_with_its_round() {
    let scene = Scene::of(Style::Records, &[milestone("m-1"), milestone("m-2")]);
    let play = Play::default().well(&scene.cut("round-001", "m-1")).well(&scene.cut("round-002", "m-2"));
    let first = blocked(&scene, &play);
    assert_eq!(inbox(&scene)[0]["run"], first);

    // Another run takes the round up and merges it; one round was asked for.
    let _ = scene.run(&play, &["--once"]).exits_with(0);
    let second = scene.run_id();
    assert_eq!(scene.merged_rounds(), ["round-001"]);
    assert_eq!(inbox(&scene), json!([]));
    assert_eq!(waits(&scene), [(second.clone(), false), (first.clone(), false)]);

    let (works, base) = (scene.works(), scene.repository.git(&["rev-parse", "main"]));
    for words in
        [vec!["answer", &first, "go on"], vec!["retry", &first], vec!["answer", &first, "x", "--no-run"]]
    {
        let refused = scene.world.windlass(&words).exits_with(14);
        let named = format!("superseded by run {second}");
        assert!(refused.stderr.contains(&named), "{words:?}: {}", refused.stderr);
    }
    assert_eq!((scene.works(), scene.repository.git(&["rev-parse", "main"])), (works, base));
    let explained = scene.world.windlass(&["explain", &first]).exits_with(0).stdout;
    assert!(explained.contains(&format!("superseded by run {second}")), "{explained}");
    assert!(!explained.contains("windlass answer"), "{explained}");
    // Letting it be is always allowed.
    let _ = scene.world.windlass(&["skip", &first]).exits_with(0);
}

#[test]
fn a_run_that_came_to_nothing_supersedes_nobody_and_a_blocked_one_asks_instead() {
    let scene = Scene::small(Style::Markdown);
    let play = Play::default().well(&scene.cut("round-001", "m-1"));
    let first = blocked(&scene, &play);
    scene.repository.git(&["checkout", "-q", "-b", "elsewhere"]);
    let _ = scene.run(&play, &[]);
    scene.repository.git(&["checkout", "-q", "main"]);
    assert_eq!(inbox(&scene)[0]["run"], first, "{:#}", inbox(&scene));

    let second = blocked(&scene, &play);
    let asked = inbox(&scene);
    assert_eq!(asked.as_array().unwrap().len(), 1, "one plane, one question: {asked:#}");
    assert_eq!(asked[0]["run"], second);
    let refused = scene.world.windlass(&["answer", &first, "go on"]).exits_with(14);
    assert!(refused.stderr.contains(&format!("windlass answer {second}")), "{}", refused.stderr);
    let _ = scene.world.windlass(&["answer", &second, "go on"]).exits_with(0);
    scene.assert_complete();
}
