-- Tokens of each call of the model, per session that has it: a fork repeats the calls of its parent. The first
-- by (copied, key) counts, in the sums of its entry.
CREATE TABLE calls (
    call INTEGER NOT NULL,   -- hash of its id and of the history folder
    copied INTEGER NOT NULL, -- the session itself says that it was copied
    key INTEGER NOT NULL,    -- of the entry
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    PRIMARY KEY(call, copied, key)
) WITHOUT ROWID;
CREATE INDEX calls_of_entry ON calls(key);
-- What kind of session Claude Code says it is, whether a person typed in it, and which session continues it.
ALTER TABLE entries ADD COLUMN kind TEXT NOT NULL DEFAULT '';
ALTER TABLE entries ADD COLUMN typed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entries ADD COLUMN continued_in TEXT NOT NULL DEFAULT '';
CREATE INDEX entries_continued ON entries(continued_in) WHERE continued_in <> '';
-- All transcripts of Claude Code are read once more.
UPDATE entries SET mtime_ns = 0, proof = proof + 1 WHERE home = '' AND source = 1;
