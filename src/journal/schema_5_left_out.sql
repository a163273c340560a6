-- Rows that an import left out because they, or what they belong to, have errors: no job is made for them, but they are
-- in the reports like every other row.

-- `place` is that of sheet_row; no row is in both. `state` is what the report says: 'rejected' for errors of its own,
-- 'skipped' for those of what it belongs to. `job` is the job of the row that took its place in a later import; `earlier` is
-- the row of an import before that it was to take the place of. `owner` is what the row says it belongs to, folded: a key
-- such as "hq" is common.
CREATE TABLE left_out (
    place INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind = 'company' OR kind = 'site' OR kind = 'person' OR kind = 'device'),
    line INTEGER,
    cells TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state = 'rejected' OR state = 'skipped'),
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    violations TEXT,
    sheet_key TEXT,
    natural_key TEXT,
    owner TEXT NOT NULL,
    earlier INTEGER,
    job INTEGER REFERENCES job (id)
) STRICT;
CREATE INDEX left_out_sheet_key ON left_out (kind, sheet_key) WHERE job IS NULL AND sheet_key IS NOT NULL;
CREATE INDEX left_out_natural_key ON left_out (kind, natural_key) WHERE job IS NULL AND natural_key IS NOT NULL;
