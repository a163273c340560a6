//! Text tables: separators, quotation marks, line ends, ragged rows.

use fleetload::model::record::Record;
use fleetload::sheet::Format;

use super::desk::{Desk, SITES, package, site};

/// Nothing found.
const NOTHING: [&str; 0] = [];

/// The id of a company that is there already.
const COMPANY: &str = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11";

/// Sites of these rows, whose company is filled in.
fn sites(rows: &[&str]) -> String {
    format!("{SITES}{}", rows.concat().replace("ACME", COMPANY))
}

/// The cells of every row that is read.
fn rows(desk: &Desk) -> Vec<Vec<String>> {
    desk.rows().into_iter().map(|row| row.cells.iter().map(ToString::to_string).collect()).collect()
}

fn delimiter(desk: &Desk) -> char {
    match desk.examined().files().next().expect("the file is read").format {
        Format::Text { delimiter, .. } => delimiter,
        Format::Workbook => panic!("it is read as a workbook"),
    }
}

#[test]
fn a_sheet_that_is_right_is_found_to_be_right() {
    let desk = Desk::with("sites.csv", format!("{SITES}{}{}", site("a"), site("b")));
    assert_eq!(desk.found(), Vec::<String>::new());
    assert_eq!(desk.examined().sheets[0].usable, 2);
}

/// Excel in most of Europe writes semicolons.
#[test]
fn c01_the_separator_is_found_by_the_names_of_the_header_or_named() {
    let desk = Desk::with("sites.csv", format!("{SITES}{}", site("a")).replace(',', ";"));
    assert_eq!((desk.found(), delimiter(&desk)), (vec![], ';'));
    // More commas than semicolons, but those are not between names.
    let header =
        SITES.replace(',', ";").replace('\n', ";meta:door, as painted, with marks;meta:a, b, c, d, e\n");
    let desk =
        Desk::with("sites.csv", format!("{header}{}", site("a").replace(',', ";").replace('\n', ";;\n")));
    assert_eq!((desk.found(), delimiter(&desk)), (vec![], ';'));
    let desk = Desk::with("sites.csv", "name;phone,address1\n");
    assert_eq!(desk.found(), ["fatal file.delimiter-ambiguous"]);
    assert!(desk.the("file.delimiter-ambiguous").message.ends_with("name the right one with --delimiter"));
    let desk = desk.read_with(|options| options.delimiter = Some(';'));
    assert!(!desk.found().contains(&"fatal file.delimiter-ambiguous".to_owned()));
}

/// Exporters tell Excel the separator in a first line, which Excel hides.
#[test]
fn c02_a_sep_line_is_obeyed_and_is_no_row() {
    for first in ["sep=;", "SEP=;", "\"sep=;\""] {
        let bad = site("a").replace("+64 9 557 0000", "");
        let desk =
            Desk::with("sites.csv", format!("{first}\r\n{}", format!("{SITES}{bad}").replace(',', ";")));
        assert_eq!(desk.found(), ["error cell.required D2"], "{first}");
        assert_eq!(desk.the("cell.required").line, Some(3));
    }
}

/// The same countries write a decimal comma.
#[test]
fn c03_a_decimal_comma_is_read_where_commas_separate_nothing() {
    let header = SITES.replace('\n', ",latitude,longitude\n");
    let row = site("a").replace('\n', ",-36.85,174.76\n");
    let text =
        format!("{header}{row}").replace(',', ";").replace("36.85", "36,85").replace("174.76", "174,76");
    let desk = Desk::with("sites.csv", text);
    assert_eq!(desk.found(), NOTHING);
    let examined = desk.examined();
    let mut drafts = Vec::new();
    examined.books()[0]
        .read(&examined.books()[0].tables[0], &mut |row| {
            drafts.push(row.draft);
            Ok(())
        })
        .expect("the rows are read");
    let record = drafts[0].as_ref().and_then(|draft| draft.record());
    let Some(Record::Site(read)) = record else { panic!("a site is read: {record:?}") };
    assert_eq!(format!("{:?}", read.latitude), "Some(-36.85)");
    let quoted = format!("{header}{}", row.replace("-36.85", "\"-36,85\""));
    assert_eq!(Desk::with("sites.csv", quoted).found(), ["error cell.decimal-comma H2"]);
}

