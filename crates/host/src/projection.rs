//! Writes what the journal says into the run directory, where the original's tools look for it. Only copies: every file
//! can be written again from the journal and the sealed evidence, and after a restart it is.

use crate::context::RunContext;
use crate::durable_file::ensure;
use crate::effect_runner::ending;
use crate::fault::file_fault;
use std::path::Path;
use windlass_artifact_formats::ExtraKeys;
use windlass_artifact_formats::task_loop::{
    AuditReport, FailedCheck, FinalVerdict, Finding, Gate, Reason, RoundMetadata, RunMetadata, RunOutcome,
    SealedArtifact, Summary, Verdict, VerdictReport, audit_for_failed_checks, fallback_audit,
    fallback_verdict, verdict_for_failed_checks,
};
use windlass_control_api::Fault;
use windlass_protocols::effect::CloseRun;
use windlass_protocols::outcome::{ChecksReport, Outcome, VerdictWord};
use windlass_protocols::protocol::judged_task::facts::{Fact as TaskFact, Source};
use windlass_protocols::protocol::judged_task::state::{AuditPolicy, End};
use windlass_protocols::{ArtifactRef, Effect, Fact, Role};

/// Whether a sealed artifact of this name has its place in the round's directory.
pub(crate) fn is_round_file(name: &str) -> bool {
    const FILES: [&str; 4] = ["handoff.json", "patch.diff", "verdict.json", "eval-results.json"];
    FILES.contains(&name)
}

/// The run's own record before anything has happened.
pub(crate) fn metadata_at_start(context: &RunContext, base_tree: &str) -> String {
    metadata(context, base_tree.to_owned()).render()
}

fn metadata(context: &RunContext, base_tree: String) -> RunMetadata {
    RunMetadata {
        version: RunMetadata::VERSION,
        run_id: context.run.to_string(),
        base_ref: context.spec.place.base_ref.clone(),
        base_commit: context.spec.place.base.to_string(),
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
}

impl Projector {
    pub(crate) fn new(context: &RunContext) -> Self {
        Self { metadata: metadata(context, String::new()), round: 0, checks: None, closing: None }
    }

    /// Brings the directory in line after a restart. A crash can only have hit the files of the last append, and those
    /// belong to the last two rounds; rewriting every round would make resuming slower the longer a run was.
    pub(crate) fn catch_up(&mut self, context: &RunContext, facts: &[Fact]) -> Result<(), Fault> {
        let opened = |fact: &Fact| matches!(fact, Fact::JudgedTask(TaskFact::RoundOpened { .. }));
        let mut openings = facts.iter().enumerate().rev().filter(|(_, fact)| opened(fact));
        let _last = openings.next();
        let from = openings.next().map_or(0, |(position, _)| position);
        for (position, fact) in facts.iter().enumerate() {
            self.note(fact);
            if position >= from {
                self.show(context, fact)?;
            }
        }
        Ok(())
    }

    pub(crate) fn follow(&mut self, context: &RunContext, facts: &[Fact]) -> Result<(), Fault> {
        for fact in facts {
            self.note(fact);
            self.show(context, fact)?;
        }
        Ok(())
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
                    reason: reason(end).to_owned(),
                    extra: ExtraKeys::default(),
                });
            }
            _ => {}
        }
    }

    fn show(&self, context: &RunContext, fact: &Fact) -> Result<(), Fault> {
        let round = context.round_dir(self.round);
        match fact {
            Fact::EffectSettled { outcome: Outcome::AgentEnded(report), .. } => {
                copies(context, &round, &report.evidence, |name| {
                    name.ends_with(".last.md") || name.ends_with(".prompt.md")
                })
            }
            Fact::EffectSettled { outcome: Outcome::ChecksRan(report), .. } if self.round > 0 => {
                copies(context, &round, &report.evidence, |name| {
                    name.starts_with("logs/") || name.ends_with("-results.json")
                })
            }
            Fact::JudgedTask(TaskFact::HandoffTaken { handoff }) => copy(context, &round, &handoff.artifact),
            Fact::JudgedTask(TaskFact::ChangeTaken { change }) => copy(context, &round, &change.patch),
            Fact::JudgedTask(TaskFact::VerdictTaken { role, word, source, .. }) => match source {
                Source::Agent { artifact } => copy(context, &round, artifact),
                Source::Engine { why } => self.write_engine_word(context, &round, *role, (*word, why)),
            },
            Fact::EffectSettled { outcome: Outcome::Closed, .. } if context.run_dir().is_dir() => {
                if let Some(closing) = &self.closing {
                    let text = summary(context, closing).render();
                    ensure(&context.run_dir().join(Summary::FILE_NAME), text.as_bytes())?;
                }
                ensure(&context.run_dir().join(RunMetadata::FILE_NAME), self.metadata.render().as_bytes())
            }
            // A summary of an earlier end must not stand beside a run that goes on.
            Fact::RunReopened { .. } | Fact::LandingAsked { .. } => {
                remove(&context.run_dir().join("summary.json"))
            }
            Fact::EffectRequested { .. }
            | Fact::EffectSettled { .. }
            | Fact::RunStarted { .. }
            | Fact::StopAsked { .. }
            | Fact::JudgedTask(_)
            | Fact::RunEnded => Ok(()),
        }
    }

    /// The file of a role that gave no usable word, was overruled, or was not asked because a check was red.
    fn write_engine_word(
        &self,
        context: &RunContext,
        round: &Path,
        role: Role,
        (word, why): (VerdictWord, &str),
    ) -> Result<(), Fault> {
        let task = context.spec.task.as_str();
        let red: Vec<FailedCheck> = self
            .checks
            .iter()
            .flat_map(ChecksReport::red)
            .map(|result| FailedCheck {
                command: result.command.clone(),
                ending: ending(&result.end),
                output_tail: result.tail.clone(),
            })
            .collect();
        match (role, word) {
            (Role::Auditor, VerdictWord::Reject) => {
                let mut file =
                    if red.is_empty() { fallback_audit(task) } else { audit_for_failed_checks(task, &red) };
                if red.is_empty() {
                    file.gate = Gate::Fail;
                    file.findings = vec![Finding::new("orchestrator", why)];
                    file.required_actions = vec![why.to_owned()];
                }
                ensure_in(round, AuditReport::FILE_NAME, file.render().as_bytes())
            }
            (Role::Auditor, _) => {
                ensure_in(round, AuditReport::FILE_NAME, fallback_audit(task).render().as_bytes())
            }
            (_, VerdictWord::Reject) => {
                let mut file = if red.is_empty() {
                    fallback_verdict(task)
                } else {
                    verdict_for_failed_checks(task, &red)
                };
                if red.is_empty() {
                    file.verdict = Verdict::Reject;
                    file.reasons = vec![Reason::new("orchestrator", why)];
                    file.required_changes.clear();
                }
                ensure_in(round, VerdictReport::FILE_NAME, file.render().as_bytes())
            }
            (_, _) => ensure_in(round, VerdictReport::FILE_NAME, fallback_verdict(task).render().as_bytes()),
        }
    }
}

