-- Reading back at the end of a run: which rows are due, what their records are held against, and what it found.

-- 'due' once its record was made; then how it was read back: by its key, by its id alone, or not at all.
ALTER TABLE job ADD COLUMN audit TEXT
    CHECK (audit = 'due' OR audit = 'by_key' OR audit = 'by_id' OR audit = 'unread');
-- Kept from the creation, whose own columns are emptied once it is done.
ALTER TABLE job ADD COLUMN made_baseline INTEGER REFERENCES baseline (id);
ALTER TABLE job ADD COLUMN made_doubted INTEGER NOT NULL DEFAULT 0 CHECK (made_doubted IN (0, 1));
UPDATE job SET audit = 'due', made_doubted = (outcome = 'adopted') WHERE outcome = 'created' OR outcome = 'adopted';
CREATE INDEX job_audit_due ON job (id) WHERE audit = 'due';

-- What is not as it should be; a row that was read back without a finding has none.
CREATE TABLE audit (
    job INTEGER PRIMARY KEY REFERENCES job (id),
    run INTEGER NOT NULL,
    at INTEGER NOT NULL,
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    found TEXT NOT NULL
) STRICT;
CREATE INDEX audit_of_run ON audit (run);

-- What a run read back, in numbers.
ALTER TABLE run ADD COLUMN audit TEXT;
