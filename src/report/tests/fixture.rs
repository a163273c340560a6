//! What reports are made of in tests: a journal with a tree of companies and devices in every state a row can be in.

use crate::model::content_hash::ContentHash;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::ending::End;
use crate::journal::{
    Account, Candidate, Decision, Disposition, Evidence, How, ImportWriter, Journal, NewJob, NewRow,
    NewSheet, RunLock, Write,
};
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::key::{comparable, natural_key};
use crate::model::operation::Operation;
use crate::model::record::{Link, Target};
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::model::verdict::{Doubt, Execution, Rejection, Violation};
use crate::report::{Caller, ImportEnd, LAST_ROW, Written, write_within};
use crate::sheet::{self, Options, Pointer, Row};
use crate::status::next_command::Again;

pub(super) const COMPANIES: &str = "\
Key,Parent,Type,Name,Phone,Support Email,Sales Email,Accounts Email,Street,City,result_note
acme,id:11111111-1111-4111-8111-111111111111,RESELLER,Acme Ltd,+64 9 555 0100,s@a.example,v@a.example,r@a.example,1 High St,Auckland,
evil,acme,CUSTOMER,=Evil & Co,-1 555,s@a.example,v@a.example,r@a.example,\"2 \"\"Low\"\" St\",'t Veld,keep
below,evil,CUSTOMER,Below Evil,555 0102,s@a.example,v@a.example,r@a.example,3 High St,Auckland,
held,acme,CUSTOMER,Held Ltd,555 0103,s@a.example,v@a.example,r@a.example,4 High St,Auckland,
under,held,CUSTOMER,Under Held,555 0104,s@a.example,v@a.example,r@a.example,5 High St,Auckland,
doubt,acme,CUSTOMER,Doubt Ltd,555 0105,s@a.example,v@a.example,r@a.example,6 High St,Auckland,
adopted,acme,CUSTOMER,Adopted Ltd,555 0106,s@a.example,v@a.example,r@a.example,7 High St,Auckland,
there,acme,CUSTOMER,There Ltd,555 0107,s@a.example,v@a.example,r@a.example,8 High St,Auckland,
later,acme,CUSTOMER,Later Ltd,555 0108,s@a.example,v@a.example,r@a.example,9 High St,Auckland,
ready,acme,CUSTOMER,Ready Ltd,555 0109,s@a.example,v@a.example,r@a.example,10 High St,Auckland,
given,acme,CUSTOMER,Given Up,555 0110,s@a.example,v@a.example,r@a.example,11 High St,Auckland,
away,acme,CUSTOMER,Away Ltd,555 0111,s@a.example,v@a.example,r@a.example,12 High St,Auckland,
";

pub(super) const DEVICES: &str = "\
Company;Name;MAC;Model;Phone;Street;City;licence_code
acme;@Till 1;00:1a:2b:3c:4d:5e;Edge 100;555 0200;1 High St;Auckland;
acme;Till 2;00:1a:2b:3c:4d:5f;Edge 100;555 0201;1 High St;Auckland;
acme;Till 3;00:1a:2b:3c:4d:60;Edge 100;555 0202;1 High St;Auckland;ABC-1
acme;Till 4;00:1a:2b:3c:4d:61;Edge 100;555 0203;1 High St;Auckland;
";

/// Minutes after noon.
pub(super) fn at(minute: i64) -> Moment {
    Moment::from_millis(1_772_366_400_000 + minute * 60_000)
}

pub(super) fn id(number: u128) -> RemoteId {
    RemoteId::from_u128(0xa000_0000_0000_4000_8000_0000_0000_0000 + number)
}

/// The rows of a CSV file of this name.
pub(super) fn rows_of(name: &str, text: &str) -> (sheet::Table, Vec<Row>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    read(&path).remove(0)
}

/// The tables of a file with their rows.
pub(super) fn read(path: &Path) -> Vec<(sheet::Table, Vec<Row>)> {
    let book = sheet::open(path, &Options::default()).unwrap_or_else(|findings| panic!("{findings:?}"));
    let rows = |table: &sheet::Table| {
        let mut rows = Vec::new();
        book.read(table, &mut |row| {
            rows.push(row);
            Ok(())
        })
        .unwrap();
        rows
    };
    book.tables.iter().map(|table| (table.clone(), rows(table))).collect()
}

/// Somebody who types from beside the folder `reports`.
pub(super) fn caller(again: &Again) -> Caller<'_> {
    Caller { again, folder: Path::new("reports") }
}

/// A sheet that was read, with its file and its name.
type ReadSheet<'s> = (&'s str, &'s str, (sheet::Table, Vec<Row>));

