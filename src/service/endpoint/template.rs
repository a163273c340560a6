//! Path templates: `{name}` in a path or a query string, checked when the profile is read and filled for each request.
//!
//! Which paths are used for which operation is left to [`super`].

use crate::model::operation::{Operation, Parameter};

/// A piece of a path or of a query pair.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// Goes out as it stands.
    Text(String),
    /// The value of a parameter, percent-encoded.
    Hole(Parameter),
}

/// A checked path with its holes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    text: String,
    path: Vec<Piece>,
    query: Vec<Vec<Piece>>,
}

impl Template {
    /// Checks `text` as the path of `operation`. The error says what is wrong, without naming the operation.
    pub(crate) fn parse(operation: Operation, text: &str) -> Result<Self, String> {
        if !text.starts_with('/') {
            return Err("it does not start with '/'".to_owned());
        }
        if let Some(stranger) = text.chars().find(|&c| !is_plain(c) && !matches!(c, '/' | '?' | '{' | '}')) {
            return Err(format!("it contains {stranger:?}, which is not allowed in a path"));
        }
        if text.matches('?').count() > 1 {
            return Err("it contains more than one '?'".to_owned());
        }
        let known = operation.parameters();
        let (path, query) = match text.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (text, None),
        };
        for segment in path.split('/').skip(1) {
            match segment {
                "" if path == "/" => {}
                "" => return Err("it has an empty part between two '/' or at its end".to_owned()),
                "." | ".." => return Err(format!("it contains '{segment}' as a part")),
                _ => {}
            }
        }
        let template = Self {
            text: text.to_owned(),
            path: pieces(path, &known)?,
            query: match query {
                Some(query) => query
                    .split('&')
                    .map(|pair| match pair.split_once('=') {
                        Some((key, _)) if !key.is_empty() && !key.contains('{') => pieces(pair, &known),
                        _ => Err(format!("'{pair}' in its query is not name=value")),
                    })
                    .collect::<Result<_, _>>()?,
                None => Vec::new(),
            },
        };
        match known.iter().find(|parameter| parameter.required && !template.asks_for(parameter)) {
            Some(missing) => Err(format!("{{{}}} is missing", missing.name)),
            None => Ok(template),
        }
    }

    /// The path as written in the profile or the table of operations.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The path and query with the values in place. The error says which value cannot be sent.
    pub(crate) fn fill(&self, parameters: &[(&'static str, String)]) -> Result<String, String> {
        let value =
            |name: &str| parameters.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str());
        let mut filled = String::with_capacity(self.text.len() + 64);
        for piece in &self.path {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Hole(Parameter { name, .. }) => match value(name) {
                    None => return Err(format!("the parameter {name} is missing")),
                    Some("") => return Err(format!("the parameter {name} is empty")),
                    Some(value) => encode(value, &mut filled),
                },
            }
        }
        // A dot cannot be encoded away: readers of addresses take %2E for a dot too.
        if filled.split('/').any(|segment| matches!(segment, "." | "..")) {
            return Err("a parameter is '.' or '..', which is not allowed in a path".to_owned());
        }
        let mut separator = '?';
        for pair in &self.query {
            let mut text = String::new();
            let mut complete = true;
            for piece in pair {
                match piece {
                    Piece::Text(piece) => text.push_str(piece),
                    Piece::Hole(Parameter { name, required }) => match value(name) {
                        Some(value) => encode(value, &mut text),
                        None if *required => return Err(format!("the parameter {name} is missing")),
                        None => complete = false,
                    },
                }
            }
            if complete {
                filled.push(separator);
                filled.push_str(&text);
                separator = '&';
            }
        }
        Ok(filled)
    }

    fn asks_for(&self, parameter: &Parameter) -> bool {
        self.path
            .iter()
            .chain(self.query.iter().flatten())
            .any(|piece| matches!(piece, Piece::Hole(hole) if hole == parameter))
    }
}

/// Splits at the holes and checks that each is a parameter of the operation.
fn pieces(text: &str, known: &[Parameter]) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            return Err("a '{' is not closed".to_owned());
        };
        let Some(&parameter) = known.iter().find(|parameter| parameter.name == name) else {
            let names: Vec<_> = known.iter().map(|parameter| format!("{{{}}}", parameter.name)).collect();
            return Err(match names.is_empty() {
                true => format!("{{{name}}} is not a parameter: this operation has none"),
                false => {
                    format!("{{{name}}} is not a parameter of this operation; it has {}", names.join(", "))
                }
            });
        };
        if before.contains('}') {
            return Err("a '}' has no '{'".to_owned());
        }
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        pieces.push(Piece::Hole(parameter));
        rest = after;
    }
    if rest.contains('}') {
        return Err("a '}' has no '{'".to_owned());
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Ok(pieces)
}

/// What may stand in a path as written: no escapes, no fragment, nothing that readers of addresses rewrite.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~!$()*+,;=:@&".contains(c)
}

