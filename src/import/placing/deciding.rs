//! What a row is to the journal: the look-ups for the rules of `identity`, and what follows from them.

use std::collections::{BTreeSet, HashMap, HashSet};

use smol_str::SmolStr;

use super::super::content_digest::StepsDigest;
use super::super::difference::{self, Content};
use super::super::identity::{
    Alike, Claim, Decision, Keyed, Known, SameKey, came_to_nothing, decide, is_owner, keyed, owner,
    person_or_thing,
};
use super::super::left_out::Reason;
use super::super::prepared::{Origin, Ready};
use super::super::told;
use super::Placing;
use super::contradicted::Contradicted;
use super::second_record::SecondRecord;
use crate::error::{Error, Result};
use crate::journal::{self, Difference, Disposition, KnownJob, NewJob, SamePlace};
use crate::model::action::{Action, wishes};
use crate::model::id::JobId;
use crate::model::key::{self, mac_digits};
use crate::model::kind::Kind;
use crate::model::record::{Device, Link, Record, Role, Target, target_of};
use crate::model::state::JobState;
use crate::sheet::cross_row::To;
use crate::sheet::finding::{Code, Finding};

impl Placing<'_, '_> {
    /// Where a link leads: a record that a job owns is linked as that job, however a cell names it.
    pub(super) fn target(&mut self, kind: Kind, to: To) -> Result<Target> {
        Ok(match to {
            To::Row(row) => {
                let job = self.jobs.of(row);
                Target::Job(job.ok_or_else(|| Error::internal("a row refers to one that has no job"))?)
            }
            To::Job(job) => Target::Job(job),
            To::Remote(id) => match self.remote.get(&(kind, id)) {
                Some(target) => *target,
                None => {
                    let owner = self.writer.by_remote_id(kind, id)?;
                    let target = owner.map_or(Target::Remote(id), |owner| Target::Job(owner.job));
                    self.remote.insert((kind, id), target);
                    target
                }
            },
        })
    }

    /// The links of a job as those of a row are written now.
    pub(super) fn links_now(&mut self, links: &[Link]) -> Result<Vec<Link>> {
        let mut now = Vec::with_capacity(links.len());
        for link in links {
            let target = match link.target {
                Target::Job(_) => link.target,
                Target::Remote(id) => self.target(link.role.target(), To::Remote(id))?,
            };
            now.push(Link { role: link.role, target });
        }
        Ok(now)
    }

    /// The links that a job has, the same way.
    pub(super) fn job_links_now(&mut self, job: JobId) -> Result<Vec<Link>> {
        let links = self.writer.links_of(job)?;
        self.links_now(&links)
    }