/// Copied from a database tool: tabs or bars under .csv.
#[test]
fn c04_tabs_and_bars_are_found_under_any_name() {
    for separator in ["\t", "|"] {
        let desk = Desk::with("sites.csv", format!("{SITES}{}", site("a")).replace(',', separator));
        assert_eq!((desk.found(), delimiter(&desk).to_string().as_str()), (vec![], separator));
    }
}

/// Marks inside a quoted cell that are not written twice, as hand-made exporters leave them.
#[test]
fn c05_a_mark_inside_a_quoted_cell_costs_its_row_and_no_other() {
    for name in ["\"5\" pipe\"", "\"Table, 48\" wide\""] {
        let row = site("a").replace("Site a", name);
        let desk = Desk::with("sites.csv", format!("{SITES}{row}{}", site("b")));
        assert_eq!(desk.found(), ["error row.quote-stray C2"], "{name}");
        assert_eq!(desk.examined().sheets[0].usable, 1);
        let finding = desk.the("row.quote-stray");
        assert!(finding.message.contains("write each mark inside the cell twice"), "{}", finding.message);
        assert_eq!((finding.header.as_deref(), finding.row_key.as_deref()), (Some("name"), Some("a")));
    }
    // The first of two marks was meant to stand inside.
    for row in [site("a").replace("Site a", "\"Table, 48\"\""), site("a").replace("NZ", "\"Table, 48\"\"")] {
        let desk = Desk::with("sites.csv", format!("{SITES}{row}{}", site("b")));
        assert_eq!(desk.the("row.quote-stray").row, Some(2));
        assert!(desk.the("row.quote-stray").message.contains("write each mark inside the cell twice"));
        assert_eq!((desk.found().len(), desk.examined().sheets[0].usable), (1, 1), "{row}");
    }
    let right = site("a").replace("Site a", "\"5\"\" pipe\"");
    let desk = Desk::with("sites.csv", format!("{SITES}{right}"));
    assert_eq!((desk.found(), rows(&desk)[0][2].as_str()), (vec![], "5\" pipe"));
}

/// A mark that is opened and never closed, or closed by the next cell that is quoted, rows below.
#[test]
fn c06_a_mark_that_is_never_closed_is_found_where_it_opens() {
    let open = site("a").replace("Site a", "\"Site a");
    let desk = Desk::with("sites.csv", format!("{SITES}{open}{}{}", site("b"), site("c")));
    assert_eq!(desk.found(), ["error row.quote-unterminated C2"]);
    assert!(desk.the("row.quote-unterminated").message.contains("it would swallow the next 3 lines"));
    assert_eq!(desk.examined().sheets[0].usable, 2);
    let last = Desk::with("sites.csv", format!("{SITES}{open}"));
    assert_eq!(last.found(), ["error row.quote-unterminated C2"]);
    let quoted = site("c").replace("Site c", "\"Site c\"");
    let desk = Desk::with("sites.csv", format!("{SITES}{open}{}{quoted}", site("b")));
    assert_eq!(desk.found(), ["error row.quote-unterminated C2"]);
    assert!(desk.the("row.quote-unterminated").message.contains("the next one is 2 lines further down"));
    assert_eq!(desk.examined().sheets[0].usable, 2);
}

