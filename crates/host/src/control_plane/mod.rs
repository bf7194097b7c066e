//! The control plane of a roadmap loop as it lies in a repository: read whole, held against its rules, and put into the words
//! the loop decides in. Reads only; whoever writes it does so elsewhere.

mod archive;
pub(crate) mod folder;
mod kept_out;
mod later;
mod not_committed;
mod places;
mod roadmap_drift;
mod rounds;
mod shares;
mod trouble;
mod update;
mod words;

pub(crate) use kept_out::kept_out;
pub(crate) use rounds::ROUND_TRAILER;
pub(crate) use trouble::{Trouble, TroubleKind};
pub(crate) use words::{form, round_stage_to_file, stage_to_file, trigger_to_file, update_status_to_file};

use crate::fault::git_fault;
use archive::Archive;
use folder::Found;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use windlass_artifact_formats::roadmap_loop::plane::Recognised;
use windlass_artifact_formats::roadmap_loop::plane::{
    ActiveBundle, BundleTexts, Generation, PlaneFiles, PlaneKind, Problem, Retry, Roadmap, RoadmapView,
    STATE_FILE, Severity, StateFile, Verification, names,
};
use windlass_artifact_formats::roadmap_loop::round::{self, sha256_hex};
use windlass_control_api::Fault;
use windlass_git_workspaces::{Commit, Part, Repository, TreeId};
use windlass_protocols::protocol::roadmap_rounds::plane::Plane;
use windlass_protocols::protocol::roadmap_rounds::spec::RoundLimits;
use windlass_protocols::{CommitId, Digest};

/// Everything that was read, for whoever needs more than the loop decides on.
#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) plane: Plane,
    pub(crate) generation: Generation,
    pub(crate) bundle: ActiveBundle,
    pub(crate) roadmap: Roadmap,
    /// Records only.
    pub(crate) view: Option<RoadmapView>,
    /// The roadmap's goal in its own words.
    pub(crate) goal: String,
    /// The newest commit of the base branch.
    pub(crate) base: Commit,
    /// What the artifacts of each live round say, in the order of the plane's rounds.
    pub(crate) artifacts: Vec<round::Evidence>,
}

/// Reads the control plane of the repository that is checked out here. The inner result is about the plane; a fault is about
/// git or the disk.
pub(crate) fn look(repository: &Repository) -> Result<Result<Looked, Trouble>, Fault> {
    look_again(repository, &Memory::default())
}

/// As [`look`], for whoever looks often: everything that can change is read anew, and what follows from a commit that was
/// looked at before is remembered.
pub(crate) fn look_again(repository: &Repository, memory: &Memory) -> Result<Result<Looked, Trouble>, Fault> {
    let plane = match Reading::begin(repository)? {
        Ok(reading) => reading,
        Err(trouble) => return Ok(Err(trouble)),
    };
    plane.whole(memory)
}

/// What the tree of the base branch says about rounds that are over. Trees are named by their content, so nothing here grows
/// old; only the last one is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    archive: Arc<Mutex<Option<(TreeId, Archive)>>>,
}

impl Memory {
    fn archive(&self, reading: &Reading<'_>) -> Result<Archive, Fault> {
        let mut known = self.archive.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((tree, archive)) = known.as_ref()
            && *tree == reading.base.tree
        {
            return Ok(archive.clone());
        }
        let archive = archive::read(reading)?;
        *known = Some((reading.base.tree.clone(), archive.clone()));
        Ok(archive)
    }
}

/// A recorded worktree: paths are the repository's unless they are absolute.
pub(crate) fn worktree_path(top: &Path, recorded: &str) -> PathBuf {
    top.join(recorded)
}

/// What is known once the state and the bundle are read and sound.
pub(crate) struct Reading<'a> {
    repository: &'a Repository,
    top: PathBuf,
    base: Commit,
    state: StateFile,
    generation: Generation,
    bundle: ActiveBundle,
    texts: Bundle,
    roadmap: Roadmap,
    view: Option<RoadmapView>,
    limits: RoundLimits,
    oddities: Vec<String>,
    /// Paths of the plane's files on the base branch.
    files: Vec<String>,
}

/// The texts of the active bundle.
struct Bundle {
    roadmap: String,
    view: Option<String>,
    verification: String,
    history: Option<String>,
}

impl Bundle {
    fn texts<'t>(&'t self, generation: Generation, bundle: &'t ActiveBundle) -> BundleTexts<'t> {
        BundleTexts {
            generation,
            bundle,
            roadmap: &self.roadmap,
            view: self.view.as_deref(),
            history: self.history.as_deref(),
        }
    }

