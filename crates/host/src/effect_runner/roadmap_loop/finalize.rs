//! Merges an approved round: its records are read once more, exactly the approved closeout is applied, and code, artifacts
//! and closeout become one commit of the base branch. All of it on trees. Doing it twice makes the same commit.

use super::bundle::{Bundle, revision};
use super::capture::form;
use super::committed_state;
use super::landing::{bring_home, earlier, fork_of};
use super::set_aside::written_by_reviewer;
use super::site::{Site, Step, Stop, held, stale};
use crate::control_plane::ROUND_TRAILER;
use crate::fault::bug;
use windlass_artifact_formats::roadmap_loop::closeout::{Closeout, CloseoutMode};
use windlass_artifact_formats::roadmap_loop::lineage::Lineage;
use windlass_artifact_formats::roadmap_loop::plane::names::PLANE_DIR;
use windlass_artifact_formats::roadmap_loop::plane::{
    STATE_FILE, apply_closeout, closeout_faults, closeout_matches, closeout_matches_in_words,
};
use windlass_artifact_formats::roadmap_loop::round::{
    BaseRefresh, CloseoutRecord, CloseoutStatus, CloseoutVerification, Evidence, MergeNotes, ReviewDecision,
    RoundForm, RoundTexts, Selection, Workplace, files, sha256_hex,
};
use windlass_git_workspaces::{Commit, Overlay, Part, RepoPath, Side, TreeId};
use windlass_protocols::protocol::roadmap_rounds::plane::Plane;
use windlass_protocols::protocol::roadmap_rounds::steps::{
    FinalizeRound, Held, PlaneOutcome, RoundWork, WorkKind,
};

const SUBJECT_CHARS: usize = 72;

/// Three commits a merge is about.
struct Ground {
    head: Commit,
    base: Commit,
    fork: Commit,
}

/// What was approved, by which file.
struct Approved {
    selection: Selection,
    closeout: Closeout,
    form: RoundForm,
    /// `approved` or `direct evidence`, and what it rests on.
    decision: &'static str,
    checks: Vec<String>,
}

pub(super) fn run(site: &Site<'_>, asked: &FinalizeRound, plane: &Plane) -> Step<PlaneOutcome> {
    let (head, base) = (site.commit(&asked.head)?, site.commit(&asked.base)?);
    let fork = fork_of(site, &asked.branch, &head, &base)?;
    let earlier = earlier(site, &plane.base_branch, (ROUND_TRAILER, &asked.round), &fork.id)?;
    let ground = Ground { head, base, fork };
    let made = squash(site, asked, plane, &ground).map(|commit| (ground.base, commit));
    bring_home(site, &plane.base_branch, earlier, made)
}

fn squash(site: &Site<'_>, asked: &FinalizeRound, plane: &Plane, ground: &Ground) -> Step<Commit> {
    if site.tip(&asked.branch)?.is_some_and(|tip| tip != ground.head.id) {
        return stale(format!("{} moved since it was approved (rule 11)", asked.branch));
    }
    is_what_was_judged(site, asked, plane, &ground.head)?;
    let approved = approved(site, asked, plane, &ground.head)?;
    let active = revision(plane, &plane.revision);
    let bundle = Bundle::of(site, &ground.base.tree, plane.generation, active)?;
    is_still_asked_for(site, ground, (&approved, &bundle), plane)?;
    let content = content(site, asked, ground, (&approved, &bundle), plane)?;
    let applied = match apply_closeout(&bundle.texts(), &approved.closeout) {
        Ok(applied) => applied,
        Err(problems) => return stale(problems.to_string()),
    };
    let mut written: Vec<(String, Vec<u8>)> =
        applied.files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect();
    written.extend(bookkeeping(asked, ground, &approved, (&applied.summary, &plane.base_branch))?);
    written.extend(committed_state::moved_to(site, &content, &bundle.active)?);
    let parts = Overlay { content: &content, replaced: &[], removed: &[], files: &written };
    let tree = site.repository.overlay_to_show(&parts)?;
    let after = Bundle::of(site, &tree, plane.generation, bundle.active.clone())?;
    if let Err(problems) = closeout_matches(&bundle.texts(), &after.texts(), &approved.closeout) {
        return Err(bug(format!("a closeout was not applied as approved: {problems}")).into());
    }
    let message = message(site, asked, &approved, &applied.summary);
    site.make(&tree, &[&ground.base], (&message, asked.decided_at))
}

