//! Holds what the service has done against what the journal says: nothing lost, nothing twice, every row explained.

use std::collections::BTreeMap;

use fleetload::journal::{Journal, RowView};
use fleetload::model::state::JobState;
use fleetload::run::InDoubt;
use fleetload::sandbox::LedgerEntry;

use super::script::Script;

/// What the oracle found.
pub(crate) struct Verdict {
    pub(crate) violations: Vec<String>,
    pub(crate) states: BTreeMap<String, u64>,
    pub(crate) rows: u64,
}

const RECORDS: [&str; 4] = ["company", "person", "site", "device"];

/// Judges a trial after its last run.
pub(crate) fn judge(journal: &Journal, ledger: &[LedgerEntry], script: &Script) -> Verdict {
    let rows = rows(journal);
    let mut violations = Vec::new();
    let mut states: BTreeMap<String, u64> = BTreeMap::new();
    let made: BTreeMap<String, &LedgerEntry> = ledger
        .iter()
        .filter(|entry| entry.created && RECORDS.contains(&entry.kind.as_str()))
        .map(|entry| (entry.id.to_string(), entry))
        .collect();
    // Every row of the sheets is there, in a state that is an answer.
    if rows.len() != script.rows {
        violations.push(format!("{} rows of {} are in the journal", rows.len(), script.rows));
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
            JobState::Held | JobState::Rejected | JobState::Skipped if row.code.is_none() => {
                violations.push(format!("not explained: {name} is {} without a code", row.state));
            }
            _ => {}
        }
        let Some(id) = row.remote_id.map(|id| id.to_string()) else {
            if matches!(row.state, JobState::Created | JobState::Adopted | JobState::Existing) {
                violations.push(format!("lost: {name} is {} without an id", row.state));
            }
            continue;
        };
        match made.get(&id) {
            None => violations.push(format!("lost: the service has no {id} for {name}")),
            Some(entry) if entry.kind != row.kind.singular() || !same_name(entry, row) => {
                violations.push(format!("bound to the wrong record: {name} has {id}, {}", entry.request));
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
            .filter(|entry| entry.kind == row.kind.singular() && same_name(entry, row))
            .collect();
        let name = name_of(row);
        if records.len() > 1 {
            violations.push(format!("created twice: {name}, {} times", records.len()));
        }
        // What there is of a row that has no record of its own must be known to be open.
        let without = row.remote_id.is_none() && !records.is_empty();
        if without && row.state != JobState::Held {
            violations.push(format!("lost: {name} is {}, and its record is there", row.state));
        }
    }
    // Nothing unexpected: each record is one of a row's, or of a device's own site.
    for (id, entry) in &made {
        let a_rows = rows.iter().any(|row| entry.kind == row.kind.singular() && same_name(entry, row));
        let own_site = entry.kind == "site" && entry.operation != "addSite";
        if !a_rows && !own_site {
            violations.push(format!("unexpected: the service has {} {id}: {}", entry.kind, entry.request));
        }
    }
    if script.in_doubt == InDoubt::Settle && rows.iter().all(|row| row.state != JobState::Held) {
        let open = rows.iter().filter(|row| !row.state.is_final()).count();
        if open > 0 {
            violations.push(format!("{open} rows have no answer, and none is held"));
        }
    }
    Verdict { violations, states, rows: rows.len() as u64 }
}

fn rows(journal: &Journal) -> Vec<RowView> {
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

/// The cell that names the record: names are given once in a trial.
fn name_of(row: &RowView) -> &str {
    let column = match row.kind.singular() {
        "person" => 5,
        "device" => 1,
        "site" => 2,
        _ => 3,
    };
    &row.cells[column]
}

fn same_name(entry: &LedgerEntry, row: &RowView) -> bool {
    let field = if row.kind.singular() == "person" { "username" } else { "name" };
    // The site of a device has no name of its own in the request.
    let own_site = entry.kind == "site" && entry.operation != "addSite";
    !own_site && entry.request.get(field).and_then(|name| name.as_str()) == Some(name_of(row))
}
