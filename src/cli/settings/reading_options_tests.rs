//! How the options of reading add up, how a profile keeps them, and in which words wrong ones are refused.

use std::path::Path;

use super::profile::parse;
use super::reading_options::*;
use crate::model::kind::Kind;
use crate::sheet::{CountryForm, HiddenRows, MacForm};

fn pair(left: &str, right: &str) -> (String, String) {
    (left.to_owned(), right.to_owned())
}

#[test]
fn a_higher_layer_counts_for_the_same_header_column_and_code_and_the_rest_adds_up() {
    let high = ReadingOptions {
        map: vec![pair("Store No.", "key"), pair("Remark", "name")],
        ignore_columns: vec!["Notes".into()],
        defaults: vec![pair("sites.company", "C1")],
        encoding: Some("macintosh".into()),
        fill_merged: Some(false),
        allow: vec!["cell.phone".into()],
        ..ReadingOptions::default()
    };
    let low = ReadingOptions {
        map: vec![
            pair("store no", "reference"),
            pair("Ort", "city"),
            pair("notes", "suburb"),
            pair("Remark (old)", "suburb"),
        ],
        ignore_columns: vec!["remark".into(), "Notes (ours)".into(), "Colour".into()],
        defaults: vec![pair("sites.company", "C2"), pair("sites.country", "NZ")],
        encoding: Some("utf-8".into()),
        fill_merged: Some(true),
        header_row: Some(3),
        deny: vec!["cell.phone".into(), "warnings".into()],
        ..ReadingOptions::default()
    };
    let both = high.over(low);
    assert_eq!(
        both,
        ReadingOptions {
            map: vec![
                pair("Store No.", "key"),
                pair("Remark", "name"),
                pair("Ort", "city"),
                pair("Remark (old)", "suburb"),
            ],
            ignore_columns: vec!["Notes".into(), "Notes (ours)".into(), "Colour".into()],
            defaults: vec![pair("sites.company", "C1"), pair("sites.country", "NZ")],
            encoding: Some("macintosh".into()),
            fill_merged: Some(false),
            header_row: Some(3),
            deny: vec!["warnings".into()],
            allow: vec!["cell.phone".into()],
            ..ReadingOptions::default()
        }
    );
    let options = both.options().unwrap();
    assert!(!options.fill_merged);
    assert_eq!(options.header_row, Some(3));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let denied = ReadingOptions {
        deny: vec!["cell.phone".into()],
        allow: vec!["cell.phone".into()],
        ..ReadingOptions::default()
    };
    assert_eq!(denied.options().unwrap_err().what(), "cell.phone is denied and allowed: choose one");
    let wrong = ReadingOptions { defaults: vec![pair("sites.colour", "red")], ..ReadingOptions::default() };
    assert_eq!(wrong.options().unwrap_err().what(), "sites have no column 'colour'");
}

#[test]
fn what_was_typed_can_be_typed_again() {
    let layer = ReadingOptions {
        kind: Some(Kind::Site),
        map: vec![pair("Store No.", "key")],
        delimiter: Some(';'),
        hidden_rows: Some(HiddenRows::Skip),
        skip_invalid: Some(true),
        ..ReadingOptions::default()
    };
    assert_eq!(
        layer.command_line(),
        " --kind sites --delimiter ';' --hidden-rows skip --map 'Store No.=key' --skip-invalid"
    );
}

fn read_back(text: &str) -> crate::error::Result<ReadingOptions> {
    parse(Path::new("fleetload.toml"), text, None).map(|profile| profile.reading)
}

fn full() -> ReadingOptions {
    ReadingOptions {
        kind: Some(Kind::Site),
        worksheets: vec!["Sites \"2026\"".into()],
        map: vec![
            ("Filiale.Nr".into(), "key".into()),
            ("Größe 'x' \\ y".into(), "name".into()),
            ("Store No.".into(), "reference".into()),
        ],
        ignore_columns: vec!["Notes, old".into()],
        defaults: vec![("sites.company".into(), "key:C1".into())],
        encoding: Some("windows-1252".into()),
        delimiter: Some('\t'),
        header_row: Some(3),
        hidden_rows: Some(HiddenRows::Skip),
        include_hidden: Some(true),
        fill_merged: Some(false),
        allow_empty: Some(true),
        escape: Some('\\'),
        allow_missing_address1: Some(true),
        copy_coordinates: Some(true),
        placeholders_blank: Some(true),
        country: Some(CountryForm::Alpha2),
        mac_form: Some(MacForm::Bare),
        longest_text: Some(100),
        skip_invalid: Some(true),
        deny: vec!["warnings".into()],
        allow: vec!["cell.country".into()],
    }
}

