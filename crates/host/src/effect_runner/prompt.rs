//! What a role is told, put together from the run and from sealed evidence. The wording lives in `artifact-formats`.

use super::criteria;
use crate::context::RunContext;
use crate::evidence::EvidenceStore;
use crate::fault::bug;
use std::path::Path;
use windlass_agent_drivers::AnswerBy;
use windlass_artifact_formats::Reading;
use windlass_artifact_formats::gate::GateEvidence;
use windlass_artifact_formats::task_loop::prompts::{
    AuditorPrompt, CheckReport, DoerPrompt, FeedbackSource, JudgePrompt, PastFeedback, Places, PromptBody,
    RepairPrompt, RepairedArtifact, SPOKEN_ANSWER, TaskBrief,
};
use windlass_artifact_formats::task_loop::{AuditCheck, AuditResults, CommandEnding, Handoff, VerdictReport};
use windlass_control_api::Fault;
use windlass_protocols::effect::{Ask, Purpose, RunAgent};
use windlass_protocols::kernel::gate::{Gate, GateFinding, NewTests};
use windlass_protocols::outcome::{CheckResult, StepEnd};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::judged_task::facts::RejectedBy;
use windlass_protocols::protocol::judged_task::spec::TaskSpec;
use windlass_protocols::protocol::judged_task::state::State;
use windlass_protocols::{ArtifactRef, Role, Run};

/// The role's name in the run directory's files.
pub(super) const fn legacy_role(role: Role) -> &'static str {
    match role {
        Role::Doer => "doer",
        Role::Judge => "judge",
        Role::Auditor => "audit",
        Role::Sensor => "sensor",
        Role::Controller => "controller",
        Role::Actuator => "actuator",
        Role::Planner => "planner",
        Role::Builder => "builder",
        Role::Evaluator => "evaluator",
        Role::Implementer => "implementer",
        Role::Reviewer => "reviewer",
        Role::Investigator => "recovery-investigator",
    }
}

pub(crate) fn file_name(role: Role) -> String {
    format!("{}.prompt.md", legacy_role(role))
}

pub(super) fn render(
    context: &RunContext,
    asked: &RunAgent,
    run: &Run,
    (outbox, answer_by): (&Path, AnswerBy),
) -> Result<String, Fault> {
    let Some(Protocol::JudgedTask(state)) = run.started.as_ref().map(|started| &started.protocol) else {
        return Err(bug("a prompt is asked for by a run that has not started"));
    };
    let material = Material::collect(&context.evidence, &asked.inputs)?;
    let rounds = run.started.as_ref().map_or(1, |started| started.budget.caps.rounds);
    let (feedback, history) = match &asked.ask {
        Ask::Fresh { feedback, history } => (feedback.join("\n"), history.clone()),
        Ask::Repair { .. } => (state.feedback.join("\n"), state.history.clone()),
    };
    let told = Told {
        feedback,
        history: history.join("\n"),
        source: source(state),
        ..of_the_gate(&state.integrity)
    };
    let mut text =
        whole((context, context.task_loop()?), (asked.role, asked.round, rounds), &material, &told, outbox);
    text.push_str(&criteria::shown(context, asked)?);
    if let Ask::Repair { faults } = &asked.ask {
        // Agents remember nothing, so the whole question is put again, with what was wrong with the answer.
        text.push_str("\n\n");
        text.push_str(
            &RepairPrompt {
                artifact: artifact_of(asked.role),
                task_id: context.spec.task().as_str(),
                outbox: &outbox.to_string_lossy(),
                faults: Some(&faults.join("\n")),
                previous: material.left.as_deref(),
                criteria: &criteria::ids(context.task_loop()?),
            }
            .render(),
        );
    }
    if answer_by != AnswerBy::Outbox {
        text.push('\n');
        text.push_str(SPOKEN_ANSWER);
    }
    Ok(text)
}

/// The prompts of a round nobody will play, for a dry run.
pub(crate) fn dry_run_prompts(
    context: &RunContext,
    spec: &TaskSpec,
    roles: &[Role],
) -> Vec<(String, String)> {
    let told = Told::default();
    let rounds = context.spec.caps().rounds;
    let outbox = Path::new("$WINDLASS_OUTBOX");
    roles
        .iter()
        .map(|role| {
            (
                file_name(*role),
                whole((context, spec), (*role, 1, rounds), &Material::default(), &told, outbox),
            )
        })
        .collect()
}

struct Told {
    feedback: String,
    history: String,
    source: FeedbackSource,
    findings: Vec<String>,
    new_tests: Vec<String>,
}

impl Default for Told {
    fn default() -> Self {
        of_the_gate(&Gate::default())
    }
}

/// What a judge is told about the gate of the change.
fn of_the_gate(gate: &Gate) -> Told {
    Told {
        feedback: String::new(),
        history: String::new(),
        source: FeedbackSource::Engine,
        findings: gate.findings.iter().map(GateFinding::words).collect(),
        new_tests: gate.new_tests.iter().map(NewTests::words).collect(),
    }
}

const fn source(state: &State) -> FeedbackSource {
    match state.last_rejection {
        Some(RejectedBy::Judge) => FeedbackSource::Judge,
        Some(RejectedBy::Auditor) => FeedbackSource::Auditor,
        _ => FeedbackSource::Engine,
    }
}

