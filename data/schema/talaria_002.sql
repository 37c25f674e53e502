-- What each agent program calls the session in which it worked on a conversation of ours.
CREATE TABLE runtime_continuity (
    conversation_id TEXT NOT NULL,
    runtime TEXT NOT NULL,
    generation INTEGER NOT NULL,
    handle TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    updated_ms INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, runtime)
);
