//! `fleetload rollout`: which devices of an import are online, since when, and which are not; once, or again and again.
//!
//! The journal says which devices there are, the service how they are. Nothing is changed in the service; the journal keeps what
//! the last look showed, for the page of the report.

mod status_reader;
pub(super) mod tell;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use self::status_reader::{LISTS, Look, SINGLE, Stopped, best, look};
use self::tell::Seen;
use super::args::commands::Rollout as Typed;
use super::atomic_file;
use super::context::Context;
use super::reading::access::ServiceAccess;
use super::run::signals::Signals;
use super::summary::Summary;
use crate::cli::output_file::{refuse_other_names, refuse_unless, unwritable};
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::{DeviceRow, ImportInfo, Journal};
use crate::model::id::{ImportId, JobId};
use crate::model::operation::Operation;
use crate::model::time::{Moment, Rfc3339};
use crate::report::{is_rollout_workbook, rollout_workbook};
use crate::run::end_of;
use crate::service::ReadError;
use crate::status::rollout::{Rollout, RolloutCounts, RolloutDevice, Standing, device_rows};
use crate::term::{Ink, Line, span};

/// How long a look waits for a service that cannot be reached.
const PATIENCE: Duration = Duration::from_secs(10);

/// Shows how far the devices of an import have come.
pub(super) fn rollout(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    context.rehearse(&typed.rehearsal);
    if let Some(out) = &typed.out {
        refuse_others(out)?;
    }
    let journal = context.journal()?;
    let imports = journal.imports()?;
    let import = match (typed.import, imports.last()) {
        (Some(wanted), _) => ImportInfo::find(&imports, wanted)?.import,
        (None, Some(last)) => last.import,
        (None, None) => {
            return Err(Error::usage("the journal has no imports yet")
                .hint(context.advice("import the sheets first: ", "run FILE")));
        }
    };
    let mut devices = Devices { journal, import };
    let (rows, not_imported) = devices.read()?;
    if rows.is_empty() {
        return tell_none(context, &devices, not_imported);
    }
    let access = ServiceAccess::of_journal(context, &typed.rehearsal, &typed.overrides, &devices.journal)?;
    context.tell_whose(&devices.journal.whose()?);
    let summary = watch(context, typed, &mut devices, &access);
    access.leave();
    summary
}

/// The devices of the import, as the journal has them at this moment.
struct Devices {
    journal: Journal,
    import: ImportId,
}

impl Devices {
    /// The devices, and how many of their rows were not imported.
    fn read(&self) -> Result<(Vec<DeviceRow>, u64)> {
        device_rows(&self.journal, self.import)
    }

    /// When earlier looks saw devices online.
    fn seen_online(&self) -> Result<HashMap<JobId, Moment>> {
        let Some(look) = self.journal.device_look(self.import)? else { return Ok(HashMap::new()) };
        let online = look.devices.into_iter().filter_map(|(job, seen)| match seen.shown {
            Some(shown) if shown.is_online() => Some((job, look.at)),
            Some(_) | None => Some((job, seen.was_online?)),
        });
        Ok(online.collect())
    }

    /// Keeps what a look showed.
    fn note(&mut self, rollout: &Rollout, at: Moment) -> Result<()> {
        let devices = rollout.devices.iter();
        let seen = devices.map(|device| (device.row.job, device.shown.as_ref(), device.was_online));
        self.journal.note_device_look(self.import, at, seen)
    }
}

/// What ended the watching.
enum Ended {
    /// A look: the only one, one that showed all devices online, or one that nobody reads.
    Looked,
    /// A signal.
    Signal,
}

fn watch(
    context: &Context<'_>,
    typed: &Typed,
    devices: &mut Devices,
    access: &ServiceAccess,
) -> Result<Summary> {
    let terminal = context.terminal;
    let reader = access.reader(context, PATIENCE)?;
    if best(&reader, &LISTS).or(best(&reader, &SINGLE)).is_none() {
        return Err(not_mapped(access));
    }
    let most_under_way = access.settings.concurrency.value;
    let every = Duration::from_secs(typed.every);
    let mut seen_online = devices.seen_online()?;
    let mut before: HashMap<JobId, Standing> = HashMap::new();
    let mut last: Option<(Rollout, Moment)> = None;
    let ended = access.runtime.block_on(async {
        let mut signals =
            Signals::listen().map_err(|error| Error::internal("cannot listen for signals").because(error))?;
        loop {
            let (rows, not_imported) = devices.read()?;
            let looked = tokio::select! {
                looked = look(&reader, &rows, most_under_way) => looked,
                () = signals.next() => return Ok(Ended::Signal),
            };
            let at = context.now();
            match looked {
                Ok(look) => {
                    for (operation, status) in &look.missing {
                        terminal.warn(format!(
                            "{operation}: the service has no endpoint there (it answers {status}); {}",
                            access.settings.to_map(&[*operation]).as_str()
                        ));
                    }
                    let rollout = shown(rows, not_imported, &look, &mut seen_online, at);
                    devices.note(&rollout, at)?;
                    let now = Seen { rollout: &rollout, at };
                    now.tell_objects(context, &before);
                    if last.is_none() {
                        tell_import(context, devices)?;
                        now.tell_all(context);
                    } else {
                        now.tell_changes(context, &before);
                    }
                    before =
                        rollout.devices.iter().map(|device| (device.row.job, device.standing())).collect();
                    let is_over = !typed.watch || rollout.end() == End::Done || terminal.has_ended();
                    last = Some((rollout, at));
                    if is_over {
                        return Ok(Ended::Looked);
                    }
                }
                // Whoever watches waits for the service as well.
                Err(Stopped(verdict)) if typed.watch && end_of(&verdict) == End::Unreachable => {
                    terminal.warn(format!("{}: the service cannot be reached", context.moment(at)));
                }
                Err(Stopped(verdict)) => return Err(access.failed(&ReadError::Stopped(verdict))),
            }
            terminal.say(format!("next look in {} (Ctrl-C ends)", span(every)));
            tokio::select! {
                () = context.clock.sleep_until(context.clock.elapsed() + every) => {}
                () = signals.next() => return Ok(Ended::Signal),
            }
        }
    })?;
    if let (Some(out), Some((rollout, at))) = (&typed.out, &last) {
        write_workbook(context, out, devices, rollout, *at)?;
    }
    let end = match (ended, &last) {
        (Ended::Looked, Some((rollout, _))) => rollout.end(),
        (Ended::Signal, _) | (Ended::Looked, None) => End::Signal,
    };
    if matches!(end, End::DevicesAwaited | End::Signal) {
        let command = format!("rollout {} --watch", devices.import);
        terminal.hint(context.advice("to look again until all are online: ", &command));
    }
    if last.is_some() {
        let command = format!("report {}", devices.import);
        terminal.hint(context.advice("to show it on the page of the report: ", &command));
    }
    Ok(Summary::new(end).with(&RolloutSummary {
        import: devices.import,
        requests: reader.sent(),
        workbook: typed.out.as_ref().filter(|_| last.is_some()),
        look: last.as_ref().map(|(rollout, at)| LastLook {
            devices: rollout.counts(),
            not_imported: rollout.not_imported,
            seen_at: (*at).into(),
        }),
    }))
}

