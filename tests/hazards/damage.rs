//! Random damage to the marks and lines of a text table: whatever is done to it, each of its rows is read as it was, or a
//! finding says where it stood.

use std::collections::BTreeSet;

use fleetload::sheet::finding::Severity;
use proptest::prelude::*;

use super::desk::Desk;

const HEADER: &str = "key,company,name,phone,address1,address2,city,country,x-note\n";

/// One thing done to a row.
#[derive(Debug, Clone)]
enum Damage {
    /// A line break or a quotation mark before this character of the row.
    Inserted(char, usize),
    /// A quotation mark at the beginning or the end of a cell, where it parts or joins the most.
    Marked(usize, bool),
    /// The blank cells at its end are left out.
    Shortened,
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (prop::sample::select(vec!['\n', '"']), 1..90_usize).prop_map(|(c, at)| Damage::Inserted(c, at)),
        (0..9_usize, any::<bool>()).prop_map(|(cell, opens)| Damage::Marked(cell, opens)),
        Just(Damage::Shortened),
    ]
}

/// A right row; whether its last cells are blank depends on its number.
fn row(number: usize) -> String {
    let end = ["Floor 2,Ulm,DE,seen", ",Ulm,DE,", "Floor 2,,,", ",,,"][number % 4];
    format!(
        "s{number},6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11,Shop {number},+64 9 557 000{number},{number} High Street,{end}"
    )
}

fn damaged(row: &str, damage: &Damage) -> String {
    match damage {
        Damage::Inserted(c, at) => {
            let at = (*at).min(row.len() - 1);
            format!("{}{c}{}", &row[..at], &row[at..])
        }
        Damage::Marked(cell, opens) => {
            let mut cells: Vec<String> = row.split(',').map(str::to_owned).collect();
            let cell = cell % cells.len();
            cells[cell] = if *opens { format!("\"{}", cells[cell]) } else { format!("{}\"", cells[cell]) };
            cells.join(",")
        }
        Damage::Shortened => row.trim_end_matches(',').to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_makes_a_row_vanish_or_change_in_silence(
        count in 1..7_usize,
        damages in prop::collection::vec((0..7_usize, damage()), 0..4),
    ) {
        every_row_is_as_it_was_or_told(count, &damages);
    }
}

/// The first half looks like a row that lacks its last cells, the second like a remark.
#[test]
fn a_last_row_cut_by_two_line_breaks_in_one_place_is_told() {
    let cut = |at| (5, Damage::Inserted('\n', at));
    let at = row(5).find(",,Ulm").expect("its address2 is blank");
    every_row_is_as_it_was_or_told(6, &[cut(at), cut(at)]);
}

/// Reads a table of so many rows with this damage done to them.
#[track_caller]
fn every_row_is_as_it_was_or_told(count: usize, damages: &[(usize, Damage)]) {
    let mut text = HEADER.to_owned();
    let mut stood = Vec::new();
    let mut line = 2;
    for number in 0..count {
        let whole = row(number);
        let mine = damages.iter().filter(|(of, _)| of % count == number);
        let written = mine.fold(whole.clone(), |row, (_, damage)| damaged(&row, damage));
        let lines = written.matches('\n').count() as u64 + 1;
        stood.push((whole, line..line + lines));
        line += lines;
        text.push_str(&written);
        text.push('\n');
    }
    let desk = Desk::with("sites.csv", &text);
    let findings = desk.findings();
    let examined = desk.examined();
    let mut right = BTreeSet::new();
    let mut starts = Vec::new();
    let mut usable = Vec::new();
    if let Some(book) = examined.books().first() {
        book.read(&book.tables[0], &mut |row| {
            starts.push(row.line.expect("a line"));
            if row.draft.is_some() {
                usable.push((row.line.expect("a line"), row.cells.clone()));
                right.insert(row.cells.join(",").trim_end_matches(',').to_owned());
            }
            Ok(())
        })
        .expect("the rows are read");
    }
    let told: Vec<u64> = findings
        .iter()
        .filter(|finding| finding.severity != Severity::Info)
        .filter_map(|finding| finding.line)
        .collect();
    // Of a row that a line break has cut, no half is a row that nothing is said about.
    let is_of_breaks = damages.iter().all(|(_, damage)| matches!(damage, Damage::Inserted('\n', _)));
    for (line, cells) in usable.iter().filter(|_| is_of_breaks) {
        let is_whole = stood.iter().any(|(whole, _)| whole.split(',').take(8).eq(cells.iter().take(8)));
        assert!(is_whole || told.contains(line), "{cells:?} of {text}; told are {findings:#?}");
    }
    for (whole, lines) in stood {
        // A finding about a row is about all its lines: those up to the next row.
        let is_told = told.iter().any(|line| {
            let next = starts.iter().chain(&told).copied().filter(|start| start > line).min();
            lines.clone().any(|stood| *line <= stood && next.is_none_or(|next| stood < next))
        });
        assert!(
            right.contains(whole.trim_end_matches(',')) || is_told,
            "{whole:?} is lost of {text}; told are {findings:#?}"
        );
    }
}
