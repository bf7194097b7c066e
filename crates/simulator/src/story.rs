//! The script of one simulation, told only when somebody will read it: text is the slowest thing here.

use windlass_engine::Stored;

const LONGEST_LINE: usize = 240;

pub(crate) struct Story {
    lines: Option<Vec<String>>,
    rows_told: usize,
}

impl Story {
    pub(crate) fn told() -> Self {
        Self { lines: Some(Vec::new()), rows_told: 0 }
    }

    pub(crate) fn untold() -> Self {
        Self { lines: None, rows_told: 0 }
    }

    pub(crate) fn tell(&mut self, line: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.lines {
            lines.push(line());
        }
    }

    /// What was stored since the last time.
    pub(crate) fn rows(&mut self, rows: &[Stored]) {
        for row in rows.iter().skip(self.rows_told) {
            self.tell(|| format!("  {:>4} {}", row.version, short(&row.payload)));
        }
        self.rows_told = rows.len();
    }

    pub(crate) fn lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}

pub(crate) fn short(text: &str) -> String {
    if text.chars().count() <= LONGEST_LINE {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(LONGEST_LINE).collect();
    cut.push('…');
    cut
}
