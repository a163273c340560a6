//! What the operator is told of a row that the journal knows: that it is unchanged, in what it differs, whose key, MAC
//! address or username it has.

use std::borrow::Cow;

use super::Examined;
use super::identity::{Decision, Keyed, Known, SameKey, came_to_nothing, owner, person_or_thing};
use super::prepared::Ready;
use crate::error::{Error, Result};
use crate::journal::{Difference, ImportWriter, KnownJob};
use crate::model::id::JobId;
use crate::model::kind::Kind;
use crate::model::record::{Device, Link, Record, Target};
use crate::sheet::finding::{Code, Finding, Severity, ValueKind, shown};
use crate::sheet::subject_column;

/// Columns told one by one in a finding; the report has all of them.
const MOST_COLUMNS: usize = 8;

/// The finding about a row of which it was decided what it is; nothing where that needs no words.
pub(super) fn said(
    writer: &ImportWriter<'_>,
    examined: &Examined,
    ready: &Ready,
    decision: &Decision,
    known: &Known,
    keyed: Keyed,
    differences: &[Difference],
) -> Result<Option<Finding>> {
    let values = &ready.values;
    let kind = values.kind;
    let name = match kind {
        Kind::Person => "username",
        Kind::Company | Kind::Site | Kind::Device => "name",
        Kind::Upkeep(upkeep) => subject_column(upkeep),
    };
    let another = known.natural.as_ref().filter(|_| keyed == Keyed::Another);
    let another = another.and_then(|known| known.sheet_key.as_deref());
    let stays = another.map_or_else(String::new, |key| format!("; its key stays '{}'", shown(key)));
    let (code, severity, column, mut message) = match decision {
        Decision::Add => {
            return match abandoned(writer, examined, ready, known)? {
                None => elsewhere(writer, examined, ready, known),
                found => Ok(found),
            };
        }
        Decision::Revise(job) => {
            return match abandoned(writer, examined, ready, known)? {
                None => moved(writer, examined, ready, (known, *job)),
                found => Ok(found),
            };
        }
        Decision::Recognise(_) => match (another, keyed, ready.key_as_written()) {
            (Some(own), ..) => (
                Code::RowUnchanged,
                Severity::Warning,
                "key",
                format!(
                    "unchanged since an earlier import, which knows it by the key '{own}'; its key stays that, and later \
                     sheets may refer to it by either",
                    own = shown(own)
                ),
            ),
            (None, Keyed::First, Some(key)) => (
                Code::RowUnchanged,
                Severity::Info,
                name,
                format!(
                    "unchanged since an earlier import; nothing new is sent for it, and later sheets find it by the \
                     key '{}'",
                    shown(key)
                ),
            ),
            (None, Keyed::First | Keyed::AsBefore | Keyed::Another, _) => (
                Code::RowUnchanged,
                Severity::Info,
                name,
                "unchanged since an earlier import; nothing new is sent for it".to_owned(),
            ),
        },
        Decision::LeaveUnderWay(job) => {
            let differing = columns(differences);
            let message = match known.is_held(*job) {
                true => format!(
                    "job {job} is on hold, and the values of the row are not used: {differing}{stays}; decide the job with \
                     `fleetload resolve {job}`, then import the row again"
                ),
                false => format!(
                    "job {job} is being sent, or its outcome is not known yet: the values it was sent with stay, and those \
                     of the row are not used: {differing}{stays}{}",
                    if kind.is_record() { "" } else { "; import the row again once that is settled" },
                ),
            };
            (Code::RowDiffers, Severity::Warning, first_column(differences, name), message)
        }
        Decision::ReviseLater(_) if differences.is_empty() => return Ok(None),
        Decision::ChangedSince(job) | Decision::ReviseLater(job) => (
            Code::RowDiffers,
            Severity::Warning,
            first_column(differences, name),
            format!(
                "differs from what was imported earlier (job {job}): {}; {}{stays}",
                columns(differences),
                match decision {
                    Decision::ReviseLater(_) => {
                        "the record is not changed, and what was not done besides is sent as the row has it now"
                    }
                    _ => "nothing is sent, and the record is not changed",
                }
            ),
        ),
        Decision::KeyTaken(job) => {
            let other = known.by_key.iter().find(|same| same.known.job == *job);
            let Some(other) = other.map(|same| &same.known) else { return Ok(None) };
            let natural = known.natural.as_ref().map(|known| known.sheet_key.as_deref());
            let same = format!("the same {}", kind.singular());
            let advice: Cow<'_, str> = if let Some(Some(own)) = natural {
                format!(
                    "and this row is another one, which an earlier import brought with the key '{}': write that key, or \
                     correct the name",
                    shown(own)
                )
                .into()
            } else if natural.is_some() {
                "and this row is another one, which an earlier import brought without a key: choose another key".into()
            } else if other.remote_id.is_some() {
                format!("which exists: choose another key, or correct the {name} if {same} is meant").into()
            } else {
                format!(
                    "which is not created yet, and rows that name the key belong to it: choose another key; if {same} is meant, \
                     change its {name} first and nothing else, then the rest in another import"
                )
                .into()
            };
            let message = format!(
                "import {} gave this key to the {} '{}', {advice}",
                other.first_import,
                kind.singular(),
                shown(&other.name)
            );
            (Code::DupKey, Severity::Error, "key", message)
        }
        Decision::FormerName(job) => {
            let Some(other) = &known.natural else { return Ok(None) };
            let message = format!(
                "import {} made a {} of this name (job {job}), which an update has renamed to '{}'; that one has no key, \
                 so that nothing tells whether this row is the same: if it is, write the name that it has now; if it is \
                 another one, give that one a key first, in a row with its name",
                other.first_import,
                kind.singular(),
                shown(&other.name)
            );
            (Code::DupNaturalKey, Severity::Error, name, message)
        }
        Decision::Twice(job) => (
            Code::DupNaturalKey,
            Severity::Error,
            name,
            format!(
                "another row is the same {}, {}: remove one of them",
                kind.singular(),
                shown(&writer.place_of(*job)?)
            ),
        ),
        Decision::Collides(job) | Decision::Awaits(job) => {
            let other = known.natural.as_ref().filter(|known| known.job == *job);
            let other =
                other.ok_or_else(|| Error::internal("a row collides with a job that is not known"))?;
            return collision(writer, examined, ready, other).map(Some);
        }
    };
    if let Some((job, state)) = known.update {
        message.push_str(&format!("; job {job} ({state}) is to update its record, and is not settled yet"));
    }
    let finding =
        examined.checked.finding_at(code, message, ready.origin.ordinal, column).as_severity(severity);
    Ok(Some(Finding { row_key: ready.key_as_written().map(shown), ..finding }))
}

