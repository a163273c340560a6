//! The links behind the cells of a worksheet's columns of e-mail addresses.
//!
//! Whether a link leads to the address in its cell is left to the fields.

use crate::sheet::Mapped;
use crate::sheet::file::preflight::{ColumnLinks, Link, Survey};
use crate::sheet::finding::Finding;
use crate::sheet::finding::code::{Code, Severity};
use crate::sheet::table::Table;
use crate::sheet::table::column::{Column, Form};

/// The links of a table, by column.
#[derive(Debug)]
pub(super) struct Linked(Vec<(usize, ColumnLinks)>);

impl Linked {
    /// Those of a table.
    pub(super) fn of(table: &Table, survey: &Survey) -> Self {
        let columns = email_columns(table).map(|(at, _)| (at, survey.links.in_column(at)));
        Self(columns.filter(|(_, links)| !links.is_empty()).collect())
    }

    /// Those of a row.
    pub(super) fn in_row(&self, row: u32) -> Vec<Link> {
        let links = self.0.iter();
        links.filter_map(|(column, links)| Some(Link { column: *column, address: links.at(row)? })).collect()
    }
}

/// The columns of a table that hold e-mail addresses.
fn email_columns(table: &Table) -> impl Iterator<Item = (usize, &'static Column)> {
    table.mapping.iter().enumerate().filter_map(|(at, mapped)| match mapped {
        Mapped::Column { column, .. } if column.form == Form::Email => Some((at, *column)),
        Mapped::Column { .. } | Mapped::Ignored | Mapped::Blank | Mapped::Unknown => None,
    })
}

/// Tells the columns with links that could not all be compared with their cells.
pub(super) fn tell(table: &Table, survey: &Survey, findings: &mut Vec<Finding>) {
    for (at, column) in email_columns(table).filter(|(at, _)| survey.links.may_lack(*at)) {
        let message = "some links behind the cells of this column could not be read, so they may lead to other \
            addresses than their cells say: check the links, or remove them";
        let finding = table.finding(Code::CellEmail, message).in_row(table.header_row, None);
        findings.push(table.name_column(finding, Some(at), column).as_severity(Severity::Warning));
    }
}
