//! Text tables: separators, quotation marks, line ends, ragged rows.

use super::desk::{Desk, SITES, site};

#[test]
fn a_sheet_that_is_right_is_found_to_be_right() {
    let desk = Desk::with("sites.csv", format!("{SITES}{}{}", site("a"), site("b")));
    assert_eq!(desk.found(), Vec::<String>::new());
    assert_eq!(desk.examined().sheets[0].usable, 2);
}
