//! Every usable row finds its job, or gets one, companies first and parents before children. Which job that is, is
//! decided in `deciding` by the rules of `identity`; `told` puts it into words.

mod changed_here;
mod content_now;
mod contradicted;
mod corrected;
mod deciding;
mod second_record;
mod site_company;

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;
use std::{mem, panic, thread};

use super::Examined;
use super::content_digest::StepsDigest;
use super::jobs_of_rows::JobsOfRows;
use super::kept_rows::KeptRow;
use super::prepared::{Origin, Prepared, Ready, Unlinked, Usable, prepare};
use crate::error::{Error, Result};
use crate::journal::{self, ImportWriter, Journal, NewRow, NewSheet};
use crate::model::action::record_update::RecordUpdate;
use crate::model::action::{Action, VpnSettings};
use crate::model::id::{JobId, SheetId};
use crate::model::key;
use crate::model::kind::Kind;
use crate::model::record::{Link, Role, Target};
use crate::model::time::Moment;
use crate::sheet::cross_row::To;
use crate::sheet::finding::Findings;
use crate::sheet::{SourceFile, read_ahead, weight};
use changed_here::{ChangedHere, changed_here};
use deciding::Placement;

/// The part of the natural key that only rows with settings as they were exported have, beside rows that ask for some.
const AS_EXPORTED: &str = "as exported";
/// The field of a licence code.
const LICENCE_CODE: &str = "licenceCode";

/// Writes the rows of the examined files, unless a file is no longer the one that was read; nothing is committed.
pub(super) fn place<'j>(
    examined: &Examined,
    journal: &'j mut Journal,
    now: Moment,
) -> Result<(ImportWriter<'j>, Findings)> {
    let (mut writer, findings) = place_rows(examined, journal, now)?;
    let files: Vec<&SourceFile> = examined.files().collect();
    // The files are read again while the indexes of the journal are built, which leaves a processor idle.
    thread::scope(|scope| {
        let unchanged = scope.spawn(move || files.into_iter().try_for_each(SourceFile::refuse_changed));
        let completed = writer.complete();
        unchanged.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked))?;
        completed
    })?;
    Ok((writer, findings))
}

fn place_rows<'j>(
    examined: &Examined,
    journal: &'j mut Journal,
    now: Moment,
) -> Result<(ImportWriter<'j>, Findings)> {
    let mut writer = journal.begin_import(now)?;
    for file in examined.files() {
        writer.file(&file.name, &file.sha256)?;
    }
    writer.reading(&examined.reading)?;
    if let Some(label) = &examined.label {
        writer.label(label)?;
    }
    let mut sheets = Vec::with_capacity(examined.places.len());
    for (book, table, _) in &examined.places {
        let table = &examined.books[*book].tables[*table];
        sheets.push(writer.sheet(&NewSheet {
            name: table.name.clone(),
            file: table.file.clone(),
            worksheet: table.worksheet.clone(),
            kind: table.kind,
            headers: table.headers.clone(),
            header_row: table.header_row,
        })?);
    }
    let kept =
        examined.kept.as_ref().ok_or_else(|| Error::internal("the rows of the sheets were not kept"))?;
    let mut encoder = writer.encoder()?;
    let jobs = JobsOfRows::unplaced(examined.checked.rows());
    let has_upkeep = writer.has_upkeep()?;
    let has_failed = writer.has_failed()?;
    let changed_here = if has_upkeep { changed_here(examined, kept)? } else { ChangedHere::new() };
    let mut placing = Placing {
        examined,
        writer,
        has_upkeep,
        changed_here,
        has_failed,
        namesakes: HashMap::new(),
        jobs: &jobs,
        touched: HashSet::new(),
        waiting: HashMap::new(),
        awaiting: Vec::new(),
        settings: Vec::new(),
        settings_of: HashMap::new(),
        moving: HashSet::new(),
        remote: HashMap::new(),
        findings: examined.findings.none_yet(),
    };
    for kind in Kind::SHEETS {
        for (number, (book, table, first)) in examined.places.iter().enumerate() {
            if examined.books[*book].tables[*table].kind != kind {
                continue;
            }
            let (checked, rows) = (&examined.checked, examined.sheets[number].rows);
            let is_first = placing.writer.is_first();
            let mut ordinal = *first;
            encoder.begin_sheet();
            let sheet = sheets[number];
            let read = |give: &mut dyn FnMut(Prepared, usize) -> ControlFlow<()>| {
                kept.read(number, rows, &mut |row, draft| {
                    let bytes = weight(&row.cells);
                    let prepared = prepare(
                        (checked, Origin { table: number, sheet, ordinal }),
                        (row, draft),
                        is_first,
                        &jobs,
                        (&mut encoder, kept.shapes()),
                    )?;
                    ordinal += 1;
                    Ok(give(prepared, bytes))
                })
            };
            read_ahead(read, &mut |prepared| {
                placing.take(prepared)?;
                Ok(ControlFlow::Continue(()))
            })?
            .transpose()?;
        }
        placing.take_awaiting()?;
        placing.take_settings()?;
    }
    if !placing.waiting.is_empty() {
        return Err(Error::internal("rows wait for others that were never placed"));
    }
    Ok((placing.writer, placing.findings))
}

