//! Section 21, bootstrap: one checkpoint commit with files of the control plane only, and no round.

use super::*;

#[test]
fn section_21_bootstrap_makes_one_commit_with_the_control_plane_only() {
    for (more, generation) in [(&[][..], "structured-markdown"), (&["--records"][..], "records")] {
        let place = Place::bare();
        place.repository.write("untracked.txt", "mine");
        let report = place.init(ANSWERS, &[more, &["--json"]].concat()).exits_with(0).json();
        assert_eq!((&report["mode"], &report["generation"]), (&"bootstrap".into(), &generation.into()));
        assert_eq!(place.commits(), 2, "exactly one more");
        let changed = place.repository.git(&["show", "--name-only", "--format=", "HEAD"]);
        assert!(changed.lines().all(|path| path.starts_with("orchestrator/")), "{changed}");
        let mut written = strings(&report["written"]);
        written.sort_unstable();
        assert_eq!(changed.lines().collect::<Vec<_>>(), written);
        assert_eq!(place.repository.git(&["status", "--porcelain"]).trim(), "?? untracked.txt");
        let state = place.state();
        assert_eq!(state["controller_stage"], "dispatch-rounds");
        assert_eq!(
            (&state["base_branch"], &state["active_rounds"]),
            (&"main".into(), &serde_json::json!([]))
        );
        assert_eq!(state.as_object().unwrap().len(), 11);
        let found = place.inspect().exits_with(0).json();
        assert_eq!(
            (&found["valid"], &found["oddities"]),
            (&true.into(), &serde_json::json!([])),
            "{found:#}"
        );
        assert_eq!(found["next"], "open round-001 and ask its planner");
        assert_eq!(place.world.windlass(&["ls", "--json"]).exits_with(0).json(), serde_json::json!([]));
    }
}

#[test]
fn section_21_the_worktrees_are_ignored_by_a_tracked_rule() {
    let place = Place::set_up(&[]);
    assert!(place.repository.git_succeeds(&["check-ignore", "-q", "orchestrator/worktrees/round-001/x"]));
    let ruled = Place::bare();
    ruled.repository.write(".gitignore", "orchestrator/worktrees/\n").commit("rule");
    let _ = ruled.init(ANSWERS, &[]).exits_with(0);
    assert!(!ruled.repository.path().join("orchestrator/.gitignore").exists(), "one rule is enough");
}

#[test]
fn section_21_a_directory_without_git_becomes_a_repository_on_main() {
    let world = world();
    let directory = world.path().join("plain");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("notes.txt"), "mine").unwrap();
    let answers = world.shared("answers.toml");
    std::fs::write(&answers, ANSWERS).unwrap();
    let words =
        ["roadmap", "init", "--repo", directory.to_str().unwrap(), "--answers", answers.to_str().unwrap()];
    let dry = world.windlass(&[&words[..], &["--dry-run"]].concat()).exits_with(0).stdout;
    assert!(dry.contains("would become a repository") && !directory.join(".git").exists(), "{dry}");
    let _ = world.windlass(&words).exits_with(0);
    let git = |args: &[&str]| world.run(std::path::Path::new("git"), &directory, args, "").stdout;
    assert_eq!(git(&["symbolic-ref", "HEAD"]).trim(), "refs/heads/main");
    assert_eq!(git(&["rev-list", "--count", "HEAD"]).trim(), "1");
    assert_eq!(git(&["status", "--porcelain"]).trim(), "?? notes.txt");
}

#[test]
fn a_dry_run_says_everything_and_writes_nothing() {
    let place = Place::bare();
    let before = place.repository.record();
    let dry = place.init(ANSWERS, &["--dry-run"]).exits_with(0).stdout;
    for words in
        ["would write orchestrator/state.json", "Outcome: Starts in 50 ms", "Load lazily", "bootstrap"]
    {
        assert!(dry.contains(words), "{words} in {dry}");
    }
    before.assert_holds(&place.repository);
    assert!(!place.repository.path().join("orchestrator").exists());
}

