//! The one roadmap update that is under way, as it can be seen in its worktree: whether it is written, whether the revision it
//! proposes is sound, and what was decided about it.

use super::folder::{self, Found};
use super::rounds::{ids, spot};
use super::{Bundle, Reading, words, worktree_path};
use windlass_artifact_formats::roadmap_loop::plane::{
    ActiveBundle, Generation, UpdateRecord, UpdateTrigger as FileTrigger, Verification, names,
    states_not_carried_over,
};
use windlass_artifact_formats::roadmap_loop::round::{
    ExpectedUpdate, RoadmapUpdate, StatedDecision, UpdateReview as FileReview, UpdateTrigger, sha256_hex,
};
use windlass_control_api::Fault;
use windlass_protocols::Digest;
use windlass_protocols::protocol::roadmap_rounds::plane::{UpdateReview, UpdateSeen};

pub(super) fn see(reading: &Reading<'_>, record: &UpdateRecord) -> Result<UpdateSeen, Fault> {
    let spot = spot(reading, &record.branch, &record.worktree_path)?;
    let top = worktree_path(&reading.top, &record.worktree_path);
    let bundle = proposed(reading, record);
    let document = folder::read(&top, &record.update_artifact);
    let there = document != Found::Absent;
    let mut author_faults = match document {
        Found::Absent => Vec::new(),
        Found::Unusable(why) => vec![format!("{}: {why}", record.update_artifact)],
        Found::Text(text) => document_faults(reading, record, &text),
    };
    if there {
        author_faults.extend(revision_faults(reading, &top, &bundle));
    }
    let (review, review_faults) = review(&top, &record.review_artifact);
    let on_base = format!("{}/roadmap.md", bundle.dir);
    let (head, fork) = ids(&spot);
    Ok(UpdateSeen {
        trigger: words::trigger(record.trigger),
        source_round: record.source_round_id.clone(),
        branch: record.branch.clone(),
        worktree: record.worktree_path.clone(),
        prior_revision: record.prior_roadmap_revision.clone(),
        proposed_revision: record.proposed_roadmap_revision.clone(),
        status: words::update_status(record.status),
        attempt: record.attempt,
        resume_error: record.resume_error.clone(),
        head,
        fork,
        worktree_stands: spot.stands,
        authored: there && author_faults.is_empty(),
        author_faults,
        review,
        review_faults,
        merged: reading.files.contains(&on_base),
    })
}

fn proposed(reading: &Reading<'_>, record: &UpdateRecord) -> ActiveBundle {
    let revision = record.proposed_roadmap_revision.clone();
    let roadmap_id = reading.bundle.roadmap_id.clone();
    ActiveBundle { dir: names::roadmap_dir(&roadmap_id, &revision), roadmap_id, revision }
}

const fn document_trigger(trigger: FileTrigger) -> UpdateTrigger {
    match trigger {
        FileTrigger::MergedRound => UpdateTrigger::MergedRound,
        FileTrigger::PlannerRequest => UpdateTrigger::PlannerRequest,
    }
}

fn document_faults(reading: &Reading<'_>, record: &UpdateRecord, text: &str) -> Vec<String> {
    let expected = ExpectedUpdate {
        source_round_id: &record.source_round_id,
        trigger: document_trigger(record.trigger),
        roadmap_id: &reading.bundle.roadmap_id,
        prior_revision: &record.prior_roadmap_revision,
        proposed_revision: &record.proposed_roadmap_revision,
    };
    match RoadmapUpdate::parse(text, &expected) {
        Ok(_) => Vec::new(),
        Err(faults) => {
            let named = |sentence: &String| format!("{}: {sentence}", record.update_artifact);
            faults.sentences().iter().map(named).collect()
        }
    }
}

/// The proposed revision is a bundle like any other.
fn revision_faults(reading: &Reading<'_>, top: &std::path::Path, bundle: &ActiveBundle) -> Vec<String> {
    let mut faults = Vec::new();
    let mut required = |path: String| match folder::read(top, &path) {
        Found::Text(text) => text,
        Found::Absent => {
            faults.push(format!("{path}: this file is required and missing (rule 13.3)"));
            String::new()
        }
        Found::Unusable(why) => {
            faults.push(format!("{path}: {why}"));
            String::new()
        }
    };
    let view_path = format!("{}/roadmap-view.json", bundle.dir);
    let texts = Bundle {
        roadmap: required(format!("{}/roadmap.md", bundle.dir)),
        view: (reading.generation == Generation::Records).then(|| required(view_path)),
        verification: required(format!("{}/verification.md", bundle.dir)),
        history: folder::read(top, &names::history_file(&bundle.roadmap_id)).text(),
    };
    if !faults.is_empty() {
        return faults;
    }
    let path = format!("{}/roadmap.md", bundle.dir);
    match texts.texts(reading.generation, bundle).roadmap() {
        Ok(proposed) => {
            let lost = states_not_carried_over(&reading.roadmap, &proposed);
            faults.extend(lost.iter().map(|sentence| format!("{path}: {sentence}")));
        }
        Err(problems) => faults.extend(problems.all().iter().map(ToString::to_string)),
    }
    let path = format!("{}/verification.md", bundle.dir);
    if let Err(problems) = Verification::parse(&path, &texts.verification) {
        faults.extend(problems.all().iter().map(ToString::to_string));
    }
    faults
}

fn review(top: &std::path::Path, artifact: &str) -> (Option<UpdateReview>, Vec<String>) {
    let text = match folder::read(top, artifact) {
        Found::Absent => return (None, Vec::new()),
        Found::Unusable(why) => return (None, vec![format!("{artifact}: {why}")]),
        Found::Text(text) => text,
    };
    match FileReview::parse(&text) {
        Ok(review) => {
            let moves = review.family_migration.iter().map(|family| {
                format!(
                    "{artifact}: an update stays in its family; {family} is begun by `windlass roadmap init` when this one is \
                     done, so do not approve the move (rule 13.3)"
                )
            });
            let faults = moves.collect();
            let decided = match review.decision {
                StatedDecision::Approved => {
                    UpdateReview::Approved { artifact: Digest::new(sha256_hex(text.as_bytes())) }
                }
                StatedDecision::Rejected(summary) => UpdateReview::Rejected { summary },
            };
            (Some(decided), faults)
        }
        Err(faults) => {
            (None, faults.sentences().iter().map(|sentence| format!("{artifact}: {sentence}")).collect())
        }
    }
}
