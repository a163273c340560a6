//! Verifies the ids by which sheets name records of the service, before anything is sent that changes something: each id is
//! looked up once (specification 4.2, 4.5 and 4.8, the operations that get a record by its id).
//!
//! Only the service's own word that there is no such record makes an id wrong. A look-up without a usable answer shows
//! nothing: its row is sent, and the service rejects it if the id is wrong.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::error::Result;
use crate::model::id::check::{IdCheck, IdStanding, NamedId};
use crate::model::operation::Operation;
use crate::service::{Lookup, ReadError, ServiceReader, found};

/// How many ids are looked up before what was shown is handed over: a process that ends loses no more than that.
const ROUND: usize = 64;

/// For so long a service may answer none of a round: a run does not wait for the time of a request that hangs.
pub(super) const SILENCE: Duration = Duration::from_secs(10);

/// What the answer of the look-up shows of a record.
fn standing(
    operation: Operation,
    (_, id): NamedId,
    answer: &std::result::Result<Value, ReadError>,
) -> IdStanding {
    match answer {
        Ok(body) => match found(operation, body) {
            Ok(records) if records.iter().any(|record| record.id == Some(id)) => IdStanding::Verified,
            Ok(_) => IdStanding::Unknown(format!("{operation} answers with another record")),
            Err(why) => IdStanding::Unknown(format!("{operation}: {why}")),
        },
        Err(ReadError::NotFound(_, _)) => IdStanding::Absent,
        Err(error @ (ReadError::Unavailable(_, _) | ReadError::Failed(_, _) | ReadError::Stopped(_))) => {
            IdStanding::Unknown(error.to_string())
        }
    }
}

/// The operation that looks an id up, where it can be reached.
pub fn look_up_of((kind, id): NamedId, available: &dyn Fn(Operation) -> bool) -> Option<Lookup> {
    Lookup::record(kind, id).filter(|look_up| available(look_up.operation()))
}

/// Looks the ids up, side by side, and hands over what each round has shown. An operation that answers none of a round is
/// not asked again; a service that refuses us or cannot be reached is asked nothing more.
///
/// # Errors
///
/// Those of `each`.
pub async fn verify_ids(
    reader: &ServiceReader,
    clock: &dyn Clock,
    ids: impl IntoIterator<Item = NamedId>,
    each: &mut dyn FnMut(&IdCheck) -> Result<()>,
) -> Result<IdCheck> {
    let mut check = IdCheck::default();
    let mut waiting: BTreeMap<Operation, VecDeque<(NamedId, Lookup)>> = BTreeMap::new();
    for id in ids {
        match look_up_of(id, &|operation| reader.available(operation)) {
            Some(look_up) => waiting.entry(look_up.operation()).or_default().push_back((id, look_up)),
            None => drop(check.unreachable.insert(id)),
        }
    }
    loop {
        waiting.retain(|_, look_ups| !look_ups.is_empty());
        if waiting.is_empty() {
            return Ok(check);
        }
        let of_each = ROUND / waiting.len();
        let mut under_way = JoinSet::new();
        let mut unanswered = BTreeMap::new();
        for (operation, look_ups) in &mut waiting {
            for (id, look_up) in look_ups.drain(..of_each.min(look_ups.len())) {
                unanswered.insert(id, *operation);
                let reader = reader.clone();
                under_way.spawn(async move { (id, look_up.operation(), reader.read(look_up.call()).await) });
            }
        }
        let (mut round, mut answering, mut silent) = (IdCheck::default(), BTreeSet::new(), BTreeMap::new());
        let mut stopped = None;
        loop {
            let ended = tokio::select! {
                ended = under_way.join_next() => ended,
                () = clock.sleep_until(clock.elapsed().saturating_add(SILENCE)) => None,
            };
            let Some(ended) = ended else { break };
            let (id, operation, answer) =
                ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
            unanswered.remove(&id);
            let standing = standing(operation, id, &answer);
            match &standing {
                IdStanding::Verified | IdStanding::Absent => drop(answering.insert(operation)),
                IdStanding::Unknown(why) => drop(silent.insert(operation, why.clone())),
            }
            if let Err(error @ ReadError::Stopped(_)) = answer {
                stopped = Some(error.to_string());
            }
            round.note(id, standing);
        }
        for (id, operation) in unanswered {
            let why = format!("{operation} did not answer within {} seconds", SILENCE.as_secs());
            silent.insert(operation, why.clone());
            round.note(id, IdStanding::Unknown(why));
        }
        silent.retain(|operation, _| !answering.contains(operation));
        for (operation, look_ups) in &mut waiting {
            if let Some(why) = stopped.as_ref().or(silent.get(operation)) {
                round.failed.extend(look_ups.drain(..).map(|(id, _)| (id, why.clone())));
            }
        }
        each(&round)?;
        check.append(round);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::id::RemoteId;
    use crate::model::kind::Kind;
    use crate::model::verdict::{Refusal, Verdict};

    #[test]
    fn only_the_word_of_the_service_makes_an_id_wrong() {
        let (asked, other) = (RemoteId::from_u128(7), RemoteId::from_u128(8));
        let get = Operation::GetCompany;
        let unknown = |why: &str| IdStanding::Unknown(why.to_owned());
        let table = [
            (Ok(json!({"id": asked, "name": "Acme"})), IdStanding::Verified),
            (Ok(json!([{"id": asked, "name": "Acme"}])), IdStanding::Verified),
            (Ok(json!({"id": other, "name": "Acme"})), unknown("getCompany answers with another record")),
            (Ok(json!([])), unknown("getCompany answers with another record")),
            (Ok(json!(null)), unknown("getCompany: the answer holds no data")),
            (Err(ReadError::NotFound(get, "noDataFound: none".into())), IdStanding::Absent),
            (
                Err(ReadError::Failed(get, "invalidState: it is deleted".into())),
                unknown("getCompany: invalidState: it is deleted"),
            ),
            (Err(ReadError::Unavailable(get, 404)), unknown("getCompany: the service answers 404")),
            (
                Err(ReadError::Stopped(Verdict::Refused(Refusal::InvalidClient))),
                unknown("the service refuses requests or cannot be reached"),
            ),
        ];
        for (answer, expected) in table {
            assert_eq!(standing(get, (Kind::Company, asked), &answer), expected, "{answer:?}");
        }
    }

    #[test]
    fn records_are_looked_up_by_the_operation_of_their_kind_where_that_can_be_reached() {
        let id = RemoteId::from_u128(7);
        let documented = |operation| matches!(operation, Operation::GetCompany | Operation::GetDevice);
        let asked = |kind| look_up_of((kind, id), &documented).map(|look_up| look_up.operation());
        assert_eq!(asked(Kind::Company), Some(Operation::GetCompany));
        assert_eq!(asked(Kind::Device), Some(Operation::GetDevice));
        assert_eq!(asked(Kind::Site), None);
    }
}
