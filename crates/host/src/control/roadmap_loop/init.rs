//! `windlass roadmap init`: a control plane where there is none, or the next roadmap family of a finished one. The mode is
//! read off the repository, never asked. Files that are there stay; one checkpoint commit is made; no round is started.

use super::checkpoint::Checkpoints;
use super::on_disk::OnDisk;
use super::{hold_briefly, unusable};
use crate::control_plane::kept_out;
use crate::fault::git_fault;
use crate::host::Host;
use std::path::{Path, PathBuf};
use windlass_artifact_formats::goal_loop::Recognised;
use windlass_artifact_formats::roadmap_loop::plane::names::{PLANE_DIR, new_roadmap_id, roadmap_dir};
use windlass_artifact_formats::roadmap_loop::plane::{
    ActiveBundle, ControllerStage, Generation, PlaneKind, Retry, STATE_FILE, Severity, StateFile,
};
use windlass_artifact_formats::roadmap_loop::scaffold::{
    EXAMPLE, Family, IGNORE_FILE, Outline, QUESTIONS, contract_files, family_files,
};
use windlass_control_api::roadmap_setup::{
    AnswersFormat, AnswersText, InitRoadmap, RoadmapInitReport, SetupMilestone, SetupQuestion,
    SetupSuggestion,
};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{Checkout, GitError, Repository};

const NOTHING: &str = "nothing was written";

enum Mode {
    Bootstrap,
    NextFamily { state: Box<StateFile>, generation: Generation },
}

/// An answers file with everything in it.
pub(crate) const fn example() -> &'static str {
    EXAMPLE
}

pub(crate) async fn init(host: &Host, command: &InitRoadmap) -> Result<RoadmapInitReport, Fault> {
    let (top, checkout) = place(&command.repository)?;
    let Some(answers) = &command.answers else { return asked(&top, checkout.is_none(), command) };
    let family = family(answers)?;
    if command.dry_run {
        let branch = match &checkout {
            Some(checkout) => branch_of(&host.repository(checkout.clone())?)?,
            None => "main".to_owned(),
        };
        let plan = Plan::of(&top, command, family, &branch)?;
        if let Some(checkout) = &checkout {
            plan.can_be_committed(&host.repository(checkout.clone())?)?;
        }
        return Ok(plan.report(&top, checkout.is_none(), None));
    }
    let begins = checkout.is_none();
    let checkout = if let Some(checkout) = checkout {
        checkout
    } else {
        host.git()?.begin_repository(&top).map_err(git_fault)?;
        Checkout::discover(&top).map_err(git_fault)?
    };
    let repository = host.repository(checkout)?;
    hold_briefly(host, &repository, "windlass roadmap init", || {
        let checkpoints = Checkpoints::of(host, &repository);
        if let Some(commit) = checkpoints.finish_begun()? {
            return Ok(finished(&top, commit));
        }
        let plan = Plan::of(&top, command, family, &branch_of(&repository)?)?;
        plan.can_be_committed(&repository)?;
        let commit = checkpoints.make(&plan.files, &plan.message())?;
        Ok(plan.report(&top, begins, Some(commit)))
    })
    .await
}

/// The top of the checkout, or of what is to become one.
fn place(directory: &Path) -> Result<(PathBuf, Option<Checkout>), Fault> {
    match Checkout::discover(directory) {
        Ok(checkout) => Ok((checkout.work_tree().to_owned(), Some(checkout))),
        Err(GitError::NotARepository { .. }) if directory.is_dir() => Ok((directory.to_owned(), None)),
        Err(error) => Err(git_fault(error)),
    }
}

/// Without answers: only what would be asked, and in which mode.
fn asked(top: &Path, begins_repository: bool, command: &InitRoadmap) -> Result<RoadmapInitReport, Fault> {
    let mode = mode(&OnDisk::look(top))?;
    if !command.dry_run {
        return Err(Fault::new(Code::BadArgument, "nobody said what the roadmap is to be")
            .kept(NOTHING)
            .hint("at a terminal `windlass roadmap init` asks")
            .hint("elsewhere give it a file: `windlass roadmap init --print-answers > answers.toml`, edit it, then `--answers answers.toml`"));
    }
    Ok(RoadmapInitReport {
        repository: top.to_string_lossy().into_owned(),
        mode: mode.word().to_owned(),
        generation: word(mode.generation(command)?).to_owned(),
        dry_run: true,
        begins_repository,
        questions: questions(),
        ..RoadmapInitReport::default()
    })
}

