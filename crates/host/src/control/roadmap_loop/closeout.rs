//! `windlass roadmap closeout`: makes exactly the edits that a reviewer approved in the bundle of the checkout, all of them
//! or none. Nothing is committed: whoever asks for it by hand merges by hand.

use super::on_disk::OnDisk;
use super::{hold_briefly, unusable};
use crate::durable_file::{Flush, replace};
use crate::fault::{bug, file_fault, git_fault};
use crate::host::Host;
use crate::state_dir::make_private;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use windlass_artifact_formats::roadmap_loop::closeout::{Closeout, CloseoutMode};
use windlass_artifact_formats::roadmap_loop::lineage::Lineage;
use windlass_artifact_formats::roadmap_loop::plane::{
    ActiveBundle, Applied, Generation, PlaneKind, STATE_FILE, apply_closeout,
};
use windlass_artifact_formats::roadmap_loop::round::{Review, ReviewDecision, Selection, files, sha256_hex};
use windlass_control_api::roadmap_setup::{CloseoutRoadmap, RoadmapCloseout};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::Checkout;

const NOTHING: &str = "nothing was written";

pub(crate) async fn closeout(host: &Host, command: &CloseoutRoadmap) -> Result<RoadmapCloseout, Fault> {
    let checkout = Checkout::discover(&command.repository).map_err(git_fault)?;
    let top = checkout.work_tree().to_owned();
    if command.dry_run {
        return Ok(Approved::of(&top, &command.review)?.report(&top));
    }
    let plan = host.state.path().join("closeouts").join(format!("{}.json", checkout.repository_key()));
    let repository = host.repository(checkout)?;
    hold_briefly(host, &repository, "windlass roadmap closeout", || {
        // Cut off in the middle: it is gone through with before anything else is looked at.
        if let Some(begun) = Begun::found(&plan) {
            begun.finish(&top, &plan)?;
            if begun.review == command.review {
                return Ok(begun.report);
            }
        }
        let approved = Approved::of(&top, &command.review)?;
        let begun = approved.begin(&top, &command.review);
        begun.note(&plan)?;
        begun.finish(&top, &plan)?;
        Ok(begun.report)
    })
    .await
}

/// An approved closeout and what it makes of the bundle as it stands.
struct Approved {
    round: String,
    mode: CloseoutMode,
    before: Vec<(String, String)>,
    applied: Applied,
}

impl Approved {
    fn of(top: &Path, review: &Path) -> Result<Self, Fault> {
        let refused = |why: String| unusable(why).kept(NOTHING);
        let disk = OnDisk::look(top);
        let Some(found) = disk.state().map_err(refused)? else {
            return Err(refused(format!("there is no {STATE_FILE} here")));
        };
        let PlaneKind::Runs(plane) = disk.kind(&found) else {
            return Err(refused("this control plane cannot be run as it is".to_owned()));
        };
        let bundle = disk.bundle(plane.generation, &plane.bundle).map_err(refused)?;
        let (round, closeout, lineage) = read(review, plane.generation)?;
        same_bundle(&lineage, &plane.bundle)?;
        let applied = apply_closeout(&bundle.texts(), &closeout).map_err(|problems| {
            Fault::new(Code::NotAllowedNow, problems.to_string())
                .kept(NOTHING)
                .hint("the approved edits must fit the roadmap as it stands; have the round reviewed again")
        })?;
        let mut before = Vec::new();
        for (path, _) in &applied.files {
            before.push((path.clone(), disk.text(path).map_err(refused)?.unwrap_or_default()));
        }
        Ok(Self { round, mode: closeout.mode, before, applied })
    }

    fn report(&self, top: &Path) -> RoadmapCloseout {
        RoadmapCloseout {
            repository: top.to_string_lossy().into_owned(),
            round: self.round.clone(),
            mode: self.mode.to_string(),
            edits: self.applied.summary.clone(),
            files: self.applied.files.iter().map(|(path, _)| path.clone()).collect(),
            written: false,
        }
    }

    fn begin(&self, top: &Path, review: &Path) -> Begun {
        let written = self.before.iter().zip(&self.applied.files);
        let edits = written.map(|((path, before), (_, after))| Edit {
            path: path.clone(),
            before: sha256_hex(before.as_bytes()),
            after: after.clone(),
        });
        let report = RoadmapCloseout { written: true, ..self.report(top) };
        Begun { review: review.to_owned(), edits: edits.collect(), report }
    }
}

