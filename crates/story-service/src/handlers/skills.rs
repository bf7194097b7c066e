//! Prompts with versions, and what came of them.

use crate::asked::{Asked, Look, Reply, free_json, id_or_null, moment};
use crate::built_in_skills;
use crate::resolve;
use crate::route::Kind::{Integer, List, Object, Text};
use crate::route::{PAGE, Route, Who, needs, takes};
use serde_json::{Value, json};
use windlass_control_api::stories::Method::{Delete, Get, Patch, Post};
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::skills::{
    self, ChangeSkill, CreateSkill, ImportedSkill, Metrics, NewVersion, RecordResult, Skill, SkillStatus,
    Verdict, Version, VersionStats,
};
use windlass_protocols::protocol::story_queue::vocabulary::{KeyRole, ProjectId, SkillId};

const READING: Who = Who::AtLeast(KeyRole::Agent);
const USER: Who = Who::AtLeast(KeyRole::User);

pub(crate) const ROUTES: &[Route] = &[
    Route::write(Post, "/skills", USER, "Create a skill with its first version", create).body(&[
        needs("name", Text),
        needs("prompt_text", Text),
        takes("description", Text),
        takes("project_id", Text),
        takes("metadata", Object),
    ]),
    Route::write(Post, "/skills/import", USER, "Create skills, or add versions where texts differ", import)
        .body(&[needs("skills", List), takes("project_id", Text)]),
    Route::read("/skills", READING, "Skills, by a pattern of their name", list).query(&[
        PAGE[0],
        PAGE[1],
        takes("name", Text),
        takes("status", Text),
        takes("project_id", Text),
        takes("project", Text),
    ]),
    Route::read("/skills/:id", READING, "One skill with its current text, by id or name", show),
    Route::write(Patch, "/skills/:id", USER, "Change description, status or metadata", change).body(&[
        takes("description", Text),
        takes("status", Text),
        takes("metadata", Object),
    ]),
    Route::write(Delete, "/skills/:id", USER, "Archive a skill", archive),
    Route::write(Post, "/skills/:id/versions", USER, "Add a version", add_version)
        .body(&[needs("prompt_text", Text), takes("changelog", Text)]),
    Route::read("/skills/:id/versions", READING, "Every version of a skill", versions).query(&PAGE),
    Route::read("/skills/:id/versions/:version", READING, "One version", version),
    Route::read("/skills/:id/versions/:version/results", READING, "What came of a version", results)
        .query(&PAGE),
    Route::read("/skills/:id/stats", READING, "What came of each version", stats),
    Route::write(Get, "/skills/:id/cost-performance", USER, "What each version costs", cost),
    Route::write(
        Post,
        "/skill_results",
        Who::Exactly(&[KeyRole::Orchestrator, KeyRole::Superadmin]),
        "Record what came of a version",
        record,
    )
    .body(&[
        needs("skill_version_id", Text),
        needs("story_id", Text),
        takes("verification_result_id", Text),
        takes("result", Text),
        takes("metrics", Object),
        takes("iterations", Integer),
    ]),
];

fn project_of(ledger: &Ledger, asked: &Asked) -> Decided<Option<ProjectId>> {
    asked.text("project_id").map(|word| resolve::project(ledger, word)).transpose()
}

fn find<'a>(ledger: &'a Ledger, asked: &Asked) -> Decided<&'a Skill> {
    let word = asked.parameter("id");
    let missing = || Refusal::not_found("skill");
    if let Ok(id) = word.parse::<SkillId>() {
        return ledger.skills.skills.get(&id).ok_or_else(missing);
    }
    let project = resolve::project_in_query(ledger, asked)?;
    let own = project.and_then(|project| ledger.skills.named(Some(project), word));
    own.or_else(|| ledger.skills.named(None, word)).ok_or_else(missing)
}

