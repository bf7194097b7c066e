//! `windlass roadmap inspect`: what the control plane is, everything that is wrong with it at once, and what a run would do
//! first. Nothing of the repository is written, not even a lock.

use super::earlier::{self, Earlier};
use super::init::{unfinished, word};
use super::on_disk::OnDisk;
use super::{last_good, reasons};
use crate::control_plane::{self, Looked, Trouble, TroubleKind, kept_out};
use crate::fault::git_fault;
use crate::host::Host;
use std::path::Path;
use windlass_artifact_formats::goal_loop::Recognised;
use windlass_artifact_formats::roadmap_loop::plane::names::PLANE_DIR;
use windlass_artifact_formats::roadmap_loop::plane::{
    ControllerStage, PlaneFiles, PlaneKind, Problem, Roadmap, STATE_FILE, Severity, StateFile, Verification,
    blank_contract_sections,
};
use windlass_control_api::roadmap_setup::{
    LiveRound, LiveUpdate, MilestoneView, PlaneKindView, PlaneProblem, RoadmapHead, RoadmapInspection,
};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::Checkout;
use windlass_protocols::Role;
use windlass_protocols::protocol::roadmap_rounds::book::proven;
use windlass_protocols::protocol::roadmap_rounds::outlook::without_branch;
use windlass_protocols::protocol::roadmap_rounds::plane::{Plane, RoundSeen};

pub(crate) async fn inspect(host: &Host, directory: &Path) -> Result<RoadmapInspection, Fault> {
    let mut view = look(host, directory).await?;
    // That there is none is no problem of a plane.
    if view.kind != PlaneKindView::Absent {
        reasons::add_to_problems(&mut view);
    }
    Ok(view)
}

async fn look(host: &Host, directory: &Path) -> Result<RoadmapInspection, Fault> {
    let checkout = Checkout::discover(directory).map_err(git_fault)?;
    let disk = OnDisk::look(checkout.work_tree());
    let mut view = RoadmapInspection {
        repository: checkout.work_tree().to_string_lossy().into_owned(),
        ..RoadmapInspection::default()
    };
    if let Some(why) = disk.no_folder() {
        view.kind = PlaneKindView::NotAnOrchestrator;
        view.why.push(why);
        return Ok(view);
    }
    if disk.is_free() {
        view.why.push(format!("there is no {PLANE_DIR}/ here"));
        view.next_steps.push("windlass roadmap init".to_owned());
        return Ok(view);
    }
    let state = match disk.state() {
        Ok(Some(state)) => state,
        Ok(None) => {
            view.kind = PlaneKindView::NotAnOrchestrator;
            view.why.push(format!("{PLANE_DIR}/ has no state.json, so it is not an orchestrator loop"));
            return Ok(view);
        }
        Err(why) => {
            view.kind = PlaneKindView::Unreadable;
            view.why.push(why);
            let back = last_good::way_back(host, &host.repository(checkout)?).await?;
            view.next_steps.extend(back.map(|back| back.command));
            return Ok(view);
        }
    };
    let kind = disk.kind(&state);
    let Recognised::Ours(state) = state else {
        refused(&mut view, kind);
        if view.kind == PlaneKindView::Unreadable {
            let back = last_good::way_back(host, &host.repository(checkout)?).await?;
            view.next_steps.extend(back.map(|back| back.command));
        }
        return Ok(view);
    };
    // Whether it can be run is what a run finds, which reads more of the base branch than of the checkout.
    let top = checkout.work_tree().to_owned();
    let next = match (earlier::newest(host, &top).await?, begins_next_family(&disk, &state, &kind)) {
        (_, true) => Earlier::none("windlass roadmap init"),
        (Some(earlier), false) => earlier,
        (None, false) => Earlier::none(run_command(host, &top)?),
    };
    let repository = host.repository(checkout)?;
    let looked = match control_plane::look(&repository)? {
        Ok(looked) => match kept_out(&repository, looked.generation, &looked.plane.roadmap_id)? {
            Some(trouble) => Err(trouble),
            None => Ok(looked),
        },
        Err(trouble) => Err(trouble),
    };
    match (kind, looked) {
        (PlaneKind::Runs(files), looked) => {
            of_plane(&mut view, &disk, &state, files);
            add_what_was_seen(&mut view, (&top, &next), looked);
        }
        (PlaneKind::Legacy { why } | PlaneKind::MigrationNeeded { why }, Ok(looked)) => {
            let (generation, bundle) = (looked.generation, looked.bundle.clone());
            let files = PlaneFiles { generation, bundle, missing: Vec::new(), mixed: Vec::new() };
            of_plane(&mut view, &disk, &state, files);
            view.oddities.extend(why.iter().map(|why| in_checkout(why)));
            add_what_was_seen(&mut view, (&top, &next), Ok(looked));
        }
        (kind, _) => refused(&mut view, kind),
    }
    Ok(view)
}

