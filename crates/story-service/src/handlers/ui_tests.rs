//! Test runs of a user interface.

use crate::asked::{Asked, Look, Reply, free_json, id_or_null, maybe_moment, moment};
use crate::resolve::project_in_path;
use crate::route::Kind::{Object, Text};
use crate::route::{PAGE, Route, Who, needs, takes};
use serde_json::{Value, json};
use windlass_control_api::stories::Method::Post;
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::ui_tests::{self, Finding, Run, Severity};
use windlass_protocols::protocol::story_queue::vocabulary::{KeyRole, ProjectId, UiTestId};

const WHO: Who = Who::AtLeast(KeyRole::Agent);

pub(crate) const ROUTES: &[Route] = &[
    Route::write(Post, "/projects/:id/ui-tests", WHO, "Begin a test run of an interface", start)
        .body(&[needs("guide_reference", Text), takes("metadata", Object)]),
    Route::read("/projects/:id/ui-tests", WHO, "Test runs of a project", list).query(&PAGE),
    Route::read("/projects/:id/ui-tests/:run", WHO, "One test run", show),
    Route::write(Post, "/projects/:id/ui-tests/:run/findings", WHO, "Add a finding", find).body(&[
        needs("step", Text),
        needs("severity", Text),
        needs("type", Text),
        needs("description", Text),
        takes("screenshot_path", Text),
        takes("console_errors", Text),
    ]),
    Route::write(Post, "/projects/:id/ui-tests/:run/complete", WHO, "End a test run", complete)
        .body(&[needs("status", Text), takes("summary", Text)]),
];

fn view(run: &Run) -> Value {
    let count = |severity: Severity| run.count(severity);
    let finding = |finding: &Finding| {
        json!({
            "step": finding.step,
            "severity": finding.severity.name(),
            "type": finding.kind,
            "description": finding.description,
            "screenshot_path": finding.screenshot_path,
            "console_errors": finding.console_errors,
        })
    };
    json!({
        "id": run.id,
        "project_id": run.project,
        "guide_reference": run.guide_reference,
        "status": run.status.name(),
        "findings": run.findings.iter().map(finding).collect::<Vec<_>>(),
        "findings_count": run.findings.len(),
        "critical_count": count(Severity::Critical),
        "high_count": count(Severity::High),
        "medium_count": count(Severity::Medium),
        "low_count": count(Severity::Low),
        "summary": run.summary,
        "metadata": free_json(&run.metadata),
        "started_by_agent_id": id_or_null(run.started_by),
        "started_at": moment(run.started_at),
        "completed_at": maybe_moment(run.completed_at),
    })
}

fn found(ledger: &Ledger, project: ProjectId, id: UiTestId) -> Decided<Reply> {
    let run = ledger.ui_tests.runs.get(&id).filter(|run| run.project == project);
    let run = run.ok_or_else(|| Refusal::not_found("ui test run"))?;
    Ok(Reply::ok(json!({ "ui_test_run": view(run) })))
}

fn start(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_in_path(draft.ledger(), asked)?;
    let metadata = asked.json("metadata").unwrap_or_default();
    let id = ui_tests::start_run(draft, project, asked.needed("guide_reference"), metadata)?;
    Ok(found(draft.ledger(), project, id)?.with_status(201))
}

fn list(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_in_path(look.ledger, asked)?;
    let runs: Vec<&Run> = look.ledger.ui_tests.of_project(project).collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&runs, |run| view(run))))
}

fn show(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    found(look.ledger, project_in_path(look.ledger, asked)?, asked.id("run", "ui test run")?)
}

fn find(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_in_path(draft.ledger(), asked)?;
    let run = asked.id("run", "ui test run")?;
    let severity = asked.needed("severity").parse();
    let finding = Finding {
        step: asked.needed("step"),
        severity: severity
            .map_err(|_| Refusal::field("severity", "must be critical, high, medium or low"))?,
        kind: asked.needed("type"),
        description: asked.needed("description"),
        screenshot_path: asked.owned("screenshot_path"),
        console_errors: asked.owned("console_errors"),
    };
    ui_tests::add_finding(draft, project, run, finding)?;
    Ok(found(draft.ledger(), project, run)?.with_status(201))
}

fn complete(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_in_path(draft.ledger(), asked)?;
    let run = asked.id("run", "ui test run")?;
    let status = asked.needed("status").parse();
    let status = status.map_err(|_| Refusal::field("status", "must be passed, failed or cancelled"))?;
    ui_tests::complete_run(draft, project, run, status, asked.owned("summary"))?;
    found(draft.ledger(), project, run)
}
