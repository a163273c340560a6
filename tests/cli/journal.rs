//! The journal under stress, with the real binary: older copies, missing parts, other machines, files that go away
//! under a run, disks that are full or fail, damaged pages. Each stops cleanly with exit code 6, says what to do, and
//! nothing is created twice. Every test first proves that its fault has happened.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::bench::disk::SmallDisk;
use crate::bench::{self, Bench, Outcome};
use crate::inside::{self, Virtual};
use crate::relay::gated;
use fleetload::clock::Clock;
use fleetload::error::Error;
use fleetload::run::Ending;
use fleetload::sandbox::{ClientEntry, Fault, FaultKind, Scenario};
use rusqlite::Connection;

const RUN: [&str; 4] = ["run", "companies.csv", "devices.csv", "--json"];

/// A run that is killed when the service has got so many devices; those that it asked for besides are never made.
fn kill_after(bench: &Bench, arguments: &[&str], devices: u64) {
    let silent = Fault::new("addDevice", FaultKind::StallBefore).after(devices);
    bench.sandbox().change(|scenario| scenario.fault.push(silent)).expect("a consistent scenario");
    let mut run = bench.start(arguments);
    run.until(|| bench.statistics().faults_fired.contains_key("stall_before"));
    run.kill();
    assert_eq!(bench.created("device").len() as u64, devices, "made before the kill");
    bench.clear_faults();
}

/// A bench with a few companies and so many devices that a run takes a while.
fn paced(devices: usize) -> Bench {
    let bench = Bench::new(Scenario { latency_ms: [20, 60], ..Scenario::default() });
    bench.profile("", "rate = 90", "");
    bench.write("companies.csv", &bench::companies(3));
    bench.write("devices.csv", &bench::devices(devices, 3));
    bench
}

/// The same, with its run killed in the middle.
fn killed() -> Bench {
    let bench = paced(120);
    kill_after(&bench, &RUN, 60);
    bench
}

/// Copies a journal, with its log if it has one and it is wanted.
fn copy(bench: &Bench, from: &str, to: &str, with_log: bool) {
    fs::copy(bench.path(from), bench.path(to)).expect("a journal");
    let log = bench.path(&format!("{from}-wal"));
    if with_log && log.exists() {
        fs::copy(log, bench.path(&format!("{to}-wal"))).expect("a log");
    }
}

/// A question to a journal that is not in use.
fn ask<T: rusqlite::types::FromSql>(journal: &Path, question: &str) -> T {
    Connection::open(journal)
        .expect("a journal")
        .query_row(question, [], |row| row.get(0))
        .expect("an answer")
}

/// The command that a message tells to type: the line that begins with `fleetload`.
fn told(stderr: &str) -> Vec<String> {
    let line = stderr
        .lines()
        .map(str::trim_start)
        .find(|line| line.starts_with("fleetload "))
        .unwrap_or_else(|| panic!("no command in:\n{stderr}"));
    line.split_whitespace().skip(1).map(str::to_owned).collect()
}

