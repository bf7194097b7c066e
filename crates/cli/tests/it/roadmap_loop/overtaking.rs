//! A program that is killed leaves its agents at work. Who begins another run of the same control plane must not share a
//! worktree with them, and what was overtaken is not gone on with.

use super::plane::{Style, milestone};
use super::play::{Closeout, Cut, Decision, Play, Work, shell, write, writes};
use super::scene::Scene;
use windlass_test_support::wait_until;

const DONE: Decision = Decision::Approved(Closeout::Done { from: "pending" });
const LATE: &str = "src/late-from-the-first.txt";

/// An implementer that leaves its number, waits, and writes what nobody approved.
fn lingers(cut: &Cut) -> Play {
    let actions = [
        shell("echo $PPID > {script_dir}/pid.tmp && mv {script_dir}/pid.tmp {script_dir}/pid"),
        "{ wait_for = 'go' }".to_owned(),
        write(LATE, "late\n"),
    ];
    Play::default().plans(cut).step(Work("implement", 1, None), &actions)
}

/// Begins this and kills the program, and nobody else, when the file is there.
pub(super) fn kill_at(scene: &Scene, play: &Play, file: &str) -> String {
    let words = scene.words(play);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let running = scene.world.start_windlass(&words);
    wait_until("the agent to be at work", || scene.world.shared(file).exists().then_some(()));
    let run = scene.run_id();
    let _ = running.kill();
    run
}

fn next_step(scene: &Scene) -> String {
    let found = scene.world.windlass(&["roadmap", "inspect", scene.repository.text(), "--json"]).json();
    found["next_steps"][0].as_str().unwrap_or_default().to_owned()
}

fn status_of(scene: &Scene, run: &str) -> String {
    let list = scene.world.windlass(&["ls", "--json"]).exits_with(0).json();
    let line = list.as_array().unwrap().iter().find(|line| line["run"] == run).unwrap();
    line["status"].as_str().unwrap().to_owned()
}

/// An implementer that notes whether the first one still lives, and lets it go on.
fn looks_around(cut: &Cut) -> Play {
    let mut actions = vec![shell(
        "if kill -0 $(cat {script_dir}/pid) 2>/dev/null; then touch {script_dir}/both; fi; touch {script_dir}/go",
    )];
    actions.push(write(&format!("src/{}.txt", cut.round), "it works\n"));
    actions.push(write(&cut.file("implementation-notes.md"), super::play::NOTES));
    Play::default().plans(cut).step(Work("implement", 1, None), &actions).reviews(cut, None, &DONE)
}

#[test]
fn a_new_run_ends_the_agents_of_a_killed_one_before_it_asks_its_own() {
    let scene = Scene::small(Style::Markdown);
    let cut = scene.cut("round-001", "m-1");
    let first = kill_at(&scene, &lingers(&cut), "pid");
    assert_eq!(next_step(&scene), format!("windlass resume {first}"), "what goes on with the agent at work");

    let output = scene.run(&looks_around(&cut), &[]).exits_with(0);
    assert!(!scene.world.shared("both").exists(), "two agents in one worktree");
    let told = output.stdout + &output.stderr;
    let cut_off = format!("run {first} of this roadmap was cut off");
    assert!(told.contains(&cut_off) && told.contains("the implementer of round-001"), "{told}");
    assert!(told.contains(&format!("windlass resume {first}")), "{told}");
    assert_eq!(status_of(&scene, &first), "stopped");
    assert!(!scene.is_merged(LATE), "nobody approved it");
    scene.assert_complete();
    let _ = scene.world.windlass(&["verify", &first]).exits_with(0);
}

#[test]
fn a_run_that_was_overtaken_is_refused_and_the_one_that_went_on_is_named() {
    let scene = Scene::of(Style::Records, &[milestone("m-1"), milestone("m-2")]);
    let cut = scene.cut("round-001", "m-1");
    let first = kill_at(&scene, &lingers(&cut), "pid");
    let mut review = vec![shell("touch {script_dir}/reviewing"), "{ wait_for = 'on' }".to_owned()];
    review.extend(writes(&cut.review(&DONE)));
    let play = Play::default()
        .plans(&cut)
        .implements(&cut)
        .step(Work("review", 1, None), &review)
        .well(&scene.cut("round-002", "m-2"));
    let second = kill_at(&scene, &play, "reviewing");
    assert_ne!(first, second);

    let refuses_the_first = |hint: &str| {
        let refs = |scene: &Scene| scene.repository.git(&["for-each-ref"]);
        let (works, before, state) = (scene.works(), refs(&scene), scene.state());
        for words in [vec!["resume", &first], vec!["resume", &first, "--note", "go on"]] {
            let refused = scene.world.windlass(&words).exits_with(14).stderr;
            assert!(refused.contains(&format!("superseded by run {second}")), "{refused}");
            assert!(refused.contains(hint), "{refused}");
        }
        assert_eq!((scene.works(), refs(&scene), scene.state()), (works, before, state));
    };
    refuses_the_first(&format!("windlass resume {second}"));
    std::fs::write(scene.world.shared("on"), "").unwrap();
    let _ = scene.world.windlass(&["resume", "--all"]).exits_with(0);
    scene.assert_complete();
    assert_eq!(scene.works().iter().filter(|work| work.starts_with("review 1")).count(), 1, "adopted");
    refuses_the_first(&format!("windlass roadmap status {second}"));
    let explained = scene.world.windlass(&["explain", &first]).exits_with(0).stdout;
    assert!(explained.contains(&format!("superseded by run {second}")), "{explained}");
}
