//! The two tracks of a story and every way to move it. Custody is held here, in one place, for all of them.
//! Reading order: `track`, `changes`, `state` (fold and indices), `guards` (who may), then the commands.

mod backfill;
mod bulk;
mod changes;
mod criteria;
mod guards;
mod implementing;
mod judging;
mod next_actions;
mod places;
mod records;
mod releasing;
mod state;
mod track;

use super::plan::StoryNumber;
use super::vocabulary::{EpicId, ProjectId, StoryId};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

pub use backfill::{BackfillStory, Backfilled, backfill};
pub use bulk::{
    BULK_MOST, BulkResult, JudgeOne, MarkComplete, VerifyAll, bulk_claim, bulk_mark_complete, bulk_reject,
    bulk_verify, verify_all,
};
pub use changes::{Change, How};
pub use criteria::{JudgeCriterion, judge_criterion};
pub use implementing::{
    Claimed, ContractEcho, RequestReview, ReviewRequested, Started, claim, contract, request_review, start,
};
pub use judging::{Judge, Judged, Reject, reject, verify};
pub use next_actions::{NextAction, next_actions};
pub use places::Listed;
pub use records::{
    CompleteReview, ReportArtifact, ReportDone, Reported, complete_review, report, report_artifact,
};
pub use releasing::{force_unclaim, unclaim};
pub use state::{Blocker, Counts};
pub use track::{
    AgentStatus, Artifact, Backfill, Contract, CriterionVerdict, Outdated, Principal, ReportedBy, Review,
    Standing, Track, Verdict, Verification, VerifiedStatus,
};

use places::Places;

pub(super) use backfill::{import_standing, require_no_maker};
pub(super) use guards::{has_part, is_outside, may_review, may_verify, track_of};
pub(super) use judging::chosen_instead;
pub(super) use releasing::{void_contract, void_verdict};

/// How stories are listed: by project, then number.
pub type Place = (ProjectId, StoryNumber, StoryId);

#[derive(Clone, Debug, Default)]
pub struct State {
    tracks: BTreeMap<StoryId, Track>,
    /// How many prerequisites are unmet: unverified stories by its own edges, and unfinished epics by its epic's.
    unmet: BTreeMap<StoryId, u32>,
    /// How many stories of the epic are not verified, or are quarantined.
    unverified_in: BTreeMap<EpicId, u32>,
    ready: Places,
    blocked: Places,
    awaiting: Places,
    by_project: BTreeMap<ProjectId, Counts>,
    by_epic: BTreeMap<EpicId, Counts>,
    completed: BTreeSet<EpicId>,
    /// Numbers of deleted stories that were worked on, and by whom: a new story under the old number keeps both.
    worked_numbers: BTreeMap<(ProjectId, StoryNumber), Vec<Principal>>,
}