fn view(skill: &Skill) -> Value {
    json!({
        "id": skill.id,
        "name": skill.name,
        "description": skill.description,
        "current_version": skill.current().map(|version| version.number),
        "status": skill.status.name(),
        "project_id": id_or_null(skill.project),
        "metadata": free_json(&skill.metadata),
        "inserted_at": moment(skill.created_at),
        "updated_at": moment(skill.updated_at),
    })
}

fn version_view(version: &Version) -> Value {
    json!({
        "id": version.id,
        "version": version.number,
        "prompt_text": version.prompt_text,
        "changelog": version.changelog,
        "created_by": version.created_by,
        "inserted_at": moment(version.created_at),
    })
}

fn shown(ledger: &Ledger, id: SkillId) -> Decided<Reply> {
    let skill = ledger.skills.skills.get(&id).ok_or_else(|| Refusal::not_found("skill"))?;
    let mut body = view(skill);
    body["version"] = skill.current().map_or(Value::Null, version_view);
    body["prompt_text"] = json!(skill.current().map(|version| &version.prompt_text));
    Ok(Reply::ok(json!({ "skill": body })))
}

fn create(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let ask = CreateSkill {
        name: asked.needed("name"),
        description: asked.needed("description"),
        prompt_text: asked.needed("prompt_text"),
        project: project_of(draft.ledger(), asked)?,
        metadata: asked.json("metadata").unwrap_or_default(),
    };
    let id = skills::create_skill(draft, ask)?;
    Ok(shown(draft.ledger(), id)?.with_status(201))
}

fn import(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_of(draft.ledger(), asked)?;
    let one = |(place, value): (usize, &Value)| {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
        let needed = |name: &str| {
            text(name).ok_or_else(|| Refusal::field(&format!("skills[{place}].{name}"), "is missing"))
        };
        Ok(ImportedSkill {
            name: needed("name")?,
            description: text("description"),
            prompt_text: needed("prompt_text")?,
        })
    };
    let list = asked.list("skills").iter().enumerate().map(one).collect::<Decided<Vec<_>>>()?;
    let done = skills::import_skills(draft, project, list)?;
    Ok(Reply::ok(json!({ "import": {
        "total": done.total, "created": done.created, "updated": done.updated, "unchanged": done.unchanged,
    } })))
}

fn list(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let project = resolve::project_in_query(look.ledger, asked)?;
    let status = asked.query("status");
    let found: Vec<&Skill> = look
        .ledger
        .skills
        .matching(asked.query("name").unwrap_or_default())
        .filter(|skill| status.is_none_or(|status| skill.status.name() == status))
        .filter(|skill| project.is_none_or(|project| skill.project.is_none_or(|own| own == project)))
        .collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&found, |skill| view(skill))))
}

/// The tenant's own, else the one that comes with the program.
fn show(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    match find(look.ledger, asked) {
        Ok(skill) => shown(look.ledger, skill.id),
        Err(refusal) => built_in(asked.parameter("id")).ok_or(refusal),
    }
}

fn built_in(name: &str) -> Option<Reply> {
    let (name, description, text) = built_in_skills::ALL.iter().find(|(known, ..)| *known == name)?;
    let skill = json!({
        "id": null, "name": name, "description": description, "current_version": null, "status": "active",
        "project_id": null, "metadata": {}, "built_in": true, "prompt_text": text,
    });
    Some(Reply::ok(json!({ "skill": skill })))
}

fn change(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = find(draft.ledger(), asked)?.id;
    let status = asked.text("status").map(str::parse::<SkillStatus>).transpose();
    let status = status.map_err(|_| Refusal::field("status", "must be active or archived"))?;
    let ask =
        ChangeSkill { description: asked.owned("description"), status, metadata: asked.json("metadata") };
    skills::change_skill(draft, id, ask)?;
    shown(draft.ledger(), id)
}

fn archive(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = find(draft.ledger(), asked)?.id;
    skills::archive_skill(draft, id)?;
    shown(draft.ledger(), id)
}

