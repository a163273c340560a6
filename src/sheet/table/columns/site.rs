//! The columns of sites (specification 2.6). Latitude and longitude are the site's own, apart from its address.

use super::address::{ADDRESS1, ADDRESS2, CITY, COUNTRY, POSTCODE, STATE, SUBURB, TIMEZONE};
use super::{ACTION, COMPANY, Column, FAX, Form, LABEL, LABELS, META, Need, PHONE};

pub(in crate::sheet) const COLUMNS: &[Column] = &[
    Column::new(
        "key",
        Form::Key,
        "Your own short name for the row, by which devices refer to it; it stays the same when you import again.",
        "acme-queen-st",
    )
    .need(Need::Conditional)
    .aliases(&["sitekey", "locationid"]),
    COMPANY,
    Column::new("name", Form::Name, "The name of the site.", "Queen Street")
        .api("name")
        .required()
        .aliases(&["sitename", "locationname", "storename", "branch", "branchname"]),
    Column::new("reference", Form::Code, "Your own reference of the site, sent to the service.", "Q-01")
        .api("reference")
        .aliases(&["siteref", "sitereference", "storenumber", "branchcode"]),
    PHONE,
    FAX,
    Column::new(
        "latitude",
        Form::Latitude,
        "Latitude of the site in decimal degrees, south negative; give longitude too.",
        "-36.8485",
    )
    .api("latitude")
    .aliases(&["lat"]),
    Column::new(
        "longitude",
        Form::Longitude,
        "Longitude of the site in decimal degrees, west negative; give latitude too.",
        "174.7633",
    )
    .api("longitude")
    .aliases(&["lng", "lon", "long"]),
    ADDRESS1,
    ADDRESS2,
    SUBURB,
    CITY,
    STATE,
    POSTCODE,
    COUNTRY,
    TIMEZONE,
    Column::new(
        "address_latitude",
        Form::Latitude,
        "Latitude of the postal address, when it is another place than the site.",
        "",
    )
    .api("address.latitude"),
    Column::new(
        "address_longitude",
        Form::Longitude,
        "Longitude of the postal address, when it is another place than the site.",
        "",
    )
    .api("address.longitude"),
    LABELS,
    ACTION,
    LABEL,
    META,
];
