//! What there is to draw: for each node a row of passes and failures by sensor, and a line for each figure. It knows
//! nothing of terminals and pictures.

use crate::output::printable;
use windlass_control_api::control_loop::{Measurements, Series, SeriesPoint};

/// In billionths.
const ONE: i128 = 1_000_000_000;

/// Everything measured in one node. All rows and lines share its iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeCharts {
    pub(super) path: String,
    pub(super) labels: Vec<String>,
    pub(super) best: Option<usize>,
    pub(super) strips: Vec<Strip>,
    pub(super) figures: Vec<Figure>,
}

/// One sensor; `None` where it was not measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Strip {
    pub(super) sensor: String,
    pub(super) passed: Vec<Option<bool>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Figure {
    /// Sensor and metric, such as `test tests-failed`.
    pub(super) name: String,
    /// Unit and direction, in words.
    pub(super) about: String,
    pub(super) billionths: Vec<Option<i128>>,
}

pub(super) fn of(measured: &Measurements) -> Vec<NodeCharts> {
    let mut nodes: Vec<NodeCharts> = Vec::new();
    for series in &measured.series {
        if !nodes.iter().any(|node| node.path == series.node) {
            let labels = labels(measured, &series.node);
            let is_outermost = !series.node.contains('/');
            let best = measured.best.as_ref().filter(|_| is_outermost);
            nodes.push(NodeCharts {
                path: series.node.clone(),
                best: best.and_then(|best| labels.iter().position(|label| label == best)),
                labels,
                strips: Vec::new(),
                figures: Vec::new(),
            });
        }
        let Some(node) = nodes.iter_mut().find(|node| node.path == series.node) else { continue };
        let at = |label: &String| series.points.iter().rev().find(|point| point.iteration == *label);
        match &series.metric {
            None => node.strips.push(Strip {
                sensor: printable(&series.sensor),
                passed: node.labels.iter().map(|label| at(label).map(|point| point.passed)).collect(),
            }),
            Some(metric) => node.figures.push(Figure {
                name: format!("{} {}", printable(&series.sensor), printable(metric)),
                about: about(series),
                billionths: node.labels.iter().map(|label| billionths(at(label)?)).collect(),
            }),
        }
    }
    nodes
}

fn labels(measured: &Measurements, node: &str) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    let points =
        measured.series.iter().filter(|series| series.node == node).flat_map(|series| &series.points);
    for point in points {
        if !labels.contains(&point.iteration) {
            labels.push(point.iteration.clone());
        }
    }
    labels
}

fn about(series: &Series) -> String {
    let direction = if series.higher_is_better { "more is better" } else { "less is better" };
    match printable(&series.unit).as_str() {
        "" => direction.to_owned(),
        unit => format!("{unit}, {direction}"),
    }
}

impl Strip {
    pub(super) fn word(&self, at: usize) -> &'static str {
        match self.passed.get(at).copied().flatten() {
            Some(true) => "pass",
            Some(false) => "fail",
            None => "-",
        }
    }
}

impl Figure {
    pub(super) fn value(&self, at: usize) -> String {
        self.billionths.get(at).copied().flatten().map_or_else(|| "-".to_owned(), decimal)
    }

    /// The smallest and the largest value, never the same: a level line stands in the middle.
    pub(super) fn span(&self) -> (i128, i128) {
        let values = || self.billionths.iter().flatten().copied();
        let (low, high) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
        if low == high { (low - ONE, high + ONE) } else { (low, high) }
    }

    /// How far up a value lies, of so many steps.
    pub(super) fn height(&self, value: i128, steps: usize) -> usize {
        let (low, high) = self.span();
        let (part, whole) = (value - low, high - low);
        let steps = i128::try_from(steps).unwrap_or(i128::MAX);
        usize::try_from((part * steps + whole / 2) / whole).unwrap_or(0)
    }
}

