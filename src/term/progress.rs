//! Shows how a run goes: bars on a terminal, a line now and then elsewhere, objects for programs.
//!
//! Driven by the news of the run and by ticks of a clock that is passed in; the words are those of
//! [`super::progress_model`].

use std::time::Duration;

use jiff::tz::TimeZone;
use serde::Serialize;

use super::clean::clean;
use super::progress_model::{Picture, Tick};
use super::{Ink, Line, Object, Terminal};
use crate::journal::RowIdentity;
use crate::model::event::Event;
use crate::model::id::JobId;
use crate::model::kind::Kind;
use crate::model::policy::choice;
use crate::model::quota::QuotaDay;
use crate::model::tally::Tally;
use crate::model::time::{Moment, Rfc3339};

/// How often a line is written where there are no bars.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// How often while nothing can be created until the next day: nobody wants to read a night of equal lines.
const LINE_WHILE_PARKED: Duration = Duration::from_secs(600);
/// How often an object is written.
const OBJECT_EVERY: Duration = Duration::from_secs(1);
/// How often while nothing can be created until the next day.
const OBJECT_WHILE_PARKED: Duration = Duration::from_secs(60);
/// Width of a bar in characters: the counts of a large import fit beside it into 80 columns.
const BAR_WIDTH: usize = 16;
/// On a terminal with fewer columns the counts are shown without bars.
const ROOM_FOR_BARS: usize = 76;

/// The display of one run.
pub struct Progress {
    terminal: Terminal,
    picture: Picture,
    display: Display,
    here: TimeZone,
    /// The command that tells what needs a person, and what to type for it.
    status: String,
    /// Finds rows, where programs get their news.
    find_row: Option<FindRow>,
}

enum Display {
    Bars,
    Lines { next: Duration },
    Objects { next: Duration },
    Nothing,
}

/// A piece of news as one JSON object.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct EventObject<'a> {
    /// When it was.
    pub at: Rfc3339,
    /// The same in words, where there is something that a person should read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What it is.
    #[serde(flatten)]
    pub event: &'a Event,
}

impl Object for EventObject<'_> {
    const NAME: &'static str = "event";
}

/// A piece of news about one row.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RowEventObject<'a> {
    #[serde(flatten)]
    news: EventObject<'a>,
    /// The row that it is about.
    #[serde(flatten)]
    row: &'a RowIdentity,
}

impl Object for RowEventObject<'_> {
    const NAME: &'static str = "event";
}

choice! {
    /// Which news programs get.
    #[derive(Default)]
    EventDetail {
        /// News of the run as a whole.
        Summary = "summary",
        /// The news of each row as well, with its place, key, id and code.
        [default] Rows = "rows",
    }
}

/// Finds the row that a job is.
pub(super) type FindRow = Box<dyn Fn(JobId) -> Option<RowIdentity> + Send>;

impl Progress {
    /// Begins to show a run whose jobs stand as in `tally`, on a day of which so much of the quota is used; `here` is the time
    /// zone of the reader, `status` the command that tells more about what needs a person.
    pub fn start(
        terminal: &Terminal,
        known: (Tally, QuotaDay),
        tick: Tick,
        here: TimeZone,
        status: String,
    ) -> Self {
        let picture = Picture::new(known, tick);
        let display = if terminal.manner.quiet {
            Display::Nothing
        } else if terminal.manner.json {
            Display::Objects { next: tick.elapsed }
        } else if terminal.interactive {
            Display::Bars
        } else {
            Display::Lines { next: tick.elapsed + LINE_EVERY }
        };
        let mut progress =
            Self { terminal: terminal.clone(), picture, display, here, status, find_row: None };
        progress.tick(tick);
        progress
    }

    /// Shows programs the news of single rows as well, each with its row.
    #[must_use]
    pub fn with_rows(self, find_row: FindRow) -> Self {
        Self { find_row: Some(find_row), ..self }
    }

