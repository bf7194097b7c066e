-- The hash stands before the payload: looking up the end of a chain then never touches a long payload's overflow pages.
-- Without a rowid a run's facts lie side by side in the one tree that an append has to write.
CREATE TABLE facts (
    run     TEXT    NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 0),
    at      INTEGER NOT NULL CHECK (at >= 0),
    hash    TEXT    NOT NULL,
    payload TEXT    NOT NULL,
    PRIMARY KEY (run, version)
) STRICT, WITHOUT ROWID;

-- A read model: nothing but facts decides anything, and this table can be dropped and rebuilt from them.
CREATE TABLE runs (
    run        TEXT    NOT NULL PRIMARY KEY,
    version    INTEGER NOT NULL CHECK (version >= 0),
    started_at INTEGER NOT NULL CHECK (started_at >= 0),
    updated_at INTEGER NOT NULL CHECK (updated_at >= 0),
    headline   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_by_start ON runs (started_at, run);

-- A row outlives its holder, so that the fence of a key never goes down.
CREATE TABLE leases (
    key   TEXT    NOT NULL PRIMARY KEY,
    fence INTEGER NOT NULL CHECK (fence >= 0),
    owner TEXT,
    since INTEGER CHECK (since >= 0),
    CHECK ((owner IS NULL) = (since IS NULL))
) STRICT, WITHOUT ROWID;

-- AUTOINCREMENT: a second acknowledgement of an old message must never hit a new one under the same id.
CREATE TABLE messages (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    run  TEXT    NOT NULL,
    body TEXT    NOT NULL,
    at   INTEGER NOT NULL CHECK (at >= 0)
) STRICT;

CREATE INDEX messages_by_run ON messages (run, id);
