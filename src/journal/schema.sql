-- The journal: imports and their rows, jobs and what became of them, attempts, the quota ledger.
--
-- The state machine is written once, in Rust (transition.rs); the CHECKs here only refuse what it must never write.
-- Words are compared one by one, those of most writes first: for a list of more than two, IN builds a temporary table at every
-- row written.
-- Kinds, roles and operations are not enumerated in CHECKs: one is changed only by building its table again, and they will grow.
-- Moments are milliseconds since 1970 UTC, days are days since 1970, words are those of the model, ids of records are their
-- 16 bytes. The view `jobs` shows a person what is what.

-- Kinds, operations and roles are kept as small numbers; these are the names of the first two. Of the roles, 1 is the company,
-- 2 the device, 3 the parent, 4 the site and 5 the template. What is added comes last.
CREATE TABLE kind_name (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
) STRICT;
INSERT INTO kind_name (id, name) VALUES
    (1, 'company'), (2, 'site'), (3, 'person'), (4, 'device'), (5, 'label'), (6, 'metadata entry'), (7, 'licence'),
    (8, 'subscription'), (9, 'site assignment'), (10, 'VPN membership'), (11, 'company update'), (12, 'site update'),
    (13, 'device update');
CREATE TABLE operation_name (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
) STRICT;
INSERT INTO operation_name (id, name) VALUES
    (1, 'auth'), (2, 'addCompany'), (3, 'findCompaniesByName'), (4, 'getCompany'), (5, 'listCompanies'),
    (6, 'getChildCompanies'), (7, 'listTimeZones'), (8, 'updateCompany'), (9, 'deleteInterfaceLabelById'),
    (10, 'deleteInterfaceLabel'), (11, 'findInterfaceLabel'), (12, 'listInterfaceLabels'), (13, 'putInterfaceLabel'),
    (14, 'putInterfaceLabels'), (15, 'findDeviceLabel'), (16, 'listDeviceLabels'), (17, 'putDeviceLabel'),
    (18, 'putDeviceLabels'), (19, 'findSiteLabel'), (20, 'listSiteLabels'), (21, 'putSiteLabel'), (22, 'putSiteLabels'),
    (23, 'addLicenceCode'), (24, 'addDevice'), (25, 'addDeviceFromTemplate'), (26, 'findDevicesByName'),
    (27, 'listAssignableTemplates'), (28, 'listOwnAssignableTemplates'), (29, 'listInterfaces'), (30, 'getDevice'),
    (31, 'getDeviceByMac'), (32, 'listAssignedTemplates'), (33, 'subscribeTemplate'), (34, 'unsubscribeTemplate'),
    (35, 'updateDevice'), (36, 'listDevices'), (37, 'deleteCompanyMetadata'), (38, 'listCompanyMetadata'),
    (39, 'findCompanyMetadata'), (40, 'putCompanyMetadata'), (41, 'putCompanyMetadataList'), (42, 'deleteDeviceMetadata'),
    (43, 'listDeviceMetadata'), (44, 'findDeviceMetadata'), (45, 'putDeviceMetadata'), (46, 'putDeviceMetadataList'),
    (47, 'deleteSiteMetadata'), (48, 'listSiteMetadata'), (49, 'findSiteMetadata'), (50, 'putSiteMetadata'),
    (51, 'putSiteMetadataList'), (52, 'addPerson'), (53, 'getPerson'), (54, 'getPersonByUsername'), (55, 'listPeople'),
    (56, 'addSite'), (57, 'assignDeviceToSite'), (58, 'findSitesByName'), (59, 'getSite'), (60, 'listSites'),
    (61, 'updateSite'), (62, 'addDeviceToVpnCloud'), (63, 'listJoinableVpnClouds'), (64, 'listDeviceVpnClouds'),
    (65, 'getDeviceVpnConfiguration'), (66, 'removeDeviceFromVpnCloud'), (67, 'updateDeviceVpnConfiguration'),
    (68, 'getTunnelStatus'), (69, 'getVpnConnections'), (70, 'getVpnRoutes'), (71, 'listCompanyDeviceStates'),
    (72, 'listCompanyTreeDeviceStates'), (73, 'listSiteDeviceStates'), (74, 'getDeviceOnlineStatus'),
    (75, 'listCompanyDeviceOnlineStatuses'), (76, 'listCompanyTreeDeviceOnlineStatuses'),
    (77, 'listSiteDeviceOnlineStatuses'), (78, 'getDeviceFullStatus'), (79, 'listCompanyDeviceFullStatuses'),
    (80, 'listCompanyTreeDeviceFullStatuses'), (81, 'listSiteDeviceFullStatuses');

