//! `windlass roadmap migrate`: from the older contract to files that can be run. The old revision, its rounds and everything
//! else stay as history; the roadmap is published as the next revision beside them. Nothing is guessed: where a status is not
//! stated, a person has to state it first.

use super::checkpoint::Checkpoints;
use super::on_disk::OnDisk;
use super::{hold_briefly, unusable};
use crate::control_plane::same_lines;
use crate::fault::git_fault;
use crate::host::Host;
use serde_json::{Value, json};
use windlass_artifact_formats::goal_loop::Recognised;
use windlass_artifact_formats::roadmap_loop::plane::names::{
    PLANE_DIR, history_file, next_revision, roadmap_dir,
};
use windlass_artifact_formats::roadmap_loop::plane::{
    ActiveBundle, BundleTexts, Generation, Migration, PlaneKind, STATE_FILE, StateFile, Verification,
    migrate as propose_files,
};
use windlass_artifact_formats::roadmap_loop::scaffold::{
    Family, IGNORE_FILE, completed_verification, contract_files, family_files,
};
use windlass_control_api::roadmap_setup::{MigrateRoadmap, RoadmapMigration};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{Checkout, GitError, Repository};

const NOTHING: &str = "nothing was written";
/// Keys under which older planes kept work that is under way.
const LIVE: [&str; 6] = [
    "active_rounds",
    "active_round_id",
    "active_round",
    "pending_merge_rounds",
    "roadmap_update",
    "worker_records",
];

pub(crate) async fn migrate(host: &Host, command: &MigrateRoadmap) -> Result<RoadmapMigration, Fault> {
    let checkout = Checkout::discover(&command.repository).map_err(git_fault)?;
    let top = checkout.work_tree().to_owned();
    let shown = top.to_string_lossy().into_owned();
    let repository = host.repository(checkout)?;
    if command.dry_run {
        let disk = OnDisk::look(&top);
        let mut proposal = Proposal::of(&disk)?;
        proposal.edits = uncommitted(&repository, &disk, &proposal.read)?;
        return Ok(proposal.report(shown, None));
    }
    hold_briefly(host, &repository, "windlass roadmap migrate", || {
        let checkpoints = Checkpoints::of(host, &repository);
        if let Some(commit) = checkpoints.finish_begun()? {
            let next_steps = vec!["windlass roadmap inspect".to_owned()];
            return Ok(RoadmapMigration {
                repository: shown,
                commit: Some(commit),
                next_steps,
                ..RoadmapMigration::default()
            });
        }
        let disk = OnDisk::look(&top);
        let proposal = Proposal::of(&disk)?;
        let edited = uncommitted(&repository, &disk, &proposal.read)?;
        if !edited.is_empty() {
            return Err(Fault::new(Code::NotAllowedNow, edited.join("\n"))
                .kept(NOTHING)
                .hint("commit or undo these edits: what is migrated is what is committed"));
        }
        if !proposal.open.is_empty() {
            return Err(unusable(format!(
                "not everything can be carried over:\n{}",
                proposal.open.join("\n")
            ))
            .kept(NOTHING)
            .hint("state what is missing in the old roadmap.md, commit it, then try again")
            .hint("`windlass roadmap migrate --dry-run` prints what would be written"));
        }
        let commit = checkpoints.make(&proposal.files, "Migrate the control plane of the roadmap loop")?;
        Ok(proposal.report(shown, Some(commit)))
    })
    .await
}

/// What would be written, and what is in the way.
struct Proposal {
    why: Vec<String>,
    state: String,
    view: Option<String>,
    not_carried_over: Vec<String>,
    /// What a person has to settle before anything is written.
    open: Vec<String>,
    /// What people changed and did not commit.
    edits: Vec<String>,
    files: Vec<(String, String)>,
    unchanged: Vec<String>,
    /// The old files it is made of.
    read: Vec<String>,
}

