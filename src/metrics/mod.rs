//! Metrics: figures of the journal and of a run in the OpenMetrics text form, for Prometheus and its textfile collector.
//!
//! ```text
//! family        every metric with its type, unit, labels and meaning; the table of the documentation is made from it
//! text_form     the OpenMetrics text form
//! journal_figures   what the journal knows, at any time
//! run_figures   what only the run itself knows: answers, latency, pauses; from its news
//! exposition    both as one text
//! ```
//!
//! No sample holds a value of a row or a secret, and no label names a row: the number of series does not grow with the rows.

mod exposition;
mod family;
mod journal_figures;
mod run_figures;
mod text_form;

pub use exposition::{BEGINNING, Source, exposition};
pub use family::{FAMILIES, Family, table};
pub use journal_figures::JournalFigures;
pub use run_figures::RunFigures;