/// The error at a MAC address or username that belongs to another row.
fn collision(
    writer: &ImportWriter<'_>,
    examined: &Examined,
    ready: &Ready,
    other: &KnownJob,
) -> Result<Finding> {
    let kind = ready.values.kind;
    let (code, column, what) = match kind {
        Kind::Person => (Code::DupUsername, "username", "username"),
        Kind::Company | Kind::Site | Kind::Device | Kind::Upkeep(_) => (Code::DupMac, "mac", "MAC address"),
    };
    let name = person_or_thing(&writer.record_of(other.job)?);
    let company = company(writer, &other.links)?;
    let key =
        other.sheet_key.as_deref().map_or_else(|| "no key".to_owned(), |key| format!("key '{}'", shown(key)));
    let same = match (&ready.values.sheet_key, &other.sheet_key) {
        (_, Some(key)) => format!("write its key '{}'", shown(key)),
        (_, None) => "write its name and company as they are there".to_owned(),
    };
    let message = format!(
        "this {what} belongs to another row: {} '{}' of {company}, {key}, {} (import {}, {}, job {}): correct the \
         {what}; if this row is that {}, {same}",
        kind.singular(),
        shown(&name),
        other.state,
        other.first_import,
        shown(&writer.place_of(other.job)?),
        other.job,
        kind.singular(),
    );
    let finding = examined.checked.finding_at(code, message, ready.origin.ordinal, column);
    let mut finding = finding.showing(&ready.unique()?, ValueKind::Text);
    finding.rule = Some(format!("a {what} that no other row has"));
    finding.row_key = ready.key_as_written().map(shown);
    Ok(finding)
}

