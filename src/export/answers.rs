//! The rows of one owner: the questions that an export asks about it, and what is made of the answers.
//!
//! What is not documented is passed on as it came (specification 2.10: the structure of a state). A record that could not be
//! read is a row that says so.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::column::Column;
use super::owner::Owner;
use super::row::{Row, Standing};
use super::subject::{OwnerKind, Subject};
use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::service::{Call, ReadError, ServiceReader, may_be_a_page};

/// The rows of an owner.
///
/// # Errors
///
/// [`ReadError::Stopped`] when nothing more can be read, and [`ReadError::Unavailable`] when an operation turns out not to be
/// where it was looked for. Everything else is a row that says so.
pub(super) async fn rows(
    reader: &ServiceReader,
    subject: Subject,
    owner: &Owner,
) -> Result<Vec<Row>, ReadError> {
    let asking = Asking { reader, subject, owner, columns: subject.columns() };
    if let Some(trouble) = &owner.trouble {
        return Ok(vec![asking.unread(trouble)]);
    }
    match asking.rows().await {
        Ok(rows) => Ok(rows),
        Err(error @ (ReadError::Stopped(_) | ReadError::Unavailable(..))) => Err(error),
        Err(error @ (ReadError::NotFound(..) | ReadError::Failed(..))) => {
            Ok(vec![asking.unread(&error.to_string())])
        }
    }
}

/// One owner being asked about.
struct Asking<'a> {
    reader: &'a ServiceReader,
    subject: Subject,
    owner: &'a Owner,
    columns: &'static [Column],
}

