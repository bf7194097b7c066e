//! What the world answers to the steps of a roadmap loop's controller, done to the repository as git and the files would:
//! doing them twice comes to the same. People edit in between, while things may go wrong.

use super::repo::{Repo, What};
use super::{agents, people, reading, roadmap_state};
use crate::answers::{Answering, Season, artifact};
use crate::checks::Check;
use crate::temper::Capturing;
use crate::world::World;
use windlass_protocols::effect::{PlaneStep, RunAgent};
use windlass_protocols::outcome::{Answer, Diagnosis, PlaneOutcome};
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, DirectSeen, MilestoneStatus, Plane, ReviewSeen, UpdateReview,
};
use windlass_protocols::protocol::roadmap_rounds::steps::{
    CaptureWork, CombineWork, FinalizeRound, GateLooked, Held, LookAtGate, OpenWorktree, PlaceTaken,
    PublishUpdate, SetAside, TakeUp, WorkCaptured, WorktreePurpose, WriteState,
};
use windlass_protocols::{CommitId, Digest, Effect, EffectId, Outcome, TreeId};

fn refused(reason: &str) -> Outcome {
    Outcome::Refused { reason: reason.to_owned() }
}

fn merged(commit: CommitId) -> Outcome {
    let tree = TreeId::new(format!("tree of {commit}"));
    Outcome::Plane(PlaneOutcome::Merged { commit, tree })
}

fn held(why: Held) -> Outcome {
    Outcome::Plane(PlaneOutcome::Held(why))
}

