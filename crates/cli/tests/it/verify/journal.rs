//! Damage to the journal: every row, every column, rows gone, moved, added, cut off at the end.

use super::{does_not_hold, holds};
use crate::journal_file::{JournalFile, Row, with_one_byte_changed};
use crate::played_run::PlayedRun;

/// Makes the same change to every row in turn; each must be found.
fn every_row(change: impl Fn(&mut Row)) {
    let played = PlayedRun::accepted();
    let journal = JournalFile::of(&played);
    let (id, rows) = (played.id(), journal.rows());
    assert!(rows.len() > 20, "{} rows", rows.len());
    for position in 0..rows.len() {
        let mut changed = rows.clone();
        change(&mut changed[position]);
        assert_ne!(changed, rows);
        journal.write(&changed);
        let said = does_not_hold(&played, &id).stdout;
        assert!(said.contains(&format!("damaged at version {position}")), "row {position}: {said}");
    }
    journal.write(&rows);
    holds(&played);
}

#[test]
fn a_changed_fact_is_found_in_every_row() {
    every_row(|row| row.payload = with_one_byte_changed(&row.payload));
}

#[test]
fn a_changed_hash_is_found_in_every_row() {
    every_row(|row| row.hash = with_one_byte_changed(&row.hash));
}

#[test]
fn a_changed_time_is_found_in_every_row() {
    every_row(|row| row.at += 1);
}

#[test]
fn a_changed_number_is_found_in_every_row() {
    every_row(|row| row.version += 1_000);
}

#[test]
fn a_row_that_is_gone_is_found_wherever_it_was() {
    let played = PlayedRun::accepted();
    let journal = JournalFile::of(&played);
    let (id, rows) = (played.id(), journal.rows());
    for position in 0..rows.len() {
        let mut fewer = rows.clone();
        fewer.remove(position);
        journal.write(&fewer);
        let _ = does_not_hold(&played, &id);
    }
}

#[test]
fn a_row_given_to_another_run_is_found() {
    let played = PlayedRun::accepted();
    let journal = JournalFile::of(&played);
    let (id, rows) = (played.id(), journal.rows());
    for row in [0, 1, rows.len() - 1] {
        journal.execute(&format!("UPDATE facts SET run = 'other' WHERE version = {row}"));
        let _ = does_not_hold(&played, &id);
        journal.write(&rows);
    }
    holds(&played);
}

#[test]
fn a_record_without_its_end_is_found_however_much_is_gone() {
    let played = PlayedRun::accepted();
    let journal = JournalFile::of(&played);
    let (id, rows) = (played.id(), journal.rows());
    for left in 1..rows.len() {
        journal.write(&rows[..left]);
        let said = does_not_hold(&played, &id).stdout;
        let expected = format!("the list says {} facts, the journal has {left}", rows.len());
        assert!(said.contains(&expected), "{said}");
    }
    journal.write(&[]);
    let said = does_not_hold(&played, &id).stdout;
    assert!(said.contains("not a single fact"), "{said}");
}

#[test]
fn swapped_rows_are_found() {
    let played = PlayedRun::accepted();
    let journal = JournalFile::of(&played);
    let (id, rows) = (played.id(), journal.rows());
    for position in 1..rows.len() {
        let mut swapped = rows.clone();
        swapped.swap(position - 1, position);
        for (number, row) in (0..).zip(&mut swapped) {
            row.version = number;
        }
        journal.write(&swapped);
        let _ = does_not_hold(&played, &id);
    }
}

#[test]
fn rows_added_at_the_end_are_found_even_when_they_are_chained() {
    let played = PlayedRun::accepted();
    let journal = JournalFile::of(&played);
    let (id, rows) = (played.id(), journal.rows());
    let mut more = rows.clone();
    let last = rows.last().unwrap().clone();
    more.push(Row { version: last.version + 1, ..last });
    journal.write(&more);
    let said = does_not_hold(&played, &id).stdout;
    assert!(said.contains("the chain of facts"), "{said}");
    journal.write(&journal.chained(&more));
    let said = does_not_hold(&played, &id).stdout;
    assert!(said.contains(&format!("the list says {} facts", rows.len())), "{said}");
}

