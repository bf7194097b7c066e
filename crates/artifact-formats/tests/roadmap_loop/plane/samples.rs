//! Roadmaps of two authors: one writes plain labels and structured Markdown, the other list items, backticks, numbers
//! and wrapped lines beside a view.

use serde_json::{Value, json};
use windlass_artifact_formats::roadmap_loop::plane::{ActiveBundle, BundleTexts, Generation};

pub(super) const DIR: &str = "orchestrator/roadmaps/fam/rev-001";

pub(super) fn bundle() -> ActiveBundle {
    ActiveBundle { roadmap_id: "fam".to_owned(), revision: "rev-001".to_owned(), dir: DIR.to_owned() }
}

/// The first author, generation C.
pub(super) const PLAIN: &str = "\
# Roadmap

## Goal
Start fast.

## Alignment Summary
Agreed.

## Outcome Boundaries
No new formats.

## Global Sequencing Rules
Serial.

## Parallel Lanes
One lane.

## Milestones

### [done] Measure
Milestone id: measure
Depends on:
Intent: Know where the time goes.
Completion signal: A table of timings.
Completion pointers:
- round-331: table in docs/timings.md
Parallel lane: main
Coordination notes: none
Candidate directions:
- Direction id: measure-start
  Summary: Time the start.

### [in-progress] Load lazily
Milestone id: lazy
Depends on: measure
Intent: Load what is asked for,
  and nothing before that.
Completion signal: Start below 50 ms.
Completion pointers: none
Parallel lane: main
Coordination notes: Keep the loader's interface.
Risk owner: the loader team
Candidate directions:
- Direction id: lazy-session
  Summary: Load sessions
    on first use.
  Why it matters now: It is the largest part.
  Preconditions: measure
  Parallel hints: serial-by-default
  Boundary notes: loader only
  Extraction notes: one module per round
  Reviewers: two
- Direction id: lazy-fonts
  Summary: Load fonts on first use.
  Preconditions: the session loader is merged

### [pending] Ship
Milestone id: ship
Depends on: measure, lazy
Intent: Release it.
Completion signal: A tag.
Completion pointers: none
Parallel lane: main
Coordination notes: none
Candidate directions:
- Direction id: ship-it
  Summary: Release.
  Preconditions: lazy
";

pub(super) const HISTORY: &str =
    "# History\n\n## Completed Rounds\n\n- none yet\n\n## Superseded Revisions\n\n- none yet\n";

/// The second author, generation B.
pub(super) const DRESSED: &str = "\
# Loader roadmap

## Status Legend
`[pending]`, `[in-progress]`, `[done]`

## Goal
x
## Alignment Summary
x
## Outcome Boundaries
x
## Global Sequencing Rules
x
## Parallel Lanes
x

## Milestones

### [done] 1. Measure `start`

- Milestone id: `m-1`
- Depends on: none
- Intent: know where the
  time goes
- Completion signal: timings
- Parallel lane: `lane-a`
- Coordination notes: none

#### Completion Pointers: m-1

- round-229: timings in `docs/timings.md`

### 2. [in-progress] Load lazily

- Milestone id: `m-10`
- Depends on: `m-1`
- Intent: load on demand
- Completion signal: start below 50 ms
- Parallel lane: `lane-a`
- Coordination notes: none
- Candidate directions:
    - Direction id: `d-1`
    - Summary: sessions on
      first use
    - Preconditions: none

#### Completion Pointers: m-10

- none yet

#### Open points

- whose fonts?
";

pub(super) fn view() -> Value {
    let file = format!("{DIR}/roadmap.md");
    json!({
        "schema_version": "roadmap-view-v1",
        "roadmap_id": "fam",
        "roadmap_revision": "rev-001",
        "roadmap_dir": DIR,
        "roadmap_file": file,
        "milestones": [
            {"milestone_id": "m-1", "title": "Measure start", "status": "done", "depends_on": [],
             "parallel_lane": "lane-a", "status_anchor": "m-1-status", "completion_anchor": "m-1-pointers",
             "direction_ids": []},
            {"milestone_id": "m-10", "title": "Load lazily", "status": "in-progress", "depends_on": ["m-1"],
             "parallel_lane": "lane-a", "status_anchor": "m-10-status", "completion_anchor": "m-10-pointers",
             "direction_ids": ["d-1"]},
        ],
        "directions": [
            {"direction_id": "d-1", "milestone_id": "m-10", "summary": "sessions", "preconditions": ["m-1", "a clean base"],
             "parallel_hints": "serial-by-default"},
        ],
        "anchors": {
            "m-1-status": {"target_file": file, "selector": "### [done] 1. Measure `start`"},
            "m-1-pointers": {"target_file": file, "selector": "#### Completion Pointers: m-1"},
            "m-10-status": {"target_file": file, "selector": "### 2. [in-progress] Load lazily"},
            "m-10-pointers": {"target_file": file, "selector": "#### Completion Pointers: m-10"},
            "roadmap-history-completed-rounds":
                {"target_file": "orchestrator/roadmaps/fam/roadmap-history.md", "selector": "## Completed Rounds"},
        },
    })
}

pub(super) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

pub(super) fn markdown<'t>(bundle: &'t ActiveBundle, roadmap: &'t str) -> BundleTexts<'t> {
    BundleTexts {
        generation: Generation::StructuredMarkdown,
        bundle,
        roadmap,
        view: None,
        history: Some(HISTORY),
    }
}

pub(super) fn records<'t>(bundle: &'t ActiveBundle, roadmap: &'t str, view: &'t str) -> BundleTexts<'t> {
    BundleTexts { generation: Generation::Records, bundle, roadmap, view: Some(view), history: Some(HISTORY) }
}
