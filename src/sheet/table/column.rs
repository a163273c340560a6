//! One table of columns per kind: what the reader accepts, the templates show, the docs list and the violations of
//! the service are mapped to.
//!
//! The rows of the tables are in `data/columns.csv`; how a header finds its column is left to `header`, how a cell
//! is read under a [`Form`] to the fields.

use std::sync::LazyLock;

use crate::model::amount::capitalised;
use crate::model::kind::Kind;
use crate::model::record::Role;
use crate::sheet::data;

/// One column of a sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The canonical header: `address1`. Of a [`Family`] the part before the colon, with it: `label:`.
    pub name: &'static str,
    /// The header in words, where it is not the name with spaces: `MAC address`.
    words: Option<&'static str>,
    /// The field of the creation's body: `address.address1`; `None` for what is not part of it.
    pub api: Option<&'static str>,
    /// What a cell may hold.
    pub form: Form,
    /// Whether a row needs it.
    pub need: Need,
    /// Other headers that mean the same, folded.
    pub aliases: &'static [&'static str],
    /// Headers that mean it only when no other column does, folded.
    pub weak_aliases: &'static [&'static str],
    /// Headers that may mean it, folded, and are too short or too general to be taken for it.
    pub(in crate::sheet) suggested_for: &'static [&'static str],
    /// What it is, in one plain sentence.
    pub help: &'static str,
    /// A value as it could stand in a sheet.
    pub example: &'static str,
}

/// Whether a row needs a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Every row.
    Required,
    /// Every row should have one; a blank is worth a warning.
    Wanted,
    /// Only some rows, as the help says.
    Conditional,
    /// No row.
    Optional,
}

/// What a cell may hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    /// Text on one line: names and cities, inner white space collapsed.
    Name,
    /// Text on one line: addresses, labels, metadata.
    Text,
    /// Text that is often taken for a number: postcodes and codes of the customer.
    Code,
    /// The row's own key, unique among its kind.
    Key,
    /// An id, key or name of another record.
    Reference(Role),
    /// An id, key or name of the record that an upkeep row is about; of which kind it is, another cell says.
    Owner,
    /// One of these values, exactly so for the service.
    Enum(&'static [&'static str]),
    /// Yes or no.
    Bool,
    /// An e-mail address.
    Email,
    /// A username.
    Username,
    /// A phone number, as text.
    Phone,
    /// A MAC address.
    Mac,
    /// Decimal degrees from -90 to 90.
    Latitude,
    /// Decimal degrees from -180 to 180.
    Longitude,
    /// A whole number.
    Integer,
    /// A country, by name or ISO code.
    Country,
    /// A time zone.
    Timezone,
    /// Ids or names of what the service lists for the device, separated by semicolons.
    Offers,
    /// Labels, separated by semicolons.
    Labels,
    /// The id of a record of the service.
    Id,
    /// What to do with the row: `create` or `update`.
    Action,
    /// What an export showed, as it was written by it.
    Exported,
    /// One column for each entry, named after the colon.
    Family(Family),
}

/// Columns that a sheet may have many of, each named `prefix:something`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `label:<n>`: one label.
    Label,
    /// `meta:<key>`: the value of one metadata key.
    Meta,
    /// `snat:<cloud>:<interface>`: a network.
    Snat,
}

impl Form {
    /// What a cell may hold, as a phrase for templates and docs.
    pub fn describe(self) -> String {
        match self {
            Self::Name | Self::Text | Self::Country => "text".into(),
            Self::Code => "text (format the column as Text)".into(),
            Self::Key => "up to 64 letters, digits and . _ - :".into(),
            Self::Reference(role) => format!("key, id or name of a {}", role.target().singular()),
            Self::Owner => "key, id or name of the record".into(),
            Self::Enum(values) => format!("one of {}", values.join(", ")),
            Self::Bool => "yes or no".into(),
            Self::Email => "e-mail address".into(),
            Self::Username => "lower-case letters, digits and - . @".into(),
            Self::Phone => "phone number (format the column as Text)".into(),
            Self::Mac => "12 hexadecimal digits (format the column as Text)".into(),
            Self::Latitude => "decimal degrees, -90 to 90".into(),
            Self::Longitude => "decimal degrees, -180 to 180".into(),
            Self::Integer => "whole number".into(),
            Self::Timezone => "time zone such as Pacific/Auckland".into(),
            Self::Offers => "ids or names, separated by ;".into(),
            Self::Labels => "labels, separated by ;".into(),
            Self::Id => "id of the service".into(),
            Self::Action => "create or update".into(),
            Self::Exported => "what the export wrote".into(),
            Self::Family(Family::Label) => "one label in each column".into(),
            Self::Family(Family::Meta) => "the value; the header has the key".into(),
            Self::Family(Family::Snat) => "network such as 10.1.0.0/16 or 10.1.0.0/255.255.0.0".into(),
        }
    }
}

