//! A live round as it can be seen: its branch, its worktree, and what its artifacts say, each held against the rules of its
//! generation. Artifacts are read where the work happens; the base branch only tells whether the round is merged.

use super::folder::{self, Texts};
use super::{Reading, roadmap_drift, words, worktree_path};
use crate::effect_runner::answer::waived;
use crate::fault::git_fault;
use windlass_artifact_formats::roadmap_loop::closeout::Closeout;
use windlass_artifact_formats::roadmap_loop::plane::{
    RoundRecord, RoundStage, Standing, closeout_faults, closeout_standing,
};
use windlass_artifact_formats::roadmap_loop::round::{
    Evidence as Files, ProvenStage, Review, ReviewDecision, RoundForm, RoundPlan, Selection, Worker,
    WorkerState as FileWorker, Workplace, files, sha256_hex,
};
use windlass_control_api::Fault;
use windlass_git_workspaces::{Commit, Part};
use windlass_protocols::protocol::roadmap_rounds::plane::{
    DirectSeen, Evidence, PlanSeen, ReviewSeen, RoundSeen, WorkerSeen, WorkerState,
};
use windlass_protocols::{CommitId, Digest};

/// The trailer that a squash commit of ours has, with the round's id.
pub(crate) const ROUND_TRAILER: &str = "Windlass-Round";

/// What can be seen of a branch and a worktree of it.
pub(super) struct Spot {
    pub(super) head: Option<Commit>,
    pub(super) fork: Option<Commit>,
    pub(super) stands: bool,
}

pub(super) fn spot(reading: &Reading<'_>, branch: &str, worktree: &str) -> Result<Spot, Fault> {
    let repository = reading.repository;
    let reference = format!("refs/heads/{branch}");
    // A name that git would misread is a branch that is not there.
    let head = repository.read_reference(&reference).unwrap_or_default();
    let head = head.map(|id| repository.commit_of(&id).map_err(git_fault)).transpose()?;
    let fork = match &head {
        Some(head) => repository.merge_base(&reading.base.id, &head.id).map_err(git_fault)?,
        None => None,
    };
    let path = worktree_path(&reading.top, worktree);
    // Asked only where something is: the folder around a worktree that is not there would be made, and this only looks.
    let stands =
        path.is_dir() && repository.linked_worktree(&path).is_ok_and(|found| repository.stands(&found));
    Ok(Spot { head, fork, stands })
}

fn id(commit: &Commit) -> CommitId {
    CommitId::new(commit.id.as_str())
}

pub(super) fn ids(spot: &Spot) -> (Option<CommitId>, Option<CommitId>) {
    (spot.head.as_ref().map(id), spot.fork.as_ref().map(id))
}

/// A live round, what its artifacts say, and what of it was passed over.
pub(super) struct Seen {
    pub(super) round: RoundSeen,
    pub(super) artifacts: Files,
    pub(super) ignored: Option<String>,
}

pub(super) fn see(reading: &Reading<'_>, record: &RoundRecord) -> Result<Seen, Fault> {
    let spot = spot(reading, &record.branch, &record.worktree_path)?;
    let round = &record.round_id;
    let mut found = texts(reading, &files::round_dir(round), &record.worktree_path, spot.head.as_ref())?;
    let ignored = plan_as_taken_down(reading, record, spot.head.as_ref(), &mut found)?;
    let (artifacts, workers) = artifacts(reading, round, found.clone())?;
    let mut evidence = evidence(reading, &artifacts, (&found, workers));
    merged(reading, round, &spot, &mut evidence)?;
    super::shares::look(reading, spot.head.as_ref(), &mut evidence)?;
    let (code_drifted, roadmap_drifted) = match &spot.fork {
        Some(fork) if fork.id != reading.base.id => {
            (drifted(reading, fork)?, roadmap_drift::since(reading, fork, evidence.plan.as_ref())?)
        }
        _ => (false, false),
    };
    let (head, fork) = ids(&spot);
    let seen = RoundSeen {
        id: round.clone(),
        stage: words::round_stage(record.stage),
        branch: record.branch.clone(),
        worktree: record.worktree_path.clone(),
        resume_error: record.resume_error.clone(),
        head,
        fork,
        code_drifted,
        roadmap_drifted,
        worktree_stands: spot.stands,
        evidence,
    };
    Ok(Seen { round: seen, artifacts, ignored })
}

