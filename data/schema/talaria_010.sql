-- Threads that their platform says are gone. What lived there lives in the chat itself from then on; so does what is
-- still written for the thread, or read from it.
CREATE TABLE gone_thread (
    platform TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    now_thread TEXT NOT NULL,           -- of the chat itself: the General topic of a forum has a number; '': none
    since_ms INTEGER NOT NULL,
    PRIMARY KEY (platform, chat_id, thread_id)
) WITHOUT ROWID;

-- The last message of a person in a thread, for platforms that may take words there only as an answer.
CREATE TABLE thread_anchor (
    platform TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    needed INTEGER NOT NULL DEFAULT 0,  -- words that answered nothing were refused
    PRIMARY KEY (platform, chat_id, thread_id)
) WITHOUT ROWID;

-- How often the platform itself said no to a thread: a worker that died there is none of its refusals.
ALTER TABLE handoff ADD COLUMN thread_tries INTEGER NOT NULL DEFAULT 0;
