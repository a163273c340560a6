//! How long a check of many rows takes, as the whole command, beside programs that read the same file: pandas and
//! `sqlite3 .import`, which look at no cell, frictionless, which looks at the types of a tenth of the rows, and openpyxl, which
//! walks over the cells of a workbook: `cargo bench --bench check` (1,000,000 rows as CSV, 100,000 in a workbook),
//! `cargo bench --bench check -- 10000` for another number of rows, of which a tenth is in the workbook. `benches/peers.sh`
//! installs the others.

#[path = "../samples/make/mod.rs"]
#[expect(dead_code, reason = "only the large sheets are made here")]
mod make;
#[expect(dead_code, reason = "the tables are those of the race")]
mod measured;
mod peers;

use peers::Contender;

fn main() {
    let (rows, is_usual) = peers::rows();
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let tenth = (rows / 10).max(1);
    make::large(rows, &at("devices.csv"), 1).expect("a sheet");
    make::large(tenth, &at("tenth.csv"), 1).expect("a sheet");
    make::large(tenth, &at("book.xlsx"), 1).expect("a workbook");
    let fleetload = measured::fleetload();

    let read = "import pandas
for rows in pandas.read_csv('devices.csv', dtype=str, chunksize=100_000): pass";
    let contenders = [
        Contender::new("fleetload check", &fleetload, &["check", "devices.csv"]),
        Contender::new("sqlite3 .import", "sqlite3", &["table.db", ".import --csv devices.csv devices"])
            .making("table.db"),
        Contender::new("pandas read_csv", "python3", &["-c", read]),
        Contender::new(
            "frictionless validate, a tenth of the rows",
            "frictionless",
            &["validate", "tenth.csv"],
        ),
    ];
    let took = peers::race(folder.path(), &contenders);
    let csv = peers::mebibytes(&at("devices.csv"));
    let mut text = format!("{rows} devices in a CSV file of {csv:.0} MiB:\n\n");
    text.push_str(&peers::table(&contenders, &took));

    let walk = "import openpyxl
for sheet in openpyxl.load_workbook('book.xlsx', read_only=True):
    for row in sheet.iter_rows(values_only=True): pass";
    let contenders = [
        Contender::new("fleetload check", &fleetload, &["check", "book.xlsx"]),
        Contender::new("openpyxl, cell by cell", "python3", &["-c", walk]),
    ];
    let took = peers::race(folder.path(), &contenders);
    let book = peers::mebibytes(&at("book.xlsx"));
    text.push_str(&format!("\n{tenth} rows in a workbook of {book:.0} MiB, four worksheets:\n\n"));
    text.push_str(&peers::table(&contenders, &took));
    measured::tell("check", &text, is_usual);
}
