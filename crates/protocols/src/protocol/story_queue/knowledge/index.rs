//! Which published article has which words: kept as articles come and go, so that a search touches only its own words.

use super::vocabulary::Article;
use crate::protocol::story_queue::vocabulary::ArticleId;
use alloc::collections::BTreeMap;
use alloc::string::String;

/// A word counts by where it stands; often in a body is at most this many times.
const TITLE: u64 = 8;
const TAG: u64 = 6;
const MOST_IN_BODY: u64 = 5;
/// Longer runs of letters are data, not words.
const LONGEST_WORD: usize = 64;

#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    words: BTreeMap<String, BTreeMap<ArticleId, u64>>,
    articles: u64,
}

impl Index {
    pub(super) fn add(&mut self, article: &Article) {
        self.articles += 1;
        for (word, weight) in weights(article) {
            self.words.entry(word).or_default().insert(article.id, weight);
        }
    }

    pub(super) fn remove(&mut self, article: &Article) {
        self.articles = self.articles.saturating_sub(1);
        for word in weights(article).into_keys() {
            if let Some(places) = self.words.get_mut(&word) {
                places.remove(&article.id);
                if places.is_empty() {
                    self.words.remove(&word);
                }
            }
        }
    }

    /// Articles with any of the words; a rare word says more than one that stands everywhere.
    pub(super) fn scores(&self, query: &str) -> BTreeMap<ArticleId, u64> {
        let mut scores: BTreeMap<ArticleId, u64> = BTreeMap::new();
        let mut asked: alloc::vec::Vec<String> = words(query).collect();
        asked.sort_unstable();
        asked.dedup();
        for word in asked {
            let Some(places) = self.words.get(&word) else { continue };
            let spread = u64::try_from(places.len()).unwrap_or(u64::MAX);
            let rarity = 1 + u64::from((self.articles / spread.max(1)).max(1).ilog2());
            for (article, weight) in places {
                *scores.entry(*article).or_default() += weight * rarity;
            }
        }
        scores
    }
}

fn weights(article: &Article) -> BTreeMap<String, u64> {
    let mut weights: BTreeMap<String, u64> = BTreeMap::new();
    for word in words(&article.body) {
        let weight = weights.entry(word).or_default();
        *weight = (*weight + 1).min(MOST_IN_BODY);
    }
    for (text, worth) in
        core::iter::once((&article.title, TITLE)).chain(article.tags.iter().map(|tag| (tag, TAG)))
    {
        for word in words(text) {
            *weights.entry(word).or_default() += worth;
        }
    }
    weights
}

/// Lower case, letters and digits; a plural counts as its singular where that is only an `s`.
fn words(text: &str) -> impl Iterator<Item = String> {
    let runs = text.split(|character: char| !character.is_alphanumeric());
    runs.filter(|run| (2..=LONGEST_WORD).contains(&run.len())).map(|run| {
        let lower = run.to_lowercase();
        match lower.strip_suffix('s') {
            Some(single) if single.len() > 2 && !single.ends_with('s') => single.into(),
            _ => lower,
        }
    })
}
