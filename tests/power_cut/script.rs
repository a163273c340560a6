//! A short life of a journal, carried out on a recorded disk: imports, claims, answers of every sort, a person's
//! decisions, an end and a new start. Once by the journal itself, once through its writer, which commits in groups.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use fleetload::ending::{End, RunEnd};
use fleetload::journal::{
    Account as ServiceAccount, Candidate, Decision, EndOfRun, Evidence, How, Journal, Reply, RunId,
    Selection, Write, Writer, Writing,
};
use fleetload::mistake::{self, Mistake};
use fleetload::model::action::Action;
use fleetload::model::id::{JobId, RemoteId};
use fleetload::model::operation::Operation;
use fleetload::model::record::Metadata;
use fleetload::model::state::JobState::{self, InDoubt, Ready, Sending};
use fleetload::model::time::{Day, Moment};
use fleetload::model::verdict::{Doubt, Rejection, Violation};

use crate::records::{Filling, company, device, person, site};
use crate::scribe::{Account, Scribe, What};
use crate::vfs::Recording;

/// The name of the journal.
pub(crate) const NAME: &str = "fleetload.db";

/// The day on whose quota the requests count.
const DAY: Day = Day::from_number(20_000);

/// Carries out the script, with a mistake in how the journal is opened or without.
pub(crate) fn carry_out(mistaken: Option<Mistake>) -> Account {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(NAME);
    mistake::make(mistaken);
    let scribe = Arc::new(Scribe::new(&path, Recording::of(folder.path())));
    let mut journal = open(&path, &scribe);
    journal
        .bind(&ServiceAccount { base_url: "https://service.example".into(), client_id: "me".into() })
        .expect("a new journal");
    scribe.acknowledged(What::Kept);
    let jobs = first_import(&mut journal, &scribe);
    journal.queue().begin_run(at(1)).expect("a run");
    scribe.acknowledged(What::Kept);
    by_itself(&mut journal, &jobs, &scribe);
    let journal = through_the_writer(journal, &path, &jobs, &scribe);
    drop(journal);
    let journal = after_a_new_start(&path, &jobs, &scribe);
    mistake::make(None);
    let scribe = Arc::into_inner(scribe).expect("nobody else writes any more");
    let account = scribe.end();
    drop(journal);
    account
}

fn open(path: &Path, scribe: &Scribe) -> Journal {
    let journal = Journal::open(path).expect("a journal");
    scribe.squeeze();
    scribe.acknowledged(What::Kept);
    journal
}

/// The jobs of the first import.
struct Jobs {
    companies: [JobId; 3],
    sites: [JobId; 3],
    people: [JobId; 2],
    devices: [JobId; 4],
}

fn first_import(journal: &mut Journal, scribe: &Scribe) -> Jobs {
    let mut filling = Filling::begin(journal.begin_import(at(1)).expect("an import"), "first");
    let acme = filling.add(company("Acme"), None, vec![]);
    let bolt = filling.add(company("Bolt"), Some(acme), vec![]);
    let crown = filling.add(company("Crown"), Some(bolt), vec![]);
    let labels = vec![Action::PutLabels(vec!["north".into(), "new".into()])];
    let sites = [
        filling.add(site("Airport"), Some(acme), labels),
        filling.add(site("Beach"), Some(acme), vec![]),
        filling.add(site("Centre"), Some(crown), vec![]),
    ];
    let people =
        [filling.add(person("ann"), Some(acme), vec![]), filling.add(person("bob"), Some(bolt), vec![])];
    let metadata = Action::PutMetadata(vec![Metadata { key: "till".into(), value: "1".into() }]);
    let extras = vec![metadata, Action::AddLicence("LICENCE-1".into())];
    let devices = [
        filling.add(device(0), Some(acme), extras),
        filling.add(device(1), Some(bolt), vec![]),
        filling.add(device(2), Some(crown), vec![]),
        filling.add(device(3), Some(acme), vec![]),
    ];
    finish(filling, scribe);
    Jobs { companies: [acme, bolt, crown], sites, people, devices }
}

fn finish(filling: Filling<'_>, scribe: &Scribe) {
    let imported = filling.import.finish().expect("an import");
    scribe.acknowledged(What::Imported { import: imported.import, rows: imported.rows });
}

/// Each batch is one commit of the journal itself.
fn by_itself(journal: &mut Journal, jobs: &Jobs, scribe: &Scribe) {
    let [acme, bolt, _] = jobs.companies;
    let [airport, beach, _] = jobs.sites;
    let baseline = Some(vec![id(900), id(901)]);
    for batch in [
        vec![claim_seeing(acme, Operation::AddCompany, baseline)],
        vec![created(acme, Sending, 1)],
        vec![
            claim(bolt, Operation::AddCompany),
            claim(airport, Operation::AddSite),
            claim(beach, Operation::AddSite),
        ],
        vec![created(bolt, Sending, 2)],
        vec![doubt(airport, Doubt::Timeout), rejected(beach)],
    ] {
        for outcome in journal.queue().apply(&batch).expect("the disk is whole") {
            outcome.expect("a write that fits");
        }
        batch.iter().for_each(|write| scribe.written(write));
    }
}

