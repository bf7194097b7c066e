//! Several stories in one request; each is judged by the same rules as alone.

use crate::asked::{Asked, Reply};
use crate::handlers::lifecycle::{judge_of, reject_of};
use crate::route::Kind::{Any, List, Text};
use crate::route::{Route, Who, needs, takes};
use crate::{envelope, resolve, tokens, views};
use serde_json::{Map, Value, json};
use windlass_control_api::stories::Method::Post;
use windlass_protocols::protocol::story_queue::custody::TokenKind;
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::vocabulary::{KeyRole, StoryId};
use windlass_protocols::protocol::story_queue::work::{self, BulkResult, JudgeOne, MarkComplete, VerifyAll};

const JUDGING: Who = Who::Exactly(&[KeyRole::Orchestrator]);

pub(crate) const ROUTES: &[Route] = &[
    Route::write(
        Post,
        "/stories/bulk/claim",
        Who::Exactly(&[KeyRole::Agent]),
        "Claim up to 50 stories",
        claim,
    )
    .body(&[needs("story_ids", List)]),
    Route::write(Post, "/stories/bulk/verify", JUDGING, "Judge up to 50 stories", verify)
        .body(&[needs("stories", List)]),
    Route::write(Post, "/stories/bulk/reject", JUDGING, "Send up to 50 stories back", reject)
        .body(&[needs("stories", List)]),
    Route::write(
        Post,
        "/stories/bulk/mark-complete",
        JUDGING,
        "Verify up to 50 stories, each on its own evidence",
        mark_complete,
    )
    .body(&[needs("stories", List)]),
    Route::write(Post, "/epics/:id/verify-all", JUDGING, "Judge every reported story of an epic", verify_all)
        .body(&[takes("summary", Text), takes("review_type", Text), takes("findings", Any)]),
];

/// Some succeeded: 200. None did: 422.
fn reply<T>(draft: &Draft<'_>, results: &BulkResult<T>, more: impl Fn(&T) -> Map<String, Value>) -> Reply {
    let one = |(id, result): &(StoryId, Decided<T>)| {
        let mut shown = json!({ "story_id": id, "status": if result.is_ok() { "success" } else { "error" } });
        if let Value::Object(fields) = &mut shown {
            match result {
                Ok(done) => {
                    fields.insert("story".into(), views::plan::story_by_id(draft.ledger(), *id));
                    fields.extend(more(done));
                }
                Err(refusal) => {
                    fields.extend(envelope::refusal(refusal).as_object().cloned().unwrap_or_default());
                }
            }
        }
        shown
    };
    let succeeded = results.iter().filter(|(_, result)| result.is_ok()).count();
    let failed = results.len() - succeeded;
    let body = json!({
        "results": results.iter().map(one).collect::<Vec<_>>(),
        "meta": { "total": results.len(), "succeeded": succeeded, "failed": failed },
    });
    Reply::ok(body).with_status(if succeeded > 0 || results.is_empty() { 200 } else { 422 })
}

fn claim(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let words = asked.texts("story_ids")?;
    let stories =
        words.iter().map(|word| resolve::story(draft.ledger(), asked, word)).collect::<Decided<Vec<_>>>()?;
    let results = work::bulk_claim(draft, stories)?;
    Ok(reply(draft, &results, |claimed| {
        let text = tokens::text(draft, asked, &claimed.start_cap);
        let cap = views::tenancy::token(&claimed.start_cap, &text);
        Map::from_iter([("start_cap".to_owned(), cap)])
    }))
}

/// Each element as if it were the body of the single request.
fn each<T>(
    draft: &Draft<'_>,
    asked: &Asked,
    read: impl Fn(&Asked, StoryId) -> Decided<T>,
) -> Decided<Vec<JudgeOne<T>>> {
    let one = |(place, value): (usize, &Value)| {
        let at = |why: &str| Refusal::field(&format!("stories[{place}]"), why);
        let body = value.as_object().ok_or_else(|| at("must be an object"))?;
        let word = body.get("story_id").and_then(Value::as_str).ok_or_else(|| at("story_id is missing"))?;
        let alone = Asked {
            parameters: Vec::new(),
            query: asked.query.clone(),
            body: body.clone(),
            headers: Vec::new(),
            at: asked.at,
            random: asked.random,
            signers: asked.signers.clone(),
            webhook_reach: asked.webhook_reach,
        };
        let story = resolve::story(draft.ledger(), asked, word)?;
        Ok(JudgeOne { story, ask: read(&alone, story)? })
    };
    asked.list("stories").iter().enumerate().map(one).collect()
}

fn verify(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let stories = each(draft, asked, |alone, story| judge_of(draft, alone, story))?;
    let results = work::bulk_verify(draft, stories)?;
    Ok(reply(draft, &results, |judged| verification(&judged.verification)))
}

fn reject(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let stories = each(draft, asked, |alone, _| Ok(reject_of(alone)))?;
    let results = work::bulk_reject(draft, stories)?;
    Ok(reply(draft, &results, |judged| verification(&judged.verification)))
}

fn mark_complete(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let stories = each(draft, asked, |alone, story| {
        let (summary, review_type) = (alone.owned("summary"), alone.owned("review_type"));
        let cap = tokens::presented(draft, alone, story, TokenKind::VerifyCap);
        Ok(MarkComplete { summary, review_type, cap })
    })?;
    let results = work::bulk_mark_complete(draft, stories)?;
    Ok(reply(draft, &results, |judged| verification(&judged.verification)))
}

fn verify_all(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let epic = resolve::epic_in_path(draft.ledger(), asked)?;
    let ask = VerifyAll {
        summary: asked.owned("summary"),
        review_type: asked.owned("review_type"),
        findings: asked.json("findings").unwrap_or_default(),
    };
    let results = work::verify_all(draft, epic, ask)?;
    Ok(reply(draft, &results, |judged| verification(&judged.verification)))
}

fn verification(verification: &work::Verification) -> Map<String, Value> {
    Map::from_iter([("verification".to_owned(), views::work::verification(verification))])
}
