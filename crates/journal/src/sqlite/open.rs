//! Opening the file: everything that must be refused is refused before anything is written. Knows how a connection is
//! set up and who may read the file; what is inside is `schema`'s business.

use crate::sqlite::schema;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;

/// 3.7.0 to 3.51.2 can lose a committed transaction when a checkpoint and a commit that restarts the log race.
const OLDEST_SQLITE: (i32, &str) = (3_051_003, "3.51.3");

/// Several processes write to one file. Each commit takes about a millisecond, so whoever waits for half a minute waits
/// for something broken. SQLite's own way of waiting backs off to 100 ms between looks: beside a process that commits
/// without a pause it would wait for seconds.
const BUSY_PAUSE: Duration = Duration::from_millis(1);
const BUSY_PAUSES: i32 = 30_000;

/// After a burst the log is cut back to this size when it starts over.
const LOG_SIZE_LIMIT: i64 = 16 * 1024 * 1024;

#[derive(Debug, Error)]
pub enum OpenError {
    #[error("the SQLite library is {found}; older than {needed} can lose commits")]
    SqliteTooOld { found: &'static str, needed: &'static str },
    #[error("{path} belongs to another application (id {application_id:#010x})")]
    OtherApplication { path: PathBuf, application_id: u32 },
    #[error("{path} has schema version {found}; this program knows versions up to {known}")]
    NewerSchema { path: PathBuf, found: i32, known: i32 },
    #[error("{path} is not a journal or is damaged: {why}")]
    Damaged { path: PathBuf, why: String },
    #[error("{path} cannot be written: {why}")]
    NotWritable { path: PathBuf, why: String },
    #[error("no space is left for {path}")]
    Full { path: PathBuf },
    #[error("{path} is held by another process")]
    Busy { path: PathBuf },
    #[error("{path} cannot use a write-ahead log, only {mode}: is it on a network file system?")]
    NoWriteAheadLog { path: PathBuf, mode: String },
    #[error("migration {migration} of {path} failed")]
    Migration { path: PathBuf, migration: &'static str, source: rusqlite::Error },
    #[error("{path} cannot be opened")]
    Sqlite { path: PathBuf, source: rusqlite::Error },
    #[error("{path} cannot be prepared")]
    Io { path: PathBuf, source: io::Error },
}

impl OpenError {
    pub(super) fn from_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::Damaged { path, why: source.to_string() }
            }
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                Self::NotWritable { path, why: source.to_string() }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(_) if is_full_index(&source) => Self::Full { path },
            _ => Self::Sqlite { path, source },
        }
    }

    pub(super) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::NotWritable { path, why: source.to_string() }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            _ => Self::Io { path, source },
        }
    }
}

/// The index of the write-ahead log could not grow, which SQLite calls an I/O error: it is the one file whose space is
/// taken beforehand.
fn is_full_index(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

/// The readers open the file later, when its relative name may mean something else.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, OpenError> {
    std::path::absolute(path).map_err(|error| OpenError::from_io(path, error))
}

pub(super) fn for_writing(path: &Path) -> Result<Connection, OpenError> {
    refuse_old_library(rusqlite::version_number(), rusqlite::version())?;
    create_privately(path)?;
    let mut connection = connect(path).map_err(|error| OpenError::from_sqlite(path, error))?;
    prepare(&mut connection, path)?;
    Ok(connection)
}

/// Makes sure that the file is ours and as this program needs it.
///
/// When several processes do so at once, SQLite says "busy" without waiting wherever waiting could be a deadlock. So
/// all the waiting is done here: everything is let go of, and tried again from the start.
fn prepare(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let sqlite = |error| OpenError::from_sqlite(path, error);
    Patience::None.set(connection).map_err(sqlite)?;
    let mut pauses = 0;
    loop {
        match try_to_prepare(connection, path) {
            Err(OpenError::Busy { .. }) if wait_while_busy(pauses) => pauses += 1,
            Err(error) => return Err(error),
            Ok(()) => break,
        }
    }
    Patience::HalfAMinute.set(connection).map_err(sqlite)
}

fn try_to_prepare(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let fold_log_on_close = |fold: bool| {
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !fold)
            .map_err(|error| OpenError::from_sqlite(path, error))
    };
    // Closing the last connection folds the log into the file: not to be done to a file that is not ours.
    fold_log_on_close(false)?;
    schema::check_identity(connection, path)?;
    fold_log_on_close(true)?;
    use_write_ahead_log(connection, path)?;
    set_up(connection).map_err(|error| OpenError::from_sqlite(path, error))?;
    schema::migrate(connection, path, schema::MIGRATIONS)
}

