//! `kill -9` of the real binary, at every named step and at random moments: nothing is lost and nothing made twice.
//!
//! Each step has a scene in which it is reached for certain; a process that does not end there fails the test. After
//! the death the commands are typed that a person would type, until every row is done.
#![cfg(unix)]

#[path = "cli/bench/mod.rs"]
mod bench;
mod killing;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bench::Bench;
use fleetload::failpoint::STEPS;
use fleetload::sandbox::{Fault, FaultKind, Scenario};
use killing::campaign::{Plan, campaigns};
use killing::{Balance, Death, Rows, ask, balance, finish, killed_at, upkeep};

/// A small import with all kinds, so that every step is reached soon.
const ROWS: Rows = Rows { companies: 3, sites: 4, people: 4, devices: 11 };
/// Cases side by side: most of their time they wait for answers and for doubts to settle.
const AT_ONCE: usize = 16;
/// What goes on when the process is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scene {
    /// Sheets are imported.
    Import,
    /// All rows are sent, some answers are lost, some requests refused.
    Work,
    /// A few rows are sent and verified before all others; the answer to one of them is lost.
    Canary,
    /// A row is refused for good.
    Refusal,
    /// The look before sending fails.
    NoLook,
    /// An answer contradicts its request.
    Contradiction,
    /// The records were there before.
    Existing,
    /// The quota of a day is spent.
    Quota,
    /// The journal cannot be written any more.
    Spill,
    /// A start after a kill in the middle of requests.
    Recovery,
    /// A start after a kill in the middle of spilling.
    RecoveryOfSpill,
    /// A journal full of rows, some of them in the middle of requests, is brought to the next version.
    Migration,
}

/// The scenes in which a step is reached, and at which of its times the process is killed there.
fn cases_of(step: &str) -> &'static [(Scene, u64)] {
    match step {
        "migration.before-copy"
        | "migration.copy-beside"
        | "migration.copied"
        | "migration.begun"
        | "migration.half-done"
        | "migration.before-commit"
        | "migration.committed" => &[(Scene::Migration, 1)],
        "import.begun" | "import.before-commit" | "import.committed" | "account.bound" => {
            &[(Scene::Import, 1)]
        }
        "import.sheet" => &[(Scene::Import, 3)],
        "import.row" => &[(Scene::Import, 1), (Scene::Import, 20)],
        "pages.check-begun" | "recovery.put-in-doubt" => &[(Scene::Recovery, 1)],
        "recovery.begun"
        | "recovery.spill-taken-in"
        | "recovery.before-commit"
        | "recovery.committed"
        | "recovery.spill-put-away" => &[(Scene::Recovery, 1), (Scene::RecoveryOfSpill, 1)],
        "permission.granted" | "claim.in-transaction" | "claim.on-disk" | "answer.received" => {
            &[(Scene::Work, 1), (Scene::Work, 9), (Scene::Canary, 2)]
        }
        "creation.under-way" => &[(Scene::Work, 1), (Scene::Work, 5), (Scene::Work, 21)],
        "creation.handed-over" | "creation.answered" | "created.in-transaction" => &[(Scene::Work, 7)],
        "settlement.on-disk" | "settlement.told" => {
            &[(Scene::Work, 1), (Scene::Work, 12), (Scene::Canary, 2)]
        }
        // The first two look-ups are those of the id that the sheets name and of what is below it, before the import.
        "look.handed-over" | "look.under-way" | "look.answered" => {
            &[(Scene::Import, 1), (Scene::Import, 2), (Scene::Work, 3), (Scene::Work, 9)]
        }
        "look.received" => &[(Scene::Work, 1), (Scene::Work, 8)],
        "step.handed-over" | "step.under-way" | "step.answered" | "done.in-transaction" => {
            &[(Scene::Work, 1)]
        }
        "run.begun"
        | "deferred.in-transaction"
        | "returned.in-transaction"
        | "doubt.in-transaction"
        | "still-in-doubt.in-transaction"
        | "adopted.in-transaction"
        | "released.in-transaction"
        | "quota.in-transaction"
        | "run.before-end"
        | "run.ended"
        | "report.begun"
        | "report.beside"
        | "report.in-place"
        | "report.outdated-removed" => &[(Scene::Work, 1)],
        "audited.in-transaction" => &[(Scene::Work, 1), (Scene::Canary, 1)],
        "report.between-files" => &[(Scene::Work, 1), (Scene::Work, 4)],
        "doubt.taken-up" | "doubt.look-read" => &[(Scene::Work, 1), (Scene::Recovery, 1)],
        "existing.in-transaction" => &[(Scene::Existing, 2)],
        "rejected.in-transaction" => &[(Scene::Refusal, 1)],
        "postponed.in-transaction" => &[(Scene::NoLook, 1)],
        "held.in-transaction" => &[(Scene::Contradiction, 1)],
        "ceiling.in-transaction" | "ceiling.resumption-noted" => &[(Scene::Quota, 1)],
        "spill.before" | "spill.written" => &[(Scene::Spill, 1)],
        _ => panic!("the step {step} has no scene: say here where it is reached"),
    }
}

