//! Rows of upkeep sheets: what a row asks for, and what holds between its cells (specification 4.3 to 4.9).

use super::draft::{RowValues, column_of_role};
use super::row_rules::RowProblem;
use super::update::ExportedCells;
use crate::model::action::{
    Action, CIPHER_SUITES, InterfaceSettings, Offer, OwnedEntry, OwnedLabel, Owner, VpnSettings,
};
use crate::model::id::RemoteId;
use crate::model::kind::{Kind, Upkeep};
use crate::model::record::Role;
use crate::sheet::field::{Problem, Value, has_several_ids, offer};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;
use crate::sheet::table::column::column;

/// What a label can be on, in the order of the column's values.
const LABEL_OWNERS: [Kind; 3] = [Kind::Site, Kind::Device, Kind::Device];
/// The place of `interface` among them.
const INTERFACE: usize = 2;
/// What metadata can be on, in the order of the column's values.
const ENTRY_OWNERS: [Kind; 3] = [Kind::Company, Kind::Site, Kind::Device];

/// What is done where the cell says so and not the usual thing: every sheet has the usual one first.
const REMOVES: usize = 1;
/// The third of the actions of a VPN cloud.
const CONFIGURES: usize = 2;

/// The columns of settings in a VPN cloud.
const SETTINGS: [&str; 6] = ["cipher_suite", "interface", "direction", "snat", "weight", "default"];
/// Those among them that are about an interface.
const OF_INTERFACE: [&str; 4] = ["direction", "snat", "weight", "default"];

/// The column that tells a row from others about the same record.
pub(crate) const fn subject_column(upkeep: Upkeep) -> &'static str {
    match upkeep {
        Upkeep::Labels => "label",
        Upkeep::Metadata => "key",
        Upkeep::Licences => "licence_code",
        Upkeep::Subscriptions => "template",
        Upkeep::SiteAssignments => "device",
        Upkeep::Vpn => "cloud",
        Upkeep::CompanyUpdates | Upkeep::SiteUpdates | Upkeep::DeviceUpdates => "id",
    }
}

/// The columns whose cells say what a row is about: with others in them an exported row is another row.
const fn identity_columns(upkeep: Upkeep) -> &'static [&'static str] {
    match upkeep {
        Upkeep::Labels => &["owner_kind", "owner", "interface", "label"],
        Upkeep::Metadata => &["owner_kind", "owner", "key"],
        Upkeep::Licences => &["device", "licence_code"],
        Upkeep::Subscriptions => &["device", "template"],
        Upkeep::SiteAssignments => &["device"],
        Upkeep::Vpn => &["device", "cloud", "interface"],
        Upkeep::CompanyUpdates | Upkeep::SiteUpdates | Upkeep::DeviceUpdates => &["id"],
    }
}

/// Whether a row of an upkeep sheet is about the same as when it was exported.
pub(super) fn is_of_same(kind: Kind, exported: &ExportedCells) -> bool {
    match kind {
        Kind::Upkeep(upkeep) => exported.about(identity_columns(upkeep)).is_some(),
        Kind::Company | Kind::Person | Kind::Site | Kind::Device => false,
    }
}

/// The column in which the example row of a template says that it is one: the key, or the record that it is about.
pub(in crate::sheet) const fn example_column(kind: Kind) -> &'static str {
    if kind.is_record() { "key" } else { column_of_role(kind, Role::Device) }
}

/// The name of an interface, or its id as the service writes it.
fn interface_name(cell: &str) -> String {
    let id = cell.parse::<RemoteId>().map(|id| id.to_string());
    id.ok().filter(|id| id.eq_ignore_ascii_case(cell)).unwrap_or_else(|| cell.to_owned())
}

impl RowValues {
    /// As what a row refers to the record in its column `owner`; `None` where the row does not say what that is.
    pub(super) fn owner_role(&self) -> Option<Role> {
        let owners = match self.kind() {
            Kind::Upkeep(Upkeep::Labels) => LABEL_OWNERS,
            Kind::Upkeep(Upkeep::Metadata) => ENTRY_OWNERS,
            _ => return None,
        };
        self.position("owner_kind").and_then(|position| owners.get(position)).map(|&kind| Role::owner(kind))
    }

