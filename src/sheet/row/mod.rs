//! One row of a table: every cell under its column, every problem with its place, and the draft when there is none.
//!
//! Under which column a cell is read is planned in `plan`; `cell_reader` reads it, and what it means under its column is left
//! to `field`. What is wrong with a row as a whole, or stands in cells that are not read, is reported in `row_checks`, what is
//! wrong between its cells in `row_rules`.

pub(super) mod cell_reader;
pub(super) mod csv_errors;
pub(super) mod draft;
pub(super) mod notes;
mod plan;
pub(super) mod reading;
mod row_checks;
mod row_rules;
mod seen_cells;
mod update;
pub(in crate::sheet) mod upkeep;

use std::ops::Range;

use smol_str::SmolStr;

use super::cell::Cell;
use super::field::{self, CellReading, Pointer, Problem, Remarks, TableSetting, Value};
use super::file::csv::Damage;
use super::file::preflight::MailLink;
use super::finding::code::Code;
use super::finding::severity_policy::SeverityPolicy;
use super::finding::{Finding, Severity, shown};
use super::options::{Options, RowUse};
use super::table::Table;
use super::table::column::{Column, Form, Need, columns};
use super::table::header_name::{self, LONGEST, digits, fold};
use super::table::layout;
use super::text::is_blank;
use crate::model::kind::Kind;
use cell_reader::ReadRow;
use draft::{Draft, Reference, RowValues, from_default};
use notes::ColumnCounts;
use notes::TableCounts;
use plan::Planned;
use update::ExportedCells;
use upkeep::example_column;

/// What is said of a row that somebody has crossed out.
const STRUCK_OUT: &str = "every cell of the row is crossed out, and the row is imported like the others: delete the row if it \
                          no longer counts";

/// A row as it was read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// As a spreadsheet program shows it.
    pub number: u32,
    /// Text tables only: the physical line where it starts.
    pub line: Option<u64>,
    /// Every cell as text, by column, those that are not read included; at least one for each header.
    pub cells: Vec<SmolStr>,
    /// What it becomes; `None` when it has errors.
    pub draft: Option<Draft>,
    /// What others know it by, as far as it can be read, also when it has errors.
    pub identity: RowIdentity,
    /// What is wrong with it or worth saying.
    pub findings: Vec<Finding>,
}

/// What a row is known by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowIdentity {
    /// Its own key, as written.
    pub key: Option<SmolStr>,
    /// Its name, of a person the username as it stands in its cell; none of an upkeep row.
    pub name: Option<SmolStr>,
    /// What tells it from others besides: the MAC of a device, the username of a person, the reference of a site, what an
    /// upkeep row is about.
    pub unique: Option<SmolStr>,
    /// Whether it changes a record that exists.
    pub is_update: bool,
    /// The key that a row has beside the id of the record that it changes, which must be that of the same one.
    pub key_beside_id: Option<SmolStr>,
    /// Of a row that changes a record, the company (of a company the parent) that its cell names: to tell that record from those
    /// of others with its key.
    pub company: Option<Pointer>,
    /// What a row with errors refers to, so that what is wrong with that is told at the same time; that of others is in
    /// the draft.
    pub references: Vec<Reference>,
}

impl Row {
    /// Judges what was found in it by the severities that an operator chose; with an error it becomes no record.
    pub(crate) fn judge(&mut self, policy: &SeverityPolicy) {
        for finding in &mut self.findings {
            if policy.judge(finding) {
                self.draft = None;
            }
        }
    }

    /// A number that changes when any cell does, by which rows that are the same cell by cell are found. Only comparable
    /// within one process.
    pub fn fingerprint(&self) -> u64 {
        /// Odd, and with as many ones as zeros (the golden ratio).
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let mix = |number: u64, word: u64| {
            let product = u128::from(number ^ word) * u128::from(FACTOR);
            // Both halves of the product.
            (product as u64) ^ ((product >> 64) as u64)
        };
        self.cells.iter().fold(FACTOR, |number, cell| {
            let (words, rest) = cell.as_bytes().as_chunks::<8>();
            let number = words.iter().fold(number, |number, word| mix(number, u64::from_le_bytes(*word)));
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            // With its length no cell is the beginning of another one.
            mix(mix(number, u64::from_le_bytes(last)), !(cell.len() as u64))
        })
    }
}