fn write_workbook(
    context: &Context<'_>,
    out: &Path,
    devices: &Devices,
    rollout: &Rollout,
    at: Moment,
) -> Result<()> {
    let title = format!("Roll-out of import {}, seen at {at}", devices.import);
    let workbook = rollout_workbook(rollout, &title, &devices.journal.whose()?)?;
    atomic_file::put(out, &workbook)
        .map_err(|error| unwritable(format_args!("the workbook {}", out.display()), error))?;
    let line = Line::plain("the roll-out as a workbook: ");
    context.terminal.result(line.ink(Ink::Strong, out.display().to_string()));
    Ok(())
}

/// The devices with what the look showed of them.
fn shown(
    rows: Vec<DeviceRow>,
    not_imported: u64,
    look: &Look,
    seen_online: &mut HashMap<JobId, Moment>,
    at: Moment,
) -> Rollout {
    let devices = rows.into_iter().map(|row| {
        let shown = row.id.and_then(|id| look.shown.get(&id).cloned());
        let mut device = RolloutDevice { row, shown, was_online: None };
        if device.standing() == Standing::Online {
            seen_online.insert(device.row.job, at);
        } else {
            device.was_online = seen_online.get(&device.row.job).copied();
        }
        device
    });
    Rollout { devices: devices.collect(), not_imported }
}

/// Says that an import has no devices, and which one has: there is nothing to ask the service.
fn tell_none(context: &Context<'_>, devices: &Devices, not_imported: u64) -> Result<Summary> {
    context.tell_whose(&devices.journal.whose()?);
    tell_import(context, devices)?;
    let left_out = Rollout { devices: Vec::new(), not_imported }.not_imported_words();
    let left_out = left_out.map_or_else(String::new, |words| format!("; {words}"));
    context.terminal.result(format!("the import has no devices of its own{left_out}"));
    if let Some(newest) = devices.journal.newest_import_with_devices()? {
        let command = format!("rollout {newest}");
        context.terminal.hint(context.advice("the newest import that has some: ", &command));
    }
    let summary = RolloutSummary { import: devices.import, requests: 0, workbook: None, look: None };
    Ok(Summary::new(End::Done).with(&summary))
}

fn tell_import(context: &Context<'_>, devices: &Devices) -> Result<()> {
    let imports = devices.journal.imports()?;
    let info = ImportInfo::find(&imports, devices.import)?;
    let line = Line::plain("roll-out of ").ink(Ink::Strong, format!("import {}", devices.import));
    context.terminal.result(line.text(format!(" ({})", info.label())));
    Ok(())
}

/// The error where no operation is available that shows a status.
fn not_mapped(access: &ServiceAccess) -> Error {
    let names = |operations: &[Operation]| {
        operations.iter().map(|operation| operation.name()).collect::<Vec<_>>().join(", ")
    };
    Error::usage(format!(
        "the status of devices cannot be read: none of {} (one request for each company) and {} (one for each device) \
         has a known path in this profile",
        names(&LISTS),
        names(&SINGLE)
    ))
    .ending(End::EndpointUnknown)
    .hint(access.settings.to_map(&[LISTS[0]]).words(", or of another one of these"))
}

/// Refuses to write over a file that is no workbook of a roll-out.
fn refuse_others(out: &Path) -> Result<()> {
    refuse_other_names(out)?;
    refuse_unless(is_rollout_workbook(out), out, "the workbook of a roll-out", "--out")
}

/// The roll-out of an import.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct RolloutSummary<'a> {
    import: ImportId,
    /// Requests that were sent.
    requests: u64,
    /// The workbook that was written.
    workbook: Option<&'a PathBuf>,
    /// What the last look showed; absent where there was none.
    #[serde(flatten)]
    look: Option<LastLook>,
}

/// What the last look at the devices of an import showed.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct LastLook {
    /// The devices, counted.
    devices: RolloutCounts,
    /// Rows of devices that were not imported.
    not_imported: u64,
    /// When the devices were looked at.
    seen_at: Rfc3339,
}
