//! What is still to be sent and to be verified, counted for the forecast of a run that is at work; and the facts of that
//! forecast as the run notes them, so that whoever asks the journal sees the same end.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Params};

use crate::error::Result;
use crate::journal::file::column::natural;
use crate::journal::file::sqlite_error::damaged;
use crate::journal::row_ref::last_sheet_of_job;
use crate::journal::state::dependents::record_order::comes_before;
use crate::journal::view::audit::due_by_kind;
use crate::journal::{AuditScope, JobQueue, RunId, View};
use crate::model::id::{ImportId, SheetId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::Role;
use crate::model::remaining::{Doubts, Remaining};
use crate::model::time::Moment;

/// What is still to be done, by the journal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Unfinished {
    /// Requests still to be sent, by operation.
    pub requests: BTreeMap<Operation, u64>,
    /// Rows that can be sent now, or are being sent.
    pub moving: u64,
    /// The latest moment that a deferred row waits for.
    pub deferred_until: Option<Moment>,
    /// Deferred rows of which the service does not show yet what they refer to, or what they name.
    pub unseen: u64,
    /// Records that are to be verified, those that are still to be made among them.
    pub records: BTreeMap<Kind, u64>,
    /// Records whose changes by an operation are to be verified, those that are still to be sent among them: one list shows
    /// all of them.
    pub changed: BTreeMap<Operation, u64>,
    /// The share of devices that have a MAC address.
    pub with_mac: f64,
    /// Companies below which companies are to be verified: one list shows them all.
    pub parents: u64,
    /// The rows in doubt. How doubts went so far only the run knows.
    pub doubts: Doubts,
    /// Rows of paused sheets that could be sent and are not, by sheet.
    pub paused: BTreeMap<SheetId, u64>,
}

/// The requests that are not sent as imports or sheets are paused, and what they were counted for.
#[derive(Debug)]
pub(in crate::journal) struct OfPaused {
    /// The journal as other processes have left it, the paused imports, and the rows of paused sheets that could be sent: where
    /// these are others, the requests are as well.
    of_these: (i64, Vec<ImportId>, BTreeMap<SheetId, u64>),
    requests: BTreeMap<Operation, u64>,
}

/// What is blocked by the jobs of a recursive table, directly or by others, as its further members, each with the cause of the
/// job that it waits for, where the table has such a column. Nothing waits for a record that there is, whatever is still to be
/// done with it.
macro_rules! and_what_waits_for {
    ($table:literal $(, $cause:literal)?) => {
        concat!(
            " UNION SELECT link.job",
            $(", ", $table, ".", $cause,)?
            " FROM ",
            $table,
            " JOIN job AS target ON target.id = ",
            $table,
            ".id AND target.remote_id IS NULL JOIN link ON link.target_job = target.id
                 JOIN job ON job.id = link.job WHERE job.state = 'blocked'
                 UNION SELECT later.job",
            $(", ", $table, ".", $cause,)?
            " FROM ",
            $table,
            " JOIN upkeep AS first ON first.job = ",
            $table,
            ".id JOIN job AS open ON open.id = first.job JOIN upkeep AS later ON ",
            comes_before!("first", "open", "later"),
            " JOIN job ON job.id = later.job WHERE job.state = 'blocked'"
        )
    };
}

pub(in crate::journal) use and_what_waits_for;

/// What the jobs of a recursive table wait for, directly or by others, as its further members. All rows of one turn at a record
/// wait for the same: the last of them, with a minus, is a member for all of them.
macro_rules! and_what_it_waits_for {
    ($table:literal) => {
        concat!(
            " UNION SELECT parent.id FROM ",
            $table,
            " JOIN link ON link.job = ",
            $table,
            ".id JOIN job AS parent ON parent.id = link.target_job
                 WHERE parent.finished_at IS NULL AND parent.remote_id IS NULL
                 UNION SELECT (SELECT -max(same.job) FROM upkeep AS same
                               WHERE same.record = own.record AND same.turn = own.turn) FROM ",
            $table,
            " JOIN upkeep AS own ON own.job = ",
            $table,
            ".id
                 UNION SELECT first.job FROM ",
            $table,
            " JOIN upkeep AS own ON own.job = -",
            $table,
            ".id CROSS JOIN upkeep AS first CROSS JOIN job ON job.id = first.job WHERE ",
            comes_before!("first", "job", "own")
        )
    };
}

