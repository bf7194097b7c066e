//! Killed at any place it comes through, a set-up is finished by the next one: one commit, never two, never half a plane.

use super::*;
use crate::crash_points::{Kinds, places, visited};
use crate::invariants::Watched;

impl Place {
    fn init_with(&mut self, name: &str, value: &str) -> Output {
        self.world.set(name, value);
        let output = self.init(ANSWERS, &[]);
        self.world.unset(name);
        output
    }

    fn assert_whole(&self, place: usize) {
        assert_eq!(self.commits(), 2, "place {place}: one commit, once");
        assert_eq!(self.repository.git(&["status", "--porcelain"]), "", "place {place}");
        let found = self.inspect();
        assert_eq!(found.code, Some(0), "place {place}: {} {}", found.stdout, found.stderr);
    }
}

/// The places are shared out among so many tests, which run side by side.
const SHARES: usize = 2;
/// So many places of each kind are visited; `cargo xtask chaos` visits all.
const OF_EACH_KIND: usize = 3;

fn survives_the_places_of_share(share: usize) {
    let mut undisturbed = Place::bare();
    let log = undisturbed.world.shared("places.txt");
    let _ = undisturbed.init_with("WINDLASS_CRASH_LOG", log.to_str().unwrap()).exits_with(0);
    undisturbed.assert_whole(0);
    let all = places(&log);
    assert!(all.len() > 20, "only {} places", all.len());
    for place in visited(&all, Kinds::OfTheLoop, OF_EACH_KIND).into_iter().skip(share).step_by(SHARES) {
        let mut stage = Place::bare();
        let watched = Watched::begin(&stage.repository);
        let killed = stage.init_with("WINDLASS_CRASH_AT", &place.to_string());
        assert_eq!(killed.signal, Some(9), "place {place} was not reached");
        let again = stage.init(ANSWERS, &[]);
        // Killed after the commit: there is a plane, and it is not finished.
        let stands = again.code == Some(14) && again.stderr.contains("its roadmap is not finished");
        assert!(again.code == Some(0) || stands, "place {place}: {}", again.stderr);
        stage.assert_whole(place);
        let _ = watched.end(&stage.world, &stage.repository, &["refs/heads/main", "files", "index"]);
    }
}

macro_rules! shares {
    ($($name:ident = $share:literal;)+) => {
        $(#[test]
        fn $name() {
            survives_the_places_of_share($share);
        })+
    };
}

shares! {
    section_24_5_a_killed_set_up_is_finished_by_the_next_share_0 = 0;
    section_24_5_a_killed_set_up_is_finished_by_the_next_share_1 = 1;
}
