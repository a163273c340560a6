//! What no cell may contain, and the signs that a text is not what it should be: damage, placeholders, markup, formulas,
//! letters of another alphabet.

use super::confusables;
use super::{Problem, Ways};
use crate::sheet::cell::TEXT_LIMIT;
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;
use crate::sheet::table::column::{Column, Family, Form, Need};
use crate::sheet::text::{
    Changes, Norm, has_markup, is_direction, is_ditto, is_format, is_joiner, is_placeholder, is_zero,
    normalise, repair_mojibake,
};

/// What is wrong with a text that is longer than a cell may be; only the beginning of it may be there.
pub(super) fn beyond_a_cell(text: &str) -> Option<Problem> {
    let is_beyond = text.len() > TEXT_LIMIT && text.chars().nth(TEXT_LIMIT).is_some();
    is_beyond.then(|| {
        Problem::new(Code::CellTooLong, format!("the text has more than {TEXT_LIMIT} characters: shorten it"))
            .rule("at most 32,767 characters, as many as a cell of Excel holds")
    })
}

/// What no cell may contain, and what makes a text suspicious beyond use.
pub(super) fn damaged(column: &Column, text: &str) -> Option<Problem> {
    let form = column.form;
    if text.is_ascii() && text.len() <= TEXT_LIMIT && !text.bytes().any(|byte| byte.is_ascii_control()) {
        return lost_letter(column, text);
    }
    if let Some(problem) = beyond_a_cell(text) {
        return Some(problem);
    }
    if let Some((first, rest)) = text.split_once('\n') {
        return Some(line_break(form, first, rest));
    }
    let hidden =
        |c: char| c.is_control() || is_direction(c) || is_format(c) || (is_joiner(c) && !joins_letters(form));
    if let Some(c) = text.chars().find(|c| hidden(*c)) {
        let code = u32::from(c);
        let (kind, why) = match c {
            '\t' => ("a tab", ""),
            c if is_direction(c) => ("the character", ", which turns the direction of writing"),
            _ => ("the invisible character", ""),
        };
        return Some(
            Problem::new(
                Code::CellControlChar,
                format!("the cell has {kind} U+{code:04X}{why}: type the value again"),
            )
            .rule("visible characters only"),
        );
    }
    if text.contains('\u{fffd}') {
        return Some(
            Problem::new(
                Code::CellReplacementChar,
                "a letter was lost when the sheet was saved (it shows as \u{fffd}): type the value again",
            )
            .rule("letters as they were typed"),
        );
    }
    lost_letter(column, text)
}

/// Question marks where letters were: programs write them for letters that an encoding lacks. In names, addresses,
/// usernames and e-mail only; labels and metadata may ask something, and are the paths and queries of programs.
fn lost_letter(column: &Column, text: &str) -> Option<Problem> {
    let is_lost = match column.form {
        Form::Text if matches!(column.name, "label" | "key" | "value") => false,
        Form::Name | Form::Text | Form::Country => {
            let may_be_placeholder = !is_never_placeholder(column);
            has_mark_for_letter(text) && !(may_be_placeholder && is_placeholder(text))
        }
        Form::Username => has_mark_for_letter(text),
        // What follows a link to an address belongs to the link.
        Form::Email => !text.contains([':', '=', '<']) && text.contains('?') && text.contains('@'),
        Form::Code
        | Form::Key
        | Form::Reference(_)
        | Form::Owner
        | Form::Enum(_)
        | Form::Bool
        | Form::Phone
        | Form::Mac
        | Form::Latitude
        | Form::Integer
        | Form::Longitude
        | Form::Timezone
        | Form::Offers
        | Form::Labels
        | Form::Id
        | Form::Action
        | Form::Exported
        | Form::Family(Family::Label | Family::Meta | Family::Snat) => false,
    };
    is_lost.then(|| {
        Problem::new(
            Code::CellReplacementChar,
            "the question mark probably replaces a letter that was lost when the sheet was saved: type the value again",
        )
        .rule("letters as they were typed")
    })
}

