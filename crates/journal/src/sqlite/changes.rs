//! What each change does inside the writer's transaction. A refusal is found before anything is written. Knows nothing
//! of threads, batches or commits.

use crate::sqlite::failure::{Failure, from_sql, to_sql};
use crate::sqlite::reader;
use rusqlite::{Connection, OptionalExtension, params};
use windlass_engine::engine::replay;
use windlass_engine::{Append, Holder, JournalError, Lease, LeaseAnswer, Stored, chain};
use windlass_protocols::{Millis, Run, RunId};

/// An append whose facts are already the text that is hashed and stored.
pub(super) struct RenderedAppend {
    lease: Lease,
    run: RunId,
    expected_version: u64,
    at: Millis,
    payloads: Vec<String>,
    headline: String,
}

impl RenderedAppend {
    pub(super) fn new(append: Append) -> Result<Self, JournalError> {
        let payloads = append
            .facts
            .iter()
            .map(|fact| {
                serde_json::to_string(fact).map_err(|error| JournalError::Unavailable {
                    why: format!("a fact of run {} cannot be rendered: {error}", append.run),
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            lease: append.lease,
            run: append.run,
            expected_version: append.expected_version,
            at: append.at,
            payloads,
            headline: append.headline,
        })
    }
}

pub(super) fn append(connection: &Connection, append: &RenderedAppend) -> Result<(), Failure> {
    let holds = lease_row(connection, &append.lease.key)?
        .is_some_and(|row| row.fence == append.lease.fence && row.held.is_some());
    if !holds {
        let key = append.lease.key.clone();
        return Err(JournalError::Fenced { key }.into());
    }
    let (actual, mut previous) = end_of_chain(connection, &append.run)?;
    if actual != append.expected_version {
        return Err(JournalError::VersionConflict {
            run: append.run.clone(),
            expected: append.expected_version,
            actual,
        }
        .into());
    }
    let at = to_sql(append.at.0)?;
    let mut insert = connection
        .prepare_cached("INSERT INTO facts (run, version, at, hash, payload) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    let mut version = actual;
    for payload in &append.payloads {
        previous = chain::link(&previous, version, append.at, payload);
        insert.execute(params![append.run.as_str(), to_sql(version)?, at, previous, payload])?;
        version += 1;
    }
    record_head(connection, append, version)
}

/// The version the next fact gets and the hash it is chained to. One look into the index, however long the run.
fn end_of_chain(connection: &Connection, run: &RunId) -> Result<(u64, String), Failure> {
    let last = connection
        .prepare_cached("SELECT version, hash FROM facts WHERE run = ?1 ORDER BY version DESC LIMIT 1")?
        .query_row([run.as_str()], |row| Ok((from_sql(row, 0)?, row.get(1)?)))
        .optional()?;
    Ok(last.map_or_else(|| (0, chain::seed(run)), |(version, hash)| (version + 1, hash)))
}

fn record_head(connection: &Connection, append: &RenderedAppend, version: u64) -> Result<(), Failure> {
    let (run, at) = (append.run.as_str(), to_sql(append.at.0)?);
    // The moment of the start is not in this statement: naming an indexed column would rewrite its index each time.
    let known = append.expected_version > 0
        && connection
            .prepare_cached("UPDATE runs SET version = ?2, updated_at = ?3, headline = ?4 WHERE run = ?1")?
            .execute(params![run, to_sql(version)?, at, append.headline])?
            > 0;
    if !known {
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO runs (run, version, started_at, updated_at, headline)
                 VALUES (?1, ?2, coalesce((SELECT at FROM facts WHERE run = ?1 AND version = 0), ?3), ?3, ?4)",
            )?
            .execute(params![run, to_sql(version)?, at, append.headline])?;
    }
    Ok(())
}

/// One run in memory at a time; the list is whole again or, when a fact cannot be read, as it was.
pub(super) fn rebuild_runs(connection: &Connection, headline: fn(&Run) -> String) -> Result<(), Failure> {
    connection.execute("DELETE FROM runs", ())?;
    let runs: Vec<RunId> = connection
        .prepare("SELECT DISTINCT run FROM facts")?
        .query_map((), |row| Ok(RunId::new(row.get::<_, String>(0)?)))?
        .collect::<Result<_, _>>()?;
    let mut insert = connection.prepare(
        "INSERT INTO runs (run, version, started_at, updated_at, headline) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for run in runs {
        let stored: Vec<Stored> = reader::facts(connection, &run, 0)?;
        let (Some(first), Some(last)) = (stored.first(), stored.last()) else {
            continue;
        };
        insert.execute(params![
            run.as_str(),
            to_sql(last.version + 1)?,
            to_sql(first.at.0)?,
            to_sql(last.at.0)?,
            headline(&replay(&run, &stored)?),
        ])?;
    }
    Ok(())
}

struct LeaseRow {
    fence: u64,
    /// Absent when given back.
    held: Option<(String, Millis)>,
}

fn lease_row(connection: &Connection, key: &str) -> Result<Option<LeaseRow>, Failure> {
    let row = connection
        .prepare_cached("SELECT fence, owner, since FROM leases WHERE key = ?1")?
        .query_row([key], |row| {
            let owner: Option<String> = row.get(1)?;
            Ok(LeaseRow {
                fence: from_sql(row, 0)?,
                held: match owner {
                    Some(owner) => Some((owner, Millis(from_sql(row, 2)?))),
                    None => None,
                },
            })
        })
        .optional()?;
    Ok(row)
}

pub(super) fn acquire(
    connection: &Connection,
    key: &str,
    owner: &str,
    at: Millis,
) -> Result<LeaseAnswer, Failure> {
    match lease_row(connection, key)? {
        Some(row) => match row.held {
            Some(held) => Ok(held_by(key, row.fence, held)),
            None => grant(connection, key, row.fence, owner, at),
        },
        None => grant(connection, key, 0, owner, at),
    }
}

/// Looks without changing anything, so a reading connection will do.
pub(super) fn holder(connection: &Connection, key: &str) -> Result<Option<Holder>, Failure> {
    let row = lease_row(connection, key)?;
    Ok(row.and_then(|row| {
        let (owner, since) = row.held?;
        Some(Holder { key: key.to_owned(), owner, fence: row.fence, since })
    }))
}

pub(super) fn take_over(
    connection: &Connection,
    holder: &Holder,
    owner: &str,
    at: Millis,
) -> Result<LeaseAnswer, Failure> {
    match lease_row(connection, &holder.key)? {
        Some(row) => match row.held {
            Some(held) if row.fence != holder.fence => Ok(held_by(&holder.key, row.fence, held)),
            Some(_) | None => grant(connection, &holder.key, row.fence, owner, at),
        },
        None => grant(connection, &holder.key, 0, owner, at),
    }
}

fn held_by(key: &str, fence: u64, (owner, since): (String, Millis)) -> LeaseAnswer {
    LeaseAnswer::Held(Holder { key: key.to_owned(), owner, fence, since })
}

fn grant(
    connection: &Connection,
    key: &str,
    last_fence: u64,
    owner: &str,
    at: Millis,
) -> Result<LeaseAnswer, Failure> {
    let fence = last_fence + 1;
    connection
        .prepare_cached("INSERT OR REPLACE INTO leases (key, fence, owner, since) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![key, to_sql(fence)?, owner, to_sql(at.0)?])?;
    Ok(LeaseAnswer::Granted(Lease { key: key.to_owned(), fence }))
}

pub(super) fn release(connection: &Connection, lease: &Lease) -> Result<(), Failure> {
    // A fence too large to be stored was never given out, so there is nothing to give back.
    let Ok(fence) = to_sql(lease.fence) else {
        return Ok(());
    };
    connection
        .prepare_cached("UPDATE leases SET owner = NULL, since = NULL WHERE key = ?1 AND fence = ?2")?
        .execute(params![lease.key, fence])?;
    Ok(())
}

pub(super) fn post(connection: &Connection, run: &RunId, body: &str, at: Millis) -> Result<(), Failure> {
    connection
        .prepare_cached("INSERT INTO messages (run, body, at) VALUES (?1, ?2, ?3)")?
        .execute(params![run.as_str(), body, to_sql(at.0)?])?;
    Ok(())
}

pub(super) fn acknowledge(connection: &Connection, message: u64) -> Result<(), Failure> {
    let Ok(id) = to_sql(message) else {
        return Ok(());
    };
    connection.prepare_cached("DELETE FROM messages WHERE id = ?1")?.execute([id])?;
    Ok(())
}
