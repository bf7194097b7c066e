//! What must hold of any history of a tenant, judged from the entries alone and with bookkeeping of its own: if this and
//! the commands ever disagree, one of them is wrong.

use super::facts::{self, Entry};
use super::vocabulary::{StoryId, TokenId};
use super::work::{self, AgentStatus, How, Principal, Standing, VerifiedStatus};
use super::{custody, plan};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    ReportedByImplementer(StoryId),
    ReviewedByImplementer(StoryId),
    VerifiedByImplementer(StoryId),
    VerifiedByItsOnlyReporter(StoryId),
    VerifiedWithoutReview(StoryId),
    VerifiedUnderQuarantine(StoryId),
    ClaimedTwice(StoryId),
    BackfilledAfterWork(StoryId),
    BackfilledTwice(StoryId),
    ImportedAsVerifiedWithoutReason(StoryId),
    /// An entry says the story stood where it did not.
    WrongStanding(StoryId),
    UnknownStory(StoryId),
    TokenUsedTwice(TokenId),
    OutsideAnyProject(StoryId),
}

#[derive(Default)]
struct Seen {
    standing: Standing,
    assigned: Option<Principal>,
    /// Who ever started it.
    implementers: Vec<Principal>,
    worked: bool,
    backfilled: bool,
    reporter: Option<Principal>,
    reviewed_since_report: bool,
    violations: u32,
}

impl Seen {
    fn implemented_by(&self, who: &Principal) -> bool {
        self.assigned.iter().chain(&self.implementers).any(|one| one.same_as(who))
    }
}

#[derive(Default)]
struct History {
    stories: BTreeMap<StoryId, Seen>,
    used: BTreeSet<TokenId>,
}

/// The first thing that is wrong with the history.
pub fn broken(entries: &[Entry]) -> Option<Broken> {
    let mut history = History::default();
    entries.iter().find_map(|entry| history.take(entry).err())
}

impl History {
    fn take(&mut self, entry: &Entry) -> Result<(), Broken> {
        match &entry.change {
            facts::Change::Plan(plan::Change::StoryAdded { story }) => {
                self.stories.insert(story.id, Seen::default());
            }
            facts::Change::Plan(plan::Change::StoryDeleted { story }) => {
                self.stories.remove(&story.id);
            }
            facts::Change::Work(change) => return self.worked(entry, change),
            facts::Change::Custody(custody::Change::TokenConsumed { token, .. }) => {
                if !self.used.insert(*token) {
                    return Err(Broken::TokenUsedTwice(*token));
                }
            }
            facts::Change::Custody(custody::Change::ViolationSeen { violation }) => {
                if let Some(seen) = self.stories.get_mut(&violation.story) {
                    seen.violations += 1;
                }
            }
            facts::Change::Custody(custody::Change::ViolationClosed { story, .. }) => {
                if let Some(seen) = self.stories.get_mut(story) {
                    seen.violations = seen.violations.saturating_sub(1);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn worked(&mut self, entry: &Entry, change: &work::Change) -> Result<(), Broken> {
        let by = Principal::of(&entry.by);
        match change {
            work::Change::Moved { story, from, to, how } => {
                let seen = self.stories.get_mut(story).ok_or(Broken::UnknownStory(*story))?;
                if entry.project.is_none() {
                    return Err(Broken::OutsideAnyProject(*story));
                }
                if seen.standing != *from {
                    return Err(Broken::WrongStanding(*story));
                }
                seen.moved(*story, by, *to, how)?;
                seen.standing = *to;
            }
            work::Change::Reviewed { review } => {
                let seen = self.stories.get_mut(&review.story).ok_or(Broken::UnknownStory(review.story))?;
                if seen.implemented_by(&by) {
                    return Err(Broken::ReviewedByImplementer(review.story));
                }
                seen.reviewed_since_report = true;
            }
            _ => {}
        }
        Ok(())
    }
}

impl Seen {
    fn moved(&mut self, story: StoryId, by: Principal, to: Standing, how: &How) -> Result<(), Broken> {
        match how {
            How::Claimed => {
                if self.assigned.is_some() {
                    return Err(Broken::ClaimedTwice(story));
                }
                self.assigned = Some(by);
                self.worked = true;
            }
            How::Started => self.implementers.push(by),
            How::Reported => {
                if self.implemented_by(&by) {
                    return Err(Broken::ReportedByImplementer(story));
                }
                self.reporter = Some(by);
                self.reviewed_since_report = false;
            }
            How::Verified { .. } => self.verified(story, &by)?,
            How::Backfilled { .. } if self.worked => return Err(Broken::BackfilledAfterWork(story)),
            How::Backfilled { .. } if self.backfilled => return Err(Broken::BackfilledTwice(story)),
            How::Backfilled { .. } => self.backfilled = true,
            How::Imported { reason } => {
                if to.verified == VerifiedStatus::Verified && reason.is_none() {
                    return Err(Broken::ImportedAsVerifiedWithoutReason(story));
                }
                self.reporter = Some(by);
                self.reviewed_since_report = false;
            }
            How::ContractVoided | How::AutoReset | How::Unclaimed | How::ForceUnclaimed => {
                self.assigned = None;
            }
            How::Contracted { .. } | How::Rejected { .. } => {}
        }
        // Whatever the way was called, only these three end in "verified".
        let closes = matches!(how, How::Verified { .. } | How::Backfilled { .. } | How::Imported { .. });
        let opened = self.standing.verified != VerifiedStatus::Verified;
        if to.verified == VerifiedStatus::Verified && opened && !closes {
            return Err(Broken::VerifiedWithoutReview(story));
        }
        Ok(())
    }

    fn verified(&self, story: StoryId, by: &Principal) -> Result<(), Broken> {
        if self.implemented_by(by) {
            return Err(Broken::VerifiedByImplementer(story));
        }
        let reported_it = self.reporter.as_ref().is_some_and(|reporter| reporter.same_as(by));
        if self.implementers.is_empty() && reported_it {
            return Err(Broken::VerifiedByItsOnlyReporter(story));
        }
        if !self.reviewed_since_report || self.standing.agent != AgentStatus::ReportedDone {
            return Err(Broken::VerifiedWithoutReview(story));
        }
        if self.violations > 0 {
            return Err(Broken::VerifiedUnderQuarantine(story));
        }
        Ok(())
    }
}
