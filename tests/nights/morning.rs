//! What is looked at every morning: the ledger of the service, the rows of the journal, and what every surface said of them.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use super::sheets::{Identity, Region};
use super::world::{Night, World};
use crate::bench::CLIENT;
use crate::open_metrics::Metrics;

/// States in which a row may have a record that the journal does not know yet.
const UNSETTLED: [&str; 3] = ["sending", "in_doubt", "held"];
/// What the metrics call the kinds.
const PLURALS: [(&str, &str); 4] =
    [("company", "companies"), ("site", "sites"), ("person", "people"), ("device", "devices")];

/// The records that the service has made so far, each with its id, and whose rows they are.
#[derive(Default)]
pub(crate) struct Records {
    /// What the rows of all sheets are to make, with the record once it is made.
    rows: HashMap<Identity, Option<String>>,
    /// Entries of the ledger that were read.
    read: usize,
}

impl Records {
    /// More rows are imported.
    pub(crate) fn expect(&mut self, region: &Region) {
        for identity in region.identities() {
            assert!(self.rows.insert(identity, None).is_none(), "two rows are known by the same");
        }
    }

    /// Rows that have no record.
    pub(crate) fn missing(&self) -> usize {
        self.rows.values().filter(|record| record.is_none()).count()
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// How many rows the results of an import have an answer for; each answer is held against the service.
    pub(crate) fn answered(&self, results: &Path) -> u64 {
        let mut answers = 0;
        for line in BufReader::new(File::open(results).expect("results")).lines() {
            let row: Value = serde_json::from_str(&line.expect("UTF-8")).expect("JSON");
            let status = row["status"].as_str().expect("a state");
            assert!(["created", "adopted", "existing"].contains(&status), "{row}");
            let kind = row["kind"].as_str().expect("a kind");
            let kind = PLURALS.iter().find(|(word, _)| *word == kind).expect("a kind of record").0;
            let name = row[if kind == "person" { "username" } else { "name" }].as_str().expect("a name");
            let record = self.rows.get(&(kind, name.to_owned())).expect("a row of a sheet");
            let id = row["id"].as_str().expect("an id").replace('-', "");
            assert_eq!(record.as_ref(), Some(&id), "{row}");
            answers += 1;
        }
        answers
    }

    /// Takes in what the service has done since the last time; gives the number of new records. Panics at a record that
    /// was made twice or that no row asks for.
    fn take_in(&mut self, world: &World) -> u64 {
        let entries = world.bench.sandbox().ledger_after(self.read, world.calendar.now());
        self.read += entries.len();
        let mut new = 0;
        for entry in entries.iter().filter(|entry| entry.charged) {
            let kind = PLURALS.iter().find(|(kind, _)| *kind == entry.kind).expect("a kind of record").0;
            let field = if kind == "person" { "username" } else { "name" };
            let name = entry.request[field].as_str().expect("a name").to_owned();
            let row = self.rows.get_mut(&(kind, name)).unwrap_or_else(|| panic!("no row asks for {entry:?}"));
            assert_eq!(row.replace(entry.id.simple().to_string()), None, "made twice: {entry:?}");
            new += 1;
        }
        new
    }
}

/// The rows of the journal by kind and state, and its ledger of a day.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct JournalRows {
    by_kind: BTreeMap<(String, String), u64>,
    by_state: BTreeMap<String, u64>,
}

impl JournalRows {
    pub(crate) fn in_state(&self, state: &str) -> u64 {
        self.by_state.get(state).copied().unwrap_or(0)
    }

    /// Reads every row, and holds each against the record of the service.
    pub(crate) fn read(journal: &Connection, records: &Records) -> Self {
        let mut rows = Self::default();
        let mut known = 0;
        let mut statement = journal
            .prepare(
                "SELECT kind_name.name, job.name, job.state, lower(hex(job.remote_id)) FROM job
                 JOIN kind_name ON kind_name.id = job.kind",
            )
            .expect("a journal");
        let mut found = statement.query([]).expect("a journal");
        while let Some(row) = found.next().expect("a row") {
            let (kind, name): (String, String) = (row.get(0).expect("a kind"), row.get(1).expect("a name"));
            let (state, id): (String, String) =
                (row.get(2).expect("a state"), row.get(3).unwrap_or_default());
            let (kind, plural) = PLURALS.iter().find(|(word, _)| *word == kind).expect("a kind of record");
            let record = records.rows.get(&(*kind, name.clone())).expect("a row of a sheet");
            match record {
                Some(record) if id.is_empty() => {
                    assert!(UNSETTLED.contains(&state.as_str()), "{kind} {name} is {state}, with {record}");
                }
                Some(record) => assert_eq!(*record, id, "{kind} {name} has another record"),
                None => assert!(id.is_empty(), "{kind} {name} is {state} with {id}, which nobody made"),
            }
            // In the morning no run awaits what was under way at a kill.
            let state = if state == "sending" { "in_doubt".to_owned() } else { state };
            *rows.by_kind.entry(((*plural).to_owned(), state.clone())).or_default() += 1;
            *rows.by_state.entry(state).or_default() += 1;
            known += 1;
        }
        assert_eq!(known, records.rows(), "every row of every sheet is in the journal");
        rows
    }
}

