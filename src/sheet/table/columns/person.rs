//! The columns of people (specification 2.4).

use super::address::{
    ADDRESS1, ADDRESS2, CITY, COUNTRY, LATITUDE, LONGITUDE, POSTCODE, STATE, SUBURB, TIMEZONE,
};
use super::{COMPANY, Column, FAX, Form, Need, PHONE};

pub(in crate::sheet) const COLUMNS: &[Column] = &[
    Column::new(
        "key",
        Form::Key,
        "Your own short name for the row; it stays the same when you import again.",
        "jane",
    ),
    COMPANY,
    Column::new(
        "user_type",
        Form::Enum(&[
            "Configure Client",
            "Diagnostics Client",
            "Full Reseller",
            "Reports Client",
            "Reports Only Reseller",
            "VPN User",
        ]),
        "What the user may do.",
        "Reports Client",
    )
    .api("userType")
    .required()
    .aliases(&["role", "usertype"]),
    Column::new(
        "template_scope",
        Form::Enum(&["COMPANY_INHERIT", "COMPANY_NO_INHERIT", "COMPANY_CHILDREN"]),
        "Which templates the user sees.",
        "COMPANY_INHERIT",
    )
    .api("templateScope")
    .required()
    .aliases(&["scope"]),
    Column::new("first_name", Form::Name, "The given name.", "Jane")
        .api("firstName")
        .required()
        .aliases(&["givenname", "forename"]),
    Column::new("last_name", Form::Name, "The family name.", "Doe")
        .api("lastName")
        .required()
        .aliases(&["surname", "familyname"]),
    Column::new(
        "username",
        Form::Username,
        "The name with which the user signs in: lower-case letters, digits and - . @ only; unique in the whole \
         service.",
        "jane.doe@acme.example",
    )
    .api("username")
    .required()
    .aliases(&["login", "userid", "loginname", "userprincipalname"]),
    Column::new("email", Form::Email, "The user's e-mail address.", "jane.doe@acme.example")
        .words("Email address")
        .api("email")
        .required()
        .aliases(&["emailaddress", "mail", "email1value"]),
    Column::new("allow_login", Form::Bool, "Whether the user may sign in.", "yes")
        .api("allowLogin")
        .required()
        .aliases(&["loginallowed", "canlogin", "active", "enabled", "accountenabled"]),
    PHONE.need(Need::Optional).weak_aliases(&[
        "workphone",
        "businessphone",
        "contactphone",
        "mobile",
        "mobilenumber",
        "cell",
    ]),
    FAX,
    ADDRESS1,
    ADDRESS2,
    SUBURB,
    CITY,
    STATE,
    POSTCODE,
    COUNTRY,
    TIMEZONE,
    LATITUDE,
    LONGITUDE,
];
