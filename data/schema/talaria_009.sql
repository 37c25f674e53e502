-- Chats that got a new number, as a group of Telegram's does that becomes a supergroup: what lived there is looked for
-- under the old one.
CREATE TABLE moved_chat (
    platform TEXT NOT NULL,
    chat_id TEXT NOT NULL,              -- now
    before_id TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    PRIMARY KEY (platform, chat_id)
) WITHOUT ROWID;

-- How often somebody asked for an update once more that was parked: the answer to each is one of its own.
ALTER TABLE inbox ADD COLUMN retried INTEGER NOT NULL DEFAULT 0;
