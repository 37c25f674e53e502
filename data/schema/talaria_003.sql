-- Conversations that Talaria runs. Their words are rows of sessions and messages; here stands what
-- those tables have no columns for, and the log of every run.
CREATE TABLE conversation (
    id TEXT PRIMARY KEY,                -- of the session
    default_runtime TEXT,               -- NULL: what the configuration says
    template TEXT,                      -- put in at the first turn; NULL: none
    model TEXT,                         -- which of the configured ones, or its name; NULL: the default
    instructions TEXT,                  -- of a client that sends its own; NULL: none
    memory TEXT,                        -- what was remembered of the user at its first turn; NULL: not yet
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    version INTEGER NOT NULL DEFAULT 1
) WITHOUT ROWID;
CREATE INDEX conversation_by_update ON conversation(updated_ms DESC, id);

CREATE TABLE conversation_message (
    message_id INTEGER PRIMARY KEY,     -- of messages
    conversation_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    runtime TEXT,
    run_id TEXT,
    status TEXT NOT NULL CHECK (status IN ('running', 'complete', 'partial', 'failed', 'cancelled')),
    model TEXT,
    usage_json TEXT,
    created_ms INTEGER NOT NULL,
    finished_ms INTEGER,
    UNIQUE (conversation_id, seq)
);

CREATE TABLE run (
    id TEXT PRIMARY KEY,
    conversation_id TEXT NOT NULL,
    user_message_id INTEGER NOT NULL,
    assistant_message_id INTEGER NOT NULL,
    runtime TEXT NOT NULL,
    state TEXT NOT NULL,                -- running, then what `done` said
    error_code TEXT,
    last_seq INTEGER NOT NULL DEFAULT 0,
    idem_key TEXT UNIQUE,
    idem_sha256 TEXT,                   -- of what was asked under that key
    owner TEXT NOT NULL,                -- the process that runs it; holds a lock of that name
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER
) WITHOUT ROWID;
-- One run at a time in a conversation.
CREATE UNIQUE INDEX run_unfinished ON run(conversation_id) WHERE ended_ms IS NULL;
CREATE INDEX run_by_end ON run(ended_ms);
CREATE INDEX run_by_conversation ON run(conversation_id, started_ms);

CREATE TABLE run_event (
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (run_id, seq)
) WITHOUT ROWID;

CREATE TABLE attachment (
    id TEXT PRIMARY KEY,
    message_id INTEGER,
    conversation_id TEXT NOT NULL,
    run_id TEXT,
    kind TEXT NOT NULL CHECK (kind IN
        ('file', 'runtime_trace', 'context_receipt', 'task_graph', 'error_detail')),
    runtime TEXT,
    name TEXT,
    mime TEXT,
    size INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    visible INTEGER NOT NULL DEFAULT 0,
    body BLOB,
    path TEXT,                          -- relative to the home, where the bytes lie in a file
    created_ms INTEGER NOT NULL
);
CREATE INDEX attachment_by_conversation ON attachment(conversation_id, created_ms);

CREATE TABLE summary (
    conversation_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    covers_through_seq INTEGER NOT NULL,
    text TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('extractive', 'llm')),
    PRIMARY KEY (conversation_id, generation)
) WITHOUT ROWID;

-- Handles that a runtime lost: what they were, for people who look for the old session.
CREATE TABLE continuity_lost (
    conversation_id TEXT NOT NULL,
    runtime TEXT NOT NULL,
    generation INTEGER NOT NULL,
    handle TEXT NOT NULL,
    lost_ms INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, runtime, generation)
) WITHOUT ROWID;
