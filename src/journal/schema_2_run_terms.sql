-- What a run went by (version, paths, policy), as JSON, so that the next one can tell what has changed since.
ALTER TABLE run ADD COLUMN terms TEXT;
