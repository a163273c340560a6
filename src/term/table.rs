//! Small tables of words and numbers, columns aligned by their width on the screen, numbers to the right.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table as Grid};

use super::clean::clean;
use super::{Ink, Line};

/// A table in the making.
pub struct Table {
    grid: Grid,
    numbers: Vec<usize>,
}

impl Table {
    /// A table with these column heads; the columns in `numbers` (from 0) are aligned to the right.
    pub fn new(heads: &[&str], numbers: &[usize]) -> Self {
        let mut grid = Grid::new();
        grid.load_style(NOTHING).set_header(heads.iter().copied());
        Self { grid, numbers: numbers.to_vec() }
    }

    /// Adds a row.
    pub fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.grid.add_row(cells.into_iter().map(|cell| clean(cell.as_ref())));
    }

    /// Whether its lines fit into so many columns.
    pub fn fits(&self, columns: usize) -> bool {
        self.grid.lines().all(|line| line.trim_end().chars().count() <= columns)
    }

    /// The lines of the table, the heads first.
    pub fn lines(mut self) -> Vec<Line> {
        for number in &self.numbers {
            if let Some(column) = self.grid.column_mut(*number) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        self.grid
            .lines()
            .enumerate()
            .map(|(place, line)| {
                let ink = if place == 0 { Ink::Strong } else { Ink::Plain };
                Line::new().ink(ink, line.trim_end()).whole()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_their_width_on_the_screen() {
        let mut table = Table::new(&["kind", "rows"], &[1]);
        table.row(["devices", "1,000"]);
        table.row(["東京", "7"]);
        table.row(["\u{1b}[2J", "7"]);
        let lines: Vec<_> = table.lines().iter().map(|line| line.render(false, None)).collect();
        assert_eq!(
            lines,
            [" kind        rows", " devices    1,000", " 東京           7", " \\u{1b}[2J      7"]
        );
    }
}