/// The summary in the original's words.
pub(crate) fn summary(context: &RunContext, closing: &CloseRun) -> Summary {
    Summary {
        task_id: context.spec.task.to_string(),
        final_verdict: FinalVerdict::from_word(&closing.final_verdict),
        rounds_completed: closing.rounds_completed,
        run_dir: context.spec.place.run_dir.clone(),
        judge_verdict: closing.judge_verdict.clone(),
        audit_gate: closing.audit_gate.clone(),
        audit_enabled: context.spec.audit == AuditPolicy::Required,
        extra: ExtraKeys::default(),
    }
}

fn copies(
    context: &RunContext,
    round: &Path,
    evidence: &[ArtifactRef],
    wanted: impl Fn(&str) -> bool,
) -> Result<(), Fault> {
    evidence
        .iter()
        .filter(|artifact| wanted(&artifact.name))
        .try_for_each(|artifact| copy(context, round, artifact))
}

fn copy(context: &RunContext, round: &Path, artifact: &ArtifactRef) -> Result<(), Fault> {
    ensure_in(round, &artifact.name, &context.evidence.read(artifact)?)
}

fn ensure_in(directory: &Path, name: &str, content: &[u8]) -> Result<(), Fault> {
    let path = directory.join(name);
    let parent = path.parent().unwrap_or(directory);
    std::fs::create_dir_all(parent).map_err(|error| file_fault("make the directory", parent, &error))?;
    ensure(&path, content)
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

const fn reason(end: &End) -> &'static str {
    match end {
        End::Accepted { .. } => "accepted",
        End::Rejected { .. } => "rejected",
        End::NeedsHuman { .. } => "needs-human",
        End::Exhausted { .. } => "exhausted",
        End::Stopped { .. } => "stopped",
        End::SetupFailed { .. } => "setup-failed",
    }
}