/// The review's closeout, with the round it is about and where that round comes from.
fn read(review: &Path, generation: Generation) -> Result<(String, Closeout, Lineage), Fault> {
    let refused = |why: String| Fault::new(Code::BadArgument, why).kept(NOTHING);
    let text = |path: &Path| std::fs::read_to_string(path).map_err(|error| file_fault("read", path, &error));
    let folder = review.parent().unwrap_or(Path::new(""));
    let round =
        folder.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let Some(round) = round else {
        return Err(refused(format!("{} does not lie in the folder of a round", review.display())));
    };
    let name = review.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let expected = match generation {
        Generation::Records => files::REVIEW_RECORD,
        Generation::StructuredMarkdown => files::REVIEW,
    };
    if name != expected {
        return Err(refused(format!("in this control plane {expected} approves, not {name}")));
    }
    let own = text(review)?;
    let (read, lineage) = match generation {
        Generation::Records => {
            let prose = text(&folder.join(files::REVIEW)).ok();
            let read = Review::from_record(&round, &own, prose.as_deref())
                .map_err(|faults| refused(faults.to_string()))?;
            let lineage = read.lineage.clone();
            (read, lineage)
        }
        Generation::StructuredMarkdown => {
            let plan = Selection::from_plan(&round, &text(&folder.join(files::PLAN))?)
                .map_err(|faults| refused(faults.to_string()))?;
            let read = Review::from_markdown(&own, &plan.lineage.milestone_id)
                .map_err(|faults| refused(faults.to_string()))?;
            (read, Some(plan.lineage))
        }
    };
    let lineage = lineage.ok_or_else(|| bug("a review record without a lineage"))?;
    match read.decision {
        ReviewDecision::Approved { closeout } if closeout.mode == CloseoutMode::SemanticUpdateRequired => {
            let why = "the review asks for a new revision of the roadmap, and there is nothing to close out";
            Err(refused(why.to_owned()).hint("`windlass roadmap run` takes the update up"))
        }
        ReviewDecision::Approved { closeout } => Ok((round, closeout, lineage)),
        ReviewDecision::Rejected { .. } => Err(refused(format!("the review rejects {round}"))),
        ReviewDecision::Unclassified { why } => Err(refused(why)),
    }
}

fn same_bundle(lineage: &Lineage, active: &ActiveBundle) -> Result<(), Fault> {
    if (&lineage.roadmap_id, &lineage.roadmap_revision) == (&active.roadmap_id, &active.revision) {
        return Ok(());
    }
    let why = format!(
        "the review is about {}/{}, and {}/{} is active",
        lineage.roadmap_id, lineage.roadmap_revision, active.roadmap_id, active.revision
    );
    Err(Fault::new(Code::NotAllowedNow, why).kept(NOTHING))
}

/// Written down before the first file is: several files change, and a kill between two of them must not leave a bundle
/// that is half edited and refused as stale for ever.
#[derive(Serialize, Deserialize)]
struct Begun {
    review: PathBuf,
    edits: Vec<Edit>,
    report: RoadmapCloseout,
}

#[derive(Serialize, Deserialize)]
struct Edit {
    path: String,
    /// Of the text it replaces.
    before: String,
    after: String,
}