/// A row before its cells are looked at.
#[derive(Default)]
pub(crate) struct RawRow {
    pub(crate) number: u32,
    pub(crate) line: Option<u64>,
    pub(crate) cells: Vec<Cell>,
    /// The links behind cells that should hold an e-mail address.
    pub(crate) links: Vec<MailLink>,
    pub(crate) damage: Option<Damage>,
    /// Whether it is hidden, by a filter or by hand.
    pub(crate) is_hidden: bool,
    /// Whether each cell that has a value is struck through.
    pub(crate) is_struck_out: bool,
}

/// What a raw row turned out to be.
pub(crate) enum RowOutcome {
    /// A row of data, right or wrong.
    Row(Row),
    /// Perhaps a total or a remark; it is one if no row of data follows.
    Footer(Row),
    /// Nothing to import.
    Skipped,
}

/// What the cells of a row came to besides its values.
struct Fields {
    /// Whether the row may be a footer.
    footer: bool,
    /// Cells that the reports show as they are sent.
    restored: Vec<(usize, String)>,
    /// Cells that are blank and should not be.
    wanted: Vec<usize>,
}

/// Makes rows of the cells of one table.
pub(crate) struct RowReader<'a> {
    table: &'a Table,
    setting: TableSetting,
    plan: Vec<Planned>,
    values: RowValues,
    /// The headers as headers are compared.
    folded: Vec<String>,
    counts: Vec<ColumnCounts>,
    key: Option<usize>,
    /// Where the example row of a template says that it is one.
    example: Option<usize>,
    /// The last row that has fewer cells than the header, and how many.
    last_short: Option<(u32, usize)>,
    findings: Vec<Finding>,
    tally: TableCounts,
    row_use: RowUse,
    hidden_rows_are_decided: bool,
    /// The columns that are not ours.
    own: Range<usize>,
    /// Digits of the header that has most of them.
    header_digits: usize,
    /// Columns that a creation needs and the table does not have, as its rows may all be updates.
    absent: Vec<&'static Column>,
    /// Whether a row was met that is no update.
    creates_records: bool,
    /// Whether columns without a name are not read, as a person said.
    nameless_are_ignored: bool,
}

impl<'a> RowReader<'a> {
    pub(crate) fn new(table: &'a Table, options: &Options, setting: TableSetting) -> Self {
        let plan = plan::of(table, options);
        let absent = match table.kind.updates().and(table.position("action")) {
            Some(_) => plan::absent(table.kind, &plan),
            None => Vec::new(),
        };
        let folded: Vec<String> = table.headers.iter().map(|header| fold(header)).collect();
        Self {
            own: table.own_columns(),
            header_digits: folded.iter().map(|header| digits(header)).max().unwrap_or_default(),
            table,
            setting,
            plan,
            values: RowValues::new(table.kind, options.copy_coordinates),
            folded,
            counts: vec![ColumnCounts::default(); table.width()],
            key: table.position("key").filter(|_| table.kind.is_record()),
            example: table.position(example_column(table.kind)),
            last_short: None,
            findings: Vec::new(),
            tally: TableCounts::default(),
            row_use: options.row_use,
            hidden_rows_are_decided: options.hidden_rows.is_some(),
            absent,
            creates_records: false,
            nameless_are_ignored: options.ignore_columns.iter().any(|name| is_blank(name)),
        }
    }