fn type_in(bench: &Bench, words: &[String]) -> Outcome {
    bench.fleetload(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn after_a_kill_another_command_may_look_and_the_next_run_just_goes_on() {
    let bench = killed();
    assert!(bench.path("fleetload.db-wal").exists());
    let status = bench.fleetload(&["status"]).expect_code(0).stdout;
    assert!(status.contains(" in doubt") && !status.contains("under way"), "{status}");
    assert!(!bench.path("fleetload.db-wal").exists(), "status has merged the log");
    bench.fleetload(&["run"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 120);
    bench.assert_exact(1);
}

#[test]
fn a_copy_without_its_log_is_stopped_and_accepting_it_creates_nothing_twice() {
    // So few that the log is never long enough to be copied back before the kill.
    let bench = paced(16);
    kill_after(&bench, &RUN, 8);
    copy(&bench, "fleetload.db", "copied.db", false);
    let serial = "SELECT serial FROM identity";
    let (known, lost): (i64, i64) =
        (ask(&bench.path("copied.db"), serial), ask(&bench.path("fleetload.db"), serial));
    assert!(known < lost, "the log held claims: {known}, {lost}");
    let before = bench.ledger().len();
    let outcome = bench.fleetload(&["run", "--journal", "copied.db"]).expect_code(6);
    assert!(outcome.stderr.contains("copied.db-wal"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("nothing was sent"), "{}", outcome.stderr);
    assert_eq!(bench.ledger().len(), before);

    let accept = told(&outcome.stderr);
    assert!(accept.contains(&"--accept-journal".to_owned()), "{accept:?}");
    let outcome = type_in(&bench, &accept);
    outcome.expect_code(0);
    assert_no_doubles(&bench);
    let who: String = ask(&bench.path("copied.db"), "SELECT what FROM decision");
    assert_eq!(who, "accept journal");
    // The one left behind is the older one now.
    bench.fleetload(&["run"]).expect_code(6);
    // Accepted once, it is in order.
    let outcome = bench.fleetload(&["run", "--journal", "copied.db", "--accept-journal"]).expect_code(2);
    assert!(outcome.stderr.contains("nothing to accept"), "{}", outcome.stderr);
    // Nor are rows imported by a command that is refused.
    let imports = |bench: &Bench| -> i64 { ask(&bench.path("copied.db"), "SELECT count(*) FROM import") };
    let imported = imports(&bench);
    std::fs::write(bench.path("late.csv"), "name\nLate\n").expect("a sheet");
    let late = ["run", "late.csv", "--kind", "companies", "--journal", "copied.db", "--accept-journal"];
    let outcome = bench.fleetload(&late).expect_code(2);
    assert!(outcome.stderr.contains("nothing was imported"), "{}", outcome.stderr);
    assert_eq!(imports(&bench), imported);
    let again = "fleetload run late.csv --kind companies --journal copied.db\n";
    assert!(outcome.stderr.contains(again), "{}", outcome.stderr);
}

/// No record was made twice: the bodies of requests are all different in this file.
#[track_caller]
fn assert_no_doubles(bench: &Bench) {
    for kind in ["company", "device"] {
        let made = bench.created(kind);
        let names: std::collections::BTreeSet<_> =
            made.iter().map(|entry| entry.request.to_string()).collect();
        assert_eq!(names.len(), made.len(), "a {kind} was made twice");
    }
}

#[test]
fn a_backup_that_is_restored_is_stopped_before_anything_is_imported_or_sent() {
    let bench = paced(40);
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    copy(&bench, "fleetload.db", "backup.db", true);
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 40);
    copy(&bench, "backup.db", "fleetload.db", true);

    for arguments in [&["run"][..], &["run", "devices.csv"]] {
        let before = bench.ledger().len();
        let outcome = bench.fleetload(arguments).expect_code(6);
        assert!(outcome.stderr.contains("is an older copy"), "{}", outcome.stderr);
        assert_eq!(bench.ledger().len(), before);
    }
    let imports: i64 = ask(&bench.path("fleetload.db"), "SELECT count(*) FROM import");
    assert_eq!(imports, 1, "nothing was imported");
    // Looking is free, and says that a run would refuse it.
    let status = bench.fleetload(&["status"]).expect_code(0);
    let defect = "the journal is an older copy: it does not know of requests that were sent with it later; as far as it knows: ";
    assert!(status.stdout.starts_with(defect), "{}", status.stdout);
    let of_copy = "(UTC): at least 3 creations used (3 confirmed";
    assert!(status.stdout.contains(of_copy), "{}", status.stdout);
    let summary = bench.fleetload(&["status", "--json"]).expect_code(0).summary();
    assert!(summary["headline"].as_str().is_some_and(|headline| headline.starts_with(defect)), "{summary}");
    assert_eq!(summary["quota"]["partial"], true, "{summary}");
    assert!(status.stdout.contains("fleetload run --accept-journal"), "{}", status.stdout);
    assert!(!status.stderr.contains("hint"), "{}", status.stderr);
    bench.fleetload(&["status", "--check"]).expect_code(6);
    let planned = bench.fleetload(&["plan", "devices.csv"]).expect_code(0);
    assert!(planned.stderr.contains("is an older copy"), "{}", planned.stderr);

    let outcome = bench.fleetload(&["run", "devices.csv"]).expect_code(6);
    let accept = told(&outcome.stderr);
    assert_eq!(accept[..2], ["run", "devices.csv"], "{accept:?}");
    type_in(&bench, &accept).expect_code(0);
    assert_eq!(bench.created("device").len(), 40);
    // All devices were found: of today's creations the copy knows those of the companies.
    let status = bench.fleetload(&["status"]).expect_code(0);
    assert!(
        !status.stdout.contains("is an older copy") && status.stdout.contains(of_copy),
        "{}",
        status.stdout
    );
    assert_eq!(bench.fleetload(&["status", "--json"]).expect_code(0).summary()["quota"]["partial"], true);
    // The report of the import that this copy lacks stays where it is.
    assert_eq!(bench.counts("2-2")["existing"], 40);
    assert_eq!(bench.counts(2)["created"], 40);
}

#[test]
fn what_is_imported_into_an_accepted_backup_is_not_made_again_even_where_nothing_can_be_looked_up() {
    let bench = paced(40);
    bench.profile("paths = \"documented\"", "rate = 90", "");
    bench.write("more.csv", &bench::companies(5));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    copy(&bench, "fleetload.db", "backup.db", true);
    bench.fleetload(&["run", "more.csv", "devices.csv"]).expect_code(0);
    assert_eq!((bench.created("company").len(), bench.created("device").len()), (5, 40));
    copy(&bench, "backup.db", "fleetload.db", true);

    bench.fleetload(&["run", "--accept-journal"]).expect_code(0);
    bench.fleetload(&["run", "more.csv", "devices.csv"]).expect_code(8);
    assert_no_doubles(&bench);
    assert_eq!((bench.created("company").len(), bench.created("device").len()), (5, 40));
    let unknown: i64 = ask(
        &bench.path("fleetload.db"),
        "SELECT count(*) FROM jobs WHERE state = 'held' AND code = 'journal.restored' AND kind = 'company'",
    );
    assert_eq!(unknown, 2, "the companies that the backup did not know");
}

/// A journal that is put back as it was before a run, which was killed after some creations.
fn with_a_backup_in_place() -> Bench {
    let bench = paced(30);
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    copy(&bench, "fleetload.db", "backup.db", true);
    kill_after(&bench, &["run", "--json"], 15);
    for part in ["fleetload.db", "fleetload.db-wal", "fleetload.db-shm"] {
        fs::remove_file(bench.path(part)).expect("a part of the journal");
    }
    copy(&bench, "backup.db", "fleetload.db", true);
    bench
}

#[test]
fn rows_of_an_accepted_backup_that_were_sent_since_are_found_and_the_others_are_sent() {
    let bench = with_a_backup_in_place();
    bench.fleetload(&["run"]).expect_code(6);
    // Rows that it takes for unsent were sent: nobody decides about them by this copy.
    let commands = [
        &["cancel", "1"][..],
        &["retry"],
        &["pause", "1"],
        &["resume", "1"],
        &["priority", "1", "2"],
        &["reserve", "1", "3"],
    ];
    for command in commands {
        let told = bench.fleetload(command).expect_code(6);
        assert!(told.stderr.contains("is an older copy"), "{}", told.stderr);
        assert!(told.stderr.contains("nothing was changed"), "{}", told.stderr);
        assert!(told.stderr.contains("fleetload run --accept-journal"), "{}", told.stderr);
    }
    bench.fleetload(&["run", "--accept-journal"]).expect_code(0);
    assert_no_doubles(&bench);
    let counts = bench.counts(1);
    assert!(counts["existing"] >= 15, "{counts:?}");
    // Nobody knows who made them.
    let words = "the record is there: this copy of the journal may lack the request that created it; \
                 its fields were left as they are";
    for row in bench.results(1).iter().filter(|row| row["status"] == "existing") {
        assert_eq!(row["message"], words, "{row}");
    }
}

#[test]
fn a_journal_that_was_run_on_another_machine_is_stopped_by_that_machines_name() {
    let bench = paced(5);
    bench.fleetload(&RUN).expect_code(0);
    Connection::open(bench.path("fleetload.db"))
        .expect("a journal")
        .execute("UPDATE identity SET machine = 'another', machine_name = 'depot-7'", [])
        .expect("a row");
    let outcome = bench.fleetload(&["run"]).expect_code(6);
    assert!(outcome.stderr.contains("was run last on another machine (depot-7)"), "{}", outcome.stderr);
    bench.fleetload(&["run", "--accept-journal"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
}

#[test]
fn the_room_for_answers_is_given_back_however_a_run_ends() {
    let refused = ClientEntry { id: "somebody".to_owned(), secret: "else".to_owned() };
    let bench = Bench::new(Scenario { client: vec![refused], ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(2));
    let room = bench.path("fleetload.db.spill-reserve");
    bench.fleetload(&["run", "companies.csv"]).expect_code(7);
    assert!(!room.exists(), "the sign-in was refused");

    let bench = paced(2);
    let room = bench.path("fleetload.db.spill-reserve");
    bench.fleetload(&RUN).expect_code(0);
    assert!(!room.exists());
    let outcome = bench.fleetload(&["run"]).expect_code(0);
    assert!((outcome.stdout + &outcome.stderr).contains("nothing is left to be sent"));
    assert!(!room.exists(), "there was nothing to be done");
}

#[test]
fn a_rehearsal_is_watched_like_work_in_earnest() {
    let bench = paced(3);
    bench.fleetload(&["run", "companies.csv", "--sandbox"]).expect_code(0);
    copy(&bench, "fleetload.db", "backup.db", true);
    bench.fleetload(&["run", "devices.csv", "--sandbox"]).expect_code(0);
    copy(&bench, "backup.db", "fleetload.db", true);
    let outcome = bench.fleetload(&["run", "--sandbox"]).expect_code(6);
    assert!(told(&outcome.stderr).contains(&"--sandbox".to_owned()), "{}", outcome.stderr);
}

#[test]
fn a_journal_that_goes_away_under_a_run_stops_it_and_the_saved_copy_goes_on() {
    type Disturb<'a> = &'a dyn Fn(&Path);
    let table: [(&str, Disturb<'_>); 3] = [
        ("deleted", &|path| fs::remove_file(path).expect("a journal")),
        ("renamed", &|path| fs::rename(path, path.with_extension("old")).expect("a journal")),
        ("log deleted", &|path| fs::remove_file(path.with_extension("db-wal")).expect("a log")),
    ];
    for (case, disturb) in table {
        let bench = paced(120);
        bench.profile("", "rate = 90\nconcurrency = 16", "");
        let (_relay, gate) = gated(&bench, "addDevice", 60);
        let mut run = bench.start(&RUN);
        run.until(|| gate.is_reached());
        disturb(&bench.path("fleetload.db"));
        gate.open();
        let Outcome { code, stderr, .. } = run.ended();
        assert_eq!(code, 6, "{case}: {stderr}");
        assert!(stderr.contains("while fleetload was using it"), "{case}: {stderr}");
        assert!(bench.created("device").len() < 120, "{case}: it stopped");
        let copy = bench.path("fleetload.db.rescued");
        assert!(copy.exists() && stderr.contains("fleetload.db.rescued"), "{case}: {stderr}");
        let devices = bench.created("device").len();
        if case != "log deleted" {
            // The command that is typed every night begins no journal in which these rows are new.
            for again in [&RUN[..], &["run"], &["import", "companies.csv"], &["plan", "companies.csv"]] {
                let refused = bench.fleetload(again).expect_code(6);
                assert!(
                    refused.stderr.contains("there is no journal at fleetload.db"),
                    "{case}: {refused:?}"
                );
                assert!(
                    refused.stderr.contains("fleetload run --journal fleetload.db.rescued"),
                    "{refused:?}"
                );
            }
        }
        assert_eq!(bench.created("device").len(), devices);
        bench.fleetload(&["run", "--journal", "fleetload.db.rescued"]).expect_code(0);
        assert_eq!(bench.created("device").len(), 120, "{case}");
        bench.assert_exact(1);
    }
}

#[test]
fn a_disk_that_fails_to_write_stops_the_run_and_loses_no_outcome() {
    let bench = paced(300);
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    let size = fs::metadata(bench.path("fleetload.db")).expect("a journal").len();
    // No file may grow beyond this, and the signal that says so is ignored: writes fail as those of a failing disk.
    let limit = size.div_ceil(1024).max(1024) + 300;
    let binary = env!("CARGO_BIN_EXE_fleetload");
    let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"{binary}\" run");
    let output = shell(&bench, &script);
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(6), "{stderr}");
    assert!(stderr.contains("the disk failed while the journal was read or written"), "{stderr}");
    assert!(stderr.contains("then run the same command again"), "{stderr}");
    let made = bench.created("device").len();
    assert!(made > 0 && made < 300, "{made} devices were made before the disk failed");
    let log = fs::metadata(bench.path("fleetload.db-wal")).expect("the log is left as it is").len();
    assert!(log > 0 && log <= limit * 1024, "{log}");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 300);
    bench.assert_exact(1);
}

fn shell(bench: &Bench, script: &str) -> std::process::Output {
    let like = bench.command(&[]);
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(bench.path("")).env_clear();
    for (name, value) in like.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.output().expect("a shell")
}

#[test]
fn a_full_disk_stops_the_run_before_anything_unwritten_is_sent_and_it_goes_on_after_room_is_made() {
    let bench = paced(300);
    let Some(disk) = SmallDisk::mount(bench.path("disk"), "64m") else {
        eprintln!("SKIPPED: only root may mount a small disk; the full disk was not tried with the binary");
        return;
    };
    let journal = disk.path().join("fleetload.db");
    let journal = journal.to_str().expect("UTF-8");
    let outcome =
        bench.fleetload(&["import", "companies.csv", "devices.csv", "--journal", journal]).expect_code(0);
    assert!(outcome.stderr.contains("is in memory (tmpfs)"), "{}", outcome.stderr);
    // Up to next to nothing, where not even a run begins, then to a little.
    disk.fill(600);
    let outcome = bench.fleetload(&["run", "--journal", journal]).expect_code(6);
    assert!(outcome.stderr.contains("there is no room beside the journal"), "{}", outcome.stderr);
    assert!(bench.ledger().is_empty(), "nothing was sent");
    disk.fill(2000);
    let outcome = bench.fleetload(&["run", "--journal", journal]).expect_code(6);
    assert!(outcome.stderr.contains("the disk is full"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("free some space"), "{}", outcome.stderr);
    let made = bench.created("device").len();
    assert!(made < 300, "{made}");
    assert!(made > 0, "it was not full before something was made");
    disk.make_room();
    disk.fill(100);
    let copy = disk.path().join("copy.db");
    let backup = ["backup", copy.to_str().expect("UTF-8"), "--journal", journal, "--json"];
    let outcome = bench.fleetload(&backup).expect_code(6);
    assert_eq!(outcome.summary()["reason"], "journal-full", "{}", outcome.stderr);
    assert!(outcome.stderr.contains("on a disk with room for the whole journal"), "{}", outcome.stderr);
    disk.make_room();
    let status = bench.fleetload(&["status", "--journal", journal]).expect_code(0);
    assert!(status.stderr.contains("when there is space on the journal's disk: fleetload run"), "{status:?}");
    let status = status.stdout;
    let words = "stopped: there is no disk space left for the journal;";
    assert!(status.starts_with(words) && !status.contains("killed"), "{status}");
    assert!(
        status.contains("needs a person:\n  there is no disk space left for the journal: free"),
        "{status}"
    );
    let outcome = bench.fleetload(&["run", "--journal", journal]).expect_code(0);
    assert!(!outcome.stderr.contains("in the middle of"), "room was kept for outcomes: {}", outcome.stderr);
    assert!(!disk.path().join("fleetload.db.spill-reserve").exists(), "the room is given back");
    assert_eq!(bench.created("device").len(), 300);
    bench.assert_exact(1);
}

#[test]
fn a_run_needs_little_more_room_than_its_journal_also_while_its_status_is_read() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    let Some(disk) = SmallDisk::mount(bench.path("disk"), "12m") else {
        eprintln!("SKIPPED: only root may mount a small disk; a run on one was not tried with the binary");
        return;
    };
    bench.write("companies.csv", &bench::companies(3));
    bench.write("devices.csv", &bench::devices(1_500, 3));
    let journal = disk.path().join("fleetload.db");
    let place = ["--journal", journal.to_str().expect("UTF-8")];
    bench.fleetload(&[&["import", "companies.csv", "devices.csv"], &place[..]].concat()).expect_code(0);
    let mut run = bench.start(&[&["run", "--quiet"], &place[..]].concat());
    while !run.has_ended() {
        bench.fleetload(&[&["status"], &place[..]].concat()).expect_code(0);
    }
    run.ended().expect_code(0);
    assert_eq!(bench.created("device").len(), 1_500);
}

#[test]
fn a_report_that_cannot_be_written_leaves_the_rows_alone_and_is_written_later() {
    let bench = paced(5);
    bench.write("reports", "a file, not a folder");
    let outcome = bench.fleetload(&RUN).expect_code(1);
    assert!(outcome.stderr.contains("the jobs are not affected"), "{}", outcome.stderr);
    assert_eq!(bench.created("device").len(), 5);
    fs::remove_file(bench.path("reports")).expect("a file");
    bench.fleetload(&["report"]).expect_code(0);
    bench.assert_exact(1);

    let Some(disk) = SmallDisk::mount(bench.path("disk"), "16k") else {
        eprintln!("SKIPPED: only root may mount a small disk; the report on a full disk was not tried");
        return;
    };
    let reports = disk.path().to_str().expect("UTF-8");
    let outcome = bench.fleetload(&["report", "--reports", reports]).expect_code(1);
    assert!(outcome.stderr.contains("see that the disk has room"), "{}", outcome.stderr);
    bench.fleetload(&["run"]).expect_code(0);
}

#[test]
fn a_journal_in_a_synchronised_folder_is_refused_unless_it_is_said_to_be_safe() {
    let bench = paced(2);
    fs::create_dir(bench.path("Dropbox")).expect("a folder");
    let place = ["--journal", "Dropbox/fleetload.db"];
    for command in ["run", "import"] {
        let outcome = bench.fleetload(&[&[command, "companies.csv"], &place[..]].concat()).expect_code(6);
        assert!(outcome.stderr.contains("is in a synced folder (Dropbox)"), "{}", outcome.stderr);
        assert!(!bench.path("Dropbox/fleetload.db").exists());
    }
    assert!(bench.ledger().is_empty());
    let outcome = bench.fleetload(&[&["run", "companies.csv", "--any-storage"], &place[..]].concat());
    assert!(outcome.expect_code(0).stderr.contains("is in a synced folder (Dropbox)"));
}

/// Overwrites a page of the table in the middle of its rows; gives the page.
fn damage(journal: &Path, table: &str) {
    let root: i64 = ask(journal, &format!("SELECT rootpage FROM sqlite_schema WHERE name = '{table}'"));
    let mut bytes = fs::read(journal).expect("a journal");
    let root = usize::try_from(root - 1).expect("a page") * 4096;
    assert_eq!(bytes[root], 5, "{table} has several pages");
    let cell = root + usize::from(u16::from_be_bytes([bytes[root + 14], bytes[root + 15]]));
    let page = u32::from_be_bytes([bytes[cell], bytes[cell + 1], bytes[cell + 2], bytes[cell + 3]]);
    let start = (page as usize - 1) * 4096;
    bytes[start..start + 4096].fill(0xA5);
    fs::write(journal, bytes).expect("a journal");
}

#[test]
fn a_damaged_journal_stops_a_run_and_its_report_shows_what_can_still_be_read() {
    let bench = paced(300);
    bench.sandbox().change(|scenario| scenario.rate = 0).expect("a consistent scenario");
    bench.profile("", "rate = \"unlimited\"", "");
    kill_after(&bench, &RUN, 200);
    bench.fleetload(&["status"]).expect_code(0);
    let journal = bench.path("fleetload.db");
    damage(&journal, "job");
    let integrity: String = ask(&journal, "PRAGMA quick_check(1)");
    assert_ne!(integrity, "ok");
    let before = bench.ledger().len();
    for command in [&["run"][..], &["backup", "copy.db"]] {
        let outcome = bench.fleetload(command).expect_code(6);
        assert!(outcome.stderr.contains("the journal is damaged"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("fleetload report"), "{}", outcome.stderr);
        let summary = bench.fleetload(&[command, &["--json"]].concat()).summary();
        assert_eq!(summary["reason"], "journal-damaged", "{command:?}");
    }
    assert_eq!(bench.ledger().len(), before, "nothing was sent");

    let outcome = bench.fleetload(&["report"]).expect_code(6);
    assert!(outcome.stdout.contains("cannot be shown, among them"), "{}{}", outcome.stdout, outcome.stderr);
    let list = fs::read_to_string(bench.path("reports/1-damaged/unreadable.txt")).expect("a list");
    assert!(list.contains("damaged journal"), "{list}");
    let rows =
        fs::read_to_string(bench.path("reports/1-damaged/results.jsonl")).expect("results").lines().count();
    assert!(rows > 200 && rows < 303, "{rows} rows of 303");
    assert!(
        !bench.path("reports/1/results.jsonl").exists(),
        "no report is replaced by one of a damaged journal"
    );
    let doctor = bench.fleetload(&["doctor"]);
    assert!(doctor.stdout.contains("damaged"), "{doctor:?}");
}

#[test]
fn a_journal_that_was_cut_off_is_damaged_to_every_command() {
    let bench = paced(30);
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    let whole = fs::read(bench.path("fleetload.db")).expect("a journal");
    fs::write(bench.path("cut.db"), &whole[..9_000]).expect("a part of it");
    for command in [&["run"][..], &["status"], &["backup", "copy.db"]] {
        let of_cut = [command, &["--journal", "cut.db", "--json"]].concat();
        assert_eq!(
            bench.fleetload(&of_cut).expect_code(6).summary()["reason"],
            "journal-damaged",
            "{command:?}"
        );
    }
    let report = bench.fleetload(&["report", "--journal", "cut.db"]).expect_code(6);
    assert!(report.stderr.contains("no import of the damaged journal cut.db can be read"), "{report:?}");
}

#[test]
fn a_log_without_its_journal_is_refused_and_left_as_it_is() {
    let bench = paced(30);
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let log = bench.path("fleetload.db-wal");
    let before = vec![7_u8; 50_000];
    for empty in [true, false] {
        for command in
            [&["status"][..], &["run", "companies.csv"], &["import", "companies.csv"], &["run"], &["report"]]
        {
            match empty {
                true => fs::write(bench.path("fleetload.db"), "").expect("an empty file"),
                false => drop(fs::remove_file(bench.path("fleetload.db"))),
            }
            fs::write(&log, &before).expect("a log");
            let told = bench.fleetload(&[command, &["--json"]].concat()).expect_code(6);
            assert_eq!(told.summary()["reason"], "journal-damaged", "{command:?} {told:?}");
            assert!(told.stderr.contains("fleetload.db-wal beside it holds"), "{told:?}");
            assert_eq!(fs::read(&log).expect("the log"), before, "{command:?}");
            assert_eq!(bench.path("fleetload.db").exists(), empty, "{command:?}");
        }
    }
    assert_eq!(bench.ledger().len(), 0, "nothing was sent");
}

#[test]
fn rows_that_cannot_be_read_to_be_verified_end_the_run_and_are_not_taken_for_verified() {
    let bench = paced(20);
    let (_relay, gate) = gated(&bench, "getDevice", 0);
    let mut run = bench.start(&RUN);
    run.until(|| gate.is_reached() && bench.created("device").len() == 20);
    run.signal("-INT");
    run.hears(&["\"draining\""]);
    gate.open();
    run.ended().expect_code(5);
    let journal = Connection::open(bench.path("fleetload.db")).expect("a journal");
    let damaged = "UPDATE step SET action = '{', shape = NULL, place = NULL
        WHERE job = (SELECT max(id) FROM job WHERE audit = 'due' AND state = 'created')";
    assert_eq!(journal.execute(damaged, []).expect("it can be written"), 1, "a row is still to be verified");
    drop(journal);
    for _ in 0..2 {
        let outcome = bench.fleetload(&["run"]).expect_code(6);
        assert!(
            outcome.stderr.contains("the journal holds a step that cannot be read"),
            "{}",
            outcome.stderr
        );
        assert!(!outcome.stdout.contains("every row is done"), "{}", outcome.stdout);
    }
    bench.fleetload(&["status", "--check"]).expect_code(6);
    assert_eq!(bench.created("device").len(), 20);
}

#[test]
fn nothing_is_created_before_all_pages_of_the_journal_are_known_to_be_whole() {
    for is_whole in [true, false] {
        let bench = Bench::new(Scenario::default());
        bench.write("companies.csv", &bench::companies(3));
        bench.fleetload(&["import", "companies.csv"]).expect_code(0);
        inside::drive_virtually(async {
            let clock = Virtual::start();
            let mut journal = inside::journal(&bench);
            let check = journal.begin_page_check_of_test().expect("a journal");
            let options = inside::options(Duration::from_secs(600));
            let delay = Duration::from_millis(50);
            let run = inside::start_virtually_over(journal, &bench, clock.clone(), delay, options);
            clock.sleep_until(clock.elapsed() + Duration::from_secs(60)).await;
            let requests = bench.statistics().requests;
            assert!(requests.contains_key("getChildCompanies"), "look-ups go on meanwhile: {requests:?}");
            assert!(bench.ledger().is_empty(), "a creation left before the journal was known to be whole");
            if is_whole {
                check.send(Ok(())).expect("a run that waits for it");
                assert_eq!(run.ends().await.1, Ending::Finished);
                assert_eq!(bench.ledger().len(), 3);
            } else {
                check.send(Err(Error::journal("the journal is damaged"))).expect("a run that waits for it");
                assert!(run.fails().await.to_string().contains("damaged"));
                assert!(bench.ledger().is_empty());
            }
        });
    }
}

#[test]
fn a_file_that_is_not_a_journal_any_more_has_no_report() {
    let bench = paced(2);
    bench.fleetload(&RUN).expect_code(0);
    let journal = bench.path("fleetload.db");
    let mut bytes = fs::read(&journal).expect("a journal");
    bytes[..4096].fill(0xA5);
    fs::write(&journal, bytes).expect("a journal");
    for command in ["run", "report", "status"] {
        let outcome = bench.fleetload(&[command]).expect_code(6);
        assert!(outcome.stderr.contains("fleetload.db"), "{command}: {}", outcome.stderr);
    }
}

#[test]
fn a_journal_that_may_not_be_written_is_told_before_anything_is_sent() {
    let bench = paced(3);
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let folder = bench.path("");
    if fs::metadata(&folder).expect("a folder").uid() != 0 {
        fs::set_permissions(bench.path("fleetload.db"), fs::Permissions::from_mode(0o400)).expect("own file");
        let outcome = bench.fleetload(&["run"]).expect_code(6);
        assert!(outcome.stderr.contains("may be read but not written"), "{}", outcome.stderr);
        return;
    }
    // Root writes everywhere: somebody else is asked to.
    for path in
        [folder.clone(), bench.path("fleetload.db"), bench.path("fleetload.toml"), bench.path("secret")]
    {
        fs::set_permissions(&path, fs::Permissions::from_mode(if path == folder { 0o755 } else { 0o644 }))
            .expect("own file");
    }
    // The binary lies where nobody else may look.
    let binary = std::env::temp_dir().join(format!("fleetload-for-nobody-{}", std::process::id()));
    fs::copy(env!("CARGO_BIN_EXE_fleetload"), &binary).expect("a copy");
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).expect("own file");
    let script = format!(
        "export FLEETLOAD_CLIENT_SECRET={} HOME=/nonexistent XDG_STATE_HOME=/nonexistent; \
         exec setpriv --reuid=65534 --regid=65534 --clear-groups {} run --config nobody.toml",
        bench::SECRET,
        binary.display()
    );
    let profile = fs::read_to_string(bench.path("fleetload.toml")).expect("a profile");
    let profile = profile.replace("client_secret_file = \"secret\"\n", "");
    fs::set_permissions(bench.write("nobody.toml", &profile), fs::Permissions::from_mode(0o644))
        .expect("own file");
    let output = shell(&bench, &script);
    fs::remove_file(&binary).expect("a copy");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    if stderr.contains("setpriv") {
        eprintln!("SKIPPED: no way to be somebody else here: {stderr}");
        return;
    }
    assert_eq!(output.status.code(), Some(6), "{stderr}");
    assert!(stderr.contains("may be read but not written"), "{stderr}");
    assert!(bench.ledger().is_empty(), "nothing was sent");
}

#[test]
fn a_run_that_waits_as_another_program_has_locked_the_journal_says_so_and_goes_on() {
    let bench = paced(3);
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let late = Fault::new("addCompany", FaultKind::Latency).ms(2_000).times(1);
    bench.sandbox().change(|scenario| scenario.fault.push(late)).expect("a consistent scenario");
    let mut run = bench.start(&["run", "--json"]);
    run.until(|| bench.statistics().faults_fired.contains_key("latency"));
    let other = rusqlite::Connection::open(bench.path("fleetload.db")).expect("the journal");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock of another program");
    run.hears(&["the journal is locked by another program: waiting for it"]);
    other.execute_batch("ROLLBACK").expect("the lock back");
    let outcome = run.ended().expect_code(0);
    assert!(!outcome.stdout.contains("is locked by another program"), "once: {}", outcome.stdout);
}

#[test]
fn several_processes_may_make_the_same_journal_at_once() {
    let bench = Bench::new(Scenario::default());
    let sheets: Vec<String> = (0..4).map(|n| format!("sheet{n}.csv")).collect();
    for (n, sheet) in sheets.iter().enumerate() {
        let rows = bench::companies(5)
            .replace("\nC", &format!("\nK{n}"))
            .replace("Customer", &format!("Customer {n}"));
        bench.write(sheet, &rows);
    }
    let started: Vec<bench::child::UnderWay> =
        sheets.iter().map(|sheet| bench.start(&["import", sheet, "--kind", "companies"])).collect();
    for import in started {
        import.ended().expect_code(0);
    }
    let status = bench.fleetload(&["status", "--json"]).expect_code(0);
    assert!(status.stdout.contains("\"rows\":20"), "{}", status.stdout);
}

#[test]
fn what_is_advised_at_an_older_copy_is_what_a_run_takes() {
    let bench = with_a_backup_in_place();
    let told = bench.fleetload(&["report", "1"]).expect_code(0).stderr;
    assert!(told.contains("the journal is an older copy"), "{told}");
    assert!(told.contains("if there is none, accept this one: fleetload run --accept-journal\n"), "{told}");
    assert!(!told.contains("fleetload run\n"), "{told}");
    bench.fleetload(&["run"]).expect_code(6);
    bench.fleetload(&["run", "--accept-journal"]).expect_code(0);
    assert_no_doubles(&bench);
    let told = bench.fleetload(&["report", "1"]).expect_code(0).stderr;
    assert!(!told.contains("older copy"), "{told}");
}
