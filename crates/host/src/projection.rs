//! Writes what the journal says into the run directory, where the original's tools look for it. Only copies: every file
//! can be written again from the journal and the sealed evidence, and after a restart it is.

use crate::context::RunContext;
use crate::durable_file::ensure;
use crate::effect_runner::prompt_file_name;
use crate::engine_word;
use crate::evidence::{digest, file_digest};
use crate::fault::file_fault;
use crate::own_files::{OwnFiles, ROUND_ARTIFACTS};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use windlass_artifact_formats::ExtraKeys;
use windlass_artifact_formats::task_loop::{
    FinalVerdict, JudgeAccess, RoundMetadata, RunMetadata, RunOutcome, SealedArtifact, Summary, WorktreesEnv,
    render_task_text,
};
use windlass_control_api::Fault;
use windlass_protocols::effect::CloseRun;
use windlass_protocols::outcome::{ChecksReport, Outcome};
use windlass_protocols::protocol::judged_task::facts::{Fact as TaskFact, Source};
use windlass_protocols::protocol::judged_task::spec::AuditPolicy;
use windlass_protocols::{ArtifactRef, Digest, Effect, Fact, Role};

/// Whether a sealed artifact of this name has its place in the round's directory.
pub(crate) fn is_round_file(name: &str) -> bool {
    ROUND_ARTIFACTS.contains(&name)
}

/// The run's own record before anything has happened.
pub(crate) fn metadata_at_start(context: &RunContext, base_tree: &str) -> String {
    metadata(context, base_tree.to_owned()).render()
}

fn metadata(context: &RunContext, base_tree: String) -> RunMetadata {
    RunMetadata {
        version: RunMetadata::VERSION,
        run_id: context.run.to_string(),
        base_ref: context.spec.place().base_ref.clone(),
        base_commit: context.spec.place().base.to_string(),
        base_tree,
        rounds: Vec::new(),
        outcome: None,
        extra: ExtraKeys::default(),
    }
}

pub(crate) struct Projector {
    metadata: RunMetadata,
    round: u32,
    /// The last measurement, whose red results an engine-written verdict quotes.
    checks: Option<ChecksReport>,
    closing: Option<CloseRun>,
    own: OwnFiles,
    /// What decisions of the current round rest on: put back at its end if somebody took it away.
    decisions: BTreeMap<PathBuf, Content>,
}

impl Projector {
    pub(crate) fn new(context: &RunContext) -> Self {
        Self {
            metadata: metadata(context, String::new()),
            round: 0,
            checks: None,
            closing: None,
            own: OwnFiles::of(context),
            decisions: BTreeMap::new(),
        }
    }

    /// Brings the directory in line after a restart. A crash can only have hit the files of the last append, and those
    /// belong to the last two rounds; rewriting every round would make resuming slower the longer a run was. A power cut
    /// can have shortened earlier ones, which is seen without reading them.
    /// Comes back with sentences about what was found there and is not ours.
    pub(crate) fn catch_up(&mut self, context: &RunContext, facts: &[Fact]) -> Result<Vec<String>, Fault> {
        let opened = |fact: &Fact| matches!(fact, Fact::JudgedTask(TaskFact::RoundOpened { .. }));
        let mut openings = facts.iter().enumerate().rev().filter(|(_, fact)| opened(fact));
        let _last = openings.next();
        let from = openings.next().map_or(0, |(position, _)| position);
        // First all that was ever written, then the writing: an earlier content must not take a later one for foreign.
        let mut earlier = BTreeMap::new();
        let mut changes = Vec::new();
        for (position, fact) in facts.iter().enumerate() {
            let found = self.changes(context, fact);
            if position >= from {
                changes.extend(found);
            } else {
                earlier.extend(found.into_iter().map(|change| (change.path().to_owned(), change)));
            }
        }
        let shortened = earlier.into_values().filter(FileChange::was_shortened);
        changes.splice(0..0, shortened);
        changes.into_iter().try_for_each(|change| self.carry_out(context, change))?;
        facts.iter().skip(from).try_for_each(|fact| self.tidy(context, fact))?;
        Ok(self.own.notices())
    }