/// What is about to be merged is what was taken down: a plan that somebody edited since and did not commit does not count,
/// nor do notes that are in no commit. Comes back with a sentence about it.
fn plan_as_taken_down(
    reading: &Reading<'_>,
    record: &RoundRecord,
    head: Option<&Commit>,
    found: &mut Texts,
) -> Result<Option<String>, Fault> {
    let at_the_gate = matches!(record.stage, RoundStage::FinalizeRound | RoundStage::Blocked);
    let Some(head) = head.filter(|_| at_the_gate) else { return Ok(None) };
    let directory = files::round_dir(&record.round_id);
    let stored = committed(reading, &directory, head)?;
    // Another controller may not have committed anything yet.
    if !stored.texts.contains_key(files::PLAN) {
        return Ok(None);
    }
    let (mut edited, mut absent) = (Vec::new(), Vec::new());
    for name in [files::PLAN, files::SELECTION_RECORD, files::PLAN_RECORD, files::NOTES] {
        let kept = stored.texts.get(name);
        let unusable = found.unusable.iter().any(|(other, _)| other == name);
        let there = found.texts.get(name).map(String::as_str);
        if !unusable && super::same_lines(there, kept.map(String::as_bytes)) {
            continue;
        }
        // What was never committed was not edited either: its maker's work could not be taken down.
        let whose = if kept.is_some() { &mut edited } else { &mut absent };
        whose.push(format!("{directory}/{name}"));
        found.unusable.retain(|(other, _)| other != name);
        match kept {
            Some(text) => drop(found.texts.insert(name.to_owned(), text.clone())),
            None => drop(found.texts.remove(name)),
        }
    }
    let told = [(edited, "was edited and not committed"), (absent, "is in no commit")];
    let told: Vec<String> = told
        .iter()
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, how)| {
            format!("{} of {} {how}: what is committed counts", names.join(", "), record.round_id)
        })
        .collect();
    Ok((!told.is_empty()).then(|| told.join("; ")))
}

/// Somebody changed more than the control plane on the base branch since.
fn drifted(reading: &Reading<'_>, fork: &Commit) -> Result<bool, Fault> {
    let repository = reading.repository;
    repository.import(fork).map_err(git_fault)?;
    let outside = Part::Outside(super::names::PLANE_DIR);
    let changed = repository.differing_paths(&fork.tree, &reading.base.tree, outside).map_err(git_fault)?;
    Ok(!changed.is_empty())
}

/// A folder's files from the worktree, or where that is gone from the branch.
pub(super) fn texts(
    reading: &Reading<'_>,
    directory: &str,
    worktree: &str,
    head: Option<&Commit>,
) -> Result<Texts, Fault> {
    let path = worktree_path(&reading.top, worktree);
    if path.is_dir() {
        return Ok(folder::read_all(&path, directory));
    }
    match head {
        Some(head) => committed(reading, directory, head),
        None => Ok(Texts::default()),
    }
}

fn committed(reading: &Reading<'_>, directory: &str, at: &Commit) -> Result<Texts, Fault> {
    reading.repository.import(at).map_err(git_fault)?;
    let start = format!("{directory}/");
    let found = reading.repository.files_at(&at.tree, |path| path.starts_with(&start)).map_err(git_fault)?;
    let mut texts = Texts::default();
    for (path, content) in found {
        let name = path.strip_prefix(&start).unwrap_or(&path).to_owned();
        match folder::of_bytes(&name, &content) {
            folder::Found::Text(text) => {
                texts.texts.insert(name, text);
            }
            folder::Found::Unusable(why) => texts.unusable.push((name, why)),
            folder::Found::Absent => {}
        }
    }
    Ok(texts)
}

