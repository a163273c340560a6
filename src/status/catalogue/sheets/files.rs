//! Findings about files and worksheets.

use super::super::Entry;
use super::found;
use crate::advice::Part::Words;

const NOTHING_READ: &str = "fleetload cannot read it, so nothing of the import is sent.";

/// `file.` and `sheet.`
pub(super) const ENTRIES: &[Entry] = &[
    found(
        "file.not-found",
        "there is no file of that name",
        NOTHING_READ,
        &[Words("Check the spelling and the folder. A name with spaces goes into quotation marks.")],
    )
    .example("fleetload check my rows.xlsx", "fleetload check \"my rows.xlsx\""),
    found(
        "file.unreadable",
        "the file cannot be opened or read",
        NOTHING_READ,
        &[Words(
            "Close it in Excel and in other programs, check that you may read it, or save a copy and \
             use that.",
        )],
    ),
    found(
        "file.lock-file",
        "it is the lock file that Excel creates while a workbook is open",
        "It holds the name of the person who has the workbook open, and no rows.",
        &[Words("Use the workbook itself, which has the same name without ~$ at the start.")],
    )
    .example("~$rollout.xlsx", "rollout.xlsx"),
    found(
        "file.empty",
        "the file has no content",
        "An empty import would look like a success, although rows are missing.",
        &[Words("Export it again, and check that the download has finished.")],
    ),
    found(
        "file.format-unsupported",
        "the format of the file is known, but not supported",
        "Reading the cells of this format is not certain enough for records that cannot be deleted.",
        &[Words(
            "Open it in its own program and save it as an Excel workbook (.xlsx) or as CSV UTF-8. \
             Unpack archives first. Save a workbook with old macro sheets as .xlsx, without macros.",
        )],
    )
    .example("rollout.xls", "rollout.xlsx"),
    found(
        "file.format-mismatch",
        "the content of the file does not match its name",
        "It may be a sign-in page or an old format with a new ending. Its cells would be nonsense.",
        &[Words(
            "Open it and check. If it is a web page, download the export again after signing in; if it \
             is an old workbook, save it as .xlsx; if only the ending is wrong, rename it.",
        )],
    ),
    found(
        "file.encrypted",
        "the workbook is protected by a password or by rights management",
        NOTHING_READ,
        &[Words(
            "In Excel: File, Info, Protect Workbook, Encrypt with Password, clear the password, save. \
             In LibreOffice: File, Save As, without \"Save with password\".",
        )],
    ),
    found(
        "file.corrupt",
        "the file is incomplete or damaged",
        "Rows may be missing without any sign.",
        &[Words("Export or download it again. If it opens in Excel, save it there as a new .xlsx file.")],
    ),
    found(
        "file.xml-entity",
        "the workbook declares XML entities, which no spreadsheet program writes",
        "Such files are made to exhaust a program or to make it disclose other files.",
        &[Words(
            "Find out where it comes from. If you trust it, open it in Excel and save it as a new \
             .xlsx file.",
        )],
    ),
    found(
        "file.too-large",
        "the file, or a part of it, is larger than the limit named",
        "Reading it could take all the memory of this machine.",
        &[Words(
            "Split it into several files; each may be imported on its own. If it is large for no \
             reason, copy the rows into a new workbook.",
        )],
    ),
    found(
        "file.encoding-invalid",
        "some bytes of the row are not text in the encoding of the file",
        "Letters of names and addresses would be wrong in the service, for good.",
        &[Words(
            "Retype the marked cells and save as CSV UTF-8: in Excel with Save As, CSV UTF-8 (Comma \
             delimited). If the whole file is in another encoding, name it with --encoding.",
        )],
    )
    .example("Caf\u{fffd} Zentral", "Caf\u{e9} Zentral"),
    found(
        "file.encoding-guessed",
        "the file does not say which encoding it has, so the encoding was guessed",
        "A wrong guess turns letters into other letters, and names arrive wrong in the service.",
        &[Words(
            "Look at the sample that is shown. If it is right, continue; if not, name the encoding \
             with --encoding windows-1252 or --encoding macintosh, or save the file as CSV UTF-8.",
        )],
    )
    .example("Caf\u{17d}", "Caf\u{e9}"),
    found(
        "file.delimiter-ambiguous",
        "two separators fit the header row equally well",
        "With the wrong one every value would be in a wrong column.",
        &[Words("Name the right one: --delimiter \";\" or --delimiter \",\".")],
    ),
    found(
        "file.external-links",
        "values of the workbook come from other workbooks, a data connection or a pivot table",
        "fleetload reads the values of the last save or refresh, which may be out of date.",
        &[Words(
            "Open the workbook together with the other ones, let it update its links and refresh its \
             data, and save it. Or copy the cells and paste them as values.",
        )],
    ),
    found(
        "sheet.not-found",
        "the workbook has no sheet of that name, or none that holds a known kind of row",
        "fleetload never uses another sheet instead.",
        &[Words(
            "Name the sheet after what it holds (Companies, People, Sites, Devices), or name it with \
             --worksheet NAME and its kind with --kind devices. In a workbook with one sheet --kind is \
             enough. To say what your own column names mean, use --map.",
        )],
    ),
    found(
        "sheet.ambiguous",
        "two sheets, or two kinds of rows, fit",
        "Rows of the wrong kind, or twice the same rows, would be created.",
        &[Words(
            "Name each sheet after what it holds, choose one with --worksheet NAME, or name the kind \
             of the rows with --kind.",
        )],
    ),
    found(
        "sheet.unreadable",
        "the structure of the sheet is damaged",
        "The content after the damage is unknown.",
        &[Words(
            "Open the workbook in Excel, save it as a new .xlsx file, and look at the cell that is \
             named. If the sheet holds none of the rows, name the sheets that do with --worksheet NAME.",
        )],
    ),
    found(
        "sheet.empty",
        "there is a header but no row below it",
        "An import without rows would look like a success, although rows are missing.",
        &[Words("Fill in the rows or delete the sheet. If it is empty on purpose, add --allow-empty.")],
    ),
    found(
        "sheet.hidden",
        "a hidden sheet is not read",
        "Hidden sheets mostly hold lists for drop-downs. If this one has rows, they are missing from the import.",
        &[Words(
            "Nothing, if it should not be imported. Otherwise show it (right-click on the tabs, \
             Unhide) or add --include-hidden.",
        )],
    ),
    found(
        "sheet.hidden-rows",
        "rows of the sheet are hidden, by a filter or by hand",
        "They may be hidden so that they are not sent, or hidden by mistake. fleetload does not guess which.",
        &[Words(
            "Clear the filter (Data, Clear) or show the rows, and look at them. Or choose: \
             --hidden-rows import or --hidden-rows skip.",
        )],
    ),
    found(
        "sheet.hidden-columns",
        "hidden columns are read like the others",
        "Values that you do not see, perhaps old ones, would be sent.",
        &[Words(
            "Show the columns (select the neighbours, right-click, Unhide) and check that they are \
             right, or ignore one with --ignore-column HEADER.",
        )],
    ),
    found(
        "sheet.formulas",
        "some values are the results of formulas",
        "fleetload reads the results of the last save; results of formulas such as TODAY() change over time.",
        &[Words(
            "Open the workbook in Excel and save it, so that the results are current. For values that \
             must not change: copy the cells, then Home > Paste > Paste Values.",
        )],
    ),
    found(
        "sheet.preamble",
        "the header is not the first row; the rows above it are not read",
        "If this row is not the header, all values are in wrong columns.",
        &[Words(
            "Look at the row that is named. If it is not the header, name the right row: --header-row 3.",
        )],
    ),
    found(
        "sheet.extra-table",
        "a second table begins in the sheet",
        "Its rows would be read with the column names of the first one.",
        &[Words("Move each table into a sheet of its own, with its own header in the first row.")],
    ),
    found(
        "sheet.row-limit",
        "the sheet ends exactly at a row limit of Excel",
        "The export may have cut off the rows beyond the limit without a message.",
        &[Words(
            "Compare the number of rows with the system that made the export. If some are missing, \
             export in parts.",
        )],
    ),
];
