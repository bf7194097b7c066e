//! What must hold of any history of a tenant, judged from the entries alone and with bookkeeping of its own: if this and
//! the commands ever disagree, one of them is wrong.

mod actors;

use super::custody::{Holds, Violation, ViolationKind};
use super::facts::{self, Entry};
use super::plan::StoryNumber;
use super::tenancy::SettingValue;
use super::vocabulary::{DispatchId, ProjectId, StoryId, TokenId, ViolationId};
use super::work::{self, AgentStatus, How, Standing, VerifiedStatus};
use super::{custody, plan, tenancy};
use actors::{Actors, Hands};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    ReportedByImplementer(StoryId),
    ReviewedByImplementer(StoryId),
    /// Or rejected: a verdict is never the implementer's.
    VerifiedByImplementer(StoryId),
    VerifiedByItsOnlyReporter(StoryId),
    /// Two of reporter, reviewer and verifier share a hand where the tenant wants three.
    OneActorForTwoParts(StoryId),
    /// The verifier that the server chose shares a hand with whoever implemented.
    ChosenAmongImplementers(StoryId),
    VerifiedWithoutReview(StoryId),
    VerifiedUnderQuarantine(StoryId),
    VerifiedWithAFailedCriterion(StoryId),
    /// It was reworded, and the verdict of the old words still stands.
    VerifiedInOtherWords(StoryId),
    /// Nobody could ever take it up again.
    VerifiedAndPending(StoryId),
    ClaimedTwice(StoryId),
    BackfilledAfterWork(StoryId),
    BackfilledTwice(StoryId),
    ImportedAsVerifiedWithoutReason(StoryId),
    /// Said to be done elsewhere by whoever implements stories of the project.
    ClosedByAMaker(StoryId),
    /// A standing was brought for a number that was worked on.
    ImportedAfterWork(StoryId),
    /// An entry says the story stood where it did not.
    WrongStanding(StoryId),
    UnknownStory(StoryId),
    TokenUsedTwice(TokenId),
    OutsideAnyProject(StoryId),
    /// Somebody without a part in the story held it up.
    HeldByAStranger(ViolationId),
    /// By whoever caused it or implemented the story.
    SettledByItsCause(ViolationId),
}

/// Unique among stories that live; a deleted one's may come again.
type Number = (ProjectId, StoryNumber);

#[derive(Default)]
struct Seen {
    number: Option<Number>,
    standing: Standing,
    assigned: Option<Hands>,
    /// Who ever started it, also under the same number before it was deleted.
    implementers: Vec<Hands>,
    /// Who ever had it in hand. Verdicts are not judged by it: a claim that was given back barred nobody once.
    claimers: Vec<Hands>,
    worked: bool,
    backfilled: bool,
    reporter: Option<Hands>,
    /// Since it was last reported.
    reviewers: Vec<Hands>,
    chosen: Option<DispatchId>,
    held: BTreeSet<ViolationId>,
    /// Criteria that were found to fail since it was last reported.
    failed: BTreeSet<String>,
    /// Since its last verdict.
    reworded: bool,
}

impl Seen {
    fn implemented_by(&self, who: &Hands) -> bool {
        who.touch_any(self.assigned.iter().chain(&self.implementers))
    }

    fn has_part(&self, who: &Hands) -> bool {
        let others = self.claimers.iter().chain(&self.reporter).chain(&self.reviewers);
        self.implemented_by(who) || who.touch_any(others)
    }
}

/// What is told of an entry's author.
struct By {
    hands: Hands,
    /// Reporter, reviewer and verifier are to be three.
    three_parts: bool,
}

#[derive(Default)]
struct History {
    actors: Actors,
    /// The tenant lets one actor report, review and verify.
    parts_may_meet: bool,
    stories: BTreeMap<StoryId, Seen>,
    /// Who implemented what stood under the number, and who had it in hand.
    deleted: BTreeMap<Number, (Vec<Hands>, Vec<Hands>)>,
    used: BTreeSet<TokenId>,
    violators: BTreeMap<ViolationId, Hands>,
}

