//! The rows of one owner: the questions that an export asks about it, and what is made of the answers.
//!
//! What is not documented is passed on as it came (specification 2.10: the structure of a state). A record that could not be
//! read is a row that says so.

mod vpn;

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::column::Column;
use super::owner::Owner;
use super::row::{Row, Standing};
use super::rows::Rows;
use super::subject::{OwnerKind, Subject};
use crate::model::action::record_update::RecordUpdate;
use crate::model::id::RemoteId;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::service::{Call, List, ListAnswer, ReadError, ServiceReader, may_be_a_page};

/// The rows of an owner.
///
/// # Errors
///
/// [`ReadError::Stopped`] when nothing more can be read, and [`ReadError::Unavailable`] when an operation turns out not to be
/// where it was looked for. Everything else is a row that says so.
pub(super) async fn rows(reader: ServiceReader, subject: Subject, owner: Owner) -> Result<Rows, ReadError> {
    let asking = Asking { reader, subject, owner: Arc::new(owner), columns: subject.columns() };
    if let Some(trouble) = &asking.owner.trouble {
        return Ok(Rows::one(asking.unread(trouble)));
    }
    match asking.rows().await {
        Ok(rows) => Ok(rows),
        Err(error @ (ReadError::Stopped(_) | ReadError::Unavailable(..))) => Err(error),
        Err(error @ (ReadError::NotFound(..) | ReadError::Failed(..))) => {
            Ok(Rows::one(asking.unread(&error.to_string())))
        }
    }
}

/// One owner being asked about.
#[derive(Clone)]
struct Asking {
    reader: ServiceReader,
    subject: Subject,
    owner: Arc<Owner>,
    columns: &'static [Column],
}

