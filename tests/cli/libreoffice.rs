//! Our workbooks in another program: opened, recalculated, saved and exported by LibreOffice without a window. Where it
//! is not installed the tests say that they were skipped.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::{self, Bench, books};
use calamine::Data;
use fleetload::sandbox::Scenario;

/// Text that spreadsheet programs like to change, each a name of a device.
const ODD: [&str; 6] = ["00123", "=1+1", "1-2", "1234567890123456", "'quoted'", "+64 9 555 0100"];

/// Whether LibreOffice can be started; says so when it cannot.
fn is_there() -> bool {
    let found = Command::new("soffice").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        #[expect(clippy::print_stderr, reason = "a test that did not look must say so")]
        {
            eprintln!("skipped: LibreOffice (soffice) is not installed");
        }
    }
    found
}

/// Opens a file in LibreOffice and has it saved in another form.
fn saved_as(bench: &Bench, file: &Path, form: &str) -> PathBuf {
    let profile = tempfile::tempdir().expect("a folder");
    let folder = bench.path("saved");
    let output = Command::new("soffice")
        .arg(format!("-env:UserInstallation=file://{}", profile.path().display()))
        .args(["--headless", "--norestore", "--convert-to", form, "--outdir"])
        .arg(&folder)
        .arg(file)
        .output()
        .expect("LibreOffice starts");
    let saved = folder.join(file.file_name().expect("a name")).with_extension(form);
    assert!(
        output.status.success() && saved.exists(),
        "{}: {}{}",
        file.display(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    saved
}

/// A sheet's name and its cells that hold something.
type Sheet = (String, Vec<(usize, usize, Data)>);

/// What is in a workbook: the sheets by name, with every cell that holds something.
fn content(path: &Path) -> Vec<Sheet> {
    let full = |sheet: books::Sheet| {
        let cells = sheet.rows.into_iter().enumerate().flat_map(|(row, cells)| {
            cells.into_iter().enumerate().map(move |(column, cell)| (row, column, cell))
        });
        (sheet.name, cells.filter(|(.., cell)| *cell != Data::Empty).collect())
    };
    books::read(path).into_iter().map(full).collect()
}

/// A part of a workbook.
fn part(path: &Path, name: &str) -> String {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(path).expect("a file")).expect("a workbook");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut archive.by_name(name).expect("the part"), &mut text).expect("text");
    text
}

/// Every cell of a workbook is what it was after LibreOffice has saved it, and it can be printed.
#[track_caller]
fn survives(bench: &Bench, file: &Path) -> PathBuf {
    let saved = saved_as(bench, file, "xlsx");
    for (before, after) in content(file).into_iter().zip(content(&saved)) {
        assert_eq!(before.0, after.0);
        for (cell, again) in before.1.iter().zip(&after.1) {
            assert_eq!(cell, again, "{}, sheet {}", file.display(), before.0);
        }
        assert_eq!(before.1.len(), after.1.len(), "{}, sheet {}", file.display(), before.0);
    }
    let printed = std::fs::read(saved_as(bench, file, "pdf")).expect("a page");
    assert!(printed.starts_with(b"%PDF"));
    saved
}

/// Devices whose names are odd, two of them with a model that the service refuses.
fn odd_devices() -> String {
    let mut sheet = "key,company,name,device_model,mac,phone,address1,city,country\n".to_owned();
    for (n, name) in ODD.iter().enumerate() {
        let model = if n < 2 { "Edge 9000" } else { "Edge 100" };
        sheet += &format!(
            "0{n},{},{name},{model},00:1a:2b:00:00:0{n},+64 9 557 000{n},{n}-{n},Auckland,NZ\n",
            bench::root()
        );
    }
    sheet
}

#[test]
fn the_reports_hold_the_same_after_libreoffice_has_saved_them_and_the_corrected_fix_sheet_runs() {
    if !is_there() {
        return;
    }
    let bench = Bench::new(Scenario::default());
    bench.write("devices.csv", &odd_devices());
    bench.fleetload(&["run", "devices.csv"]).expect_code(4);
    assert_eq!(bench.counts(1), [("created".to_owned(), 4), ("rejected".to_owned(), 2)].into());
    let saved = survives(&bench, &bench.path("reports/1/results.xlsx"));
    let sheet = books::read(&saved).remove(1);
    let name = sheet.column("name");
    let names: Vec<Data> = sheet.rows[1..].iter().map(|row| row[name].clone()).collect();
    assert_eq!(names, ODD.map(|name| Data::String(name.into())));

    survives(&bench, &bench.path("reports/1/fix.xlsx"));
    let mut fix = books::read(&bench.path("saved/fix.xlsx"));
    let model = fix[1].column("device_model");
    for row in &mut fix[1].rows[1..] {
        row[model] = Data::String("Edge 200".into());
    }
    books::write(&bench.path("corrected.xlsx"), &fix);
    let corrected = saved_as(&bench, &bench.path("corrected.xlsx"), "xlsx");
    bench.fleetload(&["run", &corrected.to_string_lossy()]).expect_code(0);
    assert_eq!(bench.requests("addDevice"), 8, "six, and the two that were corrected");
    let mut expected = ODD.map(str::to_owned);
    expected.sort();
    assert_eq!(bench.names("device"), expected);
    bench.fleetload(&["report", "1"]).expect_code(0);
    assert_eq!(bench.counts(1), [("created".to_owned(), 6)].into());
    bench.assert_exact(1);
}