impl Begun {
    fn found(plan: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(plan).ok()?).ok()
    }

    fn note(&self, plan: &Path) -> Result<(), Fault> {
        make_private(plan.parent().unwrap_or(Path::new("/")))?;
        let text = serde_json::to_vec(self).map_err(|error| bug(error.to_string()))?;
        replace(plan, &text, Flush::ToDisk)
    }

    fn finish(&self, top: &Path, plan: &Path) -> Result<(), Fault> {
        for edit in &self.edits {
            let path = top.join(&edit.path);
            let found = std::fs::read(&path).map_err(|error| file_fault("read", &path, &error))?;
            if found == edit.after.as_bytes() {
                continue;
            }
            if sha256_hex(&found) != edit.before {
                let why = format!("{} was changed while the closeout was applied", edit.path);
                return Err(Fault::new(Code::NotAllowedNow, why)
                    .kept("the files that were written before it")
                    .hint("put the bundle back as it was committed, then try again"));
            }
            replace(&path, edit.after.as_bytes(), Flush::ToDisk)?;
        }
        // From here on it is done; a plan that stays would only find everything written.
        std::fs::remove_file(plan).map_err(|error| file_fault("remove", plan, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const DIR: &str = "orchestrator/roadmaps/fam/rev-001";
    const ROUND: &str = "orchestrator/rounds/round-004";

    fn roadmap() -> String {
        let sections =
            ["Goal", "Alignment Summary", "Outcome Boundaries", "Global Sequencing Rules", "Parallel Lanes"];
        let head = sections.map(|title| format!("## {title}\nSome words.\n\n")).concat();
        format!(
            "# Roadmap\n\n{head}## Milestones\n\n### [pending] Work\nMilestone id: m-1\nDepends on:\nIntent: work\n\
             Completion signal: it works\nCompletion pointers: none\nParallel lane: main\nCoordination notes: none\n\
             Candidate directions:\n- Direction id: d-1\n  Summary: do it\n"
        )
    }

    fn plan() -> String {
        format!(
            "### Selected Extraction\n- Milestone: Work\n- Milestone id: m-1\n- Direction id: d-1\n\
             - Extracted item id: item-1\n- Roadmap id: fam\n- Roadmap revision: rev-001\n- Roadmap dir: {DIR}\n\n\
             ### Goal\nMake it work.\n\n### Approach\nDo it.\n\n### Steps\n1. Work.\n\n### Verification\nRun it.\n\n\
             ### Scheduler\n- Depends on round ids: none\n- Merge after item ids: none\n- Parallel group: none\n"
        )
    }

    const REVIEW: &str = "### Checks Run\n- Command: `true`\n  Result: pass\n\n### Plan Compliance\n- Step 1: met\n\n\
        ### Findings\n- Blocking: no\n  Problem: none\n  Evidence: the diff\n  Suggested fix: none\n  Retry target: none\n\n\
        ### Decision\n**APPROVED**\n\n### Retry\n- Retry target: none\n- Required changes: none\n\n### Roadmap Closeout\n\
        - Mode: status-only\n- Status changes:\n  - `m-1`: pending -> done\n- Completion pointers:\n  - round-004: it works\n\
        - History entries:\n  - round-004: done\n- Semantic update reason: none\n\n### Evidence\nIt works.\n";

    fn checkout() -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        let state = format!(
            "{{\"contract_version\": \"orchestrator-v2\", \"base_branch\": \"main\", \"roadmap_id\": \"fam\",\n\
             \"roadmap_revision\": \"rev-001\", \"roadmap_dir\": \"{DIR}\", \"controller_stage\": \"dispatch-rounds\",\n\
             \"max_parallel_rounds\": 1, \"active_rounds\": [], \"roadmap_update\": null, \"resume_errors\": {{}},\n\
             \"retry\": null}}\n"
        );
        for (path, text) in [
            (STATE_FILE.to_owned(), state),
            ("orchestrator/active-roadmap-bundle.md".to_owned(), "How to read it.\n".to_owned()),
            (format!("{DIR}/roadmap.md"), roadmap()),
            (
                "orchestrator/roadmaps/fam/roadmap-history.md".to_owned(),
                "## Completed Rounds\n\n- none yet\n".to_owned(),
            ),
            (format!("{ROUND}/plan.md"), plan()),
            (format!("{ROUND}/review.md"), REVIEW.to_owned()),
        ] {
            let path = top.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        top
    }

    #[test]
    fn a_kill_between_two_files_is_made_good_and_a_second_closeout_is_refused() {
        let top = checkout();
        let (review, note) = (top.path().join(ROUND).join("review.md"), top.path().join("private/plan.json"));
        let begun = Approved::of(top.path(), &review).unwrap().begin(top.path(), &review);
        assert_eq!(begun.edits.len(), 2);
        begun.note(&note).unwrap();
        // Killed after the first of the two.
        fs::write(top.path().join(&begun.edits[0].path), &begun.edits[0].after).unwrap();
        assert!(Approved::of(top.path(), &review).is_err());
        let found = Begun::found(&note).unwrap();
        found.finish(top.path(), &note).unwrap();
        for edit in &begun.edits {
            assert_eq!(fs::read_to_string(top.path().join(&edit.path)).unwrap(), edit.after);
        }
        assert!(!note.exists());
        let again = Approved::of(top.path(), &review).err().unwrap();
        assert!(again.message.contains("done already"), "{}", again.message);
    }

    #[test]
    fn a_file_that_somebody_edited_meanwhile_is_not_overwritten() {
        let top = checkout();
        let (review, note) = (top.path().join(ROUND).join("review.md"), top.path().join("private/plan.json"));
        let begun = Approved::of(top.path(), &review).unwrap().begin(top.path(), &review);
        begun.note(&note).unwrap();
        let edited = top.path().join(&begun.edits[1].path);
        fs::write(&edited, "a person's\n").unwrap();
        assert!(begun.finish(top.path(), &note).is_err());
        assert_eq!(fs::read_to_string(&edited).unwrap(), "a person's\n");
    }

    #[test]
    fn a_rejection_closes_nothing_out() {
        let top = checkout();
        let review = top.path().join(ROUND).join("review.md");
        let text =
            REVIEW.replace("**APPROVED**", "**REJECTED: no**").replace("target: none", "target: implement");
        fs::write(&review, text).unwrap();
        assert!(Approved::of(top.path(), &review).is_err());
        assert!(fs::read_to_string(top.path().join(DIR).join("roadmap.md")).unwrap().contains("[pending]"));
    }
}
