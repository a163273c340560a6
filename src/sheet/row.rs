//! One row of a table: every cell under its column, every problem with its place, and the draft when there is none.

mod example;
mod seen;

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::model::kind::Kind;

use super::cell::{Cell, CellKind};
use super::code::{Code, Severity};
use super::column::{Column, Form, Need, columns};
use super::counts::Counts;
use super::csv::Damage;
use super::damage;
use super::draft::{Draft, Reference, Values, from_default};
use super::field::{self, Beside, Problem, Setting, Ways};
use super::finding::{Finding, shown};
use super::header::{LONGEST, Mapped, fold};
use super::layout;
use super::options::Options;
use super::preflight::{COLUMN_LIMIT, Link};
use super::table::Table;
use super::tally::Tally;
use seen::Seen;

pub(crate) use super::tally::EXAMPLE_KEY;

/// A row as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// As a spreadsheet program shows it.
    pub number: u32,
    /// Text tables only: the physical line where it starts.
    pub line: Option<u64>,
    /// Every cell as text, by column, those that are not read included; at least one for each header.
    pub cells: Vec<String>,
    /// What it becomes; `None` when it has errors.
    pub draft: Option<Draft>,
    /// What others know it by, as far as it can be read, also when it has errors.
    pub identity: Identity,
    /// What is wrong with it or worth saying.
    pub findings: Vec<Finding>,
}

/// What a row is known by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// Its own key, as written.
    pub key: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// What must be unique besides: the MAC of a device, the username of a person; the reference of a site.
    pub unique: Option<String>,
    /// What a row with errors refers to, so that what is wrong with that is told at the same time; that of others is in
    /// the draft.
    pub references: Vec<Reference>,
}

impl Row {
    /// A number that changes when any cell does, to notice a file that is changed between two readings. Only
    /// comparable within one process.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.cells.hash(&mut hasher);
        hasher.finish()
    }
}

/// A row before its cells are looked at.
pub(crate) struct Raw {
    pub(crate) number: u32,
    pub(crate) line: Option<u64>,
    pub(crate) cells: Vec<Cell>,
    /// The links behind cells that should hold an e-mail address.
    pub(crate) links: Vec<Link>,
    pub(crate) damage: Option<Damage>,
    /// Whether it is hidden, by a filter or by hand.
    pub(crate) is_hidden: bool,
}

/// What a raw row turned out to be.
pub(crate) enum Outcome {
    /// A row of data, right or wrong.
    Row(Row),
    /// Perhaps a total or a remark; it is one if no row of data follows.
    Footer(Row),
    /// Nothing to import.
    Skipped,
}

/// One column of the table that is read.
struct Planned {
    position: usize,
    slot: usize,
    column: &'static Column,
    entry: Option<String>,
    default: Option<Cell>,
}

/// The country of a row, as its cell has it or by default.
fn country<'c>(plan: &'c [Planned], cells: &'c [Cell]) -> Option<&'c str> {
    let planned = plan.iter().find(|planned| planned.column.form == Form::Country)?;
    let given = cells.get(planned.position).filter(|cell| !cell.is_blank());
    let cell = given.or(planned.default.as_ref())?;
    (cell.kind == CellKind::Text).then_some(&*cell.text)
}

/// Reads the rows of one table.
pub(crate) struct RowReader<'a> {
    table: &'a Table,
    setting: Setting,
    ways: Ways,
    plan: Vec<Planned>,
    values: Values,
    seen: Seen,
    /// The headers as headers are compared.
    folded: Vec<String>,
    counts: Vec<Counts>,
    key: Option<usize>,
    findings: Vec<Finding>,
    tally: Tally,
    hidden_rows_are_decided: bool,
}

