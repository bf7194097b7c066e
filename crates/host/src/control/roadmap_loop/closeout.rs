//! `windlass roadmap closeout`: plumbing. Applies what a review approved for the roadmap to the files of a work tree, exactly
//! or not at all, and says what was changed. Nothing is committed and the state is not touched.

use super::on_disk::OnDisk;
use super::unusable;
use crate::control::goal_loop::put;
use crate::fault::git_fault;
use std::path::Path;
use windlass_artifact_formats::goal_loop::Recognised;
use windlass_artifact_formats::roadmap_loop::closeout::{Closeout, CloseoutMode};
use windlass_artifact_formats::roadmap_loop::lineage::Lineage;
use windlass_artifact_formats::roadmap_loop::plane::{
    ActiveBundle, Generation, STATE_FILE, apply_closeout, closeout_faults,
};
use windlass_artifact_formats::roadmap_loop::round::{Review, ReviewDecision, Selection, files, sha256_hex};
use windlass_control_api::roadmap_setup::{AppliedCloseout, CloseoutRoadmap};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::Checkout;

const NOTHING: &str = "nothing was written";
const TO_REVIEWER: &str = "a closeout that no longer fits goes back to its reviewer";

pub(crate) fn closeout(command: &CloseoutRoadmap) -> Result<AppliedCloseout, Fault> {
    let refused = |why: String| unusable(why).kept(NOTHING);
    let folder = command.review.parent().unwrap_or(Path::new("."));
    let place = command.repository.as_deref().unwrap_or(folder);
    let checkout = Checkout::discover(place).map_err(git_fault)?;
    let top = checkout.work_tree();
    let text = std::fs::read_to_string(&command.review).map_err(|error| {
        let message = format!("{} cannot be read: {error}", command.review.display());
        Fault::new(Code::BadArgument, message).kept(NOTHING)
    })?;
    let (generation, lineage, closeout) = approved(&command.review, &text)?;
    let disk = OnDisk::look(top);
    let active = active(&disk)?;
    is_of_active(&command.review, generation, (&lineage, &active))?;
    let texts = disk.bundle(generation, &active).map_err(refused)?;
    let roadmap = texts.texts().roadmap().map_err(|problems| refused(problems.to_string()))?;
    let beyond = closeout_faults(&roadmap, &closeout, &lineage.milestone_id);
    if !beyond.is_empty() {
        let why = format!("{}: {}", command.review.display(), beyond.join("; "));
        return Err(Fault::new(Code::NotAllowedNow, why).kept(NOTHING).hint(TO_REVIEWER));
    }
    let applied = apply_closeout(&texts.texts(), &closeout).map_err(|problems| {
        let fault = Fault::new(
            if problems.is_recoverable() { Code::NotAllowedNow } else { Code::PlaneUnusable },
            problems.to_string(),
        );
        fault.kept(NOTHING).hint(TO_REVIEWER)
    })?;
    if !command.dry_run {
        for (path, text) in &applied.files {
            put(top, path, text)?;
        }
    }
    Ok(AppliedCloseout {
        work_tree: top.to_string_lossy().into_owned(),
        dry_run: command.dry_run,
        review: command.review.to_string_lossy().into_owned(),
        review_sha256: sha256_hex(text.as_bytes()),
        mode: closeout.mode.to_string(),
        files: applied.files.into_iter().map(|(path, _)| path).collect(),
        applied_edit_summary: applied.summary,
    })
}

/// The roadmap that the state of this work tree names.
fn active(disk: &OnDisk) -> Result<ActiveBundle, Fault> {
    let refused = |why: String| unusable(why).kept(NOTHING);
    let state = disk.state().map_err(refused)?;
    let bundle = match state {
        Some(Recognised::Ours(state)) => state.bundle(),
        Some(Recognised::Foreign(_) | Recognised::Invalid(_)) | None => None,
    };
    bundle.ok_or_else(|| {
        refused(format!("{STATE_FILE}: nothing in it says which roadmap is active (rule 3.3.1)"))
    })
}

