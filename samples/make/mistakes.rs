//! A small workbook with one of each common mistake, and the list of what was planted where.

use super::Result;
use super::sheet::{Cell, Column, Notes, Sheet, number, text};

/// One mistake: where it stands, by which code it must be found, and what it is.
#[derive(Debug)]
pub(crate) struct Planted {
    sheet: &'static str,
    cell: String,
    code: &'static str,
    what: &'static str,
}

/// A cell of a row that is not as in the right one: the header of its column, what it holds, the code, and what is
/// wrong; without a code it only goes with a wrong one.
type Wrong = (&'static str, Cell, &'static str, &'static str);

/// What stands on the first page.
pub(crate) fn notes() -> Notes {
    Notes {
        author: "fleetload samples",
        title: "One of each common mistake",
        lines: vec![
            "Every sheet of this workbook has mistakes, most of them one in a row. 'fleetload check' must find each.",
            "The list of what was planted where is mistakes.csv, beside this workbook.",
        ],
    }
}

/// The list, for a program to compare with what is found.
pub(crate) fn list(planted: &[Planted]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["sheet", "cell", "code", "what"])?;
    for Planted { sheet, cell, code, what } in planted {
        writer.write_record([sheet, cell.as_str(), code, what])?;
    }
    Ok(writer.into_inner()?)
}

/// The sheets, and what is wrong with them.
pub(crate) fn sheets() -> (Vec<Sheet>, Vec<Planted>) {
    let mut planted = Vec::new();
    let sheets =
        vec![companies(&mut planted), people(&mut planted), sites(&mut planted), devices(&mut planted)];
    (sheets, planted)
}

/// A sheet being filled.
struct Filling<'a> {
    sheet: Sheet,
    planted: &'a mut Vec<Planted>,
}

impl Filling<'_> {
    /// Notes a mistake in the header.
    fn wrong_header(&mut self, header: &str, code: &'static str, what: &'static str) {
        self.plant(header, 1, code, what);
    }

    /// Adds a row that is right but for the cells named.
    fn row(&mut self, right: &[&str], wrong: Vec<Wrong>) {
        let mut cells: Vec<Cell> = right.iter().map(|&value| Cell::from(value)).collect();
        let row = self.sheet.rows.len() + 2;
        for (header, cell, code, what) in wrong {
            if let Some(at) = self.position(header) {
                cells[at] = cell;
            }
            if !code.is_empty() {
                self.plant(header, row, code, what);
            }
        }
        self.sheet.rows.push(cells);
    }

    fn position(&self, header: &str) -> Option<usize> {
        self.sheet.columns.iter().position(|column| column.header == header)
    }

    fn plant(&mut self, header: &str, row: usize, code: &'static str, what: &'static str) {
        // The sheets are narrower than the alphabet.
        let letter = self.position(header).and_then(|at| b"ABCDEFGHIJKLMNOPQRSTUVWXYZ".get(at)).copied();
        let cell = letter.map_or_else(String::new, |letter| format!("{}{row}", char::from(letter)));
        self.planted.push(Planted { sheet: self.sheet.name, cell, code, what });
    }
}

fn filling<'a>(name: &'static str, columns: Vec<Column>, planted: &'a mut Vec<Planted>) -> Filling<'a> {
    Filling { sheet: Sheet { name, columns, rows: Vec::new() }, planted }
}

