//! Checks an export: chain, roots, signatures, seal, in this order, so that the first thing said is the most precise.

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;
use windlass_engine::{JournalError, Stored, chain};
use windlass_protocols::protocol::story_queue::facts::Entry;
use windlass_protocols::protocol::story_queue::invariants::broken_at;
use windlass_protocols::protocol::story_queue::vocabulary::TenantId;
use windlass_protocols::{Fact, Millis};

use super::{FORMAT, Line, Opening, Row, Seal, sealed_bytes, stream};
use crate::encoding;
use crate::key_history::{KeyHistory, NotEndorsed};
use crate::keys::PublicKey;
use crate::merkle::{Frontier, Hash};
use crate::tree_head::TreeHead;

/// What the checker has from elsewhere. A file proves that nobody changed it since its key signed it; that the key is the
/// tenant's, and that no later end was cut off together with its heads, takes something that did not come with the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    pub key: Option<PublicKey>,
    pub heads: &'a [TreeHead],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    pub tenant: TenantId,
    pub entries: u64,
    pub heads: usize,
    /// The last head; absent for an empty chain.
    pub last: Option<TreeHead>,
    /// The current key of the tenant, by the file.
    pub key: PublicKey,
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flawed {
    /// Of the file, counted from 1; absent for what the file as a whole lacks.
    pub line: Option<usize>,
    /// The version of the row, counted from 0 as in the journal.
    pub row: Option<u64>,
    pub flaw: Flaw,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Flaw {
    #[error("not a line of an audit export: {0}")]
    Unreadable(String),
    #[error("this line does not belong here")]
    OutOfPlace,
    #[error("the file ends too early")]
    Unfinished,
    #[error("{0}")]
    Chain(String),
    #[error("the row is missing: a tree head covers {0} rows")]
    Missing(u64),
    #[error("the root of the first {0} rows is not the one that was signed")]
    Root(u64),
    #[error("the tree head at {0} is not signed by the tenant's key of that time")]
    HeadSignature(u64),
    #[error("the tree head is of another tenant")]
    OtherTenant,
    #[error("no tree head covers this row and those after it")]
    Unsigned,
    #[error(transparent)]
    NotEndorsed(#[from] NotEndorsed),
    #[error("the file does not carry the key that was given")]
    OtherKey,
    #[error("the seal does not hold: something before it was changed")]
    Seal,
    /// The chain's hashes take no key, so whoever can write the journal can append; but not what the rules would refuse.
    #[error(
        "no rule of custody allows this entry ({0}); somebody wrote it past the queue, or an older version with looser rules did"
    )]
    Rule(String),
}

impl fmt::Display for Flawed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if let Some(row) = self.row {
            write!(f, "row {row}: ")?;
        }
        self.flaw.fmt(f)
    }
}

impl std::error::Error for Flawed {}

impl Flaw {
    fn somewhere(self) -> Flawed {
        Flawed { line: None, row: None, flaw: self }
    }

    fn at_line(self, line: usize) -> Flawed {
        Flawed { line: Some(line), row: None, flaw: self }
    }

    fn of_row(self, row: u64) -> Flawed {
        Flawed { line: None, row: Some(row), flaw: self }
    }
}

pub fn verify_export(bytes: &[u8], known: Known<'_>) -> Result<Verified, Flawed> {
    let file = File::read(bytes)?;
    let tenant = file.opening.tenant;
    let keys = &file.opening.keys;
    keys.verify(tenant).map_err(|error| Flaw::from(error).at_line(1))?;
    let key = keys.current().ok_or(Flaw::OtherKey.at_line(1))?;
    let roots = follow(&file)?;
    for (line, head) in &file.heads {
        check_head(head, tenant, keys, &roots).map_err(|flaw| Flawed { line: Some(*line), ..flaw })?;
    }
    let entries = roots.entries;
    let last = file.heads.last().map(|(_, head)| *head);
    let covered = last.map_or(0, |head| head.position);
    if covered < entries {
        return Err(Flaw::Unsigned.of_row(covered));
    }
    if known.key.is_some_and(|known| keys.periods().iter().all(|period| period.key != known)) {
        return Err(Flaw::OtherKey.at_line(1));
    }
    known.heads.iter().try_for_each(|head| check_head(head, tenant, keys, &roots))?;
    if !key.verify(&sealed_bytes(file.sealed), &file.seal.signature) {
        return Err(Flaw::Seal.somewhere());
    }
    require_lawful(&file)?;
    Ok(Verified { tenant, entries, heads: file.heads.len(), last, key })
}