#[test]
fn the_printed_answers_are_answers_and_json_says_the_same() {
    let place = Place::bare();
    let printed = place.world.windlass(&["roadmap", "init", "--print-answers"]).exits_with(0).stdout;
    let report = place.init(&printed, &["--dry-run", "--json"]).exits_with(0).json();
    assert_eq!(report["milestones"].as_array().unwrap().len(), 3, "{report:#}");
    let file = place.world.shared("answers.json");
    let answers = r#"{"title": "T", "outcome": "O", "milestones": [{"title": "One"}]}"#;
    std::fs::write(&file, answers).unwrap();
    let words = ["roadmap", "init", "--repo", place.repository.text(), "--answers", file.to_str().unwrap()];
    let _ = place.world.windlass(&words).exits_with(0);
    assert_eq!(place.inspect().exits_with(0).json()["unfinished"], serde_json::json!(["milestone-01-one"]));
}

#[test]
fn answers_that_make_no_roadmap_and_no_answers_at_all_are_refused() {
    let place = Place::bare();
    let wrong = place.init("title = 'x'\noutcom = 'y'\n", &[]).exits_with(2);
    assert_refused(&wrong, "WL-USAGE-001", &["answers.toml", "outcom", "--print-answers"]);
    let empty = place.init("title = 'x'\n", &[]).exits_with(2);
    assert_refused(&empty, "WL-USAGE-001", &["`outcome` is missing", "there is no milestone"]);
    let nobody = place.world.windlass(&["roadmap", "init", "--repo", place.repository.text()]).exits_with(2);
    assert_refused(&nobody, "WL-USAGE-001", &["nobody said what the roadmap is to be", "--answers"]);
    let asked = ["roadmap", "init", "--repo", place.repository.text(), "--dry-run", "--json"];
    let asked = place.world.windlass(&asked).exits_with(0).json();
    assert_eq!((&asked["mode"], &asked["questions"][0]["key"]), (&"bootstrap".into(), &"title".into()));
    assert_eq!(place.commits(), 1);
}

#[test]
fn folders_that_are_not_ours_and_staged_files_are_left_alone() {
    let place = Place::bare();
    place.repository.write("orchestrator/main.py", "print()\n").commit("a program of that name");
    assert_refused(&place.init(ANSWERS, &[]).exits_with(2), "WL-ROADMAP-001", &["belongs to something else"]);
    place.repository.write(STATE, "{\"queue\": []}\n").commit("a state of its own");
    let foreign = place.init(ANSWERS, &[]).exits_with(2);
    assert_refused(&foreign, "WL-ROADMAP-001", &["is not of an orchestrator loop", "queue"]);
    assert_eq!(place.commits(), 3);

    let staged = Place::bare();
    staged.repository.write("half.txt", "half");
    staged.repository.git(&["add", "half.txt"]);
    let refused = staged.init(ANSWERS, &[]).exits_with(14);
    assert_refused(&refused, "WL-RUN-002", &["staged changes: half.txt", "nothing was written"]);
    assert_eq!(staged.commits(), 1);
    assert!(!staged.repository.path().join("orchestrator").exists());
    assert_eq!(staged.inspect().exits_with(2).json()["kind"], "absent");
    staged.repository.git(&["reset", "-q"]);
    let _ = staged.init(ANSWERS, &[]).exits_with(0);
    assert_eq!((staged.commits(), staged.inspect().code), (2, Some(0)));
}

