//! Forecasts of a whole run, held against its real end, in virtual time.
//!
//! The end that is forecast at a quarter, a half and three quarters of the time is wrong by a tenth of what is left at the
//! most. While the end cannot be known, the next event is named, and it comes when it was said to.

use std::sync::Arc;
use std::time::Duration;

use fleetload::journal::Journal;
use fleetload::model::event::Event;
use fleetload::model::forecast::{Forecast, Next, forecast};
use fleetload::model::operation::Operation;
use fleetload::model::state::JobState;
use fleetload::model::time::Moment;
use fleetload::run::{Ending, Pulse};
use fleetload::sandbox::{Fault, FaultKind, Sandbox};
use fleetload::service::Client;
use tokio::sync::mpsc;

use super::network::{Network, Wire};
use super::script::{ADDRESS, Script, company_sheet};
use super::time::{ProcessClock, Time};
use super::trial::{self, SETTLE};

/// So many devices below twenty companies, on a day on which nothing goes wrong.
fn devices(count: usize) -> Script {
    const COMPANIES: usize = 20;
    let mut script = Script::of_maintenance(256);
    let mut chance = fastrand::Rng::with_seed(4);
    let mut devices = "company,name,device_model,mac,phone,address1,city,country\n".to_owned();
    for n in 0..count {
        let mac = format!("00:1a:2b:00:{:02x}:{:02x}", n >> 8, n & 255);
        let company = n % COMPANIES;
        devices += &format!("C{company},Till number {n:04},Edge 100,{mac},+64 9 555 0003,{ADDRESS}\n");
    }
    script.rows = count + COMPANIES;
    script.sheets = vec![("companies.csv", company_sheet(&mut chance, COMPANIES)), ("devices.csv", devices)];
    let weather = &mut script.weather;
    (weather.maintenance, weather.timeout) = (None, Duration::from_secs(30));
    (weather.delay_ms, weather.disk_ms) = (5, 2);
    let scenario = &mut script.scenario;
    scenario.clock_starts_at = Some("2026-03-01T10:00:00Z".parse().expect("a moment"));
    (scenario.latency_ms, scenario.lookup_lag_ms, scenario.token_seconds) = ([5, 50], 0, 14_400);
    (scenario.quota_counts_failures, scenario.quota_per_operation) = (true, false);
    script
}

/// What is forgiven besides a tenth: facts are counted every second, and times are told in whole seconds.
const ROUNDING: Duration = Duration::from_secs(2);

/// A run with what it forecast, and everything else that it told.
struct Told {
    began: Duration,
    ended: Duration,
    forecasts: Vec<(Duration, Forecast)>,
    events: Vec<(Duration, Event)>,
    start: Moment,
}

/// Runs the script to its end.
fn run(script: &Script) -> Told {
    let folder = trial::folder();
    let path = folder.path().join("fleetload.db");
    let start = Moment::parse(&script.scenario.clock_starts_at.expect("a moment").to_string()).expect("one");
    let time = Time::starting_at(start);
    let sandbox = Sandbox::new(script.scenario.clone(), start.millis()).expect("a consistent scenario");
    let network = Network::new(Arc::clone(&time), sandbox, script.weather.clone(), 4);
    trial::take_in(&script.sheets, script.rows, folder.path(), &path, time.now());
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().expect("a runtime").block_on(async {
        time.begin_life();
        let clock = ProcessClock::start(&time, Vec::new());
        let mut journal = Journal::open(&path).expect("the journal opens");
        journal.queue().recover(clock.now()).expect("the journal recovers");
        let transport = Arc::new(Wire(Arc::clone(&network)));
        let client =
            Client::with_transport(trial::config(script.weather.timeout), Arc::clone(&clock), transport);
        let (_interrupt, interrupts) = mpsc::channel(2);
        let (tell, mut news) = mpsc::unbounded_channel();
        let options = trial::options(script, &network);
        let began = time.elapsed();
        let running =
            fleetload::run::run(journal, client, clock, options, interrupts, tell, Pulse::default());
        let listening = async {
            let mut events = Vec::new();
            while let Some(event) = news.recv().await {
                events.push((time.elapsed(), event));
            }
            events
        };
        let ((_, ending), events) = tokio::join!(running, listening);
        assert!(matches!(ending, Ok(Ending::Finished)), "{ending:?}");
        let of = |event: &Event| match event {
            Event::Remaining(facts) => Some(forecast(facts)),
            _ => None,
        };
        let forecasts = events.iter().filter_map(|(at, event)| Some((*at, of(event)?))).collect();
        Told { began, ended: time.elapsed(), forecasts, events, start }
    })
}