/// The reviewer's own files aside, what it was shown.
fn is_what_was_judged(site: &Site<'_>, asked: &FinalizeRound, plane: &Plane, head: &Commit) -> Step<()> {
    let Some(judged) = &asked.judged else { return Ok(()) };
    let judged = site.commit(judged)?;
    let work = RoundWork { round: asked.round.clone(), kind: WorkKind::Review };
    let own = written_by_reviewer(&work, form(plane.generation));
    let changed = site.repository.differing_paths(&judged.tree, &head.tree, Part::Everything)?;
    match changed.iter().find(|path| !own.iter().any(|wanted| wanted.as_bytes() == path.as_bytes())) {
        Some(path) => stale(format!("{path}: it is not as its reviewer was shown it (rule 11)")),
        None => Ok(()),
    }
}

/// The round's records as they stand in the commit that was approved, believed only with the approving file unchanged.
fn approved(site: &Site<'_>, asked: &FinalizeRound, plane: &Plane, head: &Commit) -> Step<Approved> {
    let folder = files::round_dir(&asked.round);
    let form = form(plane.generation);
    let mut texts = RoundTexts::new();
    for path in site.repository.paths_of(&head.tree, Part::Within(&folder))? {
        let path = path.to_string();
        let name = path.strip_prefix(&format!("{folder}/")).map(str::to_owned);
        if let (Some(name), Some(text)) = (name, site.text_at(&head.tree, &path)?) {
            texts.insert(name, text);
        }
    }
    let digest = |name: &str| texts.get(name).map(|text| sha256_hex(text.as_bytes()));
    let agreed = |name: &str| digest(name).as_deref() == Some(asked.approval.as_str());
    let read = Evidence::read(&asked.round, form, &texts, |_| Workplace::Present);
    let (review_file, lineage_file) = match form {
        RoundForm::Records => (files::REVIEW_RECORD, files::SELECTION_RECORD),
        RoundForm::StructuredMarkdown => (files::REVIEW, files::PLAN),
    };
    let in_file = |name: &str, why: &str, rule: &str| stale(format!("{folder}/{name}: {why} (rule {rule})"));
    // A record of an earlier closeout is written anew.
    if let Some(faults) = read.faults.iter().find(|faults| faults.file() != files::CLOSEOUT_RECORD) {
        return in_file(faults.file(), &faults.sentences().join("; "), "10");
    }
    let (Some(selection), Some(plan)) = (read.selection, read.plan) else {
        return in_file(lineage_file, "it is not in what would be merged", "10");
    };
    if read.notes.is_none() && !plan.is_simple() {
        return in_file(files::NOTES, "it is not in what would be merged", "10");
    }
    let lineage = &selection.lineage;
    let active = revision(plane, &plane.revision);
    if (&lineage.roadmap_id, &lineage.roadmap_revision, &lineage.roadmap_dir)
        != (&active.roadmap_id, &active.revision, &active.dir)
    {
        let why = format!("its lineage names {}, and {} is active", lineage.roadmap_dir, active.dir);
        return in_file(lineage_file, &why, "11");
    }
    match (read.review, read.direct) {
        (Some(review), _) if agreed(review_file) => match review.decision {
            ReviewDecision::Approved { closeout } => {
                let checks = vec![review.evidence_summary];
                Ok(Approved { selection, closeout, form, decision: "approved", checks })
            }
            ReviewDecision::Rejected { .. } => in_file(review_file, "it rejects the round", "11"),
            ReviewDecision::Unclassified { why } => in_file(review_file, &why, "10"),
        },
        (_, Some(direct)) if agreed(files::NOTES) => {
            let checks = direct.checks.iter().map(|check| format!("{}: {}", check.command, check.result));
            let (checks, closeout) = (checks.collect(), direct.closeout);
            Ok(Approved { selection, closeout, form, decision: "direct evidence", checks })
        }
        _ => in_file(review_file, "what approved the round is not there any more, or is another", "11"),
    }
}

