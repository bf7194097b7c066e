//! A story on its way: contract, claim, start, request review, report, review, verdict, and back.

use crate::asked::{Asked, Look, Page, Reply, parse_moment};
use crate::handlers::usage::numbers_of;
use crate::resolve::story_in_path;
use crate::route::Kind::{Any, Boolean, Integer, Object, Text};
use crate::route::{Route, Who, needs, takes};
use crate::{tokens, views};
use serde_json::{Value, json};
use windlass_control_api::stories::Method::Post;
use windlass_protocols::protocol::story_queue::custody::{self, Token, TokenKind};
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::plan::CriterionStatus;
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::usage::{self, Phase, Place};
use windlass_protocols::protocol::story_queue::vocabulary::{AgentId, JsonText, KeyRole, StoryId};
use windlass_protocols::protocol::story_queue::work::{
    self, BackfillStory, Backfilled, CompleteReview, ContractEcho, Judge, JudgeCriterion, Judged, Reject,
    ReportArtifact, ReportDone, RequestReview, Track, Verdict, VerifiedStatus,
};

const AGENT: Who = Who::Exactly(&[KeyRole::Agent]);
const WORKING: Who = Who::Exactly(&[KeyRole::Agent, KeyRole::Orchestrator]);
const REVIEWING: Who = Who::Exactly(&[KeyRole::Orchestrator, KeyRole::User]);
const JUDGING: Who = Who::Exactly(&[KeyRole::Orchestrator]);

pub(crate) const ROUTES: &[Route] = &[
    Route::write(
        Post,
        "/stories/:id/contract",
        WORKING,
        "Repeat what is to be done, and agree to it",
        contract,
    )
    .body(&[takes("story_title", Text), takes("ac_count", Integer)]),
    Route::write(
        Post,
        "/stories/:id/claim",
        AGENT,
        "Take a contracted story whose dependencies are verified",
        claim,
    ),
    Route::write(Post, "/stories/:id/start", AGENT, "Begin to implement", start).body(&[takes("cap", Text)]),
    Route::write(Post, "/stories/:id/start-work", AGENT, "Begin to implement", start)
        .body(&[takes("cap", Text)]),
    Route::write(
        Post,
        "/stories/:id/request-review",
        AGENT,
        "Say that somebody else should look",
        request_review,
    ),
    Route::write(Post, "/stories/:id/unclaim", AGENT, "Give a story back", unclaim),
    Route::write(Post, "/stories/:id/report", WORKING, "Say that another agent's work is done", report)
        .body(REPORT),
    Route::write(Post, "/stories/:id/report-done", WORKING, "Say that another agent's work is done", report)
        .body(REPORT),
    Route::write(
        Post,
        "/stories/:id/artifacts",
        WORKING,
        "Say where something that was made lies",
        add_artifact,
    )
    .body(&[
        needs("artifact_type", Text),
        needs("path", Text),
        takes("exists", Boolean),
        takes("details", Object),
    ]),
    Route::read("/stories/:id/artifacts", Who::AtLeast(KeyRole::Agent), "What was made", artifacts),
    Route::write(Post, "/stories/:id/review-complete", REVIEWING, "Record an independent review", review)
        .body(&[
            needs("review_type", Text),
            takes("findings_count", Integer),
            takes("fixes_count", Integer),
            takes("disproved_count", Integer),
            takes("summary", Text),
            takes("completed_at", Text),
            takes("cap", Text),
        ]),
    Route::write(
        Post,
        "/stories/:id/verify",
        JUDGING,
        "Judge reported work; only a pass on a fresh review verifies",
        verify,
    )
    .body(&[
        takes("result", Text),
        takes("summary", Text),
        takes("review_type", Text),
        takes("findings", Any),
        takes("commit_sha", Text),
        takes("cap", Text),
    ]),
    Route::write(
        Post,
        "/stories/:id/acceptance_criteria/:criterion",
        JUDGING,
        "Judge one criterion of reported work, with evidence",
        judge_criterion,
    )
    .body(&[needs("status", Text), takes("evidence_path", Text)]),
    Route::write(Post, "/stories/:id/reject", JUDGING, "Send reported work back, with a reason", reject)
        .body(&[takes("reason", Text), takes("review_type", Text), takes("findings", Any)]),
    Route::write(
        Post,
        "/stories/:id/force-unclaim",
        JUDGING,
        "Take a story from whoever has it",
        force_unclaim,
    ),
    Route::write(Post, "/stories/:id/release", REVIEWING, "End a story's quarantine", release)
        .body(&[takes("note", Text), takes("reason", Text)]),
    Route::write(
        Post,
        "/stories/:id/backfill",
        Who::AtLeast(KeyRole::Orchestrator),
        "Record work done before its story came here",
        backfill,
    )
    .body(&[needs("reason", Text), takes("evidence_url", Text), takes("pr_number", Integer)]),
    Route::read(
        "/stories/:id/verifications",
        Who::AtLeast(KeyRole::Orchestrator),
        "Every verdict",
        verifications,
    ),
    Route::read("/stories/:id/reviews", Who::AtLeast(KeyRole::Agent), "Every recorded review", reviews),
];

