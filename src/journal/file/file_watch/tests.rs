//! Files that are deleted, renamed, replaced, or kept from being merged, under an open journal.
#![cfg(unix)]

use std::fs;
use std::sync::mpsc::channel;

use super::*;
use crate::error::ErrorKind;
use crate::journal::file::db_file;
use crate::journal::fixture::*;
use crate::journal::{Reply, Writer, Writing};
use crate::model::id::JobId;
use crate::model::operation::Operation::AddCompany;
use crate::model::state::JobState::{Created, Ready, Sending};

/// Lets `disturb` at the files while a claim of job 1 is on disk, then writes its outcome; returns the error, and the
/// journal to go on with after a recovery.
fn disturbed(disturb: impl Fn(&Path)) -> (Error, Option<Journal>, Bench) {
    let mut bench = bench();
    import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
    apply(&mut bench.journal, claim(JobId(1), AddCompany)).unwrap();
    let path = bench.journal.path().to_owned();
    let folder = bench.folder;
    disturb(&path);
    let (replies, inbox) = channel();
    let writer =
        Writer::start(bench.journal, Writing::OwnThread, move |reply| replies.send(reply).unwrap()).unwrap();
    writer.write(1, created(JobId(1), Sending, id(1)));
    writer.write(2, claim(JobId(2), AddCompany));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    drop(runtime.block_on(writer.close()).unwrap());
    let replies: Vec<Reply> = inbox.iter().collect();
    let [Reply::Failed { error }] = <[Reply; 1]>::try_from(replies).unwrap() else { panic!("not noticed") };
    let copy = db_file::beside(&path, ".rescued");
    let rescued = copy.exists().then(|| {
        let mut journal = Journal::open_existing(&copy).unwrap();
        let recovered = journal.queue().recover(at(9_000)).unwrap();
        assert_eq!(
            (recovered.spilled, recovered.left_out),
            (1, 0),
            "the outcome was spilled beside the copy"
        );
        journal
    });
    let bench = Bench { journal: Journal::open(&folder.path().join("another.db")).unwrap(), folder };
    (error, rescued, bench)
}

#[test]
fn a_journal_that_goes_away_under_a_run_stops_it_and_is_saved_whole() {
    let stranger = |path: &Path| {
        let folder = path.parent().unwrap();
        drop(Journal::open(&folder.join("stranger.db")).unwrap());
        fs::rename(folder.join("stranger.db"), path).unwrap();
    };
    type Disturb<'a> = &'a dyn Fn(&Path);
    let table: [(&str, Disturb<'_>, &str); 4] = [
        ("deleted", &|path| fs::remove_file(path).unwrap(), "was deleted, renamed or moved"),
        (
            "renamed",
            &|path| fs::rename(path, path.with_extension("old")).unwrap(),
            "was deleted, renamed or moved",
        ),
        ("replaced", &stranger, "another file was put in the place of the journal"),
        ("log deleted", &|path| fs::remove_file(log_of(path)).unwrap(), "-wal, which belongs to the journal"),
    ];
    for (case, disturb, words) in table {
        let (error, rescued, bench) = disturbed(disturb);
        assert_eq!(error.kind(), ErrorKind::Journal, "{case}: {error}");
        assert!(error.to_string().contains(words), "{case}: {error}");
        let hint = error.next_step().unwrap();
        assert!(hint.contains("fleetload run --journal") && hint.contains(".rescued"), "{case}: {hint}");
        let rescued = rescued.unwrap();
        assert_eq!(state(&rescued, JobId(1)), Created, "{case}");
        assert_eq!(state(&rescued, JobId(2)), Ready, "{case}: the claim was dropped");
        drop(bench);
    }
}

#[test]
fn a_folder_that_goes_away_is_told_with_what_to_put_back() {
    let (error, rescued, _bench) = disturbed(|path| {
        let folder = path.parent().unwrap();
        let moved = folder.with_extension("moved");
        fs::rename(folder, &moved).unwrap();
        // Only so that the folder of the test can be cleaned up.
        fs::create_dir(folder).unwrap();
        fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o500)).unwrap();
        fs::remove_dir_all(moved).unwrap();
    });
    assert!(error.to_string().contains("was deleted, renamed or moved"), "{error}");
    // Root writes into any folder; then it is saved there.
    let is_root =
        std::os::unix::fs::MetadataExt::uid(&tempfile::tempfile().unwrap().metadata().unwrap()) == 0;
    assert_eq!(rescued.is_some(), is_root, "{error:?}");
    let advice = if is_root { "Go on with that copy" } else { "Put the journal back" };
    assert!(error.next_step().unwrap().contains(advice), "{error:?}");
}

#[test]
fn outcomes_spilled_by_another_journal_are_not_taken_in() {
    let mut bench = bench();
    import_companies(&mut bench.journal, &["Acme"], false);
    apply(&mut bench.journal, claim(JobId(1), AddCompany)).unwrap();
    let spill = bench.journal.spill(&[created(JobId(1), Sending, id(1))]).unwrap();
    let mut other = Journal::open(&bench.folder.path().join("other.db")).unwrap();
    import_companies(&mut other, &["Xenon"], false);
    apply(&mut other, claim(JobId(1), AddCompany)).unwrap();
    fs::rename(spill, bench.folder.path().join("other.db.spill")).unwrap();
    let recovered = other.queue().recover(at(9_000)).unwrap();
    assert_eq!((recovered.spilled, recovered.left_out, recovered.doubtful), (0, 1, 1));
    assert!(bench.folder.path().join("other.db.spill.left-out").exists());
}

#[test]
fn a_log_that_another_program_keeps_growing_stops_the_writer_after_a_while_and_not_at_once() {
    let mut bench = bench();
    import_companies(&mut bench.journal, &["Acme"], false);
    // The first import is written past the log.
    import_companies(&mut bench.journal, &["Bolt"], false);
    bench.journal.file_watch.limit = 1;
    for _ in 0..=PATIENCE {
        assert!(bench.journal.file_watch.beyond <= PATIENCE);
        bench.journal.look_at_files().unwrap_or_else(|error| {
            assert_eq!(bench.journal.file_watch.beyond, PATIENCE + 1, "{error}");
        });
    }
    let error = bench.journal.look_at_files().unwrap_err();
    assert!(error.to_string().contains("keeps an old view of the journal open"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Journal);
    // An import makes the log large for a moment: once it has shrunk the count begins again.
    bench.journal.file_watch.limit = LOG_LIMIT;
    bench.journal.look_at_files().unwrap();
    assert_eq!(bench.journal.file_watch.beyond, 0);
}

#[test]
fn a_journal_that_failed_once_is_not_written_on_closing() {
    let mut bench = bench();
    import_companies(&mut bench.journal, &["Acme"], false);
    // The first import is written past the log.
    import_companies(&mut bench.journal, &["Bolt"], false);
    let path = bench.journal.path().to_owned();
    bench.journal.touch_no_more();
    let before = fs::read(&path).unwrap();
    drop(bench.journal);
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(log_of(&path).exists(), "what it holds is merged by the next start");
    assert_eq!(Journal::open_existing(&path).unwrap().imports().unwrap().len(), 2);
}
