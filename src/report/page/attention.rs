//! The rows that a person looks at, gathered while the reports are written: grouped by cause and sheet, and bounded.
//!
//! Each sort of row has a share of its own, so that ten thousand failed rows do not hide the one row that a person decides;
//! what is not shown is counted, and is in `results.xlsx`. What all rows of a group have in common is said once.

use std::collections::BTreeMap;

use crate::advice::{Advice, Piece};
use crate::journal::SheetId;
use crate::model::amount::{capitalised, count, counted};
use crate::model::id::ImportId;
use crate::model::state::{JobState, RowGroup};
use crate::report::cell_change::CellChange;
use crate::report::layout::Layout;
use crate::report::page_assets::{cut_short, shown};
use crate::report::result_line::ResultLine;
use crate::report::row_group::Badge;
use crate::status::row_advice::{self, Advisor};

/// Rows shown of a group, and of all groups of one sort.
const OF_GROUP: usize = 200;
const OF_SORT: usize = 2_000;
/// The same of rows that only follow from others: nothing is to be corrected in them.
const FOLLOWERS: usize = 20;

/// Groups that are kept apart; there is no more than a hundred codes.
const GROUPS: usize = 1_000;

/// Letters of a text of somebody else's that are shown; a cell may hold a book.
const LETTERS: usize = 600;

/// The columns of an upkeep sheet that say what a row is about: the record, and what of it.
const UPKEEP_COLUMNS: [&str; 9] =
    ["owner", "device", "site", "cloud", "interface", "template", "label", "key", "licence_code"];

/// Rows that need attention.
#[derive(Default)]
pub(super) struct Attention {
    groups: BTreeMap<Key, Rows>,
    /// How many there are, those included that are not shown.
    pub(super) total: u64,
    /// How many of each sort are shown.
    sorts: [usize; 3],
}

/// What the rows of a group have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    sort: Sort,
    code: String,
    state: JobState,
    has_job: bool,
    sheet: SheetId,
}

/// How urgent a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    /// A person decides or looks into it, or its outcome is unknown.
    Decide,
    /// It failed or was not imported.
    Correct,
    /// It only follows from another row.
    Follow,
}

/// Rows of one cause in one sheet.
#[derive(Default)]
struct Rows {
    sheet: String,
    file: String,
    rows: Vec<AttentionRow>,
    total: u64,
    /// What all of them say, as long as they do.
    message: SameInAll<String>,
    what_next: SameInAll<Advice>,
    change: SameInAll<Option<CellChange>>,
}

/// What is the same in all rows so far.
#[derive(Default)]
enum SameInAll<T> {
    #[default]
    None,
    Same(T),
    Different,
}

impl<T> SameInAll<T> {
    fn add(&mut self, other: T, is_same: impl Fn(&T, &T) -> bool) {
        match self {
            Self::None => *self = Self::Same(other),
            Self::Same(first) if is_same(first, &other) => {}
            Self::Same(_) | Self::Different => *self = Self::Different,
        }
    }

    fn get(&self) -> Option<&T> {
        match self {
            Self::Same(same) => Some(same),
            Self::None | Self::Different => None,
        }
    }
}

/// A row.
struct AttentionRow {
    /// The cell to blame, or the row where none is.
    place: String,
    name: String,
    key: String,
    job: String,
    message: String,
    what_next: Advice,
    change: Option<CellChange>,
}

/// A group as the page shows it.
pub(super) struct GroupView<'a> {
    pub(super) badge: Badge,
    pub(super) code: &'a str,
    /// Whether it is the first of its code: where the cause leads to without the script.
    pub(super) first: bool,
    pub(super) title: String,
    pub(super) sheet: &'a str,
    /// The file, where it has another name than the sheet.
    pub(super) file: &'a str,
    pub(super) total: String,
    /// What all rows say, and what to do in all of them; empty where each row says it.
    pub(super) message: &'a str,
    pub(super) change: String,
    pub(super) what_next: Vec<Piece<'a>>,
    pub(super) rows: Vec<AttentionRowView<'a>>,
    /// How many rows are not shown, as a sentence.
    pub(super) more: Option<String>,
    /// The numbers of the rows in the journal.
    pub(super) jobs: String,
}