fn fault(operation: &str, kind: FaultKind, after: u64, times: u64) -> Fault {
    Fault::new(operation, kind).after(after).times(times)
}

fn scenario(scene: Scene) -> Scenario {
    let plain = Scenario { rate: 0, latency_ms: [2, 15], ..Scenario::default() };
    let with = |faults: &[Fault]| faults.iter().cloned().fold(plain.clone(), Scenario::with_fault);
    match scene {
        Scene::Work | Scene::Recovery | Scene::Migration => with(&[
            fault("creations", FaultKind::RateLimitExceeded, 1, 1),
            fault("creations", FaultKind::TokenRevoked, 3, 1),
            fault("creations", FaultKind::AnswerLost, 5, 2),
            fault("creations", FaultKind::Error500After, 8, 1),
            fault("creations", FaultKind::RequestLost, 10, 2),
        ]),
        Scene::Canary => with(&[fault("addDevice", FaultKind::AnswerLost, 0, 1)]),
        Scene::Refusal => with(&[fault("addDevice", FaultKind::InvalidState, 2, 1)]),
        // Once before the import, and as often as a run asks.
        Scene::NoLook => with(&[fault("getChildCompanies", FaultKind::Error500Before, 0, 4)]),
        Scene::Contradiction => with(&[fault("addDevice", FaultKind::WrongName, 1, 1)]),
        Scene::Quota => Scenario { daily_quota: 9, ..plain },
        // Answers take so long that some are always on their way when the journal fails, however slow the machine is.
        Scene::Spill | Scene::RecoveryOfSpill => Scenario { latency_ms: [1_000, 1_500], ..plain },
        Scene::Import | Scene::Existing => plain,
    }
}

