//! The fold of the work area, and its indices: what is ready, blocked or awaits a verdict is known without looking at
//! every story.

use super::State;
use super::changes::{Change, How};
use super::places::Listed;
use super::track::{AgentStatus, CriterionVerdict, Outdated, Principal, Standing, Track, VerifiedStatus};
use crate::protocol::story_queue::custody;
use crate::protocol::story_queue::facts::Entry;
use crate::protocol::story_queue::plan::{self, CentiHours, Edge, Story, StoryNumber};
use crate::protocol::story_queue::vocabulary::{EpicId, ProjectId, StoryId};
use alloc::vec::Vec;

/// Progress of a project or an epic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub stories: u32,
    /// In the order of [`AgentStatus::ALL`].
    pub agent: [u32; 5],
    /// In the order of [`VerifiedStatus::ALL`].
    pub verified: [u32; 3],
    /// Hundredths.
    pub hours_total: u64,
    pub hours_verified: u64,
}

impl Counts {
    /// Tenths of a percent.
    pub fn verified_per_mille(&self) -> u32 {
        let [_, verified, _] = self.verified;
        (verified * 1000 + self.stories / 2).checked_div(self.stories).unwrap_or(0)
    }
}

/// Why a story is blocked: by a story of its own edges, or by a story of a prerequisite epic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocker {
    pub story: StoryId,
    /// Set when the whole epic is waited for.
    pub epic: Option<EpicId>,
}

enum Direction {
    Add,
    Take,
}

impl State {
    pub fn track(&self, story: StoryId) -> Option<&Track> {
        self.tracks.get(&story)
    }

    /// There was a story of this number, somebody worked on it, and it was deleted.
    pub fn was_worked_on(&self, project: ProjectId, number: StoryNumber) -> bool {
        self.worked_numbers.contains_key(&(project, number))
    }

