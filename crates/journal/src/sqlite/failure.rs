//! The two ways in which work on the database ends badly, kept apart: an answer (refused, damaged) must not hurt its
//! neighbours in a batch, a fault of SQLite may have undone the whole transaction.

use rusqlite::Row;
use std::path::Path;
use windlass_engine::JournalError;

#[derive(Debug)]
pub(super) enum Failure {
    Refused(JournalError),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Self::Refused(error)
    }
}

impl Failure {
    pub(super) fn into_journal_error(self, path: &Path) -> JournalError {
        match self {
            Self::Refused(error) => error,
            Self::Sqlite(error) => unavailable(path, error),
        }
    }
}

pub(super) fn unavailable(path: &Path, why: impl std::fmt::Display) -> JournalError {
    JournalError::Unavailable { why: format!("{}: {why}", path.display()) }
}

/// SQLite has no unsigned integers. Nothing real comes near the limit, so a number above it is refused, not bent.
pub(super) fn to_sql(number: u64) -> Result<i64, JournalError> {
    i64::try_from(number).map_err(|_| JournalError::Unavailable {
        why: format!("the number {number} is too large to be stored"),
    })
}

pub(super) fn from_sql(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}
