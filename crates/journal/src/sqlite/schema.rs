//! Which tables the file has, how a reader knows that it is ours, and how an older one becomes a newer one. The tables
//! themselves are described in `migrations/sqlite`.

use crate::sqlite::open::OpenError;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;

/// "WNDL", in the header of every journal of ours.
const APPLICATION_ID: i32 = 0x574E_444C;

/// The position counts: the first one makes schema version 1. Never changed after a release, only added to.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { name: "0001_journal", sql: include_str!("../../migrations/sqlite/0001_journal.sql") },
    Migration {
        name: "0002_facts_in_order",
        sql: include_str!("../../migrations/sqlite/0002_facts_in_order.sql"),
    },
];

pub(super) struct Migration {
    pub(super) name: &'static str,
    pub(super) sql: &'static str,
}

/// Refuses files of others and of newer programs. Only reads.
pub(super) fn check_identity(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let (application_id, found, is_empty) =
        identity(connection).map_err(|error| OpenError::from_sqlite(path, error))?;
    let known = latest(MIGRATIONS);
    let is_new = application_id == 0 && found == 0 && is_empty;
    if application_id != APPLICATION_ID && !is_new {
        return Err(OpenError::OtherApplication {
            path: path.to_owned(),
            application_id: application_id.cast_unsigned(),
        });
    }
    if found > known {
        return Err(OpenError::NewerSchema { path: path.to_owned(), found, known });
    }
    Ok(())
}

/// Each migration in a transaction of its own; whoever comes second finds it done.
pub(super) fn migrate(
    connection: &Connection,
    path: &Path,
    migrations: &'static [Migration],
) -> Result<(), OpenError> {
    let current = version(connection).map_err(|error| OpenError::from_sqlite(path, error))?;
    for (number, migration) in (1..).zip(migrations).filter(|(number, _)| *number > current) {
        apply(connection, number, migration.sql).map_err(|source| {
            match OpenError::from_sqlite(path, source) {
                OpenError::Sqlite { path, source } => {
                    OpenError::Migration { path, migration: migration.name, source }
                }
                known => known,
            }
        })?;
    }
    Ok(())
}

pub(super) fn version(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// All three in one snapshot: between two reads another process could finish making the tables of an empty file, which
/// would then look like somebody else's.
fn identity(connection: &Connection) -> rusqlite::Result<(i32, i32, bool)> {
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let application_id = snapshot.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version = version(&snapshot)?;
    let is_empty =
        snapshot.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", (), |row| row.get(0))?;
    snapshot.commit()?;
    Ok((application_id, version, is_empty))
}

fn apply(connection: &Connection, number: i32, sql: &str) -> rusqlite::Result<()> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    if version(&transaction)? < number {
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", number)?;
    }
    windlass_crash_points::reach("migration.before");
    transaction.commit()?;
    windlass_crash_points::reach("migration.after");
    Ok(())
}

pub(super) fn latest(migrations: &[Migration]) -> i32 {
    i32::try_from(migrations.len()).expect("migrations are counted in dozens")
}

#[cfg(test)]
mod tests {
    use super::{Migration, migrate, version};
    use crate::sqlite::open::OpenError;
    use rusqlite::Connection;
    use std::path::Path;

    const FIRST: Migration = Migration { name: "0001_first", sql: "CREATE TABLE first (a TEXT) STRICT;" };

    #[test]
    fn only_what_is_missing_is_applied() {
        const SECOND: Migration =
            Migration { name: "0002_second", sql: "ALTER TABLE first ADD COLUMN b TEXT;" };
        let connection = Connection::open_in_memory().unwrap();
        migrate(&connection, Path::new("x"), const { &[FIRST] }).unwrap();
        connection.execute("INSERT INTO first VALUES ('kept')", ()).unwrap();
        migrate(&connection, Path::new("x"), const { &[FIRST, SECOND] }).unwrap();
        migrate(&connection, Path::new("x"), const { &[FIRST, SECOND] }).unwrap();
        assert_eq!(version(&connection).unwrap(), 2);
        let kept: (String, Option<String>) =
            connection.query_row("SELECT a, b FROM first", (), |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(kept, ("kept".to_owned(), None));
    }

    #[test]
    fn a_migration_that_fails_half_way_changes_nothing() {
        const BROKEN: Migration = Migration {
            name: "0002_broken",
            sql: "CREATE TABLE second (a TEXT) STRICT; CREATE TABLE first (a TEXT) STRICT;",
        };
        let connection = Connection::open_in_memory().unwrap();
        match migrate(&connection, Path::new("x"), const { &[FIRST, BROKEN] }) {
            Err(OpenError::Migration { migration, .. }) => assert_eq!(migration, "0002_broken"),
            other => unreachable!("the second migration must fail, got {other:?}"),
        }
        assert_eq!(version(&connection).unwrap(), 1);
        let tables: Vec<String> = connection
            .prepare("SELECT name FROM sqlite_schema")
            .unwrap()
            .query_map((), |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(tables, ["first"]);
    }
}