/// Two marks too many, the second where it closes what the first has opened rows above.
#[test]
fn c06_rows_between_two_stray_marks_are_read_and_the_marks_found() {
    let open = |key: &str| site(key).replace("Auckland", "\"Auckland");
    let close = |key: &str| site(key).replace("Auckland", "Auckland\"");
    let desk = Desk::with("sites.csv", [SITES, &open("a"), &site("b"), &close("c"), &site("d")].concat());
    assert_eq!(desk.found(), ["error row.quote-unterminated F2", "error row.quote-stray F4"]);
    assert!(desk.the("row.quote-unterminated").message.contains("the next one is 2 lines further down"));
    assert_eq!((desk.examined().sheets[0].rows, desk.examined().sheets[0].usable), (4, 2));
    let desk = Desk::with("sites.csv", [SITES, &open("a"), &close("c")].concat());
    assert_eq!(desk.found(), ["error row.quote-unterminated F2", "error row.quote-stray F3"]);
    // In the header, nothing can be read.
    let header = SITES.replace("country", "\"x-country");
    let desk = Desk::with("sites.csv", [&header, &site("a").replace("NZ", "NZ\""), &*site("b")].concat());
    assert_eq!(desk.found(), ["fatal row.quote-unterminated G1"]);
}

/// Lines that are too few or too short to be certain; in a column that is not read, nothing else would tell of them.
#[test]
fn c06_lines_like_rows_in_a_cell_are_told_also_where_it_is_not_read() {
    let name = site("a").replace("Site a", "\"Site\nx,y,z\na\"");
    let desk = Desk::with("sites.csv", format!("{SITES}{name}"));
    assert_eq!(desk.found(), ["error cell.line-break C2"]);
    let finding = desk.the("cell.line-break");
    assert_eq!(
        finding.message,
        "the cell goes over 3 lines, some of which look like rows: check whether a quotation mark is not closed"
    );
    assert_eq!(finding.suggestion, None);
    let header = SITES.replace('\n', ",x-a,x-b,x-c\n");
    let row = |key: &str, note: &str| site(key).replace('\n', &format!(",{note}\n"));
    let open = row("a", "\"see");
    let text = format!("{header}{open}{}{}", site("b"), row("c", "it\",x,y"));
    let desk = Desk::with("sites.csv", text);
    assert_eq!(desk.found(), ["warning cell.line-break H2"]);
    assert!(desk.the("cell.line-break").message.contains("goes over 3 lines, some of which look like rows"));
    let right = format!("{header}{}", row("a", "\"called on Monday,\ncalled again, no answer\",x,y"));
    assert_eq!(Desk::with("sites.csv", right).found(), NOTHING);
}

/// Edited by hand: text after the closing mark.
#[test]
fn c07_text_after_a_closing_mark_is_found() {
    let row = site("a").replace("Site a", "\"Site\"a");
    let desk = Desk::with("sites.csv", format!("{SITES}{row}"));
    assert_eq!(desk.found(), ["error row.quote-stray C2"]);
    assert!(desk.the("row.quote-stray").message.starts_with("text follows a closing quotation mark"));
    let desk =
        Desk::with("sites.csv", format!("{SITES}{}", site("a").replace("1 Earl Street", "\"1 Earl St\" ")));
    assert_eq!(desk.found(), ["error row.quote-stray E2"]);
    assert!(
        desk.the("row.quote-stray")
            .message
            .contains("a space after the closing quotation mark: remove the space")
    );
}

/// Edited by hand: a space before the opening mark.
#[test]
fn c08_a_space_before_a_mark_is_found_with_the_way_out() {
    let row = site("a").replace("1 Earl Street", " \"1, Earl Street\"");
    let desk = Desk::with("sites.csv", format!("{SITES}{row}"));
    assert_eq!(desk.found(), ["error row.quote-stray E2"]);
    assert!(
        desk.the("row.quote-stray").message.ends_with("a space before the quotation mark: remove the space")
    );
}

/// MySQL and friends write a backslash before a mark.
#[test]
fn c09_backslashes_before_marks_are_found_and_read_when_asked_for() {
    let row = site("a").replace("Site a", "\"The \\\"Old\\\" Mill\"");
    let desk = Desk::with("sites.csv", format!("{SITES}{row}"));
    assert_eq!(desk.found(), ["error row.quote-stray C2"]);
    assert!(desk.the("row.quote-stray").message.ends_with("read it with --escape '\\'"));
    let desk = desk.read_with(|options| options.escape = Some('\\'));
    assert_eq!((desk.found(), rows(&desk)[0][2].as_str()), (vec![], "The \"Old\" Mill"));
}

