//! The journal as somebody with a database tool sees it: rows that can be read, changed and put back.

use crate::played_run::PlayedRun;
use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use windlass_test_support::World;

pub(crate) struct JournalFile {
    connection: Connection,
    run: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) version: i64,
    pub(crate) at: i64,
    pub(crate) hash: String,
    pub(crate) payload: String,
}

impl JournalFile {
    pub(crate) fn of(played: &PlayedRun) -> Self {
        Self::in_world(&played.world, played.id())
    }

    pub(crate) fn in_world(world: &World, run: String) -> Self {
        let connection = Connection::open(world.state_dir().join("journal.db")).unwrap();
        Self { connection, run }
    }

    pub(crate) fn rows(&self) -> Vec<Row> {
        let mut select = self
            .connection
            .prepare("SELECT version, at, hash, payload FROM facts WHERE run = ?1 ORDER BY version")
            .unwrap();
        let row = |row: &rusqlite::Row<'_>| {
            Ok(Row { version: row.get(0)?, at: row.get(1)?, hash: row.get(2)?, payload: row.get(3)? })
        };
        select.query_map([&self.run], row).unwrap().collect::<Result<_, _>>().unwrap()
    }

    /// Puts these rows in the place of all that are there.
    pub(crate) fn write(&self, rows: &[Row]) {
        let change = self.connection.unchecked_transaction().unwrap();
        change.execute("DELETE FROM facts", ()).unwrap();
        for row in rows {
            let insert = "INSERT INTO facts (run, version, at, hash, payload) VALUES (?1, ?2, ?3, ?4, ?5)";
            change.execute(insert, params![self.run, row.version, row.at, row.hash, row.payload]).unwrap();
        }
        change.commit().unwrap();
    }

    pub(crate) fn execute(&self, sql: &str) {
        assert!(self.connection.execute(sql, ()).unwrap() > 0, "{sql} changed nothing");
    }

    pub(crate) fn count(&self, table: &str) -> i64 {
        let select = format!("SELECT count(*) FROM {table}");
        self.connection.query_row(&select, (), |row| row.get(0)).unwrap()
    }

    /// Changes the run's line in the list; what comes back puts it right again.
    pub(crate) fn change_line(&self, change: &str) -> impl FnOnce() {
        type Line = (String, i64, i64, i64, String);
        let read = |row: &rusqlite::Row<'_>| -> rusqlite::Result<Line> {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
        };
        let select = "SELECT run, version, started_at, updated_at, headline FROM runs";
        let before = self.connection.query_row(select, (), read).unwrap();
        self.execute(&format!("UPDATE runs SET {change}"));
        assert_ne!(self.connection.query_row(select, (), read).unwrap(), before, "{change}");
        move || {
            self.execute("DELETE FROM runs");
            let insert = "INSERT INTO runs (run, version, started_at, updated_at, headline) VALUES (?1, ?2, ?3, ?4, ?5)";
            self.connection.execute(insert, before).unwrap();
        }
    }

    /// The rows as a forger would leave them who knows how the chain is made.
    pub(crate) fn chained(&self, rows: &[Row]) -> Vec<Row> {
        let mut previous = hex(format!("windlass run {}", self.run).as_bytes());
        let mut chained = rows.to_vec();
        for row in &mut chained {
            let mut text = previous.as_bytes().to_vec();
            text.extend(row.version.to_be_bytes());
            text.extend(row.at.to_be_bytes());
            text.extend(row.payload.as_bytes());
            row.hash = hex(&text);
            previous.clone_from(&row.hash);
        }
        chained
    }
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// The text with one letter changed, which stays readable.
pub(crate) fn with_one_byte_changed(text: &str) -> String {
    let middle = text.len() / 2;
    let place =
        (middle..text.len()).find(|place| text.as_bytes()[*place].is_ascii_alphanumeric()).unwrap_or(0);
    let mut bytes = text.as_bytes().to_vec();
    bytes[place] = if bytes[place] == b'7' { b'8' } else { b'7' };
    String::from_utf8(bytes).unwrap()
}
