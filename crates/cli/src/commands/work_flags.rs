//! The flags that say how a run works. They are settings: what is not given here comes from the settings files, and
//! `windlass settings --origin` names the same keys.

use super::fence_flags::FenceFlags;
use super::gate_flags::GateFlags;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use windlass_control_api::commands::SettingValue;
use windlass_control_api::money::micros;

pub(super) type Given = Vec<(String, SettingValue)>;

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WorkFlags {
    /// A command that must succeed on the change before the judge looks; may be repeated
    #[arg(long = "check", value_name = "COMMAND", help_heading = "Checks")]
    checks: Vec<String>,
    /// A command that must succeed before the auditor looks; may be repeated
    #[arg(long = "audit-check", value_name = "COMMAND", help_heading = "Checks")]
    audit_checks: Vec<String>,
    /// Let the judge have the last word
    #[arg(long, help_heading = "Checks")]
    no_audit: bool,
    #[command(flatten)]
    gate: GateFlags,

    /// The agent for every role: `codex`, `claude:MODEL`, `gemini`, `opencode`, `copilot`, `acp:COMMAND`,
    /// `command:PROGRAM …`, `shell:COMMAND` or `scripted:FILE`
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    agent: Option<String>,
    /// The agent that makes the change
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    doer: Option<String>,
    /// The agent that judges it
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    judge: Option<String>,
    /// The agent that gates it
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    auditor: Option<String>,
    /// An agent that is asked while the doer's own is limited or out of order; may be repeated
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    doer_fallback: Vec<String>,
    /// The same for the judge
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    judge_fallback: Vec<String>,
    /// The same for the auditor
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    auditor_fallback: Vec<String>,
    /// Refuse a judge or an auditor whose model is of the same vendor as the doer's
    #[arg(long, help_heading = "Agents")]
    distinct_vendors: bool,
    /// A file whose text replaces the doer's built-in prompt
    #[arg(long, value_name = "FILE", help_heading = "Agents")]
    doer_prompt: Option<PathBuf>,
    /// A file whose text replaces the judge's built-in prompt
    #[arg(long, value_name = "FILE", help_heading = "Agents")]
    judge_prompt: Option<PathBuf>,
    /// A file whose text replaces the auditor's built-in prompt
    #[arg(long, value_name = "FILE", help_heading = "Agents")]
    audit_prompt: Option<PathBuf>,

    /// What to do when an agent asks for a person
    #[arg(long, value_name = "WHAT", help_heading = "Ends")]
    on_needs_human: Option<OnNeedsHuman>,
    /// Where an accepted change goes: nowhere, to the branch `windlass/<task-id>`, or to the current branch
    #[arg(long, value_name = "WHERE", help_heading = "Ends")]
    land: Option<Land>,
    /// How long one agent or check may take
    #[arg(long, value_name = "N", help_heading = "Ends", value_parser = clap::value_parser!(u64).range(1..))]
    step_minutes: Option<u64>,
    /// How long one agent or check may be silent
    #[arg(long, value_name = "N", help_heading = "Ends", value_parser = clap::value_parser!(u64).range(1..))]
    idle_minutes: Option<u64>,
    /// The same with a unit: `90s`, `5m`, `2h`
    #[arg(long, value_name = "TIME", help_heading = "Ends", conflicts_with = "step_minutes")]
    step_limit: Option<String>,
    /// The same for being silent
    #[arg(long, value_name = "TIME", help_heading = "Ends", conflicts_with = "idle_minutes")]
    idle_limit: Option<String>,
    /// How much agents and checks may print in all
    #[arg(long, value_name = "N", help_heading = "Ends", value_parser = clap::value_parser!(u64).range(1..))]
    max_output_mb: Option<u64>,

    /// How many tokens the run may use; the agent at work is ended when they are used up
    #[arg(long, value_name = "N", help_heading = "Money", value_parser = clap::value_parser!(u64).range(1..))]
    max_tokens: Option<u64>,
    /// How much the run may cost, such as 1.50
    #[arg(long, value_name = "AMOUNT", help_heading = "Money", value_parser = amount)]
    max_cost: Option<String>,
    /// How many tokens one agent may use in one step
    #[arg(long, value_name = "N", help_heading = "Money", value_parser = clap::value_parser!(u64).range(1..))]
    step_tokens: Option<u64>,
    /// How much one agent may cost in one step
    #[arg(long, value_name = "AMOUNT", help_heading = "Money", value_parser = amount)]
    step_cost: Option<String>,

    #[command(flatten)]
    fence: FenceFlags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnNeedsHuman {
    /// Wait for a person
    Stop,
    /// Go on while rounds are left
    Continue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Land {
    None,
    Branch,
    Current,
}

impl WorkFlags {
    /// What was given, by key as in `windlass.toml`.
    pub(super) fn given(&self) -> Given {
        let mut given = Given::new();
        list(&mut given, "checks", &self.checks);
        list(&mut given, "audit-checks", &self.audit_checks);
        if self.no_audit {
            given.push(("audit".into(), SettingValue::Switch(false)));
        }
        self.gate.give(&mut given);
        for (key, agent) in
            [("agent", &self.agent), ("doer", &self.doer), ("judge", &self.judge), ("auditor", &self.auditor)]
        {
            if let Some(agent) = agent {
                text(&mut given, key, agent);
            }
        }
        list(&mut given, "doer-fallback", &self.doer_fallback);
        list(&mut given, "judge-fallback", &self.judge_fallback);
        list(&mut given, "auditor-fallback", &self.auditor_fallback);
        if self.distinct_vendors {
            given.push(("distinct-vendors".into(), SettingValue::Switch(true)));
        }
        for (key, prompt) in [
            ("doer-prompt", &self.doer_prompt),
            ("judge-prompt", &self.judge_prompt),
            ("audit-prompt", &self.audit_prompt),
        ] {
            if let Some(prompt) = prompt {
                text(&mut given, key, &prompt.to_string_lossy());
            }
        }
        match self.on_needs_human {
            Some(OnNeedsHuman::Stop) => text(&mut given, "on-needs-human", "stop"),
            Some(OnNeedsHuman::Continue) => text(&mut given, "on-needs-human", "continue"),
            None => {}
        }
        match self.land {
            Some(Land::None) => text(&mut given, "land", "none"),
            Some(Land::Branch) => text(&mut given, "land", "branch"),
            Some(Land::Current) => text(&mut given, "land", "current"),
            None => {}
        }
        number(&mut given, "step-minutes", self.step_minutes);
        number(&mut given, "idle-minutes", self.idle_minutes);
        for (key, limit) in [("step-limit", &self.step_limit), ("idle-limit", &self.idle_limit)] {
            if let Some(limit) = limit {
                text(&mut given, key, limit);
            }
        }
        number(&mut given, "max-output-mb", self.max_output_mb);
        number(&mut given, "max-tokens", self.max_tokens);
        number(&mut given, "step-tokens", self.step_tokens);
        for (key, amount) in [("max-cost", &self.max_cost), ("step-cost", &self.step_cost)] {
            if let Some(amount) = amount {
                text(&mut given, key, amount);
            }
        }
        self.fence.give(&mut given);
        given
    }
}

impl WorkFlags {
    /// The same as they were typed.
    pub(super) fn flags_given(&self) -> Vec<String> {
        let flag = |(key, _): (String, SettingValue)| match key.as_str() {
            "checks" => String::from("--check"),
            "audit-checks" => String::from("--audit-check"),
            "audit" => String::from("--no-audit"),
            "protected" => String::from("--protect"),
            "unprotected" => String::from("--unprotect"),
            other => format!("--{other}"),
        };
        self.given().into_iter().map(flag).collect()
    }
}

/// Kept as it was written, so that nothing is rounded.
pub(super) fn amount(text: &str) -> Result<String, String> {
    match micros(text) {
        Some(1..) => Ok(text.to_owned()),
        Some(0) | None => Err(String::from("expected an amount above 0 such as 1.50")),
    }
}

pub(super) fn text(given: &mut Given, key: &str, value: &str) {
    given.push((key.to_owned(), SettingValue::Text(value.to_owned())));
}

/// Those of the texts that were given.
pub(super) fn texts(given: &mut Given, named: &[(&str, &Option<String>)]) {
    for (key, value) in named {
        if let Some(value) = value {
            text(given, key, value);
        }
    }
}

pub(super) fn number(given: &mut Given, key: &str, value: Option<u64>) {
    given.extend(value.map(|value| (key.to_owned(), SettingValue::Number(value))));
}

pub(super) fn list(given: &mut Given, key: &str, values: &[String]) {
    if !values.is_empty() {
        given.push((key.to_owned(), SettingValue::List(values.to_vec())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_given_becomes_a_setting() {
        assert_eq!(WorkFlags::default().given(), []);
        let flags = WorkFlags {
            checks: vec!["true".into()],
            no_audit: true,
            land: Some(Land::None),
            step_minutes: Some(5),
            ..WorkFlags::default()
        };
        let expected = [
            ("checks".to_owned(), SettingValue::List(vec!["true".into()])),
            ("audit".to_owned(), SettingValue::Switch(false)),
            ("land".to_owned(), SettingValue::Text("none".into())),
            ("step-minutes".to_owned(), SettingValue::Number(5)),
        ];
        assert_eq!(flags.given(), expected);
        assert_eq!(flags.flags_given(), ["--check", "--no-audit", "--land", "--step-minutes"]);
    }
}