/// The roadmap has what the round was planned for, in the words it was judged by, and lets it note what was approved.
fn is_still_asked_for(
    site: &Site<'_>,
    ground: &Ground,
    (approved, bundle): (&Approved, &Bundle),
    plane: &Plane,
) -> Step<()> {
    let Lineage { milestone_id, direction_id, .. } = &approved.selection.lineage;
    let roadmap = match bundle.texts().roadmap() {
        Ok(roadmap) => roadmap,
        Err(problems) => return stale(problems.to_string()),
    };
    if roadmap.direction(direction_id).is_none_or(|found| found.milestone != *milestone_id) {
        let file = bundle.texts().roadmap_path();
        return stale(format!(
            "{file}: it has no milestone {milestone_id} with a direction {direction_id} (rule 11)"
        ));
    }
    let faults = closeout_faults(&roadmap, &approved.closeout, milestone_id);
    if !faults.is_empty() {
        return stale(faults.join("; "));
    }
    let then = Bundle::of(site, &ground.fork.tree, plane.generation, bundle.active.clone())?;
    let words = |bundle: &Bundle| bundle.texts().words_about(milestone_id, direction_id);
    if words(&then) == words(bundle) { Ok(()) } else { held(Held::BaseMoved) }
}

/// The base with the round's difference since it left it: code, and the round's own folder of the control plane.
fn content(
    site: &Site<'_>,
    asked: &FinalizeRound,
    ground: &Ground,
    (approved, bundle): (&Approved, &Bundle),
    plane: &Plane,
) -> Step<TreeId> {
    let (fork, base) = (&ground.fork.tree, &ground.base.tree);
    let folder = files::round_dir(&asked.round);
    let taken = site
        .repository
        .select(fork, &ground.head.tree, |path| !is_in(path, PLANE_DIR) || is_in(path, &folder))?;
    let left: Vec<String> = taken.left.iter().map(ToString::to_string).collect();
    // The state is the controller's and never part of a round, whoever committed it.
    let left: Vec<&String> = left.iter().filter(|path| *path != STATE_FILE).collect();
    if let Some(path) = left.iter().find(|path| !bundle.holds(path)) {
        return stale(format!("{path}: the round changes it, and it belongs to the control plane (rule 12)"));
    }
    if !left.is_empty() {
        edited_as_approved(site, ground, approved, plane)?;
    }
    let named = |tree, name| Side { tree, name };
    let (ours, theirs) = (named(base, plane.base_branch.as_str()), named(&taken.tree, asked.round.as_str()));
    let merged = site.repository.merge_trees(fork, ours, theirs)?;
    if !merged.conflicts.is_empty() {
        return held(Held::Conflicts { paths: merged.conflicts.iter().map(ToString::to_string).collect() });
    }
    if !site.repository.differing_paths(fork, base, Part::Outside(PLANE_DIR))?.is_empty() {
        // Nobody has looked at the two together.
        return held(Held::BaseMoved);
    }
    Ok(merged.tree)
}

/// Another controller may have applied the closeout in the worktree; then nothing else may have been edited with it.
fn edited_as_approved(site: &Site<'_>, ground: &Ground, approved: &Approved, plane: &Plane) -> Step<()> {
    let of = |tree: &TreeId| Bundle::of(site, tree, plane.generation, revision(plane, &plane.revision));
    let (before, after) = (of(&ground.fork.tree)?, of(&ground.head.tree)?);
    match closeout_matches_in_words(&before.texts(), &after.texts(), &approved.closeout) {
        Ok(()) => Ok(()),
        Err(problems) => stale(format!("the roadmap was edited beyond what was approved: {problems}")),
    }
}

