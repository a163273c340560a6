//! The codes of findings: their written form and their severity, in one table. What they mean and what to do about
//! them is in the catalogue of codes, above this room.
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

/// Declares the codes, so that none lacks a written form or a severity.
macro_rules! codes {
    ($($variant:ident $word:literal $severity:ident $(or $($other:ident),+)?;)+) => {
        /// What was found.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $word] $variant,)+
        }

        impl Code {
            /// Every code, by scope.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The written form: `cell.required`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// How bad it usually is; a finding may say otherwise where several are possible.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)+ }
            }

            /// How bad it may be, the usual first; what a person denies or allows besides.
            pub const fn severities(self) -> &'static [Severity] {
                match self { $(Self::$variant => &[Severity::$severity $($(, Severity::$other)+)?],)+ }
            }
        }
    };
}

codes! {
    FileNotFound "file.not-found" Fatal;
    FileUnreadable "file.unreadable" Fatal;
    FileLock "file.lock-file" Fatal;
    FileEmpty "file.empty" Fatal;
    FileFormatUnsupported "file.format-unsupported" Fatal;
    FileFormatMismatch "file.format-mismatch" Fatal or Warning;
    FileEncrypted "file.encrypted" Fatal;
    FileCorrupt "file.corrupt" Fatal;
    FileXmlEntity "file.xml-entity" Fatal;
    FileTooLarge "file.too-large" Fatal;
    FileEncodingInvalid "file.encoding-invalid" Error;
    FileEncodingGuessed "file.encoding-guessed" Warning;
    FileDelimiterAmbiguous "file.delimiter-ambiguous" Fatal;
    FileExternalLinks "file.external-links" Warning;
    SheetNotFound "sheet.not-found" Fatal;
    SheetAmbiguous "sheet.ambiguous" Fatal;
    SheetUnreadable "sheet.unreadable" Fatal;
    SheetEmpty "sheet.empty" Error or Info;
    SheetHidden "sheet.hidden" Info;
    SheetHiddenRows "sheet.hidden-rows" Error or Warning, Info;
    SheetFormulas "sheet.formulas" Info or Warning;
    SheetHiddenColumns "sheet.hidden-columns" Warning;
    SheetPreamble "sheet.preamble" Warning;
    SheetExtraTable "sheet.extra-table" Error;
    SheetRowLimit "sheet.row-limit" Warning;
    HeaderMissing "header.missing" Fatal;
    HeaderRequiredMissing "header.required-missing" Fatal;
    HeaderUnknown "header.unknown" Error;
    HeaderDuplicate "header.duplicate" Error;
    HeaderBlank "header.blank" Error;
    HeaderTransposed "header.transposed" Fatal;
    HeaderMultiRow "header.multi-row" Fatal;
    HeaderUnsupportedField "header.unsupported-field" Error;
    RowTooManyCells "row.too-many-cells" Error or Warning;
    RowTooFewCells "row.too-few-cells" Error or Warning;
    RowQuoteStray "row.quote-stray" Error or Fatal;
    RowQuoteUnterminated "row.quote-unterminated" Error or Fatal;
    RowConflict "row.conflict" Error;
    RowIncompleteGroup "row.incomplete-group" Error or Warning;
    RowRepeatedHeader "row.repeated-header" Warning;
    RowFooter "row.footer" Warning;
    RowBlank "row.blank" Info;
    RowTemplate "row.template" Info or Warning, Error;
    CellRequired "cell.required" Error or Warning;
    CellEnum "cell.enum" Error;
    CellBool "cell.bool" Error;
    CellNumber "cell.number" Error;
    CellUuid "cell.uuid" Error;
    CellRange "cell.range" Error;
    CellTooLong "cell.too-long" Error or Warning;
    CellKey "cell.key" Error;
    CellNetwork "cell.network" Error;
    CellUsername "cell.username" Error;
    CellEmail "cell.email" Error or Warning;
    CellMultipleValues "cell.multiple-values" Error or Info;
    CellUnsupportedAction "cell.unsupported-action" Error;
    CellMac "cell.mac" Error;
    CellMacLength "cell.mac-length" Error;
    CellMacReserved "cell.mac-reserved" Error or Warning;
    CellPhone "cell.phone" Warning or Error, Info;
    CellTimezone "cell.timezone" Warning or Error;
    CellCountry "cell.country" Warning;
    CellDecimalComma "cell.decimal-comma" Error;
    CellDms "cell.dms" Error;
    CellCoordsPair "cell.coords-pair" Error;
    CellCoordsSwapped "cell.coords-swapped" Error;
    CellNumericIdentifier "cell.numeric-identifier" Warning or Error;
    CellScientific "cell.scientific" Error;
    CellPrecisionLost "cell.precision-lost" Error;
    CellDateUnexpected "cell.date-unexpected" Error;
    CellBoolUnexpected "cell.bool-unexpected" Error;
    CellFormulaError "cell.formula-error" Error;
    CellFormulaNoValue "cell.formula-no-value" Error;
    CellFormulaText "cell.formula-text" Warning;
    CellMergedCovered "cell.merged-covered" Error;
    CellLineBreak "cell.line-break" Error or Warning;
    CellControlChar "cell.control-char" Error;
    CellReplacementChar "cell.replacement-char" Error;
    CellPlaceholder "cell.placeholder" Warning or Error;
    CellMojibake "cell.mojibake" Warning;
    CellHtml "cell.html" Warning;
    CellNonAsciiLookalike "cell.non-ascii-lookalike" Error or Warning;
    CellTrimmed "cell.trimmed" Info;
    CellInvisibleRemoved "cell.invisible-removed" Info;
    CellZeroPaddedFormat "cell.zero-padded-format" Info or Warning;
    CellExcelTextWrapper "cell.excel-text-wrapper" Info;
    RefNotFound "ref.not-found" Error;
    RefAmbiguous "ref.ambiguous" Error;
    RefWrongKind "ref.wrong-kind" Error;
    RefWrongOwner "ref.wrong-owner" Error;
    RefCycle "ref.cycle" Error;
    RefKeyIsUuid "ref.key-is-uuid" Error;
    RefTargetInvalid "ref.target-invalid" Info;
    RefUnverified "ref.unverified" Info;
    DupKey "dup.key" Error;
    DupMac "dup.mac" Error;
    DupUsername "dup.username" Error;
    DupNaturalKey "dup.natural-key" Error;
    DupMetadataKey "dup.metadata-key" Error;
    DupRow "dup.row" Warning;
    RowUnchanged "row.unchanged" Info or Warning;
    RowDiffers "row.differs" Warning;
    PlanQuota "plan.quota" Warning;
    LimitFindings "limit.findings" Info;
}

impl Code {
    /// What holds where nothing is wrong, for findings that do not say it more exactly. Only codes of notes have none.
    pub const fn rule(self) -> Option<&'static str> {
        super::rule::rule(self)
    }
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
