//! Kills the engine while it moves the user's own branch, index and files: the one time it touches them at all. Whoever
//! resumes must find the checkout as it was or as it is to be, never locked and never in between.

use super::stage::places;
use super::{Kinds, visited};
use crate::invariants::Watched;
use crate::played_run::{PlayedRun, files_under};
use windlass_test_support::{Output, Script};

const SHARES: usize = 2;
/// So many places of each kind are visited outside of campaigns.
const OF_EACH_KIND: usize = 2;

fn land(played: &PlayedRun) -> Output {
    played.run(&["--land", "current", "--no-audit"])
}

/// The numbers of the places to be killed at: of those an undisturbed run comes through after its last agent.
fn places_of_the_landing() -> Vec<usize> {
    let (mut played, watched) = ready();
    let log = played.world.shared("places.txt");
    played.world.set("WINDLASS_CRASH_LOG", &log);
    let _ = land(&played).exits_with(0);
    played.world.unset("WINDLASS_CRASH_LOG");
    is_landed(&played, &watched, "without a crash");
    let places = places(&log);
    let last_agent = places.iter().rposition(|name| name == "spawn.after").expect("a judge was started");
    let earlier = last_agent + 1;
    visited(&places[earlier..], Kinds::All, OF_EACH_KIND).into_iter().map(|place| earlier + place).collect()
}

fn ready() -> (PlayedRun, Watched) {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.write("kept.txt", "of the user").commit("more");
    let watched = Watched::begin(&played.repository);
    (played, watched)
}

#[track_caller]
fn is_landed(played: &PlayedRun, watched: &Watched, when: &str) {
    let repository = &played.repository;
    assert_eq!(repository.git(&["rev-list", "--count", "main"]), "3", "{when}");
    assert_eq!(repository.git(&["symbolic-ref", "HEAD"]), "refs/heads/main", "{when}");
    assert_eq!(repository.git(&["show", "main:done.txt"]), "done", "{when}");
    assert_eq!(repository.read("done.txt"), "done", "{when}");
    assert_eq!(repository.git(&["status", "--porcelain"]), "", "{when}");
    let left: Vec<String> = files_under(&repository.path().join(".git"))
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        // The repository's own lock stays, and locks nobody out when its holder is gone.
        .filter(|name| name != "windlass.lock")
        .filter(|name| name.contains(".tmp-") || name.contains(".lock") || name.contains("windlass-index"))
        .collect();
    assert_eq!(left, Vec::<String>::new(), "{when}");
    assert_eq!(played.world.steps(), ["doer 1 1", "judge 1 1"], "{when}");
    let _ = watched.end(&played.world, repository, &["refs/heads/main", "files", "index"]);
}

fn survives_the_places_of_share(share: usize) {
    for place in places_of_the_landing().into_iter().skip(share).step_by(SHARES) {
        let (mut played, mut watched) = ready();
        played.world.set("WINDLASS_CRASH_AT", place.to_string());
        let killed = land(&played);
        assert_eq!(killed.signal, Some(9), "place {place} was not reached: {}", killed.stderr);
        played.world.unset("WINDLASS_CRASH_AT");
        // Whatever the crash left, git must not be locked out of the checkout.
        let when = format!("after a crash at place {place}");
        watched.look(&played.world, &when);
        let resumed = played.world.windlass(&["resume", "--all"]);
        assert_eq!(resumed.code, Some(0), "{when}: {}", resumed.stderr);
        is_landed(&played, &watched, &when);
    }
}

#[test]
fn share_0() {
    survives_the_places_of_share(0);
}

#[test]
fn share_1() {
    survives_the_places_of_share(1);
}