fn add_version(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = find(draft.ledger(), asked)?.id;
    let ask = NewVersion { prompt_text: asked.needed("prompt_text"), changelog: asked.owned("changelog") };
    skills::add_version(draft, id, ask)?;
    Ok(shown(draft.ledger(), id)?.with_status(201))
}

fn versions(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let skill = find(look.ledger, asked)?;
    Ok(Reply::ok(asked.page(20, 100)?.of(&skill.versions, version_view)))
}

fn one_version<'a>(look: &Look<'a>, asked: &Asked) -> Decided<(&'a Skill, &'a Version)> {
    let skill = find(look.ledger, asked)?;
    let number = asked.parameter("version").parse().ok();
    let version = number.and_then(|number| skill.version(number));
    Ok((skill, version.ok_or_else(|| Refusal::not_found("skill version"))?))
}

fn version(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let (_, version) = one_version(look, asked)?;
    Ok(Reply::ok(json!({ "version": version_view(version) })))
}

fn results(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let (skill, version) = one_version(look, asked)?;
    let rows: Vec<_> = skill.results_of(version.number).collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&rows, |result| {
        json!({
            "id": result.id,
            "version": result.version,
            "story_id": result.story,
            "verification_result_id": id_or_null(result.verification),
            "result": result.verdict.name(),
            "metrics": free_json(&result.metrics.all),
            "inserted_at": moment(result.at),
        })
    })))
}

fn stats(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let rows = skills::stats(find(look.ledger, asked)?);
    let row = |row: &VersionStats| {
        json!({
            "version": row.version,
            "results": row.results,
            "pass_count": row.pass,
            "fail_count": row.fail,
            "partial_count": row.partial,
            "pass_per_mille": row.pass_per_mille(),
            "findings": row.findings,
            "false_positives": row.false_positives,
            "false_positive_per_mille": row.false_positive_per_mille(),
            "average_iterations": row.average_iterations().map(thousandths),
        })
    };
    Ok(Reply::ok(json!({ "data": rows.iter().map(row).collect::<Vec<_>>() })))
}

/// The ledger counts without fractions; people read them.
fn thousandths(number: u64) -> Value {
    let text = format!("{}.{:03}", number / 1000, number % 1000);
    text.parse::<f64>().map_or(Value::Null, |number| json!(number))
}

fn cost(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = find(draft.ledger(), asked)?.id;
    let rows = skills::cost_performance(draft, id)?;
    let row = |row: &skills::CostPerformance| {
        json!({
            "version": row.version,
            "cost_millicents": row.sums.cost_millicents,
            "calls": row.sums.report_count,
            "average_cost_millicents": row.average_cost_millicents,
            "regression": row.regressed,
        })
    };
    Ok(Reply::ok(json!({ "data": rows.iter().map(row).collect::<Vec<_>>() })))
}

fn record(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let story = resolve::story(draft.ledger(), asked, &asked.needed("story_id"))?;
    let project = draft.ledger().plan.story(story).map(|story| story.project);
    let verdict = asked.text("result").unwrap_or("pass").parse::<Verdict>();
    let metrics = asked.value("metrics");
    let count = |name: &str| metrics.and_then(|metrics| metrics.get(name)).and_then(Value::as_u64);
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let ask = RecordResult {
        version: asked
            .body_id("skill_version_id")?
            .ok_or_else(|| Refusal::field("skill_version_id", "is missing"))?,
        verification: asked.body_id("verification_result_id")?,
        story,
        project: project.ok_or_else(|| Refusal::not_found("story"))?,
        verdict: verdict.map_err(|_| Refusal::field("result", "must be pass, fail or partial"))?,
        metrics: Metrics {
            findings_count: count("findings_count").map_or(0, small),
            false_positive_count: count("false_positive_count").map_or(0, small),
            iterations: count("iterations").or(asked.number("iterations")?).map(small),
            all: asked.json("metrics").unwrap_or_default(),
        },
    };
    let id = skills::record_result(draft, ask)?;
    Ok(Reply::created(json!({ "skill_result": { "id": id } })))
}
