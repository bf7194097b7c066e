//! Tokens and money: reports, budgets, anomalies and what they add up to.

use crate::asked::{Asked, Look, Reply, free_json, id_or_null, moment, parse_moment};
use crate::resolve;
use crate::resolve::{project_in_query, story, story_in_path};
use crate::route::Kind::{Boolean, Integer, Object, Text};
use crate::route::{Field, PAGE, Route, Who, needs, takes};
use serde_json::{Value, json};
use windlass_control_api::stories::Method::{Delete, Patch, Post};
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::usage::{
    self, Anomaly, Budget, BudgetScope, ChangeBudget, CorrectUsage, Day, Granularity, Judged, ModelCost,
    Period, Phase, Place, SetBudget, Stored, Sums, UsageNumbers,
};
use windlass_protocols::protocol::story_queue::vocabulary::{
    AnomalyId, BudgetId, KeyRole, Micros, SkillVersionId, StoryId, UsageId,
};
use windlass_protocols::protocol::story_queue::work::VerifiedStatus;

const READING: Who = Who::AtLeast(KeyRole::Agent);
const ORCHESTRATOR: Who = Who::AtLeast(KeyRole::Orchestrator);
const USER: Who = Who::AtLeast(KeyRole::User);
const PERIOD: &[Field] = &[
    takes("project_id", Text),
    takes("project", Text),
    takes("since", Text),
    takes("until", Text),
    takes("granularity", Text),
    PAGE[0],
    PAGE[1],
];
const BUDGET: [Field; 5] = [
    takes("budget_millicents", Integer),
    takes("budget_input_tokens", Integer),
    takes("budget_output_tokens", Integer),
    takes("alert_threshold_pct", Integer),
    takes("metadata", Object),
];

pub(crate) const ROUTES: &[Route] = &[
    Route::write(Post, "/token-usage", READING, "Report what an agent used on a story", report).body(&[
        needs("story_id", Text),
        takes("project_id", Text),
        needs("input_tokens", Integer),
        needs("output_tokens", Integer),
        needs("model_name", Text),
        needs("cost_millicents", Integer),
        takes("phase", Text),
        takes("session_id", Text),
        takes("skill_version_id", Text),
        takes("metadata", Object),
        takes("tool_call_count", Integer),
        takes("cot_length_tokens", Integer),
        takes("tests_run_count", Integer),
    ]),
    Route::read("/stories/:id/token-usage", READING, "What was used on a story", of_story),
    Route::write(Delete, "/token-usage/:id", USER, "Take a report out of the sums", delete),
    Route::write(
        Post,
        "/token-usage/:id/correction",
        USER,
        "Correct a report; numbers may be negative",
        correct,
    )
    .body(&[
        needs("input_tokens", Integer),
        needs("output_tokens", Integer),
        needs("cost_millicents", Integer),
        takes("metadata", Object),
    ]),
    Route::write(
        Post,
        "/token-budgets",
        ORCHESTRATOR,
        "Set a budget for a project, epic or story",
        set_budget,
    )
    .body(&[
        needs("scope_type", Text),
        needs("scope_id", Text),
        takes("project_id", Text),
        needs("budget_millicents", Integer),
        BUDGET[1],
        BUDGET[2],
        BUDGET[3],
        BUDGET[4],
    ]),
    Route::read("/token-budgets", READING, "Every budget, with what was spent", budgets).query(&PAGE),
    Route::read("/token-budgets/:id", READING, "One budget", budget),
    Route::write(Patch, "/token-budgets/:id", ORCHESTRATOR, "Change a budget", change_budget).body(&BUDGET),
    Route::write(Delete, "/token-budgets/:id", USER, "Remove a budget", remove_budget),
    Route::read("/cost-anomalies", ORCHESTRATOR, "Stories that cost far more or less than others", anomalies)
        .query(&[
            takes("anomaly_type", Text),
            takes("project_id", Text),
            takes("project", Text),
            takes("resolved", Boolean),
            takes("include_archived", Boolean),
            PAGE[0],
            PAGE[1],
        ]),
    Route::write(Patch, "/cost-anomalies/:id", USER, "Settle an anomaly", resolve_anomaly)
        .body(&[takes("resolved", Boolean)]),
    Route::read("/analytics/agents", ORCHESTRATOR, "Cost by agent", by_agent).query(PERIOD),
    Route::read("/analytics/agents/:id/model-profile", ORCHESTRATOR, "Which models an agent used", profile)
        .query(PERIOD),
    Route::read("/analytics/epics", READING, "Cost by epic", by_epic).query(PERIOD),
    Route::read("/analytics/projects/:id", READING, "Cost of a project", of_project).query(PERIOD),
    Route::read("/analytics/models", READING, "Cost by model, with verdicts", by_model).query(PERIOD),
    Route::read("/analytics/trends", ORCHESTRATOR, "Cost over time", trends).query(PERIOD),
    Route::read("/analytics/model-mix", ORCHESTRATOR, "Which models do what", mix).query(PERIOD),
];