impl<'a> RowReader<'a> {
    pub(crate) fn new(table: &'a Table, options: &Options, setting: Setting) -> Self {
        let all = columns(table.kind);
        let slot = |column: &Column| all.iter().position(|known| known.name == column.name);
        let default = |column: &Column| {
            options.default_for(table.kind, column.name).map(|value| Cell::text(value.to_owned()))
        };
        let ways = Ways::of(options);
        let mut plan = Vec::new();
        for (position, mapped) in table.mapping.iter().enumerate() {
            if let Mapped::Column { column, entry } = mapped
                && let Some(slot) = slot(column)
            {
                let default = default(column);
                let column = options.relaxed(table.kind, column);
                plan.push(Planned { position, slot, column, entry: entry.clone(), default });
            }
        }
        for (slot, column) in all.iter().enumerate() {
            if table.position(column.name).is_none()
                && let Some(value) = default(column)
            {
                // Beyond every cell of every row, so that the default always applies.
                plan.push(Planned { position: usize::MAX, slot, column, entry: None, default: Some(value) });
            }
        }
        Self {
            table,
            setting,
            ways,
            plan,
            values: Values::new(table.kind, options.copy_coordinates),
            seen: Seen::default(),
            folded: table.headers.iter().map(|header| fold(header)).collect(),
            counts: vec![Counts::default(); table.headers.len() + table.blank_headers],
            key: table.position("key"),
            findings: Vec::new(),
            tally: Tally::default(),
            hidden_rows_are_decided: options.hidden_rows.is_some(),
        }
    }

    /// Reads a row that is not blank.
    pub(crate) fn read(&mut self, raw: Raw) -> Outcome {
        let Raw { number, line, cells, links, damage, is_hidden } = raw;
        let row_key = self
            .key
            .and_then(|key| cells.get(key))
            .filter(|cell| !cell.is_blank())
            .map(|cell| shown(&cell.text));
        let mut row = Row {
            number,
            line,
            cells: Vec::new(),
            draft: None,
            identity: Identity::default(),
            findings: Vec::new(),
        };
        if let Some(damage) = damage {
            row.findings = damage::findings(self.table, &damage, &cells, number, line);
            if self.key.is_some_and(|key| key < damage.first_cell()) {
                row.findings.iter_mut().for_each(|finding| finding.row_key.clone_from(&row_key));
            }
            row.cells = self.texts(cells);
            return Outcome::Row(row);
        }
        if self.is_the_example(row_key.as_deref(), &cells, number, line) {
            return Outcome::Skipped;
        }
        if self.is_header(&cells) {
            self.findings.push(
                self.table
                    .finding(Code::RowRepeatedHeader, "the header stands here again: the row is not read")
                    .in_row(number, line),
            );
            return Outcome::Skipped;
        }
        self.tally.row();
        self.surplus(&cells, &mut row);
        row.findings.extend(self.left_of_the_example(&cells, number, line));
        self.values.clear();
        let (footer, restored) = self.fields(&cells, &links, &mut row);
        self.identify(&mut row);
        for problem in self.values.problems() {
            let column = super::column::column(self.table.kind, problem.column);
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
            row.findings.push(finding);
        }
        for finding in &mut row.findings {
            finding.row_key.clone_from(&row_key);
        }
        if !footer && self.values.is_of_no_model() {
            self.tally.without_model(number, line);
        }
        // As long as nobody has said what to do with hidden rows, they are read and become no records.
        let is_held = is_hidden && !self.hidden_rows_are_decided;
        if is_held || row.findings.iter().any(Finding::is_error) {
            row.identity.references = self.values.references();
        } else {
            row.draft = self.values.draft();
        }
        row.cells = self.texts(cells);
        for (position, text) in restored {
            row.cells[position] = text;
        }
        if footer { Outcome::Footer(row) } else { Outcome::Row(row) }
    }

    /// Every cell as text, at least one for each header.
    fn texts(&self, cells: Vec<Cell>) -> Vec<String> {
        let mut texts: Vec<String> = cells.into_iter().map(|cell| cell.text).collect();
        if texts.len() < self.table.headers.len() {
            texts.resize(self.table.headers.len(), String::new());
        }
        texts
    }

