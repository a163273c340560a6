//! Findings about cells of which a certain form is asked: numbers, addresses, identifiers, and what a spreadsheet made
//! of them.

use super::super::Entry;
use super::{as_text, found};
use crate::advice::Part::{Command, Words};

const REFUSED: &str = "The service would reject the row after a needless request.";

/// Forms of cells.
pub(super) const ENTRIES: &[Entry] = &[
    found("cell.required", "the cell is blank and a value is needed", REFUSED, &[Words("Fill it in. If all rows have the same value: --default KIND.COLUMN=VALUE. To accept \
             companies, people and sites without address1: --allow-missing-address1.")]),
    found("cell.enum", "the value is not one that the service knows", REFUSED, &[Words("Choose one of the values that are listed; the sheets of "), Command("template"), Words(" have them as a drop-down.")])
        .example("Reseller Full", "Full Reseller"),
    found("cell.bool", "the value is neither yes nor no", "The meaning would be a guess, and it decides who may log \
        in.", &[Words("Write yes or no (true and false, 1 and 0 and several languages are understood as well). \
             Blank is not no.")])
        .example("maybe", "no"),
    found("cell.number", "the value is not a number", REFUSED, &[Words("Write digits, with a dot before the decimals and no unit.")]).example("36.85 deg", "36.85"),
    found("cell.uuid", "the value is not an id of the service", "No record has it, so the row would refer to nothing.", &[Words("Copy the whole id from the service: 32 hexadecimal digits with hyphens.")])
        .example("6f1c9c8e-3b0a\u{2026}", "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11"),
    found("cell.range", "the number is outside the allowed range", "The record would be at a place that does not \
        exist.", &[Words("Correct it: a latitude is between -90 and 90, a longitude between -180 and 180.")])
        .example("1747645", "174.7645"),
    found("cell.too-long", "the text is too long", "The service may refuse it, or cut it off.", &[Words("Shorten it, and check whether a whole document was pasted into the cell. To change the \
             length that causes a warning: --longest-text.")]),
    found("cell.key", "a key has up to 64 letters, digits and . _ - : and nothing else", "Rows refer to each other by it, so it must be unmistakable.", &[Words("Remove spaces and other characters, here and in the cells that refer to it.")])
        .example("ACME / North", "ACME-North"),
    found("cell.network", "the value is not a network", "Traffic would be translated to the wrong addresses.", &[Words("Write it as 10.1.0.0/16 or 10.1.0.0/255.255.0.0.")]).example("10.1.0.0 - 10.1.255.255", "10.1.0.0/16"),
    found("cell.username", "a username may contain only lower-case letters a-z, digits and - . @", "The service \
        rejects every other username. fleetload does not change capital letters, because people log in with exactly \
        this name.",
        &[Words("Write it in lower case, without spaces, accents, + and _.")]).example("Ann.Miller", "ann.miller"),
    found("cell.email", "the value is not an e-mail address, or its link leads to another one", "Mails to it would never arrive, or arrive somewhere else.", &[Words("Write the bare address, without name, brackets, mailto: and link.")]).example("Ann Miller <ann@example.com>", "ann@example.com"),
    found("cell.multiple-values", "the cell holds several values, but only one is allowed", "The service would take the whole text as one address or number.", &[Words("Keep one of them; the service cannot store a second phone number or address.")])
        .example("a@example.com; b@example.com", "a@example.com"),
    found("cell.unsupported-action", "the action is not offered for this kind of row", "The service has no operation for it.", &[Words("Choose another action or remove the row. Do other actions in the service itself.")]),
    found("cell.mac", "the value is not a MAC address", "The service would never find the device.", &[Words("Copy it from the label of the device: 12 hexadecimal digits (0-9, A-F), with or without \
             separators. A serial number is not a MAC address.")])
        .example("SN-20391-7", "00:1a:2b:3c:4d:5e"),
    found("cell.mac-length", "a MAC address has 12 hexadecimal digits", "With a missing or additional digit it is the \
        address of another device, or of none.", &[Words("Compare it with the label of the device. If Excel has removed zeros, format the column as \
             Text and type it again.")])
        .example("01A2B3C4D5E", "001A2B3C4D5E"),
    found("cell.mac-reserved", "the MAC address belongs to no single device", "The service would store a placeholder \
        for the device, and reject the next one as a duplicate.", &[Words("Enter the address on the label, or leave the cell blank if it is not known yet.")])
        .example("00:00:00:00:00:00", "00:1a:2b:3c:4d:5e"),
    found("cell.phone", "the value does not look like a phone number that can be dialled from anywhere", "It is stored as it is, and a call to it may reach nobody.", &[Words("Write digits with a leading + and the code of the country, and an extension as x12.")]).example("1-800-FLOWERS", "+1 800 356 9377"),
    found("cell.timezone", "the value is not a time zone that the service is known to have", "The service may reject \
        it, or show all times of the record wrong. If the service's own list of zones is known, a name that is not in \
        it is an error. Otherwise names are compared with the IANA list, and a name that is not in it is a warning.", &[Words("Write the name of the zone, as Region/City. Offsets such as GMT+12 and Windows names are \
             not zones. If the service has added the zone since, get its list again: "), Command("doctor"), Words(".")])
        .example("New Zealand Standard Time", "Pacific/Auckland"),
    found("cell.country", "the value is neither a country code nor a known name of a country", "The address may be shown or sorted wrong.", &[Words("Write the two letters of ISO 3166 or the usual name. How countries are sent is set with \
             --country.")]).example("Aotearoa", "NZ"),
    found("cell.decimal-comma", "the number is written with a comma", "Without the decimal point it would be a \
        thousand times too large.", &[Words("Use a dot, and no separators of thousands.")]).example("51,5074", "51.5074"),
    found("cell.dms", "the coordinate is written in degrees, minutes and seconds, or with a compass letter", "The service takes decimal degrees only.", &[Words("Write decimal degrees, south and west as negative numbers. The message has the converted \
             value.")])
        .example("51\u{b0}30'26\"N", "51.5072"),
    found("cell.coords-pair", "the cell holds both coordinates", "The service has a field for each.", &[Words("Put each into its own column: latitude first, as maps write them.")]).example("51.5, -0.12", "51.5 and -0.12"),
    found("cell.coords-swapped", "the value fits a longitude, not a latitude", "The record would be in the sea, or nowhere.", &[Words("Swap the values of the two columns, and check whether other rows have the same problem.")]).example("latitude 174.76, longitude -36.85", "latitude -36.85, longitude 174.76"),
    found("cell.numeric-identifier", "the cell holds a number, but should hold text", "A number keeps no leading zeros and no plus sign: the phone number, postcode or MAC address that is sent would be another one.",
        &[Words(as_text!("enter the values again, with their zeros."))]).example("1122334455", "00:11:22:33:44:55"),
    found("cell.scientific", "digits were lost when the sheet was saved", "The missing digits are no longer in the \
        file, so the value is another number.",
        &[Words(as_text!("enter the numbers again, or export them again and read the CSV file without opening it in Excel."))]).example("4.41235E+11", "+441235 000 123"),
    found("cell.precision-lost", "the number has more digits than Excel keeps", "Excel keeps 15 digits and writes zeros for the others, so the number is wrong.",
        &[Words(as_text!("enter the numbers again from their source."))]).example("1234567890123450", "1234567890123456"),
    found("cell.date-unexpected", "Excel turned the text into a date or a time", "The service would get a date such \
        as 2024-02-01 instead of the name.",
        &[Words(as_text!("type the values again."))]).example("01.02.2024", "1-2"),
    found("cell.bool-unexpected", "Excel turned the text into true or false", "The service would get TRUE instead of \
        the text.",
        &[Words(as_text!("type the value again."))]).example("TRUE", "true as text"),
    found("cell.formula-error", "the formula of the cell has no result", "The text of the error would be sent as the value.", &[Words("Correct the formula or what it refers to, or enter the value itself.")]).example("#N/A", "the value"),
    found("cell.formula-no-value", "the cell has a formula whose result was never saved", "fleetload would read the \
        cell as blank.", &[Words("Open the workbook in Excel or LibreOffice, let it calculate, and save it. Or copy the \
             cells and paste them as values.")]),
    found("cell.formula-text", "the text starts like a formula", "It is stored as it is. A spreadsheet program that \
        opens an export of the service may run it.", &[Words("Remove the character at the start, unless it belongs to the name.")]).example("=Acme", "Acme"),
    found("cell.merged-covered", "the cell is covered by a merged one and has no value of its own", "Only the first \
        row of a merged range has its value; the other rows would be sent without it.", &[Words("Unmerge the cells and fill each: in Excel with Home, Merge & Center, then Ctrl+D. If \
             cells are merged down one column: --fill-merged.")]),
];
