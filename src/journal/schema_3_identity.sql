-- Which journal this is and how far it has come, so that an older copy of it is recognised before anything is sent.

CREATE TABLE identity (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    id TEXT NOT NULL,
    -- Commits after which requests left, over all runs.
    serial INTEGER NOT NULL CHECK (serial >= 0),
    -- The machine that ran it last: a digest to compare, and a name to tell.
    machine TEXT,
    machine_name TEXT,
    -- Set while a run goes on, and left so by one that did not come to its end.
    under_way INTEGER NOT NULL CHECK (under_way IN (0, 1))
) STRICT;
INSERT INTO identity (only_row, id, serial, under_way) VALUES (1, lower(hex(randomblob(16))), 0, 0);

-- A request of this job may have been sent of which this copy of the journal knows nothing.
ALTER TABLE job ADD COLUMN unsure INTEGER NOT NULL DEFAULT 0 CHECK (unsure IN (0, 1));
