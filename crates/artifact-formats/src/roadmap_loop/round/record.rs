//! How the JSON records of a round are read: version first, then key by key, every fault with its place. Keys that nobody
//! asked for are tolerated, for real control planes add some. It knows no record beyond the fields all of them share.

use std::cell::RefCell;

use crate::document::{self, Limits};
use crate::fault::{ArtifactFault, FaultKind, excerpt};
use crate::faults::Faults;
use crate::fields::{FaultSink, Field, Fields};
use crate::roadmap_loop::lineage::Lineage;

/// What is asked of a record before its own keys are looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) file: &'static str,
    pub(super) schema_version: &'static str,
    pub(super) round_id: &'a str,
}

/// The value if nothing is wrong, else all that is.
pub(super) fn read<T>(
    wanted: Wanted<'_>,
    text: &str,
    read: impl FnOnce(&mut Fields<'_, '_>) -> Option<T>,
) -> Result<T, Faults> {
    let (value, faults) = read_with_faults(wanted, text, read);
    Faults::unless_empty(wanted.file, sentences(&faults), || value)
}

/// Value and faults side by side, for a record of which some faults mean something else than others.
pub(super) fn read_with_faults<T>(
    wanted: Wanted<'_>,
    text: &str,
    read: impl FnOnce(&mut Fields<'_, '_>) -> Option<T>,
) -> (Option<T>, Vec<ArtifactFault>) {
    let (document, mut faults) = document::read(text.as_bytes(), Limits::default());
    let Some(document) = document else { return (None, faults) };
    let sink: FaultSink = RefCell::new(Vec::new());
    let value = {
        let mut fields = Fields::new(document.entries(), String::new(), &sink);
        exactly(&mut fields, "schema_version", wanted.schema_version, FaultKind::UnsupportedVersion);
        exactly(&mut fields, "round_id", wanted.round_id, FaultKind::WrongTaskId);
        read(&mut fields)
    };
    faults.extend(sink.into_inner());
    (value, faults)
}

pub(super) fn sentences(faults: &[ArtifactFault]) -> Vec<String> {
    faults.iter().map(ToString::to_string).collect()
}

pub(super) fn lineage(fields: &mut Fields<'_, '_>) -> Lineage {
    Lineage {
        roadmap_id: fields.filled_text("roadmap_id"),
        roadmap_revision: fields.filled_text("roadmap_revision"),
        roadmap_dir: fields.filled_text("roadmap_dir"),
        milestone_id: fields.filled_text("milestone_id"),
        direction_id: fields.filled_text("direction_id"),
        extracted_item_id: fields.filled_text("extracted_item_id"),
    }
}

pub(super) fn texts(fields: &mut Fields<'_, '_>, key: &'static str) -> Vec<String> {
    fields.list(key, |field| field.filled_text())
}

/// A key that must be there and may be null.
pub(super) fn nullable<'n, 'a>(fields: &mut Fields<'n, 'a>, key: &'static str) -> Option<Field<'n, 'a>> {
    let field = fields.optional(key);
    if field.is_none() {
        let place = fields.place_of(key);
        fields.report(ArtifactFault::new(
            FaultKind::MissingKey,
            place,
            "this key is required and absent; write null for nothing",
        ));
    }
    field.filter(|field| !field.is_null())
}

fn exactly(fields: &mut Fields<'_, '_>, key: &'static str, expected: &str, kind: FaultKind) {
    let Some(field) = fields.optional(key) else {
        let message = format!("this key is required and absent; it must be {}", excerpt(expected));
        fields.report(ArtifactFault::new(FaultKind::MissingKey, fields.place_of(key), message));
        return;
    };
    if let Some(found) = field.text()
        && found != expected
    {
        let message = format!("must be {}; found {}", excerpt(expected), excerpt(&found));
        field.report(ArtifactFault::new(kind, field.path.clone(), message));
    }
}
