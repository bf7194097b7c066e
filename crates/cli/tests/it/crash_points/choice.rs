//! Which of the places a story comes through are visited: a few of each kind when all tests run, every one in a campaign.

use std::collections::BTreeMap;

/// How many places a campaign goes on by, if this is one (`cargo xtask chaos`).
#[expect(clippy::disallowed_methods, reason = "a test is not the program; a campaign asks for more")]
fn campaign() -> Option<usize> {
    std::env::var("WINDLASS_CRASH_EVERY").ok().map(|every| every.parse().expect("a number"))
}

pub(crate) fn is_campaign() -> bool {
    campaign().is_some()
}

/// Which kinds of places have their turn outside of campaigns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kinds {
    All,
    /// Appends, git calls and renames: what every loop does in its own way. Starting a child or opening the journal is the
    /// same code in all of them.
    OfTheLoop,
}

impl Kinds {
    fn have(self, kind: &str) -> bool {
        self == Self::All || matches!(kind, "append" | "git" | "rename")
    }
}

/// The numbers of the places to be killed at, from 1. Outside of campaigns so many of each kind, spread over the whole
/// story: always the same ones, so that a failure can be seen again.
pub(crate) fn visited(places: &[String], kinds: Kinds, of_each: usize) -> Vec<usize> {
    match campaign() {
        Some(every) => (1..=places.len()).step_by(every).collect(),
        None => few(places, kinds, of_each),
    }
}

fn few(places: &[String], wanted: Kinds, of_each: usize) -> Vec<usize> {
    let mut kinds: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, name) in places.iter().enumerate() {
        kinds.entry(name.split('.').next().unwrap_or(name)).or_default().push(index + 1);
    }
    kinds.retain(|kind, _| wanted.have(kind));
    let mut chosen = Vec::new();
    for (number, places) in kinds.into_values().enumerate() {
        let parts = of_each.min(places.len());
        for part in 0..parts {
            let middle = (2 * part + 1) * places.len() / (2 * parts);
            // Before and after follow each other: they take turns.
            let turn = middle - middle % 2 + (number + part) % 2;
            chosen.push(places[turn.min(places.len() - 1)]);
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

#[test]
fn every_kind_of_place_has_its_turn_on_both_sides() {
    let names = ["append", "git", "rename"];
    let story =
        (0..40).flat_map(|step| ["before", "after"].map(|side| format!("{}.{side}", names[step % 3])));
    let mut story: Vec<String> = story.collect();
    story.push("notify.offered".to_owned());
    let chosen: Vec<&str> =
        few(&story, Kinds::All, 2).into_iter().map(|place| story[place - 1].as_str()).collect();
    let mut once = chosen.clone();
    once.sort_unstable();
    let sides = ["append.after", "append.before", "git.after", "git.before", "notify.offered"];
    assert_eq!(once[..5], sides, "{chosen:?}");
    assert_eq!(once[5..], ["rename.after", "rename.before"], "{chosen:?}");
    let places = few(&story, Kinds::All, 2);
    assert!(places[0] < 27 && places[places.len() - 2] > 53, "spread over the story: {places:?}");
    assert_eq!(few(&story, Kinds::All, 1000).len(), story.len(), "as many as there are");
    let own = few(&story, Kinds::OfTheLoop, 1);
    assert_eq!((own.len(), own.contains(&story.len())), (3, false), "{own:?}");
}
