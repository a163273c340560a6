//! The columns of devices (specification 2.5), by hardware model or as a copy of a template device.

use super::address::{
    ADDRESS1, ADDRESS2, CITY, COUNTRY, LATITUDE, LONGITUDE, POSTCODE, STATE, SUBURB, TIMEZONE,
};
use super::{ACTION, COMPANY, Column, FAX, Family, Form, LABEL, LABELS, META, Need, PHONE, Role};

pub(in crate::sheet) const COLUMNS: &[Column] = &[
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