/// The settings of a device in a VPN cloud that a row gives.
fn settings(row: &Ready) -> Option<&VpnSettings> {
    match row.values.steps.as_slice() {
        [Action::ConfigureVpn(settings)] => Some(settings),
        _ => None,
    }
}

struct Placing<'e, 'j> {
    examined: &'e Examined,
    writer: ImportWriter<'j>,
    /// The job of each row.
    jobs: &'e JobsOfRows,
    /// Jobs of earlier imports that a row of this one is.
    touched: HashSet<JobId>,
    /// Rows that come before another row they need, by the number of that.
    waiting: HashMap<usize, Vec<Unlinked>>,
    /// Rows with the MAC address, the username, the name or a former name of a job that a row after them may be; and that job.
    awaiting: Vec<(Ready, JobId)>,
    /// Rows with settings of a device in a VPN cloud: those of one device and cloud are one job, which is made when all of
    /// them are there.
    settings: Vec<Vec<Ready>>,
    /// The place of each in that list, by their natural key.
    settings_of: HashMap<String, usize>,
    /// Jobs whose MAC address, username or name another row of this import gets.
    moving: HashSet<JobId>,
    /// Whether earlier imports have changed records that exist.
    has_upkeep: bool,
    /// What rows of this import change of the records that others of it create, where earlier ones may have.
    changed_here: ChangedHere,
    /// Whether jobs of earlier imports failed.
    has_failed: bool,
    /// The sheets of earlier imports by their file and name, newest first.
    namesakes: HashMap<String, Vec<SheetId>>,
    /// Which job owns a record that cells name by its id.
    remote: HashMap<(Kind, uuid::Uuid), Target>,
    findings: Findings,
}

impl Placing<'_, '_> {
    /// Places a row, or lets it wait; then places those that waited for it. A row that is ready stays where it is.
    fn take(&mut self, prepared: &mut Prepared) -> Result<()> {
        if let Some(stored) = prepared.stored() {
            self.writer.add_texts(stored)?;
        }
        match prepared {
            Prepared::Ready(ready) => match self.place(ready, true)? {
                None => self.take_those_below(ready.origin.ordinal),
                Some(_) => Err(Error::internal("a row of a first import awaits those after it")),
            },
            Prepared::Unlinked(Unlinked { origin, row, usable }) => {
                let unlinked = Unlinked { origin: *origin, row: mem::take(row), usable: usable.take() };
                self.take_all(vec![unlinked])
            }
        }
    }

