//! The list in an answer, read entry by entry: the bytes of the answer are kept, and one entry at a time is parsed.

use std::ops::Range;

use bytes::Bytes;
use serde_json::{Deserializer, Value};

use crate::model::json::string_end;
use crate::model::verdict::Doubt;

/// The field of the envelope that holds the list.
const BODY: &str = "body";

/// A list that was read to its end once, so that every entry is known to be whole and well formed.
#[derive(Clone, PartialEq, Eq)]
pub struct List {
    /// From its `[` to its `]`.
    text: Bytes,
    length: usize,
}

impl List {
    /// Reads a list without keeping any of its entries.
    pub(super) fn read(text: Bytes) -> Result<Self, Doubt> {
        let (mut at, mut length) = (0, 0);
        while next_entry(&text, &mut at)?.is_some() {
            length += 1;
        }
        if at + 1 == text.len() { Ok(Self { text, length }) } else { Err(Doubt::Unreadable) }
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// How many bytes its text has.
    pub fn size(&self) -> usize {
        self.text.len()
    }

    /// Its entries, from the first.
    pub fn entries(&self) -> Entries {
        Entries { text: self.text.clone(), at: 0 }
    }
}

impl std::fmt::Debug for List {
    /// Leaves the entries out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("List").field("length", &self.length).field("size", &self.text.len()).finish()
    }
}

/// The entries of a list, each parsed when it is asked for.
#[derive(Debug)]
pub struct Entries {
    text: Bytes,
    at: usize,
}

impl Iterator for Entries {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        // The list was read to its end before.
        next_entry(&self.text, &mut self.at).expect("a list that is well formed")
    }
}

/// The next entry of the list that begins the text, and the place behind it; at the end the place of the `]`.
fn next_entry(text: &[u8], at: &mut usize) -> Result<Option<Value>, Doubt> {
    let is_first = *at == 0;
    *at = past_space(text, (*at).max(1));
    match text.get(*at) {
        None => return Err(Doubt::Truncated),
        Some(b']') => return Ok(None),
        Some(b',') if !is_first => *at += 1,
        Some(_) if is_first => {}
        Some(_) => return Err(Doubt::Unreadable),
    }
    let mut values = Deserializer::from_slice(&text[*at..]).into_iter();
    match values.next() {
        Some(Ok(entry)) => {
            *at += values.byte_offset();
            Ok(Some(entry))
        }
        Some(Err(error)) if !error.is_eof() => Err(Doubt::Unreadable),
        Some(Err(_)) | None => Err(Doubt::Truncated),
    }
}

/// The place of the first byte that is not white space.
fn past_space(text: &[u8], from: usize) -> usize {
    let space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\t' | b'\r');
    from + text.iter().skip(from).take_while(|byte| space(byte)).count()
}

/// What is known of a text before it is parsed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// How deep objects and arrays are nested: brackets inside strings do not count.
    pub(super) depth: usize,
    /// Where the array is that is the body of the envelope; up to the end of the text when it does not end.
    pub(super) list: Option<Range<usize>>,
}

