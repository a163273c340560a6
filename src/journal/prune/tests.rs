//! What is removed, what stays, and how large a journal gets in a year of nights.

use super::*;
use crate::journal::fixture::*;
use crate::journal::{Because, Disposition, LeftOut, NewRow, Provenance, Write};
use crate::model::id::JobId;
use crate::model::kind::Kind;
use crate::model::operation::Operation::AddCompany;
use crate::model::state::JobState::{Created, Sending};

const DAY: i64 = 86_400_000;

fn old(imports: &[ImportId], before: i64) -> Old<'_> {
    Old { imports, before: at(before), now: at(before + 30 * DAY) }
}

fn number(journal: &Journal, question: &str) -> i64 {
    journal.connection.query_row(question, [], |row| row.get(0)).unwrap()
}

/// Imports a sheet with a row for each of the jobs, which are there already.
fn import_again(journal: &mut Journal, moment: i64, jobs: &[JobId]) -> ImportId {
    let mut import = journal.begin_import(at(moment)).unwrap();
    import.file("customers.csv", "4567").unwrap();
    let sheet = import.sheet(&sheet("customers", Kind::Company)).unwrap();
    for (&job, number) in jobs.iter().zip(2_u32..) {
        import.row(&row(sheet, number, job, Disposition::Recognised)).unwrap();
    }
    import.finish().unwrap().import
}

fn create(journal: &mut Journal, job: JobId, number: u128) {
    apply(journal, counted(job, AddCompany, at(2_000).day())).unwrap();
    apply(journal, created(job, Sending, id(number))).unwrap();
}

#[test]
fn what_recognises_a_row_stays_and_the_rest_of_an_old_import_goes() {
    let mut bench = bench();
    let journal = &mut bench.journal;
    let (first, jobs) = import_companies(journal, &["Acme", "Bolt"], false);
    create(journal, jobs[0], 1);
    create(journal, jobs[1], 2);
    let second = import_again(journal, DAY, &jobs);
    let third = import_again(journal, 2 * DAY, &jobs);
    let tally = journal.tally(None).unwrap();
    let steps = journal.begin_import(at(3 * DAY)).unwrap().steps_of(jobs[0]).unwrap();

    let would = journal.would_prune(&old(&[first.import, second, third], 10 * DAY)).unwrap();
    assert_eq!(would.imports, [(first.import, 0), (second, 2)], "the newest import stays");
    assert_eq!((would.attempts, would.days), (2, 1));
    assert_eq!(journal.imports().unwrap().len(), 3, "it was only tried");
    let pruned = journal.prune(&old(&[first.import, second, third], 10 * DAY)).unwrap();
    assert_eq!(pruned, would);

    let infos = journal.imports().unwrap();
    assert_eq!(infos.iter().map(|info| info.import).collect::<Vec<_>>(), [third]);
    // The first is where the jobs came from; of the second nothing is left.
    assert_eq!(number(journal, "SELECT count(*) FROM import"), 2);
    assert_eq!(number(journal, "SELECT count(*) FROM import_file"), 2);
    assert_eq!(number(journal, "SELECT count(*) FROM sheet_row"), 4);
    assert_eq!(number(journal, "SELECT count(*) FROM attempt"), 0);
    assert_eq!(journal.tally(None).unwrap(), tally);
    assert_eq!(journal.tally(Some(third)).unwrap().in_state(Created), 2);
    let known = journal.by_natural_key(Kind::Company, "Acme").unwrap().unwrap();
    assert_eq!((known.job, known.remote_id, known.first_import), (jobs[0], Some(id(1)), first.import));
    let mut import = journal.begin_import(at(11 * DAY)).unwrap();
    assert_eq!(import.steps_of(jobs[0]).unwrap(), steps);
    assert!(import.row_of_values(jobs[0]).unwrap().is_some());
    // A new import gets a new number.
    let sheet = import.sheet(&sheet("customers", Kind::Company)).unwrap();
    import.row(&row(sheet, 2, jobs[0], Disposition::Recognised)).unwrap();
    assert_eq!(import.finish().unwrap().import, ImportId(third.0 + 1));
    assert_eq!(
        journal.prune(&old(&[], 10 * DAY)).unwrap(),
        Pruned::default(),
        "nothing is left to be removed"
    );
    assert_eq!(number(journal, "PRAGMA foreign_keys"), 1, "they are looked up again");
}

