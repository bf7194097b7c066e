//! The least that keeps bytes through a loss of power with SQLite: one table, a write-ahead log, a flush per commit.

use std::path::Path;

use anyhow::Result;
use rusqlite::Connection;

pub(crate) fn open(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch("CREATE TABLE log (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT")?;
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
