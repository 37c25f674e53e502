-- Words for one place go out in the order in which they were complete; some are of no use after a while.
ALTER TABLE outbox ADD COLUMN place TEXT NOT NULL DEFAULT '';         -- platform, chat and thread
ALTER TABLE outbox ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;         -- 0: not complete yet
ALTER TABLE outbox ADD COLUMN expires_ms INTEGER NOT NULL DEFAULT 0;  -- 0: never
ALTER TABLE outbox ADD COLUMN post_as TEXT NOT NULL DEFAULT '';       -- names the message at the platform; '': the id does
UPDATE outbox SET place = place_json;
CREATE INDEX outbox_line ON outbox(place, seq, id) WHERE state = 'waiting';
CREATE INDEX outbox_seq ON outbox(seq);
CREATE INDEX outbox_expiring ON outbox(expires_ms) WHERE state = 'waiting' AND expires_ms > 0;