/// An address with a comma and no marks around it.
#[test]
fn c10_a_row_with_more_cells_than_the_header_is_found_with_the_first_of_them() {
    let desk = Desk::with("sites.csv", format!("{SITES}{}", site("a").replace("1 Earl", "1, Earl")));
    assert!(desk.found().contains(&"error row.too-many-cells H2".to_owned()), "{:?}", desk.found());
    assert_eq!(desk.the("row.too-many-cells").value.as_deref(), Some("NZ"));
    assert_eq!(desk.examined().sheets[0].usable, 0);
    // The same with a blank last column, so that everything still fits.
    let header = SITES.replace('\n', ",x-note\n");
    let row = |key: &str| site(key).replace('\n', ",\n");
    let shifted = row("a").replace("1 Earl", "Unit 4, 1 Earl");
    let desk = Desk::with("sites.csv", [&header, &shifted, &row("b"), &*row("c")].concat());
    assert_eq!(desk.found(), ["error row.too-many-cells I2"]);
    let message = desk.the("row.too-many-cells").message;
    assert_eq!(
        message,
        "the row has 9 cells and the header has 8: put a cell that contains the separator in quotation marks, or \
         delete the extra separator"
    );
    assert_eq!(desk.examined().sheets[0].usable, 2);
    // A separator at the end of every row is how the file is written, and of most rows is not.
    let rows = |last: &str| ["a", "b", last].map(|key| site(key).replace('\n', ",\n")).concat();
    assert_eq!(Desk::with("sites.csv", format!("{SITES}{}", rows("c"))).found(), NOTHING);
    let desk = Desk::with("sites.csv", format!("{SITES}{}{}", rows("c"), site("d")));
    assert_eq!(desk.found(), [2, 3, 4].map(|row| format!("error row.too-many-cells H{row}")));
    let alone = format!("{SITES}{}", site("a").replace('\n', ",,\n"));
    assert_eq!(Desk::with("sites.csv", alone).found(), ["error row.too-many-cells H2"]);
}

/// A separator lost, or blank cells left out at the end.
#[test]
fn c11_a_row_with_fewer_cells_than_the_header_is_wrong_unless_that_is_a_habit_of_the_file() {
    let lost = site("a").replace("Earl Street,Auckland", "Earl Street Auckland");
    let desk = Desk::with("sites.csv", [SITES, &lost, &*site("b"), &*site("c")].concat());
    assert_eq!(desk.found(), ["error row.too-few-cells F2"]);
    assert_eq!(desk.examined().sheets[0].usable, 2);
    let message = desk.the("row.too-few-cells").message;
    assert!(
        message.starts_with("the row has 6 cells and the header has 7: a separator is missing"),
        "{message}"
    );
    let desk = Desk::with("sites.csv", sites(&["a,ACME,A\n", &site("b")]));
    assert_eq!(desk.found(), ["error row.too-few-cells C2"], "once, and not once for each cell");
    let message = desk.the("row.too-few-cells").message;
    assert!(
        message.starts_with("the row has 3 cells and the header has 7, so phone, address1 are missing"),
        "{message}"
    );
    let short = |key: &str| format!("{key},ACME,{key},+64 9 557 0000,1 Earl Street,Ulm\n");
    let habit = [&short("a"), &*short("b"), &short("c"), &site("d")];
    let found = Desk::with("sites.csv", sites(&habit)).found();
    assert_eq!(found, ["warning cell.required G2"]);
    // Where one of them lacks what every row needs, none is right.
    let desk = Desk::with("sites.csv", sites(&[&habit[..], &["e,ACME,E\n"]].concat()));
    assert_eq!(desk.found().len(), 4, "{:?}", desk.found());
    assert_eq!(desk.examined().sheets[0].usable, 1);
}