/// The journal, only to be read.
pub(crate) fn journal(world: &World) -> Connection {
    let path = world.bench.path("disk/fleetload.db");
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("the journal")
}

/// A number that the journal tells.
pub(crate) fn ask(journal: &Connection, question: &str) -> u64 {
    let number: i64 = journal.query_row(question, [], |row| row.get(0)).expect("a number");
    u64::try_from(number).expect("a count")
}

/// What a morning shows.
pub(crate) struct Morning {
    /// Records that the service made in the night.
    pub(crate) made: u64,
    /// Creations that it counted on this day.
    pub(crate) counted: u64,
    pub(crate) rows: JournalRows,
}

/// Looks at everything after a night. `is_written` says whether the run could write its journal up to its end, and
/// `recovers` whether it began with what an earlier one had left in the middle.
pub(crate) fn look(
    world: &World,
    records: &mut Records,
    night: &Night,
    (before, quota): (&JournalRows, u64),
    (is_written, recovers): (bool, bool),
) -> Morning {
    let made = records.take_in(world);
    let day = world.calendar.day();
    let by_day = world.bench.statistics().quota_by_day;
    let counted = by_day.get(CLIENT).and_then(|days| days.get(&day)).copied().unwrap_or(0);
    assert!(made <= counted && counted <= quota, "{made} made, {counted} counted, {quota} allowed");
    let journal = journal(world);
    let rows = JournalRows::read(&journal, records);
    let of_journal = ledger_of(&journal, day);
    if is_written {
        // What is doubtful may be counted or not.
        let [confirmed, refused, doubtful] = of_journal;
        assert!(confirmed + refused <= counted, "{of_journal:?}, {counted} at the service");
        assert!(counted <= confirmed + refused + doubtful, "{of_journal:?}, {counted} at the service");
        agree_metrics(&night.metrics, &rows, of_journal, night);
        agree_summary(&night.told.summary, (&journal, &rows), night.code);
        agree_log(night);
        if !recovers {
            agree_moves(night, before, &rows);
        }
    }
    let told = world.fleetload(&["status", "--metrics"]).expect_code(0).stdout;
    let status = Metrics::parse(&told);
    assert_eq!(rows_of(&status), rows.by_kind, "the metrics of status");
    let code = night.code.unwrap_or(5);
    assert_eq!(status.value("fleetload_last_run_exit_code"), Some(f64::from(code)), "the metrics of status");
    Morning { made, counted, rows }
}

/// What the journal counted on a day: confirmed, refused, doubtful.
fn ledger_of(journal: &Connection, day: i64) -> [u64; 3] {
    ["confirmed", "refused", "doubtful"].map(|figure| {
        ask(journal, &format!("SELECT coalesce(sum({figure}), 0) FROM quota WHERE day = {day}"))
    })
}

fn rows_of(metrics: &Metrics) -> BTreeMap<(String, String), u64> {
    let samples = metrics.samples("fleetload_rows").iter().filter(|(_, value)| *value > 0.0);
    samples
        .map(|(labels, value)| {
            ((labels["kind"].clone(), labels["state"].clone()), crate::open_metrics::whole(*value))
        })
        .collect()
}