/// Each batch waits in the writer's queue together and so shares a commit. Another process imports in between.
fn through_the_writer(journal: Journal, path: &Path, jobs: &Jobs, scribe: &Arc<Scribe>) -> Journal {
    let [_, _, crown] = jobs.companies;
    let [airport, beach, _] = jobs.sites;
    let [ann, bob] = jobs.people;
    let [till0, till1, _, till3] = jobs.devices;
    let desk = Desk::new(journal, Arc::clone(scribe));
    desk.write(vec![
        claim(ann, Operation::AddPerson),
        claim(till0, Operation::AddDevice),
        claim(till3, Operation::AddDevice),
        claim(bob, Operation::AddPerson),
        claim(till1, Operation::AddDevice),
    ]);
    desk.write(vec![created(ann, Sending, 3), created(till0, Sending, 4)]);
    desk.write(vec![
        Write::Defer {
            job: till3,
            until: at(500),
            code: "noDataFound".into(),
            reason: "not visible yet".into(),
            evidence: evidence(200),
        },
        give_back(bob),
        Write::Doubt {
            job: till1,
            doubt: Doubt::NoId,
            executed: true,
            charged: true,
            until: at(60),
            evidence: evidence(200),
        },
    ]);
    desk.write(vec![
        Write::KeepDoubting { job: airport, until: at(90), absent_reads: 1, note: "not found".into() },
        Write::Ceiling { day: DAY, ceiling: 5_000 },
        claim(till0, Operation::PutDeviceMetadataList),
    ]);
    desk.write(vec![
        step_done(till0),
        Write::Release { job: airport, note: "proved absent".into(), at: at(60) },
    ]);
    desk.write(vec![
        claim(airport, Operation::AddSite),
        claim(till0, Operation::AddLicenceCode),
        claim(till3, Operation::AddDevice),
    ]);
    desk.write(vec![created(airport, Sending, 5), step_done(till0), give_back(till3)]);
    desk.write(vec![postpone(till3), claim(crown, Operation::AddCompany)]);
    desk.write(vec![rejected(crown)]);

    let delta = second_import(path, jobs, scribe);
    let candidate = Candidate {
        id: Some(id(77)),
        name: Some("Till 1".into()),
        details: "a device".into(),
        difference: "another address".into(),
    };
    desk.write(vec![
        Write::Hold {
            job: till1,
            from: InDoubt,
            code: "several".into(),
            reason: "a person decides".into(),
            candidates: vec![candidate],
            evidence: evidence(200),
        },
        claim(delta, Operation::AddCompany),
        claim(beach, Operation::AddSite),
        Write::Leave { job: bob, from: Ready, id: id(6), evidence: evidence(200) },
    ]);
    desk.write(vec![created(delta, Sending, 7), created(beach, Sending, 8)]);
    // One by one: each a commit of its own, and both still under way when the process ends.
    desk.write(vec![claim(till3, Operation::AddDevice)]);
    desk.write(vec![claim(airport, Operation::PutSiteLabels)]);
    desk.close()
}

/// Another process puts rows in: some new, some corrected, some known. Gives the company among them.
fn second_import(path: &Path, jobs: &Jobs, scribe: &Scribe) -> JobId {
    let mut journal = open(path, scribe);
    let mut filling = Filling::begin(journal.begin_import(at(100)).expect("an import"), "second");
    let delta = filling.add(company("Delta"), None, vec![]);
    for number in 100..140 {
        filling.add(device(number), Some(delta), vec![]);
    }
    filling.recognise(jobs.people[0]);
    filling.revise(jobs.devices[3], device(3), Some(jobs.companies[0]));
    filling.revise(jobs.sites[1], site("Beach"), Some(jobs.companies[0]));
    finish(filling, scribe);
    delta
}