impl Told {
    /// What was forecast after a part of the time.
    fn after(&self, percent: u32) -> (Duration, &Forecast) {
        let at = self.began + (self.ended - self.began) * percent / 100;
        let told = self.forecasts.iter().rfind(|(told, _)| *told <= at).expect("a forecast by then");
        (at, &told.1)
    }

    fn since_start(&self, moment: Moment) -> Duration {
        moment.since(self.start)
    }

    /// The forecast end is wrong by a tenth of what is left at the most.
    fn holds(&self, percent: u32) {
        self.holds_but_for(percent, ROUNDING);
    }

    fn holds_but_for(&self, percent: u32, forgiven: Duration) {
        let (at, told) = self.after(percent);
        let finish =
            self.since_start(told.finish.unwrap_or_else(|| panic!("no end after {percent} %: {told:?}")));
        let allowed = (self.ended - at) / 10 + forgiven;
        let wrong = finish.abs_diff(self.ended);
        assert!(
            wrong <= allowed,
            "after {percent} % ({at:?}) the end was said to be {finish:?} and was {:?}: {told:?}",
            self.ended
        );
    }

    /// How many records were verified, of how many.
    fn verified(&self) -> Option<(u64, u64)> {
        self.events.iter().rev().find_map(|(_, event)| match event {
            Event::ReadBack { done, of } => Some((*done, *of)),
            _ => None,
        })
    }

    /// How many rows came to a state.
    fn moved_to(&self, state: JobState) -> usize {
        let is = |event: &Event| matches!(event, Event::Moved { to, .. } if *to == state);
        self.events.iter().filter(|(_, event)| is(event)).count()
    }
}

#[test]
fn of_a_smooth_run_the_end_is_known_with_its_verification() {
    let told = run(&devices(2_000));
    for percent in [10, 25, 50, 75, 90] {
        told.holds(percent);
    }
    let length = told.ended - told.began;
    assert!(length < Duration::from_secs(23), "all are verified while others are created: {length:?}");
    assert_eq!(told.verified(), Some((2_020, 2_020)));
}

#[test]
fn where_answers_are_slow_as_many_as_may_be_under_way_decide_and_the_end_is_known() {
    let mut script = devices(2_000);
    script.scenario.latency_ms = [2_500, 3_500];
    let told = run(&script);
    for percent in [10, 25, 50, 75, 90] {
        // Which request is the last one cannot be known: one answer more or less.
        told.holds_but_for(percent, ROUNDING + Duration::from_secs(3));
    }
    let length = told.ended - told.began;
    assert!(length > Duration::from_secs(60), "the limit of the service does not decide: {length:?}");
}

#[test]
fn behind_a_slow_disk_nothing_is_verified_twice() {
    let mut script = devices(300);
    script.weather.disk_ms = 400;
    let told = run(&script);
    // The journal is asked what is left while answers are under way, and says it when they have come.
    assert_eq!(told.verified(), Some((320, 320)));
}

#[test]
fn sites_whose_look_up_is_busy_with_what_is_still_to_be_sent_hold_up_no_other_verification() {
    const SITES: usize = 600;
    let mut script = devices(2_000);
    let mut sites = "company,name,phone,address1,city,country\n".to_owned();
    for n in 0..SITES {
        sites += &format!("C{},Site number {n:04},+64 9 555 0002,{ADDRESS}\n", n % 20);
    }
    script.rows += SITES;
    script.sheets.push(("sites.csv", sites));
    let told = run(&script);
    assert_eq!(told.verified(), Some((2_620, 2_620)));
    // Their devices alone take 20.4 s.
    let length = told.ended - told.began;
    assert!(length < Duration::from_secs(23), "{length:?}");
    for percent in [25, 50, 75] {
        told.holds(percent);
    }
}

#[test]
fn where_every_twenty_fifth_answer_is_lost_the_end_is_known_all_the_same() {
    let mut script = devices(2_000);
    // From every twentieth on the breaker opens, and nobody knows when it does so again.
    script.scenario.fault = vec![Fault::new("addDevice", FaultKind::AnswerLost).probability(0.04)];
    let told = run(&script);
    assert!(told.moved_to(JobState::InDoubt) > 60, "the fault fired");
    for percent in [25, 50, 75] {
        told.holds(percent);
    }
}