    /// The place of a cell's value among those of its column.
    fn position(&self, name: &str) -> Option<usize> {
        match self.get(name) {
            Some(Value::Choice(position)) => Some(*position),
            _ => None,
        }
    }

    /// Whether the row takes something away.
    fn removes(&self) -> bool {
        self.position("action") == Some(REMOVES)
    }

    /// Whether the row gives a device settings in a cloud.
    fn configures(&self) -> bool {
        self.kind() == Kind::Upkeep(Upkeep::Vpn) && self.position("action") == Some(CONFIGURES)
    }

    /// Whether a cell is one of the settings in a cloud that an exported row keeps. An interface that uses the default
    /// configuration has no others.
    pub(super) fn is_vpn_setting(&self, name: &str) -> bool {
        self.configures()
            && SETTINGS.contains(&name)
            && self.exported().about(identity_columns(Upkeep::Vpn)).is_some()
            && !matches!(self.get("default"), Some(Value::Bool(true)))
    }

    /// The settings of the row in a cloud. Cells that an export filled in and nobody changed ask for nothing.
    fn settings(&self, cloud: Offer) -> VpnSettings {
        let seen = self.exported().about(identity_columns(Upkeep::Vpn));
        // Of settings that could not be read the export shows none.
        let seen = seen.filter(|seen| SETTINGS.iter().any(|name| seen.cell(name).is_some()));
        let is_asked = |name: &str| !seen.is_some_and(|seen| seen.has_unchanged(name));
        // A field that the export does not show had no value.
        let exported = |name: &str| Some(seen?.cell(name).unwrap_or_default().to_owned());
        let text = |name: &str| self.peek(name).filter(|_| is_asked(name)).map(str::to_owned);
        let field = |name: &&'static str| Some((column(self.kind(), name)?.api?.to_owned(), exported(name)?));
        let interface = |interface: &str| InterfaceSettings {
            direction: text("direction"),
            snat: text("snat"),
            weight: self.integer("weight").filter(|_| is_asked("weight")),
            default: match self.get("default") {
                Some(Value::Bool(truth)) if is_asked("default") => Some(*truth),
                _ => None,
            },
            exported: OF_INTERFACE.iter().filter_map(field).collect(),
            ..InterfaceSettings::named(interface_name(interface))
        };
        VpnSettings {
            cloud,
            cipher_suite: self
                .position("cipher_suite")
                .filter(|_| is_asked("cipher_suite"))
                .and_then(|position| CIPHER_SUITES.get(position))
                .map(|suite| (*suite).to_owned()),
            interfaces: self.peek("interface").map(interface).into_iter().collect(),
            exported_suite: exported("cipher_suite")
                .filter(|was| !was.is_empty() || self.is_given("cipher_suite")),
            ..VpnSettings::default()
        }
    }