    fn digest(&self) -> Digest {
        let parts = [
            Some(self.roadmap.as_str()),
            self.view.as_deref(),
            Some(&self.verification),
            self.history.as_deref(),
        ];
        let digests: Vec<String> = parts
            .iter()
            .map(|part| part.map(|text| sha256_hex(text.as_bytes())).unwrap_or_default())
            .collect();
        Digest::new(sha256_hex(digests.join("\n").as_bytes()))
    }
}

/// The state file as it lies in the checkout, byte for byte.
pub(crate) fn read_state(top: &Path) -> Result<(StateFile, Digest), Trouble> {
    let text = match folder::read(top, STATE_FILE) {
        Found::Text(text) => text,
        Found::Absent => return Err(Trouble::no_plane()),
        Found::Unusable(why) => return Err(Trouble::unreadable(&[format!("{STATE_FILE}: {why}")])),
    };
    match StateFile::recognise(&text) {
        Recognised::Ours(state) => Ok((state, Digest::new(sha256_hex(text.as_bytes())))),
        Recognised::Foreign(why) => Err(Trouble::foreign(&why)),
        Recognised::Invalid(faults) => Err(Trouble::of_faults(TroubleKind::Unreadable, None, &faults)),
    }
}

impl<'a> Reading<'a> {
    fn begin(repository: &'a Repository) -> Result<Result<Self, Trouble>, Fault> {
        let top = repository.checkout().work_tree().to_owned();
        let (state, _) = match read_state(&top) {
            Ok(found) => found,
            Err(trouble) => return Ok(Err(trouble)),
        };
        let base = match base_of(repository, &state)? {
            Ok(base) => base,
            Err(trouble) => return Ok(Err(trouble)),
        };
        repository.import(&base).map_err(git_fault)?;
        let paths = repository.paths_of(&base.tree, Part::Within(names::PLANE_DIR)).map_err(git_fault)?;
        let files: Vec<String> = paths.iter().map(ToString::to_string).collect();
        Self::of_bundle((repository, top, base), state, files)
    }

