//! What was put in is read back, counted and explained.

use super::*;
use crate::journal::Journal;
use crate::journal::fixture::*;
use crate::journal::{NewSheet, Write};
use crate::model::operation::Operation::AddCompany;
use crate::model::state::JobState::{Created, Ready, Rejected, Sending, Skipped};
use crate::model::verdict::{Rejection, Violation};

fn rows(journal: &Journal, sheet: SheetId) -> Vec<RowView> {
    let mut rows = Vec::new();
    journal
        .rows(sheet, &mut |row| {
            rows.push(row);
            Ok(())
        })
        .unwrap();
    rows
}

#[test]
fn imports_sheets_and_rows_are_read_back_as_they_were_put_in() {
    let mut bench = bench();
    let (first, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
    let wanted = NewSheet { worksheet: Some("Kunden".into()), ..sheet("Kunden", Kind::Company) };
    let mut import = bench.journal.begin_import(at(7)).unwrap();
    import.file("again.xlsx", "4567").unwrap();
    let again = import.sheet(&wanted).unwrap();
    import.row(&row(again, 9, jobs[1], Disposition::Recognised)).unwrap();
    import.row(&row(again, 3, jobs[0], Disposition::ChangedSince)).unwrap();
    let second = import.finish().unwrap();
    assert_eq!((second.rows, second.added, second.recognised, second.changed_since), (2, 0, 1, 1));

    let imports = bench.journal.imports().unwrap();
    assert_eq!(
        imports.iter().map(|info| (info.import, info.rows)).collect::<Vec<_>>(),
        [(first.import, 2), (second.import, 2)]
    );
    assert_eq!((imports[1].at, imports[1].files[0].clone()), (at(7), ("again.xlsx".into(), "4567".into())));
    let sheets = bench.journal.sheets(second.import).unwrap();
    assert_eq!(
        (sheets[0].name.as_str(), sheets[0].worksheet.as_deref(), sheets[0].rows),
        ("Kunden", Some("Kunden"), 2)
    );
    assert_eq!(sheets[0].headers, wanted.headers);
    let rows = rows(&bench.journal, again);
    assert_eq!(
        rows.iter().map(|row| (row.number, row.job)).collect::<Vec<_>>(),
        [(3, Some(jobs[0])), (9, Some(jobs[1]))]
    );
    assert_eq!(rows[0].cells, ["cell 3"]);
    assert_eq!((rows[1].disposition, rows[1].line), (Disposition::Recognised, Some(9)));
}

#[test]
fn a_row_tells_what_became_of_it_and_of_what_it_waits_for() {
    let mut bench = bench();
    let (imported, jobs) = import_companies(&mut bench.journal, &["Top", "Low"], true);
    let sheet = bench.journal.sheets(imported.import).unwrap()[0].sheet;
    let waiting = &rows(&bench.journal, sheet)[1];
    assert_eq!(waiting.blocked_by, Some((jobs[0], "customers.csv!customers!2 (ready)".into())));
    let violation = Violation { path: "company.name".into(), message: "too long".into() };
    let write = Write::Reject {
        job: jobs[0],
        from: Ready,
        rejection: Rejection {
            code: "invalidData".into(),
            message: "see the violations".into(),
            violations: vec![violation.clone()],
        },
        evidence: crate::journal::Evidence::at(at(3_000)),
    };
    apply(&mut bench.journal, write).unwrap();
    let rows = rows(&bench.journal, sheet);
    assert_eq!((rows[0].state, rows[0].violations.as_slice()), (Rejected, [violation].as_slice()));
    assert_eq!((rows[0].finished_at, rows[0].code.as_deref()), (Some(at(3_000)), Some("invalidData")));
    assert_eq!(rows[1].state, Skipped);
    assert_eq!(rows[1].blocked_by, Some((jobs[0], "customers.csv!customers!2 (rejected)".into())));
}

#[test]
fn counts_add_up_to_the_rows_and_causes_name_the_first_of_them() {
    let mut bench = bench();
    let names: Vec<String> = (0..10).map(|number| format!("Company {number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (imported, jobs) = import_companies(&mut bench.journal, &names, false);
    for &job in &jobs[0..7] {
        apply(&mut bench.journal, rejected(job, Ready)).unwrap();
    }
    force(&bench.journal, jobs[7], JobState::Held);
    apply(&mut bench.journal, created(jobs[8], Ready, id(1))).unwrap();
    let tally = bench.journal.tally(Some(imported.import)).unwrap();
    assert_eq!(tally.total(), 10);
    assert_eq!((tally.in_state(Rejected), tally.in_state(Created), tally.in_state(Ready)), (7, 1, 1));
    assert_eq!(bench.journal.tally(None).unwrap(), tally);
    assert_eq!(bench.journal.tally(Some(ImportId(9))).unwrap().total(), 0);

    let causes = bench.journal.causes(imported.import).unwrap();
    let told: Vec<_> =
        causes.iter().map(|cause| (cause.code.as_str(), cause.count, cause.rows.len())).collect();
    assert_eq!(told, [("invalidData", 7, 5), ("some.code", 1, 1)]);
    assert_eq!(causes[0].message(), "no such zone");
    assert_eq!(causes[0].rows[0], "customers.csv!customers!2");
}

#[test]
fn what_was_said_of_rows_with_one_code_is_told_with_the_rows_that_it_was_said_of() {
    let mut bench = bench();
    let names: Vec<String> = (0..30).map(|number| format!("Company {number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (imported, jobs) = import_companies(&mut bench.journal, &names, false);
    let refuse = |job, message: &str, violations: Vec<Violation>| {
        let rejection = Rejection { code: "invalidData".into(), message: message.into(), violations };
        Write::Reject { job, from: Ready, rejection, evidence: crate::journal::Evidence::at(at(3_000)) }
    };
    let violation = |message: &str| Violation { path: "company.name".into(), message: message.into() };
    let mut writes = vec![refuse(jobs[0], "only once", vec![])];
    writes.extend(jobs[1..8].iter().map(|&job| refuse(job, "no such zone", vec![])));
    writes.extend(jobs[8..10].iter().map(|&job| refuse(job, "invalid", vec![violation("is too long")])));
    writes.push(refuse(jobs[10], "is too short", vec![violation("is too short")]));
    writes.extend(jobs[11..20].iter().map(|&job| refuse(job, &format!("refused {job}"), vec![])));
    for write in writes {
        apply(&mut bench.journal, write).unwrap();
    }
    let causes = bench.journal.causes(imported.import).unwrap();
    assert_eq!(causes.len(), 1);
    let place = |number: u64| format!("customers.csv!customers!{}", number + 2);
    let said: Vec<_> = causes[0]
        .said
        .iter()
        .take(4)
        .map(|said| (said.message.as_str(), said.count, said.rows.clone()))
        .collect();
    assert_eq!(
        said,
        [
            ("no such zone", 7, (1..6).map(place).collect()),
            ("invalid; company.name: is too long", 2, (8..10).map(place).collect()),
            ("only once", 1, vec![place(0)]),
            ("company.name: is too short", 1, vec![place(10)]),
        ]
    );
    assert_eq!((causes[0].count, causes[0].said.len(), causes[0].unsaid), (20, 10, 3));
    assert_eq!(causes[0].rows, (0..5).map(place).collect::<Vec<_>>());
}

#[test]
fn requests_are_counted_with_the_moments_of_the_first_and_the_last() {
    let mut bench = bench();
    let (imported, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Cog"], false);
    for (&job, millis) in jobs.iter().zip([60_000, 119_999, 240_000]) {
        let write = Write::Claim {
            content: None,
            job,
            operation: AddCompany,
            before: None,
            baseline: None,
            counted: None,
            at: at(millis),
        };
        apply(&mut bench.journal, write).unwrap();
        assert_eq!(state(&bench.journal, job), Sending);
    }
    let figures = bench.journal.attempts(imported.import).unwrap();
    assert_eq!(figures.requests, 3);
    assert_eq!((figures.first_at, figures.last_at), (Some(at(60_000)), Some(at(240_000))));
    assert_eq!(bench.journal.attempts(ImportId(9)).unwrap(), AttemptFigures::default());
}
