//! How long the whole command takes against what the service's limit allows, with the promises of the defaults:
//! `cargo bench --bench end_to_end`.
//!
//! The service is in this process, the command is a process of its own. Its answers take 50 to 150 ms, those to the two small
//! imports 100 ms and nothing. Draws the devices over time against the limit: `docs/performance.svg`.

#[expect(dead_code, reason = "no tables of commands here")]
mod measured;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fleetload::clock::SystemClock;
use fleetload::sandbox::{LedgerEntry, ROOT_COMPANY, Running, Sandbox, Scenario, wall_clock};

/// Rows of the large import, by kind.
const LARGE: Sheets = Sheets { companies: 5, sites: 40, people: 40, devices: 2_000 };
/// Rows of an import with more beside its devices, by kind.
const WIDE: Sheets = Sheets { companies: 80, sites: 600, people: 300, devices: 2_000 };
/// Rows of the small import.
const SMALL: Sheets = Sheets { companies: 2, sites: 2, people: 2, devices: 2 };
/// The pace that is left when a sliding second may vary on its way (`rate` by default).
const PACE: f64 = 98.5;
/// Milliseconds that an answer takes.
const LATENCY: [u64; 2] = [50, 150];
/// Those of a service that is always equally fast: how many answers a command waits for, one after the other, can be counted.
const EVEN: [u64; 2] = [100, 100];
/// Those of a service that answers at once.
const AT_ONCE: [u64; 2] = [0, 0];

struct Sheets {
    companies: usize,
    sites: usize,
    people: usize,
    devices: usize,
}

/// What the service saw of one command.
struct Seen {
    /// From start to exit.
    whole: Duration,
    /// Seconds from the start to the first record.
    first: f64,
    /// Seconds from the start to the record of each device, in their order.
    devices: Vec<f64>,
    refused: u64,
    tokens: u64,
    /// The most device creations that arrived in any sliding second.
    most: u32,
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut text = format!(
        "{} devices (four of five with a MAC), with what they are below; answers after {} to {} ms:\n\n",
        LARGE.devices, LATENCY[0], LATENCY[1]
    );
    text.push_str(
        "| companies, sites, people | `audit` | seconds from start to exit | of what the limit allows | most in a second | \
         refused | sign-ins |\n",
    );
    text.push_str("|---|---|---:|---:|---:|---:|---:|\n");
    let limit = LARGE.devices as f64 / PACE;
    for (number, (sheets, audit)) in
        [(&LARGE, "all"), (&LARGE, "none"), (&WIDE, "all")].into_iter().enumerate()
    {
        let seen = runtime.block_on(command(sheets, audit, LATENCY));
        let (whole, Seen { most, refused, tokens, .. }) = (seen.whole.as_secs_f64(), &seen);
        let Sheets { companies, sites, people, .. } = sheets;
        let _ = writeln!(
            text,
            "| {companies}, {sites}, {people} | {audit} | {whole:.2} | {:.3} | {most} | {refused} | {tokens} |",
            whole / limit
        );
        if number == 0 {
            plot(&seen);
        }
    }
    let [small, at_once] = [EVEN, AT_ONCE].map(|latency| runtime.block_on(command(&SMALL, "all", latency)));
    let _ = write!(
        text,
        "\nThe limit allows {} creations of devices in {limit:.2} s at {PACE} a second.\n\nA small import ({} rows) sends its \
         first creation {:.2} s after its start and ends after {:.2} s where every answer takes {} ms; where answers take no \
         time, after {:.2} and {:.2} s.",
        LARGE.devices,
        SMALL.companies + SMALL.sites + SMALL.people + SMALL.devices,
        small.first,
        small.whole.as_secs_f64(),
        EVEN[0],
        at_once.first,
        at_once.whole.as_secs_f64()
    );
    measured::tell("end_to_end", &text, true);
}

/// Runs the command over the sheets against a service of its own, whose answers take so long.
async fn command(sheets: &Sheets, audit: &str, latency_ms: [u64; 2]) -> Seen {
    let scenario = Scenario { latency_ms, daily_quota: u64::MAX, ..Scenario::default() };
    let sandbox = Sandbox::new(scenario, wall_clock()).expect("a scenario");
    let service = Running::start(Arc::new(sandbox)).await.expect("a free port");
    // In the target folder: a temporary folder may be in memory, and syncs cost nothing there.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    write(sheets, folder.path());
    let profile = format!(
        "[profile.bench]\nbase_url = \"{}\"\nclient_id = \"sandbox\"\npaths = \
         \"assumed\"\n[profile.bench.policy]\naudit = \"{audit}\"\n",
        service.base_url()
    );
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    put("fleetload.toml", &profile);
    let program = measured::fleetload();
    let path = folder.path().to_owned();
    let (begun, whole) = tokio::task::spawn_blocking(move || {
        let begun = SystemClock::start().now();
        let started = Instant::now();
        let status = Command::new(program)
            .args(["run", "companies.csv", "sites.csv", "people.csv", "devices.csv"])
            .current_dir(path)
            .env("FLEETLOAD_CLIENT_SECRET", "sandbox")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("fleetload");
        assert!(status.success(), "fleetload ended with {status}");
        (begun, started.elapsed())
    })
    .await
    .expect("a process");
    let statistics = service.sandbox().statistics(wall_clock());
    let begun = begun.millis();
    let ledger = service.sandbox().ledger(wall_clock());
    let created = |entry: &LedgerEntry| (entry.at.as_millisecond() - begun) as f64 / 1000.0;
    let first = ledger.iter().filter(|entry| entry.created).map(created).fold(f64::INFINITY, f64::min);
    let mut devices: Vec<f64> =
        ledger.iter().filter(|entry| entry.operation == "addDevice").map(created).collect();
    devices.sort_by(f64::total_cmp);
    service.stop().await;
    Seen {
        whole,
        first,
        devices,
        refused: statistics.answers.get("rateLimitExceeded").copied().unwrap_or(0),
        tokens: statistics.tokens_issued,
        most: statistics.most_in_a_second["addDevice"],
    }
}

