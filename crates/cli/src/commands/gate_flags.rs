//! The flags that say how closely a run looks at changes of what measures it. The same for every loop; they are settings like
//! all others.

use super::work_flags::{Given, list, text};
use clap::{Args, ValueEnum};

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct GateFlags {
    /// How closely changes of tests, checks and their configuration are looked at
    #[arg(long, value_name = "HOW", help_heading = "Gate")]
    gate_integrity: Option<GateIntegrity>,
    /// What a finding does that whoever judges did not waive by name
    #[arg(long, value_name = "WHAT", help_heading = "Gate")]
    on_gate_findings: Option<OnGateFindings>,
    /// Paths that measure a change, beside the usual ones: `schema/**`; may be repeated
    #[arg(long = "protect", value_name = "PATTERN", help_heading = "Gate")]
    protected: Vec<String>,
    /// Paths that do not, whatever else says so; may be repeated
    #[arg(long = "unprotect", value_name = "PATTERN", help_heading = "Gate")]
    unprotected: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateIntegrity {
    /// Findings, and new tests on the code of the base
    Full,
    /// Findings alone
    Findings,
    /// Not at all
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnGateFindings {
    /// Send the change back
    Reject,
    /// Wait for a person
    Ask,
}

impl GateFlags {
    pub(super) fn give(&self, given: &mut Given) {
        match self.gate_integrity {
            Some(GateIntegrity::Full) => text(given, "gate-integrity", "full"),
            Some(GateIntegrity::Findings) => text(given, "gate-integrity", "findings"),
            Some(GateIntegrity::Off) => text(given, "gate-integrity", "off"),
            None => {}
        }
        match self.on_gate_findings {
            Some(OnGateFindings::Reject) => text(given, "on-gate-findings", "reject"),
            Some(OnGateFindings::Ask) => text(given, "on-gate-findings", "ask"),
            None => {}
        }
        list(given, "protected", &self.protected);
        list(given, "unprotected", &self.unprotected);
    }
}
