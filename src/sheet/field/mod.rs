//! One cell read under the form of its column: to a value, or to what is wrong with it.
//!
//! First what holds for every form (no dates, no formula errors, no control characters …), then the form's own rule
//! in the file of its idea. Where the cell stands is added by the row.

mod identifier;
mod list;
mod number;
mod words;

use std::borrow::Cow;

use uuid::Uuid;

use super::cell::{Cell, CellKind, Cover, address};
use super::code::{Code, Severity};
use super::column::{Column, Family, Form, Need};
use super::text::{
    Changes, Norm, has_markup, is_direction, is_formula_error, is_placeholder, normalise, repair_mojibake,
    unwrap_excel,
};

pub use identifier::fold_key;

/// Longest text in characters: that of an Excel cell.
const TEXT_LIMIT: usize = 32_767;
/// Characters above which a text is probably not what it should be.
const LONG_TEXT: usize = 255;

/// What a cell means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Text, normalised.
    Text(String),
    /// Yes or no.
    Bool(bool),
    /// Decimal degrees.
    Number(f64),
    /// One of the values of an enumeration, by its position.
    Choice(usize),
    /// Ids.
    Uuids(Vec<Uuid>),
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

    fn rule(mut self, rule: &'static str) -> Self {
        self.rule = Some(rule);
        self
    }

    fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    fn error(mut self) -> Self {
        self.severity = Severity::Error;
        self
    }
}

/// What holds for a whole table and matters to its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setting {
    /// A text table: no cell has a kind of its own, and digits lost when it was saved show as `1.2E+11`.
    pub(crate) is_text_table: bool,
    /// A comma inside a cell can be a decimal comma, because it does not separate cells.
    pub(crate) comma_is_free: bool,
}

/// A cell that was read: the value unless it is blank or wrong, and what there is to say.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) value: Option<Value>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) changes: Changes,
}

impl Reading {
    fn problem(mut self, problem: Problem) -> Self {
        self.problems.push(problem);
        self
    }

    /// Whether the row cannot be used because of this cell.
    pub(crate) fn is_wrong(&self) -> bool {
        self.problems.iter().any(|problem| matches!(problem.severity, Severity::Error | Severity::Fatal))
    }
}

/// Reads a cell as a value of its column.
pub(crate) fn read(column: &Column, cell: &Cell, setting: Setting) -> Reading {
    let mut reading = Reading::default();
    let text: Cow<'_, str> = match cell.kind {
        CellKind::Blank => return reading,
        CellKind::Error => return reading.problem(formula_error(&cell.text)),
        CellKind::Unsaved => return reading.problem(formula_without_result()),
        CellKind::Covered(cover) => return reading.problem(covered(&cover)),
        CellKind::Date => return reading.problem(date(column, &cell.text)),
        CellKind::Bool(truth) => match column.form {
            Form::Bool => {
                reading.value = Some(Value::Bool(truth));
                return reading;
            }
            _ => {
                return reading.problem(Problem::new(
                    Code::CellBoolUnexpected,
                    format!(
                        "Excel stores {} here, not text: format the column as Text and enter the value again",
                        if truth { "TRUE" } else { "FALSE" }
                    ),
                ));
            }
        },
        CellKind::Number { value, padded } => {
            match number::read_cell(column, &cell.text, value, padded, &mut reading) {
                Some(text) => Cow::Owned(text),
                None => return reading,
            }
        }
        CellKind::Text => {
            if is_formula_error(cell.text.trim()) {
                return reading.problem(formula_error(&cell.text));
            }
            Cow::Borrowed(unwrap(column.form, &cell.text, &mut reading.changes))
        }
    };
    let text = normalise(&text, norm(column.form), &mut reading.changes);
    if text.is_empty() {
        return reading;
    }
    if let Some(problem) = damaged(column.form, &text) {
        return reading.problem(problem);
    }
    if let Some(problem) = placeholder(column, &text) {
        let wrong = problem.severity == Severity::Error;
        reading.problems.push(problem);
        if wrong {
            return reading;
        }
    }
    // Text from a text table that was pasted into a workbook has lost them just as well.
    if cell.kind == CellKind::Text
        && let Some(problem) = number::lost_digits(column.form, &text)
    {
        return reading.problem(problem);
    }
    let result = match column.form {
        Form::Name | Form::Text | Form::Code | Form::Family(Family::Label | Family::Meta) => {
            words::text(&text, &mut reading)
        }
        Form::Phone => words::phone(&text, &mut reading),
        Form::Email => words::email(&text),
        Form::Enum(values) => words::choice(&text, values),
        Form::Bool => words::truth(&text),
        Form::Timezone => words::timezone(&text, &mut reading),
        Form::Action => words::action(&text),
        Form::Key => identifier::key(&text),
        Form::Reference(role) => identifier::reference(&text, role),
        Form::Username => identifier::username(&text),
        Form::Mac => identifier::mac(&text, &mut reading),
        Form::Latitude | Form::Longitude => {
            number::degrees(&text, column.form == Form::Latitude, setting.comma_is_free)
        }
        Form::UuidList => list::uuids(&text),
        Form::Labels => list::labels(&text),
        Form::Family(Family::Snat) => list::network(&text),
    };
    match result {
        Ok(value) => reading.value = Some(value),
        Err(problem) => reading.problems.push(problem),
    }
    reading
}

