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
use windlass_protocols::protocol::story_queue::refusal::{Kind, Refusal};
use windlass_protocols::protocol::story_queue::refusal_code::RefusalCode;
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
    .body(&[needs("story_ids", List), takes("project_id", Text)]),
    Route::write(Post, "/stories/bulk/verify", JUDGING, "Judge up to 50 stories", verify)
        .body(&[needs("stories", List), takes("project_id", Text)]),
    Route::write(Post, "/stories/bulk/reject", JUDGING, "Send up to 50 stories back", reject)
        .body(&[needs("stories", List), takes("project_id", Text)]),
    Route::write(
        Post,
        "/stories/bulk/mark-complete",
        JUDGING,
        "Verify up to 50 stories, each on its own evidence",
        mark_complete,
    )
    .body(&[needs("stories", List), takes("project_id", Text)]),
    Route::write(Post, "/epics/:id/verify-all", JUDGING, "Judge every reported story of an epic", verify_all)
        .body(&[
            takes("summary", Text),
            takes("review_type", Text),
            takes("findings", Any),
            takes("project_id", Text),
        ]),
];

/// What was named and cannot be judged, by its name: the others are none the worse for it.
type Unfit = Vec<(String, Refusal)>;

/// Some succeeded: 200. None did: 422.
fn reply<T>(
    draft: &Draft<'_>,
    (results, unfit): (&BulkResult<T>, &Unfit),
    more: impl Fn(&T) -> Map<String, Value>,
) -> Reply {
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
    let wrong = |(word, refusal): &(String, Refusal)| {
        let mut shown = envelope::refusal(refusal);
        shown["story_id"] = json!(word);
        shown["status"] = json!("error");
        shown
    };
    let succeeded = results.iter().filter(|(_, result)| result.is_ok()).count();
    let total = results.len() + unfit.len();
    let body = json!({
        "results": results.iter().map(one).chain(unfit.iter().map(wrong)).collect::<Vec<_>>(),
        "meta": { "total": total, "succeeded": succeeded, "failed": total - succeeded },
    });
    Reply::ok(body).with_status(if succeeded > 0 || total == 0 { 200 } else { 422 })
}

/// Nothing is decided of nothing; too many are too many, known or not.
fn decide<A, T>(
    draft: &mut Draft<'_>,
    known: Vec<A>,
    unfit: &Unfit,
    decide: impl FnOnce(&mut Draft<'_>, Vec<A>) -> Decided<BulkResult<T>>,
) -> Decided<BulkResult<T>> {
    if known.len() + unfit.len() > work::BULK_MOST {
        let why = format!("1 to {} stories at once", work::BULK_MOST);
        return Err(Refusal::new(Kind::Invalid, why).with_code(RefusalCode::BatchSize));
    }
    if known.is_empty() && !unfit.is_empty() {
        return Ok(Vec::new());
    }
    decide(draft, known)
}

fn claim(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let words = asked.texts("story_ids")?;
    let (mut stories, mut unfit) = (Vec::new(), Unfit::new());
    for word in words {
        match resolve::story(draft.ledger(), asked, &word) {
            Ok(story) => stories.push(story),
            Err(refusal) => unfit.push((word, refusal)),
        }
    }
    let results = decide(draft, stories, &unfit, work::bulk_claim)?;
    Ok(reply(draft, (&results, &unfit), |claimed| {
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
) -> (Vec<JudgeOne<T>>, Unfit) {
    let one = |place: usize, value: &Value| {
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
    let (mut known, mut unfit) = (Vec::new(), Unfit::new());
    for (place, value) in asked.list("stories").iter().enumerate() {
        match one(place, value) {
            Ok(judged) => known.push(judged),
            Err(refusal) => {
                let named = value.get("story_id").and_then(Value::as_str).map(str::to_owned);
                unfit.push((named.unwrap_or_else(|| format!("stories[{place}]")), refusal));
            }
        }
    }
    (known, unfit)
}

fn verify(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let (stories, unfit) = each(draft, asked, |alone, story| judge_of(draft, alone, story));
    let results = decide(draft, stories, &unfit, work::bulk_verify)?;
    Ok(reply(draft, (&results, &unfit), |judged| verification(&judged.verification)))
}

fn reject(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let (stories, unfit) = each(draft, asked, |alone, _| Ok(reject_of(alone)));
    let results = decide(draft, stories, &unfit, work::bulk_reject)?;
    Ok(reply(draft, (&results, &unfit), |judged| verification(&judged.verification)))
}

fn mark_complete(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let (stories, unfit) = each(draft, asked, |alone, story| {
        let (summary, review_type) = (alone.owned("summary"), alone.owned("review_type"));
        let cap = tokens::presented(draft, alone, story, TokenKind::VerifyCap);
        Ok(MarkComplete { summary, review_type, cap })
    });
    let results = decide(draft, stories, &unfit, work::bulk_mark_complete)?;
    Ok(reply(draft, (&results, &unfit), |judged| verification(&judged.verification)))
}

fn verify_all(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let epic = resolve::epic_in_path(draft.ledger(), asked)?;
    let ask = VerifyAll {
        summary: asked.owned("summary"),
        review_type: asked.owned("review_type"),
        findings: asked.json("findings").unwrap_or_default(),
    };
    let results = work::verify_all(draft, epic, ask)?;
    Ok(reply(draft, (&results, &Unfit::new()), |judged| verification(&judged.verification)))
}

fn verification(verification: &work::Verification) -> Map<String, Value> {
    Map::from_iter([("verification".to_owned(), views::work::verification(verification))])
}