#[test]
fn what_is_written_is_read_back_the_same() {
    for layer in [
        full(),
        ReadingOptions::default(),
        ReadingOptions { header_row: Some(2), ..ReadingOptions::default() },
    ] {
        let text = layer.written(&["profile", "acme", "reading"]).unwrap();
        assert_eq!(read_back(&text).unwrap(), layer, "{text}");
    }
    let text = full().written(&["profile", "acme", "customers", "Northern Ltd."]).unwrap();
    let profile = parse(Path::new("fleetload.toml"), &text, None).unwrap();
    assert_eq!(profile.customers, [("Northern Ltd.".to_owned(), full())]);
}

#[test]
fn every_key_is_written_and_known() {
    let text = full().written(&[]).unwrap();
    let table: toml::Table = toml::from_str(&text).unwrap();
    let mut written: Vec<&str> = table.keys().map(String::as_str).collect();
    let mut known = KEYS.to_vec();
    written.sort_unstable();
    known.sort_unstable();
    assert_eq!(written, known);
}

#[test]
fn a_default_may_be_named_with_its_kind_in_front_or_in_one_word() {
    for text in ["'companies.parent' = 'x'", "companies.parent = 'x'"] {
        let layer = read_back(&format!("[profile.a.reading.defaults]\n{text}\n")).unwrap();
        assert_eq!(layer.defaults, [("companies.parent".to_owned(), "x".to_owned())], "{text}");
    }
}

#[test]
fn a_wrong_value_is_refused_with_its_line() {
    let table = [
        (
            "headrow = 3",
            "fleetload.toml, line 2: [profile.a.reading] has no key 'headrow' | did you mean 'header_row'?",
        ),
        (
            "rate = 3",
            "fleetload.toml, line 2: [profile.a.reading] has no key 'rate' | 'rate' belongs in [profile.a.limits]",
        ),
        (
            "kind = 'firms'",
            "fleetload.toml, line 2: 'kind' must be \"companies\" or \"sites\" or \"people\" or \"devices\" or \"labels\" or \"metadata\" or \"licences\" or \"subscriptions\" or \"site_assignments\" or \"vpn\"",
        ),
        (
            "hidden_rows = 'skipp'",
            "fleetload.toml, line 2: 'hidden_rows' must be \"import\" or \"skip\" | did you mean hidden_rows = \"skip\"?",
        ),
        ("header_row = 0", "fleetload.toml, line 2: 'header_row' must be a whole number from 1"),
        ("fill_merged = 'yes'", "fleetload.toml, line 2: 'fill_merged' must be true or false, not a text"),
        (
            "delimiter = ';;'",
            "fleetload.toml, line 2: 'delimiter' must be one character | for example delimiter = \";\", or \"\\t\" for a tab",
        ),
        (
            "escape = '§'",
            "fleetload.toml, line 2: 'escape': '§' cannot be the escape character | name a tab, or a character of a plain keyboard other than the quotation mark, such as ; or \\",
        ),
        (
            "encoding = 'klingon'",
            "fleetload.toml, line 2: 'encoding': 'klingon' is not a known encoding | try utf-8, windows-1252 or macintosh",
        ),
        (
            "worksheets = 'Sites'",
            "fleetload.toml, line 2: 'worksheets' must be a list such as [\"…\"], not a text",
        ),
        (
            "worksheets = [\n1]",
            "fleetload.toml, line 3: 'worksheets' must hold texts in quotes, not a number",
        ),
        (
            "allow = ['cell.enum']",
            "fleetload.toml, line 2: 'allow': cell.enum is an error and cannot be allowed: only warnings can",
        ),
        (
            "map.Store.No = 'key'",
            "fleetload.toml, line 2: 'map' must hold texts in quotes, not a table | a name with dots or spaces in it needs quotes of its own",
        ),
        (
            "map = {\n'Strasse' = 'adress1' }",
            "fleetload.toml, line 3: 'map': 'Strasse=adress1': no sheet has a column 'adress1' | did you mean 'address1'?",
        ),
        (
            "defaults.sites.adress1 = 'x'",
            "fleetload.toml, line 2: 'defaults': sites have no column 'adress1' | did you mean sites.address1=VALUE?",
        ),
        (
            "defaults.firms = 'x'",
            "fleetload.toml, line 2: 'defaults': 'firms' names no column of a kind | write it as companies.parent=VALUE",
        ),
    ];
    for (line, expected) in table {
        let error = read_back(&format!("[profile.a.reading]\n{line}\n")).unwrap_err();
        let told = match error.next_step() {
            Some(hint) => format!("{error} | {hint}"),
            None => error.to_string(),
        };
        assert_eq!(told, expected);
    }
}
