//! `docs/loop-budget.md`: the caps people set and the counters the engine shows. Only the cells of the column Used and
//! the start in the title are ever rewritten; the counters are copies, never read back as truth.

use std::fmt::Write;
use std::ops::Range;

use crate::decimal;
use crate::faults::Faults;
use crate::fields::choice;
use crate::markdown::headings;
use crate::one_line::one_line;
use crate::recognised::Recognised;
use crate::text_lines::{line_of, without_mark};

pub const BUDGET_FILE: &str = "docs/loop-budget.md";

const TITLE: &str = "Loop Budget";
const STARTED: &str = "run started";

choice! {
    /// A row of the table, by its label.
    Control {
        Iterations = "Iterations",
        Commits = "Commits",
        ReworkPerItem = "Rework per feature",
        WallClockMinutes = "Wall-clock (min)",
        Tokens = "Tokens",
        Cost = "Cost",
    }
}

/// What a run may use. Tokens and money are capped only where somebody asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    pub iterations: u32,
    pub commits: u32,
    pub rework_per_item: u32,
    pub wall_clock_minutes: u32,
    pub tokens: Option<u64>,
    /// Millionths of the currency unit.
    pub cost_micros: Option<i64>,
}

impl Default for Caps {
    fn default() -> Self {
        let (tokens, cost_micros) = (None, None);
        Self { iterations: 10, commits: 15, rework_per_item: 2, wall_clock_minutes: 60, tokens, cost_micros }
    }
}

/// What a run has used, from the engine's own record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    pub iterations: u32,
    pub commits: u32,
    pub wall_clock_minutes: u32,
    pub tokens: u64,
    pub cost_micros: i64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    source: String,
    pub caps: Caps,
    /// The start in the title, as it stands there.
    pub started: Option<String>,
    /// Rows that are not ours and caps that were assumed.
    pub notices: Vec<String>,
    rows: Vec<Row>,
    title_end: usize,
    started_span: Option<Range<usize>>,
}

#[derive(Debug, Clone, PartialEq)]
struct Row {
    control: Control,
    used: Range<usize>,
}

impl Budget {
    pub fn recognise(text: &str) -> Recognised<Self> {
        let visible = without_mark(text);
        let all = headings(&visible);
        let title = all.iter().find(|heading| heading.level == 1 && heading.opens_with(TITLE));
        let Some(title) = title else {
            return Recognised::Foreign(format!("it is not titled `# {TITLE}`"));
        };
        let title_line = text[title.line_start..title.content_start].trim_end();
        let title_end = title.line_start + title_line.len();
        let started_span = title_line.find(STARTED).and_then(|at| {
            let rest = &title_line[at + STARTED.len()..];
            let time = rest.trim();
            let start = title.line_start + at + STARTED.len() + (rest.len() - rest.trim_start().len());
            (!time.is_empty()).then(|| start..start + time.len())
        });
        let mut reader = TableReader::default();
        if !reader.read(text) {
            return Recognised::Foreign("it has no table with the columns Control, Cap and Used".to_owned());
        }
        let TableReader { rows, faults, mut notices, caps } = reader;
        for control in
            [Control::Iterations, Control::Commits, Control::ReworkPerItem, Control::WallClockMinutes]
        {
            if !rows.iter().any(|row| row.control == control) {
                notices.push(format!("there is no row `{control}`, so its default cap holds"));
            }
        }
        // The template's `[ISO timestamp]` is a place to be filled in, not a start.
        let started = started_span.clone().map(|span| text[span].to_owned());
        let started = started.filter(|time| time.starts_with(|letter: char| letter.is_ascii_digit()));
        let budget = Self { source: text.to_owned(), caps, started, notices, rows, title_end, started_span };
        match Faults::unless_empty(BUDGET_FILE, faults, || Some(budget)) {
            Ok(budget) => Recognised::Ours(budget),
            Err(faults) => Recognised::Invalid(faults),
        }
    }

    pub fn parse(text: &str) -> Result<Self, Faults> {
        Self::recognise(text).or_faults(BUDGET_FILE)
    }

    /// The file's text, byte for byte.
    pub fn text(&self) -> &str {
        &self.source
    }

    /// A fresh file for a run that starts now.
    pub fn template(caps: &Caps, started: &str) -> String {
        let mut text = format!("# {TITLE} — {STARTED} {}\n\n", one_line(started, 60));
        text.push_str("| Control | Cap | Used |\n|---------|-----|------|\n");
        let mut row = |control: Control, cap: String, used: &str| {
            let _ = writeln!(text, "| {control} | {cap} | {used} |");
        };
        row(Control::Iterations, caps.iterations.to_string(), "0");
        row(Control::Commits, caps.commits.to_string(), "0");
        row(Control::ReworkPerItem, caps.rework_per_item.to_string(), "—");
        row(Control::WallClockMinutes, caps.wall_clock_minutes.to_string(), "0");
        if let Some(tokens) = caps.tokens {
            row(Control::Tokens, tokens.to_string(), "0");
        }
        if let Some(cost) = caps.cost_micros {
            row(Control::Cost, decimal::spelled_signed(cost, 6), "0");
        }
        text.push_str("\n## Hard-kill rule\nA counter that reaches its cap ends the run at once. There is no further try.\n");
        text
    }