#[test]
fn the_checked_workbook_holds_the_same_after_libreoffice_has_saved_it_and_runs_when_it_is_corrected() {
    if !is_there() {
        return;
    }
    let bench = Bench::new(Scenario::default());
    bench
        .write("devices.csv", &odd_devices().replace("00:1a:2b:00:00:03", "00:1a:2b").replace("9000", "100"));
    bench.fleetload(&["check", "devices.csv", "--out", "out"]).expect_code(3);
    let saved = survives(&bench, &bench.path("out/devices.checked.xlsx"));
    bench.fleetload(&["check", &saved.to_string_lossy()]).expect_code(3);
    let mut sheets = books::read(&saved);
    *sheets[1].cell("E5") = Data::String("00:1a:2b:00:00:03".into());
    books::write(&bench.path("corrected.xlsx"), &sheets);
    let corrected = saved_as(&bench, &bench.path("corrected.xlsx"), "xlsx");
    bench.fleetload(&["check", &corrected.to_string_lossy()]).expect_code(0);
    bench.fleetload(&["run", &corrected.to_string_lossy()]).expect_code(0);
    assert_eq!(bench.created("device").len(), ODD.len());
}

#[test]
fn a_blank_workbook_is_the_same_after_libreoffice_has_saved_it_and_reads_back_with_rows_in_it() {
    if !is_there() {
        return;
    }
    let bench = Bench::new(Scenario::default());
    bench.fleetload(&["template", "--out", "blank.xlsx"]).expect_code(0);
    let saved = survives(&bench, &bench.path("blank.xlsx"));
    let devices = part(&saved, "xl/worksheets/sheet5.xml");
    for list in ["OFFSET(Companies!$A$3,0,0,", "OFFSET(Sites!$A$3,0,0,", "OFFSET(Devices!$A$3,0,0,"] {
        assert!(devices.contains(list), "the keys of the workbook are offered: {list}");
    }
    let told = bench.fleetload(&["check", &saved.to_string_lossy()]).expect_code(3);
    assert!(told.stdout.contains("no sheet has a row to import: fill in at least one"), "{}", told.stdout);

    let mut sheets = books::read(&saved);
    let companies = sheets.iter_mut().find(|sheet| sheet.name == "Companies").expect("a sheet of companies");
    let example = companies.rows[1].clone();
    for n in 0..2 {
        let mut row = example.clone();
        for (header, value) in [
            ("Key", format!("00{n}")),
            ("Parent company *", bench::root()),
            ("Name *", format!("Customer {n}")),
        ] {
            row[companies.column(header)] = Data::String(value);
        }
        // What is a customer's own; the rest may well be as in the example.
        for cell in &mut row {
            match cell.to_string() {
                text if text.contains('@') => *cell = Data::String(format!("desk@customer{n}.example")),
                text if text.starts_with('+') => *cell = Data::String(format!("+64 9 557 000{n}")),
                _ => {}
            }
        }
        companies.rows.push(row);
    }
    books::write(&bench.path("filled.xlsx"), &sheets);
    let filled = saved_as(&bench, &bench.path("filled.xlsx"), "xlsx");
    bench.fleetload(&["check", &filled.to_string_lossy()]).expect_code(0);
}

#[test]
fn the_workbook_of_a_roll_out_holds_the_same_after_libreoffice_has_saved_it() {
    if !is_there() {
        return;
    }
    let bench = Bench::new(Scenario::default());
    let devices = odd_devices().replace("Edge 9000", "Edge 100");
    bench.write("devices.csv", &devices);
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    bench.fleetload(&["rollout", "--out", "rollout.xlsx"]).expect_code(0);
    let saved = survives(&bench, &bench.path("rollout.xlsx"));
    let sheet = books::read(&saved).remove(2);
    let name = sheet.column("device");
    let names: Vec<Data> = sheet.rows[3..].iter().map(|row| row[name].clone()).collect();
    assert_eq!(names, ODD.map(|name| Data::String(name.into())));
}

#[test]
fn an_exported_workbook_asks_for_nothing_after_libreoffice_has_saved_it_and_then_for_what_was_changed() {
    if !is_there() {
        return;
    }
    let bench = Bench::new(Scenario::default());
    bench.profile("", "", "");
    bench.write("devices.csv", &odd_devices().replace("Edge 9000", "Edge 100"));
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    bench
        .fleetload(&["export", "devices", "--company", &bench::root(), "--out", "exported.xlsx"])
        .expect_code(0);
    let saved = survives(&bench, &bench.path("exported.xlsx"));
    bench.fleetload(&["run", &saved.to_string_lossy()]).expect_code(0);
    assert_eq!(bench.requests("updateDevice"), 0);
    let mut sheets = books::read(&saved);
    let devices = sheets.iter_mut().find(|sheet| sheet.name == "devices").expect("the sheet of devices");
    let name = devices.column("name");
    let row = devices.rows.iter_mut().find(|row| row[name] == Data::String(ODD[0].into())).expect("a row");
    row[name] = Data::String("Front desk".into());
    books::write(&bench.path("edited.xlsx"), &sheets);
    let edited = saved_as(&bench, &bench.path("edited.xlsx"), "xlsx");
    bench.fleetload(&["run", &edited.to_string_lossy()]).expect_code(0);
    assert_eq!(bench.requests("updateDevice"), 1);
    let renamed = bench.ledger().into_iter().filter(|entry| entry.operation == "updateDevice");
    assert_eq!(renamed.map(|entry| entry.request["name"].clone()).collect::<Vec<_>>(), ["Front desk"]);
}
