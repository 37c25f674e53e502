-- One row a session, whatever wrote it, and up to where each was read.
CREATE TABLE entries (
    key INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used again: others refer to it
    source INTEGER NOT NULL,
    home TEXT NOT NULL,                     -- folder of a Hermes-shaped home; empty for a file
    id TEXT NOT NULL,
    path TEXT NOT NULL,
    parent TEXT,
    title TEXT,
    titled INTEGER NOT NULL DEFAULT 0,      -- the title is the program's or the user's own
    cwd TEXT,
    branch TEXT,
    model TEXT,
    entrypoint TEXT,
    version TEXT,
    started_at REAL NOT NULL DEFAULT 0,
    last_at REAL NOT NULL DEFAULT 0,
    users INTEGER NOT NULL DEFAULT 0,
    assistants INTEGER NOT NULL DEFAULT 0,
    calls INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    messages INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    side_chain INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0,
    human INTEGER NOT NULL DEFAULT 0,
    by_program INTEGER NOT NULL DEFAULT 0,  -- its first request is one that programs write
    tools TEXT,
    open INTEGER NOT NULL DEFAULT 0,        -- whether the last message may go on
    pulse BLOB,                             -- messages over time, as counted
    offset INTEGER NOT NULL DEFAULT 0,
    proof INTEGER NOT NULL DEFAULT 0,
    size INTEGER NOT NULL DEFAULT 0,
    mtime_ns INTEGER NOT NULL DEFAULT 0,
    inode INTEGER NOT NULL DEFAULT 0,
    settled INTEGER NOT NULL DEFAULT 0,
    mark INTEGER NOT NULL DEFAULT 0         -- of the row in a home's database
);

-- What an update looks at when nothing has changed, and nothing more.
CREATE INDEX entries_cursor ON entries(home, path, id, source, offset, proof, size, mtime_ns, inode,
                                       settled, mark);
CREATE INDEX entries_last ON entries(last_at, key);
CREATE INDEX entries_id ON entries(id);

-- Homes as they were when they were last read to the end.
CREATE TABLE entry_homes (
    path TEXT PRIMARY KEY,
    last_message INTEGER NOT NULL,
    stamp INTEGER NOT NULL,                 -- of its database files
    read_at REAL NOT NULL
) WITHOUT ROWID;
