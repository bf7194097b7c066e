//! Which files each role of a roadmap loop may write. Everything else it touches is put back. Knows paths only; what the
//! files say is looked at elsewhere.

use windlass_artifact_formats::roadmap_loop::plane::names;
use windlass_artifact_formats::roadmap_loop::round::{RoundForm, RoundPlan, files};
use windlass_protocols::protocol::roadmap_rounds::steps::WorkKind;

/// What is known about the work beyond its kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'a> {
    pub(super) round: &'a str,
    pub(super) form: RoundForm,
    /// The plan that a worker has its share from.
    pub(super) plan: Option<&'a RoundPlan>,
    /// Of a plan that is being written: its planner does the work itself.
    pub(super) simple: bool,
    pub(super) roadmap_id: &'a str,
    pub(super) proposed_revision: Option<&'a str>,
}

/// The paths one role may write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WriteSet {
    /// Everything outside the control plane.
    code: bool,
    /// Files, and folders with all they hold, outside the control plane.
    scopes: Vec<String>,
    files: Vec<String>,
    folders: Vec<String>,
    /// Name of the one file that may be written in every worker's folder of the round, and where those are.
    of_workers: Option<(String, &'static str)>,
}

impl WriteSet {
    pub(super) fn of(kind: &WorkKind, about: &About<'_>) -> Self {
        let own = |names: &[&str]| names.iter().map(|name| files::in_round(about.round, name)).collect();
        match kind {
            WorkKind::Plan => Self::of_planner(about),
            WorkKind::Implement | WorkKind::Integrate => {
                Self { code: true, files: own(&[files::NOTES]), ..Self::default() }
            }
            WorkKind::Worker { worker } => Self::of_worker(worker, about),
            WorkKind::Review => match about.form {
                RoundForm::Records => {
                    Self { files: own(&[files::REVIEW, files::REVIEW_RECORD]), ..Self::default() }
                }
                RoundForm::StructuredMarkdown => Self { files: own(&[files::REVIEW]), ..Self::default() },
            },
            WorkKind::AuthorUpdate => Self {
                files: vec![names::update_artifact(about.round), names::history_file(about.roadmap_id)],
                folders: about
                    .proposed_revision
                    .map(|revision| names::roadmap_dir(about.roadmap_id, revision))
                    .into_iter()
                    .collect(),
                ..Self::default()
            },
            WorkKind::ReviewUpdate => {
                Self { files: vec![names::update_review_artifact(about.round)], ..Self::default() }
            }
            WorkKind::Investigate { .. } => Self::default(),
        }
    }

    fn of_planner(about: &About<'_>) -> Self {
        let mut wanted = vec![files::PLAN, files::UPDATE_REQUEST];
        if about.form == RoundForm::Records {
            wanted.extend([files::SELECTION_RECORD, files::PLAN_RECORD]);
        }
        if about.simple {
            wanted.push(files::NOTES);
        }
        let workers = format!("{}/workers/", files::round_dir(about.round));
        Self {
            code: about.simple,
            files: wanted.iter().map(|name| files::in_round(about.round, name)).collect(),
            of_workers: Some((workers, files::ASSIGNMENT)),
            ..Self::default()
        }
    }

    fn of_worker(worker: &str, about: &About<'_>) -> Self {
        let planned = about.plan.and_then(|plan| plan.worker(worker));
        let own = |name| files::in_round(about.round, &files::of_worker(worker, name));
        Self {
            scopes: planned.map(|planned| planned.write_scope.clone()).unwrap_or_default(),
            files: vec![own(files::NOTES), own(files::HANDOFF)],
            ..Self::default()
        }
    }

    /// Whether anything outside of the control plane is among them.
    pub(super) const fn takes_code(&self) -> bool {
        self.code || !self.scopes.is_empty()
    }

    /// The files of the control plane among them, as far as their names are known, and the folders the others lie in.
    pub(super) fn artifacts(&self) -> (&[String], impl Iterator<Item = &str>) {
        let folders = self.folders.iter().map(String::as_str);
        (&self.files, folders.chain(self.of_workers.iter().map(|(folder, _)| folder.trim_end_matches('/'))))
    }

    pub(super) fn takes(&self, path: &[u8]) -> bool {
        let named = |wanted: &String| wanted.as_bytes() == path;
        if is_inside(path, names::PLANE_DIR.as_bytes()) {
            return self.files.iter().any(named)
                || self.folders.iter().any(|folder| is_inside(path, folder.as_bytes()))
                || self.of_workers.as_ref().is_some_and(|(workers, name)| {
                    let rest = path.strip_prefix(workers.as_bytes());
                    let parts = rest.and_then(|rest| std::str::from_utf8(rest).ok()?.split_once('/'));
                    parts.is_some_and(|(_, file)| file == *name)
                });
        }
        self.code || self.scopes.iter().any(|scope| in_scope(path, scope))
    }
}

