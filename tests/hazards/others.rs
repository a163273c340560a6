//! Sheets as other teams make them, which were read wrongly or could not be read: what sends no wrong record, what is told
//! once, and what an option can say.

use std::fmt::Write as _;

use super::desk::{Desk, SITES, package, site};

/// Nothing found.
const NOTHING: [&str; 0] = [];

const COMPANY: &str = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11";

/// A worksheet's rows, each of these cells in its column; blank cells are not there.
fn sheet(rows: &[Vec<String>]) -> String {
    let mut data = String::new();
    for (number, cells) in (1..).zip(rows) {
        let _infallible = write!(data, "<row r=\"{number}\">");
        for (column, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let at = format!("{}{number}", letters(column));
            let _infallible = write!(data, "<c r=\"{at}\" t=\"inlineStr\"><is><t>{cell}</t></is></c>");
        }
        data.push_str("</row>");
    }
    data
}

/// The letters of a column counted from 0.
fn letters(column: usize) -> String {
    let last = char::from(b'A' + u8::try_from(column % 26).expect("a letter"));
    if column < 26 { last.to_string() } else { format!("{}{last}", letters(column / 26 - 1)) }
}

/// The cells of a row in text.
fn cells(row: &str) -> Vec<String> {
    row.trim_end().split(',').map(str::to_owned).collect()
}

/// A workbook of these sheets with sites.
fn book(sheets: &[&str]) -> Desk {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let types: String = (1..=sheets.len())
        .map(|number| {
            format!(
                "<Override PartName=\"/xl/worksheets/sheet{number}.xml\" \
                 ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/>"
            )
        })
        .collect();
    let listed: String = sheets
        .iter()
        .zip(1..)
        .map(|(name, number)| format!("<sheet name=\"{name}\" sheetId=\"{number}\" r:id=\"rId{number}\"/>"))
        .collect();
    let relations: String = (1..=sheets.len())
        .map(|number| {
            format!(
                "<Relationship Id=\"rId{number}\" Type=\"{office}/worksheet\" Target=\"worksheets/sheet{number}.xml\"/>"
            )
        })
        .collect();
    let mut parts = vec![
        (
            "[Content_Types].xml".to_owned(),
            format!(
                "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
                 <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
                 <Override PartName=\"/xl/workbook.xml\" \
                 ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml\"/>{types}</Types>"
            ),
        ),
        (
            "xl/workbook.xml".to_owned(),
            format!("<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets>{listed}</sheets></workbook>"),
        ),
        (
            "xl/_rels/workbook.xml.rels".to_owned(),
            format!(
                "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{relations}</Relationships>"
            ),
        ),
    ];
    for (number, name) in (1..).zip(sheets) {
        let data = sheet(&[cells(SITES), cells(&site(&format!("s{number}")).replace("Site", name))]);
        parts.push((
            format!("xl/worksheets/sheet{number}.xml"),
            format!("<worksheet xmlns=\"{main}\"><sheetData>{data}</sheetData></worksheet>"),
        ));
    }
    let parts: Vec<(&str, &str)> = parts.iter().map(|(name, text)| (&**name, &**text)).collect();
    Desk::with("book.xlsx", package("", "", &parts))
}

/// The names of the sites that are read.
fn names(desk: &Desk) -> Vec<String> {
    let examined = desk.examined();
    let mut names = Vec::new();
    for book in examined.books() {
        for table in &book.tables {
            book.read(table, &mut |row| {
                names.push(row.cells[2].to_string());
                Ok(())
            })
            .expect("the rows are read");
        }
    }
    names
}

/// A right sheet with 300 columns of somebody's own in the middle: what stands behind them is read where it stands.
#[test]
fn every_column_of_a_wide_workbook_is_read_as_in_a_text_table() {
    let wide = |own: usize| {
        let between: Vec<String> = (0..own).map(|number| format!("x-{number}")).collect();
        let own = |text: &str| -> Vec<String> { between.iter().map(|_| text.to_owned()).collect() };
        let header = [cells(SITES), between.clone(), vec!["state".into(), "labels".into()]].concat();
        let row = [cells(&site("a")), own("1"), vec!["Otago".into(), "retail".into()]].concat();
        (header, row)
    };
    let (header, row) = wide(300);
    let desk = Desk::with("book.xlsx", package("Sites", &sheet(&[header.clone(), row.clone()]), &[]));
    assert_eq!(desk.found(), NOTHING);
    let text = Desk::with("sites.csv", format!("{}\n{}\n", header.join(","), row.join(",")));
    let draft =
        |desk: &Desk| format!("{:?}", desk.rows()[0].draft.as_ref().expect("the row is right").record());
    assert_eq!(draft(&desk), draft(&text));
    assert!(draft(&desk).contains("\"Otago\""), "{}", draft(&desk));
    // A name beyond what is read stops everything, as it does in a text table.
    let (header, row) = wide(1_000);
    let desk = Desk::with("book.xlsx", package("Sites", &sheet(&[header, row]), &[]));
    assert_eq!(desk.found(), ["fatal file.too-large Sites row 1"]);
    let message = desk.the("file.too-large").message;
    assert!(message.starts_with("row 1 has a column name beyond column ALL"), "{message}");
}