CREATE TABLE account (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    base_url TEXT NOT NULL,
    client_id TEXT NOT NULL,
    -- The file of what the simulated service did wrong in the last rehearsal, for the commands that are advised.
    scenario TEXT
) STRICT;

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
    under_way INTEGER NOT NULL CHECK (under_way IN (0, 1)),
    -- Set by the start after such a run, until all pages were looked at.
    pages_unchecked INTEGER NOT NULL DEFAULT 0 CHECK (pages_unchecked IN (0, 1)),
    -- When this backup was taken; NULL once it is run.
    taken_at INTEGER
) STRICT;
INSERT INTO identity (only_row, id, serial, under_way) VALUES (1, lower(hex(randomblob(16))), 0, 0);

CREATE TABLE import (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    row_count INTEGER NOT NULL DEFAULT 0 CHECK (row_count >= 0),
    -- How the files were read: the options of a command, each with a space before it, so that rows of it that were
    -- corrected are read the same.
    reading TEXT,
    -- Since when none of its rows is sent, because a person paused it.
    paused_at INTEGER,
    -- Rows of an import with a higher one are sent first.
    priority INTEGER NOT NULL DEFAULT 0,
    -- Creations of each day's quota that are kept for its rows while it has some that could use them.
    reserve INTEGER NOT NULL DEFAULT 0 CHECK (reserve >= 0),
    -- When the rows were removed that no job needs; what is left of it is no import to anybody.
    pruned_at INTEGER,
    -- What people call it; NULL for the names of its files.
    label TEXT,
    -- The import whose rows came again in this one, corrected or not, and which time this is; the first time is round 1.
    round_of INTEGER REFERENCES import (id),
    round INTEGER NOT NULL DEFAULT 1 CHECK (round >= 1),
    CHECK ((round = 1) = (round_of IS NULL))
) STRICT;
CREATE INDEX import_turn ON import (priority DESC);

