//! What hangs on the records: labels, metadata, licence codes, subscriptions, sites and VPN clouds, apart from what was
//! answered. A test holds the outcome of upkeep rows against it.

use uuid::Uuid;

use super::world::World;
use crate::sandbox::operations::devices::interfaces;

/// One thing that a record has besides its own fields.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attachment {
    /// The record; of an interface, its device.
    pub owner: Uuid,
    /// The name of the interface, for a label of one.
    pub interface: Option<&'static str>,
    /// `label`, `metadata`, `licence`, `subscription`, `site` or `vpn_cloud`.
    pub kind: &'static str,
    /// A label or licence code as it is, an entry as `key=value`, everything else by its id.
    pub value: String,
}

impl World {
    /// Everything that hangs on companies, sites and devices, sorted; what is there twice is in it twice.
    pub(crate) fn attachments(&self) -> Vec<Attachment> {
        let mut all = Vec::new();
        let sites = self.sites.iter().map(|site| site.id);
        let labelled: Vec<Uuid> = sites.chain(self.devices.iter().map(|device| device.id)).collect();
        for &owner in &labelled {
            let labels = self.labels(owner).iter().map(|label| label.label.clone());
            all.extend(labels.map(|value| Attachment { owner, interface: None, kind: "label", value }));
        }
        for owner in self.companies.iter().map(|company| company.id).chain(labelled) {
            let entries = self.metadata(owner).iter().map(|entry| format!("{}={}", entry.key, entry.value));
            all.extend(entries.map(|value| Attachment { owner, interface: None, kind: "metadata", value }));
        }
        for device in self.devices.iter() {
            let owner = device.id;
            for interface in interfaces(owner) {
                let labels = self.labels(interface.id).iter();
                all.extend(labels.map(|label| Attachment {
                    owner,
                    interface: Some(interface.name),
                    kind: "label",
                    value: label.label.clone(),
                }));
            }
            let mut add = |kind, value| all.push(Attachment { owner, interface: None, kind, value });
            device.licences.iter().for_each(|code| add("licence", code.clone()));
            device.subscriptions.iter().for_each(|template| add("subscription", template.to_string()));
            device.site.iter().for_each(|site| add("site", site.to_string()));
            device.clouds.iter().for_each(|place| add("vpn_cloud", place.cloud.to_string()));
        }
        all.sort_unstable();
        all
    }
}
