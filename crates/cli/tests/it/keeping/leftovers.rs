//! What the loops other than the task loop leave: cleaned, given back, and stood in.

use super::{everything, leave_things, taken};
use crate::control_loop::plant::{Plant, outcome};
use crate::goal_loop::scene::{Play as GoalPlay, Scene as GoalScene};
use crate::roadmap_loop::plane::{Style, milestone};
use crate::roadmap_loop::play::Play as RoadmapPlay;
use crate::roadmap_loop::scene::Scene as RoadmapScene;
use std::path::{Path, PathBuf};
use windlass_test_support::World;

/// Leaves things in each of these worktrees, cleans the run, undoes that, and compares every byte.
#[track_caller]
pub(crate) fn assert_undone(world: &World, run: &str, places: &[PathBuf]) {
    assert!(!places.is_empty());
    for place in places {
        leave_things(place);
    }
    let before: Vec<_> = places.iter().map(|place| everything(place)).collect();
    let report = world.windlass(&["clean", run, "--json"]).exits_with(0).json();
    let gone = taken(&report, "worktree");
    assert_eq!(gone.len(), places.len(), "{report:#}");
    assert!(places.iter().all(|place| !place.exists()), "{report:#}");
    let undone = world.windlass(&["undo", run, "--json"]).exits_with(0).json();
    let items = undone["items"].as_array().unwrap();
    let given = |place: &&PathBuf| {
        items.iter().any(|item| item["what"] == place.to_str().unwrap() && item["outcome"] == "given-back")
    };
    assert_eq!(places.iter().filter(given).count(), places.len(), "{undone:#}");
    let after: Vec<_> = places.iter().map(|place| everything(place)).collect();
    assert_eq!(after, before);
    let _ = world.windlass(&["verify", run]).exits_with(0);
}

/// The worktrees in a run's directory, sensors' ones too.
pub(crate) fn worktrees_in(run_dir: &Path) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(run_dir.join("worktrees")).unwrap().flatten();
    let mut places: Vec<PathBuf> =
        listed.map(|entry| entry.path()).filter(|path| path.join(".git").is_file()).collect();
    places.sort();
    places
}

/// A file of a tree, as `windlass checkout` shows it.
#[track_caller]
fn stands(world: &World, what: &str, file: &str) -> String {
    let made = world.windlass(&["checkout", what, "--json"]).exits_with(0).json();
    let path = Path::new(made["worktree"].as_str().unwrap()).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn a_control_loop_s_worktrees_come_back_and_every_iteration_can_be_stood_in() {
    let plant = Plant::flat(2);
    let ended = outcome(&plant.count_to(2, &[]).exits_with(0));
    let run = ended["run"].as_str().unwrap().to_owned();
    let run_dir = PathBuf::from(ended["run_dir"].as_str().unwrap());
    for (label, value) in [("0", "0\n"), ("1", "1\n"), ("2", "2\n")] {
        assert_eq!(stands(&plant.world, &format!("{run}:{label}"), "value"), value, "{label}");
    }
    assert_eq!(stands(&plant.world, &run, "value"), "2\n");
    let _ = plant.world.windlass(&["clean", &run]).exits_with(0);
    let _ = plant.world.windlass(&["undo", &run]).exits_with(0);
    let own: Vec<PathBuf> = worktrees_in(&run_dir)
        .into_iter()
        .filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with("checkout"))
        .collect();
    assert!(own.len() >= 2, "{own:?}");
    assert_undone(&plant.world, &run, &own);
}

#[test]
fn a_goal_loop_s_worktrees_come_back_and_every_item_can_be_stood_in() {
    let scene = GoalScene::of(1, "L2");
    let ended = scene.ends(&GoalPlay::well(&["F001"]), 0);
    let run = scene.run_id();
    let run_dir = PathBuf::from(ended["run_dir"].as_str().unwrap());
    assert_undone(&scene.world, &run, &worktrees_in(&run_dir));
    let by_item = stands(&scene.world, &format!("{run}:F001"), "f001.txt");
    assert_eq!(stands(&scene.world, &format!("{run}:1"), "f001.txt"), by_item);
}

#[test]
fn a_roadmap_s_worktrees_come_back_and_every_round_can_be_stood_in() {
    let scene = RoadmapScene::of(Style::Records, &[milestone("m-1")]);
    let _ = scene.run(&RoadmapPlay::default().well(&scene.cut("round-001", "m-1")), &[]).exits_with(0);
    let run = scene.run_id();
    let places = scene.repository.git(&["worktree", "list", "--porcelain"]);
    let places = places.lines().filter_map(|line| line.strip_prefix("worktree "));
    let places: Vec<PathBuf> = places.skip(1).map(PathBuf::from).collect();
    assert_undone(&scene.world, &run, &places);
    let merged = stands(&scene.world, &format!("{run}:1"), "src/round-001.txt");
    assert!(!merged.is_empty());
}
