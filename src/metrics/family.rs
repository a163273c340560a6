//! The table of metrics: each with its name, type, unit, labels and meaning. Names follow the conventions of Prometheus.
//!
//! Points in time are given instead of ages: an age would be wrong as soon as nobody writes it.

use std::fmt::Write as _;

use crate::model::words::words;

words! {
    /// What a metric measures.
    pub enum MetricType: as_str {
        /// A value that rises and falls.
        Gauge = "gauge",
        /// A count that only rises while the run goes on.
        Counter = "counter",
        /// How many values are at most so large.
        Histogram = "histogram",
    }
}

/// A metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Its name, without the ending of a sample.
    pub name: &'static str,
    /// What it measures.
    pub metric: MetricType,
    /// The unit that its name ends with; blank for none.
    pub unit: &'static str,
    /// Its labels besides `account`.
    pub labels: &'static [&'static str],
    /// Whether only the run itself knows it.
    pub of_run: bool,
    /// What it is, in a sentence without its full stop.
    pub help: &'static str,
}

impl Family {
    /// The name of its samples: a counter has an ending of its own.
    pub fn sample_name(&self) -> String {
        match self.metric {
            MetricType::Counter => format!("{}_total", self.name),
            MetricType::Gauge | MetricType::Histogram => self.name.to_owned(),
        }
    }
}

/// Declares the metrics, in the order of the text.
macro_rules! families {
    ($($id:ident = $name:literal, $metric:ident, $unit:literal, [$($label:literal),*], $of_run:literal, $help:literal;)+) => {
        $(pub(super) static $id: Family = Family {
            name: $name, metric: MetricType::$metric, unit: $unit, labels: &[$($label),*], of_run: $of_run, help: $help,
        };)+

        /// Every metric.
        pub static FAMILIES: &[&Family] = &[$(&$id),+];
    };
}

families! {
    INFO = "fleetload_info", Gauge, "", ["version", "profile", "service", "rehearsal"], false,
        "Always 1; its labels say which fleetload, profile and service the figures are of";
    WRITTEN = "fleetload_written_timestamp_seconds", Gauge, "seconds", [], false,
        "When these figures were written";
    ROWS = "fleetload_rows", Gauge, "", ["kind", "state"], false,
        "Rows of the journal by kind and state, without those that were not imported because of errors";
    OLDEST_WAITING = "fleetload_oldest_waiting_row_timestamp_seconds", Gauge, "seconds", [], false,
        "When the oldest row was imported that waits to be sent";
    OLDEST_IN_DOUBT = "fleetload_oldest_in_doubt_row_timestamp_seconds", Gauge, "seconds", [], false,
        "Since when the oldest row in doubt is in doubt";
    OLDEST_ON_HOLD = "fleetload_oldest_held_row_timestamp_seconds", Gauge, "seconds", [], false,
        "Since when the oldest row on hold is on hold";
    LAST_ROW = "fleetload_last_row_finished_timestamp_seconds", Gauge, "seconds", [], false,
        "When a row last reached a final state";
    RUN_IN_PROGRESS = "fleetload_run_in_progress", Gauge, "", [], false,
        "1 while a run is in progress, 0 otherwise";
    RUN_STARTED = "fleetload_last_run_started_timestamp_seconds", Gauge, "seconds", [], false,
        "When the last run that sent something began";
    COMMAND_ENDED = "fleetload_last_run_ended_timestamp_seconds", Gauge, "seconds", [], false,
        "When the last run command ended";
    EXIT_CODE = "fleetload_last_run_exit_code", Gauge, "", [], false,
        "Exit code of the last run command; 5 as well when the last run was killed";
    LAST_SUCCESS = "fleetload_last_success_timestamp_seconds", Gauge, "seconds", [], false,
        "When a run command last ended with exit code 0";
    QUOTA = "fleetload_quota_creations", Gauge, "creations", ["outcome"], false,
        "Creations counted against the quota of the current day; the sum is what is used, or the least that is in an older copy of the journal";
    QUOTA_CEILING = "fleetload_quota_ceiling_creations", Gauge, "creations", [], false,
        "Creations that a day allows, if that is known";
    QUOTA_RESET = "fleetload_quota_reset_timestamp_seconds", Gauge, "seconds", [], false,
        "When the quota of the current day ends";
    PARKED_SINCE = "fleetload_parked_since_timestamp_seconds", Gauge, "seconds", [], false,
        "Since when creations wait for the next day of the quota; while a run waits, only from that run";
    PARKED_UNTIL = "fleetload_parked_until_timestamp_seconds", Gauge, "seconds", [], false,
        "Until when creations wait for the next day of the quota";
    OPERATION_PAUSED = "fleetload_operation_paused", Gauge, "", ["operation"], false,
        "1 for an operation that is paused because the service fails at it";
    PACE = "fleetload_pace_requests_per_second", Gauge, "requests_per_second", ["operation"], false,
        "Requests a second that were sent lately, for operations with requests left";
    LIMIT = "fleetload_limit_requests_per_second", Gauge, "requests_per_second", ["operation"], false,
        "Requests a second that are allowed now, for operations with requests left";
    JOURNAL_SIZE = "fleetload_journal_size_bytes", Gauge, "bytes", [], false,
        "Size of the journal, without its write-ahead log";
    REQUESTS = "fleetload_requests", Counter, "", ["operation"], true,
        "Requests that the run sent for rows, look-ups included, without sign-ins";
    ANSWERS = "fleetload_answers", Counter, "", ["operation", "class"], true,
        "Results of these requests by class";
    LATENCY = "fleetload_answer_latency_seconds", Histogram, "seconds", ["operation"], true,
        "Time from the first byte of a request to the end of its answer, of answers that came";
    PAUSED_SINCE = "fleetload_operation_paused_since_timestamp_seconds", Gauge, "seconds", ["operation"], true,
        "Since when an operation is paused because the service fails at it";
    UNREACHABLE_SINCE = "fleetload_unreachable_since_timestamp_seconds", Gauge, "seconds", [], true,
        "Since when the service cannot be reached";
    SHEET_PAUSES = "fleetload_sheet_pauses", Counter, "", [], true,
        "Sheets that the run paused because the service rejected their rows one after another";
}

/// The table of the documentation.
pub fn table() -> String {
    let mut table = String::from("\n| metric | type | labels | what it is |\n|---|---|---|---|\n");
    for family in FAMILIES {
        let labels: Vec<String> = family.labels.iter().map(|label| format!("`{label}`")).collect();
        let (name, metric) = (family.sample_name(), family.metric.as_str());
        let mark = if family.of_run { "; only from a run" } else { "" };
        // A text takes everything.
        let _infallible =
            writeln!(table, "| `{name}` | {metric} | {} | {}{mark} |", labels.join(", "), family.help);
    }
    table.push('\n');
    table
}