impl Answering<'_> {
    pub(crate) fn plane_step(&mut self, world: &mut World, effect: EffectId, step: &PlaneStep) -> Outcome {
        let mut repo = world.truth.roadmap.take().unwrap_or_else(|| reading::draw(self.choices));
        if self.season == Season::Faulty && people::are_about(self.choices, step) {
            people::edit(&mut repo, self.choices);
        }
        // As somebody sees it who looks before this step is carried out.
        let before = reading::read(&repo);
        let outcome = match step {
            PlaneStep::Read { .. } => self.read_plane(&repo),
            PlaneStep::WriteState(asked) => write(&mut repo, asked),
            PlaneStep::OpenWorktree(asked) => self.open_worktree(&mut repo, asked),
            PlaneStep::CaptureWork(asked) => self.capture_work(&mut repo, asked),
            PlaneStep::SetAside(asked) => self.set_aside(&mut repo, asked),
            PlaneStep::TakeUp(asked) => self.take_up(&mut repo, asked),
            PlaneStep::CombineWork(asked) => self.combine(&mut repo, asked),
            PlaneStep::LookAtGate(asked) => self.look_at_gate(asked),
            PlaneStep::FinalizeRound(asked) => self.finalize(world, &mut repo, asked),
            PlaneStep::PublishUpdate(asked) => self.publish(world, &mut repo, asked),
        };
        let after = reading::read(&repo);
        let old = self.overlaps(world, effect, step) && self.choices.once_in(2);
        let outcome = self.and_look(outcome, if old { before } else { after });
        world.truth.last_plane_step = world.truth.last_plane_step.max(Some(effect));
        world.truth.roadmap = Some(repo);
        outcome
    }

    /// Most who did something look at what stands there then.
    fn and_look(&mut self, outcome: Outcome, plane: Option<Plane>) -> Outcome {
        match (outcome, plane) {
            (Outcome::Plane(did), Some(plane)) if did.is_a_deed() && !self.choices.once_in(3) => {
                Outcome::Plane(PlaneOutcome::Looked { after: Box::new(did), plane: Box::new(plane) })
            }
            (outcome, _) => outcome,
        }
    }

    /// Whether what this step saw may be older than what another one did meanwhile: one that was asked for later and is over
    /// already, or, beside a capture, any.
    fn overlaps(&self, world: &World, effect: EffectId, step: &PlaneStep) -> bool {
        let is_step = |request: &Effect| matches!(request, Effect::Plane(_));
        let under_way = self.run.unsettled.values().filter(|request| is_step(request)).count();
        world.truth.last_plane_step > Some(effect)
            || (matches!(step, PlaneStep::CaptureWork(_)) && under_way > 1)
    }

    fn read_plane(&mut self, repo: &Repo) -> Outcome {
        let no = self.season == Season::Faulty && self.choices.once_in(80);
        match reading::read(repo) {
            Some(plane) if !no => Outcome::Plane(PlaneOutcome::Read(Box::new(plane))),
            Some(_) => refused("the checkout is on another branch"),
            None => refused("the active revision is not there"),
        }
    }

    fn open_worktree(&mut self, repo: &mut Repo, asked: &OpenWorktree) -> Outcome {
        let reopens = matches!(asked.purpose, WorktreePurpose::Reopen { .. });
        if self.choices.once_in(40) {
            return refused("the directory is not empty");
        }
        if reopens && !repo.branches.contains_key(&asked.branch) {
            return refused("the branch is gone");
        }
        // Somebody's cleaning takes it away at once.
        let swept = reopens && self.temper.capturing == Capturing::Refusing;
        let branch = repo.open(&asked.branch);
        branch.stands = !swept;
        let head = branch.head.clone();
        Outcome::Plane(PlaneOutcome::WorktreeOpened { head })
    }

    fn capture_work(&mut self, repo: &mut Repo, asked: &CaptureWork) -> Outcome {
        let refusing = if self.temper.capturing == Capturing::Refusing { 20 } else { 1 };
        let what = self.choices.weighted(&[(90, "taken"), (refusing, "refused"), (1, "hazard"), (4, "more")]);
        if what == "refused" {
            return refused("the index is locked");
        }
        let (commit, files_changed) = match repo.capture(&asked.branch, &asked.parent) {
            Ok(captured) => captured,
            Err(why) => return refused(&why),
        };
        let said = |name: &str, sentence: &str| {
            if what == name { vec![sentence.to_owned()] } else { Vec::new() }
        };
        Outcome::Plane(PlaneOutcome::WorkCaptured(Box::new(WorkCaptured {
            work: asked.work.clone(),
            tree: TreeId::new(format!("tree of {commit}")),
            commit,
            files_changed,
            put_back: said("more", "orchestrator/state.json"),
            kept: None,
            ignored: Vec::new(),
            findings: Vec::new(),
            hazards: said("hazard", "a link leads out of the tree"),
        })))
    }

    /// Done twice it finds nothing any more.
    fn set_aside(&mut self, repo: &mut Repo, asked: &SetAside) -> Outcome {
        if self.choices.once_in(60) {
            return refused("the index is locked");
        }
        let number = repo.fresh();
        let Some(branch) = repo.branches.get_mut(&asked.branch) else {
            return refused("the branch is gone");
        };
        if branch.sets_review_aside() {
            branch.advance(CommitId::new(format!("{}@{number}", asked.branch)));
        }
        Outcome::Plane(PlaneOutcome::SetAside { head: branch.head.clone(), kept: None })
    }

    /// Now and then something lies there that nobody committed: a reviewer's own files, or more.
    fn take_up(&mut self, repo: &mut Repo, asked: &TakeUp) -> Outcome {
        if self.choices.once_in(60) {
            return refused("the index is locked");
        }
        let mut places = Vec::new();
        for left in &asked.places {
            let (number, loose) = (repo.fresh(), self.choices.once_in(3));
            let only_review = loose && left.worker.is_none() && self.choices.once_in(2);
            let Some(branch) = repo.branches.get_mut(&left.branch) else {
                return refused("the branch is gone");
            };
            if loose && branch.head == left.head {
                branch.touch();
                branch.content = if only_review { branch.content } else { number };
                branch.advance(CommitId::new(format!("{}@{number}", left.branch)));
            }
            let commit = branch.head.clone();
            let files_changed = u64::from(commit != left.head);
            places.push(PlaceTaken {
                worker: left.worker.clone(),
                before: left.head.clone(),
                files_changed,
                only_review: only_review && files_changed > 0,
                put_back: Vec::new(),
                kept: None,
                ignored: Vec::new(),
                commit,
            });
        }
        Outcome::Plane(PlaneOutcome::TakenUp { places })
    }

    fn look_at_gate(&mut self, asked: &LookAtGate) -> Outcome {
        if self.choices.once_in(60) {
            return refused("the commit is gone");
        }
        let (touched, mut findings) = self.touched();
        findings.extend(self.replaced());
        Outcome::Plane(PlaneOutcome::GateLooked(Box::new(GateLooked {
            round: asked.round.clone(),
            fork: asked.fork.clone(),
            head: asked.head.clone(),
            base: TreeId::new(format!("tree of {}", asked.fork)),
            tree: TreeId::new(format!("tree of {}", asked.head)),
            touched,
            findings,
        })))
    }

    fn combine(&mut self, repo: &mut Repo, asked: &CombineWork) -> Outcome {
        let (number, fork, base) = (repo.fresh(), repo.base.len() - 1, repo.head());
        let knows = repo.words();
        let Some(branch) = repo.branches.get_mut(&asked.branch) else {
            return refused("the branch is gone");
        };
        let conflicts = self.choices.once_in(4);
        if branch.head == asked.head {
            branch.touch();
            branch.content = number;
            branch.advance(CommitId::new(format!("{}@{number}", asked.branch)));
        }
        if asked.with.contains(&base) {
            branch.fork = fork;
            branch.knows = knows;
        }
        let head = branch.head.clone();
        let conflicts = if conflicts { vec!["src/lib.rs".to_owned()] } else { Vec::new() };
        Outcome::Plane(PlaneOutcome::WorkCombined { head, conflicts, kept: None })
    }

    fn finalize(&mut self, world: &mut World, repo: &mut Repo, asked: &FinalizeRound) -> Outcome {
        if let Some(commit) = repo.merged_as(&What::Round(asked.round.clone())) {
            return merged(commit.clone());
        }
        if repo.head() != asked.base {
            return held(Held::BaseMoved);
        }
        let why = || "somebody is in the way".to_owned();
        match self.choices.weighted(&[(60, 0), (2, 1), (2, 2), (1, 3), (1, 4)]) {
            1 => return held(Held::Stale { why: "the expected status is another".to_owned() }),
            2 => return held(Held::Conflicts { paths: vec!["src/lib.rs".to_owned()] }),
            3 => return held(Held::InTheWay { why: why() }),
            4 => return refused("the object store is read-only"),
            _ => {}
        }
        let Some(branch) = repo.branches.get(&asked.branch) else {
            return refused("the branch is gone");
        };
        let (evidence, content) = (branch.evidence.clone(), branch.content);
        let Some(mode) = approved_by(&evidence, &asked.approval).filter(|_| branch.head == asked.head) else {
            return held(Held::Stale { why: "what was approved is not there".to_owned() });
        };
        if !repo.approves(&asked.approval, content) {
            let sentence = format!("{} is merged with what its reviewer never saw", asked.round);
            world.note(Check::JudgedInTruth, sentence);
        }
        if repo.says_otherwise(branch) {
            let sentence = format!("{} is merged under words that its reviewer never saw", asked.round);
            world.note(Check::JudgedInTruth, sentence);
        }
        let commit = repo.commit_to_base(What::Round(asked.round.clone()));
        if let Some(plan) = &evidence.plan {
            repo.merged_items.push(plan.item.clone());
            if mode == CloseoutMode::StatusOnly {
                advance(repo, &plan.milestone);
            }
        }
        merged(commit)
    }

    fn publish(&mut self, world: &mut World, repo: &mut Repo, asked: &PublishUpdate) -> Outcome {
        if let Some(commit) = repo.merged_as(&What::Update(asked.revision.clone())) {
            return merged(commit.clone());
        }
        if repo.head() != asked.base {
            return held(Held::BaseMoved);
        }
        // A family that somebody else changes all the time never fits.
        let never = if self.temper.capturing == Capturing::SameAgain { 600 } else { 2 };
        match self.choices.weighted(&[(60, 0), (never, 1), (2, 2), (1, 3)]) {
            1 => return held(Held::Conflicts { paths: vec!["roadmap-history.md".to_owned()] }),
            2 => return held(Held::Stale { why: "the revision is there already".to_owned() }),
            3 => return held(Held::InTheWay { why: "the checkout is not clean".to_owned() }),
            _ => {}
        }
        let Some(branch) = repo.branches.get(&asked.branch) else {
            return refused("the branch is gone");
        };
        let there = branch.update_review == Some(UpdateReview::Approved { artifact: asked.approval.clone() });
        if !there || branch.head != asked.head {
            return held(Held::Stale { why: "what was approved is not there".to_owned() });
        }
        if !repo.approves(&asked.approval, branch.content) {
            world.note(Check::JudgedInTruth, "an update is merged that its reviewer never saw".to_owned());
        }
        if branch.boasts {
            world.note(Check::JudgedInTruth, "an update calls milestones done that are not".to_owned());
        }
        let mut next = repo.bundle().cloned().unwrap_or_default();
        if self.choices.once_in(2) {
            let before = next.milestones.iter().map(|(known, _)| known.id.clone()).collect();
            let id = format!("M{}", next.milestones.len() + 1);
            reading::add_milestone(&mut next, self.choices, &id, before);
        }
        repo.bundles.insert(asked.revision.clone(), next);
        merged(repo.commit_to_base(What::Update(asked.revision.clone())))
    }

    /// What the agent leaves, and what it says through the outbox.
    pub(crate) fn round_work(&mut self, world: &mut World, effect: EffectId, asked: &RunAgent) -> Answer {
        let Some(place) = &asked.work else { return Answer::Missing };
        let leaning = self.temper.of(asked.role);
        if let Some(repo) = &mut world.truth.roadmap {
            agents::act(repo, self.choices, leaning, &place.work, &place.branch);
        }
        if asked.role != windlass_protocols::Role::Investigator {
            return Answer::InWorktree;
        }
        if self.choices.once_in(4) {
            return Answer::Missing;
        }
        Answer::Diagnosis(Diagnosis {
            summary: "it misreads the schema".to_owned(),
            advice: "say the decision first".to_owned(),
            proves: None,
            escalate: self.choices.once_in(8),
            artifact: artifact("diagnosis.json", effect),
        })
    }

    pub(crate) fn is_of_a_roadmap(&self) -> bool {
        roadmap_state(self.run).is_some()
    }
}