impl Column {
    /// The header as people write it: `Company type`, `MAC address`.
    pub fn header(&self) -> String {
        if let Some(words) = self.words {
            return words.to_owned();
        }
        capitalised(&self.name.replace('_', " "))
    }

    /// The family, when it is one.
    pub fn family(&self) -> Option<Family> {
        match self.form {
            Form::Family(family) => Some(family),
            _ => None,
        }
    }
}

/// The columns of a kind, in the order of the templates.
pub fn columns(kind: Kind) -> &'static [Column] {
    static COLUMNS: LazyLock<[Vec<Column>; Kind::SHEETS.len()]> = LazyLock::new(|| {
        let records = data::records(include_str!("../data/columns.csv"), |record: [String; 11]| record);
        Kind::SHEETS.map(|kind| {
            let is_of_kind =
                |record: &&[String; 11]| record[0].split('|').any(|sheet| sheet == kind.plural());
            records.iter().filter(is_of_kind).cloned().filter_map(from_record).collect()
        })
    });
    &COLUMNS[kind.sheet().index()]
}

/// A column as the table of columns has it. There is one of each as long as the program runs, so that it is never freed.
fn from_record(
    [_, name, words, api, need, form, aliases, weak, suggested_for, help, example]: [String; 11],
) -> Option<Column> {
    let text = |text: String| -> &'static str { text.leak() };
    let optional = |word: String| (!word.is_empty()).then(|| text(word));
    let list = |words: String| -> &'static [&'static str] {
        let words = text(words).split('|').filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().leak()
    };
    let need = match need.as_str() {
        "required" => Need::Required,
        "wanted" => Need::Wanted,
        "conditional" => Need::Conditional,
        "optional" => Need::Optional,
        _ => return None,
    };
    let form = match form.split_once(':').unwrap_or((&form, "")) {
        ("name", _) => Form::Name,
        ("text", _) => Form::Text,
        ("code", _) => Form::Code,
        ("key", _) => Form::Key,
        ("reference", "parent") => Form::Reference(Role::Parent),
        ("reference", "company") => Form::Reference(Role::Company),
        ("reference", "site") => Form::Reference(Role::Site),
        ("reference", "template") => Form::Reference(Role::Template),
        ("reference", "device") => Form::Reference(Role::Device),
        ("owner", _) => Form::Owner,
        ("enum", values) => Form::Enum(list(values.to_owned())),
        ("bool", _) => Form::Bool,
        ("email", _) => Form::Email,
        ("username", _) => Form::Username,
        ("phone", _) => Form::Phone,
        ("mac", _) => Form::Mac,
        ("latitude", _) => Form::Latitude,
        ("longitude", _) => Form::Longitude,
        ("integer", _) => Form::Integer,
        ("country", _) => Form::Country,
        ("timezone", _) => Form::Timezone,
        ("offers", _) => Form::Offers,
        ("labels", _) => Form::Labels,
        ("id", _) => Form::Id,
        ("action", _) => Form::Action,
        ("exported", _) => Form::Exported,
        ("label", _) => Form::Family(Family::Label),
        ("meta", _) => Form::Family(Family::Meta),
        ("snat", _) => Form::Family(Family::Snat),
        _ => return None,
    };
    Some(Column {
        name: text(name),
        words: optional(words),
        api: optional(api),
        form,
        need,
        aliases: list(aliases),
        weak_aliases: list(weak),
        suggested_for: list(suggested_for),
        help: text(help),
        example: text(example),
    })
}

/// The first line of an address, where an address may be without it.
pub(in crate::sheet) fn address1_that_may_lack() -> Option<&'static Column> {
    static COLUMN: LazyLock<Option<Column>> = LazyLock::new(|| {
        column(Kind::Site, "address1").map(|column| Column { need: Need::Optional, ..column.clone() })
    });
    COLUMN.as_ref()
}