/// Kills at one step, finishes, and holds the end against the service's ledger.
fn case(step: &str, scene: Scene, nth: u64) {
    let bench = Bench::new(scenario(scene));
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 8", "on_quota = \"exit\"");
    let sheets = ROWS.write(&bench);
    let run = [&["run"], &sheets[..]].concat();
    let import = [&["import"], &sheets[..]].concat();
    let canary = [&run[..], &["--canary", "1"]].concat();
    let (mut limited, mut further, mut command, mut first) = (false, false, &["run"][..], &["run"][..]);
    match scene {
        Scene::Import => (command, first) = (&run, &run),
        Scene::Work | Scene::Refusal | Scene::NoLook | Scene::Contradiction | Scene::Quota => command = &run,
        Scene::Canary => command = &canary,
        Scene::Existing => {
            let elsewhere = [&run[..], &["--journal", "other.db", "--reports", "others"]].concat();
            bench.fleetload(&elsewhere).expect_code(0);
            command = &run;
        }
        Scene::Spill => {
            bench.fleetload(&import).expect_code(0);
            limited = true;
        }
        Scene::Recovery | Scene::Migration => {
            killed_at(&bench, &run, "claim.on-disk", 6, false, false);
            let death = Death::look(&bench);
            assert!(death.under_way > 0, "a request was under way");
            further = scene == Scene::Migration;
        }
        Scene::RecoveryOfSpill => {
            bench.fleetload(&import).expect_code(0);
            killed_at(&bench, &["run"], "spill.written", 1, true, false);
            assert!(bench.path("fleetload.db.spill").exists(), "answers were spilled");
        }
    }
    killed_at(&bench, command, step, nth, limited, further);
    look_at_death(&bench, step, scene);
    if scene == Scene::Canary {
        let others = "SELECT count(*) FROM job WHERE attempts > 0 AND id NOT IN (SELECT job FROM canary)";
        assert_eq!(ask(&bench, others), 0, "only the canary was sent");
        assert!(ask(&bench, "SELECT count(*) FROM canary") >= 4, "of each kind one");
    }
    // As long as no record of a kind is known to be there, no look-up can show that it finds what is there: rows of that
    // kind in the middle of their requests may be for a person then.
    let known = |kind: &str| {
        let known = format!("SELECT count(*) FROM jobs WHERE id IS NOT NULL AND kind = '{kind}'");
        ask(&bench, &known) > 0
    };
    let provable = ["company", "site", "person", "device"].map(|kind| (kind, known(kind)));

    let further = [("FLEETLOAD_FURTHER_MIGRATION", "1")];
    let environment = if scene == Scene::Migration { &further[..] } else { &[] };
    let done = finish(&bench, first, environment);
    assert_eq!(balance(&bench, done.import, ROWS), Balance { lost: 0, doubled: 0 });
    bench.assert_exact(done.import);
    // The quota ledger, by the service's own count: what was under way at a kill may have been counted or not.
    let there: u64 = bench.statistics().quota_by_day.values().flat_map(|days| days.values()).sum();
    let sure = ask(&bench, "SELECT coalesce(sum(confirmed + refused), 0) FROM quota");
    let used = ask(&bench, "SELECT coalesce(sum(confirmed + refused + doubtful), 0) FROM quota");
    // Another journal made what exists: its creations are in its own ledger.
    let there = if scene == Scene::Existing { 0 } else { there };
    assert!(
        sure <= there && there <= used,
        "{sure} creations are sure, {used} used, the service counted {there}"
    );
    assert_eq!(used, ask(&bench, "SELECT coalesce(sum(sent), 0) FROM quota"), "none is under way");
    assert_eq!(bench.summary(done.import)["rows"], ROWS.all(), "no row of the sheets is lost");
    for (kind, _) in provable.into_iter().filter(|(_, known)| *known) {
        assert!(!done.held.contains_key(kind), "held without need: {:?}", done.held);
    }
    let unfinished = "SELECT count(*) FROM job WHERE outcome IS NULL OR state <> outcome";
    assert_eq!(ask(&bench, unfinished), 0, "every row is done");
    assert!(!bench.path("fleetload.db.spill").exists(), "what was spilled is taken in");
    let reports = complete_reports(&bench, done.import);

    // Once more: nothing is left to be done, and nothing changes.
    let ledger = bench.ledger();
    finish(&bench, &["run"], environment);
    assert_eq!(bench.ledger(), ledger);
    for (name, bytes) in complete_reports(&bench, done.import) {
        assert!(reports.get(&name) == Some(&bytes), "{name} is another one the second time");
    }
    let left: Vec<_> = files(&bench.path("")).into_keys().filter(|name| name.contains(".part")).collect();
    assert!(left.is_empty(), "left beside the journal: {left:?}");
}

