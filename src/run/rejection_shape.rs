//! What rejections share that have the same cause, without what differs from row to row.

use crate::model::verdict::Rejection;

/// The code and the violated fields; where the service names no fields, its words without whatever differs from row to row.
pub(super) fn rejection_shape(rejection: &Rejection, name: &str) -> String {
    let mut fields: Vec<&str> =
        rejection.violations.iter().map(|violation| violation.path.as_str()).collect();
    fields.sort_unstable();
    fields.dedup();
    let rest = if fields.is_empty() { skeleton(&rejection.message, name) } else { fields.join(" ") };
    format!("{} {rest}", rejection.code)
}

/// A message without the row's name, what stands in quotation marks, and words with digits in them.
fn skeleton(message: &str, name: &str) -> String {
    let message = if name.is_empty() { message.to_owned() } else { message.replace(name, "#") };
    let mut skeleton = Vec::new();
    for (index, part) in
        message.split(['"', '\'', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}']).enumerate()
    {
        if index % 2 == 1 {
            skeleton.push("#");
            continue;
        }
        skeleton.extend(
            part.split_whitespace()
                .map(|word| if word.contains(|c: char| c.is_ascii_digit()) { "#" } else { word }),
        );
    }
    skeleton.join(" ")
}