fn write(sheets: &Sheets, folder: &Path) {
    let put = |name: &str, head: &str, rows: usize, row: &dyn Fn(usize) -> String| {
        let rows: String = (0..rows).map(|n| row(n) + "\n").collect();
        std::fs::write(folder.join(name), format!("{head}\n{rows}")).expect("a sheet");
    };
    let of = sheets.companies;
    put(
        "companies.csv",
        "key,parent,company_type,name,phone,support_email,sales_email,accounts_email,address1,city,country",
        of,
        &|n| {
            format!(
                "C{n},{ROOT_COMPANY},CUSTOMER,Customer {n},+64 9 555 {n:04},help@c{n}.example,sales@c{n}.example,\
                 pay@c{n}.example,{n} Queen Street,Auckland,NZ"
            )
        },
    );
    put("sites.csv", "company,name,reference,phone,address1,city,country", sheets.sites, &|n| {
        format!("C{},Branch {n},REF-{n},+64 9 556 {n:04},{n} King Street,Auckland,NZ", n % of)
    });
    put(
        "people.csv",
        "company,user_type,template_scope,first_name,last_name,username,email,allow_login,address1,city,country",
        sheets.people,
        &|n| {
            format!(
                "C{},Reports Client,COMPANY_INHERIT,Ann,Number{n},user{n}@bench.example,user{n}@bench.example,yes,{n} \
                 Duke Street,Auckland,NZ",
                n % of
            )
        },
    );
    put("devices.csv", "company,name,device_model,mac,phone,address1,city,country", sheets.devices, &|n| {
        let mac = match n % 5 {
            4 => String::new(),
            _ => format!("00:1a:2b:00:{:02x}:{:02x}", n >> 8, n & 255),
        };
        format!("C{},Till {n},Edge 100,{mac},+64 9 557 {n:04},{n} Earl Street,Auckland,NZ", n % of)
    });
}

/// Draws the devices over time, and the line of the limit.
fn plot(seen: &Seen) {
    let (width, height, left, top, bottom) = (720.0, 360.0, 64.0, 16.0, 44.0);
    let (seconds, rows) = (seen.whole.as_secs_f64().ceil(), seen.devices.len() as f64);
    let x = |at: f64| left + at / seconds * (width - left - 16.0);
    let y = |count: f64| top + (1.0 - count / rows) * (height - top - bottom);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for step in 0..=4 {
        let count = rows * f64::from(step) / 4.0;
        let _ = writeln!(
            svg,
            "<path d=\"M{left} {at:.1}H{end}\" stroke=\"#ddd\"/><text x=\"{label}\" y=\"{text:.1}\" \
             text-anchor=\"end\">{count:.0}</text>",
            at = y(count),
            end = width - 16.0,
            label = left - 8.0,
            text = y(count) + 4.0
        );
    }
    let mut second = 0.0;
    while second <= seconds {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{second:.0} s</text>",
            x(second),
            height - bottom + 18.0
        );
        second += 5.0;
    }
    let limit = rows / 100.0;
    let _ = writeln!(
        svg,
        "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"#c33\" stroke-dasharray=\"6 4\" fill=\"none\"/>",
        x(0.0),
        y(0.0),
        x(limit.min(seconds)),
        y((limit.min(seconds) * 100.0).min(rows))
    );
    let mut line = String::new();
    for (index, at) in seen.devices.iter().enumerate() {
        let _ =
            write!(line, "{}{:.1} {:.1}", if index == 0 { "M" } else { "L" }, x(*at), y((index + 1) as f64));
    }
    let _ = writeln!(svg, "<path d=\"{line}\" stroke=\"#27a\" stroke-width=\"2\" fill=\"none\"/>");
    let end = seen.whole.as_secs_f64();
    let _ = writeln!(
        svg,
        "<path d=\"M{0:.1} {top}V{1:.1}\" stroke=\"#777\"/><text x=\"{2:.1}\" y=\"{3:.1}\" text-anchor=\"end\">exit \
         after {end:.1} s</text>",
        x(end),
        height - bottom,
        x(end) - 6.0,
        height - bottom - 8.0
    );
    let _ = writeln!(
        svg,
        "<text x=\"{0:.1}\" y=\"{1}\" fill=\"#27a\">devices created</text><text x=\"{0:.1}\" y=\"{2}\" \
         fill=\"#c33\">100 a second, the limit of one operation</text>\n</svg>",
        left + 12.0,
        top + 16.0,
        top + 34.0
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/performance.svg");
    std::fs::write(path, svg).expect("docs/performance.svg can be written");
}