CREATE TABLE import_file (
    import INTEGER NOT NULL REFERENCES import (id),
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (import, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE sheet (
    id INTEGER PRIMARY KEY,
    import INTEGER NOT NULL REFERENCES import (id),
    name TEXT NOT NULL,
    file TEXT NOT NULL,
    worksheet TEXT,
    kind INTEGER NOT NULL,
    headers TEXT NOT NULL,
    header_row INTEGER NOT NULL,
    row_count INTEGER NOT NULL DEFAULT 0 CHECK (row_count >= 0)
) STRICT;
CREATE INDEX sheet_of_import ON sheet (import);

-- One set of ids that a look-up showed before a first send; shared by all jobs that saw the same set.
CREATE TABLE baseline (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    ids TEXT NOT NULL
) STRICT;

-- The part of a job that changes while it runs. What it sends is in `step`, so that these rows stay short.
CREATE TABLE job (
    id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (
        state = 'sending' OR state = 'created' OR state = 'ready' OR state = 'blocked' OR state = 'deferred'
        OR state = 'in_doubt' OR state = 'held' OR state = 'adopted' OR state = 'existing' OR state = 'done'
        OR state = 'rejected' OR state = 'incomplete' OR state = 'skipped' OR state = 'cancelled'),
    step INTEGER NOT NULL DEFAULT 0 CHECK (step >= 0),
    operation INTEGER NOT NULL,
    remote_id BLOB CHECK (length(remote_id) = 16),
    outcome TEXT CHECK (outcome = 'created' OR outcome = 'adopted' OR outcome = 'existing' OR outcome = 'done'),
    due INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    deaths INTEGER NOT NULL DEFAULT 0 CHECK (deaths >= 0),
    first_sent_at INTEGER,
    baseline INTEGER REFERENCES baseline (id),
    doubted INTEGER NOT NULL DEFAULT 0 CHECK (doubted IN (0, 1)),
    -- How often the step was in doubt; a probe of a failing service is not held against the row.
    doubts INTEGER NOT NULL DEFAULT 0 CHECK (doubts >= 0),
    executed INTEGER NOT NULL DEFAULT 0 CHECK (executed IN (0, 1)),
    doubt TEXT,
    doubt_since INTEGER,
    absent_reads INTEGER NOT NULL DEFAULT 0 CHECK (absent_reads >= 0),
    looks INTEGER NOT NULL DEFAULT 0 CHECK (looks >= 0),
    held_since INTEGER,
    finished_at INTEGER,
    first_import INTEGER NOT NULL REFERENCES import (id),
    -- The import that named it last, as long as it is not finished: its pause, priority and reserve are those of the job.
    last_import INTEGER NOT NULL REFERENCES import (id),
    natural_key TEXT NOT NULL,
    sheet_key TEXT,
    name TEXT NOT NULL,
    content_hash BLOB NOT NULL CHECK (length(content_hash) = 12),
    code TEXT,
    message TEXT,
    violations TEXT,
    candidates TEXT,
    -- A request of this job may have been sent of which this copy of the journal knows nothing.
    unsure INTEGER NOT NULL DEFAULT 0 CHECK (unsure IN (0, 1)),
    -- 'due' once its record was made; then how it was read back: by its key, by its id alone, or not at all.
    audit TEXT CHECK (audit = 'due' OR audit = 'by_key' OR audit = 'by_id' OR audit = 'unread'),
    -- Kept from the creation, whose own columns are emptied once it is done.
    made_baseline INTEGER REFERENCES baseline (id),
    made_doubted INTEGER NOT NULL DEFAULT 0 CHECK (made_doubted IN (0, 1)),
    CHECK (step = 0 OR outcome IS NOT NULL),
    -- Who created or adopted a record has it; who has one knows how it came by it.
    CHECK ((outcome IS NOT 'created' AND outcome IS NOT 'adopted') OR remote_id IS NOT NULL),
    CHECK (remote_id IS NULL OR outcome IS NOT NULL),
    CHECK (state IS outcome
        OR (state <> 'created' AND state <> 'adopted' AND state <> 'existing' AND state <> 'done')),
    CHECK (state NOT IN ('deferred', 'in_doubt') OR due IS NOT NULL),
    CHECK (state <> 'in_doubt' OR (doubt IS NOT NULL AND doubt_since IS NOT NULL)),
    CHECK (state <> 'held' OR (code IS NOT NULL AND held_since IS NOT NULL)),
    CHECK ((state <> 'rejected' AND state <> 'incomplete' AND state <> 'skipped')
        OR (code IS NOT NULL AND message IS NOT NULL)),
    -- Of what was rejected nothing was carried out; of what is incomplete an earlier step was.
    CHECK (state <> 'rejected' OR outcome IS NULL),
    CHECK (state <> 'incomplete' OR outcome IS NOT NULL),
    -- The service said OK without an id: such a step must never be sent again.
    CHECK (executed = 0 OR state = 'in_doubt' OR state = 'held' OR state = 'rejected'
        OR state = 'incomplete' OR state = 'cancelled')
) STRICT;
-- The text first: it is what tells entries apart, so that they are sorted and found by one comparison.
CREATE UNIQUE INDEX job_natural_key ON job (natural_key, kind);
-- Two more, by key and by name, are made when a job is first looked up so (job_lookup.rs): a journal with one import needs
-- neither.
-- The exclusive claim: one record of the service belongs to one job.
CREATE UNIQUE INDEX job_remote_id ON job (remote_id, kind) WHERE remote_id IS NOT NULL;
CREATE INDEX job_made ON job (kind, id) WHERE remote_id IS NOT NULL;
CREATE INDEX job_blocked ON job (operation, last_import) WHERE state = 'blocked';
CREATE INDEX job_ready ON job (operation, last_import) WHERE state = 'ready';
CREATE INDEX job_deferred ON job (operation, due) WHERE state = 'deferred';
CREATE INDEX job_sending ON job (operation) WHERE state = 'sending';
CREATE INDEX job_in_doubt ON job (due) WHERE state = 'in_doubt';
CREATE INDEX job_held ON job (operation) WHERE state = 'held';
-- What is still to be read back.
CREATE INDEX job_unaudited ON job (audit, id) WHERE audit = 'due';
-- What was read back in vain.
CREATE INDEX job_unread ON job (id) WHERE audit = 'unread';
-- What did not get through. Few of many, so that they are found without a look at the others.
CREATE INDEX job_refused ON job (state) WHERE state = 'rejected' OR state = 'incomplete' OR state = 'skipped';
-- What was going on lately. Empty until rows are finished, so that it costs an import nothing.
CREATE INDEX job_finished ON job (finished_at) WHERE finished_at IS NOT NULL;

-- How many jobs stand alike. The triggers keep it in the transaction of each change, so that nobody counts job by job. A
-- job is never deleted. One that is sending counts as ready: few are, so that they are counted one by one, and no claim costs
-- a change here.
CREATE TABLE job_count (
    first_import INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state <> 'sending'),
    -- That of a job which made or changed something; of others ''.
    audit TEXT NOT NULL,
    made_doubted INTEGER NOT NULL,
    jobs INTEGER NOT NULL CHECK (jobs >= 0),
    PRIMARY KEY (first_import, kind, operation, state, audit, made_doubted)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER job_added AFTER INSERT ON job
BEGIN
    INSERT INTO job_count (first_import, kind, operation, state, audit, made_doubted, jobs)
    VALUES (new.first_import, new.kind, new.operation, iif(new.state = 'sending', 'ready', new.state),
        iif(new.outcome IS NULL, '', coalesce(new.audit, '')), new.made_doubted, 1)
    ON CONFLICT DO UPDATE SET jobs = jobs + 1;
END;
CREATE TRIGGER job_changed AFTER UPDATE OF first_import, kind, operation, state, outcome, audit, made_doubted ON job
WHEN old.state <> 'ready' OR new.state <> 'sending' OR new.first_import <> old.first_import OR new.kind <> old.kind
    OR new.operation <> old.operation OR new.outcome IS NOT old.outcome OR new.audit IS NOT old.audit
    OR new.made_doubted <> old.made_doubted
BEGIN
    UPDATE job_count SET jobs = jobs - 1
    WHERE first_import = old.first_import AND kind = old.kind AND operation = old.operation
        AND state = iif(old.state = 'sending', 'ready', old.state)
        AND audit = iif(old.outcome IS NULL, '', coalesce(old.audit, '')) AND made_doubted = old.made_doubted;
    INSERT INTO job_count (first_import, kind, operation, state, audit, made_doubted, jobs)
    VALUES (new.first_import, new.kind, new.operation, iif(new.state = 'sending', 'ready', new.state),
        iif(new.outcome IS NULL, '', coalesce(new.audit, '')), new.made_doubted, 1)
    ON CONFLICT DO UPDATE SET jobs = jobs + 1;
END;

-- The rows that are sent and verified before all others; no other row is handed out until all of them are right. Empty where
-- there is no canary.
CREATE TABLE canary (
    job INTEGER PRIMARY KEY REFERENCES job (id)
) STRICT;

-- Jobs that are to be sent no more, and who said so while a request of them was under way or in doubt. They are cancelled as
-- soon as they would be sent again.
CREATE TABLE cancellation (
    job INTEGER PRIMARY KEY REFERENCES job (id),
    who TEXT NOT NULL
) STRICT;

CREATE TABLE link (
    job INTEGER NOT NULL REFERENCES job (id),
    role INTEGER NOT NULL,
    target_job INTEGER REFERENCES job (id),
    target_id BLOB CHECK (length(target_id) = 16),
    PRIMARY KEY (job, role),
    CHECK ((target_job IS NULL) <> (target_id IS NULL)),
    CHECK (target_job IS NOT job)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_target ON link (target_job) WHERE target_job IS NOT NULL;

-- Keys besides its own that rows of later imports have for a job: rows may refer to it by them.
CREATE TABLE other_key (
    job INTEGER NOT NULL REFERENCES job (id),
    kind INTEGER NOT NULL,
    sheet_key TEXT NOT NULL,
    PRIMARY KEY (sheet_key, kind, job)
) STRICT, WITHOUT ROWID;

-- What updates have set of the record of a job since it was made: values by field, as JSON.
CREATE TABLE changed_record (
    job INTEGER PRIMARY KEY REFERENCES job (id),
    fields TEXT NOT NULL
) STRICT;
-- The names that it had before. Rows that come later may still have them.
CREATE TABLE former_name (
    job INTEGER NOT NULL REFERENCES job (id),
    kind INTEGER NOT NULL,
    natural_key TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (natural_key, kind, job, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX former_name_name ON former_name (name, kind);

-- The record that an upkeep row is about: '#' and the job that makes or found it, else its id; and its turn among the rows about
-- it. Those of a later turn wait until those of an earlier one are settled. That job is here as well: its turn, 0, is the first.
CREATE TABLE upkeep (
    job INTEGER PRIMARY KEY REFERENCES job (id),
    record TEXT NOT NULL,
    turn INTEGER NOT NULL CHECK (turn BETWEEN 0 AND 3)
) STRICT;
CREATE INDEX upkeep_record ON upkeep (record, turn, job DESC);

-- What a job is to bring about, one action after the other, counted from 0. The operation of the step that a job stands at is
-- in `job` as well. `id` is job * 2^16 + n, so that the steps of a job lie together and in order. Those with n from 2^15 on were
-- carried out for earlier values of an upkeep row.
--
-- `action` is JSON; of a step with a shape it is what stands for `?` in the shape, and what stands for its other places is in
-- the cells of the row at `place`, from which the step was made (stored_row.rs).
CREATE TABLE step (
    id INTEGER PRIMARY KEY,
    job INTEGER NOT NULL GENERATED ALWAYS AS (id >> 16) VIRTUAL,
    n INTEGER NOT NULL GENERATED ALWAYS AS (id & 65535) VIRTUAL,
    operation INTEGER NOT NULL,
    action TEXT,
    shape INTEGER REFERENCES shape (id),
    place INTEGER,
    -- 0 while it waits, 1 once it is done; 2: it is not carried out, as the record was there, and on_existing says to leave
    -- it as it is.
    ended INTEGER NOT NULL CHECK (ended BETWEEN 0 AND 2),
    -- What the record had of what the step changes, as JSON, as it was read before the first request that may have been
    -- carried out; NULL where no look-up showed it.
    before TEXT,
    -- What the first request for a creation was sent with that may have been carried out, as JSON, until it is known not to
    -- have been; where a person says so, until another request may have been. A record that is found was made with that.
    sent TEXT,
    CHECK ((shape IS NULL) = (place IS NULL)),
    CHECK (shape IS NOT NULL OR action IS NOT NULL)
) STRICT;
CREATE INDEX step_waiting ON step (operation) WHERE ended = 0 AND n > 0;

CREATE TABLE attempt (
    job INTEGER NOT NULL REFERENCES job (id),
    number INTEGER NOT NULL CHECK (number >= 1),
    step INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    sent_at INTEGER NOT NULL,
    -- The newest import then: whether it was sent before or after an import does not depend on a clock, which may be set back.
    import INTEGER NOT NULL,
    ended_at INTEGER,
    -- The day on whose quota it counts, unless it is proved not executed; NULL for what is no creation.
    counted INTEGER,
    execution TEXT CHECK (execution = 'confirmed' OR execution = 'refused' OR execution = 'doubtful'
        OR execution = 'not_executed'),
    status INTEGER,
    code TEXT,
    excerpt TEXT,
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempt_sent ON attempt (sent_at);

-- What the actions of many rows have in common.
CREATE TABLE shape (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL
) STRICT;

-- A text that stands in many cells.
CREATE TABLE cell_text (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL
) STRICT;

-- One row of one sheet. `place` is sheet * 2^32 + number, so that the rows of a sheet lie together and in order. `cells` is a
-- JSON array of the cells as they stood: a text, or the number of one in cell_text. `line_offset` is how far the line at which
-- the row begins in a text file is from its number; it is 0 for most.
CREATE TABLE sheet_row (
    place INTEGER PRIMARY KEY,
    job INTEGER NOT NULL REFERENCES job (id),
    line_offset INTEGER,
    disposition TEXT NOT NULL CHECK (disposition = 'new' OR disposition = 'revised' OR disposition = 'recognised'
        OR disposition = 'changed_since'),
    cells TEXT NOT NULL
) STRICT;
CREATE INDEX sheet_row_of_job ON sheet_row (job);

-- Rows that an import left out because they, or what they belong to, have errors: no job is made for them, but they are
-- in the reports like every other row.
--
-- `place` is that of sheet_row; no row is in both. `state` is what the report says: 'rejected' for errors of its own,
-- 'skipped' for those of what it belongs to. `job` is the job of the row that took its place in another import; `origin` is
-- the place of the first row that this one is once more, its own for one that is new. `owner` is what the row says it
-- belongs to, folded: a key such as "hq" is common. `natural_key` is that of a MAC address or username, `name` what the row
-- is known by among those of its owner. `given_up` is who gave the row up: it is nobody's to correct any more.
CREATE TABLE left_out (
    place INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    line INTEGER,
    cells TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state = 'rejected' OR state = 'skipped'),
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    violations TEXT,
    sheet_key TEXT,
    natural_key TEXT,
    name TEXT,
    owner TEXT NOT NULL,
    origin INTEGER NOT NULL,
    job INTEGER REFERENCES job (id),
    given_up TEXT
) STRICT;
CREATE INDEX left_out_sheet_key ON left_out (kind, sheet_key) WHERE job IS NULL AND sheet_key IS NOT NULL;
CREATE INDEX left_out_name ON left_out (kind, name) WHERE job IS NULL AND name IS NOT NULL;
CREATE INDEX left_out_origin ON left_out (origin) WHERE job IS NULL;
CREATE INDEX left_out_natural_key ON left_out (kind, natural_key) WHERE job IS NULL AND natural_key IS NOT NULL;
CREATE INDEX left_out_job ON left_out (job) WHERE job IS NOT NULL;
CREATE INDEX left_out_answered ON left_out (cells) WHERE job IS NOT NULL;

-- In what a row differs from the record that was made of its job earlier: the columns, with the values of both.
CREATE TABLE difference (
    place INTEGER PRIMARY KEY,
    columns TEXT NOT NULL
) STRICT;

-- The creations of each day that the service has counted or may have counted: those in `sent` that are not confirmed,
-- refused or doubtful are under way. Changed in the transaction that begins, ends or finds an attempt.
CREATE TABLE quota (
    day INTEGER PRIMARY KEY,
    sent INTEGER NOT NULL DEFAULT 0,
    confirmed INTEGER NOT NULL DEFAULT 0 CHECK (confirmed >= 0),
    refused INTEGER NOT NULL DEFAULT 0 CHECK (refused >= 0),
    doubtful INTEGER NOT NULL DEFAULT 0 CHECK (doubtful >= 0),
    -- How many had been counted when the service said that no more are allowed.
    ceiling INTEGER CHECK (ceiling >= 0),
    CHECK (sent >= confirmed + refused + doubtful)
) STRICT;

CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    ending TEXT CHECK (ending IN (
        'finished', 'quota', 'window', 'until', 'signal', 'sheet-paused', 'canary', 'unreachable', 'credentials',
        'source-address',
        'certificate', 'endpoint-missing', 'breaker', 'journal', 'journal-locked', 'journal-damaged', 'journal-full'
    )),
    detail TEXT,
    held_back TEXT,
    resumes_at INTEGER,
    -- For what it waits until then.
    waits_for TEXT CHECK (waits_for = 'quota' OR waits_for = 'window'),
    -- When the quota resets that it waits for; it goes on later where it may send only later.
    quota_resets_at INTEGER,
    requests TEXT,
    -- What it went by (version, paths, policy), as JSON, so that the next one can tell what has changed since.
    terms TEXT,
    -- The options that were typed for it and that the next run has only if they are typed again, as they are typed.
    typed TEXT,
    -- What it read back, in numbers.
    audit TEXT,
    -- What it has still to do, as JSON, while it goes on; then the paused sheets that it left, if it left any.
    remaining TEXT,
    -- How often a person asked it to try again at once, while it goes on.
    asked_now INTEGER NOT NULL DEFAULT 0,
    CHECK ((ended_at IS NULL) = (ending IS NULL))
) STRICT;

-- How the last command that ran the journal ended, and when one last ended with 0, for whoever watches it.
CREATE TABLE command_end (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    at INTEGER NOT NULL,
    exit_code INTEGER NOT NULL,
    succeeded_at INTEGER
) STRICT;

-- What reading back found that is not as it should be; a row that was read back without a finding has none.
CREATE TABLE audit (
    job INTEGER PRIMARY KEY REFERENCES job (id),
    run INTEGER NOT NULL,
    at INTEGER NOT NULL,
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    found TEXT NOT NULL
) STRICT;

CREATE TABLE decision (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    job INTEGER REFERENCES job (id),
    import INTEGER REFERENCES import (id),
    details TEXT
) STRICT;
CREATE INDEX decision_of_job ON decision (job) WHERE job IS NOT NULL;

-- The ids by which rows name records of the service that no row creates, each once, and when a look-up showed the record.
CREATE TABLE named_id (
    kind INTEGER NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    verified_at INTEGER,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

-- The last look of `rollout` at the devices of an import, and what it showed of each, as JSON: NULL where there was no record
-- to ask for. `was_online` is when an earlier look saw it online, where it no longer is.
CREATE TABLE look (
    import INTEGER PRIMARY KEY REFERENCES import (id),
    at INTEGER NOT NULL
) STRICT;
CREATE TABLE device_look (
    import INTEGER NOT NULL REFERENCES import (id),
    job INTEGER NOT NULL REFERENCES job (id),
    shown TEXT,
    was_online INTEGER,
    PRIMARY KEY (import, job)
) STRICT, WITHOUT ROWID;

-- The lines of spill files that have been taken in, so that a crash before the file is removed repeats nothing.
CREATE TABLE spill_taken (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a person sent one request at a time, apart from all rows, and what changes something: noted before it left. None is
-- ever sent again. Of its body only a digest is kept, since secrets such as licence codes may be in it.
CREATE TABLE call (
    id INTEGER PRIMARY KEY,
    operation INTEGER NOT NULL,
    parameters TEXT NOT NULL,
    body_sha256 TEXT,
    who TEXT NOT NULL,
    sent_at INTEGER NOT NULL,
    -- NULL while it is under way, and for ever when its process was ended from outside.
    ended_at INTEGER,
    counted INTEGER,
    execution TEXT CHECK (execution = 'confirmed' OR execution = 'refused' OR execution = 'doubtful'
        OR execution = 'not_executed'),
    status INTEGER,
    code TEXT,
    remote_id BLOB CHECK (length(remote_id) = 16),
    -- Who has looked, and when, whether a call with an unknown outcome was carried out.
    reviewed_at INTEGER,
    reviewed_by TEXT,
    CHECK ((reviewed_at IS NULL) = (reviewed_by IS NULL)),
    CHECK ((ended_at IS NULL) = (execution IS NULL))
) STRICT;

-- What is to be reported to others, each change once: `key` says which change it is. `body` is what is delivered, as JSON.
CREATE TABLE notification (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
-- To whom a notification is delivered: 'webhook', 'command'. It stays due until it is.
CREATE TABLE delivery (
    notification INTEGER NOT NULL REFERENCES notification (id),
    target TEXT NOT NULL,
    last_error TEXT,
    failed_at INTEGER,
    delivered_at INTEGER,
    PRIMARY KEY (notification, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_due ON delivery (target, notification) WHERE delivered_at IS NULL;

-- For people: each job with the row that named it last, and what became of it.
CREATE VIEW jobs AS
SELECT job.id AS job, sheet.import AS import, sheet.file || '!' || sheet.name || '!' || (sheet_row.place & 4294967295) AS row,
    kind_name.name AS kind, job.name AS name, job.sheet_key AS key, job.state AS state, job.code AS code,
    job.message AS message, operation_name.name AS operation, job.attempts AS attempts,
    datetime(job.finished_at / 1000, 'unixepoch') AS finished_at,
    iif(job.remote_id IS NULL, NULL, lower(
        substr(hex(job.remote_id), 1, 8) || '-' || substr(hex(job.remote_id), 9, 4) || '-' ||
        substr(hex(job.remote_id), 13, 4) || '-' || substr(hex(job.remote_id), 17, 4) || '-' ||
        substr(hex(job.remote_id), 21))) AS id,
    (SELECT json_group_array(coalesce(cell_text.text, cell.value))
        FROM json_each(sheet_row.cells) AS cell
        LEFT JOIN cell_text ON cell.type = 'integer' AND cell_text.id = cell.value) AS cells
FROM job
JOIN kind_name ON kind_name.id = job.kind
JOIN operation_name ON operation_name.id = job.operation
LEFT JOIN sheet_row ON sheet_row.place = (SELECT max(place) FROM sheet_row AS last WHERE last.job = job.id)
LEFT JOIN sheet ON sheet.id = sheet_row.place >> 32;
