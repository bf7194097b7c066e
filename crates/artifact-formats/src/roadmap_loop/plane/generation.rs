//! Which generation of the contract a control plane follows, told from its state and the files present (sections 0, 17).
//! It knows names of files and what they give away; it opens none.

use super::names::PLANE_DIR;
use super::old_roadmap;
use super::problem::{Problem, Severity};
use super::roadmap::RoadmapText;
use super::state::{ActiveBundle, STATE_FILE, StateFile};
use crate::fault::excerpt;
use crate::faults::Faults;
use crate::recognised::Recognised;

/// A form of the contract that is run as it stands, and written back in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Generation {
    /// `roadmap-view.json` and JSON records decide.
    Records,
    /// Labels in `roadmap.md` and in the rounds' Markdown decide.
    StructuredMarkdown,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PlaneKind {
    /// Another tool's folder of the same name. Says what is different.
    NotAnOrchestrator(String),
    /// The state is meant to be ours and cannot be read.
    Unreadable(Faults),
    /// The contract before records; recognised and migrated on request only.
    Legacy {
        why: Vec<String>,
    },
    /// Neither of the two forms that are run.
    MigrationNeeded {
        why: Vec<String>,
    },
    Runs(PlaneFiles),
}

/// What there is of a plane that can be run, once nothing in `missing` is fatal.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaneFiles {
    pub generation: Generation,
    pub bundle: ActiveBundle,
    /// Required files that are not there, by name.
    pub missing: Vec<Problem>,
    /// Files of another generation lying around, and other oddities that do not matter to a run.
    pub mixed: Vec<Problem>,
}

const CONTRACT_FILES: [&str; 9] = [
    "state-schema.md",
    "artifact-manifest.md",
    "project-contract.md",
    "role-contract.md",
    "roadmap-update-schema.md",
    "roles/planner.md",
    "roles/implementer.md",
    "roles/reviewer.md",
    "roles/recovery-investigator.md",
];
const BUNDLE_CONTRACT: &str = "active-roadmap-bundle.md";
const RECORD_SCHEMAS: [&str; 3] =
    ["selection-record-schema.md", "round-plan-record-schema.md", "round-finalization-schema.md"];
const RETIRED_ROLES: [&str; 2] = ["roles/guider.md", "roles/merger.md"];
const SHORTCUTS: [&str; 4] = ["roadmap.md", "verification.md", "retry-subloop.md", "roadmap-view.json"];

impl PlaneKind {
    /// From the state as it was recognised, the paths of the plane's files from the top of the repository, and the text
    /// of the active `roadmap.md` where there is one.
    pub fn of(state: &Recognised<StateFile>, files: &[&str], roadmap: Option<&str>) -> Self {
        let state = match state {
            Recognised::Ours(state) => state,
            Recognised::Foreign(why) => return Self::NotAnOrchestrator(why.clone()),
            Recognised::Invalid(faults) => return Self::Unreadable(faults.clone()),
        };
        let present = Present { files };
        let mut why = legacy_signs(state, &present);
        if !why.is_empty() {
            why.extend(state.bundle().zip(roadmap).and_then(|(bundle, text)| old_milestone(&bundle, text)));
            return Self::Legacy { why };
        }
        let Some(bundle) = state.bundle() else {
            let faults = state.sound().err();
            let unknown = || Faults::one(STATE_FILE, "it does not say which roadmap is active");
            return Self::Unreadable(faults.unwrap_or_else(unknown));
        };
        if !present.in_plane(BUNDLE_CONTRACT) {
            let why =
                format!("{PLANE_DIR}/{BUNDLE_CONTRACT} is missing, so nothing says how the roadmap is read");
            return Self::MigrationNeeded { why: vec![why] };
        }
        let has_schemas = RECORD_SCHEMAS.iter().any(|name| present.in_plane(name));
        let text = roadmap.map(|text| RoadmapText::read("roadmap.md", text));
        let has_labels = text.as_ref().is_some_and(RoadmapText::is_structured);
        // Labels for pointers came with structured Markdown, so without them the schemas tell what was meant.
        let has_pointers = text.as_ref().is_some_and(RoadmapText::has_pointer_labels);
        let generation =
            if present.has(&format!("{}/roadmap-view.json", bundle.dir)) || (has_schemas && !has_pointers) {
                Generation::Records
            } else if has_labels {
                Generation::StructuredMarkdown
            } else {
                return Self::MigrationNeeded { why: no_machine_source(&bundle, roadmap) };
            };
        Self::Runs(PlaneFiles {
            generation,
            missing: missing(generation, &bundle, &present),
            mixed: mixed(generation, &bundle, &present),
            bundle,
        })
    }
}

