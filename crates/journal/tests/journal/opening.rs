//! What is refused at the door, and that it is left as it was found.

use crate::support::{Place, fill, wait};
use rusqlite::Connection;
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use std::fs::{Permissions, metadata, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use windlass_engine::Journal;
use windlass_journal::{OpenError, SqliteJournal};
use windlass_protocols::RunId;

fn mode(path: &Path) -> u32 {
    metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn only_the_owner_can_read_what_is_made() {
    let place = Place::new();
    let file = place.directory().join("deep/down/journal.db");
    let journal = SqliteJournal::open(&file).unwrap();
    wait(fill(&journal, &RunId::new("a"), 1));
    assert_eq!(mode(&place.directory().join("deep")), 0o700);
    assert_eq!(mode(&place.directory().join("deep/down")), 0o700);
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(&place.directory().join("deep/down/journal.db-wal")), 0o600);
}

#[test]
fn a_newer_schema_is_refused_by_both_versions() {
    let place = Place::new();
    drop(place.open());
    let connection = Connection::open(place.file()).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let before = std::fs::read(place.file()).unwrap();
    let error = SqliteJournal::open(place.file()).unwrap_err();
    assert!(matches!(error, OpenError::NewerSchema { found: 99, known: 2, .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("99") && text.contains("up to 2") && text.contains("journal.db"), "{text}");
    assert_eq!(std::fs::read(place.file()).unwrap(), before);
}

#[test]
fn a_file_of_another_application_is_refused_and_left_untouched() {
    for stranger in [
        "PRAGMA application_id = 7; CREATE TABLE theirs (a);",
        "PRAGMA journal_mode = WAL; CREATE TABLE theirs (a);",
        "PRAGMA user_version = 1;",
    ] {
        let place = Place::new();
        Connection::open(place.file()).unwrap().execute_batch(stranger).unwrap();
        let before = std::fs::read(place.file()).unwrap();
        let error = SqliteJournal::open(place.file()).unwrap_err();
        assert!(matches!(error, OpenError::OtherApplication { .. }), "{stranger}: {error:?}");
        assert_eq!(std::fs::read(place.file()).unwrap(), before, "{stranger}");
    }
}

/// Whoever closes a database last folds its log into it; what a stranger's crash left behind is not ours to fold.
#[test]
fn the_log_of_a_stranger_is_left_beside_its_file() {
    let (theirs, copied) = (Place::new(), Place::new());
    let stranger = Connection::open(theirs.file()).unwrap();
    stranger.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE theirs (a);").unwrap();
    let names = ["journal.db", "journal.db-wal"];
    let contents = |place: &Place| names.map(|name| std::fs::read(place.directory().join(name)).unwrap());
    for (name, content) in names.iter().zip(contents(&theirs)) {
        std::fs::write(copied.directory().join(name), content).unwrap();
    }
    let before = contents(&copied);
    let error = SqliteJournal::open(copied.file()).unwrap_err();
    assert!(matches!(error, OpenError::OtherApplication { .. }), "{error:?}");
    assert_eq!(contents(&copied), before);
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_untouched() {
    let place = Place::new();
    let garbage = b"dear diary, ".repeat(1_000);
    std::fs::write(place.file(), &garbage).unwrap();
    let error = SqliteJournal::open(place.file()).unwrap_err();
    assert!(matches!(error, OpenError::Damaged { .. }), "{error:?}");
    assert_eq!(std::fs::read(place.file()).unwrap(), garbage);
    assert_eq!(std::fs::read_dir(place.directory()).unwrap().count(), 1, "nothing was put beside it");
}

#[test]
fn an_empty_file_becomes_a_journal() {
    let place = Place::new();
    std::fs::write(place.file(), b"").unwrap();
    wait(fill(&place.open(), &RunId::new("a"), 1));
    assert_eq!(wait(place.open().runs()).unwrap().len(), 1);
}

#[test]
fn a_directory_that_cannot_be_written_is_a_typed_error() {
    let place = Place::new();
    wait(fill(&place.open(), &RunId::new("a"), 1));
    set_permissions(place.directory(), Permissions::from_mode(0o500)).unwrap();
    let directory = place.directory().to_owned();
    let errors = std::thread::spawn(move || {
        obey_permissions();
        ["journal.db", "new.db", "new/journal.db"]
            .map(|name| SqliteJournal::open(directory.join(name)).unwrap_err())
    })
    .join()
    .unwrap();
    set_permissions(place.directory(), Permissions::from_mode(0o700)).unwrap();
    for error in errors {
        assert!(matches!(error, OpenError::NotWritable { .. }), "{error:?}");
    }
    assert_eq!(wait(place.open().runs()).unwrap().len(), 1);
}

/// The superuser may write anywhere; this thread gives that up, and only this thread.
fn obey_permissions() {
    let mut sets = capabilities(None).unwrap();
    sets.effective -= CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
    set_capabilities(None, sets).unwrap();
}

#[test]
fn a_path_through_a_file_is_a_typed_error() {
    let place = Place::new();
    std::fs::write(place.directory().join("file"), b"").unwrap();
    let error = SqliteJournal::open(place.directory().join("file/journal.db")).unwrap_err();
    assert!(matches!(error, OpenError::Io { .. }), "{error:?}");
    assert!(error.to_string().contains("file"), "{error}");
}

#[test]
fn a_journal_deleted_while_open_does_not_come_back_empty() {
    let place = Place::new();
    let journal = place.open();
    wait(fill(&journal, &RunId::new("a"), 1));
    let fresh = place.open();
    std::fs::remove_file(place.file()).unwrap();
    assert!(wait(fresh.runs()).is_err(), "its reader had no connection yet");
    assert!(!place.file().exists());
}
