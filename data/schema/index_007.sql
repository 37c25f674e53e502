-- What the program itself says that a session cost. All transcripts are read once more: forks and threads that go on in
-- another file are counted otherwise now.
ALTER TABLE entries ADD COLUMN cost_usd REAL NOT NULL DEFAULT 0;
UPDATE entries SET mtime_ns = 0, proof = proof + 1 WHERE home = '';