/// Other families and revisions are history, and nothing in them is edited any more.
fn is_of_active(
    review: &Path,
    generation: Generation,
    (lineage, active): (&Lineage, &ActiveBundle),
) -> Result<(), Fault> {
    let named = [
        ("roadmap_id", "Roadmap id", lineage.roadmap_id.as_str(), &active.roadmap_id),
        ("roadmap_revision", "Roadmap revision", &lineage.roadmap_revision, &active.revision),
        ("roadmap_dir", "Roadmap dir", lineage.roadmap_dir.trim_end_matches('/'), &active.dir),
    ];
    let Some((key, label, found, wanted)) = named.into_iter().find(|(_, _, found, wanted)| found != wanted)
    else {
        return Ok(());
    };
    let (file, place) = match generation {
        Generation::Records => (review.to_owned(), format!("/{key}")),
        // Its lineage stands in the plan.
        Generation::StructuredMarkdown => (review.with_file_name(files::PLAN), format!("{label}:")),
    };
    let why = format!(
        "{}: {place} it names \"{found}\", and \"{wanted}\" is active in {STATE_FILE} (rule 12)",
        file.display()
    );
    Err(Fault::new(Code::NotAllowedNow, why)
        .kept(NOTHING)
        .hint("only the active roadmap is edited in place; earlier ones are history"))
}

/// What was approved, for which roadmap; only a status-only approval has edits to apply.
fn approved(review: &Path, text: &str) -> Result<(Generation, Lineage, Closeout), Fault> {
    let refused = |why: String| Fault::new(Code::BadArgument, why).kept(NOTHING);
    let folder = review.parent().unwrap_or(Path::new("."));
    let is_record = review.extension().is_some_and(|ending| ending == "json");
    let round = round_of(review, text, is_record).ok_or_else(|| {
        let hint = if is_record {
            "give it the `round_id` it is about, or put it into orchestrator/rounds/ROUND/"
        } else {
            "put it, with the plan.md of its round, into orchestrator/rounds/ROUND/; a review-record.json may lie \
             anywhere when it has a `round_id`, with `--repo DIR` for the work tree"
        };
        refused(format!("{} does not tell its round", review.display())).hint(hint)
    })?;
    let beside = |name: &str| std::fs::read_to_string(folder.join(name));
    let (generation, lineage, review) = if is_record {
        let prose = beside(files::REVIEW).ok();
        let read = Review::from_record(&round, text, prose.as_deref());
        let read = read.map_err(|faults| refused(faults.to_string()))?;
        (Generation::Records, read.lineage.clone().unwrap_or_default(), read)
    } else {
        let plan =
            beside(files::PLAN).map_err(|error| refused(format!("{} beside it: {error}", files::PLAN)))?;
        let selection = Selection::from_plan(&round, &plan).map_err(|faults| refused(faults.to_string()))?;
        let read = Review::from_markdown(text, &selection.lineage.milestone_id);
        let read = read.map_err(|faults| refused(faults.to_string()))?;
        (Generation::StructuredMarkdown, selection.lineage, read)
    };
    match review.decision {
        ReviewDecision::Approved { closeout } if closeout.mode == CloseoutMode::StatusOnly => {
            Ok((generation, lineage, closeout))
        }
        ReviewDecision::Approved { closeout } => Err(Fault::new(
            Code::NotAllowedNow,
            format!("the review approved a closeout of mode {}, which edits nothing in place", closeout.mode),
        )
        .kept(NOTHING)),
        ReviewDecision::Rejected { retry_target, .. } => {
            Err(Fault::new(Code::NotAllowedNow, format!("the review rejected the round ({retry_target})"))
                .kept(NOTHING))
        }
        ReviewDecision::Unclassified { why } => Err(refused(why)),
    }
}

/// The folder's name, or what the record says of itself.
fn round_of(review: &Path, text: &str, is_record: bool) -> Option<String> {
    let folder = review.parent()?;
    let in_rounds = folder.parent().and_then(Path::file_name).is_some_and(|name| name == "rounds");
    if in_rounds {
        return Some(folder.file_name()?.to_str()?.to_owned());
    }
    if !is_record {
        return None;
    }
    let record: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(record["round_id"].as_str()?.to_owned())
}