    /// What the journal has of a row.
    fn known(&mut self, ready: &Ready) -> Result<Known> {
        let values = &ready.values;
        if !values.kind.is_record() {
            let mut natural = self.writer.by_natural_key(values.kind, &values.natural_key)?;
            if natural.is_none()
                && let Some(key) = self.upkeep_key_by_id(values)?
            {
                natural = self.writer.by_natural_key(values.kind, &key)?;
            }
            if let Some(known) = &mut natural {
                self.link_as_now(known)?;
            }
            let was_changed = natural.as_ref().map_or(Ok(false), |known| self.was_undone(known))?;
            return Ok(Known { natural, was_changed, ..Known::default() });
        }
        let (kind, record) = (values.kind, ready.record()?);
        let is_unique = is_unique(record);
        let mut natural = self.writer.by_natural_key(kind, &values.natural_key)?;
        let by_id = match (&natural, is_unique) {
            (None, false) => self.key_by_id_of_owner(values, record)?,
            _ => None,
        };
        if let Some(key) = &by_id {
            natural = self.writer.by_natural_key(kind, key)?;
        }
        let mut by_former_name = false;
        for key in [Some(&values.natural_key), by_id.as_ref()].into_iter().flatten() {
            if natural.is_none() {
                natural = self.by_former_key(values, key)?;
                by_former_name = natural.is_some();
            }
        }
        if let Some(known) = &mut natural {
            self.link_as_now(known)?;
        }
        let mut by_key = Vec::new();
        let settles = |known: &KnownJob| known.sheet_key == values.sheet_key;
        if let (false, Some(key)) = (natural.as_ref().is_some_and(settles), &values.sheet_key) {
            let nameless = nameless(record);
            let links = self.examined.checked.links(ready.origin.ordinal);
            let brings_owner = links.iter().any(|(role, to)| is_owner(*role) && matches!(to, To::Row(_)));
            for mut known in self.writer.by_sheet_key(kind, key)? {
                let earlier = self.writer.record_of(known.job)?;
                let same_values = self::nameless(&earlier) == nameless;
                let same_name = known.name == values.name;
                let is_corrected =
                    !same_values && !same_name && self.is_corrected(ready, known.job, (&earlier, record))?;
                let same_later = later(&self.writer.steps_of(known.job)?).eq(later(&values.steps));
                known.links = self.links_now(&known.links)?;
                let is_elsewhere = owner(&known.links) != owner(&values.links);
                let place = match is_elsewhere && (same_name || same_values) {
                    true => self.place_of(ready, known.job)?,
                    false => None,
                };
                let of_id = matches!(owner(&known.links), Some(Target::Remote(_)));
                // With a company of its own it is the sheet of another customer, whose file has the same name.
                let place = place.filter(|place| *place == SamePlace::Source || !brings_owner || of_id);
                let owner_came = match owner(&known.links) {
                    Some(Target::Job(owner)) => self.touched.contains(&owner),
                    Some(Target::Remote(_)) => place.is_some(),
                    None => false,
                };
                let unknown = Some(Code::RefUnknownId.as_str());
                let lacks_owner =
                    of_id && place.is_some() && self.writer.code_of(known.job)?.as_deref() == unknown;
                by_key.push(SameKey {
                    known,
                    same_name,
                    same_values,
                    is_corrected,
                    same_later,
                    owner_came,
                    lacks_owner,
                    place,
                });
            }
        }
        let mut alike = None;
        if let (true, Some(known)) = (is_unique, &natural) {
            let company = owner(&known.links) == owner(&values.links);
            alike = Some(match (&values.sheet_key, &known.sheet_key) {
                // Nothing else is asked.
                (Some(key), Some(own)) if key == own => Alike { company, name: true, place: None },
                (key, own) => {
                    let earlier = self.writer.record_of(known.job)?;
                    let place = match (key, own) {
                        (Some(_), Some(_)) => self.place_of(ready, known.job)?,
                        _ => None,
                    };
                    let name = person_or_thing(&earlier) == person_or_thing(record);
                    Alike { company, name, place }
                }
            });
        }
        let mut earlier = Known { by_former_name, is_unique, alike, by_key, ..Known::default() };
        if let Some(known) = natural.as_ref().filter(|known| known.remote_id.is_some()) {
            let is_as_sent = known.content_hash == values.content_hash;
            if self.has_upkeep || !is_as_sent {
                // Of a row that is as it was sent, its own content is that of the job, and need not be read.
                let made = match is_as_sent {
                    true => (values.links.clone(), values.steps.clone()),
                    false => self.content_made(known.job)?,
                };
                let now = self.content_now((known.job, known.remote_id), &made, values)?;
                earlier.was_changed = now != made;
                earlier.same_record = same_links(&known.links, &values.links)
                    && now.1.iter().find_map(Action::record) == Some(record);
                earlier.same_later = later(&made.1).eq(later(&values.steps));
            }
        }
        Ok(Known { natural, ..earlier })
    }

    /// The natural key of a row as it was while no job owned the record of its owner, which rows named by its id then.
    fn key_by_id_of_owner(&self, values: &NewJob, record: &Record) -> Result<Option<String>> {
        let links = self.links_by_id(&values.links, owner(&values.links))?;
        Ok(links.map(|links| key::natural_key(record, &links)))
    }

    /// The same of an upkeep row, whose owner is the record that it is about.
    fn upkeep_key_by_id(&self, values: &NewJob) -> Result<Option<String>> {
        let Some(action) = values.steps.first() else { return Ok(None) };
        let record = target_of(&values.links, Role::owner(action.about(values.kind)));
        let links = self.links_by_id(&values.links, record)?;
        Ok(links.map(|links| key::upkeep_key(values.kind, action, &links)))
    }

