//! The original's complaints about its words: their order and their exit codes. In each line everything that is
//! complained about later is wrong as well, so that a complaint out of order shows.

use crate::world;

const LATER: [&str; 6] =
    ["--max-rounds", "x", "--doer-prompt-file", "absent", "--judge-prompt-file", "absent"];

#[test]
fn run_loop_complains_in_the_original_s_order_with_its_exit_codes() {
    let world = world();
    std::fs::write(world.path().join("empty"), "").unwrap();
    std::fs::write(world.path().join("prompt"), "p").unwrap();
    let table: &[(&[&str], u8, &str)] = &[
        (&["--frobnicate", "--task", "a", "--task-file", "b"], 2, "--frobnicate"),
        (&["--task", "a", "--task-file", "b"], 2, "--repo and --task-id are required"),
        (&["--repo", ".", "--task", "a", "--task-file", "b"], 2, "--repo and --task-id are required"),
        (&["--repo", ".", "--task-id", "1", "--task", "a", "--task-file", "b"], 2, "not both"),
        (&["--repo", ".", "--task-id", "1"], 2, "one of --task and --task-file is required"),
        (&["--repo", ".", "--task-id", "1", "--task-file", "absent"], 1, "task file not found: absent"),
        (&["--repo", ".", "--task-id", "1", "--task-file", "empty"], 2, "is empty"),
        (&["--repo", ".", "--task-id", "1", "--task", "  "], 2, "the task is empty"),
        (&["--repo", ".", "--task-id", "1", "--task", "a"], 2, "--max-rounds must be"),
    ];
    for (words, code, complaint) in table {
        let line: Vec<&str> = ["compat", "run-loop"].iter().chain(*words).chain(&LATER).copied().collect();
        let output = world.windlass(&line).exits_with(*code);
        assert!(output.stderr.contains(complaint), "{words:?}: {}", output.stderr);
        assert!(!output.stderr.contains("does not look like TASK-"), "{words:?}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{words:?}");
    }
}

#[test]
fn run_loop_looks_for_the_prompt_files_of_doer_judge_and_auditor_in_this_order() {
    let world = world();
    let right = ["compat", "run-loop", "--repo", ".", "--task-id", "1", "--task", "a"];
    let prompts =
        ["--audit-prompt-file", "no-a", "--judge-prompt-file", "no-j", "--doer-prompt-file", "no-d"];
    for (given, missing) in [(6, "no-d"), (4, "no-j"), (2, "no-a")] {
        let line: Vec<&str> = right.iter().chain(&prompts[..given]).copied().collect();
        let output = world.windlass(&line).exits_with(1);
        assert!(output.stderr.contains(&format!("prompt file not found: {missing}")), "{}", output.stderr);
    }
}

#[test]
fn a_flag_at_the_end_without_its_value_is_a_usage_error() {
    let world = world();
    for flag in ["--repo", "--task-id", "--task", "--judge-eval", "--max-rounds", "--agent"] {
        let output = world.windlass(&["compat", "run-loop", flag]).exits_with(2);
        assert!(output.stderr.contains(flag), "{}", output.stderr);
    }
}

#[test]
fn a_flag_given_twice_counts_as_given_last() {
    let world = world();
    let line = ["compat", "run-loop", "--repo", ".", "--task-id", "1", "--task", "a", "--max-rounds", "2"];
    let output = world.windlass(&[&line[..], &["--max-rounds", "0"]].concat()).exits_with(2);
    assert!(
        output.stderr.contains("--max-rounds must be a whole number from 1 on, not `0`"),
        "{}",
        output.stderr
    );
}

#[test]
fn mk_worktrees_needs_a_repository_and_a_run_directory() {
    let world = world();
    let lines: &[&[&str]] = &[&[], &["--repo", "."], &["--run-dir", "d"]];
    for words in lines {
        let line: Vec<&str> = ["compat", "mk-worktrees"].iter().chain(*words).copied().collect();
        let output = world.windlass(&line).exits_with(2);
        assert!(output.stderr.contains("--repo and --run-dir are required"), "{}", output.stderr);
    }
}

#[test]
fn help_of_both_scripts_is_an_answer() {
    let world = world();
    for script in ["run-loop", "mk-worktrees"] {
        assert!(
            world.windlass(&["compat", script, "-h"]).exits_with(0).stdout.contains("--repo"),
            "{script}"
        );
    }
}
