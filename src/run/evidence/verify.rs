//! Asks the service about a row that a person decides: what is there that may be its record, and whether an id is
//! that of its record. Nothing is sent but look-ups (`service`).
//!
//! What counts as the row's record is decided by the same rules as in a run (`matching`); what follows from the
//! answer is left to the command that asked.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::matching::{self, RecordMatch, SeenRecord};
use super::oneoff_lookup::OneoffLookups;
use super::question::LookupAnswer;
use super::{classify, lookups};
use crate::clock::Clock;
use crate::error::Result;
use crate::journal::{Candidate, Journal, Work};
use crate::model::action::Action;
use crate::model::id::RemoteId;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::Role;
use crate::service::{Client, Found, Lookup, NameSearch, SeenChange, find_name, may_be_a_page, seen_change};

/// Records known to exist by which a look-up is tried before it counts as one that does not find them.
const CONTROLS: usize = 3;
/// Candidates that are read in full to be compared.
const READ_IN_FULL: usize = 5;

/// What the service shows of a row now.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum RecordSearch {
    /// A look-up was answered.
    Answered {
        /// The look-ups, and what can be said for them.
        by: String,
        /// Records that are or may be the row's.
        candidates: Vec<Candidate>,
        /// Records that would be, but existed before the row was sent.
        earlier: Vec<Candidate>,
    },
    /// A look-up showed whether what the row asks for is so.
    Change {
        /// The look-ups.
        by: String,
        /// Whether it is so.
        is_so: bool,
    },
    /// No look-up gave an answer that can be relied on.
    Unknown {
        /// Why.
        untold: String,
    },
}

/// Whether a record is the row's.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordCheck {
    /// It may well be.
    Confirmed {
        /// The look-ups.
        by: String,
        /// What it says otherwise than the row, and what could not be compared.
        notes: Vec<String>,
    },
    /// It is another record, or not there.
    Another {
        /// The look-ups.
        by: String,
        /// What differs.
        differences: Vec<String>,
    },
    /// Nothing can be said; says why.
    Unknown(String),
}

/// Asks the service about rows, one look-up at a time.
pub struct Verifier {
    service: OneoffLookups,
    /// Whether a look-up has found a record that is known to exist; `None` when there was none to try it by.
    proved: HashMap<(Operation, Kind), Option<bool>>,
}

impl Verifier {
    /// One that has asked nothing yet.
    pub fn new(client: Client, clock: Arc<dyn Clock>) -> Self {
        Self { service: OneoffLookups::new(client, clock), proved: HashMap::new() }
    }

    /// What is there that may be the record of a row, or may show that its step was carried out.
    ///
    /// `shown` are the records the person was shown when the row was held: of a row that was never sent none of
    /// them can be ours, so that those that differ from it are no candidates any more.
    ///
    /// # Errors
    ///
    /// `Service` when the service cannot be reached or refuses us; `Journal` when that cannot be read.
    pub async fn search(
        &mut self,
        journal: &Journal,
        work: &Work,
        shown: &[RemoteId],
    ) -> Result<RecordSearch> {
        if lookups::creates(work) {
            return self.search_by_key(journal, work, shown).await;
        }
        self.search_change(work).await
    }

    /// Whether what a step other than a creation asks for is so.
    async fn search_change(&mut self, work: &Work) -> Result<RecordSearch> {
        let Some((_, owner)) = work.owner() else {
            return Ok(RecordSearch::Unknown { untold: "its record has no id".to_owned() });
        };
        let mut work = work.clone();
        if let Some(ended) = self.find_names(&mut work).await? {
            return Ok(ended);
        }
        let Some(lookup) = lookups::of_step(&work, &|operation| self.service.usable(operation)) else {
            let why = match &work.action {
                Action::AddLicence(_) => "the service has no look-up for licence codes",
                _ => "no look-up that shows whether it was carried out is available",
            };
            return Ok(RecordSearch::Unknown { untold: why.to_owned() });
        };
        let by = lookup.operation().to_string();
        Ok(match self.service.ask(&lookup).await? {
            LookupAnswer::Records(found) => match seen_change(&work.action, Some(owner), &found) {
                SeenChange::AsAsked => RecordSearch::Change { by, is_so: true },
                SeenChange::Otherwise(_) | SeenChange::Absent => RecordSearch::Change { by, is_so: false },
                // To assign a device once more changes nothing.
                SeenChange::Unclear if work.action == Action::AssignToSite => {
                    RecordSearch::Change { by, is_so: false }
                }
                SeenChange::Unclear => {
                    RecordSearch::Unknown { untold: format!("{by} does not tell whether it is so") }
                }
            },
            LookupAnswer::Unavailable => RecordSearch::Unknown { untold: format!("{by} is not available") },
            LookupAnswer::Inconclusive(why) | LookupAnswer::Failed(why) => {
                RecordSearch::Unknown { untold: format!("{by}: {why}") }
            }
        })
    }