    /// Makes a row that is not blank of its cells.
    pub(crate) fn read(&mut self, row: ReadRow) -> RowOutcome {
        let ReadRow { raw: RawRow { number, line, cells, damage, is_hidden, is_struck_out, .. }, readings } =
            row;
        let key = self.key;
        let row_key = |cells: &[Cell]| {
            let cell = key.and_then(|key| cells.get(key)).filter(|cell| !cell.is_blank());
            cell.map(|cell| shown(&cell.text))
        };
        let mut row = Row {
            number,
            line,
            cells: Vec::new(),
            draft: None,
            identity: RowIdentity::default(),
            findings: Vec::new(),
        };
        if let Some(damage) = damage {
            row.findings = csv_errors::findings(self.table, &damage, &cells, number, line);
            if self.key.is_some_and(|key| key < damage.first_cell()) {
                let row_key = row_key(&cells);
                row.findings.iter_mut().for_each(|finding| finding.row_key.clone_from(&row_key));
            }
            row.cells = self.texts(cells);
            return RowOutcome::Row(row);
        }
        if self.is_the_example(&cells, number, line) {
            return RowOutcome::Skipped;
        }
        if self.is_header(&cells) {
            self.findings.push(
                self.table
                    .finding(Code::RowRepeatedHeader, "the header is repeated here: the row is not read")
                    .in_row(number, line),
            );
            return RowOutcome::Skipped;
        }
        self.tally.row();
        self.unread(&cells, &mut row);
        row.findings.extend(self.left_of_the_example(&cells, number, line));
        if is_struck_out {
            row.findings.push(self.table.finding(Code::RowStruckOut, STRUCK_OUT).in_row(number, line));
        }
        self.values.clear();
        let Fields { footer, restored, wanted } = self.fields(&cells, readings, &mut row);
        self.identify(&mut row);
        row.findings.extend(self.between_cells(number, line));
        let is_whole = !self.is_wrong_as_a_whole(&cells, &mut row);
        for position in wanted.into_iter().filter(|_| is_whole && !footer) {
            if let Some(counts) = self.counts.get_mut(position) {
                counts.blank(number, line);
            }
        }
        if !row.findings.is_empty() {
            let row_key = row_key(&cells);
            row.findings.iter_mut().for_each(|finding| finding.row_key.clone_from(&row_key));
        }
        if is_whole && !footer && self.values.is_of_no_model() {
            self.tally.without_model(number, line);
        }
        // As long as nobody has said what to do with hidden rows, they are read and become no records.
        let is_held = is_hidden && !self.hidden_rows_are_decided;
        if is_held || row.findings.iter().any(Finding::is_error) {
            // Of a row whose cells may belong to other columns nothing else is reported.
            row.identity.references = if is_whole { self.values.references() } else { Vec::new() };
        } else {
            // What a row changes may contradict another one, and what it creates cannot.
            let is_outline =
                self.row_use == RowUse::Check && self.table.kind.is_record() && !row.identity.is_update;
            row.draft = if is_outline { Some(self.values.outline()) } else { self.values.draft() };
            if !self.table.kind.is_record() {
                row.identity.unique = row.draft.as_ref().map(|draft| draft.distinct_name().into());
            }
        }
        row.cells = self.texts(cells);
        for (position, text) in restored {
            row.cells[position] = text.into();
        }
        if footer { RowOutcome::Footer(row) } else { RowOutcome::Row(row) }
    }

    /// Every cell as text, at least one for each header. The reports show them so, and may be read again.
    fn texts(&self, mut cells: Vec<Cell>) -> Vec<SmolStr> {
        field::unwrap(self.table, self.setting, &mut cells);
        let mut texts: Vec<SmolStr> = cells.into_iter().map(|cell| cell.text).collect();
        if texts.len() < self.table.headers.len() {
            texts.resize(self.table.headers.len(), SmolStr::default());
        }
        texts
    }

    /// Whether a row says that it changes a record which exists.
    fn is_update(&self, readings: &[Option<CellReading>]) -> bool {
        let mut read = self.plan.iter().zip(readings);
        let action = read.find(|(planned, _)| planned.column.form == Form::Action);
        let value = action.and_then(|(_, reading)| reading.as_ref()?.value.as_ref());
        matches!(value, Some(Value::Choice(update::UPDATE)))
    }

