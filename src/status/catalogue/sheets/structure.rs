//! Findings about headers, and about rows as a whole.

use super::super::Entry;
use super::found;
use crate::advice::Part::{Command, Words};

const SHIFTED: &str = "The values after it would be in wrong columns and would be sent like that.";
const QUOTES: &str = "Cells would merge without any sign, and rows would be lost.";

/// `header.` and `row.`
pub(super) const ENTRIES: &[Entry] = &[
    found(
        "header.missing",
        "no row among the first twenty looks like a header",
        "Without column names the meaning of the values is unknown.",
        &[
            Words("Put the column names into the first row; "),
            Command("template"),
            Words(" writes sheets that have them. If there is a header further down: --header-row N."),
        ],
    ),
    found(
        "header.required-missing",
        "a column that every row needs is missing",
        "The service rejects every row without it.",
        &[Words(
            "Add the column. If it has another name, map it: --map \"Department=name\". If all rows \
             have the same value: --default companies.parent=ID.",
        )],
    ),
    found(
        "header.unknown",
        "the column is not understood",
        "Its values would be ignored without any sign.",
        &[Words(
            "Correct its name, say what it means with --map \"HEADER=column\", or ignore it with \
             --ignore-column HEADER. The name of a private column may begin with x-.",
        )],
    )
    .example("adress1", "address1"),
    found(
        "header.duplicate",
        "two columns mean the same field",
        "Only one of them can be sent, and fleetload does not guess which.",
        &[Words("Remove or rename one, or ignore it with --ignore-column HEADER.")],
    ),
    found(
        "header.blank",
        "a column has values but no name",
        "Their meaning is unknown, so they would be ignored.",
        &[Words("Give the column a name, or delete its values.")],
    ),
    found(
        "header.transposed",
        "the column names run down the first column",
        "Each record needs a row of its own.",
        &[Words(
            "Select the table, copy it, and paste it transposed into a new sheet: in Excel with Paste \
             Special, Transpose; in LibreOffice the same.",
        )],
    ),
    found(
        "header.multi-row",
        "the header has two rows",
        "Names of the upper row would be read as columns, and those of the lower row as a record.",
        &[Words(
            "Use one header row: delete the upper one, or name the row of the column names: \
             --header-row 2.",
        )],
    ),
    found(
        "header.unsupported-field",
        "the service has no such field for this kind of record",
        "The service cannot store the values.",
        &[Words("Remove the column, or ignore it with --ignore-column HEADER.")],
    ),
    found(
        "row.too-many-cells",
        "the row has more cells than the header",
        SHIFTED,
        &[Words(
            "Often an address has a separator in it: put the whole cell into quotation marks. Blank \
             cells count too: the values before them may be shifted. In a workbook, delete the cells \
             to the right of the table.",
        )],
    )
    .example("12 King St, Unit 4", "\"12 King St, Unit 4\""),
    found(
        "row.too-few-cells",
        "the row has fewer cells than the header, or hardly any value",
        SHIFTED,
        &[Words(
            "Often a separator is missing, or a line break in a cell has cut one row in two: add the \
             separator, or join the two lines. A heading, a total or a remark among the rows: delete it.",
        )],
    ),
    found(
        "row.quote-stray",
        "a quotation mark is at a place where it is not allowed",
        QUOTES,
        &[Words(
            "Put the whole cell into quotation marks and double those inside; no space before the \
             first one. If the file writes \\\" instead: --escape \"\\\".",
        )],
    )
    .example("Table, 48\" wide", "\"Table, 48\"\" wide\""),
    found(
        "row.quote-unterminated",
        "a quotation mark is opened and never closed",
        "Everything after it would become one cell, and its rows would be lost.",
        &[Words("Look at the row that is named and close the mark, or delete it.")],
    ),
    found(
        "row.conflict",
        "two cells of the row are mutually exclusive",
        "The service would use one and ignore the other, and does not say which.",
        &[Words("Clear one of the two.")],
    )
    .example("site and custom_site_name", "one of them"),
    found(
        "row.incomplete-group",
        "cells that belong together are not all filled",
        "One without the other has no meaning, or another meaning.",
        &[Words("Fill in the missing one, or clear them all.")],
    )
    .example("latitude -36.85, longitude blank", "latitude -36.85, longitude 174.76"),
    found(
        "row.repeated-header",
        "the header is repeated among the rows; the repeated row is not read",
        "As a record it would be a company called \"name\". It often means that two exports were joined.",
        &[Words("Delete the row, and check that the columns below it have the same order as those above.")],
    ),
    found(
        "row.footer",
        "a total or a remark is below the data; the row is not read",
        "As a record it would be a company called \"Total\".",
        &[Words("Delete it. If it is a record after all, fill in its required cells.")],
    ),
    found(
        "row.blank",
        "blank rows are not read",
        "They are counted, so that row numbers agree with those of the spreadsheet.",
        &[Words("Nothing needs to be done.")],
    ),
    found(
        "row.template",
        "the example row of a template is not read, or a row still has the example's values",
        "fleetload recognises the example by its key, #example. With another key its company or device would be \
         created.",
        &[Words(
            "For the example itself, nothing needs to be done. If you have overwritten it with a \
             record, give the record a key and all values of its own.",
        )],
    ),
];