fn companies(planted: &mut Vec<Planted>) -> Sheet {
    let own = super::OWN_COMPANY;
    let columns = vec![
        text("Key", 14.0),
        text("Parent", 38.0),
        text("Company type", 14.0),
        text("Name", 26.0),
        text("Phone", 18.0),
        text("Support email", 30.0),
        text("Sales email", 30.0),
        text("Accounts email", 30.0),
        text("Address 1", 24.0),
        text("City", 16.0),
        text("Postcode", 10.0),
        text("Country", 14.0),
        text("Time zone", 20.0),
    ];
    let right = |key: &'static str, parent: &'static str, name: &'static str| {
        [
            key,
            parent,
            "CUSTOMER",
            name,
            "+64 9 555 0141",
            "support@coastline.example",
            "sales@coastline.example",
            "accounts@coastline.example",
            "12 Quay Street",
            "Auckland",
            "1010",
            "New Zealand",
            "Pacific/Auckland",
        ]
    };
    let mut sheet = filling("Companies", columns, planted);
    sheet.row(&right("coastline", own, "Coastline Group"), vec![]);
    sheet.row(&right("coast-north", "coastline", "Coastline Marine"), vec![]);
    sheet.row(&right("coast-south", own, "Coastline Marine"), vec![]);
    sheet.row(
        &right("no-phone", "coastline", "Coastline Boats"),
        vec![("Phone", Cell::Blank, "cell.required", "a required cell is blank")],
    );
    sheet.row(
        &right("enum", "coastline", "Coastline Sails"),
        vec![("Company type", "Partner".into(), "cell.enum", "a company type that does not exist")],
    );
    sheet.row(
        &right("email", "coastline", "Coastline Ropes"),
        vec![(
            "Support email",
            "support@coastline".into(),
            "cell.email",
            "an e-mail address without a full domain",
        )],
    );
    sheet.row(
        &right("two-emails", "coastline", "Coastline Paint"),
        vec![(
            "Sales email",
            "sales@coastline.example; orders@coastline.example".into(),
            "cell.multiple-values",
            "two values in one cell",
        )],
    );
    sheet.row(
        &right("placeholder", "coastline", "Coastline Timber"),
        vec![("Accounts email", "n/a".into(), "cell.placeholder", "a placeholder in a required field")],
    );
    sheet.row(
        &right("Coast-North", "coastline", "Coastline Diving"),
        vec![("Key", "Coast-North".into(), "dup.key", "a key that another row has, in other letters")],
    );
    sheet.row(
        &right("near-miss", "costline", "Coastline Charter"),
        vec![(
            "Parent",
            "costline".into(),
            "ref.not-found",
            "a parent that no row has as its key; coastline is near",
        )],
    );
    sheet.row(
        &right("ring-a", "ring-b", "Coastline Ring A"),
        vec![("Parent", "ring-b".into(), "ref.cycle", "two companies that are each other's parent")],
    );
    sheet.row(&right("ring-b", "ring-a", "Coastline Ring B"), vec![]);
    sheet.row(
        &right("formula", "coastline", "Coastline Lights"),
        vec![(
            "City",
            Cell::Broken("=VLOOKUP(\"x\",A2:B3,2,FALSE)", "#N/A"),
            "cell.formula-error",
            "a formula without a result",
        )],
    );
    sheet.row(
        &right("zone", "coastline", "Coastline Anchors"),
        vec![("Time zone", "GMT+12".into(), "cell.timezone", "an offset in place of a time zone")],
    );
    sheet.sheet
}

fn people(planted: &mut Vec<Planted>) -> Sheet {
    let columns = vec![
        text("Company", 20.0),
        text("User type", 20.0),
        text("Template scope", 22.0),
        text("First name", 14.0),
        text("Last name", 14.0),
        text("Username", 24.0),
        text("Email", 30.0),
        text("Allow login", 12.0),
        text("Address 1", 24.0),
        text("City", 16.0),
        text("Country", 14.0),
        text("Labels", 12.0),
    ];
    let right = |company: &'static str, first: &'static str, username: &'static str| {
        [
            company,
            "Reports Client",
            "COMPANY_INHERIT",
            first,
            "Rata",
            username,
            "team@coastline.example",
            "yes",
            "12 Quay Street",
            "Auckland",
            "New Zealand",
            "",
        ]
    };
    let mut sheet = filling("People", columns, planted);
    sheet.wrong_header("Labels", "header.unsupported-field", "the service has no labels for people");
    sheet.row(&right("coastline", "Mere", "mere.rata"), vec![]);
    sheet.row(
        &right("coastline", "Jane", "jane"),
        vec![("Username", "Jane Rata".into(), "cell.username", "capitals and a space in a username")],
    );
    sheet.row(
        &right("coastline", "Tim", "tim.rata"),
        vec![("Allow login", "sometimes".into(), "cell.bool", "neither yes nor no")],
    );
    sheet.row(
        &right("coastline", "Max", "mere.rata"),
        vec![("Username", "mere.rata".into(), "dup.username", "a username that another row has")],
    );
    sheet.row(
        &right("Coastline Marine", "Ana", "ana.rata"),
        vec![("Company", "Coastline Marine".into(), "ref.ambiguous", "a name that two companies have")],
    );
    sheet.sheet
}

