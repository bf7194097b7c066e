//! What a roadmap loop left: worktrees and branches of its rounds, workers and updates. The state file says which are still
//! worked on; those stay, whichever run made them.

use super::item;
use super::keeping::{Corner, KEPT_IGNORED_FILES, branch_once_kept, worktree_of};
use crate::context::{RunContext, git_commit};
use crate::control_plane::{self, read_state};
use crate::fault::{git_fault, journal_fault};
use std::collections::BTreeSet;
use std::path::PathBuf;
use windlass_artifact_formats::roadmap_loop::plane::{StateFile, names};
use windlass_control_api::Fault;
use windlass_control_api::commands::CleanMode;
use windlass_control_api::views::{CleanItem, CleanReport};
use windlass_engine::{RunHead, Stored};
use windlass_git_workspaces::{Commit, Part};
use windlass_protocols::protocol::roadmap_rounds::state::State;
use windlass_protocols::protocol::roadmap_rounds::steps::{OpenWorktree, PlaneStep, WorktreePurpose};
use windlass_protocols::{Effect, Fact};

const ROUNDS: &str = "orchestrator/rounds";
const UPDATES: &str = "orchestrator/roadmap-updates";

/// Takes the worktrees of rounds that are over. A branch goes where its round was merged, and only after a reference of ours
/// holds its tip; what was not merged stays on its branch.
pub(super) fn sweep(
    context: &RunContext,
    (head, stored): (&RunHead, &[Stored]),
    state: &State,
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let opened = opened(head, stored)?;
    if opened.is_empty() {
        return Ok(());
    }
    let top = context.repository.checkout().work_tree();
    let live = match read_state(top) {
        Ok((file, _)) => Live::of(&file),
        Err(trouble) => {
            for asked in opened.iter().filter(|asked| stands(context, asked)) {
                let why = format!(
                    "nobody can tell whether its round still lives: {}",
                    trouble.sentences.join("; ")
                );
                kept(report, item(head, "worktree", &path(context, asked), why));
            }
            return Ok(());
        }
    };
    let merged = Merged::of(context, state)?;
    for asked in &opened {
        one(context, head, asked, (&live, &merged), mode, report)?;
    }
    Ok(())
}

fn one(
    context: &RunContext,
    head: &RunHead,
    asked: &OpenWorktree,
    (live, merged): (&Live, &Merged),
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let shown = path(context, asked);
    let repository = &context.repository;
    let tip = repository.read_reference(&format!("refs/heads/{}", asked.branch)).map_err(git_fault)?;
    if live.needs(asked) {
        if tip.is_some() || stands(context, asked) {
            let why = format!("{} is not over", subject(asked));
            kept(report, item(head, "worktree", &shown, why));
        }
        return Ok(());
    }
    // Another run that worked there was cleaned, or would be, just before.
    let told = |item: &CleanItem| item.what == shown;
    if stands(context, asked) && !report.items.iter().chain(&report.kept).any(told) {
        let base = match &tip {
            Some(tip) => repository.take_in(tip).map_err(git_fault)?,
            None => repository.take_in(&git_commit(&asked.from)?).map_err(git_fault)?,
        };
        match worktree_of(context, &corner(context, asked), &base, mode)? {
            Ok(why) => report.items.push(item(head, "worktree", &shown, why)),
            Err(why) => {
                kept(report, item(head, "worktree", &shown, why));
                return Ok(());
            }
        }
    }
    let known = |item: &CleanItem| item.what == asked.branch;
    if tip.is_none() || report.items.iter().chain(&report.kept).any(known) {
        return Ok(());
    }
    if merged.has(asked) {
        return branch_once_kept(context, head, (&asked.branch, &kept_name(context, asked)), mode, report);
    }
    let why = format!("{} was not merged; what was made of it is there", subject(asked));
    kept(report, item(head, "branch", &asked.branch, why));
    Ok(())
}

/// Every worktree that this run asked for, each once, as it was first asked for.
fn opened(head: &RunHead, stored: &[Stored]) -> Result<Vec<OpenWorktree>, Fault> {
    let mut opened: Vec<OpenWorktree> = Vec::new();
    for row in stored {
        let fact = row.fact(&head.run).map_err(journal_fault)?;
        if let Fact::EffectRequested { request: Effect::Plane(PlaneStep::OpenWorktree(asked)), .. } = fact
            && !opened.iter().any(|known| known.worktree == asked.worktree)
        {
            opened.push(asked);
        }
    }
    Ok(opened)
}

