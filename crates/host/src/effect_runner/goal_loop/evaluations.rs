//! The evaluator's reports in the repository: the newest where people look for it, and each under a name of its own, so
//! that no verdict is lost when the next one is written.

use super::files::{LoopFile, at_head, is_titled, iso, item_id, text, text_at_head};
use super::ledger::name;
use super::shown;
use crate::context::RunContext;
use crate::fault::{bug, git_fault};
use windlass_artifact_formats::Reading;
use windlass_artifact_formats::goal_loop::{
    EVALUATION_FILE, Evaluation, EvaluationReport, kept_evaluation_path,
};
use windlass_control_api::Fault;
use windlass_protocols::effect::CommitItem;
use windlass_protocols::protocol::goal_contract::state::State;

const KEPT: &str = "docs/evaluations";

pub(super) fn of_commit(
    context: &RunContext,
    state: &State,
    asked: &CommitItem,
) -> Result<Vec<LoopFile>, Fault> {
    let (Some(id), Some(open)) = (&asked.item, &state.open) else { return Ok(Vec::new()) };
    let Some(artifact) = &open.passed else { return Ok(Vec::new()) };
    let evaluation = Evaluation::parse(text(context, artifact)?.as_bytes(), &Reading::from_agent(id))
        .map_err(|faults| bug(format!("the sealed evaluation: {faults}")))?;
    let (item, date) = (item_id(id)?, iso(asked.decided_at));
    let item_name = name(state, id);
    let report = EvaluationReport {
        date: &date,
        items: &[(&item, item_name.as_str(), &evaluation)],
        recommendations: &[],
        architecture_observations: &[],
    }
    .render();
    let head = shown::newest(context, state)?;
    let names = context.repository.names_at(&head.tree, KEPT).map_err(git_fault)?;
    let path = unused(&kept_evaluation_path(&date, &item, asked.iteration), &names);
    let mut files = vec![(path, report.clone().into_bytes())];
    let before = text_at_head(context, state, EVALUATION_FILE)?;
    // Somebody else's page of that name is left alone: the report stands in its own place.
    if before.is_none_or(|before| is_titled(&before, "Evaluation")) {
        files.push((EVALUATION_FILE.to_owned(), report.into_bytes()));
        files.extend(from_before(context, state, &names)?);
    }
    Ok(files)
}

/// An earlier run of the same day may have kept one under this name.
fn unused(path: &str, names: &[String]) -> String {
    let stem = path.strip_suffix(".md").unwrap_or(path);
    let is_free = |path: &String| !names.iter().any(|name| path.ends_with(&format!("/{name}")));
    let numbered = (2..).map(|number| format!("{stem}-{number}.md"));
    std::iter::once(path.to_owned()).chain(numbered).find(is_free).unwrap_or_else(|| path.to_owned())
}

/// The report that the run's first one takes the place of, unless it is kept already.
fn from_before(context: &RunContext, state: &State, names: &[String]) -> Result<Option<LoopFile>, Fault> {
    if !state.commits.is_empty() {
        return Ok(None);
    }
    let Some(before) = at_head(context, state, EVALUATION_FILE)? else { return Ok(None) };
    for name in names {
        if at_head(context, state, &format!("{KEPT}/{name}"))?.as_ref() == Some(&before) {
            return Ok(None);
        }
    }
    let began: String = context.goal_loop()?.began.chars().filter(|letter| *letter != ':').collect();
    Ok(Some((format!("{KEPT}/before-{began}.md"), before)))
}
