//! Journals to spoil: an empty one, and one with imports, jobs in every state, attempts, a run and a day's quota.
//! Both are made once, by the journal itself, and kept as the bytes of their file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use fleetload::ending::{End, RunEnd};
use fleetload::import::{self, Outcome};
use fleetload::journal::{Account, Candidate, EndOfRun, Evidence, How, Journal, Work, Write};
use fleetload::model::id::RemoteId;
use fleetload::model::operation::Operation;
use fleetload::model::state::JobState::{InDoubt, Ready, Sending};
use fleetload::model::time::Moment;
use fleetload::model::verdict::{Doubt, Execution, Rejection, Violation};
use fleetload::sheet::Options;
use rusqlite::Connection;

/// The moment at which everything in the journals happened.
pub(super) const THEN: Moment = Moment::from_millis(1_790_000_000_000);

/// The name of both journals.
const NAME: &str = "0123456789abcdef0123456789abcdef";

const COMPANIES: &str = "\
key,parent,company_type,name,phone,support_email,sales_email,accounts_email,address1,city,country
top,6f1c2a3e-0000-4000-8000-000000000001,CUSTOMER,Top,+64 9 555 0100,a@b.example,a@b.example,a@b.example,1 High St,Auckland,New Zealand
mid,top,CUSTOMER,Mid,+64 9 555 0100,a@b.example,a@b.example,a@b.example,1 High St,Auckland,New Zealand
low,mid,CUSTOMER,=Low,+64 9 555 0100,a@b.example,a@b.example,a@b.example,1 High St,Auckland,New Zealand
lost,6f1c2a3e-0000-4000-8000-000000000001,CUSTOMER,Lost,+64 9 555 0100,a@b.example,a@b.example,a@b.example,1 High St,Auckland,New Zealand
below,lost,CUSTOMER,Below,+64 9 555 0100,a@b.example,a@b.example,a@b.example,1 High St,Auckland,New Zealand
";

const SITES: &str = "\
key,company,name,phone,address1,city,country,labels,meta:cost-centre
s1,top,Shop 1,+64 9 555 0100,1 High St,Auckland,New Zealand,office,CC-1
s2,top,Shop 2,+64 9 555 0100,2 High St,Auckland,New Zealand,,
s3,below,Shop 3,+64 9 555 0100,3 High St,Auckland,New Zealand,,
";

const PEOPLE: &str = "\
company,user_type,template_scope,first_name,last_name,username,email,allow_login,address1,city,country
top,Reports Client,COMPANY_INHERIT,Ann,Smith,ann@b.example,ann@b.example,yes,1 High St,Auckland,New Zealand
top,Reports Client,COMPANY_INHERIT,Bob,Smith,bob@b.example,bob@b.example,no,1 High St,Auckland,New Zealand
mid,Reports Client,COMPANY_INHERIT,Cat,Smith,cat@b.example,cat@b.example,no,1 High St,Auckland,New Zealand
";

const DEVICES: &str = "\
key,company,site,name,device_model,mac,phone,address1,city,country
d1,top,s1,Till 1,Edge 100,00:1a:2b:00:00:01,+64 9 555 0100,1 High St,Auckland,New Zealand
d2,top,s1,Till 2,Edge 100,00:1a:2b:00:00:02,+64 9 555 0100,1 High St,Auckland,New Zealand
d3,top,s2,Till 3,Edge 100,00:1a:2b:00:00:03,+64 9 555 0100,1 High St,Auckland,New Zealand
d4,low,,Till 4,Edge 100,,+64 9 555 0100,1 High St,Auckland,New Zealand
";

/// The file of a journal that holds nothing.
pub(super) fn empty() -> &'static [u8] {
    static EMPTY: OnceLock<Vec<u8>> = OnceLock::new();
    EMPTY.get_or_init(|| made(|_, _| ()))
}

/// The file of a journal in the middle of its work.
pub(super) fn busy() -> &'static [u8] {
    static BUSY: OnceLock<Vec<u8>> = OnceLock::new();
    BUSY.get_or_init(|| made(live))
}

/// The file of a journal after `fill`.
fn made(fill: impl Fn(&mut Journal, &Path)) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fleetload.db");
    let mut journal = Journal::open(&path).expect("a new journal");
    fill(&mut journal, folder.path());
    // Closing copies the write-ahead log back: the file alone is all of it.
    drop(journal);
    // A name that is the same in every process: spilled lines say which journal they belong to.
    let connection = Connection::open(&path).expect("the journal");
    connection.execute("UPDATE identity SET id = ?1", [NAME]).expect("a journal that has a name");
    connection.close().expect("nothing is under way");
    assert!(!folder.path().join("fleetload.db-wal").exists(), "the journal was closed");
    fs::read(&path).expect("the journal")
}

