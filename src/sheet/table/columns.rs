//! The columns of each kind of sheet, and the address block that they share (specification 2.2 to 2.6).

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

const ADDRESS1: Column = Column::new("address1", Form::Text, "Street and number.", "12 Queen Street")
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

const ADDRESS2: Column = Column::new("address2", Form::Text, "Unit, floor or building.", "Level 3")
    .words("Address line 2")
    .api("address.address2")
    .aliases(&["addressline2", "street2", "streetaddress2", "unit", "suite"]);

const SUBURB: Column = Column::new("suburb", Form::Name, "The suburb or district.", "Central")
    .api("address.suburb")
    .aliases(&["district", "neighbourhood", "neighborhood"]);

const CITY: Column = Column::new("city", Form::Name, "The town or city.", "Auckland")
    .api("address.city")
    .need(Need::Wanted)
    .aliases(&["town", "locality", "billingcity", "mailingcity", "towncity"]);

const STATE: Column = Column::new("state", Form::Name, "The state, province or region.", "Auckland")
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

const POSTCODE: Column =
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

const COUNTRY: Column = Column::new(
    "country",
    Form::Country,
    "The country, as the users of the service write it.",
    "New Zealand",
)
.api("address.country")
.need(Need::Wanted)
.aliases(&["countryregion", "countrycode", "billingcountry"]);

const TIMEZONE: Column =
    Column::new("timezone", Form::Timezone, "The time zone, by its IANA name.", "Pacific/Auckland")
        .words("Time zone")
        .api("address.timezone")
        .aliases(&["zoneid", "tz", "timezoneid"]);

const LATITUDE: Column = Column::new(
    "latitude",
    Form::Latitude,
    "Latitude in decimal degrees, south negative; give longitude too.",
    "-36.8485",
)
.api("address.latitude")
.aliases(&["lat"]);

const LONGITUDE: Column = Column::new(
    "longitude",
    Form::Longitude,
    "Longitude in decimal degrees, west negative; give latitude too.",
    "174.7633",
)
.api("address.longitude")
.aliases(&["lng", "lon", "long"]);

/// The columns of companies (specification 2.3).
pub(in crate::sheet) const COMPANY_COLUMNS: &[Column] = &[
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

/// The columns of people (specification 2.4).
pub(in crate::sheet) const PERSON_COLUMNS: &[Column] = &[
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

/// The columns of sites (specification 2.6). Latitude and longitude are the site's own, apart from its address.
pub(in crate::sheet) const SITE_COLUMNS: &[Column] = &[
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

/// The columns of devices (specification 2.5), by hardware model or as a copy of a template device.
pub(in crate::sheet) const DEVICE_COLUMNS: &[Column] = &[
    Column::new(
        "key",
        Form::Key,
        "Your own short name for the row; it stays the same when you import again.",
        "D-0012",
    )
    .aliases(&["devicekey", "assettag", "hostname"]),
    COMPANY,
    Column::new("name", Form::Name, "The name of the device, often the department it serves.", "Till 1")
        .api("name")
        .required()
        .aliases(&["devicename", "departmentname", "department"]),
    Column::new(
        "site",
        Form::Reference(Role::Site),
        "The site of the device: a key or name in the sites sheet, or an id.",
        "acme-queen-st",
    )
    .api("siteId")
    .aliases(&["siteid", "sitekey", "location"]),
    Column::new(
        "custom_site_id",
        Form::Code,
        "The reference of a site to create with the device; only without site.",
        "",
    )
    .words("Custom site ID")
    .api("customSiteId")
    .need(Need::Conditional),
    Column::new(
        "custom_site_name",
        Form::Name,
        "The name of a site to create with the device; only without site.",
        "",
    )
    .api("customSiteName")
    .need(Need::Conditional),
    Column::new("device_model", Form::Name, "The hardware model; not together with template.", "Edge 100")
        .api("deviceModel")
        .need(Need::Conditional)
        .aliases(&["model", "modelid", "hardware", "hardwaremodel"]),
    Column::new(
        "mac",
        Form::Mac,
        "The MAC address, unique in the whole service; not together with template.",
        "00:1a:2b:3c:4d:5e",
    )
    .words("MAC address")
    .api("identification")
    .need(Need::Conditional)
    .aliases(&["identification", "macaddress", "macid", "ethernetmac", "hwaddr"]),
    Column::new(
        "template",
        Form::Reference(Role::Template),
        "The device to copy: an id, or the key of a device row; not together with device_model or mac.",
        "",
    )
    .api("templateId")
    .need(Need::Conditional)
    .aliases(&["templateid", "copyfrom", "sourcedevice"]),
    Column::new("copy_dhcp_leases", Form::Bool, "Copy the DHCP leases of the template; blank means no.", "")
        .words("Copy DHCP leases")
        .api("copyDhcpLeases")
        .need(Need::Conditional),
    Column::new(
        "copy_internet_passwords",
        Form::Bool,
        "Copy the internet passwords of the template; blank means no.",
        "",
    )
    .api("copyInternetPasswords")
    .need(Need::Conditional),
    PHONE,
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
    Column::new("licence_code", Form::Code, "A licence code to add when the device has been created.", "")
        .api("licenceCode")
        .aliases(&["licensecode", "licence", "license"]),
    Column::new(
        "enterprise_template",
        Form::UuidList,
        "Enterprise templates to subscribe the device to, by id, separated by semicolons.",
        "",
    ),
    Column::new(
        "vpn_clouds",
        Form::UuidList,
        "VPN clouds the device joins, by id, separated by semicolons.",
        "",
    )
    .words("VPN clouds"),
    LABELS,
    ACTION,
    LABEL,
    META,
    Column::new(
        "snat:",
        Form::Family(Family::Snat),
        "The network of one interface in one VPN cloud, as in snat:Head Office:LAN1; only with template.",
        "",
    )
    .api("snatMapping"),
];