struct Present<'a> {
    files: &'a [&'a str],
}

impl Present<'_> {
    fn has(&self, path: &str) -> bool {
        self.files.contains(&path)
    }

    fn in_plane(&self, name: &str) -> bool {
        self.has(&format!("{PLANE_DIR}/{name}"))
    }
}

/// Old rounds and old families keep the files of their time, so only the state, the roles and the active bundle count.
fn legacy_signs(state: &StateFile, present: &Present<'_>) -> Vec<String> {
    let mut why = Vec::new();
    if !state.legacy_keys.is_empty() {
        why.push(format!("{STATE_FILE} has keys of the older contract: {}", state.legacy_keys.join(", ")));
    }
    if let Some(bundle) = state.bundle() {
        let retry = format!("{}/retry-subloop.md", bundle.dir);
        if present.has(&retry) {
            why.push(format!("{retry} belongs to the older contract"));
        }
    }
    let retired = RETIRED_ROLES.iter().filter(|role| present.in_plane(role));
    if !present.in_plane(BUNDLE_CONTRACT) {
        why.extend(retired.map(|role| format!("{PLANE_DIR}/{role} is a role of the older contract")));
    }
    why
}

fn no_machine_source(bundle: &ActiveBundle, roadmap: Option<&str>) -> Vec<String> {
    let dir = &bundle.dir;
    let mut why = vec![format!("{dir}/roadmap-view.json is missing")];
    match roadmap {
        Some(text) => {
            why.push(format!("{dir}/roadmap.md has no milestones with a status and a `Milestone id:` label"));
            why.extend(old_milestone(bundle, text));
        }
        None => why.push(format!("{dir}/roadmap.md is missing")),
    }
    why
}

/// The first milestone that is written as the older contract did: under a heading without labels, or in a numbered list.
fn old_milestone(bundle: &ActiveBundle, roadmap: &str) -> Option<String> {
    let old = old_roadmap::read(roadmap).milestones;
    let first = old.iter().find(|milestone| !milestone.is_named)?;
    let (dir, line, words) = (&bundle.dir, first.line, excerpt(&first.selector));
    let all = old.len();
    Some(format!(
        "{dir}/roadmap.md:{line}: {words} is a milestone of the older contract, without a `Milestone id:` label ({all} \
         {} in all)",
        if all == 1 { "milestone" } else { "milestones" }
    ))
}

fn missing(generation: Generation, bundle: &ActiveBundle, present: &Present<'_>) -> Vec<Problem> {
    let mut required: Vec<(String, &'static str)> =
        CONTRACT_FILES.iter().map(|name| (format!("{PLANE_DIR}/{name}"), "17.2")).collect();
    if generation == Generation::Records {
        required.extend(RECORD_SCHEMAS.iter().map(|name| (format!("{PLANE_DIR}/{name}"), "17.2")));
        required.push((format!("{}/roadmap-view.json", bundle.dir), "4.3"));
    }
    required.push((format!("{}/roadmap.md", bundle.dir), "4.1"));
    required.push((format!("{}/verification.md", bundle.dir), "4.4"));
    let absent = required.into_iter().filter(|(path, _)| !present.has(path));
    absent.map(|(path, rule)| Problem::fatal(rule, &path, "this file is required and missing")).collect()
}

fn mixed(generation: Generation, bundle: &ActiveBundle, present: &Present<'_>) -> Vec<Problem> {
    let mut odd: Vec<(String, &'static str, &str)> = Vec::new();
    for name in SHORTCUTS.iter().filter(|name| present.in_plane(name)) {
        let message = "a copy at the top of the plane is forbidden; the active bundle's file counts";
        odd.push((format!("{PLANE_DIR}/{name}"), "2", message));
    }
    for role in RETIRED_ROLES.iter().filter(|role| present.in_plane(role)) {
        odd.push((format!("{PLANE_DIR}/{role}"), "2", "this role was retired; nobody is sent in it"));
    }
    if generation == Generation::StructuredMarkdown {
        for name in RECORD_SCHEMAS.iter().filter(|name| present.in_plane(name)) {
            let message =
                "this schema describes JSON records, which a plane of structured Markdown does not have";
            odd.push((format!("{PLANE_DIR}/{name}"), "25.1", message));
        }
    }
    let history = super::names::history_file(&bundle.roadmap_id);
    if !present.has(&history) {
        odd.push((history, "4.5", "there is no history file, so a closeout may have no history entries"));
    }
    let warning = |(path, rule, message): (String, &'static str, &str)| {
        Problem::fatal(rule, &path, message).weighing(Severity::Warning)
    };
    odd.into_iter().map(warning).collect()
}
