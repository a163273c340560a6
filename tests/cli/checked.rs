//! `check --out`: the sheets come back with every problem in its cell, are corrected there, and are run as they are.

use crate::bench::{self, Bench, books};
use calamine::Data;
use fleetload::sandbox::Scenario;

/// Devices with a mistake of each sort that has a cell, a row that is blank, a title above the header, and text that
/// spreadsheet programs like to change.
const DEVICES: &str = "\
Devices of the rollout,,,,,,,
,,,,,,,
Key,Company,Name,Model,MAC Address,Phone,Street,City
00123,6f1c2a3e-0000-4000-8000-000000000001,=1+1,Edge 100,00:1a:2b:00:00:01,+64 9 555 0100,1 High St,Auckland
d-2,6f1c2a3e-0000-4000-8000-000000000001,Till 2,Edge 100,00:1a:2b:00:00,555 0101,1-2,Auckland
,,,,,,,
d-3,nobody,'quoted',Edge 100,00:1a:2b:00:00:03,1234567890123456,,Auckland
d-4,6f1c2a3e-0000-4000-8000-000000000001,Till 4,Edge 100,00:1a:2b:00:00:04,1.23E+11,1 High St,Auckland
";

/// A sheet of the bench's folder as it was checked.
fn checked(bench: &Bench, file: &str) -> Vec<books::Sheet> {
    books::read(&bench.path(&format!("out/{file}.checked.xlsx")))
}

#[test]
fn every_cell_stands_where_it_stood_with_what_was_found_beside_it() {
    let bench = Bench::new(Scenario::default());
    bench.write("devices.csv", DEVICES);
    let told = bench.fleetload(&["check", "devices.csv", "--out", "out"]).expect_code(3);
    assert!(told.stdout.contains("every problem in its cell: out/devices.checked.xlsx"), "{}", told.stdout);
    let next =
        "correct the red cells in out/devices.checked.xlsx, then: fleetload check out/devices.checked.xlsx";
    assert!(told.stderr.contains(next), "{}", told.stderr);
    let sheets = checked(&bench, "devices");
    let shown: Vec<String> = sheets.iter().map(books::Sheet::text).collect();
    insta::assert_snapshot!("checked", shown.join("\n"));

    let cells = &sheets[1].rows;
    for (row, line) in DEVICES.lines().enumerate() {
        for (column, text) in line.split(',').enumerate() {
            let expected = if text.is_empty() { Data::Empty } else { Data::String(text.into()) };
            assert_eq!(cells[row][column], expected, "row {} column {column}", row + 1);
        }
    }
}

#[test]
fn the_corrected_workbook_is_clean_and_runs_and_until_then_the_errors_stay() {
    let bench = Bench::new(Scenario::default());
    bench.write("devices.csv", DEVICES);
    bench.fleetload(&["check", "devices.csv", "--out", "out"]).expect_code(3);
    let again = bench.fleetload(&["check", "out/devices.checked.xlsx", "--json"]).expect_code(3);
    let before = bench.fleetload(&["check", "devices.csv", "--json"]).expect_code(3);
    let places = |told: &str| -> Vec<String> {
        let mut places: Vec<String> = told
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
            .filter(|object| object["object"] == "finding" && object["severity"] == "error")
            .map(|object| format!("{} {}", object["cell"], object["code"]))
            .collect();
        places.sort();
        places
    };
    assert_eq!(places(&again.stdout), places(&before.stdout), "what is not corrected is found again");

    let mut sheets = checked(&bench, "devices");
    for (cell, value) in [
        ("E5", "00:1a:2b:00:00:02"),
        ("B7", "6f1c2a3e-0000-4000-8000-000000000001"),
        ("G7", "3 High St"),
        ("F8", "+64 9 555 0104"),
    ] {
        *sheets[1].cell(cell) = Data::String(value.into());
    }
    books::write(&bench.path("out/devices.checked.xlsx"), &sheets);
    bench.fleetload(&["check", "out/devices.checked.xlsx"]).expect_code(0);
    bench.fleetload(&["run", "out/devices.checked.xlsx"]).expect_code(0);
    assert_eq!(bench.names("device"), ["'quoted'", "=1+1", "Till 2", "Till 4"]);
}