    pub(crate) fn follow(&mut self, context: &RunContext, facts: &[Fact]) -> Result<Vec<String>, Fault> {
        for fact in facts {
            let changes = self.changes(context, fact);
            changes.into_iter().try_for_each(|change| self.carry_out(context, change))?;
            self.tidy(context, fact)?;
        }
        Ok(self.own.notices())
    }

    /// What this fact changes, remembered as ours.
    fn changes(&mut self, context: &RunContext, fact: &Fact) -> Vec<FileChange> {
        self.note(fact);
        let changes = self.files(context, fact);
        if let (Fact::EffectRequested { request: Effect::CloseRun(closing), .. }, Ok(spec)) =
            (fact, context.task_loop())
        {
            // Closing writes it before its end is recorded.
            let text = summary(context, spec.audit, closing).render();
            self.own.register(&context.run_dir().join(Summary::FILE_NAME), digest(text.as_bytes()));
        }
        for change in &changes {
            match change {
                FileChange::Write { path, content } => {
                    self.own.register(path, content.digest());
                    if path.file_name().and_then(|name| name.to_str()).is_some_and(is_round_file) {
                        self.decisions.insert(path.clone(), content.clone());
                    }
                }
                FileChange::WrittenByStep { path } => self.own.register_step(path),
                FileChange::Remove { .. } => {}
            }
        }
        changes
    }

    /// At the end of a round its directory holds what the engine wrote, as it wrote it, and nothing else.
    fn tidy(&mut self, context: &RunContext, fact: &Fact) -> Result<(), Fault> {
        match fact {
            Fact::JudgedTask(TaskFact::RoundRejected { round, .. }) => self.own.tidy_round(*round)?,
            Fact::JudgedTask(TaskFact::Concluded { .. }) => self.own.tidy_run()?,
            _ => return Ok(()),
        }
        for (path, content) in self.decisions.clone() {
            if !file_digest(&path).is_ok_and(|found| found == content.digest()) {
                self.carry_out(context, FileChange::Write { path, content })?;
            }
        }
        Ok(())
    }

    /// What the directory must hold once these facts are shown, without looking at it: for whoever checks the copies.
    pub(crate) fn expected_files(context: &RunContext, facts: &[Fact]) -> BTreeMap<PathBuf, Digest> {
        let mut projector = Self::new(context);
        let mut expected = BTreeMap::new();
        for fact in facts {
            projector.note(fact);
            for change in projector.files(context, fact) {
                match change {
                    FileChange::Write { path, content } => expected.insert(path, content.digest()),
                    FileChange::Remove { path } | FileChange::WrittenByStep { path } => {
                        expected.remove(&path)
                    }
                };
            }
        }
        expected
    }

    /// Keeps what the run's own record needs, without touching a file.
    fn note(&mut self, fact: &Fact) {
        match fact {
            Fact::EffectSettled { outcome: Outcome::ChecksRan(report), .. } => {
                self.checks = Some(report.clone());
            }
            Fact::EffectRequested { request: Effect::CloseRun(closing), .. } => {
                self.closing = Some(closing.clone());
            }
            Fact::JudgedTask(TaskFact::BaseFixed { tree, .. }) => {
                self.metadata.base_tree = tree.to_string();
            }
            Fact::JudgedTask(TaskFact::RoundOpened { round }) => {
                self.round = *round;
                self.checks = None;
                self.own.open_round(*round);
                self.decisions.clear();
            }
            Fact::JudgedTask(TaskFact::ChangeTaken { change }) => self.metadata.rounds.push(RoundMetadata {
                round: self.round,
                tree: change.tree.to_string(),
                patch_sha256: change.patch.digest.to_string(),
                artifacts: vec![sealed(&change.patch)],
                extra: ExtraKeys::default(),
            }),
            Fact::JudgedTask(TaskFact::VerdictTaken { source: Source::Agent { artifact }, .. }) => {
                if let Some(round) = self.metadata.rounds.last_mut() {
                    round.artifacts.push(sealed(artifact));
                }
            }
            Fact::JudgedTask(TaskFact::Concluded { end }) => {
                self.metadata.outcome = Some(RunOutcome {
                    final_verdict: FinalVerdict::from_word(end.legacy_word()),
                    reason: end.word().to_owned(),
                    extra: ExtraKeys::default(),
                });
            }
            _ => {}
        }
    }