fn billionths(point: &SeriesPoint) -> Option<i128> {
    Some(i128::from(point.thousandths?) * 1_000_000 + i128::from(point.finer.unwrap_or(0)))
}

/// As people write it: one and a half billion billionths are `1.5`.
pub(super) fn decimal(billionths: i128) -> String {
    let sign = if billionths < 0 { "-" } else { "" };
    let one = ONE.unsigned_abs();
    let (whole, rest) = (billionths.unsigned_abs() / one, billionths.unsigned_abs() % one);
    let text = format!("{sign}{whole}.{rest:09}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn series(sensor: &str, metric: Option<&str>, points: &[(&str, Option<i64>)]) -> Series {
        Series {
            node: "main".into(),
            sensor: sensor.into(),
            metric: metric.map(str::to_owned),
            unit: String::new(),
            higher_is_better: metric.is_none(),
            points: points
                .iter()
                .map(|(label, value)| SeriesPoint {
                    iteration: (*label).to_owned(),
                    thousandths: *value,
                    finer: None,
                    passed: *value == Some(1000),
                })
                .collect(),
        }
    }

    /// A sensor that fails, fails and passes, and a figure that is first printed in iteration 1.
    pub(crate) fn example() -> Vec<NodeCharts> {
        let passes = [("0", Some(0)), ("1", Some(0)), ("2", Some(1000))];
        of(&Measurements {
            run: "r1".into(),
            task: "t".into(),
            series: vec![
                series("test", None, &passes),
                series("test", Some("errors"), &[("1", Some(4000)), ("2", Some(500))]),
            ],
            best: Some("2".into()),
        })
    }

    #[test]
    fn a_figure_that_came_late_stands_at_its_own_iterations() {
        let nodes = example();
        assert_eq!(nodes.len(), 1);
        assert_eq!(nodes[0].labels, ["0", "1", "2"]);
        assert_eq!(nodes[0].best, Some(2));
        assert_eq!(nodes[0].strips[0].passed, [Some(false), Some(false), Some(true)]);
        assert_eq!(nodes[0].figures[0].billionths, [None, Some(4 * ONE), Some(ONE / 2)]);
        assert_eq!(nodes[0].figures[0].about, "less is better");
    }

    #[test]
    fn values_lie_between_the_ends_of_their_span() {
        let figure = example().remove(0).figures.remove(0);
        let heights = [4 * ONE, ONE / 2, 2_250_000_000].map(|value| figure.height(value, 10));
        assert_eq!(heights, [10, 0, 5]);
        let level = Figure { billionths: vec![Some(7), Some(7)], ..figure };
        assert_eq!(level.height(7, 10), 5);
        let (least, most) = (i128::from(i64::MIN) * 1_000_000, i128::from(i64::MAX) * 1_000_000);
        let wide = Figure { billionths: vec![Some(least), Some(most)], ..level };
        assert_eq!((wide.height(least, 8), wide.height(most, 8)), (0, 8));
    }

    #[test]
    fn what_is_below_a_thousandth_makes_a_difference() {
        let mut fine = series("speed", Some("mean"), &[("0", Some(0)), ("1", Some(0))]);
        fine.points[0].finer = Some(900_000);
        fine.points[1].finer = Some(800_000);
        let measured = Measurements { run: "r1".into(), task: "t".into(), series: vec![fine], best: None };
        let figure = of(&measured).remove(0).figures.remove(0);
        assert_eq!([figure.value(0), figure.value(1)], ["0.0009", "0.0008"]);
        assert_eq!([figure.height(900_000, 9), figure.height(800_000, 9)], [9, 0]);
    }

    #[test]
    fn numbers_are_written_as_people_write_them() {
        let written: Vec<String> = [0, 1_500_000_000, -20, 12 * ONE, 900_000].map(decimal).into();
        assert_eq!(written, ["0", "1.5", "-0.00000002", "12", "0.0009"]);
    }
}
