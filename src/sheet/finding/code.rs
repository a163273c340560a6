//! The codes of findings: their written form, their severity and the rule that each speaks of, in one table. What they mean and what to do about
//! them is in the catalogue of codes, in a layer above.
//!
//! A code is never reused and never renamed; scripts and saved reports rely on it.

use serde::Serialize;

use crate::model::words::words;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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

/// Declares the codes, so that none lacks a written form or a severity.
macro_rules! codes {
    ($($variant:ident $word:literal $severity:ident $(or $($other:ident),+)? $(=> $rule:literal)?;)+) => {
        words! {
            /// What was found, by scope.
            pub enum Code: as_str, parse {
                $(#[doc = $word] $variant = $word,)+
            }
        }

        impl Code {
            /// How bad it usually is; a finding may say otherwise where several are possible.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)+ }
            }

            /// How bad it may be, the usual first; what a person denies or allows besides.
            pub const fn severities(self) -> &'static [Severity] {
                match self { $(Self::$variant => &[Severity::$severity $($(, Severity::$other)+)?],)+ }
            }

            /// What holds where nothing is wrong, as a few words, for findings that do not say it more exactly. Codes of
            /// mere notes have none.
            pub const fn rule(self) -> Option<&'static str> {
                let words: &'static str = match self { $(Self::$variant => concat!($($rule)?),)+ };
                if words.is_empty() { None } else { Some(words) }
            }
        }
    };
}

