//! Which items a contract allows: ids, ranges and whole prefixes. What cannot be read is refused, because a guess could
//! widen the scope.

use std::fmt;

use crate::fault::excerpt;
use crate::goal_loop::item_id::ItemId;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    pub include: Vec<ScopePart>,
    pub exclude: Vec<ScopePart>,
    /// Exclusions in words, shown and not enforced.
    pub exclude_prose: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopePart {
    One(ItemId),
    /// Same prefix on both sides, both ends included.
    Range {
        first: ItemId,
        last: ItemId,
    },
    All(char),
}

impl Scope {
    pub fn contains(&self, id: &ItemId) -> bool {
        self.include.iter().any(|part| part.contains(id))
            && !self.exclude.iter().any(|part| part.contains(id))
    }

    /// A set such as `F001–F004, R002, all B`, with or without brackets, as on a command line.
    pub fn parse_set(text: &str) -> Result<Vec<ScopePart>, String> {
        let parts = parts(text).map(ScopePart::parse).collect::<Result<Vec<_>, _>>()?;
        if parts.is_empty() { Err("the set names nothing".to_owned()) } else { Ok(parts) }
    }
}

impl ScopePart {
    pub fn contains(&self, id: &ItemId) -> bool {
        match self {
            Self::One(one) => one == id,
            Self::Range { first, last } => {
                id.prefix() == first.prefix() && (first.number()..=last.number()).contains(&id.number())
            }
            Self::All(prefix) => id.prefix() == *prefix,
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        if let Some(id) = ItemId::parse(text) {
            return Ok(Self::One(id));
        }
        if let Some(prefix) = all_of(text) {
            return Ok(Self::All(prefix));
        }
        for separator in ["–", "..", "-"] {
            let Some((first, last)) = text.split_once(separator) else { continue };
            let (Some(first), Some(last)) = (ItemId::parse(first.trim()), ItemId::parse(last.trim())) else {
                break;
            };
            if first.prefix() != last.prefix() {
                return Err(format!("the range {} mixes two prefixes", excerpt(text)));
            }
            if first.number() > last.number() {
                return Err(format!("the range {} runs backwards", excerpt(text)));
            }
            return Ok(Self::Range { first, last });
        }
        Err(format!("{} is no id, no range of ids and no `all` with a prefix", excerpt(text)))
    }
}

impl fmt::Display for ScopePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(id) => write!(f, "{id}"),
            Self::Range { first, last } => write!(f, "{first}–{last}"),
            Self::All(prefix) => write!(f, "all {prefix}"),
        }
    }
}

/// Exclusions that can be read as ids are enforced; the rest is kept as words.
pub(super) fn exclusions(text: &str) -> (Vec<ScopePart>, Vec<String>) {
    let mut read = Vec::new();
    let mut prose = Vec::new();
    for part in parts(text) {
        match ScopePart::parse(part) {
            Ok(part) => read.push(part),
            Err(_) => prose.push(part.to_owned()),
        }
    }
    (read, prose)
}

fn all_of(text: &str) -> Option<char> {
    let mut words = text.split_whitespace();
    let (Some(all), Some(prefix), None) = (words.next(), words.next(), words.next()) else { return None };
    if !all.eq_ignore_ascii_case("all") {
        return None;
    }
    let mut letters = prefix.chars();
    letters.next().filter(|letter| letter.is_ascii_uppercase() && letters.next().is_none())
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim();
    let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let bare = |part: &'_ str| -> bool { !part.is_empty() };
    text.split([',', ';']).map(|part| part.trim().trim_matches(['"', '`'])).filter(move |part| bare(part))
}
