//! Rows that a line break outside quotation marks has cut in pieces.
//!
//! The last rows of a text table are held back, because only the row below tells of a short one whether it ends there or
//! goes on. Pieces that are certain become errors, each naming the others; where whole rows fit together as well as pieces
//! would, nothing is decided and the rows draw a warning.

use std::collections::VecDeque;

use super::super::code::{Code, Severity};
use super::super::column::Form;
use super::super::draft::column_of_role;
use super::super::field::fold_key;
use super::super::finding::{Finding, shown};
use super::super::header::Mapped;
use super::super::layout;
use super::super::row::{Identity, Row};
use super::super::table::Table;
use super::super::text::is_blank;
use crate::model::kind::Kind;
use crate::model::record::Role;

/// Rows held back: the pieces of one and the row before them.
const HELD: usize = 4;

/// A row and how many cells it has.
pub(super) struct Held {
    pub(super) row: Row,
    pub(super) width: usize,
    /// Whether it is known what it is.
    settled: bool,
}

impl Held {
    pub(super) fn new(row: Row, width: usize) -> Self {
        Self { row, width, settled: false }
    }

    fn has_errors(&self) -> bool {
        self.row.findings.iter().any(Finding::is_error)
    }

    fn ends_too_early(&self) -> bool {
        self.row.findings.iter().any(|finding| finding.code == Code::RowTooFewCells && finding.is_error())
    }

    fn is_total(&self) -> bool {
        layout::is_total(&self.row.cells)
    }

    fn is_remark(&self) -> bool {
        let first = self.row.cells.iter().map(|cell| cell.trim()).find(|cell| !cell.is_empty());
        first.is_none_or(|first| first.starts_with('#'))
    }

    fn follows(&self, other: &Self) -> bool {
        self.row.number == other.row.number + 1
    }
}

/// The last rows of a table.
pub(super) struct Pieces<'a> {
    table: &'a Table,
    /// How many cells a row has.
    width: usize,
    held: VecDeque<Held>,
}

impl<'a> Pieces<'a> {
    pub(super) fn of(table: &'a Table) -> Self {
        Self { table, width: table.headers.len() + table.blank_headers, held: VecDeque::new() }
    }

    /// Whether no row is held back.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Takes the next row.
    pub(super) fn push(&mut self, next: Held) {
        let pieces = self.pieces_before(&next, false);
        self.doubt(Some(&next));
        if pieces == 0 && self.is_rest(&next) {
            let number = next.row.number;
            if let Some(last) = self.held.back_mut() {
                warn_of_rest(self.table, last, number);
            }
        }
        self.held.push_back(next);
        if pieces > 0 {
            self.tell(pieces + 1);
        }
    }

    /// Whether a row that looks like a total or a remark is a piece of the row above it instead.
    pub(super) fn has_begun(&self, next: &Held) -> bool {
        self.pieces_before(next, true) > 0
    }

    /// The next row of which all is told.
    pub(super) fn pop(&mut self) -> Option<Row> {
        // Rows of a workbook are not parted by line ends.
        let is_text = self.table.worksheet.is_none();
        if is_text && self.held.len() <= HELD { None } else { self.pop_any() }
    }

    /// The next row, once no other follows.
    pub(super) fn pop_any(&mut self) -> Option<Row> {
        self.held.pop_front().map(|held| held.row)
    }

    /// Notes that no row follows but perhaps this one, which is taken for a total or a remark.
    pub(super) fn end(&mut self, footer: Option<&Held>) {
        self.doubt(None);
        if let (Some(last), Some(footer)) = (self.held.back_mut(), footer)
            && self.table.worksheet.is_none()
            && footer.follows(last)
            && last.width < self.width
            && last.width + footer.width == self.width + 1
            && !footer.is_total()
        {
            warn(self.table, last, footer.row.number);
        }
    }