    fn of_bundle(
        (repository, top, base): (&'a Repository, PathBuf, Commit),
        state: StateFile,
        files: Vec<String>,
    ) -> Result<Result<Self, Trouble>, Fault> {
        let roadmap_path = state.bundle().map(|bundle| format!("{}/roadmap.md", bundle.dir));
        let roadmap = roadmap_path.as_ref().and_then(|path| folder::read(&top, path).text());
        let names: Vec<&str> = files.iter().map(String::as_str).collect();
        let kind = PlaneKind::of(&Recognised::Ours(state.clone()), &names, roadmap.as_deref());
        let whole_here = || not_committed::whole_here(&top, &state, (&files, roadmap.as_deref()));
        let PlaneFiles { generation, bundle, missing, mixed } = match kind {
            PlaneKind::Runs(files) => files,
            PlaneKind::NotAnOrchestrator(why) => return Ok(Err(Trouble::foreign(&why))),
            PlaneKind::Unreadable(faults) => {
                return Ok(Err(Trouble::of_faults(TroubleKind::Unreadable, None, &faults)));
            }
            PlaneKind::Legacy { why } => {
                return Ok(Err(whole_here().unwrap_or_else(|| Trouble::legacy(&why))));
            }
            PlaneKind::MigrationNeeded { why } => {
                return Ok(Err(whole_here().unwrap_or_else(|| Trouble::migration_needed(&why))));
            }
        };
        let invalid = |problems: &[Problem]| Trouble::of_problems(generation, problems);
        if let Err(faults) = state.sound() {
            return Ok(Err(Trouble::of_faults(TroubleKind::Invalid, Some(generation), &faults)));
        }
        if let Some(trouble) = missing_files(&top, generation, &missing) {
            return Ok(Err(trouble));
        }
        if let Some(trouble) = places::strange(repository, (&top, generation), &state) {
            return Ok(Err(trouble));
        }
        let committed = repository.file_at(&base.tree, STATE_FILE).map_err(git_fault)?;
        let committed = committed.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        if let Some(trouble) = later::published(&state, &bundle, (&files, committed.as_deref())) {
            return Ok(Err(trouble));
        }
        let texts = match bundle_texts(repository, (&top, &base), generation, &bundle)? {
            Ok(texts) => texts,
            Err(trouble) => return Ok(Err(trouble)),
        };
        let parsed = texts.texts(generation, &bundle);
        let (roadmap, view) = match generation {
            Generation::Records => match parsed.checked_view() {
                Ok(view) => (view.roadmap.clone(), Some(view)),
                Err(problems) => return Ok(Err(invalid(problems.all()))),
            },
            Generation::StructuredMarkdown => match parsed.roadmap() {
                Ok(roadmap) => (roadmap, None),
                Err(problems) => return Ok(Err(invalid(problems.all()))),
            },
        };
        let path = format!("{}/verification.md", bundle.dir);
        let limits = match Verification::parse(&path, &texts.verification) {
            Ok(verification) => limits(&verification),
            Err(problems) => return Ok(Err(invalid(problems.all()))),
        };
        let odd = state.problems().iter().filter(|problem| problem.severity != Severity::Fatal);
        let oddities = odd.chain(&mixed).map(ToString::to_string).collect();
        Ok(Ok(Self {
            repository,
            top,
            base,
            state,
            generation,
            bundle,
            texts,
            roadmap,
            view,
            limits,
            oddities,
            files,
        }))
    }

    fn whole(self, memory: &Memory) -> Result<Result<Looked, Trouble>, Fault> {
        let archive = memory.archive(&self)?;
        let branches =
            self.repository.branches_under(&format!("{}/", names::PLANE_DIR)).map_err(git_fault)?;
        let mut seen = Vec::new();
        let mut artifacts = Vec::new();
        let mut oddities = self.oddities.clone();
        for record in self.state.live_rounds() {
            let found = rounds::see(&self, record)?;
            seen.push(found.round);
            artifacts.push(found.artifacts);
            oddities.extend(found.ignored);
        }
        let update =
            self.state.roadmap_update.as_ref().map(|record| update::see(&self, record)).transpose()?;
        let (milestones, directions) = words::roadmap(&self.roadmap);
        let errors = self.state.resume_errors.iter().map(|error| (error.key.clone(), error.text.clone()));
        let plane = Plane {
            generation: words::generation(self.generation),
            state: Digest::new(sha256_hex(self.state.text().as_bytes())),
            bundle: self.texts.digest(),
            stage: words::controller_stage(&self.state),
            base_branch: self.state.base_branch.clone().unwrap_or_default(),
            base: CommitId::new(self.base.id.as_str()),
            roadmap_id: self.bundle.roadmap_id.clone(),
            revision: self.bundle.revision.clone(),
            max_parallel: self.state.max_parallel_rounds.unwrap_or(1),
            rounds: seen,
            update,
            errors: errors.collect(),
            retry_noted: self.state.retry != Retry::Idle,
            milestones,
            directions,
            next_number: archive::next_number(&self, &archive, &branches),
            merged_rounds: archive.rounds,
            merged_items: archive.items,
            limits: self.limits,
            oddities,
        };
        Ok(Ok(Looked {
            plane,
            generation: self.generation,
            bundle: self.bundle,
            roadmap: self.roadmap,
            view: self.view,
            goal: goal(&self.texts.roadmap),
            base: self.base,
            artifacts,
        }))
    }
}

/// The newest commit of the base branch, which must be what is checked out.
fn base_of(repository: &Repository, state: &StateFile) -> Result<Result<Commit, Trouble>, Fault> {
    let Some(branch) = &state.base_branch else {
        let why = "/base_branch: it is missing, so nothing says where rounds are merged (rule 3.1)";
        return Ok(Err(Trouble::unreadable(&[format!("{STATE_FILE}: {why}")])));
    };
    let reference = format!("refs/heads/{branch}");
    let current = repository.current_branch().map_err(git_fault)?;
    let tip = repository.read_reference(&reference).map_err(git_fault)?;
    if tip.is_none() && current.as_deref() != Some(reference.as_str()) {
        return Ok(Err(Trouble::no_such_branch(branch)));
    }
    if current.as_deref() != Some(reference.as_str()) {
        let stands = current.as_deref().map_or("no branch", |name| name.trim_start_matches("refs/heads/"));
        let trouble = Trouble::wrong_branch(branch, stands);
        let around = checkout_around(repository.checkout().work_tree());
        return Ok(Err(match (around, repository.checkout_on(branch)) {
            (Some(around), _) => trouble.in_a_worktree(&around),
            (None, Some(place)) => trouble.checked_out_in(branch, &place),
            (None, None) => trouble,
        }));
    }
    match tip {
        Some(id) => Ok(Ok(repository.commit_of(&id).map_err(git_fault)?)),
        None => Ok(Err(Trouble::wrong_branch(branch, "a branch without any commit"))),
    }
}

/// The checkout whose round works here.
fn checkout_around(top: &Path) -> Option<PathBuf> {
    let folder = top.parent()?;
    let around = folder.parent()?.parent()?;
    (folder == around.join(names::PLANE_DIR).join("worktrees")).then(|| around.to_owned())
}

/// What is missing from the base branch; what lies in the checkout all the same is only not committed.
fn missing_files(top: &Path, generation: Generation, missing: &[Problem]) -> Option<Trouble> {
    let fatal: Vec<&Problem> = missing.iter().filter(|problem| problem.severity == Severity::Fatal).collect();
    if fatal.is_empty() {
        return None;
    }
    let here = |problem: &&&Problem| folder::read(top, &problem.file) != Found::Absent;
    let uncommitted: Vec<String> = fatal.iter().filter(here).map(|problem| problem.file.clone()).collect();
    if uncommitted.len() == fatal.len() {
        return Some(Trouble::uncommitted(generation, &uncommitted));
    }
    let problems: Vec<Problem> = fatal.into_iter().cloned().collect();
    Some(Trouble::of_problems(generation, &problems))
}

/// The bundle's texts from the checkout, which must be what is committed: rounds see the committed ones.
fn bundle_texts(
    repository: &Repository,
    (top, base): (&Path, &Commit),
    generation: Generation,
    bundle: &ActiveBundle,
) -> Result<Result<Bundle, Trouble>, Fault> {
    let paths = [
        format!("{}/roadmap.md", bundle.dir),
        format!("{}/roadmap-view.json", bundle.dir),
        format!("{}/verification.md", bundle.dir),
        names::history_file(&bundle.roadmap_id),
    ];
    let committed = repository.files_at(&base.tree, |path| paths.iter().any(|wanted| wanted == path));
    let committed = committed.map_err(git_fault)?;
    let mut edited = Vec::new();
    let mut texts = Vec::new();
    for path in &paths {
        let stored = committed.iter().find(|(found, _)| found == path).map(|(_, content)| content.as_slice());
        let text = match folder::read(top, path) {
            Found::Unusable(why) => return Ok(Err(Trouble::unreadable(&[format!("{path}: {why}")]))),
            Found::Absent => None,
            Found::Text(text) => Some(text),
        };
        if !same_lines(text.as_deref(), stored) {
            edited.push(path.clone());
        }
        texts.push(text);
    }
    if !edited.is_empty() {
        return Ok(Err(Trouble::uncommitted(generation, &edited)));
    }
    let mut texts = texts.into_iter();
    let mut next = || texts.next().flatten();
    let (roadmap, view, verification, history) = (next(), next(), next(), next());
    Ok(Ok(Bundle {
        roadmap: roadmap.unwrap_or_default(),
        view: view.filter(|_| generation == Generation::Records),
        verification: verification.unwrap_or_default(),
        history,
    }))
}

/// A checkout may be set to other line endings than are committed.
pub(crate) fn same_lines(found: Option<&str>, stored: Option<&[u8]>) -> bool {
    match (found, stored) {
        (None, None) => true,
        (Some(found), Some(stored)) => {
            found.as_bytes() == stored
                || found.replace("\r\n", "\n") == String::from_utf8_lossy(stored).replace("\r\n", "\n")
        }
        _ => false,
    }
}

/// The text under `## Goal`; where it is labelled, the outcome without its label.
fn goal(roadmap: &str) -> String {
    let after = roadmap.lines().skip_while(|line| line.trim_end() != "## Goal").skip(1);
    let lines: Vec<&str> = after.take_while(|line| !line.starts_with("## ")).collect();
    match lines.iter().find_map(|line| line.strip_prefix("- Outcome:")) {
        Some(outcome) => outcome.trim().to_owned(),
        None => lines.join("\n").trim().to_owned(),
    }
}

fn limits(verification: &Verification) -> RoundLimits {
    let usual = RoundLimits::default();
    let overrides = &verification.overrides;
    RoundLimits {
        same_mechanism: overrides.same_mechanism_retries.unwrap_or(usual.same_mechanism),
        review_cycles: overrides.review_cycles.unwrap_or(usual.review_cycles),
        update_rejections: overrides.update_rejections.unwrap_or(usual.update_rejections),
    }
}
