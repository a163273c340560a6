//! What a team that tried the tool for the first time fell over.

use fleetload::sheet::finding::{Finding, Severity};

use crate::desk::{Desk, SITES, package, site};

const DEVICES: &str = "key,company,name,phone,address1,mac\n";

fn device(mac: &str) -> Desk {
    let row = format!("T1,6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11,Till,+64 9 557 0000,1 Earl Street,{mac}\n");
    Desk::with("devices.csv", format!("{DEVICES}{row}"))
}

/// The last digit is lost in copying: the other groups have their zeros, so no tool has left them out.
#[test]
fn a_mac_with_a_digit_cut_off_is_an_error_and_not_padded() {
    for (mac, count) in [
        ("00:25:96:AA:01:0", "this has 11"),
        ("0:25:96:AA:01:0", "this has 10"),
        ("00-25-96-AA-1-C5", "this has 11"),
        ("9 25 96 AA 01 C5", "this has 11"),
    ] {
        let desk = device(mac);
        assert_eq!(desk.found()[0], "error cell.mac-length F2", "{mac}");
        assert!(!desk.found_with_notes().iter().any(|line| line.contains("zero-padded")), "{mac}");
        let message = desk.the("cell.mac-length").message;
        assert!(message.contains(count) && message.contains("missing at"), "{mac}: {message}");
    }
}

/// Tools of Linux leave out every leading zero; what is sent is told at the cell.
#[test]
fn a_mac_without_any_leading_zero_is_padded_and_told_as_it_is_sent() {
    for (mac, sent) in
        [("0:1a:2b:c:4d:5e", "read as 00:1a:2b:0c:4d:5e"), ("4-25-96-AA-1-0", "read as 04:25:96:aa:01:00")]
    {
        let note = device(mac).the("cell.zero-padded-format");
        assert_eq!((note.message.as_str(), note.cell.as_deref()), (sent, Some("F2")));
        assert_eq!(note.value.as_deref(), Some(mac));
    }
}

/// What people add up below a table, with the word under a column that every row needs.
#[test]
fn a_row_of_totals_in_columns_that_every_row_needs_is_one_error_that_says_what_to_do() {
    for total in
        ["Total,2,,,,,", ",Summe,2,,,,", "Zwischensumme:,,,2,,,", ",Total g\u{e9}n\u{e9}ral,,2,,2.00,3"]
    {
        let desk = Desk::with("sites.csv", format!("{SITES}{}{total}\n", site("S1")));
        assert_eq!(desk.found(), ["error row.too-few-cells row 3"], "{total}");
        let message = desk.the("row.too-few-cells").message;
        assert!(message.contains("delete the row if it is a heading, a total or a remark"), "{message}");
        assert_eq!(desk.examined().sheets[0].usable, 1, "{total}");
    }
}

#[test]
fn a_row_of_totals_below_the_data_is_not_read() {
    for total in ["Total,,,,,2,", "Total,,,,,,", "Zwischensumme:,,,,,,2", "Totaal,,,,,2.00,12"] {
        let desk = Desk::with("sites.csv", format!("{SITES}{}{}{total}\n", site("S1"), site("S2")));
        assert_eq!(desk.found(), ["warning row.footer row 4"], "{total}");
        assert_eq!(desk.examined().sheets[0].rows, 2, "{total}");
    }
}

#[test]
fn a_row_called_total_among_the_data_or_with_all_it_needs_is_a_row() {
    let between = Desk::with("sites.csv", format!("{SITES}{}Total,2,,,,,\n{}", site("S1"), site("S2")));
    assert_eq!(between.found(), ["error row.too-few-cells row 3"]);
    let named = Desk::with("sites.csv", format!("{SITES}{}", site("total")));
    assert_eq!(named.found(), [""; 0]);
    assert_eq!(named.examined().sheets[0].rows, 1);
}

/// A remark beside the table of a workbook has nothing to do with separators.
#[test]
fn a_value_beside_the_table_of_a_workbook_is_told_without_quotation_marks() {
    let cell = |text: &str| format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let line = |cells: &str| -> String { cells.trim_end().split(',').map(cell).collect() };
    let data = format!(
        "<row r=\"1\">{}</row><row r=\"2\">{}{}</row>",
        line(SITES),
        line(&site("S1")),
        cell("look here")
    );
    let desk = Desk::with("book.xlsx", package("Sites", &data, &[]));
    let message = desk.the("row.too-many-cells").message;
    assert!(message.ends_with("delete it if it is a remark, or give the column a header"), "{message}");
    let text = Desk::with("sites.csv", format!("{SITES}{},look here\n", site("S1").trim_end()));
    assert!(text.the("row.too-many-cells").message.contains("quotation marks"));
}