fn live(journal: &mut Journal, folder: &Path) {
    journal
        .bind(&Account { base_url: "https://service.example".into(), client_id: "onboarding".into() })
        .expect("an account");
    bring_in(journal, folder);
    let mut number = 0_u128;
    let mut id = || {
        number += 1;
        RemoteId::from_u128(0x1000_0000_0000_4000_8000_0000_0000_0000 + number)
    };
    // Twice, so that what waits for the first companies is reached too.
    for _ in 0..2 {
        for &operation in Operation::ALL {
            let page = journal.queue().ready(operation, THEN, 100, &[]).expect("a page");
            for work in page.work {
                advance(journal, &work, &mut id);
            }
        }
    }
    let day = THEN.day();
    carry_out(journal, Write::Ceiling { day, ceiling: 9 });
    let run = journal.queue().begin_run(THEN).expect("a run");
    let requests = BTreeMap::from([(Operation::AddCompany, 5), (Operation::AddDevice, 3)]);
    let detail = Some("the day's quota of creations is spent".to_owned());
    let end = EndOfRun {
        ending: RunEnd::Early(End::Quota),
        detail,
        resumes_at: Some(THEN),
        sheets_left: Vec::new(),
    };
    journal.queue().end_run(run, THEN, &end, &requests).expect("the end of a run");
    // A second import, that recognises the rows of the first.
    bring_in(journal, folder);
    journal.queue().begin_run(THEN).expect("a run");
}

fn bring_in(journal: &mut Journal, folder: &Path) {
    let files: Vec<PathBuf> =
        [("companies", COMPANIES), ("sites", SITES), ("people", PEOPLE), ("devices", DEVICES)]
            .into_iter()
            .map(|(name, content)| {
                let path = folder.join(format!("{name}.csv"));
                fs::write(&path, content).expect("a file");
                path
            })
            .collect();
    let examined = import::examine(&files, &Options::default(), Some(journal)).expect("readable files");
    let findings: Vec<_> = examined.findings.iter().filter(|finding| finding.is_error()).collect();
    assert!(findings.is_empty(), "{findings:#?}");
    match import::import(&examined, journal, false, THEN).expect("an import") {
        Outcome::Imported(..) => {}
        Outcome::Refused(findings) => panic!("{:?}", findings.into_vec()),
    }
}

/// Sends a job and lets it come to the end that its name says.
fn advance(journal: &mut Journal, work: &Work, id: &mut dyn FnMut() -> RemoteId) {
    let job = work.job;
    let evidence = Evidence {
        at: THEN,
        execution: Execution::Confirmed,
        status: Some(200),
        code: Some("invalidData".into()),
        excerpt: Some("{\"status\":\"FAILED\"}".into()),
        left: None,
    };
    let claim = Write::Claim {
        job,
        operation: work.operation,
        content: None,
        before: None,
        baseline: Some(vec![RemoteId::from_u128(3), RemoteId::from_u128(4)]),
        counted: work.operation.creates().then(|| THEN.day()),
        at: THEN,
    };
    let ending = match work.name.as_str() {
        "Shop 2" | "Till 2" => None,
        "Lost" => Some(Write::Reject {
            job,
            from: Sending,
            rejection: Rejection {
                code: "invalidData".into(),
                message: "Invalid data".into(),
                violations: vec![Violation {
                    path: "company.phoneNumber".into(),
                    message: "must match".into(),
                }],
            },
            evidence,
        }),
        "Till 1" => Some(doubt(job, evidence)),
        "Till 3" => Some(Write::Hold {
            job,
            from: Sending,
            code: "near-match".into(),
            reason: "several records look like this row".into(),
            candidates: vec![Candidate {
                id: Some(RemoteId::from_u128(5)),
                name: Some("till 3".into()),
                details: "made today".into(),
                difference: "upper and lower case".into(),
            }],
            evidence,
        }),
        name if name.contains("Bob") || name.starts_with("bob") => Some(Write::Defer {
            job,
            until: Moment::from_millis(THEN.millis() + 60_000),
            code: "rate".into(),
            reason: "too fast".into(),
            evidence,
        }),
        _ if work.step > 0 => Some(Write::Advance { job, from: Sending, how: How::Done, id: None, evidence }),
        _ => Some(Write::Advance { job, from: Sending, how: How::Created, id: Some(id()), evidence }),
    };
    if work.state != Ready {
        return;
    }
    carry_out(journal, claim);
    if let Some(ending) = ending {
        carry_out(journal, ending);
    }
}

fn doubt(job: fleetload::model::id::JobId, evidence: Evidence) -> Write {
    Write::Doubt { job, doubt: Doubt::Timeout, executed: false, charged: true, until: THEN, evidence }
}

fn carry_out(journal: &mut Journal, write: Write) {
    for outcome in journal.queue().apply(&[write]).expect("a journal that can be written") {
        outcome.expect("a write that fits");
    }
}

/// Lines as a spill file has them: settlements of the busy journal that fit, and some that do not.
pub(super) fn spilled() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fleetload.db");
    fs::write(&path, busy()).expect("a journal");
    let mut writes = vec![Write::Ceiling { day: THEN.day(), ceiling: 7 }];
    let journal = Journal::open(&path).expect("the busy journal");
    for number in 1..=15 {
        let job = fleetload::model::id::JobId(number);
        let Some(work) = journal.work(job).expect("a job that can be read") else { continue };
        let evidence = Evidence::at(THEN);
        let id = Some(RemoteId::from_u128(0xabc0 + u128::from(number.unsigned_abs())));
        writes.push(match work.state {
            InDoubt => Write::Release { job, note: "absent".into(), at: THEN },
            from => Write::Advance { job, from, how: How::Created, id, evidence },
        });
    }
    fs::read(journal.spill(&writes).expect("a spill file")).expect("its lines")
}
