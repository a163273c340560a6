//! How a sheet is laid out in the reports: which of its columns stand where, and which column a problem speaks of.
//!
//! The result columns of an input that was itself a report of ours are not repeated. Values beyond the last header
//! get headers that a later import ignores, so that no cell is lost.

use std::borrow::Cow;

use crate::error::Result;
use crate::journal::{Difference, Journal, RowView, SheetId, SheetInfo};
use crate::model::descriptor::ActionDescriptor;
use crate::model::id::RemoteId;
use crate::model::key::comparable;
use crate::model::kind::{Kind, Upkeep};
use crate::model::reason::ServiceCode;
use crate::model::state::{JobState, RowGroup};
use crate::model::tally::Tally;
use crate::model::time::Moment;
use crate::model::verdict::Violation;
use crate::sheet::column::{Column, Form, column, column_of_violation, columns};
use crate::sheet::{self, Mapped};

/// The result columns, always last and in this order.
pub const RESULT_COLUMNS: [&str; 9] = [
    "result_status",
    "result_id",
    "result_code",
    "result_message",
    "result_column",
    "result_advice",
    "result_attempts",
    "result_finished_at",
    "result_source",
];

/// How wide columns of the input are shown, in characters.
const SHOWN: std::ops::RangeInclusive<usize> = 12..=40;
/// How wide frozen columns of the input may be together, in characters.
const FROZEN: f64 = 80.0;
/// Columns shown for the cells of rows that are wider than the header; what stands beyond them is in the last one.
const SURPLUS: usize = 50;
/// Most columns of the input that are shown: a worksheet ends at 16,384, and the result columns follow.
const MOST: usize = 16_000;

/// What stands between cells that are shown as one.
pub(super) const BETWEEN: &str = "; ";

/// A sheet of the import as the reports show it.
#[derive(Debug)]
pub(super) struct Layout {
    /// Its number in the journal.
    pub(super) sheet: SheetId,
    /// The worksheet's name, or the file's without its ending.
    pub(super) name: String,
    /// The file's name as it was given.
    pub(super) file: String,
    /// What its rows are.
    pub(super) kind: Kind,
    /// The original headers that are shown, in the sheet's order.
    pub(super) headers: Vec<String>,
    /// What each of them means.
    meaning: Vec<Mapped>,
    /// Where each of them stood.
    kept: Vec<usize>,
    /// From where on the cells of a row are shown as one, when it may have more than there are columns.
    together: Option<usize>,
    /// What its rows came to.
    pub(super) count: Count,
}

/// What the rows of a sheet came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Rows by the state of their jobs.
    pub(super) states: Tally,
    /// Those of them that were not imported.
    pub(super) not_imported: Tally,
    /// Rows.
    pub(super) rows: u64,
    /// Rows that a person must correct.
    pub(super) to_fix: u64,
    /// Those of them in which nothing is to be corrected: they come along with what they belong to.
    pub(super) along: u64,
    /// Rows whose job was there before, done or not, with the same values.
    pub(super) recognised: u64,
    /// Rows that differ from the record that was made earlier, and have not come again since.
    pub(super) changed_since: u64,
    /// When the last of the jobs came to its final state.
    pub(super) finished_at: Option<Moment>,
    /// Of each column the characters of its longest cell; as many as the longest row has cells.
    widths: Widths,
}

/// Of each column the characters of its longest cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Widths(Vec<usize>);

impl Widths {
    /// Takes in the cells of a row.
    pub(super) fn add<T: AsRef<str>>(&mut self, cells: &[T]) {
        let filled = filled(cells).len();
        if self.0.len() < filled {
            self.0.resize(filled, 0);
        }
        for (width, cell) in self.0.iter_mut().zip(cells) {
            // Bytes are at least as many as characters, and a column has an end.
            *width = (*width).max(cell.as_ref().len());
        }
    }

    /// How many columns have a cell.
    pub(super) fn columns(&self) -> usize {
        self.0.len()
    }