#[test]
fn the_number_of_an_import_stays_that_had_a_row_last_before_it_was_finished() {
    let mut bench = bench();
    let journal = &mut bench.journal;
    let (first, jobs) = import_companies(journal, &["Acme"], false);
    let second = import_again(journal, 1_500, &jobs);
    create(journal, jobs[0], 1);
    let third = import_again(journal, 2 * DAY, &jobs);
    let fourth = import_again(journal, 3 * DAY, &jobs);
    assert_eq!(number(journal, "SELECT last_import FROM job"), second.0, "it was sent for that one");
    let all = [first.import, second, third, fourth];
    let pruned = journal.prune(&old(&all, 10 * DAY)).unwrap();
    assert_eq!(pruned.imports, [(first.import, 0), (second, 1), (third, 1)]);
    let left: Vec<_> = journal.imports().unwrap().iter().map(|info| info.import).collect();
    assert_eq!(left, [fourth]);
    assert_eq!(number(journal, "SELECT count(*) FROM import"), 3, "of the third nothing is left");
    assert_eq!(journal.prune(&old(&all, 10 * DAY)).unwrap(), Pruned::default());
}

#[test]
fn an_import_stays_whole_whose_rows_wait_or_were_finished_lately_or_nobody_has_answered_for() {
    let mut bench = bench();
    let journal = &mut bench.journal;
    let (waiting, jobs) = import_companies(journal, &["Acme", "Bolt"], false);
    create(journal, jobs[0], 1);
    let mut import = journal.begin_import(at(4_000)).unwrap();
    let sites = import.sheet(&sheet("sites", Kind::Site)).unwrap();
    let left_out = LeftOut {
        sheet: sites,
        kind: Kind::Site,
        number: 2,
        line: None,
        cells: vec!["Branch".into()],
        because: Because::OfItsErrors,
        code: "cell.required".into(),
        message: "name is blank".into(),
        columns: Vec::new(),
        sheet_key: Some("s1".into()),
        natural_key: None,
        name: None,
    };
    let provenance = Provenance { sheet: sites, source: None, natural_key: None, owner: "acme".into() };
    import.leave_out(&left_out, &provenance).unwrap();
    let left = import.finish().unwrap().import;
    let newest = import_again(journal, 5_000, &jobs[..1]);
    let before = everything(journal).unwrap();
    let all = [waiting.import, left, newest];
    assert_eq!(journal.prune(&old(&all, 10 * DAY)).unwrap().imports, []);
    // The attempt of Acme is in a report of an import that is there.
    assert_eq!(number(journal, "SELECT count(*) FROM attempt"), 1);
    assert_eq!(number(journal, "SELECT count(*) FROM sheet_row"), 3);
    drop(before);

    // Bolt is done, but later than what is old: its import stays.
    apply(journal, claim(jobs[1], AddCompany)).unwrap();
    apply(journal, created(jobs[1], Sending, id(2))).unwrap();
    assert_eq!(journal.prune(&old(&all, 2_500)).unwrap().imports, []);
    assert_eq!(journal.prune(&old(&all, 10 * DAY)).unwrap().imports, [(waiting.import, 0)]);
    // Left out once more by a later import, the row is that one's.
    let mut import = journal.begin_import(at(6_000)).unwrap();
    let again = import.sheet(&sheet("sites", Kind::Site)).unwrap();
    let provenance = Provenance { sheet: again, source: None, natural_key: None, owner: "acme".into() };
    import.leave_out(&LeftOut { sheet: again, ..left_out }, &provenance).unwrap();
    let last = import.finish().unwrap().import;
    assert_eq!(
        journal.prune(&old(&[left, newest, last], 10 * DAY)).unwrap().imports,
        [(left, 1), (newest, 0)]
    );
    assert_eq!(journal.left_out(Some(last)).unwrap(), 1);
    assert_eq!(journal.left_out(None).unwrap(), 1);
}

#[test]
fn notifications_go_when_they_are_old_and_what_has_not_changed_since_is_not_reported_again() {
    let mut bench = bench();
    let journal = &mut bench.journal;
    import_companies(journal, &["Acme"], false);
    for (key, moment) in
        [("parked until 1", 1), ("parked until 2", 2), ("finished done 7", 3), ("parked until 3", 20 * DAY)]
    {
        assert!(journal.note_notification(key, key, &["webhook", "command"], at(moment)).unwrap());
    }
    journal.note_delivered(1, "webhook", at(5)).unwrap();
    let pruned = journal.prune(&old(&[], 10 * DAY)).unwrap();
    assert_eq!((pruned.notifications, pruned.undelivered), (2, 5));
    assert_eq!(
        journal.undelivered_figures(&["webhook", "command"]).unwrap().notifications,
        1,
        "the young one is still due"
    );
    assert!(!journal.note_notification("finished done 7", "again", &["webhook"], at(30 * DAY)).unwrap());
    assert!(journal.note_notification("parked until 1", "again", &["webhook"], at(30 * DAY)).unwrap());
}