/// A row as the page shows it: what its group does not say already.
pub(super) struct AttentionRowView<'a> {
    pub(super) place: &'a str,
    pub(super) name: &'a str,
    pub(super) key: &'a str,
    pub(super) message: &'a str,
    pub(super) change: String,
    pub(super) what_next: Vec<Piece<'a>>,
}

impl Attention {
    /// Takes in a row, if it needs attention: under its own code, and under that of what verification found besides.
    pub(super) fn line(
        &mut self,
        layout: &Layout,
        line: &ResultLine,
        (advisor, import): (&Advisor<'_>, ImportId),
    ) {
        let code = line.row.code.as_deref().unwrap_or_default();
        let differs = line.row.differs() && line.row.answered_by.is_none();
        let badge = Badge::of(line.row.state, line.row.job.is_some());
        if let Some(sort) = sort(badge.group, &line.row.state, row_advice::is_finding(code) || differs) {
            self.put(layout, line, (sort, code), AttentionRow::of(layout, line, sort));
        }
        if let (Some((code, words)), Some(job)) = (&line.row.finding, line.row.job) {
            let advice = row_advice::of(Some(code), line.row.state).next(job, import);
            let row = AttentionRow {
                message: readable(&format!("verification: {words}")),
                what_next: fit(&advisor.said(&advice, false)),
                change: None,
                ..AttentionRow::of(layout, line, Sort::Decide)
            };
            self.put(layout, line, (Sort::Decide, code), row);
        }
    }

    fn put(&mut self, layout: &Layout, line: &ResultLine, (sort, code): (Sort, &str), row: AttentionRow) {
        self.total += 1;
        let key = Key {
            sort,
            code: shown(code),
            state: line.row.state,
            has_job: line.row.job.is_some(),
            sheet: layout.sheet,
        };
        if self.groups.len() == GROUPS && !self.groups.contains_key(&key) {
            return;
        }
        let rows = self.groups.entry(key).or_insert_with(|| Rows {
            sheet: shown(&layout.name),
            file: shown(&layout.file),
            ..Rows::default()
        });
        rows.total += 1;
        rows.message.add(row.message.clone(), PartialEq::eq);
        rows.what_next.add(row.what_next.clone(), PartialEq::eq);
        rows.change.add(row.change.clone(), |one, other| match (one, other) {
            (Some(one), Some(other)) => one.is_same(other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        });
        let most = if sort == Sort::Follow { FOLLOWERS } else { OF_GROUP };
        let shown_of_sort = &mut self.sorts[sort as usize];
        if rows.rows.len() < most && *shown_of_sort < OF_SORT {
            *shown_of_sort += 1;
            rows.rows.push(row);
        }
    }

    /// The groups, the most urgent first, then those of the most frequent codes.
    pub(super) fn groups(&self) -> Vec<GroupView<'_>> {
        let mut of_code: BTreeMap<&str, u64> = BTreeMap::new();
        for (key, rows) in &self.groups {
            *of_code.entry(&key.code).or_default() += rows.total;
        }
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by_key(|(key, _)| (key.sort, std::cmp::Reverse(of_code[key.code.as_str()]), *key));
        let mut last = None;
        groups
            .into_iter()
            .map(|(key, rows)| {
                rows.view(key, last.replace(&key.code) != Some(&key.code) && !key.code.is_empty())
            })
            .collect()
    }

    /// What is not shown, as a sentence.
    pub(super) fn not_shown(&self) -> Option<String> {
        let shown = self.groups.values().map(|rows| rows.rows.len() as u64).sum();
        (self.total > shown).then(|| {
            format!(
                "Shown are {} of {}; all of them are in results.xlsx beside this page.",
                count(shown),
                counted(self.total, "row", "rows")
            )
        })
    }
}

impl Rows {
    fn view<'a>(&'a self, key: &'a Key, first: bool) -> GroupView<'a> {
        let message = self.message.get().filter(|message| !message.is_empty());
        let change = self.change.get().and_then(Option::as_ref);
        let what_next = self.what_next.get();
        let rows = self.rows.iter().map(|row| AttentionRowView {
            place: &row.place,
            name: &row.name,
            key: if row.key == row.name { "" } else { &row.key },
            message: if message.is_some() { "" } else { &row.message },
            change: match (&row.change, change) {
                (Some(own), None) => format!("{}.", own.in_this_row()),
                (Some(_) | None, _) => String::new(),
            },
            what_next: if what_next.is_some() { Vec::new() } else { row.what_next.pieces() },
        });
        let more = self.total.saturating_sub(self.rows.len() as u64);
        let jobs: Vec<&str> =
            self.rows.iter().map(|row| row.job.as_str()).filter(|job| !job.is_empty()).collect();
        GroupView {
            badge: Badge::of(key.state, key.has_job),
            code: &key.code,
            first,
            title: title(&key.code, key.state),
            sheet: &self.sheet,
            file: if self.file == self.sheet { "" } else { &self.file },
            total: counted(self.total, "row", "rows"),
            message: message.map_or("", String::as_str),
            change: change.map_or_else(String::new, |change| format!("{}.", change.in_this_row())),
            what_next: what_next.map_or_else(Vec::new, Advice::pieces),
            rows: rows.collect(),
            more: (more > 0)
                .then(|| format!("and {}, in results.xlsx", counted(more, "more row", "more rows"))),
            jobs: jobs.join(", "),
        }
    }
}

impl AttentionRow {
    fn of(layout: &Layout, line: &ResultLine, sort: Sort) -> Self {
        let blamed = line.blames.iter().find_map(|blame| blame.positions.first().copied());
        let cell = |column: &&str| layout.cell(&line.row, column);
        let (name, key) = match layout.kind.is_record() {
            true => (
                ["name", "username", "id"].iter().find_map(cell).unwrap_or_default().to_owned(),
                cell(&"key"),
            ),
            false => (UPKEEP_COLUMNS.iter().filter_map(cell).collect::<Vec<_>>().join(", "), None),
        };
        Self {
            place: match blamed {
                Some(position) => layout.address(position, line.row.number),
                None => format!("row {}", line.row.number),
            },
            name: readable(&name),
            key: readable(key.unwrap_or_default()),
            job: line.row.job.map(|job| job.to_string()).unwrap_or_default(),
            message: match sort {
                // The row that it depends on is mostly in the same file, which is named above.
                Sort::Follow => readable(&line.message.replacen(&format!("({}!", layout.file), "(", 1)),
                Sort::Decide | Sort::Correct => readable(&line.message),
            },
            // What to do about rows that failed is said with their cause.
            what_next: if sort == Sort::Decide { fit(&line.advice) } else { Advice::new() },
            change: line.change.clone(),
        }
    }
}

/// What a group is called: what its code means.
fn title(code: &str, state: JobState) -> String {
    capitalised(row_advice::words(code).unwrap_or_else(|| row_advice::of(None, state).words))
}

/// How urgent a row is; `None` for one that needs nobody. What verification found is about rows that are done.
fn sort(group: RowGroup, state: &JobState, is_finding: bool) -> Option<Sort> {
    match group {
        RowGroup::Held | RowGroup::InDoubt => Some(Sort::Decide),
        RowGroup::NotImported if *state == JobState::Skipped => Some(Sort::Follow),
        RowGroup::Failed | RowGroup::NotImported => Some(Sort::Correct),
        RowGroup::Skipped => Some(Sort::Follow),
        RowGroup::Done | RowGroup::Waiting | RowGroup::Cancelled => is_finding.then_some(Sort::Decide),
    }
}

/// Advice, fit to be shown: a path may hold anything.
pub(super) fn fit(advice: &Advice) -> Advice {
    advice.map(|piece| {
        let (Piece::Words(text) | Piece::Command(text)) = piece;
        shown(text)
    })
}

/// A text of somebody else's, fit to be shown and not longer than can be read.
pub(super) fn readable(text: &str) -> String {
    cut_short(text, LETTERS)
}