/// Where a worker works, and what of its handoff cannot even be read.
struct Share {
    worker: String,
    place: Spot,
    unusable: Vec<String>,
}

/// The artifacts of a round. Of work that was fanned out, each worker's own files are read where it works.
fn artifacts(reading: &Reading<'_>, round: &str, mut found: Texts) -> Result<(Files, Vec<Share>), Fault> {
    let form = words::form(reading.generation);
    let first = Files::read(round, form, &found.texts, |_| Workplace::Absent);
    let planned: Vec<Worker> = first.plan.iter().flat_map(|plan| plan.workers.clone()).collect();
    if planned.is_empty() {
        return Ok((first, Vec::new()));
    }
    let mut shares = Vec::new();
    for worker in &planned {
        let place = spot(reading, &worker.branch, &worker.worktree_path)?;
        let own = format!("{}/workers/{}", files::round_dir(round), worker.worker_id);
        let theirs = texts(reading, &own, &worker.worktree_path, place.head.as_ref())?;
        for (name, text) in theirs.texts {
            found.texts.insert(files::of_worker(&worker.worker_id, &name), text);
        }
        let unusable = theirs.unusable.into_iter().filter(|(name, _)| name == files::HANDOFF);
        let unusable = unusable
            .map(|(name, why)| format!("{}: {why}", files::of_worker(&worker.worker_id, &name)))
            .collect();
        shares.push(Share { worker: worker.worker_id.clone(), place, unusable });
    }
    let workplace = |id: &str| match shares.iter().find(|share| share.worker == id) {
        Some(share) if share.place.head.is_some() => Workplace::Present,
        _ => Workplace::Absent,
    };
    Ok((Files::read(round, form, &found.texts, workplace), shares))
}

fn sentences(artifacts: &Files, found: &Texts, is_of: impl Fn(&str) -> bool) -> Vec<String> {
    let faults = artifacts.faults.iter().filter(|faults| is_of(faults.file()));
    let read = faults.flat_map(|faults| {
        faults.sentences().iter().map(move |sentence| format!("{}: {sentence}", faults.file()))
    });
    let unusable = found.unusable.iter().filter(|(name, _)| is_of(name));
    read.chain(unusable.map(|(name, why)| format!("{name}: {why}"))).collect()
}

fn is_plan(name: &str) -> bool {
    matches!(name, files::PLAN | files::PLAN_RECORD | files::SELECTION_RECORD | files::UPDATE_REQUEST)
        || name.ends_with(files::ASSIGNMENT)
}

fn evidence(reading: &Reading<'_>, artifacts: &Files, (found, workers): (&Texts, Vec<Share>)) -> Evidence {
    let is_review = |name: &str| matches!(name, files::REVIEW | files::REVIEW_RECORD);
    let mut notes_faults = sentences(artifacts, found, |name| name == files::NOTES);
    let simple = artifacts.plan.as_ref().is_some_and(RoundPlan::is_simple);
    let plan = match (&artifacts.selection, &artifacts.plan) {
        (Some(selection), Some(plan)) => {
            Some(plan_seen(reading, artifacts, (selection, plan), (found, workers, &notes_faults)))
        }
        _ => None,
    };
    let mut review_faults = sentences(artifacts, found, is_review);
    if let Some(ReviewDecision::Approved { closeout }) =
        artifacts.review.as_ref().map(|review| &review.decision)
    {
        let file = review_file(artifacts.form);
        review_faults.extend(inadmissible(reading, artifacts, closeout, file));
    }
    let fanned_out = artifacts.plan.as_ref().is_some_and(|plan| !plan.workers.is_empty());
    let integrated = !fanned_out || artifacts.proves_before_review() == ProvenStage::Review;
    if artifacts.notes.is_some() && !integrated {
        let missing = "the section \"### Integrated Workers\" does not name every worker";
        notes_faults.push(format!("{}: {missing}", files::NOTES));
    }
    Evidence {
        request: artifacts.request.is_some() && plan.is_none(),
        plan,
        notes: artifacts.notes.is_some() && integrated,
        review: artifacts.review.as_ref().map(|review| review_seen(artifacts.form, review, found)),
        plan_faults: sentences(artifacts, found, is_plan),
        notes_faults: if simple { Vec::new() } else { notes_faults },
        review_faults,
        merged: false,
        merged_without_closeout: false,
    }
}

