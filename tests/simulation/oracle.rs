//! Holds what the service has done against what the journal says: nothing lost, nothing twice, every row explained.

use std::collections::{BTreeMap, BTreeSet};

use fleetload::journal::{AuditFinding, AuditScope, Disposition, Journal, RowView};
use fleetload::model::id::JobId;
use fleetload::model::kind::{Kind, Upkeep};
use fleetload::model::state::JobState;
use fleetload::model::time::{Day, Moment};
use fleetload::sandbox::{Attachment, LedgerEntry};
use uuid::Uuid;

use super::network::SOMEBODY_ELSE;
use super::script::Script;
use super::trial::QuotaFigures;
use super::{updates, upkeep};

/// What the oracle found.
pub(crate) struct Verdict {
    pub(crate) violations: Vec<String>,
    pub(crate) states: BTreeMap<String, u64>,
    pub(crate) rows: u64,
    /// Rows of a later import that gave a job other values.
    pub(crate) asked_otherwise: u64,
    /// Those that did not, as its outcome was not known.
    pub(crate) left_in_doubt: u64,
}

const RECORDS: [&str; 4] = ["company", "person", "site", "device"];

/// Codes for which no row may be given up: the service did not execute it and will later.
const GIVEN_UP: [&str; 3] = ["quotaLimitExceeded", "rateLimitExceeded", "invalid_token"];

/// What a row that creates no record brought about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    CarriedOut,
    /// It may have been carried out.
    Open,
    Nothing,
}

/// The rows that create no record, in the order in which they count: those whose job a later import gave other values as
/// they stood then, in `earlier`, then all others as they stand in the end.
fn in_order<'r>(earlier: &'r [RowView], rows: &'r [RowView]) -> Vec<(&'r RowView, Outcome)> {
    let revised = |row: &&RowView| row.disposition == Disposition::Revised;
    let revised: BTreeSet<Option<JobId>> = rows.iter().filter(revised).map(|row| row.job).collect();
    let outcome = |row: &RowView| match row.state {
        JobState::Done | JobState::Existing => Outcome::CarriedOut,
        JobState::Held | JobState::InDoubt | JobState::Sending => Outcome::Open,
        JobState::Ready | JobState::Deferred | JobState::Blocked if row.attempts > 0 => Outcome::Open,
        _ => Outcome::Nothing,
    };
    let counts = |row: &&RowView| match row.disposition {
        Disposition::New => !revised.contains(&row.job),
        Disposition::Revised => true,
        Disposition::Recognised | Disposition::ChangedSince | Disposition::LeftOut => false,
    };
    let replaced = earlier.iter().filter(|row| revised.contains(&row.job));
    let in_the_end = rows.iter().filter(counts);
    replaced.chain(in_the_end).filter(|row| !row.kind.is_record()).map(|row| (row, outcome(row))).collect()
}