/// Alt+Enter in Excel.
#[test]
fn c12_a_line_break_inside_a_quoted_cell_is_read_and_found() {
    let desk =
        Desk::with("sites.csv", sites(&["a,ACME,\"A\r\nB\",+64 9 557 0000,1 Earl Street,Auckland,NZ\r\n"]));
    assert_eq!(desk.found(), ["error cell.line-break C2"]);
    let desk = Desk::with(
        "sites.csv",
        sites(&["a,ACME,A,+64 9 557 0000,\"1 Earl Street\nBuilding 2\",Auckland,NZ\n"]),
    );
    assert_eq!(desk.found(), ["error cell.line-break E2"]);
    assert!(
        desk.the("cell.line-break").message.contains("address2"),
        "{}",
        desk.the("cell.line-break").message
    );
    assert_eq!(rows(&desk)[0][4], "1 Earl Street\nBuilding 2");
    assert_eq!(desk.the("cell.line-break").suggestion, None, "two lines have two columns");
    // What a line belongs to is certain of a name only.
    let broken = |from: &str, to: &str| {
        let desk = Desk::with("sites.csv", format!("{SITES}{}", site("a").replace(from, to)));
        let finding = desk.the("cell.line-break");
        (finding.message, finding.suggestion)
    };
    let (message, suggestion) = broken("Site a", "\"The Old\nMill\"");
    assert_eq!(message, "the cell has a line break: put the text on one line");
    assert_eq!(suggestion.as_deref(), Some("The Old Mill"));
    let (message, suggestion) = broken("+64 9 557 0000", "\"09 557 0000\n09 557 0001\"");
    assert_eq!((&*message, suggestion), ("the cell has a line break: keep one value, on one line", None));
    assert_eq!(broken("Site a", "\"The\nOld\nMill\"").1, None);
}

/// The same from an exporter that does not quote.
#[test]
fn c13_every_piece_of_a_row_that_a_line_break_has_cut_is_an_error() {
    let header = "key,company,name,phone,address1,address2,city,country,postcode\n";
    let whole = "s9,ACME,N,5551234,1 High,,Ulm,DE,89073\n";
    for (broken, places) in [
        ("s1,ACME,The Old\nMill,5551234,12 Queen,,Ulm,DE,89073\n", "C G"),
        ("s1,ACME,N,5551234,12 Queen\nStreet,Level 3,Ulm,DE,89073\n", "E E"),
        ("s1,ACME,N,5551234,12 Queen St,Level\n3,Ulm,DE,89073\n", "F D"),
        ("s1,ACME,N,5551234,12 Queen St,Level 3,New\nUlm,DE,89073\n", "G C"),
        ("s1,ACME,N,5551234,12 Queen\nStreet\nBack door,Level 3,Ulm,DE,89073\n", "E A E"),
        ("s1,ACME,N,5551234,12 Queen St,,New\nUlm\n", "G A"),
        ("s1,ACME,N,5551234,12 Queen,\nLevel 3\n", "F A"),
    ] {
        let text = format!("{header}{whole}{broken}{}", whole.replace("s9", "s8").replace(",N,", ",M,"))
            .replace("ACME", COMPANY);
        let desk = Desk::with("sites.csv", text);
        let expected: Vec<String> = places
            .split(' ')
            .zip(3..)
            .map(|(column, row)| format!("error row.too-few-cells {column}{row}"))
            .collect();
        assert_eq!(desk.found(), expected, "{broken}");
        assert_eq!(desk.examined().sheets[0].usable, 2, "{broken}");
    }
    // Of two that fit together the second says so.
    let desk = Desk::with("sites.csv", sites(&["a,ACME,The Old\nMill,5551234,1 Earl,Ulm,DE\n", &site("b")]));
    let second = desk.findings().into_iter().find(|found| found.row == Some(3) && found.is_error());
    let message = second.map(|found| found.message).unwrap_or_default();
    assert_eq!(
        message,
        "this looks like one row broken by a line break: rows 2 and 3 together have the cells of one row. Join them, or put \
         the cell with the line break in quotation marks"
    );
}