pub(super) fn for_reading(path: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(path)?;
    set_up(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Nothing is made beside the file. Where its log cannot be shared and there is nothing in it, the file stands alone.
pub(super) fn for_looking(path: &Path) -> rusqlite::Result<Connection> {
    let look = |mut connection: Connection| {
        Patience::HalfAMinute.set(&mut connection)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
        Ok(connection)
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    match Connection::open_with_flags(path, flags).and_then(look) {
        Err(error) if is_shut_out(&error) && has_no_log(path) => {
            let address = format!("file:{}?immutable=1", in_an_address(path));
            Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI).and_then(look)
        }
        opened => opened,
    }
}

/// What cannot be brought up to date is read only if it is up to date.
pub(super) fn check_for_looking(path: &Path) -> Result<(), OpenError> {
    refuse_old_library(rusqlite::version_number(), rusqlite::version())?;
    let sqlite = |error| OpenError::from_sqlite(path, error);
    let connection = for_looking(path).map_err(sqlite)?;
    schema::check_identity(&connection, path)?;
    if schema::version(&connection).map_err(sqlite)? == schema::latest(schema::MIGRATIONS) {
        return Ok(());
    }
    let why = "it was made by an older version and has to be brought up to date first".to_owned();
    Err(OpenError::NotWritable { path: path.to_owned(), why })
}

/// The log's index cannot be made beside the file.
fn is_shut_out(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

fn has_no_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).map_or(true, |found| found.len() == 0)
}

fn in_an_address(path: &Path) -> String {
    path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}

/// Never creates: a journal deleted under a running program must not come back empty.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    Patience::HalfAMinute.set(&mut connection)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Otherwise a statement may be compiled again for each new value, which costs an append a tenth of its time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Apart from connecting, because some of these look into the file, which must be known to be ours by then.
fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_size_limit", LOG_SIZE_LIMIT)
}

/// How long a connection waits where another process writes.
#[derive(Clone, Copy)]
pub(super) enum Patience {
    None,
    HalfAMinute,
}

impl Patience {
    pub(super) fn set(self, connection: &mut Connection) -> rusqlite::Result<()> {
        connection.busy_handler(match self {
            Self::None => None,
            Self::HalfAMinute => Some(wait_while_busy),
        })
    }
}

fn wait_while_busy(pauses_so_far: i32) -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "SQLite can only be asked again; nothing tells when the lock of another process is free"
    )]
    std::thread::sleep(BUSY_PAUSE);
    pauses_so_far < BUSY_PAUSES
}

fn use_write_ahead_log(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let mode: String = connection
        .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
        .map_err(|error| OpenError::from_sqlite(path, error))?;
    if mode == "wal" { Ok(()) } else { Err(OpenError::NoWriteAheadLog { path: path.to_owned(), mode }) }
}

fn refuse_old_library(number: i32, found: &'static str) -> Result<(), OpenError> {
    let (oldest, needed) = OLDEST_SQLITE;
    if number < oldest {
        return Err(OpenError::SqliteTooOld { found, needed });
    }
    Ok(())
}

fn create_privately(path: &Path) -> Result<(), OpenError> {
    if let Some(directory) = path.parent() {
        create_directory(directory).map_err(|error| OpenError::from_io(directory, error))?;
    }
    create_file(path).map_err(|error| OpenError::from_io(path, error))
}

fn create_directory(directory: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = directory.ancestors().take_while(|ancestor| !ancestor.exists()).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    // SQLite makes the file's own entry durable, not those of the directories above it.
    for made in missing.iter().rev() {
        if let Some(parent) = made.parent() {
            File::open(parent)?.sync_all()?;
        }
    }
    Ok(())
}

/// Makes an empty file that only its owner can read; SQLite gives its log the same permissions.
///
/// Closing any descriptor of a file drops every lock this process holds on it, those of SQLite included. So an existing
/// file is not even opened here, and no connection of this process can be made between the creation and the close.
fn create_file(path: &Path) -> io::Result<()> {
    static CREATING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = CREATING.lock().unwrap_or_else(PoisonError::into_inner);
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{OpenError, refuse_old_library};

    #[test]
    fn a_library_that_can_lose_commits_is_refused() {
        assert!(refuse_old_library(3_051_003, "3.51.3").is_ok());
        assert!(matches!(
            refuse_old_library(3_051_002, "3.51.2"),
            Err(OpenError::SqliteTooOld { found: "3.51.2", .. })
        ));
    }
}
