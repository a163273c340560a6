//! Findings about files and worksheets.

use super::super::Entry;
use super::found;

const NOTHING_READ: &str = "Nothing of it can be read, so nothing of the import is sent.";

/// `file.` and `sheet.`
pub(super) const ENTRIES: &[Entry] = &[
    found(
        "file.not-found",
        "there is no file of that name",
        NOTHING_READ,
        "Check the spelling and the folder. A name with spaces goes into quotation marks.",
    )
    .rule("the name and the folder of a file that is there")
    .example("fleetload check my rows.xlsx", "fleetload check \"my rows.xlsx\""),
    found(
        "file.unreadable",
        "the file cannot be opened or read",
        NOTHING_READ,
        "Close it in Excel and in other programs, see that you may read it, or save a copy and use that.",
    )
    .rule("a file that may be read, and that no other program holds"),
    found(
        "file.lock-file",
        "it is the small file that Excel makes while a workbook is open",
        "It holds the name of whoever has the workbook open, and no rows.",
        "Use the workbook itself, which has the same name without ~$ at the start.",
    )
    .rule("the workbook itself")
    .example("~$rollout.xlsx", "rollout.xlsx"),
    found(
        "file.empty",
        "the file has no content",
        "An empty import would look like a success, although rows are missing.",
        "Export it again, and see that the download has finished.",
    )
    .rule("a file with a header and rows"),
    found(
        "file.format-unsupported",
        "the format of the file is known, and not read",
        "What a reader for it would make of the cells is not certain enough for records that cannot be deleted.",
        "Open it in the program it comes from and save it as Excel workbook (.xlsx) or as CSV UTF-8. Unpack archives first. A workbook with old \
         macro sheets is saved as .xlsx without macros.",
    )
    .rule("a workbook saved as .xlsx or .xlsm, or a text table (.csv, .tsv, .txt)")
    .example("rollout.xls", "rollout.xlsx"),
    found(
        "file.format-mismatch",
        "the content of the file is not what its name says",
        "It may be a sign-in page or an old format under a new name; read as it is, its cells would be nonsense.",
        "Open it and look. If it is a web page, download the export again after signing in; if it is an old workbook, save it as .xlsx; if \
         only the ending is wrong, rename it.",
    )
    .rule("a file that is what its name says"),
    found(
        "file.encrypted",
        "the workbook is protected by a password or by rights management",
        NOTHING_READ,
        "In Excel: File, Info, Protect Workbook, Encrypt with Password, clear the password, save. In LibreOffice: File, Save As, without \
         \"Save with password\".",
    )
    .rule("a workbook without a password"),
    found(
        "file.corrupt",
        "the file is incomplete or damaged",
        "Rows may be missing without a trace.",
        "Export or download it again. If it opens in Excel, save it there as a new .xlsx file.",
    )
    .rule("a whole file, as it was saved"),
    found(
        "file.xml-entity",
        "the workbook declares XML entities, which no spreadsheet program writes",
        "Such files are made to exhaust a reader or to make it give away other files.",
        "Ask where it comes from. If it is honest, open it in Excel and save it as a new .xlsx file.",
    )
    .rule("a workbook as spreadsheet programs write it"),
    found(
        "file.too-large",
        "the file, or a part of it, is larger than the limit named",
        "Reading it could take all the memory of this machine.",
        "Split it into several files; each may be imported on its own. If it is large for no reason, copy the rows into a new workbook.",
    )
    .rule("a file within the limits of size"),
    found(
        "file.encoding-invalid",
        "some bytes of the row are not text in the encoding of the file",
        "Letters of names and addresses would be wrong in the service, for good.",
        "Retype the marked cells and save as CSV UTF-8: in Excel with Save As, CSV UTF-8 (Comma delimited). If the whole file is in another \
         encoding, say which one with --encoding.",
    )
    .rule("one encoding for all rows of a file")
    .example("Caf\u{fffd} Zentral", "Caf\u{e9} Zentral"),
    found(
        "file.encoding-guessed",
        "the file does not say how its letters are stored, so it was guessed",
        "A wrong guess turns letters into other letters, and names arrive wrong in the service.",
        "Look at the sample that is shown. If it is right, go on; if not, name the encoding with --encoding windows-1252 or --encoding macintosh, \
         or save the file as CSV UTF-8.",
    )
    .rule("a file that says how its letters are stored, as CSV UTF-8 does")
    .example("Caf\u{17d}", "Caf\u{e9}"),
    found(
        "file.delimiter-ambiguous",
        "two separators fit the header row equally well",
        "With the wrong one every value would be in a wrong column.",
        "Say which one it is: --delimiter \";\" or --delimiter \",\".",
    )
    .rule("one separator that fits the header"),
    found(
        "file.external-links",
        "values of the workbook come from other workbooks, a data connection or a pivot table",
        "What is read is what they were when the workbook was last saved or refreshed, which may be out of date.",
        "Open the workbook where the other ones are, let it update its links and refresh its data, save it. Or copy the cells and paste them as \
         values.",
    )
    .rule("values that stand in the workbook itself"),
    found(
        "sheet.not-found",
        "the workbook has no sheet of that name, or none that holds a known kind of row",
        "Another sheet is never taken in its place.",
        "Name the sheet after what it holds (Companies, People, Sites, Devices), or say which one it is with --worksheet NAME and what its \
         rows are with --kind devices. In a workbook with one sheet --kind is enough. What column names of your own mean is said with --map.",
    )
    .rule("a sheet of that name, or one named after what it holds"),
    found(
        "sheet.ambiguous",
        "two sheets, or two kinds of rows, fit",
        "Rows of the wrong kind, or twice the same rows, would be created.",
        "Name each sheet after what it holds, choose one with --worksheet NAME, or say what the rows are with --kind.",
    )
    .rule("one sheet for each kind of row"),
    found(
        "sheet.unreadable",
        "the structure of the sheet is damaged",
        "What stands behind the damage is not known.",
        "Open the workbook in Excel, save it as a new .xlsx file, and look at the cell that is named. If the sheet holds \
         none of the rows, name the sheets that do with --worksheet NAME.",
    )
    .rule("a worksheet that can be read to its end"),
    found(
        "sheet.empty",
        "there is a header but no row below it",
        "An import without rows would look like a success, although rows are missing.",
        "Fill in the rows or delete the sheet. If it is empty on purpose, add --allow-empty.",
    )
    .rule("a row below the header"),
    found(
        "sheet.hidden",
        "a hidden sheet is not read",
        "Hidden sheets mostly hold lists for drop-downs. If this one has rows, they are missing from the import.",
        "Nothing, if it is not meant to be imported. Else show it (right-click on the tabs, Unhide) or add --include-hidden.",
    ),
    found(
        "sheet.hidden-rows",
        "rows of the sheet are hidden, by a filter or by hand",
        "Whoever hid them may think they are not sent, or may have forgotten them. Both choices are wrong for somebody, so none is made.",
        "Clear the filter (Data, Clear) or show the rows, and look at them. Or choose: --hidden-rows import or --hidden-rows skip.",
    )
    .rule("no hidden rows, or a choice of what becomes of them"),
    found(
        "sheet.hidden-columns",
        "hidden columns are read as the others are",
        "Values that nobody sees, perhaps old ones, would be sent.",
        "Show the columns (select the neighbours, right-click, Unhide) and see that they are right, or leave one out with --ignore-column HEADER.",
    )
    .rule("columns that can be seen"),
    found(
        "sheet.formulas",
        "some values are the results of formulas",
        "They are read as they were when the workbook was last saved; results of formulas such as TODAY() change by themselves.",
        "Open the workbook in Excel and save it, so that the results are the present ones. For values that must not change: copy the cells, \
         then Home > Paste > Paste Values.",
    )
    .rule("values that do not change by themselves"),
    found(
        "sheet.preamble",
        "the header is not the first row; what stands above it is not read",
        "If the wrong row was taken for the header, all values are in wrong columns.",
        "Look at the row that is named. If it is not the header, say which is: --header-row 3.",
    )
    .rule("the header in the first row"),
    found(
        "sheet.extra-table",
        "a second table begins in the sheet",
        "Its rows would be read with the column names of the first one.",
        "Move each table into a sheet of its own, with its own header in the first row.",
    )
    .rule("one table in a sheet"),
    found(
        "sheet.row-limit",
        "the sheet ends exactly at a row limit of Excel",
        "Rows behind the limit may have been cut off when it was exported, without a word.",
        "Compare the number of rows with the system the export comes from. If some are missing, export in parts.",
    )
    .rule("all rows of an export, none cut off"),
];