/// Excel calls the copy of a sheet "Sites (2)".
#[test]
fn a_worksheet_is_read_by_its_name_as_it_stands_before_names_like_it() {
    let desk = book(&["Sites", "Sites (2)"]);
    assert_eq!(desk.found(), ["fatal sheet.ambiguous"]);
    for (name, read) in [("Sites", "Sites s1"), ("sites", "Sites s1"), ("Sites (2)", "Sites (2) s2")] {
        let desk = book(&["Sites", "Sites (2)"]).read_with(|options| options.sheets = vec![name.to_owned()]);
        assert_eq!((desk.found(), names(&desk)), (vec![], vec![read.to_owned()]), "{name}");
    }
    let doubtful =
        book(&["Sites", "Sites (2)"]).read_with(|options| options.sheets = vec!["Sites_".to_owned()]);
    assert_eq!(doubtful.found(), ["fatal sheet.ambiguous"]);
    let message = doubtful.the("sheet.ambiguous").message;
    assert!(
        message.ends_with("each of 'Sites', 'Sites (2)' may be meant: name the sheet exactly"),
        "{message}"
    );
}

/// Two columns whose names compare as one.
#[test]
fn columns_that_differ_in_brackets_are_told_apart_by_the_options() {
    let header = SITES.replace("phone", "Phone (office),Phone (mobile)");
    let row = site("a").replace("+64 9 557 0000", "+64 9 557 0000,+64 21 557 000");
    let text = format!("{header}{row}");
    assert_eq!(Desk::with("sites.csv", &text).found(), ["error header.duplicate E1"]);
    let ignored = Desk::with("sites.csv", &text)
        .read_with(|options| options.ignore_columns = vec!["Phone (mobile)".to_owned()]);
    assert_eq!(ignored.found(), NOTHING);
    let mapped = Desk::with("sites.csv", &text)
        .read_with(|options| options.rename = vec![("Phone (mobile)".to_owned(), "fax".to_owned())]);
    assert_eq!(mapped.found(), NOTHING);
    let draft = format!("{:?}", mapped.rows()[0].draft.as_ref().expect("the row is right").record());
    assert!(draft.contains("+64 9 557 0000") && draft.contains("+64 21 557 000"), "{draft}");
}

/// The row that a person names is the header, whatever its names are.
#[test]
fn a_header_row_that_is_named_is_the_header_and_its_unknown_names_are_listed() {
    let text = "Firma;Geraet;Telefon;Strasse;Ort\nx;R1;+64 9 555 0641;Weg 1;Bonn\n";
    let desk = Desk::with("g.csv", text).read_with(|options| {
        options.kind = Some(fleetload::model::kind::Kind::Device);
        options.header_row = Some(1);
        options.rename = vec![("Firma".to_owned(), "company".to_owned())];
    });
    let found = desk.found();
    let unknown = found.iter().filter(|found| found.starts_with("error header.unknown")).count();
    assert_eq!(unknown, 4, "{found:?}");
    assert!(!found.iter().any(|found| found.contains("header.missing")), "{found:?}");
}

/// The index that pandas writes: a column without a name.
#[test]
fn a_column_without_a_name_can_be_left_out() {
    let text = format!(",{SITES}0,{}", site("a"));
    let desk = Desk::with("sites.csv", &text);
    assert_eq!(desk.found(), ["error header.blank A1"]);
    let message = desk.the("header.blank").message;
    assert!(message.ends_with("ignore it with --ignore-column ''"), "{message}");
    let ignored =
        Desk::with("sites.csv", text).read_with(|options| options.ignore_columns = vec![String::new()]);
    assert_eq!(ignored.found(), NOTHING);
}

