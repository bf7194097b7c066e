//! `closeout-record.json`: the controller's own proof that the approved edits, and only these, were made in a round's
//! worktree. Bound to the exact bytes of the review by their hash.

use serde::Serialize;

use super::files;
use super::record::{self, Wanted};
use crate::fault::{ArtifactFault, excerpt};
use crate::faults::Faults;
use crate::fields::choice;
use crate::render::pretty;

const VERSION: &str = "closeout-record-v3";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloseoutRecord {
    pub round_id: String,
    pub review_record_path: String,
    /// Of the review record's exact bytes, in lower-case hexadecimal.
    pub review_record_sha256: String,
    /// The base commit seen before the closeout.
    pub base_revision: String,
    pub status: CloseoutStatus,
    pub applied_edit_summary: Vec<String>,
    pub verification: CloseoutVerification,
}

choice! {
    CloseoutStatus {
        Applied = "applied",
        /// Checked again after the base or the bundle moved.
        Revalidated = "revalidated",
        /// The approved edits do not fit any more.
        Stale = "stale",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CloseoutVerification {
    pub roadmap_view_revalidated: bool,
    pub active_bundle_revalidated: bool,
    pub diff_matches_review_record: bool,
    pub revalidated_after_base_refresh: bool,
}

/// Whether the base moved between the closeout and the merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BaseRefresh {
    None,
    Happened,
}

/// The file's keys in their order.
#[derive(Serialize)]
struct Written<'a> {
    schema_version: &'static str,
    round_id: &'a str,
    review_record_path: &'a str,
    review_record_sha256: &'a str,
    base_revision: &'a str,
    status: CloseoutStatus,
    applied_edit_summary: &'a [String],
    verification: CloseoutVerification,
}

impl CloseoutRecord {
    pub fn parse(round_id: &str, text: &str) -> Result<Self, Faults> {
        let wanted = Wanted { file: files::CLOSEOUT_RECORD, schema_version: VERSION, round_id };
        record::read(wanted, text, |fields| {
            let review_record_path = fields.filled_text("review_record_path");
            let review_record_sha256 = fields.filled_text("review_record_sha256");
            if !review_record_sha256.is_empty() && !is_sha256(&review_record_sha256) {
                let place = fields.place_of("review_record_sha256");
                let expected = "64 lower-case hexadecimal digits";
                fields.report(ArtifactFault::malformed_hash(place, expected, &review_record_sha256));
            }
            let base_revision = fields.filled_text("base_revision");
            let status = fields.choice::<CloseoutStatus>("status");
            let applied_edit_summary = record::texts(fields, "applied_edit_summary");
            let verification = fields.object("verification").map(|mut inner| CloseoutVerification {
                roadmap_view_revalidated: inner.flag("roadmap_view_revalidated"),
                active_bundle_revalidated: inner.flag("active_bundle_revalidated"),
                diff_matches_review_record: inner.flag("diff_matches_review_record"),
                revalidated_after_base_refresh: inner.flag("revalidated_after_base_refresh"),
            });
            Some(Self {
                round_id: round_id.to_owned(),
                review_record_path,
                review_record_sha256,
                base_revision,
                status: status?,
                applied_edit_summary,
                verification: verification?,
            })
        })
    }

    pub fn render(&self) -> String {
        pretty(&Written {
            schema_version: VERSION,
            round_id: &self.round_id,
            review_record_path: &self.review_record_path,
            review_record_sha256: &self.review_record_sha256,
            base_revision: &self.base_revision,
            status: self.status,
            applied_edit_summary: &self.applied_edit_summary,
            verification: self.verification,
        })
    }

    pub fn mergeable(&self, refresh: BaseRefresh) -> bool {
        self.obstacles(refresh).is_empty()
    }

    /// What keeps the round from merging, in sentences.
    pub fn obstacles(&self, refresh: BaseRefresh) -> Vec<String> {
        let seen = &self.verification;
        let mut missing = Vec::new();
        if self.status == CloseoutStatus::Stale {
            missing.push("the closeout is stale".to_owned());
        }
        let flags = [
            ("roadmap_view_revalidated", seen.roadmap_view_revalidated),
            ("active_bundle_revalidated", seen.active_bundle_revalidated),
            ("diff_matches_review_record", seen.diff_matches_review_record),
            (
                "revalidated_after_base_refresh",
                seen.revalidated_after_base_refresh || refresh == BaseRefresh::None,
            ),
        ];
        let unset = flags.iter().filter(|(_, holds)| !holds);
        missing.extend(unset.map(|(name, _)| format!("{name} is false")));
        missing
    }

    /// Why the record does not belong to this review; nothing where it does.
    pub fn differs_from_review(&self, review_record: &[u8]) -> Option<String> {
        let found = sha256_hex(review_record);
        (found != self.review_record_sha256).then(|| {
            let recorded = excerpt(&self.review_record_sha256);
            format!("/review_record_sha256: review-record.json has the hash {found}, recorded is {recorded}")
        })
    }
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// The hash of a file's exact bytes as the records write it.
pub fn sha256_hex(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    use std::fmt::Write;

    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
