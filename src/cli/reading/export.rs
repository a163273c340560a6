//! `fleetload export`: what exists in the service, as CSV, XLSX or JSON.

use std::collections::HashSet;
use std::time::Duration;

use super::access::ServiceAccess;
use super::export_output::{Output, StoppedExportSummary};
use super::reference::{COMPANY, resolve, unknown_id};
use super::sheet_records::records_of_sheet;
use crate::advice::Advice;
use crate::cli::args::options::Overrides;
use crate::cli::args::reading::Export as Typed;
use crate::cli::context::Context;
use crate::cli::run::signals::Signals;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::export::{
    Exporter, NamedRecord, Owner, OwnerKind, SIDE_BY_SIDE, Scope, Sought, Subject, SurveyError, survey,
};
use crate::journal::{ImportInfo, Journal};
use crate::model::id::ImportId;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::report::export_file::{ExportFormat, Owners, Spool, SpoolHead};
use crate::service::{ReadError, ServiceReader};
use crate::term::{Ink, Line, ReadFigures, ReadProgress, Tick};

/// For so long an export waits for a service that cannot be reached, as a run does.
const PATIENCE: Duration = Duration::from_secs(300);
/// How often the display is brought up to date.
const REDRAW: Duration = Duration::from_millis(200);

/// Reads what is asked for and writes it.
pub(in crate::cli) fn export(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    context.rehearse(&typed.rehearsal);
    let subject = subject(typed)?;
    let format = super::export_output::format(typed)?;
    let overrides = Overrides { rate: typed.rate.clone(), ..Overrides::default() };
    let (access, records) = match typed.import {
        None => (ServiceAccess::to_read(context, &typed.rehearsal, &overrides)?, None),
        Some(import) => {
            let journal = context.journal()?;
            let records = records_of(&journal, import)?;
            let access = ServiceAccess::of_journal(context, &typed.rehearsal, &overrides, &journal)?;
            (access, Some(records))
        }
    };
    let exported = access.runtime.block_on(async {
        let reader = access.reader(context, PATIENCE)?;
        let asked = Asked { context, typed, access: &access, reader, subject };
        asked.export(records, format).await
    });
    access.leave();
    exported
}

/// What is exported.
fn subject(typed: &Typed) -> Result<Subject> {
    let subject = match (typed.what, typed.full) {
        (Subject::Statuses, true) => Subject::FullStatuses,
        (subject, false) => subject,
        (_, true) => {
            return Err(Error::usage("--full is for statuses only").hint("omit --full"));
        }
    };
    let of = subject.owners();
    let has = |kind| of.contains(&kind);
    let (site, device) = (typed.site.is_some(), typed.device.is_some());
    let named = typed.company.is_some() || site || device || typed.import.is_some() || typed.sheet.is_some();
    if has(OwnerKind::Account) && named {
        return Err(Error::usage(format!("{} are the same for all records", subject.word()))
            .hint(Advice::from("type: ").command(format!("fleetload export {}", subject.word()))));
    }
    if (site && !has(OwnerKind::Site) && !has(OwnerKind::Device)) || (device && !has(OwnerKind::Device)) {
        let option = if site { "--site" } else { "--device" };
        return Err(Error::usage(format!("{option} says nothing about {}", subject.word()))
            .hint("use --company, or omit it for everything that the account sees"));
    }
    Ok(subject)
}

/// The records that an import created or found.
fn records_of(journal: &Journal, import: ImportId) -> Result<Vec<NamedRecord>> {
    ImportInfo::find(&journal.imports()?, import)?;
    let mut records = Vec::new();
    let mut seen = HashSet::new();
    for sheet in journal.sheets(import)? {
        journal.rows(sheet.sheet, &mut |row| {
            let kind = match row.kind {
                Kind::Company => OwnerKind::Company,
                Kind::Site => OwnerKind::Site,
                Kind::Person => OwnerKind::Person,
                Kind::Device => OwnerKind::Device,
                // It makes no record.
                Kind::Upkeep(_) => return Ok(()),
            };
            if let Some(id) = row.remote_id
                && seen.insert(id)
            {
                records.push(NamedRecord::Known(kind, id));
            }
            Ok(())
        })?;
    }
    Ok(records)
}

