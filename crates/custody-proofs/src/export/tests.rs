//! Exports: whole, changed, cut, made anew.

use proptest::prelude::*;
use windlass_engine::chain;
use windlass_protocols::Millis;
use windlass_protocols::protocol::story_queue::vocabulary::Uuid;

use super::*;
use crate::keys::Seed;
use crate::merkle::{self, Hash};

const TENANT: TenantId = TenantId(Uuid([1; 16]));

fn key(byte: u8) -> SigningKey {
    SigningKey::from_seed(Seed([byte; 32]))
}

fn rows(count: u64, words: &str) -> Vec<Stored> {
    let mut previous = chain::seed(&stream(TENANT));
    let row = |version| {
        let (at, payload) = (Millis(1_700_000_000_000 + version), format!(r#"{{"{words}":{version}}}"#));
        let hash = chain::link(&previous, version, at, &payload);
        previous.clone_from(&hash);
        Stored { version, at, payload, hash }
    };
    (0..count).map(row).collect()
}

fn head(rows: &[Stored], key: &SigningKey) -> TreeHead {
    let hashes: Vec<Hash> = rows.iter().map(|row| encoding::array_from_hex(&row.hash).unwrap()).collect();
    TreeHead::sign(key, TENANT, rows.len().try_into().unwrap(), merkle::root(&hashes), 1_700_000_100)
}

/// Nine rows, heads at 4 and 9, the key changed in between.
fn keys() -> KeyHistory {
    let mut keys = KeyHistory::begin(key(1).public());
    keys.rotate(TENANT, &key(1), key(2).public(), 6);
    keys
}

fn export_of(rows: &[Stored]) -> String {
    let heads = [head(&rows[..4], &key(1)), head(rows, &key(2))];
    write_export(TENANT, &keys(), rows, &heads, &key(2))
}

fn check(text: &str) -> Result<Verified, Flawed> {
    verify_export(text.as_bytes(), Known::default())
}

/// The same file with one line rewritten.
fn with_line(text: &str, number: usize, change: impl Fn(&str) -> String) -> String {
    let line =
        |(place, line): (usize, &str)| if place + 1 == number { change(line) } else { line.to_owned() };
    text.lines().enumerate().map(line).map(|line| line + "\n").collect()
}

fn without_line(text: &str, with: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.contains(with)).collect()
}

#[test]
fn a_whole_export_verifies_with_the_file_alone_and_with_a_key_from_elsewhere() {
    let rows = rows(9, "claimed");
    let text = export_of(&rows);
    let verified = check(&text).unwrap();
    assert_eq!((verified.entries, verified.heads, verified.key), (9, 2, key(2).public()));
    for trusted in [key(1), key(2)] {
        let known = Known { key: Some(trusted.public()), heads: &[head(&rows[..2], &key(1))] };
        assert_eq!(verify_export(text.as_bytes(), known), Ok(verified.clone()));
    }
}

#[test]
fn an_empty_chain_is_a_chain() {
    let text = write_export(TENANT, &KeyHistory::begin(key(1).public()), &[], &[], &key(1));
    assert_eq!(check(&text).unwrap().entries, 0);
}

#[test]
fn each_failure_names_the_row() {
    let text = export_of(&rows(9, "claimed"));
    let said = |text: &str| check(text).unwrap_err().to_string();
    // The fourth line is the third row, whose version is 2.
    let changed = with_line(&text, 4, |line| line.replace("claimed", "cleared"));
    assert_eq!(
        said(&changed),
        "line 4: row 2: the hash does not match; the row or one before it was changed"
    );
    let later = with_line(&text, 4, |line| line.replace("\"at\":1700000000002", "\"at\":1700000000003"));
    assert_eq!(said(&later), "line 4: row 2: the hash does not match; the row or one before it was changed");
    let dropped = without_line(&text, "\"version\":2,");
    assert_eq!(said(&dropped), "line 4: row 2: a fact is missing or out of order");
    let unreadable = with_line(&text, 4, |line| line.replace("{\"row\"", "{\"raw\""));
    assert!(
        said(&unreadable).starts_with("line 4: row 2: not a line of an audit export"),
        "{}",
        said(&unreadable)
    );
    let cut = without_line(&text, "\"version\":8,");
    assert_eq!(said(&cut), "line 11: row 8: the row is missing: a tree head covers 9 rows");
    let unsigned = without_line(&text, "\"position\":9,");
    assert_eq!(said(&unsigned), "row 4: no tree head covers this row and those after it");
}

/// Whoever can write rows but has no key computes all hashes anew.
#[test]
fn a_chain_that_was_made_anew_is_found_by_its_signed_root() {
    let rows = rows(9, "claimed");
    let forged = self::rows(9, "cleared");
    let heads = [head(&rows[..4], &key(1)), head(&rows, &key(2))];
    let text = write_export(TENANT, &keys(), &forged, &heads, &key(2));
    assert_eq!(check(&text).unwrap_err().flaw, Flaw::Root(4));
    let heads = [head(&forged[..4], &key(7)), head(&forged, &key(7))];
    let text = write_export(TENANT, &keys(), &forged, &heads, &key(7));
    assert_eq!(check(&text).unwrap_err().flaw, Flaw::HeadSignature(4));
}

/// Whoever has the key can cut and sign again; somebody who kept a later head finds it.
#[test]
fn a_truncated_or_rewritten_chain_is_found_by_a_head_somebody_kept() {
    let rows = rows(9, "claimed");
    let kept = [head(&rows, &key(2))];
    let known = Known { key: None, heads: &kept };
    let begun = KeyHistory::begin(key(2).public());
    let shorter = write_export(TENANT, &begun, &rows[..7], &[head(&rows[..7], &key(2))], &key(2));
    assert!(check(&shorter).is_ok(), "the file alone cannot tell");
    let flawed = verify_export(shorter.as_bytes(), known).unwrap_err();
    assert_eq!((flawed.row, flawed.flaw), (Some(7), Flaw::Missing(9)));
    let forged = self::rows(9, "cleared");
    let rewritten = write_export(TENANT, &begun, &forged, &[head(&forged, &key(2))], &key(2));
    assert!(check(&rewritten).is_ok(), "the file alone cannot tell");
    assert_eq!(verify_export(rewritten.as_bytes(), known).unwrap_err().flaw, Flaw::Root(9));
}

#[test]
fn another_key_than_the_given_one_is_refused_however_well_it_signed() {
    let rows = rows(9, "claimed");
    let text =
        write_export(TENANT, &KeyHistory::begin(key(7).public()), &rows, &[head(&rows, &key(7))], &key(7));
    let known = Known { key: Some(key(2).public()), heads: &[] };
    assert_eq!(verify_export(text.as_bytes(), known).unwrap_err().flaw, Flaw::OtherKey);
}

#[test]
fn a_retired_key_signs_nothing_after_its_time() {
    let rows = rows(9, "claimed");
    let heads = [head(&rows, &key(1))];
    let text = write_export(TENANT, &keys(), &rows, &heads, &key(2));
    assert_eq!(check(&text).unwrap_err().flaw, Flaw::HeadSignature(9));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_changed_byte_is_found(at in any::<prop::sample::Index>(), with in any::<u8>()) {
        let mut bytes = export_of(&rows(9, "claimed")).into_bytes();
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != with);
        bytes[at] = with;
        prop_assert!(verify_export(&bytes, Known::default()).is_err());
    }

    #[test]
    fn any_dropped_byte_and_any_dropped_end_is_found(at in any::<prop::sample::Index>()) {
        let bytes = export_of(&rows(9, "claimed")).into_bytes();
        let at = at.index(bytes.len());
        let dropped = [&bytes[..at], &bytes[at + 1..]].concat();
        prop_assert!(verify_export(&dropped, Known::default()).is_err());
        prop_assert!(verify_export(&bytes[..at], Known::default()).is_err());
    }

    #[test]
    fn any_two_lines_that_change_places_are_found(one in 0_usize..13, other in 0_usize..13) {
        prop_assume!(one != other);
        let text = export_of(&rows(9, "claimed"));
        let mut lines: Vec<&str> = text.lines().collect();
        prop_assert_eq!(lines.len(), 13);
        lines.swap(one, other);
        prop_assert!(check(&(lines.join("\n") + "\n")).is_err());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(verify_export(&bytes, Known::default()).is_err());
    }
}