    fn carry_out(&mut self, context: &RunContext, change: FileChange) -> Result<(), Fault> {
        match change {
            // A setup that failed may have left no directory to close.
            FileChange::Write { path, .. }
                if path.parent() == Some(context.run_dir()) && !context.run_dir().is_dir() =>
            {
                Ok(())
            }
            FileChange::Write { path, content } => {
                let bytes = match content {
                    Content::Text(text) => text.into_bytes(),
                    Content::Sealed(artifact) => context.evidence.read(&artifact)?,
                };
                self.own.clear_for(&path, &bytes)?;
                ensure_at(&path, &bytes)
            }
            FileChange::Remove { path } => remove(&path),
            FileChange::WrittenByStep { path } => self.own.clear(&path),
        }
    }

    /// What this fact changes in the directory.
    fn files(&self, context: &RunContext, fact: &Fact) -> Vec<FileChange> {
        // The files of a control loop are in its commits.
        let Ok(spec) = context.task_loop() else { return Vec::new() };
        let round = context.round_dir(self.round);
        match fact {
            Fact::EffectRequested { request: Effect::RunAgent(asked), .. } => {
                let name = prompt_file_name(asked.role);
                vec![FileChange::WrittenByStep { path: context.round_dir(asked.round).join(name) }]
            }
            Fact::EffectSettled { outcome: Outcome::Prepared { base_tree, .. }, .. } => {
                prepared_files(context, base_tree.as_str())
            }
            Fact::EffectSettled { outcome: Outcome::AgentEnded(report), .. } => {
                copies(&round, &report.evidence, |name| {
                    name.ends_with(".last.md") || name.ends_with(".prompt.md")
                })
            }
            Fact::EffectSettled { outcome: Outcome::ChecksRan(report), .. } if self.round > 0 => {
                copies(&round, &report.evidence, |name| {
                    name.starts_with("logs/") || name.ends_with("-results.json")
                })
            }
            Fact::JudgedTask(TaskFact::HandoffTaken { handoff }) => vec![copy(&round, &handoff.artifact)],
            Fact::JudgedTask(TaskFact::ChangeTaken { change }) => vec![copy(&round, &change.patch)],
            Fact::JudgedTask(TaskFact::VerdictTaken { role, word, source, .. }) => match source {
                Source::Agent { artifact } => vec![copy(&round, artifact)],
                Source::Engine { why } => {
                    let (name, text) = engine_word::render(
                        context.spec.task().as_str(),
                        self.checks.as_ref(),
                        *role,
                        (*word, why),
                    );
                    vec![written(&round, name, text)]
                }
            },
            // Before the end is recorded: nobody takes an ended run up again to write what a crash left out.
            Fact::EffectRequested { request: Effect::CloseRun(_), .. } => {
                vec![written(context.run_dir(), RunMetadata::FILE_NAME, self.metadata.render())]
            }
            Fact::EffectSettled { outcome: Outcome::Closed, .. } => {
                let run_dir = context.run_dir();
                let summary = self.closing.iter().map(|closing| {
                    written(run_dir, Summary::FILE_NAME, summary(context, spec.audit, closing).render())
                });
                summary.chain([written(run_dir, RunMetadata::FILE_NAME, self.metadata.render())]).collect()
            }
            // A summary of an earlier end must not stand beside a run that goes on.
            Fact::RunReopened { .. } | Fact::LandingAsked { .. } => {
                vec![FileChange::Remove { path: context.run_dir().join(Summary::FILE_NAME) }]
            }
            Fact::EffectRequested { .. }
            | Fact::EffectSettled { .. }
            | Fact::RunStarted { .. }
            | Fact::StopAsked { .. }
            | Fact::PersonSaid { .. }
            | Fact::JudgedTask(_)
            | Fact::FeedbackControl(_)
            | Fact::GoalContract(_)
            | Fact::RoadmapRounds(_)
            | Fact::StoryQueue(_)
            | Fact::RunEnded => Vec::new(),
        }
    }
}

