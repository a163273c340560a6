//! `report.html`: the report as one page that needs nothing else, for a browser, a printer or a mail.
//!
//! ```text
//! headline   how the import stands and what to do next    totals     rows by sheet and state
//! pace       requests and finished rows over time         quota      creations by day against the ceiling
//! causes     why rows did not get through                 attention  the rows that a person looks at
//! tree       the companies with what is below each        badge      states as tone, sign and word
//! session    stretches of work and the pauses between     moment     moments and lengths of time
//! ```
//!
//! The template is `templates/page/report.html` in the frame of [`crate::look`]. What comes from sheets and from the
//! service goes through [`crate::look::shown`] on its way into these types, and is escaped by the template.

mod attention;
pub(super) mod badge;
mod causes;
pub(super) mod headline;
mod moment;
mod pace;
mod quota;
mod session;
mod totals;
mod tree;

use std::io::Write as _;

use askama::Template;

use crate::command::Piece;
use crate::error::{Error, Result};
use crate::journal::{ImportInfo, Journal, Whose};
use crate::model::id::ImportId;

use super::advice::Advisor;
use super::figures::Figures;
use super::layout::Layout;
use super::line::ResultLine;
use super::replace::{Beside, Folder};

use attention::Attention;
use causes::CauseView;
use headline::Headline;
use moment::When;
use pace::Pace;
use quota::QuotaView;
use totals::Totals;
use tree::{Step, Tree};

/// The file's name.
pub const NAME: &str = "report.html";

/// Spans of time that the journal is asked for.
const SPANS: usize = 20_000;

/// The page under way: what is gathered while the rows go by.
#[derive(Default)]
pub(super) struct Page {
    attention: Attention,
}

/// Everything the template shows.
#[derive(Template)]
#[template(path = "page/report.html")]
struct Report<'a> {
    import: ImportId,
    imported_at: When,
    started_at: Option<When>,
    finished_at: Option<When>,
    whose: &'a Whose,
    headline: &'a Headline,
    files: Vec<(String, String)>,
    totals: Totals,
    pace: Option<Pace>,
    quota: Option<QuotaView>,
    causes: Vec<CauseView>,
    attention: &'a Attention,
    choices: Choices<'a>,
    tree: Option<Tree>,
}

/// What the rows can be filtered by.
struct Choices<'a> {
    states: Vec<&'a str>,
    codes: Vec<&'a str>,
    sheets: Vec<&'a str>,
}

impl Page {
    /// Takes in a row.
    pub(super) fn line(&mut self, layout: &Layout, line: &ResultLine) {
        self.attention.line(layout, line);
    }

    /// Writes the page.
    pub(super) fn write(
        &self,
        journal: &Journal,
        info: &ImportInfo,
        figures: &Figures,
        headline: &Headline,
        advisor: &Advisor<'_>,
        folder: &Folder,
    ) -> Result<Beside> {
        let activity = journal.activity(info.import, info.at, SPANS)?;
        let (states, codes, sheets) = self.attention.choices();
        let report = Report {
            import: info.import,
            imported_at: When::of(info.at),
            started_at: figures.started_at.map(When::of),
            finished_at: figures.finished_at.map(When::of),
            whose: &figures.whose,
            headline,
            files: headline::files(figures),
            totals: Totals::of(figures),
            pace: Pace::of(&activity),
            quota: QuotaView::of(journal, figures)?,
            causes: causes::of(figures, &self.attention, advisor),
            attention: &self.attention,
            choices: Choices {
                states: states.into_iter().collect(),
                codes: codes.into_iter().collect(),
                sheets: sheets.into_iter().collect(),
            },
            tree: Tree::of(journal, info.import)?,
        };
        let mut file = folder.begin(NAME)?;
        let failed =
            |error: std::io::Error| -> Error { folder.failed("the file", &folder.path().join(NAME), error) };
        report.write_into(&mut file).map_err(failed)?;
        file.write_all(b"\n").map_err(failed)?;
        Ok(file)
    }
}
