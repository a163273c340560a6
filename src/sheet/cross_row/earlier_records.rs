//! References by a key or name that records of several companies have, as the sheets of one customer after the other have
//! them: a row means the one of its own company, which differs from row to row.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use super::references::{earlier, of_other_companies, tell_lost, written};
use super::{Between, By, EarlierRecord, Known, NONE, Resolution, RowEntry, To};
use crate::error::Result;
use crate::model::id::JobId;
use crate::model::key::comparable;
use crate::model::kind::Kind;
use crate::model::record::Role;
use crate::sheet::field::{Pointer, fold_key};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::{Finding, ValueKind, shown};

/// The references of a row, the record first that a change is about: it says in which company a site is.
const OWNER: fn(&mut RowEntry) -> &mut u32 = |entry| &mut entry.owner;
const SITE: fn(&mut RowEntry) -> &mut u32 = |entry| &mut entry.site;
const TEMPLATE: fn(&mut RowEntry) -> &mut u32 = |entry| &mut entry.template;

/// The records of earlier imports that such a reference may lead to, by its number.
pub(super) type Several = HashMap<usize, Vec<JobId>>;

/// Records named when a key or name fits several.
const LISTED: usize = 5;

/// A reference to so many records with this `key` or `name`; what is to be done, and which they are, is added where nothing
/// shows which of them is meant.
pub(super) fn ambiguous(what: &str, records: usize) -> Resolution {
    Resolution::Failed {
        code: Code::RefAmbiguous,
        message: format!("{records} records of earlier imports have this {what}"),
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
    let mut earlier = Earlier::of(known);
    // By the reference and the record that a row means by it; of one that no row means, by the reference alone.
    let mut chosen: HashMap<(u32, Option<JobId>), u32> = HashMap::new();
    let mut unclear: BTreeSet<usize> = BTreeSet::new();
    for number in 0..between.entries.len() {
        for place in [OWNER, SITE, TEMPLATE] {
            let entry = &mut between.entries[number];
            let reference = *place(entry);
            let entry = *entry;
            let Some(jobs) = several.get(&(reference as usize)) else { continue };
            let company = earlier.company(between, resolutions, (number, &entry))?;
            let meant = company.map_or(Ok(Meant::Unclear), |company| earlier.of_company(jobs, company))?;
            let job = match meant {
                Meant::One(job) => Some(job),
                Meant::None => None,
                Meant::Unclear => {
                    unclear.insert(reference as usize);
                    continue;
                }
            };
            let own = *chosen.entry((reference, job)).or_insert_with(|| {
                let (kind, pointer) = between.pointers[reference as usize].clone();
                resolutions.push(match job {
                    Some(job) => Resolution::To(To::Job(job)),
                    None => of_other_companies(kind, &pointer, jobs.len()),
                });
                between.pointers.push((kind, pointer));
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

/// Updates whose record is not in the company that the row names: its key may be that of a record of another customer. An id
/// alone says which record is meant.
pub(super) fn owners_of_updates(
    between: &mut Between,
    resolutions: &[Resolution],
    several: &Several,
    known: &dyn Known,
    found: &mut dyn FnMut(Finding),
) -> Result<()> {
    let mut earlier = Earlier::of(known);
    let mut beside: Vec<(usize, u32)> =
        between.beside.iter().map(|(row, company)| (*row, *company)).collect();
    beside.sort_unstable();
    for (number, company) in beside {
        let entry = between.entries[number];
        let Some((_, pointer @ (Pointer::Key(_) | Pointer::Any(_) | Pointer::Name(_)))) =
            between.pointers.get(entry.owner as usize)
        else {
            continue;
        };
        let kind = between.kind(&entry).sheet();
        let column = if kind == Kind::Company { "parent" } else { "company" };
        let may_be = several.get(&(company as usize));
        if may_be.is_none() && matches!(resolutions[company as usize], Resolution::Failed { .. }) {
            tell_lost(between, resolutions, (number, company), (Role::Company, column), found);
            continue;
        }
        let Some(Resolution::To(record)) = resolutions.get(entry.owner as usize) else { continue };
        let own = match record {
            To::Job(job) => earlier.record(*job)?.company,
            To::Row(row) => resolved(resolutions, between.entries[*row].owner),
            To::Remote(_) => None,
        };
        let Some(own) = own else { continue };
        let is_own = match (own, resolved(resolutions, company)) {
            (To::Job(own), None) => may_be.is_some_and(|jobs| jobs.contains(&own)),
            (_, None) => false,
            (own, Some(named)) if own == named => true,
            (own, Some(named)) => {
                let named = earlier.as_earlier(between, resolutions, named)?;
                named.is_some() && named == earlier.as_earlier(between, resolutions, own)?
            }
        };
        if is_own {
            continue;
        }
        let called = match own {
            To::Row(row) => shown(between.get(between.entries[row].name).unwrap_or("?")),
            To::Job(job) => shown(&earlier.record(job)?.name),
            To::Remote(id) => id.to_string(),
        };
        let (by, text) = match pointer {
            Pointer::Any(mac) => ("MAC address", shown(mac)),
            Pointer::Key(text) | Pointer::Name(text) => ("key", shown(text)),
            Pointer::Id(_) => continue,
        };
        let kind = kind.singular();
        let named = written(&between.pointers[company as usize].1);
        let message = format!(
            "the {kind} with the {by} '{text}' is in the company '{called}', and this row names '{}': correct the {column} or \
             the {by}, or clear the {column} if that {kind} is meant",
            shown(&named)
        );
        let mut finding = between.finding(Code::RefWrongOwner, message, &entry, column);
        finding = finding.showing(&named, ValueKind::Text);
        finding.rule = Some("the company that the record is in".to_owned());
        found(finding);
        between.entries[number].unusable = true;
    }
    Ok(())
}

/// What a reference leads to.
fn resolved(resolutions: &[Resolution], reference: u32) -> Option<To> {
    match resolutions.get(reference as usize) {
        Some(Resolution::To(to)) => Some(*to),
        Some(Resolution::Failed { .. }) | None => None,
    }
}

/// Which of several records a row means.
enum Meant {
    One(JobId),
    /// They belong to other companies.
    None,
    Unclear,
}

/// The records of earlier imports, each looked up once.
pub(super) struct Earlier<'k> {
    known: &'k dyn Known,
    records: HashMap<JobId, EarlierRecord>,
    /// What the company of a row is, by the number of that row: a job where it comes again, and nothing where it may be one of
    /// several.
    companies: HashMap<usize, Option<To>>,
}

impl<'k> Earlier<'k> {
    pub(super) fn of(known: &'k dyn Known) -> Self {
        Self { known, records: HashMap::new(), companies: HashMap::new() }
    }

    fn record(&mut self, job: JobId) -> Result<&EarlierRecord> {
        Ok(match self.records.entry(job) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(self.known.record(job)?),
        })
    }

    /// What to do, and the first of some records, in words.
    fn listed(&mut self, jobs: &[JobId]) -> Result<String> {
        let mut listed = Vec::with_capacity(LISTED + 1);
        for job in jobs.iter().take(LISTED) {
            let EarlierRecord { id, place, .. } = self.record(*job)?;
            let id = id.map_or_else(|| "not created yet".to_owned(), |id| id.to_string());
            listed.push(format!("{id} ({})", shown(place)));
        }
        match jobs.len().saturating_sub(LISTED) {
            0 => {}
            more => listed.push(format!("and {more} more")),
        }
        let mut created = 0;
        for job in jobs {
            created += usize::from(self.record(*job)?.id.is_some());
        }
        let what_to_do = match created {
            0 => {
                ", none of which is created yet: import the sheet of the right one together with this one, or run what was \
                 imported, then enter its id: "
            }
            all if all == jobs.len() => ": enter the id of the right one: ",
            _ => {
                ": enter the id of the right one; if that is not created yet, import its sheet together with this one: "
            }
        };
        Ok(format!("{what_to_do}{}", listed.join("; ")))
    }

    /// The only one of some records that belongs to this company.
    fn of_company(&mut self, jobs: &[JobId], company: To) -> Result<Meant> {
        let (mut found, mut are_others) = (Vec::new(), true);
        for &job in jobs {
            let other = self.record(job)?.company;
            if other == Some(company) {
                found.push(job);
            }
            are_others = are_others && self.is_another(company, other)?;
        }
        Ok(match found.as_slice() {
            [job] => Meant::One(*job),
            _ if are_others => Meant::None,
            _ => Meant::Unclear,
        })
    }

    /// Whether a company of an earlier import is certainly not that of a row. One with an id is known by it.
    fn is_another(&mut self, company: To, other: Option<To>) -> Result<bool> {
        Ok(match (company, other) {
            (_, None) => false,
            (To::Row(_), Some(_)) => true,
            (To::Remote(_), Some(To::Job(job))) | (To::Job(job), Some(To::Remote(_))) => {
                self.record(job)?.id.is_some()
            }
            (company, Some(other)) => company.is_another(other),
        })
    }

    /// The record that an earlier import made of a row, where its key, its name and its company all say so.
    pub(super) fn record_of(
        &mut self,
        between: &Between,
        resolutions: &[Resolution],
        row: usize,
    ) -> Result<Option<JobId>> {
        let entry = &between.entries[row];
        let owner = resolved(resolutions, entry.owner);
        let owner = owner.filter(|to| !matches!(to, To::Row(owner) if between.entries[*owner].unusable));
        let (Some(key), Some(name), Some(owner)) =
            (between.own_key(entry), between.get(entry.name).map(comparable), owner)
        else {
            return Ok(None);
        };
        let Some(company) = self.as_earlier(between, resolutions, owner)? else { return Ok(None) };
        for job in self.known.find(between.kind(entry), By::Key(&fold_key(key)))? {
            let record = self.record(job)?;
            if record.id.is_some() && record.company == Some(company) && comparable(&record.name) == name {
                return Ok(Some(job));
            }
        }
        Ok(None)
    }

    /// The company that a row belongs to, as records of earlier imports name theirs.
    fn company(
        &mut self,
        between: &Between,
        resolutions: &[Resolution],
        (number, entry): (usize, &RowEntry),
    ) -> Result<Option<To>> {
        let to = |reference: u32| resolved(resolutions, reference);
        let beside = between.beside.get(&number).and_then(|company| to(*company));
        let owner = match (to(entry.owner), entry.owner_role) {
            _ if beside.is_some() => beside,
            (owner, Role::Company) => owner,
            // An assignment, an update or an entry names the record that it is about.
            (Some(To::Job(job)), _) => return Ok(self.record(job)?.company),
            (Some(To::Row(row)), _) => to(between.entries[row].owner),
            (Some(To::Remote(_)) | None, _) => None,
        };
        owner.map_or(Ok(None), |owner| self.as_earlier(between, resolutions, owner))
    }

    /// A company as records of earlier imports name it: a row as the job that it comes again for.
    fn as_earlier(
        &mut self,
        between: &Between,
        resolutions: &[Resolution],
        company: To,
    ) -> Result<Option<To>> {
        let To::Row(row) = company else { return Ok(Some(company)) };
        // Rows that are each other's parents are told elsewhere.
        match self.companies.entry(row) {
            Entry::Occupied(known) => return Ok(*known.get()),
            Entry::Vacant(unknown) => unknown.insert(None),
        };
        let text = |span| between.get(span).map(str::to_owned);
        let (key, name) = (text(between.entries[row].key), text(between.entries[row].name));
        let (_, jobs) = earlier(self.known, Kind::Company, key.as_ref(), name.as_ref())?;
        let parent = resolved(resolutions, between.entries[row].owner).filter(|_| !jobs.is_empty());
        let parent = parent.map_or(Ok(None), |parent| self.as_earlier(between, resolutions, parent))?;
        let meant = parent.map_or(Ok(Meant::Unclear), |parent| self.of_company(&jobs, parent))?;
        let again = match (meant, jobs.as_slice()) {
            (_, []) | (Meant::None, _) => Some(company),
            (Meant::One(job), _) | (Meant::Unclear, &[job]) => Some(To::Job(job)),
            (Meant::Unclear, _) => None,
        };
        self.companies.insert(row, again);
        Ok(again)
    }
}