/// A journal on disk that a run is at work on, with the jobs that its rows made, by their keys or names.
pub(super) struct Bench {
    _run: RunLock,
    pub(super) folder: TempDir,
    pub(super) journal: Journal,
    pub(super) jobs: BTreeMap<String, JobId>,
}

impl Bench {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("fleetload.db")).unwrap();
        let run = journal.lock_for_run().unwrap().unwrap();
        Self { _run: run, folder, journal, jobs: BTreeMap::new() }
    }

    /// Imports CSV sheets; rows whose job is there are recognised, or changed since when their values differ.
    pub(super) fn import(&mut self, sheets: &[(&str, &str, &str)]) -> ImportId {
        let ending = |text: &str| if text.starts_with("Company;") { "devices.csv" } else { "companies.csv" };
        let read = |&(file, name, text): &(_, _, &str)| (file, name, rows_of(ending(text), text));
        self.import_tables(sheets.iter().map(read).collect())
    }

    /// The same of sheets that were read.
    pub(super) fn import_tables(&mut self, sheets: Vec<ReadSheet<'_>>) -> ImportId {
        let minute = if self.jobs.is_empty() { 0 } else { 60 };
        let mut writer = self.journal.begin_import(at(minute)).unwrap();
        let import = writer.import();
        for (file, name, (table, rows)) in sheets {
            writer.file(file, "00ff").unwrap();
            let sheet = NewSheet {
                name: name.to_owned(),
                file: file.to_owned(),
                worksheet: None,
                kind: table.kind,
                headers: table.headers.clone(),
                header_row: table.header_row,
            };
            let sheet = writer.sheet(&sheet).unwrap();
            for row in rows {
                let (job, disposition) = job_of(&mut writer, &mut self.jobs, &row);
                let cells = row.cells.iter().map(ToString::to_string).collect();
                let row = NewRow { sheet, number: row.number, line: row.line, cells, job, disposition };
                writer.row(&row).unwrap();
            }
        }
        writer.finish().unwrap();
        import
    }

    pub(super) fn job(&self, name: &str) -> JobId {
        self.jobs[name]
    }

    pub(super) fn apply(&mut self, writes: &[Write]) {
        for outcome in self.journal.queue().apply(writes).unwrap() {
            outcome.unwrap();
        }
    }

    pub(super) fn claim(&mut self, name: &str, operation: Operation, minute: i64) {
        let job = self.job(name);
        let counted = operation.creates().then(|| at(minute).day());
        self.apply(&[Write::Claim {
            content: None,
            job,
            operation,
            before: None,
            baseline: None,
            counted,
            at: at(minute),
        }]);
    }

    pub(super) fn done(&mut self, name: &str, from: JobState, how: How, number: u128, minute: i64) {
        let evidence = Evidence { execution: Execution::Confirmed, ..Evidence::at(at(minute)) };
        self.apply(&[Write::Advance { job: self.job(name), from, how, id: Some(id(number)), evidence }]);
    }

    pub(super) fn reject(
        &mut self,
        name: &str,
        code: &str,
        message: &str,
        violations: &[(&str, &str)],
        minute: i64,
    ) {
        let violations = violations
            .iter()
            .map(|(path, message)| Violation { path: (*path).into(), message: (*message).into() })
            .collect();
        let rejection = Rejection { code: code.into(), message: message.into(), violations };
        let evidence = Evidence { execution: Execution::Refused, ..Evidence::at(at(minute)) };
        let job = self.job(name);
        self.apply(&[Write::Reject { job, from: JobState::Sending, rejection, evidence }]);
    }

    pub(super) fn hold(
        &mut self,
        name: &str,
        code: &str,
        reason: &str,
        candidates: Vec<Candidate>,
        minute: i64,
    ) {
        let (job, evidence) = (self.job(name), Evidence::at(at(minute)));
        let (code, reason) = (code.to_owned(), reason.to_owned());
        self.apply(&[Write::Hold { job, from: JobState::Sending, code, reason, candidates, evidence }]);
    }

    /// Writes the reports of an import to a folder of this name.
    pub(super) fn write(&self, import: ImportId, name: &str) -> Written {
        self.write_within(import, name, LAST_ROW)
    }

    /// The same with worksheets that end at `last_row`.
    pub(super) fn write_within(&self, import: ImportId, name: &str, last_row: u32) -> Written {
        let standing = ImportEnd { end: End::Quota, exit_code: 5, resumes_at: Some(at(720)), holder: None };
        let folder = self.folder.path().join(name);
        write_within(&self.journal, import, &folder, &standing, caller(&Again::default()), last_row).unwrap()
    }
}