    /// Links that name the record of a job by its id.
    fn links_by_id(&self, links: &[Link], owner: Option<Target>) -> Result<Option<Vec<Link>>> {
        let Some(Target::Job(owner)) = owner else { return Ok(None) };
        let Some(id) = self.writer.remote_id_of(owner)? else { return Ok(None) };
        let by_id = |link: &Link| match link.target {
            Target::Job(job) if job == owner => Link { target: Target::Remote(id), ..*link },
            Target::Job(_) | Target::Remote(_) => *link,
        };
        Ok(Some(links.iter().map(by_id).collect()))
    }

    /// Writes what a job belongs to as the rows of this import have it, so that the two can be compared.
    fn link_as_now(&mut self, known: &mut KnownJob) -> Result<()> {
        let links = self.links_now(&known.links)?;
        if links != known.links {
            let written = journal::written_steps(known.kind, &self.writer.steps_of(known.job)?)?;
            known.content_hash = StepsDigest::of(&written).linked(&links);
            known.links = links;
        }
        Ok(())
    }

    /// The job whose record had this natural key before an update gave it another name. A row with another key is another
    /// record, to which that name is free.
    fn by_former_key(&self, values: &NewJob, natural_key: &str) -> Result<Option<KnownJob>> {
        let is_other = |known: &KnownJob| match (&values.sheet_key, &known.sheet_key) {
            (Some(key), Some(own)) => key != own,
            (Some(_) | None, None) | (None, Some(_)) => false,
        };
        let known = self.writer.by_former_key(values.kind, natural_key)?;
        Ok(known.filter(|known| !is_other(known)))
    }

    /// What is to be done with a row, by what the journal has of it.
    fn judge(&self, ready: &Ready, known: &Known, more_come: bool) -> (Decision, Keyed) {
        let this_import = self.writer.import();
        let made_now: HashSet<JobId> = known
            .natural
            .iter()
            .chain(known.by_key.iter().map(|same| &same.known))
            .filter(|known| known.first_import == this_import)
            .map(|known| known.job)
            .collect();
        let claim = Claim {
            kind: ready.values.kind,
            key: ready.values.sheet_key.as_deref(),
            links: &ready.values.links,
            content_hash: ready.values.content_hash,
            earlier: known,
            more_come,
        };
        let decision = decide(&claim, &|job| made_now.contains(&job) || self.touched.contains(&job));
        (decision, keyed(&claim))
    }

    /// The job that a row would give new values if nothing were in its way.
    pub(super) fn own_job(&mut self, ready: &Ready) -> Result<Option<JobId>> {
        let mut known = Known { natural: None, alike: None, ..self.known(ready)? };
        known.by_key.iter_mut().for_each(|same| same.is_corrected = true);
        Ok(match self.judge(ready, &known, false).0 {
            Decision::Revise(job) => {
                let is_unmade = |same: &SameKey| same.known.job == job && same.known.remote_id.is_none();
                known.by_key.iter().any(is_unmade).then_some(job)
            }
            _ => None,
        })
    }

