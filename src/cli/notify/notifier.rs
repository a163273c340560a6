//! The notifier of a run: hands what happens to the courier, and waits for it a little at the end. Without a target in the
//! profile, and in a rehearsal, it does nothing.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::Duration;

use super::draft::{Drafter, RunEnded, event_of};
use crate::advice::Advice;
use crate::cli::args::commands::Run;
use crate::cli::context::Context;
use crate::cli::run::signals::Watch;
use crate::cli::settings::Settings;
use crate::ending::End;
use crate::error::Result;
use crate::journal::Journal;
use crate::model::event::Event as News;
use crate::model::policy::OnQuota;
use crate::notify::{Courier, Draft, Event, Left, Observer};
use crate::term::counted;

/// How long the end of a run may wait for deliveries.
const LAST_WAIT: Duration = Duration::from_secs(10);

/// See the module.
#[derive(Default)]
pub(in crate::cli) struct Notifier {
    work: RefCell<Option<Work>>,
    /// Whether the run could begin.
    has_begun: Cell<bool>,
    /// Whether the end of the run was told.
    is_end_told: Cell<bool>,
    watch: RefCell<Option<Watch>>,
}

struct Work {
    courier: Courier,
    drafter: Drafter,
    on: BTreeSet<Event>,
    /// Whether a run waits for the next day when the quota is spent. One that ends is reported as parked by its end.
    waits: bool,
    observer: Observer,
}

impl Notifier {
    /// Starts it, where the profile says whom to tell.
    ///
    /// # Errors
    /// Usage when the secret of the signature, or the certificates, cannot be used.
    pub(in crate::cli) fn start(
        &self,
        context: &Context<'_>,
        settings: &Settings,
        typed: &Run,
    ) -> Result<()> {
        let targets = settings.notify_targets()?;
        if targets.is_empty() {
            return Ok(());
        }
        let courier = Courier::start(targets, context.common.journal.clone(), context.clock.clone())?;
        let drafter = Drafter::of(context, settings).of_run(typed);
        let on = settings.notify.on.value.clone();
        let waits = settings.on_quota.value == OnQuota::Wait;
        self.work.replace(Some(Work { courier, drafter, on, waits, observer: Observer::default() }));
        Ok(())
    }

    /// The journal is locked for this run: what is due from before is delivered from now on, and whether the last run was
    /// killed is reported.
    pub(in crate::cli) fn begin(&self, context: &Context<'_>, journal: &Journal) {
        let work = self.work.borrow();
        let Some(work) = work.as_ref() else { return };
        self.has_begun.set(true);
        work.courier.begin();
        match work.drafter.killed(journal) {
            Ok(Some(draft)) => work.tell(draft),
            Ok(None) => {}
            Err(error) => context.terminal.warn(format!("a notification could not be written: {error}")),
        }
    }

    /// Takes in a piece of news of the run.
    pub(in crate::cli) fn news(&self, event: &News) {
        let mut work = self.work.borrow_mut();
        let Some(work) = work.as_mut() else { return };
        let Some(occasion) = work.observer.take(event) else { return };
        if work.on.contains(&occasion.event()) && (work.waits || occasion.event() != Event::Parked) {
            let drafter = work.drafter.clone();
            work.courier.compose(move |journal| drafter.occasion(journal, &occasion));
        }
    }

    /// Tells how the run ended.
    pub(in crate::cli) fn ended(&self, context: &Context<'_>, journal: &Journal, end: &RunEnded<'_>) {
        let work = self.work.borrow();
        let Some(work) = work.as_ref() else { return };
        match work.drafter.end(journal, end) {
            Ok(draft) => {
                self.watch_delivering(work);
                work.tell(draft);
                self.is_end_told.set(true);
            }
            // The run has ended as it has; that it ended is reported by `finish`.
            Err(error) => context.terminal.warn(format!("a notification could not be written: {error}")),
        }
    }

    /// Another run is in progress, and tells how it ends.
    pub(in crate::cli) fn leave_to_other(&self) {
        self.is_end_told.set(true);
    }

    /// What hears the signals while it delivers at the end.
    pub(in crate::cli) fn watched_by(&self, watch: &Watch) {
        self.watch.replace(Some(watch.clone()));
    }

    /// From now on a signal cuts the wait for deliveries short, and nothing else.
    fn watch_delivering(&self, work: &Work) {
        if let Some(watch) = self.watch.borrow().as_ref() {
            watch.delivering(work.courier.delivering());
        }
    }

    /// The command has ended like this: tells it where the run did not, delivers what is due, and says what is not
    /// delivered. That a run could not begin is not told where that is outdated.
    pub(in crate::cli) fn finish(&self, context: &Context<'_>, end: End, is_outdated: bool) {
        let Some(work) = self.work.take() else { return };
        self.watch_delivering(&work);
        // The other run tells what becomes of these rows.
        let has_begun = self.has_begun.get();
        if !self.is_end_told.get() && end != End::AnotherRun && (has_begun || !is_outdated) {
            let drafter = work.drafter.clone();
            if work.on.contains(&event_of(end)) {
                work.courier.compose(move |journal| Ok(drafter.failed(journal, end, has_begun)));
            }
        }
        let left = work.courier.close(LAST_WAIT);
        tell_left(context, left.as_ref());
    }
}

impl Work {
    fn tell(&self, draft: Draft) {
        if self.on.contains(&draft.notification.event) {
            self.courier.tell(draft);
        }
    }
}

/// Says what is not delivered.
pub(super) fn tell_left(context: &Context<'_>, left: Option<&Left>) {
    let Some(left) = left else {
        context.terminal.warn("notifications may not be delivered: their delivery did not end in time");
        return;
    };
    if let Some(why) = &left.not_noted {
        context.terminal.warn(format!("notifications could not be kept in the journal: {why}"));
    }
    if left.lost > 0 {
        let words = not_delivered(left.lost, left.last_error.as_deref());
        context.terminal.warn(format!("{words}; it is not in the journal, so it is not delivered later"));
    }
    if left.notifications > 0 {
        context.terminal.warn(not_delivered(left.notifications, left.last_error.as_deref()));
        context.terminal.hint(deliver_advice(context));
    }
}

/// What to do about notifications that are not delivered.
pub(in crate::cli) fn deliver_advice(context: &Context<'_>) -> Advice {
    context.advice("the next run delivers them; to do so now: ", "notify")
}

/// How many notifications are not delivered, and why.
pub(in crate::cli) fn not_delivered(number: u64, last_error: Option<&str>) -> String {
    let why = last_error.map_or_else(String::new, |why| format!(": {why}"));
    format!("{} not delivered{why}", counted(number, "notification was", "notifications were"))
}
