//! Kills the engine with SIGKILL at the places where a crash could hurt (W12), at depth 0, 1 and 2, and resumes: the same final
//! tree, and no commit twice.

use super::plant::{ADDING_ACTUATOR, BRANCH, Plant, TASK, counting_controller};
use crate::crash_points::{Kinds, places, visited};
use crate::disturbed::{Disturbed, Steps, count_agents, go_on};
use crate::invariants::{Left, Watched};
use crate::machine_faults::Stricken;
use windlass_test_support::{Output, Repository, World, wait_until};

/// The places are shared out among so many tests of each depth, which run side by side.
const SHARES: usize = 2;
/// So many places of each kind are visited at each depth; `cargo xtask chaos` visits all.
const OF_EACH_KIND: [usize; 3] = [2, 1, 1];

pub(crate) struct Stage {
    plant: Plant,
    agents: [String; 2],
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    subjects: Vec<String>,
    tree: String,
    /// How often each agent was started: what was paid for.
    steps: Vec<String>,
}

impl Stage {
    fn set_up(depth: usize) -> Self {
        let plant = if depth == 0 { Plant::flat(1) } else { Plant::levels(depth, 1) };
        let steps = plant.world.shared("steps.txt");
        let counted =
            |lines: &str| format!("echo $WINDLASS_ROLE $WINDLASS_LABEL >> {}\n{lines}", steps.display());
        let agents = [
            plant.agent("controller", &counted(&counting_controller(1))),
            plant.agent("actuator", &counted(ADDING_ACTUATOR)),
        ];
        Self { plant, agents }
    }

    /// Without a loop inside.
    pub(crate) fn flat() -> Self {
        Self::set_up(0)
    }

    fn run(&self) -> Output {
        self.plant.world.windlass(&self.words())
    }

    fn words(&self) -> [&str; 10] {
        let [controller, actuator] = &self.agents;
        [
            "control",
            "run",
            TASK,
            "--repo",
            self.plant.repository.text(),
            "--yes",
            "--controller",
            controller,
            "--actuator",
            actuator,
        ]
    }

    fn with(&mut self, name: &str, value: &str, start: impl FnOnce(&Self) -> Output) -> Output {
        self.plant.world.set(name, value);
        let output = start(self);
        self.plant.world.unset(name);
        output
    }

    /// What a user does after a crash.
    fn go_on(&self) -> Output {
        let list = self.plant.world.windlass(&["ls", "--json"]).exits_with(0).json();
        match list.get(0) {
            Some(_) => self.plant.world.windlass(&["resume", "--all"]),
            None => self.run(),
        }
    }

    fn ending(&self) -> Ending {
        wait_until("the last process to end", || self.plant.world.processes().is_empty().then_some(()));
        let run = self.plant.run_id();
        let _ = self.plant.world.windlass(&["verify", &run]).exits_with(0);
        let repository = &self.plant.repository;
        let subjects = repository.git(&["log", "--reverse", "--format=%s", &format!("HEAD..{BRANCH}")]);
        let steps = std::fs::read_to_string(self.plant.world.shared("steps.txt")).unwrap();
        let mut steps: Vec<String> = steps.lines().map(str::to_owned).collect();
        // One whose end nobody saw is asked again; that it was asked at all is what counts.
        steps.dedup();
        Ending {
            subjects: subjects.lines().map(str::to_owned).collect(),
            tree: repository.git(&["rev-parse", &format!("{BRANCH}^{{tree}}")]),
            steps,
        }
    }
}

/// A stage whose agents count themselves, looked after from its beginning.
fn watched(depth: usize) -> (Stage, Watched) {
    let stage = Stage::set_up(depth);
    count_agents(&stage.plant.world);
    let watched = Watched::begin(&stage.plant.repository);
    (stage, watched)
}

fn end(stage: &Stage, watched: &Watched) -> (Ending, Left) {
    let left = watched.end(&stage.plant.world, &stage.plant.repository, stage.changes());
    (stage.ending(), left)
}