    /// Pending, with every prerequisite verified, and not quarantined; by number.
    pub fn ready(&self, project: Option<ProjectId>) -> Listed<'_> {
        self.ready.within(project)
    }

    /// Not verified itself, and waiting for something that is not; by number.
    pub fn blocked(&self, project: Option<ProjectId>) -> Listed<'_> {
        self.blocked.within(project)
    }

    /// Reported done and neither verified nor rejected since; by number.
    pub fn awaiting_verdict(&self, project: Option<ProjectId>) -> Listed<'_> {
        self.awaiting.within(project)
    }

    pub fn unmet(&self, story: StoryId) -> u32 {
        self.unmet.get(&story).copied().unwrap_or(0)
    }

    /// The unmet prerequisites themselves; one story is looked at, not all.
    pub fn blockers(&self, plan: &plan::State, story: &Story) -> Vec<Blocker> {
        let own = plan.story_needs(story.id).map(|story| Blocker { story, epic: None });
        let by_epic = plan.epic_needs(story.epic).flat_map(|epic| {
            plan.stories_of(epic).map(move |other| Blocker { story: other.id, epic: Some(epic) })
        });
        own.chain(by_epic).filter(|blocker| !self.satisfies(blocker.story)).collect()
    }

    /// Everybody who has or had stories of the project in hand, also of those that were deleted.
    pub(super) fn makers<'a>(
        &'a self,
        plan: &'a plan::State,
        project: ProjectId,
    ) -> impl Iterator<Item = &'a Principal> {
        let tracks = plan.stories_of_project(project).filter_map(|story| self.tracks.get(&story.id));
        let living = tracks.flat_map(|track| track.assigned.iter().chain(&track.implementers));
        let gone = self.worked_numbers.iter().filter(move |((of, _), _)| *of == project);
        living.chain(gone.flat_map(|(_, makers)| makers))
    }

    pub fn progress(&self, project: ProjectId) -> Counts {
        self.by_project.get(&project).copied().unwrap_or_default()
    }

    pub fn progress_of_epic(&self, epic: EpicId) -> Counts {
        self.by_epic.get(&epic).copied().unwrap_or_default()
    }

    /// It was once finished, and that was recorded.
    pub fn is_recorded_complete(&self, epic: EpicId) -> bool {
        self.completed.contains(&epic)
    }

    /// All its stories are verified and it has some.
    pub fn is_complete(&self, epic: EpicId) -> bool {
        self.progress_of_epic(epic).stories > 0 && self.is_satisfied(epic)
    }

    fn is_satisfied(&self, epic: EpicId) -> bool {
        self.unverified_in.get(&epic).copied().unwrap_or(0) == 0
    }

    /// Nobody waits for it: verified, and not quarantined.
    fn satisfies(&self, story: StoryId) -> bool {
        self.tracks.get(&story).is_some_and(Track::satisfies)
    }

    fn is_verified(&self, story: StoryId) -> bool {
        self.tracks.get(&story).is_some_and(|track| track.standing.verified == VerifiedStatus::Verified)
    }

    pub fn evolve(&mut self, plan: &plan::State, entry: &Entry, change: &Change) {
        match change {
            Change::Moved { story, to, how, .. } => self.move_story(plan, entry, *story, *to, how),
            Change::ReviewRequested { story, verifier, lazy_score } => {
                if let Some(track) = self.tracks.get_mut(story) {
                    track.review_requested_at = Some(entry.at);
                    track.verifier_dispatch = *verifier;
                    track.verifier_needed = verifier.is_none();
                    track.lazy_score = *lazy_score;
                    track.updated = entry.at;
                }
            }
            Change::Reviewed { review } => {
                if let Some(track) = self.tracks.get_mut(&review.story) {
                    track.ever_worked = true;
                    track.reviews.push((**review).clone());
                    track.updated = entry.at;
                }
            }
            Change::Judged { verification } => {
                if let Some(track) = self.tracks.get_mut(&verification.story) {
                    track.ever_worked = true;
                    track.verifications.push((**verification).clone());
                    track.updated = entry.at;
                }
            }
            Change::CriterionJudged { story, ac_id, status, evidence } => {
                if let Some(track) = self.tracks.get_mut(story) {
                    track.ever_worked = true;
                    track.updated = entry.at;
                    let by = Principal::of(&entry.by);
                    let evidence = evidence.clone();
                    let verdict = CriterionVerdict { status: *status, evidence, by, at: entry.at };
                    track.criteria.insert(ac_id.clone(), verdict);
                }
            }
            Change::ArtifactReported { artifact } => {
                if let Some(track) = self.tracks.get_mut(&artifact.story) {
                    track.artifacts.push((**artifact).clone());
                }
            }
            Change::EpicCompleted { epic } => {
                self.completed.insert(*epic);
            }
        }
    }

    fn move_story(&mut self, plan: &plan::State, entry: &Entry, id: StoryId, to: Standing, how: &How) {
        let Some(story) = plan.story(id) else { return };
        self.count(story, Direction::Take);
        let Some(track) = self.tracks.get_mut(&id) else { return };
        let before = track.satisfies();
        track.standing = to;
        track.updated = entry.at;
        track.apply(entry, how);
        let now = track.satisfies();
        self.count(story, Direction::Add);
        if before != now {
            self.satisfaction_flipped(plan, story, now);
        }
        self.place(story);
    }

    /// A story became good to build on, or ceased to be: whoever waits for it or for its epic is told.
    fn satisfaction_flipped(&mut self, plan: &plan::State, story: &Story, now: bool) {
        for waiting in plan.story_serves(story.id) {
            self.wait(plan, waiting, !now);
        }
        let satisfied = self.is_satisfied(story.epic);
        let open = self.unverified_in.entry(story.epic).or_insert(0);
        *open = if now { open.saturating_sub(1) } else { *open + 1 };
        self.epic_flipped(plan, story.epic, satisfied);
    }

    fn epic_flipped(&mut self, plan: &plan::State, epic: EpicId, was_satisfied: bool) {
        let satisfied = self.is_satisfied(epic);
        if satisfied == was_satisfied {
            return;
        }
        for waiting in plan.epic_serves(epic) {
            let stories: Vec<StoryId> = plan.stories_of(waiting).map(|story| story.id).collect();
            for story in stories {
                self.wait(plan, story, !satisfied);
            }
        }
    }

    /// One prerequisite more, or one less.
    fn wait(&mut self, plan: &plan::State, story: StoryId, more: bool) {
        let unmet = self.unmet.entry(story).or_insert(0);
        *unmet = if more { *unmet + 1 } else { unmet.saturating_sub(1) };
        if let Some(story) = plan.story(story) {
            self.place(story);
        }
    }

    /// Puts the story into the lists it belongs to.
    fn place(&mut self, story: &Story) {
        let place = (story.project, story.number, story.id);
        let Some(track) = self.tracks.get(&story.id) else {
            for places in [&mut self.ready, &mut self.blocked, &mut self.awaiting] {
                places.list(place, false);
            }
            return;
        };
        let Standing { agent, verified } = track.standing;
        let open = verified != VerifiedStatus::Verified;
        let unmet = self.unmet(story.id) > 0;
        let quiet = !track.is_quarantined();
        let ready = agent == AgentStatus::Pending && open && !unmet && quiet;
        let awaiting = agent == AgentStatus::ReportedDone && verified == VerifiedStatus::Unverified;
        self.ready.list(place, ready);
        self.blocked.list(place, open && unmet);
        self.awaiting.list(place, awaiting);
    }

    fn count(&mut self, story: &Story, direction: Direction) {
        let Some(standing) = self.tracks.get(&story.id).map(|track| track.standing) else { return };
        let hours = u64::from(story.estimated_hours.unwrap_or(CentiHours(0)).0);
        let project = self.by_project.entry(story.project).or_default();
        project.shift(standing, hours, &direction);
        let epic = self.by_epic.entry(story.epic).or_default();
        epic.shift(standing, hours, &direction);
    }

    /// A new, changed or deleted story or dependency moves what is ready and what is blocked. The plan has already changed.
    pub fn follow_plan(&mut self, plan: &plan::State, entry: &Entry, change: &plan::Change) {
        match change {
            plan::Change::StoryAdded { story } => self.story_added(plan, entry, story),
            plan::Change::StoryDeleted { story } => self.story_gone(plan, story),
            plan::Change::EpicDeleted { epic, .. } => {
                self.unverified_in.remove(&epic.id);
                self.by_epic.remove(&epic.id);
                self.completed.remove(&epic.id);
            }
            plan::Change::StoryChanged { story, was, now } => {
                // What was said of other words says nothing of these.
                if let Some(track) = self.tracks.get_mut(story) {
                    if now.criteria.is_some() {
                        track.criteria.clear();
                    }
                    if was.rewords(now) {
                        track.outdate_reviews(Outdated::Reworded, entry.at);
                    }
                }
                if now.estimated_hours.is_none() {
                    return;
                }
                let hours = |edit: &plan::StoryEdit| u64::from(edit.estimated_hours.unwrap_or_default().0);
                self.reestimate(plan, *story, hours(was), hours(now));
            }
            plan::Change::DependencyAdded { dependency } => self.edge_changed(plan, dependency.edge, true),
            plan::Change::DependencyRemoved { dependency } => self.edge_changed(plan, dependency.edge, false),
            plan::Change::ProjectCreated { .. }
            | plan::Change::ProjectChanged { .. }
            | plan::Change::EpicAdded { .. }
            | plan::Change::EpicChanged { .. }
            | plan::Change::Imported { .. } => {}
        }
    }

    fn story_added(&mut self, plan: &plan::State, entry: &Entry, story: &Story) {
        let before = self.worked_numbers.get(&(story.project, story.number));
        let (ever_worked, implementers) = (before.is_some(), before.cloned().unwrap_or_default());
        let track = Track { ever_worked, implementers, updated: entry.at, ..Track::default() };
        self.tracks.insert(story.id, track);
        self.count(story, Direction::Add);
        let unmet = plan.epic_needs(story.epic).filter(|epic| !self.is_satisfied(*epic)).count();
        self.unmet.insert(story.id, u32::try_from(unmet).unwrap_or(u32::MAX));
        let satisfied = self.is_satisfied(story.epic);
        *self.unverified_in.entry(story.epic).or_insert(0) += 1;
        self.epic_flipped(plan, story.epic, satisfied);
        self.place(story);
    }

    /// Its edges went before it, each with an entry of its own.
    fn story_gone(&mut self, plan: &plan::State, story: &Story) {
        self.count(story, Direction::Take);
        let Some(track) = self.tracks.remove(&story.id) else { return };
        self.unmet.remove(&story.id);
        let open = !track.satisfies();
        if track.ever_worked {
            self.worked_numbers.insert((story.project, story.number), track.implementers);
        }
        if open {
            let satisfied = self.is_satisfied(story.epic);
            let open = self.unverified_in.entry(story.epic).or_insert(0);
            *open = open.saturating_sub(1);
            self.epic_flipped(plan, story.epic, satisfied);
        }
        self.place(story);
    }

    fn reestimate(&mut self, plan: &plan::State, id: StoryId, was: u64, now: u64) {
        let verified = self.is_verified(id);
        let Some(story) = plan.story(id) else { return };
        let both =
            [self.by_project.entry(story.project).or_default(), self.by_epic.entry(story.epic).or_default()];
        for counts in both {
            counts.hours_total = (counts.hours_total + now).saturating_sub(was);
            if verified {
                counts.hours_verified = (counts.hours_verified + now).saturating_sub(was);
            }
        }
    }

    /// Told by custody: a quarantined story is not ready and serves nobody, a released one may again.
    pub fn follow_custody(&mut self, plan: &plan::State, change: &custody::Change) {
        let (story, before) = match change {
            custody::Change::ViolationSeen { violation } => {
                let Some(track) = self.tracks.get_mut(&violation.story) else { return };
                if violation.holds == custody::Holds::Nothing {
                    return;
                }
                let before = track.satisfies();
                track.quarantine.push(violation.id);
                (violation.story, before)
            }
            // Somebody was sent to work on it: from then on it is not "done before it came here".
            custody::Change::DispatchOpened { dispatch } => {
                if let Some(track) = dispatch.story.and_then(|story| self.tracks.get_mut(&story)) {
                    track.ever_worked = true;
                }
                return;
            }
            custody::Change::ViolationClosed { violation, story, .. } => {
                let Some(track) = self.tracks.get_mut(story) else { return };
                let before = track.satisfies();
                track.quarantine.retain(|open| open != violation);
                (*story, before)
            }
            _ => return,
        };
        let now = self.satisfies(story);
        if let Some(story) = plan.story(story) {
            if before != now {
                self.satisfaction_flipped(plan, story, now);
            }
            self.place(story);
        }
    }

    fn edge_changed(&mut self, plan: &plan::State, edge: Edge, added: bool) {
        match edge {
            Edge::Story { from, on } => {
                if !self.satisfies(on) {
                    self.wait(plan, from, added);
                }
            }
            Edge::Epic { from, on } => {
                if !self.is_satisfied(on) {
                    let stories: Vec<StoryId> = plan.stories_of(from).map(|story| story.id).collect();
                    for story in stories {
                        self.wait(plan, story, added);
                    }
                }
            }
        }
    }
}

impl Counts {
    fn shift(&mut self, standing: Standing, hours: u64, direction: &Direction) {
        let agent = &mut self.agent[standing.agent as usize];
        let verified = &mut self.verified[standing.verified as usize];
        for count in [&mut self.stories, agent, verified] {
            *count = match direction {
                Direction::Add => *count + 1,
                Direction::Take => count.saturating_sub(1),
            };
        }
        let done = if standing.verified == VerifiedStatus::Verified { hours } else { 0 };
        for (sum, hours) in [(&mut self.hours_total, hours), (&mut self.hours_verified, done)] {
            *sum = match direction {
                Direction::Add => *sum + hours,
                Direction::Take => sum.saturating_sub(hours),
            };
        }
    }
}
