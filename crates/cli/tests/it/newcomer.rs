//! What somebody new trips over: said at once, in words that lead on, before anything is started or recorded.

mod findings;
mod limits;
mod read_only;

use crate::played_run::{PlayedRun, waiting_doer};
use crate::world;
use windlass_test_support::{Output, Script, When, wait_until};

/// Refused as a usage error that says this, with nothing recorded and no run to resume.
#[track_caller]
fn is_a_usage_error(output: Output, words: &str) {
    let output = output.exits_with(2);
    assert!(output.stderr.contains(words), "{}", output.stderr);
    assert!(!output.stderr.contains("resume RUN"), "{}", output.stderr);
    assert_eq!(output.stdout, "");
}

#[test]
fn words_that_no_run_can_use_are_refused_before_it_is_one() {
    let played = PlayedRun::of(&Script::that_passes());
    let run = |more: &[&str]| {
        let words = ["run", "x", "--repo", played.repository.text(), "--agent", &played.agent];
        played.world.windlass(&[&words[..], more].concat())
    };
    is_a_usage_error(run(&["--id", "a b"]), "the task id `a b` cannot stand in the name of a branch");
    is_a_usage_error(run(&["--id", "x.lock"]), "cannot stand in the name of a branch");
    is_a_usage_error(run(&["--check", ""]), "`checks` (argument) holds an empty command");
    is_a_usage_error(run(&["--step-limit", "soon"]), "`step-limit` (argument) is `soon`");
    assert_eq!(played.world.windlass(&["ls", "--json"]).exits_with(0).json(), serde_json::json!([]));
    assert_eq!(played.world.steps(), Vec::<String>::new());
}

#[test]
fn a_branch_that_git_does_not_take_is_refused_before_anything_is_recorded() {
    let played = PlayedRun::of(&Script::that_passes());
    let _ = played.run(&["--land", "none"]).exits_with(0);
    let before = played.about("log", &["--json"]).stdout;
    for name in ["bad..name", "a b", "x.lock", "-x", "x/"] {
        let branch = format!("--branch={name}");
        is_a_usage_error(played.about("land", &[&branch]), "is not a usable reference name");
    }
    assert_eq!(played.about("log", &["--json"]).stdout, before, "something was recorded");
    let _ = played.about("land", &["--branch", "topic/good"]).exits_with(0);
}

#[test]
fn a_repository_without_a_checkout_or_a_commit_is_told_what_it_lacks() {
    let world = world();
    let agent = world.agent("agent.toml", &Script::that_passes());
    let repository = world.repository("repo");
    repository.git(&["clone", "--quiet", "--bare", ".", "../bare.git"]);
    repository.git(&["init", "--quiet", "../empty"]);
    let run = |name: &str| {
        let path = world.path().join(name);
        world.windlass(&["run", "x", "--repo", path.to_str().unwrap(), "--agent", &agent])
    };
    is_a_usage_error(run("bare.git"), "a checkout is needed");
    is_a_usage_error(run("empty"), "make a first commit");
}

#[test]
fn a_judge_s_worktree_that_the_doer_replaced_is_made_anew() {
    for replace in ["ln -s /etc", "touch"] {
        let command = format!("rm -rf ../judge && {replace} ../judge");
        let run = format!("{{ run = ['sh', '-c', '{command}'] }}");
        let script = Script::new()
            .doer(When::Always, &["{ write = 'done.txt', text = 'done' }", &run, "{ handoff = 'did it' }"])
            .judge(When::Always, &["{ verdict = 'pass' }"])
            .auditor(When::Always, &["{ audit = 'pass' }"]);
        let mut played = PlayedRun::of(&script);
        played.world.without_sandbox("the fence would keep the doer from it");
        let _ = played.run(&["--check", "test -f done.txt"]).exits_with(0);
        assert_eq!(played.repository.git(&["show", "windlass/TASK-1:done.txt"]), "done", "{replace}");
        let _ = played.about("verify", &[]).exits_with(0);
    }
}

