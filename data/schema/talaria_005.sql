-- Chat platforms: what came in, who may speak, where unasked words go, how the lines are.

-- An update is kept in the transaction that moves its platform's cursor; the platform hears of it afterwards.
CREATE TABLE inbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    platform TEXT NOT NULL,
    id TEXT NOT NULL,                   -- the platform's name of it
    update_json TEXT NOT NULL,
    state TEXT NOT NULL,                -- new, taken, done, ignored, parked
    attempt INTEGER NOT NULL DEFAULT 0, -- how often somebody began with it
    run_id TEXT,                        -- of the turn that it became
    reason TEXT,                        -- why it was ignored or parked
    received_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    UNIQUE (platform, id)
);
CREATE INDEX inbox_open ON inbox(seq) WHERE state IN ('new', 'taken');

CREATE TABLE platform_state (
    platform TEXT PRIMARY KEY,
    cursor TEXT NOT NULL DEFAULT '',    -- how far it was read
    link TEXT NOT NULL DEFAULT '',      -- connecting, connected, reconnecting, refused; empty: not served
    account TEXT NOT NULL DEFAULT '',   -- our own name there
    since_ms INTEGER NOT NULL DEFAULT 0,
    heard_ms INTEGER NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT '',
    error_ms INTEGER NOT NULL DEFAULT 0,
    updated_ms INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- Where unasked words go; what /sethome and 'gateway sethome' found out about it.
CREATE TABLE home_channel (
    platform TEXT PRIMARY KEY,
    chat_id TEXT NOT NULL,
    name TEXT NOT NULL,
    chat_type TEXT NOT NULL,
    scope_id TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    topics INTEGER NOT NULL,
    verified_ms INTEGER NOT NULL
) WITHOUT ROWID;

-- Strangers who wrote, and those who were let in. A code is shown to the stranger and typed by the owner.
CREATE TABLE person (
    platform TEXT NOT NULL,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,                -- asked, allowed
    code TEXT NOT NULL,                 -- empty once it was used
    asked_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,        -- of the code
    PRIMARY KEY (platform, user_id)
) WITHOUT ROWID;

-- A session that waits for a terminal, under a code that works once.
CREATE TABLE take_code (
    sha256 TEXT PRIMARY KEY,            -- of the code
    home TEXT NOT NULL,
    session_id TEXT NOT NULL,
    made_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    used_ms INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- Threads that we opened: words in them are meant for us without a mention.
CREATE TABLE our_thread (
    platform TEXT NOT NULL,
    chat_id TEXT NOT NULL,              -- as a Place has it
    thread_id TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    PRIMARY KEY (platform, chat_id, thread_id)
) WITHOUT ROWID;

ALTER TABLE outbox ADD COLUMN state TEXT NOT NULL DEFAULT 'waiting'; -- waiting, open, sent, dead
ALTER TABLE outbox ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN not_before_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN created_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN error TEXT NOT NULL DEFAULT '';
UPDATE outbox SET state = 'sent' WHERE pieces > 0 AND sent >= pieces;
CREATE INDEX outbox_waiting ON outbox(not_before_ms) WHERE state = 'waiting';
CREATE INDEX outbox_unfinished ON outbox(state, created_ms) WHERE state IN ('open', 'dead');

-- A message that a run is still writing grows, and one sees when.
ALTER TABLE local_message ADD COLUMN edited_ms INTEGER NOT NULL DEFAULT 0;
-- A handoff may leave the agent's first turn out.
ALTER TABLE handoff ADD COLUMN no_turn INTEGER NOT NULL DEFAULT 0;
INSERT INTO home_channel VALUES ('local', 'home', 'Home', 'dm', '', 'you', '', 0, 0);

-- A session of another home goes on in a conversation of ours: its words were loaded, its own rows are left alone.
CREATE TABLE conversation_of (
    home TEXT NOT NULL,
    session_id TEXT NOT NULL,           -- of that home
    fingerprint TEXT NOT NULL,          -- of its words when they were loaded
    conversation_id TEXT NOT NULL,
    PRIMARY KEY (home, session_id)
) WITHOUT ROWID;

-- When a handoff came to each of its states; the triggers keep it, whoever moves the row.
CREATE TABLE handoff_step (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    handoff_id TEXT NOT NULL,
    state TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    UNIQUE (handoff_id, state)
);
CREATE TRIGGER handoff_asked AFTER INSERT ON handoff BEGIN
    INSERT OR IGNORE INTO handoff_step(handoff_id, state, at_ms) VALUES(new.id, new.state, new.updated_ms);
END;
CREATE TRIGGER handoff_moved AFTER UPDATE OF state ON handoff WHEN new.state <> old.state BEGIN
    INSERT OR IGNORE INTO handoff_step(handoff_id, state, at_ms) VALUES(new.id, new.state, new.updated_ms);
END;
-- What is looked at whenever the database has changed must cost nothing.
CREATE INDEX handoff_by_change ON handoff(updated_ms);
CREATE INDEX local_message_by_edit ON local_message(edited_ms);
CREATE INDEX outbox_dead ON outbox(updated_ms) WHERE state = 'dead';
CREATE INDEX inbox_parked ON inbox(seq) WHERE state = 'parked';
-- Somebody types there until then.
CREATE TABLE local_typing (
    channel TEXT NOT NULL,
    thread TEXT NOT NULL,
    until_ms INTEGER NOT NULL,
    PRIMARY KEY (channel, thread)
) WITHOUT ROWID;
