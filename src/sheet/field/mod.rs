//! One cell read under the form of its column: to a value, or to what is wrong with it.
//!
//! First what holds for every form (no dates, no formula errors, no control characters …), then the form's own rule
//! in the file of its idea. Where the cell stands is added by the row.

mod confusables;
mod coordinates;
mod country;
mod email;
mod enums;
mod key;
mod list;
mod mac;
mod number;
mod phone;
mod spreadsheet;
mod text_checks;
mod timezone;

use std::borrow::Cow;
use std::sync::Arc;

use smol_str::SmolStr;
use uuid::Uuid;

use super::cell::{Cell, CellKind};
use super::finding::code::{Code, Severity};
use super::finding::severity_policy::SeverityPolicy;
use super::options::{CountryForm, MacForm, Options};
use super::table::Table;
use super::table::column::{Column, Family, Form};
use super::table::header::Mapped;
use super::text::{Changes, Norm, normalise};
use crate::model::action::Offer;
use crate::model::zone::ZoneList;

pub(in crate::sheet) use enums::ACTIONS;
pub use key::fold_key;
pub(in crate::sheet) use key::folded_key;
pub(super) use key::{BrokenId, broken_id, has_several_ids, offer};
pub(in crate::sheet) use list::doubled;
pub(in crate::sheet) use spreadsheet::AT_THE_RANGE;

/// Characters above which a text is probably not what it should be, where nobody says otherwise.
const LONG_TEXT: usize = 255;
/// Wrong names of one form for which it is sought what they mean, among hundreds of right ones; a column with more holds
/// something else.
const SOUGHT: usize = 300;
/// What the reports show of a refused cell whose text alone would be accepted: no column takes it, as text or as an error.
pub(in crate::sheet) const NOT_ACCEPTED: &str = "#N/A";
/// The column of codes by which a record is recognised.
const REFERENCE: &str = "reference";

/// What a cell means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Text, normalised.
    Text(SmolStr),
    /// Yes or no.
    Bool(bool),
    /// Decimal degrees.
    Number(f64),
    /// A whole number.
    Integer(i64),
    /// One of the values of an enumeration, by its position.
    Choice(usize),
    /// Ids.
    Offers(Vec<Offer>),
    /// Labels.
    Labels(Vec<String>),
    /// A reference to another record.
    Pointer(Pointer),
}

/// How a cell names another record.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Pointer {
    /// By the id the service gave it.
    Id(Uuid),
    /// By its key.
    Key(String),
    /// By its name.
    Name(String),
    /// By key or name, whichever fits.
    Any(String),
}

/// What is wrong with a cell, or worth saying.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem {
    pub(crate) code: Code,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    pub(crate) rule: Option<&'static str>,
    pub(crate) suggestion: Option<String>,
}

impl Problem {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, severity: code.severity(), message: message.into(), rule: None, suggestion: None }
    }

    pub(crate) fn rule(mut self, rule: &'static str) -> Self {
        self.rule = Some(rule);
        self
    }

    fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    fn note(mut self) -> Self {
        self.severity = Severity::Info;
        self
    }

    pub(crate) fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    fn error(mut self) -> Self {
        self.severity = Severity::Error;
        self
    }
}

/// What stands beside a cell and matters to it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CellContext<'a> {
    /// The country of its row, as it stands there.
    pub(crate) country: Option<&'a str>,
    /// The e-mail address that the link behind the cell leads to.
    pub(crate) link: Option<&'a str>,
}

/// What holds for a whole table and matters to its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableSetting {
    /// A text table: no cell has a kind of its own, and digits lost when it was saved show as `1.2E+11`.
    pub(crate) is_text_table: bool,
    /// A comma inside a cell can be a decimal comma, because it does not separate cells.
    pub(crate) comma_is_free: bool,
    /// Cells can be wrapped to stay text, as in `="00123"`: nothing in the file says what is text.
    pub(crate) wraps_text: bool,
}

impl TableSetting {
    /// That of the sheets of a workbook.
    pub(crate) const OF_WORKBOOK: Self =
        Self { is_text_table: false, comma_is_free: true, wraps_text: false };
}

