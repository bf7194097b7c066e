//! Killed anywhere, a run on layers comes to the same end.

use super::KIND;
use crate::crash_points::{Ending, Kinds, Stage, places, visited};

const OF_EACH_KIND: usize = 2;

fn stage() -> Option<Stage> {
    super::scene()?;
    Some(Stage::with_variable(KIND, "overlay"))
}

#[test]
fn killed_at_places_of_each_kind_it_lands_the_same_tree() {
    let Some(mut first) = stage() else { return };
    let log = first.world.shared("places.txt");
    let _ = first.with("WINDLASS_CRASH_LOG", log.to_str().unwrap(), Stage::run).exits_with(0);
    let (expected, places) = (Ending::of(&first), places(&log));
    for place in visited(&places, Kinds::All, OF_EACH_KIND) {
        let mut stage = stage().unwrap();
        let killed = stage.with("WINDLASS_CRASH_AT", &place.to_string(), Stage::run);
        assert_eq!(killed.signal, Some(9), "place {place} was not reached: {killed:?}");
        let standing = stage.standing();
        let _ = standing.way_on()(&stage).exits_with(0);
        let wrong = Ending::of(&stage).differences(&expected);
        assert_eq!(wrong, Vec::<String>::new(), "place {place} ({})", places[place - 1]);
    }
}