/// How the text of a form is normalised.
fn norm(form: Form) -> Norm {
    match form {
        Form::Name | Form::Reference(_) => Norm::Name,
        Form::Text | Form::Labels | Form::Family(Family::Label | Family::Meta) => Norm::Prose,
        Form::Code
        | Form::Key
        | Form::Email
        | Form::Username
        | Form::Mac
        | Form::Latitude
        | Form::Longitude
        | Form::Timezone
        | Form::UuidList
        | Form::Action
        | Form::Family(Family::Snat) => Norm::Code,
        Form::Enum(_) | Form::Bool | Form::Phone => Norm::Words,
    }
}

/// Takes off what exporters and Excel users wrap around values to keep them text.
fn unwrap<'a>(form: Form, text: &'a str, changes: &mut Changes) -> &'a str {
    if let Some(inner) = unwrap_excel(text) {
        changes.unwrapped = true;
        return inner;
    }
    if matches!(form, Form::Key | Form::Phone | Form::Code | Form::Mac)
        && let Some(inner) = text.trim_start().strip_prefix('\'')
    {
        changes.unwrapped = true;
        return inner;
    }
    text
}

fn formula_error(text: &str) -> Problem {
    Problem::new(
        Code::CellFormulaError,
        format!("the formula of the cell has the result {text}: correct it, or enter the value"),
    )
}

fn formula_without_result() -> Problem {
    Problem::new(
        Code::CellFormulaNoValue,
        "the cell has a formula whose result was never saved: open the workbook in Excel and save it, or enter the value",
    )
}

fn covered(cover: &Cover) -> Problem {
    let (row, at) = cover.at;
    let merge = cover.merge;
    let mut message = format!(
        "{} is inside the merged range {}: unmerge and fill down",
        address(usize::from(at), row),
        merge.range()
    );
    if merge.is_vertical() {
        let anchor = merge.anchor();
        message
            .push_str(&format!(", or choose --fill-merged if the value of {anchor} holds for all of them"));
    } else if merge.first_row == merge.last_row {
        message = message.replace("fill down", "fill each cell");
    }
    Problem::new(Code::CellMergedCovered, message)
}

fn date(column: &Column, text: &str) -> Problem {
    let hint = match column.form {
        Form::Mac => "; a MAC address of digits and colons looks like a time to it",
        Form::Phone => "; a phone number with dashes can look like a date to it",
        _ => "",
    };
    Problem::new(
        Code::CellDateUnexpected,
        format!(
            "Excel stores a date or time here ({text}){hint}: format the column as Text and enter the value again"
        ),
    )
}

/// What no cell may contain, and what makes a text suspicious beyond use.
fn damaged(form: Form, text: &str) -> Option<Problem> {
    if text.is_ascii() && text.len() <= LONG_TEXT && !text.bytes().any(|byte| byte.is_ascii_control()) {
        return None;
    }
    if text.chars().nth(TEXT_LIMIT).is_some() {
        return Some(Problem::new(
            Code::CellTooLong,
            format!("the text has more than {TEXT_LIMIT} characters: shorten it"),
        ));
    }
    if let Some((first, rest)) = text.split_once('\n') {
        let mut problem =
            Problem::new(Code::CellLineBreak, "the cell has a line break: put the text on one line");
        if form == Form::Text && !rest.contains('\n') {
            problem.message =
                "the cell has a line break: put the second line into the column address2".into();
        }
        return Some(problem.suggest(format!("{} {}", first.trim(), rest.replace('\n', " ").trim())));
    }
    if let Some(c) = text.chars().find(|c| c.is_control() || is_direction(*c)) {
        return Some(Problem::new(
            Code::CellControlChar,
            format!("the cell has the invisible character U+{:04X}: enter the value again", u32::from(c)),
        ));
    }
    if text.contains('\u{fffd}') {
        return Some(Problem::new(
            Code::CellReplacementChar,
            "a letter was lost when the sheet was saved (it shows as \u{fffd}): enter the value again",
        ));
    }
    None
}

/// A word that stands for nothing. Not in countries ("NA" is Namibia) nor in names of people ("Null" is one).
fn placeholder(column: &Column, text: &str) -> Option<Problem> {
    if !is_placeholder(text) || matches!(column.name, "country" | "first_name" | "last_name") {
        return None;
    }
    let free = matches!(column.form, Form::Name | Form::Text | Form::Code | Form::Family(_) | Form::Labels);
    let problem = Problem::new(
        Code::CellPlaceholder,
        format!(
            "'{text}' stands for no value: {}",
            if column.need == Need::Required { "enter the value" } else { "leave the cell blank" }
        ),
    );
    Some(if column.need == Need::Required || !free { problem.error() } else { problem })
}

/// Signs of damage in a text that is used all the same.
fn suspicions(text: &str, problems: &mut Vec<Problem>) {
    if text.len() > LONG_TEXT {
        let count = text.chars().count();
        if count > LONG_TEXT {
            problems.push(
                Problem::new(
                    Code::CellTooLong,
                    format!("the text has {count} characters; the service may refuse it"),
                )
                .warning(),
            );
        }
    }
    if let Some(repaired) = repair_mojibake(text) {
        problems.push(
            Problem::new(
                Code::CellMojibake,
                format!("the letters look garbled by an earlier conversion; '{repaired}' was probably meant"),
            )
            .suggest(repaired),
        );
    }
    if has_markup(text) {
        problems.push(Problem::new(Code::CellHtml, "the text contains markup of a web page: remove it"));
    }
    if text.starts_with(['=', '@']) {
        problems.push(Problem::new(
            Code::CellFormulaText,
            "the text starts like a formula and is sent as it stands: check it",
        ));
    }
}

#[cfg(test)]
mod tests;
