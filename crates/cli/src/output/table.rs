//! Aligned columns. On a terminal the last column is cut to the width there is; in a pipe nothing is cut.

use super::look::{Look, Paint};
use super::text_width::{fit, width};

pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    look: Look,
}

impl Table {
    pub(crate) fn new(look: Look, headings: &[&str]) -> Self {
        let headings = headings.iter().map(|heading| look.paint(Paint::Faint, heading)).collect();
        Self { rows: vec![headings], look }
    }

    /// Cells may be coloured, except the last one, which may be cut.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest =
            |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max();
        let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
        self.rows.iter().map(|row| self.line(row, &widths)).collect()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        let Some((last, cells)) = row.split_last() else { return line };
        for (cell, column) in cells.iter().zip(widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(column.saturating_sub(width(cell)) + 2));
        }
        match self.look.width {
            Some(columns) if width(last) + width(&line) > columns => {
                line.push_str(&fit(last, columns.saturating_sub(width(&line)), self.look.ellipsis()));
            }
            _ => line.push_str(last),
        }
        line.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(look: Look) -> Vec<String> {
        let mut table = Table::new(look, &["RUN", "NOW"]);
        table.row(vec!["a".into(), "a long sentence".into()]);
        table.row(vec!["longer".into(), "b".into()]);
        table.lines()
    }

    #[test]
    fn columns_line_up_and_nothing_is_cut_in_a_pipe() {
        assert_eq!(rows(Look::PLAIN), ["RUN     NOW", "a       a long sentence", "longer  b"]);
    }

    #[test]
    fn the_last_column_is_cut_to_a_narrow_terminal() {
        let narrow = Look { width: Some(15), ..Look::PLAIN };
        assert_eq!(rows(narrow), ["RUN     NOW", "a       a lo...", "longer  b"]);
    }
}