/// The error at a row that was left out beside another one, which is a record since, and that has its key, MAC address, username
/// or name still.
pub(super) fn double(
    writer: &ImportWriter<'_>,
    examined: &Examined,
    ready: &Ready,
    other: &KnownJob,
) -> Result<Finding> {
    let kind = ready.values.kind;
    let (code, column, what, advice) = match (ready.record()?, &ready.values.sheet_key) {
        (_, Some(key)) if other.sheet_key.as_ref() == Some(key) => {
            (Code::DupKey, "key", "key", "give this row a key of its own")
        }
        (Record::Person(_), _) => (Code::DupUsername, "username", "username", "correct it here"),
        (Record::Device(Device { identification: Some(_), .. }), _) => {
            (Code::DupMac, "mac", "MAC address", "correct it here")
        }
        _ => (Code::DupNaturalKey, "name", "name", "give this row a name of its own"),
    };
    let message = format!(
        "another row has this {what}, {} (job {}): {advice}; if both are the same {}, delete this row",
        shown(&writer.place_of(other.job)?),
        other.job,
        kind.singular(),
    );
    Ok(second_record(examined, ready, (code, column), message))
}

/// What keeps a job that waits from being sent beside the row that is meant.
fn cancel_first(writer: &ImportWriter<'_>, other: &KnownJob) -> Result<String> {
    Ok(format!("cancel import {} before it is sent", writer.last_import_of(other.job)?))
}

/// The warning at a row whose record may be one of an earlier import once more. At the row of a device that corrects one that was
/// `rejected`, and whose device a later import may have created since, it is an error.
pub(super) fn second_of_a_name(
    writer: &ImportWriter<'_>,
    examined: &Examined,
    ready: &Ready,
    other: &KnownJob,
    rejected: Option<&KnownJob>,
) -> Result<Finding> {
    let kind = ready.values.kind.singular();
    let named = |what: &str, value: Option<String>| match value {
        Some(value) => format!("the {what} {value}"),
        None => format!("no {what}"),
    };
    let (column, unique, same) = match writer.record_of(other.job)? {
        Record::Site(site) => (
            "reference",
            named("reference", site.reference.map(|reference| format!("'{}'", shown(&reference)))),
            "write the reference that it has, which an update can change; the service can delete no site",
        ),
        Record::Person(person) => (
            "username",
            named("username", Some(format!("'{}'", shown(&person.username)))),
            "write the username that it has, as the service can change no username and delete no person",
        ),
        Record::Device(Device { identification, .. }) => (
            "mac",
            named("MAC address", identification.map(|mac| shown(&mac))),
            "take this one out, as the service can change no MAC address and delete no device",
        ),
        Record::Company(_) => return Err(Error::internal("a company is known by its name alone")),
    };
    let same = match other.remote_id {
        Some(_) => same.to_owned(),
        None => cancel_first(writer, other)?,
    };
    let has = format!(
        "import {} has a {kind} of this name in this company with {unique} (job {}, {})",
        other.first_import, other.job, other.state
    );
    let (code, message) = match rejected {
        None => (
            Code::DupRow,
            format!(
                "{has}: this row is another one, which will be created; if both are the same {kind}, {same}"
            ),
        ),
        Some(rejected) => (
            Code::DupNaturalKey,
            format!(
                "{has} since this row was rejected: if both are the same device, take this row out, and cancel import {}, which \
                 has the rejected one; if it is another one, give it a name of its own",
                writer.last_import_of(rejected.job)?
            ),
        ),
    };
    Ok(second_record(examined, ready, (code, column), message))
}

/// The warning at a row with the key of one that was cancelled while it was not known whether its record was created, and that
/// is not looked up as that one any more.
fn abandoned(
    writer: &ImportWriter<'_>,
    examined: &Examined,
    ready: &Ready,
    known: &Known,
) -> Result<Option<Finding>> {
    let values = &ready.values;
    if known.natural.is_some() {
        return Ok(None);
    }
    let is_another = |other: &&KnownJob| {
        other.natural_key != values.natural_key && owner(&other.links) == owner(&values.links)
    };
    for other in known.by_key.iter().map(|same| &same.known).filter(is_another) {
        if !writer.may_have_made(other)? {
            continue;
        }
        let (column, differs) = match values.kind {
            Kind::Person => ("username", "username"),
            Kind::Site => ("name", "name or reference"),
            Kind::Device => ("name", "name or MAC address"),
            Kind::Company | Kind::Upkeep(_) => ("name", "name"),
        };
        let kind = values.kind.singular();
        let message = format!(
            "job {} was cancelled while it was not known whether its {kind} '{}' was created (import {}): with another {differs} \
             this row is not looked up as that one, and will be created; if both are the same {kind}, write the {differs} that it \
             had",
            other.job,
            shown(&other.name),
            other.first_import,
        );
        return Ok(Some(second_record(examined, ready, (Code::DupRow, column), message)));
    }
    Ok(None)
}