impl Proposal {
    fn of(disk: &OnDisk) -> Result<Self, Fault> {
        let refused = |why: String| unusable(why).kept(NOTHING);
        let Some(found) = disk.state().map_err(refused)? else {
            return Err(refused(format!("there is no {STATE_FILE} here"))
                .hint("`windlass roadmap init` sets a plane up"));
        };
        let (why, is_legacy) = match disk.kind(&found) {
            PlaneKind::Legacy { why } => (why, true),
            PlaneKind::MigrationNeeded { why } => (why, false),
            PlaneKind::Runs(_) => {
                return Err(
                    Fault::new(Code::NotAllowedNow, "this control plane needs no migration").kept(NOTHING)
                );
            }
            PlaneKind::NotAnOrchestrator(why) => {
                return Err(refused(format!("{STATE_FILE} is not of an orchestrator loop: {why}")));
            }
            PlaneKind::Unreadable(faults) => return Err(refused(faults.to_string())),
        };
        let Recognised::Ours(state) = found else {
            return Err(refused(format!("{STATE_FILE} cannot be used")));
        };
        refuse_live_work(&state)?;
        let old = old_dir(disk, &state);
        let roadmap = disk.text(&format!("{old}/roadmap.md")).map_err(refused)?;
        let Some(roadmap) = roadmap else {
            return Err(refused(format!(
                "{old}/roadmap.md is not there, so there is no roadmap to carry over"
            )));
        };
        if !is_legacy && is_structured(disk, &state, &roadmap) {
            return Ok(Self::of_contract_only(disk, &state, why, &roadmap));
        }
        Self::of_next_revision(disk, &state, why, (&old, &roadmap))
    }

    /// The roadmap can be read as it is; only the files that say how are missing.
    fn of_contract_only(disk: &OnDisk, state: &StateFile, why: Vec<String>, roadmap: &str) -> Self {
        let family = Family::carried_over(&title(state), &[], state.max_parallel_rounds.unwrap_or(1));
        let mut proposal = Self {
            why,
            state: state.text().to_owned(),
            view: None,
            not_carried_over: Vec::new(),
            open: Vec::new(),
            edits: Vec::new(),
            files: Vec::new(),
            unchanged: Vec::new(),
            read: read_from(state, &old_dir(disk, state)),
        };
        proposal.contract(disk, Generation::StructuredMarkdown, &family);
        proposal.judge(disk, state, roadmap);
        proposal
    }

    fn of_next_revision(
        disk: &OnDisk,
        state: &StateFile,
        why: Vec<String>,
        (old, roadmap): (&str, &str),
    ) -> Result<Self, Fault> {
        let refused = |why: String| unusable(why).kept(NOTHING);
        let moved = on_next_revision(disk, state).map_err(refused)?;
        let Migration { state: new_state, bundle, view, roadmap: carried, not_carried_over, open } =
            propose_files(&moved, roadmap).map_err(|faults| refused(faults.to_string()))?;
        let mut proposal = Self {
            why,
            state: new_state.clone(),
            view: None,
            not_carried_over,
            open,
            edits: Vec::new(),
            files: Vec::new(),
            unchanged: Vec::new(),
            read: read_from(state, old),
        };
        if view.is_none() {
            return Ok(proposal);
        }
        let most = state.max_parallel_rounds.unwrap_or(1);
        let family = Family::of_roadmap(&title(state), old, &carried, most);
        proposal.not_carried_over.extend(family.stand_ins());
        proposal.contract(disk, Generation::Records, &family);
        for file in family_files(Generation::Records, &bundle, &family) {
            if file.path == history_file(&bundle.roadmap_id) && disk.has(&file.path) {
                proposal.unchanged.push(file.path);
                continue;
            }
            let text = match disk.text(&format!("{old}/verification.md")) {
                Ok(Some(before)) if file.path.ends_with("/verification.md") => {
                    completed_verification(&before)
                }
                _ => file.text,
            };
            if file.path.ends_with("/roadmap-view.json") {
                proposal.view = Some(text.clone());
            }
            proposal.files.push((file.path, text));
        }
        proposal.files.push((STATE_FILE.to_owned(), new_state.clone()));
        let new_state = StateFile::parse(&new_state).map_err(|faults| refused(faults.to_string()))?;
        let roadmap = proposal.text(&format!("{}/roadmap.md", bundle.dir)).unwrap_or_default().to_owned();
        proposal.judge(disk, &new_state, &roadmap);
        Ok(proposal)
    }

