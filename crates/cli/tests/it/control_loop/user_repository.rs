//! The user's own repository around a loop: their everyday git while and after it, their branches, their changes.

use super::leftovers::spending;
use super::plant::{ADDING_ACTUATOR, BRANCH, Plant, TASK, counting_controller, outcome};

/// Whatever looks at all worktrees of the repository.
fn everyday_git_works(plant: &Plant) {
    for words in [
        ["log", "--all", "--oneline"].as_slice(),
        &["rev-list", "--all", "--objects"],
        &["fsck", "--no-dangling"],
        &["fetch", "--quiet", "."],
        &["gc", "--quiet"],
    ] {
        plant.repository.git(words);
    }
}

/// Agents and sensors are held to their own places, and git knows who they are.
fn committing() -> Plant {
    let plant = Plant::flat(2);
    plant.repository.git(&["config", "user.name", "Ada"]);
    plant.repository.git(&["config", "user.email", "ada@example.com"]);
    plant
}

#[test]
fn a_sensor_and_an_actuator_that_commit_leave_the_users_git_in_order() {
    let plant = committing();
    plant.sensor(
        "high",
        "git commit -q --allow-empty -m 'from a test' || exit 3; test \"$(cat value)\" -ge 2",
    );
    plant.repository.commit("a sensor that commits");
    let during = plant.repository.text();
    let commits = format!(
        "{ADDING_ACTUATOR}\ngit add -A && git commit -q -m mine || exit 3\ngit -C '{during}' log --all --oneline > /dev/null || exit 4"
    );
    let _ = plant.run(&counting_controller(2), &commits, &[]).exits_with(0);
    everyday_git_works(&plant);
    plant.assert_sound();
    let cleaned = plant.world.windlass(&["clean", &plant.run_id()]).exits_with(0).stdout;
    assert!(!cleaned.contains("tools.json"), "{cleaned}");
}

#[test]
fn an_actuator_that_commits_and_ends_on_a_hazard_leaves_the_users_git_in_order() {
    let plant = committing();
    let commits =
        format!("ln -s /etc/passwd link; git add -A; git commit -q -m mine || exit 3\n{ADDING_ACTUATOR}");
    let ended = outcome(&plant.run(&counting_controller(2), &commits, &[]).exits_with(11));
    everyday_git_works(&plant);
    let because = ended["explanation"]["because"].to_string();
    assert!(because.contains("it is kept"), "{because}");
}

/// Steps that were asked for so far.
fn asked(plant: &Plant) -> usize {
    plant.log().iter().filter(|entry| entry.to_string().contains("\"run-agent\"")).count()
}

#[test]
fn a_branch_that_was_deleted_is_missed_before_anybody_is_asked_and_named_in_no_command() {
    let plant = Plant::flat(3);
    let _ = plant.count_to(3, &["--max-iterations", "1"]).exits_with(10);
    let (run, before) = (plant.run_id(), asked(&plant));
    let tip = plant.repository.git(&["rev-parse", BRANCH]);
    plant.repository.git(&["branch", "-D", BRANCH]);
    let resume = ["resume", &run, "--max-iterations", "+2"];
    let refused = plant.world.windlass(&resume).exits_with(14).stderr;
    let back = format!("git branch {BRANCH} {tip}");
    assert!(refused.contains(&format!("{BRANCH} was deleted")) && refused.contains(&back), "{refused}");
    assert_eq!(asked(&plant), before, "nobody was asked");
    let shown = plant.world.windlass(&["show", &run]).exits_with(0).stdout;
    assert!(shown.contains(&back) && !shown.contains("git merge"), "{shown}");
    plant.repository.git(&["branch", BRANCH, &tip]);
    let _ = plant.world.windlass(&resume).exits_with(0);
    assert_eq!(plant.ends_with("value"), "3");
}

#[test]
fn a_commit_of_somebodys_own_on_the_branch_is_spoken_of_with_the_commands() {
    let plant = Plant::flat(3);
    let _ = plant.count_to(3, &["--max-iterations", "1"]).exits_with(10);
    let (run, before) = (plant.run_id(), asked(&plant));
    let tip = plant.repository.git(&["rev-parse", BRANCH]);
    let own =
        plant.repository.git(&["commit-tree", &format!("{BRANCH}^{{tree}}"), "-p", BRANCH, "-m", "my own"]);
    plant.repository.git(&["update-ref", &format!("refs/heads/{BRANCH}"), &own]);
    let resume = ["resume", &run, "--max-iterations", "+2"];
    let refused = plant.world.windlass(&resume).exits_with(14).stderr;
    let (kept, back) = (format!("git branch {BRANCH}-kept {own}"), format!("git branch -f {BRANCH} {tip}"));
    assert!(refused.contains(&kept) && refused.contains(&back), "{refused}");
    assert_eq!(asked(&plant), before, "nobody was asked");
    plant.repository.git(&["branch", &format!("{BRANCH}-kept"), &own]);
    plant.repository.git(&["branch", "-f", BRANCH, &tip]);
    let _ = plant.world.windlass(&resume).exits_with(0);
}

