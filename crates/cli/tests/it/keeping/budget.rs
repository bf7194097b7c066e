//! The disk budget of worktrees: what can be made again goes from runs that are over, least recently used first, and
//! nothing else goes.

use crate::world;
use serde_json::Value;
use std::path::PathBuf;
use windlass_test_support::{Background, Repository, Script, When, World, wait_until};

/// What a checker builds in its worktree: three megabytes that git ignores.
const BUILDS: &str = "{ run = ['sh', '-c', 'mkdir -p build && head -c 3000000 /dev/zero > build/out'] }";

struct Shelf {
    world: World,
    repository: Repository,
}

/// A run that came to an end.
struct Ended {
    run: String,
    run_dir: PathBuf,
    notices: Vec<String>,
}

impl Ended {
    fn judge(&self) -> PathBuf {
        self.run_dir.join("worktrees/judge")
    }

    fn doer(&self) -> PathBuf {
        self.run_dir.join("worktrees/doer")
    }

    fn built(&self) -> bool {
        self.judge().join("build/out").is_file()
    }
}

fn script(judge: &str, auditor: &[&str]) -> Script {
    Script::new()
        .doer(When::Always, &["{ write = 'done.txt', text = 'done' }", "{ handoff = 'adds done.txt' }"])
        .judge(When::Always, &[BUILDS, judge])
        .auditor(When::Always, auditor)
}

fn passing() -> Script {
    script("{ verdict = 'pass' }", &[BUILDS, "{ audit = 'pass' }"])
}

impl Shelf {
    /// Without a budget at first.
    fn new() -> Self {
        let mut world = world();
        world.set("WINDLASS_WORKTREE_BUDGET", "0");
        let repository = Self::repository(&world, "repo");
        Self { world, repository }
    }

    fn repository(world: &World, name: &str) -> Repository {
        let repository = world.repository(name);
        repository.write(".gitignore", "build/\n").commit("ignore what is built");
        repository
    }

    fn budget(&mut self, megabytes: u32) {
        self.world.set("WINDLASS_WORKTREE_BUDGET", megabytes.to_string());
    }

    fn play_in(&self, repository: &Repository, id: &str, script: &Script, code: u8) -> Ended {
        let agent = self.world.agent(&format!("{id}.toml"), script);
        let words = ["run", "Add done.txt", "--id", id, "--repo", repository.text(), "--agent", &agent];
        let flags = ["--json", "--rounds", "1"];
        let output = self.world.windlass(&[&words[..], &flags].concat()).exits_with(code);
        let events = output.json_lines();
        let outcome = events.last().expect("an outcome").clone();
        let is_notice = |event: &&Value| event["event"] == "notice";
        let text = |event: &Value| event["text"].as_str().unwrap().to_owned();
        Ended {
            run: outcome["run"].as_str().unwrap().to_owned(),
            run_dir: PathBuf::from(outcome["run_dir"].as_str().unwrap()),
            notices: events.iter().filter(is_notice).map(text).collect(),
        }
    }

    fn play(&self, id: &str) -> Ended {
        self.play_in(&self.repository, id, &passing(), 0)
    }

    /// Returns when its checker has built and waits.
    fn start_in(&self, repository: &Repository, id: &str) -> Background {
        let there = self.world.shared(&format!("{id}.there"));
        let touch = format!("{{ run = ['touch', '{}'] }}", there.display());
        let waits =
            script("{ verdict = 'pass' }", &[BUILDS, &touch, "{ wait_for = 'go' }", "{ audit = 'pass' }"]);
        let agent = self.world.agent(&format!("{id}.toml"), &waits);
        let words = ["run", "Add done.txt", "--id", id, "--repo", repository.text(), "--agent", &agent];
        let running = self.world.start_windlass(&words);
        wait_until("the auditor at work", || there.exists().then_some(()));
        running
    }
}

#[test]
fn the_least_recently_used_goes_first_no_more_than_is_needed_and_comes_back() {
    let mut shelf = Shelf::new();
    let (first, second) = (shelf.play("first"), shelf.play("second"));
    assert!(first.built() && second.built());
    shelf.budget(5);
    let third = shelf.play("third");
    assert!(!first.judge().exists(), "{:?}", third.notices);
    assert!(first.doer().is_dir() && second.doer().is_dir(), "makers' worktrees are not made again");
    assert!(second.built(), "one was enough: {:?}", third.notices);
    let told: Vec<&String> = third.notices.iter().filter(|text| text.contains("budget")).collect();
    assert_eq!(told.len(), 1, "{:?}", third.notices);
    assert!(told[0].contains(&first.run) && told[0].contains("windlass undo RUN"), "{told:?}");
    assert!(!told[0].contains(&second.run), "{told:?}");
    let _ = shelf.world.windlass(&["verify", &first.run]).exits_with(0);
    let _ = shelf.world.windlass(&["undo", &first.run]).exits_with(0);
    assert!(first.built(), "it was little, so that it was kept");
}

