//! From the values of a row to its record, its references and what it asks for besides. What holds between the cells of
//! one row is left to `row_rules`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::mem;

use smol_str::SmolStr;

use super::update::ExportedCells;
use crate::model::action::Action;
use crate::model::kind::{Kind, Upkeep};
use crate::model::record::{
    Address, Company, CompanyType, Device, Metadata, Person, Record, Role, Site, SnatMapping, TemplateCopy,
    TemplateScope, UserType,
};
use crate::sheet::field::{Pointer, Value};
use crate::sheet::table::column::{Column, Family, columns};

/// What stands before the interface in [`Draft::distinct_name`]; no cell can contain it.
pub(in crate::sheet) const INTERFACE: char = '\u{1f}';

/// A row that can become a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// What it asks for, in the order in which it is carried out: of a record its creation first. Nothing of a creation that
    /// is only checked.
    pub steps: Vec<Action>,
    /// The row's own key, as written; not of a creation that is only checked.
    pub key: Option<SmolStr>,
    /// What it refers to.
    pub references: Vec<Reference>,
}

impl Draft {
    /// The record that it creates, without the ids of others.
    pub fn record(&self) -> Option<&Record> {
        self.steps.iter().find_map(Action::record)
    }

    /// What tells the row from others about the same record: its name, and of settings the interface. Rows with settings of
    /// several interfaces of a device in one cloud are one job.
    pub fn distinct_name(&self) -> Cow<'_, str> {
        match self.steps.first() {
            Some(Action::ConfigureVpn(settings)) => {
                let interface = settings.interfaces.first().map_or("", |entry| entry.interface.as_str());
                Cow::Owned(format!("{}{INTERFACE}{interface}", self.name()))
            }
            // A record has one update, whatever the row calls it.
            Some(Action::Update(_)) => Cow::Borrowed(""),
            _ => self.name(),
        }
    }

    /// What the row is known by: the name of its record, or what it changes.
    pub fn name(&self) -> Cow<'_, str> {
        match (self.record(), self.steps.first()) {
            (Some(record), _) => Cow::Borrowed(record.name()),
            (None, Some(Action::Update(update))) => Cow::Borrowed(&update.called),
            (None, Some(action)) => Cow::Owned(action.subject()),
            (None, None) => Cow::Borrowed(""),
        }
    }
}

/// A reference of a row to another record; its cell is in the column named after the role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// What the other record is to this one.
    pub role: Role,
    /// How the cell names it.
    pub pointer: Pointer,
}

/// What is added to a message about a value that stands in no cell.
pub(crate) fn from_default(kind: Kind, column: &str) -> String {
    format!(" (the value comes from --default {kind}.{column})")
}

/// The column in which rows of a kind refer to another record.
pub const fn column_of_role(kind: Kind, role: Role) -> &'static str {
    match (kind, role) {
        (Kind::Upkeep(Upkeep::Labels | Upkeep::Metadata), _) => "owner",
        (Kind::Upkeep(Upkeep::CompanyUpdates), _)
        | (Kind::Upkeep(Upkeep::SiteUpdates), _)
        | (Kind::Upkeep(Upkeep::DeviceUpdates), Role::Device) => "id",
        (_, Role::Parent) => "parent",
        (_, Role::Company) => "company",
        (_, Role::Site) => "site",
        (_, Role::Template) => "template",
        (_, Role::Device) => "device",
    }
}

/// The values of one row, by column.
#[derive(Debug, Clone)]
pub(crate) struct RowValues {
    kind: Kind,
    slots: Slots,
    /// Whether the coordinates of a site are its address's too.
    copy_coordinates: bool,
    plain: Vec<Option<Value>>,
    /// Columns whose cells hold something that cannot be used, and is reported at the cell.
    wrong: Vec<bool>,
    /// What an export saw of the row.
    exported: ExportedCells,
    /// Of families: the column, what stands after the colon, the value.
    entries: Vec<Entry>,
}

/// The places of the columns of a kind by their names: asked dozens of times for every row, mostly by a name that the compiler
/// knows, whose mark and comparison it works out where the question is part of the asking function.
#[derive(Debug, Clone)]
struct Slots {
    columns: &'static [Column],
    /// The first column with each mark, and for each column the next one with the same.
    first: [Option<u8>; Slots::MARKS],
    next: Vec<Option<u8>>,
}