#[test]
fn rows_chained_anew_by_a_forger_still_break_the_rules_of_the_loop() {
    // The judge said no; the forger lets it have said so and accepts all the same.
    let played = PlayedRun::accepted();
    let journal = JournalFile::of(&played);
    let mut rows = journal.rows();
    let word =
        rows.iter_mut().find(|row| row.payload.contains("agent-ended") && row.payload.contains("\"judge\""));
    let word = word.expect("the judge has spoken");
    assert!(word.payload.contains("\"word\":\"pass\""), "{}", word.payload);
    word.payload = word.payload.replace("\"word\":\"pass\"", "\"word\":\"reject\"");
    journal.write(&journal.chained(&rows));
    let said = does_not_hold(&played, &played.id()).stdout;
    assert!(said.contains("accepted without the judge's pass on that tree"), "{said}");
}

#[test]
fn a_fact_that_is_no_text_is_a_finding_not_a_fault() {
    let played = PlayedRun::accepted();
    let journal = JournalFile::of(&played);
    journal.execute("UPDATE facts SET payload = CAST(x'ff00ff' AS TEXT) WHERE version = 3");
    let said = does_not_hold(&played, &played.id()).stdout;
    assert!(said.contains("damaged at version 3"), "{said}");
}

#[test]
fn every_column_of_the_line_in_the_list_is_checked() {
    let played = PlayedRun::accepted();
    let journal = JournalFile::of(&played);
    let id = played.id();
    for change in [
        "version = version + 1",
        "version = version - 1",
        "started_at = started_at - 1",
        "updated_at = updated_at + 1",
        "headline = replace(headline, 'accepted', 'rejected')",
        "headline = '{}'",
        "run = 'other'",
    ] {
        let undo = journal.change_line(change);
        let said = does_not_hold(&played, &id).stdout;
        assert!(said.contains("the line in the list"), "{change}: {said}");
        undo();
    }
    holds(&played);
}

#[test]
fn a_damaged_record_is_not_gone_on_with() {
    let played = PlayedRun::interrupted();
    let journal = JournalFile::of(&played);
    let (id, rows) = (played.id(), journal.rows());
    let mut changed = rows.clone();
    changed[1].at += 1;
    let mut unreadable = rows.clone();
    "nonsense".clone_into(&mut unreadable[2].payload);
    let steps = played.world.steps();
    for damaged in [changed, unreadable, rows[..rows.len() - 1].to_vec()] {
        journal.write(&damaged);
        let refused = played.world.windlass(&["resume", &id]).exits_with(1);
        assert!(refused.stderr.contains("error[WL-JOURNAL-002]"), "{}", refused.stderr);
        assert_eq!(journal.rows(), damaged, "a damaged record must stay as it was found");
    }
    assert_eq!(played.world.steps(), steps);
    journal.write(&rows);
    played.go();
    let _ = played.world.windlass(&["resume", &id]).exits_with(0);
}

#[test]
fn nothing_is_landed_from_a_damaged_record() {
    let played = PlayedRun::of(&windlass_test_support::Script::that_passes());
    let _ = played.run(&["--land", "none"]).exits_with(0);
    let journal = JournalFile::of(&played);
    let mut rows = journal.rows();
    rows[5].at += 1;
    journal.write(&rows);
    let refused = played.about("land", &[]).exits_with(1);
    assert!(refused.stderr.contains("error[WL-JOURNAL-002]"), "{}", refused.stderr);
    assert!(!played.repository.git_succeeds(&["rev-parse", "--verify", "--quiet", "windlass/TASK-1"]));
}
