//! The rows of a device in its VPN clouds: settings, tunnels, connections and routes (specification 4.9, 4.10).

use serde_json::{Value, json};

use super::{Asking, Given};
use crate::export::row::Row;
use crate::export::rows::Rows;
use crate::export::subject::Subject;
use crate::model::operation::Operation;
use crate::service::ReadError;

impl Asking {
    /// The configuration of the device in each of its clouds: a row for each interface, or one for a cloud without any.
    pub(super) async fn vpn(&self) -> Result<Rows, ReadError> {
        let id = self.owner.id.to_string();
        let clouds = self.list(Operation::ListDeviceVpnClouds, vec![id.clone()]).await?;
        let mut rows = Rows::default();
        for cloud in clouds.entries() {
            let operation = Operation::GetDeviceVpnConfiguration;
            let cloud_id = Row::text(&cloud["id"]);
            let given = move |suite: Value| -> Given {
                vec![
                    ("@cloud", cloud["id"].clone()),
                    ("@cloud_name", cloud["name"].clone()),
                    ("@cipher_suite", suite),
                ]
            };
            match self.list(operation, vec![id.clone(), cloud_id]).await {
                Err(error) => rows = self.with_part_unread(rows, &given(Value::Null), error)?,
                Ok(configurations) => {
                    let asking = self.clone();
                    let of_each = move |mut configuration: Value| {
                        let given = given(configuration["cipherSuite"].clone());
                        let entries = match configuration.get_mut("interfaceConfiguration").map(Value::take) {
                            Some(Value::Array(entries)) if !entries.is_empty() => entries,
                            Some(_) | None => vec![Value::Null],
                        };
                        let asking = asking.clone();
                        entries.into_iter().map(move |entry| asking.row(&given, entry))
                    };
                    rows.add(configurations.size(), configurations.entries().flat_map(of_each));
                }
            }
        }
        Ok(rows)
    }

    /// The tunnels of the device.
    pub(super) async fn tunnels(&self) -> Result<Rows, ReadError> {
        let operation = Operation::GetTunnelStatus;
        let answer = self.object(operation, vec![self.owner.id.to_string()]).await?;
        let (tunnels, _) = taken_apart(operation, answer, "vpns")?;
        let (asking, mut rows) = (self.clone(), Rows::default());
        rows.add(0, tunnels.into_iter().map(move |tunnel| asking.row(&[], tunnel)));
        Ok(rows)
    }

    /// The connections or the routes of the device, a row each, with the cloud they are of; a cloud without any has one.
    pub(super) async fn in_clouds(&self, operation: Operation) -> Result<Rows, ReadError> {
        let answer = self.object(operation, vec![self.owner.id.to_string()]).await?;
        let (vpns, _) = taken_apart(operation, answer, "vpns")?;
        let lists: &'static [&str] = match self.subject {
            Subject::Routes => &["ipv4", "ipv6"],
            _ => &["connections"],
        };
        let asking = self.clone();
        let of_each = move |mut vpn: Value| {
            let mut entries: Vec<(Value, Value)> = Vec::new();
            for &list in lists {
                let family = if list == "connections" { Value::Null } else { json!(list) };
                match vpn.get_mut(list).map(Value::take) {
                    Some(Value::Array(listed)) => {
                        entries.extend(listed.into_iter().map(|entry| (family.clone(), entry)));
                    }
                    // Not as documented; it stays among what came besides.
                    Some(other) => vpn[list] = other,
                    None => {}
                }
            }
            if entries.is_empty() {
                entries.push((Value::Null, Value::Null));
            }
            let asking = asking.clone();
            entries
                .into_iter()
                .map(move |(family, entry)| asking.row(&[("@vpn", vpn.clone()), ("@family", family)], entry))
        };
        let mut rows = Rows::default();
        rows.add(0, vpns.into_iter().flat_map(of_each));
        Ok(rows)
    }
}

/// The list in a field of an answer, and the rest of the answer.
fn taken_apart(
    operation: Operation,
    mut answer: Value,
    field: &str,
) -> Result<(Vec<Value>, Value), ReadError> {
    match answer.get_mut(field).map(Value::take) {
        Some(Value::Array(entries)) => Ok((entries, answer)),
        Some(_) | None => Err(ReadError::Failed(operation, format!("the answer has no list {field}"))),
    }
}
