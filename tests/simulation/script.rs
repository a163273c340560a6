//! What one trial consists of, drawn from its seed: the rows, the service's limits and faults, the weather, and how
//! often and when the process dies.

use std::time::Duration;

use fleetload::run::InDoubt;
use fleetload::sandbox::{CompanyEntry, Fault, FaultKind, ROOT_COMPANY, Scenario};
use uuid::Uuid;

use super::network::Weather;
use super::trial::LONGEST_LAG;
use super::{updates, upkeep};

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
    FaultKind::OrphanSite,
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
/// Look-ups by search that can be made blind.
const SEARCHES: &[&str] = &["findSitesByName", "findDevicesByName", "getPersonByUsername"];
/// Where the simulated service adds sites.
const ADD_SITE: &str = "/device-api/config/v1/addSite";
/// Kinds for what a row asks for besides its record.
const STEPS: &[FaultKind] = &[
    FaultKind::CaptivePortal,
    FaultKind::AnswerLost,
    FaultKind::RequestLost,
    FaultKind::Error500Before,
    FaultKind::Html503After,
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
    FaultKind::GeneralError,
    FaultKind::NotFound404,
];

/// The last life that is disturbed: long enough for everything to be tried.
const LONG_LIFE: Duration = Duration::from_secs(3_600);

/// How one life of the process ends, unless the run ends before.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    /// It dies after so many events.
    Crash(u64),
    /// It is asked to stop after so long.
    Interrupt(Duration),
}

/// What a trial has more of than others, so that rare coincidences are met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Theme {
    /// A quota so small that midnights have to pass.
    Midnights,
    /// Sites that are there already, and searches that fail.
    Twins,
    /// Devices that bring sites of their own.
    OwnSites,
    /// A service without look-ups, for as long as it is disturbed.
    NoLookUps,
    /// Rows that the service refuses, and counts.
    Refusals,
    /// Nothing in particular.
    Any,
}

impl Theme {
    fn of(seed: u64) -> Self {
        match seed % 10 {
            0 => Self::Midnights,
            1 => Self::Twins,
            2 => Self::OwnSites,
            3 => Self::NoLookUps,
            4 => Self::Refusals,
            _ => Self::Any,
        }
    }
}

