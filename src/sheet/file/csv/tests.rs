//! Where quotation marks, line ends and bytes lead, and that clean tables are cut as the csv crate cuts them.

use super::*;
use proptest::prelude::*;

/// Hands out one byte at a time, to meet every place where a buffer can end.
struct Drip<'a>(&'a [u8]);

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
        buffer[0] = *first;
        self.0 = rest;
        Ok(1)
    }
}

fn records(text: &[u8]) -> Vec<CsvRecord> {
    let mut whole = Records::new(text, ',').unwrap();
    let mut drip = Records::new(Drip(text), ',').unwrap();
    let mut result = Vec::new();
    while let Some(record) = whole.next().unwrap() {
        assert_eq!(drip.next().unwrap().as_ref(), Some(&record), "the same however the file is read");
        result.push(record);
    }
    assert_eq!(drip.next().unwrap(), None);
    result
}

fn places(text: &str) -> Vec<(u32, u64, Vec<String>)> {
    let texts = |cells: Vec<SmolStr>| cells.iter().map(ToString::to_string).collect();
    let told = |record: CsvRecord| (record.row, record.line, texts(record.cells));
    records(text.as_bytes()).into_iter().map(told).collect()
}

#[test]
fn rows_are_those_of_a_spreadsheet_and_lines_those_of_an_editor() {
    let text = "name,note\nA,\"two\nlines\"\n\n\nB,x\n";
    for line_end in ["\n", "\r\n", "\r", "\r\r\n"] {
        let found = places(&text.replace('\n', line_end));
        let numbers: Vec<_> = found.iter().map(|(row, line, cells)| (*row, *line, cells.len())).collect();
        assert_eq!(numbers, [(1, 1, 2), (2, 2, 2), (3, 4, 0), (4, 5, 0), (5, 6, 2)], "{line_end:?}");
        assert_eq!(found[1].2, ["A", "two\nlines"]);
        assert_eq!(found[4].2, ["B", "x"]);
    }
}

#[test]
fn a_sep_line_is_obeyed_and_is_a_line_but_no_row() {
    let mut records = Records::new(&b"\xef\xbb\xbf\xef\xbb\xbfsep=;\r\na;b\r\n"[..], ',').unwrap();
    assert_eq!(records.delimiter(), ';');
    let record = records.next().unwrap().unwrap();
    assert_eq!((record.row, record.line, record.cells), (1, 2, vec!["a".into(), "b".into()]));
}

#[test]
fn every_misplaced_quotation_mark_is_found_and_costs_one_row() {
    let table = [
        ("\"x\"y,b", Damage::Stray { cell: 0, how: Stray::AfterClosing }),
        ("a,\"5\" pipe\"", Damage::Stray { cell: 1, how: Stray::AfterClosing }),
        ("a, \"b\"", Damage::Stray { cell: 1, how: Stray::SpaceBefore }),
        ("a,48\" table", Damage::Stray { cell: 1, how: Stray::Inside }),
        ("a,\"say \\\"hi\\\"\"", Damage::Stray { cell: 1, how: Stray::Backslash }),
        ("a,=\"x\"y", Damage::Stray { cell: 1, how: Stray::AfterClosing }),
        ("a,=\"x", Damage::Stray { cell: 1, how: Stray::Inside }),
        ("a,\"x\"  ", Damage::Stray { cell: 1, how: Stray::SpaceAfter }),
        ("\"x\" ,b", Damage::Stray { cell: 0, how: Stray::SpaceAfter }),
        ("a,\"x\" y", Damage::Stray { cell: 1, how: Stray::AfterClosing }),
        ("\"Table, 48\"\",b", Damage::Stray { cell: 0, how: Stray::WrittenOnce }),
        ("a,\"Table, 48\"\"", Damage::Stray { cell: 1, how: Stray::WrittenOnce }),
        ("a,\"open", Damage::Unterminated { cell: 1, lines: 2 }),
    ];
    for (line, damage) in table {
        let found = records(format!("h1,h2\n{line}\nc,d\n").as_bytes());
        assert_eq!(found.len(), 3, "{line}");
        assert_eq!(found[1].damage, Some(damage), "{line}");
        assert_eq!((found[2].row, found[2].line), (3, 3));
        assert_eq!((&found[2].damage, found[2].cells.as_slice()), (&None, &["c".into(), "d".into()][..]));
    }
}

