use super::*;
use crate::journal::Journal;
use crate::journal::fixture::*;
use crate::journal::{AuditFigures, AuditFinding, Evidence, How, ReadBy, RunId, Write};
use crate::model::content_hash::ContentHash;
use crate::model::operation::Operation::AddCompany;
use crate::model::state::JobState::{Created, InDoubt, Ready, Sending};
use crate::model::verdict::Doubt;

fn audited(
    (job, name): (JobId, &str),
    id: Option<RemoteId>,
    run: RunId,
    by: ReadBy,
    code: Option<&str>,
) -> Write {
    let finding = code.map(|code| AuditFinding { code: code.into(), message: "gone".into(), found: vec![] });
    let content = ContentHash::of(name);
    Write::Audited { job, id, content, run, by, finding, site: None, at: at(9_000) }
}

#[test]
fn a_record_that_was_made_is_due_with_what_it_was_sent_with_and_then_never_again() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Coil"], false);
    let run = bench.journal.queue().begin_run(at(1)).unwrap();
    // The first is in doubt on the way, the second is created at once, the third was there.
    let seen = Write::Claim {
        job: jobs[0],
        operation: AddCompany,
        content: None,
        before: None,
        baseline: Some(vec![id(7)]),
        counted: None,
        at: at(2_000),
    };
    apply(&mut bench.journal, seen).unwrap();
    let evidence = Evidence::at(at(2_500));
    let doubt = Write::Doubt {
        job: jobs[0],
        doubt: Doubt::Timeout,
        executed: false,
        charged: true,
        until: at(3_000),
        evidence: evidence.clone(),
    };
    apply(&mut bench.journal, doubt).unwrap();
    let mut adopt = created(jobs[0], InDoubt, id(1));
    if let Write::Advance { how, .. } = &mut adopt {
        *how = How::Adopted;
    }
    apply(&mut bench.journal, adopt).unwrap();
    apply(&mut bench.journal, claim(jobs[1], AddCompany)).unwrap();
    apply(&mut bench.journal, created(jobs[1], Sending, id(2))).unwrap();
    let how = How::Existing;
    let existing = Write::Advance { job: jobs[2], from: Ready, how, id: Some(id(3)), evidence };
    apply(&mut bench.journal, existing).unwrap();

    let due = |journal: &mut Journal, scope| -> Vec<JobId> {
        journal.queue().unaudited(scope, None, 10).unwrap().iter().map(|work| work.job).collect()
    };
    let all = bench.journal.queue().unaudited(AuditScope::All, None, 10).unwrap();
    assert_eq!(all.iter().map(|work| work.job).collect::<Vec<_>>(), jobs[..2]);
    assert_eq!((all[0].baseline.clone(), all[0].doubted), (Some(vec![id(7)]), true));
    assert_eq!((all[1].baseline.clone(), all[1].doubted), (None, false));
    assert_eq!(due(&mut bench.journal, AuditScope::Doubtful), jobs[..1]);
    assert_eq!(bench.journal.queue().unaudited(AuditScope::All, Some(jobs[0]), 10).unwrap().len(), 1);
    assert_eq!(bench.journal.count_unaudited(AuditScope::All).unwrap().total(), 2);
    assert_eq!(bench.journal.count_unaudited(AuditScope::Doubtful).unwrap().total(), 1);

    apply(&mut bench.journal, audited((jobs[0], "Acme"), Some(id(1)), run, ReadBy::Key, None)).unwrap();
    assert_eq!(due(&mut bench.journal, AuditScope::All), jobs[1..2]);
    // A note about another record than the job has says nothing about it.
    apply(
        &mut bench.journal,
        audited((jobs[1], "Bolt"), Some(id(9)), run, ReadBy::Key, Some(AuditFinding::VANISHED)),
    )
    .unwrap();
    assert_eq!(due(&mut bench.journal, AuditScope::All), jobs[1..2]);
    assert_eq!(bench.journal.audit_findings(None, None).unwrap(), []);
}