/// What a person has said about the values of cells.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    placeholders_blank: bool,
    country: CountryForm,
    mac_form: MacForm,
    longest_text: usize,
    policy: SeverityPolicy,
    zones: Option<Arc<ZoneList>>,
    wrong_countries: WrongNames,
    wrong_zones: WrongNames,
}

impl Ways {
    /// As the options have it, with what holds where they say nothing.
    pub(crate) fn of(options: &Options) -> Self {
        Self {
            placeholders_blank: options.placeholders_blank,
            country: options.country.unwrap_or(CountryForm::AsIs),
            mac_form: options.mac_form.unwrap_or(MacForm::Colon),
            longest_text: options.longest_text.unwrap_or(LONG_TEXT),
            policy: options.policy.clone(),
            zones: options.zones.clone(),
            wrong_countries: WrongNames::default(),
            wrong_zones: WrongNames::default(),
        }
    }
}

/// How many wrong names of one form were read, equal ones mostly once: a column remembers what it has read.
#[derive(Debug, Clone, Default)]
struct WrongNames(std::cell::Cell<usize>);

impl WrongNames {
    /// Reads a name, which counts where it is wrong; `read` gets whether to seek what a wrong one means.
    fn counted(
        &self,
        reading: &mut CellReading,
        read: impl FnOnce(bool, &mut CellReading) -> Result<Value, Problem>,
    ) -> Result<Value, Problem> {
        let before = reading.problems().len();
        let result = read(self.0.get() < SOUGHT, reading);
        let is_wrong = result.is_err() || reading.problems().len() > before;
        self.0.set(self.0.get() + usize::from(is_wrong));
        result
    }
}

/// A cell that was read: the value unless it is blank or wrong, and what there is to say.
#[derive(Debug, Clone, Default)]
pub(crate) struct CellReading {
    pub(crate) value: Option<Value>,
    pub(crate) changes: Changes,
    /// Nothing of most cells, which go from one thread to the next by the million.
    pub(crate) remarks: Option<Box<Remarks>>,
}

/// What there is to say of a cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Remarks {
    pub(crate) problems: Vec<Problem>,
    /// What the reports show instead of the text of the cell, as what they show may be read again: the text with what was put
    /// back, or an error.
    pub(crate) restored: Option<String>,
}

impl CellReading {
    fn problem(mut self, problem: Problem) -> Self {
        self.add(problem);
        self
    }

    fn add(&mut self, problem: Problem) {
        self.remarks.get_or_insert_default().problems.push(problem);
    }

    fn add_all(&mut self, problems: impl IntoIterator<Item = Problem>) {
        problems.into_iter().for_each(|problem| self.add(problem));
    }

    fn restore(&mut self, text: String) {
        self.remarks.get_or_insert_default().restored = Some(text);
    }

    /// What is wrong with the cell, or worth saying.
    pub(crate) fn problems(&self) -> &[Problem] {
        self.remarks.as_ref().map_or(&[], |remarks| &remarks.problems)
    }

    /// What the cell means or probably means, as text.
    pub(crate) fn meant(&self) -> Option<SmolStr> {
        match &self.value {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => self.problems().iter().find_map(|problem| problem.suggestion.as_deref().map(SmolStr::new)),
        }
    }

    /// Whether the row cannot be used because of this cell, by what a person denied too.
    fn is_refused(&self, ways: &Ways) -> bool {
        let is_denied =
            |problem: &Problem| problem.severity == Severity::Warning && ways.policy.denies(problem.code);
        self.is_wrong() || self.problems().iter().any(is_denied)
    }

    /// Whether the row cannot be used because of this cell.
    pub(crate) fn is_wrong(&self) -> bool {
        self.problems().iter().any(|problem| matches!(problem.severity, Severity::Error | Severity::Fatal))
    }
}

/// Whether what a cell of a column means depends on what stands beside it ([`CellContext`]).
pub(crate) fn depends_on_row(column: &Column) -> bool {
    matches!(column.form, Form::Phone | Form::Email) || column.name == number::POSTCODE
}

