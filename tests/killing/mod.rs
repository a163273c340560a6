//! Killing the real binary: sheets with a bit of everything, what a death has left in the journal, what a person would
//! type afterwards until every row is done, and the comparison of the end with the service's own ledger.
//!
//! At which moment the process dies is the affair of `tests/kills.rs` (every named step, 30 random moments) and of
//! `benches/kills.rs` (as many random moments as asked for).

#![allow(dead_code, reason = "the test and the benchmark use a part each")]

pub(crate) mod campaign;
pub(crate) mod upkeep;

use std::collections::{BTreeMap, BTreeSet};
use std::process::{ExitStatus, Output};

use fleetload::sandbox::wall_clock;
use rusqlite::Connection;
use serde_json::Value;

use crate::bench::{self, Bench};

/// Runs after which what is not done will not be.
const MOST_RUNS: u32 = 30;
/// Times that a refused decision is typed again: a second's worth and more.
const MOST_TRIES: u32 = 1_000;
/// A day and a little, in seconds.
const DAY: i64 = 86_500;

/// How many rows of each kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) companies: usize,
    pub(crate) sites: usize,
    pub(crate) people: usize,
    pub(crate) devices: usize,
}

impl Rows {
    pub(crate) const fn all(self) -> usize {
        self.companies + self.sites + self.people + self.devices
    }

    /// Writes the sheets; gives their names as they are typed after `run`.
    pub(crate) fn write(self, bench: &Bench) -> [&'static str; 4] {
        bench.write("companies.csv", &bench::companies(self.companies));
        bench.write("sites.csv", &bench::sites(self.sites, self.companies));
        bench.write("people.csv", &bench::people(self.people, self.companies));
        bench.write("devices.csv", &labelled(&bench::devices(self.devices, self.companies)));
        ["companies.csv", "sites.csv", "people.csv", "devices.csv"]
    }
}

/// The sheet with labels in every fifth row: a step after the creation.
fn labelled(sheet: &str) -> String {
    let rows = sheet.lines().enumerate().map(|(n, line)| match n {
        0 => format!("{line},labels\n"),
        n if n % 5 == 1 => format!("{line},retail; north\n"),
        _ => format!("{line},\n"),
    });
    rows.collect()
}

/// Whether a process was ended by `kill -9`, its own or another's.
#[cfg(unix)]
pub(crate) fn is_killed(status: ExitStatus) -> bool {
    const KILL: i32 = 9;
    std::os::unix::process::ExitStatusExt::signal(&status) == Some(KILL)
}

/// Whether a process was killed; elsewhere that cannot be told from its own failure.
#[cfg(not(unix))]
pub(crate) fn is_killed(status: ExitStatus) -> bool {
    !status.success()
}

/// Bytes that a file may have in the scene of a journal that cannot be written, in blocks of 512. The log is full when the
/// companies are made and many requests of the other rows are under way: with fewer none may be.
const BLOCKS: u32 = 900;