/// What is known of an entry besides the entry itself.
type Given = Vec<(&'static str, Value)>;

impl Asking {
    async fn rows(&self) -> Result<Rows, ReadError> {
        let id = self.owner.id;
        match self.subject {
            Subject::Companies | Subject::Sites | Subject::Devices => Ok(Rows::one(self.record().await?)),
            Subject::People => self.people().await,
            Subject::Interfaces => self.list_of(Operation::ListInterfaces, id).await,
            Subject::Labels => self.labels().await,
            Subject::Metadata | Subject::Subscriptions | Subject::TimeZones => {
                let [operation, ..] = self.subject.needed(self.owner.kind) else {
                    return Ok(Rows::default());
                };
                self.list_of(*operation, id).await
            }
            Subject::Templates => self.templates().await,
            Subject::Clouds => self.clouds().await,
            Subject::Vpn => self.vpn().await,
            Subject::Statuses | Subject::FullStatuses | Subject::States => self.statuses().await,
            Subject::Tunnels => self.tunnels().await,
            Subject::Connections => self.in_clouds(Operation::GetVpnConnections).await,
            Subject::Routes => self.in_clouds(Operation::GetVpnRoutes).await,
        }
    }

    /// A list.
    async fn list(&self, operation: Operation, values: Vec<String>) -> Result<List, ReadError> {
        match self.reader.list(Call::reading(operation, values)).await? {
            ListAnswer::List(list) => Ok(list),
            ListAnswer::Other(Value::Null) => {
                Err(ReadError::Failed(operation, "the answer holds no data".to_owned()))
            }
            ListAnswer::Other(_) => Err(ReadError::Failed(operation, "the answer is not a list".to_owned())),
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

    /// The entries of a list as rows, with a note where it may be one page of a longer one; `edit` goes over each entry.
    fn add_list(
        &self,
        rows: &mut Rows,
        (operation, list): (Operation, &List),
        given: Given,
        edit: impl Fn(&mut Value) + Send + 'static,
    ) {
        let (asking, length) = (self.clone(), list.len());
        let row = move |(index, mut entry)| {
            edit(&mut entry);
            let mut row = asking.row(&given, entry);
            if index + 1 == length && may_be_a_page(length) {
                row.note = Some(format!(
                    "{operation} gave {length} entries, which may be a page of more: entries may be missing after this one"
                ));
                row.standing = Standing::PerhapsPage;
            }
            row
        };
        rows.add(list.size(), list.entries().enumerate().map(row));
    }

    /// The rows of a list about a record. That of the account names none.
    async fn list_of(&self, operation: Operation, id: RemoteId) -> Result<Rows, ReadError> {
        let values = if id.is_nil() { Vec::new() } else { vec![id.to_string()] };
        let list = self.list(operation, values).await?;
        let mut rows = Rows::default();
        self.add_list(&mut rows, (operation, &list), Vec::new(), |_| {});
        Ok(rows)
    }

    /// The owner itself.
    async fn record(&self) -> Result<Row, ReadError> {
        if let Some(record) = &self.owner.record {
            return Ok(self.of_record(record.clone()));
        }
        let [operation, ..] = self.subject.needed(self.owner.kind) else {
            return Ok(self.unread("there is no operation for it"));
        };
        let record = self.object(*operation, vec![self.owner.id.to_string()]).await?;
        Ok(self.of_record(record))
    }

    /// The row of a record that was read. A field that an update changes and that is not in the answer has no value, if the
    /// answer shows such fields: that of the look-up which a run makes before the update does, and of lists those that are
    /// documented (specification 4.2 and 4.8). An address is shown as a whole.
    fn of_record(&self, record: Value) -> Row {
        let has_address = record["address"].is_object();
        let is_blank = |field: &str| {
            let (kind, is_documented) = match self.subject {
                Subject::Companies => (Kind::Company, true),
                Subject::Sites => (Kind::Site, field == "reference"),
                Subject::Devices => (Kind::Device, false),
                _ => return false,
            };
            RecordUpdate::can_change(kind, field)
                && (is_documented || !self.owner.is_listed)
                && (has_address || !field.starts_with("address."))
        };
        self.row(&[], record).with_blanks(self.columns, &is_blank)
    }

    /// The people of a company, which each of them belongs to; or one person.
    async fn people(&self) -> Result<Rows, ReadError> {
        if self.owner.kind == OwnerKind::Person {
            return Ok(Rows::one(self.record().await?));
        }
        let (operation, company) = (Operation::ListPeople, self.owner.id);
        let people = self.list(operation, vec![company.to_string()]).await?;
        let mut rows = Rows::default();
        self.add_list(&mut rows, (operation, &people), Vec::new(), move |person| {
            if let Some(person) = person.as_object_mut() {
                person.entry("companyId").or_insert_with(|| json!(company));
            }
        });
        Ok(rows)
    }

    /// The labels of a site; of a device those of its interfaces as well.
    async fn labels(&self) -> Result<Rows, ReadError> {
        let id = self.owner.id;
        let [operation, ..] = self.subject.needed(self.owner.kind) else { return Ok(Rows::default()) };
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
        let named = |interface: Value| {
            (interface["id"].clone(), interface["normalizedName"].as_str().map(str::to_owned))
        };
        let interfaces: Vec<(Value, Option<String>)> = interfaces.entries().map(named).collect();
        for (id, name) in &interfaces {
            let interface_id = Row::text(id);
            // A name that several have, or that is missing, names none of them.
            let is_unique =
                name.is_some() && interfaces.iter().filter(|(_, other)| other == name).count() == 1;
            let shown = name.clone().filter(|_| is_unique).unwrap_or_else(|| interface_id.clone());
            let given = vec![kind.clone(), ("@interface", json!(shown)), ("@interface_id", id.clone())];
            let operation = Operation::ListInterfaceLabels;
            match self.list(operation, vec![interface_id]).await {
                Ok(labels) => self.add_list(&mut rows, (operation, &labels), given, |_| {}),
                Err(error) => rows = self.with_part_unread(rows, &given, error)?,
            }
        }
        Ok(rows)
    }

    /// The rows so far and one that says what is missing; an end of everything stays one.
    fn with_part_unread(
        &self,
        mut rows: Rows,
        given: &[(&'static str, Value)],
        error: ReadError,
    ) -> Result<Rows, ReadError> {
        if matches!(error, ReadError::Stopped(_) | ReadError::Unavailable(..)) {
            return Err(error);
        }
        rows.add(0, [self.part_unread(given, &error)]);
        Ok(rows)
    }

    /// Every template of the device once, with how the two belong together. What an operation would show that cannot be
    /// reached stays blank.
    async fn templates(&self) -> Result<Rows, ReadError> {
        let values = || vec![self.owner.id.to_string()];
        let assigned = self.list(Operation::ListAssignedTemplates, values()).await?;
        let assignable = self.list(Operation::ListAssignableTemplates, values()).await?;
        let own = if self.reader.available(Operation::ListOwnAssignableTemplates) {
            Some(self.list(Operation::ListOwnAssignableTemplates, values()).await?)
        } else {
            None
        };
        let (of_assigned, of_assignable) = (ids(&assigned), ids(&assignable));
        let of_own = own.as_ref().map(ids);
        let given = move |id: &str| -> Given {
            let is_own = of_own.as_ref().map(|own| own.contains(id));
            let inherited =
                is_own.filter(|_| of_assignable.contains(id) || is_own == Some(true)).map(|own| !own);
            vec![
                ("@assigned", json!(of_assigned.contains(id))),
                ("@assignable", json!(of_assignable.contains(id) || is_own == Some(true))),
                ("@inherited", json!(inherited)),
            ]
        };
        Ok(self.once([Some(assigned), Some(assignable), own].into_iter().flatten().collect(), given))
    }

    /// Every cloud of the device once, with how the two belong together.
    async fn clouds(&self) -> Result<Rows, ReadError> {
        let values = || vec![self.owner.id.to_string()];
        let joined = self.list(Operation::ListDeviceVpnClouds, values()).await?;
        let joinable = self.list(Operation::ListJoinableVpnClouds, values()).await?;
        let (of_joined, of_joinable) = (ids(&joined), ids(&joinable));
        let given = move |id: &str| -> Given {
            vec![("@member", json!(of_joined.contains(id))), ("@joinable", json!(of_joinable.contains(id)))]
        };
        Ok(self.once(vec![joined, joinable], given))
    }

    /// The entries of all lists, each id once, with what is known of each by its id.
    fn once(&self, lists: Vec<List>, given: impl Fn(&str) -> Given + Send + 'static) -> Rows {
        let (asking, mut seen) = (self.clone(), HashSet::new());
        let size = lists.iter().map(List::size).sum();
        let entries = lists.into_iter().flat_map(|list| list.entries());
        let mut rows = Rows::default();
        rows.add(
            size,
            entries.filter_map(move |entry| {
                let id = entry["id"].to_string();
                let is_new = entry["id"].is_null() || seen.insert(id.clone());
                is_new.then(|| asking.row(&given(&id), entry))
            }),
        );
        rows
    }

    /// The entries of a company or a site, each with the device that it is about; or those of one device.
    async fn statuses(&self) -> Result<Rows, ReadError> {
        let [operation, ..] = self.subject.needed(self.owner.kind) else { return Ok(Rows::default()) };
        let values = vec![self.owner.id.to_string()];
        if self.owner.kind == OwnerKind::Device {
            let mut status = self.object(*operation, values).await?;
            if let Some(fields) = status.as_object_mut() {
                fields.entry("cpeId").or_insert_with(|| json!(self.owner.id));
            }
            return Ok(Rows::one(self.row(&[], status)));
        }
        let list = self.list(*operation, values).await?;
        let mut rows = Rows::default();
        let Some(only) = &self.owner.only else {
            self.add_list(&mut rows, (*operation, &list), Vec::new(), |_| {});
            return Ok(rows);
        };
        let device = |entry: &Value| entry["cpeId"].as_str().unwrap_or_default().to_lowercase();
        let wanted: HashSet<String> = only.iter().map(RemoteId::to_string).collect();
        let seen: HashSet<String> =
            list.entries().map(|entry| device(&entry)).filter(|id| wanted.contains(id)).collect();
        let page = if may_be_a_page(list.len()) {
            format!(", which gave {} entries and may be a page of more", list.len())
        } else {
            String::new()
        };
        let unseen: Vec<Row> = only
            .iter()
            .filter(|id| !seen.contains(&id.to_string()))
            .map(|id| {
                let why = format!("device {id}: {operation} does not show it{page}");
                self.row(&[], json!({"cpeId": id})).failing(why)
            })
            .collect();
        let asking = self.clone();
        let entries = list.entries().filter(move |entry| wanted.contains(&device(entry)));
        rows.add(list.size(), entries.map(move |entry| asking.row(&[], entry)));
        rows.add(0, unseen);
        Ok(rows)
    }
}

/// The ids of the entries, as JSON.
fn ids(list: &List) -> HashSet<String> {
    list.entries().map(|entry| entry["id"].to_string()).collect()
}
