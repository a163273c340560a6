//! The rows of the column tables, one file a kind; the address block is shared.

pub(in crate::sheet) mod address;
pub(in crate::sheet) mod company;
pub(in crate::sheet) mod device;
pub(in crate::sheet) mod person;
pub(in crate::sheet) mod site;

use super::column::{Column, Family, Form, Need};
use crate::model::record::Role;

/// The column that says what to do with a row.
const ACTION: Column =
    Column::new("action", Form::Action, "What to do with the row; blank means create.", "create");

/// One metadata entry in each column.
const META: Column = Column::new(
    "meta:",
    Form::Family(Family::Meta),
    "One metadata value; the header has its key after the colon, as in meta:contract.",
    "",
)
.api("metadata");

/// Labels in one cell.
const LABELS: Column = Column::new(
    "labels",
    Form::Labels,
    "Labels, separated by semicolons; put a label in quotation marks when it contains one.",
    "retail; north",
)
.aliases(&["tags"]);

/// One label in each column.
const LABEL: Column = Column::new(
    "label:",
    Form::Family(Family::Label),
    "One label; use label:1, label:2 and so on instead of a list in one cell.",
    "",
);

/// The company a record belongs to.
const COMPANY: Column = Column::new(
    "company",
    Form::Reference(Role::Company),
    "The company it belongs to: its key or name in the companies sheet, or its id.",
    "acme",
)
.api("companyId")
.required()
.aliases(&[
    "companyid",
    "companykey",
    "account",
    "accountid",
    "customer",
    "organizationid",
    "organisationid",
]);

/// The phone number, where it is needed.
const PHONE: Column = Column::new(
    "phone",
    Form::Phone,
    "The phone number, with country code and leading zeros as dialled.",
    "+64 9 555 0100",
)
.words("Phone number")
.api("phoneNumber")
.need(Need::Required)
.aliases(&["phonenumber", "telephone", "telephonenumber", "tel", "mainphone"])
.weak_aliases(&["workphone", "businessphone", "contactphone"]);

/// The fax number.
const FAX: Column = Column::new("fax", Form::Phone, "The fax number.", "")
    .words("Fax number")
    .api("faxNumber")
    .aliases(&["faxnumber"]);