/// Whether everything is over, the stage included: only then does `init` begin the next roadmap.
fn begins_next_family(disk: &OnDisk, state: &StateFile, kind: &PlaneKind) -> bool {
    let PlaneKind::Runs(files) = kind else { return false };
    unfinished(disk, state, files.generation, &files.bundle).is_empty()
}

/// The command that runs it as it is typed here: without agents in the settings it would be refused.
fn run_command(host: &Host, top: &Path) -> Result<&'static str, Fault> {
    let settings = host.settings_for(Some(top), &[])?;
    let named = |role: Role| settings.text(role.word()).is_some();
    let all = [Role::Planner, Role::Implementer, Role::Reviewer].into_iter().all(named);
    let plain = settings.text("agent").is_some() || all;
    Ok(if plain { "windlass roadmap run" } else { "windlass roadmap run --agent claude" })
}

/// A folder that nothing can be run on, and why.
fn refused(view: &mut RoadmapInspection, kind: PlaneKind) {
    let migrate = "windlass roadmap migrate --dry-run".to_owned();
    match kind {
        PlaneKind::NotAnOrchestrator(why) => {
            view.kind = PlaneKindView::NotAnOrchestrator;
            view.why.push(format!("{STATE_FILE} is not of an orchestrator loop: {why}"));
        }
        PlaneKind::Unreadable(faults) => {
            view.kind = PlaneKindView::Unreadable;
            view.why
                .extend(faults.sentences().iter().map(|sentence| format!("{}: {sentence}", faults.file())));
        }
        PlaneKind::Legacy { why } => {
            view.kind = PlaneKindView::Legacy;
            view.why = why;
            view.next_steps.push(migrate);
        }
        PlaneKind::MigrationNeeded { why } => {
            view.kind = PlaneKindView::MigrationNeeded;
            view.why = why;
            view.next_steps.push(migrate);
        }
        // Only a state of ours makes a plane that runs.
        PlaneKind::Runs(_) => view.kind = PlaneKindView::Unreadable,
    }
}

/// What is wrong with the checkout alone does not keep a run from going on.
fn only_here(view: &mut RoadmapInspection) {
    let (here, problems): (Vec<PlaneProblem>, Vec<PlaneProblem>) =
        std::mem::take(&mut view.problems).into_iter().partition(is_fatal);
    view.problems = problems;
    let words = |problem: PlaneProblem| in_checkout(&format!("{}: {}", problem.file, problem.message));
    view.oddities.extend(here.into_iter().map(words));
}

fn is_fatal(problem: &PlaneProblem) -> bool {
    problem.severity == Severity::Fatal.as_str()
}

fn in_checkout(what: &str) -> String {
    format!("{what}, in your checkout; what is committed counts")
}

/// Everything the files by themselves tell.
fn of_plane(view: &mut RoadmapInspection, disk: &OnDisk, state: &StateFile, files: PlaneFiles) {
    view.kind = PlaneKindView::Runs;
    view.generation = Some(word(files.generation).to_owned());
    view.roadmap = Some(RoadmapHead {
        roadmap_id: files.bundle.roadmap_id.clone(),
        revision: files.bundle.revision.clone(),
        dir: files.bundle.dir.clone(),
        base_branch: state.base_branch.clone().unwrap_or_default(),
        controller_stage: state.controller_stage.map_or("", ControllerStage::as_str).to_owned(),
        max_parallel_rounds: state.max_parallel_rounds.unwrap_or(1),
    });
    let mut problems: Vec<Problem> = state.problems().to_vec();
    problems.extend(files.missing);
    problems.extend(files.mixed);
    match disk.bundle(files.generation, &files.bundle) {
        Err(why) => view.why.push(why),
        Ok(bundle) => match bundle.texts().roadmap() {
            Err(found) => problems.extend(found.all().iter().cloned()),
            Ok(roadmap) => {
                problems.extend(state.stale_done(roadmap.is_terminal()));
                view.terminal = roadmap.is_terminal();
                view.complete = state.is_complete(view.terminal);
                add_roadmap(view, &roadmap);
            }
        },
    }
    let verification = format!("{}/verification.md", files.bundle.dir);
    if let Ok(Some(text)) = disk.text(&verification)
        && let Err(found) = Verification::parse(&verification, &text)
    {
        problems.extend(found.all().iter().cloned());
    }
    let contract = format!("{PLANE_DIR}/project-contract.md");
    if let Ok(Some(text)) = disk.text(&contract) {
        problems.extend(blank_contract_sections(&contract, &text));
    }
    let (odd, problems): (Vec<Problem>, Vec<Problem>) =
        problems.into_iter().partition(|problem| problem.severity == Severity::Warning);
    view.oddities = odd.iter().map(ToString::to_string).collect();
    view.problems = problems.iter().map(shown).collect();
    view.rounds = state.live_rounds().map(recorded).collect();
    view.errors = state.resume_errors.iter().map(|error| (error.key.clone(), error.text.clone())).collect();
    view.update = state.roadmap_update.as_ref().map(|update| LiveUpdate {
        source_round: update.source_round_id.clone(),
        proposed_revision: update.proposed_roadmap_revision.clone(),
        status: update.status.to_string(),
        attempt: update.attempt,
        resume_error: update.resume_error.clone(),
    });
}

