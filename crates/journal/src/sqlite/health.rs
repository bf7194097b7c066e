//! What there is to know about the file itself, for a person who looks after it. Reads everything once; changes nothing.

use crate::sqlite::failure::Failure;
use crate::sqlite::schema;
use rusqlite::{Connection, ErrorCode};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    pub sqlite_version: &'static str,
    pub path: PathBuf,
    pub size: u64,
    /// The write-ahead log beside the file; absent logs have no size.
    pub wal_size: u64,
    pub integrity: Integrity,
    pub schema_version: i32,
    /// Absent where damage keeps them from being counted.
    pub runs: Option<u64>,
    pub facts: Option<u64>,
}

/// What SQLite says of its own pages; whether a run's chain holds is a different question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Integrity {
    Sound,
    Damaged(Vec<String>),
}

pub(super) fn examine(connection: &Connection, path: &Path) -> Result<Health, Failure> {
    Ok(Health {
        sqlite_version: rusqlite::version(),
        path: path.to_owned(),
        size: size(path),
        wal_size: size(&log_beside(path)),
        integrity: check(connection)?,
        schema_version: schema::version(connection)?,
        runs: count(connection, "SELECT count(*) FROM runs")?,
        facts: count(connection, "SELECT count(*) FROM facts")?,
    })
}

/// Asked of the directory: opening and closing the file ourselves would drop SQLite's locks on it.
fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

fn log_beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push("-wal");
    PathBuf::from(name)
}

fn check(connection: &Connection) -> Result<Integrity, Failure> {
    let findings = connection.prepare("PRAGMA quick_check").and_then(|mut check| {
        check.query_map((), |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()
    });
    match findings {
        Ok(findings) if findings == ["ok"] => Ok(Integrity::Sound),
        Ok(findings) => Ok(Integrity::Damaged(findings)),
        Err(error) if is_damage(&error) => Ok(Integrity::Damaged(vec![error.to_string()])),
        Err(error) => Err(error.into()),
    }
}

fn count(connection: &Connection, sql: &str) -> Result<Option<u64>, Failure> {
    match connection.query_row(sql, (), |row| row.get::<_, i64>(0)) {
        Ok(number) => Ok(u64::try_from(number).ok()),
        Err(error) if is_damage(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}
