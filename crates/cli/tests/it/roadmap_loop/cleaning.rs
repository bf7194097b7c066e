//! Cleaning after a roadmap loop: worktrees of rounds that are over go, what still lives or was never merged stays, and a dry
//! run says exactly that.

use super::overtaking::kill_at;
use super::plane::{STATE, Style, milestone};
use super::play::{Play, Work, shell, writes};
use super::scene::Scene;
use serde_json::Value;

fn clean(scene: &Scene, more: &[&str]) -> Value {
    let words = [&["clean", "--repo", scene.repository.text(), "--json"], more].concat();
    scene.world.windlass(&words).exits_with(0).json()
}

/// What goes or stays, but for the prompts and logs of the steps: the kind, and the last part of the name.
fn listed(report: &Value, list: &str) -> Vec<String> {
    let items = report[list].as_array().unwrap().iter();
    let text = |item: &Value, key: &str| item[key].as_str().unwrap().to_owned();
    let own = items.filter(|item| item["kind"] != "scratch files");
    own.map(|item| {
        format!("{} {}", item["kind"].as_str().unwrap(), text(item, "what").rsplit('/').next().unwrap())
    })
    .collect()
}

/// A dry run, then the real thing: both decide the same.
#[track_caller]
fn clean_twice(scene: &Scene) -> Value {
    let before = scene.repository.git(&["worktree", "list"]);
    let dry = clean(scene, &["--dry-run"]);
    assert_eq!(scene.repository.git(&["worktree", "list"]), before, "a dry run removes nothing");
    let real = clean(scene, &[]);
    for list in ["items", "kept"] {
        assert_eq!(listed(&dry, list), listed(&real, list), "{dry:#}\n{real:#}");
    }
    real
}

fn worktrees(scene: &Scene) -> usize {
    scene.repository.git(&["worktree", "list"]).lines().count() - 1
}

#[test]
fn worktrees_of_merged_rounds_go_and_those_of_live_ones_stay() {
    let scene = Scene::of(Style::Records, &[milestone("m-1"), milestone("m-2")]);
    // The second round cannot be merged over a file of the user's.
    scene.repository.write("src/round-002.txt", "a draft of mine\n");
    let play = Play::default().well(&scene.cut("round-001", "m-1")).well(&scene.cut("round-002", "m-2"));
    let _ = scene.run(&play, &[]).exits_with(11);
    let tip = scene.repository.git(&["rev-parse", "orchestrator/round-001-session-loader"]);
    assert_eq!(worktrees(&scene), 2);

    let report = clean_twice(&scene);
    assert_eq!(
        listed(&report, "items"),
        ["worktree round-001", "branch round-001-session-loader"],
        "{report:#}"
    );
    assert_eq!(listed(&report, "kept"), ["worktree round-002"], "{report:#}");
    assert_eq!(worktrees(&scene), 1);
    let kept = scene.repository.git(&["for-each-ref", "--format=%(parent)", "refs/windlass/kept/"]);
    assert!(kept.split_whitespace().any(|commit| commit == tip), "{kept}");

    // What lives goes on as if nobody had cleaned, and goes once it is over.
    std::fs::remove_file(scene.repository.path().join("src/round-002.txt")).unwrap();
    let _ = scene.about("resume", &[]).exits_with(0);
    scene.assert_complete();
    let report = clean_twice(&scene);
    assert_eq!(
        listed(&report, "items"),
        ["worktree round-002", "branch round-002-session-loader"],
        "{report:#}"
    );
    assert_eq!((listed(&report, "kept"), worktrees(&scene)), (Vec::new(), 0), "{report:#}");
    scene.assert_sound();
}

