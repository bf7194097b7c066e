//! Section 2.3: caps as people edit them, counters as the engine shows them.

use windlass_artifact_formats::goal_loop::{Budget, Caps, Recognised, Used};

const EDITED: &str = "# Loop Budget — run started 2026-11-16T09:00:00Z\r\n\r\nOurs.\r\n\r\n\
| Control | Cap | Used |\r\n|:--|--:|---|\r\n| Iterations |  12 | 3   |\r\n| **Commits** | 15 |  |\r\n\
| Rework per feature | 1 | — |\r\n| Wall-clock (min) | 90 |7|\r\n| Coffee | 3 | 1 |\r\n| Tokens | 1,000,000 | 5 |\r\n\
| Cost | $2.50 | 0.10 |\r\n\r\n## Hard-kill rule\r\n| not | a | row |";

#[test]
fn the_template_holds_the_default_caps() {
    let text = Budget::template(&Caps::default(), "2026-11-16T10:00:00Z");
    let budget = Budget::parse(&text).unwrap();
    assert_eq!(budget.caps, Caps::default());
    assert_eq!(
        (
            budget.caps.iterations,
            budget.caps.commits,
            budget.caps.rework_per_item,
            budget.caps.wall_clock_minutes
        ),
        (10, 15, 2, 60)
    );
    assert_eq!(budget.started.as_deref(), Some("2026-11-16T10:00:00Z"));
    assert_eq!(budget.notices, Vec::<String>::new());
    assert!(!text.contains("Tokens") && !text.contains("Cost"));
    let rich = Caps { tokens: Some(5000), cost_micros: Some(1_250_000), ..Caps::default() };
    assert_eq!(Budget::parse(&Budget::template(&rich, "t")).unwrap().caps, rich);
}

#[test]
fn edited_caps_are_read_and_unknown_rows_are_told() {
    let budget = Budget::parse(EDITED).unwrap();
    let caps = Caps {
        iterations: 12,
        commits: 15,
        rework_per_item: 1,
        wall_clock_minutes: 90,
        tokens: Some(1_000_000),
        cost_micros: Some(2_500_000),
    };
    assert_eq!(budget.caps, caps);
    assert_eq!(budget.notices, ["line 11: the row `Coffee` is not ours and is ignored"]);
}

#[test]
fn counters_and_start_change_only_their_own_bytes() {
    let used = Used { iterations: 4, commits: 2, wall_clock_minutes: 31, tokens: 77, cost_micros: 1_500_000 };
    let budget = Budget::parse(EDITED).unwrap().with_used(&used).unwrap();
    let expected = EDITED
        .replace("|  12 | 3   |", "|  12 | 4   |")
        .replace("| 15 |  |", "| 15 | 2 |")
        .replace("| 90 |7|", "| 90 |31|")
        .replace("| 1,000,000 | 5 |", "| 1,000,000 | 77 |")
        .replace("| $2.50 | 0.10 |", "| $2.50 | 1.5 |");
    assert_eq!(budget.text(), expected);
    let again = budget.with_start("2026-11-17T08:00:00Z").unwrap();
    assert_eq!(again.text(), expected.replace("2026-11-16T09:00:00Z", "2026-11-17T08:00:00Z"));
    let unfilled = Budget::parse(&EDITED.replace("2026-11-16T09:00:00Z", "[ISO timestamp]")).unwrap();
    assert_eq!(unfilled.started, None);
    assert_eq!(unfilled.with_start("2026-11-16T09:00:00Z").unwrap().text(), EDITED);
    let bare = Budget::parse(&EDITED.replace(" — run started 2026-11-16T09:00:00Z", "")).unwrap();
    assert_eq!(bare.started, None);
    assert_eq!(bare.with_start("2026-11-16T09:00:00Z").unwrap().text(), EDITED);
}

#[test]
fn missing_rows_fall_back_and_odd_ones_are_refused() {
    let text = "# Loop Budget\n\n| Control | Cap | Used |\n|---|---|---|\n| Commits | 3 | 0 |\n";
    let budget = Budget::parse(text).unwrap();
    assert_eq!((budget.caps.commits, budget.caps.iterations), (3, 10));
    assert!(
        budget.notices.iter().any(|notice| notice.contains("no row `Iterations`")),
        "{:?}",
        budget.notices
    );
    for (row, part) in [
        ("| Commits | ten | 0 |", "line 5: the cap of `Commits` must be a whole number; found \"ten\""),
        ("| Commits | -1 | 0 |", "whole number"),
        ("| Cost | much | 0 |", "an amount of money"),
        ("| Commits |", "lacks a cell"),
        ("| Commits | 3 | 0 |\n| commits | 4 | 0 |", "line 6: the row `Commits` is there twice"),
    ] {
        let found = Budget::parse(&text.replace("| Commits | 3 | 0 |", row)).unwrap_err().to_string();
        assert!(found.contains(part), "{row}: {found}");
    }
}

#[test]
fn a_byte_order_mark_stays_where_it_is() {
    let text = format!("\u{feff}{EDITED}");
    let budget = Budget::parse(&text).unwrap().with_start("now").unwrap();
    assert_eq!(budget.text(), text.replace("2026-11-16T09:00:00Z", "now"));
}

#[test]
fn a_budget_of_another_kind_is_foreign() {
    for text in
        ["# Budget 2026\n| Control | Cap | Used |\n|---|---|---|\n", "# Loop Budget\n\nWe spend little.\n"]
    {
        assert!(matches!(Budget::recognise(text), Recognised::Foreign(_)), "{text}");
    }
}
