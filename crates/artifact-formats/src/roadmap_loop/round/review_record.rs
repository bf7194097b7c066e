//! `review-record.json`: the reviewer's decision as machines read it. Where the prose beside it says something else, the
//! record counts and the difference is told. It knows the record only, no roadmap.

use super::closeout_fields::mode_faults;
use super::files;
use super::record::{self, Wanted};
use super::review::{
    RetryTarget, Review, ReviewDecision, approved_or, contradiction, prose_decision, rejected_or,
};
use crate::fault::{ArtifactFault, FaultKind};
use crate::faults::Faults;
use crate::fields::{Field, Fields, choice};
use crate::gate::{Waiver, waivers};
use crate::roadmap_loop::closeout::{
    Closeout, CloseoutMode, CompletionPointer, HistoryEntry, MilestoneStatus, StatusChange,
};
use crate::roadmap_loop::lineage::Lineage;

const VERSION: &str = "review-record-v3";

choice! {
    /// The decision as the record spells it.
    RecordedDecision {
        Approved = "approved",
        Rejected = "rejected",
    }
}

struct Recorded {
    lineage: Lineage,
    decision: RecordedDecision,
    evidence_summary: String,
    closeout: Option<Closeout>,
    has_closeout: bool,
    retry_target: Option<RetryTarget>,
    required_changes: Vec<String>,
    waivers: Vec<Waiver>,
}

impl Review {
    /// Reads `review-record.json` of the round with that id, and holds the prose against it.
    pub fn from_record(round_id: &str, text: &str, prose: Option<&str>) -> Result<Self, Faults> {
        let wanted = Wanted { file: files::REVIEW_RECORD, schema_version: VERSION, round_id };
        let (recorded, faults) = record::read_with_faults(wanted, text, recorded);
        let classifies = |fault: &ArtifactFault| {
            ["/roadmap_closeout", "/retry_target", "/required_changes"]
                .iter()
                .any(|place| fault.path.starts_with(place))
        };
        let (unclassified, unusable): (Vec<_>, Vec<_>) = faults.into_iter().partition(classifies);
        let recorded = Faults::unless_empty(files::REVIEW_RECORD, record::sentences(&unusable), || recorded)?;
        let prose = prose.and_then(prose_decision);
        let contradictions = prose.and_then(|prose| contradiction(recorded.decision.as_str(), &prose));
        Ok(Self {
            evidence_summary: recorded.evidence_summary.clone(),
            lineage: Some(recorded.lineage.clone()),
            contradictions: contradictions.into_iter().collect(),
            waivers: recorded.waivers.clone(),
            decision: recorded.classified(record::sentences(&unclassified)),
        })
    }
}

impl Recorded {
    fn classified(self, mut why: Vec<String>) -> ReviewDecision {
        match self.decision {
            RecordedDecision::Approved => {
                if !self.has_closeout {
                    why.push("/roadmap_closeout: an approval needs it".to_owned());
                }
                if self.retry_target.is_some() || !self.required_changes.is_empty() {
                    why.push("approved, and yet a retry or changes are asked for".to_owned());
                }
                why.extend(self.closeout.iter().flat_map(mode_faults));
                approved_or(self.closeout, why)
            }
            RecordedDecision::Rejected => {
                if self.has_closeout {
                    why.push("/roadmap_closeout: a rejection must leave it out or write null".to_owned());
                }
                rejected_or(self.retry_target, self.required_changes, why)
            }
        }
    }
}

fn recorded(fields: &mut Fields<'_, '_>) -> Option<Recorded> {
    let lineage = record::lineage(fields);
    let decision = fields.choice::<RecordedDecision>("decision");
    let evidence_summary = fields.filled_text("evidence_summary");
    let mut present = |key| fields.optional(key).filter(|field| !field.is_null());
    let closeout = present("roadmap_closeout");
    let retry_target = present("retry_target").and_then(|field| field.choice());
    let changes = present("required_changes");
    let changes = changes.map(|field| field.list(|item| item.filled_text())).unwrap_or_default();
    let waivers = waivers(fields);
    Some(Recorded {
        lineage,
        decision: decision?,
        evidence_summary,
        has_closeout: closeout.is_some(),
        closeout: closeout.and_then(|field| closeout_of(&field)),
        retry_target,
        required_changes: changes,
        waivers,
    })
}

fn closeout_of(field: &Field<'_, '_>) -> Option<Closeout> {
    let mut fields = field.object()?;
    let mode = fields.choice::<CloseoutMode>("mode");
    if mode == Some(CloseoutMode::None) {
        let place = fields.place_of("mode");
        fields.report(ArtifactFault::unknown_value(
            place,
            &[CloseoutMode::StatusOnly.as_str(), CloseoutMode::SemanticUpdateRequired.as_str()],
            "none",
        ));
    }
    let status_changes = fields.list("status_changes", status_change);
    let completion_pointers = fields.list("completion_pointers", |field| {
        let (anchor_or_milestone, text) = entry(&field)?;
        Some(CompletionPointer { anchor_or_milestone, text })
    });
    let history_entries = fields.list("history_entries", |field| {
        let (anchor, text) = entry(&field)?;
        Some(HistoryEntry { anchor: Some(anchor), text })
    });
    let reason = record::nullable(&mut fields, "semantic_update_required_reason");
    let reason = reason.and_then(|field| field.filled_text());
    Some(Closeout { mode: mode?, status_changes, completion_pointers, history_entries, reason })
}

fn status_change(field: Field<'_, '_>) -> Option<StatusChange> {
    let mut fields = field.object()?;
    let milestone_id = fields.filled_text("milestone_id");
    let expected = fields.choice::<MilestoneStatus>("expected_current_status");
    let target = fields.choice::<MilestoneStatus>("target_status");
    let anchor = fields.filled_text("roadmap_view_anchor");
    if expected.is_some() && expected == target {
        let place = fields.place_of("target_status");
        fields.report(ArtifactFault::new(FaultKind::UnknownValue, place, "changes nothing"));
    }
    Some(StatusChange {
        milestone_id,
        expected_current_status: expected,
        target_status: target?,
        anchor: Some(anchor),
    })
}

fn entry(field: &Field<'_, '_>) -> Option<(String, String)> {
    let mut fields = field.object()?;
    let anchor = fields.filled_text("anchor_id");
    Some((anchor, fields.filled_text("text")))
}
