//! What an interrupted export leaves, and how it goes on.

use super::*;
use crate::export::OwnerKind;
use crate::model::id::RemoteId;
use serde_json::json;

fn owners(count: u128) -> Vec<Owner> {
    (1..=count).map(|number| Owner::new(OwnerKind::Device, RemoteId::from_u128(number))).collect()
}

fn row(text: &str) -> Row {
    Row { values: vec![json!(text)], ..Row::default() }
}

fn head(what: &str) -> SpoolHead {
    SpoolHead::new(what, "everything", "me".to_owned(), Moment::from_millis(5))
}

fn begun(target: &Path, what: &str, count: u128) -> (Spool, Owners) {
    let mut spool = Spool::begin(target, &head(what)).unwrap();
    owners(count).iter().for_each(|owner| spool.keep(owner).unwrap());
    let found = spool.found(&survey()).unwrap();
    (spool, found)
}

fn survey() -> Survey {
    Survey { ways: vec!["two from a list".to_owned()], limits: Vec::new() }
}

fn add(spool: &mut Spool, rows: &[Row]) {
    rows.iter().for_each(|row| spool.add(row).unwrap());
    spool.end_owner().unwrap();
}

fn rows(spool: &Spool) -> Vec<Row> {
    let mut next = spool.rows().unwrap();
    std::iter::from_fn(|| next().unwrap()).collect()
}

fn rest(mut owners: Owners) -> Vec<Owner> {
    let (left, all): (u64, Vec<Owner>) =
        (owners.left(), std::iter::from_fn(|| owners.next_owner().unwrap()).collect());
    assert_eq!(left, all.len() as u64);
    all
}

/// The rows of two owners, and a third owner's first row.
fn interrupted(target: &Path) -> PathBuf {
    let (mut spool, found) = begun(target, "devices", 4);
    assert_eq!(rest(found), owners(4));
    add(&mut spool, &[row("a"), row("b")]);
    add(&mut spool, &[]);
    spool.add(&row("of the third")).unwrap();
    spool.path().to_owned()
}

#[test]
fn an_interrupted_export_goes_on_after_the_last_owner_whose_rows_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("devices.csv");
    let path = interrupted(&target);
    let mut seen = Vec::new();
    let resumed = Spool::resume(&target, &head("devices"), &mut |row| seen.push(row.clone()));
    let Resumed { mut spool, head: was, found, done, left } = resumed.unwrap();
    assert_eq!((was.at, found, done), (Moment::from_millis(5), survey(), 2));
    assert_eq!(rest(left), owners(4).split_off(2));
    assert_eq!(seen, [row("a"), row("b")]);
    add(&mut spool, &[row("c")]);
    add(&mut spool, &[row("d")]);
    assert_eq!(rows(&spool), [row("a"), row("b"), row("c"), row("d")]);
    spool.remove();
    assert!(!path.exists());
}

#[test]
fn wherever_the_file_is_cut_the_owners_that_are_not_whole_are_asked_about_again() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("devices.csv");
    let path = interrupted(&target);
    let text = std::fs::read(&path).unwrap();
    let end_of = |line: &str, skip: usize| {
        let text = String::from_utf8(text.clone()).unwrap();
        let (at, _) = text.match_indices(line).nth(skip).unwrap();
        at + line.len()
    };
    let found = text.windows(8).position(|part| part == b"{\"found\"").unwrap();
    let found = found + text[found..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let (first, second) = (end_of("\"end\"\n", 0), end_of("\"end\"\n", 1));
    for length in 0..=text.len() {
        std::fs::write(&path, &text[..length]).unwrap();
        let mut seen = 0;
        let resumed = Spool::resume(&target, &head("devices"), &mut |_| seen += 1);
        let expected = match length {
            _ if length < found => None,
            _ if length < first => Some((0, 0)),
            _ if length < second => Some((1, 2)),
            _ => Some((2, 2)),
        };
        let resumed = resumed.map(|resumed| {
            assert_eq!(rest(resumed.left), owners(4).split_off(resumed.done as usize), "{length}");
            (resumed.done, seen)
        });
        assert_eq!(resumed.ok(), expected, "{length}");
    }
}

#[test]
fn what_is_there_stays_until_an_owner_is_found_and_a_search_that_failed_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("devices.csv");
    drop(Spool::begin(&target, &head("devices")).unwrap());
    assert!(!beside(&target).exists());
    let path = interrupted(&target);
    drop(Spool::begin(&target, &head("devices")).unwrap());
    assert_eq!(Spool::resume(&target, &head("devices"), &mut |_| {}).unwrap().done, 2);
    let mut spool = Spool::begin(&target, &head("devices")).unwrap();
    spool.keep(&owners(1)[0]).unwrap();
    drop(spool);
    assert!(!path.exists());
}

#[test]
fn an_export_to_standard_output_has_its_owners_in_a_file_without_a_name() {
    let mut spool = Spool::nameless(&head("devices")).unwrap();
    owners(3).iter().for_each(|owner| spool.keep(owner).unwrap());
    let found = spool.found(&survey()).unwrap();
    drop(spool);
    assert_eq!(rest(found), owners(3));
}

#[test]
fn another_export_and_a_file_of_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("devices.csv");
    let resume = |what: &str| Spool::resume(&target, &head(what), &mut |_| {}).map(drop);
    assert!(resume("devices").unwrap_err().what().contains("no interrupted export"));
    let (spool, _) = begun(&target, "devices", 1);
    let busy = Spool::begin(&target, &head("devices")).map(drop);
    assert!(busy.unwrap_err().what().contains("another export is writing"));
    drop(spool);
    assert!(resume("sites").unwrap_err().what().contains("another export: devices"));
    resume("devices").unwrap();
    // One of an earlier version has another form: it is replaced, and nothing goes on from it.
    std::fs::write(beside(&target), "{\"fleetload_export\":1,\"owners\":0}\n").unwrap();
    assert!(resume("devices").unwrap_err().what().contains("no interrupted export"));
    Spool::begin(&target, &head("devices")).unwrap();
    std::fs::write(beside(&target), "a letter").unwrap();
    let refused = Spool::begin(&target, &head("devices")).unwrap_err();
    assert!(refused.what().contains("is not a file of an export"));
    assert_eq!(std::fs::read_to_string(beside(&target)).unwrap(), "a letter");
}

#[cfg(unix)]
#[test]
fn the_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::begin(&folder.path().join("x.csv"), &head("devices")).unwrap();
    assert_eq!(std::fs::metadata(spool.path()).unwrap().permissions().mode() & 0o777, 0o600);
}
