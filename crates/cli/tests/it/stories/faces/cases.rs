//! The table: who asks what of a story that has come how far, and what they are told.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Works on the story.
    Ann,
    Bob,
    Reporter,
    Reviewer,
    Verifier,
    /// An orchestrator key of no agent.
    Nobody,
    User,
    /// A key that nobody has.
    Stranger,
    /// A user's key that is bound to Ann's agent.
    Shadow,
    /// Three sub-agents of one orchestrator, each under a root of its own that the user opened: the first works on the story.
    Hand,
    OtherHand,
    /// As an orchestrator.
    JudgingHand,
    /// Under a dispatch that a test opened last.
    Sent,
}

/// How far a story has come before the case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Pending,
    Contracted,
    Assigned,
    Implementing,
    Reported,
    Reviewed,
    /// Reviewed, given back, done and reported again.
    ReportedAgain,
    Verified,
    /// Worked on, then taken away.
    TakenBack,
    /// Contracted, then its title was edited.
    Reworded,
    /// Worked on, deleted.
    Deleted,
    /// Worked on, deleted and made again.
    MadeAgain,
    /// Ann tried to report her own work.
    Quarantined,
    /// Bob came with a token that nobody issued.
    TriedByAStranger,
    /// As the same without `Hand`, implemented by that sub-agent.
    ImplementingByHand,
    ReportedByHand,
    ReviewedByHand,
    /// Reviewed, and the verifier found a criterion to fail.
    CriterionFailed,
    /// Reviewed or verified, then a user forced other words on it, and another released it.
    ReviewedThenReworded,
    VerifiedThenReworded,
    /// Reviewed and rejected, in a tenant that does not set rejected stories back.
    RejectedAndKept,
    /// Contracted, and what it waits for was verified and then quarantined.
    BehindQuarantined,
    /// Brought in as done: nobody knows who made it. The second was reviewed.
    BroughtAsDone,
    BroughtAndReviewed,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Expected {
    Done,
    Refused(u16, &'static str),
    /// Refused by its status; the words may change.
    Status(u16),
}

use Expected::{Done, Refused, Status};
use Standing::{
    Assigned, BehindQuarantined, BroughtAndReviewed, BroughtAsDone, Contracted, CriterionFailed, Deleted,
    Implementing, ImplementingByHand, MadeAgain, Pending, Quarantined, RejectedAndKept, Reported,
    ReportedAgain, ReportedByHand, Reviewed, ReviewedByHand, ReviewedThenReworded, Reworded, TakenBack,
    TriedByAStranger, Verified, VerifiedThenReworded,
};
use Who::{Ann, Bob, JudgingHand, Nobody, OtherHand, Reporter, Reviewer, Shadow, User, Verifier};

pub(super) const CASES: &[(Who, &str, Standing, Expected)] = &[
    (Ann, "contract", Pending, Done),
    (Reviewer, "contract", Pending, Done),
    (User, "contract", Pending, Status(403)),
    (Ann, "contract", Contracted, Refused(409, "invalid_transition")),
    (Ann, "claim", Contracted, Done),
    (Ann, "claim", Pending, Refused(409, "must_contract_first")),
    (Bob, "claim", Assigned, Status(409)),
    (Verifier, "claim", Contracted, Status(403)),
    (User, "claim", Contracted, Status(403)),
    // A contract is with the words that were read.
    (Ann, "claim", Reworded, Refused(409, "must_contract_first")),
    (Ann, "start", Assigned, Done),
    (Ann, "start", Contracted, Refused(409, "must_claim_first")),
    (Ann, "start", Pending, Refused(409, "must_contract_first")),
    (Bob, "start", Assigned, Refused(403, "not_assigned_agent")),
    (Ann, "request-review", Implementing, Done),
    (Bob, "request-review", Implementing, Refused(403, "not_assigned_agent")),
    (Ann, "request-review", Assigned, Status(409)),
    (Reporter, "report", Implementing, Done),
    (Ann, "report", Implementing, Refused(409, "self_report_blocked")),
    (Nobody, "report", Implementing, Status(400)),
    (User, "report", Implementing, Status(403)),
    (Reporter, "report", Assigned, Status(409)),
    (Reviewer, "review-complete", Reported, Done),
    (User, "review-complete", Reported, Done),
    (Ann, "review-complete", Reported, Status(403)),
    (Nobody, "review-complete", Reported, Status(400)),
    (Verifier, "verify", Reviewed, Done),
    (Verifier, "verify", Reported, Refused(422, "no_review_record")),
    (Verifier, "verify", ReportedAgain, Refused(422, "review_before_report")),
    (Verifier, "verify", Implementing, Status(409)),
    (Verifier, "verify", Verified, Status(409)),
    (Reviewer, "verify", Reviewed, Refused(409, "shared_principal_blocked")),
    (Nobody, "verify", Reviewed, Status(400)),
    (Ann, "verify", Reviewed, Status(403)),
    (User, "verify", Reviewed, Status(403)),
    (Verifier, "reject", Reviewed, Done),
    (Verifier, "reject-bare", Reviewed, Refused(422, "reason_required")),
    (Verifier, "reject", Verified, Done),
    (Verifier, "reject", Pending, Status(409)),
    (Nobody, "reject", Reviewed, Status(400)),
    (Ann, "unclaim", Assigned, Done),
    (Bob, "unclaim", Assigned, Refused(403, "not_assigned_agent")),
    (Ann, "unclaim", Contracted, Status(403)),
    (Ann, "unclaim", Pending, Status(409)),
    (Verifier, "force-unclaim", Implementing, Done),
    (Verifier, "force-unclaim", Pending, Done),
    (Ann, "force-unclaim", Implementing, Status(403)),
    (Nobody, "force-unclaim", Implementing, Status(400)),
    (Verifier, "backfill", Pending, Done),
    (Ann, "backfill", Pending, Status(403)),
    (Verifier, "backfill", Implementing, Refused(422, "backfill_refused")),
    // What was worked on cannot be laundered by taking it away first.
    (Verifier, "backfill", TakenBack, Refused(422, "backfill_refused")),
    (Verifier, "backfill", Reworded, Refused(422, "backfill_refused")),
    (Verifier, "backfill", MadeAgain, Refused(422, "backfill_refused")),
    // Nor by deleting it first.
    (User, "import", Deleted, Refused(422, "import_invalid")),
    (User, "import-pending", Deleted, Done),
    // Sub-agents of one orchestrator are its hands, whatever their roots.
    (OtherHand, "report", ImplementingByHand, Refused(409, "self_report_blocked")),
    (Reporter, "report", ImplementingByHand, Done),
    (JudgingHand, "review-complete", ReportedByHand, Refused(409, "self_review_blocked")),
    (JudgingHand, "verify", ReviewedByHand, Refused(409, "self_verify_blocked")),
    (Verifier, "verify", ReviewedByHand, Done),
    (JudgingHand, "verify", Reviewed, Done),
    // Whoever caused a violation settles it by no path.
    (Shadow, "settle", Quarantined, Refused(403, "self_release_blocked")),
    (User, "settle", Quarantined, Done),
    (Shadow, "release", Quarantined, Refused(403, "self_release_blocked")),
    (Nobody, "release", Quarantined, Status(400)),
    (Verifier, "release", Quarantined, Done),
    (Verifier, "force-unclaim", Verified, Refused(409, "invalid_transition")),
    // A made-up token is refused, and holds up nobody else.
    (Bob, "report-forged", Implementing, Refused(403, "cap_rejected")),
    (Reporter, "report", TriedByAStranger, Done),
    (Verifier, "criterion", Reviewed, Done),
    (Reviewer, "criterion", Reviewed, Refused(409, "shared_principal_blocked")),
    (Ann, "criterion", Reviewed, Status(403)),
    (Verifier, "criterion", Implementing, Status(409)),
    (Verifier, "verify", CriterionFailed, Refused(422, "criterion_failed")),
    (Verifier, "reject", CriterionFailed, Done),
    // A verdict and a review are of the words they looked at.
    (Verifier, "verify", ReviewedThenReworded, Refused(422, "review_outdated")),
    (Verifier, "verify", VerifiedThenReworded, Refused(422, "review_outdated")),
    (Reviewer, "review-complete", VerifiedThenReworded, Done),
    (Verifier, "verify", RejectedAndKept, Refused(422, "review_outdated")),
    (Reviewer, "review-complete", RejectedAndKept, Done),
    // What is held up serves nobody.
    (Ann, "claim", BehindQuarantined, Refused(409, "dependencies_not_met")),
    // Done elsewhere, and there to be seen.
    (Verifier, "backfill-bare", Pending, Refused(422, "evidence_required")),
    (User, "backfill-bare", Pending, Refused(422, "evidence_required")),
    (User, "backfill", Pending, Done),
    (Nobody, "backfill", Pending, Status(400)),
    (JudgingHand, "backfill", Pending, Refused(409, "self_backfill_blocked")),
    // Whoever implements in the project may have made it.
    (JudgingHand, "review-complete", BroughtAsDone, Refused(409, "unknown_maker_blocked")),
    (Shadow, "review-complete", BroughtAsDone, Refused(409, "unknown_maker_blocked")),
    (Reviewer, "review-complete", BroughtAsDone, Done),
    (JudgingHand, "verify", BroughtAndReviewed, Refused(409, "unknown_maker_blocked")),
    (Verifier, "verify", BroughtAndReviewed, Done),
];
