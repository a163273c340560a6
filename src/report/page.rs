//! `report.html`: the report as one page that needs nothing else, for a browser, a printer or a mail.
//!
//! ```text
//! headline   how the import stands and what to do         causes     why rows failed, and what follows from it
//! attention  the rows that a person looks at, by cause    totals     rows by sheet, creations by day
//! tree       the companies with what is below each        pace       requests and finished rows over time
//! rollout    which devices are online, as `rollout` saw them last
//! ```
//!
//! The template is `templates/page/report.html` in the frame of [`super::page_assets`]. What comes from sheets and from the
//! service goes through [`crate::report::page_assets::shown`] on its way into these types, and is escaped by the template.

mod activity_chart;
mod attention;
mod causes;
pub(super) mod headline;
mod rollout;
mod totals;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use askama::Template;

use crate::advice::Piece;
use crate::error::Result;
use crate::journal::{Journal, Whose};
use crate::model::amount::count;
use crate::model::id::ImportId;

use super::atomic_write::FileChange;
use super::format::{FormatWriter, ReportFacts};
use super::layout::Layout;
use super::result_line::ResultLine;
use crate::status::row_words;

use crate::report::page_assets::When;
use activity_chart::ActivityCharts;
use attention::{Attention, GroupView};
use causes::Causes;
use headline::Headline;
use rollout::RolloutView;
use totals::QuotaView;
use totals::Totals;
use tree::{Tree, TreeStep};

/// The file's name.
pub const NAME: &str = "report.html";

/// Spans of time that the journal is asked for.
const SPANS: usize = 20_000;

/// The page under way: what is gathered while the rows go by.
pub(super) struct PageFile<'a> {
    journal: &'a Journal,
    facts: &'a ReportFacts<'a>,
    attention: Attention,
}

/// Everything the template shows.
#[derive(Template)]
#[template(path = "page/report.html")]
struct Report<'a> {
    import: ImportId,
    /// Its label, and which round of which import it is.
    called: String,
    imported_at: When,
    started_at: Option<When>,
    finished_at: Option<When>,
    whose: &'a Whose,
    headline: &'a Headline,
    files: Vec<(String, String)>,
    totals: Totals,
    pace: Option<ActivityCharts>,
    quota: Option<QuotaView>,
    causes: Causes,
    /// The rows that need attention, and those of them that are not shown, as a sentence.
    groups: &'a [GroupView<'a>],
    not_shown: Option<String>,
    choices: Choices<'a>,
    verified: String,
    requests: String,
    known_before: u64,
    tree: Option<Tree>,
    rollout: Option<RolloutView>,
}

/// What the rows can be filtered by: their states, their codes with what they mean, and their sheets.
struct Choices<'a> {
    states: BTreeSet<&'a str>,
    codes: BTreeMap<&'a str, &'a str>,
    sheets: BTreeSet<&'a str>,
}

impl<'a> Choices<'a> {
    fn of(groups: &'a [GroupView<'a>]) -> Self {
        Self {
            states: groups.iter().map(|group| group.badge.words.as_str()).collect(),
            codes: groups
                .iter()
                .filter(|group| !group.code.is_empty())
                .map(|group| (group.code, group.title.as_str()))
                .collect(),
            sheets: groups.iter().map(|group| group.sheet).collect(),
        }
    }
}

impl<'a> PageFile<'a> {
    pub(super) fn of(journal: &'a Journal, facts: &'a ReportFacts<'a>) -> Self {
        Self { journal, facts, attention: Attention::default() }
    }
}

impl FormatWriter for PageFile<'_> {
    fn line(&mut self, layout: &Layout, line: &ResultLine) -> Result<()> {
        let ReportFacts { figures, advisor, .. } = self.facts;
        self.attention.line(layout, line, (advisor, figures.info.import));
        Ok(())
    }

    fn finish(self: Box<Self>, changes: &mut Vec<FileChange>) -> Result<()> {
        let ReportFacts { figures, headline, advisor, folder, .. } = *self.facts;
        let (journal, info) = (self.journal, figures.info);
        let activity = journal.activity(info.import, info.at, SPANS)?;
        let groups = self.attention.groups();
        let report = Report {
            import: info.import,
            called: headline::called(info),
            imported_at: When::of(info.at),
            started_at: figures.started_at.map(When::of),
            finished_at: figures.finished_at.map(When::of),
            whose: &figures.whose,
            headline,
            files: headline::files(info),
            totals: Totals::of(figures),
            pace: ActivityCharts::of(&activity),
            quota: QuotaView::of(journal, figures)?,
            causes: Causes::of(figures, advisor),
            groups: &groups,
            not_shown: self.attention.not_shown(),
            choices: Choices::of(&groups),
            verified: match row_words::which_not_verified(journal, Some(info.import), &figures.audit)? {
                Some(which) => format!("{}. These {which}", row_words::verified(&figures.audit)),
                None => row_words::verified(&figures.audit),
            },
            requests: count(figures.requests),
            known_before: figures.recognised,
            tree: Tree::of(journal, info.import)?,
            rollout: RolloutView::of(journal, info.import)?,
        };
        let mut file = folder.begin(NAME)?;
        let written = report.write_into(&mut file).and_then(|()| file.write_all(b"\n"));
        written.map_err(|error| folder.failed_file(NAME, error))?;
        changes.push(FileChange::Put(file));
        Ok(())
    }
}