#[test]
fn what_was_given_up_leaves_its_worktree_and_keeps_its_branch() {
    let mut scene = Scene::small(Style::Markdown);
    scene.world.without_sandbox("the planner plays a person who takes the round out of the state");
    let cut = scene.cut("round-001", "m-1");
    let empty = scene.world.shared("empty.json");
    std::fs::write(&empty, scene.repository.read(STATE)).unwrap();
    let mut gone = writes(&cut.plan());
    gone.push(shell(&format!("cd {{workspace}}/../../.. && cp {} {STATE}", empty.display())));
    let workers = [("lexer", "src/lexer"), ("printer", "src/printer")];
    let second = scene.cut("round-002", "m-1").with_workers(&workers);
    let done = super::play::Decision::Approved(super::play::Closeout::Done { from: "pending" });
    let play = Play::default()
        .step(Work("plan", 1, None), &gone)
        .plans(&second)
        .integrates(&second)
        .reviews(&second, None, &done);
    scene.completes(&workers.into_iter().fold(play, |play, share| play.shares(&second, share)));
    assert_eq!(worktrees(&scene), 4);
    let report = clean_twice(&scene);
    let kept = listed(&report, "kept");
    assert_eq!(kept, ["branch round-001-parser"], "{report:#}");
    assert!(report["kept"].to_string().contains("round-001 was not merged"), "{report:#}");
    assert_eq!((worktrees(&scene), listed(&report, "items").len()), (0, 7), "{report:#}");
    let branches = scene.repository.git(&["branch", "--list", "orchestrator/*", "--format=%(refname:short)"]);
    assert_eq!(branches, "orchestrator/round-001-parser");
    scene.assert_complete();
}

/// The run that was killed does not know what became of its update; the base branch does.
#[test]
fn an_update_that_a_later_run_merged_is_not_called_unmerged() {
    for style in [Style::Records, Style::Markdown] {
        let scene = Scene::small(style);
        let revised = [milestone("m-1"), milestone("m-2").after("m-1")];
        let begun = Play::default().requests(&scene.cut("round-001", "m-1")).revises(
            style,
            ("round-001", "planner-request"),
            (None, &revised),
        );
        let stays = super::taken_up::stays_at(Vec::new());
        kill_at(&scene, &begun.clone().step(Work("review-update", 1, None), &stays), "at");
        let rest = begun
            .reviews_update("round-001", None, "APPROVED")
            .well(&scene.cut("round-002", "m-1").in_revision("rev-002"))
            .well(&scene.cut("round-003", "m-2").in_revision("rev-002"));
        scene.completes(&rest);
        let report = clean_twice(&scene);
        assert!(!report["kept"].to_string().contains("the roadmap update to rev-002"), "{report:#}");
        let branches = scene.repository.git(&["branch", "--list", "orchestrator/roadmap-update-*"]);
        assert_eq!(branches, "", "{report:#}");
        scene.assert_sound();
    }
}

#[test]
fn a_state_that_cannot_be_read_keeps_everything() {
    let scene = Scene::small(Style::Records);
    scene.completes(&Play::default().well(&scene.cut("round-001", "m-1")));
    scene.repository.write(STATE, "{");
    let report = clean_twice(&scene);
    assert_eq!(listed(&report, "items"), Vec::<String>::new(), "{report:#}");
    assert_eq!((listed(&report, "kept"), worktrees(&scene)), (vec!["worktree round-001".to_owned()], 1));
}

/// Everything below the private directory of the newest run.
fn private_files(scene: &Scene, run: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![scene.world.state_dir().join("runs").join(run)];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            found.push(entry.path().display().to_string());
            if entry.path().is_dir() {
                open.push(entry.path());
            }
        }
    }
    found
}