    /// Reads each planned cell; whether the row may be a footer, and the cells that the reports show as they are sent.
    fn fields(&mut self, cells: &[Cell], links: &[Link], row: &mut Row) -> (bool, Vec<(usize, String)>) {
        let mut restored = Vec::new();
        let country = country(&self.plan, cells);
        let short = self.setting.is_text_table && cells.len() < self.table.headers.len();
        let mut missing: Vec<&'static Column> = Vec::new();
        let mut wanted: Vec<usize> = Vec::new();
        let mut needed = false;
        for planned in &self.plan {
            let given = cells.get(planned.position).filter(|cell| !cell.is_blank());
            needed |= given.is_some_and(|cell| !cell.is_covered()) && planned.column.need == Need::Required;
            let Some(cell) = given.or(planned.default.as_ref()) else {
                match planned.column.need {
                    Need::Required if short && planned.position >= cells.len() => {
                        missing.push(planned.column)
                    }
                    Need::Required => row.findings.push(self.blank(planned.column, row)),
                    Need::Wanted => {
                        wanted.push(planned.position);
                    }
                    Need::Conditional | Need::Optional => {}
                }
                continue;
            };
            let link = given.and_then(|_| links.iter().find(|link| link.column == planned.position));
            let beside = Beside { country, link: link.map(|link| &*link.address) };
            let read = || field::read(planned.column, cell, beside, self.setting, &self.ways);
            let mut reading = self.seen.read(planned.slot, cell, beside, read);
            if let Some(counts) = self.counts.get_mut(planned.position) {
                counts.changed(reading.changes);
            }
            let wrong = reading.is_wrong();
            restored.extend(
                reading.restored.take().filter(|_| given.is_some()).map(|text| (planned.position, text)),
            );
            if planned.column.form == Form::Username {
                row.identity.unique = reading.meant();
            }
            for mut problem in reading.problems {
                if given.is_none() {
                    problem.message.push_str(&from_default(self.table.kind, planned.column.name));
                }
                let position = (planned.position != usize::MAX).then_some(planned.position);
                row.findings.push(self.cell_finding(problem, planned.column, position, cell, row));
            }
            match reading.value {
                Some(value) if !wrong => {
                    self.values.set(planned.slot, planned.column, planned.entry.as_deref(), value);
                }
                Some(_) => self.values.set_wrong(planned.slot),
                // Only what is invisible stood in the cell, or its only content was taken off.
                None if !wrong && planned.column.need == Need::Required => {
                    row.findings.push(self.blank(planned.column, row));
                }
                None if wrong => self.values.set_wrong(planned.slot),
                None => {}
            }
        }
        if let Some(first) = missing.first() {
            let names: Vec<&str> = missing.iter().map(|column| column.name).collect();
            row.findings.push(self.table.finding_at(
                Code::RowTooFewCells,
                format!(
                    "the row ends after {} of {} cells, so that {} is missing: look for a line break inside a cell here or \
                     in the row before, or add the cells",
                    cells.len(),
                    self.table.headers.len(),
                    names.join(", ")
                ),
                row.number,
                row.line,
                Some(first),
            ));
        }
        // What no remark has is damage, wherever it stands.
        let is_damaged = row.findings.iter().any(|finding| finding.code == Code::CellControlChar);
        let footer = !needed && !is_damaged && layout::is_total_or_remark(cells);
        for position in wanted {
            if let Some(counts) = self.counts.get_mut(position).filter(|_| !footer && missing.is_empty()) {
                counts.blank(row.number, row.line);
            }
        }
        (footer, restored)
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
        let owned = |name: &str| self.values.peek(name).map(str::to_owned);
        row.identity = Identity {
            key: owned("key"),
            name: owned(match self.table.kind {
                Kind::Person => "username",
                Kind::Company | Kind::Site | Kind::Device => "name",
            }),
            unique: match self.table.kind {
                Kind::Company => None,
                Kind::Site => owned("reference"),
                // Of a username in capitals what is suggested, so that two that differ by case only are told.
                Kind::Person => owned("username").or_else(|| row.identity.unique.take()),
                Kind::Device => owned("mac"),
            },
            references: Vec::new(),
        };
    }