const REPORT: &[crate::route::Field] =
    &[takes("artifact", Object), takes("token_usage", Object), takes("cap", Text)];

/// The story as it now is, and what could be done next.
fn moved(draft: &Draft<'_>, id: StoryId) -> Value {
    json!({
        "story": views::plan::story_by_id(draft.ledger(), id),
        "next_actions": views::work::next_actions(draft.ledger(), id, draft.caller().role),
    })
}

fn with(mut body: Value, name: &str, value: Value) -> Value {
    if let Value::Object(fields) = &mut body {
        fields.insert(name.to_owned(), value);
    }
    body
}

fn with_token(draft: &Draft<'_>, asked: &Asked, body: Value, name: &str, token: &Token) -> Value {
    with(body, name, views::tenancy::token(token, &tokens::text(draft, asked, token)))
}

fn contract(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    let echo = ContractEcho { story_title: asked.owned("story_title"), ac_count: asked.number("ac_count")? };
    work::contract(draft, id, echo)?;
    Ok(Reply::ok(moved(draft, id)))
}

fn claim(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    let claimed = work::claim(draft, id)?;
    Ok(Reply::ok(with_token(draft, asked, moved(draft, id), "start_cap", &claimed.start_cap))
        .with_secret("/start_cap/token"))
}

fn start(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    let started = work::start(draft, id, tokens::presented(draft, asked, id, TokenKind::StartCap))?;
    Ok(Reply::ok(with_token(draft, asked, moved(draft, id), "report_cap", &started.report_cap))
        .with_secret("/report_cap/token"))
}

fn request_review(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    let draw = tokens::draw(asked, id);
    let requested = work::request_review(
        draft,
        id,
        RequestReview { draw, lazy_score: usage::lazy_score_of(draft.ledger(), id) },
    )?;
    let mut body = with(moved(draft, id), "verifier_dispatch_id", json!(requested.verifier));
    body = with(body, "verifier_needed", json!(requested.verifier.is_none()));
    if let Some(cap) = &requested.verify_cap {
        body = with_token(draft, asked, body, "verify_cap", cap);
    }
    Ok(Reply::ok(body).with_secret("/verify_cap/token"))
}

fn unclaim(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    work::unclaim(draft, id)?;
    Ok(Reply::ok(moved(draft, id)))
}

fn artifact_of(value: &Value) -> Decided<ReportArtifact> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    let needed =
        |name: &str| text(name).ok_or_else(|| Refusal::field(&format!("artifact.{name}"), "is missing"));
    let details = value.get("details").filter(|details| !details.is_null());
    Ok(ReportArtifact {
        artifact_type: needed("artifact_type")?,
        path: needed("path")?,
        exists: value.get("exists").and_then(Value::as_bool).unwrap_or(true),
        details: details.map(|details| JsonText(details.to_string())).unwrap_or_default(),
    })
}

fn report(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    let artifact = asked.value("artifact").map(artifact_of).transpose()?;
    let numbers = asked.value("token_usage").map(|value| numbers_of(value, "token_usage.")).transpose()?;
    // Everything that could be refused is looked at before the report is recorded.
    if let Some(numbers) = &numbers {
        numbers.check()?;
        if numbers.skill_version.is_some_and(|version| draft.ledger().skills.version(version).is_none()) {
            return Err(Refusal::not_found("skill version"));
        }
    }
    let cap = tokens::presented(draft, asked, id, TokenKind::ReportCap);
    let reported = work::report(draft, id, ReportDone { artifact, cap })?;
    let mut body =
        with_token(draft, asked, moved(draft, id), "review_complete_cap", &reported.review_complete_cap);
    let used_by = numbers.as_ref().and_then(|numbers| who_used(draft, id, numbers.phase));
    if let (Some(numbers), Some(agent)) = (numbers, used_by) {
        let place = Place::of(draft.ledger(), id)?;
        let kept = usage::report_inline(draft, place, agent, numbers)?;
        body = with(body, "token_usage_report_id", json!(kept.id));
    }
    if let Some(artifact) = &reported.artifact {
        body = with(body, "artifact", views::work::artifact(artifact));
    }
    Ok(Reply::ok(body).with_secret("/review_complete_cap/token"))
}

/// Whoever reports never did the work: what the work used is the implementer's, what looking at it used the reporter's.
fn who_used(draft: &Draft<'_>, story: StoryId, phase: Phase) -> Option<AgentId> {
    let implementer = draft.ledger().work.track(story).and_then(Track::assigned_agent);
    let reporter = draft.caller().agent;
    if phase == Phase::Reviewing { reporter.or(implementer) } else { implementer.or(reporter) }
}

fn add_artifact(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    let artifact = work::report_artifact(draft, id, artifact_of(&Value::Object(asked.body.clone()))?)?;
    Ok(Reply::created(json!({ "artifact": views::work::artifact(&artifact) })))
}

