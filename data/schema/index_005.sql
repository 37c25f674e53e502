-- Whoever writes the catalogue: what the search index has not heard of is put down here, so that nothing
-- has to be compared when nothing has changed.
CREATE TRIGGER entries_read AFTER INSERT ON entries WHEN new.offset > 0
BEGIN
    INSERT OR IGNORE INTO recall_due VALUES(new.key);
END;
CREATE TRIGGER entries_gone AFTER DELETE ON entries
WHEN EXISTS (SELECT 1 FROM recall_sessions WHERE key = old.key)
BEGIN
    INSERT OR IGNORE INTO recall_due VALUES(old.key);
END;