/// Judges the history itself, from the entries alone.
fn require_lawful(file: &File<'_>) -> Result<(), Flawed> {
    let read = |(line, row): &(usize, Row)| -> Option<(usize, u64, Entry)> {
        let Fact::StoryQueue(text) = serde_json::from_str(&row.payload).ok()? else { return None };
        Some((*line, row.version, serde_json::from_str(&text.0).ok()?))
    };
    let (mut places, mut entries) = (Vec::new(), Vec::new());
    for (line, row, entry) in file.rows.iter().filter_map(read) {
        places.push((line, row));
        entries.push(entry);
    }
    let Some((place, broken)) = broken_at(&entries) else { return Ok(()) };
    let (line, row) = places.get(place).copied().unzip();
    Err(Flawed { line, row, flaw: Flaw::Rule(format!("{broken:?}")) })
}

struct File<'a> {
    opening: Opening,
    /// With their lines, for the message.
    rows: Vec<(usize, Row)>,
    heads: Vec<(usize, TreeHead)>,
    seal: Seal,
    sealed: &'a [u8],
}

impl<'a> File<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Flawed> {
        let (mut opening, mut rows, mut heads, mut seal) = (None, Vec::new(), Vec::new(), None);
        let mut sealed_to = 0;
        for (place, text) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let number = place + 1;
            let flawed = |flaw: Flaw| {
                let row = (opening.is_some() && heads.is_empty()).then_some(rows.len() as u64);
                Flawed { line: Some(number), row, flaw }
            };
            let text_of_line = text.strip_suffix(b"\n").ok_or_else(|| flawed(Flaw::Unfinished))?;
            let line = serde_json::from_slice(text_of_line);
            let line: Line = line.map_err(|error| flawed(Flaw::Unreadable(error.to_string())))?;
            match line {
                _ if seal.is_some() => return Err(Flaw::OutOfPlace.at_line(number)),
                Line::Export(first) if opening.is_none() && first.format == FORMAT => opening = Some(first),
                Line::Row(row) if opening.is_some() && heads.is_empty() => rows.push((number, row)),
                Line::Head(head) if opening.is_some() => heads.push((number, head)),
                Line::Seal(last) if opening.is_some() => seal = Some(last),
                _ => return Err(Flaw::OutOfPlace.at_line(number)),
            }
            sealed_to += if seal.is_none() { text.len() } else { 0 };
        }
        match (opening, seal) {
            (Some(opening), Some(seal)) => {
                Ok(Self { opening, rows, heads, seal, sealed: &bytes[..sealed_to] })
            }
            _ => Err(Flaw::Unfinished.somewhere()),
        }
    }
}

/// The tree after each number of rows.
struct Roots {
    entries: u64,
    by_position: BTreeMap<u64, Hash>,
}

/// Follows the chain from the first row to the last.
fn follow(file: &File<'_>) -> Result<Roots, Flawed> {
    let mut tip = chain::Tip::start(&stream(file.opening.tenant));
    let mut frontier = Frontier::default();
    let mut by_position = BTreeMap::from([(0, frontier.root())]);
    for (line, row) in &file.rows {
        let version = tip.version();
        let flawed = |flaw| Flawed { line: Some(*line), row: Some(version), flaw };
        let stored = Stored {
            version: row.version,
            at: Millis(row.at),
            payload: row.payload.clone(),
            hash: row.hash.clone(),
        };
        tip.advance(&stored).map_err(|error| flawed(Flaw::Chain(reason(error))))?;
        let hash =
            encoding::array_from_hex(&row.hash).ok_or_else(|| flawed(Flaw::Chain("no hash".to_owned())))?;
        frontier.push(&hash);
        by_position.insert(frontier.size(), frontier.root());
    }
    Ok(Roots { entries: frontier.size(), by_position })
}

/// Without the stream's name, which every row shares.
fn reason(error: JournalError) -> String {
    match error {
        JournalError::Corrupt { why, .. } => why,
        other => other.to_string(),
    }
}

fn check_head(head: &TreeHead, tenant: TenantId, keys: &KeyHistory, roots: &Roots) -> Result<(), Flawed> {
    if head.tenant != tenant {
        return Err(Flaw::OtherTenant.somewhere());
    }
    if !keys.key_at(head.position).is_some_and(|key| head.is_signed_by(key)) {
        return Err(Flaw::HeadSignature(head.position).somewhere());
    }
    match roots.by_position.get(&head.position) {
        Some(root) if *root == head.root => Ok(()),
        Some(_) => Err(Flaw::Root(head.position).of_row(head.position.saturating_sub(1))),
        None => Err(Flaw::Missing(head.position).of_row(roots.entries)),
    }
}