    /// What an export saw of a row, where it is `asked_for`: a creation has nothing that was seen before.
    fn exported(&self, cells: &[Cell], asked_for: bool, row: &mut Row) -> Option<ExportedCells> {
        let planned = self.plan.iter().find(|planned| planned.column.form == Form::Exported)?;
        let cell = planned.given(cells).filter(|_| asked_for)?;
        let mut exported = ExportedCells::read(&cell.text);
        if let Some(exported) = &mut exported {
            // A blank cell of an update leaves its field as it is, whatever the export saw.
            let blanks_count = !self.table.kind.is_record();
            let compared = self.plan.iter().filter(|other| other.column.form != Form::Exported);
            for other in compared.filter(|other| blanks_count || other.given(cells).is_some()) {
                exported.compare(other.column.name, cells.get(other.position).map_or("", |cell| &cell.text));
            }
        } else {
            let text = "this is not what the export wrote here: take the cell from the exported file again, or clear it";
            let problem = Problem::new(Code::RowConflict, text);
            row.findings.push(self.cell_finding(problem, planned.column, Some(planned.position), cell, row));
        }
        exported
    }

    /// Takes in what was read of each planned cell.
    fn fields(&mut self, cells: &[Cell], mut readings: Vec<Option<CellReading>>, row: &mut Row) -> Fields {
        let mut restored = Vec::new();
        let mut wanted: Vec<usize> = Vec::new();
        let is_update = self.is_update(&readings);
        let exported = self.exported(cells, is_update || !self.table.kind.is_record(), row);
        // What a row names as the service has it is no text that somebody has to correct.
        let is_same_subject =
            exported.as_ref().is_some_and(|exported| upkeep::is_of_same(self.table.kind, exported));
        // An update needs nothing but the name of its record.
        let mut needed = is_update;
        for (planned, reading) in self.plan.iter().zip(&mut readings) {
            let given = planned.given(cells);
            let was = exported.as_ref().and_then(|exported| exported.unchanged_cell(planned.column.name));
            if is_update && was.is_some() && planned.column.api.is_some() {
                continue;
            }
            needed |= given.is_some_and(|cell| !cell.is_covered()) && planned.column.need == Need::Required;
            let was = was.filter(|_| is_same_subject);
            if let Some(was) = was
                && matches!(planned.column.form, Form::Text | Form::Name)
                && (planned.column.need == Need::Required || !is_blank(was))
            {
                self.values.set(planned.slot, planned.column, None, Value::Text(was.into()));
                continue;
            }
            // A blank cell of an update leaves the field as it is.
            let is_read = !is_update || planned.column.form == Form::Action;
            let default = planned.default.as_ref().filter(|_| is_read);
            let (Some(cell), Some(reading)) = (given.or(default), reading) else {
                match planned.column.need {
                    _ if is_update => {}
                    Need::Required => row.findings.push(self.blank(planned.column, row)),
                    Need::Wanted => {
                        wanted.push(planned.position);
                    }
                    Need::Conditional | Need::Optional => {}
                }
                continue;
            };
            if let Some(counts) = self.counts.get_mut(planned.position) {
                counts.changed(reading.changes);
            }
            let wrong = reading.is_wrong();
            if planned.column.form == Form::Username {
                row.identity.unique = reading.meant();
                row.identity.name = Some(SmolStr::new(cell.text.trim()));
            }
            if let Some(remarks) = reading.remarks.take() {
                let Remarks { problems, restored: text } = *remarks;
                restored.extend(text.filter(|_| given.is_some()).map(|text| (planned.position, text)));
                for mut problem in problems.into_iter().filter(|_| was.is_none()) {
                    if given.is_none() {
                        problem.message.push_str(&from_default(self.table.kind, planned.column.name));
                    }
                    let position = (planned.position != plan::NOWHERE).then_some(planned.position);
                    row.findings.push(self.cell_finding(problem, planned.column, position, cell, row));
                }
            }
            match reading.value.take() {
                Some(value) if !wrong => {
                    self.values.set(planned.slot, planned.column, planned.entry.as_deref(), value);
                }
                Some(_) => self.values.set_wrong(planned.slot),
                // Only what is invisible stood in the cell, or its only content was taken off.
                None if !wrong && planned.column.need == Need::Required && !is_update => {
                    row.findings.push(self.blank(planned.column, row));
                }
                None if wrong => self.values.set_wrong(planned.slot),
                None => {}
            }
        }
        let is_exported = exported.is_some();
        self.values.set_exported(exported.unwrap_or_default());
        if is_exported {
            row.findings.extend(self.cleared_cells(row));
        }
        let is_unclear = self.values.is_given("action") && !self.values.has("action");
        if !is_update && !is_unclear {
            self.creates_records = true;
            let blank: Vec<Finding> = self.absent.iter().map(|column| self.blank(column, row)).collect();
            row.findings.extend(blank);
        }
        // What no remark has is damage, wherever it stands.
        let is_damaged = row.findings.iter().any(|finding| finding.code == Code::CellControlChar);
        // What we said of the row earlier is no part of it.
        let own = self.own(cells);
        let footer = !needed && !is_damaged && layout::is_total_or_remark(own);
        Fields { footer, restored, wanted }
    }