#[test]
fn a_workbook_that_somebody_has_corrected_is_not_written_over() {
    let bench = Bench::new(Scenario::default());
    bench.write("devices.csv", DEVICES);
    let check = ["check", "devices.csv", "--out", "out"];
    bench.fleetload(&check).expect_code(3);
    let first = std::fs::read(bench.path("out/devices.checked.xlsx")).expect("the workbook");
    bench.fleetload(&check).expect_code(3);
    let second = std::fs::read(bench.path("out/devices.checked.xlsx")).expect("the workbook");
    assert!(first == second, "the same sheets give the same bytes, and what we wrote ourselves is replaced");

    books::write(&bench.path("out/devices.checked.xlsx"), &checked(&bench, "devices"));
    let saved = std::fs::read(bench.path("out/devices.checked.xlsx")).expect("the workbook");
    let refused = bench.fleetload(&check).expect_code(2);
    assert!(refused.stderr.contains("was changed since"), "{}", refused.stderr);
    assert!(saved == std::fs::read(bench.path("out/devices.checked.xlsx")).expect("the workbook"));
    // The corrected workbook itself is checked into the same folder, beside itself.
    bench.fleetload(&["check", "out/devices.checked.xlsx", "--out", "out"]).expect_code(3);
    assert!(bench.path("out/devices-2.checked.xlsx").exists());
}

#[test]
fn rows_whose_quotation_marks_are_wrong_stay_wrong_until_they_are_corrected() {
    let bench = Bench::new(Scenario::default());
    let good = bench::devices(2, 1).replace("C0,", &format!("{},", bench::root()));
    bench.write("devices.csv", &good.replace("Till 1,", "\"Till\" 1,"));
    bench.fleetload(&["check", "devices.csv", "--out", "out"]).expect_code(3);
    let told = bench.fleetload(&["check", "out/devices.checked.xlsx"]).expect_code(3);
    assert!(told.stdout.contains("devices!"), "{}", told.stdout);
    bench.fleetload(&["run", "out/devices.checked.xlsx"]).expect_code(3);
    assert!(bench.created("device").is_empty());
}

#[test]
fn a_line_of_more_pieces_than_excel_has_columns_is_shown_with_its_rest_in_one_cell() {
    let bench = Bench::new(Scenario::default());
    let good = bench::devices(2, 1).replace("C0,", &format!("{},", bench::root()));
    let pieces: Vec<String> = (0..17_000).map(|piece| format!("p{piece}")).collect();
    bench.write("devices.csv", &format!("{good}{}\n", pieces.join(",")));

    bench.fleetload(&["check", "devices.csv", "--out", "out"]).expect_code(3);
    let shown = &checked(&bench, "devices")[1];
    let last = |rest: &str| Data::String(rest.into());
    assert_eq!(shown.column("result_status"), 8 + 50);
    assert_eq!((&shown.rows[3][0], &shown.rows[3][56]), (&last("p0"), &last("p56")));
    let rest = shown.rows[3][57].to_string();
    assert!(rest.starts_with("p57; p58; ") && rest.len() > 30_000, "{rest:.60}");

    bench.fleetload(&["run", "devices.csv", "--skip-invalid"]).expect_code(4);
    assert_eq!(bench.created("device").len(), 2);
    bench.fleetload(&["report"]).expect_code(0);
    // In fix.xlsx the status and the reason are first.
    for (report, first) in [("results.xlsx", 0), ("fix.xlsx", 3)] {
        let path = bench.path(&format!("reports/1/{report}"));
        assert!(
            books::worksheet(&path, 2).contains("customHeight"),
            "the last row has a reason of several lines"
        );
        let sheets = books::read(&path);
        let rows = &sheets.last().expect("a sheet").rows;
        let wide = rows.iter().find(|row| row[first] == last("p0")).expect("the wide row");
        // Nobody knows which cells belong in which columns: one before the last of them is refused when the report is run.
        assert_eq!(wide[first + 7], last("#N/A"), "{report}");
        assert!(
            wide[first + 57].to_string().starts_with("p56; p57; ") && wide.len() == 8 + 50 + 9,
            "{report}"
        );
    }
    let text = std::fs::read_to_string(bench.path("reports/1/devices.results.csv")).expect("the report");
    assert!(text.contains("\"p55\",\"p56; p57; ") && text.contains("; p16999\","));
}

