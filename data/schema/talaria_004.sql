-- Handoffs: a session moves from one surface to another. The journal says how far, and who does it.
CREATE TABLE handoff (
    id TEXT PRIMARY KEY,                -- ULID; also the idempotency key of whatever is sent for it
    home TEXT NOT NULL,                 -- folder of the home in which the session lies
    session_id TEXT NOT NULL,
    platform TEXT NOT NULL,
    target TEXT NOT NULL,               -- a chat there, or 'home'
    mirrored INTEGER NOT NULL,          -- the session's row shows the state as well
    state TEXT NOT NULL,
    step TEXT NOT NULL,                 -- what is to be done next, or was being done when it failed
    attempt INTEGER NOT NULL DEFAULT 0,
    not_before_ms INTEGER NOT NULL DEFAULT 0,
    requested_ms INTEGER NOT NULL,
    deadline_ms INTEGER NOT NULL,
    owner TEXT,                         -- the worker that has it
    lease_ms INTEGER NOT NULL DEFAULT 0,-- until when
    fence INTEGER NOT NULL DEFAULT 0,   -- grows with every claim; a write with an older one is void
    cancel INTEGER NOT NULL DEFAULT 0,  -- somebody asked for it to be left
    thread_ref TEXT,
    dest_key TEXT,
    dest_source_json TEXT,
    prev_session_id TEXT,               -- what the key led to before
    before_json TEXT,                   -- the session's peer columns before
    notice_ref TEXT,                    -- of the card at the platform
    error_code TEXT,
    error_text TEXT,
    updated_ms INTEGER NOT NULL
) WITHOUT ROWID;
-- One at a time for a session.
CREATE UNIQUE INDEX handoff_open ON handoff(home, session_id)
    WHERE state NOT IN ('done', 'failed', 'cancelled');
CREATE INDEX handoff_by_state ON handoff(state, requested_ms);
CREATE INDEX handoff_by_session ON handoff(home, session_id, requested_ms);

-- Who may write a session. Every change makes the fence grow.
CREATE TABLE session_owner (
    home TEXT NOT NULL,
    session_id TEXT NOT NULL,
    owner_surface TEXT NOT NULL,        -- 'cli', or the platform
    owner_fence INTEGER NOT NULL,
    since_ms INTEGER NOT NULL,
    source TEXT,                        -- of the session before it first went anywhere
    PRIMARY KEY (home, session_id)
) WITHOUT ROWID;

-- Which session a key leads to, as Hermes keeps it.
CREATE TABLE gateway_routing (
    scope TEXT NOT NULL DEFAULT '',
    session_key TEXT NOT NULL,
    entry_json TEXT NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (scope, session_key)
);
CREATE INDEX idx_sessions_session_key ON sessions(session_key, started_at DESC);

-- The chat that needs no account. Channels, threads and messages each have a key under which they were asked
-- for: asking again gives the same one.
CREATE TABLE local_channel (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO local_channel VALUES ('home', 'Home');

CREATE TABLE local_thread (
    id TEXT PRIMARY KEY,
    channel TEXT NOT NULL,
    title TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE local_message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    channel TEXT NOT NULL,
    thread TEXT NOT NULL DEFAULT '',
    author TEXT NOT NULL,
    text TEXT NOT NULL,
    key TEXT UNIQUE,
    created_ms INTEGER NOT NULL
);
CREATE INDEX local_message_by_thread ON local_message(channel, thread, id);

-- What is to be said, piece by piece; `sending` is written before a piece goes out, `sent` after it.
CREATE TABLE outbox (
    id TEXT PRIMARY KEY,                -- idempotency key
    platform TEXT NOT NULL,
    place_json TEXT NOT NULL,
    text TEXT NOT NULL,
    sending INTEGER NOT NULL DEFAULT 0,
    sent INTEGER NOT NULL DEFAULT 0,
    pieces INTEGER NOT NULL DEFAULT 0,  -- 0: not cut yet
    first_ref TEXT,                     -- the platform's name of the first piece
    updated_ms INTEGER NOT NULL
) WITHOUT ROWID;
