//! What the agents of each loop do when nobody attacks: the least work that is accepted, and answers to the byte.

use super::Answer;
use crate::goal_loop::planners::design;
use crate::goal_loop::scene::{grade, makes, report};
use crate::roadmap_loop::plane::Style;
use crate::roadmap_loop::play::{Closeout, Cut, Decision, NOTES, write};
use crate::scene::TASK;
use serde_json::json;
use std::fmt::Write as _;
use windlass_test_support::Script;

const STORY: &str = "US-1.1-1";
const MET: &str = "---\ntarget-met: true\n---\n\n## Gap Analysis\n\nIt is there.\n";
const PLANNED: &str = "---\ntarget-met: false\n---\n\n## Gap Analysis\n\nIt is missing.\n\n## Action Plan\n\n1. Add one to `value`.\n";
const ADDED: &str = "# Actuator Output\n\n## What Was Done\n\nAdded one.\n";
const LOOKED: &str =
    "---\nsensor: taste\nstatus: pass\n---\n\n# Sensor Output: taste\n\n## Output\n\nReads well.\n";

/// What one role does when it is asked.
pub(crate) struct Part {
    role: &'static str,
    /// Lines that say when, in the words of a script.
    when: &'static str,
    pub(crate) work: Vec<String>,
    pub(crate) given: Vec<Given>,
}

/// One file that a role leaves as its answer.
#[derive(Clone)]
pub(crate) struct Given {
    pub(crate) answer: Option<Answer>,
    /// As the actions of a script take it.
    pub(crate) place: String,
    pub(crate) text: String,
    /// What is done in its place.
    pub(crate) instead: Option<Vec<String>>,
}

impl Part {
    fn new(role: &'static str, when: &'static str, work: &[String], given: Vec<Given>) -> Self {
        Self { role, when, work: work.to_vec(), given }
    }

    /// Every step counts itself and keeps what it was told.
    pub(crate) fn text(&self) -> String {
        let first = [
            format!("{{ count = '{}' }}", Script::STEPS),
            "{ save_prompt = '{role}-{round}-{attempt}.md' }".to_owned(),
        ];
        let given = self.given.iter().flat_map(|given| given.instead.clone().unwrap_or_else(|| given.left()));
        let actions: Vec<String> = first.into_iter().chain(self.work.iter().cloned()).chain(given).collect();
        let (role, when) = (self.role, self.when);
        format!("[[step]]\nrole = '{role}'\n{when}do = [\n  {},\n]\n\n", actions.join(",\n  "))
    }
}

impl Given {
    fn new(answer: Option<Answer>, place: &str, text: &str) -> Self {
        Self { answer, place: place.to_owned(), text: text.to_owned(), instead: None }
    }

    fn in_outbox(answer: Answer, name: &str, text: &str) -> Vec<Self> {
        vec![Self::new(Some(answer), &format!("{{outbox}}/{name}"), text)]
    }

    fn in_worktree(answer: Option<Answer>, path: &str, text: &str) -> Self {
        Self::new(answer, &format!("{{workspace}}/{path}"), text)
    }

    /// The name of the file.
    pub(crate) fn name(&self) -> &str {
        self.place.rsplit('/').next().unwrap_or(&self.place)
    }

    pub(crate) fn is_json(&self) -> bool {
        std::path::Path::new(self.name()).extension().is_some_and(|form| form == "json")
    }

    pub(crate) fn is_in_outbox(&self) -> bool {
        self.place.starts_with("{outbox}")
    }

    /// The answer as it is meant.
    pub(crate) fn left(&self) -> Vec<String> {
        vec![format!("{{ artifact = '{}', hex = '{}' }}", self.place, hex(self.text.as_bytes()))]
    }
}

