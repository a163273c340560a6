//! Markup of web pages in a text: tags and entities by their names, so that an ampersand or an angle bracket in a name is
//! none.

/// Tags that are no words a name would have in angle brackets.
const TAGS: [&str; 45] = [
    "a",
    "b",
    "blockquote",
    "br",
    "dd",
    "del",
    "div",
    "dl",
    "dt",
    "em",
    "font",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "script",
    "span",
    "strike",
    "strong",
    "style",
    "sub",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
];
/// Tags that are words as well, and are told only where they are closed.
const WORDS: [&str; 14] = [
    "body", "button", "center", "code", "form", "head", "header", "label", "link", "main", "option",
    "section", "small", "title",
];
/// Entities beside those of letters with a mark.
const ENTITIES: [&str; 51] = [
    "amp", "lt", "gt", "quot", "apos", "nbsp", "ensp", "emsp", "thinsp", "shy", "zwj", "zwnj", "copy", "reg",
    "trade", "hellip", "mdash", "ndash", "lsquo", "rsquo", "ldquo", "rdquo", "sbquo", "bdquo", "lsaquo",
    "rsaquo", "laquo", "raquo", "bull", "middot", "euro", "pound", "yen", "cent", "sect", "para", "deg",
    "plusmn", "times", "divide", "frac12", "frac14", "frac34", "iexcl", "iquest", "ordf", "ordm", "szlig",
    "aelig", "oelig", "micro",
];
/// What follows the letter in the entity of a letter with a mark: `eacute`.
const MARKS: [&str; 9] = ["acute", "grave", "circ", "uml", "tilde", "ring", "cedil", "slash", "caron"];

/// Whether the text contains a tag or an entity of a web page.
pub(crate) fn has_markup(text: &str) -> bool {
    if !text.contains(['<', '&']) {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    lower.match_indices('<').any(|(at, _)| is_tag(&lower[at + 1..]))
        || lower.match_indices('&').any(|(at, _)| is_entity(&lower[at + 1..]))
}

/// Whether this is a tag, from after its bracket on.
fn is_tag(rest: &str) -> bool {
    if rest.starts_with("!--") || rest.starts_with("!doctype") {
        return true;
    }
    let closes = rest.starts_with('/');
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    let is_known = TAGS.contains(&name) || (closes && WORDS.contains(&name));
    let ends = match after.chars().next() {
        Some('>' | '/') => true,
        // `A<B Ltd` has no tag.
        Some(c) if c.is_whitespace() => after.contains('>'),
        Some(_) => false,
        None => closes,
    };
    is_known && ends
}

/// Whether this is an entity, from after its ampersand on.
fn is_entity(rest: &str) -> bool {
    let Some((name, _)) = rest.split_once(';').filter(|(name, _)| (2..=8).contains(&name.len())) else {
        return false;
    };
    if let Some(code) = name.strip_prefix('#') {
        let digits = code.strip_prefix('x');
        return match digits {
            Some(digits) => !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
            None => code.bytes().all(|byte| byte.is_ascii_digit()),
        };
    }
    let of_letter = |name: &str| name.as_bytes()[0].is_ascii_alphabetic() && MARKS.contains(&&name[1..]);
    ENTITIES.contains(&name) || (name.is_ascii() && of_letter(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_entities_are_markup_and_signs_in_names_are_none() {
        for text in [
            "Smith &amp; Sons",
            "Caf&eacute;",
            "O&apos;Brien",
            "O&#39;Brien",
            "O&#x27;Brien",
            "Joe&rsquo;s",
            "M&uuml;ller",
            "M&UUML;LLER",
            "&copy; Acme",
            "&ldquo;Acme&rdquo;",
            "Acme&hellip;",
            "a<br>b",
            "a<br/>b",
            "a<BR />b",
            "<p class=x>a",
            "<a href=x>y",
            "<font color=red>x",
            "<li>x",
            "<table>",
            "<em>x</em>",
            "<script>x",
            "<img src=x>",
            "<!-- c -->",
            "x</label>",
            "x</b",
            "&ccedil;a",
            "&frac12; St",
        ] {
            assert!(has_markup(text), "{text}");
        }
        for text in [
            "Smith & Sons",
            "Smith & Sons <North>",
            "R&D;",
            "R&D; Lab",
            "A<B",
            "A<B Ltd",
            "a < b",
            "P&O;",
            "<3",
            "Depot <Main>",
            "<Center> 1",
            "AT&T",
            "Jane <a@b.example>",
            "B&B; Inn",
            "x <- y",
            "&",
            "<",
            "&;",
            "A&#1",
            "Q&éé;",
        ] {
            assert!(!has_markup(text), "{text}");
        }
    }
}