#[test]
fn private_git_directories_of_ended_runs_go_and_git_goes_on_in_the_worktrees_that_stay() {
    let scene = Scene::of(Style::Records, &[milestone("m-1"), milestone("m-2")]);
    let (first, second) = (scene.cut("round-001", "m-1"), scene.cut("round-002", "m-2"));
    // The second round cannot be merged over a file of the user's.
    scene.repository.write("src/round-002.txt", "a draft of mine\n");
    let play = Play::default().well(&first).well(&second);
    let _ = scene.run(&play, &[]).exits_with(11);
    let run = scene.run_id();
    let apart = |round: &str| scene.world.state_dir().join("runs").join(&run).join("git").join(round);
    assert!(apart("round-001").is_dir() && apart("round-002").is_dir(), "agents had git of their own");

    let report = clean_twice(&scene);
    assert_eq!(listed(&report, "kept"), ["worktree round-002"], "{report:#}");
    assert!(!apart("round-001").exists() && !apart("round-002").exists(), "nobody did anything there");
    let inside = "orchestrator/worktrees/round-002";
    assert!(scene.repository.git_succeeds(&["-C", inside, "status"]), "git goes on working there");

    std::fs::remove_file(scene.repository.path().join("src/round-002.txt")).unwrap();
    let _ = scene.about("resume", &[]).exits_with(0);
    scene.assert_complete();
    let report = clean_twice(&scene);
    assert_eq!(listed(&report, "kept"), Vec::<String>::new(), "{report:#}");
    assert_eq!(private_files(&scene, &run), Vec::<String>::new());
    let control =
        std::fs::read_dir(scene.world.state_dir().join("control")).unwrap().next().unwrap().unwrap();
    let names = |folder: &str| {
        let entries = std::fs::read_dir(control.path().join(folder)).unwrap().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect::<Vec<String>>()
    };
    assert_eq!(names("worktrees"), Vec::<String>::new());
    let indexes = names("indexes");
    assert!(indexes.iter().all(|name| name.starts_with("tree-")), "only what was seen of trees: {indexes:?}");
}

#[test]
fn what_an_agent_committed_in_its_private_git_directory_stays_and_is_told() {
    let scene = Scene::small(Style::Markdown);
    let cut = scene.cut("round-001", "m-1");
    let done = super::play::Decision::Approved(super::play::Closeout::Done { from: "pending" });
    let mut made = writes(&[
        ("src/round-001.txt".to_owned(), "m-1 works\n".to_owned()),
        (cut.file("implementation-notes.md"), super::play::NOTES.to_owned()),
    ]);
    made.push(shell("git add -A && git -c user.name=A -c user.email=a@localhost commit -qm mine"));
    let play = Play::default().plans(&cut).step(Work("implement", 1, None), &made).reviews(&cut, None, &done);
    scene.completes(&play);
    let report = clean_twice(&scene);
    assert_eq!(worktrees(&scene), 0, "{report:#}");
    let kept = &report["kept"][0];
    assert!(kept["why"].as_str().unwrap().contains("committed"), "{report:#}");
    assert!(std::path::Path::new(kept["what"].as_str().unwrap()).join("objects").is_dir(), "{report:#}");
    assert!(!report["kept"].to_string().contains("Windlass did not write it"), "{report:#}");
}

#[test]
fn of_several_runs_the_way_back_is_named_one_by_one() {
    let scene = Scene::of(Style::Markdown, &[milestone("m-1"), milestone("m-2")]);
    for (round, milestone) in [("round-001", "m-1"), ("round-002", "m-2")] {
        let _ = scene.run(&Play::default().well(&scene.cut(round, milestone)), &["--once"]).exits_with(0);
    }
    let runs = scene.world.windlass(&["ls", "--json"]).exits_with(0).json();
    let output = scene.world.windlass(&["clean", "--repo", scene.repository.text()]).exits_with(0);
    let told = output.stdout + &output.stderr;
    assert_eq!(worktrees(&scene), 0, "{told}");
    for run in runs.as_array().unwrap() {
        let run = run["run"].as_str().unwrap();
        assert!(told.contains(&format!("`windlass undo {run}`")), "{run}: {told}");
        let _ = scene.world.windlass(&["undo", run]).exits_with(0);
    }
    assert_eq!(worktrees(&scene), 2, "everything is back");
}
