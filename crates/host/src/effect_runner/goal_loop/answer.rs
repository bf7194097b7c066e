//! From whatever a role of a goal loop left to what a decision may use: validated, put into its canonical form and sealed.

use super::super::answer::waived;
use super::files;
use crate::context::RunContext;
use crate::fault::bug;
use crate::outbox::{Left, read_answer};
use std::path::Path;
use windlass_artifact_formats::goal_loop::{
    BuilderReport, DesignAnswer, Evaluation as EvaluationFile, FEATURES_FILE, FeatureList, ItemId,
    RefinedContract as FromDesign,
};
use windlass_artifact_formats::{ArtifactFaults, Reading};
use windlass_control_api::Fault;
use windlass_process_supervisor::Redaction;
use windlass_protocols::effect::RunAgent;
use windlass_protocols::outcome::{Answer, BuildReport, DesignReport, Evaluation, RootCause};
use windlass_protocols::protocol::goal_contract::reports::{ContractWords, RefinedContract};
use windlass_protocols::{ArtifactRef, Role};

/// More issues than this bury the root cause.
const MAX_ISSUES: usize = 30;

/// The form that a program is held to where it can be.
pub(in super::super) fn schema(role: Role) -> String {
    match role {
        Role::Planner => DesignAnswer::answer_schema(),
        _ => EvaluationFile::answer_schema(),
    }
}

const fn file_name(role: Role) -> &'static str {
    match role {
        Role::Planner => DesignAnswer::FILE_NAME,
        Role::Evaluator => EvaluationFile::FILE_NAME,
        _ => BuilderReport::FILE_NAME,
    }
}

pub(in super::super) fn read(
    context: &RunContext,
    (outbox, redaction): (&Path, &Redaction),
    asked: &RunAgent,
    spoken: Option<&str>,
    evidence: &mut Vec<ArtifactRef>,
) -> Result<Answer, Fault> {
    let name = file_name(asked.role);
    let bytes = match (read_answer(outbox, name), spoken) {
        (Left::Content(bytes), _) => redaction.of(&bytes),
        (_, Some(spoken)) if !spoken.trim().is_empty() => redaction.of(spoken.as_bytes()),
        (Left::NotAFile(fault), _) => return Ok(Answer::Malformed { faults: vec![fault] }),
        (Left::Nothing, _) => return Ok(Answer::Missing),
    };
    evidence.push(context.evidence.seal(&format!("{name}.as-left"), &bytes)?);
    let id = asked.item.as_deref().ok_or_else(|| bug("an agent of a goal loop without an item"))?;
    match asked.role {
        Role::Builder => built(context, &bytes),
        Role::Planner => designed(context, asked, id, &bytes),
        _ => evaluated(context, id, &bytes),
    }
}

fn malformed(faults: &ArtifactFaults) -> Answer {
    Answer::Malformed { faults: faults.faults().iter().map(ToString::to_string).collect() }
}

fn built(context: &RunContext, bytes: &[u8]) -> Result<Answer, Fault> {
    let text = String::from_utf8_lossy(bytes);
    let Some(report) = BuilderReport::read(&text) else {
        return Ok(Answer::Malformed { faults: vec!["the report is empty".to_owned()] });
    };
    Ok(Answer::Build(BuildReport {
        summary: report.summary,
        question: report.question,
        artifact: Some(context.evidence.seal(BuilderReport::FILE_NAME, bytes)?),
    }))
}

fn evaluated(context: &RunContext, id: &str, bytes: &[u8]) -> Result<Answer, Fault> {
    let file = match EvaluationFile::parse(bytes, &Reading::from_agent(id)) {
        Ok(file) => file,
        Err(faults) => return Ok(malformed(&faults)),
    };
    let pass = file.passed();
    let issues = file.issues.iter().take(MAX_ISSUES).map(|issue| match (issue.file.trim(), issue.line) {
        ("", _) => issue.text.clone(),
        (path, Some(line)) => format!("{path}:{line}: {}", issue.text),
        (path, None) => format!("{path}: {}", issue.text),
    });
    let fix = Some(file.fix.trim()).filter(|fix| !fix.is_empty()).map(|fix| format!("fix: {fix}"));
    Ok(Answer::Evaluation(Evaluation {
        pass,
        cause: (!pass).then(|| RootCause { key: file.cause.key().to_string(), text: file.cause.sentence() }),
        issues: issues.chain(fix).collect(),
        artifact: context.evidence.seal(EvaluationFile::FILE_NAME, file.render().as_bytes())?,
        waivers: waived(&file.waivers),
    }))
}

/// The document is made here and sealed: what a person approves is what the builder reads.
fn designed(context: &RunContext, asked: &RunAgent, id: &str, bytes: &[u8]) -> Result<Answer, Fault> {
    let file = match DesignAnswer::parse(bytes, &Reading::from_agent(id)) {
        Ok(file) => file,
        Err(faults) => return Ok(malformed(&faults)),
    };
    let item = files::item_id(id)?;
    let began = &context.goal_loop()?.began;
    let agent = context.spec.place().agents.get(&Role::Planner).map_or("planner", String::as_str);
    let text = file.document(&item, id, began.get(..10).unwrap_or(began), agent);
    let name = format!("{id}-design.md");
    Ok(Answer::Design(DesignReport {
        summary: file.overview.lines().next().unwrap_or_default().chars().take(160).collect(),
        paths: file.files.clone(),
        artifact: context.evidence.seal(&name, text.as_bytes())?,
        refined: refined(shown_contract(context, asked, &item)?, &file.contract),
    }))
}

/// The item's contract in the queue that the planner was given.
fn shown_contract(context: &RunContext, asked: &RunAgent, item: &ItemId) -> Result<ContractWords, Fault> {
    let queue = asked.inputs.iter().find(|input| input.name == files::source_name(FEATURES_FILE));
    let Some(queue) = queue else { return Ok(ContractWords::default()) };
    let list = FeatureList::parse(&files::text(context, queue)?).map_err(|faults| bug(faults.to_string()))?;
    Ok(list.get(item).map(|item| files::contract_words(&item.contract)).unwrap_or_default())
}

fn refined(from: ContractWords, design: &FromDesign) -> Option<RefinedContract> {
    let FromDesign { deliverable, verification } = design.clone();
    let to = ContractWords { deliverable, verification };
    (from != to).then_some(RefinedContract { from, to })
}
