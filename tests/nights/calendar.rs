//! The time of the proof: that of the service and of every process. Between two nights it is set to the next one; during a
//! night it goes a fixed number of times as fast as the machine's.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use fleetload::sandbox::{CallersClock, wall_clock};

/// Milliseconds of an hour.
pub(crate) const HOUR: i64 = 3_600_000;
/// Milliseconds of a day.
pub(crate) const DAY: i64 = 24 * HOUR;

/// See the module.
pub(crate) struct Calendar {
    /// 00:00 UTC of the first day.
    first: i64,
    speed: u32,
    set: Mutex<(Instant, i64)>,
}

impl Calendar {
    /// One that begins with the first day of a month.
    pub(crate) fn of_month(first: &str, speed: u32) -> Arc<Self> {
        let first: jiff::Timestamp = first.parse().expect("a moment");
        let first = first.as_millisecond();
        Arc::new(Self { first, speed, set: Mutex::new((Instant::now(), first)) })
    }

    /// The time, in milliseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        let (since, at) = *self.set.lock().expect("no panic");
        let passed = since.elapsed() * self.speed;
        at + i64::try_from(passed.as_millis()).expect("less than an age")
    }

    /// It is now this time of a day, counted from 1.
    pub(crate) fn set(&self, day: u32, time: i64) {
        let at = self.first + i64::from(day - 1) * DAY + time;
        assert!(at >= self.now(), "the machine is too slow: day {day} began before the night ended");
        *self.set.lock().expect("no panic") = (Instant::now(), at);
    }

    /// The day, counted from 1970.
    pub(crate) fn day(&self) -> i64 {
        self.now() / DAY
    }

    /// The clock of the service.
    pub(crate) fn of_service(self: &Arc<Self>) -> CallersClock {
        let calendar = Arc::clone(self);
        Arc::new(move || calendar.now())
    }

    /// What a process that starts now must have as `FLEETLOAD_CLOCK`.
    pub(crate) fn of_process(&self) -> String {
        format!("{},{},{}", wall_clock(), self.now(), self.speed)
    }
}
