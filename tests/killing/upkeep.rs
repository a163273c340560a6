//! Killing the binary while it carries out upkeep rows: of records that an earlier import created, and of those which the
//! same import creates.

use fleetload::sandbox::{Fault, FaultKind, Scenario};

use super::{ask, finish, killed_at};
use crate::bench::upkeep::{Owners, UpkeepRows, Wishes, endings, state_of};
use crate::bench::{self, Bench};

/// What is there before, and what there is in the end.
const BEFORE: Owners = Owners { companies: 2, sites: 4, devices: 4 };
const OWNERS: Owners = Owners { companies: 2, sites: 4, devices: 8 };
const EARLIER: UpkeepRows =
    UpkeepRows { labels: 12, metadata: 12, licences: 2, subscriptions: 4, site_assignments: 2, vpn: 4 };
const ROWS: UpkeepRows =
    UpkeepRows { labels: 40, metadata: 30, licences: 6, subscriptions: 9, site_assignments: 6, vpn: 9 };

/// A step of a run in which upkeep rows are carried out, at which of its times the process is killed there; none for the
/// steps that upkeep rows have nothing to do with.
pub(crate) fn times_of(step: &str) -> &'static [u64] {
    match step {
        "import.begun" | "import.before-commit" | "import.committed" => &[1],
        "import.sheet" => &[5],
        "import.row" => &[40],
        "recovery.put-in-doubt" | "recovery.begun" | "recovery.before-commit" | "recovery.committed" => &[1],
        "permission.granted" | "claim.in-transaction" | "claim.on-disk" | "answer.received" => &[1, 30],
        "step.handed-over" | "step.under-way" | "step.answered" => &[1, 25],
        "done.in-transaction" => &[1, 20],
        "settlement.on-disk" | "settlement.told" => &[25],
        "look.handed-over" | "look.under-way" | "look.answered" | "look.received" => &[12],
        "existing.in-transaction" => &[1, 8],
        "doubt.in-transaction" | "doubt.taken-up" | "doubt.look-read" => &[1, 3],
        "deferred.in-transaction"
        | "returned.in-transaction"
        | "postponed.in-transaction"
        | "released.in-transaction"
        | "held.in-transaction"
        | "still-in-doubt.in-transaction"
        | "run.begun"
        | "run.before-end"
        | "run.ended" => &[1],
        _ => &[],
    }
}

fn scenario() -> Scenario {
    Scenario { rate: 0, latency_ms: [2, 15], ..Scenario::default() }
}

/// One fault of each kind that leads a row through another state.
fn faults() -> Vec<Fault> {
    [
        ("putSiteLabel", FaultKind::RateLimitExceeded, 0, 1),
        ("putSiteMetadata", FaultKind::TokenRevoked, 0, 1),
        ("putInterfaceLabel", FaultKind::AnswerLost, 1, 2),
        ("deleteInterfaceLabel", FaultKind::Error500After, 0, 1),
        ("subscribeTemplate", FaultKind::Error500After, 1, 1),
        ("putDeviceMetadata", FaultKind::RequestLost, 2, 2),
        ("addLicenceCode", FaultKind::AnswerLost, 2, 1),
        ("addLicenceCode", FaultKind::RequestLost, 0, 1),
        ("addDeviceToVpnCloud", FaultKind::AnswerCut, 0, 1),
        // A list is asked for three times before its rows wait.
        ("listSiteLabels", FaultKind::Error500Before, 0, 3 * OWNERS.sites as u64),
    ]
    .map(|(operation, kind, after, times)| Fault::new(operation, kind).after(after).times(times))
    .into()
}

fn write(bench: &Bench, owners: Owners, sheets: &[(&str, String)]) -> Vec<String> {
    let records = [
        ("companies", bench::companies(owners.companies)),
        ("sites", bench::sites(owners.sites, owners.companies)),
        ("devices", bench::devices(owners.devices, owners.companies)),
    ];
    let all = records.iter().chain(sheets);
    all.map(|(name, text)| {
        bench.write(&format!("{name}.csv"), text);
        format!("{name}.csv")
    })
    .collect()
}

/// What is typed to carry out sheets.
fn run(files: &[String]) -> Vec<&str> {
    ["run"].into_iter().chain(files.iter().map(String::as_str)).collect()
}

/// Kills at one step, finishes, and holds the end against what the service has.
pub(crate) fn case(step: &str, nth: u64) {
    let bench = Bench::new(scenario());
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 8", "");
    let mut wishes = Wishes::new(5);
    let earlier = wishes.draw(BEFORE, EARLIER);
    let files = write(&bench, BEFORE, &earlier.sheets);
    bench.fleetload(&run(&files)).expect_code(0);
    assert_eq!(state_of(&bench), wishes.state());

    let now = wishes.draw(OWNERS, ROWS);
    let files = write(&bench, OWNERS, &now.sheets);
    let first = run(&files);
    let meet = |faults: Vec<Fault>| {
        bench.sandbox().change(|scenario| scenario.fault = faults).expect("a consistent scenario");
    };
    meet(faults());
    let (mut command, mut next) = (&first[..], &["run"][..]);
    if step.starts_with("import.") {
        next = &first;
    }
    if step.starts_with("recovery.") {
        killed_at(&bench, &first, "step.under-way", 20, false, false);
        command = &["run"];
    }
    if step.starts_with("still-in-doubt.") {
        // First a label is in doubt, then its look fails. Rows in doubt are settled while their import is paused, and no other
        // row asks for a list: enough failures would hold back all look-ups of the operation.
        meet([Fault::new("putInterfaceLabel", FaultKind::AnswerLost).after(1).times(1)].into());
        killed_at(&bench, &first, "doubt.taken-up", 1, false, false);
        bench.fleetload(&["pause", "2"]).expect_code(0);
        meet([Fault::new("listInterfaceLabels", FaultKind::Error500Before)].into());
        command = &["run"];
    }
    killed_at(&bench, command, step, nth, false, false);
    if step.starts_with("still-in-doubt.") {
        assert!(bench.statistics().faults_fired["error_500_before"] > 0);
        bench.fleetload(&["resume", "2"]).expect_code(0);
        meet(faults());
    }
    let done = finish(&bench, next, &[]);

    assert_eq!(state_of(&bench), wishes.state(), "{step}:{nth}");
    assert_eq!(endings(&bench, done.import), now.endings, "{step}:{nth}");
    // A code may be held without need, as it cannot be looked up; nothing else is.
    assert!(done.held.keys().all(|kind| kind == "licence"), "{:?}", done.held);
    bench.assert_exact(done.import);
    let unfinished = "SELECT count(*) FROM job WHERE outcome IS NULL OR state <> outcome";
    assert_eq!(ask(&bench, unfinished), 0, "every row is done");
    // Once more: nothing is left to be done.
    let ledger = bench.ledger();
    finish(&bench, &["run"], &[]);
    assert_eq!(bench.ledger(), ledger);
}