    /// How wide a column is shown, with its header.
    pub(super) fn of(&self, column: usize, header: &str) -> f64 {
        let cells = self.0.get(column).map_or(0, |width| width + 2);
        let width = cells.max(header.chars().count() + 4).clamp(*SHOWN.start(), *SHOWN.end());
        f64::from(u32::try_from(width).unwrap_or(u32::MAX))
    }
}

impl Count {
    /// Takes in a row.
    fn add(&mut self, row: &RowView) {
        use crate::journal::Disposition::{ChangedSince, LeftOut, New, Recognised, Revised};
        self.states.add(row.kind, row.state, 1);
        if RowGroup::of_row(row.state, row.job.is_some()) == RowGroup::NotImported {
            self.not_imported.add(row.kind, row.state, 1);
        }
        self.rows += 1;
        self.to_fix += u64::from(must_be_corrected(row));
        self.along += u64::from(must_be_corrected(row) && row.state == JobState::Skipped);
        self.finished_at = self.finished_at.max(row.finished_at);
        match row.disposition {
            Recognised => self.recognised += 1,
            New | Revised | ChangedSince | LeftOut => {}
        }
        self.changed_since += u64::from(row.differs() && row.answered_by.is_none());
        self.widths.add(&row.cells);
    }
}

/// Whether a row comes back only when it is imported again. One that did, in a later import, is answered for there, and
/// to be corrected there if it is wrong still. Skipped rows come back by themselves with what they wait for,
/// unless they have no job; and held ones are decided, not corrected.
pub(super) fn must_be_corrected(row: &RowView) -> bool {
    if row.answered_by.is_some() {
        return false;
    }
    match row.state {
        JobState::Skipped => row.job.is_none(),
        JobState::Rejected | JobState::Incomplete => true,
        JobState::Blocked
        | JobState::Ready
        | JobState::Deferred
        | JobState::Sending
        | JobState::InDoubt
        | JobState::Held
        | JobState::Created
        | JobState::Adopted
        | JobState::Existing
        | JobState::Done
        | JobState::Cancelled => false,
    }
}

impl Layout {
    /// Looks through the rows of a sheet once, for their number and width, and lays it out.
    pub(super) fn of(journal: &Journal, info: SheetInfo) -> Result<Self> {
        let mut count = Count::default();
        journal.rows_to_count(info.sheet, &mut |row| {
            count.add(&row);
            Ok(())
        })?;
        Ok(Self::new(info, count))
    }

    fn new(info: SheetInfo, count: Count) -> Self {
        let mut headers = info.headers;
        let (columns, together) = columns_shown(headers.len(), count.widths.columns());
        headers.truncate(together.unwrap_or(columns));
        for position in headers.len()..columns {
            headers.push(format!("x-column-{}", position + 1));
        }
        let kept: Vec<usize> = (0..headers.len()).filter(|&at| !is_result_column(&headers[at])).collect();
        let headers: Vec<String> = kept.iter().map(|&at| std::mem::take(&mut headers[at])).collect();
        let meaning = sheet::meaning(info.kind, &headers);
        Self {
            sheet: info.sheet,
            name: info.name,
            file: info.file,
            kind: info.kind,
            headers,
            meaning,
            kept,
            together,
            count,
        }
    }

    /// Rows in a state; those that were not imported are in none.
    pub(super) fn in_state(&self, state: JobState) -> u64 {
        self.count.states.in_state(state).saturating_sub(self.count.not_imported.in_state(state))
    }

    /// Rows in a group.
    pub(super) fn in_group(&self, group: RowGroup) -> u64 {
        match group {
            RowGroup::NotImported => self.count.not_imported.total(),
            RowGroup::Done
            | RowGroup::Failed
            | RowGroup::Skipped
            | RowGroup::Held
            | RowGroup::InDoubt
            | RowGroup::Waiting
            | RowGroup::Cancelled => group.states().map(|state| self.in_state(state)).sum(),
        }
    }

    /// How wide a shown column is.
    pub(super) fn width(&self, position: usize) -> f64 {
        let header = self.headers.get(position).map_or("", String::as_str);
        self.count.widths.of(self.kept.get(position).copied().unwrap_or_default(), header)
    }