fn sites(planted: &mut Vec<Planted>) -> Sheet {
    let columns = vec![
        text("Key", 14.0),
        text("Company", 16.0),
        text("Name", 22.0),
        text("Reference", 12.0),
        text("Phone", 18.0),
        number("Latitude", 14.0),
        number("Longitude", 12.0),
        text("Address 1", 24.0),
        text("Adress 2", 14.0),
        text("City", 16.0),
        text("Country", 14.0),
    ];
    let right = |key: &'static str, company: &'static str, name: &'static str| {
        [key, company, name, "", "+64 9 555 0150", "", "", "12 Quay Street", "", "Auckland", "New Zealand"]
    };
    let mut sheet = filling("Sites", columns, planted);
    sheet.wrong_header("Adress 2", "header.unknown", "a header that is nearly address2");
    sheet.row(&right("quay", "coastline", "Quay Street"), vec![]);
    sheet.row(&right("south-yard", "coast-south", "South yard"), vec![]);
    sheet.row(
        &right("dated", "coastline", "Pier one"),
        vec![(
            "Reference",
            Cell::Date(1, 2, 2026),
            "cell.date-unexpected",
            "the reference 1-2, of which Excel made a date",
        )],
    );
    sheet.row(
        &right("off-map", "coastline", "Breakwater"),
        vec![
            (
                "Latitude",
                Cell::Number(-368_485.0),
                "cell.range",
                "a latitude that has lost its decimal point",
            ),
            ("Longitude", Cell::Number(174.7633), "", ""),
        ],
    );
    sheet.row(
        &right("minutes", "coastline", "Lighthouse"),
        vec![
            ("Latitude", "36°50'55\"S".into(), "cell.dms", "a latitude in degrees, minutes and seconds"),
            ("Longitude", Cell::Number(174.7645), "", ""),
        ],
    );
    sheet.row(
        &right("half", "coastline", "Boat ramp"),
        vec![
            ("Latitude", Cell::Number(-36.8485), "", ""),
            ("Longitude", Cell::Blank, "row.incomplete-group", "a latitude without a longitude"),
        ],
    );
    sheet.row(
        &right("number", "coastline", "Fuel dock"),
        vec![(
            "Phone",
            Cell::Number(95_550_151.0),
            "cell.numeric-identifier",
            "a phone number kept as a number, so that its leading 0 is lost",
        )],
    );
    sheet.sheet
}

fn devices(planted: &mut Vec<Planted>) -> Sheet {
    let columns = vec![
        text("Key", 10.0),
        text("Company", 16.0),
        text("Site", 14.0),
        text("Name", 18.0),
        text("Model", 12.0),
        text("MAC address", 20.0),
        text("Template", 12.0),
        text("Phone", 18.0),
        text("Address 1", 24.0),
        text("City", 16.0),
        text("Country", 14.0),
        text("VPN clouds", 36.0),
    ];
    let right = |key: &'static str, name: &'static str, mac: &'static str| {
        [
            key,
            "coastline",
            "quay",
            name,
            "Edge 100",
            mac,
            "",
            "+64 9 555 0160",
            "12 Quay Street",
            "Auckland",
            "New Zealand",
            "",
        ]
    };
    let mut sheet = filling("Devices", columns, planted);
    sheet.row(&right("D-1", "Router", "58:c1:7a:00:10:01"), vec![]);
    sheet.row(
        &right("D-2", "Till 1", ""),
        vec![(
            "MAC address",
            Cell::Number(2_596_001_002.0),
            "cell.numeric-identifier",
            "a MAC address kept as a number",
        )],
    );
    sheet.row(
        &right("D-3", "Till 2", ""),
        vec![("MAC address", "58:c1:7a:00:10".into(), "cell.mac-length", "a MAC address that is too short")],
    );
    sheet.row(
        &right("D-4", "Till 3", ""),
        vec![(
            "MAC address",
            "58C1.7A00.1001".into(),
            "dup.mac",
            "the MAC address of D-1 in another notation",
        )],
    );
    sheet.row(
        &right("D-5", "Till 4", ""),
        vec![(
            "MAC address",
            "SN-2041-7788".into(),
            "cell.mac",
            "a serial number in the column for MAC addresses",
        )],
    );
    sheet.row(
        &right("D-6", "Till 5", ""),
        vec![(
            "MAC address",
            "ff:ff:ff:ff:ff:ff".into(),
            "cell.mac-reserved",
            "an address that belongs to no single device",
        )],
    );
    sheet.row(
        &right("D-7", "Till 6", ""),
        vec![
            ("Model", "Edge 100".into(), "row.conflict", "both a model and a template"),
            ("Template", "D-1".into(), "", ""),
        ],
    );
    sheet.row(
        &right("D-8", "Till 7", "58:c1:7a:00:10:08"),
        vec![("Site", "south-yard".into(), "ref.wrong-owner", "a site of another company")],
    );
    sheet.row(
        &right("D-9", "Till 8", "58:c1:7a:00:10:09"),
        vec![("VPN clouds", "6f1c2a3e-0000-4000".into(), "cell.uuid", "an id that is not whole")],
    );
    sheet.sheet
}
