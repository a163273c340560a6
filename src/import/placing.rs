//! The second reading: every usable row finds its job, or gets one, companies first and parents before children.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use super::identity::{Claim, Decision, Keyed, SameKey, decide, keyed};
use super::prepared::{Prepared, Usable, prepare};
use super::{Examined, ahead};
use crate::error::{Error, Result};
use crate::journal::{
    Disposition, ImportWriter, Journal, KnownJob, NewJob, NewRow, NewSheet, SheetId, written,
};
use crate::model::digest::hexadecimal;
use crate::model::id::JobId;
use crate::model::key::natural_key;
use crate::model::kind::Kind;
use crate::model::record::{Extra, Link, Record, Role, Target};
use crate::model::time::Moment;
use crate::sheet::Row;
use crate::sheet::between::To;
use crate::sheet::finding::{Code, Finding, Findings, Severity, shown};

/// A row that is not placed yet.
const UNPLACED: JobId = JobId(0);

/// Reads the examined files again and writes their rows; nothing is committed.
pub(super) fn place<'j>(
    examined: &Examined,
    journal: &'j mut Journal,
    now: Moment,
) -> Result<(ImportWriter<'j>, Findings)> {
    let mut writer = journal.begin_import(now)?;
    for file in examined.files() {
        writer.file(&file.name, &file.sha256)?;
    }
    writer.reading(&examined.reading)?;
    let mut sheets = Vec::with_capacity(examined.places.len());
    for (book, table, _) in &examined.places {
        let table = &examined.books[*book].tables[*table];
        sheets.push(writer.sheet(&NewSheet {
            name: table.name.clone(),
            file: table.file.clone(),
            worksheet: table.worksheet.clone(),
            kind: table.kind,
            headers: table.headers.clone(),
            header_row: table.header_row,
        })?);
    }
    let mut placing = Placing {
        examined,
        writer,
        jobs: vec![UNPLACED; examined.checked.rows()],
        touched: HashSet::new(),
        waiting: HashMap::new(),
        remote: HashMap::new(),
        findings: examined.findings.none_yet(),
    };
    for kind in Kind::ALL {
        for (number, (book, table, first)) in examined.places.iter().enumerate() {
            let book = &examined.books[*book];
            let table = &book.tables[*table];
            if table.kind != kind {
                continue;
            }
            let changed = || {
                Error::sheets(format!("{} has changed while it was read", book.file.name))
                    .hint("close it in other programs and run the command again")
            };
            let mut ordinal = *first;
            let (checked, policy) = (&examined.checked, &examined.policy);
            let cells_are_asked_for = placing.writer.rows_wait();
            let prepare = |mut row: Row| {
                policy.judge_row(&mut row);
                let prepared = prepare(checked, ordinal, row, cells_are_asked_for)?;
                ordinal += 1;
                prepared.ok_or_else(changed)
            };
            let summary = ahead::read(book, table, prepare, &mut |prepared| {
                placing.take(Placed { table: number, sheet: sheets[number], prepared })
            })?;
            if summary.rows != examined.sheets[number].rows {
                return Err(changed());
            }
        }
    }
    if !placing.waiting.is_empty() {
        return Err(Error::internal("rows wait for others that were never placed"));
    }
    placing.writer.complete()?;
    Ok((placing.writer, placing.findings))
}

/// A row on its way into the journal.
struct Placed {
    table: usize,
    sheet: SheetId,
    prepared: Prepared,
}

struct Placing<'e, 'j> {
    examined: &'e Examined,
    writer: ImportWriter<'j>,
    /// The job of each row.
    jobs: Vec<JobId>,
    /// Jobs of earlier imports that a row of this one is.
    touched: HashSet<JobId>,
    /// Rows that come before another row they need, by the number of that.
    waiting: HashMap<usize, Vec<Placed>>,
    /// Which job owns a record that cells name by its id.
    remote: HashMap<(Kind, uuid::Uuid), Target>,
    findings: Findings,
}

