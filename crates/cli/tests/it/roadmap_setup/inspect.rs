//! Looking at a control plane: everything that is wrong at once, and nothing written.

use super::*;
use serde_json::json;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Path, time of change and size of everything below, git's own files included.
fn prints(directory: &Path) -> Vec<(String, i64, i64, u64)> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            let kept = entry.metadata().unwrap();
            found.push((entry.path().display().to_string(), kept.mtime(), kept.mtime_nsec(), kept.len()));
            if kept.is_dir() {
                open.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

fn writable(directory: &Path, mode: u32) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.metadata().unwrap().is_dir() {
            writable(&entry.path(), mode);
        }
    }
    fs::set_permissions(directory, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn inspect_never_writes_into_the_repository() {
    for more in [&[][..], &["--records"][..]] {
        let place = Place::set_up(more);
        let before = prints(place.repository.path());
        writable(place.repository.path(), 0o555);
        let found = place.inspect();
        writable(place.repository.path(), 0o755);
        let _ = found.exits_with(0);
        assert_eq!(prints(place.repository.path()), before);
        assert_eq!(place.repository.git(&["status", "--porcelain"]), "");
    }
}

#[test]
fn section_0_each_generation_is_recognised() {
    assert_eq!(Place::set_up(&[]).inspect().exits_with(0).json()["generation"], "structured-markdown");
    assert_eq!(Place::set_up(&["--records"]).inspect().exits_with(0).json()["generation"], "records");
    let place = Place::set_up(&[]);
    place.edit_state(&[("active_round_id", json!(null)), ("roadmap_style", json!("flat"))]);
    let legacy = place.inspect().exits_with(14).json();
    assert_eq!((&legacy["kind"], &legacy["valid"]), (&"legacy".into(), &false.into()));
    assert!(legacy["why"][0].as_str().unwrap().contains("roadmap_style"), "{legacy:#}");
    assert_eq!(legacy["next_steps"][0], "windlass roadmap migrate --dry-run");
}

#[test]
fn a_foreign_state_and_no_plane_at_all_are_told_apart() {
    let place = Place::bare();
    let absent = place.inspect().exits_with(2).json();
    assert_eq!(
        (&absent["kind"], &absent["next_steps"][0]),
        (&"absent".into(), &"windlass roadmap init".into())
    );
    place.repository.write(STATE, "{\"queue\": [], \"workers\": 3}\n");
    let foreign = place.inspect().exits_with(2).json();
    assert_eq!(foreign["kind"], "not-an-orchestrator");
    assert!(foreign["why"][0].as_str().unwrap().contains("is not of an orchestrator loop"), "{foreign:#}");
    let text = place.world.windlass(&["roadmap", "inspect", place.repository.text()]).exits_with(2).stdout;
    assert!(text.contains("not an orchestrator loop") && text.contains("queue"), "{text}");
}

#[test]
fn section_17_a_state_that_cannot_be_read_is_named_and_left_alone() {
    let place = Place::set_up(&[]);
    place.repository.write(STATE, "{\"contract_version\": \"orchestrator-v2\",");
    let before = place.repository.record();
    let broken = place.inspect().exits_with(2).json();
    assert_eq!(broken["kind"], "unreadable");
    assert!(broken["why"][0].as_str().unwrap().starts_with(STATE), "{broken:#}");
    assert_eq!(
        broken["next_steps"],
        json!([format!("git checkout HEAD -- {STATE}")]),
        "no run, so none is lost"
    );
    before.assert_holds(&place.repository);
}

#[test]
fn what_keeps_a_plane_from_being_run_is_a_problem_and_a_hint_is_none() {
    let place = Place::set_up(&[]);
    for (text, words) in
        [("", "not JSON"), ("{", "not JSON"), ("{\"queue\": []}\n", "not of an orchestrator loop")]
    {
        place.repository.write(STATE, text);
        let found = place.inspect().exits_with(2).json();
        assert_eq!(found["problems"].as_array().unwrap().len(), 1, "{found:#}");
        let problem = &found["problems"][0];
        assert_eq!((&problem["file"], &problem["severity"]), (&STATE.into(), &"fatal".into()), "{found:#}");
        assert!(!problem["message"].as_str().unwrap().is_empty(), "{words}: {found:#}");
        let shown =
            place.world.windlass(&["roadmap", "inspect", place.repository.text()]).exits_with(2).stdout;
        let message = problem["message"].as_str().unwrap();
        assert_eq!(shown.matches(message).count(), 1, "said once: {shown}");
    }
    place.repository.git(&["checkout", "-q", "--", STATE]);
    place.repository.git(&["switch", "-q", "-c", "elsewhere"]);
    let found = place.inspect().exits_with(14).json();
    assert_eq!((&found["problems"][0]["file"], &found["why"][1]), (&STATE.into(), &json!(null)), "{found:#}");
    assert_eq!(found["hints"], json!(["`git switch main`"]), "{found:#}");
    let shown = place.world.windlass(&["roadmap", "inspect", place.repository.text()]).exits_with(14).stdout;
    let hint =
        shown.lines().find(|line| line.contains("git switch main")).unwrap_or_else(|| panic!("{shown}"));
    assert!(hint.trim_start().starts_with("hint:"), "{shown}");
}

#[test]
fn a_branch_that_another_checkout_has_is_named_with_that_checkout() {
    let place = Place::set_up(&[]);
    let beside = place.world.shared("beside");
    place.repository.git(&["worktree", "add", "-q", "-b", "elsewhere", beside.to_str().unwrap()]);
    let found = place.world.windlass(&["roadmap", "inspect", beside.to_str().unwrap()]).exits_with(14).stdout;
    assert!(!found.contains("git switch"), "git refuses that: {found}");
    assert!(found.contains(&format!("main is checked out in {}", place.repository.text())), "{found}");
}

#[test]
fn section_4_3_and_25_2_everything_wrong_is_named_with_file_place_and_rule() {
    let place = Place::set_up(&[]);
    let roadmap = place.roadmap_file("roadmap.md");
    let text = place.repository.read(&roadmap).replace("Depends on: measure", "Depends on: nowhere");
    place.repository.write(&roadmap, &text);
    place.edit_state(&[("max_parallel_rounds", json!(0))]);
    fs::remove_file(place.repository.path().join("orchestrator/roles/reviewer.md")).unwrap();
    let found = place.inspect().exits_with(2).json();
    let rules: Vec<&str> =
        found["problems"].as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["3.1", "17.2", "25.2"], "{found:#}");
    assert_eq!(found["problems"][0]["pointer"], "/max_parallel_rounds");
    assert!(found["problems"][2]["line"].as_u64().unwrap() > 1, "{found:#}");
    let shown = place.world.windlass(&["roadmap", "inspect", place.repository.text()]).exits_with(2).stdout;
    assert!(shown.contains("cannot be run") && shown.contains("(rule 25.2)"), "{shown}");

    let records = Place::set_up(&["--records"]);
    let view = records.roadmap_file("roadmap-view.json");
    let text = records.repository.read(&view).replacen("\"pending\"", "\"done\"", 1);
    records.repository.write(&view, &text);
    let found = records.inspect().exits_with(2).json();
    assert_eq!(found["problems"][0]["rule"], "4.3", "{found:#}");
    assert!(
        found["problems"][0]["message"].as_str().unwrap().contains("is done here and pending"),
        "{found:#}"
    );
}