/// The first thing that is wrong with the history.
pub fn broken(entries: &[Entry]) -> Option<Broken> {
    broken_at(entries).map(|(_, broken)| broken)
}

/// With the place of the entry that no rule could have made; the last one where only the end is wrong.
pub fn broken_at(entries: &[Entry]) -> Option<(usize, Broken)> {
    let mut history = History::default();
    let mut all = entries.iter().enumerate();
    let found = all.find_map(|(place, entry)| Some((place, history.take(entry).err()?)));
    found.or_else(|| Some((entries.len().saturating_sub(1), history.left_verified()?)))
}

impl History {
    /// Judged at the end: an edit and what it takes back are entries of one append.
    fn left_verified(&self) -> Option<Broken> {
        let stands = |seen: &Seen| seen.reworded && seen.standing.verified == VerifiedStatus::Verified;
        self.stories.iter().find(|(_, seen)| stands(seen)).map(|(id, _)| Broken::VerifiedInOtherWords(*id))
    }

    fn take(&mut self, entry: &Entry) -> Result<(), Broken> {
        self.actors.learn(entry);
        match &entry.change {
            facts::Change::Plan(change) => self.planned(change),
            facts::Change::Tenancy(tenancy::Change::Updated { now, .. }) => {
                if let Some(SettingValue::Flag(three)) =
                    now.settings.get("distinct_reporter_reviewer_verifier")
                {
                    self.parts_may_meet = !three;
                }
            }
            facts::Change::Work(change) => return self.worked(entry, change),
            facts::Change::Custody(change) => return self.kept(entry, change),
            _ => {}
        }
        Ok(())
    }

    fn planned(&mut self, change: &plan::Change) {
        match change {
            plan::Change::StoryAdded { story } => {
                let number = (story.project, story.number);
                let before = self.deleted.get(&number);
                let worked = before.is_some();
                let (implementers, claimers) = before.cloned().unwrap_or_default();
                let seen = Seen { number: Some(number), worked, implementers, claimers, ..Seen::default() };
                self.stories.insert(story.id, seen);
            }
            plan::Change::StoryChanged { story, was, now } => {
                let Some(seen) = self.stories.get_mut(story) else { return };
                if now.criteria.is_some() {
                    seen.failed.clear();
                }
                if (&was.title, &was.description, &was.criteria)
                    != (&now.title, &now.description, &now.criteria)
                {
                    seen.reviewers.clear();
                    seen.reworded = true;
                }
            }
            plan::Change::StoryDeleted { story } => {
                let gone = self.stories.remove(&story.id).filter(|seen| seen.worked);
                if let Some(Seen { number: Some(number), implementers, claimers, .. }) = gone {
                    self.deleted.insert(number, (implementers, claimers));
                }
            }
            _ => {}
        }
    }

    /// Has or had a story of the same project in hand.
    fn makes(&self, story: StoryId, who: &Hands) -> bool {
        let Some((project, _)) = self.stories.get(&story).and_then(|seen| seen.number) else { return false };
        let mut living =
            self.stories.values().filter(|seen| seen.number.is_some_and(|(of, _)| of == project));
        let mut gone = self.deleted.iter().filter(|((of, _), _)| *of == project);
        living.any(|seen| seen.implemented_by(who)) || gone.any(|(_, (makers, _))| who.touch_any(makers))
    }