fn after_a_new_start(path: &Path, jobs: &Jobs, scribe: &Scribe) -> Journal {
    let mut journal = open(path, scribe);
    let recovered = journal.queue().recover(at(1_000)).expect("a journal");
    assert_eq!(recovered.doubtful, 2, "two requests were under way");
    scribe.acknowledged(What::Kept);
    let [_, _, crown] = jobs.companies;
    let [airport, _, centre] = jobs.sites;
    let [_, till1, till2, till3] = jobs.devices;
    journal.resolve(till1, Decision::Created(id(9)), None, "ann", at(1_001)).expect("a held job");
    scribe.acknowledged(What::Kept);
    let selection = Selection { code: Some("invalidData".into()), ..Selection::default() };
    assert_eq!(journal.retry(&selection, "ann", at(1_002)).expect("a journal").retried, 1);
    scribe.acknowledged(What::Kept);
    let adopted = Write::Advance {
        job: till3,
        from: InDoubt,
        how: How::Adopted,
        id: Some(id(10)),
        evidence: evidence(200),
    };
    for batch in [
        vec![adopted, Write::Release { job: airport, note: "proved absent".into(), at: at(1_003) }],
        vec![claim(crown, Operation::AddCompany), claim(airport, Operation::PutSiteLabels)],
        vec![created(crown, Sending, 11)],
        vec![step_done(airport)],
        vec![claim(centre, Operation::AddSite), claim(till2, Operation::AddDevice)],
        vec![created(centre, Sending, 12)],
    ] {
        for outcome in journal.queue().apply(&batch).expect("the disk is whole") {
            outcome.expect("a write that fits");
        }
        batch.iter().for_each(|write| scribe.written(write));
    }
    // An import that is given up: nothing of it may ever be seen, though its pages have left the memory.
    let mut filling = Filling::begin(journal.begin_import(at(1_004)).expect("an import"), "given up");
    for number in 200..240 {
        filling.add(device(number), None, vec![]);
    }
    drop(filling);
    let end = EndOfRun {
        ending: RunEnd::Early(End::Signal),
        detail: None,
        resumes_at: None,
        sheets_left: Vec::new(),
    };
    journal.queue().end_run(RunId(1), at(1_005), &end, &BTreeMap::new()).expect("a run");
    scribe.acknowledged(What::Kept);
    journal
}

/// The writer, with its answers noted on its own thread before anybody else hears of them.
struct Desk {
    writer: Writer,
    under_way: Arc<Mutex<BTreeMap<u64, Write>>>,
    heard: Receiver<Result<(), String>>,
}

impl Desk {
    fn new(journal: Journal, scribe: Arc<Scribe>) -> Self {
        let under_way: Arc<Mutex<BTreeMap<u64, Write>>> = Arc::default();
        let (tell, heard) = channel();
        let writes = Arc::clone(&under_way);
        let writer = Writer::start(journal, Writing::OwnThread, move |reply| {
            let told = match reply {
                Reply::Written { ticket, .. } => {
                    let write = writes.lock().expect("no panic").remove(&ticket).expect("one answer each");
                    scribe.written(&write);
                    Ok(())
                }
                // What it says is on disk is looked at like everything else.
                Reply::Quota { .. } => return,
                other => Err(format!("{other:?}")),
            };
            // Nobody listens any more only when the script has failed already.
            let _gone = tell.send(told);
        });
        Self { writer: writer.expect("a thread"), under_way, heard }
    }

    /// Queues writes while the writer is kept waiting, so that they share one commit whatever the machine does.
    fn write(&self, writes: Vec<Write>) {
        let (go, wait) = channel::<()>();
        self.writer.ask(Box::new(move |_journal| wait.recv().expect("a sign to go on")));
        let count = writes.len();
        for (write, ticket) in writes.into_iter().zip(0_u64..) {
            self.under_way.lock().expect("no panic").insert(ticket, write.clone());
            self.writer.write(ticket, write);
        }
        go.send(()).expect("the writer waits");
        for _ in 0..count {
            self.heard.recv().expect("an answer").expect("a write that fits");
        }
    }

    fn close(self) -> Journal {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(self.writer.close()).expect("the journal")
    }
}

fn at(seconds: i64) -> Moment {
    Moment::from_millis(DAY.start().millis() + seconds * 1_000)
}

fn id(number: u128) -> RemoteId {
    RemoteId::from_u128(number)
}

fn evidence(status: u16) -> Evidence {
    Evidence { status: Some(status), excerpt: Some("{\"status\":\"…\"}".into()), ..Evidence::at(at(20)) }
}

fn claim(job: JobId, operation: Operation) -> Write {
    claim_seeing(job, operation, None)
}

fn claim_seeing(job: JobId, operation: Operation, baseline: Option<Vec<RemoteId>>) -> Write {
    Write::Claim { job, operation, content: None, before: None, baseline, counted: Some(DAY), at: at(10) }
}

fn created(job: JobId, from: JobState, number: u128) -> Write {
    Write::Advance { job, from, how: How::Created, id: Some(id(number)), evidence: evidence(200) }
}

fn step_done(job: JobId) -> Write {
    Write::Advance { job, from: Sending, how: How::Done, id: None, evidence: evidence(200) }
}

fn rejected(job: JobId) -> Write {
    let rejection = Rejection {
        code: "invalidData".into(),
        message: "no such zone".into(),
        violations: vec![Violation { path: "address.timezone".into(), message: "unknown".into() }],
    };
    Write::Reject { job, from: Sending, rejection, evidence: evidence(400) }
}

fn doubt(job: JobId, doubt: Doubt) -> Write {
    Write::Doubt { job, doubt, executed: false, charged: true, until: at(30), evidence: evidence(504) }
}

fn give_back(job: JobId) -> Write {
    Write::Return {
        job,
        code: "unreachable".into(),
        reason: "no connection".into(),
        evidence: Evidence::at(at(20)),
    }
}

fn postpone(job: JobId) -> Write {
    Write::Postpone {
        job,
        from: Ready,
        until: at(500),
        code: "parent.busy".into(),
        reason: "another row goes first".into(),
    }
}
