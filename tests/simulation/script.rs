//! What one trial consists of, drawn from its seed: the rows, the service's limits and faults, the weather, and how
//! often and when the process dies.

use std::fmt::Write as _;
use std::time::Duration;

use fleetload::run::InDoubt;
use fleetload::sandbox::{Fault, FaultKind, ROOT_COMPANY, Scenario};

use super::network::Weather;

/// Kinds of fault for creations that leave in doubt whether they were executed.
const DOUBTFUL: &[FaultKind] = &[
    FaultKind::Error500Before,
    FaultKind::Error500After,
    FaultKind::RequestLost,
    FaultKind::AnswerLost,
    FaultKind::ResetBefore,
    FaultKind::ResetAfter,
    FaultKind::AnswerCut,
    FaultKind::AnswerDrip,
    FaultKind::StallBefore,
    FaultKind::StallAfter,
    FaultKind::LateCommit,
    FaultKind::Html200,
    FaultKind::Html503Before,
    FaultKind::Html503After,
    FaultKind::CaptivePortal,
    FaultKind::UnknownCode,
    FaultKind::Redirect302,
    FaultKind::Garbled,
    FaultKind::IdMissing,
];
/// Kinds that say plainly what happened, or trouble the run in another way.
const PLAIN: &[FaultKind] = &[
    FaultKind::Latency,
    FaultKind::RateLimitExceeded,
    FaultKind::QuotaExceeded,
    FaultKind::TokenRevoked,
    FaultKind::NoDataFound,
    FaultKind::InvalidData,
    FaultKind::GeneralError,
    FaultKind::WrongName,
    FaultKind::DateMissing,
    FaultKind::NotFound404,
    FaultKind::UnauthorizedSource,
];
/// Kinds for look-ups.
const LOOK_UPS: &[FaultKind] = &[
    FaultKind::Error500Before,
    FaultKind::AnswerLost,
    FaultKind::AnswerCut,
    FaultKind::Html200,
    FaultKind::Html503Before,
    FaultKind::RateLimitExceeded,
    FaultKind::Garbled,
    FaultKind::StallBefore,
];

/// How one life of the process ends, unless the run ends before.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    /// It dies after so many events.
    Crash(u64),
    /// It is asked to stop after so long.
    Interrupt(Duration),
}

/// One trial.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) scenario: Scenario,
    pub(crate) weather: Weather,
    pub(crate) in_doubt: InDoubt,
    pub(crate) concurrency: usize,
    /// File names and contents.
    pub(crate) sheets: Vec<(&'static str, String)>,
    pub(crate) rows: usize,
    /// The lives before the last one.
    pub(crate) lives: Vec<End>,
    /// How far each life's wall clock is ahead, in milliseconds.
    pub(crate) wrong_clock_ms: i64,
}

impl Script {
    /// The trial of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        let mut chance = fastrand::Rng::with_seed(seed ^ 0x5eed_f1ee_7104_d000);
        let (sheets, rows) = sheets(&mut chance);
        let days = seed % 10 == 0;
        let start = if days { "2026-03-01T23:50:00Z" } else { "2026-03-01T23:55:00Z" };
        let mut scenario = Scenario {
            seed,
            daily_quota: match (days, chance.bool()) {
                (true, _) => (rows as u64 / 4).max(5),
                (false, true) => rows as u64 * 2 / 3,
                (false, false) => 100_000,
            },
            quota_counts_failures: chance.bool(),
            quota_per_operation: chance.bool(),
            token_seconds: if chance.bool() { 14_400 } else { chance.u64(20..900) },
            clock_starts_at: Some(start.parse().expect("a moment")),
            latency_ms: [1, chance.u64(1..200)],
            lookup_lag_ms: if chance.bool() { 0 } else { chance.u64(0..20_000) },
            bare_errors: chance.bool(),
            ..Scenario::default()
        };
        draw_faults(&mut chance, &mut scenario);
        let weather = Weather {
            delay_ms: chance.u64(0..12),
            no_connection: if chance.bool() { 0.0 } else { 0.05 },
            outage: chance.bool().then(|| {
                let from = chance.u64(0..4_000);
                (Duration::from_millis(from), Duration::from_millis(from + chance.u64(100..200_000)))
            }),
            timeout: Duration::from_secs(chance.u64(5..60)),
            disk_ms: chance.u64(0..8),
        };
        let lives = (0..chance.usize(1..5))
            .map(|life| match life > 0 && chance.u8(..) < 50 {
                true => End::Interrupt(Duration::from_millis(chance.u64(10..20_000))),
                false => End::Crash(chance.u64(1..250)),
            })
            .collect();
        Self {
            scenario,
            weather,
            in_doubt: if chance.u8(..) < 40 { InDoubt::Hold } else { InDoubt::Settle },
            concurrency: [1, 2, 8, 64][chance.usize(0..4)],
            sheets,
            rows,
            lives,
            wrong_clock_ms: if chance.u8(..) < 80 { chance.i64(-30_000_000..30_000_000) } else { 0 },
        }
    }
}

