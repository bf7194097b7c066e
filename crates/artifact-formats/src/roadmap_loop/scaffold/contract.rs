//! The files that say how a plane is worked on: schemas, roles, the project's own contract, and the rule that keeps the
//! rounds' worktrees out of the repository.

use super::ScaffoldFile;
use super::family::list_or;
use super::outline::Family;
use crate::roadmap_loop::plane::Generation;
use crate::roadmap_loop::plane::names::PLANE_DIR;

/// A file of our own, so that nobody's ignore rules have to be edited.
pub const IGNORE_FILE: &str = "orchestrator/.gitignore";
const IGNORE_RULE: &str = "# Checkouts of live rounds.\n/worktrees/\n";

macro_rules! text {
    ($name:literal) => {
        include_str!(concat!("texts/", $name))
    };
}

/// Everything beside the state and the roadmaps.
pub fn contract_files(generation: Generation, family: &Family) -> Vec<ScaffoldFile> {
    let mut files = vec![
        in_plane("state-schema.md", text!("state-schema.md")),
        in_plane("role-contract.md", text!("role-contract.md")),
        in_plane("roadmap-update-schema.md", text!("roadmap-update-schema.md")),
        in_plane("project-contract.md", &project_contract(family)),
        in_plane("roles/implementer.md", text!("roles/implementer.md")),
        in_plane("roles/recovery-investigator.md", text!("roles/recovery-investigator.md")),
    ];
    let (planner, reviewer) = (text!("roles/planner.md"), text!("roles/reviewer.md"));
    let with = |name: &str, common: &str, own: &str| in_plane(name, &format!("{common}{own}"));
    match generation {
        Generation::StructuredMarkdown => files.extend([
            in_plane("artifact-manifest.md", text!("artifact-manifest.md")),
            in_plane("active-roadmap-bundle.md", text!("active-roadmap-bundle.md")),
            with("roles/planner.md", planner, text!("roles/planner-markdown.md")),
            with("roles/reviewer.md", reviewer, text!("roles/reviewer-markdown.md")),
        ]),
        Generation::Records => files.extend([
            in_plane("artifact-manifest.md", text!("artifact-manifest-records.md")),
            in_plane("active-roadmap-bundle.md", text!("active-roadmap-bundle-records.md")),
            in_plane("selection-record-schema.md", text!("selection-record-schema.md")),
            in_plane("round-plan-record-schema.md", text!("round-plan-record-schema.md")),
            in_plane("round-finalization-schema.md", text!("round-finalization-schema.md")),
            with("roles/planner.md", planner, text!("roles/planner-records.md")),
            with("roles/reviewer.md", reviewer, text!("roles/reviewer-records.md")),
        ]),
    }
    files.push(ScaffoldFile::new(IGNORE_FILE, IGNORE_RULE));
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

/// Whether ignore rules, of the repository's top and of the plane, keep the worktrees out.
pub fn ignores_worktrees(top: Option<&str>, plane: Option<&str>) -> bool {
    let names = |text: Option<&str>, known: &[&str]| {
        let mut lines =
            text.into_iter().flat_map(str::lines).map(|line| line.trim().trim_end_matches(['*', '/']));
        lines.any(|line| known.contains(&line))
    };
    names(top, &["orchestrator/worktrees", "/orchestrator/worktrees", "**/worktrees", "worktrees"])
        || names(plane, &["worktrees", "/worktrees"])
}

fn in_plane(name: &str, text: &str) -> ScaffoldFile {
    ScaffoldFile::new(format!("{PLANE_DIR}/{name}"), text)
}

fn project_contract(family: &Family) -> String {
    const NONE: &str = "none discovered yet";
    let ledger = &family.ledger;
    format!(
        "# Project contract\n\nWhat holds for every round of this repository, whichever roadmap is active.\n\n\
         ## Stable Interfaces\n\n{}\n\n## Alignment Invariants\n\n- Architecture posture: {}\n- Risk posture: {}\n\n\
         ## Verification Anchors\n\n{}\n\n## Update Rule\n\nA round may add what it discovered, with its evidence, where \
         its reviewer agrees. Taking something away is a semantic roadmap update.\n",
        list_or(NONE, "Promise", &ledger.compatibility_promises),
        ledger.architecture_posture,
        ledger.risk_posture,
        list_or(NONE, "Check", &family.baseline_checks),
    )
}
