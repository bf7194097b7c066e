//! Control planes as two authors write them: one keeps records and a view, numbers its headings and puts labels into list
//! items; the other writes labels of structured Markdown in backticks, and labels nobody else knows. Texts only.

use serde_json::{Value, json};
use std::fmt::Write as _;

pub(crate) const STATE: &str = "orchestrator/state.json";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Generation B.
    Records,
    /// Generation C.
    Markdown,
}

impl Style {
    pub(crate) const fn family(self) -> &'static str {
        match self {
            Self::Records => "2026-05-18-00-session-loader",
            Self::Markdown => "2026-06-02-01-parser",
        }
    }

    pub(crate) fn dir(self, revision: &str) -> String {
        format!("orchestrator/roadmaps/{}/{revision}", self.family())
    }
}

/// A milestone with one direction, `<id>-a`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Milestone {
    pub(crate) id: &'static str,
    pub(crate) status: &'static str,
    pub(crate) depends_on: Option<&'static str>,
    pub(crate) lane: &'static str,
    pub(crate) hint: &'static str,
}

/// A pending milestone that waits for nobody.
pub(crate) const fn milestone(id: &'static str) -> Milestone {
    Milestone { id, status: "pending", depends_on: None, lane: "main", hint: "serial-by-default" }
}

impl Milestone {
    pub(crate) const fn after(self, other: &'static str) -> Self {
        Self { depends_on: Some(other), ..self }
    }

    pub(crate) const fn with_status(self, status: &'static str) -> Self {
        Self { status, ..self }
    }

    /// May be worked on beside rounds of other lanes.
    pub(crate) const fn in_lane(self, lane: &'static str) -> Self {
        Self { lane, hint: "lane-safe-only", ..self }
    }
}

/// Every file of the plane but the state, with its path.
pub(crate) fn files(style: Style, milestones: &[Milestone]) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut put = |name: &str, text: String| files.push((format!("orchestrator/{name}"), text));
    let plain = [
        "state-schema.md",
        "artifact-manifest.md",
        "active-roadmap-bundle.md",
        "role-contract.md",
        "roadmap-update-schema.md",
    ];
    let schemas =
        ["selection-record-schema.md", "round-plan-record-schema.md", "round-finalization-schema.md"];
    let with_schemas = schemas.into_iter().filter(|_| style == Style::Records);
    for name in plain.into_iter().chain(with_schemas) {
        put(name, format!("# {name}\n\nAs agreed.\n"));
    }
    for role in ["planner", "implementer", "reviewer", "recovery-investigator"] {
        put(&format!("roles/{role}.md"), format!("# The {role}\n\nYou are the {role} of this repository.\n"));
    }
    let contract = ["Stable Interfaces", "Alignment Invariants", "Verification Anchors", "Update Rule"];
    let contract = contract.map(|title| format!("## {title}\n\nnone discovered yet\n\n")).concat();
    put("project-contract.md", format!("# Project contract\n\n{contract}"));
    let history = "# History\n\n## Completed Rounds\n\n- none yet\n\n## Superseded Revisions\n\n- none yet\n";
    put(&format!("roadmaps/{}/roadmap-history.md", style.family()), history.to_owned());
    files.push((".gitignore".to_owned(), "/orchestrator/worktrees/\n".to_owned()));
    files.extend(bundle(style, "rev-001", milestones));
    files
}

/// The files of one revision.
pub(crate) fn bundle(style: Style, revision: &str, milestones: &[Milestone]) -> Vec<(String, String)> {
    let dir = style.dir(revision);
    let mut files = vec![
        (format!("{dir}/roadmap.md"), roadmap(style, milestones)),
        (format!("{dir}/verification.md"), verification("none")),
    ];
    if style == Style::Records {
        files
            .push((format!("{dir}/roadmap-view.json"), format!("{:#}\n", view(style, revision, milestones))));
    }
    files
}

pub(crate) fn verification(overrides: &str) -> String {
    let sections = ["Baseline Checks", "Alignment Checks", "Task-Specific Checks", "Manual Checks"];
    let sections = sections.map(|title| format!("## {title}\n\n- `make test`\n\n")).concat();
    format!("# Verification\n\n{sections}## Roadmap Overrides\n\n{overrides}\n")
}

