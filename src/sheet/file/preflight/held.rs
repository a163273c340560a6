//! The parts that the reader holds in memory as a whole: the shared texts and the formats of cells.

use std::io::Read;

use quick_xml::events::Event;

use super::Fault;
use super::listing::Listing;
use super::package::Archive;
use super::tokens;
use super::tokens::{Tokens, elements};
use crate::sheet::finding::code::Code;

/// Bytes that a shared text takes at least: `<si/>`.
const SMALLEST_TEXT: u64 = 5;
/// A claim that costs nothing, however wrong it is; programs write such.
const HARMLESS: u64 = 65_536;

/// Refuses what would make the reader ask for more memory than the file is worth.
pub(super) fn look_through(archive: &mut Archive, listing: &Listing) -> Result<(), Fault> {
    let strings = format!("{}sharedStrings.xml", listing.folder);
    if archive.has(&strings) {
        texts(archive, &strings)?;
    }
    let styles = format!("{}styles.xml", listing.folder);
    if archive.has(&styles) {
        formats(archive, &styles)?;
    }
    let theme = format!("{}theme/theme1.xml", listing.folder);
    if archive.has(&theme) {
        let longest = archive.limits.run;
        count(archive.small_part(&theme, longest)?, &theme, |_, _, _| Ok(()))?;
    }
    Ok(())
}

/// The shared texts: not more than the part can hold, and not more than are read.
fn texts(archive: &mut Archive, part: &str) -> Result<(), Fault> {
    let limits = archive.limits;
    let most = (archive.size(part) / SMALLEST_TEXT + 1).max(HARMLESS).min(limits.texts);
    let mut texts = 0;
    let mut begins = None;
    count(archive.part(part, limits.run)?, part, |name, claimed, at| {
        if name == "si" {
            begins = Some(at);
        }
        // A text in many runs is one all the same, and held as often as cells have it.
        if begins.is_some_and(|begins| at - begins > limits.run as u64) {
            return Err(Fault::new(
                Code::FileTooLarge,
                "a text of the workbook is longer than a million characters, and a cell holds at most 32,767: remove it, \
                 and save the workbook again",
            ));
        }
        if let Some(claimed) = claimed.filter(|claimed| *claimed > most) {
            return Err(Fault::corrupt(&format!("it claims to have {claimed} texts, more than fit into it")));
        }
        texts += u64::from(name == "si");
        if texts > limits.texts {
            return Err(Fault::new(
                Code::FileTooLarge,
                format!("the workbook has more than {} different texts: split it", limits.texts),
            ));
        }
        Ok(())
    })
}

/// The formats of cells, each of which the reader makes a copy of.
fn formats(archive: &mut Archive, part: &str) -> Result<(), Fault> {
    let limits = archive.limits;
    let mut formats = 0;
    let mut elements = 0;
    let too_many = || {
        Fault::new(
            Code::FileTooLarge,
            "the workbook has more, or longer, cell formats than Excel allows: copy the values into a new workbook",
        )
    };
    let counted = count(archive.small_part(part, limits.format_run)?, part, |name, _, _| {
        formats += u64::from(name == "xf");
        elements += 1;
        if formats > limits.formats || elements > 16 * limits.formats { Err(too_many()) } else { Ok(()) }
    });
    counted.map_err(|fault| if fault.code == Code::FileTooLarge { too_many() } else { fault })
}

/// Hands over the name of each element, how many texts it claims there are, and where it ends.
fn count<R: Read>(
    tokens: Tokens<R>,
    part: &str,
    mut each: impl FnMut(&str, Option<u64>, u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut reader = elements(tokens);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(|error| tokens::fault(&error, part))? {
            Event::Start(element) => {
                let name = element.local_name();
                let claimed = if name.as_ref() == "sst" { claimed(&element) } else { None };
                each(name.as_ref(), claimed, reader.buffer_position())?;
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// How many texts an element claims to hold.
fn claimed(element: &quick_xml::events::BytesStart<'_>) -> Option<u64> {
    let mut attributes = element.attributes();
    let claims =
        attributes.with_checks(false).flatten().filter(|attribute| attribute.key.as_ref() == "uniqueCount");
    let digits = claims.filter(|claim| claim.value.bytes().all(|byte| byte.is_ascii_digit()));
    // Digits beyond a number are a claim beyond all measure.
    digits.map(|claim| claim.value.parse().unwrap_or(u64::MAX)).max()
}