    /// Finds or makes the job of a row.
    pub(super) fn decide(&mut self, ready: &mut Ready, more_come: bool) -> Result<Placement> {
        if self.writer.is_first() {
            // Nothing was there before, and that no two rows are one record was checked between the rows.
            let job = ready.add_job(&mut self.writer)?;
            return Ok(Placement::Is(job, Disposition::New, Vec::new()));
        }
        let mut known = self.known(ready)?;
        let is_upkeep = !ready.values.kind.is_record();
        let mut corrected = if is_upkeep { self.corrected(ready)? } else { None };
        // A failed row about the same is the one that is corrected.
        let is_another = |failed: &KnownJob| {
            known.natural.as_ref().is_some_and(|own| own.state.is_failed() && own.job != failed.job)
        };
        corrected = corrected.filter(|failed| !is_another(failed));
        if let Some(failed) = &corrected {
            if known.natural.as_ref().is_some_and(|own| own.job != failed.job) {
                // Another row about the same has that one.
                ready.values.natural_key.clone_from(&failed.natural_key);
            }
            known = Known { natural: Some(failed.clone()), ..Known::default() };
        }
        let (mut decision, mut keyed) = self.judge(ready, &known, more_come);
        let contradicted = match decision {
            Decision::Add | Decision::Revise(_) | Decision::Recognise(_) if is_upkeep => {
                self.contradicted(ready, known.natural.as_ref().map(|own| own.job))?
            }
            _ => Contradicted::default(),
        };
        let is_beside = is_upkeep && corrected.is_none() && contradicted.unsettled.is_none();
        if let Some(natural) = known.natural.as_ref().filter(|_| is_beside) {
            decision = self.beside(ready, natural, decision)?;
        }
        if decision == Decision::Add
            && let Some(device) = self.device_with_code(ready)?
        {
            // The row of a device that waits or failed keeps its job: it alone can correct it.
            decision = match device.state.is_success() || device.state == JobState::Cancelled {
                true => Decision::Recognise(device.job),
                false => Decision::Twice(device.job),
            };
        }
        if let (Decision::Collides(job) | Decision::Awaits(job), Some(natural)) = (&decision, &known.natural)
            && natural.state == JobState::Cancelled
            && natural.remote_id.is_none()
            && (known.is_unique || !self.writer.may_have_made(natural)?)
        {
            // Cancelled, it needs its MAC address, username or name no longer.
            self.writer.release_natural_key(*job)?;
            known = Known { natural: None, alike: None, ..known };
            (decision, keyed) = self.judge(ready, &known, more_come);
        }
        let mut differences = Vec::new();
        if let Decision::LeaveUnderWay(job) | Decision::ChangedSince(job) = decision {
            differences = self.differences(ready, job, Extent::All)?;
            if differences.is_empty() {
                // Only what it refers to is written in another way.
                decision = Decision::Recognise(job);
            }
        }
        if let Decision::ReviseLater(job) = decision {
            differences = self.differences(ready, job, Extent::Record)?;
        }
        if let Decision::Awaits(owner) = decision {
            return Ok(Placement::Awaits(owner));
        }
        if decision == Decision::Add
            && !is_upkeep
            && let Some(failed) = self.corrected(ready)?
        {
            if more_come {
                // One of them may be that row itself.
                return Ok(Placement::Awaits(failed.job));
            }
            decision = Decision::Revise(failed.job);
        }
        if let (Decision::Recognise(job), true, Some(updates)) =
            (&decision, self.has_upkeep, ready.values.kind.updates())
        {
            known.update = self.writer.unsettled_update_of(*job, updates)?;
        }
        // Corrected, a row that was rejected would be created as well.
        let revived = match decision {
            Decision::Revise(job) => self.rejected(job)?,
            _ => None,
        };
        let second = match (&decision, &revived) {
            (Decision::Add, _) | (_, Some(_)) => self.second_record(ready, revived.as_ref())?,
            _ => None,
        };
        let said = match second {
            Some(second) if more_come => return Ok(Placement::Awaits(second.known.job)),
            Some(SecondRecord { known, is_at_its_place }) => {
                // Devices of one name are common; the sheet that was corrected has this one at the same place.
                let rejected =
                    revived.as_ref().filter(|_| is_at_its_place && ready.values.kind == Kind::Device);
                Some(told::second_of_a_name(&self.writer, self.examined, ready, &known, rejected)?)
            }
            None => told::said(&self.writer, self.examined, ready, &decision, &known, keyed, &differences)?,
        };
        let wrong = match (contradicted.unsettled, &decision) {
            (None, Decision::Add | Decision::Revise(_)) => self.site_of_another_company(ready)?,
            (contradiction, _) => contradiction,
        };
        let said = match (wrong.or(self.double(ready, &decision)?).or(said), &decision) {
            (None, Decision::Revise(job)) => self.mac_left_out(ready, *job)?,
            (said, _) => said,
        };
        let (failed, warnings): (Vec<JobId>, Vec<Finding>) = contradicted.failed.into_iter().unzip();
        for mut finding in said.into_iter().chain(warnings) {
            self.examined.policy.judge(&mut finding);
            self.findings.push(finding.clone());
            if finding.is_error() {
                ready.row.errors.push(Reason::of(&finding));
                return Ok(Placement::LeftOut);
            }
        }
        for job in failed {
            self.writer.cancel_for(job, (ready.origin.sheet, ready.row.number))?;
        }
        match (&decision, keyed, &ready.values.sheet_key) {
            (
                Decision::Recognise(job) | Decision::LeaveUnderWay(job) | Decision::ChangedSince(job),
                Keyed::First,
                Some(key),
            ) => self.writer.learn_key(*job, key)?,
            (
                Decision::Recognise(job)
                | Decision::LeaveUnderWay(job)
                | Decision::ChangedSince(job)
                | Decision::ReviseLater(job),
                Keyed::Another,
                Some(key),
            ) => self.writer.other_key(*job, key)?,
            _ => {}
        }
        let (job, disposition) = match decision {
            Decision::Add => {
                let job = ready.add_job(&mut self.writer)?;
                return Ok(Placement::Is(job, Disposition::New, differences));
            }
            Decision::Revise(job) => {
                self.writer.revise_job(job, &ready.values)?;
                (job, Disposition::Revised)
            }
            Decision::ReviseLater(job) => {
                self.revise_later(ready, job, &known)?;
                (job, Disposition::Revised)
            }
            Decision::Recognise(job) => (job, Disposition::Recognised),
            Decision::LeaveUnderWay(job) | Decision::ChangedSince(job) => (job, Disposition::ChangedSince),
            Decision::FormerName(_)
            | Decision::Twice(_)
            | Decision::KeyTaken(_)
            | Decision::Collides(_)
            | Decision::Awaits(_) => {
                return Err(Error::internal("a row that is another one was not refused"));
            }
        };
        if matches!(disposition, Disposition::Revised | Disposition::Recognised)
            && differences.is_empty()
            && self.writer.sent_of(job)?.is_some()
        {
            // They count if the record turns out to be that of the earlier request.
            differences = self.differences(ready, job, Extent::Sent)?;
        }
        self.touched.insert(job);
        Ok(Placement::Is(job, disposition, differences))
    }