/// From a body of its own or the part of a report.
pub(crate) fn numbers_of(value: &Value, path: &str) -> Decided<UsageNumbers> {
    let at = |name: &str| format!("{path}{name}");
    let get = |name: &str| value.get(name).filter(|value| !value.is_null());
    let whole = |name: &str| {
        get(name).and_then(Value::as_i64).ok_or_else(|| Refusal::field(&at(name), "must be a whole number"))
    };
    let count = |name: &str| match get(name) {
        None => Ok(None),
        Some(value) => value
            .as_u64()
            .map(Some)
            .ok_or_else(|| Refusal::field(&at(name), "must be a whole number, 0 or more")),
    };
    let small = |name: &str| Ok(count(name)?.map(|count| u32::try_from(count).unwrap_or(u32::MAX)));
    let text = |name: &str| get(name).and_then(Value::as_str);
    let phase = text("phase").map(str::parse::<Phase>).transpose();
    let version = text("skill_version_id").map(str::parse::<SkillVersionId>).transpose();
    let mut numbers = UsageNumbers::new(
        text("model_name").unwrap_or_default(),
        whole("input_tokens")?,
        whole("output_tokens")?,
        whole("cost_millicents")?,
    );
    numbers.phase = phase
        .map_err(|_| Refusal::field(&at("phase"), "must be planning, implementing, reviewing or other"))?
        .unwrap_or(Phase::Other);
    numbers.skill_version = version.map_err(|_| Refusal::field(&at("skill_version_id"), "is not an id"))?;
    numbers.session_id = text("session_id").map(ToOwned::to_owned);
    numbers.tool_call_count = small("tool_call_count")?;
    numbers.tests_run_count = small("tests_run_count")?;
    numbers.cot_length_tokens = count("cot_length_tokens")?;
    if let Some(metadata) = get("metadata") {
        numbers.metadata =
            windlass_protocols::protocol::story_queue::vocabulary::JsonText(metadata.to_string());
    }
    Ok(numbers)
}

fn report(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story(draft.ledger(), asked, &asked.needed("story_id"))?;
    let numbers = numbers_of(&Value::Object(asked.body.clone()), "")?;
    let place = Place::of(draft.ledger(), id)?;
    let reported = usage::report_usage(draft, place, numbers)?;
    shown(draft, reported.id).map(|body| body.with_status(201))
}

fn shown(draft: &Draft<'_>, id: UsageId) -> Decided<Reply> {
    let stored =
        draft.ledger().usage.reports.get(&id).ok_or_else(|| Refusal::not_found("token usage report"))?;
    Ok(Reply::ok(json!({ "token_usage_report": report_view(stored) })))
}

fn report_view(stored: &Stored) -> Value {
    let report = &stored.report;
    json!({
        "id": report.id,
        "story_id": report.story,
        "agent_id": report.agent,
        "project_id": report.project,
        "input_tokens": report.input_tokens,
        "output_tokens": report.output_tokens,
        "total_tokens": report.input_tokens + report.output_tokens,
        "model_name": report.model_name,
        "cost_millicents": report.cost_millicents,
        "phase": report.phase.name(),
        "session_id": report.session_id,
        "skill_version_id": id_or_null(report.skill_version),
        "metadata": free_json(&report.metadata),
        "tool_call_count": report.tool_call_count,
        "cot_length_tokens": report.cot_length_tokens,
        "tests_run_count": report.tests_run_count,
        "corrects_report_id": id_or_null(report.corrects),
        "deleted": stored.gone.is_some(),
        "inserted_at": moment(stored.at),
    })
}