/// What a step promises of the moment at which the process died there.
fn look_at_death(bench: &Bench, step: &str, scene: Scene) {
    let rows = ask(bench, "SELECT count(*) FROM sheet_row");
    let all = u64::try_from(ROWS.all()).expect("a number");
    match step {
        "import.begun" | "import.sheet" | "import.row" | "account.bound" | "import.before-commit" => {
            assert_eq!(rows, 0, "an import is in the journal whole or not at all");
        }
        "look.handed-over" | "look.under-way" | "look.answered" if scene == Scene::Import => {
            assert_eq!(rows, 0, "ids are looked up before anything is imported");
        }
        _ => assert_eq!(rows, all, "an import is in the journal whole or not at all"),
    }
    if scene == Scene::Import {
        let bound = ask(bench, "SELECT count(*) FROM account");
        assert_eq!(bound, u64::from(rows > 0), "rows are never there without the account they are for");
    }
    match step {
        "claim.in-transaction" | "permission.granted" => {}
        "claim.on-disk"
        | "creation.handed-over"
        | "creation.under-way"
        | "creation.answered"
        | "answer.received" => assert!(Death::look(bench).under_way > 0, "a claim without an outcome"),
        _ if scene == Scene::Import => assert!(bench.ledger().is_empty(), "nothing was sent"),
        _ => {}
    }
    if scene == Scene::Migration {
        let copies = || std::fs::read_dir(bench.path("")).expect("a folder").flatten();
        let copy = copies().find(|file| file.file_name().to_string_lossy().ends_with(".bak"));
        assert_eq!(copy.is_some(), !["migration.before-copy", "migration.copy-beside"].contains(&step));
        if let Some(copy) = copy {
            let copy = rusqlite::Connection::open(copy.path()).expect("a journal");
            let whole: String =
                copy.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("an answer");
            let rows: i64 =
                copy.query_row("SELECT count(*) FROM sheet_row", [], |row| row.get(0)).expect("rows");
            assert_eq!((whole.as_str(), rows.cast_unsigned()), ("ok", all), "the copy is whole");
        }
    }
}

/// The files of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(folder)
        .expect("a folder")
        .map(|file| file.expect("a file"))
        .filter(|file| file.file_type().expect("a type").is_file())
        .map(|file| {
            let name = file.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(file.path()).expect("a readable file"))
        })
        .collect()
}

/// All formats are there, and nothing that a kill has left beside them; gives them.
fn complete_reports(bench: &Bench, import: u32) -> BTreeMap<String, Vec<u8>> {
    let folder = bench.path(&format!("reports/{import}"));
    let files = files(&folder);
    let names: Vec<&String> = files.keys().collect();
    for name in ["results.xlsx", "results.jsonl", "summary.json"] {
        assert!(files.contains_key(name), "{name} is not among {names:?}");
    }
    for sheet in ["companies", "sites", "people", "devices"] {
        let table = std::fs::read_to_string(folder.join(format!("{sheet}.results.csv"))).expect("a table");
        let rows = match sheet {
            "companies" => ROWS.companies,
            "sites" => ROWS.sites,
            "people" => ROWS.people,
            _ => ROWS.devices,
        };
        assert_eq!(table.lines().count(), rows + 1, "{sheet}");
    }
    let left: Vec<_> = names.iter().filter(|name| name.starts_with('.')).collect();
    assert!(left.is_empty(), "left beside the reports: {left:?}");
    files
}

/// Carries out cases side by side, each on a thread with its name, so that the words of a failure begin with it.
fn side_by_side<T: Copy + Send + Sync + 'static>(cases: &[(String, T)], carry_out: fn(T)) {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((name, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let case = *case;
                    let ended = std::thread::Builder::new()
                        .name(name.clone())
                        .spawn(move || carry_out(case))
                        .expect("a thread")
                        .join();
                    if ended.is_err() {
                        failed.lock().expect("names").push(name.clone());
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("names");
    assert!(failed.is_empty(), "{} of {} cases failed: {failed:#?}", failed.len(), cases.len());
}

#[test]
fn killed_at_any_step_every_row_is_done_once_in_the_end() {
    let cases: Vec<(String, (&str, Scene, u64))> = STEPS
        .iter()
        .flat_map(|&step| cases_of(step).iter().map(move |&(scene, nth)| (step, scene, nth)))
        .map(|(step, scene, nth)| (format!("{step}:{nth} in {scene:?}"), (step, scene, nth)))
        .collect();
    side_by_side(&cases, |(step, scene, nth)| case(step, scene, nth));
}

#[test]
fn killed_at_any_step_every_upkeep_row_is_carried_out_in_the_end() {
    let cases: Vec<(String, (&str, u64))> = STEPS
        .iter()
        .flat_map(|&step| upkeep::times_of(step).iter().map(move |&nth| (step, nth)))
        .map(|(step, nth)| (format!("{step}:{nth}"), (step, nth)))
        .collect();
    assert!(cases.len() > 40, "{}", cases.len());
    side_by_side(&cases, |(step, nth)| upkeep::case(step, nth));
}

