//! Inputs that once did harm, each made as small as it goes, with what it imitates. They go through their doors as
//! every input does; what went wrong is said beside them.

use crate::doors;

/// The door, the input, and what came of it.
const FOUND: &[(&str, &[u8], &str)] = &[
    (
        "answers",
        b"\x01\0\0\0\0{\"status\":\"FAILED\",\"error\":{\"errorCode\":\"inval\xef\xbb\xbfidData\"}}",
        "a code with an invisible character in it was made fit to be shown, and then taken for the listed code that \
         proves that nothing was executed",
    ),
    (
        "answers",
        b"\x01\x09\0\0\0{\"error\":\"invalid_token\x7f\"}",
        "the same with a control character at the end of the word that lets a request be sent again",
    ),
    (
        "answers",
        b"\x01\0\0\0\0\x0c{\"status\":\"OK\",\"body\":null}",
        "a form feed before an answer was passed over as white space, which in JSON it is not: what is not JSON proves \
         nothing",
    ),
];

#[test]
fn what_once_did_harm_does_none() {
    for (door, input, harm) in FOUND {
        println!("{door}: {harm}");
        doors::by_name(door).expect(door)(input);
    }
}