#[test]
fn edits_of_people_that_are_not_committed_are_told() {
    let place = Place::set_up(&[]);
    let roadmap = place.roadmap_file("roadmap.md");
    place.repository.write(&roadmap, &(place.repository.read(&roadmap) + "\nMore words.\n"));
    let found = place.inspect().exits_with(14).json();
    assert!(found["edits"][0].as_str().unwrap().starts_with(&roadmap), "{found:#}");
    place.repository.git(&["add", &roadmap]);
    place.repository.commit("said");
    assert_eq!(place.inspect().exits_with(0).json()["edits"], json!([]));
}

#[test]
fn section_5_a_finished_plane_and_a_stale_done_are_told_apart() {
    let place = Place::set_up(&[]);
    place.edit_state(&[("controller_stage", json!("done"))]);
    let stale = place.inspect().exits_with(0).json();
    assert_eq!((&stale["terminal"], &stale["complete"]), (&false.into(), &false.into()));
    assert_eq!(stale["problems"][0]["rule"], "3.3.5", "{stale:#}");
    place.finish();
    let done = place.inspect().exits_with(0).json();
    assert_eq!((&done["terminal"], &done["complete"]), (&true.into(), &true.into()));
    assert_eq!((&done["next"], &done["unfinished"]), (&"stop: every milestone is done".into(), &json!([])));
}