/// The summary in the original's words.
pub(crate) fn summary(context: &RunContext, audit: AuditPolicy, closing: &CloseRun) -> Summary {
    Summary {
        task_id: context.spec.task().to_string(),
        final_verdict: FinalVerdict::from_word(&closing.final_verdict),
        rounds_completed: closing.rounds_completed,
        run_dir: context.spec.place().run_dir.clone(),
        judge_verdict: closing.judge_verdict.clone(),
        audit_gate: closing.audit_gate.clone(),
        audit_enabled: audit == AuditPolicy::Required,
        extra: ExtraKeys::default(),
    }
}

/// One difference between the directory before and after a fact.
enum FileChange {
    Write {
        path: PathBuf,
        content: Content,
    },
    Remove {
        path: PathBuf,
    },
    /// The step that was just asked for writes it before it begins, so nobody knows its content yet.
    WrittenByStep {
        path: PathBuf,
    },
}

impl FileChange {
    fn path(&self) -> &Path {
        match self {
            Self::Write { path, .. } | Self::Remove { path } | Self::WrittenByStep { path } => path,
        }
    }

    /// Whether less is there than was written.
    fn was_shortened(&self) -> bool {
        let Self::Write { path, content } = self else { return false };
        let wanted = match content {
            Content::Text(text) => text.len() as u64,
            Content::Sealed(artifact) => artifact.bytes,
        };
        path.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() < wanted)
    }
}

#[derive(Clone)]
enum Content {
    Text(String),
    Sealed(ArtifactRef),
}

impl Content {
    fn digest(&self) -> Digest {
        match self {
            Self::Text(text) => digest(text.as_bytes()),
            Self::Sealed(artifact) => artifact.digest.clone(),
        }
    }
}

fn copies(round: &Path, evidence: &[ArtifactRef], wanted: impl Fn(&str) -> bool) -> Vec<FileChange> {
    evidence.iter().filter(|artifact| wanted(&artifact.name)).map(|artifact| copy(round, artifact)).collect()
}

fn copy(round: &Path, artifact: &ArtifactRef) -> FileChange {
    FileChange::Write { path: round.join(&artifact.name), content: Content::Sealed(artifact.clone()) }
}

fn written(directory: &Path, name: &str, text: String) -> FileChange {
    FileChange::Write { path: directory.join(name), content: Content::Text(text) }
}

/// The files of a directory that is ours from the start; the original's own are left as they are.
fn prepared_files(context: &RunContext, base_tree: &str) -> Vec<FileChange> {
    if context.adopted().is_some() {
        return Vec::new();
    }
    let run_dir = context.run_dir();
    let mut files = vec![written(run_dir, RunMetadata::FILE_NAME, metadata_at_start(context, base_tree))];
    files.extend(run_files(context).into_iter().map(|(name, text)| written(run_dir, name, text)));
    files
}

/// The task and the places, in the original's own files.
pub(crate) fn run_files(context: &RunContext) -> [(&'static str, String); 2] {
    let place = context.spec.place();
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let env = WorktreesEnv {
        repo: place.repository.clone(),
        base_ref: place.base_ref.clone(),
        doer_branch: place.doer_branch.clone(),
        judge_branch: place.judge_branch.clone(),
        doer_dir: text(&context.worktree(Role::Doer)),
        judge_dir: text(&context.worktree(Role::Judge)),
        judge_access: JudgeAccess::ReadOnly,
        extra_lines: Vec::new(),
    };
    // A path with a line break has no form in that file. Nothing of ours reads it back, so the run goes on.
    let env = env.render().unwrap_or_else(|error| format!("# {error}\n"));
    [("task.txt", render_task_text(context.spec.text())), ("worktrees.env", env)]
}

fn ensure_at(path: &Path, content: &[u8]) -> Result<(), Fault> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|error| file_fault("make the directory", parent, &error))?;
    }
    ensure(path, content)
}

fn remove(path: &Path) -> Result<(), Fault> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(file_fault("remove", path, &error)),
        _ => Ok(()),
    }
}

fn sealed(artifact: &ArtifactRef) -> SealedArtifact {
    SealedArtifact {
        name: artifact.name.clone(),
        sha256: artifact.digest.to_string(),
        extra: ExtraKeys::default(),
    }
}