/// Whether a question mark stands within a word, or where one begins. At the end of a word it may ask something, and
/// between a small letter and a capital a space is missing.
fn has_mark_for_letter(text: &str) -> bool {
    if !text.contains('?') {
        return false;
    }
    text.split_whitespace().filter(|word| !is_of_a_link(word)).any(|word| {
        let inner = word.trim_matches(['"', '\'', '(', ')', ',', ';', '.', '!']);
        if inner.len() > 1 && inner.bytes().all(|byte| byte == b'?') {
            return true;
        }
        let mut before = None;
        let mut chars = inner.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '?' {
                before = Some(c);
                continue;
            }
            while chars.next_if_eq(&'?').is_some() {}
            let Some(after) = chars.peek().filter(|c| c.is_alphabetic()) else { continue };
            match before {
                None => return true,
                Some(before) if before.is_lowercase() && after.is_uppercase() => {}
                Some(before) if before.is_alphabetic() || matches!(before, '-' | '(' | '\'') => return true,
                Some(_) => {}
            }
        }
        false
    })
}

/// Whether a word is the address of a web page, in which a question mark has its place.
fn is_of_a_link(word: &str) -> bool {
    word.contains('=') || word.contains("://") || word.starts_with("www.")
}

/// A cell of several lines. Of a name the two together are what was meant; the lines of an address have columns of their
/// own, and elsewhere each line may be a value.
fn line_break(form: Form, first: &str, rest: &str) -> Problem {
    let count = rest.matches('\n').count() + 2;
    let is_row = |line: &str| [',', ';', '\t', '|'].iter().any(|mark| line.matches(*mark).count() >= 2);
    let is_of_rows = count > 2 && rest.split('\n').any(is_row);
    let what = if count == 2 {
        "the cell has a line break".to_owned()
    } else if is_of_rows {
        format!("the cell goes over {count} lines, some of which look like rows")
    } else {
        format!("the cell goes over {count} lines")
    };
    let advice = if is_of_rows {
        "check whether a quotation mark is not closed"
    } else if form == Form::Text {
        "put the text on one line, or divide an address among address1, address2 and suburb"
    } else if form == Form::Name {
        "put the text on one line"
    } else {
        "keep one value, on one line"
    };
    let problem = Problem::new(Code::CellLineBreak, format!("{what}: {advice}")).rule("one line of text");
    let joined = format!("{} {}", first.trim(), rest.trim());
    let is_plain = !joined.chars().any(|c| c.is_control() || is_direction(c));
    if form == Form::Name && count == 2 && is_plain { problem.suggest(joined) } else { problem }
}

/// Whether the text of a form may need joiners between its letters, as Persian names and some emoji do.
fn joins_letters(form: Form) -> bool {
    match form {
        Form::Name
        | Form::Text
        | Form::Country
        | Form::Reference(_)
        | Form::Owner
        | Form::Labels
        | Form::Family(Family::Label | Family::Meta) => true,
        Form::Code
        | Form::Key
        | Form::Enum(_)
        | Form::Bool
        | Form::Email
        | Form::Username
        | Form::Phone
        | Form::Mac
        | Form::Latitude
        | Form::Integer
        | Form::Longitude
        | Form::Timezone
        | Form::Offers
        | Form::Id
        | Form::Action
        | Form::Exported
        | Form::Family(Family::Snat) => false,
    }
}

/// A column in which what stands for nothing elsewhere can be a value: countries ("NA" is Namibia), names of people ("Null" is
/// one).
fn is_never_placeholder(column: &Column) -> bool {
    matches!(column.name, "country" | "first_name" | "last_name")
}

