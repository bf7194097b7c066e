//! Charts made of letters: lines in Braille dots where the terminal can show them, in asterisks where it cannot. No line
//! is wider than the terminal.

use super::charts::{Figure, NodeCharts, Strip, decimal};
use crate::output::{Look, Paint, Symbols, fit, printable};

/// Where nobody tells how wide it may be.
const USUAL_WIDTH: usize = 80;
/// Letters from top to bottom of a chart.
const ROWS: usize = 6;
/// Dots between two iterations at the most, so that three points do not fill a wide screen.
const WIDEST_STEP: usize = 12;

pub(super) fn lines(nodes: &[NodeCharts], look: Look) -> Vec<String> {
    let width = look.width.unwrap_or(USUAL_WIDTH);
    let mut lines = Vec::new();
    for node in nodes {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(look.paint(Paint::Heading, &fit(&printable(&node.path), width, look.ellipsis())));
        lines.extend(strips(node, look, width));
        for figure in &node.figures {
            lines.push(String::new());
            let name =
                fit(&format!("{} ({})", figure.name, figure.about), width.saturating_sub(2), look.ellipsis());
            lines.push(format!("  {}", look.paint(Paint::Name, &name)));
            lines.extend(chart(node, figure, look, width));
        }
    }
    lines
}

/// A column for each iteration, a row for each sensor. Where they do not all fit, the last ones are shown.
fn strips(node: &NodeCharts, look: Look, width: usize) -> Vec<String> {
    let name = node.strips.iter().map(|strip| strip.sensor.chars().count()).chain([9]).max().unwrap_or(9);
    let name = name.min(width / 2);
    let cell = node.labels.iter().map(|label| label.chars().count()).max().unwrap_or(1) + 1;
    let room = width.saturating_sub(name + 2) / cell;
    let first = node.labels.len().saturating_sub(room);
    let pad = |text: &str, columns: usize| {
        let text = fit(text, columns, look.ellipsis());
        format!("{}{text}", " ".repeat(columns.saturating_sub(text.chars().count())))
    };
    let title = |text: &str| format!("  {text}{}", " ".repeat(name.saturating_sub(text.chars().count())));
    let labels: String = node.labels[first..].iter().map(|label| pad(label, cell)).collect();
    let mut lines = vec![look.paint(Paint::Faint, &format!("{}{labels}", title("iteration")))];
    for strip in &node.strips {
        let gap = " ".repeat(cell - 1);
        let cells: Vec<String> = (first..node.labels.len()).map(|at| mark(strip, at, look)).collect();
        let title = title(&fit(&strip.sensor, name, look.ellipsis()));
        lines.push(format!("{title}{gap}{}", cells.join(&gap)));
    }
    if let Some(best) = node.best.filter(|best| *best >= first) {
        let column = name + 2 + (best - first + 1) * cell - 1;
        lines.push(look.paint(Paint::Good, &best_mark(column, width, look)));
    }
    lines
}

fn mark(strip: &Strip, at: usize, look: Look) -> String {
    match strip.passed.get(at).copied().flatten() {
        Some(true) => look.paint(Paint::Good, look.tick()),
        Some(false) => look.paint(Paint::Bad, look.cross()),
        None => look.paint(Paint::Faint, "-"),
    }
}

/// An arrow under a column, with its word on the side where there is room.
fn best_mark(column: usize, width: usize, look: Look) -> String {
    let arrow = if look.symbols == Symbols::Unicode { "▲" } else { "^" };
    if column + 6 <= width {
        format!("{}{arrow} best", " ".repeat(column))
    } else {
        format!("{}best {arrow}", " ".repeat(column.saturating_sub(5)))
    }
}

fn chart(node: &NodeCharts, figure: &Figure, look: Look, width: usize) -> Vec<String> {
    let (low, high) = figure.span();
    let (low, high) = (decimal(low), decimal(high));
    let axis = low.chars().count().max(high.chars().count());
    let columns = width.saturating_sub(axis + 5).max(2);
    let mut canvas = Canvas::new(columns, look.symbols);
    let step = canvas.step(node.labels.len());
    // With more iterations than dots, the last ones are shown.
    let first = node.labels.len().saturating_sub((canvas.width - 1) / step + 1);
    let points = figure.billionths.iter().enumerate().skip(first);
    let mut before: Option<(usize, usize)> = None;
    for (at, value) in points {
        let now = value.map(|value| ((at - first) * step, figure.height(value, canvas.height - 1)));
        if let Some(now) = now {
            canvas.line(before.unwrap_or(now), now);
        }
        before = now;
    }
    let (tick, corner, bar) = match look.symbols {
        Symbols::Unicode => ("┤", "└", "─"),
        Symbols::Ascii => ("|", "+", "-"),
    };
    let faint = |text: &str| look.paint(Paint::Faint, text);
    let used = ((node.labels.len() - first).saturating_sub(1) * step / canvas.cell.0 + 1).min(columns);
    let mut lines: Vec<String> = (0..ROWS)
        .map(|row| {
            let label = if row == 0 {
                high.as_str()
            } else if row == ROWS - 1 {
                low.as_str()
            } else {
                ""
            };
            format!("  {} {}", faint(&format!("{label:>axis$} {tick}")), canvas.row(row, used))
                .trim_end()
                .to_owned()
        })
        .collect();
    lines.push(format!("  {}", faint(&format!("{:axis$} {corner}{}", "", bar.repeat(used + 1)))));
    let column = |at: usize| (at - first) * step / canvas.cell.0;
    let labels = labels(node, first, used, column);
    lines.push(format!("  {}", faint(&format!("{:axis$}   {labels}", ""))).trim_end().to_owned());
    if let Some(best) = node.best.filter(|best| *best >= first) {
        let mark = best_mark(axis + 5 + column(best), width, look);
        lines.push(look.paint(Paint::Good, &mark));
    }
    lines
}

