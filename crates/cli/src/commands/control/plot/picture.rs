//! How a picture of a run is laid out: which line, dot and word goes where. What they are made of is the surface's
//! business, so an SVG and a PNG show the same.

use super::charts::{Figure, NodeCharts, decimal};

pub(super) const WIDTH: i32 = 760;
const MARGIN: i32 = 24;
/// Room for names and numbers on the left.
const AXIS: i32 = 130;
const STRIP: i32 = 20;
const CHART: i32 = 120;
const LINE: i32 = 22;
/// With more iterations, not every one of them has its number written under it.
const MOST_LABELS: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Text,
    Faint,
    Curve,
    Good,
    Bad,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    pub(super) x: i32,
    pub(super) y: i32,
}

pub(super) trait Surface {
    fn line(&mut self, from: At, to: At, ink: Ink);
    fn dot(&mut self, at: At, ink: Ink);
    /// The place is the foot of the text.
    fn text(&mut self, at: At, anchor: Anchor, words: &str, ink: Ink);
}

pub(super) fn height(nodes: &[NodeCharts]) -> i32 {
    let node = |node: &NodeCharts| {
        let rows = i32::try_from(node.strips.len()).unwrap_or(0);
        let charts = i32::try_from(node.figures.len()).unwrap_or(0);
        LINE * 3 + rows * STRIP + charts * (CHART + LINE * 3)
    };
    MARGIN * 2 + LINE + nodes.iter().map(node).sum::<i32>()
}

pub(super) fn draw(title: &str, nodes: &[NodeCharts], surface: &mut dyn Surface) {
    let mut y = MARGIN + LINE / 2;
    surface.text(At { x: MARGIN, y }, Anchor::Start, title, Ink::Text);
    for node in nodes {
        y += LINE + LINE / 2;
        surface.text(At { x: MARGIN, y }, Anchor::Start, &node.path, Ink::Text);
        // Behind the dots.
        let rows = i32::try_from(node.strips.len()).unwrap_or(0);
        best(node, y + STRIP / 2, y + rows * STRIP + STRIP / 2, surface);
        for strip in &node.strips {
            y += STRIP;
            surface.text(At { x: MARGIN + AXIS - 12, y: y + 4 }, Anchor::End, &strip.sensor, Ink::Text);
            for (at, passed) in strip.passed.iter().enumerate() {
                let ink = match passed {
                    Some(true) => Ink::Good,
                    Some(false) => Ink::Bad,
                    None => continue,
                };
                surface.dot(At { x: column(node, at), y }, ink);
            }
        }
        y += LINE;
        labels(node, y, surface);
        for figure in &node.figures {
            y += LINE * 2;
            chart(node, figure, y, surface);
            y += CHART + LINE;
            labels(node, y, surface);
        }
        y += LINE / 2;
    }
}

fn column(node: &NodeCharts, at: usize) -> i32 {
    let room = WIDTH - 2 * MARGIN - AXIS - 20;
    let gaps = i32::try_from(node.labels.len().saturating_sub(1).max(1)).unwrap_or(i32::MAX);
    let at = i32::try_from(at).unwrap_or(0);
    MARGIN + AXIS + if gaps == 1 { at * room / 2 } else { at * room / gaps }
}

fn best(node: &NodeCharts, from: i32, to: i32, surface: &mut dyn Surface) {
    if let Some(best) = node.best {
        let x = column(node, best);
        surface.line(At { x, y: from }, At { x, y: to }, Ink::Faint);
    }
}

fn labels(node: &NodeCharts, y: i32, surface: &mut dyn Surface) {
    let every = node.labels.len().div_ceil(MOST_LABELS).max(1);
    for (at, label) in node.labels.iter().enumerate() {
        let x = column(node, at);
        match node.best == Some(at) {
            true => surface.text(At { x, y }, Anchor::Middle, &format!("{label} best"), Ink::Good),
            false if at % every == 0 => surface.text(At { x, y }, Anchor::Middle, label, Ink::Faint),
            false => {}
        }
    }
}

fn chart(node: &NodeCharts, figure: &Figure, top: i32, surface: &mut dyn Surface) {
    let words = format!("{} ({})", figure.name, figure.about);
    surface.text(At { x: MARGIN + AXIS, y: top - 8 }, Anchor::Start, &words, Ink::Text);
    let (left, right, foot) = (MARGIN + AXIS - 6, WIDTH - MARGIN, top + CHART);
    surface.line(At { x: left, y: top }, At { x: left, y: foot }, Ink::Faint);
    surface.line(At { x: left, y: foot }, At { x: right, y: foot }, Ink::Faint);
    best(node, top, foot, surface);
    let (low, high) = figure.span();
    for (value, y) in [(high, top + 4), (low, foot)] {
        surface.text(At { x: left - 6, y }, Anchor::End, &decimal(value), Ink::Faint);
    }
    let mut before = None;
    for (at, value) in figure.billionths.iter().enumerate() {
        let now = value.map(|value| {
            let up = figure.height(value, usize::try_from(CHART).unwrap_or(0));
            At { x: column(node, at), y: foot - i32::try_from(up).unwrap_or(0) }
        });
        if let (Some(from), Some(to)) = (before, now) {
            surface.line(from, to, Ink::Curve);
        }
        before = now;
    }
    for (at, value) in figure.billionths.iter().enumerate() {
        if let Some(value) = value {
            let up = figure.height(*value, usize::try_from(CHART).unwrap_or(0));
            let ink = if node.best == Some(at) { Ink::Good } else { Ink::Curve };
            surface.dot(At { x: column(node, at), y: foot - i32::try_from(up).unwrap_or(0) }, ink);
        }
    }
}