impl Placing<'_, '_> {
    /// Places a row, or lets it wait; then places those that waited for it.
    fn take(&mut self, placed: Placed) -> Result<()> {
        if !self.examined.checked.is_usable(placed.prepared.ordinal) {
            return self.leave_out(placed);
        }
        let mut next = vec![placed];
        while let Some(placed) = next.pop() {
            let ordinal = placed.prepared.ordinal;
            let links = self.examined.checked.links(ordinal);
            let needed = links.iter().find_map(|(_, to)| match to {
                To::Row(row) if self.jobs[*row] == UNPLACED => Some(*row),
                To::Row(_) | To::Job(_) | To::Remote(_) => None,
            });
            if let Some(needed) = needed {
                self.waiting.entry(needed).or_default().push(placed);
                continue;
            }
            self.place(placed, &links)?;
            next.extend(self.waiting.remove(&ordinal).unwrap_or_default());
        }
        Ok(())
    }

    /// Keeps a row that is not imported, with the reason.
    fn leave_out(&mut self, placed: Placed) -> Result<()> {
        let Placed { table, sheet, prepared: Prepared { row, .. } } = placed;
        let kind = self.examined.sheets[table].kind;
        let left_out = self.examined.reasons.leave_out(table, kind, sheet, &row);
        self.writer.leave_out(&left_out, &self.examined.provenance(table, sheet, &row))
    }

    fn place(&mut self, placed: Placed, links: &[(Role, To)]) -> Result<()> {
        let Placed { table, sheet, prepared: Prepared { ordinal, row, usable } } = placed;
        let Some(usable) = usable else {
            return Err(Error::internal(format!("row {} lost its draft between two readings", row.number)));
        };
        let mut targets = Vec::with_capacity(links.len());
        for (role, to) in links {
            targets.push(Link { role: *role, target: self.target(role.target(), *to)? });
        }
        let former = usable.draft.by_columns.as_deref();
        let former = former
            .map(|former| content_hash(&written(&former.record)?, &targets, &former.extras))
            .transpose()?;
        let Usable { draft, body, cells, key, name } = usable;
        let values = NewJob {
            sheet_key: key,
            name,
            natural_key: natural_key(&draft.record, &targets),
            content_hash: content_hash(&body, &targets, &draft.extras)?,
            record: draft.record,
            links: targets,
            extras: draft.extras,
        };
        let (job, disposition) = self.decide(ordinal, &values, &body, former.as_deref())?;
        self.jobs[ordinal] = job;
        if self.writer.rows_wait() {
            let kind = values.record.kind();
            self.writer.comes_again(job, kind, &self.examined.provenance(table, sheet, &row))?;
        }
        let row = NewRow { sheet, number: row.number, line: row.line, cells: Vec::new(), job, disposition };
        self.writer.written_row(&row, &cells)
    }

    /// Where a link leads: a record that a job owns is linked as that job, however a cell names it.
    fn target(&mut self, kind: Kind, to: To) -> Result<Target> {
        Ok(match to {
            To::Row(row) => Target::Job(self.jobs[row]),
            To::Job(job) => Target::Job(job),
            To::Remote(id) => match self.remote.get(&(kind, id)) {
                Some(target) => *target,
                None => {
                    let owner = self.writer.by_remote_id(kind, id)?;
                    let target = owner.map_or(Target::Remote(id), |owner| Target::Job(owner.job));
                    self.remote.insert((kind, id), target);
                    target
                }
            },
        })
    }