/// What the state file says is worked on.
struct Live {
    rounds: BTreeSet<String>,
    branches: BTreeSet<String>,
}

impl Live {
    fn of(file: &StateFile) -> Self {
        let update = file.roadmap_update.iter().map(|update| update.branch.clone());
        Self {
            rounds: file.live_rounds().map(|round| round.round_id.clone()).collect(),
            branches: file.live_rounds().map(|round| round.branch.clone()).chain(update).collect(),
        }
    }

    fn needs(&self, asked: &OpenWorktree) -> bool {
        let of_live_round = match &asked.purpose {
            WorktreePurpose::Round { round } | WorktreePurpose::Worker { round, .. } => {
                self.rounds.contains(round)
            }
            // Of a round or of an update that came from one; the branch tells.
            WorktreePurpose::Update(_) | WorktreePurpose::Reopen { .. } => false,
        };
        of_live_round || self.branches.contains(&asked.branch)
    }
}

/// What is on the base branch, whoever merged it.
struct Merged {
    rounds: BTreeSet<String>,
    revisions: BTreeSet<String>,
    /// Documents of roadmap updates.
    updates: BTreeSet<String>,
}

impl Merged {
    fn of(context: &RunContext, state: &State) -> Result<Self, Fault> {
        let repository = &context.repository;
        let mut rounds: BTreeSet<String> = state.merged.iter().map(|merged| merged.round.clone()).collect();
        let base = format!("refs/heads/{}", state.spec.place.doer_branch);
        let mut updates = BTreeSet::new();
        if let Some(tip) = repository.read_reference(&base).map_err(git_fault)? {
            let base: Commit = repository.take_in(&tip).map_err(git_fault)?;
            let paths = repository.paths_of(&base.tree, Part::Within(ROUNDS)).map_err(git_fault)?;
            rounds.extend(paths.iter().filter_map(|path| {
                let path = path.to_string();
                let (round, _) = path.strip_prefix(ROUNDS)?.strip_prefix('/')?.split_once('/')?;
                Some(round.to_owned())
            }));
            let paths = repository.paths_of(&base.tree, Part::Within(UPDATES)).map_err(git_fault)?;
            updates.extend(paths.iter().map(ToString::to_string));
        }
        let revisions = state.revisions.iter().map(|(revision, _)| revision.clone()).collect();
        Ok(Self { rounds, revisions, updates })
    }

    fn has(&self, asked: &OpenWorktree) -> bool {
        match &asked.purpose {
            WorktreePurpose::Round { round }
            | WorktreePurpose::Worker { round, .. }
            | WorktreePurpose::Reopen { round } => self.rounds.contains(round),
            // A run that was killed did not see what became of it.
            WorktreePurpose::Update(opened) => {
                self.revisions.contains(&opened.proposed_revision)
                    || self.updates.contains(&names::update_artifact(&opened.source_round))
            }
        }
    }
}

fn corner(context: &RunContext, asked: &OpenWorktree) -> Corner {
    Corner {
        path: PathBuf::from(path(context, asked)),
        key: crate::effect_runner::round_index_key(&asked.worktree),
        kept_name: kept_name(context, asked),
        ignored: KEPT_IGNORED_FILES,
    }
}

fn kept_name(context: &RunContext, asked: &OpenWorktree) -> String {
    format!("{}/{}", context.run, asked.branch.replace('/', "-"))
}

fn path(context: &RunContext, asked: &OpenWorktree) -> String {
    let top = context.repository.checkout().work_tree();
    control_plane::worktree_path(top, &asked.worktree).display().to_string()
}

fn stands(context: &RunContext, asked: &OpenWorktree) -> bool {
    corner(context, asked).is_there(context).unwrap_or(true)
}

fn subject(asked: &OpenWorktree) -> String {
    match &asked.purpose {
        WorktreePurpose::Round { round }
        | WorktreePurpose::Worker { round, .. }
        | WorktreePurpose::Reopen { round } => round.clone(),
        WorktreePurpose::Update(opened) => format!("the roadmap update to {}", opened.proposed_revision),
    }
}

/// Told once, however many runs worked there.
fn kept(report: &mut CleanReport, item: CleanItem) {
    if !report.kept.iter().any(|known| known.what == item.what) {
        report.kept.push(item);
    }
}