    /// The error at a row of a record that was left out beside another one, and would be taken for that.
    fn double(&self, ready: &Ready, decision: &Decision) -> Result<Option<Finding>> {
        let (Decision::Revise(job)
        | Decision::ReviseLater(job)
        | Decision::Recognise(job)
        | Decision::LeaveUnderWay(job)
        | Decision::ChangedSince(job)) = *decision
        else {
            return Ok(None);
        };
        if !self.writer.rows_wait() || !ready.values.kind.is_record() {
            return Ok(None);
        }
        let Origin { table, sheet, .. } = ready.origin;
        let provenance = self.examined.provenance(table, sheet, &ready.row);
        // A row without a source that is as the record may be the one that made it.
        let cells = (!matches!(decision, Decision::Recognise(_))).then_some(&*ready.row.cells);
        if !self.writer.was_left_out_beside(job, &ready.values, &provenance, cells)?
            || self.place_of(ready, job)? == Some(SamePlace::Source)
        {
            return Ok(None);
        }
        let other = self.writer.by_job(job)?.filter(|other| !came_to_nothing(other));
        other.map(|other| told::double(&self.writer, self.examined, ready, &other)).transpose()
    }

    /// The warning at a device without a MAC address whose row had one before.
    fn mac_left_out(&self, ready: &Ready, job: JobId) -> Result<Option<Finding>> {
        if ready.values.kind != Kind::Device || is_unique(ready.record()?) {
            return Ok(None);
        }
        Ok(match self.writer.record_of(job)? {
            Record::Device(Device { identification: Some(mac), .. }) => {
                Some(told::mac_left_out(self.examined, ready, &mac))
            }
            Record::Device(_) | Record::Company(_) | Record::Person(_) | Record::Site(_) => None,
        })
    }

    /// The job that a row gives new values, if it was rejected and nothing was made of it.
    fn rejected(&self, job: JobId) -> Result<Option<KnownJob>> {
        let known = self.writer.by_job(job)?;
        Ok(known.filter(|known| known.state == JobState::Rejected && known.remote_id.is_none()))
    }

