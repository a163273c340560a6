//! The pace at the service's limit, four operations at once, while the time that answers take varies:
//! `cargo bench --features testing --bench pace`.

mod library_run;
#[expect(dead_code, reason = "no tables of commands here")]
mod measured;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fleetload::model::record::Target;
use fleetload::sandbox::{ROOT_COMPANY, Scenario, wall_clock};
use fleetload::service::Rate;
use library_run::{company, device, go, person, prepare, site};

/// Rows of each kind.
const ROWS: usize = 5_000;
/// Rows at the beginning and at the end that are not counted.
const EDGE: usize = 100;
/// The pace by default.
const PACE: f64 = 98.5;
/// Milliseconds that answers take.
const LATENCIES: [[u64; 2]; 2] = [[50, 200], [50, 350]];

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut text = format!("{ROWS} rows of each of four kinds, `rate = {PACE}`:\n\n");
    text.push_str(
        "| answers after | operation | a second | most in a second | refused |\n|---|---|---:|---:|---:|\n",
    );
    for latency in LATENCIES {
        text.push_str(&runtime.block_on(at_the_limit(latency)));
    }
    measured::tell("pace", &text, true);
}

/// The lines of the table for answers that take so long.
async fn at_the_limit(latency_ms: [u64; 2]) -> String {
    let scenario = Scenario { latency_ms, daily_quota: u64::MAX, ..Scenario::default() };
    let (_folder, journal, service) = prepare(scenario, |filling| {
        for n in 0..ROWS {
            // None waits for another.
            for record in [company(n), site(n), person(n), device(n)] {
                filling.add(record, Target::Remote(ROOT_COMPANY));
            }
        }
    })
    .await;
    go(journal, &service, Rate::PerSecond(PACE)).await;
    let statistics = service.sandbox().statistics(wall_clock());
    let ledger = service.sandbox().ledger(wall_clock());
    let creations = ["addCompany", "addSite", "addPerson", "addDevice"];
    let most: BTreeMap<_, _> =
        creations.iter().map(|name| (*name, statistics.most_in_a_second[*name])).collect();
    let refused = statistics.answers.get("rateLimitExceeded").copied().unwrap_or(0);
    let mut lines = String::new();
    for name in creations {
        // Without the first and the last second: the first waits for a look-up, the last for the slowest answer to one.
        let mut times: Vec<i64> = ledger
            .iter()
            .filter(|entry| entry.operation == name)
            .map(|entry| entry.at.as_millisecond())
            .collect();
        times.sort_unstable();
        let times = &times[EDGE..ROWS - EDGE];
        let pace = (times.len() - 1) as f64 * 1000.0 / (times[times.len() - 1] - times[0]) as f64;
        let _ = writeln!(
            lines,
            "| {} to {} ms | {name} | {pace:.2} | {} | {refused} |",
            latency_ms[0], latency_ms[1], most[name]
        );
    }
    service.stop().await;
    lines
}