    /// How many rows before this one are pieces of the same: none where it is a row of its own.
    fn pieces_before(&self, next: &Held, is_strict: bool) -> usize {
        if self.table.worksheet.is_some() || next.settled || !next.has_errors() {
            return 0;
        }
        let mut cells = next.width;
        let mut below = next;
        for (before, piece) in (1..HELD).zip(self.held.iter().rev()) {
            if piece.settled || !below.follows(piece) || piece.width >= self.width {
                return 0;
            }
            cells += piece.width;
            // A row that says it is a total, or looks like a remark, is none below a row that lacks nothing.
            let is_short = piece.ends_too_early() || !(is_strict || next.is_total());
            if cells == self.width + before && is_short {
                return before;
            }
            // Only the first piece can be mistaken for a row without errors.
            if !piece.has_errors() {
                return 0;
            }
            below = piece;
        }
        0
    }

    /// Whether a row with errors can hardly be one of its own below a right one that ends early: a line break may have cut
    /// a row whose blank cells at the end are left out besides, so that the cells of both are fewer than those of one.
    fn is_rest(&self, next: &Held) -> bool {
        let Some(last) = self.held.back() else { return false };
        let may_be = self.table.worksheet.is_none()
            && next.follows(last)
            && next.ends_too_early()
            && last.width + next.width <= self.width
            && !(last.settled || last.has_errors() || last.is_remark())
            && !(next.is_remark() || next.is_total());
        may_be && self.ends_in_prose(last) && !self.has_an_owner(next)
    }

    /// Whether the last cell of a row may be half of what was in it: of a word of a list, or of an id, half is wrong.
    fn ends_in_prose(&self, held: &Held) -> bool {
        let Some(last) = held.width.checked_sub(1) else { return false };
        match self.table.mapping.get(last) {
            Some(Mapped::Column { column, .. }) => {
                may_be_half(column.form) || held.row.cells.get(last).is_some_and(|cell| is_blank(cell))
            }
            Some(Mapped::Ignored | Mapped::Blank | Mapped::Unknown) | None => true,
        }
    }

    /// Whether a row says to whom it belongs as a row does: by an id, or by what a row before it says.
    fn has_an_owner(&self, held: &Held) -> bool {
        let role = if self.table.kind == Kind::Company { Role::Parent } else { Role::Company };
        let Some(column) = self.table.position(column_of_role(role)) else { return false };
        let owner = |held: &Held| {
            held.row.cells.get(column).filter(|cell| !is_blank(cell)).map(|cell| fold_key(cell))
        };
        let Some(own) = owner(held) else { return false };
        uuid::Uuid::try_parse(&own).is_ok()
            || self.held.iter().any(|before| owner(before).as_ref() == Some(&own))
    }

    /// Warns of the last two rows where they fit together as pieces do and are rows without errors as well. Where short
    /// rows are usual, nothing is said.
    fn doubt(&mut self, after: Option<&Held>) {
        let at = self.held.len().saturating_sub(2);
        let (Some(first), Some(second)) = (self.held.get(at), self.held.get(at + 1)) else { return };
        let is_next = second.follows(first) && first.width + second.width == self.width + 1;
        if self.table.worksheet.is_some() || !is_next || first.settled || second.settled {
            return;
        }
        let whole = |other: &Held| other.width >= self.width;
        let before = at.checked_sub(1).and_then(|before| self.held.get(before));
        let is_usual = before
            .is_some_and(|before| first.follows(before) && !before.settled && !whole(before))
            || after.is_some_and(|after| after.follows(second) && !whole(after));
        let may_be = if whole(first) {
            !first.has_errors() && !second.is_total()
        } else {
            // Below a row with errors a right row is half of it only where nothing but the first column is cut.
            !second.has_errors() && (whole(second) || !first.has_errors())
        };
        if is_usual || !may_be || first.is_remark() || second.is_remark() {
            return;
        }
        let (above, below) = (first.row.number, second.row.number);
        for (place, other) in [(at, below), (at + 1, above)] {
            if let Some(held) = self.held.get_mut(place).filter(|held| !held.has_errors()) {
                warn(self.table, held, other);
            }
        }
    }

