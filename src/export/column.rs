//! The columns of the exports: a table in a file, read once.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

/// The column of what a record has besides the other columns, as JSON.
pub const OTHER: &str = "_other";

/// The column of why a record could not be read, or may be incomplete. It shows that a table is an export.
pub const NOTE: &str = crate::sheet::formula_guard::EXPORT_NOTE;

/// A column of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its header.
    pub name: String,
    /// Where its value is: the fields that lead to it; the first begins with `@` where it was not in the answer.
    from: Vec<String>,
}

/// The columns by the word of the export.
static COLUMNS: LazyLock<HashMap<String, Vec<Column>>> = LazyLock::new(|| {
    let mut columns: HashMap<String, Vec<Column>> = HashMap::new();
    let table = include_str!("columns.csv").lines().filter(|line| !line.starts_with('#')).skip(1);
    for line in table {
        if let [of, name, from] = *line.split(',').collect::<Vec<_>>().as_slice() {
            let from: Vec<String> = from.split('.').map(str::to_owned).collect();
            for word in of.split('|') {
                let column = Column { name: name.to_owned(), from: from.clone() };
                columns.entry(word.to_owned()).or_default().push(column);
            }
        }
    }
    columns
});

impl Column {
    /// The columns of an export.
    pub(super) fn of(word: &str) -> &'static [Self] {
        COLUMNS.get(word).map_or(&[], Vec::as_slice)
    }

    /// The path of the field of the answer that it shows.
    pub(super) fn field(&self) -> String {
        self.from.join(".")
    }

    /// Takes its value out of the fields; `null` where it is not among them.
    pub(super) fn take(&self, fields: &mut Map<String, Value>) -> Value {
        let Some((last, way)) = self.from.split_last() else { return Value::Null };
        let mut fields = fields;
        for part in way {
            match fields.get_mut(part) {
                Some(Value::Object(below)) => fields = below,
                Some(_) | None => return Value::Null,
            }
        }
        fields.remove(last).unwrap_or(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::Subject;
    use serde_json::json;

    #[test]
    fn every_line_of_the_table_is_read_and_no_export_has_a_column_twice() {
        let lines = include_str!("columns.csv").lines().filter(|line| !line.starts_with('#')).skip(1);
        let named: usize = lines.map(|line| line.split(',').next().unwrap().split('|').count()).sum();
        let mut read = 0;
        for subject in Subject::ALL {
            let mut names: Vec<&str> = subject.columns().iter().map(|column| column.name.as_str()).collect();
            read += names.len();
            names.sort_unstable();
            let before = names.len();
            names.dedup();
            assert_eq!(names.len(), before, "{}", subject.word());
        }
        assert_eq!(read, named, "the table has an export that does not exist, or a line with another form");
    }

    #[test]
    fn a_value_is_taken_from_where_it_is_and_the_rest_stays() {
        let mut fields = json!({"id": 1, "address": {"city": "Perth", "block": 7}, "name": null});
        let fields = fields.as_object_mut().unwrap();
        let columns = Column::of("sites");
        let mut take = |name: &str| columns.iter().find(|column| column.name == name).unwrap().take(fields);
        assert_eq!(take("id"), json!(1));
        assert_eq!(take("city"), json!("Perth"));
        assert_eq!(take("suburb"), Value::Null);
        assert_eq!(take("phone"), Value::Null);
        assert_eq!(Value::Object(fields.clone()), json!({"address": {"block": 7}, "name": null}));
    }
}
