-- A session of ours that a gateway of Hermes takes over goes there as a copy: in which home, under which name.
-- Both stand here before anything is written there.
ALTER TABLE handoff ADD COLUMN copy_home TEXT;
ALTER TABLE handoff ADD COLUMN copy_id TEXT;
