//! The columns of companies (specification 2.3).

use super::address::{ADDRESS1, ADDRESS2, CITY, COUNTRY, POSTCODE, STATE, SUBURB, TIMEZONE};
use super::{ACTION, Column, FAX, Form, META, Need, PHONE, Role};

pub(in crate::sheet) const COLUMNS: &[Column] = &[
    Column::new(
        "key",
        Form::Key,
        "Your own short name for the row, by which other rows refer to it; it stays the same when you import again.",
        "acme",
    )
    .need(Need::Conditional)
    .aliases(&["ref", "referenceid", "externalid", "companykey", "accountnumber", "accountid", "customerno"]),
    Column::new(
        "parent",
        Form::Reference(Role::Parent),
        "The company above it: a key or name in this sheet, or the id of a company that exists.",
        "reseller-1",
    )
    .words("Parent company")
    .api("parentCompanyId")
    .required()
    .aliases(&["parentcompanyid", "parentcompany", "parentkey", "parentaccount", "parentaccountid", "reseller"]),
    Column::new(
        "company_type",
        Form::Enum(&["CUSTOMER", "RESELLER"]),
        "CUSTOMER for a company that uses devices, RESELLER for one that manages others.",
        "CUSTOMER",
    )
    .api("companyType")
    .required()
    .aliases(&["type", "accounttype"]),
    Column::new("name", Form::Name, "The name of the company, unique below its parent.", "Acme Ltd")
        .api("name")
        .required()
        .aliases(&["companyname", "accountname", "customername", "organisation", "organization"]),
    PHONE,
    FAX,
    Column::new("support_email", Form::Email, "The e-mail address for support.", "support@acme.example")
        .api("supportEmail")
        .required(),
    Column::new("sales_email", Form::Email, "The e-mail address for sales.", "sales@acme.example")
        .api("salesEmail")
        .required(),
    Column::new("accounts_email", Form::Email, "The e-mail address for invoices.", "accounts@acme.example")
        .api("accountsEmail")
        .required()
        .aliases(&["accountingemail", "billingemail", "financeemail"]),
    ADDRESS1,
    ADDRESS2,
    SUBURB,
    CITY,
    STATE,
    POSTCODE,
    COUNTRY,
    TIMEZONE,
    ACTION,
    META,
];
