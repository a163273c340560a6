//! A month of nights in virtual time: the real binary, started by a timer every night at 01:00, against the simulated service,
//! which goes by the same clock. Sheets arrive, the quota of each day is spent, and one night after the other something goes
//! wrong. Every morning the ledger of the service, the rows of the journal, the metrics, the log, the news of the run and
//! the notifications are held against each other.

mod calendar;
mod morning;
mod sheets;
mod world;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Instant;

use fleetload::sandbox::{Fault, FaultKind};
use serde_json::Value;

use calendar::{Calendar, HOUR};
use morning::{JournalRows, Morning, Records, ask, journal, look};
use sheets::{RIGHT_MODEL, Region, WRONG_MODEL};
use world::{Night, World};

/// How long a month is.
const NIGHTS: u32 = 31;
/// What is free on the disk before it is full: enough for the first half of a night.
const ROOM_KIB: u64 = 24 * 1024;
/// Nights at the end of which there must be nothing left to report.
const QUIET: u32 = 3;

/// How large a month is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Creations that the service allows a day; the rows are twenty times as many.
    pub(crate) quota: u64,
    /// How many times as fast as the machine's the clocks go.
    pub(crate) speed: u32,
}

/// What goes wrong in a night, besides a few lost answers and refusals for pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Nothing,
    /// `kill -9` while a creation is under way.
    Kill,
    /// Pages of a maintenance instead of answers, until after the run has reported that it is paused.
    Maintenance,
    /// The service answers nothing any more, and then nothing listens there.
    Outage,
    /// An answer contradicts its request, so that a row is held.
    Contradiction,
    /// The disk of the journal is full.
    FullDisk,
}

impl Trouble {
    const fn of(night: u32) -> Self {
        match night {
            3 => Self::Kill,
            5 => Self::Maintenance,
            6 => Self::Outage,
            8 => Self::Contradiction,
            10 => Self::FullDisk,
            _ => Self::Nothing,
        }
    }
}

/// A notification: the event, its reason, the exit code.
type Event = (String, Option<String>, Option<i64>);

fn event(event: &str, reason: &str, code: i64) -> Event {
    (event.to_owned(), Some(reason.to_owned()), Some(code))
}

/// The month.
struct Story<'a> {
    size: Size,
    world: World,
    records: Records,
    /// Sheets that come when those before them are done.
    coming: VecDeque<Region>,
    /// Rows that the service rejected and nobody has corrected yet.
    failed: usize,
    /// Whether the failed rows were reported on the night before.
    is_failure_new: bool,
    /// The numbers of imports whose rows are all done or failed: nothing was left in the morning.
    is_idle: bool,
    ids: BTreeSet<String>,
    figures: BTreeMap<&'static str, u64>,
    tell: &'a mut dyn FnMut(&str),
}

/// Lives through a month, and panics at the first thing that is not as it should be. Gives the figures of it.
pub(crate) fn month(size: Size, tell: &mut dyn FnMut(&str)) -> BTreeMap<&'static str, u64> {
    let calendar = Calendar::of_month("2026-03-01T00:00:00Z", size.speed);
    // In thousandths of a quota, so that no import ends with a day.
    let rows = |thousandths: u64| usize::try_from(size.quota * thousandths / 1000).expect("a number of rows");
    let wrong = usize::try_from(size.quota / 1000).expect("a number").clamp(3, 30);
    let mut story = Story {
        size,
        world: World::of(size.quota, calendar),
        records: Records::default(),
        coming: VecDeque::from([
            Region::of("north", rows(7_950), 0),
            Region::of("south", rows(3_200), wrong),
            Region::of("east", rows(5_600), 0),
            Region::of("west", rows(3_250), 0),
        ]),
        failed: 0,
        is_failure_new: false,
        is_idle: false,
        ids: BTreeSet::new(),
        figures: BTreeMap::new(),
        tell,
    };
    let mut quiet = 0;
    for number in 1..=NIGHTS {
        let is_quiet = story.day(number);
        quiet = if is_quiet { quiet + 1 } else { 0 };
    }
    assert!(story.coming.is_empty() && story.records.missing() == 0, "rows are left");
    assert!(quiet >= QUIET, "only {quiet} quiet nights");
    story.balance();
    story.figures
}