    /// What is wrong with values of the row that do not go together.
    fn between_cells(&self, number: u32, line: Option<u64>) -> Vec<Finding> {
        let mut findings = Vec::new();
        for problem in self.values.problems() {
            let column = super::table::column::column(self.table.kind, problem.column);
            let mut finding =
                self.table.finding_at(problem.problem.code, problem.problem.message, number, line, column);
            finding.severity = problem.problem.severity;
            finding.rule = problem.problem.rule.map(str::to_owned);
            finding.related.extend(
                problem
                    .others
                    .iter()
                    .map(|other| self.table.related(number, self.table.position(other), *other)),
            );
            findings.push(finding);
        }
        findings
    }

    /// Whether a row has what every row needs, and nothing beyond the header.
    pub(crate) fn is_complete(&self, row: &Row) -> bool {
        let is_there = |position: usize| row.cells.get(position).is_some_and(|cell| !is_blank(cell));
        let mut needed = self.plan.iter().filter(|planned| planned.column.need == Need::Required);
        needed.all(|planned| planned.default.is_some() || is_there(planned.position))
            && row.cells.iter().skip(self.table.width()).all(|cell| is_blank(cell))
    }

    /// The findings for cells that were cleared since they were exported: that changes nothing.
    fn cleared_cells(&self, row: &Row) -> Vec<Finding> {
        let cells = self.plan.iter().filter(|planned| planned.position != plan::NOWHERE);
        cells
            .filter_map(|planned| {
                let was = self.values.cleared(planned.column)?;
                let message = format!(
                    "the export has '{}' here, and the cell is blank now: a blank cell leaves the field as it is; enter \
                     a value, or put back what was exported",
                    shown(was)
                );
                let finding = self.table.finding(Code::CellUnsupportedAction, message);
                let finding = finding.in_row(row.number, row.line).as_severity(Severity::Warning);
                let mut finding = self.table.name_column(finding, Some(planned.position), planned.column);
                finding.rule = Some("a value, to change a field".to_owned());
                Some(finding)
            })
            .collect()
    }

    /// The finding for a cell that needs a value and has none.
    fn blank(&self, column: &Column, row: &Row) -> Finding {
        let message = format!("{} is blank: enter it. {}", column.name, column.help);
        self.table.finding_at(Code::CellRequired, message, row.number, row.line, Some(column))
    }

    fn cell_finding(
        &self,
        problem: Problem,
        column: &Column,
        position: Option<usize>,
        cell: &Cell,
        row: &Row,
    ) -> Finding {
        let mut finding = self.table.finding(problem.code, problem.message).in_row(row.number, row.line);
        finding = self.table.name_column(finding, position, column).showing(&cell.text, cell.value_kind());
        finding.severity = problem.severity;
        finding.rule = problem.rule.map(str::to_owned);
        finding.suggestion = problem.suggestion;
        finding
    }