    /// Whether the row repeats the header.
    pub(crate) fn is_header(&self, cells: &[Cell]) -> bool {
        let headers = &self.table.headers;
        let is_same = |header: &str, folded: &str, cell: &str| {
            header.trim() == cell.trim()
                || (!folded.is_empty() && cell.len() <= LONGEST * 4 && folded == fold(cell))
        };
        let mut headers = headers.iter().zip(&self.folded);
        cells.len() >= headers.len()
            && headers.by_ref().zip(cells).all(|((header, folded), cell)| is_same(header, folded, &cell.text))
    }

    /// Values in columns that have no header.
    fn surplus(&mut self, cells: &[Cell], row: &mut Row) {
        let width = self.table.headers.len();
        let named = width + self.table.blank_headers;
        if let Some((position, cell)) =
            cells.iter().enumerate().skip(named).find(|(_, cell)| !cell.is_blank())
        {
            let advice = if self.setting.is_text_table {
                "put a cell that contains the separator in quotation marks, or give the column a header"
            } else {
                "delete it if it is a remark, or give the column a header"
            };
            let mut finding = self
                .table
                .finding(
                    Code::RowTooManyCells,
                    format!("the row has a value beyond the {width} columns of the header: {advice}"),
                )
                .in_row(row.number, row.line)
                .showing(&cell.text, cell.value_kind());
            // What is further out in a workbook is kept as one cell, whose column is no longer known.
            if self.setting.is_text_table || position < COLUMN_LIMIT {
                finding = finding.in_column(position);
            }
            if !self.setting.is_text_table {
                finding.severity = Severity::Warning;
            }
            row.findings.push(finding);
        }
        for (position, mapped) in self.table.mapping.iter().enumerate() {
            if matches!(mapped, Mapped::Blank)
                && let Some(cell) = cells.get(position).filter(|cell| !cell.is_blank())
            {
                self.counts[position].without_header(row.number, &cell.text);
            }
        }
        if self.setting.is_text_table {
            for (position, mapped) in self.table.mapping.iter().enumerate() {
                if !matches!(mapped, Mapped::Column { .. })
                    && let Some(cell) = cells.get(position).filter(|cell| cell.text.contains('\n'))
                {
                    row.findings.extend(self.rows_inside(cell, position, row));
                }
            }
        }
        for (position, cell) in cells.iter().enumerate().take(named).skip(width) {
            if !cell.is_blank() {
                self.counts[position].without_header(row.number, &cell.text);
            }
        }
    }

    /// A warning about a cell that is not read and has lines like rows, as a quotation mark left open makes it.
    fn rows_inside(&self, cell: &Cell, position: usize, row: &Row) -> Option<Finding> {
        let last = self.plan.iter().filter(|planned| planned.column.need == Need::Required);
        let last = last.map(|planned| planned.position).filter(|position| *position != usize::MAX).max()?;
        let is_row =
            |line: &str| [',', ';', '\t', '|'].iter().any(|mark| line.matches(*mark).count() >= last.max(2));
        if !cell.text.lines().any(is_row) {
            return None;
        }
        let mut finding = self
            .table
            .finding(
                Code::CellLineBreak,
                format!(
                    "the cell goes over {} lines, some of which look like rows: see whether a quotation mark is left open",
                    cell.text.lines().count()
                ),
            )
            .as_severity(Severity::Warning)
            .in_row(row.number, row.line)
            .in_column(position)
            .showing(&cell.text, cell.value_kind());
        finding.header = self.table.headers.get(position).map(|header| shown(header));
        finding.rule = Some("one line of text".to_owned());
        Some(finding)
    }

    /// Whether the example row of a template was met.
    pub(crate) fn has_met_a_template(&self) -> bool {
        self.tally.has_met_a_template()
    }

    /// What is told once for the table: counted changes, blanks, columns without a header.
    pub(crate) fn finish(self) -> Vec<Finding> {
        let mut findings = self.findings;
        for (position, counts) in self.counts.into_iter().enumerate() {
            counts.tell(self.table, position, &mut findings);
        }
        let planned = |column: &Column| self.plan.iter().any(|planned| planned.column.name == column.name);
        let absent =
            columns(self.table.kind).iter().filter(|column| column.need == Need::Wanted && !planned(column));
        self.tally.tell(self.table, absent, &mut findings);
        findings
    }
}