    /// Takes in a piece of news and tells what a person should read of it at once. Programs get all of it but the
    /// requests, the records verified and what is still to be done, which the progress counts.
    pub fn news(&mut self, event: &Event, tick: Tick) {
        let told = self.picture.take(event, tick, &self.here);
        match (&self.display, told) {
            (Display::Bars, Some(text)) => {
                self.terminal.say(Line::new().ink(Ink::Warning, "·").text(" ").text(text));
            }
            (Display::Lines { .. }, Some(text)) if event.is_warning() => {
                self.terminal.warn_at(stamp(tick.now), &text);
            }
            (Display::Lines { .. }, Some(text)) => self.terminal.say_at(stamp(tick.now), &text),
            (Display::Nothing, Some(text)) if event.is_warning() => {
                self.terminal.warn_at(stamp(tick.now), &text);
            }
            (Display::Objects { .. }, told)
                if !matches!(
                    event,
                    Event::Sent { .. }
                        | Event::Answered { .. }
                        | Event::ReadBack { .. }
                        | Event::Remaining(_)
                ) =>
            {
                let job = match event {
                    Event::Moved { job, .. } | Event::Unseen { job, .. } => Some(*job),
                    _ => None,
                };
                let row = match (job, &self.find_row) {
                    (Some(job), Some(find_row)) => find_row(job),
                    (Some(_), None) => return,
                    (None, _) => None,
                };
                let news = EventObject { at: tick.now.into(), message: told.as_deref().map(clean), event };
                match &row {
                    Some(row) => self.terminal.object(&RowEventObject { news, row }),
                    None => self.terminal.object(&news),
                }
            }
            (Display::Bars | Display::Lines { .. } | Display::Objects { .. } | Display::Nothing, _) => {}
        }
    }

    /// Brings the display up to date; call it a few times a second.
    pub fn tick(&mut self, tick: Tick) {
        match &mut self.display {
            Display::Bars => {
                let columns = self.terminal.columns();
                self.terminal.show(bars(&self.picture, tick, &self.here, &self.status, columns));
            }
            Display::Lines { next } => {
                if tick.elapsed >= *next {
                    let parked = self.picture.is_parked();
                    *next = tick.elapsed + if parked { LINE_WHILE_PARKED } else { LINE_EVERY };
                    let line = self.picture.line(tick, &self.here);
                    self.terminal.say_at(stamp(tick.now), &line);
                }
            }
            Display::Objects { next } => {
                if tick.elapsed >= *next {
                    let parked = self.picture.is_parked();
                    *next = tick.elapsed + if parked { OBJECT_WHILE_PARKED } else { OBJECT_EVERY };
                    self.terminal.object(&self.picture.object(tick));
                }
            }
            Display::Nothing => {}
        }
    }

    /// Takes the display away, leaving the last state where it was a list of lines or objects.
    pub fn finish(mut self, tick: Tick) {
        self.picture.end();
        match self.display {
            Display::Bars => self.terminal.show(Vec::new()),
            Display::Lines { .. } => {
                let line = self.picture.line(tick, &self.here);
                self.terminal.say_at(stamp(tick.now), &line);
            }
            Display::Objects { .. } => self.terminal.object(&self.picture.object(tick)),
            Display::Nothing => {}
        }
    }
}

/// A bar for each kind, and below them what there is to say.
fn bars(picture: &Picture, tick: Tick, here: &TimeZone, status: &str, columns: usize) -> Vec<Line> {
    let of_kind = |kind: Kind| {
        let standing = picture.standing_of(kind);
        let line = Line::plain(format!("{:>9} ", kind.plural()));
        let bar = if columns < ROOM_FOR_BARS { Line::new() } else { standing.bar(BAR_WIDTH).text(" ") };
        (standing.rows > 0).then(|| line.join(bar).join(standing.line()))
    };
    let mut lines: Vec<Line> = Kind::ALL.into_iter().filter_map(of_kind).collect();
    let plain = |line: Option<String>| line.map(Line::plain);
    let warning = |line: String| Line::new().ink(Ink::Warning, line);
    lines.extend(plain(picture.pace_line(tick)));
    lines.extend(plain(picture.finish_line(tick, here)));
    lines.extend(picture.next_lines(tick, here).into_iter().map(warning));
    lines.extend(plain(picture.read_line()));
    lines.extend(plain(picture.quota_line()));
    lines.extend(picture.unseen_line(here).map(warning));
    lines.extend(picture.person_line(status));
    lines
}