    /// Places the rows that waited for this one.
    fn take_those_below(&mut self, ordinal: usize) -> Result<()> {
        match self.waiting.remove(&ordinal) {
            Some(below) => self.take_all(below),
            None => Ok(()),
        }
    }

    /// Places rows, or lets them wait; then places those that waited for them.
    fn take_all(&mut self, mut next: Vec<Unlinked>) -> Result<()> {
        while let Some(unlinked) = next.pop() {
            let Unlinked { origin, row, usable } = unlinked;
            let Some(usable) = usable else {
                self.leave_out(origin, &row)?;
                continue;
            };
            if let Some(needed) = self.needed(origin.ordinal) {
                let unlinked = Unlinked { origin, row, usable: Some(usable) };
                self.waiting.entry(needed).or_default().push(unlinked);
                continue;
            }
            let mut ready = self.ready((origin, row), usable)?;
            if let [Action::ConfigureVpn(_)] = ready.values.steps.as_slice()
                && !ready.refers_to_left_out
            {
                let place = self.settings_of.entry(ready.values.natural_key.clone());
                let place = *place.or_insert(self.settings.len());
                if place == self.settings.len() {
                    self.settings.push(Vec::new());
                }
                self.settings[place].push(ready);
                continue;
            }
            match self.place(&mut ready, true)? {
                None => next.extend(self.waiting.remove(&origin.ordinal).unwrap_or_default()),
                Some(owner) => self.awaiting.push((ready, owner)),
            }
        }
        Ok(())
    }

    /// The number of a row that has to be placed before this one.
    fn needed(&self, ordinal: usize) -> Option<usize> {
        self.examined.checked.links(ordinal).into_iter().find_map(|(_, to)| match to {
            To::Row(row) => (!self.jobs.is_placed(row)).then_some(row),
            To::Job(_) | To::Remote(_) => None,
        })
    }

    /// Places the rows with settings, those of one device and cloud as one job. Those among them of an export that nobody has
    /// changed ask for nothing: beside others they are a job of their own, which is not sent.
    fn take_settings(&mut self) -> Result<()> {
        self.settings_of.clear();
        for rows in mem::take(&mut self.settings) {
            let (mut asking, mut kept): (Vec<Ready>, Vec<Ready>) =
                rows.into_iter().partition(|row| settings(row).is_some_and(VpnSettings::asks_for_a_change));
            // The cipher suite is one of all rows.
            let has_suite = |row: &Ready| {
                settings(row).is_some_and(|own| own.cipher_suite.is_some() || own.exported_suite.is_some())
            };
            if asking.iter().any(has_suite) {
                for row in &mut kept {
                    if let [Action::ConfigureVpn(own)] = row.values.steps.as_mut_slice() {
                        own.exported_suite = None;
                    }
                }
                // A row without an interface is about nothing else.
                let (of_suite, of_interfaces) = kept
                    .into_iter()
                    .partition::<Vec<_>, _>(|row| settings(row).is_some_and(|own| own.interfaces.is_empty()));
                asking.extend(of_suite);
                kept = of_interfaces;
            }
            if !asking.is_empty() {
                for row in &mut kept {
                    row.values.natural_key = key::beside(&row.values.natural_key, AS_EXPORTED);
                }
            }
            self.place_settings(asking)?;
            self.place_settings(kept)?;
        }
        Ok(())
    }

    /// Places rows with settings of one device and cloud as one job.
    fn place_settings(&mut self, rows: Vec<Ready>) -> Result<()> {
        let mut rows = rows.into_iter();
        let Some(mut first) = rows.next() else { return Ok(()) };
        let rest: Vec<Ready> = rows.collect();
        if let [Action::ConfigureVpn(own)] = first.values.steps.as_mut_slice() {
            rest.iter().filter_map(settings).for_each(|other| own.merge(other));
            own.sort();
        }
        first.write_again()?;
        self.place_as_one(&mut first, rest, false)?;
        Ok(())
    }