    /// Finds or makes the job of a row.
    fn decide(
        &mut self,
        ordinal: usize,
        values: &NewJob,
        body: &str,
        former_hash: Option<&str>,
    ) -> Result<(JobId, Disposition)> {
        let kind = values.record.kind();
        if self.writer.is_first() {
            // Nothing was there before, and that no two rows are one record was checked between the rows.
            return Ok((self.writer.add_written_job(values, body)?, Disposition::New));
        }
        let natural = self.writer.by_natural_key(kind, &values.natural_key)?;
        let mut by_key = Vec::new();
        let has_key = natural.as_ref().is_some_and(|known| known.sheet_key.is_some());
        if let (false, Some(key)) = (has_key, &values.sheet_key) {
            let nameless = nameless(&values.record);
            for known in self.writer.by_sheet_key(kind, key)? {
                let same_values = self::nameless(&self.writer.record_of(known.job)?) == nameless;
                by_key.push(SameKey { same_name: known.name == values.name, same_values, known });
            }
        }
        let same_record = match &natural {
            Some(known) if known.remote_id.is_some() && known.content_hash != values.content_hash => {
                same_links(&known.links, &values.links) && self.writer.record_of(known.job)? == values.record
            }
            Some(_) | None => false,
        };
        let this_import = self.writer.import();
        let (decision, keyed) = {
            let made_now: HashSet<JobId> = natural
                .iter()
                .chain(by_key.iter().map(|same| &same.known))
                .filter(|known| known.first_import == this_import)
                .map(|known| known.job)
                .collect();
            let claim = Claim {
                kind,
                key: values.sheet_key.as_deref(),
                links: &values.links,
                content_hash: &values.content_hash,
                former_hash,
                natural: natural.as_ref(),
                same_record,
                by_key: &by_key,
            };
            let decision = decide(&claim, &|job| made_now.contains(&job) || self.touched.contains(&job));
            (decision, keyed(&claim))
        };
        let known = Known { natural: natural.as_ref(), keyed, by_key: &by_key };
        if let Some(finding) = self.said(ordinal, values, &decision, &known) {
            self.findings.push(finding);
        }
        if let (
            Decision::Recognise(job) | Decision::LeaveUnderWay(job) | Decision::ChangedSince(job),
            Keyed::First,
            Some(key),
        ) = (&decision, keyed, &values.sheet_key)
        {
            self.writer.learn_key(*job, key)?;
        }
        let (job, disposition) = match decision {
            Decision::Add => return Ok((self.writer.add_written_job(values, body)?, Disposition::New)),
            Decision::Revise(job) => {
                self.writer.revise_job(job, values)?;
                (job, Disposition::Revised)
            }
            Decision::Recognise(job) | Decision::LeaveUnderWay(job) | Decision::Twice(job) => {
                (job, Disposition::Recognised)
            }
            Decision::ChangedSince(job) | Decision::KeyTaken(job) => (job, Disposition::ChangedSince),
        };
        self.touched.insert(job);
        Ok((job, disposition))
    }

