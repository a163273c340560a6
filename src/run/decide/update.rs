//! The look before a record is changed: what of the row's fields is sent, by what the record has now (specification 4.2, 4.5
//! and 4.8); and the same for metadata and settings in VPN clouds that come from an export.
//!
//! Only what differs is sent. What the service has changed since the row was exported is not overwritten unless the operator
//! says so, and a row that asks for what the service cannot change is refused before anything is sent for it.

use serde_json::Value;

use super::upkeep::{leave, with_cell, write_rejection};
use super::{RowDecision, RunFacts};
use crate::journal::Work;
use crate::model::action::record_update::{FieldDifference, RecordUpdate, UpdateComparison};
use crate::model::action::vpn_comparison::SettingDifference;
use crate::model::action::{Action, OwnedEntry, VpnSettings};
use crate::model::kind::Kind;
use crate::model::reason::Reason;
use crate::model::verdict::{Rejection, Violation};
use crate::run::evidence::classify::refusal;
use crate::run::evidence::lookups;
use crate::service::{Found, may_be_a_page};

/// A row was fetched that changes a record which exists.
pub(super) fn first_lookup(work: &Work, update: &RecordUpdate, facts: &RunFacts<'_>) -> RowDecision {
    match (&update.send, &update.before) {
        (Some(_), Some(before)) => return RowDecision::SendOver(before.clone()),
        (Some(_), None) => return RowDecision::Send,
        (None, _) => {}
    }
    match lookups::of_step(work, facts.usable) {
        Some(lookup) => RowDecision::CompareWithList(lookup),
        None => unread(work, update, facts),
    }
}

/// The record was read, or could not be.
pub(super) fn on_record(
    work: &Work,
    update: &RecordUpdate,
    facts: &RunFacts<'_>,
    found: Option<&[Found]>,
) -> RowDecision {
    let id = work.owner().map(|(_, id)| id);
    let Some(record) = found.and_then(|found| found.iter().find(|found| found.id == id)) else {
        return unread(work, update, facts);
    };
    let compared = update.compare(&record.raw, facts.policy.overwrite);
    if let Some(refused) = refuse(work, facts, &compared) {
        return refused;
    }
    if compared.send.is_empty() {
        return existing(work, facts, (update, &record.raw), compared);
    }
    RowDecision::Resolved(Box::new(Action::Update(update.resolved(&record.raw, compared))))
}

/// The record cannot be read: all fields are sent, unless something of the row can only be judged by the record.
fn unread(work: &Work, update: &RecordUpdate, facts: &RunFacts<'_>) -> RowDecision {
    let kind = work.kind.sheet();
    let unreadable = |why: &str| {
        let message = format!("the {} could not be read, and without that {why}", kind.singular());
        write_rejection(work, facts, refusal(Reason::LookupUnavailable.as_str(), message))
    };
    let parts = || update.fields.keys().filter(|field| field.starts_with("address."));
    if let Some(field) = update.fixed.keys().next() {
        return unreadable(&format!("it is not known whether its {} is as in the row", words(field)));
    }
    if !update.exported.is_empty() && !facts.policy.overwrite {
        return unreadable("it is not known whether the service has changed it since the export");
    }
    if parts().next().is_some() && !parts().any(|field| field == "address.address1") {
        return unreadable("a part of the address might replace it all");
    }
    if update.fields.is_empty() {
        return leave(work, facts, None, None);
    }
    RowDecision::Send
}

/// Refuses a row that asks for what cannot be, or must not be without a person's word.
fn refuse(work: &Work, facts: &RunFacts<'_>, compared: &UpdateComparison) -> Option<RowDecision> {
    let kind = work.kind.sheet();
    let (code, told): (Reason, Vec<(&str, String)>) =
        match (compared.fixed.as_slice(), compared.conflicts.as_slice()) {
            ([], []) if !compared.lacking_of_address.is_empty() => {
                return Some(refuse_part_of_address(work, facts, &compared.lacking_of_address));
            }
            ([], []) => return None,
            ([], conflicts) => (
                Reason::ChangedSinceExport,
                conflicts.iter().map(|found| (found.field.as_str(), since_export(found))).collect(),
            ),
            (differences, _) => (
                Reason::NotChangeable,
                differences.iter().map(|found| (found.field.as_str(), fixed(kind, found))).collect(),
            ),
        };
    let violation = |(field, message): (&str, String)| Violation { path: field.to_owned(), message };
    let violations: Vec<Violation> = told.into_iter().map(violation).collect();
    let message =
        violations.iter().map(|violation| violation.message.as_str()).collect::<Vec<_>>().join("; ");
    let rejection = Rejection { violations, ..refusal(code.as_str(), message) };
    Some(write_rejection(work, facts, rejection))
}

