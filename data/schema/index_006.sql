-- When each session of a large home was last active (store/activity.h).
CREATE TABLE activity_keys (
    home TEXT PRIMARY KEY,   -- path of the database
    number INTEGER NOT NULL, -- of this set of keys
    keys BLOB NOT NULL       -- latest first
);

-- What has changed since these keys were written, and the state of the home's files that both describe.
CREATE TABLE activity (
    home TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    stamp TEXT NOT NULL,
    last_message INTEGER NOT NULL,
    changes BLOB NOT NULL
);
