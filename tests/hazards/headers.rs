//! Headers: as they are written, doubled, missing, or in the wrong place.

use fleetload::sheet::Mapped;

use super::desk::{Desk, SITES, package, site};

/// Nothing found.
const NOTHING: [&str; 0] = [];

/// A right site under these headers.
fn under(header: &str) -> Desk {
    Desk::with("sites.csv", format!("{header}\n{}", site("a")))
}

/// A right site with one more column.
fn with_column(header: &str, cell: &str) -> Desk {
    let text = format!("{SITES}{}", site("a"));
    let text = text.replacen('\n', &format!(",{header}\n"), 1);
    Desk::with("sites.csv", text.replace(",NZ\n", &format!(",NZ,{cell}\n")))
}

/// What the columns of the first table are taken for.
fn meant(desk: &Desk) -> Vec<&'static str> {
    let examined = desk.examined();
    let mapping = examined.books()[0].tables[0].mapping.iter();
    mapping
        .map(|mapped| match mapped {
            Mapped::Column { column, .. } => column.name,
            Mapped::Ignored => "ignored",
            Mapped::Blank => "blank",
            Mapped::Unknown => "unknown",
        })
        .collect()
}

/// Headers as everybody writes them.
#[test]
fn h01_case_marks_and_notes_of_a_header_make_no_difference() {
    let desk = under("KEY,Company *,\"Name (required)\",PHONE,Address-1,\"City [text] *\",  country ");
    assert_eq!(desk.found(), NOTHING);
    assert_eq!(meant(&desk), ["key", "company", "name", "phone", "address1", "city", "country"]);
}

/// Exports of customer databases.
#[test]
fn h02_names_of_other_systems_are_known() {
    let desk =
        under("Reference ID,Account ID,Location Name,Telephone,BillingStreet,Mailing City,Country/Region");
    assert_eq!(desk.found(), ["error header.unknown A1"], "no alias of a site's key");
    let desk =
        under("Site Key,Account ID,Location Name,Phone Number,Street Address,Mailing City,Country/Region");
    assert_eq!(desk.found(), NOTHING);
    assert_eq!(meant(&desk), ["key", "company", "name", "phone", "address1", "city", "country"]);
    assert_eq!(meant(&with_column("Postal code", "1010"))[7], "postcode");
}

/// A letter too many or too few.
#[test]
fn h03_a_near_miss_is_an_error_with_what_may_be_meant() {
    let desk = with_column("Lattitude", "");
    assert_eq!(desk.found(), ["error header.unknown H1"]);
    let finding = desk.the("header.unknown");
    assert_eq!(
        (finding.header.as_deref(), finding.suggestion.as_deref()),
        (Some("Lattitude"), Some("latitude"))
    );
    assert_eq!(
        finding.message,
        "'Lattitude' is not a column of sites. Did you mean 'latitude'? Correct it, say what it means with --map \
         'Lattitude=latitude', or ignore it with --ignore-column Lattitude."
    );
    assert_eq!(finding.line, Some(1));
    let desk = desk.read_with(|options| options.ignore_columns = vec!["lattitude".into()]);
    assert_eq!(desk.found(), NOTHING);
    for own in ["x-remarks", "_remarks", "X-Remarks", "result_state"] {
        assert_eq!(with_column(own, "mine").found(), NOTHING, "{own}");
    }
}

/// A join of two tables, and two names for one thing.
#[test]
fn h04_two_headers_for_one_field_are_found_with_both_cells() {
    for header in ["phone", "Telephone", "PHONE (mobile)"] {
        let desk = with_column(header, "+64 9 557 0001");
        assert_eq!(desk.found(), ["error header.duplicate H1"], "{header}");
        let finding = desk.the("header.duplicate");
        assert_eq!(finding.related[0].cell.as_deref(), Some("D1"));
        assert!(
            finding.message.contains("means the same as 'phone' in column D: remove one"),
            "{}",
            finding.message
        );
    }
}

