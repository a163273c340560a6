//! A few hundred generated inputs for each door: seeds with parts replaced, removed, doubled and made hostile, and
//! bytes of no form at all. `fuzz/` does the same at length and watches where they lead.

use std::path::Path;
use std::sync::OnceLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::doors;
use crate::seeds::seeds;

/// What does harm in one form or another.
const HOSTILE: [&[u8]; 30] = [
    b"\"",
    b",",
    b";",
    b"\t",
    b"\r",
    b"\n",
    b"\0",
    b"=1+1",
    b"'",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x1b[2J",
    "\u{202e}".as_bytes(),
    "\u{fffd}\u{10ffff}".as_bytes(),
    b"-",
    b"9223372036854775808",
    b"1e999",
    b"NaN",
    b"null",
    b"{",
    b"}",
    b"[[[[[[[[[[[[[[[[",
    b"<",
    b"/>",
    b"]]>",
    b"&#x110000;",
    b"../../etc/passwd",
    b"held",
    b"\\u0000",
    b"\n@@@ ",
];

/// A change of a seed: where, how much goes, what comes.
#[derive(Debug, Clone)]
struct Change {
    place: Index,
    removed: usize,
    inserted: Vec<u8>,
}

fn change() -> impl Strategy<Value = Change> {
    let inserted = prop_oneof![
        3 => select(HOSTILE.to_vec()).prop_map(<[u8]>::to_vec),
        2 => vec(any::<u8>(), 0..6),
        1 => (any::<u8>(), 0_usize..3000).prop_map(|(byte, times)| vec![byte; times]),
    ];
    (any::<Index>(), prop_oneof![Just(0), 0..4_usize, 0..200_usize], inserted)
        .prop_map(|(place, removed, inserted)| Change { place, removed, inserted })
}

fn known(door: &str) -> &'static [Vec<u8>] {
    type Seeds = Vec<(&'static str, Vec<Vec<u8>>)>;
    static SEEDS: OnceLock<Seeds> = OnceLock::new();
    let all = SEEDS.get_or_init(|| seeds(Path::new(env!("CARGO_MANIFEST_DIR"))));
    &all.iter().find(|(name, _)| *name == door).expect("a door with seeds").1
}

fn hostile(door: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let changed = (select(known(door)), vec(change(), 1..6)).prop_map(|(mut input, changes)| {
        for change in changes {
            let place = change.place.index(input.len() + 1);
            let end = (place + change.removed).min(input.len());
            input.splice(place..end, change.inserted);
        }
        input
    });
    prop_oneof![9 => changed, 1 => vec(any::<u8>(), 0..400)]
}

macro_rules! doors {
    ($($name:ident: $door:literal, $cases:literal, $knock:path;)*) => {
        $(proptest! {
            #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases($cases) })]

            #[test]
            fn $name(input in hostile($door)) {
                $knock(&input);
            }
        })*
    };
}

doors! {
    no_text_table_breaks_the_check: "csv", 256, doors::sheets::csv;
    no_text_table_breaks_an_import_or_its_reports: "import", 48, doors::sheets::import;
    no_bytes_with_the_name_of_a_workbook_break_the_check: "xlsx_archive", 128, doors::sheets::archive;
    no_parts_of_a_workbook_break_the_check: "xlsx_parts", 256, doors::sheets::workbook;
    no_parts_of_a_workbook_break_an_import_or_its_reports: "xlsx_parts", 48, doors::sheets::workbook_import;
    no_answer_counts_as_executed_or_not_without_its_proof: "answers", 512, doors::answers::answer;
    no_settings_file_breaks_its_reading: "profile", 512, doors::settings::profile;
    no_bytes_with_the_name_of_a_journal_break_it: "journal_file", 32, doors::journal::file;
    no_changed_bytes_of_a_journal_break_it: "journal_bytes", 48, doors::journal::bytes;
    no_changed_values_of_a_journal_break_it: "journal_values", 64, doors::journal::values;
    no_spilled_lines_break_a_journal: "spill", 64, doors::journal::spill;
    no_scenario_breaks_the_sandbox: "scenario", 256, doors::sandbox::scenario;
    no_request_breaks_the_sandbox: "requests", 128, doors::sandbox::requests;
}

/// A seed that is refused at the threshold leads nowhere.
#[test]
fn seeds_come_through_their_doors() {
    for (name, seeds) in seeds(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        let welcome = match name {
            "csv" | "import" => seeds.iter().filter(|seed| doors::sheets::rows_of_table(seed) > 0).count(),
            "xlsx_parts" => seeds.iter().filter(|seed| doors::sheets::rows_of_parts(seed) > 0).count(),
            "profile" => seeds.iter().filter(|seed| doors::settings::is_usable(seed)).count(),
            "scenario" => seeds.iter().filter(|seed| doors::sandbox::is_scenario(seed)).count(),
            "requests" => seeds.iter().filter(|seed| doors::sandbox::requests_done(seed) > 0).count(),
            "spill" => seeds.iter().filter(|seed| doors::journal::taken_in(seed) > 0).count(),
            _ => seeds.len(),
        };
        println!("{name}: {welcome} of {}", seeds.len());
        assert!(3 * welcome > seeds.len(), "{name}: {welcome} of {}", seeds.len());
        let door = doors::by_name(name).expect(name);
        seeds.iter().for_each(|seed| door(seed));
    }
}