#[test]
fn nothing_goes_of_a_run_that_lives_waits_or_can_be_resumed() {
    let mut shelf = Shelf::new();
    let rejects = script("{ verdict = 'reject' }", &["{ audit = 'pass' }"]);
    let rejected = shelf.play_in(&shelf.repository, "rejected", &rejects, 10);
    let elsewhere = Shelf::repository(&shelf.world, "elsewhere");
    let killed = shelf.start_in(&elsewhere, "killed").kill();
    assert_eq!(killed.signal, Some(9));
    let third = Shelf::repository(&shelf.world, "third");
    let living = shelf.start_in(&third, "living");
    shelf.budget(1);
    let other = shelf.play("other");
    assert!(rejected.built(), "it can be resumed with more rounds: {:?}", other.notices);
    for repository in [&elsewhere, &third] {
        let runs = std::fs::read_dir(repository.path().join(".orchestrator/runs")).unwrap();
        let built = runs.flatten().filter(|run| run.path().join("worktrees/judge/build/out").is_file());
        assert_eq!(built.count(), 1, "{:?}", other.notices);
    }
    let told = other.notices.iter().find(|text| text.contains("budget")).expect("a warning");
    assert!(told.contains("nothing more of them") && told.contains("windlass clean --repo "), "{told}");
    std::fs::write(shelf.world.shared("go"), "").unwrap();
    let _ = living.wait().exits_with(0);
    let _ = shelf.world.windlass(&["resume", "--all"]).exits_with(0);
}

#[test]
fn what_cannot_be_kept_stays() {
    let mut shelf = Shelf::new();
    let first = shelf.play("first");
    let inner = shelf.world.repository("inner");
    std::fs::rename(inner.path(), first.judge().join("inner")).unwrap();
    shelf.budget(1);
    let second = shelf.play("second");
    assert!(first.built() && first.judge().join("inner/.git").is_dir(), "{:?}", second.notices);
    assert!(
        second.notices.iter().any(|text| text.contains("windlass clean --repo ")),
        "{:?}",
        second.notices
    );
}

#[test]
fn cleaning_one_repository_holds_the_others_to_the_budget() {
    let mut shelf = Shelf::new();
    let first = shelf.play("first");
    let elsewhere = Shelf::repository(&shelf.world, "elsewhere");
    let clean = |shelf: &Shelf, more: &[&str]| {
        let words = ["clean", "--repo", elsewhere.text(), "--json"];
        shelf.world.windlass(&[&words[..], more].concat()).exits_with(0).json()
    };
    assert_eq!(super::taken(&clean(&shelf, &[]), "worktree"), Vec::<String>::new(), "there is no budget");
    shelf.budget(1);
    let judge = vec![first.judge().display().to_string()];
    assert_eq!(super::taken(&clean(&shelf, &["--dry-run"]), "worktree"), judge);
    assert!(first.built(), "a dry run takes nothing");
    assert_eq!(super::taken(&clean(&shelf, &[]), "worktree"), judge);
    assert!(!first.judge().exists() && first.doer().is_dir());
}

#[test]
fn what_git_had_to_itself_goes_with_the_worktree_unless_something_was_left_in_it() {
    let mut shelf = Shelf::new();
    let check = |shelf: &Shelf, id: &str, check: &str| {
        let agent = shelf.world.agent(&format!("{id}.toml"), &passing());
        let words = ["run", "Add done.txt", "--id", id, "--repo", shelf.repository.text(), "--agent", &agent];
        let flags = ["--json", "--check", check];
        let output = shelf.world.windlass(&[&words[..], &flags].concat()).exits_with(0);
        let run = output.json_lines().last().unwrap()["run"].as_str().unwrap().to_owned();
        shelf.world.state_dir().join("runs").join(run).join("git/judge")
    };
    let left_alone = check(&shelf, "left-alone", "test -f done.txt");
    let used = check(&shelf, "used", "echo note | git hash-object -w --stdin");
    assert!(left_alone.is_dir() && used.is_dir());
    shelf.budget(1);
    let _ = shelf.play("other");
    assert!(!left_alone.exists(), "nothing was left in it");
    assert!(used.is_dir(), "an object of its own is nowhere else");
}
