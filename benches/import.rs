//! How long an import of many rows takes, as the whole command, beside `sqlite3 .import` and pandas, which put the same file
//! into a table and check nothing: `cargo bench --bench import` (1,000,000 rows), `cargo bench --bench import -- 100000` for
//! another number. `benches/peers.sh` installs the others.

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
    let sheet = folder.path().join("devices.csv");
    make::large(rows, &sheet, 1).expect("a sheet");
    let fleetload = measured::fleetload();
    let to_sql = "import pandas, sqlite3
to = sqlite3.connect('pandas.db')
for rows in pandas.read_csv('devices.csv', dtype=str, chunksize=100_000):
    rows.to_sql('devices', to, if_exists='append', index=False)";
    let contenders = [
        Contender::new("fleetload import", &fleetload, &["import", "devices.csv"]).making("fleetload.db"),
        Contender::new("sqlite3 .import", "sqlite3", &["table.db", ".import --csv devices.csv devices"])
            .making("table.db"),
        Contender::new("pandas to_sql", "python3", &["-c", to_sql]).making("pandas.db"),
    ];
    let took = peers::race(folder.path(), &contenders);
    let (csv, journal) = (peers::mebibytes(&sheet), peers::mebibytes(&folder.path().join("fleetload.db")));
    let mut text = format!("{rows} devices in a CSV file of {csv:.0} MiB:\n\n");
    text.push_str(&peers::table(&contenders, &took));
    let ratio = match (&took[0], &took[1]) {
        (Some(ours), Some(theirs)) => {
            format!(
                "The import takes {:.1} times as long as `sqlite3 .import`. ",
                ours.seconds / theirs.seconds
            )
        }
        _ => String::new(),
    };
    text.push_str(&format!(
        "\n{ratio}The journal has {journal:.0} MiB: {:.2} times the sheet.",
        journal / csv
    ));
    measured::tell("import", &text, is_usual);
}
