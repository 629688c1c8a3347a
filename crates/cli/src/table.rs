//! Columns of text, as wide as they need to be.

/// Which side of its column a cell keeps to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table with a heading for each column. Columns without any content are left out.
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: impl Into<Vec<(&'static str, Align)>>) -> Table {
        Table { columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row; it has one cell per column.
    pub(crate) fn row(&mut self, cells: impl Into<Vec<String>>) {
        let cells = cells.into();
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// The table with each line indented, and nothing at all when it has no rows.
    pub(crate) fn render(&self, indent: &str) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        let headings = self.columns.iter().map(|(heading, _)| (*heading).to_owned()).collect();
        let mut text = String::new();
        for cells in std::iter::once(&headings).chain(&self.rows) {
            text += indent;
            text += self.line(cells, &widths).trim_end();
            text.push('\n');
        }
        text
    }

    /// The width of a column, 0 when all its cells are empty.
    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let content = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
        if content == 0 { 0 } else { content.max(self.columns[column].0.chars().count()) }
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, &width), (_, align)) in cells.iter().zip(widths).zip(&self.columns) {
            if width > 0 {
                line += &match align {
                    Align::Left => format!("{cell:<width$}  "),
                    Align::Right => format!("{cell:>width$}  "),
                };
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells<const N: usize>(cells: [&str; N]) -> Vec<String> {
        cells.map(str::to_owned).to_vec()
    }

    #[test]
    fn columns_are_aligned_and_lines_end_without_blanks() {
        let mut table = Table::new([("name", Align::Left), ("size", Align::Right), ("if", Align::Left)]);
        table.row(cells(["x", "4", ""]));
        table.row(cells(["weights", "1024", "USE_BIAS"]));
        assert_eq!(table.render("  "), "  name     size  if\n  x           4\n  weights  1024  USE_BIAS\n");
    }

    #[test]
    fn a_column_without_content_is_left_out() {
        let mut table = Table::new([("name", Align::Left), ("if", Align::Left), ("type", Align::Left)]);
        table.row(cells(["x", "", "float*"]));
        assert_eq!(table.render(""), "name  type\nx     float*\n");
    }

    #[test]
    fn width_is_counted_in_characters() {
        let mut table = Table::new([("n", Align::Left), ("type", Align::Left)]);
        table.row(cells(["Σ", "float"]));
        assert_eq!(table.render(""), "n  type\nΣ  float\n");
    }

    #[test]
    fn no_rows_no_table() {
        assert_eq!(Table::new([("name", Align::Left)]).render("  "), "");
    }
}