/// Runs the binary and kills it at a step; `limited` keeps files from growing beyond [`BLOCKS`].
pub(crate) fn killed_at(
    bench: &Bench,
    arguments: &[&str],
    step: &str,
    nth: u64,
    limited: bool,
    further: bool,
) {
    let mut command = bench.command(arguments);
    if limited {
        // The room that a run keeps for a spill file is larger than the limit: it is there from an earlier run.
        bench.write("fleetload.db.spill-reserve", &"-".repeat(1 << 20));
        let mut shell = std::process::Command::new("sh");
        // Writing beyond the limit then fails like writing to a full disk, instead of ending the process.
        shell
            .args(["-c", &format!("trap '' XFSZ; ulimit -f {BLOCKS}; exec \"$0\" \"$@\"")])
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(bench.path(""))
            .env_clear()
            .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command = shell;
    }
    if further {
        command.env("FLEETLOAD_FURTHER_MIGRATION", "1");
    }
    let output =
        command.env("FLEETLOAD_FAILPOINT", format!("{step}:{nth}")).output().expect("the binary starts");
    assert!(
        is_killed(output.status),
        "did not reach {step} for time {nth}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// What a record is known by in every sheet here: its kind, and its username or its name.
pub(crate) type Identity = (String, String);

fn identity(kind: &str, fields: &Value) -> Identity {
    let name = fields["username"].as_str().or(fields["name"].as_str()).unwrap_or_default();
    (kind.to_owned(), name.to_owned())
}

/// The ids of the records that the service has made, by what they are known by.
pub(crate) fn made(bench: &Bench) -> BTreeMap<Identity, Vec<String>> {
    let mut made: BTreeMap<Identity, Vec<String>> = BTreeMap::new();
    for entry in bench.ledger() {
        if entry.created && ["company", "site", "person", "device"].contains(&entry.kind.as_str()) {
            made.entry(identity(&entry.kind, &entry.request)).or_default().push(entry.id.to_string());
        }
    }
    made
}

/// A copy of a journal whose process has died, with what stands in its log: the journal itself stays as death left it.
fn journal_at_rest(bench: &Bench) -> Option<Connection> {
    let copy = bench.path("at-rest.db");
    for ending in ["", "-wal"] {
        let to = bench.path(&format!("at-rest.db{ending}"));
        if std::fs::copy(bench.path(&format!("fleetload.db{ending}")), &to).is_err() {
            // What is not there must not be there from the last time.
            drop(std::fs::remove_file(&to));
        }
    }
    drop(std::fs::remove_file(bench.path("at-rest.db-shm")));
    let journal = Connection::open(&copy).expect("a copy of the journal");
    let tables: i64 = journal
        .query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'job'", [], |row| row.get(0))
        .expect("a readable journal");
    (tables > 0).then_some(journal)
}

/// A number that the journal tells at rest; 0 when it was not made yet.
pub(crate) fn ask(bench: &Bench, question: &str) -> u64 {
    let number: i64 = journal_at_rest(bench).map_or(0, |journal| {
        journal.query_row(question, [], |row| row.get(0)).expect("a question to the journal")
    });
    u64::try_from(number).expect("a count")
}

/// What a death has left.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Death {
    /// Requests that were claimed on disk and have no outcome there.
    pub(crate) under_way: u64,
    /// Creations among them that the service has carried out.
    pub(crate) carried_out: u64,
}

impl Death {
    /// Looks at a journal whose process has died, and at what the service has done.
    pub(crate) fn look(bench: &Bench) -> Self {
        let Some(journal) = journal_at_rest(bench) else { return Self::default() };
        let made = made(bench);
        let mut sending = journal
            .prepare("SELECT jobs.kind, job.step, jobs.name FROM jobs JOIN job ON job.id = jobs.job WHERE jobs.state = 'sending'")
            .expect("a journal of the present version");
        let mut rows = sending.query([]).expect("a journal");
        let mut death = Self::default();
        while let Some(row) = rows.next().expect("a row") {
            let (kind, step): (String, u32) = (row.get(0).expect("a kind"), row.get(1).expect("a step"));
            let name: String = row.get(2).expect("a name");
            death.under_way += 1;
            if step == 0 && made.contains_key(&(kind, name)) {
                death.carried_out += 1;
            }
        }
        death
    }
}

/// What it took to finish.
#[derive(Debug, Clone, Default)]
pub(crate) struct Finish {
    /// Rows that were held, and that a person decided by looking into the service, by kind.
    pub(crate) held: BTreeMap<String, u64>,
    /// Runs that ended for the day's quota.
    pub(crate) parked: u32,
    /// Runs after which rejected rows were tried again.
    pub(crate) rejected: u32,
    /// The number of the import that the reports are about.
    pub(crate) import: u32,
}

/// Types what a person would until every row is done: the command, the next day when the quota was spent, `retry` after
/// refusals, `resolve` after a look into the service. The first command may name sheets, later ones do not.
pub(crate) fn finish(bench: &Bench, first: &[&str], environment: &[(&str, &str)]) -> Finish {
    let run = |arguments: &[&str]| -> Output {
        bench.command(arguments).envs(environment.iter().copied()).output().expect("the binary starts")
    };
    let told = |output: &Output| {
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    let must = |arguments: &[&str]| {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", told(&output));
    };
    // A request whose outcome became unknown a moment ago may still be carried out: the command says so, and is typed again.
    let not_created = |job: &str| {
        for _ in 0..MOST_TRIES {
            let output = run(&["resolve", job, "--not-created"]);
            if output.status.code() == Some(0) {
                return;
            }
            let told = told(&output);
            assert!(told.contains("the service may still carry out the request"), "{job}: {told}");
        }
        panic!("{job} was refused {MOST_TRIES} times");
    };
    let mut finish = Finish::default();
    for n in 0..MOST_RUNS {
        let output = run(if n == 0 { first } else { &["run"] });
        finish.import = last_import(bench);
        match output.status.code() {
            Some(0) => return finish,
            Some(5) => {
                finish.parked += 1;
                bench.sandbox().advance_clock(DAY);
            }
            Some(4) => {
                finish.rejected += 1;
                must(&["retry"]);
            }
            Some(8) => {
                let (made, results) = (made(bench), bench.results(finish.import));
                let held: Vec<_> = results.iter().filter(|row| row["status"] == "held").collect();
                if held.is_empty() {
                    // What was read back is not as it should be; whoever has looked into it says so.
                    must(&["resolve", "--import", &finish.import.to_string(), "--seen"]);
                }
                for row in held {
                    let job = row["job"].to_string();
                    let kind = row["kind"].as_str().expect("a kind");
                    if kind == "licence" {
                        match licensed(bench, row) {
                            Some(id) => must(&["resolve", &job, "--created", &id, "--unchecked"]),
                            None => must(&["resolve", &job, "--not-created", "--unchecked"]),
                        }
                        *finish.held.entry(kind.to_owned()).or_default() += 1;
                        continue;
                    }
                    match made.get(&identity(kind, row)).map(Vec::as_slice) {
                        None => not_created(&job),
                        Some([id]) => {
                            // A row may also be held at a step after its creation, which is not there yet.
                            let output = run(&["resolve", &job, "--created", id]);
                            if told(&output).contains("it is not as the row asks for") {
                                not_created(&job);
                            } else {
                                assert_eq!(output.status.code(), Some(0), "{job}: {}", told(&output));
                            }
                        }
                        Some(several) => panic!("made more than once: {row}: {several:?}"),
                    }
                    *finish.held.entry(kind.to_owned()).or_default() += 1;
                }
            }
            _ => panic!("{:?}: {}", output.status, told(&output)),
        }
    }
    panic!("not done after {MOST_RUNS} runs")
}

/// The id of the device of a licence row, where the service has the code.
fn licensed(bench: &Bench, row: &Value) -> Option<String> {
    let code = row["licence_code"].as_str().expect("a code");
    let attachments = bench.sandbox().attachments(wall_clock());
    let found = attachments.iter().find(|one| one.kind == "licence" && one.value == code)?;
    Some(found.owner.to_string())
}

/// The import whose report was written last.
fn last_import(bench: &Bench) -> u32 {
    let folders = std::fs::read_dir(bench.path("reports")).into_iter().flatten().flatten();
    folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok()).max().unwrap_or(0)
}

/// The end, held against the service's own ledger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Balance {
    /// Rows without a record of their own in the service.
    pub(crate) lost: u64,
    /// Records of the service beyond one for each row.
    pub(crate) doubled: u64,
}

/// Compares the reports of an import with what the service has made: every row has one record, the one with its
/// name, and every record has one row.
pub(crate) fn balance(bench: &Bench, import: u32, rows: Rows) -> Balance {
    let made = made(bench);
    let mut taken = BTreeSet::new();
    for row in bench.results(import) {
        let known = identity(row["kind"].as_str().expect("a kind"), &row);
        let done = ["created", "adopted", "existing"].contains(&row["status"].as_str().unwrap_or_default());
        let id = row["id"].as_str().unwrap_or_default();
        if done && made.get(&known).is_some_and(|ids| ids.iter().any(|made| made == id)) {
            taken.insert(id.to_owned());
        }
    }
    let records: usize = made.values().map(Vec::len).sum();
    let count = |number: usize| u64::try_from(number).expect("a number");
    Balance {
        lost: count(rows.all().saturating_sub(taken.len())),
        doubled: count(records.saturating_sub(rows.all())),
    }
}