#[test]
fn ignore_rules_that_keep_rounds_out_of_git_are_refused_before_anything_is_written() {
    for (more, rules) in
        [(&[][..], "orchestrator\n"), (&[][..], "rounds/\n"), (&["--records"][..], "*.json\n")]
    {
        let place = Place::bare();
        place.repository.write(".gitignore", rules).commit("rules");
        for dry in [&["--dry-run"][..], &[][..]] {
            let refused = place.init(ANSWERS, &[more, dry].concat()).exits_with(2);
            assert_refused(
                &refused,
                "WL-ROADMAP-001",
                &[".gitignore: a rule in it keeps orchestrator/", "out of git"],
            );
        }
        assert!(!place.repository.path().join("orchestrator").exists());
        place.repository.write(".gitignore", "").commit("no rules");
        let _ = place.init(ANSWERS, more).exits_with(0);
        place.repository.write(".gitignore", rules).commit("rules again");
        let found = place.inspect().exits_with(2);
        assert!(found.stdout.contains("out of git"), "{}", found.stdout);
        let words = ["roadmap", "run", "--repo", place.repository.text(), "--agent", "shell:true"];
        let refused = place.world.windlass(&words).exits_with(2);
        assert_refused(&refused, "WL-ROADMAP-001", &["out of git", "nothing was begun"]);
        assert_eq!(place.world.windlass(&["ls", "--json"]).exits_with(0).json(), serde_json::json!([]));
    }
}

#[test]
fn something_else_of_the_planes_name_is_left_alone() {
    let place = Place::bare();
    place.repository.write("orchestrator", "a file\n");
    let found = place.inspect().exits_with(2).json();
    assert_eq!(
        (&found["kind"], &found["next_steps"]),
        (&"not-an-orchestrator".into(), &serde_json::json!([]))
    );
    assert_refused(&place.init(ANSWERS, &[]).exits_with(2), "WL-ROADMAP-001", &["is no folder"]);

    let odd = Place::bare();
    std::fs::create_dir_all(odd.repository.path().join(STATE)).unwrap();
    assert_eq!(odd.inspect().exits_with(2).json()["kind"], "unreadable");
    assert_refused(&odd.init(ANSWERS, &[]).exits_with(2), "WL-ROADMAP-001", &["is no plain file"]);
}

#[test]
fn a_detached_head_has_no_base_branch() {
    let place = Place::bare();
    place.repository.git(&["checkout", "-q", "--detach"]);
    assert_refused(&place.init(ANSWERS, &[]).exits_with(14), "WL-RUN-002", &["no branch is checked out"]);
}

#[test]
fn a_quiet_set_up_says_nothing_when_it_went_well() {
    let place = Place::bare();
    let told = place.init(ANSWERS, &["--quiet"]).exits_with(0);
    assert_eq!((told.stdout.as_str(), told.stderr.as_str()), ("", ""));
    assert_eq!(place.commits(), 2);
    // What would be written is the answer of a dry run, and stays one.
    let dry = Place::bare().init(ANSWERS, &["--quiet", "--dry-run"]).exits_with(0);
    assert!(dry.stdout.contains("would write"), "{}", dry.stdout);
}

#[test]
fn the_lines_that_are_advised_against_an_ignore_rule_let_the_plane_in() {
    for (more, rules) in [
        (&[][..], "orchestrator\n"),
        (&[][..], "orchestrator/\n"),
        (&[][..], "rounds/\n"),
        (&[][..], "*.md\n"),
        (&["--records"][..], "*.json\n"),
    ] {
        let place = Place::bare();
        place.repository.write(".gitignore", rules);
        let hint = place.init(ANSWERS, more).exits_with(2).stderr;
        let advised: Vec<&str> = hint.split('`').filter(|part| part.starts_with('!')).collect();
        assert_eq!(advised, ["!/orchestrator/", "!/orchestrator/**"], "{hint}");
        place
            .repository
            .write(".gitignore", &format!("{rules}{}\n", advised.join("\n")))
            .commit("as advised");
        let _ = place.init(ANSWERS, more).exits_with(0);
        assert_eq!(place.inspect().exits_with(0).json()["valid"], true, "{rules}");
        place.repository.write("orchestrator/worktrees/round-001/a", "b");
        assert_eq!(place.repository.git(&["status", "--porcelain"]), "", "worktrees stay out");
    }
}