/// What `check` calls good `run` does not refuse, and the other way round; a refusal records nothing.
#[test]
fn check_and_run_see_the_same_things_in_the_way() {
    let see = |spoil: fn(&Plant), words: &str| {
        let plant = Plant::flat(1);
        let _ = plant.world.windlass(&["trust", "--repo", plant.repository.text()]).exits_with(0);
        let check = ["control", "check", "--repo", plant.repository.text()];
        let _ = plant.world.windlass(&check).exits_with(0);
        spoil(&plant);
        let checked = plant.world.windlass(&check).exits_with(2).stdout;
        assert!(checked.contains(words), "{checked}");
        let ran = plant.count_to(1, &[]).exits_with(14);
        assert!(ran.stderr.contains(words) || ran.stdout.contains(words), "{} {}", ran.stdout, ran.stderr);
        assert_eq!(plant.world.windlass(&["ls", "--json"]).exits_with(0).json().as_array().unwrap().len(), 0);
        plant
    };
    let edited = |plant: &Plant| {
        plant.repository.write("value", "7\n");
    };
    see(edited, "1 uncommitted change: value");
    let in_the_way = |plant: &Plant| {
        let _ = plant.repository.write(".orchestrator", "x\n").commit("a file in the way");
    };
    see(in_the_way, "is a file, and runs keep their directories there");
    let blocked = see(
        |plant| drop(plant.repository.git(&["branch", "ai-loop"])),
        "the branch ai-loop leaves git no room for ai-loop/",
    );
    let _ = blocked.count_to(1, &["--branch", "raising"]).exits_with(0);
}

#[test]
fn changes_that_were_taken_along_are_counted_and_stashed_before_the_merge() {
    let plant = Plant::flat(2);
    plant.repository.write("value", "1\n").write("new.txt", "n\n");
    let ended = outcome(&plant.count_to(2, &["--allow-dirty"]).exits_with(0));
    let commits = plant.repository.git(&["rev-list", "--count", &format!("HEAD..{BRANCH}")]);
    assert_eq!(ended["control"]["commits"].to_string(), commits);
    let steps = ended["control"]["next_steps"].as_array().unwrap();
    let git = steps.iter().filter_map(|step| step.as_str()?.strip_prefix("git "));
    for words in git.filter(|words| words.starts_with("stash") || words.starts_with("merge")) {
        plant.repository.git(&words.split(' ').collect::<Vec<_>>());
    }
    assert_eq!(plant.repository.read("value"), "2\n");
}

#[test]
fn a_loop_that_somebody_left_open_is_not_passed_over_in_silence() {
    let plant = Plant::flat(1);
    let state = "---\niteration: 2\nstatus: running\nmax-iterations: 10\nbase-branch: main\nbranch: ai-loop/old-thing\n---\n\n# Task\n\nOld thing\n";
    plant.repository.write(".ai-loop/orchestrator-output.md", state).commit("an open loop");
    let words = "says that a loop on ai-loop/old-thing is still running";
    let checked = plant.world.windlass(&["control", "check", "--repo", plant.repository.text()]);
    assert!(checked.stdout.contains(words), "{}", checked.stdout);
    let ran = plant.count_to(1, &[]).exits_with(0);
    assert!(ran.stdout.contains(words) || ran.stderr.contains(words), "{} {}", ran.stdout, ran.stderr);
}

/// A run that ends between two commits leaves files that say it is running; who merges them is not told so of a run that ended.
#[test]
fn a_run_of_our_own_that_has_ended_is_not_called_running() {
    for plant in [Plant::flat(1), Plant::levels(0, 1)] {
        let controller = plant.agent("controller", &counting_controller(1));
        let words = ["control", "run", TASK, "--repo", plant.repository.text(), "--yes"];
        let agents = ["--controller", &controller, "--actuator", &spending(&plant), "--max-tokens", "1000"];
        let _ = plant.world.windlass(&[&words[..], &agents].concat()).exits_with(12);
        plant.repository.git(&["merge", "-q", BRANCH]);
        assert!(plant.repository.git(&["grep", "-l", "status: running"]).contains(".ai-loop/"));
        let repository = ["--repo", plant.repository.text()];
        let _ = plant.world.windlass(&[&["trust"], &repository[..]].concat()).exits_with(0);
        let check = ["control", "check", repository[0], repository[1]];
        let checked = plant.world.windlass(&check).exits_with(0).stdout;
        assert!(!checked.contains("still running"), "{checked}");
    }
}

/// Whatever their branches are called.
#[test]
fn w13_two_runs_from_one_base_never_share_a_name() {
    let plant = Plant::levels(0, 1);
    let names = ["feature/x", "feature/y"].map(|branch| {
        let _ = plant.count_to(1, &["--branch", branch]).exits_with(0);
        plant.repository.git(&["ls-tree", "--name-only", &format!("{branch}:.ai-loop/runs")])
    });
    assert_ne!(names[0], names[1]);
}
