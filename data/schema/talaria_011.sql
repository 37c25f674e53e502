-- Turns that a guest asked for, question and answer (store/trust.h): the owner sees them, but they are no part of what
-- the owner's agent remembers, learns from or counts.
ALTER TABLE conversation_message ADD COLUMN guest INTEGER NOT NULL DEFAULT 0;

CREATE INDEX conversation_message_guest ON conversation_message(conversation_id) WHERE guest;