/// Whether a cell of a column with this text is accepted and read as nothing but this text.
pub(crate) fn keeps(column: &Column, text: &str) -> bool {
    let (cell, setting) = (Cell::text(text), TableSetting::OF_WORKBOOK);
    let reading = read(column, &cell, CellContext::default(), setting, &Ways::of(&Options::default()));
    let is_same = match &reading.value {
        Some(Value::Text(read)) => read == text,
        Some(Value::Number(read)) => read.to_string() == text,
        _ => false,
    };
    !reading.is_wrong() && is_same
}

/// Reads a cell as a value of its column. The reports show cells as text and may be read again: a cell that is refused for its
/// kind, its link or where it stands, and not for its text, is shown there so that it is refused again until it is corrected.
pub(crate) fn read(
    column: &Column,
    cell: &Cell,
    beside: CellContext<'_>,
    setting: TableSetting,
    ways: &Ways,
) -> CellReading {
    let mut reading = read_as_it_is(column, cell, beside, setting, ways);
    // In a text table a decimal comma may be one that separates cells.
    let has_free_commas = setting.comma_is_free || !matches!(column.form, Form::Latitude | Form::Longitude);
    let is_text_alone = cell.kind == CellKind::Text && beside.link.is_none() && has_free_commas;
    if !is_text_alone && reading.is_refused(ways) {
        let restored = reading.remarks.as_ref().and_then(|remarks| remarks.restored.as_ref());
        let shown = restored.map_or_else(|| cell.text.clone(), |text| text.as_str().into());
        let (text, beside) = (Cell::text(shown), CellContext { link: None, ..beside });
        let setting = TableSetting { comma_is_free: true, ..setting };
        if !read_as_it_is(column, &text, beside, setting, ways).is_refused(ways) {
            reading.restore(NOT_ACCEPTED.to_owned());
        }
    }
    reading
}

fn read_as_it_is(
    column: &Column,
    cell: &Cell,
    beside: CellContext<'_>,
    setting: TableSetting,
    ways: &Ways,
) -> CellReading {
    let mut reading = CellReading::default();
    let text: Cow<'_, str> = match cell.kind {
        CellKind::Blank => return reading,
        CellKind::Error => return reading.problem(spreadsheet::formula_error(&cell.text)),
        CellKind::Unsaved => return reading.problem(spreadsheet::formula_without_result()),
        CellKind::Covered(cover) => return reading.problem(spreadsheet::covered(&cover)),
        CellKind::Date => return reading.problem(spreadsheet::date(column, &cell.text)),
        CellKind::Bool(truth) => match column.form {
            Form::Bool => {
                reading.value = Some(Value::Bool(truth));
                return reading;
            }
            _ => return reading.problem(spreadsheet::truth(truth)),
        },
        CellKind::Number { value, shown } => {
            match number::read_cell(column, &cell.text, (value, shown), beside.country, &mut reading) {
                Some(text) => Cow::Owned(text),
                None => return reading,
            }
        }
        CellKind::Text => {
            if let Some(problem) = text_checks::beyond_a_cell(&cell.text) {
                return reading.problem(problem);
            }
            let text = spreadsheet::unwrap(column, &cell.text, setting, &mut reading.changes);
            if let Some(problem) = spreadsheet::result_of_a_formula(text) {
                return reading.problem(problem);
            }
            Cow::Borrowed(text)
        }
    };
    let garbled =
        if text_checks::is_free(column.form) { text_checks::garbled(&text, norm(column)) } else { None };
    let text = match &garbled {
        // As it was stored: every sign is part of what became of a letter.
        Some(_) => Cow::Borrowed(text.trim_matches(|c: char| c.is_ascii_whitespace())),
        None => normalise(&text, norm(column), &mut reading.changes),
    };
    if text.is_empty() {
        return reading;
    }
    reading.add_all(garbled);
    if let Some(problem) = text_checks::damaged(column, &text) {
        return reading.problem(problem);
    }
    if let Some((problem, is_blank)) = text_checks::placeholder(column, &text, ways) {
        reading.add(problem);
        if is_blank {
            return reading;
        }
    }
    let text = match number::repaired(column, &text, beside.country, &mut reading) {
        Ok(text) => text,
        Err(problem) => return reading.problem(problem),
    };
    reading.add_all(text_checks::too_long(column.form, text, ways));
    let result = form(column.form, text, beside, setting, ways, &mut reading);
    match result {
        Ok(value) => reading.value = Some(value),
        Err(problem) => reading.add(problem),
    }
    reading
}

