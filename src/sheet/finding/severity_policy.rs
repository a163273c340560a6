//! Which warnings count as errors, and which as notes: a person's own measure, held against every finding in one place.
//!
//! It is applied to a row before it is known whether the row can be used, to what is found between rows before that
//! spreads to others, and to the rest when it enters the list of findings; so it holds alike wherever sheets are read.

use super::Finding;
use super::code::{Code, Severity};
use crate::error::{Error, Result};
use crate::sheet::text::{did_you_mean, nearest};

/// The word for every warning.
const WARNINGS: &str = "warnings";

/// How findings are judged; by default as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeverityPolicy {
    all_warnings: bool,
    denied: Vec<Code>,
    allowed: Vec<Code>,
}

impl SeverityPolicy {
    /// Lets warnings count as errors: those of a code, or all by the word `warnings`. What is said of a code counts
    /// before what is said of all, and what is said later before what was said earlier.
    ///
    /// # Errors
    /// Usage, when there is no such code.
    pub fn deny(&mut self, word: &str) -> Result<()> {
        if word == WARNINGS {
            self.all_warnings = true;
            return Ok(());
        }
        let code = code(word, "to deny all warnings, use the word 'warnings'")?;
        self.allowed.retain(|allowed| *allowed != code);
        self.denied.push(code);
        Ok(())
    }

    /// Lets warnings of a code count as notes. Its errors, where it has both, stay errors.
    ///
    /// # Errors
    /// Usage, when there is no such code, or none of its findings is a warning.
    pub fn allow(&mut self, word: &str) -> Result<()> {
        let code = code(word, "name one warning by the code in square brackets before it")?;
        // Some codes are an error in one cell and a warning in another: the warnings can be allowed.
        if !code.severities().contains(&Severity::Warning) {
            return Err(match code.severity() {
                Severity::Fatal | Severity::Error | Severity::Warning => Error::usage(format!(
                    "{code} is an error and cannot be allowed: only warnings can"
                ))
                .hint("correct the sheet; with --skip-invalid the rows that have errors are not imported"),
                Severity::Info => {
                    Error::usage(format!("{code} is a note already: there is nothing to allow"))
                }
            });
        }
        self.denied.retain(|denied| *denied != code);
        self.allowed.push(code);
        Ok(())
    }

    /// Judges a finding; whether a warning became an error.
    pub(crate) fn judge(&self, finding: &mut Finding) -> bool {
        if finding.severity != Severity::Warning {
            return false;
        }
        if self.allowed.contains(&finding.code) {
            finding.severity = Severity::Info;
            return false;
        }
        let is_denied = self.denies(finding.code);
        if is_denied {
            finding.severity = Severity::Error;
        }
        is_denied
    }

    /// Whether warnings of a code count as errors.
    pub(crate) fn denies(&self, code: Code) -> bool {
        !self.allowed.contains(&code) && (self.all_warnings || self.denied.contains(&code))
    }
}

fn code(word: &str, else_hint: &str) -> Result<Code> {
    Code::parse(word).ok_or_else(|| {
        let near = did_you_mean(&nearest(word, Code::ALL.iter().map(|code| code.as_str())));
        let error = Error::usage(format!("no finding has the code '{}'", super::shown(word)));
        error.hint(if near.is_empty() { else_hint.to_owned() } else { near.trim().to_owned() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(policy: &SeverityPolicy, code: Code, severity: Severity) -> Severity {
        let mut finding = Finding::of_file(code, "a.csv", "look").as_severity(severity);
        policy.judge(&mut finding);
        finding.severity
    }

    #[test]
    fn only_warnings_are_raised_and_lowered() {
        let mut policy = SeverityPolicy::default();
        policy.deny("warnings").unwrap();
        policy.allow("cell.country").unwrap();
        let table = [
            (Code::CellPhone, Severity::Warning, Severity::Error),
            (Code::CellPhone, Severity::Error, Severity::Error),
            (Code::CellCountry, Severity::Warning, Severity::Info),
            (Code::CellCountry, Severity::Error, Severity::Error),
            (Code::RowBlank, Severity::Info, Severity::Info),
            (Code::FileEmpty, Severity::Fatal, Severity::Fatal),
        ];
        for (code, given, expected) in table {
            assert_eq!(judged(&policy, code, given), expected, "{code}");
        }
    }

    #[test]
    fn what_is_said_later_of_a_code_counts() {
        let mut policy = SeverityPolicy::default();
        policy.deny("cell.phone").unwrap();
        policy.allow("cell.phone").unwrap();
        assert_eq!(judged(&policy, Code::CellPhone, Severity::Warning), Severity::Info);
        policy.deny("cell.phone").unwrap();
        assert_eq!(judged(&policy, Code::CellPhone, Severity::Warning), Severity::Error);
        assert_eq!(judged(&policy, Code::CellCountry, Severity::Warning), Severity::Warning);
    }

    #[test]
    fn every_code_is_known_and_only_those_of_warnings_can_be_allowed() {
        for code in Code::ALL {
            let mut policy = SeverityPolicy::default();
            assert!(policy.deny(code.as_str()).is_ok(), "{code}");
            let allowed = policy.allow(code.as_str()).is_ok();
            assert_eq!(allowed, code.severities().contains(&Severity::Warning), "{code}");
        }
        let mut policy = SeverityPolicy::default();
        policy.allow("cell.mac-reserved").unwrap();
        assert_eq!(judged(&policy, Code::CellMacReserved, Severity::Warning), Severity::Info);
        assert_eq!(judged(&policy, Code::CellMacReserved, Severity::Error), Severity::Error);
        let refused = SeverityPolicy::default().allow("cell.enum").unwrap_err();
        assert_eq!(refused.what(), "cell.enum is an error and cannot be allowed: only warnings can");
        let refused = SeverityPolicy::default().deny("cell.fone").unwrap_err();
        assert_eq!(refused.what(), "no finding has the code 'cell.fone'");
        assert!(refused.next_step().unwrap_or_default().contains("cell.phone"), "{refused:?}");
    }
}