    /// How many columns from the left hold what the rows are known by, where these leave room on a screen for others.
    pub(super) fn identifying(&self) -> u16 {
        let mut wide = 0.0;
        let near = (0..self.headers.len()).take_while(|&position| {
            wide += self.width(position);
            wide <= FROZEN
        });
        let known_by = |position: &usize| {
            matches!(&self.meaning[*position], Mapped::Column { column, .. }
                if matches!(column.form, Form::Key | Form::Username) || column.name == "name")
        };
        let columns = near.filter(known_by).last().map_or(0, |position| position + 1);
        u16::try_from(columns).unwrap_or_default()
    }

    /// What the cells under a shown header hold; `None` where it is no column of ours.
    pub(super) fn form(&self, position: usize) -> Option<Form> {
        match self.meaning.get(position)? {
            Mapped::Column { column, .. } => Some(column.form),
            Mapped::Ignored | Mapped::Blank | Mapped::Unknown => None,
        }
    }

    /// The cells of a row under the shown headers; blank where the row is shorter.
    pub(super) fn cells<'a>(&'a self, row: &'a RowView) -> impl Iterator<Item = Cow<'a, str>> {
        self.kept.iter().map(|&at| match row.cells.get(at..) {
            Some(rest) if self.together == Some(at) => filled(rest).join(BETWEEN).into(),
            Some([cell, ..]) => cell.into(),
            Some([]) | None => "".into(),
        })
    }

