//! Virtual time: it stands still while anything is left to do and then jumps to whatever comes next.
//!
//! The world's time goes on through the lives of the process; each process has a clock of its own, whose wall time
//! may be wrong.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fleetload::clock::{Clock, Sleep};
use fleetload::model::time::Moment;
use tokio::time::Instant;

/// The time of the world.
#[derive(Debug)]
pub(crate) struct Time {
    start: Moment,
    /// When the runtime of the present life began, and what the world's time was then.
    life: Mutex<(Option<Instant>, Duration)>,
}

impl Time {
    pub(crate) fn starting_at(start: Moment) -> Arc<Self> {
        Arc::new(Self { start, life: Mutex::new((None, Duration::ZERO)) })
    }

    /// A process begins to live, in a runtime with paused time.
    pub(crate) fn begin_life(&self) {
        self.life.lock().expect("one thread").0 = Some(Instant::now());
    }

    /// The process is gone; time stands still until the next one.
    pub(crate) fn end_life(&self) {
        let elapsed = self.elapsed();
        *self.life.lock().expect("one thread") = (None, elapsed);
    }

    /// Time passes without any process.
    pub(crate) fn pass(&self, time: Duration) {
        self.life.lock().expect("one thread").1 += time;
    }

    /// Since the beginning of the world.
    pub(crate) fn elapsed(&self) -> Duration {
        let life = *self.life.lock().expect("one thread");
        life.0.map_or(Duration::ZERO, |began| began.elapsed()) + life.1
    }

    /// The true time of day.
    pub(crate) fn now(&self) -> Moment {
        self.at(self.elapsed())
    }

    /// The true time of day at a moment of the world.
    pub(crate) fn at(&self, elapsed: Duration) -> Moment {
        self.start.plus(elapsed)
    }
}

/// The clock of one process.
pub(crate) struct ProcessClock {
    time: Arc<Time>,
    born: Instant,
    /// How far its wall clock is ahead of the true time, in milliseconds, from a moment of the world on.
    wrong: Vec<(Duration, i64)>,
}

impl ProcessClock {
    /// The clock of a process that begins now. Its wall clock goes as far ahead as `wrong` says from each moment on.
    pub(crate) fn start(time: &Arc<Time>, wrong: Vec<(Duration, i64)>) -> Arc<dyn Clock> {
        Arc::new(Self { time: Arc::clone(time), born: Instant::now(), wrong })
    }
}

impl Clock for ProcessClock {
    fn now(&self) -> Moment {
        let elapsed = self.time.elapsed();
        let ahead = self.wrong.iter().rev().find(|(from, _)| *from <= elapsed).map_or(0, |(_, ahead)| *ahead);
        Moment::from_millis(self.time.now().millis() + ahead)
    }

    fn elapsed(&self) -> Duration {
        self.born.elapsed()
    }

    fn sleep_until(&self, elapsed: Duration) -> Sleep {
        Box::pin(tokio::time::sleep_until(self.born + elapsed))
    }
}