pub(crate) fn hex(content: &[u8]) -> String {
    content.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

/// Everybody who is needed for this answer to be asked for and to count.
pub(super) fn of(answer: Answer) -> Vec<Part> {
    match answer {
        Answer::Handoff | Answer::Verdict | Answer::Audit => task(),
        Answer::Decision | Answer::ActionReport | Answer::Reading => control(answer),
        Answer::Design => std::iter::once(planner()).chain(goal()).collect(),
        Answer::BuildReport | Answer::Evaluation => goal(),
        Answer::Plan | Answer::PlanRecord | Answer::Notes | Answer::Review | Answer::ReviewRecord => {
            roadmap()
        }
        Answer::StoryHandoff | Answer::StoryVerdict => story(),
    }
}

fn handoff(task: &str) -> String {
    json!({
        "task_id": task, "summary": "adds a file", "requirements_touched": [], "files_touched": [],
        "assumptions": [], "smoke_checks": [], "notes": "",
    })
    .to_string()
}

fn verdict(task: &str, reasons: &serde_json::Value) -> String {
    json!({
        "task_id": task, "verdict": "pass", "reasons": reasons, "required_changes": [],
        "suggested_tests": [], "requirements_checked": [], "requirements_missing": [], "notes": "",
    })
    .to_string()
}

fn audit() -> String {
    json!({
        "task_id": TASK, "gate": "pass", "risk": { "level": "low", "reasons": [] }, "findings": [],
        "policy": { "artifact_integrity": "pass", "eval_commands": "unknown" },
        "traceability": { "task_id_match": "pass", "requirements_coverage": "unknown", "issues": [] },
        "required_actions": [], "notes": "",
    })
    .to_string()
}

fn task() -> Vec<Part> {
    let work = [write("done.txt", "done\n")];
    let given = |answer, name, text: &str| Given::in_outbox(answer, name, text);
    vec![
        Part::new("doer", "", &work, given(Answer::Handoff, "handoff.json", &handoff(TASK))),
        Part::new("judge", "", &[], given(Answer::Verdict, "verdict.json", &verdict(TASK, &json!([])))),
        Part::new("auditor", "", &[], given(Answer::Audit, "audit.json", &audit())),
    ]
}

fn story() -> Vec<Part> {
    let work = [write("part-1.1.txt", "1.1 attempt 1\n")];
    let reasons = json!([{ "check": "AC-1 verified", "details": "it is there" }]);
    let given = |answer, name, text: &str| Given::in_outbox(answer, name, text);
    vec![
        Part::new("doer", "", &work, given(Answer::StoryHandoff, "handoff.json", &handoff(STORY))),
        Part::new("judge", "", &[], given(Answer::StoryVerdict, "verdict.json", &verdict(STORY, &reasons))),
    ]
}

fn control(answer: Answer) -> Vec<Part> {
    let decides = |when, text| {
        Part::new("controller", when, &[], Given::in_outbox(Answer::Decision, "controller-output.md", text))
    };
    let met = decides("", MET);
    match answer {
        Answer::ActionReport => {
            let report = Given::in_outbox(Answer::ActionReport, "actuator-output.md", ADDED);
            let work = [write("value", "1\n")];
            vec![decides("label = '1'\n", PLANNED), met, Part::new("actuator", "", &work, report)]
        }
        Answer::Reading => {
            let reading = Given::in_outbox(Answer::Reading, "sensor-taste-output.md", LOOKED);
            vec![met, Part::new("sensor", "", &[], reading)]
        }
        _ => vec![met],
    }
}

/// The text of an action that leaves one.
fn text_of(action: &str) -> String {
    let text = action.split("'''").nth(1).expect("the action leaves a text");
    text.trim_start().to_owned()
}

fn planner() -> Part {
    let text = text_of(&design("One file.", &["f001.txt", "tests/f001.sh"]));
    Part::new("planner", "", &[], Given::in_outbox(Answer::Design, "design.json", &text))
}

fn goal() -> Vec<Part> {
    let told = text_of(&report("what the item asks for"));
    let graded = text_of(&grade("F001", "PASS", [5; 5], ["none", "", ""]));
    vec![
        Part::new("builder", "", &makes("F001"), Given::in_outbox(Answer::BuildReport, "report.md", &told)),
        Part::new("evaluator", "", &[], Given::in_outbox(Answer::Evaluation, "evaluation.json", &graded)),
    ]
}

fn roadmap() -> Vec<Part> {
    let cut = Cut::of(Style::Records, "round-001", "m-1");
    let given = |files: Vec<(String, String)>| -> Vec<Given> {
        let known = |path: &str| match path.rsplit('/').next() {
            Some("plan.md") => Some(Answer::Plan),
            Some("round-plan-record.json") => Some(Answer::PlanRecord),
            Some("implementation-notes.md") => Some(Answer::Notes),
            Some("review.md") => Some(Answer::Review),
            Some("review-record.json") => Some(Answer::ReviewRecord),
            _ => None,
        };
        files.iter().map(|(path, text)| Given::in_worktree(known(path), path, text)).collect()
    };
    let done = Decision::Approved(Closeout::Done { from: "pending" });
    let notes = vec![(cut.file("implementation-notes.md"), NOTES.to_owned())];
    let work = [write("src/round-001.txt", "m-1 works\n")];
    vec![
        Part::new("planner", "label = 'plan'\n", &[], given(cut.plan())),
        Part::new("implementer", "label = 'implement'\n", &work, given(notes)),
        Part::new("reviewer", "label = 'review'\n", &[], given(cut.review(&done))),
    ]
}