    /// What is wrong between the cells of a row about a VPN cloud.
    fn vpn_problems(&self, wrong: &mut dyn FnMut(&'static str, &[&'static str], Problem)) {
        let given = |columns: &[&'static str]| columns.iter().copied().find(|column| self.is_given(column));
        if !self.configures() {
            let is_clear = self.has("action") || !self.is_given("action");
            for column in SETTINGS.into_iter().filter(|column| is_clear && self.is_given(column)) {
                let text = "only a row whose action is configure has settings: clear this cell, or add a row with configure \
                            for the settings";
                wrong(column, &["action"], Problem::new(Code::RowConflict, text));
            }
            return;
        }
        if !self.is_given("interface") {
            if let Some(column) = given(&OF_INTERFACE) {
                let text =
                    format!("{column} is a setting of an interface: enter the name or id of the interface");
                wrong("interface", &[column], Problem::new(Code::RowIncompleteGroup, text));
            } else if !self.is_given("cipher_suite") {
                let text = "the row has no settings: enter a cipher suite, or an interface and its settings";
                wrong("cipher_suite", &["action"], Problem::new(Code::RowIncompleteGroup, text));
            }
        } else if given(&OF_INTERFACE).is_none() {
            let text = "the row names an interface and gives it no settings: enter direction, snat, weight or default";
            wrong("interface", &OF_INTERFACE, Problem::new(Code::RowIncompleteGroup, text));
        }
        let is_default = matches!(self.get("default"), Some(Value::Bool(true)));
        let others = ["direction", "snat", "weight"].into_iter();
        for column in others.filter(|column| is_default && self.is_given(column)) {
            let text = "an interface that uses the default configuration has no direction, snat or weight: clear them, or \
                        write no as default";
            wrong(column, &["default"], Problem::new(Code::RowConflict, text));
        }
    }

    /// The owner of a label or an entry.
    fn owner(&self) -> Option<Owner> {
        let position = self.position("owner_kind")?;
        match self.kind() {
            Kind::Upkeep(Upkeep::Labels) if position == INTERFACE => {
                Some(Owner::Interface { name: interface_name(self.peek("interface")?), id: None })
            }
            _ => match self.owner_role()? {
                Role::Parent | Role::Company => Some(Owner::Company),
                Role::Site => Some(Owner::Site),
                Role::Template | Role::Device => Some(Owner::Device),
            },
        }
    }

    /// The template or cloud that a cell names.
    fn offer(&self, name: &str) -> Option<Offer> {
        offer(self.peek(name)?).ok()
    }

    /// What the row asks for; `None` when a needed value is missing after all.
    pub(super) fn upkeep(&self, upkeep: Upkeep) -> Option<Action> {
        let text = |name: &str| self.peek(name).map(str::to_owned);
        let removes = self.removes();
        Some(match upkeep {
            Upkeep::Labels => {
                let label = OwnedLabel { owner: self.owner()?, label: text("label")? };
                if removes { Action::DeleteLabel(label) } else { Action::PutLabel(label) }
            }
            Upkeep::Metadata => {
                let (owner, key) = (self.owner()?, text("key")?);
                let seen = self.exported().about(identity_columns(upkeep));
                // An entry whose value the export does not show had none.
                let seen = seen.filter(|seen| ["key", "value"].iter().any(|name| seen.cell(name).is_some()));
                let exported = seen.map(|seen| seen.cell("value").unwrap_or_default().to_owned());
                // An exported entry without a value asks for none, as long as nobody changed it.
                let kept = exported.clone().filter(|_| self.exported().is_unchanged());
                let entry = OwnedEntry { owner, key, value: None, exported, id: None };
                if removes {
                    Action::DeleteMetadataEntry(entry)
                } else {
                    Action::PutMetadataEntry(OwnedEntry { value: Some(text("value").or(kept)?), ..entry })
                }
            }
            Upkeep::Licences => Action::AddLicence(text("licence_code")?),
            Upkeep::Subscriptions => {
                let template = self.offer("template")?;
                if removes {
                    Action::UnsubscribeTemplate(template)
                } else {
                    Action::SubscribeTemplate(template)
                }
            }
            Upkeep::SiteAssignments => Action::AssignToSite,
            // Their rows stand in the sheets of records.
            Upkeep::CompanyUpdates | Upkeep::SiteUpdates | Upkeep::DeviceUpdates => return None,
            Upkeep::Vpn => {
                let cloud = self.offer("cloud")?;
                match (removes, self.configures()) {
                    (true, _) => Action::LeaveVpnCloud(cloud),
                    (false, true) => Action::ConfigureVpn(self.settings(cloud)),
                    (false, false) => Action::JoinVpnCloud(cloud),
                }
            }
        })
    }

    /// What is said of an exported row whose cell names something else now: that is put beside what was exported.
    fn beside_exported(&self, upkeep: Upkeep) -> Option<RowProblem> {
        let is_interface = self.position("owner_kind") == Some(INTERFACE);
        let (record, removal): (&[&str], _) = match upkeep {
            Upkeep::Labels => (&["owner_kind", "owner", "interface"], is_interface.then_some("delete")),
            Upkeep::Metadata => (&["owner_kind", "owner"], Some("delete")),
            Upkeep::Subscriptions => (&["device"], Some("unsubscribe")),
            // Settings are changed where they are; they add nothing.
            Upkeep::Vpn if self.configures() => return None,
            Upkeep::Vpn => (&["device"], Some("leave")),
            Upkeep::Licences
            | Upkeep::SiteAssignments
            | Upkeep::CompanyUpdates
            | Upkeep::SiteUpdates
            | Upkeep::DeviceUpdates => return None,
        };
        let column = subject_column(upkeep);
        // With another record in its cells the row is a new one.
        let seen = self.exported().about(record)?;
        let was = seen.cell(column)?.trim();
        let now = self.peek(column)?;
        if self.removes() || seen.has_unchanged(column) || now == was {
            return None;
        }
        let was = shown(was);
        let replace = match removal {
            Some(action) => {
                format!("to replace it, add a row with {action} as action for '{was}', if there is none")
            }
            None => "the service cannot delete a label of a site or device: put back what was exported, unless both are wanted"
                .to_owned(),
        };
        let text = format!(
            "the export has '{was}' here: what the cell says now is put beside it and does not replace it; {replace}"
        );
        Some(RowProblem {
            column,
            others: Vec::new(),
            problem: Problem::new(Code::CellUnsupportedAction, text).warning(),
        })
    }

    /// What is wrong between the cells of an upkeep row.
    pub(super) fn upkeep_problems(&self, upkeep: Upkeep, problems: &mut Vec<RowProblem>) {
        problems.extend(self.beside_exported(upkeep));
        let mut wrong = |column: &'static str, others: &[&'static str], problem: Problem| {
            problems.push(RowProblem { column, others: others.to_vec(), problem });
        };
        match upkeep {
            Upkeep::Labels => {
                let is_interface = self.position("owner_kind") == Some(INTERFACE);
                if is_interface && !self.is_given("interface") {
                    let text = "owner_kind is interface: enter the name or id of the interface";
                    wrong("interface", &["owner_kind"], Problem::new(Code::RowIncompleteGroup, text));
                }
                if !is_interface && self.has("interface") && self.has("owner_kind") {
                    let text = "only a label of an interface names one: clear this cell, or write interface as owner_kind";
                    wrong("interface", &["owner_kind"], Problem::new(Code::RowConflict, text));
                }
                if !is_interface && self.has("owner_kind") && self.removes() {
                    let text = "the service deletes labels of interfaces only: remove this row, and delete the label where \
                                the service itself is managed";
                    let rule = "put, for a label of a site or device";
                    wrong(
                        "action",
                        &["owner_kind"],
                        Problem::new(Code::CellUnsupportedAction, text).rule(rule),
                    );
                }
            }
            Upkeep::Metadata => {
                if self.removes() && self.has("value") {
                    let text =
                        "an entry that is deleted has no value: clear this cell, or write put as action";
                    wrong("value", &["action"], Problem::new(Code::RowConflict, text));
                }
                if !self.removes() && !self.is_given("value") && !self.exported().is_unchanged() {
                    let text = "value is blank: enter the value to put, or write delete as action";
                    wrong("value", &["action"], Problem::new(Code::CellRequired, text));
                }
            }
            Upkeep::Subscriptions | Upkeep::Vpn => {
                let column = subject_column(upkeep);
                let text = self.peek(column).unwrap_or_default();
                if has_several_ids(text) {
                    let text = "the cell has more than one id: give each a row of its own";
                    wrong(column, &[], Problem::new(Code::CellMultipleValues, text));
                } else if !text.is_empty()
                    && let Err(problem) = offer(text)
                {
                    wrong(column, &[], problem);
                }
                if upkeep == Upkeep::Vpn {
                    self.vpn_problems(&mut wrong);
                }
            }
            Upkeep::Licences
            | Upkeep::SiteAssignments
            | Upkeep::CompanyUpdates
            | Upkeep::SiteUpdates
            | Upkeep::DeviceUpdates => {}
        }
    }
}