/// Judges a trial after its last run; `attachments` are those before the first run, and those after the last; `earlier`
/// are the rows as they stood before a later import.
pub(crate) fn judge(
    journal: &Journal,
    earlier: &[RowView],
    ledger: &[LedgerEntry],
    attachments: (&[Attachment], &[Attachment]),
    script: &Script,
) -> Verdict {
    let rows = rows(journal);
    let mut violations = Vec::new();
    let mut states: BTreeMap<String, u64> = BTreeMap::new();
    let made: BTreeMap<String, &LedgerEntry> = ledger
        .iter()
        .filter(|entry| entry.created && RECORDS.contains(&entry.kind.as_str()))
        .map(|entry| (entry.id.to_string(), entry))
        .collect();
    let ours = |entry: &&&LedgerEntry| entry.client != SOMEBODY_ELSE;
    // Every row of the sheets is there, in a state that is an answer.
    let asked = script.rows + script.later.as_ref().map_or(0, |later| later.rows);
    if rows.len() != asked {
        violations.push(format!("{} rows of {asked} are in the journal", rows.len()));
    }
    let mut owned: BTreeMap<String, &RowView> = BTreeMap::new();
    for row in &rows {
        *states.entry(row.state.to_string()).or_default() += 1;
        let name = name_of(row);
        match row.state {
            JobState::Ready | JobState::Deferred | JobState::Sending | JobState::InDoubt => {
                violations.push(format!("lost from sight: {name} is still {}", row.state));
            }
            JobState::Blocked if !rows.iter().any(|other| other.state == JobState::Held) => {
                violations.push(format!("lost from sight: {name} is blocked, and nothing is held"));
            }
            JobState::Rejected if row.remote_id.is_some() => {
                violations.push(format!("called rejected: {name}, and its record is there"));
            }
            JobState::Held | JobState::Rejected | JobState::Incomplete | JobState::Skipped
                if row.code.is_none() =>
            {
                violations.push(format!("not explained: {name} is {} without a code", row.state));
            }
            _ if row.disposition == Disposition::ChangedSince && row.code.is_none() => {
                violations
                    .push(format!("not explained: {name} is {}, as another row asked for it", row.state));
            }
            _ => {}
        }
        let Some(id) = row.remote_id.map(|id| id.to_string()) else {
            let has_a_record = matches!(
                row.state,
                JobState::Created | JobState::Adopted | JobState::Existing | JobState::Incomplete
            );
            if row.kind.is_record() && has_a_record {
                violations.push(format!("lost: {name} is {} without an id", row.state));
            }
            continue;
        };
        match made.get(&id) {
            None => violations.push(format!("lost: the service has no {id} for {name}")),
            Some(entry) if entry.kind != row.kind.singular() || !same_name(entry, row) => {
                violations.push(format!("bound to the wrong record: {name} has {id}, {}", entry.request));
            }
            Some(entry)
                if entry.client == SOMEBODY_ELSE
                    && matches!(row.state, JobState::Created | JobState::Adopted) =>
            {
                violations
                    .push(format!("bound to the wrong record: {name} is {} by somebody else", row.state));
            }
            Some(_) => {}
        }
        if let Some(other) = owned.insert(id.clone(), row) {
            violations.push(format!("one record for two rows: {id} for {name} and {}", name_of(other)));
        }
    }
    // Nothing twice: of every row the service has made one record at most.
    for row in &rows {
        let records: Vec<&&LedgerEntry> = made
            .values()
            .filter(ours)
            .filter(|entry| entry.kind == row.kind.singular() && same_name(entry, row))
            .collect();
        let own_sites = ledger
            .iter()
            .filter(|entry| is_own_site(entry) && entry.request["name"].as_str() == Some(name_of(row)));
        let name = name_of(row);
        if records.len() > 1 {
            violations.push(format!("created twice: {name}, {} times", records.len()));
        }
        if row.kind == Kind::Device && own_sites.count() > 1 {
            violations.push(format!("created twice: the own site of {name}"));
        }
        if row.state.is_failed()
            && let Some(code) = row.code.as_deref().filter(|code| GIVEN_UP.contains(code))
        {
            violations.push(format!("given up: {name} is {} for {code}", row.state));
        }
        violations.extend(left_out(row, ledger));
        // What there is of a row that has no record of its own must be known to be open.
        let without = row.remote_id.is_none() && !records.is_empty();
        if without && row.state != JobState::Held {
            violations.push(format!("lost: {name} is {}, and its record is there", row.state));
        }
    }
    // Nothing unexpected: each record is one of a row's, or of a device's own site.
    for (id, entry) in &made {
        let a_rows = rows.iter().any(|row| entry.kind == row.kind.singular() && same_name(entry, row));
        if !a_rows && !is_own_site(entry) {
            violations.push(format!("unexpected: the service has {} {id}: {}", entry.kind, entry.request));
        }
    }
    let (in_order, ids) = (in_order(earlier, &rows), named(&rows));
    // Nothing vanishes in a trial, so that reading back must not say so. Doubles are somebody else's; a site may be
    // left of a device that was in doubt.
    for finding in journal.audit_findings(None, None).expect("readable") {
        let name = &finding.name;
        let same = |entry: &&&LedgerEntry| {
            entry.request.get("name").and_then(|name| name.as_str()) == Some(name.as_str())
        };
        let own_sites = made.values().filter(same).filter(|entry| is_own_site(entry)).count();
        let others = made.values().filter(same).filter(|entry| entry.client == SOMEBODY_ELSE).count();
        let right = match finding.code.as_str() {
            AuditFinding::ORPHAN_SITE => own_sites > usize::from(finding.id.is_some()),
            AuditFinding::DOUBLE => others > 0,
            _ => false,
        };
        if !right {
            violations.push(format!("read back wrongly: {name}, {}: {}", finding.code, finding.message));
        }
    }
    violations.extend(upkeep::judge(&in_order, &ids, attachments, ledger));
    violations.extend(updates::judge(&in_order, &ids, attachments.1, ledger, script));
    let unread = journal.count_unaudited(AuditScope::All).expect("readable");
    if unread.total() > 0 {
        violations.push(format!("{} rows were never read back", unread.total()));
    }
    let count = |disposition| rows.iter().filter(|row| row.disposition == disposition).count() as u64;
    Verdict {
        violations,
        states,
        rows: rows.len() as u64,
        asked_otherwise: count(Disposition::Revised),
        left_in_doubt: count(Disposition::ChangedSince),
    }
}