pub(in crate::journal) use and_what_it_waits_for;

/// Blocked rows that wait for a row on hold, directly or by others: nothing of them is sent before a person decides.
macro_rules! with_stuck {
    ($($rest:expr),+) => {
        concat!(
            "WITH RECURSIVE stuck (id) AS (SELECT id FROM job WHERE state = 'held'",
            and_what_waits_for!("stuck"),
            ") ",
            $($rest),+
        )
    };
}

/// See [`JobQueue::requests_of_paused`]; `?1` are the paused sheets. CROSS JOIN and the plus: what waits and its steps
/// are looked up row by row, and not sought among all rows and steps.
const OF_PAUSED: &str = with_stuck!(
    ", paused (id) AS (SELECT id FROM import WHERE paused_at IS NOT NULL),
     aside (id) AS (
     SELECT sheet_row.job FROM json_each(?1) AS sheet
     CROSS JOIN sheet_row ON sheet_row.place BETWEEN sheet.value << 32 AND (sheet.value << 32) + 4294967295
     CROSS JOIN job ON job.id = sheet_row.job
     WHERE job.state IN ('ready', 'deferred', 'blocked')
       AND NOT EXISTS (SELECT 1 FROM sheet_row AS later
                       WHERE later.job = sheet_row.job AND later.place >> 32 > sheet.value)
     UNION SELECT waits.id FROM job AS waits INDEXED BY job_blocked
     CROSS JOIN link ON link.job = waits.id CROSS JOIN job ON job.id = link.target_job
     WHERE waits.state = 'blocked' AND waits.last_import NOT IN paused
       AND job.last_import IN paused AND job.finished_at IS NULL AND job.remote_id IS NULL
     UNION SELECT waits.id FROM job AS waits INDEXED BY job_blocked CROSS JOIN upkeep AS own ON own.job = waits.id
     CROSS JOIN upkeep AS before CROSS JOIN job ON job.id = before.job
     WHERE waits.state = 'blocked' AND waits.last_import NOT IN paused AND job.last_import IN paused AND ",
    comes_before!("before", "job", "own"),
    and_what_waits_for!("aside"),
    ")
     SELECT step.operation, count(*) FROM aside CROSS JOIN job ON job.id = aside.id
     CROSS JOIN step ON step.id BETWEEN aside.id << 16 AND aside.id << 16 | 65535
     WHERE +step.ended = 0 AND step.n >= job.step AND job.last_import NOT IN paused AND aside.id NOT IN stuck
     GROUP BY 1"
);

impl Unfinished {
    fn take_off(&mut self, operation: Operation, requests: u64) {
        if let Some(counted) = self.requests.get_mut(&operation) {
            *counted = counted.saturating_sub(requests);
        }
    }
}

impl JobQueue<'_> {
    /// Counts what is still to be done. Rows are not looked at one by one, but for steps after the first, companies and
    /// upkeep rows.
    pub fn unfinished(&mut self, scope: Option<AuditScope>) -> Result<Unfinished> {
        let mut unfinished = Unfinished::default();
        self.count_requests(&mut unfinished)?;
        self.take_off_paused(&mut unfinished)?;
        self.find_deferred(&mut unfinished)?;
        self.find_doubts(&mut unfinished)?;
        if let Some(scope) = scope {
            self.count_records(scope, &mut unfinished)?;
            self.count_changed(scope, &mut unfinished)?;
            unfinished.with_mac = self.share_with_mac()?;
        }
        Ok(unfinished)
    }

    fn count_requests(&self, unfinished: &mut Unfinished) -> Result<()> {
        // The steps that jobs stand at; those after them are counted below.
        let mut statement = self.connection.prepare_cached(
            "SELECT operation, state <> 'blocked', sum(jobs) FROM job_count
             WHERE state IN ('ready', 'deferred', 'blocked') AND jobs > 0 GROUP BY 1, 2",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (operation, moving, jobs): (Operation, bool, u64) =
                (row.get(0)?, row.get(1)?, natural(row.get(2)?));
            *unfinished.requests.entry(operation).or_default() += jobs;
            unfinished.moving += if moving { jobs } else { 0 };
        }
        self.count_by_operation(
            with_stuck!(
                "SELECT job.operation, count(*) FROM stuck JOIN job ON job.id = stuck.id
                 JOIN import ON import.id = job.last_import
                 WHERE job.state = 'blocked' AND import.paused_at IS NULL GROUP BY 1"
            ),
            [],
            |operation, stuck| unfinished.take_off(operation, stuck),
        )?;
        self.count_by_operation(
            with_stuck!(
                "SELECT step.operation, count(*) FROM step JOIN job ON job.id = step.job
                 WHERE step.ended = 0 AND step.n > 0 AND step.n > job.step AND job.id NOT IN stuck
                   AND NOT EXISTS (SELECT 1 FROM import
                                   WHERE import.id = job.last_import AND import.paused_at IS NOT NULL)
                   AND job.state NOT IN ('rejected', 'incomplete', 'skipped', 'cancelled', 'held') GROUP BY 1"
            ),
            [],
            |operation, steps| *unfinished.requests.entry(operation).or_default() += steps,
        )?;
        Ok(())
    }

    /// Takes off what is not sent while its import is paused, or as the rows of its sheet are rejected: these rows, all of their
    /// steps, and those of the rows that wait for them.
    fn take_off_paused(&mut self, unfinished: &mut Unfinished) -> Result<()> {
        let mut turns = self.import_turns()?;
        turns.retain(|turn| turn.paused_at.is_some());
        let imports: Vec<ImportId> = turns.iter().map(|turn| turn.import).collect();
        for import in &imports {
            for (state, is_moving) in [("ready", true), ("deferred", true), ("blocked", false)] {
                let paused = format!(
                    "SELECT operation, count(*) FROM job WHERE state = '{state}' AND last_import = ?1 GROUP BY 1"
                );
                self.count_by_operation(&paused, [import], |operation, jobs| {
                    unfinished.take_off(operation, jobs);
                    unfinished.moving = unfinished.moving.saturating_sub(if is_moving { jobs } else { 0 });
                })?;
            }
        }
        for &sheet in &self.journal.paused_sheets {
            let rows = self.journal.unsent(sheet)?;
            unfinished.moving = unfinished.moving.saturating_sub(rows);
            unfinished.paused.insert(sheet, rows);
        }
        if imports.is_empty() && unfinished.paused.is_empty() {
            return Ok(());
        }
        let version = self.data_version()?;
        let of_these = (version, imports, unfinished.paused.clone());
        let known = self.journal.of_paused.take().filter(|known| known.of_these == of_these);
        let known = match known {
            Some(known) => known,
            None => OfPaused { of_these, requests: self.requests_of_paused()? },
        };
        known.requests.iter().for_each(|(&operation, &paused)| unfinished.take_off(operation, paused));
        self.journal.of_paused = Some(known);
        Ok(())
    }

    /// The requests of rows of paused sheets, and of rows that wait for them or for rows of paused imports, but of those that are
    /// not counted anyway: of a paused import, or below a row on hold. Rows of paused imports, which may be very many, are
    /// looked at only where others wait for them.
    fn requests_of_paused(&self) -> Result<BTreeMap<Operation, u64>> {
        let mut requests = BTreeMap::new();
        self.count_by_operation(OF_PAUSED, [self.journal.paused_sheet_list()], |operation, steps| {
            requests.insert(operation, steps);
        })?;
        Ok(requests)
    }

    fn count_by_operation(
        &self,
        sql: &str,
        parameters: impl Params,
        mut count: impl FnMut(Operation, u64),
    ) -> Result<()> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(parameters)?;
        while let Some(row) = rows.next()? {
            count(row.get(0)?, natural(row.get(1)?));
        }
        Ok(())
    }

    /// The rows that wait for their time, as far as they are not paused.
    fn find_deferred(&self, unfinished: &mut Unfinished) -> Result<()> {
        (unfinished.deferred_until, unfinished.unseen) = self
            .connection
            .prepare_cached(concat!(
                "SELECT max(due), coalesce(sum(code IN ('noDataFound', 'not-listed')), 0)
                 FROM job INDEXED BY job_deferred JOIN import ON import.id = job.last_import
                 WHERE state = 'deferred' AND paused_at IS NULL AND (?1 = '[]' OR ",
                last_sheet_of_job!(),
                " NOT IN (SELECT value FROM json_each(?1)))"
            ))?
            .query_row([self.journal.paused_sheet_list()], |row| Ok((row.get(0)?, natural(row.get(1)?))))?;
        Ok(())
    }

    fn find_doubts(&self, unfinished: &mut Unfinished) -> Result<()> {
        let mut statement = self.connection.prepare_cached(
            "SELECT count(*), sum(looks > 0), max(iif(looks = 0, due, NULL))
             FROM job WHERE state = 'in_doubt'",
        )?;
        statement.query_row([], |row| {
            unfinished.doubts.rows = natural(row.get(0)?);
            unfinished.doubts.not_found = natural(row.get::<_, Option<i64>>(1)?.unwrap_or_default());
            unfinished.doubts.first_look_by = row.get(2)?;
            Ok(())
        })?;
        Ok(())
    }

    fn count_changed(&self, scope: AuditScope, unfinished: &mut Unfinished) -> Result<()> {
        let (due, open) = (
            "SELECT job.operation, count(DISTINCT upkeep.record) FROM job JOIN upkeep ON upkeep.job = job.id
             WHERE EXISTS (SELECT 1 FROM upkeep) AND upkeep.turn > 0 AND job.audit = 'due' AND job.outcome IS NOT NULL
                 AND (?1 OR job.made_doubted) GROUP BY 1",
            "SELECT job.operation, count(DISTINCT upkeep.record) FROM upkeep JOIN job ON job.id = upkeep.job
             WHERE ?1 AND upkeep.turn > 0 AND job.finished_at IS NULL AND job.state <> 'held' GROUP BY 1",
        );
        for sql in [due, open] {
            self.count_by_operation(sql, [scope == AuditScope::All], |operation, records| {
                *unfinished.changed.entry(operation).or_default() += records;
            })?;
        }
        Ok(())
    }

    /// The share of devices that have a MAC address, by their natural keys: one with a separator begins with the company.
    /// They are looked at again when there are others.
    fn share_with_mac(&mut self) -> Result<f64> {
        let devices: Option<i64> = self
            .connection
            .prepare_cached("SELECT sum(jobs) FROM job_count WHERE kind = ?1")?
            .query_row([Kind::Device], |row| row.get(0))?;
        let devices = natural(devices.unwrap_or_default());
        if let Some((of, share)) = self.journal.with_mac
            && of == devices
        {
            return Ok(share);
        }
        let share = self
            .connection
            .prepare_cached("SELECT avg(instr(natural_key, char(31)) = 0) FROM job WHERE kind = ?1")?
            .query_row([Kind::Device], |row| row.get::<_, Option<f64>>(0))?
            .unwrap_or_default();
        self.journal.with_mac = Some((devices, share));
        Ok(share)
    }

    fn count_records(&self, scope: AuditScope, unfinished: &mut Unfinished) -> Result<()> {
        let connection = &self.connection;
        let all = scope == AuditScope::All;
        for (kind, rows) in due_by_kind(connection, scope, None)? {
            if kind.is_record() {
                *unfinished.records.entry(kind).or_default() += rows;
            }
        }
        let mut doubtful = connection.prepare_cached(
            "SELECT kind, sum(jobs) FROM job_count WHERE state = 'in_doubt' AND jobs > 0 GROUP BY 1",
        )?;
        let mut rows = doubtful.query([])?;
        while let Some(row) = rows.next()? {
            *unfinished.records.entry(row.get(0)?).or_default() += natural(row.get(1)?);
        }
        if all {
            for (operation, requests) in &unfinished.requests {
                if let Some(kind) = operation.makes() {
                    *unfinished.records.entry(kind).or_default() += requests;
                }
            }
        }
        if unfinished.records.contains_key(&Kind::Company) {
            unfinished.parents = natural(
                connection
                    .prepare_cached(
                        "SELECT count(DISTINCT coalesce(link.target_id, link.target_job)) FROM (
                             SELECT id FROM job INDEXED BY job_made
                                 WHERE kind = ?2 AND remote_id IS NOT NULL AND audit = 'due'
                             UNION ALL SELECT id FROM job INDEXED BY job_blocked
                                 WHERE state = 'blocked' AND operation = ?3
                             UNION ALL SELECT id FROM job INDEXED BY job_ready
                                 WHERE state = 'ready' AND operation = ?3
                             UNION ALL SELECT id FROM job INDEXED BY job_deferred
                                 WHERE state = 'deferred' AND operation = ?3
                             UNION ALL SELECT id FROM job INDEXED BY job_sending
                                 WHERE state = 'sending' AND operation = ?3
                             UNION ALL SELECT id FROM job INDEXED BY job_in_doubt
                                 WHERE state = 'in_doubt' AND operation = ?3) AS company
                         LEFT JOIN link ON link.job = company.id AND link.role = ?1",
                    )?
                    .query_row((Role::Parent, Kind::Company, Operation::AddCompany), |row| row.get(0))?,
            );
        }
        Ok(())
    }
}