/// Refuses to put a part of an address in the place of one that the service does not show.
fn refuse_part_of_address(work: &Work, facts: &RunFacts<'_>, lacking: &[&str]) -> RowDecision {
    let names: Vec<&str> = lacking.iter().map(|field| words(field)).collect();
    let message = format!(
        "the service does not show the address of the {}, and that of the row takes the place of all of it: fill in {} and \
         the other cells of the address",
        work.kind.sheet().singular(),
        names.join(", ")
    );
    let blank = |field: &&str| Violation { path: (*field).to_owned(), message: String::new() };
    let violations = lacking.iter().map(blank).collect();
    let rejection = Rejection { violations, ..refusal(Reason::NotChangeable.as_str(), message) };
    write_rejection(work, facts, rejection)
}

/// A row that an export saw, nobody changed, and that is no longer so: the service changed it, and it stays.
pub(super) fn gone_since_export(work: &Work, facts: &RunFacts<'_>) -> RowDecision {
    let what = "the service has changed this since the export, and it is left as it is".to_owned();
    leave(work, facts, Some((Reason::ChangedSinceExport, what)), None)
}

/// A row that an export saw and nobody changed, about what cannot be read now.
pub(super) fn unread_export(work: &Work, facts: &RunFacts<'_>) -> RowDecision {
    let what = "the row asks for nothing new, and whether it is so still could not be read".to_owned();
    leave(work, facts, Some((Reason::LookupUnavailable, what)), None)
}

/// Refuses to replace or delete a metadata entry that the service has changed or deleted since the export. After a lost answer
/// too: what shows then is neither the value of the export nor that of the row, so that somebody else has put it there.
pub(super) fn refuse_overwriting(
    work: &Work,
    facts: &RunFacts<'_>,
    entry: &OwnedEntry,
    found: &[Found],
) -> Option<RowDecision> {
    let exported = entry.exported.as_deref()?;
    let there = found.iter().find(|found| found.key.as_deref() == Some(&entry.key));
    let shown = there.map(|found| found.value.as_deref().unwrap_or_default());
    if shown.unwrap_or_default() == exported || facts.policy.overwrite {
        return None;
    }
    let message = match (&entry.value, shown) {
        (Some(wanted), Some(shown)) => {
            let (wanted, shown) = (wanted.clone(), Some(shown.to_owned()));
            since_export(&FieldDifference { field: "value".to_owned(), wanted, shown })
        }
        (None, Some(shown)) => format!(
            "the service has changed the value to '{shown}' since the export, which saw '{exported}': it is not deleted"
        ),
        (wanted, None) => {
            let gone = match may_be_a_page(found.len()) {
                true => "the service does not show this entry any more",
                false => "the service has deleted this entry since the export",
            };
            let asks = wanted.as_ref().map(|wanted| format!(", and the sheet has '{wanted}'"));
            format!("{gone}, which saw '{exported}'{}", asks.unwrap_or_default())
        }
    };
    let rejection = refusal(Reason::ChangedSinceExport.as_str(), message);
    Some(write_rejection(work, facts, with_cell(rejection, "value")))
}

/// The metadata entry of a row that an export saw cannot be read, and may be another one now.
pub(super) fn unread_entry(work: &Work, facts: &RunFacts<'_>) -> RowDecision {
    let message = "the entry could not be read, and without that it is not known whether the service has changed it since the \
                   export";
    write_rejection(work, facts, refusal(Reason::LookupUnavailable.as_str(), message.to_owned()))
}