    /// The same file with these counters. Rework is counted per item, so its cell is left alone.
    pub fn with_used(&self, used: &Used) -> Result<Self, Faults> {
        let mut text = self.source.clone();
        for row in self.rows.iter().rev() {
            let value = match row.control {
                Control::Iterations => used.iterations.to_string(),
                Control::Commits => used.commits.to_string(),
                Control::ReworkPerItem => continue,
                Control::WallClockMinutes => used.wall_clock_minutes.to_string(),
                Control::Tokens => used.tokens.to_string(),
                Control::Cost => decimal::spelled_signed(used.cost_micros, 6),
            };
            let value =
                if self.source[row.used.clone()].trim().is_empty() { format!(" {value} ") } else { value };
            text.replace_range(row.used.clone(), &value);
        }
        Self::parse(&text)
    }

    /// The same file for a run that starts now.
    pub fn with_start(&self, started: &str) -> Result<Self, Faults> {
        let started = one_line(started, 60);
        let mut text = self.source.clone();
        match &self.started_span {
            Some(span) => text.replace_range(span.clone(), &started),
            None => text.insert_str(self.title_end, &format!(" — {STARTED} {started}")),
        }
        Self::parse(&text)
    }
}

#[derive(Default)]
struct TableReader {
    caps: Caps,
    rows: Vec<Row>,
    faults: Vec<String>,
    notices: Vec<String>,
}

impl TableReader {
    /// Reads the first table with our columns; false if there is none.
    fn read(&mut self, text: &str) -> bool {
        let mut at = 0;
        let mut columns = None;
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let cells = cells(line, start);
            match (&columns, cells) {
                (None, Some(cells)) => {
                    let find = |name: &str| {
                        cells.iter().position(|cell| text[cell.clone()].eq_ignore_ascii_case(name))
                    };
                    if let (Some(control), Some(cap), Some(used)) =
                        (find("Control"), find("Cap"), find("Used"))
                    {
                        columns = Some([control, cap, used]);
                    }
                }
                (Some(columns), Some(cells)) => self.row(text, *columns, &cells),
                (Some(_), None) => break,
                (None, None) => {}
            }
        }
        columns.is_some()
    }

    fn row(&mut self, text: &str, columns: [usize; 3], cells: &[Range<usize>]) {
        let cell = |column: usize| cells.get(columns[column]).cloned();
        let Some(label_span) = cell(0) else { return };
        let label = text[label_span.clone()].replace(['*', '`'], "");
        if label.trim_matches(['-', ':', ' ']).is_empty() {
            return;
        }
        let line = line_of(text, label_span.start);
        let Some(control) = control_of(&label) else {
            self.notices
                .push(format!("line {line}: the row `{}` is not ours and is ignored", one_line(&label, 60)));
            return;
        };
        if self.rows.iter().any(|row| row.control == control) {
            self.faults.push(format!("line {line}: the row `{control}` is there twice"));
            return;
        }
        let (Some(cap_span), Some(used)) = (cell(1), cell(2)) else {
            self.faults.push(format!("line {line}: the row `{control}` lacks a cell"));
            return;
        };
        let cap = text[cap_span].trim_matches(['*', '`', ' ']).replace([',', '_'], "");
        if !self.set_cap(control, &cap) {
            let wanted = if control == Control::Cost { "an amount of money" } else { "a whole number" };
            self.faults.push(format!(
                "line {line}: the cap of `{control}` must be {wanted}; found {}",
                crate::fault::excerpt(&cap)
            ));
        }
        self.rows.push(Row { control, used });
    }

    fn set_cap(&mut self, control: Control, cap: &str) -> bool {
        let caps = &mut self.caps;
        let count = cap.parse::<u32>().ok();
        let place = match control {
            Control::Iterations => &mut caps.iterations,
            Control::Commits => &mut caps.commits,
            Control::ReworkPerItem => &mut caps.rework_per_item,
            Control::WallClockMinutes => &mut caps.wall_clock_minutes,
            Control::Tokens => {
                caps.tokens = cap.parse().ok();
                return caps.tokens.is_some();
            }
            Control::Cost => {
                let amount = cap
                    .trim_start_matches(['$', '€', '£'])
                    .trim_end_matches(|letter: char| !letter.is_ascii_digit());
                caps.cost_micros = decimal::parse(amount.trim(), 6).filter(|amount| *amount >= 0);
                return caps.cost_micros.is_some();
            }
        };
        if let Some(count) = count {
            *place = count;
        }
        count.is_some()
    }
}

/// Labels without case, so that a hand-written `iterations` still caps.
fn control_of(label: &str) -> Option<Control> {
    use crate::fields::Choice;
    let label = label.trim();
    let found = Control::ALL.iter().find(|(word, _)| word.eq_ignore_ascii_case(label));
    found.map(|(_, control)| *control)
}

/// The trimmed cells of a table's line; of a blank cell all that stands between its bars.
fn cells(line: &str, start: usize) -> Option<Vec<Range<usize>>> {
    let bare = line.trim();
    if !bare.starts_with('|') {
        return None;
    }
    let mut at = start + (line.len() - line.trim_start().len()) + 1;
    let inner = bare[1..].strip_suffix('|').unwrap_or(&bare[1..]);
    let mut found = Vec::new();
    for cell in inner.split('|') {
        let trimmed = cell.trim();
        let from = at + (cell.len() - cell.trim_start().len());
        found.push(if trimmed.is_empty() { at..at + cell.len() } else { from..from + trimmed.len() });
        at += cell.len() + 1;
    }
    Some(found)
}
