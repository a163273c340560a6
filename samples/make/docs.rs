//! The tables of columns in `docs/sheets.md`, between markers; the rest of that page is written by hand.

use std::fmt::Write as _;

use fleetload::model::kind::Kind;
use fleetload::sheet::column::{Form, Need, columns};

use super::Result;

/// The page with its tables made anew.
pub(crate) fn renew(page: &str) -> Result<String> {
    let mut page = page.to_owned();
    for kind in Kind::ALL {
        let (begin, end) = (format!("<!-- columns of {kind} -->\n"), format!("<!-- end of {kind} -->"));
        let start =
            page.find(&begin).ok_or_else(|| format!("docs/sheets.md has no line {begin}"))? + begin.len();
        let length = page[start..].find(&end).ok_or_else(|| format!("docs/sheets.md has no line {end}"))?;
        page.replace_range(start..start + length, &table(kind)?);
    }
    Ok(page)
}

fn table(kind: Kind) -> Result<String> {
    let mut table =
        String::from("\n| column | needed | holds | what it is | also read |\n|---|---|---|---|---|\n");
    for column in columns(kind) {
        let name = match column.family() {
            Some(_) => format!("{}…", column.name),
            None => column.name.to_owned(),
        };
        let needed = match column.need {
            Need::Required => "**yes**",
            Need::Wanted => "should",
            Need::Conditional => "depends",
            Need::Optional => "",
        };
        let holds = match column.form {
            Form::Enum(values) => {
                values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
            }
            form => form.describe(),
        };
        let also: Vec<String> =
            column.aliases.iter().chain(column.weak_aliases).map(|alias| format!("`{alias}`")).collect();
        writeln!(table, "| `{name}` | {needed} | {holds} | {} | {} |", column.help, also.join(" "))?;
    }
    table.push('\n');
    Ok(table)
}