fn agree_metrics(metrics: &Metrics, rows: &JournalRows, ledger: [u64; 3], night: &Night) {
    assert_eq!(rows_of(metrics), rows.by_kind, "the metrics of the run");
    let by_outcome = metrics.by("fleetload_quota_creations", "outcome");
    let outcomes = ["confirmed", "refused", "doubtful"];
    let told = outcomes.map(|outcome| by_outcome.get(outcome).copied().unwrap_or(0));
    assert_eq!((told, by_outcome.values().sum()), (ledger, ledger.iter().sum::<u64>()), "{by_outcome:?}");
    let code = f64::from(night.code.expect("an exit code"));
    assert_eq!(metrics.value("fleetload_last_run_exit_code"), Some(code));
    assert_eq!(metrics.value("fleetload_run_in_progress"), Some(0.0));
    let parked = metrics.value("fleetload_parked_until_timestamp_seconds").is_some();
    assert_eq!(parked, night.told.summary["state"] == "parked", "{}", night.told.summary);
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 are exact")]
    let seconds = |moment: i64| moment as f64 / 1000.0;
    let ended = metrics.value("fleetload_last_run_ended_timestamp_seconds").expect("an end");
    let (began, ends) = (seconds(night.span.0).floor(), seconds(night.span.1));
    assert!(began <= ended && ended <= ends, "{began} {ended} {ends}");
    let success = metrics.value("fleetload_last_success_timestamp_seconds");
    assert_eq!(success == Some(ended), night.code == Some(0), "the last success");
    let held = metrics.value("fleetload_oldest_held_row_timestamp_seconds").is_some();
    assert_eq!(held, rows.in_state("held") > 0, "the oldest row on hold");
    let doubt = metrics.value("fleetload_oldest_in_doubt_row_timestamp_seconds").is_some();
    assert_eq!(doubt, rows.in_state("in_doubt") > 0, "the oldest row in doubt");
}

/// The summary of a run about one import counts its rows; of one about several, those of the journal, since a row may be in
/// several.
fn agree_summary(summary: &Value, (journal, rows): (&Connection, &JournalRows), code: Option<i32>) {
    assert_eq!(summary["exit_code"].as_i64(), code.map(i64::from), "{summary}");
    let told = summary["counts"].as_object().expect("counts").iter();
    let told: BTreeMap<String, u64> = told
        .map(|(state, count)| (state.clone(), count.as_u64().expect("a count")))
        .filter(|(_, count)| *count > 0)
        .collect();
    let counted = match summary["imports"].as_array().expect("imports").as_slice() {
        [import] => by_state(journal, import.as_u64().expect("a number")),
        _ => rows.by_state.clone(),
    };
    assert_eq!(told, counted, "{summary}");
    assert_eq!(summary["rows"].as_u64(), Some(told.values().sum()), "{summary}");
}

/// The rows of one import by state.
fn by_state(journal: &Connection, import: u64) -> BTreeMap<String, u64> {
    let question = format!(
        "SELECT state, count(DISTINCT job.id) FROM job JOIN sheet_row ON sheet_row.job = job.id
         JOIN sheet ON sheet.id = place >> 32 WHERE import = {import} GROUP BY state"
    );
    let mut statement = journal.prepare(&question).expect("a journal");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("a journal");
    rows.map(|row| row.map(|(state, count): (String, i64)| (state, count.unsigned_abs())).expect("a row"))
        .collect()
}

/// Every line is of the night, and one says how the run ended.
fn agree_log(night: &Night) {
    let mut endings = Vec::new();
    for line in &night.log {
        let at: jiff::Timestamp = line["time"].as_str().expect("a time").parse().expect("a moment");
        // Lines have whole seconds.
        let at = at.as_millisecond() + 999;
        assert!(night.span.0 <= at && at - 999 <= night.span.1, "{line} is not of {:?}", night.span);
        let message = line["message"].as_str().expect("a message");
        endings.extend(message.starts_with("run ended: ").then(|| message.to_owned()));
    }
    let summary = &night.told.summary;
    let word = |field: &str| summary[field].as_str().expect("a word").to_owned();
    let expected = format!(
        "run ended: {} ({}), exit code {}",
        word("state"),
        word("reason"),
        night.code.expect("an exit code")
    );
    assert_eq!(endings, [expected]);
}

/// The news of rows leads from what was before to what is now.
fn agree_moves(night: &Night, before: &JournalRows, after: &JournalRows) {
    let mut led: BTreeMap<String, i64> = BTreeMap::new();
    let number = |count: u64| i64::try_from(count).expect("a count");
    for (state, count) in &before.by_state {
        *led.entry(state.clone()).or_default() += number(*count);
    }
    for ((from, to), count) in &night.told.moves {
        *led.entry(from.clone()).or_default() -= number(*count);
        *led.entry(to.clone()).or_default() += number(*count);
    }
    led.retain(|_, count| *count != 0);
    let after: BTreeMap<String, i64> =
        after.by_state.iter().map(|(state, count)| (state.clone(), number(*count))).collect();
    assert_eq!(led, after, "the news of the rows");
}
