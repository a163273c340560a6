//! What a workbook does not show, and what it shows once for several cells. The files imitate what people do in Excel:
//! filter, hide, merge.

use fleetload::sheet::HiddenRows;

use super::super::desk::{Desk, package};
use super::{COMPANY, HEADER, PHONE, errors, row, row_with, site, site_with, sites, told, worksheet};

/// A filter that hides rows 3, 4 and 6.
fn filtered() -> Desk {
    let hidden = " hidden=\"1\"";
    let rows = [site(2), site_with(3, hidden), site_with(4, hidden), site(5), site_with(6, hidden)].concat();
    sites("", &rows, "<autoFilter ref=\"A1:F6\"/>")
}

#[test]
fn x02_hidden_sheets_are_left_out_by_name_until_somebody_asks_for_them() {
    let part = worksheet("", &format!("{}{}", row(1, &HEADER), site(2)), "");
    for state in ["hidden", "veryHidden"] {
        let workbook = format!(
            "<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
             xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>\
             <sheet name=\"Sites\" sheetId=\"1\" state=\"{state}\" r:id=\"rId1\"/></sheets></workbook>"
        );
        let parts = [("xl/workbook.xml", workbook.as_str()), ("xl/worksheets/sheet1.xml", &part)];
        let desk = Desk::with("sites.xlsx", package("Sites", "", &parts));
        assert_eq!(told(&desk), ["note sheet.hidden Sites", "fatal sheet.not-found"]);
        assert!(desk.the("sheet.hidden").message.contains("'Sites' is hidden and not read"));
        let desk = desk.read_with(|options| options.include_hidden = true);
        assert_eq!(told(&desk), Vec::<String>::new());
        assert_eq!(desk.examined().sheets[0].usable, 1);
    }
}

#[test]
fn x03_hidden_rows_are_an_error_until_somebody_chooses() {
    let desk = filtered();
    assert_eq!(desk.found(), ["error sheet.hidden-rows Sites row 3"]);
    assert_eq!(
        desk.the("sheet.hidden-rows").message,
        "3 rows are hidden by a filter (rows 3-4, 6). Choose --hidden-rows=import to import them or \
         --hidden-rows=skip to ignore them"
    );
    let examined = desk.examined();
    assert_eq!(
        (examined.sheets[0].rows, examined.sheets[0].usable),
        (5, 2),
        "no hidden row becomes a record"
    );
}

#[test]
fn x03_hidden_rows_are_imported_when_chosen() {
    let desk = filtered().read_with(|options| options.hidden_rows = Some(HiddenRows::Import));
    assert_eq!(told(&desk), ["note sheet.hidden-rows Sites row 3"]);
    assert_eq!(desk.examined().sheets[0].usable, 5);
}

#[test]
fn x03_hidden_rows_are_left_out_and_counted_when_chosen() {
    let desk = filtered().read_with(|options| options.hidden_rows = Some(HiddenRows::Skip));
    assert_eq!(told(&desk), ["warning sheet.hidden-rows Sites row 3"]);
    assert_eq!(
        desk.the("sheet.hidden-rows").message,
        "3 rows are hidden by a filter (rows 3-4, 6) and not imported, as chosen: check that none of them is needed"
    );
    let examined = desk.examined();
    assert_eq!((examined.sheets[0].rows, examined.sheets[0].usable), (2, 2));
    let device = format!(
        "company,site,name,device_model,phone,address1\n{COMPANY},S-3,Till,Edge 100,{PHONE},1 Earl St\n"
    );
    let lost = desk.and("devices.csv", device).the("ref.not-found").message;
    let skipped = "in an earlier import; hidden rows of sites were skipped: correct it, show the row if it is hidden, or give the id";
    assert!(lost.contains(skipped), "{lost}");
}

/// Somebody dragged the border of row 3 up to nothing; the rows below the data are hidden, as tidy people do.
#[test]
fn x03_a_row_of_no_height_is_hidden_and_hidden_rows_without_a_value_do_not_matter() {
    let empty = "<row r=\"4\" hidden=\"1\"/><row r=\"5\" hidden=\"1\"><c r=\"A5\" s=\"0\"/></row>";
    let rows = [site(2), site_with(3, " ht=\"0\" customHeight=\"1\""), empty.to_owned()].concat();
    let desk = sites("", &rows, "");
    assert!(desk.the("sheet.hidden-rows").message.starts_with("1 row is hidden (row 3). Choose"));
    assert_eq!(sites("", &[site(2), empty.to_owned()].concat(), "").found(), Vec::<String>::new());
}

#[test]
fn x04_hidden_columns_are_read_with_a_warning_that_names_them() {
    let cols = "<cols><col min=\"3\" max=\"4\" hidden=\"1\"/><col min=\"6\" max=\"6\" width=\"0\"/>\
                <col min=\"20\" max=\"16384\" hidden=\"1\"/></cols>";
    let desk = sites(cols, &site(2), "");
    assert_eq!(desk.found(), ["warning sheet.hidden-columns Sites!C1"]);
    assert!(desk.the("sheet.hidden-columns").message.starts_with("columns C, D, F are hidden"));
    assert_eq!(desk.examined().sheets[0].usable, 1);
}