impl Story<'_> {
    /// A day and its night. Whether nothing happened.
    fn day(&mut self, number: u32) -> bool {
        let started = Instant::now();
        self.world.calendar.set(number, HOUR / 2);
        let is_corrected = self.evening(number);
        let before = JournalRows::read(&journal(&self.world), &self.records);
        self.world.calendar.set(number, HOUR);
        let trouble = Trouble::of(number);
        let night = self.night(trouble);
        let (is_written, recovers) = (
            !matches!(trouble, Trouble::Kill | Trouble::FullDisk),
            matches!(Trouble::of(number - 1), Trouble::Kill | Trouble::FullDisk),
        );
        self.world.calendar.set(number, 7 * HOUR);
        let seen = (&before, self.size.quota);
        let morning = look(&self.world, &mut self.records, &night, seen, (is_written, recovers));
        let told = self.notifications(number, &night, is_corrected);
        self.note(&night, &morning);
        (self.tell)(&format!(
            "night {number:>2} {:<14} exit {:>4}, {:>6} made, {:>6} counted, {:>6} left; {} ({:.1} s)",
            format!("{trouble:?}"),
            night.code.map_or("kill".to_owned(), |code| code.to_string()),
            morning.made,
            morning.counted,
            self.records.missing(),
            if told.is_empty() { "nothing reported".to_owned() } else { told.join(", ") },
            started.elapsed().as_secs_f64()
        ));
        self.is_idle = self.records.missing() == self.failed && trouble == Trouble::Nothing;
        self.is_failure_new = told.iter().any(|event| event == "failed-rows");
        told.is_empty() && self.is_idle && trouble == Trouble::Nothing
    }

    /// What people do before the night: import sheets, decide, correct. Whether rows were corrected.
    fn evening(&mut self, number: u32) -> bool {
        if number == 1 || number == 8 {
            self.import();
        }
        if number == 9 {
            self.decide();
        }
        if !self.is_idle || self.is_failure_new {
            return false;
        }
        if self.failed > 0 {
            self.correct();
            return true;
        }
        self.import();
        false
    }

    /// Imports the next sheets, where there are some.
    fn import(&mut self) {
        let Some(region) = self.coming.pop_front() else { return };
        let files = region.write(&self.world.bench);
        let mut arguments = vec!["import"];
        arguments.extend(files.iter().map(String::as_str));
        arguments.extend(["--label", region.label]);
        self.world.fleetload(&arguments).expect_code(0);
        self.records.expect(&region);
        self.failed += region.wrong;
    }

    /// Decides the row on hold as the notification advises, and as what that command shows advises.
    fn decide(&mut self) {
        let advised = self.world.last("needs-decision")["needs"][0]["command"].clone();
        let shown = self.world.advised(advised.as_str().expect("a command"), &["--json"]).expect_code(0);
        let held: Value = shown
            .stdout
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
            .find(|object| object["object"] == "held")
            .expect("the row on hold");
        let id = held["now"]["candidates"][0]["id"].as_str().expect("the record that was found");
        let decision = format!("fleetload resolve {} --created {id}", held["job"]);
        assert!(
            shown.stderr.contains(&decision.replace(id, "ID")),
            "{decision} is not advised: {}",
            shown.stderr
        );
        self.world.advised(&decision, &[]).expect_code(0);
        let journal = journal(&self.world);
        assert_eq!(ask(&journal, "SELECT count(*) FROM job WHERE state = 'held'"), 0);
        assert_eq!(ask(&journal, "SELECT count(*) FROM decision WHERE job IS NOT NULL"), 1);
    }

    /// Corrects the rejected rows in the sheet that the report wrote of them, and imports it.
    fn correct(&mut self) {
        let fix = "reports/2/south-devices.fix.csv";
        let text = std::fs::read_to_string(self.world.bench.path(fix)).expect("rows to correct");
        assert_eq!(text.lines().count(), self.failed + 1, "{text}");
        self.world.bench.write(fix, &text.replace(WRONG_MODEL, RIGHT_MODEL));
        self.world.fleetload(&["import", fix]).expect_code(0);
        let journal = journal(&self.world);
        let round = "SELECT count(*) FROM import WHERE id = 3 AND round = 2 AND round_of = 2";
        assert_eq!(ask(&journal, round), 1, "it is round 2 of the second import");
        let revised = "SELECT count(*) FROM sheet_row WHERE disposition = 'revised' AND place >> 32 IN
            (SELECT id FROM sheet WHERE import = 3)";
        assert_eq!(ask(&journal, revised), self.failed as u64, "every failed row is in it");
        self.failed = 0;
    }

    /// The night, with its trouble; each is seen to have happened.
    fn night(&mut self, trouble: Trouble) -> Night {
        let (world, half) = (&self.world, self.size.quota / 2);
        let from_half = |kind| Fault::new("creations", kind).after(half);
        match trouble {
            Trouble::Nothing => {
                world.faults(&[]);
                world.night(None, |_| {})
            }
            Trouble::Kill => {
                world.faults(&[]);
                let night = world.night(Some(&format!("creation.under-way:{half}")), |_| {});
                let under_way = ask(&journal(world), "SELECT count(*) FROM job WHERE state = 'sending'");
                assert!(night.code.is_none() && under_way > 0, "killed with {under_way} requests under way");
                *self.figures.entry("requests under way at the kill").or_default() += under_way;
                night
            }
            Trouble::Maintenance => {
                let lookups = Fault::new("lookups", FaultKind::Html503Before).after(half);
                world.faults(&[from_half(FaultKind::Html503Before), lookups]);
                let night = world.night(None, |run| {
                    run.until_reported("paused");
                    world.faults(&[]);
                });
                let fired = world.fired("html_503_before");
                assert!(fired > 20, "{fired} pages");
                *self.figures.entry("pages of the maintenance").or_default() += fired;
                night
            }
            Trouble::Outage => {
                world.faults(&[from_half(FaultKind::StallBefore)]);
                let night = world.night(None, |run| {
                    run.until("a request without an answer", || world.fired("stall_before") > 0);
                    world.bench.service_goes_away();
                });
                world.bench.service_is_back();
                *self.figures.entry("requests without an answer at the outage").or_default() +=
                    world.fired("stall_before");
                night
            }
            Trouble::Contradiction => {
                world.faults(&[Fault::new("addSite", FaultKind::WrongName).after(2).times(1)]);
                let night = world.night(None, |_| {});
                assert_eq!(world.fired("wrong_name"), 1);
                night
            }
            Trouble::FullDisk => {
                let Some(disk) = &world.disk else {
                    (self.tell)("SKIPPED: only root may mount a small disk; no disk was full");
                    world.faults(&[]);
                    return world.night(None, |_| {});
                };
                // The answers come when there is no room for them any more.
                let late = Fault { ms: 500, ..from_half(FaultKind::StallAfter) };
                world.faults(&[late]);
                disk.fill(ROOM_KIB);
                let night = world.night(None, |run| {
                    run.until("an answer that is late", || world.fired("stall_after") > 0);
                    disk.fill(0);
                });
                disk.make_room();
                *self.figures.entry("answers held back until the disk was full").or_default() +=
                    world.fired("stall_after");
                night
            }
        }
    }

    /// Holds what was reported against what should have been; gives the events.
    fn notifications(&mut self, number: u32, night: &Night, is_corrected: bool) -> Vec<String> {
        let got: Vec<Event> = night
            .notified
            .iter()
            .map(|notified| {
                let text = |field: &str| notified[field].as_str().map(str::to_owned);
                let code = notified["exit_code"].as_i64();
                // While a run goes on, the reason is that of the rows as they stand, if any.
                let reason = code.and_then(|_| text("reason"));
                (text("event").expect("an event"), reason, code)
            })
            .collect();
        let during = |word: &str| (word.to_owned(), None, None);
        let killed = event("stopped", "killed", 5);
        let mut expected: Vec<Event> = Vec::new();
        if matches!(Trouble::of(number - 1), Trouble::Kill) {
            expected.push(killed.clone());
        }
        let left = self.records.missing() - self.failed;
        let trouble = Trouble::of(number);
        match trouble {
            Trouble::Maintenance => {
                assert!(!night.told.paused.is_empty());
                expected.extend(night.told.paused.iter().map(|_| during("paused")));
            }
            Trouble::Contradiction => expected.push(during("needs-decision")),
            Trouble::Outage => expected.push(during("unreachable")),
            Trouble::Nothing | Trouble::Kill | Trouble::FullDisk => {}
        }
        let is_new = !self.is_idle || is_corrected || left > 0;
        match trouble {
            Trouble::Kill => {}
            Trouble::FullDisk if self.world.disk.is_some() => {
                expected.push(event("stopped", "journal-full", 6));
            }
            Trouble::Outage => expected.push(event("unreachable", "unreachable", 7)),
            _ if left > 0 => expected.push(event("parked", "quota", 5)),
            _ if self.failed > 0 && is_new => expected.push(event("failed-rows", "rows-failed", 4)),
            _ if is_new => expected.push(event("finished", "done", 0)),
            _ => {}
        }
        assert_eq!(got, expected, "night {number}: {:#?}", night.notified);
        let code = match trouble {
            Trouble::Kill => None,
            _ => Some(match expected.last().filter(|last| **last != killed).and_then(|(.., code)| *code) {
                Some(code) => code,
                None if self.failed > 0 => 4,
                None => 0,
            }),
        };
        assert_eq!(night.code.map(i64::from), code, "night {number}");
        for notified in &night.notified {
            let id = notified["id"].as_str().expect("an id").to_owned();
            assert!(self.ids.insert(id), "delivered twice: {notified}");
            let word = notified["event"].as_str().expect("an event");
            let figure =
                ["parked", "paused", "unreachable", "needs-decision", "stopped", "failed-rows", "finished"]
                    .into_iter()
                    .find(|known| *known == word);
            *self.figures.entry(figure.expect("a known event")).or_default() += 1;
        }
        got.into_iter().map(|(event, ..)| event).collect()
    }

    /// Counts what the figures of the month say.
    fn note(&mut self, night: &Night, morning: &Morning) {
        let mut add = |what, number| *self.figures.entry(what).or_default() += number;
        add("records made", morning.made);
        add("news of runs", night.told.events);
        add("lines of the log", night.log.len() as u64);
        add("nights in which the whole quota was spent", u64::from(morning.counted == self.size.quota));
        add(
            "rows put in doubt",
            night.told.moves.iter().map(|((_, to), n)| if to == "in_doubt" { *n } else { 0 }).sum(),
        );
        self.figures.insert("rows whose record was adopted", morning.rows.in_state("adopted"));
    }

    /// The end: every row of every sheet has its answer, and every record its row.
    fn balance(&mut self) {
        let world = &self.world;
        world.fleetload(&["status", "--check"]).expect_code(0);
        let journal = journal(world);
        let imports = ask(&journal, "SELECT count(*) FROM import");
        let rows = ask(&journal, "SELECT count(*) FROM sheet_row");
        let corrected = ask(&journal, "SELECT count(*) FROM sheet_row WHERE disposition = 'revised'");
        assert_eq!(rows, self.records.rows() as u64 + corrected, "every row of every sheet");
        let mut answers = 0;
        for import in 1..=imports {
            world.fleetload(&["report", &import.to_string()]).expect_code(0);
            answers += self.records.answered(&world.bench.path(&format!("reports/{import}/results.jsonl")));
        }
        assert_eq!(answers, rows, "every row has an answer");
        let statistics = world.bench.statistics();
        let made: usize = ["company", "site", "person", "device"]
            .iter()
            .map(|kind| statistics.records.get(*kind).copied().unwrap_or(0))
            .sum();
        let figures = &mut self.figures;
        figures.insert("records of the service, its own included", made as u64);
        figures.insert("imports", imports);
        figures.insert("rows of sheets", rows);
        figures.insert("requests", statistics.requests.values().sum());
        figures.insert("answers lost", world.fired("answer_lost"));
    }
}