    /// The job that makes the device of a licence row and adds the same code to it.
    fn device_with_code(&self, ready: &Ready) -> Result<Option<KnownJob>> {
        let values = &ready.values;
        let ([code @ Action::AddLicence(_)], Some(Target::Job(job))) =
            (&values.steps[..], target_of(&values.links, Role::Device))
        else {
            return Ok(None);
        };
        let Some(known) = self.writer.by_job(job)? else { return Ok(None) };
        let Some(step) = self.writer.steps_of(job)?.iter().position(|step| step == code) else {
            return Ok(None);
        };
        let adds_it = match known.state {
            // What failed or was cancelled adds nothing more.
            JobState::Incomplete | JobState::Cancelled => {
                self.writer.steps_sent(job)?.keys().any(|sent| usize::try_from(*sent) == Ok(step))
            }
            _ => true,
        };
        Ok(adds_it.then_some(known))
    }

    /// An upkeep row is a job of its own where an earlier one about the same has a result already, or asks for something else
    /// that stays to be done: the result of that one remains in its report.
    fn beside(&mut self, ready: &mut Ready, earlier: &KnownJob, decision: Decision) -> Result<Decision> {
        let (Decision::Revise(_) | Decision::LeaveUnderWay(_)) = decision else { return Ok(decision) };
        let earlier_steps = self.writer.steps_of(earlier.job)?;
        let kind = ready.values.kind;
        let (own, of_earlier) = (wishes(kind, &ready.values.steps), wishes(kind, &earlier_steps));
        let is_settled =
            matches!(earlier.state, JobState::Done | JobState::Existing) || of_earlier.is_empty();
        if !own.is_empty() && is_settled && matches!(decision, Decision::Revise(_)) {
            // The next row about the same is compared with this one.
            self.writer.release_natural_key(earlier.job)?;
            return Ok(Decision::Add);
        }
        let is_failed = matches!(earlier.state, JobState::Rejected | JobState::Incomplete);
        // Nothing was sent of one that is skipped, and it waits again as soon as what it belongs to does.
        let is_waiting = matches!(
            earlier.state,
            JobState::Blocked | JobState::Ready | JobState::Deferred | JobState::Skipped
        );
        let (covers, is_apart) = (own.is_superset(&of_earlier), own.is_disjoint(&of_earlier));
        if own.is_empty() || is_failed && !covers || is_waiting && is_apart {
            let number = format!("{}.{}", ready.origin.sheet, ready.row.number);
            ready.values.natural_key = key::beside(&ready.values.natural_key, &number);
            // Another row of this import about the same is one too many.
            self.touched.insert(earlier.job);
            return Ok(Decision::Add);
        }
        if is_waiting && !covers {
            self.take_over(ready, earlier.job, earlier_steps, &own)?;
        }
        Ok(decision)
    }

    /// Takes what only the earlier row asks for into a row that is to replace it before anything was sent.
    fn take_over(
        &self,
        ready: &mut Ready,
        earlier: JobId,
        steps: Vec<Action>,
        own: &BTreeSet<String>,
    ) -> Result<()> {
        let kind = ready.values.kind;
        let mut kept: Vec<Action> = Vec::new();
        for step in steps {
            match (step, ready.values.steps.first_mut()) {
                (Action::Update(earlier), Some(Action::Update(update))) => update.take_over(earlier, own),
                (Action::ConfigureVpn(earlier), Some(Action::ConfigureVpn(settings))) => {
                    settings.take_over(earlier);
                }
                (Action::PutMetadata(mut entries), _) => {
                    entries.retain(|entry| !own.contains(&entry.wish()));
                    if !entries.is_empty() {
                        kept.push(Action::PutMetadata(entries));
                    }
                }
                (step, _) if wishes(kind, std::slice::from_ref(&step)).is_disjoint(own) => kept.push(step),
                _ => {}
            }
        }
        ready.values.steps.extend(kept);
        for link in self.writer.links_of(earlier)? {
            if ready.values.links.iter().all(|known| known.role != link.role) {
                ready.values.links.push(link);
            }
        }
        ready.write_again()
    }

