//! `controller-output.md`: whether the target is met, and if not, the plan.

use crate::control_loop::front_matter::{self, render};
use crate::faults::{Faults, Parsed, readable_text};
use crate::gate::{Waiver, listed_waivers};
use crate::markdown::{Heading, section, with_closed_fence};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControllerOutput {
    /// The controller's claim. It counts only where the required sensors agree.
    pub target_met: bool,
    pub gap_analysis: String,
    /// Headings inside included. Always there when the target is not met.
    pub plan: Option<String>,
    pub hints: Option<String>,
    pub stagnation_notes: Option<String>,
    /// A section of the oldest files, in the place of the hints.
    pub context: Option<String>,
    /// Findings about the gate that it lets be.
    pub waivers: Vec<Waiver>,
}

const WAIVERS: &str = "Waivers";

impl ControllerOutput {
    pub const FILE_NAME: &'static str = "controller-output.md";

    pub fn parse(bytes: &[u8]) -> Parsed<Self> {
        let (mut keys, body) =
            front_matter::required(Self::FILE_NAME, readable_text(Self::FILE_NAME, bytes)?)?;
        let mut notes = Vec::new();
        let target_met = keys.required_truth("target-met", &mut notes);
        let plan = filled(section(body, opens_plan, ends_plan));
        if target_met == Some(false) && plan.is_none() {
            keys.faults.push(
                "`target-met` is false and there is no plan: add a section `## Action Plan` that says what to do next"
                    .to_owned(),
            );
        }
        let part = |title: &str| filled(section(body, |heading| is_second_level(heading, title), is_known));
        let waivers = filled(section(body, opens_waivers, is_known));
        let waivers = listed_waivers(&waivers.unwrap_or_default(), &mut keys.faults);
        let output = || {
            Some(Self {
                target_met: target_met?,
                gap_analysis: part("Gap Analysis").unwrap_or_default(),
                plan,
                hints: part("Hints"),
                stagnation_notes: part("Stagnation Notes"),
                context: part("Context"),
                waivers,
            })
        };
        Faults::unless_empty(Self::FILE_NAME, std::mem::take(&mut keys.faults), output)
            .map(|output| (output, notes))
    }

    /// `actuator`: the title of the plan says whether files are edited or a child loop is led.
    pub fn render(&self, actuator: PlanFor) -> String {
        let mut file = render(&[("target-met", self.target_met.to_string())]);
        file.push_str("\n# Controller Output\n\n## Gap Analysis\n");
        let mut part = |heading: &str, text: &str| {
            file.push_str(heading);
            if !text.is_empty() {
                file.push('\n');
                file.push_str(text);
                file.push('\n');
            }
        };
        part("", &self.gap_analysis);
        let plan_title = match actuator {
            PlanFor::Actuator => "\n## Action Plan\n",
            PlanFor::ChildLoop => "\n## Action Plan (setpoint for inner loop)\n",
        };
        for (heading, text) in [
            (plan_title, &self.plan),
            ("\n## Hints\n", &self.hints),
            ("\n## Stagnation Notes\n", &self.stagnation_notes),
            ("\n## Context\n", &self.context),
        ] {
            if let Some(text) = text {
                part(heading, text);
            }
        }
        if !self.waivers.is_empty() {
            let lines = self.waivers.iter().map(|waiver| format!("- {}: {}", waiver.finding, waiver.reason));
            part("\n## Waivers\n", &lines.collect::<Vec<_>>().join("\n"));
        }
        file
    }
}

/// Who gets the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanFor {
    Actuator,
    ChildLoop,
}

fn opens_plan(heading: &Heading<'_>) -> bool {
    heading.level == 2
        && (heading.opens_with("Action Plan") || heading.opens_with("Instructions for Actuator"))
}

/// Other headings of the second level belong to the plan: a plan for a child loop has sections of its own.
fn ends_plan(heading: &Heading<'_>) -> bool {
    opens_waivers(heading)
        || ["Hints", "Stagnation Notes", "Context"].iter().any(|title| is_second_level(heading, title))
}

/// On whatever level: a waiver that is overlooked is asked for again and again.
fn opens_waivers(heading: &Heading<'_>) -> bool {
    heading.is(WAIVERS)
}

fn is_known(heading: &Heading<'_>) -> bool {
    opens_plan(heading) || ends_plan(heading) || is_second_level(heading, "Gap Analysis")
}

fn is_second_level(heading: &Heading<'_>, title: &str) -> bool {
    heading.level == 2 && heading.is(title)
}

/// A fence that is left open is closed, or it would swallow whatever is written below the section later.
fn filled(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(with_closed_fence)
}
