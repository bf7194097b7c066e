//! Results for people and for programs.

use anyhow::Result;
use serde_json::json;

use super::Row;
use super::measurement::{Measurement, Quantity};
use crate::console;

pub(super) fn as_table(results: &[(&Row, Measurement)]) -> String {
    let heading = ["row", "measured", "floor", "ratio", "goal", "verdict"].map(str::to_owned).to_vec();
    let line = |(row, measurement): &(&Row, Measurement)| {
        vec![
            row.name.to_owned(),
            measurement.measured.text(),
            measurement.floor.map(Quantity::text).unwrap_or_default(),
            measurement.ratio().map(|ratio| format!("{ratio:.2}×")).unwrap_or_default(),
            row.goal.text(),
            measurement.verdict(row.goal).text().to_owned(),
        ]
    };
    console::table(&std::iter::once(heading).chain(results.iter().map(line)).collect::<Vec<_>>())
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
        let json: Value = serde_json::from_str(&as_json(&results).unwrap()).unwrap();
        assert_eq!(json[0]["ratio"], 3.0);
        assert_eq!(json[0]["measured"]["nanoseconds"], 30_000_000);
        assert_eq!(json[0]["verdict"], "MISSED");
    }
}
