//! Phone numbers: several of them in a cell (T8), and what is unusual in one (D15).

use super::record::{cases, csv, judged, site};

/// Contacts out of a CRM that keeps what people typed.
#[test]
fn t08_several_phone_numbers_in_a_cell_are_an_error_whatever_is_between_them() {
    let several = "error cell.multiple-values";
    cases(
        "sites",
        "phone",
        &[
            ("+64 9 555 0100 +64 9 555 0101", several, None),
            ("09 555 0100 - 09 555 0101", several, None),
            ("(09) 555 0100 (09) 555 0101", several, None),
            ("091234567 091234568", several, None),
            ("09 555 0100 & 09 555 0101", several, None),
            ("5550100 oder 5550101", several, None),
            ("+64 9 555 0100/+64 9 555 0101", several, None),
            ("09 555 0100 +64 9 555 0101", several, None),
            ("09 555 0100 / 555 0101", several, None),
            ("+64 9 555 0100 / 555 0101", several, None),
            ("09 555 0100, 09 555 0101", several, None),
            ("09 555 0100 | 09 555 0101", several, None),
            ("+64 9 555 0100 (office) 021 555 0101", several, None),
            ("0064 9 555 0100 555 0101", several, None),
            ("5,551,234", "warning cell.phone", None),
        ],
    );
}

/// Numbers of Germany, Austria, the United States and Brazil, whose parts look like numbers of their own.
#[test]
fn t08_a_number_with_strokes_dashes_and_brackets_in_it_is_one() {
    for value in [
        "+49 2236/123456",
        "0211 123 - 4567890",
        "0664/123 45 67/89",
        "+1 (555) 010-0199 ext 12345",
        "0055 11 91234-5678",
        "0044 (0) 20 7946 0000",
    ] {
        let desk = csv("sites", &[("phone", value)]);
        assert_eq!(judged(&desk).0, [""; 0], "{value}");
        assert_eq!(site(&desk).phone_number, value);
    }
}

/// Marks where a number has none, and extensions that are none.
#[test]
fn d15_a_plus_twice_and_an_extension_without_a_number_are_warnings() {
    for value in [
        "++64 9 555 0100",
        "xx5551234xx",
        "555-1234#12",
        "x500",
        "64+9 5550",
        "5551234;",
        "555-1234 x",
        "555-1234 x5 x6",
        "*555 1234",
        "09 555 0100 & 101",
        "1234567890123456",
    ] {
        let desk = csv("sites", &[("phone", value)]);
        assert_eq!(judged(&desk).0, ["warning cell.phone D2"], "{value}");
        assert_eq!(site(&desk).phone_number, value, "sent as it stands");
    }
}