/// The example row with a key and a parent typed over those of the example, and nothing else.
#[test]
fn a_row_that_still_is_the_example_is_an_error_whatever_its_key() {
    let header =
        "key,parent,company_type,name,phone,support_email,sales_email,accounts_email,address1,city,country\n";
    let mails = "support@acme.example,sales@acme.example,accounts@acme.example";
    let parent = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11";
    let rest = "12 Queen Street,Auckland,New Zealand";
    let left = format!("{header}C7,{parent},CUSTOMER,Acme Ltd,+64 9 555 7777,{mails},{rest}\n");
    let desk = Desk::with("companies.csv", left);
    assert_eq!(desk.found(), ["error row.template row 2"]);
    let message = desk.the("row.template").message;
    assert!(message.contains("company_type, name, support_email, sales_email, accounts_email"), "{message}");
    assert_eq!(desk.examined().sheets[0].usable, 0);
    let own = format!(
        "{header}C7,{parent},CUSTOMER,Bolt Ltd,+64 9 555 7777,{mails},1 High Street,Auckland,New Zealand\n"
    );
    assert_eq!(Desk::with("companies.csv", own).found(), [""; 0]);
}

/// "Firma" is the name in the sheet of companies, and in that of sites whose site it is.
#[test]
fn a_header_may_mean_another_thing_in_the_sheets_of_one_kind() {
    let companies = "key,parent,company_type,Firma,phone,support_email,sales_email,accounts_email,address1,city,country\n\
                     C1,6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11,RESELLER,Bolt Ltd,+64 9 557 0000,a@b.example,a@b.example,\
                     a@b.example,1 Earl Street,Auckland,NZ\n";
    let sites =
        "key,Firma,name,phone,address1,city,country\nS1,C1,Shop,+64 9 557 0001,2 Earl Street,Auckland,NZ\n";
    let said = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    let desk = Desk::with("companies.csv", companies).and("sites.csv", sites);
    let desk = desk.read_with(|options| {
        options.rename = vec![said("Firma", "company"), said("companies.Firma", "name")];
    });
    assert_eq!(desk.found(), [""; 0]);
    assert_eq!(desk.examined().sheets.iter().map(|sheet| sheet.usable).sum::<u64>(), 2);
}

/// A table without addresses: one warning for the column, where a column of blanks has one as well.
#[test]
fn a_column_that_records_should_have_is_missed_once_for_the_table() {
    let rows = "s1,6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11,Shop,+64 9 557 0000,1 Earl Street";
    let blank = format!("{rows},Ulm,\n");
    let told = |desk: Desk| -> Vec<(Option<String>, Option<u32>, Option<String>)> {
        let of = |finding: &Finding| finding.code.as_str() == "cell.required";
        let found = desk.findings().into_iter().filter(of);
        found
            .map(|finding| {
                assert_eq!(finding.severity, Severity::Warning);
                (finding.cell, finding.row, finding.column)
            })
            .collect()
    };
    let table = format!("key,company,name,phone,address1,city,country\n{blank}{blank}");
    let country = || Some("sites.country".to_owned());
    assert_eq!(told(Desk::with("sites.csv", table)), [(Some("G2".into()), Some(2), country())]);
    let table = format!("key,company,name,phone,address1,city\n{rows},Ulm\n{rows},Ulm\n");
    assert_eq!(told(Desk::with("sites.csv", &table)), [(None, Some(1), country())]);
    let desk = Desk::with("sites.csv", &table);
    assert!(
        desk.findings()
            .iter()
            .any(|finding| finding.message.starts_with("there is no column country: we recommend"))
    );
    let filled = desk.read_with(|options| options.set_default("sites.country=DE").expect("a default"));
    assert_eq!(told(filled), []);
    let header_alone = Desk::with("sites.csv", table.lines().next().expect("a header"));
    assert_eq!(told(header_alone), []);
}