/// The column of a kind by its canonical name.
pub fn column(kind: Kind, name: &str) -> Option<&'static Column> {
    columns(kind).iter().find(|column| column.name == name)
}

/// The column that a violation of the service speaks of (specification 2.1: `<entity>.<field path>`).
///
/// The entity may be missing (`address.address1`), an index may follow a field (`snatMapping[0].cloud`), and a path
/// deeper than a column's field belongs to that column.
pub fn column_of_violation(kind: Kind, path: &str) -> Option<&'static Column> {
    let path =
        path.split_once('.').filter(|(entity, _)| is_entity(kind, entity)).map_or(path, |(_, rest)| rest);
    let mut path: &str = path;
    loop {
        let bare = path.split('[').next().unwrap_or(path);
        if let Some(found) =
            columns(kind).iter().find(|column| column.api.is_some_and(|api| api.eq_ignore_ascii_case(bare)))
        {
            return Some(found);
        }
        path = path.rsplit_once('.')?.0;
    }
}

/// Whether a word is what the service may call a record of `kind`: `device`, `addDevice`, `deviceDto`.
fn is_entity(kind: Kind, word: &str) -> bool {
    word.to_ascii_lowercase().contains(kind.sheet().singular())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::table::header_name::fold;

    #[test]
    fn every_line_of_the_table_is_a_column_of_the_sheets_that_it_names() {
        let lines = data::records(include_str!("../data/columns.csv"), |record: [String; 11]| record);
        assert_eq!(lines.len(), 77);
        let named: usize = lines.iter().map(|line| line[0].split('|').count()).sum();
        assert_eq!(Kind::SHEETS.map(|kind| columns(kind).len()).iter().sum::<usize>(), named);
    }

    #[test]
    fn no_two_columns_of_a_kind_share_a_header() {
        for kind in Kind::ALL {
            let mut seen = std::collections::HashMap::new();
            for column in columns(kind) {
                let mut headers = vec![fold(column.name)];
                headers
                    .extend(column.aliases.iter().chain(column.weak_aliases).map(|&alias| alias.to_owned()));
                for header in headers {
                    assert_eq!(fold(&header), header, "aliases are written folded");
                    if let Some(other) = seen.insert(header.clone(), column.name) {
                        assert_eq!(other, column.name, "{kind}: {header}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_header_in_words_is_read_as_its_column() {
        for kind in Kind::ALL {
            let shown: Vec<&Column> =
                columns(kind).iter().filter(|column| column.family().is_none()).collect();
            let headers: Vec<String> = shown.iter().map(|column| column.header()).collect();
            for (column, mapped) in shown.iter().zip(crate::sheet::meaning(kind, &headers)) {
                assert!(
                    matches!(mapped, crate::sheet::Mapped::Column { column: found, .. } if found == *column),
                    "{kind} {}: {}",
                    column.name,
                    column.header()
                );
                assert!(!column.header().contains('_'), "{}", column.header());
            }
        }
    }

    #[test]
    fn every_column_says_what_it_is_in_one_sentence_with_an_example() {
        for kind in Kind::ALL {
            for column in columns(kind) {
                assert!(column.help.ends_with('.'), "{kind} {}", column.name);
                assert!(!column.form.describe().is_empty());
                if !matches!(column.need, Need::Optional | Need::Conditional) {
                    assert!(!column.example.is_empty(), "{kind} {}", column.name);
                }
            }
        }
    }

    #[test]
    fn a_violation_of_the_service_names_a_column() {
        let table = [
            (Kind::Device, "device.address.address1", Some("address1")),
            (Kind::Device, "address.postOrZipCode", Some("postcode")),
            (Kind::Device, "device.identification", Some("mac")),
            (Kind::Device, "snatMapping[0].mapping", Some("snat:")),
            (Kind::Device, "device.address.address1.length", Some("address1")),
            (Kind::Person, "person.companyId", Some("company")),
            (Kind::Person, "companyId", Some("company")),
            (Kind::Company, "company.parentCompanyId", Some("parent")),
            (Kind::Site, "site.address.latitude", Some("address_latitude")),
            (Kind::Site, "site.latitude", Some("latitude")),
            (Kind::Device, "device.firmware", None),
        ];
        for (kind, path, expected) in table {
            assert_eq!(column_of_violation(kind, path).map(|column| column.name), expected, "{path}");
        }
    }
}
