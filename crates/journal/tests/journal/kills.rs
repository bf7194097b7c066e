//! Killed at any moment, the journal keeps what it acknowledged, whole appends only, in an unbroken chain.

use crate::support::{Appender, Place, number, verified, wait};
use windlass_protocols::RunId;

/// Everything acknowledged is there, nothing is there by half, the list agrees with the facts. Returns the length.
fn assert_kept(place: &Place, run: &RunId, acknowledged: u64) -> u64 {
    let journal = place.open();
    let stored = wait(verified(&journal, run));
    let length = stored.len() as u64;
    assert!(length >= acknowledged, "{acknowledged} acknowledged, {length} kept");
    assert_eq!(length % 2, 0, "an append of two facts was stored by half");
    for (position, row) in stored.iter().enumerate() {
        assert!(row.payload.contains(&format!("\"fact {position}\"")), "{row:?}");
    }
    let heads = wait(windlass_engine::Journal::runs(&journal)).unwrap();
    assert_eq!(heads.first().map_or(0, |head| head.version), length);
    length
}

#[test]
fn what_was_acknowledged_survives_kills_at_any_moment() {
    let place = Place::new();
    let run = RunId::new("killed");
    let mut length = 0;
    for kill in 0..24_u64 {
        let mut child = Appender::start(&place.file(), &run, &[], &[]);
        for _ in 0..(kill * 7) % 23 {
            let line = child.line().expect("it appends until it is killed");
            if let Some(version) = line.strip_prefix("acknowledged ") {
                let version: u64 = number(version);
                assert!(version > length, "it goes on where the last one stopped");
            }
        }
        let acknowledged = child.kill().max(length);
        length = assert_kept(&place, &run, acknowledged);
    }
    assert!(length > 100, "the children were killed before they did anything");
}

/// Lets a child run until it kills itself at a point; returns what it acknowledged and the points it reached.
fn crash_at(place: &Place, run: &RunId, point: u64) -> (u64, Vec<String>) {
    let log = place.directory().join(format!("reached-{point}"));
    let point = point.to_string();
    let environment = [("WINDLASS_CRASH_AT", point.as_str()), ("WINDLASS_CRASH_LOG", log.to_str().unwrap())];
    let (acknowledged, _, status) = Appender::start(&place.file(), run, &[], &environment).end();
    assert!(!status.success(), "it was to crash at point {point}");
    let reached = std::fs::read_to_string(log).unwrap();
    (acknowledged, reached.lines().map(str::to_owned).collect())
}

#[test]
fn what_was_acknowledged_survives_a_crash_on_either_side_of_a_commit() {
    let place = Place::new();
    let run = RunId::new("crashed");
    drop(place.open());
    let mut length = 0;
    for point in 1..=12 {
        let (acknowledged, reached) = crash_at(&place, &run, point);
        let told = acknowledged.max(length);
        let now = assert_kept(&place, &run, told);
        let expected = if point % 2 == 1 { "append.before" } else { "append.after" };
        assert!(reached.last().unwrap().ends_with(expected), "{reached:?}");
        // The first commits ask for the lease and take it over; each later one stores two facts.
        let committed_untold = if point >= 6 && point % 2 == 0 { 2 } else { 0 };
        assert_eq!(now, told + committed_untold, "{reached:?}");
        length = now;
    }
    assert!(length > 0);
}

#[test]
fn a_crash_while_the_file_is_made_is_made_good_by_the_next_open() {
    let run = RunId::new("new");
    for point in 1..=6 {
        let place = Place::new();
        let (acknowledged, reached) = crash_at(&place, &run, point);
        assert!(reached[0].ends_with("migration.before"), "{reached:?}");
        let length = assert_kept(&place, &run, acknowledged);
        let (acknowledged, last, status) = Appender::start(&place.file(), &run, &["1"], &[]).end();
        assert!(status.success(), "{last}");
        assert_eq!(acknowledged, length + 2);
    }
}
