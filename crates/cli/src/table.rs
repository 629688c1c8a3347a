//! Tables of aligned text.

/// Alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table with column headings. Empty columns are left out.
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: impl Into<Vec<(&'static str, Align)>>) -> Table {
        Table { columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row with one cell per column.
    pub(crate) fn row(&mut self, cells: impl Into<Vec<String>>) {
        let cells = cells.into();
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// Renders the table, indented; empty without rows.
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

    /// Width of a column; 0 if all its cells are empty.
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
    fn aligns_columns_without_trailing_blanks() {
        let mut table = Table::new([("name", Align::Left), ("size", Align::Right), ("if", Align::Left)]);
        table.row(cells(["x", "4", ""]));
        table.row(cells(["weights", "1024", "USE_BIAS"]));
        assert_eq!(table.render("  "), "  name     size  if\n  x           4\n  weights  1024  USE_BIAS\n");
    }

    #[test]
    fn omits_empty_columns() {
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
    fn renders_nothing_without_rows() {
        assert_eq!(Table::new([("name", Align::Left)]).render("  "), "");
    }
}