fn questions() -> Vec<SetupQuestion> {
    let shown = QUESTIONS.iter().map(|question| SetupQuestion {
        key: question.key.to_owned(),
        name: question.name.to_owned(),
        words: question.words.to_owned(),
        suggestions: question
            .suggestions
            .iter()
            .map(|one| SetupSuggestion {
                label: one.label.to_owned(),
                text: one.text.to_owned(),
                trade_off: one.trade_off.to_owned(),
            })
            .collect(),
        many: question.many,
    });
    shown.collect()
}

fn family(answers: &AnswersText) -> Result<Family, Fault> {
    let refused = |why: String| {
        Fault::new(Code::BadArgument, format!("{}: {why}", answers.name))
            .kept(NOTHING)
            .hint("`windlass roadmap init --print-answers` prints a file with everything in it")
    };
    let outline: Outline = match answers.format {
        AnswersFormat::Toml => toml::from_str(&answers.text).map_err(|error| refused(error.to_string()))?,
        AnswersFormat::Json => {
            serde_json::from_str(&answers.text).map_err(|error| refused(error.to_string()))?
        }
    };
    outline.settle().map_err(|faults| refused(faults.sentences().join("\n")))
}

fn branch_of(repository: &Repository) -> Result<String, Fault> {
    let branch = repository.current_branch().map_err(git_fault)?;
    let branch = branch.and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned));
    branch.ok_or_else(|| {
        Fault::new(Code::NotAllowedNow, "no branch is checked out that rounds could be merged into")
            .kept(NOTHING)
            .hint("check the base branch out, then try again")
    })
}

impl Mode {
    const fn word(&self) -> &'static str {
        match self {
            Self::Bootstrap => "bootstrap",
            Self::NextFamily { .. } => "next-family",
        }
    }

    /// A plane keeps the form it has.
    fn generation(&self, command: &InitRoadmap) -> Result<Generation, Fault> {
        match self {
            Self::Bootstrap if command.records => Ok(Generation::Records),
            Self::Bootstrap => Ok(Generation::StructuredMarkdown),
            Self::NextFamily { generation: Generation::StructuredMarkdown, .. } if command.records => {
                Err(Fault::new(Code::BadArgument, "this plane has no JSON records, and keeps its form")
                    .kept(NOTHING)
                    .hint("leave `--records` out"))
            }
            Self::NextFamily { generation, .. } => Ok(*generation),
        }
    }
}

/// Section 21: decided by what is there.
fn mode(disk: &OnDisk) -> Result<Mode, Fault> {
    if disk.is_free() {
        return Ok(Mode::Bootstrap);
    }
    if let Some(why) = disk.no_folder() {
        return Err(unusable(why).kept(NOTHING));
    }
    let unreadable = |why: String| unusable(why).kept(NOTHING);
    let Some(state) = disk.state().map_err(unreadable)? else {
        let why = format!("{PLANE_DIR}/ is there and {STATE_FILE} is not, so it belongs to something else");
        return Err(unusable(why).kept(NOTHING).hint(format!(
            "if it is a control plane that lost its state, bring that back: `git checkout -- {STATE_FILE}`"
        )));
    };
    let files = match disk.kind(&state) {
        PlaneKind::Runs(files) => files,
        PlaneKind::NotAnOrchestrator(why) => {
            return Err(unusable(format!("{STATE_FILE} is not of an orchestrator loop: {why}")).kept(NOTHING));
        }
        PlaneKind::Unreadable(faults) => return Err(unusable(faults.to_string()).kept(NOTHING)),
        PlaneKind::Legacy { why } | PlaneKind::MigrationNeeded { why } => {
            let why = format!("this control plane needs a migration: {}", why.join("; "));
            return Err(Fault::new(Code::NotAllowedNow, why)
                .kept(NOTHING)
                .hint("`windlass roadmap migrate --dry-run` shows what would be written"));
        }
    };
    let Recognised::Ours(state) = state else { return Err(unusable(format!("{STATE_FILE} cannot be used"))) };
    let in_the_way = unfinished(disk, &state, files.generation, &files.bundle);
    if in_the_way.is_empty() {
        return Ok(Mode::NextFamily { state: Box::new(state), generation: files.generation });
    }
    let texts = disk.bundle(files.generation, &files.bundle).ok();
    let terminal = texts.and_then(|texts| Some(texts.texts().roadmap().ok()?.is_terminal()));
    let at_rest = state.controller_stage == Some(ControllerStage::DispatchRounds);
    if in_the_way.len() == 1 && at_rest && terminal == Some(true) {
        let why = "every milestone of the roadmap is done, and `controller_stage` does not say so yet";
        return Err(Fault::new(Code::NotAllowedNow, why)
            .kept(NOTHING)
            .hint("`windlass roadmap run --agent claude` notes it and ends, without asking anybody; then `windlass roadmap init` begins the next one"));
    }
    Err(Fault::new(
        Code::NotAllowedNow,
        format!("a control plane is here, and its roadmap is not finished: {}", in_the_way.join("; ")),
    )
    .kept(NOTHING)
    .hint("`windlass roadmap inspect` shows all of it; `windlass roadmap run` goes on with it"))
}