/// Finds out how deep a text is nested and where its list is. Of a text that is not well formed the list may be anything:
/// the list and what is around it are parsed as well, and only one in the place of a value is well formed then.
pub(super) fn outline(text: &str) -> Outline {
    let bytes = text.as_bytes();
    let (mut outline, mut depth, mut at, mut last_string) = (Outline::default(), 0_usize, 0, 0..0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = string_end(bytes, at);
                if depth == 1 {
                    last_string = at..end;
                }
                at = end;
                continue;
            }
            b':' if depth == 1 && is_body(&text[last_string.clone()]) => {
                // Of a field that is there twice the last one counts, as it does for the parser.
                let value = past_space(bytes, at + 1);
                outline.list = (bytes.get(value) == Some(&b'[')).then_some(value..bytes.len());
            }
            b'{' | b'[' => {
                depth += 1;
                outline.depth = outline.depth.max(depth);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 1
                    && let Some(list) = &mut outline.list
                    && list.end == bytes.len()
                {
                    list.end = at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    outline
}

/// Whether a key, as it is written, is that of the body.
fn is_body(key: &str) -> bool {
    key.trim_matches('"') == BODY
        || (key.contains('\\') && serde_json::from_str::<String>(key).is_ok_and(|key| key == BODY))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::service::envelope::{Reading, read, read_apart};
    use crate::service::wording::Wording;

    const LARGEST: usize = 16 * 1024 * 1024;

    /// What is read apart, with the entries put back where they belong, and whether there were any apart.
    fn apart(text: &[u8]) -> Result<(Reading, bool), Doubt> {
        let (reading, list) = read_apart(&Bytes::copy_from_slice(text), LARGEST, Wording::default())?;
        let is_apart = list.is_some();
        let reading = match (reading, list) {
            (Reading::Ok(body), Some(list)) => {
                assert_eq!(body, json!([]), "the entries are not kept twice");
                let entries: Vec<Value> = list.entries().collect();
                assert_eq!((entries.len(), entries.is_empty()), (list.len(), list.is_empty()));
                Reading::Ok(Value::Array(entries))
            }
            (reading, None) => reading,
            (reading, Some(_)) => panic!("a list of {reading:?}"),
        };
        Ok((reading, is_apart))
    }

    fn whole(text: &[u8]) -> Result<Reading, Doubt> {
        read(text, LARGEST, Wording::default())
    }

    #[test]
    fn a_list_is_what_it_is_when_it_is_parsed_as_a_whole() {
        let table = [
            (r#"{"status":"OK","body":[]}"#, true),
            (r#"{"status":"OK","body":[{"a":[1,{"b":[]}]},{"c":"],\"[}"}]}"#, true),
            (
                "\u{feff} {\r\n\"body\" :\t[ null , 1.5e3 , \"\\u00e9\\n\" , [ ] ] , \"status\" : \"OK\" } ",
                true,
            ),
            (r#"{"status":"OK","b\u006fdy":[1,2],"other":{"body":[3]}}"#, true),
            (r#"{"status":"OK","body":[1],"body":[2,3]}"#, true),
            (r#"{"status":"OK","body":[1],"body":null}"#, false),
            (r#"{"status":"OK","body":null,"body":[1]}"#, true),
            (r#"{"status":"OK","body":[1,2],"bod\u0079":{"id":"x"}}"#, false),
            (r#"{"status":"OK","body":null}"#, false),
            (r#"{"status":"OK","body":{"body":[1]}}"#, false),
            (r#"{"status":"OK","body":"[1]"}"#, false),
            (r#"{"status":"OK"}"#, false),
            (r#"{"status":"OK","list":["body",[1]]}"#, false),
            (r#"{"status":"FAILED","body":[1],"error":{"errorCode":"invalidData"}}"#, false),
        ];
        for (text, is_apart) in table {
            let reading = whole(text.as_bytes()).expect(text);
            assert_eq!(apart(text.as_bytes()), Ok((reading, is_apart)), "{text}");
        }
        // What is no answer of the service holds no list.
        let (_, list) = read_apart(&r#"{"body":[1]}"#.into(), LARGEST, Wording::default()).unwrap();
        assert_eq!(list, None);
    }

    #[test]
    fn a_list_is_a_part_of_the_answer_and_an_entry_is_parsed_when_it_is_asked_for() {
        let answer = Bytes::from(r#"{"status":"OK","body":[{"a":1},[2],3]}"#);
        let (_, list) = read_apart(&answer, LARGEST, Wording::default()).unwrap();
        let list = list.unwrap();
        assert_eq!(list.text.as_ptr(), answer[22..].as_ptr(), "no byte is copied");
        assert_eq!((list.len(), list.size()), (3, 15));
        let mut entries = list.entries();
        for (entry, at) in
            [(Some(json!({"a": 1})), 8), (Some(json!([2])), 12), (Some(json!(3)), 14), (None, 14)]
        {
            assert_eq!((entries.next(), entries.at), (entry, at));
        }
    }

    #[test]
    fn an_answer_that_is_cut_or_not_well_formed_has_no_entry() {
        let text =
            "{\"status\":\"OK\",\"body\":[{\"a\":[1,{}]},\"x\\\"\u{e9}\", 12.5e1 ,true,null],\"end\":{}}";
        for length in 1..text.len() {
            let cut = &text.as_bytes()[..length];
            assert_eq!(apart(cut).err(), whole(cut).err(), "{length}");
            assert!(apart(cut).is_err(), "{length}");
        }
        for odd in [
            r#"{"status":"OK","body":[1,]}"#,
            r#"{"status":"OK","body":[,1]}"#,
            r#"{"status":"OK","body":[1 2]}"#,
            r#"{"status":"OK","body":["a""b"]}"#,
            r#"{"status":"OK","body":[1]]}"#,
            r#"{"status":"OK","body":[1}}"#,
            r#"{"status":"OK","body":[{"a":1]}"#,
            r#"{"status":"OK","body":[1]} x"#,
            r#"{"status":"OK","body":[1]}{"body":[2]}"#,
            r#"{"status":"OK" "body":[1]}"#,
            r#"{"status":"OK","body"[1]}"#,
            r#"{"status":"OK",body:[1]}"#,
            r#"{"status":"OK","body":[1e999]}"#,
            r#"{"status":"OK","body":["\ud800"]}"#,
            "{\"status\":\"OK\",\"body\":[\"a\nb\"]}",
            r#"{"status":"OK","x":"body":[1]}"#,
        ] {
            assert_eq!(apart(odd.as_bytes()), Err(Doubt::Unreadable), "{odd}");
            assert_eq!(whole(odd.as_bytes()), Err(Doubt::Unreadable), "{odd}");
        }
    }

    #[test]
    fn hostile_lists_are_bounded() {
        let answer = |list: &str| format!(r#"{{"status":"OK","body":{list}}}"#);
        for (levels, is_read) in [(63, true), (64, false), (1_000_000, false)] {
            let text = answer(&format!("{}{}", "[".repeat(levels), "]".repeat(levels)));
            assert_eq!(apart(text.as_bytes()).is_ok(), is_read, "{levels}");
        }
        let many = answer(&format!("[{}0]", "0,".repeat(1_000_000)));
        let (_, list) = read_apart(&many.into(), LARGEST, Wording::default()).unwrap();
        assert_eq!(list.unwrap().len(), 1_000_001);
        let large = answer(&format!("[\"{}\"]", "x".repeat(LARGEST - 64)));
        assert!(
            matches!(apart(large.as_bytes()), Ok((Reading::Ok(Value::Array(entries)), true)) if entries.len() == 1)
        );
        assert_eq!(apart(&[large.as_bytes(), &[b' '; 64]].concat()), Err(Doubt::Unreadable));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            r#"[a-z"\\\[\]{}:,\n\u{e9}]{0,6}"#.prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((prop_oneof!["body", "[a-c]", "status"], inner), 0..3)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn reading_apart_and_as_a_whole_agree(
            before in value(),
            body in value(),
            twice in prop::option::of(value()),
            damage in prop::option::of((any::<prop::sample::Index>(), prop::sample::select(&b"[]{},:\"\\ 0ax"[..]))),
        ) {
            let again = twice.map(|body| format!(r#","body":{body}"#)).unwrap_or_default();
            let text = format!(r#"{{"before":{before},"status":"OK","body": {body} {again},"after":{before}}}"#);
            let mut text = text.into_bytes();
            if let Some((place, byte)) = damage {
                let place = place.index(text.len());
                text[place] = byte;
            }
            match (whole(&text), apart(&text)) {
                (Ok(Reading::Foreign(_)), Ok((Reading::Foreign(_), false))) => {}
                (Ok(whole), Ok((apart, _))) => prop_assert_eq!(apart, whole),
                (Err(_), Err(_)) => {}
                (whole, apart) => prop_assert!(false, "{:?} and {:?}", whole, apart),
            }
        }
    }
}
