//! The settings in force: each value with the place it came from, and typed access for the rest of the host.

use super::keys::{KEYS, Kind, Runs};
use super::layers::{Layer, Origin};
use std::collections::BTreeMap;
use windlass_control_api::commands::SettingValue;
use windlass_control_api::money::micros;
use windlass_control_api::views::{SettingView, SettingsView};
use windlass_control_api::{Code, Fault};
use windlass_protocols::Millis;

const MICROS_A_CENT: u64 = 10_000;
/// `none` for whoever wants to see what happens without.
const MEANS: [&str; 3] = ["landlock", "namespaces", "none"];

#[derive(Clone, Debug)]
pub struct Settings {
    values: BTreeMap<&'static str, (SettingValue, Origin)>,
    pub warnings: Vec<String>,
}

impl Settings {
    pub(super) fn built_in() -> Self {
        let values = KEYS
            .iter()
            .filter(|key| !key.built_in.is_empty())
            .filter_map(|key| Some((key.name, (key.parse(key.built_in).ok()?, Origin::BuiltIn))))
            .collect();
        Self { values, warnings: Vec::new() }
    }

    pub(super) fn take(&mut self, layer: Layer) {
        for (key, value, origin) in layer.values {
            // Said again in another unit, by somebody stronger: what was said before no longer counts.
            if let Some(twin) = key.twin()
                && self.origin(twin.name).is_some_and(|before| *before != origin)
            {
                self.values.remove(twin.name);
            }
            self.values.insert(key.name, (value, origin));
        }
        self.warnings.extend(layer.warnings);
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.values.get(name) {
            Some((SettingValue::Text(text), _)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        match self.values.get(name) {
            Some((SettingValue::Number(number), _)) => Some(*number),
            _ => None,
        }
    }

    /// How long a `step` may take, or be `idle`, under either of its names.
    pub(crate) fn limit(&self, what: &str) -> Option<Millis> {
        let exact = self.text(&format!("{what}-limit")).and_then(|text| duration(text).ok());
        exact.or_else(|| self.number(&format!("{what}-minutes")).map(Millis::minutes))
    }

    /// Bytes of memory that one step may have.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.text("max-memory").and_then(|text| bytes(text).ok())
    }

    /// A cap on money in millionths, whichever of `STEM-cost` and `STEM-cents` says it.
    pub fn money(&self, stem: &str) -> Option<u64> {
        let amount = self.text(&format!("{stem}-cost")).and_then(micros);
        amount.or_else(|| {
            self.number(&format!("{stem}-cents")).map(|cents| cents.saturating_mul(MICROS_A_CENT))
        })
    }

    pub fn switch(&self, name: &str) -> bool {
        matches!(self.values.get(name), Some((SettingValue::Switch(true), _)))
    }

    pub fn list(&self, name: &str) -> Vec<String> {
        match self.values.get(name) {
            Some((SettingValue::List(list), _)) => list.clone(),
            _ => Vec::new(),
        }
    }

    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.values.get(name).map(|(_, origin)| origin)
    }

    /// What the repository's own file would make us run, as `key = command`, in a fixed order.
    pub fn repository_commands(&self) -> Vec<String> {
        let mut commands = Vec::new();
        for key in KEYS.iter().filter(|key| key.runs == Runs::Commands) {
            match self.values.get(key.name) {
                Some((SettingValue::Text(text), Origin::RepositoryFile(_))) => {
                    commands.push(format!("{} = {text}", key.name));
                }
                Some((SettingValue::List(list), Origin::RepositoryFile(_))) => {
                    commands.extend(list.iter().map(|command| format!("{} = {command}", key.name)));
                }
                _ => {}
            }
        }
        commands
    }

