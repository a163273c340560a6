//! How findings are reported, as whole texts.

use super::*;
use crate::term::{Manner, testing::terminal};

fn told(findings: impl IntoIterator<Item = Finding>, notes: bool) -> String {
    let mut list = Findings::default();
    list.extend(findings);
    let (terminal, results, _) = terminal(Manner::default());
    tell_grouped(&terminal, &list, notes, false);
    results.text()
}

fn mac(row: u32) -> Finding {
    let mut finding =
        Finding::of_file(Code::CellMacLength, "onboarding.xlsx", "this has 10 hexadecimal digits")
            .in_sheet(Some("Devices"))
            .in_row(row, None)
            .in_column(5)
            .showing("1122334455", ValueKind::Text);
    finding.suggestion = Some("00:11:22:33:44:55".to_owned());
    finding.header = Some("MAC Address".to_owned());
    finding.column = Some("devices.mac".to_owned());
    finding
}

#[test]
fn findings_that_are_too_many_to_be_kept_are_counted_with_their_range_in_a_table_that_stands_first() {
    let told = told((2..=10_001).map(mac), false);
    assert!(told.contains("  and 9,999 more cell.mac-length in F3:F10001\n"), "{told}");
    assert!(
        told.starts_with(
            "What is wrong, by column:\n \
             sheet    column         code              count  where\n \
             Devices  F MAC Address  cell.mac-length  10,000  F2:F10001\n\n\
             onboarding.xlsx, sheet Devices:\n"
        ),
        "{told}"
    );
}

#[test]
fn on_a_narrow_terminal_each_row_of_the_table_has_two_lines() {
    let mut list = Findings::default();
    list.extend((2..=10_001).map(mac));
    let (terminal, results, _) = terminal(Manner::default());
    tell_table(&terminal, list.groups().iter().collect(), Some(50));
    assert_eq!(
        results.text(),
        "What is wrong, by column:\n 10,000 x cell.mac-length\n   Devices, F MAC Address: F2:F10001\n\n"
    );
}

#[test]
fn of_equal_findings_of_a_column_those_that_differ_are_told_and_the_rest_counted() {
    let other = |row: u32| mac(row).showing(&format!("11223344{row}"), ValueKind::Text);
    let told = told((2..=10).chain([20]).map(mac).chain((31..40).map(other)), false);
    assert_eq!(told.matches("error[cell.mac-length]").count(), 5);
    assert!(
        told.contains(
            "onboarding.xlsx, sheet Devices:\n\
             error[cell.mac-length] Devices!F2  \"MAC Address\" = 1122334455\n\
             \x20 this has 10 hexadecimal digits\n\
             \x20 fix: enter 00:11:22:33:44:55\n\
             error[cell.mac-length] Devices!F31  \"MAC Address\" = 1122334431\n"
        ),
        "{told}"
    );
    assert!(told.contains("  and 14 more cell.mac-length in F3:F10, F20, F35:F39\n\n"), "{told}");
}

#[test]
fn the_worst_comes_first_in_its_sheet_and_notes_only_when_asked_for() {
    let csv = Finding::of_file(Code::CellRequired, "sites.csv", "fill it").in_row(3, Some(7));
    let note = Finding::of_file(Code::RowBlank, "sites.csv", "blank rows are not read");
    let warning = Finding::of_file(Code::CellPhone, "sites.csv", "look at it").in_row(2, None);
    let fatal = Finding::of_file(Code::HeaderRequiredMissing, "sites.csv", "add it");
    let findings = [warning, csv.clone(), mac(2), csv, note, fatal];
    let without = told(findings.clone(), false);
    let heads: Vec<_> =
        without.lines().filter(|line| line.ends_with(':') || line.contains('[')).take(5).collect();
    assert_eq!(
        heads,
        [
            "sites.csv:",
            "error[header.required-missing] sites.csv",
            "error[cell.required] sites.csv, row 3 (line 7)",
            "warning[cell.phone] sites.csv, row 2",
            "onboarding.xlsx, sheet Devices:"
        ]
    );
    assert!(!without.contains("note["));
    assert!(told(findings.clone(), true).contains("note[row.blank] sites.csv\n"));
    let mut list = Findings::default();
    list.extend(findings);
    assert_eq!(FindingCounts::of(&list).words(), "4 errors, 1 warning, 1 note");
}

#[test]
fn a_table_of_warnings_alone_is_not_called_wrong() {
    let warning = |row| mac(row).as_severity(Severity::Warning);
    let warnings = told((2..=10).map(warning), false);
    assert!(warnings.contains("Worth a look, by column:\n"), "{warnings}");
    assert!(told((2..=10).map(warning).chain([mac(11)]), false).contains("What is wrong, by column:\n"));
}

#[test]
fn what_was_read_as_the_identity_of_a_device_is_told_unasked() {
    let mut note = mac(2);
    note.code = Code::CellZeroPaddedFormat;
    note.severity = Severity::Info;
    note.message = "read as 00:1a:2b:0c:4d:5e".to_owned();
    note.suggestion = None;
    let other = Finding::of_file(Code::RowBlank, "sites.csv", "blank rows are not read");
    let seen = told([note.clone(), other.clone()], false);
    assert!(seen.contains("note[cell.zero-padded-format]") && seen.contains("read as 00:1a"), "{seen}");
    assert!(!seen.contains("row.blank"), "{seen}");
    let mut list = Findings::default();
    list.extend([note, other]);
    assert_eq!(quiet(&list), 1);
}

#[test]
fn a_long_value_is_cut_in_the_middle() {
    let long = format!("{}{}", "a".repeat(80), "z".repeat(80));
    let shown = cut(&long, 60);
    assert_eq!(shown, format!("{}…{}", "a".repeat(29), "z".repeat(30)));
    assert_eq!(cut(&"é".repeat(60), 60), "é".repeat(60));
    let mut finding = mac(2);
    finding.value = Some(long.clone());
    finding.header = Some(long.clone());
    let told = told([finding], false);
    assert!(!told.contains(&long) && told.contains(&shown), "{told}");
}

#[test]
fn what_to_do_is_said_in_the_words_of_the_place() {
    let mut number = mac(2);
    number.value_kind = Some(ValueKind::Number);
    let mut ruled = mac(2);
    (ruled.suggestion, ruled.rule) = (None, Some("12 hexadecimal digits (0-9)".to_owned()));
    let of_city =
        |code| Finding { suggestion: Some("city".to_owned()), ..Finding::of_file(code, "a.csv", "none") };
    let (header, missing) = (of_city(Code::HeaderUnknown), of_city(Code::HeaderRequiredMissing));
    let table = [
        (number, "format column F as Text and enter 00:11:22:33:44:55, if that is right"),
        (header, "write city as the header, if that is meant"),
        (missing, "add a column with the header city"),
    ];
    for (finding, expected) in table {
        assert_eq!(fix(&finding).as_deref(), Some(expected));
    }
    let told = told([ruled], false);
    assert!(told.contains("\n  rule: 12 hexadecimal digits (0-9)\n") && !told.contains("fix:"), "{told}");
}