/// An export as it was asked for.
struct Asked<'a> {
    context: &'a Context<'a>,
    typed: &'a Typed,
    access: &'a ServiceAccess,
    reader: ServiceReader,
    subject: Subject,
}

impl Asked<'_> {
    async fn export(
        &self,
        records: Option<Vec<NamedRecord>>,
        format: Option<ExportFormat>,
    ) -> Result<Summary> {
        let mut signals =
            Signals::listen().map_err(|error| Error::internal("cannot listen for signals").because(error))?;
        let clock = &self.context.clock;
        let here = self.context.here.clone();
        let mut progress = ReadProgress::start(self.context.terminal, self.subject.word(), self.tick(), here);
        let mut figures = ReadFigures::default();
        let mut begin = std::pin::pin!(self.begin(records, format));
        let mut redraw = clock.elapsed() + REDRAW;
        let begun = loop {
            tokio::select! {
                biased;
                () = signals.next() => {
                    progress.finish();
                    return Ok(self.stopped());
                }
                begun = &mut begin => break begun,
                () = clock.sleep_until(redraw) => {
                    redraw = clock.elapsed() + REDRAW;
                    figures.requests = self.reader.sent();
                    progress.tick(figures, self.tick());
                }
            }
        };
        let (mut output, owners) = match begun {
            Ok(begun) => begun,
            Err(error) => {
                progress.finish();
                return Err(error);
            }
        };
        figures = output.figures();
        figures.total = Some(figures.before + owners.left());
        let interrupted = self.read_all(owners, (&mut output, progress), &mut figures, &mut signals).await?;
        if interrupted {
            return Ok(output.interrupted(self.context, figures));
        }
        output.finish(self.context, figures)
    }

    /// Finds out what is to be asked about, or takes up what an interrupted export has left.
    async fn begin(
        &self,
        records: Option<Vec<NamedRecord>>,
        format: Option<ExportFormat>,
    ) -> Result<(Output, Owners)> {
        let Self { context, typed, access, reader, subject } = self;
        reader.sign_in().await.map_err(|error| access.failed(&error))?;
        let whose = access.whose();
        let (scope, words) = self.scope(records).await?;
        let head = SpoolHead::new(subject.word(), &words, whose.line(), context.now());
        let target = typed.out.as_deref().zip(format);
        if let (Some(target), true) = (target, typed.resume) {
            return Output::resume(context, target, &head, &whose);
        }
        let mut spool = match target {
            Some((out, _)) => Spool::begin(out, &head)?,
            None => Spool::nameless(&head)?,
        };
        let mut kinds = HashSet::new();
        let mut keep = |owner: Owner| {
            kinds.insert(owner.kind);
            spool.keep(&owner)
        };
        let found = survey(reader, *subject, scope, &mut keep).await;
        let mut found = found.map_err(|error| self.unfounded(error))?;
        found.limits.extend(self.require(&kinds)?);
        let owners = spool.found(&found)?;
        Ok((Output::begin(context, *subject, spool, target, (head, found), &whose), owners))
    }

    fn tick(&self) -> Tick {
        let clock = &self.context.clock;
        Tick { now: clock.now(), elapsed: clock.elapsed() }
    }

    /// What a signal leaves before anything was read.
    fn stopped(&self) -> Summary {
        let line = Line::new().ink(Ink::Warning, "stopped").text(" before the first record was read");
        self.context.terminal.say(line);
        Summary::new(End::Signal).with(&StoppedExportSummary { export: self.subject.word() })
    }

    /// Reads the rows of all owners; whether a signal ended it.
    async fn read_all(
        &self,
        mut owners: Owners,
        (output, mut progress): (&mut Output, ReadProgress),
        figures: &mut ReadFigures,
        signals: &mut Signals,
    ) -> Result<bool> {
        let Self { context, access, reader, subject, .. } = self;
        let side_by_side = SIDE_BY_SIDE.min(access.settings.concurrency.value);
        let mut exporter = Exporter::new(reader.clone(), *subject, side_by_side);
        let clock = &context.clock;
        let mut redraw = clock.elapsed();
        let ended = loop {
            if let Err(error) = ask_more(&mut exporter, &mut owners) {
                break Err(error);
            }
            tokio::select! {
                biased;
                () = signals.next() => break Ok(true),
                rows = exporter.next() => match rows {
                    None => break Ok(false),
                    Some(Err(error)) => break Err(output.explain(access.failed(&error))),
                    Some(Ok(rows)) => {
                        if let Err(error) = output.add(context, rows, figures) {
                            break Err(error);
                        }
                    }
                },
                () = clock.sleep_until(redraw) => {}
            }
            figures.requests = reader.sent();
            if clock.elapsed() >= redraw {
                redraw = clock.elapsed() + REDRAW;
                progress.tick(*figures, self.tick());
            }
        };
        progress.finish();
        ended
    }

    /// Which records are meant, and the same in words.
    async fn scope(&self, records: Option<Vec<NamedRecord>>) -> Result<(Scope, String)> {
        let Self { context, typed, access, reader, .. } = self;
        if let (Some(records), Some(import)) = (records, typed.import) {
            return Ok((Scope::Records(records), format!("import {import}")));
        }
        if let Some(file) = &typed.sheet {
            let journal = access.own_journal(context)?;
            let wanted = self.subject.owners();
            let records = records_of_sheet(access, reader, (file, wanted), journal.as_ref()).await?;
            return Ok((Scope::Records(records), format!("sheet {}", file.display())));
        }
        let failed = |error: &ReadError| access.failed(error);
        let company = match &typed.company {
            Some(text) => Some(resolve(context, &failed, reader, COMPANY, text, None).await?),
            None => None,
        };
        if let Some(text) = &typed.site {
            let id = resolve(context, &failed, reader, ("--site", Sought::Sites), text, company).await?;
            return Ok((Scope::Site(id), format!("site {id}")));
        }
        if let Some(text) = &typed.device {
            let id = resolve(context, &failed, reader, ("--device", Sought::Devices), text, company).await?;
            return Ok((Scope::Device(id), format!("device {id}")));
        }
        Ok(match company {
            Some(id) => {
                let below = if typed.below { " and all below it" } else { "" };
                (Scope::Company { id, below: typed.below }, format!("company {id}{below}"))
            }
            None => (Scope::Everything, "everything that the account sees".to_owned()),
        })
    }

    /// Refuses an export whose operations cannot be reached; says what is missing in one that can do without some.
    fn require(&self, kinds: &HashSet<OwnerKind>) -> Result<Vec<String>> {
        let mut missing: Vec<Operation> = Vec::new();
        let mut limits = Vec::new();
        for &kind in self.subject.owners().iter().filter(|kind| kinds.contains(kind)) {
            let unavailable = |operation: &Operation| !self.reader.available(*operation);
            missing.extend(self.subject.needed(kind).iter().copied().filter(unavailable));
            for operation in self.subject.wanted(kind).iter().copied().filter(unavailable) {
                limits.push(format!("{operation} has no known path: what it shows is not in this export"));
            }
        }
        if missing.is_empty() { Ok(limits) } else { Err(self.access.unavailable(&missing, 0)) }
    }

    /// Why it cannot be found out which records are meant.
    fn unfounded(&self, error: SurveyError) -> Error {
        let Self { context, typed, access, .. } = self;
        let options = [
            ("--site", Sought::Sites, &typed.site),
            ("--device", Sought::Devices, &typed.device),
            ("--company", Sought::Companies, &typed.company),
        ];
        let named = options.into_iter().find(|(.., text)| text.is_some());
        match (error, named) {
            (SurveyError::Keep(error), _) => error,
            (SurveyError::Read(ReadError::NotFound(_, words)), Some((option, sought, _))) => {
                unknown_id(context, (option, sought), &words)
            }
            (SurveyError::Read(error), _) => access.failed(&error),
        }
    }
}

/// Asks about as many of the owners as may be asked about now.
fn ask_more(exporter: &mut Exporter, owners: &mut Owners) -> Result<()> {
    while exporter.has_room()
        && let Some(owner) = owners.next_owner()?
    {
        exporter.ask(owner);
    }
    Ok(())
}