codes! {
    FileNotFound "file.not-found" Fatal
        => "the name and the folder of a file that exists";
    FileUnreadable "file.unreadable" Fatal
        => "a file that you may read and that no other program has open";
    FileLock "file.lock-file" Fatal
        => "the workbook itself";
    FileEmpty "file.empty" Fatal
        => "a file with a header and rows";
    FileFormatUnsupported "file.format-unsupported" Fatal
        => "a workbook saved as .xlsx or .xlsm, or a text table (.csv, .tsv, .txt)";
    FileFormatMismatch "file.format-mismatch" Fatal or Warning
        => "a file whose content matches its name";
    FileEncrypted "file.encrypted" Fatal
        => "a workbook without a password";
    FileCorrupt "file.corrupt" Fatal
        => "a complete file, as it was saved";
    FileXmlEntity "file.xml-entity" Fatal
        => "a workbook as spreadsheet programs write it";
    FileTooLarge "file.too-large" Fatal
        => "a file within the limits of size";
    FileEncodingInvalid "file.encoding-invalid" Error
        => "one encoding for all rows of a file";
    FileEncodingGuessed "file.encoding-guessed" Warning
        => "a file that says which encoding it has, such as CSV UTF-8";
    FileDelimiterAmbiguous "file.delimiter-ambiguous" Fatal
        => "one separator that fits the header";
    FileExternalLinks "file.external-links" Warning
        => "values that are in the workbook itself";
    SheetNotFound "sheet.not-found" Fatal
        => "a sheet of that name, or one named after what it holds";
    SheetAmbiguous "sheet.ambiguous" Fatal
        => "one sheet for each kind of row";
    SheetUnreadable "sheet.unreadable" Fatal
        => "a worksheet that can be read to its end";
    SheetEmpty "sheet.empty" Error or Info
        => "a row below the header";
    SheetHidden "sheet.hidden" Info;
    SheetHiddenRows "sheet.hidden-rows" Error or Warning, Info
        => "no hidden rows, or a choice whether to import them";
    SheetFormulas "sheet.formulas" Info or Warning
        => "values that do not change over time";
    SheetHiddenColumns "sheet.hidden-columns" Warning
        => "columns that can be seen";
    SheetPreamble "sheet.preamble" Warning
        => "the header in the first row";
    SheetExtraTable "sheet.extra-table" Error or Fatal
        => "one table in a sheet";
    SheetRowLimit "sheet.row-limit" Warning
        => "all rows of an export, none cut off";
    HeaderMissing "header.missing" Fatal
        => "a row with the names of the columns, among the first twenty";
    HeaderRequiredMissing "header.required-missing" Fatal
        => "a column for everything that each row needs";
    HeaderUnknown "header.unknown" Error
        => "the name of a column that rows of this kind have";
    HeaderDuplicate "header.duplicate" Error
        => "one column for each field";
    HeaderBlank "header.blank" Error
        => "a name above every column that has values";
    HeaderTransposed "header.transposed" Fatal
        => "column names along a row, and a row for each record";
    HeaderMultiRow "header.multi-row" Fatal
        => "one row of column names";
    HeaderUnsupportedField "header.unsupported-field" Error
        => "a field that the service has for this kind of record";
    RowTooManyCells "row.too-many-cells" Error or Warning
        => "no more cells than the header has";
    RowTooFewCells "row.too-few-cells" Error or Warning
        => "as many cells as the header has";
    RowQuoteStray "row.quote-stray" Error or Fatal
        => "quotation marks around a whole cell, and those inside it doubled";
    RowQuoteUnterminated "row.quote-unterminated" Error or Fatal
        => "a closing quotation mark for every opening one";
    RowConflict "row.conflict" Error or Warning
        => "only one of the mutually exclusive cells";
    RowIncompleteGroup "row.incomplete-group" Error or Warning
        => "all of the cells that belong together, or none";
    RowRepeatedHeader "row.repeated-header" Warning
        => "the header once, above all rows";
    RowFooter "row.footer" Warning
        => "rows that are records, without totals and remarks below them";
    RowStruckOut "row.struck-out" Warning
        => "rows that count, none of them crossed out";
    RowBlank "row.blank" Info;
    RowTemplate "row.template" Info or Warning, Error
        => "values of its own in every row";
    CellRequired "cell.required" Error or Warning
        => "a value in every cell that must have one";
    CellEnum "cell.enum" Error
        => "one of the values that the service knows";
    CellBool "cell.bool" Error
        => "yes or no";
    CellNumber "cell.number" Error
        => "digits, with a dot before the decimals";
    CellUuid "cell.uuid" Error
        => "32 hexadecimal digits, usually as 8-4-4-4-12";
    CellRange "cell.range" Error
        => "a latitude from -90 to 90, a longitude from -180 to 180";
    CellTooLong "cell.too-long" Error or Warning
        => "a text no longer than the service accepts";
    CellKey "cell.key" Error
        => "up to 64 letters, digits and . _ - :";
    CellNetwork "cell.network" Error
        => "a network, as 10.1.0.0/16";
    CellUsername "cell.username" Error
        => "lower-case letters a-z, digits and - . @";
    CellEmail "cell.email" Error or Warning
        => "one bare e-mail address";
    CellMultipleValues "cell.multiple-values" Error or Info
        => "one value in a cell";
    CellUnsupportedAction "cell.unsupported-action" Error or Warning
        => "an action that the service offers for this kind of row";
    CellMac "cell.mac" Error
        => "12 hexadecimal digits (0-9, A-F)";
    CellMacLength "cell.mac-length" Error
        => "12 hexadecimal digits (0-9, A-F)";
    CellMacReserved "cell.mac-reserved" Error or Warning
        => "the address of a single device";
    CellPhone "cell.phone" Warning or Error, Info
        => "a phone number that can be dialled from anywhere";
    CellTimezone "cell.timezone" Warning or Error
        => "the name of a time zone, as Region/City";
    CellCountry "cell.country" Warning
        => "a country code, or the usual name of a country";
    CellDecimalComma "cell.decimal-comma" Error
        => "a dot before the decimals, and no separators of thousands";
    CellDms "cell.dms" Error
        => "decimal degrees";
    CellCoordsPair "cell.coords-pair" Error
        => "one coordinate in a cell";
    CellCoordsSwapped "cell.coords-swapped" Error
        => "a latitude from -90 to 90, a longitude from -180 to 180";
    CellNumericIdentifier "cell.numeric-identifier" Warning or Error
        => "a cell that holds text";
    CellScientific "cell.scientific" Error
        => "all digits, in a cell that holds text";
    CellPrecisionLost "cell.precision-lost" Error
        => "all digits, in a cell that holds text";
    CellDateUnexpected "cell.date-unexpected" Error
        => "a cell that holds text";
    CellBoolUnexpected "cell.bool-unexpected" Error
        => "a cell that holds text";
    CellFormulaError "cell.formula-error" Error
        => "a value, or a formula with a result";
    CellFormulaNoValue "cell.formula-no-value" Error
        => "a value, or a formula with a saved result";
    CellFormulaText "cell.formula-text" Warning
        => "a text that does not start as a formula does";
    CellMergedCovered "cell.merged-covered" Error
        => "a value in each cell, none of them merged";
    CellLineBreak "cell.line-break" Error or Warning
        => "one line of text";
    CellControlChar "cell.control-char" Error
        => "characters that can be seen";
    CellReplacementChar "cell.replacement-char" Error
        => "all letters of the text";
    CellPlaceholder "cell.placeholder" Warning or Error
        => "the value, or a blank cell if no value is needed";
    CellMojibake "cell.mojibake" Warning
        => "the letters as they were before the file was saved";
    CellHtml "cell.html" Warning
        => "text without markup";
    CellNonAsciiLookalike "cell.non-ascii-lookalike" Error or Warning
        => "letters of one script";
    CellTrimmed "cell.trimmed" Info;
    CellInvisibleRemoved "cell.invisible-removed" Info;
    CellZeroPaddedFormat "cell.zero-padded-format" Info or Warning
        => "a cell that holds text";
    CellExcelTextWrapper "cell.excel-text-wrapper" Info;
    RefNotFound "ref.not-found" Error
        => "the key, name or id of a record";
    RefUnknownId "ref.unknown-id" Error
        => "the id of a record that the service has";
    RefAmbiguous "ref.ambiguous" Error
        => "a key, or a name that one row has";
    RefWrongKind "ref.wrong-kind" Error
        => "a record of the kind that the column asks for";
    RefWrongOwner "ref.wrong-owner" Error
        => "a site of the device's own company";
    RefCycle "ref.cycle" Error
        => "parents that lead up to a company that exists already";
    RefKeyIsUuid "ref.key-is-uuid" Error
        => "a key that cannot be taken for an id of the service";
    RefTargetInvalid "ref.target-invalid" Info;
    RefUnverified "ref.unverified" Info;
    DupKey "dup.key" Error
        => "a key that no other row of its kind has, ignoring case";
    DupMac "dup.mac" Error
        => "a MAC address that no other row has";
    DupUsername "dup.username" Error
        => "a username that no other row has";
    DupNaturalKey "dup.natural-key" Error
        => "one row for each record";
    DupMetadataKey "dup.metadata-key" Error
        => "one column for each metadata key";
    DupRow "dup.row" Warning
        => "one row for each record";
    RowUnchanged "row.unchanged" Info or Warning
        => "the key that the row was imported with";
    RowDiffers "row.differs" Warning
        => "the values that the record was created with";
    PlanQuota "plan.quota" Warning
        => "no more creations in a day than the quota allows";
    LimitFindings "limit.findings" Info;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_form_of_its_own() {
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
        }
    }

    #[test]
    fn every_finding_that_is_more_than_a_note_has_a_rule_and_a_mere_note_has_none() {
        let mut ruled = 0;
        for code in Code::ALL {
            let is_more = code.severities().iter().any(|severity| *severity != Severity::Info);
            assert_eq!(code.rule().is_some(), is_more, "{code}");
            let Some(rule) = code.rule() else { continue };
            ruled += 1;
            assert!(rule.len() > 4 && rule.trim() == rule && !rule.ends_with('.'), "{code}: {rule}");
            assert!(!rule.starts_with(char::is_uppercase), "{code}: {rule}");
        }
        assert!(ruled > 80, "{ruled}");
    }

    #[test]
    fn the_severities_of_a_code_are_told_once_each_the_usual_first() {
        for code in Code::ALL {
            let mut all = code.severities().to_vec();
            assert_eq!(all[0], code.severity(), "{code}");
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "{code}");
        }
    }
}
