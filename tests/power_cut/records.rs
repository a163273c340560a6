//! The rows of the script: records of every kind with what they belong to, and an import that notes its jobs.

use fleetload::journal::{Disposition, ImportWriter, NewJob, NewRow, NewSheet, SheetId};
use fleetload::model::action::Action;
use fleetload::model::content_hash::ContentHash;
use fleetload::model::id::{JobId, RemoteId};
use fleetload::model::key;
use fleetload::model::kind::Kind;
use fleetload::model::record::{Link, Record, Role, Target};
use fleetload::testing;

/// The company above all others, which exists.
const ROOT: RemoteId = RemoteId::from_u128(0xA11);

/// An import of one sheet under way.
pub(crate) struct Filling<'a> {
    pub(crate) import: ImportWriter<'a>,
    sheet: SheetId,
    row: u32,
}

impl<'a> Filling<'a> {
    pub(crate) fn begin(mut import: ImportWriter<'a>, name: &str) -> Self {
        let file = format!("{name}.csv");
        import.file(&file, "0123").expect("a file");
        let sheet = NewSheet {
            name: name.into(),
            file,
            worksheet: None,
            kind: Kind::Device,
            headers: vec!["name".into()],
            header_row: 1,
        };
        let sheet = import.sheet(&sheet).expect("a sheet");
        Self { import, sheet, row: 1 }
    }

    /// A row that makes a job, below a job or below what is above all.
    pub(crate) fn add(&mut self, record: Record, owner: Option<JobId>, later: Vec<Action>) -> JobId {
        let values = values(record, owner, later);
        let job = self.import.add_job(&values).expect("a job");
        self.row(job, Disposition::New);
        job
    }

    /// A row that gives a job other values.
    pub(crate) fn revise(&mut self, job: JobId, record: Record, owner: Option<JobId>) {
        let mut values = values(record, owner, Vec::new());
        values.content_hash = ContentHash::of(format!("{} corrected", values.name));
        self.import.revise_job(job, &values).expect("a job that may be revised");
        self.row(job, Disposition::Revised);
    }

    /// A row about a job as it is.
    pub(crate) fn recognise(&mut self, job: JobId) {
        self.row(job, Disposition::Recognised);
    }

    fn row(&mut self, job: JobId, disposition: Disposition) {
        self.row += 1;
        let row = NewRow {
            sheet: self.sheet,
            number: self.row,
            line: Some(u64::from(self.row)),
            cells: vec![format!("row {} of job {job}", self.row)],
            job,
            disposition,
        };
        self.import.row(&row).expect("a row");
    }
}

fn values(record: Record, owner: Option<JobId>, later: Vec<Action>) -> NewJob {
    let role = if record.kind() == Kind::Company { Role::Parent } else { Role::Company };
    let target = owner.map_or(Target::Remote(ROOT), Target::Job);
    let links = vec![Link { role, target }];
    NewJob {
        sheet_key: Some(record.name().to_lowercase()),
        name: key::comparable(record.name()),
        natural_key: key::natural_key(&record, &links),
        content_hash: ContentHash::of(record.name()),
        links,
        kind: record.kind(),
        steps: std::iter::once(Action::Create(record)).chain(later).collect(),
    }
}

pub(crate) fn company(name: &str) -> Record {
    Record::Company(testing::company(name))
}

pub(crate) fn site(name: &str) -> Record {
    Record::Site(testing::site(name))
}

pub(crate) fn person(name: &str) -> Record {
    Record::Person(testing::person(format!("{name}@example.com")))
}

pub(crate) fn device(number: u32) -> Record {
    let mac = format!("00:1a:2b:00:{:02x}:{:02x}", number >> 8, number & 255);
    Record::Device(testing::device(format!("Till {number}"), Some(&mac)))
}