/// The iterations under their columns, as many as fit; the best one and the last one first.
fn labels(node: &NodeCharts, first: usize, columns: usize, column: impl Fn(usize) -> usize) -> String {
    let last = node.labels.len() - 1;
    let wanted = [Some(first), Some(last), node.best].into_iter().flatten().chain(first..=last);
    let room = columns.max(node.labels[last].chars().count());
    let mut line: Vec<char> = vec![' '; room];
    for at in wanted.filter(|at| (first..=last).contains(at)) {
        let label: Vec<char> = node.labels[at].chars().collect();
        // The last ones end where the chart ends.
        let from = column(at).min(room.saturating_sub(label.len()));
        let around = from.saturating_sub(1)..(from + label.len() + 1).min(room);
        if from + label.len() <= room && line[around].iter().all(|letter| *letter == ' ') {
            line[from..from + label.len()].copy_from_slice(&label);
        }
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

/// Dots on a grid; several of them make one letter.
struct Canvas {
    /// Dots in one letter, across and down.
    cell: (usize, usize),
    width: usize,
    height: usize,
    dots: Vec<bool>,
}

impl Canvas {
    fn new(columns: usize, symbols: Symbols) -> Self {
        let cell = match symbols {
            Symbols::Unicode => (2, 4),
            Symbols::Ascii => (1, 1),
        };
        let (width, height) = (columns * cell.0, ROWS * cell.1);
        Self { cell, width, height, dots: vec![false; width * height] }
    }

    fn step(&self, points: usize) -> usize {
        let gaps = points.saturating_sub(1).max(1);
        ((self.width - 1) / gaps).clamp(1, WIDEST_STEP * self.cell.0 / 2)
    }

    /// From one point to another, both counted from the lower left.
    fn line(&mut self, from: (usize, usize), to: (usize, usize)) {
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
        let between = |a: usize, b: usize, part: usize| {
            let moved = (a.abs_diff(b) * part + steps / 2) / steps;
            if b >= a { a + moved } else { a - moved }
        };
        for part in 0..=steps {
            let (x, y) = (between(from.0, to.0, part), between(from.1, to.1, part));
            if x < self.width && y < self.height {
                self.dots[(self.height - 1 - y) * self.width + x] = true;
            }
        }
    }

    fn row(&self, row: usize, columns: usize) -> String {
        let letter = |column: usize| match self.cell {
            (1, 1) => {
                if self.dots[row * self.width + column] {
                    '*'
                } else {
                    ' '
                }
            }
            _ => self.braille(column, row),
        };
        (0..columns).map(letter).collect()
    }

    /// The dots of a Braille letter are numbered 1 to 3 and 7 down its left side, 4 to 6 and 8 down its right one.
    fn braille(&self, column: usize, row: usize) -> char {
        const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let mut bits = 0;
        for (down, pair) in BITS.iter().enumerate() {
            for (across, bit) in pair.iter().enumerate() {
                if self.dots[(row * 4 + down) * self.width + column * 2 + across] {
                    bits |= bit;
                }
            }
        }
        if bits == 0 { ' ' } else { char::from_u32(0x2800 + bits).unwrap_or('?') }
    }
}

#[cfg(test)]
mod tests {
    use super::super::charts::tests::example;
    use super::*;

    #[test]
    fn a_terminal_without_unicode_gets_a_chart_of_asterisks() {
        let shown = lines(&example(), Look { width: Some(40), ..Look::PLAIN }).join("\n");
        let expected = "\
main
  iteration 0 1 2
  test      x x +
                ^ best

  test errors (less is better)
    4 |       *
      |        *
      |         *
      |          **
      |            *
  0.5 |             *
      +--------------
        0     1     2
                    ^ best";
        assert_eq!(shown, expected, "\n{shown}");
    }

    #[test]
    fn braille_lines_reach_from_the_first_point_to_the_last() {
        let look = Look { width: Some(40), symbols: Symbols::Unicode, ..Look::PLAIN };
        let shown = lines(&example(), look);
        let drawn: Vec<&String> = shown.iter().filter(|line| line.contains('┤')).collect();
        assert_eq!(drawn.len(), ROWS);
        let dots: u32 = drawn
            .iter()
            .flat_map(|line| line.chars())
            .filter(|letter| ('\u{2800}'..='\u{28ff}').contains(letter))
            .map(|letter| (u32::from(letter) - 0x2800).count_ones())
            .sum();
        assert!(dots >= 24, "a falling line has a dot in each of its 24 rows: {shown:#?}");
        assert!(drawn[0].contains('4') && drawn[ROWS - 1].contains("0.5"), "{shown:#?}");
    }

    #[test]
    fn a_thousand_iterations_fit_on_a_narrow_screen() {
        let mut node = example().remove(0);
        node.labels = (0..1000).map(|number| number.to_string()).collect();
        node.best = Some(999);
        node.strips[0].passed = vec![Some(false); 1000];
        node.figures[0].billionths = (0..1000).map(|number| Some(number * 1_000_000_000)).collect();
        for symbols in [Symbols::Ascii, Symbols::Unicode] {
            for width in [20, 33, 80] {
                let look = Look { width: Some(width), symbols, ..Look::PLAIN };
                for line in lines(std::slice::from_ref(&node), look) {
                    assert!(line.chars().count() <= width, "{width}: {line:?}");
                }
            }
            for width in 0..20 {
                let look = Look { width: Some(width), symbols, ..Look::PLAIN };
                assert!(!lines(std::slice::from_ref(&node), look).is_empty());
            }
        }
    }
}