/// Headers of directories, CRMs and store lists, and what they are suggested to mean.
#[test]
fn headers_that_teams_use_are_known_or_come_with_a_suggestion() {
    for (known, name) in [
        ("name", "Store Name"),
        ("postcode", "Zip / Postal code"),
        ("postcode", "Billing Zip/Postal Code"),
        ("state", "Billing State/Province"),
        ("city", "TOWN/CITY"),
        ("company", "Customer"),
        ("company", "organization id"),
        ("phone", "telephoneNumber"),
        ("phone", "Contact phone"),
        ("address1", "Work Address"),
    ] {
        let header = SITES.replace("country", known);
        let header =
            if SITES.contains(known) { SITES.replace(known, name) } else { header.replace(known, name) };
        let desk = Desk::with("sites.csv", format!("{header}{}", site("a")));
        assert!(!desk.found().iter().any(|found| found.contains("header.")), "{name}: {:?}", desk.found());
    }
    for (header, meant) in [("l", "city"), ("st", "state"), ("co", "country"), ("Store #", "reference")] {
        let desk = Desk::with(
            "sites.csv",
            SITES.replace('\n', &format!(",{header}\n")) + &site("a").replace('\n', ",x\n"),
        );
        let finding = desk.the("header.unknown");
        assert_eq!(finding.suggestion.as_deref(), Some(meant), "{header}");
        assert!(finding.message.contains(&format!("It may mean {meant}.")), "{}", finding.message);
    }
    let people =
        "key,company,User Type,Template Scope,First Name,Last Name,username,email,Allow Login,phone,address1";
    let person = format!(
        "p1,{COMPANY},VPN User,COMPANY_INHERIT,Jane,Doe,jane,jane@acme.example,no,+64 9 557 0000,1 High St"
    );
    let companies = "key,parent,Company Type,name,phone,address1";
    let company = format!("c1,{COMPANY},CUSTOMER,Acme,+64 9 557 0000,1 High St");
    let devices = "key,company,name,device_model,mac,phone,address1";
    let device = format!("d1,{COMPANY},Till,Edge 100,00:1a:2b:00:00:01,+64 9 557 0000,1 High St");
    for (file, (header, row), known, name) in [
        ("people.csv", (people, &person), "username", "userPrincipalName"),
        ("people.csv", (people, &person), "Allow Login", "accountEnabled"),
        ("people.csv", (people, &person), "phone", "MOBILE NUMBER"),
        ("people.csv", (people, &person), "phone", "Work Phone"),
        ("people.csv", (people, &person), "phone", "Business phone"),
        ("companies.csv", (companies, &company), "key", "Account ID"),
        ("companies.csv", (companies, &company), "parent", "Parent Account ID"),
        ("companies.csv", (companies, &company), "Company Type", "Type"),
        ("devices.csv", (devices, &device), "company", "Account ID"),
        ("devices.csv", (devices, &device), "device_model", "Model ID"),
    ] {
        let desk = Desk::with(file, format!("{}\n{row}\n", header.replacen(known, name, 1)));
        let found = desk.found();
        assert!(!found.iter().any(|found| found.starts_with("error")), "{file} {name}: {found:?}");
    }
    for (file, (header, row), known, name) in [
        ("devices.csv", (devices, &device), "device_model", "Type"),
        ("companies.csv", (companies, &company), "name", "Customer"),
    ] {
        let finding = Desk::with(file, format!("{}\n{row}\n", header.replace(known, name)));
        let finding = finding.the("header.unknown");
        assert_eq!(finding.suggestion.as_deref(), Some(known), "{name}");
        assert!(finding.message.contains(&format!("--map '{name}={known}'")), "{}", finding.message);
    }
    let finding =
        Desk::with("sites.csv", SITES.replace('\n', ",Our colour\n") + &site("a").replace('\n', ",x\n"))
            .the("header.unknown");
    assert_eq!(
        finding.message,
        "'Our colour' is not a column of sites. Say what it means with --map 'Our colour=COLUMN', or ignore it with \
         --ignore-column 'Our colour'."
    );
    let stores = Desk::with("Stores.csv", format!("{SITES}{}", site("a")));
    assert_eq!(stores.found(), NOTHING);
}

/// What people write instead of repeating a value, and what databases write for none.
#[test]
fn ditto_marks_are_errors_and_null_names_the_option_that_helps() {
    for ditto in ["\"\"\"\"", "as above", "Ditto", "\u{3003}"] {
        let row = site("b").replace("Auckland", ditto);
        let desk = Desk::with("sites.csv", format!("{SITES}{}{row}", site("a")));
        assert_eq!(desk.found(), ["error cell.placeholder F3"], "{ditto}");
    }
    let row = site("b").replace("Auckland", "NULL");
    let desk = Desk::with("sites.csv", format!("{SITES}{row}"));
    assert_eq!(desk.found(), ["warning cell.placeholder F2"]);
    assert!(desk.the("cell.placeholder").message.contains("--placeholders-blank"));
}

/// Postcodes with all their digits, and models, typed as numbers.
#[test]
fn a_number_that_can_have_lost_nothing_is_not_doubted() {
    let header = ["key", "company", "name", "device_model", "phone", "address1", "postcode", "country"];
    let found = |postcode: &str, country: &str| {
        let text = |at: &str, text: &str| format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
        let named: String =
            header.iter().zip('A'..).map(|(name, column)| text(&format!("{column}1"), name)).collect();
        let cells = [
            text("A2", "d1"),
            text("B2", COMPANY),
            text("C2", "Till"),
            "<c r=\"D2\"><v>200</v></c>".to_owned(),
            text("E2", "+64 9 557 0000"),
            text("F2", "1 Earl Street"),
            format!("<c r=\"G2\"><v>{postcode}</v></c>"),
            text("H2", country),
        ];
        let data = format!("<row r=\"1\">{named}</row><row r=\"2\">{}</row>", cells.concat());
        Desk::with("book.xlsx", package("Devices", &data, &[])).found()
    };
    for (postcode, country) in [("1010", "NZ"), ("1010", "Austria"), ("8001", "CH"), ("78701", "US")] {
        assert_eq!(found(postcode, country), NOTHING, "{postcode} {country}");
    }
    assert_eq!(found("1010", "GB"), ["warning cell.numeric-identifier Devices!G2"]);
}