/// The warning at a new row that may have been meant as one of an earlier import with its key in another company.
fn elsewhere(
    writer: &ImportWriter<'_>,
    examined: &Examined,
    ready: &Ready,
    known: &Known,
) -> Result<Option<Finding>> {
    let own = owner(&ready.values.links);
    let is_meant = |same: &&SameKey| same.may_be_meant() && owner(&same.known.links) != own;
    let Some(same) = known.by_key.iter().find(is_meant) else { return Ok(None) };
    let other = &same.known;
    let alike = if same.same_values { " with the same values" } else { " and name" };
    let advice = match other.remote_id {
        Some(_) => {
            "write the company that it had, as the service moves no record to another company".to_owned()
        }
        None if came_to_nothing(other) => {
            format!("correct that one in the fix sheet of import {}", writer.last_import_of(other.job)?)
        }
        None => cancel_first(writer, other)?,
    };
    let message = format!(
        "import {} has a {} of this key{alike} in {} (job {}, {}): this row is another one, which will be created; if both are \
         the same, {advice}",
        other.first_import,
        ready.values.kind.singular(),
        company(writer, &other.links)?,
        other.job,
        other.state,
    );
    Ok(Some(second_record(examined, ready, (Code::DupRow, owner_column(ready)), message)))
}

/// The warning at a row that takes the place of one of an earlier import in another company.
fn moved(
    writer: &ImportWriter<'_>,
    examined: &Examined,
    ready: &Ready,
    (known, job): (&Known, JobId),
) -> Result<Option<Finding>> {
    let own = owner(&ready.values.links);
    let is_meant = |same: &&SameKey| same.known.job == job && owner(&same.known.links) != own;
    let Some(other) = known.by_key.iter().find(is_meant).map(|same| &same.known) else { return Ok(None) };
    let kind = ready.values.kind.singular();
    let message = format!(
        "import {} has this {kind} in {} (job {job}, {}), where it will not be created: this row takes its place; if it is \
         another {kind}, give it another key",
        other.first_import,
        company(writer, &other.links)?,
        other.state,
    );
    Ok(Some(second_record(examined, ready, (Code::DupRow, owner_column(ready)), message)))
}

/// The column that names what a record belongs to.
fn owner_column(ready: &Ready) -> &'static str {
    if ready.values.kind == Kind::Company { "parent" } else { "company" }
}

/// The finding at a row whose record an earlier import may have made.
fn second_record(
    examined: &Examined,
    ready: &Ready,
    (code, column): (Code, &str),
    message: String,
) -> Finding {
    let mut finding = examined.checked.finding_at(code, message, ready.origin.ordinal, column);
    finding.rule = Some("one row for each record".to_owned());
    finding.row_key = ready.key_as_written().map(shown);
    finding
}

/// The warning at a device without a MAC address whose row had this one in an earlier import.
pub(super) fn mac_left_out(examined: &Examined, ready: &Ready, mac: &str) -> Finding {
    let message = format!(
        "this row had the MAC address {} in an earlier import and has none now: the device will be created without one, and the \
         service can add none later; if that is a mistake, write it here",
        shown(mac)
    );
    let finding = examined.checked.finding_at(Code::RowDiffers, message, ready.origin.ordinal, "mac");
    Finding { row_key: ready.key_as_written().map(shown), ..finding }
}

/// What the record belongs to, for people.
fn company(writer: &ImportWriter<'_>, links: &[Link]) -> Result<String> {
    Ok(match owner(links) {
        Some(Target::Job(job)) => format!("'{}'", shown(writer.record_of(job)?.name())),
        Some(Target::Remote(id)) => format!("the company {id}"),
        None => "no company".to_owned(),
    })
}

/// The column at which differences are reported.
fn first_column<'a>(differences: &'a [Difference], name: &'a str) -> &'a str {
    differences.first().map_or(name, |first| first.column.split_inclusive(':').next().unwrap_or(name))
}

/// The columns that differ, by their headers, with both values.
fn columns(differences: &[Difference]) -> String {
    let mut words: Vec<String> =
        differences.iter().take(MOST_COLUMNS).map(|difference| shown(&difference.words())).collect();
    if differences.len() > MOST_COLUMNS {
        words.push(format!("and {} more columns", differences.len() - MOST_COLUMNS));
    }
    words.join("; ")
}