#[test]
fn a_merged_value_that_counts_for_its_rows_stands_in_each_of_them() {
    let bench = Bench::new(Scenario::default());
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet();
    let merged = rust_xlsxwriter::Format::new();
    for (row, line) in bench::devices(3, 1).lines().enumerate() {
        for (column, text) in line.split(',').enumerate().filter(|(column, _)| row == 0 || *column > 0) {
            let row = u32::try_from(row).expect("a few rows");
            let column = u16::try_from(column).expect("a few columns");
            sheet.write_string(row, column, text).expect("a cell");
        }
    }
    sheet.merge_range(1, 0, 3, 0, &bench::root(), &merged).expect("a merged range");
    book.save(bench.path("devices.xlsx")).expect("a workbook");

    let told = bench.fleetload(&["check", "devices.xlsx", "--out", "out"]).expect_code(3);
    assert!(
        told.stdout.contains("choose --fill-merged if the value of A2 holds for all of them"),
        "{told:?}"
    );
    let shown = &checked(&bench, "devices")[1];
    let message = shown.column("result_message");
    assert!(
        shown.rows[2][message]
            .to_string()
            .ends_with("A3 is blank inside the merged range A2:A4: enter its value"),
        "{:?}",
        shown.rows
    );
    bench.fleetload(&["import", "devices.xlsx", "--skip-invalid"]).expect_code(0);
    bench.fleetload(&["report"]).expect_code(0);
    let rows = bench.results(1);
    let words = |row: &serde_json::Value| row["message"].as_str().unwrap_or_default().to_owned();
    assert!(rows.iter().all(|row| !words(row).contains("--fill-merged")), "{rows:#?}");
    assert!(
        words(&rows[1]).ends_with("A3 is blank inside the merged range A2:A4: enter its value"),
        "{rows:#?}"
    );
    bench.fleetload(&["check", "devices.xlsx", "--fill-merged", "--out", "out"]).expect_code(0);
    let shown = &checked(&bench, "devices")[1];
    for row in &shown.rows[1..] {
        assert_eq!(row[0], Data::String(bench::root()));
    }
    bench.fleetload(&["run", "out/devices.checked.xlsx"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 3);
}

#[test]
fn pieces_of_a_line_whose_quotation_marks_are_wrong_make_no_columns() {
    let bench = Bench::new(Scenario::default());
    let good = bench::devices(2, 1).replace("C0,", &format!("{},", bench::root()));
    bench.write("devices.csv", &format!("{good}{}\"stray\" one{}\n", "x,".repeat(9), ",x".repeat(17_000)));
    bench.fleetload(&["check", "devices.csv", "--out", "out"]).expect_code(3);
    // One more than the header has: what keeps the row wrong until it is corrected.
    assert_eq!(checked(&bench, "devices")[1].column("result_status"), 9);
    // A comma between the pieces would look like one of their own.
    let root = bench::root();
    bench.write(
        "sites.csv",
        &format!("company;name;phone;address1;city;latitude\n{root};\"Depot\" 1;1;Rd 1;Palma;39,5\n"),
    );
    bench.fleetload(&["check", "sites.csv", "--kind", "sites", "--out", "out"]).expect_code(3);
    let row = &checked(&bench, "sites")[1].rows[1];
    assert!(row.iter().any(|cell| cell.to_string().ends_with("; 1; Rd 1; Palma; 39,5")), "{row:?}");
}

#[test]
fn numbers_dates_and_words_that_excel_has_changed_are_found_again_in_the_checked_workbook() {
    let bench = Bench::new(Scenario::default());
    let check = |file: &str| {
        let told = bench.fleetload(&["check", file, "--json"]).expect_code(3).stdout;
        let objects = told.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        let errors = objects.filter(|object| object["object"] == "finding" && object["severity"] == "error");
        errors
            .map(|error| format!("{} {} {}", error["sheet"], error["cell"], error["code"]))
            .collect::<Vec<_>>()
    };
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/mistakes.xlsx");
    bench.fleetload(&["check", sample, "--out", "out"]).expect_code(3);
    let errors = check(sample);
    assert!(errors.len() > 20);
    assert_eq!(check("out/mistakes.checked.xlsx"), errors);
}

#[test]
fn a_link_that_leads_elsewhere_is_found_again_in_the_checked_workbook_until_it_is_corrected() {
    let bench = Bench::new(Scenario::default());
    let root = bench::root();
    let mut book = rust_xlsxwriter::Workbook::new();
    let page = book.add_worksheet().set_name("People").expect("a name");
    let header = "Key,Company,User Type,Template Scope,First Name,Last Name,Username,Email,Allow Login,Address1,City,Country";
    let person = format!("p1,{root},VPN User,COMPANY_INHERIT,Jane,Doe,jane,,no,1 High St,Auckland,NZ");
    for (row, line) in (0..).zip([header, &person]) {
        for (column, text) in (0..).zip(line.split(',')) {
            page.write_string(row, column, text).expect("a cell");
        }
    }
    page.write_url_with_text(1, 7, "mailto:ann@acme.example", "jane@acme.example").expect("a link");
    book.save(bench.path("people.xlsx")).expect("a workbook");
    bench.fleetload(&["check", "people.xlsx", "--out", "out"]).expect_code(3);
    let message = "Email: the cell says jane@acme.example, and the link behind it leads to ann@acme.example: enter the \
                   right one, and remove the link";
    let mut sheets = checked(&bench, "people");
    assert!(sheets[1].text().contains(message), "{}", sheets[1].text());
    let again = bench.fleetload(&["check", "out/people.checked.xlsx"]).expect_code(3).stdout;
    assert!(again.contains("error[cell.email] People!H2"), "{again}");
    // Saved without the link.
    *sheets[1].cell("H2") = Data::String("jane@acme.example".into());
    books::write(&bench.path("out/people.checked.xlsx"), &sheets);
    bench.fleetload(&["check", "out/people.checked.xlsx"]).expect_code(0);
}

#[test]
fn how_a_sheet_was_read_goes_into_the_command_to_check_again_and_is_kept_only_when_nothing_is_wrong() {
    let bench = Bench::new(Scenario::default());
    bench.write("devices.csv", DEVICES);
    let check = ["check", "devices.csv", "--default", "devices.country=NZ", "--out", "out"];
    let told = bench.fleetload(&check).expect_code(3).stderr;
    let again = "then: fleetload check out/devices.checked.xlsx --default 'devices.country=NZ'";
    assert!(told.contains(again) && !told.contains("to keep this"), "{told}");
    let clean = bench::devices(2, 1).replace("C0,", &format!("{},", bench::root()));
    bench.write("devices.csv", &clean);
    let told = bench.fleetload(&check).expect_code(0).stderr;
    assert!(
        told.contains("what would happen: fleetload plan devices.csv") && told.contains("to keep this"),
        "{told}"
    );
}

#[test]
fn a_cell_whose_formula_or_merge_is_not_copied_says_that_a_value_is_to_be_entered_here() {
    let bench = Bench::new(Scenario::default());
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet();
    let rows = [
        "Key,Company,Name,Model,MAC Address,Phone,Street,City",
        "d-1,x,,Edge 100,00:1a:2b:00:00:01,555 0101,1 High St,Auckland",
    ];
    for (row, line) in (0..).zip(rows) {
        for (column, text) in (0..).zip(line.split(',')) {
            sheet.write_string(row, column, text).expect("a cell");
        }
    }
    let blank = rust_xlsxwriter::Formula::new("=D2").set_result("");
    sheet.write_formula(1, 2, blank).expect("a formula");
    sheet.merge_range(1, 6, 2, 6, "1 High St", &rust_xlsxwriter::Format::new()).expect("a merge");
    for (column, text) in (0..).zip(rows[1].replace("d-1", "d-2").split(',')) {
        if column != 6 {
            sheet.write_string(2, column, if column == 2 { "Till" } else { text }).expect("a cell");
        }
    }
    book.save(bench.path("devices.xlsx")).expect("a workbook");
    bench.fleetload(&["check", "devices.xlsx", "--out", "out"]).expect_code(3);
    let file = std::fs::File::open(bench.path("out/devices.checked.xlsx")).expect("the workbook");
    let mut archive = zip::ZipArchive::new(file).expect("a workbook");
    let mut notes = String::new();
    let mut part = archive.by_name("xl/comments1.xml").expect("notes");
    std::io::Read::read_to_string(&mut part, &mut notes).expect("text");
    for words in [
        "(this copy has no formula any more: enter the value here)",
        "(this copy has no merged cells any more: enter the value here)",
    ] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
}

#[test]
fn a_file_without_a_table_is_said_to_have_no_workbook() {
    let bench = Bench::new(Scenario::default());
    bench.write("notes.csv", "a,b\n1,2\n");
    let told = bench.fleetload(&["check", "notes.csv", "--out", "out"]).expect_code(3);
    assert!(told.stdout.contains("none of its sheets can be shown"), "{}", told.stdout);
    bench.write("a.csv", DEVICES);
    let same = ["check", "a.csv", "./a.csv", "--out", "out"];
    bench.fleetload(&same).expect_code(2);
}

#[test]
fn files_of_one_name_from_two_folders_get_a_workbook_each() {
    let bench = Bench::new(Scenario::default());
    for (folder, name) in [("east", "Depot"), ("west", "Store")] {
        std::fs::create_dir(bench.path(folder)).expect("a folder");
        let row = format!("s1,6f1c2a3e-0000-4000-8000-000000000001,{name},,1 High St");
        bench.write(&format!("{folder}/sites.csv"), &format!("key,company,name,phone,address1\n{row}\n"));
    }
    let told = bench.fleetload(&["check", "east/sites.csv", "west/sites.csv", "--out", "out"]).expect_code(3);
    for (folder, name) in [("east", "Depot"), ("west", "Store")] {
        assert!(told.stdout.contains(&format!("every problem in its cell: out/{folder}-sites.checked.xlsx")));
        let sheets = checked(&bench, &format!("{folder}-sites"));
        assert_eq!(sheets[1].rows[1][2], Data::String(name.into()));
        let list = sheets[0].text();
        assert!(list.contains("cell.required") && list.contains(&format!("{folder}/sites.csv")), "{list}");
    }
}

/// What is read in the text table without a word is so in the workbook, too.
#[test]
fn a_header_that_stands_again_and_wrapped_values_do_not_keep_the_corrected_workbook_from_passing() {
    let bench = Bench::new(Scenario::default());
    let header = "key,company,name,mac,phone,address1,city,country\n";
    let row = |key: &str, mac: &str| {
        let root = bench::root();
        format!("=\"{key}\",{root},Till {key},{mac},'+64 9 555 0100,1 High St,Auckland,NZ\n")
    };
    let (right, wrong) = (row("001", "00:1a:2b:00:00:01"), row("002", "00:1a:2b:00:00"));
    bench.write("devices.csv", &format!("{header}{right}{header}{wrong}"));
    bench.fleetload(&["check", "devices.csv", "--out", "out"]).expect_code(3);
    let again = bench.fleetload(&["check", "out/devices.checked.xlsx"]).expect_code(3);
    for code in ["cell.key", "cell.phone", "sheet.extra-table"] {
        assert!(!again.stdout.contains(code), "{}", again.stdout);
    }
    let mut sheets = checked(&bench, "devices");
    *sheets[1].cell("D4") = Data::String("00:1a:2b:00:00:02".into());
    books::write(&bench.path("out/devices.checked.xlsx"), &sheets);
    bench.fleetload(&["check", "out/devices.checked.xlsx"]).expect_code(0);
}

/// In a workbook nobody sees how many cells a line of the text table had, nor how long a value was.
#[test]
fn what_a_workbook_does_not_show_stays_wrong_until_it_is_corrected() {
    let bench = Bench::new(Scenario::default());
    let header = "key,company,name,mac,phone,address1,city,country\n";
    let row = |number: u8, address: &str| {
        let root = bench::root();
        format!(
            "d{number},{root},Till {number},00:1a:2b:00:00:0{number},+64 9 555 0100,{address},Auckland,NZ\n"
        )
    };
    let lost = row(2, "1 High St").replace("St,Auckland", "St Auckland");
    let long = row(3, &"x".repeat(40_000));
    bench.write("devices.csv", &[header, &row(1, "1 High St"), &lost, &long, &row(4, "1 High St")].concat());
    bench.fleetload(&["check", "devices.csv", "--out", "out"]).expect_code(3);
    bench.fleetload(&["check", "out/devices.checked.xlsx"]).expect_code(3);
    let mut sheets = checked(&bench, "devices");
    assert_eq!(*sheets[1].cell("I3"), Data::String("#N/A".into()));
    assert_eq!(*sheets[1].cell("F4"), Data::String("#N/A".into()));
    for (cell, value) in [("F3", "1 High St"), ("G3", "Auckland"), ("H3", "NZ"), ("F4", "3 High St")] {
        *sheets[1].cell(cell) = Data::String(value.into());
    }
    *sheets[1].cell("I3") = Data::Empty;
    books::write(&bench.path("out/devices.checked.xlsx"), &sheets);
    bench.fleetload(&["check", "out/devices.checked.xlsx"]).expect_code(0);
}

#[test]
fn a_row_with_a_stray_quotation_mark_is_cut_into_its_cells_and_passes_when_they_are_right() {
    let bench = Bench::new(Scenario::default());
    let good = bench::devices(2, 1).replace("C0,", &format!("{},", bench::root()));
    bench.write("devices.csv", &good.replace("Till 1,", "\"Till\" 1,"));
    bench.fleetload(&["check", "devices.csv", "--out", "out"]).expect_code(3);
    let mut sheets = checked(&bench, "devices");
    let line = good.lines().find(|line| line.contains("Till 1,")).expect("the row");
    let at = good.lines().position(|known| known == line).expect("its place");
    let cells: Vec<&str> = line.split(',').collect();
    let name = cells.iter().position(|cell| *cell == "Till 1").expect("the name");
    for (column, text) in cells.iter().enumerate() {
        let cell = &mut sheets[1].rows[at][column];
        if column < name {
            assert_eq!(*cell, Data::String((*text).to_owned()), "what is before the mark is in its column");
        }
        *cell = Data::String((*text).to_owned());
    }
    sheets[1].rows[at][cells.len()] = Data::Empty;
    books::write(&bench.path("out/devices.checked.xlsx"), &sheets);
    bench.fleetload(&["check", "out/devices.checked.xlsx"]).expect_code(0);
}

#[test]
fn hidden_rows_are_shown_where_a_cell_is_wrong_and_a_remark_beside_the_table_stays_one() {
    let bench = Bench::new(Scenario::default());
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet().set_name("Devices").expect("a name");
    let text = bench::devices(3, 1).replace("C0,", &format!("{},", bench::root()));
    for (row, line) in (0..).zip(text.lines()) {
        for (column, text) in (0..).zip(line.split(',')) {
            sheet.write_string(row, column, text).expect("a cell");
        }
    }
    sheet.set_row_hidden(1).expect("a hidden row");
    sheet.set_row_hidden(2).expect("a hidden row");
    let beyond =
        3 + u16::try_from(text.lines().next().map_or(0, |line| line.split(',').count())).expect("a few");
    sheet.write_string(3, beyond, "to be asked").expect("a remark");
    book.save(bench.path("devices.xlsx")).expect("a workbook");

    let check = ["check", "devices.xlsx", "--hidden-rows", "import", "--out", "out"];
    let told = bench.fleetload(&check).expect_code(0);
    assert!(told.stdout.contains("warning[row.too-many-cells]"), "{}", told.stdout);
    let shown = books::worksheet(&bench.path("out/devices.checked.xlsx"), 2);
    assert_eq!(shown.matches("hidden=").count(), 2, "rows without an error stay as they were: {shown}");
    let again = ["run", "out/devices.checked.xlsx", "--hidden-rows", "import"];
    bench.fleetload(&again).expect_code(0);
    assert_eq!(bench.created("device").len(), 3);
    // One with a cell to correct is shown.
    let sheet = book.worksheet_from_index(0).expect("the sheet");
    sheet.write_string(2, 3, "00:1a:2b").expect("a wrong cell");
    sheet.set_row_hidden(3).expect("a hidden row");
    book.save(bench.path("devices.xlsx")).expect("a workbook");
    bench.fleetload(&check).expect_code(3);
    let shown = books::worksheet(&bench.path("out/devices.checked.xlsx"), 2);
    assert!(shown.contains("<row r=\"2\" hidden=\"1\">"), "{shown}");
    let row = shown.split("<row r=\"3\"").nth(1).and_then(|row| row.split('>').next()).expect("row 3");
    assert!(!row.contains("hidden") && shown.matches("hidden=").count() == 2, "{shown}");
}

#[test]
fn a_number_that_is_shown_with_words_stays_to_be_corrected_in_the_copy() {
    let bench = Bench::new(Scenario::default());
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet().set_name("Sites").expect("a name");
    let names = ["company", "name", "phone", "address1", "latitude", "longitude"];
    let cells = [&bench::root(), "Depot", "+64 9 557 0000", "1 Earl Street", "", ""];
    for (column, (name, cell)) in (0..).zip(names.into_iter().zip(cells)) {
        sheet.write_string(0, column, name).expect("a header");
        sheet.write_string(1, column, cell).expect("a cell");
    }
    let south = rust_xlsxwriter::Format::new().set_num_format("0.0000\"\u{b0} S\"");
    sheet.write_number_with_format(1, 4, 36.8485, &south).expect("a latitude");
    sheet.write_number(1, 5, 174.7633).expect("a longitude");
    book.save(bench.path("sites.xlsx")).expect("a workbook");

    let told = bench.fleetload(&["check", "sites.xlsx", "--out", "out"]).expect_code(3);
    assert!(told.stdout.contains("error[cell.number]"), "{told:?}");
    bench.fleetload(&["check", "out/sites.checked.xlsx"]).expect_code(3);
    let mut sheets = checked(&bench, "sites");
    *sheets[1].cell("E2") = Data::Float(-36.8485);
    books::write(&bench.path("out/sites.checked.xlsx"), &sheets);
    bench.fleetload(&["check", "out/sites.checked.xlsx"]).expect_code(0);
}

#[test]
fn what_a_skipped_hidden_row_lost_in_the_copy_is_no_blank_there() {
    let bench = Bench::new(Scenario::default());
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet().set_name("Devices").expect("a name");
    let text = bench::devices(2, 1).replace("C0,", &format!("{},", bench::root()));
    for (row, line) in (0..).zip(text.lines()) {
        for (column, text) in (0..).zip(line.split(',')) {
            sheet.write_string(row, column, text).expect("a cell");
        }
    }
    let at = text.lines().next().expect("a header").split(',').count() as u16;
    sheet.write_string(0, at, "labels").expect("a header");
    sheet.write_string(1, at, "North").expect("a label");
    let unsaved = rust_xlsxwriter::Formula::new("=B2").set_result("");
    sheet.write_formula(2, at, unsaved).expect("a formula");
    sheet.set_row_hidden(2).expect("a hidden row");
    book.save(bench.path("devices.xlsx")).expect("a workbook");

    let check = ["check", "devices.xlsx", "--hidden-rows", "skip", "--out", "out"];
    bench.fleetload(&check).expect_code(0);
    for rows in ["skip", "import"] {
        let code = if rows == "skip" { 0 } else { 3 };
        let again = ["check", "out/devices.checked.xlsx", "--hidden-rows", rows];
        let told = bench.fleetload(&again).expect_code(code);
        assert_eq!(
            told.stdout.matches("error[cell.formula-error]").count(),
            usize::from(code == 3),
            "{told:?}"
        );
    }
}

#[test]
fn a_sheet_that_cannot_be_read_is_named_as_missing_and_the_original_is_to_be_corrected() {
    let bench = Bench::new(Scenario::default());
    let companies = bench::companies(1).replacen("parent", "parent compny", 1);
    let mut book = rust_xlsxwriter::Workbook::new();
    for (name, rows) in [("Companies", companies), ("Devices", bench::devices(3, 1))] {
        let sheet = book.add_worksheet().set_name(name).expect("a name");
        for (row, line) in (0..).zip(rows.lines()) {
            for (column, text) in (0..).zip(line.split(',')) {
                sheet.write_string(row, column, text).expect("a cell");
            }
        }
    }
    book.save(bench.path("w.xlsx")).expect("a workbook");
    let told = bench.fleetload(&["check", "w.xlsx", "--out", "out"]).expect_code(3);
    let written = "every problem in its cell, without the sheet Companies, which cannot be read as it is: out/w.checked.xlsx";
    assert!(told.stdout.contains(written), "{}", told.stdout);
    assert!(
        told.stdout.contains("Devices: 3 rows of devices, 3 cannot be used because of what they refer to"),
        "{}",
        told.stdout
    );
    assert!(
        !told.stderr.contains("correct the red cells")
            && told.stderr.contains("fleetload check w.xlsx --map 'parent compny=parent'"),
        "{}",
        told.stderr
    );
    let sheets = checked(&bench, "w");
    assert_eq!(sheets.iter().map(|sheet| &*sheet.name).collect::<Vec<_>>(), ["Findings", "Devices"]);
    let missing = "Sheets that cannot be read as they are, and are not in this workbook: \u{201c}Companies\u{201d}. Correct \
                   everything in w.xlsx itself, and check that again.";
    assert!(sheets[0].text().contains(missing), "{}", sheets[0].text());
    let message = sheets[1].column("result_message");
    for row in &sheets[1].rows[1..] {
        let words = row[message].to_string();
        assert!(words.contains("it refers to companies, of which a sheet could not be read"), "{words}");
    }
}
