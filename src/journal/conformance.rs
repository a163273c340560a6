//! What every journal must do, tested through the public methods of its intake, its queue and its view only: a second engine
//! passes the same suite.
//!
//! The transitions one by one are in `state`, compared with a reference model in `tests/state_machine`.

use std::collections::BTreeMap;

use super::fixture::{at, bench, claim, company, counted, created, id, link, rejected, row, sheet, site};
use super::{
    Account, AuditScope, Because, Disposition, EndOfRun, Evidence, Imported, Journal, LeftOut, Provenance,
    Write,
};
use crate::ending::RunEnd;
use crate::model::action::Action;
use crate::model::id::{JobId, SheetId};
use crate::model::kind::Kind;
use crate::model::operation::Operation::{AddCompany, AddSite, PutSiteLabels};
use crate::model::record::Role;
use crate::model::state::JobState::{self, Blocked, Created, InDoubt, Ready, Rejected, Sending, Skipped};
use crate::model::verdict::Doubt;

/// Two companies, below the first of them a site with a label, and a row that is left out.
fn intake(journal: &mut Journal) -> (Imported, Vec<JobId>) {
    let mut import = journal.begin_import(at(1_000)).unwrap();
    import.file("rollout.xlsx", "digest").unwrap();
    let companies = import.sheet(&sheet("companies", Kind::Company)).unwrap();
    let sites = import.sheet(&sheet("sites", Kind::Site)).unwrap();
    let mut jobs = Vec::new();
    for (number, name) in [(2, "Acme"), (3, "Bolt")] {
        let job = import.add_job(&company(name, vec![])).unwrap();
        import.row(&row(companies, number, job, Disposition::New)).unwrap();
        jobs.push(job);
    }
    let labels = vec![Action::PutLabels(vec!["north".into()])];
    let job = import.add_job(&site("HQ", vec![link(Role::Company, jobs[0])], labels)).unwrap();
    import.row(&row(sites, 2, job, Disposition::New)).unwrap();
    jobs.push(job);
    import.leave_out(&left_out(sites), &provenance(sites)).unwrap();
    import.complete().unwrap();
    (import.finish().unwrap(), jobs)
}

fn left_out(sheet: SheetId) -> LeftOut {
    LeftOut {
        sheet,
        kind: Kind::Site,
        number: 3,
        line: None,
        cells: vec!["Depot".into()],
        because: Because::OfItsErrors,
        code: "cell.required".into(),
        message: "phone is blank".into(),
        columns: vec![("phone".into(), String::new())],
        sheet_key: None,
        natural_key: None,
        name: None,
    }
}

fn provenance(sheet: SheetId) -> Provenance<'static> {
    Provenance { sheet, source: None, natural_key: None, owner: "acme".into() }
}

fn apply(journal: &mut Journal, write: Write) -> bool {
    journal.queue().apply(&[write]).unwrap().pop().unwrap().is_ok()
}

fn states(journal: &Journal, jobs: &[JobId]) -> Vec<JobState> {
    jobs.iter().map(|&job| journal.work(job).unwrap().unwrap().state).collect()
}

fn ready(journal: &mut Journal, operation: crate::model::operation::Operation) -> Vec<JobId> {
    let page = journal.queue().ready(operation, at(9_000), 10, &[]).unwrap();
    page.work.into_iter().map(|work| work.job).collect()
}