/// Twice in one place, so that a blank line stands between the halves.
#[test]
fn c13_the_halves_of_a_last_row_with_a_blank_line_between_them_are_found() {
    let header = "key,company,name,phone,address1,address2,city,country,x-note\n";
    let row = |key: &str| format!("{key},ACME,Shop {key},+64 9 557 0005,5 High Street,,Ulm,DE,\n");
    let cut = row("s5").replace("Street,", "Street\n\n,");
    let text = [header, &row("s1"), &row("s2"), &cut].concat().replace("ACME", COMPANY);
    let desk = Desk::with("sites.csv", text);
    assert_eq!(desk.found(), ["error row.too-few-cells E4", "error row.too-few-cells E6"]);
    assert_eq!(desk.examined().sheets[0].usable, 2);
}

/// Windows, Unix, old Macs, a transfer that doubled the CR, and all of them in one file.
#[test]
fn c14_every_line_end_is_one_and_rows_and_lines_stay_right() {
    let bad = site("c").replace("+64 9 557 0000", "");
    for ends in [["\n"; 4], ["\r\n"; 4], ["\r"; 4], ["\r\r\n"; 4], ["\r\n", "\r", "\r\r\n", "\n"]] {
        let lines = [SITES, &site("a"), "b,ACME,B,+64 9 557 0000,\"1 Earl St\nEnd\",Auckland,NZ\n", &bad];
        let text: String =
            lines.iter().zip(ends).map(|(line, end)| format!("{}{end}", line.trim_end())).collect();
        let desk = Desk::with("sites.csv", text.replace("ACME", COMPANY));
        assert_eq!(desk.found(), ["error cell.line-break E3", "error cell.required D4"], "{ends:?}");
        assert_eq!(desk.the("cell.required").line, Some(5), "{ends:?}");
    }
}

/// Rows deleted in Excel, and lines of nothing but separators.
#[test]
fn c15_blank_rows_are_not_read_and_count() {
    let bad = site("b").replace("+64 9 557 0000", "");
    let desk = Desk::with("sites.csv", format!("{SITES}\n{}\r\n,,,,,,\n  \n\u{a0},\n{bad}", site("a")));
    assert_eq!(desk.found(), ["error cell.required D8"]);
    assert_eq!(desk.the("row.blank").message, "5 blank rows are not read");
    assert!(desk.found_with_notes().iter().any(|found| found.starts_with("note row.blank")));
}

/// Old systems fill with zero bytes and end a file with Ctrl-Z.
#[test]
fn c16_control_characters_are_found_and_the_end_mark_is_not() {
    for end in ["\u{1a}", "\n\u{1a}", "\u{1a}\u{1a}\u{1a}\n"] {
        let desk = Desk::with("sites.csv", format!("{SITES}{}{end}", site("a")));
        assert_eq!(desk.found(), NOTHING, "{end:?}");
    }
    for control in ["\0", "\u{b}", "\u{c}", "\u{1a}", "\u{7}"] {
        let desk = Desk::with(
            "sites.csv",
            format!("{SITES}{}", site("a").replace("Site", &format!("Si{control}te"))),
        );
        assert_eq!(desk.found(), ["error cell.control-char C2"], "{control:?}");
        assert!(!desk.the("cell.control-char").value.expect("a value").contains(control), "{control:?}");
    }
    let desk = Desk::with("sites.csv", format!("{SITES}{}\0\0\0", site("a")));
    assert!(desk.found().contains(&"error cell.control-char A3".to_owned()), "no remark: {:?}", desk.found());
}

/// A document pasted into a cell.
#[test]
fn c22_a_cell_longer_than_excel_allows_is_found() {
    let desk =
        Desk::with("sites.csv", format!("{SITES}{}", site("a").replace("1 Earl", &"x".repeat(200_000))));
    assert_eq!(desk.found(), ["error cell.too-long E2"]);
    assert!(desk.the("cell.too-long").value.expect("a value").chars().count() < 300);
}

/// Exporters that keep Excel from changing figures.
#[test]
fn c23_the_wrapping_of_figures_is_taken_off_and_told() {
    for wrapped in ["=\"09 557 0000\"", "\"=\"\"09 557 0000\"\"\""] {
        let desk =
            Desk::with("sites.csv", format!("{SITES}{}", site("a").replace("+64 9 557 0000", wrapped)));
        assert_eq!(
            desk.found_with_notes().iter().filter(|found| !found.contains("ref.")).collect::<Vec<_>>(),
            ["note cell.excel-text-wrapper D1"],
            "{wrapped}"
        );
        assert!(format!("{:?}", desk.rows()[0].draft).contains("\"09 557 0000\""), "{wrapped}");
    }
}

