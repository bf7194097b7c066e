//! Kills the engine with SIGKILL at every place a crash could hurt, and resumes.

mod ending;
mod stage;

use ending::Ending;
use stage::{Stage, places};

const SHARDS: usize = 16;

/// What an undisturbed run leaves, and the places it comes through.
fn undisturbed() -> (Ending, Vec<String>) {
    let mut stage = Stage::set_up();
    let log = stage.world.shared("places.txt");
    let output = stage.with("WINDLASS_CRASH_LOG", log.to_str().unwrap(), Stage::run);
    let _ = output.exits_with(0);
    (Ending::of(&stage), places(&log))
}

/// One run killed at this place, gone on with, and compared.
fn survives(place: usize, name: &str, expected: &Ending) {
    let mut stage = Stage::set_up();
    let killed = stage.with("WINDLASS_CRASH_AT", &place.to_string(), Stage::run);
    assert_eq!(killed.signal, Some(9), "place {place} ({name}) was not reached\n{}", killed.stderr);
    let resumed = stage.go_on();
    assert_eq!(resumed.code, Some(0), "after a crash at place {place} ({name})\n{}", resumed.stderr);
    let differences = Ending::of(&stage).differences(expected);
    assert!(differences.is_empty(), "after a crash at place {place} ({name}): {differences:#?}");
}

#[test]
fn x() {
    let (a, places) = undisturbed();
    println!("{a:#?} {}", places.len());
    panic!();
}
#[test]
fn y() {
    let (a, places) = undisturbed();
    let from: usize = std::env::var("FROM").unwrap().parse().unwrap();
    let to: usize = std::env::var("TO").unwrap().parse().unwrap();
    for n in from..=to {
        let r = std::panic::catch_unwind(|| survives(n, &places[n - 1], &a));
        if let Err(e) = r {
            eprintln!("FAIL {n}");
            let _ = e;
        }
    }
    panic!();
}