    fn contract(&mut self, disk: &OnDisk, generation: Generation, family: &Family) {
        for file in contract_files(generation, family) {
            let there = disk.has(&file.path);
            if there {
                self.unchanged.push(file.path);
            } else if file.path != IGNORE_FILE || !disk.ignores_worktrees() {
                self.files.push((file.path, file.text));
            }
        }
    }

    fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|(found, _)| found == path).map(|(_, text)| text.as_str())
    }

    /// Whether the plane could be run afterwards; what keeps it from that is open.
    fn judge(&mut self, disk: &OnDisk, state: &StateFile, roadmap: &str) {
        let mut files: Vec<&str> = disk.files.iter().map(String::as_str).collect();
        files.extend(self.files.iter().map(|(path, _)| path.as_str()));
        let kind = PlaneKind::of(&Recognised::Ours(state.clone()), &files, Some(roadmap));
        let mut open = Vec::new();
        match kind {
            PlaneKind::Runs(files) => {
                open.extend(files.missing.iter().map(ToString::to_string));
                open.extend(self.bundle_problems(disk, files.generation, &files.bundle, roadmap));
            }
            PlaneKind::Legacy { why } | PlaneKind::MigrationNeeded { why } => open.extend(why),
            PlaneKind::NotAnOrchestrator(why) => open.push(why),
            PlaneKind::Unreadable(faults) => open.push(faults.to_string()),
        }
        self.open.extend(open);
    }

    fn bundle_problems(
        &self,
        disk: &OnDisk,
        generation: Generation,
        bundle: &ActiveBundle,
        roadmap: &str,
    ) -> Vec<String> {
        let text = |path: &str| {
            let proposed = self.text(path).map(str::to_owned);
            proposed.or_else(|| disk.text(path).ok().flatten())
        };
        let history = text(&history_file(&bundle.roadmap_id));
        let texts = BundleTexts {
            generation,
            bundle,
            roadmap,
            view: self.view.as_deref(),
            history: history.as_deref(),
        };
        let verification = format!("{}/verification.md", bundle.dir);
        let checks = Verification::parse(&verification, &text(&verification).unwrap_or_default());
        let faults = [texts.roadmap().err(), checks.err()];
        faults.into_iter().flatten().map(|problems| problems.to_string()).collect()
    }

    fn report(self, repository: String, commit: Option<String>) -> RoadmapMigration {
        let mut next_steps = Vec::new();
        if commit.is_some() {
            next_steps.push("windlass roadmap inspect".to_owned());
        } else if self.open.is_empty() && self.edits.is_empty() {
            next_steps.push("windlass roadmap migrate".to_owned());
        }
        RoadmapMigration {
            repository,
            dry_run: commit.is_none(),
            why: self.why,
            state: self.state,
            view: self.view,
            not_carried_over: self.not_carried_over,
            open: self.open,
            edits: self.edits,
            written: self.files.into_iter().map(|(path, _)| path).collect(),
            unchanged: self.unchanged,
            commit,
            next_steps,
        }
    }
}

fn is_structured(disk: &OnDisk, state: &StateFile, roadmap: &str) -> bool {
    let Some(bundle) = state.bundle() else { return false };
    let has_view = disk.has(&format!("{}/roadmap-view.json", bundle.dir));
    let texts = BundleTexts {
        generation: Generation::StructuredMarkdown,
        bundle: &bundle,
        roadmap,
        view: None,
        history: None,
    };
    !has_view && texts.roadmap().is_ok()
}