fn artifacts(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    listed(look, asked, |track, page| page.of(&track.artifacts, views::work::artifact))
}

fn verifications(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    listed(look, asked, |track, page| page.of(&track.verifications, views::work::verification))
}

fn reviews(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    listed(look, asked, |track, page| page.of(&track.reviews, views::work::review))
}

fn listed(look: &Look<'_>, asked: &Asked, list: impl Fn(&Track, Page) -> Value) -> Decided<Reply> {
    let id = story_in_path(look.ledger, asked)?;
    let track = look.ledger.work.track(id).ok_or_else(|| Refusal::not_found("story"))?;
    Ok(Reply::ok(list(track, asked.page(20, 100)?)))
}

fn review(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    let count = |name: &str| -> Decided<u32> {
        let number = asked.number(name)?.unwrap_or(0);
        u32::try_from(number).map_err(|_| Refusal::field(name, "is too large"))
    };
    let completed_at =
        asked.text("completed_at").map(|text| parse_moment("completed_at", text)).transpose()?;
    let ask = CompleteReview {
        review_type: asked.needed("review_type"),
        findings_count: count("findings_count")?,
        fixes_count: count("fixes_count")?,
        disproved_count: count("disproved_count")?,
        summary: asked.owned("summary"),
        completed_at,
        cap: tokens::presented(draft, asked, id, TokenKind::ReviewCompleteCap),
    };
    let review = work::complete_review(draft, id, ask)?;
    Ok(Reply::created(with(moved(draft, id), "review_record", views::work::review(&review))))
}

pub(crate) fn verdict(value: Option<&str>) -> Decided<Option<Verdict>> {
    match value {
        None => Ok(None),
        Some("pass") => Ok(Some(Verdict::Pass)),
        Some("fail") => Ok(Some(Verdict::Fail)),
        Some("partial") => Ok(Some(Verdict::Partial)),
        Some(_) => Err(Refusal::field("result", "must be pass, fail or partial")),
    }
}

pub(crate) fn judge_of(draft: &Draft<'_>, asked: &Asked, id: StoryId) -> Decided<Judge> {
    // Who has no result says none; null would be a pass that nobody gave.
    if asked.body.get("result").is_some_and(Value::is_null) {
        return Err(Refusal::field("result", "must be pass, fail or partial; leave it out for a pass"));
    }
    Ok(Judge {
        result: verdict(asked.text("result"))?,
        summary: asked.owned("summary"),
        review_type: asked.owned("review_type"),
        findings: asked.json("findings").unwrap_or_default(),
        commit_sha: asked.owned("commit_sha"),
        cap: tokens::presented(draft, asked, id, TokenKind::VerifyCap),
    })
}

pub(crate) fn judged(draft: &Draft<'_>, id: StoryId, judged: &Judged) -> Value {
    let body = with(moved(draft, id), "verification", views::work::verification(&judged.verification));
    let verified = judged.standing.verified == VerifiedStatus::Verified;
    let body = with(body, "verified", json!(verified));
    with(body, "epic_completed", json!(judged.completed_epic.is_some()))
}

fn verify(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    let ask = judge_of(draft, asked, id)?;
    let result = work::verify(draft, id, ask)?;
    Ok(Reply::ok(judged(draft, id, &result)))
}

fn judge_criterion(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    let said = asked.needed("status");
    let status = CriterionStatus::ALL.into_iter().find(|status| status.name() == said);
    let ask = JudgeCriterion {
        ac_id: asked.parameter("criterion").to_owned(),
        status: status
            .ok_or_else(|| Refusal::field("status", "must be pending, verified, failed or unverifiable"))?,
        evidence: asked.owned("evidence_path"),
    };
    let ac_id = ask.ac_id.clone();
    work::judge_criterion(draft, id, ask)?;
    let shown = views::plan::criterion_of(draft.ledger(), id, &ac_id);
    Ok(Reply::ok(with(moved(draft, id), "criterion", shown)))
}

pub(crate) fn reject_of(asked: &Asked) -> Reject {
    Reject {
        reason: asked.needed("reason"),
        review_type: asked.owned("review_type"),
        findings: asked.json("findings").unwrap_or_default(),
    }
}

fn reject(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    let result = work::reject(draft, id, reject_of(asked))?;
    Ok(Reply::ok(judged(draft, id, &result)))
}

fn force_unclaim(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    work::force_unclaim(draft, id)?;
    Ok(Reply::ok(moved(draft, id)))
}

fn release(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    let note = asked.owned("note").or_else(|| asked.owned("reason")).unwrap_or_default();
    custody::release(draft, id, note)?;
    Ok(Reply::ok(moved(draft, id)))
}

fn backfill(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(draft.ledger(), asked)?;
    let ask = BackfillStory {
        reason: asked.needed("reason"),
        evidence_url: asked.owned("evidence_url"),
        pr_number: asked.number("pr_number")?,
    };
    let done = work::backfill(draft, id, ask)?;
    let body = with(moved(draft, id), "already_backfilled", json!(done == Backfilled::Already));
    Ok(Reply::ok(body))
}