fn sums(sums: &Sums) -> Value {
    json!({
        "input_tokens": sums.input_tokens,
        "output_tokens": sums.output_tokens,
        "total_tokens": sums.input_tokens + sums.output_tokens,
        "cost_millicents": sums.cost_millicents,
        "cost_dollars": usage::dollars(sums.cost_millicents),
        "report_count": sums.report_count,
    })
}

fn with(mut body: Value, more: Value) -> Value {
    if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
        body.extend(more);
    }
    body
}

fn of_story(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(look.ledger, asked)?;
    let rows: Vec<Value> =
        look.ledger.usage.reports_of(id).filter(|stored| stored.gone.is_none()).map(report_view).collect();
    Ok(Reply::ok(json!({ "data": rows, "totals": sums(&look.ledger.usage.total(usage::Scope::Story(id))) })))
}

fn delete(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = asked.id::<UsageId>("id", "token usage report")?;
    usage::delete_usage(draft, id)?;
    Ok(Reply::ok(json!({ "deleted": id })))
}

fn correct(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let ask = CorrectUsage {
        report: asked.id("id", "token usage report")?,
        input_tokens: asked.signed("input_tokens").unwrap_or(0),
        output_tokens: asked.signed("output_tokens").unwrap_or(0),
        cost_millicents: asked.signed("cost_millicents").unwrap_or(0),
        metadata: asked.json("metadata").unwrap_or_default(),
    };
    let corrected = usage::correct_usage(draft, ask)?;
    shown(draft, corrected.id).map(|body| body.with_status(201))
}

fn scope_of(ledger: &Ledger, asked: &Asked) -> Decided<BudgetScope> {
    let word = asked.needed("scope_id");
    Ok(match asked.needed("scope_type").as_str() {
        "project" => BudgetScope::Project(resolve::project(ledger, &word)?),
        "epic" => BudgetScope::Epic(resolve::epic(ledger, asked, &word)?),
        "story" => BudgetScope::Story(story(ledger, asked, &word)?),
        _ => return Err(Refusal::field("scope_type", "must be project, epic or story")),
    })
}

fn percent(asked: &Asked) -> Decided<Option<u8>> {
    let wrong = || Refusal::field("alert_threshold_pct", "must be 1 to 100");
    asked.number("alert_threshold_pct")?.map(|number| u8::try_from(number).map_err(|_| wrong())).transpose()
}

fn set_budget(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let scope = scope_of(draft.ledger(), asked)?;
    let project = scope.project(&draft.ledger().plan).ok_or_else(|| Refusal::not_found(scope.name()))?;
    let ask = SetBudget {
        scope,
        project,
        budget_millicents: asked.number("budget_millicents")?.unwrap_or(0),
        budget_input_tokens: asked.number("budget_input_tokens")?,
        budget_output_tokens: asked.number("budget_output_tokens")?,
        alert_threshold_pct: percent(asked)?.unwrap_or(80),
        metadata: asked.json("metadata").unwrap_or_default(),
    };
    let id = usage::set_budget(draft, ask)?;
    Ok(found_budget(draft.ledger(), id)?.with_status(201))
}

fn budget_view(ledger: &Ledger, budget: &Budget) -> Value {
    let plan = &ledger.plan;
    let (id, name) = match budget.scope {
        BudgetScope::Project(id) => (id.to_string(), plan.project(id).map(|project| project.slug.clone())),
        BudgetScope::Epic(id) => (id.to_string(), plan.epic(id).map(|epic| epic.number.to_string())),
        BudgetScope::Story(id) => (id.to_string(), plan.story(id).map(|story| story.number.to_string())),
    };
    json!({
        "id": budget.id,
        "scope_type": budget.scope.name(),
        "scope_id": id,
        "scope_name": name,
        "budget_millicents": budget.budget_millicents,
        "budget_input_tokens": budget.budget_input_tokens,
        "budget_output_tokens": budget.budget_output_tokens,
        "alert_threshold_pct": budget.alert_threshold_pct,
        "warning_fired": budget.warning_fired,
        "exceeded_fired": budget.exceeded_fired,
        "metadata": free_json(&budget.metadata),
        "spent": sums(&ledger.usage.total(budget.scope)),
    })
}

