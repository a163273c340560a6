//! The rows of a sequence: what each says, for the reference and for the journal.

use fleetload::journal::NewJob;
use fleetload::model::action::{Action, OwnedEntry, Owner};
use fleetload::model::content_hash::ContentHash;
use fleetload::model::id::RemoteId;
use fleetload::model::kind::{Kind, Upkeep};
use fleetload::model::operation::Operation as Call;
use fleetload::model::record::{self, Company, Device, Link, Metadata, Role, Site, Target};
use fleetload::testing;

use super::id_of;
use crate::operations::RowSpec;
use crate::reference::{Record, Reference, Values};

/// A record that no job of ours made.
const FOREIGN: Record = 9_000_000;
/// The first of the rows that make no record.
const UPKEEP: u8 = 6;

/// What a row says, for the reference and for the journal.
pub(super) fn row(spec: &RowSpec, reference: &Reference) -> (Values, NewJob) {
    if spec.row >= UPKEEP {
        return upkeep_row(spec, reference);
    }
    let kind = match spec.row {
        0..=2 => Kind::Company,
        3 | 4 => Kind::Site,
        _ => Kind::Device,
    };
    let owner = if kind == Kind::Company { Role::Parent } else { Role::Company };
    let mut wishes = vec![(owner, spec.first, 0)];
    if kind == Kind::Device {
        wishes.push((Role::Site, spec.second, 3));
    }
    let (mut links, mut parents) = (Vec::new(), Vec::new());
    for (role, wish, first_row) in wishes {
        match wish {
            0 => {}
            1 => links.push(Link { role, target: Target::Remote(RemoteId::from_u128(FOREIGN)) }),
            // Only rows before it, so that nobody is their own parent, and only those that are there.
            n => {
                let row = first_row + n - 2;
                if let Some(parent) = reference.of_row(row).filter(|_| row < spec.row) {
                    links.push(Link { role, target: Target::Job(id_of(parent)) });
                    parents.push(parent);
                }
            }
        }
    }
    let name = format!("row {}{}", spec.row, if spec.renamed { " renamed" } else { "" });
    let steps: Vec<(Call, u8)> = spec.extras.iter().map(|&extra| (step(kind, extra), extra)).collect();
    let content = format!("{name} {links:?} {:?} {}", spec.extras, spec.version);
    let phone_number = format!("+64 9 555 010{}", spec.version).into();
    let record = match kind {
        Kind::Company => record::Record::Company(Company { phone_number, ..testing::company(&name) }),
        Kind::Site => record::Record::Site(Site { phone_number, ..testing::site(&name) }),
        Kind::Device | Kind::Person => {
            record::Record::Device(Device { phone_number, ..testing::device(&name, None) })
        }
        Kind::Upkeep(_) => unreachable!("it makes no record"),
    };
    let later = spec.extras.iter().map(|&extra| wanted(kind, extra));
    let job = NewJob {
        kind: record.kind(),
        sheet_key: Some(format!("row {}", spec.row)),
        name: name.clone(),
        natural_key: name.clone(),
        content_hash: ContentHash::of(&content),
        links,
        steps: std::iter::once(Action::Create(record)).chain(later).collect(),
    };
    let (first, about) = (creation(kind), None);
    (Values { row: spec.row, kind, natural_key: name, content, parents, steps, first, about }, job)
}

/// What a row says that makes no record: an entry of metadata on a site, put or deleted, which can be looked up; a licence
/// code for a device, which cannot. What is taken away from a record holds back what is put on it: no two rows here are
/// about one record.
fn upkeep_row(spec: &RowSpec, reference: &Reference) -> (Values, NewJob) {
    let deletes = spec.version == 2;
    let (kind, role, rows, action, first) = match spec.row {
        UPKEEP => {
            let value = (!deletes).then(|| format!("v{}", spec.version));
            let entry =
                OwnedEntry { owner: Owner::Site, key: "tier".to_owned(), value, exported: None, id: None };
            let (action, operation) = match deletes {
                true => (Action::DeleteMetadataEntry(entry), Call::DeleteSiteMetadata),
                false => (Action::PutMetadataEntry(entry), Call::PutSiteMetadata),
            };
            (Kind::Upkeep(Upkeep::Metadata), Role::Site, 3..=4, action, operation)
        }
        _ => {
            let action = Action::AddLicence(format!("L-{}", spec.version));
            (Kind::Upkeep(Upkeep::Licences), Role::Device, 5..=5, action, Call::AddLicenceCode)
        }
    };
    let foreign = FOREIGN + Record::from(spec.row);
    let parent =
        rows.filter(|row| row % 2 == spec.first % 2 && spec.first > 0).find_map(|row| reference.of_row(row));
    let (target, about) = match parent {
        Some(parent) => (Target::Job(id_of(parent)), None),
        None => (Target::Remote(RemoteId::from_u128(foreign)), Some(foreign)),
    };
    let name = format!("row {}{}", spec.row, if spec.renamed { " renamed" } else { "" });
    let links = vec![Link { role, target }];
    let content = format!("{name} {links:?} {}", spec.version);
    let job = NewJob {
        kind,
        sheet_key: None,
        name: name.clone(),
        natural_key: name.clone(),
        content_hash: ContentHash::of(&content),
        links,
        steps: vec![action],
    };
    let parents = parent.into_iter().collect();
    let (row, natural_key, steps) = (spec.row, name, Vec::new());
    (Values { row, kind, natural_key, content, parents, steps, first, about }, job)
}

/// The operation that creates a record of a kind.
fn creation(kind: Kind) -> Call {
    match kind {
        Kind::Company => Call::AddCompany,
        Kind::Site => Call::AddSite,
        Kind::Person => Call::AddPerson,
        Kind::Device => Call::AddDevice,
        Kind::Upkeep(_) => unreachable!("it makes no record"),
    }
}

fn wanted(kind: Kind, extra: u8) -> Action {
    let metadata = vec![Metadata { key: "tier".to_owned(), value: extra.to_string() }];
    match (kind, extra) {
        (Kind::Device, 0) => Action::AddLicence("A-1".to_owned()),
        (Kind::Site, 0 | 1) | (Kind::Device, 1) => Action::PutLabels(vec![extra.to_string()]),
        _ => Action::PutMetadata(metadata),
    }
}

/// The operation of such a step, from the specification and not from the code.
fn step(kind: Kind, extra: u8) -> Call {
    match (kind, extra) {
        (Kind::Company | Kind::Person | Kind::Upkeep(_), _) => Call::PutCompanyMetadataList,
        (Kind::Site, 0 | 1) => Call::PutSiteLabels,
        (Kind::Site, _) => Call::PutSiteMetadataList,
        (Kind::Device, 0) => Call::AddLicenceCode,
        (Kind::Device, 1) => Call::PutDeviceLabels,
        (Kind::Device, _) => Call::PutDeviceMetadataList,
    }
}