    pub(super) fn validate(&self) -> Result<(), Fault> {
        self.one_of("on-needs-human", &["stop", "continue"])?;
        self.one_of("gate-integrity", &["full", "findings", "off"])?;
        self.one_of("on-gate-findings", &["reject", "ask"])?;
        self.one_of("land", &["none", "branch", "current"])?;
        self.one_of("sandbox", &["required", "auto", "off"])?;
        self.one_of("workspaces", &["auto", "overlay", "worktrees"])?;
        self.one_of("goal.autonomy", &["L1", "L2", "L3"])?;
        self.one_of("goal.design", &["auto", "always", "never"])?;
        let author = self.text("author").map(crate::effect_runner::author);
        if let Some(Err(error)) = author {
            return Err(self.bad("author", &format!("cannot be used: {error}")));
        }
        let counts =
            ["rounds", "max-minutes", "step-minutes", "idle-minutes", "max-output-mb", "max-processes"];
        let of_goal = ["goal.iterations", "goal.commits", "goal.rework", "goal.minutes", "goal.tokens"];
        for name in counts.into_iter().chain(of_goal) {
            if self.number(name) == Some(0) {
                return Err(self.bad(name, "must be at least 1"));
            }
        }
        for name in ["checks", "audit-checks", "goal.pre-commit"] {
            if self.list(name).iter().any(|command| command.trim().is_empty()) {
                return Err(self.bad(name, "holds an empty command"));
            }
        }
        if let Some(odd) = self.list("sandbox-means").iter().find(|word| !MEANS.contains(&word.as_str())) {
            return Err(self.bad("sandbox-means", &format!("names `{odd}`; there are: {}", MEANS.join(", "))));
        }
        if let Some(Err(why)) = self.text("max-memory").map(bytes) {
            return Err(self.bad("max-memory", &why));
        }
        for name in ["step-limit", "idle-limit"] {
            if let Some(Err(why)) = self.text(name).map(duration) {
                return Err(self.bad(name, &why));
            }
        }
        for key in KEYS.iter().filter(|key| key.kind == Kind::Amount) {
            let twice = key.twin().filter(|twin| self.number(twin.name).is_some());
            if let (Some(_), Some(twin)) = (self.text(key.name), twice) {
                return Err(
                    self.bad(key.name, &format!("and `{}` say the same thing: leave one out", twin.name))
                );
            }
        }
        if let Some((name, why)) = crate::notify::problem(self) {
            return Err(self.bad(name, &why));
        }
        if self.number("rounds").is_some_and(|rounds| rounds > u64::from(u32::MAX)) {
            return Err(self.bad("rounds", "is more than anybody can wait for"));
        }
        Ok(())
    }

    fn one_of(&self, name: &str, known: &[&str]) -> Result<(), Fault> {
        match self.text(name) {
            Some(word) if !known.contains(&word) => {
                Err(self.bad(name, &format!("is `{word}`; it must be one of: {}", known.join(", "))))
            }
            _ => Ok(()),
        }
    }

    fn bad(&self, name: &str, why: &str) -> Fault {
        let origin = self.origin(name).map_or_else(String::new, |origin| format!(" ({origin})"));
        Fault::new(Code::BadSettings, format!("`{name}`{origin} {why}"))
            .hint("`windlass settings --origin` shows where each value comes from")
    }

    pub fn view(&self) -> SettingsView {
        let settings = KEYS
            .iter()
            .map(|key| SettingView {
                key: key.name.to_owned(),
                value: self.values.get(key.name).map_or_else(String::new, |(value, _)| show(value)),
                origin: self.origin(key.name).map_or_else(|| "not set".to_owned(), ToString::to_string),
                help: key.help.to_owned(),
            })
            .collect();
        SettingsView { settings, warnings: self.warnings.clone() }
    }
}

/// `90s`, `5m` or `2h`: a whole number and its unit.
fn duration(text: &str) -> Result<Millis, String> {
    let wrong = || format!("is `{text}`; it must be a whole number from 1 on with a unit: 90s, 5m, 2h");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let seconds = match unit {
        "s" => 1_u64,
        "m" => 60,
        "h" => 60 * 60,
        _ => return Err(wrong()),
    };
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let count: u64 = number.parse().ok().filter(|count| digits && *count > 0).ok_or_else(wrong)?;
    Ok(Millis(count.saturating_mul(seconds).saturating_mul(1000)))
}

/// `512M` or `4G`: a whole number and its unit.
fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("is `{text}`; it must be a whole number from 1 on with a unit: 512M, 4G");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let scale = match unit {
        "M" => 1024_u64 * 1024,
        "G" => 1024 * 1024 * 1024,
        _ => return Err(wrong()),
    };
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let count: u64 = number.parse().ok().filter(|count| digits && *count > 0).ok_or_else(wrong)?;
    Ok(count.saturating_mul(scale))
}

fn show(value: &SettingValue) -> String {
    match value {
        SettingValue::Text(text) => text.clone(),
        SettingValue::Number(number) => number.to_string(),
        SettingValue::Switch(switch) => switch.to_string(),
        SettingValue::List(list) => format!("{list:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_of_memory_is_a_whole_number_with_a_unit() {
        assert_eq!((bytes("512M"), bytes("4G")), (Ok(512 << 20), Ok(4 << 30)));
        for wrong in ["", "M", "5", "0G", "-1G", "1.5G", "5 G", "5T", "5g"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_duration_is_a_whole_number_with_a_unit() {
        assert_eq!(duration("90s"), Ok(Millis(90_000)));
        assert_eq!(duration("5m"), Ok(Millis::minutes(5)));
        assert_eq!(duration("2h"), Ok(Millis::minutes(120)));
        for wrong in ["", "s", "5", "0s", "-1s", "+1s", "1.5m", "5 m", "5d", "fünfs", "m5"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