#[test]
fn live_rounds_are_shown_with_what_their_files_prove() {
    let place = Place::set_up(&[]);
    let worktree = "orchestrator/worktrees/round-001";
    place.repository.git(&["worktree", "add", "-q", "-b", "orchestrator/round-001", worktree]);
    let round = json!({"round_id": "round-001", "stage": "plan", "branch": "orchestrator/round-001", "worktree_path": worktree, "resume_error": "was stuck"});
    place.edit_state(&[("active_rounds", json!([round]))]);
    let found = place.inspect().exits_with(0).json();
    let round = &found["rounds"][0];
    assert_eq!((&round["stage"], &round["proves"]), (&"plan".into(), &"plan".into()), "{found:#}");
    assert_eq!((&round["worktree_stands"], &round["resume_error"]), (&true.into(), &"was stuck".into()));
    let shown = place.world.windlass(&["roadmap", "inspect", place.repository.text()]).exits_with(0).stdout;
    assert!(shown.contains("round-001") && shown.contains("was stuck"), "{shown}");
    let next = found["next"].as_str().unwrap();
    assert!(next.contains("planner") && !next.contains("bring back the worktree"), "it stands there: {next}");
}

#[test]
fn the_next_command_that_is_named_is_one_that_works() {
    let mut place = Place::set_up(&[]);
    let next =
        |place: &Place| place.inspect().exits_with(0).json()["next_steps"][0].as_str().unwrap().to_owned();
    assert_eq!(next(&place), "windlass roadmap run --agent claude");
    // Settings that name the agents make the flag needless.
    place.world.set("WINDLASS_AGENT", "claude");
    assert_eq!(next(&place), "windlass roadmap run");
}

#[test]
fn hints_name_what_the_command_takes_and_branches_that_are_there() {
    let place = Place::set_up(&[]);
    let nowhere = place.world.shared("nowhere");
    let lost = place.world.windlass(&["roadmap", "inspect", nowhere.to_str().unwrap()]);
    assert!(!lost.stderr.contains("--repo") && lost.stderr.contains("PATH"), "{}", lost.stderr);

    place.edit_state(&[("base_branch", json!("nope"))]);
    let found = place.inspect().exits_with(2);
    assert!(!found.stdout.contains("git switch nope"), "{}", found.stdout);
    assert!(found.stdout.contains("there is no branch nope"), "{}", found.stdout);
    place.finish();
    place.edit_state(&[("base_branch", json!("nope"))]);
    let refused = place.init(ANSWERS, &[]);
    assert!(!refused.stderr.contains("git switch nope"), "{}", refused.stderr);
    assert!(refused.stderr.contains("as `base_branch` in"), "{}", refused.stderr);
}

#[test]
fn what_is_missing_in_the_checkout_alone_is_odd_and_keeps_no_run_from_going_on() {
    for name in ["roles/reviewer.md", "active-roadmap-bundle.md"] {
        let place = Place::set_up(&[]);
        fs::remove_file(place.repository.path().join("orchestrator").join(name)).unwrap();
        let found = place.inspect().exits_with(0).json();
        assert_eq!((&found["valid"], &found["kind"]), (&true.into(), &"runs".into()), "{found:#}");
        assert!(found["oddities"].to_string().contains(name), "{found:#}");
        assert!(found["oddities"].to_string().contains("what is committed counts"), "{found:#}");
        place.repository.commit("gone for good");
        assert_eq!(place.inspect().json()["valid"], false, "{name}");
    }
}

#[test]
fn a_roadmap_dir_that_a_run_would_not_find_is_a_problem_for_both() {
    let place = Place::set_up(&[]);
    let dir = place.state()["roadmap_dir"].as_str().unwrap().to_owned();
    let odd = dir.replace("orchestrator/roadmaps/", "plans/");
    let from = place.repository.path().join(&dir);
    let to = place.repository.path().join(&odd);
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::rename(from, to).unwrap();
    place.edit_state(&[("roadmap_dir", json!(odd))]);
    place.repository.commit("moved");
    let found = place.inspect().exits_with(2).json();
    assert_eq!(found["problems"][0]["rule"], "3.3.1", "{found:#}");
    assert_eq!(found["problems"][0]["pointer"], "/roadmap_dir");
}