    /// Finds the ids of what a step names otherwise; returns what there is to say where they cannot be found.
    async fn find_names(&mut self, work: &mut Work) -> Result<Option<RecordSearch>> {
        'names: loop {
            let names = lookups::of_name(work);
            let mut asked = Vec::new();
            for (at, lookup) in names.iter().enumerate() {
                let operation = lookup.operation();
                if !self.service.usable(operation) {
                    continue;
                }
                let found = match self.service.ask(lookup).await? {
                    LookupAnswer::Records(found) => found,
                    LookupAnswer::Unavailable => continue,
                    LookupAnswer::Inconclusive(why) | LookupAnswer::Failed(why) => {
                        return Ok(Some(RecordSearch::Unknown { untold: format!("{operation}: {why}") }));
                    }
                };
                asked.push(operation);
                match find_name(&work.action, &found) {
                    NameSearch::Found(action) => {
                        work.action = action;
                        continue 'names;
                    }
                    NameSearch::Several(..) => {
                        let why = format!("{operation} shows more than one of the name that the row gives");
                        return Ok(Some(RecordSearch::Unknown { untold: why }));
                    }
                    NameSearch::Missing(_)
                        if at == 0
                            && lookups::is_gone_with_its_name(&work.action)
                            && !may_be_a_page(found.len()) =>
                    {
                        return Ok(Some(RecordSearch::Change { by: operation.to_string(), is_so: true }));
                    }
                    NameSearch::Missing(_) => {}
                }
            }
            return Ok(names.first().map(|first| RecordSearch::Unknown {
                untold: match asked.is_empty() {
                    true => format!(
                        "{} is not available, and without it the id of what the row names is not known",
                        first.operation()
                    ),
                    false => format!("{} shows nothing of the name that the row gives", written(&asked)),
                },
            }));
        }
    }

    async fn search_by_key(
        &mut self,
        journal: &Journal,
        work: &Work,
        shown: &[RemoteId],
    ) -> Result<RecordSearch> {
        let mut next = self.by_key(work);
        while let Some(lookup) = next.take() {
            let operation = lookup.operation();
            let found = match self.service.ask(&lookup).await? {
                LookupAnswer::Records(found) => found,
                LookupAnswer::Unavailable => {
                    next = self.by_key(work);
                    continue;
                }
                LookupAnswer::Inconclusive(why) | LookupAnswer::Failed(why) => {
                    return Ok(RecordSearch::Unknown { untold: format!("{operation}: {why}") });
                }
            };
            let length = found.len();
            let (mut candidates, earlier) = sort_out(journal, work, shown, found)?;
            if !candidates.is_empty() {
                self.read_in_full(work, &mut candidates).await?;
                let candidates = candidates.into_iter().map(|(_, candidate)| candidate).collect();
                return Ok(RecordSearch::Answered { by: operation.to_string(), candidates, earlier });
            }
            if may_be_a_page(length) {
                next = lookups::narrower(work, operation)
                    .filter(|lookup| self.service.usable(lookup.operation()));
                if next.is_none() {
                    let why = format!("{operation} lists {length} records, which may be one page of more");
                    return Ok(RecordSearch::Unknown { untold: why });
                }
                continue;
            }
            return Ok(match self.prove(journal, work.kind, operation).await? {
                Some(true) => {
                    RecordSearch::Answered { by: operation.to_string(), candidates: Vec::new(), earlier }
                }
                None => RecordSearch::Answered {
                    by: format!("{operation} (nothing of ours was there to try it by)"),
                    candidates: Vec::new(),
                    earlier,
                },
                Some(false) => RecordSearch::Unknown {
                    untold: format!("{operation} does not find what is known to exist"),
                },
            });
        }
        Ok(RecordSearch::Unknown {
            untold: format!("no look-up for a {} is available", work.kind.singular()),
        })
    }

    /// Whether the record with this id is the row's.
    ///
    /// # Errors
    ///
    /// As for [`Verifier::search`].
    pub async fn check(&mut self, journal: &Journal, work: &Work, id: RemoteId) -> Result<RecordCheck> {
        let about = work.owner().filter(|_| !work.kind.is_record()).map(|(_, id)| id);
        if let Some(own) = work.remote_id.or(about) {
            return self.carried_out(journal, work, own, id).await;
        }
        let mut asked = Vec::new();
        let mut record = None;
        if let Some(lookup) = Lookup::record(work.kind, id)
            && self.service.usable(lookup.operation())
        {
            asked.push(lookup.operation());
            match self.service.ask(&lookup).await? {
                LookupAnswer::Records(found) => {
                    let Some(found) = found.into_iter().find(|found| found.id == Some(id)) else {
                        let kind = work.kind.singular();
                        let differences = vec![format!("the service has no {kind} with the id {id}")];
                        return Ok(RecordCheck::Another { by: written(&asked), differences });
                    };
                    record = Some(found);
                }
                LookupAnswer::Unavailable => drop(asked.pop()),
                LookupAnswer::Inconclusive(why) | LookupAnswer::Failed(why) => {
                    return Ok(RecordCheck::Unknown(format!("{}: {why}", written(&asked))));
                }
            }
        }
        if record.is_none()
            && let Some(lookup) = self.by_key(work)
        {
            asked.push(lookup.operation());
            if let LookupAnswer::Records(found) = self.service.ask(&lookup).await? {
                record = found.into_iter().find(|found| found.id == Some(id));
            }
        }
        let Some(record) = record else {
            let why = match written(&asked) {
                none if none.is_empty() => format!("no look-up for a {} is available", work.kind.singular()),
                asked => format!("{asked} does not show it, and it cannot be read by its id"),
            };
            return Ok(RecordCheck::Unknown(why));
        };
        let (mut differences, mut notes) = matching::apart(&matching::sent(work), &record.raw);
        self.check_owner(work, id, &mut asked, &mut differences, &mut notes).await?;
        let by = written(&asked);
        Ok(if differences.is_empty() {
            RecordCheck::Confirmed { by, notes }
        } else {
            RecordCheck::Another { by, differences }
        })
    }

    /// Companies and people do not say where they belong: the list of their company does.
    async fn check_owner(
        &mut self,
        work: &Work,
        id: RemoteId,
        asked: &mut Vec<Operation>,
        differences: &mut Vec<String>,
        notes: &mut Vec<String>,
    ) -> Result<()> {
        let list = match work.kind {
            Kind::Company => lookups::link(work, Role::Parent).map(Lookup::ChildCompanies),
            Kind::Person => lookups::link(work, Role::Company).map(Lookup::PeopleOf),
            Kind::Site | Kind::Device | Kind::Upkeep(_) => return Ok(()),
        };
        let unknown = "which company it belongs to could not be asked";
        let Some(list) = list.filter(|list| self.service.usable(list.operation())) else {
            notes.push(unknown.to_owned());
            return Ok(());
        };
        match self.service.ask(&list).await? {
            LookupAnswer::Records(found) => {
                if found.iter().any(|found| found.id == Some(id)) {
                    asked.push(list.operation());
                } else if may_be_a_page(found.len()) {
                    notes.push(unknown.to_owned());
                } else {
                    asked.push(list.operation());
                    differences.push("it belongs to another company than the row says".to_owned());
                }
            }
            LookupAnswer::Unavailable | LookupAnswer::Inconclusive(_) | LookupAnswer::Failed(_) => {
                notes.push(unknown.to_owned())
            }
        }
        Ok(())
    }

    /// The same for a step after the creation, whose record is known.
    async fn carried_out(
        &mut self,
        journal: &Journal,
        work: &Work,
        own: RemoteId,
        id: RemoteId,
    ) -> Result<RecordCheck> {
        if own != id {
            let whose = if work.kind.is_record() {
                "the row's own record has"
            } else {
                "the row is about the record with"
            };
            let differences = vec![format!("{whose} the id {own}")];
            return Ok(RecordCheck::Another { by: "the journal".to_owned(), differences });
        }
        Ok(match self.search(journal, work, &[]).await? {
            RecordSearch::Answered { by, .. } | RecordSearch::Change { by, is_so: true } => {
                RecordCheck::Confirmed { by, notes: Vec::new() }
            }
            RecordSearch::Change { by, is_so: false } => {
                RecordCheck::Another { by, differences: vec!["it is not as the row asks for".to_owned()] }
            }
            RecordSearch::Unknown { untold: why } => RecordCheck::Unknown(why),
        })
    }

    fn by_key(&self, work: &Work) -> Option<Lookup> {
        lookups::by_key(work, &|operation| self.service.usable(operation))
    }

    /// Lists of companies show only names: reads the first candidates in full, to say how they differ.
    async fn read_in_full(&mut self, work: &Work, candidates: &mut [(RecordMatch, Candidate)]) -> Result<()> {
        if work.kind != Kind::Company || !self.service.usable(Operation::GetCompany) {
            return Ok(());
        }
        for (relation, candidate) in candidates.iter_mut().take(READ_IN_FULL) {
            let (RecordMatch::Agrees, Some(id)) = (&relation, candidate.id) else { continue };
            if let LookupAnswer::Records(found) = self.service.ask(&Lookup::Company(id)).await?
                && let Some(found) = found.iter().find(|found| found.id == Some(id))
            {
                let differences = matching::differences(&matching::sent(work), &found.raw);
                if !differences.is_empty() {
                    candidate.difference = differences.join("; ");
                }
            }
        }
        Ok(())
    }

    /// Whether a look-up finds a record of ours that is known to exist; `None` where there is none to try.
    async fn prove(&mut self, journal: &Journal, kind: Kind, operation: Operation) -> Result<Option<bool>> {
        if let Some(known) = self.proved.get(&(operation, kind)) {
            return Ok(*known);
        }
        let mut proved = None;
        for row in journal.witness(kind, CONTROLS)? {
            let Some((lookup, expected)) = lookups::control(&row, operation) else { continue };
            let found = match self.service.ask(&lookup).await? {
                LookupAnswer::Records(found) => found.iter().any(|found| found.id == Some(expected)),
                LookupAnswer::Unavailable | LookupAnswer::Inconclusive(_) | LookupAnswer::Failed(_) => false,
            };
            proved = Some(found);
            if found {
                break;
            }
        }
        self.proved.insert((operation, kind), proved);
        Ok(proved)
    }
}

