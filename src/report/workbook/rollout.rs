//! The workbook of a roll-out: a summary, the companies and sites with their counts, and every device.

use std::path::Path;

use rust_xlsxwriter::{DocProperties, Workbook, Worksheet, XlsxError};

use crate::error::{Error, Result, without_panic};
use crate::journal::Whose;
use crate::status::rollout::{Rollout, RolloutCounts, RolloutDevice, Standing};

use super::own_sheet::OwnSheet;
use super::properties;
use super::styles::{Styles, headed, printed};

/// What the workbook calls itself, to be known again.
const TITLE: &str = "fleetload, roll-out";
/// Widths of the columns of the two tables.
const GROUP_WIDTHS: [f64; 9] = [34.0, 30.0, 10.0, 10.0, 12.0, 12.0, 10.0, 12.0, 26.0];
const DEVICE_WIDTHS: [f64; 12] = [28.0, 20.0, 30.0, 26.0, 13.0, 14.0, 25.0, 25.0, 50.0, 38.0, 20.0, 8.0];

/// The workbook of a roll-out.
///
/// # Errors
/// Internal when it cannot be made.
pub fn rollout_workbook(rollout: &Rollout, title: &str, whose: &Whose) -> Result<Vec<u8>> {
    let failed = || Error::internal("the workbook of the roll-out cannot be made");
    match without_panic(|| workbook(rollout, title, whose)) {
        Some(Ok(bytes)) => Ok(bytes),
        Some(Err(error)) => Err(failed().because(error)),
        None => Err(failed()),
    }
}

/// Whether a file is the workbook of a roll-out.
pub fn is_rollout_workbook(file: &Path) -> bool {
    properties(file).is_some_and(|text| text.contains(&format!(">{TITLE}<")))
}

fn workbook(rollout: &Rollout, title: &str, whose: &Whose) -> std::result::Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    book.set_properties(&DocProperties::new().set_title(TITLE).set_author(super::AUTHOR));
    let styles = Styles::new();
    summary(book.add_worksheet(), &styles, rollout, title, whose)?;
    groups(book.add_worksheet(), &styles, rollout)?;
    devices(book.add_worksheet(), &styles, rollout)?;
    for sheet in book.worksheets_mut() {
        printed(sheet);
        headed(sheet, whose);
    }
    book.save_to_buffer()
}

fn summary(
    sheet: &mut Worksheet,
    styles: &Styles,
    rollout: &Rollout,
    title: &str,
    whose: &Whose,
) -> std::result::Result<(), XlsxError> {
    let mut page = OwnSheet::begin(sheet, styles, "Summary", [26.0, 60.0], title)?;
    page.sentence(&whose.line())?;
    page.row += 1;
    let counts = rollout.counts();
    page.count("devices", counts.devices)?;
    for &standing in Standing::ALL {
        page.count(standing.words(), counts.of(standing))?;
    }
    page.count("rows not imported", rollout.not_imported)?;
    page.row += 1;
    for (word, number) in rollout.other_words() {
        page.count(&format!("status {word}"), number)?;
    }
    for (state, number) in rollout.states_without_record() {
        page.count(&format!("no record: {state}"), number)?;
    }
    page.row += 1;
    for sentence in [
        "Online: the service gives the status Online, the only one that its specification shows.",
        "No status: the service shows no status for the device. That does not say that it was never online.",
        "Times are as the service writes them: it gives no time zone.",
    ] {
        page.sentence(sentence)?;
    }
    Ok(())
}

fn groups(sheet: &mut Worksheet, styles: &Styles, rollout: &Rollout) -> std::result::Result<(), XlsxError> {
    let mut page =
        OwnSheet::begin(sheet, styles, "Companies and sites", GROUP_WIDTHS, "Companies and sites")?;
    let mut heads = vec!["company", "site", "devices"];
    heads.extend(Standing::ALL.iter().map(|standing| standing.words()));
    heads.push("latest online since");
    page.headers(&heads)?;
    let first = page.row;
    for group in rollout.groups() {
        let whole = group.site.is_none();
        page.text(0, &group.company.words(), if whole { &styles.label } else { &styles.result })?;
        page.text(1, &group.site.map(|site| site.words()).unwrap_or_default(), &styles.result)?;
        counts(&mut page, group.counts)?;
        page.text_if_any(8, &group.latest.unwrap_or_default(), &styles.text)?;
        page.row += 1;
    }
    page.sheet.set_freeze_panes(first, 0)?;
    Ok(())
}

fn counts(page: &mut OwnSheet<'_>, counts: RolloutCounts) -> std::result::Result<(), XlsxError> {
    let styles = page.styles;
    page.number(2, counts.devices, &styles.number)?;
    for (column, &standing) in (3..).zip(Standing::ALL) {
        page.number(column, counts.of(standing), &styles.number)?;
    }
    Ok(())
}

fn devices(sheet: &mut Worksheet, styles: &Styles, rollout: &Rollout) -> std::result::Result<(), XlsxError> {
    let mut page = OwnSheet::begin(sheet, styles, "Devices", DEVICE_WIDTHS, "Devices")?;
    page.headers(&[
        "device",
        "mac_address",
        "company",
        "site",
        "standing",
        "status",
        "since",
        "last contact",
        "remark",
        "id",
        "sheet",
        "row",
    ])?;
    let first = page.row;
    for device in &rollout.devices {
        line(&mut page, device)?;
        page.row += 1;
    }
    if page.row > first {
        let last_column = u16::try_from(DEVICE_WIDTHS.len() - 1).unwrap_or(0);
        page.sheet.autofilter(first - 1, 0, page.row - 1, last_column)?;
    }
    page.sheet.set_freeze_panes(first, 1)?;
    Ok(())
}

fn line(page: &mut OwnSheet<'_>, device: &RolloutDevice) -> std::result::Result<(), XlsxError> {
    let (styles, row, status) = (page.styles, &device.row, device.status());
    let text = |text: Option<&String>| text.cloned().unwrap_or_default();
    let cells = [
        row.name.clone(),
        text(row.mac.as_ref()),
        row.company.words(),
        row.site.as_ref().map(|site| site.words()).unwrap_or_default(),
        device.standing().words().to_owned(),
        text(status.map(|status| &status.word)),
        text(status.and_then(|status| status.since.as_ref())),
        text(status.and_then(|status| status.contact.as_ref())),
        device.remark(&|at| at.to_string()),
        row.id.map(|id| id.to_string()).unwrap_or_default(),
        row.sheet.clone(),
    ];
    for (column, cell) in (0..).zip(&cells) {
        page.text_if_any(column, cell, &styles.text)?;
    }
    page.number(11, u64::from(row.row), &styles.number)
}