    fn kept(&mut self, entry: &Entry, change: &custody::Change) -> Result<(), Broken> {
        match change {
            custody::Change::TokenConsumed { token, .. } => {
                let first = self.used.insert(*token);
                return if first { Ok(()) } else { Err(Broken::TokenUsedTwice(*token)) };
            }
            custody::Change::DispatchOpened { dispatch } => {
                if let Some(seen) = dispatch.story.and_then(|story| self.stories.get_mut(&story)) {
                    seen.worked = true;
                }
            }
            custody::Change::ViolationSeen { violation } => return self.violated(violation),
            custody::Change::ViolationClosed { violation, story, .. } => {
                let by = self.actors.of(&entry.by);
                let caused = self.violators.get(violation).is_some_and(|violator| violator.touch(&by));
                let seen = self.stories.get_mut(story);
                if caused || seen.as_ref().is_some_and(|seen| seen.implemented_by(&by)) {
                    return Err(Broken::SettledByItsCause(*violation));
                }
                if let Some(seen) = seen {
                    seen.held.remove(violation);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn violated(&mut self, violation: &Violation) -> Result<(), Broken> {
        let by = self.actors.of(&violation.by);
        if let Some(seen) = self.stories.get_mut(&violation.story)
            && violation.holds == Holds::Story
        {
            let chosen = seen.chosen.is_some_and(|chosen| violation.by.lineage.contains(&chosen));
            // Only a user's force rewords what is under work, and says so.
            let meant = violation.kind == ViolationKind::CriteriaChangedUnderWork;
            if !meant && !chosen && !seen.has_part(&by) {
                return Err(Broken::HeldByAStranger(violation.id));
            }
            seen.held.insert(violation.id);
        }
        self.violators.insert(violation.id, by);
        Ok(())
    }

    fn worked(&mut self, entry: &Entry, change: &work::Change) -> Result<(), Broken> {
        let by = By { hands: self.actors.of(&entry.by), three_parts: !self.parts_may_meet };
        match change {
            work::Change::Moved { story, from, to, how } => {
                let told = matches!(how, How::Backfilled { .. } | How::Imported { .. });
                let closes = told && to.verified == VerifiedStatus::Verified;
                let by_a_maker = closes && self.makes(*story, &by.hands);
                let seen = self.stories.get_mut(story).ok_or(Broken::UnknownStory(*story))?;
                if entry.project.is_none() {
                    return Err(Broken::OutsideAnyProject(*story));
                }
                if seen.standing != *from {
                    return Err(Broken::WrongStanding(*story));
                }
                seen.moved(*story, by, *to, how)?;
                if by_a_maker {
                    return Err(Broken::ClosedByAMaker(*story));
                }
                seen.standing = *to;
            }
            work::Change::ReviewRequested { story, verifier, .. } => {
                let seen = self.stories.get_mut(story).ok_or(Broken::UnknownStory(*story))?;
                let hands = verifier.map(|verifier| self.actors.of_dispatch(verifier)).unwrap_or_default();
                if seen.implemented_by(&hands) {
                    return Err(Broken::ChosenAmongImplementers(*story));
                }
                seen.chosen = *verifier;
            }
            work::Change::Reviewed { review } => {
                let seen = self.stories.get_mut(&review.story).ok_or(Broken::UnknownStory(review.story))?;
                seen.reviewed(review.story, by)?;
            }
            work::Change::Judged { verification } => {
                let seen = self.stories.get_mut(&verification.story);
                let seen = seen.ok_or(Broken::UnknownStory(verification.story))?;
                seen.worked = true;
                seen.judged(verification.story, &by)?;
            }
            work::Change::CriterionJudged { story, ac_id, status, .. } => {
                let seen = self.stories.get_mut(story).ok_or(Broken::UnknownStory(*story))?;
                seen.worked = true;
                seen.judged(*story, &by)?;
                if *status == plan::CriterionStatus::Failed {
                    seen.failed.insert(ac_id.clone());
                } else {
                    seen.failed.remove(ac_id);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Seen {
    fn moved(&mut self, story: StoryId, by: By, to: Standing, how: &How) -> Result<(), Broken> {
        let told = matches!(how, How::Backfilled { .. } | How::Imported { .. });
        match how {
            How::Claimed => {
                if self.assigned.is_some() {
                    return Err(Broken::ClaimedTwice(story));
                }
                self.claimers.push(by.hands.clone());
                self.assigned = Some(by.hands);
            }
            How::Started => self.implementers.push(by.hands),
            How::Reported => {
                if self.implemented_by(&by.hands) {
                    return Err(Broken::ReportedByImplementer(story));
                }
                self.report(by.hands);
            }
            How::Verified { .. } => {
                self.verified(story, &by)?;
                self.reworded = false;
            }
            How::Rejected { .. } if self.implemented_by(&by.hands) => {
                return Err(Broken::VerifiedByImplementer(story));
            }
            How::Rejected { .. } => self.reviewers.clear(),
            How::Backfilled { .. } if self.worked => return Err(Broken::BackfilledAfterWork(story)),
            How::Backfilled { .. } if self.backfilled => return Err(Broken::BackfilledTwice(story)),
            How::Backfilled { .. } => {
                self.backfilled = true;
                self.reworded = false;
            }
            How::Imported { .. } if self.worked => return Err(Broken::ImportedAfterWork(story)),
            How::Imported { reason } => {
                if to.verified == VerifiedStatus::Verified && reason.is_none() {
                    return Err(Broken::ImportedAsVerifiedWithoutReason(story));
                }
                self.report(by.hands);
            }
            How::ContractVoided | How::AutoReset | How::Unclaimed | How::ForceUnclaimed => {
                self.assigned = None;
                self.reporter = None;
                self.chosen = None;
            }
            How::Contracted { .. } | How::Reworded => {}
        }
        self.worked |= !told;
        self.ends_well(story, to, how)
    }

    fn ends_well(&self, story: StoryId, to: Standing, how: &How) -> Result<(), Broken> {
        if to.verified != VerifiedStatus::Verified {
            return Ok(());
        }
        // Whatever the way was called, only these three end in "verified".
        let closes = matches!(how, How::Verified { .. } | How::Backfilled { .. } | How::Imported { .. });
        if self.standing.verified != VerifiedStatus::Verified && !closes {
            return Err(Broken::VerifiedWithoutReview(story));
        }
        if to.agent == AgentStatus::Pending {
            return Err(Broken::VerifiedAndPending(story));
        }
        Ok(())
    }

    fn report(&mut self, by: Hands) {
        self.reporter = Some(by);
        self.reviewers.clear();
        self.failed.clear();
    }

    fn reviewed(&mut self, story: StoryId, by: By) -> Result<(), Broken> {
        if self.implemented_by(&by.hands) {
            return Err(Broken::ReviewedByImplementer(story));
        }
        if by.three_parts && by.hands.touch_any(&self.reporter) {
            return Err(Broken::OneActorForTwoParts(story));
        }
        self.worked = true;
        self.reviewers.push(by.hands);
        Ok(())
    }

    fn judged(&self, story: StoryId, by: &By) -> Result<(), Broken> {
        if self.implemented_by(&by.hands) {
            return Err(Broken::VerifiedByImplementer(story));
        }
        let reported_it = by.hands.touch_any(&self.reporter);
        if self.implementers.is_empty() && reported_it {
            return Err(Broken::VerifiedByItsOnlyReporter(story));
        }
        if by.three_parts && (reported_it || by.hands.touch_any(&self.reviewers)) {
            return Err(Broken::OneActorForTwoParts(story));
        }
        Ok(())
    }

    fn verified(&self, story: StoryId, by: &By) -> Result<(), Broken> {
        self.judged(story, by)?;
        if self.reviewers.is_empty() || self.standing.agent != AgentStatus::ReportedDone {
            return Err(Broken::VerifiedWithoutReview(story));
        }
        if !self.held.is_empty() {
            return Err(Broken::VerifiedUnderQuarantine(story));
        }
        if !self.failed.is_empty() {
            return Err(Broken::VerifiedWithAFailedCriterion(story));
        }
        Ok(())
    }
}
