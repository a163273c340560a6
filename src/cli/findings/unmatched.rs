//! What was typed about headers that no sheet has: a mistyped one would otherwise have no effect and nobody would know.
//!
//! Only what was typed is looked at: what a profile keeps serves many sheets.

use crate::cli::context::Context;
use crate::cli::settings::reading_options::ReadingOptions;
use crate::import::Examined;
use crate::model::kind::Kind;
use crate::sheet::finding::{Severity, shown};
use crate::sheet::rename::{concerns, scope};
use crate::sheet::text::{did_you_mean, nearest};

/// Warns of each header that was typed and that no sheet has.
pub(in crate::cli) fn tell(context: &Context<'_>, examined: &Examined, typed: &ReadingOptions) {
    if examined.findings.count(Severity::Fatal) > 0 {
        // Headers of sheets that cannot be used are not known.
        return;
    }
    let tables = examined.books().iter().flat_map(|book| &book.tables);
    let headers: Vec<(Kind, &str)> = tables
        .flat_map(|table| table.headers.iter().map(|header| (table.kind, header.trim())))
        .filter(|(_, header)| !header.is_empty())
        .collect();
    let maps = typed.map.iter().map(|(from, to)| (from, format!("--map {from}={to}")));
    let ignored = typed.ignore_columns.iter().map(|from| (from, format!("--ignore-column {from}")));
    for (from, option) in maps.filter(|(from, _)| !is_there(from, &headers)) {
        context.terminal.warn(warning(&option, from, &headers));
    }
    // Columns without a name have none to compare.
    for (from, option) in ignored.filter(|(from, _)| !from.trim().is_empty()) {
        if !headers.iter().any(|(_, header)| crate::sheet::fold(header) == crate::sheet::fold(from)) {
            context.terminal.warn(warning(&option, from, &headers));
        }
    }
}

fn is_there(from: &str, headers: &[(Kind, &str)]) -> bool {
    headers.iter().any(|(kind, header)| concerns(from, *kind, header, &[]))
}

fn warning(option: &str, from: &str, headers: &[(Kind, &str)]) -> String {
    let (kind, wanted) = scope(from);
    let candidates = headers.iter().filter(|(of, _)| kind.is_none_or(|kind| kind == *of));
    let mut names: Vec<&str> = candidates.map(|(_, header)| *header).collect();
    names.sort_unstable();
    names.dedup();
    let sheets = kind.map_or_else(|| "no sheet has".to_owned(), |kind| format!("no sheet of {kind} has"));
    let hint = did_you_mean(&nearest(wanted, names));
    format!("{}: {sheets} the header '{}', so it changes nothing.{hint}", shown(option), shown(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_no_sheet_has_is_told_with_the_nearest() {
        let headers = [(Kind::Site, "Ort"), (Kind::Company, "Firma")];
        assert!(is_there("ort", &headers) && is_there("companies.Firma", &headers));
        assert!(!is_there("sites.Firma", &headers) && !is_there("Orrt", &headers));
        assert_eq!(
            warning("--map Firmma=name", "Firmma", &headers),
            "--map Firmma=name: no sheet has the header 'Firmma', so it changes nothing. Did you mean 'Firma'?"
        );
        assert_eq!(
            warning("--map sites.Firma=name", "sites.Firma", &headers),
            "--map sites.Firma=name: no sheet of sites has the header 'Firma', so it changes nothing."
        );
    }
}
