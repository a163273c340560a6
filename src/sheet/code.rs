//! The codes of findings: their written form, their severity and what they mean, in one table.
//!
//! A code is never reused and never renamed; scripts and saved reports rely on it.

use serde::Serialize;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file or the sheet cannot be used.
    Fatal,
    /// The row cannot be sent.
    Error,
    /// Accepted, but probably wrong.
    Warning,
    /// Changed or noted.
    Info,
}

/// Declares the codes, so that none lacks a written form, a severity or an explanation.
macro_rules! codes {
    ($($variant:ident $word:literal $severity:ident $explanation:literal;)+) => {
        /// What was found.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $explanation] $variant,)+
        }

        impl Code {
            /// Every code, by scope.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The written form: `cell.required`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// How bad it usually is; a finding may say otherwise where two are possible.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)+ }
            }

            /// What it means and what to do, for `explain`.
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$variant => $explanation,)+ }
            }
        }
    };
}

codes! {
    FileNotFound "file.not-found" Fatal "There is no file of that name. Check the path.";
    FileUnreadable "file.unreadable" Fatal "The file cannot be read. Close it in other programs, check its permissions, or save a copy.";
    FileLock "file.lock-file" Fatal "Excel makes this small file while a workbook is open. Use the workbook itself.";
    FileEmpty "file.empty" Fatal "The file has no content. Export it again.";
    FileFormatUnsupported "file.format-unsupported" Fatal "The format is known but not read. Save as .xlsx or .csv.";
    FileFormatMismatch "file.format-mismatch" Fatal "The content is not what the name of the file says.";
    FileEncrypted "file.encrypted" Fatal "The workbook has a password. Save it without one.";
    FileCorrupt "file.corrupt" Fatal "The file is incomplete or damaged. Export it again, or open it in Excel and save it.";
    FileXmlEntity "file.xml-entity" Fatal "The workbook declares XML entities, which no spreadsheet program writes. Save it again in Excel.";
    FileTooLarge "file.too-large" Fatal "The file, or a part of it, is larger than the limit named. Split it.";
    FileEncodingInvalid "file.encoding-invalid" Error "Some bytes of the row are not text in the encoding of the file. Retype the marked cells and save as CSV UTF-8.";
    FileEncodingGuessed "file.encoding-guessed" Warning "The file does not say how its letters are stored, so it was guessed. Look at the sample, or save as CSV UTF-8.";
    FileDelimiterAmbiguous "file.delimiter-ambiguous" Fatal "Two separators fit the header row equally well. Say which one it is.";
    FileExternalLinks "file.external-links" Warning "Values come from other workbooks and may be out of date. Open the workbook where those are, and save it.";
    SheetNotFound "sheet.not-found" Fatal "The workbook has no sheet of that name, or none that holds a known kind of row.";
    SheetAmbiguous "sheet.ambiguous" Fatal "Two sheets, or two kinds, fit. Name the sheet after what it holds, or say which is meant.";
    SheetUnreadable "sheet.unreadable" Fatal "The structure of the sheet is damaged. Open it in Excel and save it.";
    SheetEmpty "sheet.empty" Error "There is a header but no row below it.";
    SheetHidden "sheet.hidden" Info "A hidden sheet is not read.";
    SheetHiddenRows "sheet.hidden-rows" Error "Rows are hidden, by a filter or by hand. Show them, or say whether they are to be imported or skipped.";
    SheetHiddenColumns "sheet.hidden-columns" Warning "Hidden columns are read as the others are. Show them and see that their values are right.";
    SheetPreamble "sheet.preamble" Warning "The header is not the first row; what stands above it is not read.";
    SheetFormulas "sheet.formulas" Info "Some values are results of formulas. They are read as they were saved.";
    SheetExtraTable "sheet.extra-table" Error "A second table begins in the sheet. Put each table into a sheet of its own.";
    SheetRowLimit "sheet.row-limit" Warning "The sheet ends exactly at a row limit of Excel; rows may have been cut off when it was exported.";
    HeaderMissing "header.missing" Fatal "No row among the first twenty looks like a header. Put the column names in the first row.";
    HeaderRequiredMissing "header.required-missing" Fatal "A column that every row needs is not there. Add it.";
    HeaderUnknown "header.unknown" Error "The column is not understood. Correct its name, or start it with x- if it is yours alone.";
    HeaderDuplicate "header.duplicate" Error "Two columns mean the same field. Remove or rename one.";
    HeaderBlank "header.blank" Error "A column has values but no name.";
    HeaderTransposed "header.transposed" Error "The column names run down the first column. Each record needs a row of its own.";
    HeaderMultiRow "header.multi-row" Error "The header has two rows. Use one row of column names.";
    HeaderUnsupportedField "header.unsupported-field" Error "The service has no such field for this kind of record.";
    RowTooManyCells "row.too-many-cells" Error "The row has more cells than the header, often because of an unquoted separator in an address.";
    RowTooFewCells "row.too-few-cells" Error "The row ends before a required column, often because of a line break in a cell.";
    RowQuoteStray "row.quote-stray" Error "A quotation mark stands where none may. Put the whole cell in quotation marks and double those inside.";
    RowQuoteUnterminated "row.quote-unterminated" Error "A quotation mark is opened and never closed.";
    RowConflict "row.conflict" Error "Two cells of the row exclude each other.";
    RowIncompleteGroup "row.incomplete-group" Error "Cells that belong together are not all filled.";
    RowRepeatedHeader "row.repeated-header" Warning "The header stands again among the rows; the row is not read.";
    RowFooter "row.footer" Warning "A total or remark below the data; the row is not read.";
    RowBlank "row.blank" Info "Blank rows are not read.";
    RowTemplate "row.template" Info "The example row of a template is not read.";
    CellRequired "cell.required" Error "The cell is blank and a value is needed.";
    CellEnum "cell.enum" Error "The value is none of those the service knows.";
    CellBool "cell.bool" Error "The value is neither yes nor no.";
    CellNumber "cell.number" Error "The value is not a number.";
    CellUuid "cell.uuid" Error "The value is not an id of the service (a UUID).";
    CellRange "cell.range" Error "The number is outside the allowed range.";
    CellTooLong "cell.too-long" Error "The text is too long.";
    CellKey "cell.key" Error "A key has up to 64 letters, digits and . _ - : and nothing else.";
    CellNetwork "cell.network" Error "The value is not a network such as 10.1.0.0/16 or 10.1.0.0/255.255.0.0.";
    CellUsername "cell.username" Error "A username has small letters a-z, digits, and - . @ and nothing else.";
    CellEmail "cell.email" Error "The value is not an e-mail address.";
    CellMultipleValues "cell.multiple-values" Error "The cell holds several values and may hold one.";
    CellUnsupportedAction "cell.unsupported-action" Error "The action is not offered for this kind of row.";
    CellMac "cell.mac" Error "The value is not a MAC address.";
    CellMacLength "cell.mac-length" Error "A MAC address has 12 hexadecimal digits.";
    CellMacReserved "cell.mac-reserved" Error "The MAC address belongs to no single device.";
    CellPhone "cell.phone" Warning "The value does not look like a phone number.";
    CellTimezone "cell.timezone" Warning "The value is not a time zone of the IANA list.";
    CellCountry "cell.country" Warning "The value is neither a country code nor a known name of a country.";
    CellDecimalComma "cell.decimal-comma" Error "The number is written with a comma. Use a dot.";
    CellDms "cell.dms" Error "The coordinate is written in degrees, minutes and seconds, or with a compass letter. Use decimal degrees.";
    CellCoordsPair "cell.coords-pair" Error "The cell holds both coordinates. Put each in its own column.";
    CellCoordsSwapped "cell.coords-swapped" Error "The value fits a longitude, not a latitude: the two columns may be swapped.";
    CellNumericIdentifier "cell.numeric-identifier" Warning "The cell holds a number where text belongs; leading zeros and a plus sign are lost. Format the column as Text.";
    CellScientific "cell.scientific" Error "Digits were lost when the sheet was saved. Format the column as Text and enter the value again.";
    CellPrecisionLost "cell.precision-lost" Error "The number has more digits than Excel keeps. Format the column as Text and enter the value again.";
    CellDateUnexpected "cell.date-unexpected" Error "Excel turned the text into a date or time. Format the column as Text and enter the value again.";
    CellBoolUnexpected "cell.bool-unexpected" Error "Excel turned the text into true or false. Format the column as Text and enter the value again.";
    CellFormulaError "cell.formula-error" Error "The formula of the cell has no result. Correct it, or enter the value.";
    CellFormulaNoValue "cell.formula-no-value" Error "The cell has a formula whose result was never saved. Open the workbook in Excel and save it.";
    CellFormulaText "cell.formula-text" Warning "The text starts like a formula.";
    CellMergedCovered "cell.merged-covered" Error "The cell is covered by a merged one and has no value of its own. Unmerge the cells and fill each.";
    CellLineBreak "cell.line-break" Error "The cell has a line break where one line is allowed.";
    CellControlChar "cell.control-char" Error "The cell has an invisible control character. Enter the value again.";
    CellReplacementChar "cell.replacement-char" Error "A letter was lost when the sheet was saved. Enter the value again.";
    CellPlaceholder "cell.placeholder" Warning "The value is a placeholder. Leave the cell blank or enter the value.";
    CellMojibake "cell.mojibake" Warning "The letters were garbled when the file was saved in another encoding.";
    CellHtml "cell.html" Warning "The text contains markup of a web page.";
    CellNonAsciiLookalike "cell.non-ascii-lookalike" Error "A letter of another script looks like a Latin one.";
    CellTrimmed "cell.trimmed" Info "Spaces around or doubled inside values were removed.";
    CellInvisibleRemoved "cell.invisible-removed" Info "Invisible characters were removed.";
    CellZeroPaddedFormat "cell.zero-padded-format" Info "Zeros shown by the number format were kept.";
    CellExcelTextWrapper "cell.excel-text-wrapper" Info "The wrapping =\"…\" or a leading apostrophe was removed.";
    RefNotFound "ref.not-found" Error "No row has that key or name.";
    RefAmbiguous "ref.ambiguous" Error "Several rows have that name. Refer to the key.";
    RefWrongKind "ref.wrong-kind" Error "The row referred to is of another kind.";
    RefWrongOwner "ref.wrong-owner" Error "The site belongs to another company.";
    RefCycle "ref.cycle" Error "The companies are each other's parents.";
    RefKeyIsUuid "ref.key-is-uuid" Error "A key must not look like an id of the service.";
    RefTargetInvalid "ref.target-invalid" Info "The row referred to has errors of its own.";
    RefUnverified "ref.unverified" Info "An id that points to a record of the service; it was not looked up.";
    DupKey "dup.key" Error "The key is in use already.";
    DupMac "dup.mac" Error "Two rows have the same MAC address.";
    DupUsername "dup.username" Error "Two rows have the same username.";
    DupNaturalKey "dup.natural-key" Error "Two rows describe the same record.";
    DupMetadataKey "dup.metadata-key" Error "The metadata key is given twice.";
    DupRow "dup.row" Warning "Two rows are the same but for what makes a record one of its own.";
    DupAlreadyImported "dup.already-imported" Info "The row is unchanged since an earlier import.";
    PlanQuota "plan.quota" Warning "The daily quota makes the import last several days.";
    LimitFindings "limit.findings" Info "The list is shortened.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_form_of_its_own_and_a_sentence_that_explains_it() {
        let mut words: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Code::ALL.len());
        for code in Code::ALL {
            let (scope, slug) = code.as_str().split_once('.').unwrap();
            assert!(
                ["file", "sheet", "header", "row", "cell", "ref", "dup", "plan", "limit"].contains(&scope),
                "{scope}"
            );
            assert!(slug.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{slug}");
            assert!(code.explanation().ends_with('.'), "{}", code.as_str());
        }
    }
}
