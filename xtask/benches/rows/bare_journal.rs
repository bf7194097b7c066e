//! The least that keeps bytes through a loss of power with SQLite: one table, a write-ahead log, a flush per commit.
//! And the least that keeps facts: the same rows as ours, found by run and version. No lease, no list, no thread.

use std::path::Path;

use anyhow::Result;
use rusqlite::Connection;

pub(crate) fn open(path: &Path) -> Result<Connection> {
    open_with(path, "CREATE TABLE IF NOT EXISTS log (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT")
}

fn open_with(path: &Path, tables: &str) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch(tables)?;
    Ok(connection)
}

/// All of it or none of it, durable when this returns.
pub(crate) fn commit(connection: &mut Connection, entries: &[&[u8]]) -> Result<()> {
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare_cached("INSERT INTO log (bytes) VALUES (?1)")?;
        for entry in entries {
            insert.execute([entry])?;
        }
    }
    transaction.commit()?;
    Ok(())
}

/// Facts of one run. With the payloads alone nothing could be found again or proven: whose they are, their order, their
/// moment and their hash are bytes of every row, and the index is written by every commit.
pub(crate) struct BareFacts {
    connection: Connection,
    run: String,
    version: i64,
}

impl BareFacts {
    pub(crate) fn open(path: &Path, run: &str) -> Result<Self> {
        let tables = "CREATE TABLE facts (run TEXT NOT NULL, version INTEGER NOT NULL, at INTEGER NOT NULL,
                      hash TEXT NOT NULL, payload TEXT NOT NULL, UNIQUE (run, version)) STRICT";
        Ok(Self { connection: open_with(path, tables)?, run: run.to_owned(), version: 0 })
    }

    /// As [`commit`]; what stands for the hash has its length and costs nothing.
    pub(crate) fn commit(&mut self, at: i64, hash: &str, payloads: &[String]) -> Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut insert = transaction.prepare_cached(
                "INSERT INTO facts (run, version, at, hash, payload) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            for payload in payloads {
                insert.execute((&self.run, self.version, at, hash, payload))?;
                self.version += 1;
            }
        }
        transaction.commit()?;
        Ok(())
    }
}
