//! The records a sheet describes, typed as the service takes them (specification 2.2 to 2.6).
//!
//! The serialised form of a record is the body of its creation, without the ids of other records: those are
//! [`Link`]s, known only once the other record exists. What a row asks for besides the record itself is an
//! [`Action`](super::action::Action).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smol_str::SmolStr;

use super::action::record_update::FieldValues;
use super::id::{JobId, RemoteId};
use super::kind::Kind;
use super::operation::Operation;

/// A record to be created.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "record", rename_all = "lowercase")]
pub enum Record {
    /// A company.
    Company(Company),
    /// A site.
    Site(Site),
    /// A person.
    Person(Person),
    /// A device.
    Device(Device),
}

impl Record {
    /// Whether it is a device with a MAC address.
    pub fn has_mac(&self) -> bool {
        matches!(self, Self::Device(device) if device.identification.is_some())
    }

    /// What kind of record this is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Company(_) => Kind::Company,
            Self::Site(_) => Kind::Site,
            Self::Person(_) => Kind::Person,
            Self::Device(_) => Kind::Device,
        }
    }

    /// The operation that creates it.
    pub fn creation(&self) -> Operation {
        match self {
            Self::Company(_) => Operation::AddCompany,
            Self::Site(_) => Operation::AddSite,
            Self::Person(_) => Operation::AddPerson,
            Self::Device(device) if device.copy.is_some() => Operation::AddDeviceFromTemplate,
            Self::Device(_) => Operation::AddDevice,
        }
    }

    /// The name a person would call it by: the record's name, or the username of a person.
    pub fn name(&self) -> &str {
        match self {
            Self::Company(company) => &company.name,
            Self::Site(site) => &site.name,
            Self::Person(person) => &person.username,
            Self::Device(device) => &device.name,
        }
    }

    /// The body of its creation, without the ids of other records.
    pub fn body(&self) -> Value {
        let body = match self {
            Self::Company(company) => serde_json::to_value(company),
            Self::Site(site) => serde_json::to_value(site),
            Self::Person(person) => serde_json::to_value(person),
            Self::Device(device) => serde_json::to_value(device),
        };
        // Records are structs with string keys throughout, the one thing serialising to a value needs.
        body.expect("a record serialises to JSON")
    }

    /// The same record with other values for these fields, each by its path in the body (`address.city`); one that is
    /// `null` has none. A value that the field cannot have changes nothing.
    pub fn with_fields(&self, fields: &FieldValues) -> Self {
        fields
            .iter()
            .fold(self.clone(), |record, (path, value)| record.with_field(path, value).unwrap_or(record))
    }

    fn with_field(&self, path: &str, value: &Value) -> Option<Self> {
        let mut body = self.body();
        let mut object = body.as_object_mut()?;
        let field = match path.split_once('.') {
            Some((part, field)) => {
                object = object.get_mut(part)?.as_object_mut()?;
                field
            }
            None => path,
        };
        object.insert(field.to_owned(), value.clone());
        match self {
            Self::Company(_) => serde_json::from_value(body).map(Self::Company),
            Self::Site(_) => serde_json::from_value(body).map(Self::Site),
            Self::Person(_) => serde_json::from_value(body).map(Self::Person),
            Self::Device(_) => serde_json::from_value(body).map(Self::Device),
        }
        .ok()
    }

    /// Where it is.
    pub fn address(&self) -> &Address {
        match self {
            Self::Company(company) => &company.address,
            Self::Site(site) => &site.address,
            Self::Person(person) => &person.address,
            Self::Device(device) => &device.address,
        }
    }
}

/// A postal address (specification 2.2). Blank cells are absent, never empty strings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of specification 2.2, by their names")]
pub struct Address {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address1: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address2: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suburb: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_or_zip_code: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latitude: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longitude: Option<f64>,
}

/// Customer or reseller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CompanyType {
    /// Buys and uses.
    Customer,
    /// Sells on and manages companies below it.
    Reseller,
}

/// A company (specification 2.3); its parent is a [`Link`] of [`Role::Parent`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of specification 2.3, by their names")]
pub struct Company {
    pub company_type: CompanyType,
    pub name: SmolStr,
    pub address: Address,
    pub phone_number: SmolStr,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fax_number: Option<SmolStr>,
    pub support_email: SmolStr,
    pub sales_email: SmolStr,
    pub accounts_email: SmolStr,
}

/// What a user may do (specification 2.4); sent with exactly these spellings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the values are those of specification 2.4, by their names")]
pub enum UserType {
    #[serde(rename = "Configure Client")]
    ConfigureClient,
    #[serde(rename = "Diagnostics Client")]
    DiagnosticsClient,
    #[serde(rename = "Full Reseller")]
    FullReseller,
    #[serde(rename = "Reports Client")]
    ReportsClient,
    #[serde(rename = "Reports Only Reseller")]
    ReportsOnlyReseller,
    #[serde(rename = "VPN User")]
    VpnUser,
}

/// Which templates a user sees (specification 2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the values are those of specification 2.4, by their names")]
pub enum TemplateScope {
    CompanyInherit,
    CompanyNoInherit,
    CompanyChildren,
}

/// A user account (specification 2.4); its company is a [`Link`] of [`Role::Company`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of specification 2.4, by their names")]
pub struct Person {
    pub user_type: UserType,
    pub template_scope: TemplateScope,
    pub first_name: SmolStr,
    pub last_name: SmolStr,
    pub username: SmolStr,
    pub email: SmolStr,
    pub allow_login: bool,
    pub address: Address,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone_number: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fax_number: Option<SmolStr>,
}