/// A word that stands for nothing, and whether the cell is read as blank because of it.
///
/// It is an error where a value is needed and a warning elsewhere. What could not be sent is read as blank then; other
/// text is so only if that was asked for.
pub(super) fn placeholder(column: &Column, text: &str, ways: &Ways) -> Option<(Problem, bool)> {
    if is_never_placeholder(column) {
        return None;
    }
    if is_ditto(text) && column.form != Form::Key {
        let message = format!(
            "'{}' means \"the same as above\", but fleetload does not copy cells: enter the value",
            shown(text)
        );
        let problem = Problem::new(Code::CellPlaceholder, message).rule("the value itself, in every row");
        return Some((problem.error(), true));
    }
    // As a coordinate it is a number gone wrong in a program, not a word for nothing.
    let is_broken_number =
        matches!(column.form, Form::Latitude | Form::Longitude) && text.eq_ignore_ascii_case("nan");
    let stands_for_nothing =
        (is_placeholder(text) && !is_broken_number) || (is_zero(text) && is_never_zero(column.form));
    if !stands_for_nothing {
        return None;
    }
    let problem = |advice: &str| {
        Problem::new(Code::CellPlaceholder, format!("'{}' is a placeholder: {advice}", shown(text)))
            .rule("the value, or a blank cell where none is needed")
    };
    Some(if column.need == Need::Required {
        (problem("enter the value").error(), true)
    } else if ways.placeholders_blank || !is_free(column.form) {
        (problem("the cell is read as blank; clear it"), true)
    } else {
        let advice = "it is sent as it is; clear the cell unless the value is right, or read all such cells as blank \
            with --placeholders-blank";
        (problem(advice), false)
    })
}

/// Whether 0 cannot be the value of a cell.
fn is_never_zero(form: Form) -> bool {
    matches!(
        form,
        Form::Name | Form::Text | Form::Phone | Form::Email | Form::Username | Form::Mac | Form::Timezone
    )
}

/// Whether a form takes any text.
pub(super) fn is_free(form: Form) -> bool {
    matches!(form, Form::Name | Form::Text | Form::Code | Form::Family(_) | Form::Labels)
}

/// A text that is longer than the service probably takes.
pub(super) fn too_long(form: Form, text: &str, ways: &Ways) -> Option<Problem> {
    if text.len() <= ways.longest_text {
        return None;
    }
    let count = match form {
        Form::Name
        | Form::Text
        | Form::Code
        | Form::Country
        | Form::Phone
        | Form::Email
        | Form::Username
        | Form::Timezone
        | Form::Family(Family::Label | Family::Meta) => text.chars().count(),
        Form::Labels => text.split(';').map(|label| label.chars().count()).max().unwrap_or(0),
        Form::Key
        | Form::Reference(_)
        | Form::Owner
        | Form::Enum(_)
        | Form::Bool
        | Form::Mac
        | Form::Latitude
        | Form::Integer
        | Form::Longitude
        | Form::Offers
        | Form::Id
        | Form::Action
        | Form::Exported
        | Form::Family(Family::Snat) => return None,
    };
    (count > ways.longest_text).then(|| {
        Problem::new(
            Code::CellTooLong,
            format!(
                "the text has {count} characters, more than the usual {}: shorten it, because the service may reject \
                 it",
                ways.longest_text
            ),
        )
        .rule("a text of usual length; the service does not say how long it may be")
        .warning()
    })
}

/// Letters that were garbled before the sheet came here, told of the text as it was stored; what was probably meant is
/// suggested in the form of its column.
pub(super) fn garbled(text: &str, norm: Norm) -> Option<Problem> {
    let repaired = repair_mojibake(text)?;
    let meant = normalise(&repaired, norm, &mut Changes::default());
    let problem = Problem::new(
        Code::CellMojibake,
        "the letters were garbled when the file was saved or opened in another encoding: type the value again",
    )
    .rule("letters as they were typed");
    let hides = |c: char| c.is_control() || is_direction(c) || is_format(c);
    Some(if meant.chars().any(hides) || meant.is_empty() { problem } else { problem.suggest(meant) })
}

/// Signs of damage in a text that is used anyway.
pub(super) fn suspicions(text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    if has_markup(text) {
        problems.push(
            Problem::new(
                Code::CellHtml,
                "the text contains markup of a web page and is sent as it is: replace it by plain text",
            )
            .rule("plain text, such as & instead of &amp;"),
        );
    }
    if text.starts_with(['=', '@']) {
        problems.push(
            Problem::new(
                Code::CellFormulaText,
                "the text starts like a formula and is sent as it is: enter the right value",
            )
            .rule("text that does not start with = or @"),
        );
    }
    if let Some(odd) = confusables::in_a_latin_word(text) {
        problems.push(confusables::in_a_name(odd, text));
    }
    problems
}