#[test]
fn a_round_whose_branch_is_gone_is_told_as_the_run_decides_it() {
    let place = Place::set_up(&[]);
    let round = json!({"round_id": "round-001", "stage": "plan", "branch": "orchestrator/round-001",
        "worktree_path": "orchestrator/worktrees/round-001", "resume_error": null});
    place.edit_state(&[("active_rounds", json!([round]))]);
    let found = place.inspect().exits_with(0).json();
    assert_eq!(found["next"], "give up round-001: its branch orchestrator/round-001 is gone");
}

#[test]
fn a_blocked_round_whose_branch_is_gone_is_not_said_to_go_on() {
    let place = Place::set_up(&[]);
    let round = json!({"round_id": "round-001", "stage": "blocked", "branch": "orchestrator/round-001",
        "worktree_path": "orchestrator/worktrees/round-001", "resume_error": "nobody answered"});
    place.edit_state(&[
        ("active_rounds", json!([round])),
        ("controller_stage", json!("blocked")),
        ("resume_errors", json!({"controller": "nobody answered"})),
    ]);
    let found = place.inspect().exits_with(0).json();
    let next = found["next"].as_str().unwrap();
    assert!(next.contains("its branch is gone") && !next.contains("(at "), "{next}");
    let faults = found["rounds"][0]["faults"].to_string();
    assert!(faults.contains("take round-001 out of `active_rounds`"), "{found:#}");
}

#[test]
fn a_plane_that_lies_here_and_is_not_committed_is_no_old_one() {
    let place = Place::set_up(&[]);
    place.repository.git(&["reset", "-q", "HEAD~1"]);
    let found = place.inspect().exits_with(14);
    let text = &found.stdout;
    assert!(text.contains("is not committed on the base branch") && text.contains("run it again"), "{text}");
    assert!(!text.contains("migration needed") && !text.contains("migrate --dry-run"), "{text}");
    assert!(text.contains("active-roadmap-bundle.md"), "{text}");
}

#[test]
fn in_a_rounds_worktree_the_way_to_the_plane_is_named() {
    let place = Place::set_up(&[]);
    let worktree = "orchestrator/worktrees/round-001";
    place.repository.git(&["worktree", "add", "-q", "-b", "orchestrator/round-001", worktree]);
    let inside = place.repository.path().join(worktree);
    let found = place.world.windlass(&["roadmap", "inspect", inside.to_str().unwrap()]).exits_with(14).stdout;
    assert!(found.contains("this is the worktree of a round"), "{found}");
    assert!(!found.contains("git switch"), "{found}");
}

#[test]
fn a_look_before_anything_was_ever_run_leaves_nothing_behind_and_names_commands_that_work() {
    let mut place = Place::bare();
    let temporary = place.world.path().join("temporary");
    fs::create_dir(&temporary).unwrap();
    place.world.set("TMPDIR", temporary.clone());
    let state = place.world.state_dir();
    let leaves_nothing = |place: &Place| {
        assert!(!state.exists(), "a state directory was made");
        assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "something was left among temporary files");
        assert_eq!(place.repository.git(&["status", "--porcelain"]), "");
    };
    let absent = place.inspect().exits_with(2).json();
    assert_eq!(absent["next_steps"], json!(["windlass roadmap init"]));
    leaves_nothing(&place);
    let _ = place.init(ANSWERS, &[]).exits_with(0);

    // A clone on another machine: there is a control plane, and nothing was ever run here.
    fs::remove_dir_all(&state).unwrap();
    let found = place.inspect().exits_with(0).json();
    assert_eq!(found["next"], "open round-001 and ask its planner", "{found:#}");
    assert_eq!(found["next_steps"], json!(["windlass roadmap run --agent claude"]));
    leaves_nothing(&place);
    let run = ["roadmap", "run", "--repo", place.repository.text(), "--agent", "shell:true", "--dry-run"];
    let _ = place.world.windlass(&run).exits_with(0);
    fs::remove_dir_all(&state).unwrap();

    // Not even a home is needed to look.
    place.world.unset("WINDLASS_STATE_DIR").unset("XDG_STATE_HOME").unset("HOME");
    let _ = place.inspect().exits_with(0);
    leaves_nothing(&place);
}

