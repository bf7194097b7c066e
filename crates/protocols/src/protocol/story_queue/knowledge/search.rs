//! Finding articles by words, and ranking them for a task. Nothing here calls a model: what needs one is refused and says so.

use super::State;
use super::vocabulary::{Article, Category};
use crate::protocol::story_queue::decide::Decided;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{Micros, ProjectId};
use crate::protocol::story_queue::words::{check_text, words};
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

const QUERY_CHARACTERS: usize = 500;

words! {
    pub enum Mode {
        Keyword = "keyword",
        Semantic = "semantic",
        /// Falls back to words where nothing can compare meanings.
        Combined = "combined",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    pub query: String,
    pub mode: Mode,
    /// Articles of this project and of no project.
    pub project: Option<ProjectId>,
    pub category: Option<Category>,
    /// All of them.
    pub tags: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    pub article: &'a Article,
    /// Thousandths: the best of the words is 1000.
    pub relevance: u64,
    /// Thousandths: how new it is; only where recency was asked for.
    pub recency: u64,
    pub score: u64,
}

/// For every request that needs a language model or an embedding where none is configured.
pub fn not_configured(what: &str) -> Refusal {
    let message = alloc::format!("{what} needs a language model, and this server has none configured");
    Refusal::new(Kind::Invalid, message).with_code(RefusalCode::NotConfigured)
}

/// Best first; published articles only.
pub fn search<'a>(state: &'a State, ask: &Search) -> Decided<Vec<Found<'a>>> {
    check_text("q", &ask.query, QUERY_CHARACTERS)?;
    if ask.mode == Mode::Semantic {
        return Err(not_configured("semantic search"));
    }
    let fits = |article: &Article| {
        (ask.project.is_none() || article.project.is_none() || article.project == ask.project)
            && ask.category.is_none_or(|category| category == article.category)
            && ask.tags.iter().all(|tag| article.tags.contains(tag))
    };
    let scores = state.index.scores(&ask.query);
    let matching = scores.into_iter().filter_map(|(id, score)| Some((state.articles.get(&id)?, score)));
    let matching: Vec<(&Article, u64)> = matching.filter(|(article, _)| fits(article)).collect();
    let best = matching.iter().map(|(_, score)| *score).max().unwrap_or(1).max(1);
    let mut found: Vec<Found<'a>> = matching
        .into_iter()
        .map(|(article, score)| {
            let relevance = score * 1000 / best;
            Found { article, relevance, recency: 0, score: relevance }
        })
        .collect();
    found.sort_by_key(|row| (Reverse(row.score), row.article.id));
    Ok(found)
}

/// For a task: (1 − w) · relevance + w · e^(−age in days / 30). The weight comes in thousandths, 300 unless asked otherwise.
pub fn context<'a>(
    state: &'a State,
    ask: &Search,
    now: Micros,
    recency_weight: u64,
    limit: usize,
) -> Decided<Vec<Found<'a>>> {
    if recency_weight > 1000 {
        return Err(Refusal::field("recency_weight", "must be between 0 and 1"));
    }
    if !(1..=20).contains(&limit) {
        return Err(Refusal::field("limit", "must be between 1 and 20"));
    }
    let mut found = search(state, &Search { mode: Mode::Combined, ..ask.clone() })?;
    for row in &mut found {
        let age = now.0.saturating_sub(row.article.updated_at.0) / 86_400_000_000;
        row.recency = decay(age);
        row.score = ((1000 - recency_weight) * row.relevance + recency_weight * row.recency) / 1000;
    }
    found.sort_by_key(|row| (Reverse(row.score), row.article.id));
    found.truncate(limit);
    Ok(found)
}

/// e^(−days / 30) in thousandths, by squaring e^(−1/30) in billionths: there are no floats here.
fn decay(days: u64) -> u64 {
    const BILLION: u64 = 1_000_000_000;
    let (mut base, mut left, mut result) = (967_216_100u64, days.min(1000), BILLION);
    while left > 0 {
        if left % 2 == 1 {
            result = result * base / BILLION;
        }
        base = base * base / BILLION;
        left /= 2;
    }
    (result + 500_000) / 1_000_000
}