    /// Places the rows that awaited that a row after them gives another job another MAC address, username or name: all
    /// other rows of their kind are placed.
    fn take_awaiting(&mut self) -> Result<()> {
        loop {
            let before = self.awaiting.len();
            self.place_awaiting()?;
            if self.awaiting.is_empty() {
                return Ok(());
            }
            if self.awaiting.len() == before {
                break;
            }
        }
        // What is left gives each other's values to each other, or collides.
        let left = mem::take(&mut self.awaiting);
        self.moving = self.moving(&left)?;
        for job in &self.moving {
            self.writer.release_natural_key(*job)?;
        }
        for (ready, _) in left {
            self.place_and_those_below(ready, false)?;
        }
        Ok(())
    }

    /// Places each of the rows that await a job, and again once a row is that job: where each awaits the next, all of them
    /// are placed.
    fn place_awaiting(&mut self) -> Result<()> {
        let mut next: VecDeque<_> = mem::take(&mut self.awaiting).into();
        let mut still: HashMap<JobId, Vec<(Ready, JobId)>> = HashMap::new();
        while let Some((ready, _)) = next.pop_front() {
            let ordinal = ready.origin.ordinal;
            self.place_and_those_below(ready, true)?;
            if let Some(job) = self.jobs.of(ordinal) {
                next.extend(still.remove(&job).unwrap_or_default());
            }
            for (ready, awaited) in self.awaiting.drain(..) {
                still.entry(awaited).or_default().push((ready, awaited));
            }
        }
        self.awaiting = still.into_values().flatten().collect();
        // The order in which they are placed is that of the rows.
        self.awaiting.sort_by_key(|(ready, _)| ready.origin.ordinal);
        Ok(())
    }

    /// The jobs that the rows which await each other's are now, and whose MAC address, username or name another of them gets.
    fn moving(&mut self, left: &[(Ready, JobId)]) -> Result<HashSet<JobId>> {
        let mut own = Vec::with_capacity(left.len());
        for (ready, _) in left {
            own.push(self.own_job(ready)?);
        }
        let (mut moving, mut awaited): (HashMap<JobId, usize>, HashMap<JobId, Vec<usize>>) =
            Default::default();
        for (at, (_, job)) in left.iter().enumerate() {
            awaited.entry(*job).or_default().push(at);
            if let Some(own) = own[at] {
                *moving.entry(own).or_default() += 1;
            }
        }
        let is_stuck = |(_, (_, job)): &(usize, &(Ready, JobId))| !moving.contains_key(job);
        let mut stuck: Vec<usize> = left.iter().enumerate().filter(is_stuck).map(|(at, _)| at).collect();
        while let Some(at) = stuck.pop() {
            let Some(own) = own[at].take() else { continue };
            if let Some(rows) = moving.get_mut(&own) {
                *rows -= 1;
                if *rows == 0 {
                    moving.remove(&own);
                    stuck.extend(awaited.remove(&own).unwrap_or_default());
                }
            }
        }
        Ok(moving.into_keys().collect())
    }

    fn place_and_those_below(&mut self, mut ready: Ready, more_come: bool) -> Result<()> {
        if let Some(owner) = self.place(&mut ready, more_come)? {
            self.awaiting.push((ready, owner));
            return Ok(());
        }
        self.take_those_below(ready.origin.ordinal)
    }

    /// Keeps a row that is not imported, with the reason.
    fn leave_out(&mut self, Origin { table, sheet, .. }: Origin, row: &KeptRow) -> Result<()> {
        let kind = self.examined.sheets[table].kind;
        let provenance = self.examined.provenance(table, sheet, row);
        let left_out = self.examined.reasons.leave_out(table, kind, row, &provenance);
        self.writer.leave_out(&left_out, &provenance)
    }

