-- What runs say while they go on, all of them together and in the order in which it was said: one page holds the last
-- words of many. They come to their place in run_event in larger pieces. Read only after the death of a process.
CREATE TABLE run_tail (
    n INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_ms INTEGER NOT NULL
);

-- Where the passages of an answer begin, in bytes, as a JSON list; NULL: it is one.
ALTER TABLE conversation_message ADD COLUMN passages TEXT;

-- Under which key of a client a conversation was made, and of what request.
CREATE TABLE conversation_key (
    key TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL,
    conversation_id TEXT NOT NULL
) WITHOUT ROWID;
