//! Findings about the letters of cells: what cannot be seen, what was garbled, what was tidied.

use super::super::Entry;
use super::found;
use crate::advice::Part::Words;
use crate::advice::Parts;

const TIDIED: &str = "The values are sent tidied; the sheet stays as it is.";
const NOTHING: Parts = &[Words("Nothing needs to be done.")];

/// Letters of cells.
pub(super) const ENTRIES: &[Entry] = &[
    found("cell.line-break", "the cell has a line break where one line is allowed", "The service may cut the text \
        there, or reject it.", &[Words("Put it on one line: in Excel go to the break and press Delete. The second line of an \
             address goes to address2.")])
        .example("12 King St\u{21b5}Unit 4", "12 King St in address1, Unit 4 in address2"),
    found("cell.control-char", "the cell has an invisible control character", "It can hide or reverse parts of the \
        text for a reader.", &[Words("Delete the cell and type the value again; do not paste it.")]),
    found("cell.replacement-char", "a letter was lost when the sheet was saved", "The name would be wrong in the service, for good.", &[Words("Type the value again, and save as .xlsx or CSV UTF-8.")]).example("Caf\u{fffd}", "Caf\u{e9}"),
    found("cell.placeholder", "the value is a placeholder", "It would be stored as if it were a name, an address or a number.", &[Words("Leave the cell blank or enter the value. To treat placeholders as blank: \
             --placeholders-blank.")]).example("n/a", "(blank)"),
    found("cell.mojibake", "the letters were garbled when the file was saved in another encoding", "The name would be garbled in the service, for good.", &[Words("Type the value again, or open the original with the right encoding and save it as CSV \
             UTF-8. The message shows the probable original.")])
        .example("Caf\u{c3}\u{a9}", "Caf\u{e9}"),
    found("cell.html", "the text contains markup of a web page", "It is stored as it is, with the markup.", &[Words("Replace it by plain text.")]).example("Smith &amp; Sons", "Smith & Sons"),
    found("cell.non-ascii-lookalike", "a letter of another script looks like a Latin one", "The two look the same, \
        but a search for the name or the address does not find it.", &[Words("Type the value again on your keyboard. The message names the letter.")])
        .example("\u{410}cme (with a Cyrillic A)", "Acme"),
    found("cell.trimmed", "spaces around values, or doubled inside them, were removed", TIDIED, NOTHING).example("\" Acme  Ltd \"", "\"Acme Ltd\""),
    found("cell.invisible-removed", "invisible characters were removed", TIDIED, NOTHING),
    found("cell.zero-padded-format", "leading zeros were kept or put back", "A number is sent with the zeros that its \
        format shows. A postcode that is stored as a number gets its zeros back if the row's country leaves no doubt \
        about them. A MAC address whose parts are written without their leading zeros gets them back; the note shows \
        the address that is sent.",
        &[Words("Compare a MAC address that is shown with the label of the device, and a postcode with the \
             address it belongs to; otherwise nothing needs to be done.")])
    .example("123 shown as 00123", "00123"),
    found("cell.excel-text-wrapper", "the wrapping =\"\u{2026}\", or an apostrophe at the start, was removed", TIDIED, NOTHING).example("=\"00123\"", "00123"),
];