pub(super) fn job_of(
    writer: &mut ImportWriter<'_>,
    jobs: &mut BTreeMap<String, JobId>,
    row: &Row,
) -> (JobId, Disposition) {
    let draft = row.draft.as_ref().unwrap_or_else(|| panic!("{:?}", row.findings));
    let link = |reference: &sheet::Reference| Link {
        role: reference.role,
        target: match &reference.pointer {
            Pointer::Id(id) => Target::Remote(*id),
            Pointer::Key(name) | Pointer::Name(name) | Pointer::Any(name) => Target::Job(jobs[name]),
        },
    };
    let links: Vec<Link> = draft.references.iter().map(link).collect();
    let record = draft.record().expect("a row of a record");
    let name = comparable(record.name());
    let new = NewJob {
        natural_key: natural_key(record, &links),
        content_hash: ContentHash::of(format!("{:?}", draft.steps)),
        kind: record.kind(),
        sheet_key: draft.key.as_ref().map(ToString::to_string),
        name: name.clone(),
        links,
        steps: draft.steps.clone(),
    };
    if let Some(known) = writer.by_natural_key(new.kind, &new.natural_key).unwrap() {
        let same = known.content_hash == new.content_hash;
        return (known.job, if same { Disposition::Recognised } else { Disposition::ChangedSince });
    }
    let job = writer.add_job(&new).unwrap();
    jobs.insert(draft.key.as_ref().map_or(name, ToString::to_string), job);
    (job, Disposition::New)
}

/// A journal with a row in every state.
pub(super) fn every_state() -> (Bench, ImportId) {
    let mut bench = Bench::new();
    let account = Account { base_url: "https://provisioning.example".into(), client_id: "onboarding".into() };
    bench.journal.bind(&account).unwrap();
    let import = bench.import(&[
        ("customer.csv", "Companies", COMPANIES),
        ("More/Till: devices.csv", "../Till: devices", DEVICES),
    ]);
    let add = Operation::AddCompany;
    bench.claim("acme", add, 1);
    bench.done("acme", JobState::Sending, How::Created, 1, 2);
    bench.claim("evil", add, 3);
    let violations = [
        ("company.phoneNumber", "must be a phone number"),
        ("company.address.address1", "must not contain quotes"),
        ("company.legalEntity", "must not be null"),
    ];
    bench.reject("evil", "invalidData", "several fields are invalid", &violations, 4);
    bench.claim("held", add, 5);
    let candidate = |number, difference: &str| Candidate {
        id: Some(id(number)),
        name: Some("HELD Ltd".into()),
        details: "phone 555 0103".into(),
        difference: difference.into(),
    };
    let candidates = vec![candidate(50, "the name differs in case"), candidate(51, "")];
    bench.hold("held", "candidates.unclear", "the records found do not say which is ours", candidates, 6);
    bench.claim("doubt", add, 7);
    let (job, evidence) = (bench.job("doubt"), Evidence::at(at(8)));
    let doubt = Doubt::Timeout;
    bench.apply(&[Write::Doubt {
        job,
        doubt,
        executed: false,
        charged: true,
        until: at(18),
        evidence: evidence.clone(),
    }]);
    bench.claim("adopted", add, 9);
    let job = bench.job("adopted");
    let doubt = Doubt::Disconnected;
    bench.apply(&[Write::Doubt { job, doubt, executed: false, charged: true, until: at(19), evidence }]);
    bench.done("adopted", JobState::InDoubt, How::Adopted, 2, 20);
    bench.done("there", JobState::Ready, How::Existing, 3, 21);
    bench.claim("later", add, 22);
    let job = bench.job("later");
    let evidence = Evidence { execution: Execution::NotExecuted, ..Evidence::at(at(23)) };
    let (code, reason) = ("quotaLimitExceeded".into(), "the day's quota of creations is spent".into());
    bench.apply(&[
        Write::Defer { job, until: at(720), code, reason, evidence },
        Write::Ceiling { day: at(0).day(), ceiling: 12 },
    ]);
    bench.claim("given", add, 24);
    bench.hold("given", "absent", "the record was not found", vec![], 25);
    let given = bench.job("given");
    bench.journal.resolve(given, Decision::Abandon, None, "ann", at(26)).unwrap();
    bench.claim("away", add, 27);

    let add = Operation::AddDevice;
    bench.claim("@Till 1", add, 30);
    bench.done("@Till 1", JobState::Sending, How::Created, 10, 31);
    bench.claim("Till 2", add, 32);
    bench.reject("Till 2", "duplicateEntity", "already in use by 'Old till'", &[], 33);
    bench.claim("Till 3", add, 34);
    bench.done("Till 3", JobState::Sending, How::Created, 11, 35);
    bench.claim("Till 3", Operation::AddLicenceCode, 36);
    bench.reject("Till 3", "noDataFound", "no such licence", &[], 37);
    bench.claim("Till 4", add, 38);
    bench.done("Till 4", JobState::Sending, How::Done, 12, 39);
    (bench, import)
}
