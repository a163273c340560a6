//! Markup of web pages in a text: tags and entities by their names, so that an ampersand or an angle bracket in a name is
//! none.

use crate::sheet::data::HTML_NAMES;

/// Whether this is a name of HTML: a tag, a word that may be a tag, an entity, or the mark of a letter.
fn is_html(what: &str, name: &str) -> bool {
    HTML_NAMES.iter().any(|[of, known]| of == what && known == name)
}

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
    let is_known = is_html("tag", name) || (closes && is_html("word", name));
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
    let of_letter = |name: &str| name.as_bytes()[0].is_ascii_alphabetic() && is_html("mark", &name[1..]);
    is_html("entity", name) || (name.is_ascii() && of_letter(name))
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