    /// Gives a job whose record is there what the row asks for besides that record.
    fn revise_later(&mut self, ready: &Ready, job: JobId, known: &Known) -> Result<()> {
        let of_keys = known.by_key.iter().map(|same| &same.known);
        let mut all = known.natural.iter().chain(of_keys);
        let Some(own) = all.find(|own| own.job == job) else {
            return Err(Error::internal("a row revises a job that is not known"));
        };
        let steps = with_later(self.writer.steps_of(job)?, &ready.values.steps);
        let written = journal::written_steps(own.kind, &steps)?;
        let links = self.writer.links_of(job)?;
        self.writer.revise_job(
            job,
            &NewJob {
                kind: own.kind,
                sheet_key: own.sheet_key.clone().or_else(|| ready.values.sheet_key.clone()),
                name: own.name.clone(),
                natural_key: own.natural_key.clone(),
                content_hash: StepsDigest::of(&written).linked(&links),
                links,
                steps,
            },
        )
    }

    /// In what a row differs from the record of its job, or from what its job asks for.
    fn differences(&mut self, ready: &Ready, job: JobId, extent: Extent) -> Result<Vec<Difference>> {
        let mut made = self.content_made(job)?;
        if let (Extent::Sent, Some(sent)) = (extent, self.writer.sent_of(job)?) {
            made.1 = with_later(vec![sent], &ready.values.steps);
        }
        let (links, mut steps) =
            self.content_now((job, self.writer.remote_id_of(job)?), &made, &ready.values)?;
        // The row that the job has its values from says nothing of what was changed since.
        let is_as_made = links == made.0 && steps == made.1;
        let said_earlier = if is_as_made { self.writer.row_of_values(job)? } else { None };
        if extent == Extent::Record {
            steps = with_later(steps, &ready.values.steps);
        }
        let links = self.links_now(&links)?;
        let values = &ready.values;
        let mut names: HashMap<Target, String> = HashMap::new();
        for link in links.iter().chain(&values.links) {
            let name = match link.target {
                Target::Remote(id) => id.to_string(),
                Target::Job(job) => self.writer.record_of(job)?.name().to_owned(),
            };
            names.insert(link.target, name);
        }
        let mut differences = difference::between(
            values.kind,
            &Content { links: &links, steps: &steps },
            &Content { links: &values.links, steps: &values.steps },
            (ready.table(self.examined), &ready.row.cells),
            said_earlier.as_ref(),
            &|link| names.get(&link.target).cloned().unwrap_or_default(),
        );
        if let Some(columns) = self.changed_here.get(&ready.origin.ordinal) {
            differences.retain(|difference| !columns.contains(&difference.column));
        }
        Ok(differences)
    }
}

/// What of a row is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// All that it asks for.
    All,
    /// The record itself, with what may have been sent before its row was corrected.
    Sent,
    /// The record itself; what it asks for besides is sent.
    Record,
}

/// What is done with a row.
pub(super) enum Placement {
    /// It is this job.
    Is(JobId, Disposition, Vec<Difference>),
    /// It is not imported.
    LeftOut,
    /// It waits for the rows after it: one of them may be this job, or give it another MAC address, username or name.
    Awaits(JobId),
}

/// Whether the natural key of a record is a MAC address or a username, and not a name in a company.
fn is_unique(record: &Record) -> bool {
    match record {
        Record::Person(_) => true,
        Record::Device(device) => device.identification.as_deref().and_then(mac_digits).is_some(),
        Record::Company(_) | Record::Site(_) => false,
    }
}

/// What is asked for besides the record itself.
fn later(steps: &[Action]) -> impl Iterator<Item = &Action> {
    steps.iter().filter(|step| step.record().is_none())
}

/// The step that makes the record, with what a row asks for besides that.
fn with_later(mut steps: Vec<Action>, row: &[Action]) -> Vec<Action> {
    steps.retain(|step| step.record().is_some());
    steps.extend(later(row).cloned());
    steps
}

/// Whether two rows belong to the same records.
fn same_links(some: &[Link], others: &[Link]) -> bool {
    some.len() == others.len() && some.iter().all(|link| others.contains(link))
}

/// A record without what it is known by.
pub(super) fn nameless(record: &Record) -> Record {
    let mut record = record.clone();
    match &mut record {
        Record::Company(company) => company.name = SmolStr::default(),
        Record::Site(site) => site.name = SmolStr::default(),
        Record::Person(person) => person.username = SmolStr::default(),
        Record::Device(device) => device.name = SmolStr::default(),
    }
    record
}
