-- The search index: what was said, and what tools were asked and answered, as terms without the text
-- (see docs/recall.md). A document's number in its FTS table is (place of its session << 16) + how
-- many of its kind stood before it in the session; in recall_docs twice that, plus 1 for a tool's.
CREATE TABLE recall_sessions (
    ord INTEGER PRIMARY KEY AUTOINCREMENT, -- its place; never given to another
    key INTEGER NOT NULL UNIQUE,           -- of the catalogue
    source INTEGER NOT NULL,
    folder TEXT NOT NULL,                  -- it worked in
    last_at REAL NOT NULL,
    said INTEGER NOT NULL,                 -- documents of each kind so far
    tools INTEGER NOT NULL,
    bytes INTEGER NOT NULL,                -- of text that was indexed
    offset INTEGER NOT NULL,               -- up to where, as the catalogue's cursor counts
    proof INTEGER NOT NULL
);

-- Sessions whose entry has changed since the index was last told of it.
CREATE TABLE recall_due (
    key INTEGER PRIMARY KEY
);

CREATE TABLE recall_names (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE              -- of a tool
);

CREATE TABLE recall_docs (
    id INTEGER PRIMARY KEY,
    place INTEGER NOT NULL,                -- where its text is to be read again
    line INTEGER NOT NULL,
    part INTEGER NOT NULL,
    role INTEGER NOT NULL,
    tool INTEGER NOT NULL,                 -- a name, 0: none
    at INTEGER NOT NULL,                   -- milliseconds since the epoch
    terms INTEGER NOT NULL
);

-- The text is the first column: words of any other cost two bytes more, each time.
CREATE VIRTUAL TABLE recall_said USING fts5(
    text, who, tokenize = 'ascii', content = '', contentless_delete = 1);
CREATE VIRTUAL TABLE recall_tools USING fts5(
    text, who, tokenize = 'ascii', content = '', contentless_delete = 1);
INSERT INTO recall_said(recall_said, rank) VALUES('hashsize', 3145728);
INSERT INTO recall_tools(recall_tools, rank) VALUES('hashsize', 3145728);
INSERT INTO recall_said(recall_said, rank) VALUES('automerge', 16);
INSERT INTO recall_tools(recall_tools, rank) VALUES('automerge', 16);