fn plan_seen(
    reading: &Reading<'_>,
    artifacts: &Files,
    (selection, plan): (&Selection, &RoundPlan),
    (found, workers, notes_faults): (&Texts, Vec<Share>, &[String]),
) -> PlanSeen {
    let lineage = &selection.lineage;
    let ours = lineage.roadmap_id == reading.bundle.roadmap_id
        && lineage
            .roadmap_dir
            .trim_end_matches('/')
            .ends_with(&format!("{}/{}", lineage.roadmap_id, lineage.roadmap_revision));
    PlanSeen {
        milestone: lineage.milestone_id.clone(),
        direction: lineage.direction_id.clone(),
        item: lineage.extracted_item_id.clone(),
        // A lineage of another family has no revision of this one.
        revision: if ours {
            lineage.roadmap_revision.clone()
        } else {
            format!("{}/{}", lineage.roadmap_id, lineage.roadmap_revision)
        },
        depends_on_rounds: selection.scheduler.depends_on_round_ids.clone(),
        merge_after_items: selection.scheduler.merge_after_item_ids.clone(),
        parallel_group: selection.scheduler.parallel_group.clone(),
        workers: plan.workers.iter().map(|worker| worker_seen(artifacts, worker, &workers)).collect(),
        direct: (artifacts.form == RoundForm::StructuredMarkdown && plan.is_simple())
            .then(|| direct_seen(reading, artifacts, (found, notes_faults))),
    }
}

fn worker_seen(artifacts: &Files, worker: &Worker, shares: &[Share]) -> WorkerSeen {
    let state = artifacts.workers.iter().find(|(id, _)| *id == worker.worker_id).map(|(_, state)| state);
    let state = match state {
        Some(FileWorker::Running) => WorkerState::Running,
        Some(FileWorker::Complete) => WorkerState::Complete,
        Some(FileWorker::Integrated) => WorkerState::Integrated,
        Some(FileWorker::Blocked(why)) => WorkerState::Blocked { why: why.clone() },
        Some(FileWorker::Pending) | None => WorkerState::Pending,
    };
    let over = matches!(state, WorkerState::Complete | WorkerState::Integrated);
    let share = shares.iter().find(|share| share.worker == worker.worker_id);
    // Without its worktree nobody can work: it is made, or brought back, as if it had never been.
    let place = share.map(|share| &share.place).filter(|place| place.stands || over);
    let read = artifacts.handoff_faults.iter().filter(|(id, _)| *id == worker.worker_id);
    let read = read.flat_map(|(_, faults)| {
        faults.sentences().iter().map(move |sentence| format!("{}: {sentence}", faults.file()))
    });
    let unusable = share.into_iter().flat_map(|share| share.unusable.clone());
    let faults = if over { Vec::new() } else { read.chain(unusable).collect() };
    WorkerSeen {
        id: worker.worker_id.clone(),
        branch: worker.branch.clone(),
        worktree: worker.worktree_path.clone(),
        depends_on: worker.depends_on_worker_ids.clone(),
        blocks_integration: worker.blocks_integration,
        head: place.and_then(|place| place.head.as_ref()).map(id),
        state,
        outside: false,
        lost: Vec::new(),
        faults,
    }
}