impl View {
    /// How many rows a run can send that begins now: those that neither wait for a person, nor belong to a paused import, nor
    /// wait for such rows, and whose outcome is not unknown.
    pub fn rows_to_send(&self) -> Result<u64> {
        let rows = concat!(
            "WITH RECURSIVE unsent (id) AS (
                 SELECT id FROM job WHERE state = 'held'
                 UNION SELECT job.id FROM import JOIN job ON job.last_import = import.id
                 WHERE import.paused_at IS NOT NULL AND job.state IN ('ready', 'deferred', 'blocked')",
            and_what_waits_for!("unsent"),
            ")
             SELECT (SELECT coalesce(sum(jobs), 0) FROM job_count WHERE state IN ('ready', 'deferred', 'blocked'))
                 - (SELECT count(*) FROM unsent JOIN job ON job.id = unsent.id
                    WHERE job.state IN ('ready', 'deferred', 'blocked'))"
        );
        Ok(natural(self.connection.prepare_cached(rows)?.query_row([], |row| row.get(0))?))
    }

    /// What a run noted last that it has still to do.
    pub fn noted_remaining(&self, run: RunId) -> Result<Option<Remaining>> {
        let noted: Option<Option<String>> = self
            .connection
            .query_row("SELECT remaining FROM run WHERE id = ?1", [run], |row| row.get(0))
            .optional()?;
        noted
            .flatten()
            .map(|text| {
                serde_json::from_str(&text).map_err(|error| damaged("what a run has still to do", error))
            })
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::*;
    use crate::journal::state::dependents::record_order;
    use crate::journal::{Disposition, Evidence, How, Write};
    use crate::model::action::{Action, Turn};
    use crate::model::operation::Operation::AddCompany;
    use crate::model::state::JobState::{Blocked, Held, InDoubt, Sending};
    use crate::model::verdict::Doubt;

    #[test]
    fn what_is_to_be_sent_and_to_be_verified_is_counted_without_what_waits_for_a_person() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Cord", "Dole"], false);
        let whole = bench.journal.queue().unfinished(Some(AuditScope::All)).unwrap();
        assert_eq!(whole.requests, BTreeMap::from([(AddCompany, 4)]));
        assert_eq!((whole.moving, whole.records), (4, BTreeMap::from([(Kind::Company, 4)])));
        assert_eq!(bench.journal.rows_to_send().unwrap(), 4);
        for &job in &jobs[..3] {
            apply(&mut bench.journal, claim(job, AddCompany)).unwrap();
        }
        let evidence = || Evidence::at(at(5_000));
        let done = Write::Advance {
            job: jobs[0],
            from: Sending,
            how: How::Created,
            id: Some(id(1)),
            evidence: evidence(),
        };
        apply(&mut bench.journal, done).unwrap();
        for &job in &jobs[1..3] {
            let until = at(9_000);
            let doubt = Write::Doubt {
                job,
                doubt: Doubt::Timeout,
                executed: false,
                charged: true,
                until,
                evidence: evidence(),
            };
            apply(&mut bench.journal, doubt).unwrap();
        }
        let (code, reason) = ("unclear".to_owned(), "unclear".to_owned());
        let hold = Write::Hold {
            job: jobs[2],
            from: InDoubt,
            code,
            reason,
            candidates: Vec::new(),
            evidence: evidence(),
        };
        apply(&mut bench.journal, hold).unwrap();
        let later = bench.journal.queue().unfinished(Some(AuditScope::All)).unwrap();
        assert_eq!((later.requests, later.moving), (BTreeMap::from([(AddCompany, 1)]), 1));
        assert_eq!(bench.journal.rows_to_send().unwrap(), 1);
        assert_eq!(later.records, BTreeMap::from([(Kind::Company, 3)]), "made, in doubt and to be made");
        assert_eq!((later.doubts.rows, later.doubts.not_found), (1, 0));
        assert_eq!(later.doubts.first_look_by, Some(at(9_000)));
        assert_eq!(bench.journal.queue().unfinished(None).unwrap().records, BTreeMap::new());
    }

