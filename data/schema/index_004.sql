-- What a night made of a session: valid while `read` says the same as the session's cursor.
CREATE TABLE traces (
    entry INTEGER PRIMARY KEY,
    read  BLOB NOT NULL,
    trace BLOB NOT NULL
) STRICT;
-- What was mined out of them; the newest few.
CREATE TABLE mined (
    key       TEXT PRIMARY KEY,
    number    INTEGER NOT NULL,
    recurring INTEGER NOT NULL,
    checkable INTEGER NOT NULL,
    left_out  INTEGER NOT NULL,
    tasks     BLOB NOT NULL
) STRICT;
