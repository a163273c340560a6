//! Workbooks: what they hide, merge, compute, declare and break.

mod archive;
mod hidden;
mod links;
mod shape;
mod sheets;
mod values;

/// The header of sites that has all that every row needs, as cells of row 1.
const HEADER: [&str; 6] = ["key", "company", "name", "phone", "address1", "city"];

/// The same of people.
const PEOPLE: [&str; 12] = [
    "key",
    "company",
    "user_type",
    "template_scope",
    "first_name",
    "last_name",
    "username",
    "email",
    "allow_login",
    "address1",
    "city",
    "country",
];

/// A row of these texts as a worksheet has them.
fn row(number: u32, cells: &[&str]) -> String {
    row_with(number, "", cells)
}

/// The same with attributes of the row.
fn row_with(number: u32, attributes: &str, cells: &[&str]) -> String {
    let cells: String =
        cells.iter().zip('A'..).map(|(text, column)| text_cell(&format!("{column}{number}"), text)).collect();
    format!("<row r=\"{number}\"{attributes}>{cells}</row>")
}

/// A cell of text; none for an empty text.
fn text_cell(at: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
}

/// A row of a site that is right.
fn site(number: u32) -> String {
    site_with(number, "")
}

/// The same with attributes of the row.
fn site_with(number: u32, attributes: &str) -> String {
    let key = format!("S-{number}");
    row_with(
        number,
        attributes,
        &[&key, COMPANY, &format!("Site {number}"), PHONE, "1 Earl Street", "Auckland"],
    )
}

/// A row of a person whose cell in this column is given.
fn person(number: u32, column: char, cell: &str) -> String {
    let cells =
        "KEY,COMPANY,VPN User,COMPANY_INHERIT,Jane,Doe,jane,jane@acme.example,no,1 Earl Street,Auckland,NZ";
    let texts = cells.split(',').zip('A'..).map(|(text, at)| match text {
        _ if at == column => cell.to_owned(),
        "KEY" => text_cell(&format!("A{number}"), &format!("p{number}")),
        "COMPANY" => text_cell(&format!("B{number}"), COMPANY),
        "jane" => text_cell(&format!("G{number}"), &format!("jane{number}")),
        text => text_cell(&format!("{at}{number}"), text),
    });
    format!("<row r=\"{number}\">{}</row>", texts.collect::<String>())
}

const COMPANY: &str = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11";
const PHONE: &str = "+64 9 557 0000";

/// A worksheet part with these rows, with what stands before and after them.
fn worksheet(before: &str, data: &str, after: &str) -> String {
    format!(
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">{before}\
         <sheetData>{data}</sheetData>{after}</worksheet>"
    )
}

/// A workbook of one sheet, Sites, with these rows below the header, and what stands before and after them.
fn sites(before: &str, rows: &str, after: &str) -> super::desk::Desk {
    let part = worksheet(before, &format!("{}{rows}", row(1, &HEADER)), after);
    super::desk::Desk::with(
        "sites.xlsx",
        super::desk::package("Sites", "", &[("xl/worksheets/sheet1.xml", &part)]),
    )
}

/// What is found but for the notes on ids that were not looked up.
fn told(desk: &super::desk::Desk) -> Vec<String> {
    let mut found = desk.found_with_notes();
    found.retain(|line| !line.starts_with("note ref.unverified"));
    found
}

/// The messages of what must be fixed.
fn errors(desk: &super::desk::Desk) -> Vec<String> {
    let findings = desk.findings();
    findings.into_iter().filter(|finding| finding.is_error()).map(|finding| finding.message).collect()
}