/// Everything that keeps the next family from beginning.
pub(super) fn unfinished(
    disk: &OnDisk,
    state: &StateFile,
    generation: Generation,
    bundle: &ActiveBundle,
) -> Vec<String> {
    let fatal = state.problems().iter().filter(|problem| problem.severity == Severity::Fatal);
    let mut found: Vec<String> = fatal.map(ToString::to_string).collect();
    if state.controller_stage != Some(ControllerStage::Done) {
        let now = state.controller_stage.map_or("unknown", ControllerStage::as_str);
        found.push(format!("`controller_stage` is {now}, not done"));
    }
    let live: Vec<&str> = state.live_rounds().map(|round| round.round_id.as_str()).collect();
    if !live.is_empty() {
        found.push(format!("`active_rounds` lists {}", live.join(", ")));
    }
    if let Some(update) = &state.roadmap_update {
        found.push(format!("`roadmap_update` is under way to {}", update.proposed_roadmap_revision));
    }
    if !state.resume_errors.is_empty() {
        let keys: Vec<&str> = state.resume_errors.iter().map(|error| error.key.as_str()).collect();
        found.push(format!("`resume_errors` holds {}", keys.join(", ")));
    }
    if state.retry != Retry::Idle {
        found.push("`retry` is not null".to_owned());
    }
    match disk.bundle(generation, bundle) {
        Err(why) => found.push(why),
        Ok(texts) => match texts.texts().roadmap() {
            Err(problems) => found.push(problems.to_string()),
            Ok(roadmap) => {
                let open: Vec<&str> = roadmap.unfinished().map(|milestone| milestone.id.as_str()).collect();
                if !open.is_empty() {
                    found.push(format!("milestones are not done: {}", open.join(", ")));
                }
            }
        },
    }
    found
}

/// Everything that is going to be written.
struct Plan {
    mode: Mode,
    generation: Generation,
    family: Family,
    bundle: ActiveBundle,
    files: Vec<(String, String)>,
    unchanged: Vec<String>,
    notices: Vec<String>,
}

impl Plan {
    fn of(top: &Path, command: &InitRoadmap, mut family: Family, branch: &str) -> Result<Self, Fault> {
        let disk = OnDisk::look(top);
        let mode = mode(&disk)?;
        let generation = mode.generation(command)?;
        let today = crate::clock::timestamp().strftime("%Y-%m-%d").to_string();
        let roadmap_id = new_roadmap_id(&today, &family.title, disk.names_under("roadmaps"));
        let dir = roadmap_dir(&roadmap_id, "rev-001");
        let bundle = ActiveBundle { roadmap_id, revision: "rev-001".to_owned(), dir };
        let mut notices = Vec::new();
        let state = match &mode {
            Mode::Bootstrap => StateFile::scaffold(branch, &bundle, family.max_parallel_rounds),
            Mode::NextFamily { state, .. } => {
                on_base(state, branch)?;
                let most = state.max_parallel_rounds.unwrap_or(1);
                if family.max_parallel_rounds != most {
                    notices
                        .push(format!("`max_parallel_rounds` stays {most}; edit {STATE_FILE} to change it"));
                    family.max_parallel_rounds = most;
                }
                state.begin_family(&bundle)
            }
        };
        let state = state.map_err(|faults| unusable(faults.to_string()).kept(NOTHING))?;
        let mut unchanged = Vec::new();
        let mut files = Vec::new();
        for file in contract_files(generation, &family) {
            if disk.has(&file.path) || (file.path == IGNORE_FILE && disk.ignores_worktrees()) {
                unchanged.push(file.path);
            } else {
                files.push((file.path, file.text));
            }
        }
        files.extend(
            family_files(generation, &bundle, &family).into_iter().map(|file| (file.path, file.text)),
        );
        files.push((STATE_FILE.to_owned(), state.text().to_owned()));
        unchanged.retain(|path| disk.has(path));
        Ok(Self { mode, generation, family, bundle, files, unchanged, notices })
    }