fn add_roadmap(view: &mut RoadmapInspection, roadmap: &Roadmap) {
    let ready: Vec<&str> = roadmap.ready_milestones().map(|milestone| milestone.id.as_str()).collect();
    let milestones = roadmap.milestones.iter().map(|milestone| MilestoneView {
        id: milestone.id.clone(),
        title: milestone.title.clone(),
        status: milestone.status.to_string(),
        lane: milestone.lane.clone().unwrap_or_default(),
        depends_on: milestone.depends_on.clone(),
        ready: ready.contains(&milestone.id.as_str()),
    });
    view.milestones = milestones.collect();
    view.unfinished = roadmap.unfinished().map(|milestone| milestone.id.clone()).collect();
}

fn shown(problem: &Problem) -> PlaneProblem {
    PlaneProblem {
        file: problem.file.clone(),
        line: problem.line,
        pointer: problem.pointer.clone(),
        rule: problem.rule.to_owned(),
        severity: problem.severity.to_string(),
        message: problem.message.clone(),
    }
}

/// As the state has it, before anybody looked into its worktree.
fn recorded(round: &windlass_artifact_formats::roadmap_loop::plane::RoundRecord) -> LiveRound {
    LiveRound {
        id: round.round_id.clone(),
        stage: round.stage.to_string(),
        proves: String::new(),
        branch: round.branch.clone(),
        worktree: round.worktree_path.clone(),
        worktree_stands: false,
        resume_error: round.resume_error.clone(),
        faults: Vec::new(),
    }
}

/// What git and the worktrees tell besides.
fn add_what_was_seen(
    view: &mut RoadmapInspection,
    (top, earlier): (&Path, &Earlier),
    looked: Result<Looked, Trouble>,
) {
    match looked {
        Ok(Looked { mut plane, .. }) => {
            // One that another controller or another state directory made is there as well: a run takes it over.
            plane
                .rounds
                .iter_mut()
                .for_each(|round| round.worktree_stands |= is_linked(top, &round.worktree));
            plane
                .update
                .iter_mut()
                .for_each(|update| update.worktree_stands |= is_linked(top, &update.worktree));
            view.valid = true;
            only_here(view);
            view.next = Some(earlier.outlook(&plane));
            view.rounds = plane.rounds.iter().map(seen).collect();
            add_oddities(view, &plane);
            view.next_steps.push(earlier.command.clone());
        }
        Err(trouble) => {
            if trouble.kind == TroubleKind::Uncommitted {
                view.edits.clone_from(&trouble.sentences);
            }
            let fatal = view.problems.iter().any(is_fatal);
            view.not_now = trouble.kind.code() == Code::NotAllowedNow && !fatal;
            // What stands among the problems, with its place, is not said twice.
            let known = |sentence: &String| {
                view.problems
                    .iter()
                    .any(|problem| sentence.contains(&problem.message) && sentence.contains(&problem.file))
            };
            let new: Vec<String> =
                trouble.sentences.into_iter().filter(|sentence| !known(sentence)).collect();
            if !new.is_empty() {
                let uncommitted = trouble.kind == TroubleKind::Uncommitted;
                let cut_off = uncommitted.then(|| earlier.of_uncommitted()).flatten();
                view.why.extend(new);
                // Whoever is told to commit or undo what a run was about to merge would lose that merge.
                if cut_off.is_some() {
                    view.next_steps.push(earlier.command.clone());
                }
                match cut_off {
                    Some(why) => view.why.push(why),
                    None => view.hints.push(trouble.hint),
                }
            }
        }
    }
}

fn add_oddities(view: &mut RoadmapInspection, plane: &Plane) {
    for oddity in &plane.oddities {
        let said = view.problems.iter().any(|problem| oddity.contains(&problem.message));
        if !said && !view.oddities.contains(oddity) {
            view.oddities.push(oddity.clone());
        }
    }
}

fn is_linked(top: &Path, worktree: &str) -> bool {
    control_plane::worktree_path(top, worktree).join(".git").is_file()
}

fn seen(round: &RoundSeen) -> LiveRound {
    let evidence = &round.evidence;
    let proves = match evidence {
        evidence if evidence.merged => "merged",
        evidence if evidence.request => "a request for a roadmap update",
        evidence => proven(evidence).word(),
    };
    let faults = [&evidence.plan_faults, &evidence.notes_faults, &evidence.review_faults];
    let gone = (round.head.is_none() && !evidence.merged).then(|| without_branch(round));
    LiveRound {
        id: round.id.clone(),
        stage: round.stage.word().to_owned(),
        proves: proves.to_owned(),
        branch: round.branch.clone(),
        worktree: round.worktree.clone(),
        worktree_stands: round.worktree_stands,
        resume_error: round.resume_error.clone(),
        faults: faults.into_iter().flatten().cloned().chain(gone).collect(),
    }
}