#[test]
fn bytes_that_are_no_text_are_found_in_their_cells() {
    let found = records(b"a,b\nM\xfcller,x\nM\xc3\xbcller,x\n");
    assert_eq!(found[1].damage, Some(Damage::Encoding { cells: vec![0] }));
    assert_eq!(found[2].cells[0], "Müller");
}

#[test]
fn a_trailing_control_z_is_the_end_and_nothing_else() {
    assert_eq!(places("a,b\nc,d\x1a")[1].2, ["c", "d"]);
    assert_eq!(places("a,b\nc,\"d\"\x1a")[1].2, ["c", "d"]);
    assert_eq!(places("a,b\nc,d\n\x1a").len(), 2);
    assert_eq!(places("a,b\nc,d\n\x1a\x1a\x1a\r\n").len(), 2);
}

#[test]
fn a_line_without_end_does_not_fill_the_memory() {
    let mut text = b"a,b\n".to_vec();
    text.extend(std::iter::repeat_n(b'x', 3 * RECORD_LIMIT));
    text.extend(b"\nc,d\n");
    let mut records = Records::new(text.as_slice(), ',').unwrap();
    let mut found = Vec::new();
    while let Some(record) = records.next().unwrap() {
        found.push(record);
    }
    assert_eq!(found.len(), 3);
    assert_eq!(found[1].damage, Some(Damage::TooLong));
    assert_eq!((found[2].row, found[2].line), (3, 3));
}

#[test]
fn a_mark_that_is_closed_on_another_row_is_found_where_it_opens() {
    let found = records(b"h1,h2\na,\"open\nc,\"d\"\n");
    assert_eq!(found[1].damage, Some(Damage::Stray { cell: 1, how: Stray::LinesBelow(1) }));
    assert_eq!(
        (found[2].row, found[2].line, found[2].cells.as_slice()),
        (3, 3, &["c".into(), "d".into()][..])
    );
}

/// The marks of two rows make one cell of what stands between them.
#[test]
fn rows_between_two_misplaced_marks_are_not_swallowed() {
    let table = [
        // One row from its mark on, and the next one up to it.
        ("a,b,\"c,d\ne,f,g\",h\ni,j,k,l\n", vec![(1, 2), (2, 2), (3, 0)]),
        ("a,b,\"c,d\ne,f,g,h\ni,j,k\",l\nm,n,o,p\n", vec![(1, 2), (2, 0), (3, 2), (4, 0)]),
        // Closed in another column.
        ("a,\"b,c,d\ne,f,g,h\ni,j,k\",l\n", vec![(1, 1), (2, 0), (3, 2)]),
        // A row between them tells, also where the others are broken.
        ("a,\"b,c\ne,f,g,h\ni\",l\n", vec![(1, 1), (2, 0), (3, 0)]),
    ];
    for (text, places) in table {
        for line_end in ["\n", "\r\n", "\r", "\r\r\n"] {
            let text = text.replace('\n', line_end);
            let mut records = Records::new(text.as_bytes(), ',').unwrap().of_width(4);
            let mut drip = Records::new(Drip(text.as_bytes()), ',').unwrap().of_width(4);
            let mut found = Vec::new();
            while let Some(record) = records.next().unwrap() {
                assert_eq!(drip.next().unwrap().as_ref(), Some(&record));
                assert_eq!(u64::from(record.row), record.line);
                found.push((record.row, record.damage.map_or(0, |damage| damage.first_cell())));
            }
            assert_eq!(found, places, "{text:?}");
        }
    }
    let right = "a,\"12, Queen Street\nLevel 3, North\",c,d\n\"x\ny\",\"1, 2\n3\n\n4\",\"\n\",\"e\nf\"\n";
    let mut records = Records::new(right.as_bytes(), ',').unwrap().of_width(4);
    for _ in 0..2 {
        let record = records.next().unwrap().unwrap();
        assert_eq!((record.cells.len(), record.damage), (4, None));
    }
}

#[test]
fn a_character_before_quotation_marks_is_obeyed_when_it_is_named() {
    let text = b"a,\"say \\\"hi\\\"\",\"C:\\\\\"\nb,48\\\" rack,\"a\\b \"\"c\"\"\"\n";
    let mut escaped = Records::new(&text[..], ',').unwrap().escaping(Some('\\'));
    let mut drip = Records::new(Drip(text), ',').unwrap().escaping(Some('\\'));
    for cells in [["a", "say \"hi\"", "C:\\"], ["b", "48\" rack", "a\\b \"c\""]] {
        let record = escaped.next().unwrap().unwrap();
        assert_eq!(drip.next().unwrap().as_ref(), Some(&record));
        assert_eq!((record.cells.as_slice(), record.damage), (&cells.map(SmolStr::new)[..], None));
    }
    assert_eq!(escaped.next().unwrap(), None);
}

