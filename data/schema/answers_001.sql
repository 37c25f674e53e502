-- Answers of models, by what was asked. The newest LIMIT_SLEEP_ANSWERS are kept.
CREATE TABLE answers (
    key    TEXT PRIMARY KEY,
    answer TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    usd    REAL NOT NULL,
    ms     REAL NOT NULL, -- that it took
    number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_by_number ON answers(number);