    /// A row of which all is placed that it refers to, with that.
    fn ready(&mut self, (origin, row): (Origin, KeptRow), mut usable: Usable) -> Result<Ready> {
        let links = self.examined.checked.links(origin.ordinal);
        let left_out = |(_, to): &(Role, To)| matches!(to, To::Row(row) if self.jobs.is_left_out(*row));
        let refers_to_left_out = links.iter().any(left_out);
        let mut targets = Vec::with_capacity(links.len());
        if !refers_to_left_out {
            for (role, to) in links {
                targets.push(Link { role, target: self.target(role.target(), to)? });
            }
        }
        if let Some(Action::Update(update)) = usable.steps.first_mut() {
            self.drop_created(update, self.examined.sheets[origin.table].kind, &targets)?;
            if let (Some(action), Some(first)) = (usable.steps.first(), usable.written.first_mut()) {
                *first = journal::written_step(usable.kind, action)?;
            }
            usable.digest = StepsDigest::of(&usable.written);
        }
        usable.linked((origin, row), targets, refers_to_left_out)
    }

    /// Leaves out of an update what cannot be changed and what the record was created with, where a job of ours created it.
    fn drop_created(&self, update: &mut RecordUpdate, kind: Kind, links: &[Link]) -> Result<()> {
        let owner = links.iter().find(|link| link.role == Role::owner(kind));
        if let Some(Link { target: Target::Job(job), .. }) = owner
            && !update.fixed.is_empty()
        {
            for step in self.writer.steps_of(*job)? {
                match step {
                    Action::Create(record) => update.drop_created(&record),
                    Action::AddLicence(code) => {
                        update.fixed.retain(|field, wanted| field != LICENCE_CODE || *wanted != code);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Writes a row with its job, or leaves it out. Where it awaits others: the job that is in its way.
    fn place(&mut self, ready: &mut Ready, more_come: bool) -> Result<Option<JobId>> {
        self.place_as_one(ready, Vec::new(), more_come)
    }

    /// The same for a row that has in it what other rows of its job ask for.
    fn place_as_one(
        &mut self,
        ready: &mut Ready,
        mut others: Vec<Ready>,
        more_come: bool,
    ) -> Result<Option<JobId>> {
        if ready.refers_to_left_out {
            self.leave_out_placed(ready)?;
            return Ok(None);
        }
        let (job, disposition, differences) = match self.decide(ready, more_come)? {
            Placement::Is(job, disposition, differences) => (job, disposition, differences),
            Placement::Awaits(owner) => return Ok(Some(owner)),
            Placement::LeftOut => {
                let why = ready.row.errors.last().cloned();
                self.leave_out_placed(ready)?;
                for other in &mut others {
                    other.row.errors.extend(why.clone());
                    self.leave_out_placed(other)?;
                }
                return Ok(None);
            }
        };
        for Ready { origin: Origin { table, sheet, ordinal }, row, values, stored, .. } in
            std::iter::once(&*ready).chain(&others)
        {
            let (sheet, number) = (*sheet, row.number);
            self.jobs.place(*ordinal, job);
            if self.writer.rows_wait() {
                let provenance = self.examined.provenance(*table, sheet, row);
                self.writer.comes_again(job, values, (&provenance, &row.cells), disposition)?;
            }
            let row = NewRow { sheet, number, line: row.line, cells: Vec::new(), job, disposition };
            self.writer.stored_row(&row, stored)?;
            if !differences.is_empty() {
                self.writer.differs(sheet, number, &differences)?;
            }
        }
        Ok(None)
    }

    /// Leaves out a row that could have been imported, had it not been for what the journal has.
    fn leave_out_placed(&mut self, ready: &mut Ready) -> Result<()> {
        if ready.row.cells.is_empty() {
            return Err(Error::internal("the cells of a row that is not imported are not kept"));
        }
        self.jobs.leave_out(ready.origin.ordinal);
        self.leave_out(ready.origin, &ready.row)
    }
}
