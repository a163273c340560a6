//! Upkeep of what the sandbox has from the start: a device gets labels, metadata, a template and a cloud.

use super::sheet::{Cell, Notes, Sheet, text};
use super::{ENTERPRISE_TEMPLATE, OWN_COMPANY, TEMPLATE_DEVICE, VPN_CLOUD};

/// The sheets.
pub(crate) fn sheets() -> Vec<Sheet> {
    let owner = || [text("owner_kind", 12.0), text("owner", 38.0)];
    let labels = vec![text("interface", 12.0), text("label", 16.0), text("action", 10.0)];
    let metadata = vec![text("key", 14.0), text("value", 18.0), text("action", 10.0)];
    vec![
        sheet(
            "Labels",
            owner().into_iter().chain(labels).collect(),
            &[
                &["device", TEMPLATE_DEVICE, "", "showroom", "put"],
                &["device", TEMPLATE_DEVICE, "", "auckland", ""],
                &["interface", TEMPLATE_DEVICE, "LAN 1", "tills", "put"],
                // It is not there, so nothing is sent.
                &["interface", TEMPLATE_DEVICE, "LAN 2", "printers", "delete"],
            ],
        ),
        sheet(
            "Metadata",
            owner().into_iter().chain(metadata).collect(),
            &[
                &["company", OWN_COMPANY, "contract", "C-2026-17", "put"],
                &["device", TEMPLATE_DEVICE, "asset", "A-0007", ""],
            ],
        ),
        sheet(
            "Subscriptions",
            vec![text("device", 38.0), text("template", 38.0), text("action", 12.0)],
            &[
                &[TEMPLATE_DEVICE, ENTERPRISE_TEMPLATE, "subscribe"],
                &[TEMPLATE_DEVICE, "Office Standard", ""],
            ],
        ),
        sheet(
            "VPN",
            vec![
                text("device", 38.0),
                text("cloud", 38.0),
                text("action", 10.0),
                text("cipher_suite", 28.0),
                text("interface", 12.0),
                text("weight", 8.0),
                text("default", 8.0),
            ],
            &[
                &[TEMPLATE_DEVICE, VPN_CLOUD, "join", "", "", "", ""],
                &[TEMPLATE_DEVICE, "Guest", "join", "", "", "", ""],
                // Two rows, one request, sent when the device has joined the cloud.
                &[TEMPLATE_DEVICE, "Guest", "configure", "ECDHE_ECDSA_AES256_GCM", "LAN 1", "10", ""],
                &[TEMPLATE_DEVICE, "Guest", "configure", "", "LAN 2", "", "yes"],
            ],
        ),
    ]
}

fn sheet(name: &'static str, columns: Vec<super::sheet::Column>, rows: &[&[&str]]) -> Sheet {
    let rows = rows.iter().map(|row| row.iter().map(|&cell| Cell::from(cell)).collect()).collect();
    Sheet { name, columns, rows }
}

/// The page of notes before them.
pub(crate) fn notes() -> Notes {
    Notes {
        author: "fleetload samples",
        title: "Upkeep of records that exist",
        lines: vec![
            "Each row asks for one thing of one record. What is so already is left as it is.",
            "Try it: fleetload run samples/upkeep.xlsx --sandbox",
        ],
    }
}