/// Appends `value` with every byte escaped that is not unreserved (RFC 3986 section 2.3), which is right in a path
/// segment and in a query value alike.
fn encode(value: &str, into: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            into.push(char::from(byte));
        } else {
            into.push('%');
            into.push(char::from(DIGITS[usize::from(byte >> 4)]));
            into.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(operation: Operation, path: &str) -> Template {
        Template::parse(operation, path).unwrap()
    }

    #[test]
    fn every_path_of_the_table_is_a_good_template() {
        for &operation in Operation::ALL {
            assert_eq!(
                Template::parse(operation, operation.path()).map(|template| template.text),
                Ok(operation.path().to_owned()),
                "{operation}"
            );
        }
    }

    #[test]
    fn a_bad_path_is_refused_with_the_reason() {
        use Operation::{AddSite, FindDevicesByName, GetDevice};
        let table = [
            (AddSite, "addSite", "does not start with '/'"),
            (AddSite, "https://elsewhere.example/addSite", "does not start with '/'"),
            (AddSite, "", "does not start with '/'"),
            (AddSite, "//elsewhere.example/addSite", "empty part"),
            (AddSite, "/config//addSite", "empty part"),
            (AddSite, "/config/addSite/", "empty part"),
            (AddSite, "/config/../addSite", "'..'"),
            (AddSite, "/config/./addSite", "'.'"),
            (AddSite, "/config/%2e%2e/addSite", "'%'"),
            (AddSite, "/config/addSite#top", "'#'"),
            (AddSite, "/config\\addSite", "'\\\\'"),
            (AddSite, "/config/add Site", "' '"),
            (AddSite, "/config/addSite\r\nX: y", "'\\r'"),
            (AddSite, "/config/addSite\u{0}", "'\\0'"),
            (AddSite, "/config/addS\u{ef}te", "'\u{ef}'"),
            (AddSite, "/config/addSite/{id}", "this operation has none"),
            (AddSite, "/config/addSite?version", "not name=value"),
            (AddSite, "/config/addSite?a=1?b=2", "'?'"),
            (GetDevice, "/getDevice", "{id} is missing"),
            (GetDevice, "/getDevice/{deviceId}", "it has {id}"),
            (GetDevice, "/getDevice/{id", "not closed"),
            (GetDevice, "/getDevice/id}", "has no '{'"),
            (GetDevice, "/getDevice/{id}}", "has no '{'"),
            (GetDevice, "/getDevice?{id}=1", "not name=value"),
            (FindDevicesByName, "/find?companyId={companyId}", "{name} is missing"),
        ];
        for (operation, path, reason) in table {
            let said = Template::parse(operation, path).expect_err(path);
            assert!(said.contains(reason), "{path:?}: {said}");
        }
    }

    #[test]
    fn hostile_values_stay_inside_their_place() {
        let table = [
            ("../../auth", "..%2F..%2Fauth"),
            ("a?b", "a%3Fb"),
            ("a&b=c", "a%26b%3Dc"),
            ("a#b", "a%23b"),
            ("a b+c", "a%20b%2Bc"),
            ("100%", "100%25"),
            ("%2e%2e", "%252e%252e"),
            ("Caf\u{e9} \u{6771}", "Caf%C3%A9%20%E6%9D%B1"),
            ("a\r\nHost: b", "a%0D%0AHost%3A%20b"),
            ("a\\b", "a%5Cb"),
            ("it's", "it%27s"),
            ("{name}", "%7Bname%7D"),
            ("-._~", "-._~"),
        ];
        let in_path = template(Operation::GetDevice, "/getDevice/{id}/x");
        let in_query = template(Operation::GetPersonByUsername, "/getPerson?v=1&username={username}");
        for (value, encoded) in table {
            let filled = in_path.fill(&[("id", value.to_owned())]).unwrap();
            assert_eq!(filled, format!("/getDevice/{encoded}/x"));
            let query = in_query.fill(&[("username", value.to_owned())]).unwrap();
            assert_eq!(query, format!("/getPerson?v=1&username={encoded}"));
            // What a reader of addresses makes of it is what was written.
            for text in [filled, query] {
                let address = url::Url::parse(&format!("https://service.example{text}")).unwrap();
                assert_eq!(address.as_str(), format!("https://service.example{text}"));
            }
        }
    }

    #[test]
    fn a_value_that_no_path_can_carry_is_not_sent() {
        let in_path = template(Operation::GetDevice, "/getDevice/{id}");
        for value in ["", ".", ".."] {
            assert!(in_path.fill(&[("id", value.to_owned())]).is_err(), "{value:?}");
        }
        assert_eq!(in_path.fill(&[]), Err("the parameter id is missing".to_owned()));
        let in_query = template(Operation::GetDevice, "/getDevice?id={id}");
        assert_eq!(in_query.fill(&[("id", "..".to_owned())]), Ok("/getDevice?id=..".to_owned()));
        assert_eq!(in_query.fill(&[]), Err("the parameter id is missing".to_owned()));
    }

    #[test]
    fn an_absent_optional_parameter_takes_its_pair_with_it() {
        for operation in [Operation::FindDevicesByName, Operation::FindSitesByName] {
            let name = ("name", "Till".to_owned());
            let company = ("companyId", "c1".to_owned());
            for (path, without, with) in [
                ("/f?name={name}&companyId={companyId}", "/f?name=Till", "/f?name=Till&companyId=c1"),
                ("/f?companyId={companyId}&name={name}", "/f?name=Till", "/f?companyId=c1&name=Till"),
                ("/f/{name}?companyId={companyId}", "/f/Till", "/f/Till?companyId=c1"),
                ("/f/{name}", "/f/Till", "/f/Till"),
            ] {
                let template = template(operation, path);
                assert_eq!(template.fill(std::slice::from_ref(&name)).as_deref(), Ok(without), "{path}");
                assert_eq!(template.fill(&[name.clone(), company.clone()]).as_deref(), Ok(with), "{path}");
                assert!(template.fill(std::slice::from_ref(&company)).is_err(), "{path}");
            }
        }
    }
}