/// A header that somebody deleted, inside the table or at its end.
#[test]
fn h05_values_under_a_blank_header_are_found_with_a_sample() {
    for (desk, cell, sample) in [
        (with_column("", "keep me"), "H1", "column H has values (row 2: 'keep me') but no header"),
        (with_column(",x-note", "keep me,"), "H1", "column H has values (row 2: 'keep me') but no header"),
        (under("key,company,name,phone,address1,,country"), "F1", "column F has values (row 2: 'Auckland')"),
    ] {
        assert_eq!(desk.found(), [format!("error header.blank {cell}")]);
        let message = desk.the("header.blank").message;
        assert!(message.starts_with(sample), "{message}");
    }
    assert_eq!(with_column("", "").found(), NOTHING, "blank over blank is nothing");
    assert_eq!(with_column(",,,", ",,,").found(), NOTHING);
}

/// A dump of a database, without names.
#[test]
fn h06_a_table_without_header_is_refused_with_what_it_has_and_what_is_expected() {
    for separator in [",", ";"] {
        let text = format!("{}{}", site("a"), site("b")).replace(',', separator);
        let desk = Desk::with("sites.csv", text);
        assert_eq!(desk.found(), ["fatal header.missing row 1"]);
        let message = desk.the("header.missing").message;
        assert!(
            message.contains("row 1 has 'a', '6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11', 'Site a'"),
            "{message}"
        );
        assert!(message.contains("expected are names such as company, name, phone, address1"), "{message}");
    }
}

/// Text wrapped in Excel.
#[test]
fn h07_line_breaks_and_spaces_in_a_header_make_no_difference() {
    let desk = under("key,company,\"Site\nName\",\"Phone  \r\nNumber\",Street   Address,city,country");
    assert_eq!(desk.found(), NOTHING);
    let bad = Desk::with(
        "sites.csv",
        format!("{}\n{}", "key,company,\"Site\nName\",phone,address1,city,country", "a,acme"),
    );
    let finding = bad.the("row.too-few-cells");
    assert_eq!((finding.row, finding.line), (Some(2), Some(3)));
}

/// A pivot table: years and dates as names.
#[test]
fn h08_a_header_that_is_a_number_is_text_like_the_others() {
    let desk = with_column("2024", "7");
    assert_eq!(desk.found(), ["error header.unknown H1"]);
    assert!(desk.the("header.unknown").message.starts_with("'2024' is not a column of sites"));
    let named =
        SITES.trim_end().split(',').map(|name| format!("<c t=\"inlineStr\"><is><t>{name}</t></is></c>"));
    let data = format!("<row r=\"1\">{}<c><v>2024</v></c></row>", named.collect::<String>());
    let desk = Desk::with("book.xlsx", package("Sites", &data, &[]));
    assert_eq!(desk.found(), ["error header.unknown Sites!H1", "error sheet.empty Sites row 1"]);
    assert_eq!(desk.the("header.unknown").header.as_deref(), Some("2024"));
}

/// Headers in the language of the team.
#[test]
fn h09_a_header_in_another_language_is_not_guessed_and_can_be_said() {
    let desk = under("Schlüssel,Firma,Bezeichnung,Fernruf,Strasse,Stadt,Land");
    assert_eq!(desk.found(), ["fatal header.missing row 1"]);
    assert!(desk.the("header.missing").message.contains("say what your own names mean with --map"));
    let map = [
        ("Schlüssel", "key"),
        ("firma", "company"),
        ("Bezeichnung", "name"),
        ("Fernruf", "phone"),
        ("Strasse", "address1"),
        ("Stadt", "city"),
        ("Land", "country"),
    ];
    let desk = desk.read_with(|options| {
        options.rename = map.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
    });
    assert_eq!(desk.found(), NOTHING);
    assert_eq!(desk.examined().sheets[0].usable, 1);
}