    /// What the operator is told about a decision.
    fn said(
        &self,
        ordinal: usize,
        values: &NewJob,
        decision: &Decision,
        known: &Known<'_>,
    ) -> Option<Finding> {
        let kind = values.record.kind();
        let name = if kind == Kind::Person { "username" } else { "name" };
        let another = known.another_key();
        let stays = another.map_or_else(String::new, |key| format!("; its key stays '{}'", shown(key)));
        let (code, severity, column, message) = match decision {
            Decision::Add | Decision::Revise(_) => return None,
            Decision::Recognise(_) => match (another, known.keyed, &values.sheet_key) {
                (Some(own), ..) => (
                    Code::DupAlreadyImported,
                    Severity::Warning,
                    "key",
                    format!(
                        "unchanged since an earlier import, which knows it by the key '{own}'; later sheets find it by \
                         that key only: write it here, and where the row is referred to",
                        own = shown(own)
                    ),
                ),
                (None, Keyed::First, Some(key)) => (
                    Code::DupAlreadyImported,
                    Severity::Info,
                    name,
                    format!(
                        "unchanged since an earlier import; nothing new is sent for it, and later sheets find it by the \
                         key '{}'",
                        shown(key)
                    ),
                ),
                (None, Keyed::First | Keyed::AsBefore | Keyed::Another, _) => (
                    Code::DupAlreadyImported,
                    Severity::Info,
                    name,
                    "unchanged since an earlier import; nothing new is sent for it".to_owned(),
                ),
            },
            Decision::LeaveUnderWay(job) => (
                Code::DupAlreadyImported,
                Severity::Warning,
                name,
                format!(
                    "job {job} is being sent, or it is not known what became of it; the values it was sent with stay, \
                     and those of the row are not used{stays}"
                ),
            ),
            Decision::ChangedSince(job) => (
                Code::DupAlreadyImported,
                Severity::Warning,
                name,
                format!("done earlier (job {job}) with other values; the record is not changed{stays}"),
            ),
            Decision::KeyTaken(job) => {
                let natural = known.natural;
                let known = &known.by_key.iter().find(|same| same.known.job == *job)?.known;
                let advice = if natural.is_some() {
                    "and this row is another one, which an earlier import brought without a key: choose another key"
                } else if known.remote_id.is_some() {
                    "which exists: choose another key, or correct the name if the same company is meant"
                } else {
                    "which is not made yet, and rows that name the key belong to it: choose another key; if the same \
                     company is meant, change its name first and nothing else, then the rest in another import"
                };
                let message = format!(
                    "import {} gave this key to the {} '{}', {advice}",
                    known.first_import,
                    kind.singular(),
                    shown(&known.name)
                );
                (Code::DupKey, Severity::Error, "key", message)
            }
            Decision::Twice(job) => (
                Code::DupNaturalKey,
                Severity::Error,
                name,
                format!(
                    "another row of this import is the same {} (job {job}): remove one of them",
                    kind.singular()
                ),
            ),
        };
        let finding = self.examined.checked.finding_at(code, message, ordinal, column).as_severity(severity);
        Some(Finding { row_key: values.sheet_key.as_deref().map(shown), ..finding })
    }
}

/// What earlier imports know of a row.
struct Known<'a> {
    /// The job with its natural key.
    natural: Option<&'a KnownJob>,
    /// What the row says of the key of that.
    keyed: Keyed,
    /// The jobs with its own key.
    by_key: &'a [SameKey],
}

impl Known<'_> {
    /// The key of the job, where the row has another one.
    fn another_key(&self) -> Option<&str> {
        let known = self.natural.filter(|_| self.keyed == Keyed::Another)?;
        known.sheet_key.as_deref()
    }
}

/// Whether two rows belong to the same records.
fn same_links(some: &[Link], others: &[Link]) -> bool {
    some.len() == others.len() && some.iter().all(|link| others.contains(link))
}

/// A record without what it is known by.
fn nameless(record: &Record) -> Record {
    let mut record = record.clone();
    match &mut record {
        Record::Company(company) => company.name.clear(),
        Record::Site(site) => site.name.clear(),
        Record::Person(person) => person.username.clear(),
        Record::Device(device) => device.name.clear(),
    }
    record
}

/// A digest of all that a row asks for: its record, as it is `written`, what it belongs to and its extras.
fn content_hash(body: &str, links: &[Link], extras: &[Extra]) -> Result<String> {
    let mut digest = Sha256::new();
    for part in ["[", body, ",", &written(&links)?, ",", &written(&extras)?, "]"] {
        digest.update(part);
    }
    Ok(hexadecimal(&digest.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::{Address, Metadata, Site};

    #[test]
    fn the_digest_is_that_of_all_values_written_together() {
        let record = Record::Site(Site {
            name: "Head \"office\"".into(),
            reference: None,
            latitude: Some(-36.8485),
            longitude: None,
            address: Address::default(),
            phone_number: "+64 9 555 0100".into(),
            fax_number: None,
        });
        let links = [Link { role: Role::Company, target: Target::Job(JobId(7)) }];
        let metadata = Extra::Metadata(vec![Metadata { key: "till".into(), value: "1".into() }]);
        for (links, extras) in [(&links[..], &[metadata][..]), (&[], &[])] {
            let together = serde_json::to_vec(&(&record, links, extras)).unwrap();
            let digest = content_hash(&written(&record).unwrap(), links, extras).unwrap();
            assert_eq!(digest, hexadecimal(&Sha256::digest(together)));
        }
    }
}
