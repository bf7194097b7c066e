-- Facts in the order they came, found by run and version through an index. In the tree of version 1 a row of more than
-- a quarter of a page went to a page of its own, and a new row made its neighbours move; here an append fills one page
-- after the other. The hash still stands before the payload, for the same reason.
CREATE TABLE facts_in_order (
    run     TEXT    NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 0),
    at      INTEGER NOT NULL CHECK (at >= 0),
    hash    TEXT    NOT NULL,
    payload TEXT    NOT NULL,
    UNIQUE (run, version)
) STRICT;

INSERT INTO facts_in_order (run, version, at, hash, payload)
SELECT run, version, at, hash, payload FROM facts ORDER BY run, version;

DROP TABLE facts;

ALTER TABLE facts_in_order RENAME TO facts;
