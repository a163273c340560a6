//! The address block (specification 2.2).

use crate::sheet::table::column::{Column, Form, Need};

pub(super) const ADDRESS1: Column =
    Column::new("address1", Form::Text, "Street and number.", "12 Queen Street")
        .words("Address line 1")
        .api("address.address1")
        .required()
        .aliases(&[
            "address",
            "addressline1",
            "street",
            "street1",
            "streetaddress",
            "billingstreet",
            "mailingstreet",
            "address1street",
            "workaddress",
        ]);

/// The same where an address may be without it.
pub(in crate::sheet) const ADDRESS1_THAT_MAY_LACK: &Column = &ADDRESS1.need(Need::Optional);

pub(super) const ADDRESS2: Column =
    Column::new("address2", Form::Text, "Unit, floor or building.", "Level 3")
        .words("Address line 2")
        .api("address.address2")
        .aliases(&["addressline2", "street2", "streetaddress2", "unit", "suite"]);

pub(super) const SUBURB: Column = Column::new("suburb", Form::Name, "The suburb or district.", "Central")
    .api("address.suburb")
    .aliases(&["district", "neighbourhood", "neighborhood"]);

pub(super) const CITY: Column = Column::new("city", Form::Name, "The town or city.", "Auckland")
    .api("address.city")
    .need(Need::Wanted)
    .aliases(&["town", "locality", "billingcity", "mailingcity", "towncity"]);

pub(super) const STATE: Column =
    Column::new("state", Form::Name, "The state, province or region.", "Auckland")
        .words("State or region")
        .api("address.state")
        .aliases(&[
            "province",
            "region",
            "county",
            "stateregion",
            "stateorregion",
            "stateprovince",
            "billingstate",
            "billingstateprovince",
            "mailingstate",
        ]);

pub(super) const POSTCODE: Column =
    Column::new("postcode", Form::Code, "The postcode or ZIP code, with its leading zeros.", "1010")
        .api("address.postOrZipCode")
        .aliases(&[
            "postorzipcode",
            "zip",
            "zipcode",
            "postalcode",
            "postcodezip",
            "zippostalcode",
            "billingpostalcode",
            "billingzippostalcode",
        ]);

pub(super) const COUNTRY: Column = Column::new(
    "country",
    Form::Country,
    "The country, as the users of the service write it.",
    "New Zealand",
)
.api("address.country")
.need(Need::Wanted)
.aliases(&["countryregion", "countrycode", "billingcountry"]);

pub(super) const TIMEZONE: Column =
    Column::new("timezone", Form::Timezone, "The time zone, by its IANA name.", "Pacific/Auckland")
        .words("Time zone")
        .api("address.timezone")
        .aliases(&["zoneid", "tz", "timezoneid"]);

pub(super) const LATITUDE: Column = Column::new(
    "latitude",
    Form::Latitude,
    "Latitude in decimal degrees, south negative; give longitude too.",
    "-36.8485",
)
.api("address.latitude")
.aliases(&["lat"]);

pub(super) const LONGITUDE: Column = Column::new(
    "longitude",
    Form::Longitude,
    "Longitude in decimal degrees, west negative; give latitude too.",
    "174.7633",
)
.api("address.longitude")
.aliases(&["lng", "lon", "long"]);