#[test]
fn an_orphaned_agent_is_stopped_while_another_run_holds_the_repository() {
    let played = PlayedRun::interrupted();
    let orphaned = played.id();
    let words =
        ["run", "Hold", "--id", "TASK-2", "--repo", played.repository.text(), "--agent", &played.agent];
    let running = played.world.start_windlass(&words);
    wait_until("the second doer", || (played.world.steps().len() > 1).then_some(()));
    let before = played.world.processes().len();
    let _ = played.world.windlass(&["stop", &orphaned]).exits_with(0);
    assert!(played.world.processes().len() < before, "the orphan still works");
    let line = played.world.windlass(&["show", &orphaned, "--json"]).exits_with(0).json();
    assert_eq!(line["status"], "stopped");
    assert!(running.is_alive());
    played.go();
    let _ = running.wait().exits_with(0);
    played.world.assert_no_processes();
}

#[test]
fn small_questions_get_the_answer_that_was_asked_for() {
    let world = world();
    let version = world.windlass(&["--version", "--json"]).exits_with(0).json();
    assert_eq!(version["name"], "windlass");
    assert!(version["version"].as_str().is_some_and(|number| number.contains('.')), "{version}");
    let help = world.windlass(&["help", "run"]).exits_with(0).stdout;
    assert_eq!(help, world.windlass(&["run", "--help"]).exits_with(0).stdout);
    let quiet = world.windlass(&["demo", "--quiet"]).exits_with(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let repository = world.repository("repo");
    let words = ["compat", "run-loop", "--repo", repository.text(), "--task-id", "TASK-1", "--task", "x"];
    let dry = world.windlass(&[&words[..], &["--dry-run"]].concat()).exits_with(0).stdout;
    assert!(dry.contains("[DRY-RUN] doer: codex\n"), "the original's agent: {dry}");
}

#[test]
fn a_line_of_another_wording_is_believed_and_a_forged_one_is_not() {
    let played = PlayedRun::accepted();
    let file = crate::journal_file::JournalFile::of(&played);
    let older = "headline = json_remove(json_set(headline, '$.now', 'it went well'), '$.wording')";
    let put_back = file.change_line(older);
    let _ = played.about("verify", &[]).exits_with(0);
    put_back();
    for forged in ["'$.now', 'it went well'", "'$.end', 'rejected'", "'$.round', 7"] {
        let change = format!("headline = json_set(headline, {forged})");
        let put_back = file.change_line(&change);
        let _ = played.about("verify", &[]).exits_with(15);
        put_back();
    }
}

#[test]
fn a_moved_repository_is_verified_where_it_is_now() {
    let played = PlayedRun::accepted();
    let moved = played.world.path().join("moved");
    std::fs::rename(played.repository.path(), &moved).unwrap();
    let lost = played.about("verify", &[]).exits_with(15).stdout;
    assert!(lost.contains(&format!("the repository of the run was {}", played.repository.text())), "{lost}");
    assert!(lost.contains("--repo DIR"), "{lost}");
    let found = played.about("verify", &["--repo", moved.to_str().unwrap()]).exits_with(0).stdout;
    assert!(found.contains("holds exactly the judged tree"), "{found}");
    let run_dir =
        std::fs::read_dir(moved.join(".orchestrator/runs")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(run_dir.join("summary.json"), "{}").unwrap();
    let _ = played.about("verify", &["--repo", moved.to_str().unwrap()]).exits_with(15);
}

#[test]
fn stopping_and_waiting_are_offered_only_where_they_exist() {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    let refused = played.about("resume", &[]).exits_with(14).stderr;
    assert!(
        refused.contains("`--wait` waits for it") && !refused.contains("windlass run --wait"),
        "{refused}"
    );
    let _ = running.kill();
}

#[test]
fn a_pipe_in_the_place_of_the_settings_is_refused_instead_of_being_waited_for() {
    let world = world();
    let repository = world.repository("repo");
    let place = repository.path().join("windlass.toml");
    rustix::fs::mkfifoat(rustix::fs::CWD, &place, rustix::fs::Mode::RWXU).unwrap();
    let refused = world.windlass(&["settings", "--repo", repository.text()]).exits_with(2);
    assert!(refused.stderr.contains("is not a plain file"), "{}", refused.stderr);
}