/// Codes that are sent as they are written keep it, and so does a workbook, which says itself what is text.
#[test]
fn c24_an_apostrophe_stays_in_other_codes_and_in_workbooks() {
    let draft = |desk: &Desk| {
        let draft = desk.rows().into_iter().filter_map(|row| row.draft).next_back();
        format!("{:?}", draft.expect("the row is right"))
    };
    let sites = SITES.replace("key,", "key,reference,") + &site("a").replacen("a,", "a,'00123,", 1);
    let desk = Desk::with("sites.csv", sites);
    assert!(draft(&desk).contains("reference: Some(\"'00123\")"), "{}", draft(&desk));
    let header = "key,company,name,custom_site_id,licence_code,phone,address1,city,country\n";
    let row = format!("d,{COMPANY},Till,'7,'ABC-1,+64 9 557 0000,1 Earl Street,Ulm,DE\n");
    let desk = Desk::with("devices.csv", format!("{header}{row}"));
    let told = draft(&desk);
    assert!(told.contains("Some(\"'7\")") && told.contains("Licence(\"'ABC-1\")"), "{told}");
    let texts = ["key", "company", "name", "postcode", "phone", "address1", "city", "country"];
    let values = ["a", COMPANY, "N", "'00123", "+64 9 557 0000", "1 Earl St", "Ulm", "DE"];
    let line = |row: u32, texts: [&str; 8]| {
        let cells: Vec<String> =
            texts.iter().map(|text| format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>")).collect();
        format!("<row r=\"{row}\">{}</row>", cells.concat())
    };
    let data = format!("{}{}", line(1, texts), line(2, values));
    let desk = Desk::with("book.xlsx", package("sites", &data, &[]));
    assert!(draft(&desk).contains("Some(\"'00123\")"), "{}", draft(&desk));
}

/// Typed in Excel with an apostrophe, and exported with it.
#[test]
fn c24_an_apostrophe_goes_before_figures_and_stays_before_names() {
    let row = site("a").replace("+64 9 557 0000", "'09 557 0000").replace("Auckland", "'s-Hertogenbosch");
    let desk = Desk::with("sites.csv", format!("{SITES}{row}"));
    assert_eq!(desk.found(), NOTHING);
    assert_eq!(desk.the("cell.excel-text-wrapper").header.as_deref(), Some("phone"));
    let examined = desk.examined();
    let mut drafts = Vec::new();
    examined.books()[0]
        .read(&examined.books()[0].tables[0], &mut |row| {
            drafts.extend(row.draft);
            Ok(())
        })
        .expect("the rows are read");
    let draft = format!("{:?}", drafts[0].record());
    assert!(draft.contains("\"09 557 0000\"") && draft.contains("\"'s-Hertogenbosch\""), "{draft}");
    let header = "key,company,name,mac,device_model,phone,address1,city,country,postcode\n";
    let row =
        format!("'007,{COMPANY},Till,'001a2b3c4d5e,Edge 100,+64 9 557 0000,1 Earl Street,Boston,US,'02134\n");
    let desk = Desk::with("devices.csv", format!("{header}{row}"));
    assert_eq!(desk.found(), NOTHING);
    let mut told = desk.found_with_notes();
    told.retain(|found| found.contains("wrapper"));
    assert_eq!(told, ["A1", "D1", "J1"].map(|cell| format!("note cell.excel-text-wrapper {cell}")));
    let drafts: Vec<_> = desk.rows().into_iter().filter_map(|row| row.draft).collect();
    assert_eq!(drafts[0].key.as_deref(), Some("007"));
    let draft = format!("{:?}", drafts[0].record());
    assert!(draft.contains("\"00:1a:2b:3c:4d:5e\"") && draft.contains("\"02134\""), "{draft}");
}