fn undisturbed(depth: usize) -> ((Ending, Left), Vec<String>) {
    let (mut stage, watched) = watched(depth);
    let log = stage.plant.world.shared("places.txt");
    let _ = stage.with("WINDLASS_CRASH_LOG", log.to_str().unwrap(), Stage::run).exits_with(0);
    (end(&stage, &watched), places(&log))
}

fn survives(depth: usize, share: usize) {
    let (expected, places) = undisturbed(depth);
    let mine =
        visited(&places, Kinds::OfTheLoop, OF_EACH_KIND[depth]).into_iter().skip(share).step_by(SHARES);
    let (mut kills, mut failures) = (0, Vec::new());
    for place in mine {
        match crash_at(depth, place, &expected) {
            Ok(Visit::Killed) => kills += 1,
            Ok(Visit::NotReached) => {}
            Err(failure) => failures.push(failure),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(kills > 0, "nobody was killed, so nothing was tried");
}

enum Visit {
    Killed,
    NotReached,
}

fn crash_at(depth: usize, place: usize, (expected, all): &(Ending, Left)) -> Result<Visit, String> {
    let (mut stage, mut watched) = watched(depth);
    let killed = stage.with("WINDLASS_CRASH_AT", &place.to_string(), Stage::run);
    if killed.signal != Some(9) {
        // How often a lock is looked at differs by a few; the last places may not be reached.
        return match killed.code {
            Some(0) => Ok(Visit::NotReached),
            _ => Err(format!("at place {place}: {killed:?}")),
        };
    }
    watched.look(&stage.plant.world, &format!("a crash at place {place}"));
    let resumed = stage.go_on();
    if resumed.code != Some(0) {
        return Err(format!("after a crash at place {place}: {:?}\n{}", resumed.code, resumed.stderr));
    }
    let (ending, left) = end(&stage, &watched);
    if ending != *expected {
        return Err(format!("after a crash at place {place}: {ending:#?}\nnot {expected:#?}"));
    }
    let wrong = left.beyond(all, Steps::AllKnown);
    if wrong.is_empty() {
        Ok(Visit::Killed)
    } else {
        Err(format!("after a crash at place {place}: {wrong:#?}"))
    }
}

macro_rules! shares {
    ($($module:ident = $depth:literal),+ $(,)?) => {
        $(mod $module {
            #[test] fn s12_5_goes_on_after_every_kill_share_0() { super::survives($depth, 0); }
            #[test] fn s12_5_goes_on_after_every_kill_share_1() { super::survives($depth, 1); }
        })+

        #[test]
        fn there_are_as_many_tests_as_shares() {
            assert_eq!(SHARES, 2);
            assert_eq!([$($depth),+].len(), OF_EACH_KIND.len());
        }
    };
}

shares! { killed_at_depth_0 = 0, killed_at_depth_1 = 1, killed_at_depth_2 = 2 }

impl Stricken for Stage {
    type Ending = Ending;

    fn set_up() -> Self {
        Self::set_up(0)
    }

    fn world(&self) -> &World {
        &self.plant.world
    }

    fn start(&self) -> Output {
        self.run()
    }

    fn to_the_end(self) -> Ending {
        let _ = self.go_on().exits_with(0);
        let watched = Watched::begin(&self.plant.repository);
        let _ = watched.end(&self.plant.world, &self.plant.repository, &[]);
        self.ending()
    }
}

impl Disturbed for Stage {
    fn world(&self) -> &World {
        &self.plant.world
    }

    fn repository(&self) -> &Repository {
        &self.plant.repository
    }

    fn next(&self, _: Option<&Output>) -> Option<Vec<String>> {
        go_on(&self.plant.world, || self.words().map(str::to_owned).to_vec())
    }

    fn ending(&self) -> String {
        format!("{:#?}", self.ending())
    }

    fn changes(&self) -> &'static [&'static str] {
        &["refs/heads/ai-loop/"]
    }
}