    /// The cell of a row in a column of its kind; `None` when the sheet has no such column, or the cell is blank.
    pub(super) fn cell<'a>(&self, row: &'a RowView, name: &str) -> Option<&'a str> {
        let column = column(self.kind, name)?;
        let position = *self.positions(column).first()?;
        let cell = row.cells.get(*self.kept.get(position)?)?.trim();
        (!cell.is_empty()).then_some(cell)
    }

    /// The address of a cell under a shown header, as a spreadsheet program shows it in the original.
    pub(super) fn address(&self, position: usize, row: u32) -> String {
        sheet::address(self.kept.get(position).copied().unwrap_or(position), row)
    }

    /// Where a shown column stood in the input, when its values are chosen from a set: a reference, a model, a country.
    pub(super) fn original_of_choice(&self, position: usize) -> Option<usize> {
        let Some(Mapped::Column { column, .. }) = self.meaning.get(position) else { return None };
        let is_choice = match column.form {
            Form::Reference(_)
            | Form::Owner
            | Form::Enum(_)
            | Form::Bool
            | Form::Country
            | Form::Timezone => true,
            Form::Name
            | Form::Text
            | Form::Code
            | Form::Key
            | Form::Email
            | Form::Username
            | Form::Phone
            | Form::Mac
            | Form::Latitude
            | Form::Integer
            | Form::Longitude
            | Form::Offers
            | Form::Labels
            | Form::Id
            | Form::Action
            | Form::Exported
            | Form::Family(_) => column.name == "device_model",
        };
        self.kept.get(position).copied().filter(|original| is_choice && self.together != Some(*original))
    }

    /// Where a column stands among the shown headers: nowhere, once, or for a family as often as it has columns.
    pub(super) fn positions(&self, wanted: &Column) -> Vec<usize> {
        self.meaning
            .iter()
            .enumerate()
            .filter(
                |(_, mapped)| matches!(mapped, Mapped::Column { column, .. } if column.name == wanted.name),
            )
            .map(|(position, _)| position)
            .collect()
    }

    /// The columns that are to blame for where a row stands, each with the service's words about it.
    pub(super) fn blame(&self, row: &RowView) -> Vec<Blame> {
        if row.differs() {
            return row.differences.iter().map(|difference| self.differing(difference)).collect();
        }
        let (own, others): (Vec<&Violation>, Vec<&Violation>) =
            row.violations.iter().partition(|violation| !self.is_of_other_row(row, violation));
        let no_column = |path: &str, violation: &Violation| Blame {
            header: None,
            path: path.to_owned(),
            positions: Vec::new(),
            words: violation.message.clone(),
            is_of_other_row: false,
        };
        let blamed = |violation: &&Violation| match self.column_of(&violation.path) {
            Some(column) => self.blamed(column, &violation.message),
            None => no_column(&violation.path, violation),
        };
        let of_other = |violation: &&Violation| {
            let path = self.column_of(&violation.path).map_or(violation.path.as_str(), |column| column.name);
            Blame { is_of_other_row: true, ..no_column(path, violation) }
        };
        let mut blames: Vec<Blame> = match own.is_empty() {
            false => own.iter().map(blamed).collect(),
            true => others.iter().map(of_other).collect(),
        };
        blames.dedup();
        if blames.is_empty()
            && row.state.is_failed()
            && let Some(column) = self.culprit(row)
        {
            blames.push(self.blamed(column, ""));
        }
        blames
    }

    /// Whether a violation is about the interface of another row: rows of one device and cloud are one request.
    fn is_of_other_row(&self, row: &RowView, violation: &Violation) -> bool {
        let interface = violation.path.split_once('[').and_then(|(_, rest)| rest.strip_suffix(']'));
        interface.is_some_and(|interface| {
            let cell = self.cell(row, "interface").map(comparable);
            self.kind == Kind::Upkeep(Upkeep::Vpn)
                && !cell.is_some_and(|cell| cell.eq_ignore_ascii_case(&comparable(interface)))
        })
    }

    /// The column of a violation: by the field as the service calls it, or by our own name where the sheet was found wrong
    /// before anything was sent.
    fn column_of(&self, path: &str) -> Option<&'static Column> {
        column_of_violation(self.kind, path).or_else(|| column(self.kind, path))
    }

    /// The column in which a row differs from its record.
    fn differing(&self, difference: &Difference) -> Blame {
        let is_it = |mapped: &Mapped| {
            matches!(mapped, Mapped::Column { column, entry }
                if difference.column == format!("{}{}", column.name, entry.as_deref().unwrap_or_default()))
        };
        let by_header = |header: &String| header.trim() == difference.header;
        let position =
            self.meaning.iter().position(is_it).or_else(|| self.headers.iter().position(by_header));
        Blame {
            header: Some(difference.header.clone()),
            path: difference.column.clone(),
            positions: position.into_iter().collect(),
            words: difference.values(),
            is_of_other_row: false,
        }
    }

    fn blamed(&self, column: &'static Column, words: &str) -> Blame {
        let positions = self.positions(column);
        let header = match positions.first() {
            Some(&first) => self.headers[first].trim(),
            None => column.name,
        };
        Blame {
            header: Some(header.to_owned()),
            path: column.name.to_owned(),
            positions,
            words: words.to_owned(),
            is_of_other_row: false,
        }
    }

    /// The column a rejection without violations speaks of, where there is no doubt: the one cell that a later step
    /// carries out, or the value that the service keeps unique (specification 2.5 and 7).
    fn culprit(&self, row: &RowView) -> Option<&'static Column> {
        let code = row.code.as_deref();
        let is = |known: ServiceCode| code == Some(known.as_str());
        if is(ServiceCode::InvalidState) || is(ServiceCode::GeneralError) {
            // What is wrong is the state of a record, or anything that the message says.
            return None;
        }
        let asked_in = row.operation.and_then(ActionDescriptor::of).map_or(&[][..], |action| action.columns);
        let name = match asked_in.iter().find(|name| self.cell(row, name).is_some()) {
            Some(name) if is(ServiceCode::NoDataFound) => {
                // The record that the row is about is gone where the service names the id of another thing than the cell does.
                let (cell, message) = (self.cell(row, name)?, row.message.as_deref()?);
                if names_other_id(message, cell) {
                    return self.named_in(message, row);
                }
                name
            }
            Some(name) => name,
            None if !asked_in.is_empty() => return None,
            None => match self.kind {
                Kind::Device if is(ServiceCode::DuplicateEntity) => "mac",
                Kind::Person if is(ServiceCode::DuplicateEntity) => "username",
                _ if is(ServiceCode::NoDataFound) => return self.named_in(row.message.as_deref()?, row),
                _ => return None,
            },
        };
        self.cell(row, name)?;
        column(self.kind, name)
    }
}

