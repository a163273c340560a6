//! Rows that `skip_invalid` leaves out: why each is, and by what it is recognised when it comes again.
//!
//! A row's own problems are found whenever it is read; what is wrong between rows is found once, and kept here until the
//! rows are placed.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use sha2::{Digest, Sha256};
use smol_str::SmolStr;

use super::kept_rows::{KeptIdentity, KeptRow};
use crate::journal::{Because, LeftOut, Provenance};
use crate::model::digest::add_text;
use crate::model::key::{below, comparable, key_in_owner, mac_digits};
use crate::model::kind::Kind;
use crate::sheet::finding::{Code, Finding};
use crate::sheet::{Table, fold_key, is_result};

/// What is wrong between rows, by the table and the number of the row that cannot be sent for it.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    tables: Vec<(String, Option<String>)>,
    of_rows: HashMap<(u32, u32), Vec<Rc<Reason>>>,
    /// A wrong reference is often that of thousands of rows.
    known: HashSet<Rc<Reason>>,
}

/// Why a row cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Reason {
    pub(super) code: Code,
    pub(super) message: Box<str>,
    pub(super) column: Option<Box<str>>,
}

impl Reasons {
    /// Takes in a table; the numbers count up from 0.
    pub(super) fn table(&mut self, table: &Table) {
        self.tables.push((table.file.clone(), table.worksheet.clone()));
    }

    /// Takes in a finding between rows.
    pub(super) fn add(&mut self, finding: &Finding) {
        let Some(row) = finding.row.filter(|_| finding.is_error() || finding.code == Code::RefTargetInvalid)
        else {
            return;
        };
        let table =
            self.tables.iter().position(|(file, sheet)| *file == finding.file && *sheet == finding.sheet);
        let Some(table) = table.and_then(|table| u32::try_from(table).ok()) else { return };
        let reason = Reason::of(finding);
        let reason = match self.known.get(&reason) {
            Some(known) => Rc::clone(known),
            None => {
                let reason = Rc::new(reason);
                self.known.insert(Rc::clone(&reason));
                reason
            }
        };
        self.of_rows.entry((table, row)).or_default().push(reason);
    }

    fn between(&self, table: usize, row: u32) -> &[Rc<Reason>] {
        let table = u32::try_from(table).ok();
        table.and_then(|table| self.of_rows.get(&(table, row))).map_or(&[], Vec::as_slice)
    }

    /// The row of a table as one that is left out.
    pub(super) fn leave_out(
        &self,
        table: usize,
        kind: Kind,
        row: &KeptRow,
        provenance: &Provenance<'_>,
    ) -> LeftOut {
        let between = self.between(table, row.number).iter().map(|reason| &**reason);
        let reasons: Vec<&Reason> = row.errors.iter().chain(between).collect();
        let code = reasons.first().map_or(Code::RefTargetInvalid, |reason| reason.code);
        // What is meant by a wrong username, MAC address or name is a guess; one that another row has is that row's.
        let is_key = |column: &str| match (kind, row.identity.unique.is_some()) {
            (Kind::Person, _) | (Kind::Device, true) => matches!(column, "username" | "mac"),
            (Kind::Company | Kind::Site | Kind::Device, _) => matches!(column, "name" | "reference" | "mac"),
            (Kind::Upkeep(_), _) => false,
        };
        let is_twice = reasons.iter().any(|reason| reason.code == Code::DupKey);
        let is_wrong = reasons.iter().any(|reason| reason.column.as_deref().is_some_and(is_key));
        LeftOut {
            sheet: provenance.sheet,
            kind,
            number: row.number,
            line: row.line,
            because: match code {
                Code::RefTargetInvalid => Because::OfWhatItBelongsTo,
                _ => Because::OfItsErrors,
            },
            code: code.as_str().to_owned(),
            message: match reasons.as_slice() {
                [] => "a row that it depends on has errors and is not imported".to_owned(),
                reasons => {
                    let words: Vec<&str> = reasons.iter().map(|reason| &*reason.message).collect();
                    words.join("; ")
                }
            },
            columns: reasons
                .iter()
                .filter_map(|reason| Some((reason.column.as_deref()?.to_owned(), String::new())))
                .collect(),
            sheet_key: row.identity.key.as_deref().filter(|_| !is_twice).map(fold_key),
            natural_key: provenance.natural_key.clone().filter(|_| !is_wrong),
            name: key_in_owner(kind, row.identity.name.as_deref(), row.identity.unique.as_deref()),
            cells: row.cells.iter().map(|cell| cell.to_string()).collect(),
        }
    }
}

impl Reason {
    pub(super) fn of(finding: &Finding) -> Self {
        let column =
            finding.column.as_deref().map(|column| column.split_once('.').map_or(column, |(_, name)| name));
        Self {
            code: finding.code,
            message: finding.message_beside_row().into(),
            column: column.map(Into::into),
        }
    }
}

/// By what a row is the same one as before: what nothing else of its kind has, else its name below its owner, which is given
/// as its cell has it, else all of its cells.
pub(super) fn natural_key(kind: Kind, row: &KeptRow, owner: &str, headers: &[String]) -> Option<String> {
    let KeptIdentity { name, unique, .. } = &row.identity;
    let named = || key_in_owner(kind, name.as_deref(), unique.as_deref()).map(|name| below(owner, &name));
    match (kind, unique.as_deref()) {
        (Kind::Person, Some(username)) => Some(comparable(username)),
        (Kind::Device, Some(mac)) => mac_digits(mac),
        _ => named().or_else(|| Some(digest_of_cells(headers, &row.cells))),
    }
}

/// A digest of the cells of a row with their columns.
fn digest_of_cells(headers: &[String], cells: &[SmolStr]) -> String {
    let mut digest = Sha256::new();
    let columns = headers.iter().zip(cells).filter(|(header, cell)| !is_result(header) && !cell.is_empty());
    for text in columns.flat_map(|(header, cell)| [header.trim(), cell.trim()]) {
        add_text(&mut digest, text);
    }
    BASE64.encode(digest.finalize())
}