/// The company's id stands once for three sites; the city over two columns.
fn merged(after: &str) -> Desk {
    let rows = [
        row(2, &["S-2", COMPANY, "Site 2", PHONE, "1 Earl Street", "Auckland"]),
        row(3, &["S-3", "", "Site 3", PHONE, "1 Earl Street", "Auckland"]),
        row(4, &["S-4", "", "Site 4", PHONE, "1 Earl Street", ""]),
    ];
    sites("", &rows.concat(), after)
}

#[test]
fn x05_a_blank_cell_of_a_merged_range_is_an_error_that_says_so() {
    let desk =
        merged("<mergeCells count=\"2\"><mergeCell ref=\"B2:B4\"/><mergeCell ref=\"E4:F4\"/></mergeCells>");
    assert_eq!(
        desk.found(),
        [
            "error cell.merged-covered Sites!B3",
            "error cell.merged-covered Sites!B4",
            "error cell.merged-covered Sites!F4"
        ]
    );
    let messages = errors(&desk);
    assert_eq!(
        messages,
        [
            "B3 is blank inside the merged range B2:B4: enter its value; in the file with that range, unmerge it first, \
             or choose --fill-merged if the value of B2 holds for all of them",
            "B4 is blank inside the merged range B2:B4: enter its value; in the file with that range, unmerge it first, \
             or choose --fill-merged if the value of B2 holds for all of them",
            "F4 is blank inside the merged range E4:F4: enter its value; in the file with that range, unmerge it first",
        ]
    );
}

/// People write the customer over its rows, in one cell as wide as the table.
#[test]
fn x05_a_heading_merged_along_its_row_is_one_finding_that_says_to_delete_it() {
    let rows = [
        row(2, &["Northwind Networks", "", "", "", "", ""]),
        row(3, &["S-3", COMPANY, "Site 3", PHONE, "1 Earl Street", "Auckland"]),
    ];
    let desk = sites("", &rows.concat(), "<mergeCells><mergeCell ref=\"A2:F2\"/></mergeCells>");
    assert_eq!(desk.found(), ["error row.too-few-cells Sites row 2"]);
    let message = desk.the("row.too-few-cells").message;
    assert!(message.contains("delete the row if it is a heading"), "{message}");
}

#[test]
fn x05_a_merge_down_one_column_counts_for_all_its_rows_when_chosen_and_others_do_not() {
    let after = "<mergeCells><mergeCell ref=\"E4:F4\"/><mergeCell ref=\"B2:B4\"/></mergeCells>";
    let desk = merged(after).read_with(|options| options.fill_merged = true);
    assert_eq!(desk.found(), ["error cell.merged-covered Sites!F4"]);
    let desk = merged("<mergeCells><mergeCell ref=\"B2:B4\"/></mergeCells>")
        .read_with(|options| options.fill_merged = true);
    assert_eq!(desk.found(), ["warning cell.required Sites!F4"]);
    assert_eq!(desk.examined().sheets[0].usable, 3);
}

/// A merged range without a value hides none; one over columns that are not read does not matter.
#[test]
fn x05_merged_ranges_that_hide_nothing_are_no_errors() {
    let rows = [site(2), site(3)].concat();
    let after = "<mergeCells><mergeCell ref=\"H2:H3\"/><mergeCell ref=\"A9:F12\"/></mergeCells>";
    assert_eq!(sites("", &rows, after).found(), Vec::<String>::new());
}

#[test]
fn x05_merged_ranges_that_lie_over_each_other_are_refused() {
    let after = "<mergeCells><mergeCell ref=\"A2:B3\"/><mergeCell ref=\"B3:C4\"/></mergeCells>";
    let desk = sites("", &[site(2), site(3)].concat(), after);
    assert_eq!(desk.found(), ["fatal sheet.unreadable Sites"]);
    assert!(desk.the("sheet.unreadable").message.contains("the merged range B3:C4 lies over another one"));
}

/// A report with its title in a merged range over the table.
#[test]
fn x06_a_merged_title_above_the_header_is_passed_over_with_a_warning() {
    let title = row(1, &["Rollout of the northern sites"]);
    let header = row(3, &HEADER);
    let rows =
        [title, header, row_with(4, "", &["S-4", COMPANY, "Site 4", PHONE, "1 Earl Street", "Auckland"])];
    let part = worksheet("", &rows.concat(), "<mergeCells><mergeCell ref=\"A1:F2\"/></mergeCells>");
    let desk = Desk::with("sites.xlsx", package("Sites", "", &[("xl/worksheets/sheet1.xml", &part)]));
    assert_eq!(desk.found(), ["warning sheet.preamble Sites row 3"]);
    let message = desk.the("sheet.preamble").message;
    assert!(
        message.ends_with("name the right row with --header-row, which counts for every sheet that is read"),
        "{message}"
    );
    assert_eq!(desk.examined().sheets[0].usable, 1);
}