impl Layout {
    /// The one column whose cell the service names as not found: a reference or a model.
    fn named_in(&self, message: &str, row: &RowView) -> Option<&'static Column> {
        let mut named = columns(self.kind).iter().filter(|column| {
            let may_be_missing =
                matches!(column.form, Form::Reference(_) | Form::Owner) || column.name == "device_model";
            may_be_missing && self.cell(row, column.name).is_some_and(|cell| is_named(cell, message))
        });
        match (named.next(), named.next()) {
            (Some(column), None) => Some(column),
            (Some(_) | None, _) => None,
        }
    }
}

/// Whether a message has the id of something in it that a cell does not name.
fn names_other_id(message: &str, cell: &str) -> bool {
    let mut words = message.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.any(|word| word.parse::<RemoteId>().is_ok() && !cell.contains(word))
}

/// Whether a message has a text in it as words of their own.
fn is_named(text: &str, message: &str) -> bool {
    let apart = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    message.match_indices(text).any(|(at, found)| {
        apart(message[..at].chars().next_back()) && apart(message[at + found.len()..].chars().next())
    })
}

/// How many columns are shown of a sheet with `headers` whose widest row has `cells`, and from where on cells are shown
/// as one.
pub(super) fn columns_shown(headers: usize, cells: usize) -> (usize, Option<usize>) {
    let most = headers.saturating_add(SURPLUS).min(MOST);
    let columns = headers.max(cells);
    if columns > most { (most, Some(most - 1)) } else { (columns, None) }
}

/// The cells up to the last that is not blank.
fn filled<T: AsRef<str>>(cells: &[T]) -> &[T] {
    let last = cells.iter().rposition(|cell| !cell.as_ref().is_empty());
    cells.get(..last.map_or(0, |last| last + 1)).unwrap_or_default()
}

/// A column that is to blame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Blame {
    /// Its header as the sheet has it, or our name for a column that the sheet lacks; `None` for a field that no
    /// column stands for.
    pub(super) header: Option<String>,
    /// The field as the service calls it, or our name of the column.
    path: String,
    /// Where it stands among the shown headers.
    pub(super) positions: Vec<usize>,
    /// The service's words about it; empty where the message says it all.
    pub(super) words: String,
    /// Whether it is not this row that is to be corrected, but another one of the same request.
    pub(super) is_of_other_row: bool,
}

impl Blame {
    /// What to call the column.
    pub(super) fn name(&self) -> &str {
        self.header.as_deref().filter(|header| !header.is_empty()).unwrap_or(&self.path)
    }
}

/// Whether a header is one of our result columns.
pub(super) fn is_result_column(header: &str) -> bool {
    let header = header.trim();
    RESULT_COLUMNS.iter().any(|name| header.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_named_only_where_it_stands_as_words_of_its_own() {
        for (text, message, named) in [
            ("Edge 250", "No device model found with name Edge 250", true),
            ("Edge 25", "No device model found with name Edge 250", false),
            ("acme", "no company 'acme' was found", true),
            ("acme", "no company acmes was found, nor acme", true),
            ("acme", "nothing was found", false),
        ] {
            assert_eq!(is_named(text, message), named, "{text}: {message}");
        }
    }

    #[test]
    fn a_cell_is_not_to_blame_where_the_service_names_the_id_of_something_else() {
        let id = "f10e664c-0000-4000-8000-000000000001";
        for (cell, message, other) in [
            ("till", format!("No device found with id {id}"), true),
            (id, format!("No template found with id {id}"), false),
            ("L1", "no such licence".to_owned(), false),
        ] {
            assert_eq!(names_other_id(&message, cell), other, "{cell}: {message}");
        }
    }

    #[test]
    fn a_column_is_as_wide_as_what_it_holds_within_reason() {
        let mut widths = Widths::default();
        widths.add(&["a".into(), "someone@customer.example".into(), "x".repeat(300), String::new()]);
        assert_eq!(widths.columns(), 3);
        let shown: Vec<f64> = (0..4).map(|column| widths.of(column, "header")).collect();
        assert_eq!(shown, [12.0, 26.0, 40.0, 12.0]);
    }
}