impl Slots {
    const MARKS: usize = 256;

    fn of(kind: Kind) -> Self {
        let columns = columns(kind);
        let mut slots = Self { columns, first: [None; Self::MARKS], next: vec![None; columns.len()] };
        for (slot, column) in columns.iter().enumerate().rev() {
            let first = &mut slots.first[Self::mark(column.name)];
            slots.next[slot] = mem::replace(first, u8::try_from(slot).ok());
        }
        slots
    }

    #[inline(always)]
    fn find(&self, name: &str) -> Option<usize> {
        let mut slot = usize::from(self.first[Self::mark(name)]?);
        while self.columns[slot].name != name {
            slot = usize::from(self.next[slot]?);
        }
        Some(slot)
    }

    /// A number that hardly two names share.
    #[inline(always)]
    fn mark(name: &str) -> usize {
        let bytes = name.as_bytes();
        let byte = |at: usize| bytes.get(at).copied().map_or(0, usize::from);
        let (middle, last) = (byte(bytes.len() / 2), byte(bytes.len().wrapping_sub(1)));
        (bytes.len() + 3 * byte(0) + 3 * last + 9 * middle) % Self::MARKS
    }
}

/// A value of a family: the column, what stands after the colon, the value.
type Entry = (Family, String, String);

impl RowValues {
    /// No values yet.
    pub(crate) fn new(kind: Kind, copy_coordinates: bool) -> Self {
        let width = columns(kind).len();
        Self {
            kind,
            slots: Slots::of(kind),
            copy_coordinates,
            plain: vec![None; width],
            wrong: vec![false; width],
            exported: ExportedCells::default(),
            entries: Vec::new(),
        }
    }

    /// Forgets the values of the row before.
    pub(crate) fn clear(&mut self) {
        self.plain.fill(None);
        self.wrong.fill(false);
        self.exported = ExportedCells::default();
        self.entries.clear();
    }

    /// Takes in the value of a column; `slot` is the column's place in the table of columns.
    pub(crate) fn set(&mut self, slot: usize, column: &Column, entry: Option<&str>, value: Value) {
        match (column.family(), value) {
            (Some(family), Value::Text(text)) => {
                self.entries.push((family, entry.unwrap_or_default().to_owned(), text.into()));
            }
            (_, value) => self.plain[slot] = Some(value),
        }
    }

    /// Takes in what an export saw of the row.
    pub(super) fn set_exported(&mut self, exported: ExportedCells) {
        self.exported = exported;
    }

    /// What an export saw of the row.
    pub(super) fn exported(&self) -> &ExportedCells {
        &self.exported
    }

    /// Notes that the cell of a column is filled in, but cannot be used.
    pub(crate) fn set_wrong(&mut self, slot: usize) {
        self.wrong[slot] = true;
    }

    /// Whether a cell is filled in, rightly or wrongly: what is wrong must not be called missing as well.
    #[inline]
    pub(in crate::sheet) fn is_given(&self, name: &str) -> bool {
        let index = self.slots.find(name);
        index.is_some_and(|index| self.plain[index].is_some() || self.wrong[index])
    }

    #[inline(always)]
    pub(in crate::sheet) fn get(&self, name: &str) -> Option<&Value> {
        let index = self.slots.find(name)?;
        self.plain[index].as_ref()
    }

    #[inline]
    fn take(&mut self, name: &str) -> Option<Value> {
        let index = self.slots.find(name)?;
        self.plain[index].take()
    }