/// The folder itself or something in it, by whole names.
fn is_inside(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

fn in_scope(path: &[u8], scope: &str) -> bool {
    let bare = scope.trim().trim_start_matches("./").trim_end_matches("**").trim_end_matches('/');
    !bare.is_empty() && is_inside(path, bare.as_bytes())
}

/// Whether a plan says that its planner does the work itself, also one that has other faults: the work that came with it
/// is not to be lost over them.
pub(super) fn says_simple(round: &str, plan: &str) -> bool {
    match RoundPlan::from_plan(round, plan) {
        Ok(plan) => plan.is_simple(),
        Err(_) => plan.lines().any(|line| {
            let line = line.trim_start_matches(['-', '*', ' ']).to_ascii_lowercase();
            let value =
                line.strip_prefix("complexity:").map(|value| value.trim().trim_matches('`').to_owned());
            value.as_deref() == Some("simple")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(form: RoundForm) -> About<'static> {
        About {
            round: "round-004",
            form,
            plan: None,
            simple: false,
            roadmap_id: "2026-01-01-00-x",
            proposed_revision: Some("rev-002"),
        }
    }

    fn taken<'p>(kind: &WorkKind, about: &About<'_>, paths: &[&'p str]) -> Vec<&'p str> {
        let set = WriteSet::of(kind, about);
        paths.iter().filter(|path| set.takes(path.as_bytes())).copied().collect()
    }

    const PATHS: [&str; 19] = [
        "src/main.rs",
        "orchestrator-notes.md",
        "orchestrator/state.json",
        "orchestrator/roles/planner.md",
        "orchestrator/rounds/round-004/plan.md",
        "orchestrator/rounds/round-004/selection-record.json",
        "orchestrator/rounds/round-004/round-plan-record.json",
        "orchestrator/rounds/round-004/roadmap-update-request.md",
        "orchestrator/rounds/round-004/implementation-notes.md",
        "orchestrator/rounds/round-004/review.md",
        "orchestrator/rounds/round-004/review-record.json",
        "orchestrator/rounds/round-004/closeout-record.json",
        "orchestrator/rounds/round-004/workers/a/assignment.md",
        "orchestrator/rounds/round-004/workers/a/handoff.md",
        "orchestrator/rounds/round-0041/plan.md",
        "orchestrator/roadmaps/2026-01-01-00-x/rev-001/roadmap.md",
        "orchestrator/roadmaps/2026-01-01-00-x/rev-002/roadmap.md",
        "orchestrator/roadmap-updates/round-004-roadmap-update.md",
        "orchestrator/roadmap-updates/round-004-roadmap-update-review.md",
    ];

    #[test]
    fn each_role_writes_its_own_row_of_the_table_and_nothing_else() {
        let records = about(RoundForm::Records);
        let planner = taken(&WorkKind::Plan, &records, &PATHS);
        assert_eq!(planner, [PATHS[4], PATHS[5], PATHS[6], PATHS[7], PATHS[12]]);
        for kind in [WorkKind::Implement, WorkKind::Integrate] {
            assert_eq!(taken(&kind, &records, &PATHS), [PATHS[0], PATHS[1], PATHS[8]]);
        }
        assert_eq!(taken(&WorkKind::Review, &records, &PATHS), [PATHS[9], PATHS[10]]);
        assert_eq!(taken(&WorkKind::AuthorUpdate, &records, &PATHS), [PATHS[16], PATHS[17]]);
        assert_eq!(taken(&WorkKind::ReviewUpdate, &records, &PATHS), [PATHS[18]]);
        assert_eq!(taken(&WorkKind::Investigate { update: false }, &records, &PATHS), [""; 0]);
    }

    #[test]
    fn structured_markdown_has_no_records_and_a_simple_round_is_its_planners() {
        let mut markdown = about(RoundForm::StructuredMarkdown);
        assert_eq!(taken(&WorkKind::Plan, &markdown, &PATHS), [PATHS[4], PATHS[7], PATHS[12]]);
        assert_eq!(taken(&WorkKind::Review, &markdown, &PATHS), [PATHS[9]]);
        markdown.simple = true;
        let simple = taken(&WorkKind::Plan, &markdown, &PATHS);
        assert_eq!(simple, [PATHS[0], PATHS[1], PATHS[4], PATHS[7], PATHS[8], PATHS[12]]);
    }

    #[test]
    fn scopes_are_compared_by_whole_names_and_never_reach_into_the_plane() {
        for (path, scope, inside) in [
            ("src/a/b.rs", "src/a", true),
            ("src/a/b.rs", "src/a/", true),
            ("src/a/b.rs", "./src/a/**", true),
            ("src/ab.rs", "src/a", false),
            ("src/a.rs", "src/a.rs", true),
            ("src/a.rs", "", false),
        ] {
            assert_eq!(in_scope(path.as_bytes(), scope), inside, "{path} in {scope:?}");
        }
        let set = WriteSet { scopes: vec!["orchestrator".to_owned()], ..WriteSet::default() };
        assert!(!set.takes(b"orchestrator/state.json"));
    }

    #[test]
    fn a_plan_with_faults_still_says_that_it_is_simple() {
        assert!(says_simple("round-004", "### Execution Profile\n\n- Complexity: `simple`\n"));
        assert!(!says_simple("round-004", "### Execution Profile\n\nComplexity: standard\n"));
        assert!(!says_simple("round-004", "a simple plan\n"));
    }
}
