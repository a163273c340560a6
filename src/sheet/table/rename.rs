//! What a person says headers mean: `HEADER=COLUMN` for every sheet, `KIND.HEADER=COLUMN` for the sheets of one kind.

use super::column::columns;
use super::header_name::{fold, is_column};
use crate::error::{Error, Result};
use crate::model::kind::Kind;
use crate::sheet::finding::shown;
use crate::sheet::text::nearest;

/// The kind that stands before the first dot, when it is one, and the header.
pub fn scope(header: &str) -> (Option<Kind>, &str) {
    let split = header.split_once('.').and_then(|(kind, rest)| Some((kind.trim().parse().ok()?, rest)));
    match split {
        Some((kind, rest)) if !fold(rest).is_empty() => (Some(kind), rest),
        Some(_) | None => (None, header),
    }
}

/// Whether a name that a person wrote is that of this header: as it stands, or as headers are compared where none of the
/// sheet's is written so. `Phone (office)` and `Phone (mobile)` compare as one name and are two.
pub fn is_name_of(said: &str, header: &str, headers: &[String]) -> bool {
    let is_same = |header: &str| is_written(said, header);
    is_same(header) || (fold(said) == fold(header) && !headers.iter().any(|header| is_same(header)))
}

/// Whether a name that a person wrote is that of this header as it stands.
fn is_written(said: &str, header: &str) -> bool {
    said.trim() == header.trim()
}

/// Whether two names that people wrote are one: they compare as headers do, and what is in brackets is the same.
pub fn is_one_name(one: &str, other: &str) -> bool {
    let whole = |name: &str| fold(&name.replace(['(', ')', '[', ']'], " "));
    whole(one) == whole(other)
}

/// Whether what was said of `from` is about this header of a sheet of `kind` that has these headers; a header may have the
/// name of a kind and a dot itself.
pub fn concerns(from: &str, kind: Kind, header: &str, headers: &[String]) -> bool {
    match scope(from) {
        (Some(of), rest) => {
            of == kind && (is_name_of(rest, header, headers) || is_name_of(from, header, headers))
        }
        (None, from) => is_name_of(from, header, headers),
    }
}

/// What a header of a sheet of `kind` was said to mean: what was said of it as it is written before what was said of a name
/// like it, and what was said for the kind before what was said for all.
pub fn renamed<'a>(
    kind: Kind,
    header: &str,
    headers: &[String],
    said: &'a [(String, String)],
) -> Option<&'a str> {
    if said.is_empty() {
        return None;
    }
    let written = |from: &str| is_written(from, header) || is_written(scope(from).1, header);
    let concerning = |is_written: bool, is_scoped: bool| {
        said.iter().find(|(from, _)| {
            scope(from).0.is_some() == is_scoped
                && written(from) == is_written
                && concerns(from, kind, header, headers)
        })
    };
    let mut found = [(true, true), (true, false), (false, true), (false, false)].into_iter();
    found.find_map(|(is_written, is_scoped)| concerning(is_written, is_scoped)).map(|(_, to)| to.as_str())
}

/// Refuses a meaning that no sheet has.
///
/// # Errors
/// Usage, with the nearest column, when no kind, or not the one that is named, has such a column.
pub fn check(header: &str, column: &str) -> Result<()> {
    let kinds = match scope(header).0 {
        Some(kind) => vec![kind],
        None => Kind::SHEETS.to_vec(),
    };
    if kinds.iter().any(|&kind| is_column(kind, column)) {
        return Ok(());
    }
    let of = match scope(header).0 {
        Some(kind) => format!("{kind} have no column"),
        None => "no sheet has a column".to_owned(),
    };
    let names = kinds.iter().flat_map(|&kind| columns(kind)).filter(|column| column.family().is_none());
    let spelled = column.trim().to_lowercase().replace([' ', '-'], "_");
    let mut near = nearest(&spelled, names.map(|column| column.name));
    near.dedup();
    let hint = match near.first() {
        Some(known) => format!("did you mean '{known}'?"),
        None => "name a column of the blank sheets that `fleetload template` writes".to_owned(),
    };
    Err(Error::usage(format!("'{}={}': {of} '{}'", shown(header), shown(column), shown(column))).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|&(from, to)| (from.to_owned(), to.to_owned())).collect()
    }

    #[test]
    fn what_is_said_for_a_kind_counts_for_its_sheets_only_and_before_the_rest() {
        let said = said(&[("Firma", "company"), ("companies.Firma", "name"), ("Filiale.Nr", "key")]);
        assert_eq!(renamed(Kind::Company, "FIRMA *", &[], &said), Some("name"));
        assert_eq!(renamed(Kind::Site, "Firma", &[], &said), Some("company"));
        assert_eq!(renamed(Kind::Site, "Filiale Nr.", &[], &said), Some("key"), "a dot of its own");
        assert_eq!(renamed(Kind::Site, "Nr", &[], &said), None);
        assert_eq!(renamed(Kind::Company, "companies.Firma", &[], &said), Some("name"));
        // Worksheets are named with a capital; a header with a dot often begins with one thing.
        let said = self::said(&[("People.Straße", "address1"), ("Site.Name", "site")]);
        assert_eq!(renamed(Kind::Person, "Straße", &[], &said), Some("address1"));
        assert_eq!(renamed(Kind::Site, "Straße", &[], &said), None);
        assert_eq!(renamed(Kind::Device, "Site.Name", &[], &said), Some("site"));
    }

    #[test]
    fn a_name_as_it_stands_counts_before_one_that_compares_the_same() {
        let headers = ["Phone (office)", "Phone (mobile)", "Email"].map(str::to_owned);
        let said = said(&[("Phone (mobile)", "fax"), ("e-mail", "email")]);
        assert_eq!(renamed(Kind::Person, "Phone (mobile)", &headers, &said), Some("fax"));
        assert_eq!(renamed(Kind::Person, "Phone (office)", &headers, &said), None);
        assert_eq!(renamed(Kind::Person, "Email", &headers, &said), Some("email"));
        assert!(!is_name_of("Phone (office)", "Phone (mobile)", &headers));
        let both = self::said(&[("Phone (mobile)", "fax"), ("Phone (office)", "phone")]);
        let alone = ["Phone (office)".to_owned()];
        assert_eq!(renamed(Kind::Person, "Phone (office)", &alone, &both), Some("phone"));
    }

    #[test]
    fn a_meaning_that_no_sheet_has_is_refused_with_the_nearest() {
        for (header, column) in [
            ("Strasse", "address1"),
            ("Strasse", "Street"),
            ("Vertrag", "meta:contract"),
            ("companies.Firma", "name"),
            ("Ref", "phoneNumber"),
        ] {
            assert!(check(header, column).is_ok(), "{header}={column}");
        }
        let told = |header: &str, column: &str| {
            let error = check(header, column).unwrap_err();
            format!("{} | {}", error.what(), error.next_step().unwrap_or_default())
        };
        assert_eq!(
            told("Strasse", "adress1"),
            "'Strasse=adress1': no sheet has a column 'adress1' | did you mean 'address1'?"
        );
        assert_eq!(
            told("companies.Geraet", "mac"),
            "'companies.Geraet=mac': companies have no column 'mac' | name a column of the blank sheets that \
             `fleetload template` writes"
        );
    }
}