fn roadmap(style: Style, milestones: &[Milestone]) -> String {
    let sections =
        ["Goal", "Alignment Summary", "Outcome Boundaries", "Global Sequencing Rules", "Parallel Lanes"];
    let sections = sections.map(|title| format!("## {title}\n\nAs agreed.\n\n")).concat();
    let mut text = format!("# Roadmap\n\n{sections}## Milestones\n");
    for (number, milestone) in (1..).zip(milestones) {
        let Milestone { id, status, depends_on, lane, hint } = *milestone;
        let depends_on = depends_on.unwrap_or("none");
        let _ = match style {
            Style::Records => write!(
                text,
                "\n{heading}\n\n- Milestone id: {id}\n- Depends on: {depends_on}\n- Intent: reach {id}\n  \
                 in small steps\n- Completion signal: {id} works\n- Parallel lane: {lane}\n\
                 - Coordination notes: none\n- Candidate directions:\n    - Direction id: {id}-a\n    \
                 - Summary: the way to {id}\n    - Preconditions: none\n    - Parallel hints: {hint}\n\n\
                 #### Completion Pointers: {id}\n\n- none yet\n",
                heading = heading(number, status, id),
            ),
            Style::Markdown => write!(
                text,
                "\n### [{status}] Reach {id}\n\n- Milestone id: `{id}`\n- Depends on: `{depends_on}`\n\
                 - Intent: reach `{id}`\n    in small steps\n- Completion signal: {id} works\n\
                 - Completion pointers: none\n- Parallel lane: `{lane}`\n- Coordination notes: none\n\
                 - Risk owner: the {id} team\n- Candidate directions:\n  - Direction id: `{id}-a`\n    \
                 - Summary: the way to {id}\n    - Preconditions: none\n    - Parallel hints: {hint}\n    \
                 - Extraction notes: one at a time\n",
            ),
        };
    }
    text
}

fn heading(number: usize, status: &str, id: &str) -> String {
    format!("### [{status}] {number}. Reach {id}")
}

fn view(style: Style, revision: &str, milestones: &[Milestone]) -> Value {
    let dir = style.dir(revision);
    let file = format!("{dir}/roadmap.md");
    let mut anchors = json!({ "roadmap-history-completed-rounds": {
        "target_file": format!("orchestrator/roadmaps/{}/roadmap-history.md", style.family()),
        "selector": "## Completed Rounds",
    }});
    for (number, milestone) in (1..).zip(milestones) {
        let id = milestone.id;
        let selector = heading(number, milestone.status, id);
        anchors[format!("{id}-status")] = json!({ "target_file": file, "selector": selector });
        let selector = format!("#### Completion Pointers: {id}");
        anchors[format!("{id}-pointers")] = json!({ "target_file": file, "selector": selector });
    }
    let described = milestones.iter().map(|milestone| {
        let id = milestone.id;
        json!({
            "milestone_id": id, "title": format!("Reach `{id}`"), "status": milestone.status,
            "depends_on": milestone.depends_on.into_iter().collect::<Vec<_>>(),
            "parallel_lane": milestone.lane, "status_anchor": format!("{id}-status"),
            "completion_anchor": format!("{id}-pointers"), "direction_ids": [format!("{id}-a")],
        })
    });
    let directions = milestones.iter().map(|milestone| {
        json!({
            "direction_id": format!("{}-a", milestone.id), "milestone_id": milestone.id,
            "summary": "the way", "preconditions": [], "parallel_hints": milestone.hint,
        })
    });
    json!({
        "schema_version": "roadmap-view-v1", "roadmap_id": style.family(), "roadmap_revision": revision,
        "roadmap_dir": dir, "roadmap_file": file, "milestones": described.collect::<Vec<_>>(),
        "directions": directions.collect::<Vec<_>>(), "anchors": anchors,
    })
}

/// The state of a plane at rest, with unknown keys, which nobody may lose.
pub(crate) fn state(style: Style, parallel: u32) -> Value {
    json!({
        "contract_version": "orchestrator-v2", "base_branch": "main", "roadmap_id": style.family(),
        "roadmap_revision": "rev-001", "roadmap_dir": style.dir("rev-001"),
        "controller_stage": "dispatch-rounds", "max_parallel_rounds": parallel, "active_rounds": [],
        "roadmap_update": null, "resume_errors": {}, "retry": null,
    })
}

/// A live round's record.
pub(crate) fn round_record(round: &str, stage: &str, branch: &str) -> Value {
    json!({
        "round_id": round, "stage": stage, "branch": branch,
        "worktree_path": format!("orchestrator/worktrees/{round}"), "resume_error": null,
    })
}