    #[test]
    fn what_waits_for_paused_rows_is_looked_up_row_by_row() {
        let plan = plan(&bench().journal, OF_PAUSED).join("; ");
        for sought in ["AUTOMATIC", "SCAN job;", "SCAN sheet_row", "SCAN step", "SCAN link", "SCAN upkeep"] {
            assert!(!plan.contains(sought), "{sought}: {plan}");
        }
    }

    #[test]
    fn rows_of_a_paused_import_and_those_below_them_are_not_counted() {
        let mut bench = bench();
        let (paused, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
        let (_, others) = import_companies(&mut bench.journal, &["Bolt"], false);
        let mut import = bench.journal.begin_import(at(2_000)).unwrap();
        let sites = import.sheet(&sheet("sites", Kind::Site)).unwrap();
        let labelled = || vec![Action::PutLabels(vec![])];
        let below = import.add_job(&site("Depot", vec![link(Role::Company, jobs[0])], labelled())).unwrap();
        let devices = import.sheet(&sheet("devices", Kind::Device)).unwrap();
        let device = device("Till", vec![link(Role::Site, below)], vec![]);
        let far = import.add_job(&device).unwrap();
        let beside = import.add_job(&site("Shop", vec![link(Role::Company, others[0])], labelled())).unwrap();
        for (number, (sheet, job)) in (2..).zip([(sites, below), (devices, far), (sites, beside)]) {
            import.row(&row(sheet, number, job, Disposition::New)).unwrap();
        }
        import.finish().unwrap();
        let requests = |bench: &mut Bench| bench.journal.queue().unfinished(None).unwrap().requests;
        let all = requests(&mut bench);
        assert_eq!(all.values().sum::<u64>(), 7, "{all:?}");
        assert_eq!(bench.journal.rows_to_send().unwrap(), 5);
        bench.journal.pause(paused.import, "kim", at(3_000)).unwrap();
        assert_eq!(bench.journal.rows_to_send().unwrap(), 2, "a company, and the site beside it");
        let left = requests(&mut bench);
        let mut left: Vec<_> = left.into_iter().filter(|(_, requests)| *requests > 0).collect();
        left.sort_by_key(|(operation, _)| operation.name());
        assert_eq!(left, [(AddCompany, 1), (Operation::AddSite, 1), (Operation::PutSiteLabels, 1)]);
        bench.journal.resume(paused.import, "kim", at(4_000)).unwrap();
        assert_eq!(requests(&mut bench), all);
    }

    #[test]
    fn rows_that_wait_for_several_that_are_not_sent_are_taken_off_once() {
        let mut bench = bench();
        let (paused, companies) = import_companies(&mut bench.journal, &["Acme"], false);
        let (_, held) = import_companies(&mut bench.journal, &["Bolt"], false);
        let (_, of_sheet) = import_companies(&mut bench.journal, &["Cord"], false);
        let mut import = bench.journal.begin_import(at(2_000)).unwrap();
        let devices = import.sheet(&sheet("devices", Kind::Device)).unwrap();
        let both = |other| vec![link(Role::Company, companies[0]), link(Role::Site, other)];
        let others = [both(held[0]), both(of_sheet[0]), vec![], vec![], vec![]];
        for (number, links) in (2..).zip(others) {
            let job = import.add_job(&device(&format!("Till {number}"), links, vec![])).unwrap();
            import.row(&row(devices, number, job, Disposition::New)).unwrap();
        }
        import.finish().unwrap();
        force(&bench.journal, held[0], Held);
        let sheet = bench.journal.work(of_sheet[0]).unwrap().unwrap().sheet;
        bench.journal.queue().pause_sheet(sheet).unwrap();
        bench.journal.pause(paused.import, "kim", at(3_000)).unwrap();
        let left = bench.journal.queue().unfinished(None).unwrap();
        assert_eq!(left.requests.get(&Operation::AddDevice), Some(&3), "{left:?}");
    }

    #[test]
    fn rows_that_wait_for_an_earlier_one_about_their_record_are_not_counted_while_its_import_is_paused() {
        let mut bench = bench();
        let [(paused, first), (_, later), _] =
            ["Acme", "Bolt", "Cord"].map(|name| import_companies(&mut bench.journal, &[name], false));
        for (job, turn) in [(first[0], Turn::Put), (later[0], Turn::Configure)] {
            record_order::note(&bench.journal.connection, job, "a site", turn).unwrap();
        }
        record_order::keep(&bench.journal.connection, "a site").unwrap();
        assert_eq!(state(&bench.journal, later[0]), Blocked);
        bench.journal.pause(paused.import, "kim", at(3_000)).unwrap();
        let left = bench.journal.queue().unfinished(None).unwrap();
        assert_eq!(left.requests, BTreeMap::from([(AddCompany, 1)]));
    }

    #[test]
    fn rows_of_a_paused_sheet_with_all_their_steps_and_those_below_them_are_not_counted() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
        let (_, others) = import_companies(&mut bench.journal, &["Bolt"], false);
        let companies = bench.journal.work(jobs[0]).unwrap().unwrap().sheet;
        let mut import = bench.journal.begin_import(at(2_000)).unwrap();
        let sites = import.sheet(&sheet("sites", Kind::Site)).unwrap();
        let labelled = || vec![Action::PutLabels(vec![])];
        let below = import.add_job(&site("Depot", vec![link(Role::Company, jobs[0])], labelled())).unwrap();
        let beside = import.add_job(&site("Shop", vec![link(Role::Company, others[0])], labelled())).unwrap();
        let devices = import.sheet(&sheet("devices", Kind::Device)).unwrap();
        let far = import.add_job(&device("Till", vec![link(Role::Site, below)], vec![])).unwrap();
        for (number, (sheet, job)) in (2..).zip([(sites, below), (devices, far), (sites, beside)]) {
            import.row(&row(sheet, number, job, Disposition::New)).unwrap();
        }
        import.finish().unwrap();
        let left = |bench: &mut Bench| {
            let unfinished = bench.journal.queue().unfinished(None).unwrap();
            let mut requests: Vec<_> =
                unfinished.requests.into_iter().filter(|(_, requests)| *requests > 0).collect();
            requests.sort_by_key(|(operation, _)| operation.name());
            (requests, unfinished.moving, unfinished.paused)
        };
        let all = left(&mut bench);
        assert_eq!(all.0.iter().map(|(_, requests)| requests).sum::<u64>(), 7, "{all:?}");
        bench.journal.queue().pause_sheet(companies).unwrap();
        let requests = vec![(AddCompany, 1), (Operation::AddSite, 1), (Operation::PutSiteLabels, 1)];
        assert_eq!(
            left(&mut bench),
            (requests, 1, [(companies, 1)].into()),
            "the others, and what is below them"
        );
        bench.journal.queue().resume_sheet(companies);
        assert_eq!(left(&mut bench), all);
        // Nothing of it could be sent now, and nothing of it will be when it could.
        bench.journal.queue().pause_sheet(sites).unwrap();
        assert_eq!(left(&mut bench), (vec![(AddCompany, 2)], 2, [(sites, 0)].into()));
    }

    #[test]
    fn what_a_run_notes_is_read_again() {
        let mut bench = bench();
        let run = bench.journal.queue().begin_run(at(1)).unwrap();
        assert_eq!(bench.journal.noted_remaining(run).unwrap(), None);
        let remaining = Remaining { at: at(7), moving: true, ..Remaining::default() };
        bench.journal.queue().note_remaining(run, Some(&remaining)).unwrap();
        assert_eq!(bench.journal.noted_remaining(run).unwrap(), Some(remaining));
        bench.journal.queue().note_remaining(run, None).unwrap();
        assert_eq!(bench.journal.noted_remaining(run).unwrap(), None);
    }
}