/// Takes off what keeps the cells of a row text in a text table. In our reports, which say themselves what is text, it would be
/// a part of them.
pub(crate) fn unwrap(table: &Table, setting: TableSetting, cells: &mut [Cell]) {
    if !setting.wraps_text {
        return;
    }
    for (cell, mapped) in cells.iter_mut().zip(&table.mapping) {
        let Mapped::Column { column, .. } = mapped else { continue };
        let inner = spreadsheet::unwrap(column, &cell.text, setting, &mut Changes::default());
        if inner.len() < cell.text.len() {
            *cell = Cell::text(inner);
        }
    }
}

/// Reads a text under a form.
fn form(
    form: Form,
    text: &str,
    beside: CellContext<'_>,
    setting: TableSetting,
    ways: &Ways,
    reading: &mut CellReading,
) -> Result<Value, Problem> {
    match form {
        Form::Name | Form::Text | Form::Code | Form::Family(Family::Label | Family::Meta) => {
            enums::text(text, reading)
        }
        Form::Country => ways
            .wrong_countries
            .counted(reading, |seeks, reading| Ok(country::country(text, ways.country, seeks, reading))),
        Form::Phone => phone::phone(text, beside.country, reading),
        Form::Email => email::email(text, beside.link, reading),
        Form::Enum(values) => enums::choice(text, values),
        Form::Bool => enums::truth(text),
        Form::Timezone => match confusables::in_a_latin_word(text) {
            Some(odd) => Err(confusables::problem(odd, text)),
            None => ways.wrong_zones.counted(reading, |seeks, reading| {
                timezone::timezone(text, ways.zones.as_deref(), seeks, reading)
            }),
        },
        Form::Id => match key::uuid(text) {
            Some(id) => Ok(Value::Pointer(Pointer::Id(id))),
            None => Err(key::bad_uuid(text)),
        },
        Form::Action => enums::action(text),
        Form::Exported => Ok(Value::Text(text.into())),
        Form::Key => key::key(text, reading),
        Form::Reference(_) | Form::Owner => key::reference(text),
        Form::Username => key::username(text),
        Form::Mac => mac::mac(text, ways.mac_form, reading),
        Form::Latitude | Form::Longitude => {
            coordinates::degrees(text, form == Form::Latitude, setting.comma_is_free)
        }
        Form::Integer => number::integer(text),
        Form::Offers => list::offers(text, reading),
        Form::Labels => list::labels(text, ways, reading),
        Form::Family(Family::Snat) => list::network(text),
    }
}

/// How the text of a column is normalised.
fn norm(column: &Column) -> Norm {
    match column.form {
        Form::Name | Form::Reference(_) | Form::Owner | Form::Offers => Norm::Name,
        Form::Text | Form::Exported | Form::Labels | Form::Family(Family::Label | Family::Meta) => {
            Norm::Prose
        }
        // A site is recognised by its reference; other codes are sent as they are written.
        Form::Code if column.name == REFERENCE => Norm::Code,
        Form::Code => Norm::Prose,
        Form::Key
        | Form::Email
        | Form::Username
        | Form::Mac
        | Form::Latitude
        | Form::Integer
        | Form::Longitude
        | Form::Timezone
        | Form::Id
        | Form::Action
        | Form::Family(Family::Snat) => Norm::Code,
        Form::Enum(_) | Form::Bool | Form::Phone | Form::Country => Norm::Words,
    }
}

#[cfg(test)]
mod tests;
