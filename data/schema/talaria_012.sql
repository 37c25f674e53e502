-- Chats that clients send whole each time: the hash of all messages that were sent for a turn, and the conversation of
-- that turn. The newest count, by n; the others go.
CREATE TABLE sent_chat (
    n INTEGER PRIMARY KEY,
    sha256 BLOB NOT NULL UNIQUE,
    conversation_id TEXT NOT NULL
);