fn draw_faults(chance: &mut fastrand::Rng, scenario: &mut Scenario) {
    let mut add = |chance: &mut fastrand::Rng, operation: &str, kind: FaultKind, often: f64| {
        let ms = match kind {
            // Within the settle time: what the service does later than that is not promised.
            FaultKind::LateCommit => chance.u64(100..60_000),
            FaultKind::Latency | FaultKind::StallAfter | FaultKind::StallBefore => chance.u64(0..50_000),
            FaultKind::AnswerDrip => chance.u64(1..400),
            _ => 0,
        };
        let times = match kind {
            FaultKind::NotFound404 | FaultKind::UnauthorizedSource | FaultKind::QuotaExceeded => Some(1),
            FaultKind::TokenRevoked => Some(3),
            _ => None,
        };
        let probability = often * (0.3 + chance.f64());
        let after = if times.is_some() { chance.u64(0..10) } else { 0 };
        scenario.fault.push(Fault { ms, times, after, probability, ..Fault::new(operation, kind) });
    };
    let mut kinds = DOUBTFUL.to_vec();
    chance.shuffle(&mut kinds);
    for &kind in &kinds[..chance.usize(2..6)] {
        add(chance, "creations", kind, 0.08);
    }
    let mut kinds = PLAIN.to_vec();
    chance.shuffle(&mut kinds);
    for &kind in &kinds[..chance.usize(1..4)] {
        add(chance, "creations", kind, 0.04);
    }
    let mut kinds = LOOK_UPS.to_vec();
    chance.shuffle(&mut kinds);
    for &kind in &kinds[..chance.usize(0..3)] {
        add(chance, "lookups", kind, 0.08);
    }
}

/// A tree of companies with sites, people and devices below them.
fn sheets(chance: &mut fastrand::Rng) -> (Vec<(&'static str, String)>, usize) {
    let companies = chance.usize(1..6);
    let (sites, people, devices) = (chance.usize(0..9), chance.usize(0..9), chance.usize(1..14));
    let address = "1 High Street,Auckland,NZ";
    let mut text =
        "key,parent,company_type,name,phone,support_email,sales_email,accounts_email,address1,city,country\n"
            .to_owned();
    for n in 0..companies {
        let parent = match n.checked_sub(1) {
            Some(last) if chance.bool() => format!("C{}", chance.usize(0..=last)),
            _ => ROOT_COMPANY.to_string(),
        };
        let _ = writeln!(
            text,
            "C{n},{parent},RESELLER,Customer {n},+64 9 555 0001,h@c{n}.example,s@c{n}.example,a@c{n}.example,{address}"
        );
    }
    let companies_sheet = text;
    let mut text = "key,company,name,reference,phone,address1,city,country,labels\n".to_owned();
    for n in 0..sites {
        let labels = if chance.u8(..) < 60 { "north" } else { "" };
        let reference = if chance.bool() { format!("REF-{n}") } else { String::new() };
        let company = chance.usize(0..companies);
        let _ = writeln!(text, "S{n},C{company},Branch {n},{reference},+64 9 555 0002,{address},{labels}");
    }
    let sites_sheet = text;
    let mut text = "company,user_type,template_scope,first_name,last_name,username,email,allow_login,address1,city,country\n".to_owned();
    for n in 0..people {
        let company = chance.usize(0..companies);
        let _ = writeln!(
            text,
            "C{company},Reports Client,COMPANY_INHERIT,Ann,Number{n},user{n}@sim.example,user{n}@sim.example,yes,{address}"
        );
    }
    let people_sheet = text;
    let mut text =
        "company,name,device_model,mac,phone,address1,city,country,labels,licence_code,custom_site_id,custom_site_name\n"
            .to_owned();
    for n in 0..devices {
        let mac = if chance.u8(..) < 60 { String::new() } else { format!("00:1a:2b:00:00:{n:02x}") };
        let labels = if chance.u8(..) < 60 { "till; front" } else { "" };
        let licence = if chance.u8(..) < 20 { format!("LIC-{n}") } else { String::new() };
        let custom = if chance.u8(..) < 20 { format!("CS-{n},Own site {n}") } else { ",".to_owned() };
        let company = chance.usize(0..companies);
        let _ = writeln!(
            text,
            "C{company},Till {n},Edge 100,{mac},+64 9 555 0003,{address},{labels},{licence},{custom}"
        );
    }
    let sheets = vec![
        ("companies.csv", companies_sheet),
        ("sites.csv", sites_sheet),
        ("people.csv", people_sheet),
        ("devices.csv", text),
    ];
    let sheets = sheets.into_iter().filter(|(_, text)| text.lines().count() > 1).collect();
    (sheets, companies + sites + people + devices)
}