#[test]
fn during_an_outage_the_next_try_is_named_and_comes_and_after_it_the_end_holds() {
    let mut script = devices(4_000);
    let outage = (Duration::from_secs(15), Duration::from_secs(135));
    script.weather.outage = Some(outage);
    let told = run(&script);
    let mut tries = 0;
    for (at, forecast) in &told.forecasts {
        // The first tries of the outage show that it is one.
        let is_seen = outage.0 + Duration::from_secs(3) <= *at && *at < outage.1;
        let next_try = forecast.next.iter().find_map(|next| match next {
            Next::NextTry { at, .. } => Some(at.map(|at| told.since_start(at))),
            Next::SignedIn { .. }
            | Next::QuotaResets { .. }
            | Next::HoursBegin { .. }
            | Next::DoubtSettled { .. }
            | Next::MissingLookedUp { .. }
            | Next::Unanswered { .. }
            | Next::Silent { .. } => None,
        });
        if is_seen {
            assert_eq!(forecast.finish, None, "{at:?}: {forecast:?}");
        }
        if let Some(Some(next_try)) = next_try.filter(|_| is_seen) {
            let second = Duration::from_secs(1);
            // A connection is tried at that moment; the news of how that went says the next one.
            let tried = told.events.iter().any(|(sent, event)| {
                matches!(event, Event::Sent { .. } | Event::Unreachable { .. })
                    && sent.abs_diff(next_try.max(*at)) <= second
            });
            assert!(tried, "{at:?}: nothing was tried at {next_try:?}");
            tries += 1;
        }
    }
    assert!(tries >= 5, "named after each try: {tries}");
    // The look-ups that the outage held up come first: they show what was made of what was under way.
    let is_after = |percent: u32| told.after(percent).0 > outage.1 + Duration::from_secs(10);
    let after: Vec<u32> = (10..100).step_by(5).filter(|percent| is_after(*percent)).collect();
    assert!(after.len() >= 2, "{:?}", told.ended);
    for percent in after {
        // Requests that were under way are in doubt until they have settled.
        match told.after(percent).1.finish {
            Some(_) => told.holds(percent),
            None => settles(&told, percent),
        }
    }
}

/// Instead of the end it is said by when the rows in doubt are settled, and they are.
fn settles(told: &Told, percent: u32) {
    let (at, forecast) = told.after(percent);
    let by = forecast.next.iter().find_map(|next| match next {
        Next::DoubtSettled { at, .. } => at.map(|at| told.since_start(at)),
        Next::SignedIn { .. }
        | Next::NextTry { .. }
        | Next::QuotaResets { .. }
        | Next::HoursBegin { .. }
        | Next::MissingLookedUp { .. }
        | Next::Unanswered { .. }
        | Next::Silent { .. } => None,
    });
    let by = by.unwrap_or_else(|| panic!("neither an end nor what is waited for at {at:?}: {forecast:?}"));
    let last = told
        .events
        .iter()
        .rfind(|(_, event)| matches!(event, Event::Moved { from: JobState::InDoubt, .. }))
        .expect("rows that were settled");
    assert!(last.0 <= by, "settled at {:?}, said to be by {by:?}", last.0);
}

#[test]
fn an_operation_that_fails_and_has_nothing_to_do_before_the_end_hides_no_end() {
    let mut script = devices(1_000);
    // By it records are verified while others are made; what is left of that comes at the end.
    script.scenario.fault = vec![Fault::new("getDevice", FaultKind::Error500Before).after(100).times(24)];
    let told = run(&script);
    let opened = told.events.iter().find_map(|(at, event)| match event {
        Event::Breaker { operation: Operation::GetDevice, open: true, .. } => Some(*at),
        _ => None,
    });
    let opened = opened.expect("the fault fired");
    let made =
        told.events.iter().rfind(|(_, event)| matches!(event, Event::Moved { to: JobState::Created, .. }));
    let (made, _) = made.expect("rows that were made");
    assert!(opened + Duration::from_secs(4) < *made, "{opened:?} {made:?}");
    let of_now = |at: Duration| at > opened + Duration::from_secs(2) && at < *made;
    for (at, forecast) in told.forecasts.iter().filter(|(at, _)| of_now(*at)) {
        assert!(forecast.finish.is_some() && forecast.next.is_empty(), "{at:?}: {forecast:?}");
    }
    assert_eq!(told.verified(), Some((1_020, 1_020)));
}

