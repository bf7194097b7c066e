//! Results for people and for programs.

use anyhow::Result;
use serde_json::json;

use super::Row;
use super::measurement::{Measurement, Quantity};
use crate::console;

pub(super) fn as_table(results: &[(&Row, Measurement)]) -> String {
    let heading = ["row", "measured", "floor", "ratio", "goal", "verdict"].map(str::to_owned).to_vec();
    let lines = results.iter().map(|(row, measurement)| cells(row, measurement).to_vec());
    console::table(&std::iter::once(heading).chain(lines).collect::<Vec<_>>())
}

/// One row as soon as it is measured.
pub(super) fn in_a_line(row: &Row, measurement: &Measurement) -> String {
    let [_, measured, floor, ratio, goal, verdict] = cells(row, measurement);
    let floor = if floor.is_empty() { floor } else { format!("against {floor}") };
    let words = [measured, floor, ratio, goal, verdict];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join("  ")
}

fn cells(row: &Row, measurement: &Measurement) -> [String; 6] {
    [
        row.name.to_owned(),
        measurement.measured.text(),
        measurement.floor.map(Quantity::text).unwrap_or_default(),
        measurement.ratio().map(|ratio| format!("{ratio:.2}×")).unwrap_or_default(),
        row.goal.text(),
        measurement.verdict(row.goal).text().to_owned(),
    ]
}

pub(super) fn as_json(results: &[(&Row, Measurement)]) -> Result<String> {
    let line = |(row, measurement): &(&Row, Measurement)| {
        json!({
            "row": row.name,
            "what": row.what,
            "measured": measurement.measured.json(),
            "floor": measurement.floor.map(Quantity::json),
            "ratio": measurement.ratio(),
            "goal": row.goal.text(),
            "verdict": measurement.verdict(row.goal).text(),
        })
    };
    Ok(serde_json::to_string_pretty(&results.iter().map(line).collect::<Vec<_>>())?)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::bench::Goal;
    use crate::bench::tests::{row, times};

    #[test]
    fn the_table_and_the_json_say_the_same() {
        let row = row("spawn", Goal::RatioAtMost(1.5), |_| Ok(times(30, 10)));
        let results = [(&row, times(30, 10))];
        let table = as_table(&results);
        assert!(table.ends_with("spawn  30.0 ms   10.0 ms  3.00×  ≤ 1.5×  MISSED"), "{table}");
        assert_eq!(in_a_line(&row, &times(30, 10)), "30.0 ms  against 10.0 ms  3.00×  ≤ 1.5×  MISSED");
        let json: Value = serde_json::from_str(&as_json(&results).unwrap()).unwrap();
        assert_eq!(json[0]["ratio"], 3.0);
        assert_eq!(json[0]["measured"]["nanoseconds"], 30_000_000);
        assert_eq!(json[0]["verdict"], "MISSED");
    }
}