#[test]
fn a_sep_line_may_stand_in_quotation_marks_and_needs_a_line_of_its_own() {
    for (text, delimiter, rows) in
        [("\"SEP=|\"\na|b", '|', 1), ("sep=\t\ra\tb", '\t', 1), ("sep=,x\na,b", ',', 2)]
    {
        let mut records = Records::new(text.as_bytes(), ',').unwrap();
        assert_eq!(records.delimiter(), delimiter, "{text:?}");
        let mut found = 0;
        while records.next().unwrap().is_some() {
            found += 1;
        }
        assert_eq!(found, rows, "{text:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_cutting_fail_or_depend_on_how_they_are_read(
        bytes in prop::collection::vec(prop::sample::select(b"ab,\"\"\n\r\\=\x1a\xff \0".to_vec()), 0..40),
        escape in prop::option::of(prop::sample::select(vec!['\\', '"', '\''])),
    ) {
        let mut whole = Records::new(bytes.as_slice(), ',').unwrap().escaping(escape);
        let mut drip = Records::new(Drip(&bytes), ',').unwrap().escaping(escape);
        let mut last = (0, 0);
        while let Some(record) = whole.next().unwrap() {
            let same = drip.next().unwrap();
            prop_assert_eq!(same.as_ref(), Some(&record));
            prop_assert!(record.row > last.0 && record.line > last.1);
            last = (record.row, record.line);
        }
        prop_assert_eq!(drip.next().unwrap(), None);
    }


    #[test]
    fn clean_tables_are_cut_as_the_csv_crate_cuts_them(
        rows in prop::collection::vec(prop::collection::vec("[a-zé,;\"\n ]{0,6}", 2..5), 1..8),
        crlf in any::<bool>(),
    ) {
        let terminator = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
        let mut writer = csv::WriterBuilder::new()
            .flexible(true)
            .quote_style(csv::QuoteStyle::Necessary)
            .terminator(terminator)
            .from_writer(Vec::new());
        for row in &rows {
            writer.write_record(row).unwrap();
        }
        let text = writer.into_inner().unwrap();
        let ours: Vec<_> = records(&text).into_iter().map(|record| {
            assert_eq!(record.damage, None);
            record.cells
        }).collect();
        let theirs: Vec<Vec<String>> = csv::ReaderBuilder::new()
            .flexible(true)
            .has_headers(false)
            .from_reader(text.as_slice())
            .records()
            .map(|record| record.unwrap().iter().map(str::to_owned).collect())
            .collect();
        prop_assert_eq!(ours, theirs);
    }
}

#[test]
fn a_record_keeps_one_surplus_cell_whatever_its_separators() {
    let whole = |text: String| Records::new(text.as_bytes(), ',').unwrap().next().unwrap().unwrap();
    let commas = whole(format!("A{}\n", ",".repeat(1_000_000)));
    assert_eq!((commas.cells.len(), &*commas.cells[0], commas.damage), (COLUMN_LIMIT + 1, "A", None));
    assert!(commas.cells.capacity() <= COLUMN_LIMIT + 1);
    let stray = whole(format!("A{}far,further\n", ",".repeat(16_383)));
    assert_eq!((stray.cells.len(), &*stray.cells[COLUMN_LIMIT]), (COLUMN_LIMIT + 1, "far; further"));
    let damaged = whole(format!("A\"{}\n", ",".repeat(100_000)));
    assert_eq!((damaged.cells.len(), damaged.damage.is_some()), (COLUMN_LIMIT + 1, true));
}

#[test]
fn bytes_far_out_that_are_no_text_are_told_once() {
    let text = [&b"A"[..], &b",\xe4".repeat(5_000)].concat();
    let record = Records::new(text.as_slice(), ',').unwrap().next().unwrap().unwrap();
    let Some(Damage::Encoding { cells }) = record.damage else { panic!("{:?}", record.damage) };
    assert_eq!((cells.len(), cells.last().copied()), (COLUMN_LIMIT, Some(COLUMN_LIMIT)));
}