fn digest(found: &Texts, name: &str) -> Digest {
    let text = found.texts.get(name).map(String::as_str).unwrap_or_default();
    Digest::new(sha256_hex(text.as_bytes()))
}

/// Why what was approved about the roadmap is not this round's to say.
fn inadmissible(reading: &Reading<'_>, artifacts: &Files, closeout: &Closeout, file: &str) -> Vec<String> {
    let Some(selection) = &artifacts.selection else { return Vec::new() };
    let faults = closeout_faults(&reading.roadmap, closeout, &selection.lineage.milestone_id);
    faults.into_iter().map(|fault| format!("{file}: {fault}")).collect()
}

fn direct_seen(reading: &Reading<'_>, artifacts: &Files, (found, faults): (&Texts, &[String])) -> DirectSeen {
    let mut faults = faults.to_vec();
    if let Some(direct) = &artifacts.direct {
        faults.extend(inadmissible(reading, artifacts, &direct.closeout, files::NOTES));
    }
    match &artifacts.direct {
        Some(direct) if faults.is_empty() => DirectSeen::Proven {
            closeout: words::closeout_mode(direct.closeout.mode),
            artifact: digest(found, files::NOTES),
        },
        _ if faults.is_empty() => {
            DirectSeen::Unproven { faults: vec![format!("{} was not left", files::NOTES)] }
        }
        _ => DirectSeen::Unproven { faults },
    }
}

const fn review_file(form: RoundForm) -> &'static str {
    match form {
        RoundForm::Records => files::REVIEW_RECORD,
        RoundForm::StructuredMarkdown => files::REVIEW,
    }
}

fn review_seen(form: RoundForm, review: &Review, found: &Texts) -> ReviewSeen {
    let file = review_file(form);
    match &review.decision {
        ReviewDecision::Approved { closeout } => ReviewSeen::Approved {
            closeout: words::closeout_mode(closeout.mode),
            artifact: digest(found, file),
            waivers: waived(&review.waivers),
        },
        ReviewDecision::Rejected { retry_target, required_changes } => ReviewSeen::Rejected {
            target: words::retry_target(*retry_target),
            changes: required_changes.clone(),
        },
        ReviewDecision::Unclassified { why } => ReviewSeen::Unclassified { why: why.clone() },
    }
}

/// A squash commit of ours names the round; of anybody else's the approved artifacts lie on the base branch, and then the
/// closeout they approve must lie there too.
fn merged(reading: &Reading<'_>, round: &str, spot: &Spot, evidence: &mut Evidence) -> Result<(), Fault> {
    if let Some(fork) = &spot.fork {
        let found =
            reading.repository.trailers(ROUND_TRAILER, &reading.base.id, &fork.id).map_err(git_fault)?;
        if found.iter().any(|(_, value)| value == round) {
            evidence.merged = true;
            return Ok(());
        }
    }
    let directory = files::round_dir(round);
    let start = format!("{directory}/");
    if !reading.files.iter().any(|path| path.starts_with(&start)) {
        return Ok(());
    }
    let on_base = committed(reading, &directory, &reading.base)?;
    let form = words::form(reading.generation);
    let archived = Files::read(round, form, &on_base.texts, |_| Workplace::Absent);
    let approved: Option<&Closeout> = match (&archived.review, &archived.direct) {
        (Some(review), _) => match &review.decision {
            ReviewDecision::Approved { closeout } => Some(closeout),
            ReviewDecision::Rejected { .. } | ReviewDecision::Unclassified { .. } => None,
        },
        (None, direct) => direct.as_ref().map(|direct| &direct.closeout),
    };
    let Some(closeout) = approved.filter(|_| archived.selection.is_some()) else { return Ok(()) };
    evidence.merged = true;
    if closeout.has_edits() {
        let bundle = reading.texts.texts(reading.generation, &reading.bundle);
        evidence.merged_without_closeout =
            closeout_standing(&bundle, closeout).is_ok_and(|standing| standing != Standing::Present);
    }
    Ok(())
}