fn found_budget(ledger: &Ledger, id: BudgetId) -> Decided<Reply> {
    let budget = ledger.usage.budgets.get(&id).ok_or_else(|| Refusal::not_found("token budget"))?;
    Ok(Reply::ok(json!({ "token_budget": budget_view(ledger, budget) })))
}

fn budget(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    found_budget(look.ledger, asked.id("id", "token budget")?)
}

fn budgets(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let all: Vec<&Budget> = look.ledger.usage.budgets.values().collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&all, |budget| budget_view(look.ledger, budget))))
}

fn change_budget(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = asked.id::<BudgetId>("id", "token budget")?;
    let limit = |name: &str| -> Decided<Option<Option<u64>>> {
        if asked.body.contains_key(name) { Ok(Some(asked.number(name)?)) } else { Ok(None) }
    };
    let ask = ChangeBudget {
        budget_millicents: asked.number("budget_millicents")?,
        budget_input_tokens: limit("budget_input_tokens")?,
        budget_output_tokens: limit("budget_output_tokens")?,
        alert_threshold_pct: percent(asked)?,
        metadata: asked.json("metadata"),
    };
    usage::change_budget(draft, id, ask)?;
    found_budget(draft.ledger(), id)
}

fn remove_budget(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = asked.id::<BudgetId>("id", "token budget")?;
    usage::remove_budget(draft, id)?;
    Ok(Reply::ok(json!({ "deleted": id })))
}

fn anomaly_view(ledger: &Ledger, (at, anomaly): &(Micros, &Anomaly)) -> Value {
    let story = ledger.plan.story(anomaly.story);
    let factor = format!("{}.{:03}", anomaly.deviation_per_mille / 1000, anomaly.deviation_per_mille % 1000);
    json!({
        "id": anomaly.id,
        "story_id": anomaly.story,
        "story_number": story.map(|story| story.number.to_string()),
        "story_title": story.map(|story| story.title.clone()),
        "project_id": anomaly.project,
        "anomaly_type": anomaly.kind.name(),
        "story_cost_millicents": anomaly.story_cost_millicents,
        "reference_avg_millicents": anomaly.reference_millicents,
        "deviation_per_mille": anomaly.deviation_per_mille,
        "deviation_factor": factor.parse::<f64>().ok(),
        "resolved": anomaly.resolved,
        "archived": anomaly.archived,
        "inserted_at": moment(*at),
    })
}

fn anomalies(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_in_query(look.ledger, asked)?;
    let kind = asked.query("anomaly_type");
    let resolved = asked.query("resolved").map(|text| text == "true");
    let archived = asked.query_flag("include_archived")?;
    let found: Vec<(Micros, &Anomaly)> = look
        .ledger
        .usage
        .anomalies
        .values()
        .map(|(at, anomaly)| (*at, anomaly))
        .filter(|(_, anomaly)| project.is_none_or(|project| anomaly.project == project))
        .filter(|(_, anomaly)| kind.is_none_or(|kind| anomaly.kind.name() == kind))
        .filter(|(_, anomaly)| resolved.is_none_or(|resolved| anomaly.resolved == resolved))
        .filter(|(_, anomaly)| archived || !anomaly.archived)
        .collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&found, |found| anomaly_view(look.ledger, found))))
}

fn resolve_anomaly(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = asked.id::<AnomalyId>("id", "cost anomaly")?;
    usage::resolve_anomaly(draft, id)?;
    let found = draft.ledger().usage.anomalies.get(&id).ok_or_else(|| Refusal::not_found("cost anomaly"))?;
    Ok(Reply::ok(json!({ "cost_anomaly": anomaly_view(draft.ledger(), &(found.0, &found.1)) })))
}

/// A date, or a moment of it.
fn day(asked: &Asked, name: &str) -> Decided<Option<Day>> {
    let Some(text) = asked.query(name) else { return Ok(None) };
    let moment = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    Ok(Some(Day::of(parse_moment(name, &moment)?)))
}

fn period(look: &Look<'_>, asked: &Asked) -> Decided<Period> {
    Ok(Period {
        project: project_in_query(look.ledger, asked)?,
        since: day(asked, "since")?,
        until: day(asked, "until")?,
    })
}

