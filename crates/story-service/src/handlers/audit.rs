//! The audit log, the change feed and a story's history: three views of the same entries.

use crate::asked::{Asked, Look, Reply, parse_moment};
use crate::resolve::{project_in_query, story_in_path};
use crate::route::Kind::{Integer, Text};
use crate::route::{PAGE, Route, Who, takes};
use crate::views::audit::{actor_type, describe, is_shown, row};
use serde_json::{Value, json};
use windlass_protocols::protocol::story_queue::decide::Decided;
use windlass_protocols::protocol::story_queue::facts::Entry;
use windlass_protocols::protocol::story_queue::refusal::{Kind, Refusal};
use windlass_protocols::protocol::story_queue::vocabulary::{KeyRole, Micros, ProjectId};

pub(crate) const ROUTES: &[Route] = &[
    Route::read("/audit", Who::AtLeast(KeyRole::User), "What happened, newest first", audit).query(&[
        PAGE[0],
        PAGE[1],
        takes("entity_type", Text),
        takes("entity_id", Text),
        takes("action", Text),
        takes("actor_type", Text),
        takes("actor_id", Text),
        takes("project_id", Text),
        takes("from", Text),
        takes("to", Text),
    ]),
    Route::read("/changes", Who::AnyKey, "What happened since, oldest first", changes).query(&[
        takes("since", Text),
        takes("project_id", Text),
        takes("project", Text),
        takes("entity_type", Text),
        takes("action", Text),
        takes("limit", Integer),
    ]),
    Route::read("/stories/:id/history", Who::AnyKey, "What happened to a story, oldest first", history)
        .query(&PAGE),
];

/// What a row must be.
struct Filter<'a> {
    project: Option<ProjectId>,
    entity_type: Option<&'a str>,
    entity_id: Option<&'a str>,
    action: Option<&'a str>,
}

impl<'a> Filter<'a> {
    fn of(look: &Look<'_>, asked: &'a Asked) -> Decided<Self> {
        Ok(Self {
            project: project_in_query(look.ledger, asked)?,
            entity_type: asked.query("entity_type"),
            entity_id: asked.query("entity_id"),
            action: asked.query("action"),
        })
    }

    fn admits(&self, entry: &Entry) -> bool {
        if !is_shown(entry) || self.project.is_some_and(|project| entry.project != Some(project)) {
            return false;
        }
        if self.entity_type.is_none() && self.entity_id.is_none() && self.action.is_none() {
            return true;
        }
        let told = describe(&entry.change);
        self.entity_type.is_none_or(|wanted| told.entity_type == wanted)
            && self.entity_id.is_none_or(|wanted| told.entity_id.as_str() == Some(wanted))
            && self.action.is_none_or(|wanted| told.action == wanted)
    }
}

fn audit(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let filter = Filter::of(look, asked)?;
    let moment = |name: &str| asked.query(name).map(|text| parse_moment(name, text)).transpose();
    let (from, to) = (moment("from")?, moment("to")?);
    let by = |entry: &Entry| {
        asked.query("actor_type").is_none_or(|wanted| actor_type(entry.by.kind) == wanted)
            && asked
                .query("actor_id")
                .is_none_or(|wanted| entry.by.key.is_some_and(|key| key.to_string() == wanted))
    };
    let rows: Vec<(u64, &Entry)> = look
        .feed
        .after(0)
        .rev()
        .filter(|(_, entry)| from.is_none_or(|from| entry.at >= from) && to.is_none_or(|to| entry.at <= to))
        .filter(|(_, entry)| by(entry) && filter.admits(entry))
        .collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&rows, |(sequence, entry)| row(*sequence, entry))))
}

/// A sequence number, or a moment. A moment is inclusive: two changes of one microsecond are never torn apart, and what is
/// told twice is known by its sequence number.
enum Since {
    Sequence(u64),
    Moment(Micros),
}

fn changes(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let Some(text) = asked.query("since") else {
        return Err(Refusal::new(
            Kind::Malformed,
            "say since when: `since` is a sequence number or a moment",
        )
        .with_remedy("start with since=0, then pass next_since on"));
    };
    let since = match text.parse() {
        Ok(sequence) => Since::Sequence(sequence),
        Err(_) => Since::Moment(parse_moment("since", text)?),
    };
    let filter = Filter::of(look, asked)?;
    let limit = asked.query_number("limit")?.unwrap_or(100).clamp(1, 1000);
    let limit = usize::try_from(limit).unwrap_or(1000);
    let (after, at) = match since {
        Since::Sequence(sequence) => (sequence, Micros(0)),
        Since::Moment(at) => (0, at),
    };
    let mut found = look.feed.after(after).filter(|(_, entry)| entry.at >= at && filter.admits(entry));
    let page: Vec<(u64, &Entry)> = found.by_ref().take(limit).collect();
    let has_more = found.next().is_some();
    // With nothing more to tell, everything up to now has been looked at.
    let next =
        if has_more { page.last().map_or(after, |(sequence, _)| *sequence) } else { look.feed.version() };
    let data: Vec<Value> = page.iter().map(|(sequence, entry)| row(*sequence, entry)).collect();
    Ok(Reply::ok(
        json!({ "data": data, "has_more": has_more, "next_since": next.to_string(), "sequence": next }),
    ))
}

fn history(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = story_in_path(look.ledger, asked)?;
    let rows: Vec<(u64, &Entry)> = look.feed.about(id).collect();
    Ok(Reply::ok(asked.page(100, 500)?.of(&rows, |(sequence, entry)| row(*sequence, entry))))
}
