//! The flags that take away from a contract. They are settings: `[goal]` in `windlass.toml` knows the same names.

use crate::commands::work_flags::{Given, amount, list, number, text};
use clap::{Args, ValueEnum};
use windlass_control_api::commands::SettingValue;

#[derive(Args, Clone, Debug, Default)]
pub(super) struct GoalFlags {
    /// Only these of the contract's items: `F001`, `F002-F004`, `all B`, separated by commas
    #[arg(long, value_name = "SET", help_heading = "Less than the contract allows")]
    scope: Option<String>,
    /// A lower level of autonomy: L1, L2 or L3
    #[arg(long, value_name = "LEVEL", help_heading = "Less than the contract allows")]
    autonomy: Option<Level>,
    /// Lower caps in one: `iterations=5,commits=3,rework=1,minutes=30,tokens=200000,cost=1.50`
    #[arg(long, value_name = "CAP=N,…", help_heading = "Less than the contract allows", value_parser = budget)]
    budget: Option<Budget>,
    /// How many iterations the run may have
    #[arg(long, value_name = "N", help_heading = "Less than the contract allows", value_parser = at_least_one())]
    max_iterations: Option<u64>,
    /// How many commits it may make
    #[arg(long, value_name = "N", help_heading = "Less than the contract allows", value_parser = at_least_one())]
    max_commits: Option<u64>,
    /// How often one item may fail
    #[arg(long, value_name = "N", help_heading = "Less than the contract allows", value_parser = at_least_one())]
    max_rework: Option<u64>,
    /// How long the run may work
    #[arg(long, value_name = "N", help_heading = "Less than the contract allows", value_parser = at_least_one())]
    max_minutes: Option<u64>,
    /// How many tokens it may use
    #[arg(long, value_name = "N", help_heading = "Less than the contract allows", value_parser = at_least_one())]
    max_tokens: Option<u64>,
    /// How much it may cost, such as 1.50
    #[arg(long, value_name = "AMOUNT", help_heading = "Less than the contract allows", value_parser = amount)]
    max_cost: Option<String>,

    /// The command that runs the full test suite; the contract's, or one that is found, if not given
    #[arg(long, value_name = "COMMAND", help_heading = "Checks")]
    test_cmd: Option<String>,
    /// A command that must pass on the exact tree before it is committed; may be repeated
    #[arg(long, value_name = "COMMAND", help_heading = "Checks")]
    pre_commit: Vec<String>,
    /// When an item is designed before it is built; where it is not trivial if not given
    #[arg(long, value_name = "WHEN", help_heading = "Checks")]
    design: Option<DesignWhen>,
    /// Let items count that were complete before any loop, without checking them again
    #[arg(long, help_heading = "Checks")]
    trust_complete: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Level {
    #[value(name = "L1", alias = "l1")]
    L1,
    #[value(name = "L2", alias = "l2")]
    L2,
    #[value(name = "L3", alias = "l3")]
    L3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DesignWhen {
    Auto,
    Always,
    Never,
}

/// Keys of settings with their values, as one flag gave them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Budget(Given);

impl GoalFlags {
    /// What was given, by key as in `windlass.toml`.
    pub(super) fn given(&self) -> Given {
        let mut given = self.budget.clone().unwrap_or_default().0;
        if let Some(scope) = &self.scope {
            text(&mut given, "goal.scope", scope);
        }
        match self.autonomy {
            Some(Level::L1) => text(&mut given, "goal.autonomy", "L1"),
            Some(Level::L2) => text(&mut given, "goal.autonomy", "L2"),
            Some(Level::L3) => text(&mut given, "goal.autonomy", "L3"),
            None => {}
        }
        number(&mut given, "goal.iterations", self.max_iterations);
        number(&mut given, "goal.commits", self.max_commits);
        number(&mut given, "goal.rework", self.max_rework);
        number(&mut given, "goal.minutes", self.max_minutes);
        number(&mut given, "goal.tokens", self.max_tokens);
        for (key, value) in [("goal.cost", &self.max_cost), ("goal.test-cmd", &self.test_cmd)] {
            if let Some(value) = value {
                text(&mut given, key, value);
            }
        }
        list(&mut given, "goal.pre-commit", &self.pre_commit);
        match self.design {
            Some(DesignWhen::Auto) => text(&mut given, "goal.design", "auto"),
            Some(DesignWhen::Always) => text(&mut given, "goal.design", "always"),
            Some(DesignWhen::Never) => text(&mut given, "goal.design", "never"),
            None => {}
        }
        if self.trust_complete {
            given.push(("goal.trust-complete".into(), SettingValue::Switch(true)));
        }
        given
    }
}

fn at_least_one() -> clap::builder::RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..)
}

fn budget(words: &str) -> Result<Budget, String> {
    let mut given = Given::new();
    for part in words.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, value) =
            part.split_once('=').ok_or_else(|| format!("expected NAME=NUMBER, found `{part}`"))?;
        let key = format!("goal.{name}");
        match name {
            "iterations" | "commits" | "rework" | "minutes" | "tokens" => match value.parse() {
                Ok(count @ 1..) => number(&mut given, &key, Some(count)),
                _ => return Err(format!("{name} must be a whole number from 1 up, found `{value}`")),
            },
            "cost" => text(&mut given, &key, &amount(value)?),
            other => {
                return Err(format!(
                    "there is no cap `{other}`; there are iterations, commits, rework, minutes, tokens and cost"
                ));
            }
        }
    }
    if given.is_empty() { Err("it names no cap".to_owned()) } else { Ok(Budget(given)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_names_caps_and_nothing_else() {
        let Budget(given) = budget("iterations=5, cost=1.50").unwrap();
        let expected = [
            ("goal.iterations".to_owned(), SettingValue::Number(5)),
            ("goal.cost".to_owned(), SettingValue::Text("1.50".to_owned())),
        ];
        assert_eq!(given, expected);
        for wrong in ["", "iterations", "iterations=0", "commits=-1", "rounds=3", "cost=0", "cost=cheap"] {
            assert!(budget(wrong).is_err(), "{wrong}");
        }
    }
}