/// A site (specification 2.6); its company is a [`Link`] of [`Role::Company`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of specification 2.6, by their names")]
pub struct Site {
    pub name: SmolStr,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latitude: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longitude: Option<f64>,
    pub address: Address,
    pub phone_number: SmolStr,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fax_number: Option<SmolStr>,
}

/// A device (specification 2.5); company, site and template are [`Link`]s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of specification 2.5, by their names")]
pub struct Device {
    pub name: SmolStr,
    pub address: Address,
    pub phone_number: SmolStr,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fax_number: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_model: Option<SmolStr>,
    /// The MAC address, as `aa:bb:cc:dd:ee:ff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identification: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_site_id: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_site_name: Option<SmolStr>,
    /// Present when the device is made by copying another one; that one is a [`Link`] of [`Role::Template`].
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub copy: Option<TemplateCopy>,
}

impl Device {
    /// Whether its creation makes a site as well, so that each try may make another one.
    pub const fn makes_a_site(&self) -> bool {
        self.custom_site_id.is_some() || self.custom_site_name.is_some()
    }
}

/// What to copy from the template device (specification 2.5, "create from template").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TemplateCopy {
    /// Copy the DHCP leases too.
    pub copy_dhcp_leases: bool,
    /// Copy the internet passwords too.
    pub copy_internet_passwords: bool,
    /// Source address translation by VPN cloud.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snat_mapping: Vec<SnatMapping>,
}

/// The source address translation of one VPN cloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnatMapping {
    /// The name of the VPN cloud.
    pub cloud: String,
    /// Network (CIDR or address/netmask) by interface name.
    pub mapping: std::collections::BTreeMap<String, String>,
}

/// What a record refers to another record as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The company above a company.
    Parent,
    /// The company a person, site or device belongs to.
    Company,
    /// The site a device is put in.
    Site,
    /// The device another one is copied from.
    Template,
    /// The device that an upkeep row is about.
    Device,
}

impl Role {
    /// Every role, by the alphabet of their words.
    pub const ALL: [Self; 5] = [Self::Company, Self::Device, Self::Parent, Self::Site, Self::Template];

    /// As written in a plan and in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Parent => "parent",
            Self::Company => "company",
            Self::Site => "site",
            Self::Template => "template",
            Self::Device => "device",
        }
    }

    /// The field of the request's body that carries the id.
    pub const fn field(self) -> &'static str {
        match self {
            Self::Parent => "parentCompanyId",
            Self::Company => "companyId",
            Self::Site => "siteId",
            Self::Template => "templateId",
            Self::Device => "deviceId",
        }
    }

    /// The kind of record it points to.
    pub const fn target(self) -> Kind {
        match self {
            Self::Parent | Self::Company => Kind::Company,
            Self::Site => Kind::Site,
            Self::Template | Self::Device => Kind::Device,
        }
    }

    /// As what an upkeep row refers to the record of this kind that it is about.
    pub const fn owner(kind: Kind) -> Self {
        match kind {
            Kind::Company => Self::Company,
            Kind::Site => Self::Site,
            Kind::Person | Kind::Device | Kind::Upkeep(_) => Self::Device,
        }
    }
}

/// Where the link with a role points; `None` without one.
pub fn target_of(links: &[Link], role: Role) -> Option<Target> {
    links.iter().find(|link| link.role == role).map(|link| link.target)
}

/// Where a link points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// A record that exists in the service.
    Remote(RemoteId),
    /// The record that another job of the journal makes.
    Job(JobId),
}

/// A reference of one record to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Link {
    /// What the other record is to this one.
    pub role: Role,
    /// Which one it is.
    pub target: Target,
}

/// One key and value (specification 2.7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// The key, case kept.
    pub key: String,
    /// The value.
    pub value: String,
}

impl Metadata {
    /// What a row that puts it asks to be changed, whatever the value.
    pub fn wish(&self) -> String {
        format!("meta:{}", self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn device(copy: Option<TemplateCopy>) -> Device {
        Device {
            name: "Till".into(),
            address: Address { address1: Some("1 High St".into()), ..Address::default() },
            phone_number: "+64 9 555 0100".into(),
            fax_number: None,
            device_model: Some("Edge 100".into()),
            identification: Some("00:1a:2b:3c:4d:5e".into()),
            custom_site_id: None,
            custom_site_name: None,
            copy,
        }
    }

    #[test]
    fn the_serialised_record_is_the_body_of_its_creation_and_blank_fields_are_absent() {
        assert_eq!(
            serde_json::to_value(device(None)).unwrap(),
            json!({
                "name": "Till", "address": {"address1": "1 High St"}, "phoneNumber": "+64 9 555 0100",
                "deviceModel": "Edge 100", "identification": "00:1a:2b:3c:4d:5e",
            })
        );
    }

    #[test]
    fn a_record_survives_the_journal_and_back() {
        for copy in [
            None,
            Some(TemplateCopy {
                copy_dhcp_leases: true,
                copy_internet_passwords: false,
                snat_mapping: vec![],
            }),
        ] {
            let record = Record::Device(device(copy));
            let text = serde_json::to_string(&record).unwrap();
            assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record, "{text}");
        }
    }

    #[test]
    fn a_device_with_a_template_is_created_by_copying() {
        assert_eq!(Record::Device(device(None)).creation(), Operation::AddDevice);
        let copy =
            TemplateCopy { copy_dhcp_leases: false, copy_internet_passwords: false, snat_mapping: vec![] };
        assert_eq!(Record::Device(device(Some(copy))).creation(), Operation::AddDeviceFromTemplate);
    }
}
