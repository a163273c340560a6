//! Records for tests, proofs and benchmarks: one builder for each kind, with everything that the service requires.
//!
//! A test that needs another value changes that field and no other.

use smol_str::SmolStr;

use crate::model::action::record_update::RecordUpdate;
use crate::model::action::{Action, InterfaceSettings, Offer, OwnedEntry, OwnedLabel, Owner, VpnSettings};
use crate::model::id::RemoteId;
use crate::model::kind::Kind;
use crate::model::record::{
    Address, Company, CompanyType, Device, Metadata, Person, Record, Site, TemplateScope, UserType,
};

/// An address.
pub fn address() -> Address {
    Address { address1: Some("1 High St".into()), city: Some("Auckland".into()), ..Address::default() }
}

/// A customer.
pub fn company(name: impl Into<SmolStr>) -> Company {
    Company {
        company_type: CompanyType::Customer,
        name: name.into(),
        address: address(),
        phone_number: "+64 9 555 0100".into(),
        fax_number: None,
        support_email: "support@acme.example".into(),
        sales_email: "sales@acme.example".into(),
        accounts_email: "accounts@acme.example".into(),
    }
}

/// A site.
pub fn site(name: impl Into<SmolStr>) -> Site {
    Site {
        name: name.into(),
        reference: None,
        latitude: None,
        longitude: None,
        address: address(),
        phone_number: "+64 9 555 0100".into(),
        fax_number: None,
    }
}

/// A person who reads reports.
pub fn person(username: impl Into<SmolStr>) -> Person {
    Person {
        user_type: UserType::ReportsClient,
        template_scope: TemplateScope::CompanyInherit,
        first_name: "Ann".into(),
        last_name: "Smith".into(),
        username: username.into(),
        email: "ann@acme.example".into(),
        allow_login: true,
        address: address(),
        phone_number: None,
        fax_number: None,
    }
}

/// A device of a model that the simulated service has.
pub fn device(name: impl Into<SmolStr>, mac: Option<&str>) -> Device {
    Device {
        name: name.into(),
        address: address(),
        phone_number: "+64 9 555 0100".into(),
        fax_number: None,
        device_model: Some("Edge 100".into()),
        identification: mac.map(SmolStr::new),
        custom_site_id: None,
        custom_site_name: None,
        copy: None,
    }
}

/// A record of a kind.
pub fn record(kind: Kind) -> Record {
    match kind {
        Kind::Company => Record::Company(company("Acme")),
        Kind::Site => Record::Site(site("HQ")),
        Kind::Person => Record::Person(person("ann")),
        Kind::Device => Record::Device(device("Till", None)),
        Kind::Upkeep(_) => panic!("rows of {kind} are no records"),
    }
}

/// Settings of one interface in a cloud, both by their names.
pub fn vpn_settings() -> VpnSettings {
    let entry = InterfaceSettings { weight: Some(10), ..InterfaceSettings::named("eth0") };
    VpnSettings { cloud: Offer::named("Guest"), interfaces: vec![entry], ..VpnSettings::default() }
}

/// An action of every descriptor, a creation of every kind.
pub fn actions() -> Vec<Action> {
    let mut actions: Vec<Action> =
        Kind::RECORDS.into_iter().map(|kind| Action::Create(record(kind))).collect();
    actions.extend([
        Action::Update(RecordUpdate {
            called: "HQ".into(),
            fields: [("name".to_owned(), "Head office".into())].into(),
            ..RecordUpdate::default()
        }),
        Action::Keep(Box::new(Action::SubscribeTemplate(Offer::Id(RemoteId::nil())))),
        Action::PutLabels(vec!["north".into()]),
        Action::PutMetadata(vec![Metadata { key: "k".into(), value: "v".into() }]),
        Action::AddLicence("L1".into()),
        Action::SubscribeTemplate(Offer::Id(RemoteId::nil())),
        Action::JoinVpnCloud(Offer::named("Guest")),
        Action::UnsubscribeTemplate(Offer::named("Retail")),
        Action::LeaveVpnCloud(Offer::Id(RemoteId::nil())),
        Action::AssignToSite,
        Action::ConfigureVpn(vpn_settings()),
    ]);
    let eth0 = || Owner::Interface { name: "eth0".into(), id: None };
    for owner in [Owner::Site, Owner::Device, eth0()] {
        actions.push(Action::PutLabel(OwnedLabel { owner, label: "north".into() }));
    }
    actions.push(Action::DeleteLabel(OwnedLabel { owner: eth0(), label: "north".into() }));
    for owner in [Owner::Company, Owner::Site, Owner::Device] {
        let entry = OwnedEntry { owner, key: "k".into(), value: Some("v".into()), exported: None, id: None };
        actions.push(Action::DeleteMetadataEntry(OwnedEntry { value: None, ..entry.clone() }));
        actions.push(Action::PutMetadataEntry(entry));
    }
    actions
}