/// What is known of an entry besides the entry itself.
type Given = Vec<(&'static str, Value)>;

impl Asking<'_> {
    async fn rows(&self) -> Result<Vec<Row>, ReadError> {
        let id = self.owner.id;
        match self.subject {
            Subject::Companies | Subject::Sites | Subject::Devices => Ok(vec![self.record().await?]),
            Subject::People => self.people().await,
            Subject::Interfaces => self.list_of(Operation::ListInterfaces, id).await,
            Subject::Labels => self.labels().await,
            Subject::Metadata | Subject::Subscriptions | Subject::TimeZones => {
                let [operation, ..] = self.subject.needed(self.owner.kind) else { return Ok(Vec::new()) };
                self.list_of(*operation, id).await
            }
            Subject::Templates => self.templates().await,
            Subject::Clouds => self.clouds().await,
            Subject::Vpn => self.vpn().await,
            Subject::Statuses | Subject::FullStatuses | Subject::States => self.statuses().await,
            Subject::Tunnels => {
                let answer = self.object(Operation::GetTunnelStatus, vec![id.to_string()]).await?;
                let (tunnels, _) = taken_apart(Operation::GetTunnelStatus, answer, "vpns")?;
                Ok(tunnels.into_iter().map(|tunnel| self.row(&[], tunnel)).collect())
            }
            Subject::Connections => self.in_clouds(Operation::GetVpnConnections).await,
            Subject::Routes => self.in_clouds(Operation::GetVpnRoutes).await,
        }
    }

    /// The entries of a list.
    async fn list(&self, operation: Operation, values: Vec<String>) -> Result<Vec<Value>, ReadError> {
        match self.reader.read(Call::reading(operation, values)).await? {
            Value::Array(entries) => Ok(entries),
            Value::Null => Err(ReadError::Failed(operation, "the answer holds no data".to_owned())),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                Err(ReadError::Failed(operation, "the answer is not a list".to_owned()))
            }
        }
    }

    /// A record.
    async fn object(&self, operation: Operation, values: Vec<String>) -> Result<Value, ReadError> {
        let answer = self.reader.read(Call::reading(operation, values)).await?;
        if answer.is_object() {
            Ok(answer)
        } else {
            Err(ReadError::Failed(operation, "the answer is not a record".to_owned()))
        }
    }

    /// A row with what is known of the owner.
    fn row(&self, more: &[(&'static str, Value)], entry: Value) -> Row {
        let mut given = self.owner.given();
        given.extend(self.subject.action().map(|action| ("@action", json!(action))));
        given.extend(more.iter().cloned());
        Row::of(self.columns, &given, entry)
    }

    /// The row of the owner that could not be read, with its id in the column that names it.
    fn unread(&self, why: &str) -> Row {
        let id = Some(self.owner.id).filter(|id| !id.is_nil());
        let record = match (self.subject, self.owner.kind) {
            (Subject::Companies | Subject::Sites | Subject::Devices, _) | (_, OwnerKind::Person) => {
                json!({"id": id})
            }
            (Subject::People, OwnerKind::Company) => json!({"companyId": id}),
            (_, OwnerKind::Device) => json!({"cpeId": id}),
            (_, OwnerKind::Account | OwnerKind::Company | OwnerKind::CompanyTree | OwnerKind::Site) => {
                Value::Null
            }
        };
        let mut row = self.row(&[], record).failing(format!("{}: {why}", self.owner.words()));
        // What no column has is said by the note.
        row.other.clear();
        row
    }

    /// The row of something of the owner that could not be read.
    fn part_unread(&self, more: &[(&'static str, Value)], error: &ReadError) -> Row {
        self.row(more, Value::Null).failing(format!("{}: {error}", self.owner.words()))
    }

    /// The entries of a list as rows, with a note where it may be one page of a longer one.
    fn listed(&self, operation: Operation, more: &[(&'static str, Value)], entries: Vec<Value>) -> Vec<Row> {
        let length = entries.len();
        let mut rows: Vec<Row> = entries.into_iter().map(|entry| self.row(more, entry)).collect();
        if may_be_a_page(length)
            && let Some(last) = rows.last_mut()
        {
            last.note = Some(format!(
                "{operation} gave {length} entries, which may be a page of more: entries may be missing after this one"
            ));
            last.standing = Standing::PerhapsPage;
        }
        rows
    }

    /// The rows of a list about a record. That of the account names none.
    async fn list_of(&self, operation: Operation, id: RemoteId) -> Result<Vec<Row>, ReadError> {
        let values = if id.is_nil() { Vec::new() } else { vec![id.to_string()] };
        let entries = self.list(operation, values).await?;
        Ok(self.listed(operation, &[], entries))
    }

    /// The owner itself.
    async fn record(&self) -> Result<Row, ReadError> {
        if let Some(record) = &self.owner.record {
            return Ok(self.row(&[], record.clone()));
        }
        let [operation, ..] = self.subject.needed(self.owner.kind) else {
            return Ok(self.unread("there is no operation for it"));
        };
        let record = self.object(*operation, vec![self.owner.id.to_string()]).await?;
        Ok(self.row(&[], record))
    }

    /// The people of a company, which each of them belongs to; or one person.
    async fn people(&self) -> Result<Vec<Row>, ReadError> {
        if self.owner.kind == OwnerKind::Person {
            return Ok(vec![self.record().await?]);
        }
        let company = json!(self.owner.id);
        let mut people = self.list(Operation::ListPeople, vec![self.owner.id.to_string()]).await?;
        for person in people.iter_mut().filter_map(Value::as_object_mut) {
            person.entry("companyId").or_insert_with(|| company.clone());
        }
        Ok(self.listed(Operation::ListPeople, &[], people))
    }

    /// The labels of a site; of a device those of its interfaces as well.
    async fn labels(&self) -> Result<Vec<Row>, ReadError> {
        let id = self.owner.id;
        let [operation, ..] = self.subject.needed(self.owner.kind) else { return Ok(Vec::new()) };
        let mut rows = self.list_of(*operation, id).await?;
        let wanted = self.subject.wanted(self.owner.kind);
        if wanted.is_empty() || !wanted.iter().all(|&operation| self.reader.available(operation)) {
            return Ok(rows);
        }
        let kind = ("@owner_kind", json!("interface"));
        let interfaces = match self.list(Operation::ListInterfaces, vec![id.to_string()]).await {
            Ok(interfaces) => interfaces,
            Err(error) => return self.with_part_unread(rows, &[kind], error),
        };
        let names: Vec<Option<&str>> =
            interfaces.iter().map(|interface| interface["normalizedName"].as_str()).collect();
        for (interface, name) in interfaces.iter().zip(&names) {
            let interface_id = Row::text(&interface["id"]);
            // A name that several have, or that is missing, names none of them.
            let is_unique = name.is_some() && names.iter().filter(|other| *other == name).count() == 1;
            let shown = name.filter(|_| is_unique).map_or_else(|| interface_id.clone(), str::to_owned);
            let given =
                [kind.clone(), ("@interface", json!(shown)), ("@interface_id", interface["id"].clone())];
            match self.list(Operation::ListInterfaceLabels, vec![interface_id]).await {
                Ok(labels) => rows.extend(self.listed(Operation::ListInterfaceLabels, &given, labels)),
                Err(error) => rows = self.with_part_unread(rows, &given, error)?,
            }
        }
        Ok(rows)
    }

    /// The rows so far and one that says what is missing; an end of everything stays one.
    fn with_part_unread(
        &self,
        mut rows: Vec<Row>,
        given: &[(&'static str, Value)],
        error: ReadError,
    ) -> Result<Vec<Row>, ReadError> {
        if matches!(error, ReadError::Stopped(_) | ReadError::Unavailable(..)) {
            return Err(error);
        }
        rows.push(self.part_unread(given, &error));
        Ok(rows)
    }

    /// Every template of the device once, with how the two belong together. What an operation would show that cannot be
    /// reached stays blank.
    async fn templates(&self) -> Result<Vec<Row>, ReadError> {
        let values = || vec![self.owner.id.to_string()];
        let assigned = self.list(Operation::ListAssignedTemplates, values()).await?;
        let assignable = self.list(Operation::ListAssignableTemplates, values()).await?;
        let own = if self.reader.available(Operation::ListOwnAssignableTemplates) {
            Some(self.list(Operation::ListOwnAssignableTemplates, values()).await?)
        } else {
            None
        };
        let (of_assigned, of_assignable) = (ids(&assigned), ids(&assignable));
        let of_own = own.as_deref().map(ids);
        let rows = once(vec![assigned, assignable, own.unwrap_or_default()]);
        let given = |id: &Value| -> Given {
            let is_own = of_own.as_ref().map(|own| own.contains(id));
            let inherited =
                is_own.filter(|_| of_assignable.contains(id) || is_own == Some(true)).map(|own| !own);
            vec![
                ("@assigned", json!(of_assigned.contains(id))),
                ("@assignable", json!(of_assignable.contains(id) || is_own == Some(true))),
                ("@inherited", json!(inherited)),
            ]
        };
        Ok(rows.into_iter().map(|entry| self.row(&given(&entry["id"]), entry)).collect())
    }

    /// Every cloud of the device once, with how the two belong together.
    async fn clouds(&self) -> Result<Vec<Row>, ReadError> {
        let values = || vec![self.owner.id.to_string()];
        let joined = self.list(Operation::ListDeviceVpnClouds, values()).await?;
        let joinable = self.list(Operation::ListJoinableVpnClouds, values()).await?;
        let (of_joined, of_joinable) = (ids(&joined), ids(&joinable));
        let given = |id: &Value| -> Given {
            vec![("@member", json!(of_joined.contains(id))), ("@joinable", json!(of_joinable.contains(id)))]
        };
        Ok(once(vec![joined, joinable])
            .into_iter()
            .map(|entry| self.row(&given(&entry["id"]), entry))
            .collect())
    }

    /// The configuration of the device in each of its clouds: a row for each interface, or one for a cloud without any.
    async fn vpn(&self) -> Result<Vec<Row>, ReadError> {
        let id = self.owner.id.to_string();
        let clouds = self.list(Operation::ListDeviceVpnClouds, vec![id.clone()]).await?;
        let mut rows = Vec::new();
        for cloud in clouds {
            let given = |suite: &Value| -> Given {
                vec![
                    ("@cloud", cloud["id"].clone()),
                    ("@cloud_name", cloud["name"].clone()),
                    ("@cipher_suite", suite.clone()),
                ]
            };
            let operation = Operation::GetDeviceVpnConfiguration;
            let cloud_id = Row::text(&cloud["id"]);
            match self.list(operation, vec![id.clone(), cloud_id]).await {
                Err(error) => rows = self.with_part_unread(rows, &given(&Value::Null), error)?,
                Ok(configurations) => {
                    for mut configuration in configurations {
                        let suite = configuration["cipherSuite"].clone();
                        let entries = match configuration.get_mut("interfaceConfiguration").map(Value::take) {
                            Some(Value::Array(entries)) if !entries.is_empty() => entries,
                            Some(_) | None => vec![Value::Null],
                        };
                        rows.extend(entries.into_iter().map(|entry| self.row(&given(&suite), entry)));
                    }
                }
            }
        }
        Ok(rows)
    }

    /// The entries of a company or a site, each with the device that it is about; or those of one device.
    async fn statuses(&self) -> Result<Vec<Row>, ReadError> {
        let [operation, ..] = self.subject.needed(self.owner.kind) else { return Ok(Vec::new()) };
        let values = vec![self.owner.id.to_string()];
        if self.owner.kind == OwnerKind::Device {
            let mut status = self.object(*operation, values).await?;
            if let Some(fields) = status.as_object_mut() {
                fields.entry("cpeId").or_insert_with(|| json!(self.owner.id));
            }
            return Ok(vec![self.row(&[], status)]);
        }
        let mut entries = self.list(*operation, values).await?;
        let length = entries.len();
        let Some(only) = &self.owner.only else { return Ok(self.listed(*operation, &[], entries)) };
        let wanted: HashSet<String> = only.iter().map(RemoteId::to_string).collect();
        let device = |entry: &Value| entry["cpeId"].as_str().unwrap_or_default().to_lowercase();
        entries.retain(|entry| wanted.contains(&device(entry)));
        let seen: HashSet<String> = entries.iter().map(device).collect();
        let mut rows: Vec<Row> = entries.into_iter().map(|entry| self.row(&[], entry)).collect();
        for id in only.iter().filter(|id| !seen.contains(&id.to_string())) {
            let page = if may_be_a_page(length) {
                format!(", which gave {length} entries and may be a page of more")
            } else {
                String::new()
            };
            let why = format!("device {id}: {operation} does not show it{page}");
            rows.push(self.row(&[], json!({"cpeId": id})).failing(why));
        }
        Ok(rows)
    }

    /// The connections or the routes of the device, a row each, with the cloud they are of; a cloud without any has one.
    async fn in_clouds(&self, operation: Operation) -> Result<Vec<Row>, ReadError> {
        let answer = self.object(operation, vec![self.owner.id.to_string()]).await?;
        let (vpns, _) = taken_apart(operation, answer, "vpns")?;
        let lists: &[&str] = match self.subject {
            Subject::Routes => &["ipv4", "ipv6"],
            _ => &["connections"],
        };
        let mut rows = Vec::new();
        for mut vpn in vpns {
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
            rows.extend(
                entries
                    .into_iter()
                    .map(|(family, entry)| self.row(&[("@vpn", vpn.clone()), ("@family", family)], entry)),
            );
        }
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

fn ids(entries: &[Value]) -> Vec<Value> {
    entries.iter().map(|entry| entry["id"].clone()).collect()
}

/// The entries of all lists, each id once.
fn once(lists: Vec<Vec<Value>>) -> Vec<Value> {
    let mut seen = HashSet::new();
    let entries = lists.into_iter().flatten();
    entries.filter(|entry| entry["id"].is_null() || seen.insert(entry["id"].to_string())).collect()
}
