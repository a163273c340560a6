//! References by a key or name that several records of earlier imports have, as the sheets of one customer after the other have
//! them: a row means the one of its own company, which differs from row to row.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use super::references::earlier;
use super::{Between, EarlierRecord, Known, NONE, Resolution, RowEntry, To};
use crate::error::Result;
use crate::model::id::JobId;
use crate::model::kind::Kind;
use crate::model::record::Role;
use crate::sheet::finding::code::Code;

/// The references of a row, the record first that a change is about: it says in which company a site is.
const OWNER: fn(&mut RowEntry) -> &mut u32 = |entry| &mut entry.owner;
const SITE: fn(&mut RowEntry) -> &mut u32 = |entry| &mut entry.site;
const TEMPLATE: fn(&mut RowEntry) -> &mut u32 = |entry| &mut entry.template;

/// The records of earlier imports that such a reference may lead to, by its number.
pub(super) type Several = HashMap<usize, Vec<JobId>>;

/// Records named when a key or name fits several.
const LISTED: usize = 5;

/// What is said of a reference to so many records with this `key` or `name`; which they are is added where nothing shows which of
/// them is meant.
pub(super) fn ambiguous(what: &str, records: usize) -> Resolution {
    Resolution::Failed {
        code: Code::RefAmbiguous,
        message: format!(
            "{records} records of earlier imports have this {what}: enter the id of the right one: "
        ),
        suggestion: None,
        related: Vec::new(),
    }
}

/// Finds out for each row with such a reference which of the records it means, and gives it a reference of its own to that.
pub(super) fn choose(
    between: &mut Between,
    resolutions: &mut Vec<Resolution>,
    several: &Several,
    known: &dyn Known,
) -> Result<()> {
    if several.is_empty() {
        return Ok(());
    }
    let mut earlier = Earlier { known, records: HashMap::new(), companies: HashMap::new() };
    let mut chosen: HashMap<(u32, JobId), u32> = HashMap::new();
    let mut unclear: BTreeSet<usize> = BTreeSet::new();
    for number in 0..between.entries.len() {
        for place in [OWNER, SITE, TEMPLATE] {
            let entry = &mut between.entries[number];
            let reference = *place(entry);
            let entry = *entry;
            let Some(jobs) = several.get(&(reference as usize)) else { continue };
            let company = earlier.company(between, resolutions, (number, &entry))?;
            let Some(job) = company.map_or(Ok(None), |company| earlier.of_company(jobs, company))? else {
                unclear.insert(reference as usize);
                continue;
            };
            let own = *chosen.entry((reference, job)).or_insert_with(|| {
                let pointer = between.pointers[reference as usize].clone();
                between.pointers.push(pointer);
                resolutions.push(Resolution::To(To::Job(job)));
                u32::try_from(between.pointers.len() - 1).unwrap_or(NONE - 1)
            });
            *place(&mut between.entries[number]) = own;
        }
    }
    for reference in unclear {
        if let (Some(jobs), Resolution::Failed { message, .. }) =
            (several.get(&reference), &mut resolutions[reference])
        {
            message.push_str(&earlier.listed(jobs)?);
        }
    }
    Ok(())
}

/// The records of earlier imports, each looked up once.
struct Earlier<'k> {
    known: &'k dyn Known,
    records: HashMap<JobId, EarlierRecord>,
    /// The job of a company whose row comes again, by the number of the row.
    companies: HashMap<usize, Option<JobId>>,
}

impl Earlier<'_> {
    fn record(&mut self, job: JobId) -> Result<&EarlierRecord> {
        Ok(match self.records.entry(job) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(self.known.record(job)?),
        })
    }

    /// The first of some records, in words.
    fn listed(&mut self, jobs: &[JobId]) -> Result<String> {
        let mut listed = Vec::with_capacity(LISTED + 1);
        for job in jobs.iter().take(LISTED) {
            listed.push(self.record(*job)?.words.clone());
        }
        match jobs.len().saturating_sub(LISTED) {
            0 => {}
            more => listed.push(format!("and {more} more")),
        }
        Ok(listed.join("; "))
    }

    /// The only one of some records that belongs to this company.
    fn of_company(&mut self, jobs: &[JobId], company: To) -> Result<Option<JobId>> {
        let mut found = None;
        for &job in jobs {
            if self.record(job)?.company == Some(company) && found.replace(job).is_some() {
                return Ok(None);
            }
        }
        Ok(found)
    }

    /// The company that a row belongs to, as records of earlier imports name theirs.
    fn company(
        &mut self,
        between: &Between,
        resolutions: &[Resolution],
        (number, entry): (usize, &RowEntry),
    ) -> Result<Option<To>> {
        let to = |reference: u32| match resolutions.get(reference as usize) {
            Some(Resolution::To(to)) => Some(*to),
            Some(Resolution::Failed { .. }) | None => None,
        };
        let beside = between.beside.get(&number).and_then(|company| to(*company));
        let owner = match (to(entry.owner), entry.owner_role) {
            _ if beside.is_some() => beside,
            (owner, Role::Company) => owner,
            // An assignment, an update or an entry names the record that it is about.
            (Some(To::Job(job)), _) => return Ok(self.record(job)?.company),
            (Some(To::Row(row)), _) => to(between.entries[row].owner),
            (Some(To::Remote(_)) | None, _) => None,
        };
        let Some(To::Row(row)) = owner else { return Ok(owner) };
        if let Some(known) = self.companies.get(&row) {
            return Ok(known.map(To::Job).or(owner));
        }
        let text = |span| between.get(span).map(str::to_owned);
        let (key, name) = (text(between.entries[row].key), text(between.entries[row].name));
        let (_, jobs) = earlier(self.known, Kind::Company, key.as_ref(), name.as_ref())?;
        let again = if let [job] = jobs[..] { Some(job) } else { None };
        self.companies.insert(row, again);
        Ok(again.map(To::Job).or(owner))
    }
}