fn written(asked: &[Operation]) -> String {
    asked.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

/// Candidates with how they relate to the row, and records that were there before it was sent.
type SortedOut = (Vec<(RecordMatch, Candidate)>, Vec<Candidate>);

/// Sorts out which of the returned records may be the row's: not those that another row owns, unless they are all that this
/// one asks for, and not those that were there before it was sent.
fn sort_out(journal: &Journal, work: &Work, shown: &[RemoteId], found: Vec<Found>) -> Result<SortedOut> {
    let ids: Vec<RemoteId> = found.iter().filter_map(|found| found.id).collect();
    let owners = journal.owners(&ids)?;
    let sent: Value = matching::sent(work);
    let (mut candidates, mut earlier) = (Vec::new(), Vec::new());
    for SeenRecord { found, owner, .. } in SeenRecord::pair(found, &owners, &[]) {
        let relation = matching::relate(work, &sent, &found);
        let other = owner.filter(|owner| *owner != work.job);
        if relation == RecordMatch::Unrelated || (other.is_some() && relation != RecordMatch::Agrees) {
            continue;
        }
        let words = match &relation {
            RecordMatch::Near(difference) | RecordMatch::Differs(difference) => difference.clone(),
            RecordMatch::Agrees | RecordMatch::Unrelated => "equal".to_owned(),
        };
        if was_there(work, shown, &found, &relation) {
            let words = format!("{words}; it was there before the row was sent");
            earlier.push(matching::candidate(&found, &words));
        } else {
            let candidate = matching::candidate(&found, &words);
            let recorded = other.map(|owner| classify::recorded_for(owner, candidate.clone()));
            candidates.push((relation, recorded.unwrap_or(candidate)));
        }
    }
    Ok((candidates, earlier))
}

/// Whether a record cannot come from a request for the row.
fn was_there(work: &Work, shown: &[RemoteId], found: &Found, relation: &RecordMatch) -> bool {
    let never_sent = work.first_sent_at.is_none() && !work.doubted && !work.executed;
    // The person was shown it, with what differs, and says that it is not the row's.
    let is_ruled_out = |id| never_sent && shown.contains(&id) && *relation != RecordMatch::Agrees;
    classify::was_there(work, found) || found.id.is_some_and(is_ruled_out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::time::Moment;
    use crate::run::tests::{OURS, found, record, site};

    #[test]
    fn a_record_that_was_there_before_or_was_shown_to_differ_is_not_what_a_request_made() {
        let equal = found(json!({"companyId": OURS, "name": "Depot", "id": record(1)}));
        let folded = found(json!({"companyId": OURS, "name": "DEPOT", "id": record(1)}));
        let near = RecordMatch::Near("its name is 'DEPOT'".to_owned());
        let fresh = site("Depot", None);
        let mut sent = site("Depot", None);
        sent.first_sent_at = Some(Moment::from_millis(1));
        let mut after_a_look = sent.clone();
        after_a_look.baseline = Some(vec![record(1)]);
        let shown = [record(1)];
        let table = [
            ("never sent, shown, near", &fresh, &shown[..], &folded, &near, true),
            ("never sent, near, but never shown", &fresh, &[][..], &folded, &near, false),
            ("never sent, shown, equal", &fresh, &shown[..], &equal, &RecordMatch::Agrees, false),
            ("sent, shown, near", &sent, &shown[..], &folded, &near, false),
            ("seen before the first send", &after_a_look, &[][..], &equal, &RecordMatch::Agrees, true),
        ];
        for (case, work, shown, found, relation, expected) in table {
            assert_eq!(was_there(work, shown, found, relation), expected, "{case}");
        }
    }
}