#[test]
fn a_finding_leaves_the_state_and_is_told_with_its_row() {
    let mut bench = bench();
    let (imported, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Coil"], false);
    for (job, number) in jobs.iter().zip(1_u128..) {
        apply(&mut bench.journal, claim(*job, AddCompany)).unwrap();
        apply(&mut bench.journal, created(*job, Sending, id(number))).unwrap();
    }
    let run = bench.journal.queue().begin_run(at(1)).unwrap();
    apply(
        &mut bench.journal,
        audited((jobs[0], "Acme"), Some(id(1)), run, ReadBy::Key, Some(AuditFinding::VANISHED)),
    )
    .unwrap();
    apply(&mut bench.journal, audited((jobs[1], "Bolt"), Some(id(2)), run, ReadBy::Id, None)).unwrap();
    let figures = AuditFigures {
        checked: 2,
        doubles_not_checked: 1,
        vanished: 1,
        not_verified_yet: 1,
        ..AuditFigures::default()
    };
    assert_eq!(bench.journal.audit_figures(None).unwrap(), figures);
    assert_eq!(bench.journal.audit_figures(Some(imported.import)).unwrap(), figures);
    assert_eq!(state(&bench.journal, jobs[0]), Created);

    let findings = bench.journal.audit_findings(Some(imported.import), None).unwrap();
    assert_eq!(findings.len(), 1);
    assert_eq!(
        (findings[0].job, findings[0].id, &*findings[0].code),
        (jobs[0], Some(id(1)), AuditFinding::VANISHED)
    );
    assert_eq!(findings[0].place, "customers.csv!customers!2");
    assert_eq!(bench.journal.audit_findings(None, Some(run)).unwrap(), [], "none of a later run");

    let sheet = bench.journal.sheets(imported.import).unwrap()[0].sheet;
    let mut codes = Vec::new();
    bench
        .journal
        .rows(sheet, &mut |row| {
            codes.push((row.code, row.message));
            Ok(())
        })
        .unwrap();
    assert_eq!(codes[0], (Some(AuditFinding::VANISHED.into()), Some("verification: gone".into())));
    assert_eq!(codes[1], (None, None));
    let causes = bench.journal.causes(imported.import).unwrap();
    assert_eq!((&*causes[0].code, causes[0].count), (AuditFinding::VANISHED, 1));

    assert_eq!(bench.journal.audited_after(None).unwrap(), None);
    bench.journal.queue().note_audit(run, &figures).unwrap();
    assert_eq!(bench.journal.audited_after(None).unwrap(), Some(figures));
    assert_eq!(bench.journal.audited_after(Some(run)).unwrap(), None);
}

#[test]
fn a_finding_goes_when_its_record_is_read_back_and_in_order_again() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
    apply(&mut bench.journal, claim(jobs[0], AddCompany)).unwrap();
    apply(&mut bench.journal, created(jobs[0], Sending, id(1))).unwrap();
    let run = bench.journal.queue().begin_run(at(1)).unwrap();
    let (vanished, double) = (AuditFinding::VANISHED, AuditFinding::DOUBLE);
    let table = [
        (vanished, ReadBy::Key, 0),
        (vanished, ReadBy::Id, 0),
        (vanished, ReadBy::Nothing, 1),
        (double, ReadBy::Key, 0),
        (double, ReadBy::Id, 1),
        (double, ReadBy::Nothing, 1),
    ];
    for (code, by, left) in table {
        for write in [
            audited((jobs[0], "Acme"), Some(id(1)), run, ReadBy::Key, Some(code)),
            audited((jobs[0], "Acme"), Some(id(1)), run, by, None),
        ] {
            apply(&mut bench.journal, write).unwrap();
        }
        assert_eq!(bench.journal.audit_findings(None, None).unwrap().len(), left, "{code} {by:?}");
    }
}
