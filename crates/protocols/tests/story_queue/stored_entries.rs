//! What is stored is read for ever: one line per kind of entry of a story's life, as the release that knew it first wrote it.

use crate::world::World;
use std::collections::BTreeMap;
use windlass_protocols::Fact;
use windlass_protocols::protocol::story_queue::checkpoints::{self, Expects, Save};
use windlass_protocols::protocol::story_queue::facts::{Entry, EntryText};
use windlass_protocols::protocol::story_queue::plan::CriterionStatus;
use windlass_protocols::protocol::story_queue::vocabulary::JsonText;
use windlass_protocols::protocol::story_queue::work::{
    self, BackfillStory, JudgeCriterion, Reject, ReportDone, RequestReview,
};

const STORED: &str = include_str!("../fixtures/stories-v1.jsonl");

/// Area, kind and, where a story moves, how.
fn kind(line: &str) -> String {
    let json: serde_json::Value = serde_json::from_str(line).expect("a stored line is JSON");
    let change = json["change"].as_object().expect("an entry has a change");
    let (area, change) = change.iter().next().expect("a change has an area");
    let how = change["how"]["by"].as_str().unwrap_or_default();
    format!("{area} {} {how}", change["what"].as_str().unwrap_or_default())
}

/// From the first key to a verified story, by way of a rejection, a violation and a backfill.
fn a_life() -> Vec<Entry> {
    let mut world = World::new();
    let stories = ["1.1", "1.2", "1.3"].map(|number| world.story(number));
    world.depend("1.2", "1.1").expect("no cycle");
    let (ann, user) = (world.ann.clone(), world.user.clone());
    let (reporter, verifier) = (world.reporter.clone(), world.verifier.clone());
    world.start(&ann, stories[0]);
    world.must(&ann, |draft| {
        work::request_review(draft, stories[0], RequestReview { draw: 1, lazy_score: None })
    });
    world.must(&reporter, |draft| work::report(draft, stories[0], ReportDone::default()));
    world.review(stories[0]);
    let failed = JudgeCriterion {
        ac_id: "AC-1".to_owned(),
        status: CriterionStatus::Failed,
        evidence: Some("tests/a.rs".to_owned()),
    };
    world.must(&verifier, |draft| work::judge_criterion(draft, stories[0], failed));
    let reject = Reject { reason: "no test".to_owned(), ..Reject::default() };
    world.must(&verifier, |draft| work::reject(draft, stories[0], reject));
    world.finish(stories[0]);
    world.contract(&ann, stories[1]);
    world.must(&ann, |draft| work::claim(draft, stories[1]));
    world.must(&reporter, |draft| work::force_unclaim(draft, stories[1]));
    world.start(&ann, stories[1]);
    let _ = world.ask(&ann, |draft| work::report(draft, stories[1], ReportDone::default()));
    let backfill =
        BackfillStory { reason: "before".to_owned(), pr_number: Some(7), ..BackfillStory::default() };
    world.must(&user, |draft| work::backfill(draft, stories[2], backfill));
    let save = Save {
        project: world.project,
        key: None,
        data: JsonText("{\"phase\":\"build\"}".to_owned()),
        expects: Expects::Nothing,
    };
    world.must(&reporter, |draft| checkpoints::save(draft, save));
    world.entries
}

#[test]
fn every_stored_entry_is_read_and_written_as_it_was() {
    for (number, line) in STORED.lines().enumerate() {
        let entry: Entry = serde_json::from_str(line)
            .unwrap_or_else(|error| panic!("line {} is not read: {error}", number + 1));
        assert_eq!(serde_json::to_string(&entry).expect("entries are always writable"), line);
        let fact = Fact::StoryQueue(EntryText(line.to_owned()));
        let stored = serde_json::to_string(&fact).expect("facts are always writable");
        assert_eq!(stored, serde_json::json!({ "fact": "story-queue", "data": line }).to_string());
    }
}

#[test]
fn every_kind_of_entry_in_a_life_has_a_stored_line() {
    let stored: BTreeMap<String, &str> = STORED.lines().map(|line| (kind(line), line)).collect();
    let lines = a_life();
    let lines = lines.iter().map(|entry| serde_json::to_string(entry).expect("entries are always writable"));
    let mut missing: BTreeMap<String, String> = BTreeMap::new();
    for line in lines {
        let kind = kind(&line);
        if !stored.contains_key(&kind) {
            missing.entry(kind).or_insert(line);
        }
    }
    let missing: Vec<String> = missing.into_values().collect();
    assert!(missing.is_empty(), "append to stories-v1.jsonl:\n{}", missing.join("\n"));
    assert!(stored.len() >= 20, "a life has more kinds of entries than {}", stored.len());
}