/// Where the old roadmap lies: as the state says, or at the top of the plane, where the first planes kept it.
fn old_dir(disk: &OnDisk, state: &StateFile) -> String {
    let named = state.roadmap_dir.as_deref().map(|dir| dir.trim_matches('/').to_owned());
    let holds = |dir: &String| disk.has(&format!("{dir}/roadmap.md"));
    let flat = PLANE_DIR.to_owned();
    match named {
        Some(dir) if holds(&dir) || !holds(&flat) => dir,
        _ => flat,
    }
}

/// The files that a migration reads; what it takes from them must be what is committed.
fn read_from(state: &StateFile, old: &str) -> Vec<String> {
    let history = state.roadmap_id.as_deref().map(history_file);
    let read = [format!("{old}/roadmap.md"), format!("{old}/verification.md")];
    std::iter::once(STATE_FILE.to_owned()).chain(read).chain(history).collect()
}

/// One sentence for each of these files that differs from the newest commit.
fn uncommitted(repository: &Repository, disk: &OnDisk, paths: &[String]) -> Result<Vec<String>, Fault> {
    let head = match repository.head() {
        Ok(head) => Some(head),
        Err(GitError::UnknownRevision { .. }) => None,
        Err(error) => return Err(git_fault(error)),
    };
    if let Some(head) = &head {
        repository.import(head).map_err(git_fault)?;
    }
    let mut edited = Vec::new();
    for path in paths {
        let found = disk.text(path).map_err(|why| unusable(why).kept(NOTHING))?;
        let stored = match &head {
            Some(head) => repository.file_at(&head.tree, path).map_err(git_fault)?,
            None => None,
        };
        if !same_lines(found.as_deref(), stored.as_deref()) {
            edited.push(format!("{path}: it is not what is committed"));
        }
    }
    Ok(edited)
}

fn title(state: &StateFile) -> String {
    state.roadmap_id.clone().unwrap_or_default()
}

/// The same state, pointing at a revision that does not exist yet.
fn on_next_revision(disk: &OnDisk, state: &StateFile) -> Result<StateFile, String> {
    let unreadable = || format!("{STATE_FILE} cannot be read as JSON");
    let mut keys: Value =
        serde_json::from_str(state.text().trim_start_matches('\u{feff}')).map_err(|_| unreadable())?;
    if let (Some(id), Some(_)) = (&state.roadmap_id, &state.roadmap_revision) {
        let existing = disk.names_under(&format!("roadmaps/{id}"));
        let revision = next_revision(existing.into_iter().chain(state.roadmap_revision.as_deref()));
        keys["roadmap_dir"] = json!(roadmap_dir(id, &revision));
        keys["roadmap_revision"] = json!(revision);
    }
    StateFile::parse(&keys.to_string()).map_err(|faults| faults.to_string())
}

/// Rounds of the older contract cannot be gone on with; who began them has to end them.
fn refuse_live_work(state: &StateFile) -> Result<(), Fault> {
    let Ok(Value::Object(keys)) = serde_json::from_str(state.text().trim_start_matches('\u{feff}')) else {
        return Ok(());
    };
    let is_idle = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    let live: Vec<String> = LIVE
        .iter()
        .filter_map(|key| Some((key, keys.get(*key).filter(|value| !is_idle(value))?)))
        .map(|(key, value)| format!("`{key}` is {value}"))
        .collect();
    if live.is_empty() {
        return Ok(());
    }
    Err(Fault::new(
        Code::NotAllowedNow,
        format!("work of the older contract is under way: {}", live.join("; ")),
    )
    .kept(NOTHING)
    .hint("merge or abandon those rounds with the tool that began them")
    .hint(format!(
        "then empty these keys in {STATE_FILE}, commit it and try again; the rounds' files stay where they are"
    )))
}