fn write(repo: &mut Repo, asked: &WriteState) -> Outcome {
    let next = repo.state.with(&asked.edits);
    if repo.state.digest() != asked.seen && next != repo.state {
        return Outcome::Plane(PlaneOutcome::StateMoved);
    }
    repo.state = next;
    Outcome::Plane(PlaneOutcome::StateWritten { state: repo.state.digest() })
}

/// What the approving file says about the roadmap, if it is there and says yes.
fn approved_by(
    evidence: &windlass_protocols::protocol::roadmap_rounds::plane::Evidence,
    approval: &Digest,
) -> Option<CloseoutMode> {
    let direct = evidence.plan.as_ref().and_then(|plan| plan.direct.as_ref());
    match (&evidence.review, direct) {
        (Some(ReviewSeen::Approved { closeout, artifact, .. }), _) if artifact == approval => Some(*closeout),
        (_, Some(DirectSeen::Proven { closeout, artifact })) if artifact == approval => Some(*closeout),
        _ => None,
    }
}

/// One more round of that milestone is done.
fn advance(repo: &mut Repo, milestone: &str) {
    let revision = repo.state.revision.clone();
    let bundle = repo.bundles.get_mut(&revision);
    let known =
        bundle.and_then(|bundle| bundle.milestones.iter_mut().find(|(known, _)| known.id == milestone));
    if let Some((known, left)) = known {
        *left = left.saturating_sub(1);
        known.status = if *left == 0 { MilestoneStatus::Done } else { MilestoneStatus::InProgress };
    }
}