/// The settings that a device has in a VPN cloud were read, for a row with settings that an export saw.
pub(super) fn on_settings(
    work: &Work,
    settings: &VpnSettings,
    facts: &RunFacts<'_>,
    shown: &Value,
) -> RowDecision {
    let compared = settings.compare(shown, facts.policy.overwrite);
    let told = |of: &SettingDifference| {
        let interface = of.interface.as_ref().map(|name| format!("interface {name}: "));
        interface.unwrap_or_default() + &since_export(&of.difference)
    };
    if !compared.conflicts.is_empty() {
        let path = |of: &SettingDifference| match &of.interface {
            Some(interface) => format!("{}[{interface}]", of.difference.field),
            None => of.difference.field.clone(),
        };
        let violation = |of: &SettingDifference| Violation { path: path(of), message: told(of) };
        let violations: Vec<Violation> = compared.conflicts.iter().map(violation).collect();
        let messages: Vec<&str> = violations.iter().map(|violation| violation.message.as_str()).collect();
        let rejection = refusal(Reason::ChangedSinceExport.as_str(), messages.join("; "));
        return write_rejection(work, facts, Rejection { violations, ..rejection });
    }
    if !compared.send.asks_for_a_change() {
        let left: Vec<String> =
            compared.left.iter().map(|left| format!("{}: {}", left.difference.field, told(left))).collect();
        let note = (!left.is_empty()).then(|| (Reason::ChangedSinceExport, left.join("; ")));
        return leave(work, facts, note, None);
    }
    let (send, left) = (Some(Box::new(compared.send)), compared.left.into_iter().map(Into::into).collect());
    RowDecision::Resolved(Box::new(Action::ConfigureVpn(VpnSettings { send, left, ..settings.clone() })))
}

/// The settings that a device has in a VPN cloud cannot be read, for a row with settings that an export saw.
pub(super) fn unread_settings(work: &Work, settings: &VpnSettings, facts: &RunFacts<'_>) -> RowDecision {
    if !settings.asks_for_a_change() {
        return unread_export(work, facts);
    }
    if facts.policy.overwrite {
        let send = Some(Box::new(settings.given()));
        return RowDecision::Resolved(Box::new(Action::ConfigureVpn(VpnSettings {
            send,
            ..settings.clone()
        })));
    }
    let message = "the settings of the device in the VPN cloud could not be read, and without that it is not known whether \
                   the service has changed them since the export";
    write_rejection(work, facts, refusal(Reason::LookupUnavailable.as_str(), message.to_owned()))
}

/// Nothing is to be sent. What the service changed since the export is named.
fn existing(
    work: &Work,
    facts: &RunFacts<'_>,
    (update, record): (&RecordUpdate, &Value),
    compared: UpdateComparison,
) -> RowDecision {
    if compared.left.is_empty() {
        return leave(work, facts, None, None);
    }
    let told: Vec<String> =
        compared.left.iter().map(|left| format!("{}: {}", words(&left.field), since_export(left))).collect();
    let left = update.resolved(record, compared).before;
    leave(work, facts, Some((Reason::ChangedSinceExport, told.join("; "))), left)
}

/// A field that the service has changed since the export.
fn since_export(difference: &FieldDifference) -> String {
    let done = match difference.shown.as_deref().unwrap_or_default() {
        "" => "cleared this".to_owned(),
        shown => format!("changed this to '{shown}'"),
    };
    format!("the service has {done} since the export, and the sheet has '{}'", difference.wanted)
}

/// A field that the service cannot change.
fn fixed(kind: Kind, difference: &FieldDifference) -> String {
    let (field, kind) = (words(&difference.field), kind.singular());
    let has = match &difference.shown {
        Some(shown) => format!("it is '{shown}'"),
        None => "the service does not show it".to_owned(),
    };
    let advice = match field {
        "licenceCode" => "add the code in the sheet licences, and clear the cell",
        _ => "clear the cell, or enter what it is",
    };
    format!("the service cannot change the {field} of a {kind}, and {has}: {advice}")
}

/// A field as the service calls it, without the object around it.
fn words(field: &str) -> &str {
    field.strip_prefix("address.").unwrap_or(field)
}
