//! The orchestrator killed at places all over its way: it goes on to the same tree, and no story lands twice.

use super::stage::{Stage, Turn, plan_of};
use crate::disturbed::Disturbed;
use crate::invariants::Watched;
use crate::machine_faults::Stricken;
use std::collections::BTreeSet;
use windlass_test_support::{Output, Repository, World};

const VISITS: usize = 3;

fn stage() -> Stage {
    let turns = [Turn::sent_back("1.1", 1), Turn::good("1.1", 2), Turn::good("1.2", 1)];
    Stage::of(&plan_of(&["1.1", "1.2"], &[("1.2", "1.1")]), &turns)
}

#[test]
fn killed_anywhere_it_goes_on_to_the_same_tree() {
    let mut whole = stage();
    let log = whole.world.path().join("places");
    whole.world.set("WINDLASS_CRASH_LOG", log.as_os_str());
    let _ = whole.orchestrate(&["--check", "sh test.sh"]).exits_with(0);
    let places = std::fs::read_to_string(&log).unwrap();
    let numbered: Vec<(u64, &str)> = places
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(number, name)| Some((number.parse().ok()?, name)))
        .collect();
    let tree = whole.landed_tree();
    // Its own places first, once each; then a stride over all the others it passes.
    let mut known = BTreeSet::new();
    let own = numbered.iter().filter(|(_, name)| name.starts_with("story.") && known.insert(*name));
    let stride = (numbered.len() / VISITS).max(1);
    let visited: Vec<u64> = own.chain(numbered.iter().step_by(stride)).map(|(number, _)| *number).collect();
    assert!(known.contains("story.landed") && known.contains("story.moved"), "{known:?}");

    for place in visited {
        let mut stage = stage();
        let mut watched = Watched::begin(&stage.repository);
        stage.world.set("WINDLASS_CRASH_AT", place.to_string());
        let killed = stage.orchestrate(&["--check", "sh test.sh"]);
        stage.world.unset("WINDLASS_CRASH_AT");
        watched.look(&stage.world, &format!("a crash at place {place}"));
        let again = stage.orchestrate(&["--check", "sh test.sh"]);
        assert_eq!(
            again.code,
            Some(0),
            "killed at {place}: {}{}{}",
            killed.stderr,
            again.stdout,
            again.stderr
        );
        assert_eq!(
            (stage.landed(), stage.landed_tree()),
            (vec!["1.1".into(), "1.2".into()], tree.clone()),
            "at {place}"
        );
        let _ = watched.end(&stage.world, &stage.repository, &[]);
    }
}

/// The same stories, for faults of the machine.
pub(crate) struct Stories(Stage);

impl Stricken for Stories {
    /// The stories that landed, and the tree they came to.
    type Ending = (Vec<String>, String);

    fn set_up() -> Self {
        Self(stage())
    }

    fn world(&self) -> &World {
        &self.0.world
    }

    fn start(&self) -> Output {
        self.0.orchestrate(&["--check", "sh test.sh"])
    }

    fn to_the_end(self) -> Self::Ending {
        let _ = self.start().exits_with(0);
        let watched = Watched::begin(&self.0.repository);
        let _ = watched.end(&self.0.world, &self.0.repository, &[]);
        (self.0.landed(), self.0.landed_tree())
    }
}

/// Two stories side by side, one of them sent back once, for disturbances at any moment.
pub(crate) struct SideBySide(Stage);

impl SideBySide {
    pub(crate) fn set_up() -> Self {
        let turns = [Turn::sent_back("1.1", 1), Turn::good("1.1", 2), Turn::good("1.2", 1)];
        Self(Stage::of(&plan_of(&["1.1", "1.2"], &[]), &turns))
    }
}

impl Disturbed for SideBySide {
    fn world(&self) -> &World {
        &self.0.world
    }

    fn repository(&self) -> &Repository {
        &self.0.repository
    }

    /// A person gives the same command until it comes to its end.
    fn next(&self, last: Option<&Output>) -> Option<Vec<String>> {
        let words = self.0.words(&["--parallel", "2", "--check", "sh test.sh"]);
        let ended = last.is_some_and(|last| last.code == Some(0));
        (!ended).then(|| words.into_iter().map(str::to_owned).collect())
    }

    fn ending(&self) -> String {
        let _ = self.0.story(&["audit", "verify"]).exits_with(0);
        format!("{:?} {}", self.0.landed(), self.0.landed_tree())
    }
}