/// Holds the quota ledger of each day against the service's own count: what is confirmed or refused it has counted, and
/// it has counted nothing else but what is doubtful. `near` tells how many creations left around a midnight, so that it
/// is not known on which side of it they were counted.
pub(crate) fn judge_quota(
    journal: &Journal,
    counted: &BTreeMap<i64, u64>,
    script: &Script,
    near: impl Fn(Moment) -> u64,
    figures: &mut QuotaFigures,
) -> Vec<String> {
    let mut violations = Vec::new();
    // As the ledger is written: without a run what is under way is shown as doubtful.
    let _run = journal.lock_for_run().expect("a lock").expect("no run");
    let ours = journal.quota_days(Day::from_number(0), Day::from_number(100_000), 1_000).expect("readable");
    let days: BTreeSet<i64> =
        ours.iter().map(|day| day.day.number()).chain(counted.keys().copied()).collect();
    for day in days.into_iter().map(Day::from_number) {
        let ledger = journal.quota(day).expect("readable");
        let there = counted.get(&day.number()).copied().unwrap_or(0);
        let unsure = near(day.start()) + near(day.next().start());
        let refused = if script.scenario.quota_counts_failures { ledger.refused } else { 0 };
        if ledger.confirmed + refused > there + unsure || there > ledger.used() + unsure {
            violations.push(format!("the service counted {there}, {unsure} near a midnight: {ledger:?}"));
        }
        if ledger.under_way() > 0 {
            violations.push(format!("under way for ever: {ledger:?}"));
        }
        figures.sharp_days += u64::from(unsure == 0 && there > 0);
        figures.refused += refused;
        figures.doubtful += ledger.doubtful;
    }
    violations
}

/// Every row of every import.
pub(crate) fn rows(journal: &Journal) -> Vec<RowView> {
    let mut rows = Vec::new();
    for import in journal.imports().expect("readable") {
        for sheet in journal.sheets(import.import).expect("readable") {
            journal
                .rows(sheet.sheet, &mut |row| {
                    rows.push(row);
                    Ok(())
                })
                .expect("readable");
        }
    }
    rows
}

/// The ids of records by what upkeep rows name them by: a key, of a device its name or MAC address.
fn named(rows: &[RowView]) -> BTreeMap<String, Uuid> {
    let named = rows.iter().filter_map(|row| {
        let columns: &[usize] = match row.kind {
            Kind::Company | Kind::Site => &[0],
            Kind::Device => &[1, 3],
            Kind::Person | Kind::Upkeep(_) => return None,
        };
        let id: Uuid = row.remote_id?.to_string().parse().ok()?;
        Some(columns.iter().map(move |column| (row.cells[*column].clone(), id)))
    });
    named.flatten().collect()
}

/// The cell that names the record: names are given once in a trial. An upkeep row is known by the record it is about.
fn name_of(row: &RowView) -> &str {
    let column = match row.kind {
        Kind::Person => 5,
        Kind::Device | Kind::Upkeep(Upkeep::Labels | Upkeep::Metadata) => 1,
        Kind::Site => 2,
        Kind::Company => 3,
        Kind::Upkeep(Upkeep::CompanyUpdates | Upkeep::SiteUpdates | Upkeep::DeviceUpdates) => 1,
        Kind::Upkeep(_) => 0,
    };
    &row.cells[column]
}

fn same_name(entry: &LedgerEntry, row: &RowView) -> bool {
    let (field, value) = match row.kind {
        Kind::Person => ("username", name_of(row)),
        // Two sites of a company may have one name.
        Kind::Site => ("phoneNumber", row.cells[4].as_str()),
        _ => ("name", name_of(row)),
    };
    !is_own_site(entry) && entry.request.get(field).and_then(|name| name.as_str()) == Some(value)
}

/// A site that a device brought along. It has no name of its own in the request.
fn is_own_site(entry: &LedgerEntry) -> bool {
    entry.kind == "site" && entry.operation != "addSite"
}

/// What a row that is done asked for besides its record and the service has not got.
fn left_out(row: &RowView, ledger: &[LedgerEntry]) -> Vec<String> {
    let Some(id) = row.remote_id.filter(|_| row.state.is_final() && row.state != JobState::Incomplete) else {
        return Vec::new();
    };
    let asked: &[(usize, &str)] = match row.kind {
        Kind::Site => &[(8, "label")],
        Kind::Device => &[(8, "label"), (9, "licence")],
        Kind::Company | Kind::Person | Kind::Upkeep(_) => &[],
    };
    asked
        .iter()
        .filter(|(column, _)| row.cells.get(*column).is_some_and(|cell| !cell.is_empty()))
        .filter(|(_, kind)| {
            let id = id.to_string();
            let about = |entry: &LedgerEntry| {
                entry.id.to_string() == id || entry.parent.is_some_and(|parent| parent.to_string() == id)
            };
            !ledger.iter().any(|entry| entry.kind == *kind && about(entry))
        })
        .map(|(_, kind)| format!("lost: {} is {} without its {kind}", name_of(row), row.state))
        .collect()
}
