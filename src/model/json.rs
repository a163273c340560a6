//! Scans JSON text without parsing it: whoever looks for a bracket or a value must pass over the strings.

/// The place behind the string whose quotation mark is at `from`, or the end of the text where the string does not end.
pub(crate) fn string_end(text: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_ends_at_the_first_quotation_mark_that_is_not_escaped() {
        let table = [
            (r#""""#, 2),
            (r#""a":1"#, 3),
            (r#""a\"b",""#, 6),
            (r#""\\""#, 4),
            (r#""no end"#, 7),
            (r#""no end\"#, 8),
            (r#"""#, 1),
        ];
        for (text, end) in table {
            assert_eq!(string_end(text.as_bytes(), 0), end, "{text}");
        }
    }
}