    /// Whether a column has a value that can be used.
    #[inline]
    pub(in crate::sheet) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The text of a column, left in place.
    pub(crate) fn peek(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    #[inline]
    fn text(&mut self, name: &str) -> Option<SmolStr> {
        match self.take(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn truth(&mut self, name: &str) -> Option<bool> {
        match self.take(name) {
            Some(Value::Bool(truth)) => Some(truth),
            _ => None,
        }
    }

    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    #[inline]
    fn number(&mut self, name: &str) -> Option<f64> {
        match self.take(name) {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        }
    }

    fn choice<T: Copy>(&mut self, name: &str, values: &[T]) -> Option<T> {
        match self.take(name) {
            Some(Value::Choice(position)) => values.get(position).copied(),
            _ => None,
        }
    }

    fn address(&mut self, latitude: &str, longitude: &str) -> Address {
        Address {
            address1: self.text("address1"),
            address2: self.text("address2"),
            suburb: self.text("suburb"),
            city: self.text("city"),
            state: self.text("state"),
            post_or_zip_code: self.text("postcode"),
            country: self.text("country"),
            timezone: self.text("timezone"),
            latitude: self.number(latitude),
            longitude: self.number(longitude),
        }
    }

    /// The kind of the row.
    pub(in crate::sheet) fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether a column of a family has a value.
    pub(in crate::sheet) fn has_entry(&self, family: Family) -> bool {
        self.entries.iter().any(|(of, ..)| *of == family)
    }

    /// A label of a column of its own that the row has already.
    pub(in crate::sheet) fn doubled_label(&self) -> Option<&str> {
        let listed: &[String] = match self.get("labels") {
            Some(Value::Labels(labels)) => labels,
            _ => &[],
        };
        let mut seen: Vec<&str> = listed.iter().map(String::as_str).collect();
        self.entries.iter().filter(|(family, ..)| *family == Family::Label).find_map(|(_, _, label)| {
            if seen.contains(&label.as_str()) {
                return Some(label.as_str());
            }
            seen.push(label);
            None
        })
    }

    /// Takes what the row refers to.
    pub(crate) fn references(&mut self) -> Vec<Reference> {
        if self.is_update() {
            return self.update_references();
        }
        let mut references = Vec::new();
        let owner = self.owner_role();
        for &role in self.kind.descriptor().roles {
            let column = column_of_role(self.kind, role);
            if column == "owner" && owner != Some(role) {
                continue;
            }
            if let Some(Value::Pointer(pointer)) = self.take(column) {
                references.push(Reference { role, pointer });
            }
        }
        references
    }

    /// What other rows need to know of a row that creates a record and is only checked.
    pub(super) fn outline(&mut self) -> Draft {
        Draft { steps: Vec::new(), key: None, references: self.references() }
    }

    /// The draft of a row whose cells are all right; `None` when a needed value is missing after all.
    pub(crate) fn draft(&mut self) -> Option<Draft> {
        // The order of the columns says nothing: a sheet whose columns were moved holds the same records.
        self.entries.sort_by(|(_, left, _), (_, right, _)| (left.len(), left).cmp(&(right.len(), right)));
        if let Kind::Upkeep(upkeep) = self.kind {
            let action = self.upkeep(upkeep)?;
            // Settings are put together with those of other rows, and know themselves what was exported.
            let is_kept = self.exported.is_unchanged() && !matches!(action, Action::ConfigureVpn(_));
            let steps = match is_kept {
                true => vec![Action::Keep(Box::new(action))],
                false => vec![action],
            };
            return Some(Draft { steps, key: None, references: self.references() });
        }
        if self.is_update() {
            let (references, update) = (self.update_references(), self.update());
            let assigns = references.iter().any(|reference| reference.role == Role::Site);
            let assigns = assigns && self.kind == Kind::Device;
            // A second code would be added where nothing shows the first.
            self.text("licence_code");
            let steps = std::iter::once(update).chain(self.later_steps());
            let steps = steps.chain(assigns.then_some(Action::AssignToSite)).collect();
            return Some(Draft { steps, key: None, references });
        }
        let key = self.text("key");
        let references = self.references();
        let copied = references.iter().any(|reference| reference.role == Role::Template);
        let record = match self.kind {
            Kind::Company => Record::Company(self.company()?),
            Kind::Person => Record::Person(self.person()?),
            Kind::Site => Record::Site(self.site()?),
            Kind::Device => Record::Device(self.device(copied)?),
            Kind::Upkeep(_) => return None,
        };
        let steps = std::iter::once(Action::Create(record)).chain(self.later_steps()).collect();
        Some(Draft { steps, key, references })
    }

    fn company(&mut self) -> Option<Company> {
        Some(Company {
            company_type: self.choice("company_type", &[CompanyType::Customer, CompanyType::Reseller])?,
            name: self.text("name")?,
            address: self.address("", ""),
            phone_number: self.text("phone")?,
            fax_number: self.text("fax"),
            support_email: self.text("support_email")?,
            sales_email: self.text("sales_email")?,
            accounts_email: self.text("accounts_email")?,
        })
    }

    fn person(&mut self) -> Option<Person> {
        const USER_TYPES: [UserType; 6] = [
            UserType::ConfigureClient,
            UserType::DiagnosticsClient,
            UserType::FullReseller,
            UserType::ReportsClient,
            UserType::ReportsOnlyReseller,
            UserType::VpnUser,
        ];
        const SCOPES: [TemplateScope; 3] =
            [TemplateScope::CompanyInherit, TemplateScope::CompanyNoInherit, TemplateScope::CompanyChildren];
        Some(Person {
            user_type: self.choice("user_type", &USER_TYPES)?,
            template_scope: self.choice("template_scope", &SCOPES)?,
            first_name: self.text("first_name")?,
            last_name: self.text("last_name")?,
            username: self.text("username")?,
            email: self.text("email")?,
            allow_login: self.truth("allow_login")?,
            address: self.address("latitude", "longitude"),
            phone_number: self.text("phone"),
            fax_number: self.text("fax"),
        })
    }

    fn site(&mut self) -> Option<Site> {
        let (latitude, longitude) = (self.number("latitude"), self.number("longitude"));
        let mut address = self.address("address_latitude", "address_longitude");
        if self.copy_coordinates && address.latitude.is_none() && address.longitude.is_none() {
            (address.latitude, address.longitude) = (latitude, longitude);
        }
        Some(Site {
            name: self.text("name")?,
            reference: self.text("reference"),
            latitude,
            longitude,
            address,
            phone_number: self.text("phone")?,
            fax_number: self.text("fax"),
        })
    }

    fn device(&mut self, copied: bool) -> Option<Device> {
        let copy_dhcp_leases = self.truth("copy_dhcp_leases").unwrap_or(false);
        let copy_internet_passwords = self.truth("copy_internet_passwords").unwrap_or(false);
        let mut clouds: Vec<SnatMapping> = Vec::new();
        for (_, entry, network) in self.entries.iter().filter(|(family, ..)| *family == Family::Snat) {
            let Some((cloud, interface)) = entry.split_once(':') else { continue };
            let index = clouds.iter().position(|mapping| mapping.cloud == cloud).unwrap_or_else(|| {
                clouds.push(SnatMapping { cloud: cloud.to_owned(), mapping: BTreeMap::new() });
                clouds.len() - 1
            });
            clouds[index].mapping.insert(interface.to_owned(), network.clone());
        }
        Some(Device {
            name: self.text("name")?,
            address: self.address("latitude", "longitude"),
            phone_number: self.text("phone")?,
            fax_number: self.text("fax"),
            device_model: self.text("device_model"),
            identification: self.text("mac"),
            custom_site_id: self.text("custom_site_id"),
            custom_site_name: self.text("custom_site_name"),
            copy: copied.then_some(TemplateCopy {
                copy_dhcp_leases,
                copy_internet_passwords,
                snat_mapping: clouds,
            }),
        })
    }

    fn later_steps(&mut self) -> Vec<Action> {
        let mut steps = Vec::new();
        let mut labels = match self.take("labels") {
            Some(Value::Labels(labels)) => labels,
            _ => Vec::new(),
        };
        let mut metadata = Vec::new();
        for (family, entry, value) in self.entries.drain(..) {
            match family {
                Family::Label if !labels.contains(&value) => labels.push(value),
                Family::Meta => metadata.push(Metadata { key: entry, value }),
                Family::Label | Family::Snat => {}
            }
        }
        if !labels.is_empty() {
            steps.push(Action::PutLabels(labels));
        }
        if !metadata.is_empty() {
            steps.push(Action::PutMetadata(metadata));
        }
        if let Some(code) = self.text("licence_code") {
            steps.push(Action::AddLicence(code.into()));
        }
        if let Some(Value::Offers(templates)) = self.take("enterprise_template") {
            steps.extend(templates.into_iter().map(Action::SubscribeTemplate));
        }
        if let Some(Value::Offers(clouds)) = self.take("vpn_clouds") {
            steps.extend(clouds.into_iter().map(Action::JoinVpnCloud));
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_found_by_its_name_and_no_other_name_is() {
        for kind in Kind::ALL {
            let slots = Slots::of(kind);
            for (slot, column) in columns(kind).iter().enumerate() {
                assert_eq!(slots.find(column.name), Some(slot), "{kind:?} {}", column.name);
                for other in [format!("{}x", column.name), column.name.to_uppercase(), String::new()] {
                    assert_eq!(slots.find(&other), None, "{kind:?} {other}");
                }
            }
        }
    }
}
