//! `fleetload notify`: delivers the notifications that are due, or tries whether they arrive. Those of a run are
//! delivered by the run ([`notifier`]); what they say is in [`draft`].

pub(super) mod draft;
pub(super) mod notifier;

use std::time::Duration;

use serde::Serialize;
use uuid::Uuid;

use self::draft::Drafter;
use self::notifier::{not_delivered, tell_left};
use crate::cli::args::commands::Notify;
use crate::cli::args::options::Overrides;
use crate::cli::context::Context;
use crate::cli::settings::{Purpose, Settings};
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::notify::{Courier, Event, Target};
use crate::term::counted;

/// How long deliveries may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Delivers what is due, or a test.
pub(super) fn notify(context: &Context<'_>, typed: &Notify) -> Result<Summary> {
    let settings = context.settings(&Purpose::Reckoning, &Overrides::default())?;
    context.whose.replace(Some(settings.identity().into()));
    let targets = settings.notify_targets()?;
    if targets.is_empty() {
        return Err(Error::usage("the profile does not say whom to notify")
            .hint("set webhook or command in [profile.NAME.notify]; docs/notifications.md has examples"));
    }
    if typed.test { test(context, &settings, &targets) } else { deliver(context, &settings, targets) }
}

/// Tries each target once with a notification of its own, which the journal does not keep.
fn test(context: &Context<'_>, settings: &Settings, targets: &[Target]) -> Result<Summary> {
    let text = "this is a test of notifications: nothing has changed";
    let notification = Drafter::of(context, settings).bare(Event::Test, text);
    let runtime = context.runtime()?;
    let mut failed = 0;
    for target in targets {
        let name = target.name();
        let tried = runtime.block_on(target.deliver(&notification));
        match &tried {
            Ok(()) => context.terminal.result(format!("{name}: delivered")),
            Err(failure) => {
                failed += 1;
                context.terminal.result(format!("{name}: not delivered: {}", failure.words()));
            }
        }
        context.terminal.object(&DeliveryObject {
            target: name,
            id: notification.id,
            delivered: tried.is_ok(),
            error: tried.err().map(|failure| failure.words().to_owned()),
        });
    }
    let end = if failed == 0 { End::Done } else { End::NotDelivered };
    Ok(Summary::new(end)
        .with(&DeliverySummary { delivered: targets.len() as u64 - failed, not_delivered: failed }))
}

/// Delivers what the journal has; a run in progress does so itself.
fn deliver(context: &Context<'_>, settings: &Settings, targets: Vec<Target>) -> Result<Summary> {
    let mut journal = context.journal()?;
    if journal.is_run_at_work() {
        context.terminal.result("a run is in progress: it delivers its notifications");
        return Ok(Summary::new(End::AnotherRun));
    }
    let names: Vec<&'static str> = targets.iter().map(Target::name).collect();
    if let Some(draft) = Drafter::of(context, settings).killed(&journal)?
        && settings.notify.on.value.contains(&draft.notification.event)
    {
        journal.note_notification(&draft.key, &draft.notification.json(), &names, context.now())?;
    }
    let due = journal.undelivered_figures(&names)?.notifications;
    let courier = Courier::start(targets, context.common.journal.clone(), context.clock.clone())?;
    courier.begin();
    let left = courier.close(LIMIT);
    let figures = journal.undelivered_figures(&names)?;
    let delivered = due.saturating_sub(figures.notifications);
    context.terminal.result(match (due, figures.notifications) {
        (0, _) => "nothing is due to be delivered".to_owned(),
        (_, 0) => format!("{} delivered", counted(delivered, "notification", "notifications")),
        (_, left) => not_delivered(left, figures.last_error.as_deref()),
    });
    if left.as_ref().is_none_or(|left| left.not_noted.is_some()) {
        tell_left(context, left.as_ref());
    }
    let end = if figures.notifications == 0 { End::Done } else { End::NotDelivered };
    Ok(Summary::new(end).with(&DeliverySummary { delivered, not_delivered: figures.notifications }))
}

/// A test notification that was delivered, or was not.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct DeliveryObject {
    /// `webhook` or `command`.
    target: &'static str,
    /// The id of the notification.
    id: Uuid,
    /// Whether it was delivered.
    delivered: bool,
    /// Why not.
    error: Option<String>,
}

/// Notifications, in numbers.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct DeliverySummary {
    /// Those that were delivered; of a test the targets that have it.
    delivered: u64,
    /// Those that were not.
    not_delivered: u64,
}
