//! A record that was changed behind the journal's back is noticed, whichever byte it was.

use crate::support::{Place, append, fact, lease, read_proven, wait};
use windlass_engine::{Journal, JournalError, Stored, chain};
use windlass_journal::Integrity;
use windlass_protocols::{Millis, RunId};

const AT: u64 = 1_700_000_123_456;

/// Closes a journal with three facts, flips one bit of the file where the bytes of the middle one are, opens it again.
fn after_flipping(bytes_of: impl Fn(&Stored) -> Vec<u8>, bit: u8) -> Result<String, JournalError> {
    let place = Place::new();
    let run = RunId::new("flipped");
    let journal = place.open();
    let stored = wait(async {
        let lease = lease(&journal, &run).await;
        for version in 0..3 {
            let mut append = append(&lease, &run, version, vec![fact(&format!("number {version}"))]);
            append.at = Millis(AT + version);
            journal.append(append).await.unwrap();
        }
        journal.read(&run, 0).await.unwrap()
    });
    drop(journal);
    let wanted = bytes_of(&stored[1]);
    let mut file = std::fs::read(place.file()).unwrap();
    let place_in_file = file
        .windows(wanted.len())
        .position(|window| window == wanted)
        .expect("the bytes are stored as they are");
    file[place_in_file + wanted.len() / 2] ^= bit;
    std::fs::write(place.file(), file).unwrap();
    let journal = place.open();
    let proven = wait(read_proven(&journal, &run)).map(|(facts, _)| facts);
    let outcome = wait(journal.read(&run, 0)).and_then(|stored| {
        assert_eq!(stored.len(), 3);
        chain::verify(&run, &stored)
    });
    match (&outcome, proven) {
        (Ok(_), Ok(facts)) => {
            assert!(facts.into_iter().eq(stored.iter().map(|row| row.fact(&run).unwrap())));
        }
        (Err(said), Err(also)) => assert_eq!(said.to_string(), also.to_string()),
        other => unreachable!("the two ways to read must agree, got {other:?}"),
    }
    outcome
}

fn assert_noticed(outcome: Result<String, JournalError>) {
    match outcome {
        Err(JournalError::Corrupt { version: 1, .. }) => {}
        other => unreachable!("the change must be noticed at version 1, got {other:?}"),
    }
}

#[test]
fn a_flipped_bit_in_a_payload_is_noticed() {
    assert_noticed(after_flipping(|row| row.payload.clone().into_bytes(), 0x01));
}

#[test]
fn a_payload_that_is_no_longer_text_is_noticed() {
    assert_noticed(after_flipping(|row| row.payload.clone().into_bytes(), 0x80));
}

#[test]
fn a_flipped_bit_in_a_hash_is_noticed() {
    assert_noticed(after_flipping(|row| row.hash.clone().into_bytes(), 0x01));
}

#[test]
fn a_flipped_bit_in_a_moment_is_noticed() {
    // SQLite stores an integer of this size in its lowest six bytes, the highest first.
    assert_noticed(after_flipping(|row| row.at.0.to_be_bytes()[2..].to_vec(), 0x01));
}

#[test]
fn nothing_flipped_is_not_a_finding() {
    assert!(after_flipping(|row| row.hash.clone().into_bytes(), 0x00).is_ok());
}

#[test]
fn the_health_of_a_damaged_file_says_so() {
    let place = Place::new();
    let journal = place.open();
    let run = RunId::new("long");
    wait(async {
        let lease = lease(&journal, &run).await;
        let facts = (0..500).map(|number| fact(&number.to_string())).collect();
        journal.append(append(&lease, &run, 0, facts)).await.unwrap();
    });
    assert_eq!(wait(journal.health()).unwrap().integrity, Integrity::Sound);
    drop(journal);
    let mut file = std::fs::read(place.file()).unwrap();
    let last_page = file.len() - 4096;
    file[last_page..].fill(0xA5);
    std::fs::write(place.file(), file).unwrap();
    match wait(place.open().health()).unwrap().integrity {
        Integrity::Damaged(findings) => assert!(!findings.is_empty()),
        Integrity::Sound => unreachable!("a page of rubbish is not sound"),
    }
}
