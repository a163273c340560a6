//! What the end of a row does to the rows below it: they are released, or skipped with it.

use super::*;

/// A company with a company below it, which has one below it in turn, and a site of the middle one.
fn tree(bench: &mut Bench) -> (JobId, JobId, JobId, JobId) {
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let sheet = import.sheet(&sheet("customers", crate::model::kind::Kind::Company)).unwrap();
    let top = import.add_job(&company("Top", vec![])).unwrap();
    let middle = import.add_job(&company("Middle", vec![link(Role::Parent, top)])).unwrap();
    let low = import.add_job(&company("Low", vec![link(Role::Parent, middle)])).unwrap();
    let depot = import.add_job(&site("Depot", vec![link(Role::Company, middle)], vec![])).unwrap();
    for (job, number) in [top, middle, low, depot].into_iter().zip(2..) {
        import.row(&row(sheet, number, job, Disposition::New)).unwrap();
    }
    import.finish().unwrap();
    (top, middle, low, depot)
}

#[test]
fn a_creation_releases_its_children_and_not_theirs() {
    let mut bench = bench();
    let (top, middle, low, depot) = tree(&mut bench);
    assert_eq!(state(&bench.journal, middle), Blocked);
    let moved = apply(&mut bench.journal, created(top, Ready, id(1))).unwrap();
    assert_eq!(
        moved.iter().map(|moved| (moved.job, moved.to)).collect::<Vec<_>>(),
        [(top, Created), (middle, Ready)]
    );
    assert_eq!(state(&bench.journal, low), Blocked);
    let moved = apply(&mut bench.journal, created(middle, Ready, id(2))).unwrap();
    assert_eq!(moved.len(), 3);
    assert_eq!(state(&bench.journal, depot), Ready);
    let work = bench.journal.work(depot).unwrap().unwrap();
    assert_eq!(work.links, [(Role::Company, id(2))]);
    assert_eq!(work.parents, [(Role::Company, middle)]);
}

#[test]
fn a_child_of_two_waits_for_both() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
    let mut import = bench.journal.begin_import(at(2)).unwrap();
    let links = vec![link(Role::Company, jobs[0]), link(Role::Parent, jobs[1])];
    let child = import.add_job(&site("Depot", links, vec![])).unwrap();
    import.finish().unwrap();
    assert_eq!(apply(&mut bench.journal, created(jobs[0], Ready, id(1))).unwrap().len(), 1);
    assert_eq!(state(&bench.journal, child), Blocked);
    assert_eq!(apply(&mut bench.journal, created(jobs[1], Ready, id(2))).unwrap().len(), 2);
    assert_eq!(state(&bench.journal, child), Ready);
}

#[test]
fn a_rejection_skips_everything_below_and_says_because_of_whom() {
    let mut bench = bench();
    let (top, middle, low, depot) = tree(&mut bench);
    let moved = apply(&mut bench.journal, rejected(top, Ready)).unwrap();
    assert_eq!(moved.len(), 4);
    for job in [middle, low, depot] {
        assert_eq!(state(&bench.journal, job), JobState::Skipped);
        assert_eq!(code(&bench.journal, job).as_deref(), Some("parent.rejected"));
        let message = message(&bench.journal, job).unwrap();
        assert!(message.contains("'Top'") && message.contains("customers.csv!customers!2"), "{message}");
    }
}

#[test]
fn a_rejection_after_the_creation_skips_nothing() {
    let mut bench = bench();
    let extras = vec![Action::PutMetadata(vec![])];
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let parent = import.add_job(&with_extras(company("Top", vec![]), extras)).unwrap();
    let other = import.add_job(&company("Other", vec![])).unwrap();
    let links = vec![link(Role::Company, parent), link(Role::Parent, other)];
    let child = import.add_job(&site("Depot", links, vec![])).unwrap();
    import.finish().unwrap();
    apply(&mut bench.journal, created(parent, Ready, id(1))).unwrap();
    let moved = apply(&mut bench.journal, rejected(parent, Ready)).unwrap();
    assert_eq!(moved.len(), 1);
    assert_eq!(state(&bench.journal, parent), JobState::Incomplete);
    assert_eq!(state(&bench.journal, child), Blocked, "it waits for the other one");
    let moved = apply(&mut bench.journal, created(other, Ready, id(2))).unwrap();
    assert_eq!(moved.len(), 2, "the record of the first exists, so its child goes ahead");
}