#[test]
fn an_import_is_there_whole_or_not_at_all() {
    let mut bench = bench();
    let mut dropped = bench.journal.begin_import(at(500)).unwrap();
    let companies = dropped.sheet(&sheet("companies", Kind::Company)).unwrap();
    let job = dropped.add_job(&company("Never", vec![])).unwrap();
    dropped.row(&row(companies, 2, job, Disposition::New)).unwrap();
    drop(dropped);
    assert_eq!(bench.journal.imports().unwrap(), []);
    assert_eq!(bench.journal.tally(None).unwrap().total(), 0);

    let (imported, jobs) = intake(&mut bench.journal);
    assert_eq!((imported.rows, imported.added, imported.left_out.total()), (4, 3, 1));
    assert_eq!(states(&bench.journal, &jobs), [Ready, Ready, Blocked]);
    let info = bench.journal.imports().unwrap();
    assert_eq!(info[0].files, [("rollout.xlsx".to_owned(), "digest".to_owned())]);
    let sheets = bench.journal.sheets(imported.import).unwrap();
    assert_eq!(sheets.iter().map(|sheet| sheet.rows).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn every_row_has_its_answer_in_the_order_of_its_sheet() {
    let mut bench = bench();
    let (imported, jobs) = intake(&mut bench.journal);
    let mut seen = Vec::new();
    for info in bench.journal.sheets(imported.import).unwrap() {
        bench
            .journal
            .rows(info.sheet, &mut |row| {
                seen.push((row.number, row.job, row.state));
                Ok(())
            })
            .unwrap();
    }
    let expected = [
        (2, Some(jobs[0]), Ready),
        (3, Some(jobs[1]), Ready),
        (2, Some(jobs[2]), Blocked),
        (3, None, Rejected),
    ];
    assert_eq!(seen, expected);
    let tally = bench.journal.tally(Some(imported.import)).unwrap();
    assert_eq!((tally.total(), tally.in_state(Rejected)), (4, 1));
    assert_eq!(bench.journal.left_out(Some(imported.import)).unwrap(), 1);
}

#[test]
fn the_queue_hands_out_what_may_be_sent_and_children_once_their_parent_is_made() {
    let mut bench = bench();
    let (_, jobs) = intake(&mut bench.journal);
    assert_eq!(bench.journal.lanes().unwrap(), [AddCompany, PutSiteLabels, AddSite]);
    assert_eq!(ready(&mut bench.journal, AddCompany), jobs[..2]);
    assert_eq!(ready(&mut bench.journal, AddSite), []);
    let page = bench.journal.queue().ready(AddCompany, at(9_000), 10, &jobs[..1]).unwrap();
    assert_eq!(page.work.len(), 1, "not what is in hand");

    assert!(apply(&mut bench.journal, claim(jobs[0], AddCompany)));
    assert!(!apply(&mut bench.journal, claim(jobs[0], AddCompany)), "what is claimed is claimed once");
    assert!(apply(&mut bench.journal, created(jobs[0], Sending, id(1))));
    assert_eq!(ready(&mut bench.journal, AddSite), jobs[2..]);
    assert!(apply(&mut bench.journal, claim(jobs[2], AddSite)));
    assert!(apply(&mut bench.journal, created(jobs[2], Sending, id(2))));
    assert_eq!(ready(&mut bench.journal, PutSiteLabels), jobs[2..], "its next step");
    assert_eq!(bench.journal.queue().unaudited(AuditScope::All, None, 10).unwrap().len(), 2);
}

#[test]
fn what_is_refused_takes_what_is_below_it_along() {
    let mut bench = bench();
    let (imported, jobs) = intake(&mut bench.journal);
    assert!(apply(&mut bench.journal, claim(jobs[0], AddCompany)));
    assert!(apply(&mut bench.journal, rejected(jobs[0], Sending)));
    assert_eq!(states(&bench.journal, &jobs), [Rejected, Ready, Skipped]);
    let causes = bench.journal.causes(imported.import).unwrap();
    assert!(causes.iter().any(|cause| cause.code == "invalidData"), "{causes:?}");
}

#[test]
fn one_record_belongs_to_one_row() {
    let mut bench = bench();
    let (_, jobs) = intake(&mut bench.journal);
    for &job in &jobs[..2] {
        assert!(apply(&mut bench.journal, claim(job, AddCompany)));
        assert!(apply(&mut bench.journal, created(job, Sending, id(7))));
    }
    assert_eq!(states(&bench.journal, &jobs[..2]), [Created, JobState::Held]);
    assert_eq!(bench.journal.owners(&[id(7), id(8)]).unwrap(), [(id(7), jobs[0])]);
}

#[test]
fn what_was_under_way_when_the_process_ended_is_in_doubt_and_counted() {
    let mut bench = bench();
    let (_, jobs) = intake(&mut bench.journal);
    let day = at(2_000).day();
    assert!(apply(&mut bench.journal, counted(jobs[0], AddCompany, day)));
    let path = bench.journal.path().to_owned();
    drop(bench.journal);
    let mut journal = Journal::open_existing(&path).unwrap();
    assert_eq!(journal.queue().recover(at(3_000)).unwrap().doubtful, 1);
    assert_eq!(states(&journal, &jobs[..1]), [InDoubt]);
    let page = journal.queue().doubtful(at(3_000), 10, &[]).unwrap();
    assert_eq!(page.work[0].doubt, Some(Doubt::ProcessEnded));
    let quota = journal.quota(day).unwrap();
    assert_eq!((quota.sent, quota.doubtful), (1, 1));
    let released = Write::Release { job: jobs[0], note: "not found".into(), at: at(4_000) };
    assert!(apply(&mut journal, released));
    assert_eq!(states(&journal, &jobs[..1]), [Ready]);
}

#[test]
fn a_paused_sheet_hands_out_nothing_and_a_clock_set_back_shortens_what_waits() {
    let mut bench = bench();
    let (imported, jobs) = intake(&mut bench.journal);
    let companies = bench.journal.sheets(imported.import).unwrap()[0].sheet;
    bench.journal.queue().pause_sheet(companies).unwrap();
    assert_eq!(ready(&mut bench.journal, AddCompany), []);
    assert_eq!(bench.journal.unsent(companies).unwrap(), 2);
    bench.journal.queue().resume_sheet(companies);
    assert!(apply(&mut bench.journal, claim(jobs[0], AddCompany)));
    let (code, reason) = ("later".to_owned(), "later".to_owned());
    let evidence = Evidence::at(at(3_000));
    assert!(apply(
        &mut bench.journal,
        Write::Defer { job: jobs[0], until: at(50_000), code, reason, evidence }
    ));
    assert_eq!(bench.journal.next_due().unwrap(), Some(at(50_000)));
    let by = std::time::Duration::from_secs(40);
    assert_eq!(bench.journal.queue().bring_forward(by, at(5_000), at(60_000)).unwrap(), 1);
    assert_eq!(bench.journal.next_due().unwrap(), Some(at(10_000)));
}

#[test]
fn a_run_notes_how_it_goes_and_how_it_ended() {
    let mut bench = bench();
    intake(&mut bench.journal);
    let run = bench.journal.queue().begin_run(at(2_000)).unwrap();
    bench.journal.queue().note_terms(run, "terms").unwrap();
    bench.journal.queue().note_held_back(run, Some("addSite paused")).unwrap();
    let noted = bench.journal.last_run().unwrap().unwrap();
    assert_eq!((noted.ending, noted.held_back.as_deref()), (None, Some("addSite paused")));
    assert!(bench.journal.is_page_check_due().unwrap(), "as long as it goes on");
    let end = EndOfRun { ending: RunEnd::Finished, detail: None, resumes_at: None, sheets_left: Vec::new() };
    let requests = BTreeMap::from([(AddCompany, 2)]);
    bench.journal.queue().end_run(run, at(3_000), &end, &requests).unwrap();
    let noted = bench.journal.last_run().unwrap().unwrap();
    assert_eq!((noted.ending, noted.held_back, noted.requests), (Some(RunEnd::Finished), None, requests));
    assert_eq!(bench.journal.last_terms().unwrap().as_deref(), Some("terms"));
    assert!(!bench.journal.is_page_check_due().unwrap());
}

#[test]
fn a_row_that_was_left_out_is_answered_by_the_one_that_comes_again() {
    let mut bench = bench();
    let (first, _) = intake(&mut bench.journal);
    let mut import = bench.journal.begin_import(at(5_000)).unwrap();
    let fix = import.sheet(&sheet("fix", Kind::Site)).unwrap();
    let values = site("Depot", vec![], vec![]);
    let job = import.add_job(&values).unwrap();
    import.row(&row(fix, 2, job, Disposition::New)).unwrap();
    let provenance =
        Provenance { sheet: fix, source: Some("sites.csv!sites!3"), natural_key: None, owner: String::new() };
    import.comes_again(job, &values, (&provenance, &[]), Disposition::New).unwrap();
    import.finish().unwrap();
    assert_eq!(bench.journal.left_out(Some(first.import)).unwrap(), 0);
    let sites = bench.journal.sheets(first.import).unwrap()[1].sheet;
    let mut answer = None;
    let mut take = |row: super::RowView| {
        answer = (row.number == 3).then_some(row.job).or(answer);
        Ok(())
    };
    bench.journal.rows(sites, &mut take).unwrap();
    assert_eq!(answer, Some(Some(job)));
}

#[test]
fn a_journal_is_of_one_account() {
    let mut bench = bench();
    let ours = Account { base_url: "https://a".into(), client_id: "me".into() };
    bench.journal.bind(&ours).unwrap();
    let theirs = Account { client_id: "you".into(), ..ours.clone() };
    assert!(bench.journal.bind(&theirs).is_err());
    let import = bench.journal.begin_import(at(1_000)).unwrap();
    assert!(import.bind(&theirs).is_err() && import.bind(&ours).is_ok());
    drop(import);
    assert_eq!(bench.journal.account().unwrap(), Some(ours));
}

#[test]
fn a_paused_import_hands_out_nothing_and_takes_no_claim_and_the_higher_priority_goes_first() {
    let mut bench = bench();
    let (first, jobs) = intake(&mut bench.journal);
    let mut import = bench.journal.begin_import(at(2_000)).unwrap();
    let companies = import.sheet(&sheet("more", Kind::Company)).unwrap();
    let more = import.add_job(&company("Cord", vec![])).unwrap();
    import.row(&row(companies, 2, more, Disposition::New)).unwrap();
    import.row(&row(companies, 3, jobs[1], Disposition::Recognised)).unwrap();
    let second = import.finish().unwrap();
    // The second named it last.
    assert_eq!(ready(&mut bench.journal, AddCompany), [jobs[0], jobs[1], more]);

    let change = bench.journal.pause(first.import, "kim", at(3_000)).unwrap();
    assert_eq!((change.was_paused, change.ready, change.under_way), (None, 1, 0));
    assert_eq!(ready(&mut bench.journal, AddCompany), [jobs[1], more]);
    assert!(!apply(&mut bench.journal, claim(jobs[0], AddCompany)), "nothing of it is claimed");
    assert!(apply(&mut bench.journal, claim(jobs[1], AddCompany)));
    assert_eq!(bench.journal.paused_rows(None).unwrap(), 1);
    assert_eq!(bench.journal.paused_rows(Some(first.import)).unwrap(), 1);
    assert_eq!(bench.journal.paused_rows(Some(second.import)).unwrap(), 0);
    assert!(bench.journal.goes_on().unwrap());
    bench.journal.pause(second.import, "kim", at(3_000)).unwrap();
    assert!(bench.journal.goes_on().unwrap(), "a request is under way");
    assert!(apply(&mut bench.journal, rejected(jobs[1], Sending)));
    assert!(!bench.journal.goes_on().unwrap());
    let change = bench.journal.resume(first.import, "kim", at(4_000)).unwrap();
    assert_eq!((change.was_paused, change.ready), (Some(at(3_000)), 1));
    assert!(apply(&mut bench.journal, claim(jobs[0], AddCompany)));
    assert!(bench.journal.pause(crate::model::id::ImportId(9), "kim", at(1)).is_err());
}