    /// Rounds whose files git never sees would come to nothing, after everybody was asked.
    fn can_be_committed(&self, repository: &Repository) -> Result<(), Fault> {
        match kept_out(repository, self.generation, &self.bundle.roadmap_id)? {
            Some(trouble) => Err(Fault::new(Code::PlaneUnusable, trouble.sentences.join("\n"))
                .kept("no file of the control plane was written")
                .hint(trouble.hint)),
            None => Ok(()),
        }
    }

    fn message(&self) -> String {
        let id = &self.bundle.roadmap_id;
        match self.mode {
            Mode::Bootstrap => format!("Set up the roadmap loop with {id}"),
            Mode::NextFamily { .. } => format!("Begin the roadmap {id}"),
        }
    }

    fn report(self, top: &Path, begins_repository: bool, commit: Option<String>) -> RoadmapInitReport {
        let ledger = self.family.ledger.entries();
        let milestones = self.family.milestones.iter().map(|milestone| SetupMilestone {
            id: milestone.id.clone(),
            title: milestone.title.clone(),
            depends_on: milestone.depends_on.clone(),
            lane: milestone.lane.clone(),
            directions: milestone.directions.iter().map(|direction| direction.summary.clone()).collect(),
        });
        RoadmapInitReport {
            repository: top.to_string_lossy().into_owned(),
            mode: self.mode.word().to_owned(),
            generation: word(self.generation).to_owned(),
            dry_run: commit.is_none(),
            begins_repository,
            milestones: milestones.collect(),
            ledger: ledger.into_iter().map(|(name, words)| (name.to_owned(), words)).collect(),
            written: self.files.into_iter().map(|(path, _)| path).collect(),
            unchanged: self.unchanged,
            commit,
            notices: self.notices,
            questions: Vec::new(),
            next_steps: vec![
                format!("$EDITOR {}/roadmap.md", self.bundle.dir),
                "windlass roadmap inspect".to_owned(),
                "windlass roadmap run --agent claude".to_owned(),
            ],
            roadmap_id: Some(self.bundle.roadmap_id),
            roadmap_dir: Some(self.bundle.dir),
        }
    }
}

fn on_base(state: &StateFile, branch: &str) -> Result<(), Fault> {
    match state.base_branch.as_deref() {
        Some(base) if base != branch => Err(Fault::new(
            Code::NotAllowedNow,
            format!("the base branch is {base}, and {branch} is checked out"),
        )
        .kept(NOTHING)
        .hint(format!("check {base} out, or name the branch you mean as `base_branch` in {STATE_FILE}"))),
        _ => Ok(()),
    }
}

/// What is said after a killed command was finished instead of beginning anew.
fn finished(top: &Path, commit: String) -> RoadmapInitReport {
    RoadmapInitReport {
        repository: top.to_string_lossy().into_owned(),
        commit: Some(commit),
        notices: vec![
            "an earlier set-up was interrupted and is finished now, with the answers it was given".to_owned(),
        ],
        next_steps: vec!["windlass roadmap inspect".to_owned()],
        ..RoadmapInitReport::default()
    }
}

pub(super) const fn word(generation: Generation) -> &'static str {
    match generation {
        Generation::Records => "records",
        Generation::StructuredMarkdown => "structured-markdown",
    }
}