    /// Says of the last rows that they are pieces of one; what stands in all but the first is in other columns than its
    /// own.
    fn tell(&mut self, count: usize) {
        let at = self.held.len() - count;
        let (above, below) = (self.held[at].row.number, self.held[at + count - 1].row.number);
        let rows = if count == 2 { format!("{above} and {below}") } else { format!("{above} to {below}") };
        let message = format!(
            "this looks like one row broken by a line break: rows {rows} together have the cells of one. Join them, or put \
             the cell with the line break in quotation marks"
        );
        for (place, held) in self.held.iter_mut().enumerate().skip(at) {
            held.settled = true;
            if place == at {
                begin(self.table, held, &message, below);
            } else {
                go_on(self.table, &mut held.row, &message, above);
            }
        }
    }
}

/// Whether half of a value of this form may be a right one.
fn may_be_half(form: Form) -> bool {
    match form {
        Form::Name
        | Form::Text
        | Form::Code
        | Form::Phone
        | Form::Country
        | Form::Labels
        | Form::Family(_) => true,
        Form::Key
        | Form::Reference(_)
        | Form::Enum(_)
        | Form::Bool
        | Form::Email
        | Form::Username
        | Form::Mac
        | Form::Latitude
        | Form::Longitude
        | Form::Timezone
        | Form::UuidList
        | Form::Action => false,
    }
}

/// Says of the first piece that it is one; what it is known by stands in it, so that others may refer to it.
fn begin(table: &Table, held: &mut Held, message: &str, below: u32) {
    let row = &mut held.row;
    if let Some(draft) = row.draft.take() {
        row.identity.references = draft.references;
    }
    // What was doubtful is certain now.
    row.findings.retain(|finding| finding.code != Code::RowTooFewCells || finding.is_error());
    if !row.findings.iter().any(|finding| finding.code == Code::RowTooFewCells) {
        let column = held.width.saturating_sub(1);
        let mut finding =
            table.finding(Code::RowTooFewCells, "").in_row(row.number, row.line).in_column(column);
        finding.header = table.headers.get(column).map(|header| shown(header));
        finding.row_key = row.identity.key.as_deref().map(shown);
        row.findings.push(finding);
    }
    for finding in row.findings.iter_mut().filter(|finding| finding.code == Code::RowTooFewCells) {
        message.clone_into(&mut finding.message);
        finding.related.push(table.related(below, None, "where it goes on"));
    }
}

/// Says of another piece that it is one.
fn go_on(table: &Table, row: &mut Row, message: &str, above: u32) {
    let mut finding = table.finding(Code::RowTooFewCells, message).in_row(row.number, row.line).in_column(0);
    finding.related.push(table.related(above, None, "where the row begins"));
    row.findings = vec![finding];
    row.draft = None;
    row.identity = Identity::default();
}

/// Warns of a row that may be a piece of the one above or below it.
fn warn(table: &Table, held: &mut Held, other: u32) {
    let (above, below) = (held.row.number.min(other), held.row.number.max(other));
    let message = format!(
        "rows {above} and {below} together have the cells of one: if a line break has cut one row in two, join them, or \
         put the cell with the line break in quotation marks"
    );
    doubt_of(table, &mut held.row, other, message);
}

/// Warns of a right row whose rest the row below may be.
fn warn_of_rest(table: &Table, held: &mut Held, below: u32) {
    let message = format!(
        "row {below} is no row of its own and may be the rest of this one: if a line break has cut one row in two, join \
         them, or put the cell with the line break in quotation marks"
    );
    doubt_of(table, &mut held.row, below, message);
}

fn doubt_of(table: &Table, row: &mut Row, other: u32, message: String) {
    let mut finding = table
        .finding(Code::RowTooFewCells, message)
        .as_severity(Severity::Warning)
        .in_row(row.number, row.line);
    finding.row_key = row.identity.key.as_deref().map(shown);
    finding.related.push(table.related(other, None, "what may belong to it"));
    row.findings.push(finding);
}