    /// Notes what the row is known by, before its values become a record.
    fn identify(&self, row: &mut Row) {
        let owned = |name: &str| self.values.peek(name).map(SmolStr::new);
        let is_update = self.values.is_update();
        row.identity = RowIdentity {
            key: owned("key").filter(|_| self.table.kind.is_record() && !is_update),
            name: match self.table.kind {
                // As it is in its cell: what is meant by it, and compared, is below.
                Kind::Person => row.identity.name.take(),
                Kind::Company | Kind::Site | Kind::Device => owned("name").filter(|_| !is_update),
                Kind::Upkeep(_) => None,
            },
            unique: match self.table.kind {
                _ if is_update => None,
                Kind::Company => None,
                Kind::Site => owned("reference"),
                // Of a username in capitals what is suggested, so that two that differ by case only are reported.
                Kind::Person => owned("username").or_else(|| row.identity.unique.take()),
                Kind::Device => owned("mac"),
                // What it changes is known when all its cells are right.
                Kind::Upkeep(_) => None,
            },
            is_update,
            key_beside_id: owned("key").filter(|_| is_update && self.values.has("id")),
            company: match self.values.get("company").or_else(|| self.values.get("parent")) {
                Some(Value::Pointer(pointer)) if is_update => Some(pointer.clone()),
                _ => None,
            },
            references: Vec::new(),
        };
    }

    /// Whether the row repeats the header, and has nothing beyond it.
    pub(crate) fn is_header(&self, cells: &[Cell]) -> bool {
        let headers = &self.table.headers;
        let is_same = |header: &str, folded: &str, cell: &str| {
            header.trim() == cell.trim()
                || (!self.has_more_digits(cell)
                    && !folded.is_empty()
                    && cell.len() <= LONGEST * 4
                    && folded == fold(cell))
        };
        // What we said of the row earlier is no part of it.
        let own = self.own.clone();
        let mut own = headers.iter().zip(&self.folded).enumerate().skip(own.start).take(own.len());
        let is_beyond = |cell: &Cell| !cell.is_blank();
        own.all(|(at, (header, folded))| {
            is_same(header, folded, cells.get(at).map_or("", |cell| cell.text.as_str()))
        }) && !cells.iter().skip(headers.len()).any(is_beyond)
    }

    /// Whether a text has too many digits to be a name of the header, as keys and addresses have.
    fn has_more_digits(&self, text: &str) -> bool {
        header_name::has_more_digits(text, self.header_digits)
    }

    /// The cells of a row that are its own.
    fn own<'c, T>(&self, cells: &'c [T]) -> &'c [T] {
        cells.get(self.own.start..self.own.end.min(cells.len())).unwrap_or_default()
    }

    /// Whether every filled cell of the row is a name of the header: it is the header of another table with these columns.
    pub(crate) fn is_of_header(&self, cells: &[Cell]) -> bool {
        let is_name = |cell: &Cell| {
            !self.has_more_digits(&cell.text)
                && cell.text.len() <= LONGEST * 4
                && self.folded.contains(&fold(&cell.text))
        };
        let mut filled = self.own(cells).iter().filter(|cell| !cell.is_blank());
        // Asked of every row, whose first cell is none of them as a rule.
        filled.next().is_some_and(is_name) && filled.next().is_some_and(is_name) && filled.all(is_name)
    }

    /// Whether the first filled cell of a row is one of the values of its column, as `site` is in a column `owner_kind`: no
    /// header has one there.
    pub(crate) fn begins_with_a_choice(&self, ReadRow { raw, readings }: &ReadRow) -> bool {
        let first = raw.cells.iter().position(|cell| !cell.is_blank());
        let mut read = self.plan.iter().zip(readings);
        let reading =
            read.find(|(planned, _)| Some(planned.position) == first).and_then(|(_, read)| read.as_ref());
        matches!(reading.and_then(|reading| reading.value.as_ref()), Some(Value::Choice(_)))
    }

    /// Whether the example row of a template was met.
    pub(crate) fn has_met_a_template(&self) -> bool {
        self.tally.has_met_a_template()
    }

    /// What is reported once for the table: counted changes, blanks, columns without a header.
    pub(crate) fn finish(self) -> Vec<Finding> {
        let mut findings = self.findings;
        for (position, counts) in self.counts.into_iter().enumerate() {
            counts.tell(self.table, position, &mut findings);
        }
        let planned = |column: &Column| self.plan.iter().any(|planned| planned.column.name == column.name);
        let absent = columns(self.table.kind)
            .iter()
            .filter(|column| column.need == Need::Wanted && self.creates_records && !planned(column));
        self.tally.tell(self.table, absent, &mut findings);
        findings
    }
}
