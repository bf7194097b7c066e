//! The one place where xtask writes to the terminal.

/// Data and progress.
#[expect(clippy::print_stdout, reason = "xtask is a command line tool and this is its voice")]
pub fn say(line: &str) {
    println!("{line}");
}

/// What went wrong.
#[expect(clippy::print_stderr, reason = "xtask is a command line tool and this is its voice")]
pub fn complain(line: &str) {
    eprintln!("{line}");
}

/// Columns padded to their widest cell; the first row is the heading.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_line_up_and_lines_have_no_blanks_at_their_end() {
        let rows = [["stage", "took"], ["tidy", "0.1 s"], ["simulation", ""]];
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(ToString::to_string).collect()).collect();
        assert_eq!(table(&rows), "stage       took\ntidy        0.1 s\nsimulation");
    }
}
