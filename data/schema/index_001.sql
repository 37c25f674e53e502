-- What was worked out of a session, kept until the session or the rule changes. All of it can be
-- made again from the histories: this file may be deleted at any time.
CREATE TABLE facts (
    topic TEXT NOT NULL,        -- which feature's facts, with the version of its rules
    home TEXT NOT NULL,
    session_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,  -- of the session as it was read
    value BLOB NOT NULL,
    PRIMARY KEY (topic, home, session_id)
) WITHOUT ROWID;
