//! Devices that are right as far as a sheet can be checked, and that the service refuses: to try the way from a
//! rejected row through the `fix` sheet to a finished import. Three ids are in the wrong column, so that a rehearsal, which
//! takes ids that it does not know as present, refuses them too.

use super::sheet::{Cell, Sheet, text};
use super::{ENTERPRISE_TEMPLATE, OWN_COMPANY, TEMPLATE_DEVICE, VPN_CLOUD};

/// The sheet.
pub(crate) fn sheet() -> Sheet {
    let columns = vec![
        text("key", 8.0),
        text("company", 38.0),
        text("name", 20.0),
        text("device_model", 14.0),
        text("mac", 20.0),
        text("phone", 18.0),
        text("address1", 20.0),
        text("city", 12.0),
        text("country", 12.0),
        text("enterprise_template", 38.0),
        text("site", 38.0),
    ];
    let rows = [
        ("R-1", OWN_COMPANY, "Reception", "Edge 100", "58:c1:7a:00:20:01", ENTERPRISE_TEMPLATE, ""),
        // The company's id where the site's should be.
        ("R-2", OWN_COMPANY, "Workshop", "Edge 200", "58:c1:7a:00:20:02", "", OWN_COMPANY),
        ("R-3", OWN_COMPANY, "Canteen", "Edge 200", "58:c1:7a:00:20:03", "", ""),
        // The id of a device where the company's should be.
        ("R-4", TEMPLATE_DEVICE, "Gatehouse", "Edge 200", "58:c1:7a:00:20:04", "", ""),
        ("R-5", OWN_COMPANY, "Warehouse", "Branch 20", "58:c1:7a:00:20:05", "", ""),
        // The device is created; what it should be subscribed to is no template but a VPN cloud.
        ("R-6", OWN_COMPANY, "Laboratory", "Edge 500", "58:c1:7a:00:20:06", VPN_CLOUD, ""),
        ("R-7", OWN_COMPANY, "Roof", "Edge 500 LTE", "58:c1:7a:00:20:07", "", ""),
    ];
    let rows = rows
        .into_iter()
        .map(|(key, company, name, model, mac, template, site)| {
            let address = ["+64 9 555 0170", "82 Customs Street East", "Auckland", "New Zealand"];
            let mut cells: Vec<Cell> = [key, company, name, model, mac].map(Cell::from).to_vec();
            cells.extend(address.map(Cell::from));
            cells.extend([template, site].map(Cell::from));
            cells
        })
        .collect();
    Sheet { name: "Devices", columns, rows }
}