/// Rows of the file of a night: most are those of every night, some are new.
const ROWS: usize = 40;

/// A year of nights over one journal: a file of the same rows with `new` others each night, all of them created, then
/// everything that is older than 30 nights is removed. The size in use after each night.
fn nights(nights: usize, new: usize, prunes: bool) -> Vec<u64> {
    let mut bench = bench();
    let journal = &mut bench.journal;
    // What is measured is the size: that it is on disk is not.
    set(&journal.connection, "synchronous", 0).unwrap();
    let mut sizes = Vec::new();
    let mut known: Vec<JobId> = Vec::new();
    for night in 0..nights {
        let now = i64::try_from(night).unwrap() * DAY;
        let mut import = journal.begin_import(at(now)).unwrap();
        import.file("customers.csv", &format!("{night:064}")).unwrap();
        let sheet = import.sheet(&sheet("customers", Kind::Company)).unwrap();
        let mut line = 2_u32;
        let mut put = |import: &mut crate::journal::ImportWriter<'_>, job, disposition| {
            // A town that comes again, a name, an address: what a row of a sheet is like.
            let cells = vec![
                format!("Customer {job} of the north and south islands"),
                "Auckland".to_owned(),
                format!("{line} Queen Street, level {}", line % 9),
            ];
            let row = NewRow { sheet, number: line, line: None, cells, job, disposition };
            line += 1;
            import.row(&row).unwrap();
        };
        for &job in known.iter().take(ROWS) {
            put(&mut import, job, Disposition::Recognised);
        }
        let mut added = Vec::new();
        for number in 0..if night == 0 { ROWS } else { new } {
            let job = import.add_job(&company(&format!("Customer {night} {number}"), Vec::new())).unwrap();
            put(&mut import, job, Disposition::New);
            added.push(job);
        }
        import.finish().unwrap();
        let run = journal.queue().begin_run(at(now)).unwrap();
        for &job in &added {
            let day = Some(at(now).day());
            let claim = Write::Claim {
                content: None,
                job,
                operation: AddCompany,
                before: None,
                baseline: None,
                counted: day,
                at: at(now),
            };
            apply(journal, claim).unwrap();
            let Write::Advance { job, from, how, id: _, mut evidence } = created(job, Sending, id(0)) else {
                unreachable!("it is an advance")
            };
            evidence.at = at(now + 1);
            let id = Some(id(u128::from(job.0.unsigned_abs())));
            apply(journal, Write::Advance { job, from, how, id, evidence }).unwrap();
        }
        known.extend(added);
        let end = crate::journal::EndOfRun {
            ending: crate::ending::RunEnd::Finished,
            detail: None,
            resumes_at: None,
            sheets_left: Vec::new(),
        };
        journal.queue().end_run(run, at(now + 2), &end, &std::collections::BTreeMap::new()).unwrap();
        journal
            .note_notification(&format!("finished done {night}"), &"x".repeat(500), &["webhook"], at(now))
            .unwrap();
        if prunes {
            let before = at(now - 30 * DAY);
            let imports: Vec<ImportId> = journal
                .imports()
                .unwrap()
                .iter()
                .filter(|info| info.at < before)
                .map(|info| info.import)
                .collect();
            journal.prune(&Old { imports: &imports, before, now: at(now) }).unwrap();
            journal.give_back_pages().unwrap();
        }
        sizes.push(journal.bytes_in_use().unwrap());
    }
    assert_eq!(journal.tally(None).unwrap().in_state(Created), known.len() as u64);
    journal.check_pages().unwrap();
    let pages = pragma(&journal.connection, "page_count").unwrap() * 4096;
    let used = *sizes.last().unwrap();
    assert!(!prunes || pages <= used + used / 2, "{pages} bytes for {used} in use");
    sizes
}

#[test]
fn a_year_of_nights_with_the_same_rows_needs_no_more_room_than_a_hundred_nights() {
    let pruned = nights(365, 0, true);
    assert!(
        pruned[364] * 10 <= pruned[99] * 11,
        "{} after 100 nights, {} after 365",
        pruned[99],
        pruned[364]
    );
    // Without that it grows with each night.
    let kept = nights(150, 0, false);
    assert!(kept[149] > pruned[364] * 2, "{} in 150 nights, {} pruned in 365", kept[149], pruned[364]);
}

#[test]
fn with_new_rows_each_night_only_what_recognises_them_is_added() {
    let pruned = nights(365, 3, true);
    let grown = pruned[364].saturating_sub(pruned[99]);
    let rows = 265 * 3;
    assert!(grown / rows < 1_500, "{} bytes for each of {rows} rows", grown / rows);
}