fn by_agent(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let rows = usage::agents(look.ledger, &period(look, asked)?);
    Ok(Reply::ok(asked.page(20, 100)?.of(&rows, |row| {
        let name = look.ledger.tenancy.agent(row.agent).map(|agent| agent.name.clone());
        with(
            sums(&row.sums),
            json!({
                "agent_id": row.agent, "agent_name": name, "stories": row.stories, "rank": row.rank,
                "avg_cost_per_story_millicents": row.average_per_story, "primary_model": row.primary_model,
            }),
        )
    })))
}

fn by_epic(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let rows = usage::epics(look.ledger, &period(look, asked)?);
    Ok(Reply::ok(asked.page(20, 100)?.of(&rows, |row| {
        let epic = look.ledger.plan.epic(row.epic);
        with(sums(&row.sums), json!({
            "epic_id": row.epic, "epic_number": epic.map(|epic| epic.number), "epic_title": epic.map(|epic| epic.title.clone()),
            "stories": row.stories, "avg_cost_per_story_millicents": row.average_per_story,
            "budget_millicents": row.budget.as_ref().map(|budget| budget.budget_millicents),
            "budget_used_pct": row.budget_used_pct,
        }))
    })))
}

fn of_project(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = resolve::project_in_path(look.ledger, asked)?;
    let cost = usage::project(look.ledger, id, day(asked, "since")?, day(asked, "until")?);
    let by_phase: Vec<Value> =
        cost.by_phase.iter().map(|(phase, of)| with(sums(of), json!({ "phase": phase.name() }))).collect();
    let by_model: Vec<Value> =
        cost.by_model.iter().map(|(model, of)| with(sums(of), json!({ "model_name": model }))).collect();
    Ok(Reply::ok(json!({ "project": with(sums(&cost.sums), json!({
        "project_id": id, "stories": cost.stories, "avg_cost_per_story_millicents": cost.average_per_story,
        "by_phase": by_phase, "by_model": by_model, "budget_used_pct": cost.budget_used_pct,
        "budget_millicents": cost.budget.as_ref().map(|budget| budget.budget_millicents),
    })) })))
}

fn judged(ledger: &Ledger) -> impl Fn(StoryId) -> Judged + '_ {
    |story| match ledger.work.track(story).map(|track| track.standing.verified) {
        Some(VerifiedStatus::Verified) => Judged::Verified,
        Some(VerifiedStatus::Rejected) => Judged::Rejected,
        _ => Judged::Open,
    }
}

fn model_row(row: &ModelCost) -> Value {
    with(
        sums(&row.sums),
        json!({
            "model_name": row.model, "stories": row.stories, "avg_cost_per_story_millicents": row.average_per_story,
            "verified": row.verified, "rejected": row.rejected,
        }),
    )
}

fn by_model(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let rows = usage::models(look.ledger, &period(look, asked)?, judged(look.ledger));
    Ok(Reply::ok(asked.page(20, 100)?.of(&rows, model_row)))
}

fn profile(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let agent = resolve::agent(look.ledger, asked.parameter("id"))?;
    let rows = usage::model_profile(look.ledger, agent, &period(look, asked)?, judged(look.ledger));
    Ok(Reply::ok(asked.page(20, 100)?.of(&rows, model_row)))
}

fn date(day: Day) -> Value {
    let text = moment(day.start());
    json!(text.as_str().and_then(|text| text.get(..10)))
}

fn trends(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let granularity: Granularity = asked
        .query("granularity")
        .unwrap_or("daily")
        .parse()
        .map_err(|_| Refusal::field("granularity", "must be daily or weekly"))?;
    let rows = usage::trends(look.ledger, &period(look, asked)?, granularity);
    let row =
        |row: &usage::Trend| with(sums(&row.sums), json!({ "date": date(row.from), "stories": row.stories }));
    Ok(Reply::ok(asked.page(20, 100)?.of(&rows, row)))
}

fn mix(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let rows = usage::model_mix(look.ledger, &period(look, asked)?);
    let row = |row: &usage::ModelShare| {
        with(
            sums(&row.sums),
            json!({
                "model_name": row.model, "phase": row.phase.name(),
                "cost_per_mille": row.cost_per_mille, "tokens_per_mille": row.tokens_per_mille,
            }),
        )
    };
    Ok(Reply::ok(asked.page(20, 100)?.of(&rows, row)))
}
