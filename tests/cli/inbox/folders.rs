//! `run FOLDER`: the sheets directly in a folder, as if they had been named one after the other.

use std::fs;

use fleetload::sandbox::Scenario;

use crate::bench::{self, Bench};

/// A bench with a folder of sheets that refer to each other, and of what is none.
fn filled() -> Bench {
    let bench = Bench::new(Scenario::default());
    fs::create_dir_all(bench.path("customers/older")).expect("a folder");
    bench.write("customers/1-companies.csv", &bench::companies(2));
    bench.write("customers/2-devices.csv", &bench::devices(3, 2));
    for other in [".companies.csv", "~$2-devices.csv", ".~lock.2-devices.csv#", "notes.md", "older/sites.csv"]
    {
        bench.write(&format!("customers/{other}"), &bench::sites(1, 1));
    }
    bench
}

#[test]
fn a_folder_stands_for_the_sheets_directly_in_it() {
    let bench = filled();
    for command in ["check", "plan"] {
        let told = bench.fleetload(&[command, "customers"]).expect_code(0).stderr;
        assert!(told.contains("2 sheets in customers: 1-companies.csv, 2-devices.csv"), "{told}");
        // What is advised can be typed as it is.
        assert!(told.contains("customers/1-companies.csv customers/2-devices.csv"), "{told}");
    }
    bench.fleetload(&["run", "customers"]).expect_code(0);
    assert_eq!((bench.created("company").len(), bench.created("device").len()), (2, 3));
    assert!(bench.created("site").is_empty());
    bench.assert_exact(1);
    bench.write("sites.csv", &bench::sites(2, 2));
    bench.fleetload(&["import", "customers/", "sites.csv"]).expect_code(0);
    let told = bench.fleetload(&["status", "2"]).expect_code(0).stdout;
    assert!(told.contains("1-companies.csv, 2-devices.csv, sites.csv"), "{told}");
}

#[test]
fn a_folder_without_a_sheet_is_an_error_that_says_what_is_read() {
    let bench = Bench::new(Scenario::default());
    fs::create_dir(bench.path("empty")).expect("a folder");
    bench.write("empty/notes.md", "");
    for command in ["check", "plan", "import", "run"] {
        let told = bench.fleetload(&[command, "empty"]).expect_code(3).stderr;
        assert!(told.contains("error: the folder empty has no sheets"), "{told}");
        assert!(told.contains("put workbooks (.xlsx) or CSV files directly into it"), "{told}");
    }
    assert!(!bench.path("fleetload.db").exists(), "nothing was imported");
}

#[test]
#[cfg(unix)]
fn links_and_names_that_cannot_be_shown_are_not_read_and_that_is_said() {
    let bench = filled();
    fs::rename(bench.path("customers/1-companies.csv"), bench.path("companies.csv")).expect("a sheet");
    std::os::unix::fs::symlink(bench.path("companies.csv"), bench.path("customers/1-companies.csv"))
        .expect("a link");
    bench.write("customers/a\u{202e}vsc.csv", &bench::sites(1, 1));
    let told = bench.fleetload(&["check", "customers"]).expect_code(3).stderr;
    assert!(
        told.contains("not read in customers: 1-companies.csv: a link; links are not followed"),
        "{told}"
    );
    assert!(told.contains("a\\u{202e}vsc.csv: its name has characters that cannot be shown"), "{told}");
}

#[test]
fn a_spreadsheet_that_is_not_read_is_refused_and_not_passed_over() {
    let bench = filled();
    bench.write("customers/3-sites.ods", "PK\x03\x04mimetypeapplication/vnd.oasis.opendocument.spreadsheet");
    let told = bench.fleetload(&["check", "customers"]).expect_code(3).stdout;
    assert!(told.contains("3-sites.ods"), "{told}");
}