fn is_in(path: &RepoPath, folder: &str) -> bool {
    path.as_bytes().strip_prefix(folder.as_bytes()).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// The controller's own file about the merge: a record of the closeout, or `merge.md`.
fn bookkeeping(
    asked: &FinalizeRound,
    ground: &Ground,
    approved: &Approved,
    (summary, base_branch): (&[String], &str),
) -> Result<Option<(String, Vec<u8>)>, Stop> {
    let in_round = |name| files::in_round(&asked.round, name);
    let refreshed = asked.refreshed || ground.fork != ground.base;
    match (approved.form, approved.closeout.mode) {
        (RoundForm::StructuredMarkdown, mode) => {
            let notes = MergeNotes {
                round_id: &asked.round,
                branch: &asked.branch,
                branch_commit: ground.head.id.as_str(),
                base_branch,
                squash_commit: None,
                decision: approved.decision,
                closeout_mode: mode,
                verification: &approved.checks,
            };
            Ok(Some((in_round(files::MERGE), notes.render().into_bytes())))
        }
        (RoundForm::Records, CloseoutMode::StatusOnly) => {
            let record = CloseoutRecord {
                round_id: asked.round.clone(),
                review_record_path: in_round(files::REVIEW_RECORD),
                review_record_sha256: asked.approval.as_str().to_owned(),
                base_revision: ground.base.id.to_string(),
                status: if refreshed { CloseoutStatus::Revalidated } else { CloseoutStatus::Applied },
                applied_edit_summary: summary.to_vec(),
                verification: CloseoutVerification {
                    roadmap_view_revalidated: true,
                    active_bundle_revalidated: true,
                    diff_matches_review_record: true,
                    revalidated_after_base_refresh: refreshed,
                },
            };
            let refresh = if refreshed { BaseRefresh::Happened } else { BaseRefresh::None };
            let obstacles = record.obstacles(refresh);
            if !obstacles.is_empty() {
                return Err(
                    bug(format!("a closeout record is not mergeable: {}", obstacles.join("; "))).into()
                );
            }
            Ok(Some((in_round(files::CLOSEOUT_RECORD), record.render().into_bytes())))
        }
        (RoundForm::Records, CloseoutMode::SemanticUpdateRequired | CloseoutMode::None) => Ok(None),
    }
}

/// What the round delivers, what it noted in the roadmap, and in the trailers what leads to the evidence.
fn message(site: &Site<'_>, asked: &FinalizeRound, approved: &Approved, summary: &[String]) -> String {
    let lineage = &approved.selection.lineage;
    let words = approved.selection.summary.split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = format!("Complete {}: {words}", asked.round);
    let mut subject: String = whole.chars().take(SUBJECT_CHARS).collect();
    let mut body = String::new();
    if whole.chars().count() > SUBJECT_CHARS {
        subject.pop();
        subject.push('…');
        body = format!("{words}\n\n");
    }
    if !summary.is_empty() {
        let lines = summary.iter().map(|line| format!("- {line}\n"));
        body.extend(lines.chain(std::iter::once("\n".to_owned())));
    }
    format!(
        "{subject}\n\n{body}Windlass-Run: {}\n{ROUND_TRAILER}: {}\nWindlass-Roadmap: {}/{}\nWindlass-Milestone: {}\n\
         Windlass-Direction: {}\nWindlass-Item: {}\nWindlass-Closeout: {}\nWindlass-Review: sha256:{}\nWindlass-Head: {}\n",
        site.run,
        asked.round,
        lineage.roadmap_id,
        lineage.roadmap_revision,
        lineage.milestone_id,
        lineage.direction_id,
        lineage.extracted_item_id,
        approved.closeout.mode,
        asked.approval,
        asked.head,
    )
}