/// Sheets that are imported when the process has already lived and died over others.
#[derive(Debug)]
pub(crate) struct LaterImport {
    /// The place of the life after which.
    pub(crate) after_life: usize,
    pub(crate) sheets: Vec<(&'static str, String)>,
    pub(crate) rows: usize,
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
    /// What is imported later.
    pub(crate) later: Option<LaterImport>,
    /// Requests that somebody else makes before anything is imported: records that are there already.
    pub(crate) twins: Vec<(String, String)>,
    /// The lives before the last one.
    pub(crate) lives: Vec<End>,
    /// How far each life's wall clock is ahead, in milliseconds.
    pub(crate) wrong_clock_ms: i64,
    /// When it is set, by the world's time, and how far it is ahead from then on.
    pub(crate) clock_set: Option<(Duration, i64)>,
    /// How long a look at all pages of the journal takes, where a start after a crash begins one.
    pub(crate) page_check: Option<Duration>,
    /// Whether each life begins with a list of what is below the account's company.
    pub(crate) list_ahead: bool,
}

impl Script {
    /// The trial of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        let mut chance = fastrand::Rng::with_seed(seed ^ 0x5eed_f1ee_7104_d000);
        let theme = Theme::of(seed);
        let Sheets { mut files, mut rows, twins } = sheets(&mut chance, theme);
        let mut twins: Vec<(String, String)> =
            twins.into_iter().map(|(path, body)| (path.to_owned(), body)).collect();
        let days = theme == Theme::Midnights;
        let start = if days { "2026-03-01T23:50:00Z" } else { "2026-03-01T23:55:00Z" };
        let mut scenario = Scenario {
            seed,
            daily_quota: match (days, chance.bool()) {
                (true, _) => (rows as u64 / 4).max(5),
                (false, true) => rows as u64 * 2 / 3,
                (false, false) => 100_000,
            },
            quota_counts_failures: chance.bool() || theme == Theme::Refusals,
            quota_per_operation: chance.bool(),
            token_seconds: if chance.bool() { 14_400 } else { chance.u64(20..900) },
            clock_starts_at: Some(start.parse().expect("a moment")),
            latency_ms: [1, chance.u64(1..200)],
            lookup_lag_ms: if chance.bool() { 0 } else { chance.u64(0..20_000) },
            bare_errors: chance.bool(),
            company: vec![CompanyEntry {
                id: THERE,
                name: "Long Since There".to_owned(),
                parent: None,
                company_type: "CUSTOMER".to_owned(),
            }],
            ..Scenario::default()
        };
        draw_faults(&mut chance, &mut scenario, theme);
        let mut later = None;
        if upkeep::has(seed) {
            // Generators of their own: the rest of the story stays as it is without.
            let mut chance = fastrand::Rng::with_seed(seed ^ 0x0b5e_55ed);
            let upkeep = upkeep::draw(&mut chance, &mut scenario, &files);
            let mut chance = fastrand::Rng::with_seed(seed ^ 0x00da_7e55);
            let updates = updates::draw(&mut chance, &mut scenario, &files);
            if chance.bool() {
                let (mut sheets, mut rows) = upkeep::opposite(&mut chance, &upkeep.files);
                let drawn = updates::draw(&mut chance, &mut scenario, &files);
                rows += drawn.rows;
                sheets.extend(drawn.files);
                later = (rows > 0).then_some(LaterImport { after_life: chance.usize(..2), sheets, rows });
            }
            for drawn in [upkeep, updates] {
                files.extend(drawn.files);
                rows += drawn.rows;
                twins.extend(drawn.before);
            }
        }
        let weather = Weather {
            delay_ms: chance.u64(0..12),
            no_connection: if chance.bool() { 0.0 } else { 0.05 },
            outage: chance.bool().then(|| {
                let from = chance.u64(0..4_000);
                (Duration::from_millis(from), Duration::from_millis(from + chance.u64(100..200_000)))
            }),
            maintenance: (seed % 8 == 7).then(|| {
                let from = chance.u64(0..3_000);
                (Duration::from_millis(from), Duration::from_secs(chance.u64(60..3_000)))
            }),
            timeout: Duration::from_secs(chance.u64(5..60)),
            blind: (chance.u8(..) < 40).then(|| SEARCHES[chance.usize(0..SEARCHES.len())]),
            disk_ms: chance.u64(0..8),
        };
        let lives = (0..chance.usize(1..5))
            .map(|life| match life > 0 && chance.u8(..) < 50 {
                true => End::Interrupt(Duration::from_millis(chance.u64(10..20_000))),
                false => End::Crash(chance.u64(1..if life == 0 { 40 } else { 250 })),
            })
            .chain([End::Interrupt(LONG_LIFE)])
            .collect();
        // A generator of its own: the rest of the story stays as it is without.
        let mut clocks = fastrand::Rng::with_seed(seed ^ 0xc10c_5e70);
        let clock_set = seed.is_multiple_of(3).then(|| {
            let at = LONGEST_LAG + Duration::from_millis(clocks.u64(500..20_000));
            (at, clocks.i64(-30_000_000..30_000_000))
        });
        let mut pages = fastrand::Rng::with_seed(seed ^ 0x009a_6e5c);
        // Longer than some lives.
        let page_check = (seed % 7 == 5).then(|| Duration::from_millis(pages.u64(..12_000)));
        Self {
            clock_set,
            page_check,
            list_ahead: seed % 11 < 2,
            scenario,
            weather,
            in_doubt: if chance.u8(..) < 25 { InDoubt::Hold } else { InDoubt::Settle },
            concurrency: [1, 2, 8, 64][chance.usize(0..4)],
            sheets: files,
            rows,
            later,
            twins,
            lives,
            wrong_clock_ms: if chance.u8(..) < 80 { chance.i64(-30_000_000..30_000_000) } else { 0 },
        }
    }
}

impl Script {
    /// A day on which nothing goes wrong but that the service is under maintenance for six hours, soon after the
    /// run has begun; with this many requests under way at once.
    pub(crate) fn of_maintenance(concurrency: usize) -> Self {
        const DEVICES: usize = 400;
        let mut script = Self::of(4);
        let mut chance = fastrand::Rng::with_seed(4);
        let mut devices = "company,name,device_model,mac,phone,address1,city,country\n".to_owned();
        for n in 0..DEVICES {
            let mac = format!("00:1a:2b:00:{:02x}:{:02x}", n >> 8, n & 255);
            devices += &format!("C0,Till number {n:04},Edge 100,{mac},+64 9 555 0003,{ADDRESS}\n");
        }
        script.rows = DEVICES + 1;
        script.sheets = vec![("companies.csv", company_sheet(&mut chance, 1)), ("devices.csv", devices)];
        script.later = None;
        script.twins.clear();
        script.lives = vec![End::Interrupt(Duration::from_secs(8 * 3_600))];
        (script.concurrency, script.in_doubt, script.wrong_clock_ms) = (concurrency, InDoubt::Settle, 0);
        (script.clock_set, script.page_check, script.list_ahead) = (None, None, false);
        script.scenario.fault.clear();
        script.scenario.daily_quota = 100_000;
        let hours = |hours: u64| Duration::from_secs(hours * 3_600);
        script.weather.maintenance = Some((Duration::from_secs(33), hours(6)));
        (script.weather.no_connection, script.weather.outage, script.weather.blind) = (0.0, None, None);
        script
    }
}