/// Copied from a web page, with what nobody can see.
#[test]
fn h10_invisible_characters_in_a_header_make_no_difference_and_others_are_spelt_out() {
    assert_eq!(
        under("\u{feff}key,comp\u{ad}any,na\u{200b}me,phone\u{a0},address\u{a0}1,\u{2060}Ｃity,country")
            .found(),
        NOTHING
    );
    let desk = with_column("lat\u{200b}tidude", "");
    assert!(desk.the("header.unknown").message.starts_with("'lat\\u{200b}tidude' is not a column"));
    let desk = with_column("st\u{430}te", "");
    let message = desk.the("header.unknown").message;
    assert!(
        message.contains("letters of another script that look like Latin ones: 'st\\u{430}te'"),
        "{message}"
    );
}

/// Excel breaks a header into lines: programs are given it as it is, people in one line.
#[test]
fn h07_a_header_is_kept_as_it_is_and_typed_in_one_line() {
    let finding = with_column("\"Our\n col\u{200b}our\"", "").the("header.unknown");
    assert_eq!(finding.header.as_deref(), Some("Our\n col\u{200b}our"));
    assert!(finding.message.contains("--map 'Our colour=COLUMN'"), "{}", finding.message);
    let named = with_column("\"Our\n col\u{200b}our\"", "")
        .read_with(|options| options.ignore_columns = vec!["Our colour".to_owned()]);
    assert_eq!(named.found(), NOTHING);
}

/// Names down the first column, a record in each of the others.
#[test]
fn h12_a_sheet_that_lies_on_its_side_is_refused() {
    let row = site("a");
    let lines: Vec<String> = SITES
        .trim_end()
        .split(',')
        .zip(row.trim_end().split(','))
        .map(|(name, cell)| format!("{name},{cell}"))
        .collect();
    let desk = Desk::with("sites.csv", lines.join("\n"));
    assert_eq!(desk.found(), ["fatal header.transposed row 1"]);
    assert!(desk.the("header.transposed").message.contains("turn the sheet so that each record has a row"));
}

/// A header that is right but for one mark, and one with a letter of another encoding.
#[test]
fn a_header_that_is_damaged_is_told_as_such() {
    let desk = under("key,company,\"name\"x,phone,address1,city,country");
    assert_eq!(desk.found(), ["fatal row.quote-stray C1"]);
    assert!(
        desk.the("row.quote-stray")
            .message
            .starts_with("in the header, text follows a closing quotation mark")
    );
    let mut bytes = SITES.replace("country", "country,Stra").trim_end().as_bytes().to_vec();
    bytes.extend(b"\xdfe\n");
    bytes.extend(site("a").replace("Site", "Café").replace('\n', ",x\n").bytes());
    let desk = Desk::with("sites.csv", bytes);
    assert_eq!(desk.found(), ["error header.unknown H1"]);
}

/// What a header that means nothing probably is, also for programs.
#[test]
fn h03_the_nearest_name_is_suggested_and_metadata_is_told_how_its_columns_are_called() {
    let companies = "key,parent,compnay type,name,phone,support_email,sales_email,accounts_email,address1\n";
    let finding = Desk::with("companies.csv", companies).the("header.unknown");
    assert!(finding.message.contains("Did you mean 'company_type'?"), "{}", finding.message);
    assert_eq!(finding.suggestion.as_deref(), Some("company_type"));
    let desk = Desk::with("sites.csv", format!("{}{}", SITES.replace('\n', ",metadata\n"), site("a")));
    assert!(desk.the("header.unknown").message.contains("as in meta:contract"));
}

/// Where no header is found, what may have hidden it.
#[test]
fn h06_a_table_without_header_names_the_options_that_help() {
    let told = |text: &str| Desk::with("x.csv", text).the("header.missing").message;
    assert!(told("a,b\n1,2\n").contains("--header-row") && told("a,b\n1,2\n").contains("--delimiter"));
    assert!(told("sep=;\na,b\n1,2\n").contains("sep="), "{}", told("sep=;\na,b\n1,2\n"));
    // A value that is the name of a column makes no header of its row.
    let marks = "holder_type,holder,mark\nsite,s1,x\n";
    let desk = Desk::with("marks.csv", marks);
    assert_eq!(desk.found(), ["fatal header.missing row 1"]);
    assert!(desk.the("header.missing").message.contains("row 1 has 'holder_type', 'holder', 'mark'"));
}