/// The time of day that begins a plain line, in UTC like everything that is logged.
fn stamp(now: Moment) -> String {
    now.civil().strftime("%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::super::Manner;
    use super::super::testing::{interactive, terminal};
    use super::*;
    use crate::model::id::{ImportId, SheetId};
    use crate::model::operation::Operation;
    use crate::model::remaining::{Allowance, Doubts, Lane, Remaining};
    use crate::model::state::JobState;

    fn tick(seconds: u64) -> Tick {
        let start = Moment::parse("2026-03-01T12:00:00Z").unwrap();
        Tick { now: start.plus(Duration::from_secs(seconds)), elapsed: Duration::from_secs(seconds) }
    }

    fn tally() -> Tally {
        let mut tally = Tally::default();
        tally.add(Kind::Company, JobState::Ready, 4);
        tally.add(Kind::Device, JobState::Blocked, 40);
        tally
    }

    fn unused() -> QuotaDay {
        QuotaDay::unused(tick(0).now.day())
    }

    fn a_short_run(terminal: &Terminal) {
        let acme = |_job: JobId| {
            let (sheet, key, code) = (Some("Companies".to_owned()), Some("C1".to_owned()), None);
            let (import, row, id) = (Some(ImportId(3)), Some(7), None);
            Some(RowIdentity { import, sheet, row, key, name: "Acme".to_owned(), id, code })
        };
        let mut progress = Progress::start(
            terminal,
            (tally(), unused()),
            tick(0),
            TimeZone::UTC,
            "fleetload status".to_owned(),
        )
        .with_rows(Box::new(acme));
        progress.news(&Event::Sent { operation: Operation::AddCompany }, tick(0));
        let (from, to) = (JobState::Ready, JobState::Created);
        progress.news(&Event::Moved { job: JobId(1), kind: Kind::Company, from, to }, tick(1));
        progress.tick(tick(1));
        progress.news(&Event::Note { text: "name \u{1b}[2J".into() }, tick(2));
        progress.tick(tick(9));
        progress.tick(tick(10));
        progress.tick(tick(11));
        progress.finish(tick(12));
    }

    #[test]
    fn without_a_terminal_there_is_a_line_every_ten_seconds_and_one_for_each_notable_event() {
        let (terminal, results, talk) = terminal(Manner::default());
        a_short_run(&terminal);
        assert_eq!(
            talk.text(),
            "12:00:02Z name \\u{1b}[2J\n\
             12:00:10Z 1 of 44 jobs done, 43 waiting\n\
             12:00:12Z 1 of 44 jobs done, 43 waiting\n"
        );
        assert_eq!(results.text(), "");
    }

    #[test]
    fn with_json_there_is_an_object_a_second_and_one_for_each_event() {
        let (terminal, results, talk) = terminal(Manner { json: true, ..Manner::default() });
        a_short_run(&terminal);
        assert_eq!(talk.text(), "");
        let objects: Vec<serde_json::Value> =
            results.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let kinds: Vec<_> = objects.iter().map(|o| o["object"].as_str().unwrap()).collect();
        assert_eq!(
            kinds,
            ["progress", "event", "progress", "event", "progress", "progress", "progress", "progress"]
        );
        // Before the first request it is a zero like any other.
        assert!(results.text().lines().next().unwrap().contains("\"requests_per_second\":0.0,"));
        assert_eq!(objects[1]["event"], "moved");
        assert_eq!((&objects[1]["from"], &objects[1]["to"]), (&"ready".into(), &"created".into()));
        let place = (&objects[1]["import"], &objects[1]["sheet"], &objects[1]["row"], &objects[1]["key"]);
        assert_eq!(place, (&3.into(), &"Companies".into(), &7.into(), &"C1".into()));
        assert_eq!(objects[3]["event"], "note");
        assert_eq!(objects[3]["message"], "name \\u{1b}[2J");
        let last = &objects[7];
        assert_eq!((&last["rows"], &last["done"], &last["left"]), (&44.into(), &1.into(), &43.into()));
        assert_eq!(last["requests"], 1);
    }

    #[test]
    fn quiet_shows_nothing() {
        let (terminal, results, talk) = terminal(Manner { quiet: true, ..Manner::default() });
        a_short_run(&terminal);
        assert_eq!((results.text(), talk.text()), (String::new(), String::new()));
    }

    fn quota_used(confirmed: u64, ceiling: u64) -> Event {
        let day = tick(0).now.day();
        Event::QuotaUsed(
            QuotaDay { sent: confirmed, confirmed, ..QuotaDay::unused(day) }.under(Some(ceiling)),
        )
    }

    /// A run that is parked, with rows held and refused and a sheet set aside.
    fn an_eventful_run(columns: u16) -> String {
        let (terminal, talk) = interactive(columns);
        let mut tally = Tally::default();
        tally.add(Kind::Company, JobState::Created, 1_200);
        tally.add(Kind::Device, JobState::Ready, 98_000);
        tally.add(Kind::Device, JobState::Rejected, 50);
        tally.add(Kind::Device, JobState::InDoubt, 9);
        let here = TimeZone::get("Pacific/Auckland").unwrap();
        let mut progress =
            Progress::start(&terminal, (tally, unused()), tick(0), here, "fleetload status".to_owned());
        for job in 1..=3 {
            let (from, to) = (JobState::Ready, JobState::Held);
            progress.picture.take(
                &Event::Moved { job: JobId(job), kind: Kind::Device, from, to },
                tick(1),
                &TimeZone::UTC,
            );
        }
        let paused = Event::SheetPaused {
            sheet: SheetId(3),
            title: "'Devices'".into(),
            times: 50,
            code: "invalidData".into(),
            message: "no".into(),
            asks: false,
        };
        let until = Moment::parse("2026-03-02T00:00:05Z").unwrap();
        let quota = quota_used(10_000, 10_000);
        let facts = Remaining {
            at: tick(1).now,
            making: [(Operation::AddDevice, Lane { requests: 98_000, limit: Some(98.0), pace: None })].into(),
            quota: Some(Allowance { per_day: 10_000, today: 10_000 }),
            doubts: Doubts {
                rows: 9,
                settled_by: Some(tick(560).now),
                decided_by: Some(tick(600).now),
                ..Doubts::default()
            },
            moving: true,
            ..Remaining::default()
        };
        let facts = Event::Remaining(Box::new(facts));
        for event in [paused, quota, facts, Event::Parked { until }] {
            progress.picture.take(&event, tick(1), &TimeZone::UTC);
        }
        progress.tick(tick(2));
        talk.screen(columns)
    }

    #[test]
    fn done_left_failed_quota_the_wait_and_what_needs_a_person_are_seen_at_once_on_any_width() {
        for columns in [120, 80, 60] {
            let shown = an_eventful_run(columns);
            insta::assert_snapshot!(format!("eventful_{columns}"), shown);
        }
    }

    #[test]
    fn on_a_terminal_there_is_a_bar_for_each_kind_and_a_line_for_the_pace() {
        let (terminal, talk) = interactive(100);
        let mut progress = Progress::start(
            &terminal,
            (tally(), unused()),
            tick(0),
            TimeZone::UTC,
            "fleetload status".to_owned(),
        );
        for job in 1..=2 {
            progress.news(&Event::Sent { operation: Operation::AddCompany }, tick(1));
            let (from, to) = (JobState::Ready, JobState::Created);
            progress.news(&Event::Moved { job: JobId(job), kind: Kind::Company, from, to }, tick(1));
        }
        progress.news(&quota_used(2, 500), tick(1));
        progress.tick(tick(2));
        progress.news(&Event::Note { text: "a note".into() }, tick(2));
        insta::assert_snapshot!(talk.screen(100), @"
        · a note
        companies [████████        ] 2 of 4 done, 2 waiting
          devices [                ] 0 of 40 done, 40 waiting
        addCompany 1/s
        quota 2 of 500 used, 498 left
        ");
        progress.finish(tick(2));
        assert_eq!(talk.screen(100), "· a note", "the bars are taken away at the end");
    }
}