fn draw_faults(chance: &mut fastrand::Rng, scenario: &mut Scenario, theme: Theme) {
    let mut always = |operation: &str, kind: FaultKind, often: f64| {
        scenario.fault.push(Fault { probability: often, ..Fault::new(operation, kind) });
    };
    match theme {
        Theme::Midnights | Theme::Any => {}
        Theme::Twins => {
            always("findSitesByName", FaultKind::GeneralError, 0.4);
            always("addSite", FaultKind::RequestLost, 0.4);
        }
        Theme::Refusals => {
            always("addDevice", FaultKind::InvalidData, 0.5);
            always("addPerson", FaultKind::GeneralError, 0.5);
        }
        Theme::OwnSites => always("addDevice", FaultKind::OrphanSite, 0.3),
        Theme::NoLookUps => {
            always("lookups", FaultKind::NotFound404, 1.0);
            always("addDevice", FaultKind::AnswerLost, 0.2);
        }
    }
    let faults = &mut scenario.fault;
    let mut kinds = DOUBTFUL.to_vec();
    chance.shuffle(&mut kinds);
    // Three kinds that every trial meets, however few its rows are.
    for &kind in &kinds[..3] {
        let fault = drawn(chance, "creations", kind, 1.0);
        faults.push(Fault { probability: 1.0, times: Some(1), after: chance.u64(0..4), ..fault });
    }
    for &kind in &kinds[3..chance.usize(4..8)] {
        faults.push(drawn(chance, "creations", kind, 0.08));
    }
    let mut kinds = PLAIN.to_vec();
    chance.shuffle(&mut kinds);
    for &kind in &kinds[..chance.usize(1..4)] {
        faults.push(drawn(chance, "creations", kind, 0.04));
    }
    for operation in ["putSiteLabels", "putDeviceLabels", "addLicenceCode"] {
        let kind = STEPS[chance.usize(0..STEPS.len())];
        faults.push(drawn(chance, operation, kind, 0.15));
    }
    let mut kinds = LOOK_UPS.to_vec();
    chance.shuffle(&mut kinds);
    for &kind in &kinds[..chance.usize(0..3)] {
        faults.push(drawn(chance, "lookups", kind, 0.08));
    }
}

/// A fault of this kind, about so often.
pub(super) fn drawn(chance: &mut fastrand::Rng, operation: &str, kind: FaultKind, often: f64) -> Fault {
    let ms = match kind {
        // Within the settle time: what the service does later than that is not promised.
        FaultKind::LateCommit => chance.u64(100..60_000),
        FaultKind::Latency | FaultKind::StallAfter | FaultKind::StallBefore => chance.u64(0..50_000),
        FaultKind::AnswerDrip => chance.u64(1..400),
        _ => 0,
    };
    let times = match kind {
        FaultKind::NotFound404
        | FaultKind::Redirect302
        | FaultKind::UnauthorizedSource
        | FaultKind::QuotaExceeded => Some(1),
        FaultKind::TokenRevoked => Some(3),
        _ => None,
    };
    let probability = often * (0.3 + chance.f64());
    let after = if times.is_some() { chance.u64(0..10) } else { 0 };
    Fault { ms, times, after, probability, ..Fault::new(operation, kind) }
}

/// A company that is there from the start, with an id that rows refer to.
pub(crate) const THERE: Uuid = Uuid::from_u128(0x0f1e_e710_ad00_4000_8000_0000_0000_0001);
pub(crate) const ADDRESS: &str = "1 High Street,Auckland,NZ";

/// Names of which one is contained in the next: searches match in part.
fn name(kind: &str, n: usize) -> String {
    format!("{kind} {}", "1".repeat(n + 1))
}

/// Where a row belongs: a company of the sheets, or the one that is there.
fn company(chance: &mut fastrand::Rng, companies: usize) -> String {
    match chance.usize(0..=companies) {
        n if n == companies => THERE.to_string(),
        n => format!("C{n}"),
    }
}