const fn artifact_of(role: Role) -> RepairedArtifact {
    match role {
        Role::Doer => RepairedArtifact::Handoff,
        Role::Auditor => RepairedArtifact::Audit,
        _ => RepairedArtifact::Verdict,
    }
}

fn whole(
    (context, spec): (&RunContext, &TaskSpec),
    (role, round, max_rounds): (Role, u32, u32),
    material: &Material,
    told: &Told,
    outbox: &Path,
) -> String {
    let worktree = context.worktree(role).to_string_lossy().into_owned();
    let round_directory = context.round_dir(round).to_string_lossy().into_owned();
    let outbox = outbox.to_string_lossy().into_owned();
    let task = TaskBrief { task_id: spec.task.as_str(), task_text: &spec.text, round, max_rounds };
    let places = Places { worktree: &worktree, round_directory: &round_directory, outbox: &outbox };
    let body = spec.place.prompts.get(&role).map_or(PromptBody::BuiltIn, |text| PromptBody::Replaced(text));
    let baseline = reports(&material.baseline);
    match role {
        Role::Doer => {
            let before = round.saturating_sub(1);
            let past = |text| PastFeedback { round: before, from: told.source, text };
            let history = [PastFeedback { round: before, from: FeedbackSource::Engine, text: &told.history }];
            DoerPrompt {
                task,
                places,
                body,
                feedback: (!told.feedback.is_empty()).then(|| past(&told.feedback)),
                history: if told.history.is_empty() { &[] } else { &history },
                baseline: &baseline,
            }
            .render()
        }
        Role::Judge
        | Role::Sensor
        | Role::Controller
        | Role::Actuator
        | Role::Planner
        | Role::Builder
        | Role::Evaluator
        | Role::Implementer
        | Role::Reviewer
        | Role::Investigator => JudgePrompt {
            task,
            places,
            body,
            handoff: material.handoff.as_deref(),
            eval_commands: &commands(&spec.checks),
            results: &reports(&material.checks),
            baseline: &baseline,
            gate: GateEvidence { findings: &told.findings, new_tests: &told.new_tests },
        }
        .render(),
        Role::Auditor => AuditorPrompt {
            task,
            places,
            body,
            handoff: material.handoff.as_deref(),
            verdict: material.verdict.as_deref(),
            audit_commands: &commands(&spec.audit_checks),
            checks: &material.audit_checks,
            results: &reports(&material.audit_results),
        }
        .render(),
    }
}

fn commands(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

fn reports(results: &[CheckResult]) -> Vec<CheckReport<'_>> {
    results
        .iter()
        .map(|result| CheckReport {
            command: &result.command,
            ending: ending(&result.end),
            output_tail: &result.tail,
        })
        .collect()
}

pub(crate) const fn ending(end: &StepEnd) -> CommandEnding {
    match end {
        StepEnd::Exited { code } => CommandEnding::ExitCode(*code),
        StepEnd::Signaled { signal } => CommandEnding::Signal(*signal),
        StepEnd::TotalLimit
        | StepEnd::IdleLimit
        | StepEnd::OutputLimit
        | StepEnd::MemoryLimit
        | StepEnd::ProcessLimit => CommandEnding::TimedOut,
        StepEnd::NotStarted { .. } => CommandEnding::NotStarted,
    }
}

/// Sealed evidence, read back for quoting.
#[derive(Default)]
struct Material {
    handoff: Option<String>,
    verdict: Option<String>,
    /// The answer that is to be mended, as it was found.
    left: Option<String>,
    baseline: Vec<CheckResult>,
    checks: Vec<CheckResult>,
    audit_results: Vec<CheckResult>,
    audit_checks: Vec<AuditCheck>,
}

impl Material {
    fn collect(evidence: &EvidenceStore, inputs: &[ArtifactRef]) -> Result<Self, Fault> {
        let mut material = Self::default();
        for input in inputs {
            let name = input.name.as_str();
            if name == Handoff::FILE_NAME {
                material.handoff = Some(text(evidence, input)?);
            } else if name.ends_with(".as-left") {
                material.left = Some(text(evidence, input)?);
            } else if name == VerdictReport::FILE_NAME {
                material.verdict = Some(text(evidence, input)?);
            } else if name == super::checks::results_name(Purpose::Baseline) {
                material.baseline = results(evidence, input)?;
            } else if name == super::checks::results_name(Purpose::Acceptance) {
                material.checks = results(evidence, input)?;
            } else if name == super::checks::results_name(Purpose::Audit) {
                material.audit_results = results(evidence, input)?;
            } else if name == AuditResults::FILE_NAME {
                let bytes = evidence.read(input)?;
                if let Ok(file) = AuditResults::parse(&bytes, &Reading::legacy()) {
                    material.audit_checks = file.checks;
                }
            }
        }
        Ok(material)
    }
}

fn text(evidence: &EvidenceStore, input: &ArtifactRef) -> Result<String, Fault> {
    Ok(String::from_utf8_lossy(&evidence.read(input)?).into_owned())
}

fn results(evidence: &EvidenceStore, input: &ArtifactRef) -> Result<Vec<CheckResult>, Fault> {
    serde_json::from_slice(&evidence.read(input)?).map_err(|error| bug(format!("{}: {error}", input.name)))
}