/// Changes the journal behind fleetload's back.
fn tamper(bench: &Bench, change: &str) {
    let journal = rusqlite::Connection::open(bench.path("fleetload.db")).expect("a journal");
    assert!(journal.execute(change, []).expect("a change that the journal allows") > 0);
}

#[test]
fn the_comparison_sees_a_record_made_twice_and_a_row_whose_record_is_another() {
    let bench = Bench::new(scenario(Scene::Import));
    let run = [&["run"], &ROWS.write(&bench)[..]].concat();
    killed_at(&bench, &run, "creation.answered", 1, false, false);
    assert!(Death::look(&bench).carried_out > 0, "the service did what the journal does not know");
    // As if a start took what was being sent for not sent.
    tamper(&bench, "UPDATE job SET state = 'ready' WHERE state = 'sending'");
    // A look-up before sending would find the record.
    let blind = |operation| Fault::new(operation, FaultKind::NotFound404).times(1);
    let blinded = ["getChildCompanies", "findCompaniesByName"].map(blind);
    bench.sandbox().change(|scenario| scenario.fault.extend(blinded)).expect("a scenario");
    let done = finish(&bench, &["run"], &[]);
    let Balance { lost, doubled } = balance(&bench, done.import, ROWS);
    assert!(lost == 0 && doubled > 0, "{lost} lost, {doubled} made twice");

    // As if an answer were taken for that of another row.
    let stranger = "x'00000000000040008000000000000000'";
    tamper(&bench, &format!("UPDATE job SET remote_id = {stranger} WHERE id = (SELECT max(id) FROM job)"));
    bench.fleetload(&["report"]).expect_code(0);
    assert_eq!(balance(&bench, done.import, ROWS).lost, 1);
}

#[test]
fn a_row_that_ends_the_process_three_times_is_held_and_the_others_go_on() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    // Enough made before, so that a look-up can show that it finds what is there.
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    let sheet = bench::companies(4);
    let (header, last) = (sheet.lines().next().expect("a header"), sheet.lines().last().expect("a row"));
    bench.write("poison.csv", &format!("{header}\n{last}\n"));
    bench.fleetload(&["import", "poison.csv", "--kind", "companies"]).expect_code(0);
    for death in 1..=3 {
        killed_at(&bench, &["run"], "claim.on-disk", 1, false, false);
        assert_eq!(Death::look(&bench).under_way, 1, "death {death}");
    }
    // It is not sent a fourth time: the process that would end is not even tempted.
    let outcome = bench.fleetload(&["run"]).expect_code(8);
    assert!(outcome.stderr.contains("three runs ended"), "{}", outcome.stderr);
    let held = bench.results(2).into_iter().find(|row| row["status"] == "held").expect("a held row");
    assert_eq!(held["code"], "poison");
    assert_eq!(bench.created("company").len(), 3, "it was never sent");

    // The doubt is younger than the settle time, so that nobody but a person can know.
    let job = held["job"].to_string();
    bench.fleetload(&["resolve", &job, "--not-created", "--unchecked"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 4);
    assert_eq!(bench.counts(2), [("created".to_owned(), 1)].into());
}

#[test]
fn thirty_kills_at_random_moments_lose_nothing_and_make_nothing_twice() {
    let rows = Rows { companies: 6, sites: 30, people: 30, devices: 110 };
    let figures = campaigns(Plan { kills: 30, rows, at_once: 3, seed: 1 }, &mut |_| {});
    assert_eq!(figures.kills, 30, "{figures:?}");
    assert_eq!((figures.lost, figures.doubled), (0, 0), "{figures:?}");
    assert!(figures.under_way >= 8, "too few landed while a request was under way: {figures:?}");
    assert!(figures.carried_out >= 3, "too few landed in the dangerous window: {figures:?}");
    assert!(figures.in_doubt > 0 && figures.adopted > 0, "{figures:?}");
}