struct Sheets {
    files: Vec<(&'static str, String)>,
    rows: usize,
    twins: Vec<(&'static str, String)>,
}

/// A tree of companies with sites, people and devices below them, and records that are there already.
fn sheets(chance: &mut fastrand::Rng, theme: Theme) -> Sheets {
    let companies = chance.usize(1..6);
    let (sites, people, devices) = (chance.usize(0..9), chance.usize(0..9), chance.usize(1..14));
    let mut twins = Vec::new();
    let files = vec![
        ("companies.csv", company_sheet(chance, companies)),
        ("sites.csv", site_sheet(chance, theme, sites, companies, &mut twins)),
        ("people.csv", person_sheet(chance, people, companies)),
        ("devices.csv", device_sheet(chance, theme, devices, companies)),
    ];
    let files = files.into_iter().filter(|(_, text)| text.lines().count() > 1).collect();
    Sheets { files, rows: companies + sites + people + devices, twins }
}

pub(crate) fn company_sheet(chance: &mut fastrand::Rng, count: usize) -> String {
    let mut text =
        "key,parent,company_type,name,phone,support_email,sales_email,accounts_email,address1,city,country\n"
            .to_owned();
    for n in 0..count {
        let parent = match n.checked_sub(1) {
            Some(last) if chance.bool() => format!("C{}", chance.usize(0..=last)),
            _ => ROOT_COMPANY.to_string(),
        };
        text += &format!(
            "C{n},{parent},RESELLER,{},+64 9 555 0001,h@c{n}.example,s@c{n}.example,a@c{n}.example,{ADDRESS}\n",
            name("Customer", n)
        );
    }
    text
}

fn site_sheet(
    chance: &mut fastrand::Rng,
    theme: Theme,
    count: usize,
    companies: usize,
    twins: &mut Vec<(&'static str, String)>,
) -> String {
    let mut text = "key,company,name,reference,phone,address1,city,country,labels\n".to_owned();
    // Apart from the other chances, so that they stay what they are: what is drawn here changes nothing else of a seed.
    let mut apart = fastrand::Rng::with_seed(chance.clone().u64(..));
    let has_namesakes = apart.u8(..) >= 192;
    let mut before: Option<(String, String, bool)> = None;
    for n in 0..count {
        let labels = if chance.u8(..) < 60 { "north" } else { "" };
        let mut has_reference = chance.bool();
        let mut company = match theme {
            Theme::Twins => THERE.to_string(),
            _ => company(chance, companies),
        };
        let mut name = name("Branch", n);
        // It has the name and the company of the one before: of the two, one has a reference.
        match before.take().filter(|_| has_namesakes && apart.bool()) {
            Some((other, its_company, its_reference)) => {
                (name, company, has_reference) = (other, its_company, !its_reference);
            }
            None => before = Some((name.clone(), company.clone(), has_reference)),
        }
        let reference = if has_reference { format!("REF-{n}") } else { String::new() };
        let phone = site_phone(n);
        text += &format!("S{n},{company},{name},{reference},{phone},{ADDRESS},{labels}\n");
        if company == THERE.to_string() && chance.bool() {
            let body = serde_json::json!({
                "companyId": THERE, "name": name, "phoneNumber": phone,
                "reference": (!reference.is_empty()).then_some(reference),
                "address": {"address1": "1 High Street", "city": "Auckland", "country": "NZ"},
            });
            twins.push((ADD_SITE, body.to_string()));
        }
    }
    text
}

/// By which a site is known whose name another one has.
fn site_phone(n: usize) -> String {
    format!("+64 9 555 02{n:02}")
}

fn person_sheet(chance: &mut fastrand::Rng, count: usize, companies: usize) -> String {
    let mut text = "company,user_type,template_scope,first_name,last_name,username,email,allow_login,address1,city,country\n".to_owned();
    for n in 0..count {
        text += &format!(
            "{},Reports Client,COMPANY_INHERIT,Ann,Number{n},user{n}@sim.example,user{n}@sim.example,yes,{ADDRESS}\n",
            company(chance, companies)
        );
    }
    text
}

fn device_sheet(chance: &mut fastrand::Rng, theme: Theme, count: usize, companies: usize) -> String {
    let mut text =
        "company,name,device_model,mac,phone,address1,city,country,labels,licence_code,custom_site_id,custom_site_name\n"
            .to_owned();
    for n in 0..count {
        let mac = if chance.u8(..) < 100 { String::new() } else { format!("00:1a:2b:00:00:{n:02x}") };
        let labels = if chance.u8(..) < 60 { "till; front" } else { "" };
        let licence = if chance.u8(..) < 20 { format!("LIC-{n}") } else { String::new() };
        let brings_a_site = theme == Theme::OwnSites || chance.u8(..) < 30;
        let custom = if brings_a_site { format!("CS-{n},Own site {n}") } else { ",".to_owned() };
        text += &format!(
            "{},{},Edge 100,{mac},+64 9 555 0003,{ADDRESS},{labels},{licence},{custom}\n",
            company(chance, companies),
            name("Till", n)
        );
    }
    text
}