#[test]
fn a_look_makes_no_folder_for_worktrees_that_are_gone() {
    let place = Place::set_up(&[]);
    let branch = "orchestrator/round-001";
    place.repository.git(&["branch", branch]);
    let round = json!({"round_id": "round-001", "stage": "plan", "branch": branch,
        "worktree_path": "orchestrator/worktrees/round-001", "resume_error": null});
    place.edit_state(&[("active_rounds", json!([round]))]);
    let before = prints(place.repository.path());
    let found = place.inspect().exits_with(0).json();
    assert_eq!(found["rounds"][0]["worktree_stands"], false, "{found:#}");
    assert_eq!(prints(place.repository.path()), before);
}

#[test]
fn a_roadmap_that_is_done_and_not_yet_closed_is_run_once_more_before_the_next_one() {
    let place = Place::set_up(&[]);
    place.finish();
    assert_eq!(place.inspect().exits_with(0).json()["next_steps"], json!(["windlass roadmap init"]));
    place.edit_state(&[("controller_stage", json!("dispatch-rounds"))]);
    let found = place.inspect().exits_with(0).json();
    assert_eq!(found["next"], "note that every milestone is done, and stop", "{found:#}");
    assert_eq!(
        found["next_steps"],
        json!(["windlass roadmap run --agent claude"]),
        "`init` would be refused"
    );
    assert_refused(
        &place.init(ANSWERS, &[]).exits_with(14),
        "WL-RUN-002",
        &["`controller_stage` does not say so yet"],
    );
    let run = ["roadmap", "run", "--repo", place.repository.text(), "--agent", "shell:true"];
    let _ = place.world.windlass(&run).exits_with(0);
    let _ = place.init(ANSWERS, &[]).exits_with(0);
}

#[test]
fn section_17_3_headings_and_lists_of_the_older_contract_are_pointed_at() {
    let place = Place::set_up(&[]);
    let roadmap = place.roadmap_file("roadmap.md");
    for (text, said) in [
        (
            "# Roadmap\n\n## Milestones\n\n### [completed] 1. Measure\n\nTook a week.\n\n### 2. Load lazily\n",
            "roadmap.md:5: \"### [completed] 1. Measure\" is a milestone of the older contract",
        ),
        (
            "# Roadmap\n\n1. [completed] Measure\n2. [pending] Load lazily\n",
            "roadmap.md:3: \"1. [completed] Measure\" is a milestone of the older contract",
        ),
    ] {
        place.repository.write(&roadmap, text).commit("an older form");
        let found = place.inspect().exits_with(14).json();
        assert_eq!(found["kind"], "migration-needed", "{found:#}");
        let why = found["why"].to_string().replace("\\\"", "\"");
        assert!(why.contains(said) && why.contains("(2 milestones in all)"), "{said} in {why}");
        assert_eq!(found["next_steps"], json!(["windlass roadmap migrate --dry-run"]));
    }
}

#[test]
fn rule_4_2_anchors_that_resolve_to_nothing_or_to_several_places_are_refused_before_a_run() {
    for (selector, words) in [("#### Nowhere", "is not found"), ("e", "is found")] {
        let place = Place::set_up(&["--records"]);
        let file = place.roadmap_file("roadmap-view.json");
        let mut view: Value = serde_json::from_str(&place.repository.read(&file)).unwrap();
        let anchor = view["milestones"][0]["completion_anchor"].as_str().unwrap().to_owned();
        view["anchors"][&anchor]["selector"] = json!(selector);
        place.repository.write(&file, &format!("{view:#}\n")).commit("an anchor that leads nowhere");
        let found = place.inspect().exits_with(2).json();
        let problem = &found["problems"][0];
        assert_eq!((&problem["rule"], &problem["file"]), (&"4.2".into(), &file.as_str().into()), "{found:#}");
        assert!(problem["message"].as_str().unwrap().contains(words), "{found:#}");
        let run = ["roadmap", "run", "--repo", place.repository.text(), "--agent", "shell:false"];
        let _ = place.world.windlass(&run).exits_with(2);
    }
}