#[test]
fn while_the_service_answers_nothing_no_end_is_told_but_for_how_long_it_has_not() {
    let mut script = devices(400);
    let slow =
        Fault { ms: 25_000, times: Some(180), after: 220, ..Fault::new("addDevice", FaultKind::Latency) };
    script.scenario.fault = vec![slow];
    let told = run(&script);
    let answers: Vec<Duration> = told
        .events
        .iter()
        .filter(|(_, event)| matches!(event, Event::Answered { .. }))
        .map(|(at, _)| *at)
        .collect();
    let silence = answers.windows(2).max_by_key(|pair| pair[1] - pair[0]).expect("answers");
    let (from, until) = (silence[0], silence[1]);
    assert!(until - from > Duration::from_secs(15), "the fault fired: {silence:?}");
    let is_silent = |forecast: &Forecast| {
        forecast.next.iter().find_map(|next| match next {
            Next::Unanswered { requests, since } => Some((*requests, told.since_start(*since))),
            Next::SignedIn { .. }
            | Next::NextTry { .. }
            | Next::QuotaResets { .. }
            | Next::HoursBegin { .. }
            | Next::DoubtSettled { .. }
            | Next::MissingLookedUp { .. }
            | Next::Silent { .. } => None,
        })
    };
    // It is counted every second, and five seconds may pass without an answer.
    let mut at = from + Duration::from_secs(7);
    while at < until {
        let (_, forecast) = told.forecasts.iter().rfind(|(told, _)| *told <= at).expect("a forecast by then");
        let (requests, since) = is_silent(forecast).unwrap_or_else(|| panic!("{at:?}: {forecast:?}"));
        assert_eq!(forecast.finish, None);
        assert!(requests > 100 && since.abs_diff(from) <= Duration::from_secs(1), "{requests} {since:?}");
        at += Duration::from_secs(1);
    }
    let (_, last) = told.forecasts.last().expect("a forecast");
    assert_eq!(is_silent(last), None, "{last:?}");
}

#[test]
fn rows_that_were_never_made_are_settled_when_it_was_said() {
    let mut script = devices(400);
    let lost = Fault { times: Some(9), after: 380, ..Fault::new("addDevice", FaultKind::RequestLost) };
    script.scenario.fault = vec![lost];
    let told = run(&script);
    assert_eq!(told.moved_to(JobState::InDoubt), 9, "the fault fired");
    let length = told.ended - told.began;
    assert!(length > SETTLE, "{length:?}");
    for percent in [25, 50, 75] {
        assert_eq!(told.after(percent).1.finish, None);
        assert!(matches!(told.after(percent).1.next[..], [Next::DoubtSettled { rows: 9, at: Some(_) }]));
        settles(&told, percent);
    }
}

#[test]
fn a_row_that_no_look_up_can_decide_is_on_hold_by_the_moment_that_was_said_all_along() {
    let mut script = devices(0);
    // It is the only site, so that nothing proves the look-ups that do not show it.
    let site = format!("company,name,phone,address1,city,country\nC0,Depot,+64 9 555 0003,{ADDRESS}\n");
    script.sheets[1] = ("sites.csv", site);
    script.rows += 1;
    script.scenario.fault = vec![Fault::new("addSite", FaultKind::RequestLost)];
    let told = run(&script);
    let to = |wanted: JobState| {
        let moved = |event: &Event| matches!(event, Event::Moved { to, .. } if *to == wanted);
        told.events.iter().find(|(_, event)| moved(event)).expect("a row in this state").0
    };
    let (doubted, held) = (to(JobState::InDoubt), to(JobState::Held));
    assert!(held > doubted + SETTLE, "it was looked up after that as well");
    let said: Vec<_> = told
        .forecasts
        .iter()
        .filter(|(at, _)| *at > doubted && *at < held)
        .flat_map(|(_, forecast)| &forecast.next)
        .filter_map(|next| match next {
            Next::DoubtSettled { at, .. } => Some(at.map(|at| told.since_start(at))),
            _ => None,
        })
        .collect();
    let by = said.first().copied().flatten().expect("a moment");
    assert!(held <= by, "on hold at {held:?}, said to be settled by {by:?}");
    let is_same = |at: &Option<Duration>| at.is_some_and(|at| at.abs_diff(by) <= ROUNDING);
    assert!(said.iter().all(is_same), "{said:?}");
}

#[test]
fn a_quota_smaller_than_the_import_makes_it_days_and_the_end_is_known() {
    let mut script = devices(1_000);
    script.scenario.daily_quota = 300;
    let told = run(&script);
    assert!(told.ended - told.began > Duration::from_secs(2 * 86_400), "{:?}", told.ended);
    for percent in [1, 25, 50, 75] {
        let (at, forecast) = told.after(percent);
        let resets = forecast.next.iter().any(|next| match next {
            Next::QuotaResets { at: morning } => told.since_start(*morning) > at,
            Next::SignedIn { .. }
            | Next::NextTry { .. }
            | Next::HoursBegin { .. }
            | Next::DoubtSettled { .. }
            | Next::MissingLookedUp { .. }
            | Next::Unanswered { .. }
            | Next::Silent { .. } => false,
        });
        assert!(resets, "{at:?}: {forecast:?}");
        told.holds(percent);
    }
}
