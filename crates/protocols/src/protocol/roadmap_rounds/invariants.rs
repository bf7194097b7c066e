//! What must hold of every roadmap loop: one controller step at a time, no more agents and rounds than the cap, only legal
//! stages, one merge of a round and none ahead of its order or without its approval, one roadmap update, no success with an
//! open milestone. Written against the facts alone.

use super::end::End;
use super::facts::{Fact as RoadmapFact, UpdateStep, Why};
use super::plane::{Plane, ReviewSeen, RoundStage};
use super::spec::RoadmapSpec;
use super::steps::{FinalizeRound, PlaneOutcome, PlaneStep, StateEdit, WorkKind};
use super::taking_up::still_approved;
use crate::effect::{Effect, RunAgent};
use crate::fact::Fact;
use crate::kernel::budget::Budget;
use crate::kernel::gate::{FindingName, Waiver};
use crate::kernel::person::Word;
use crate::outcome::{Outcome, Usage};
use crate::protocol::Spec;
use crate::vocabulary::{CommitId, Digest, EffectId, TreeId};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(crate) fn violations(facts: &[Fact], wrong: &mut Vec<String>) {
    let Some(Fact::RunStarted { spec: Spec::RoadmapRounds(spec), .. }) = facts.first() else {
        return;
    };
    let budget = Budget { caps: spec.caps, used: Usage::default() };
    let mut watch = Watch { spec, seen: Seen::default(), budget, wrong };
    for fact in facts {
        watch.see(fact);
    }
}

/// The loop as an observer sees it who knows only the facts.
struct Watch<'a> {
    spec: &'a RoadmapSpec,
    seen: Seen<'a>,
    budget: Budget,
    wrong: &'a mut Vec<String>,
}

#[derive(Default)]
struct Seen<'a> {
    plane: Option<&'a Plane>,
    requests: BTreeMap<EffectId, &'a Effect>,
    open: BTreeSet<EffectId>,
    /// What each round's approving file is and the commit it was about, from the decisions.
    approvals: BTreeMap<String, (Digest, Option<CommitId>)>,
    merged: BTreeMap<String, CommitId>,
    stages: BTreeMap<String, RoundStage>,
    /// How often each round came back from its merge for what it is itself, since somebody reopened the run.
    sent_back: BTreeMap<String, u32>,
    /// Rounds that another controller left, until an agent of ours is asked about them.
    found: BTreeSet<String>,
    update: bool,
    /// What approves the update, and the commit it was about.
    update_approval: Option<(Digest, Option<CommitId>)>,
    /// The last look showed it in the state file.
    update_shown: bool,
    opened: u32,
    /// Opened, and no look has shown them in the state file yet.
    opening: BTreeSet<String>,
    more_rounds: u32,
    concluded: Option<End>,
    stopped: bool,
    gates: BTreeMap<String, GateSeen>,
}

/// What was seen of the gate of a round, from outcomes.
struct GateSeen {
    head: CommitId,
    tree: TreeId,
    found: Vec<FindingName>,
    by_running: Vec<FindingName>,
    red: Vec<String>,
    waived: Vec<FindingName>,
    wants_inspection: bool,
    inspected: bool,
}

impl<'a> Watch<'a> {
    fn say(&mut self, sentence: &str) {
        let at = self.seen.plane.map_or("before the first look", |_| "roadmap");
        self.wrong.push(format!("{at}: {sentence}"));
    }

    fn cap(&self) -> u32 {
        let allowed = self.seen.plane.map_or(1, |plane| plane.max_parallel);
        self.spec.parallel.map_or(allowed, |fewer| allowed.min(fewer)).max(1)
    }

    fn see(&mut self, fact: &'a Fact) {
        match fact {
            Fact::EffectRequested { effect, request } => self.requested(*effect, request),
            Fact::EffectSettled { effect, outcome } => {
                self.seen.open.remove(effect);
                self.budget.charge(outcome.usage());
                self.settled(*effect, outcome);
            }
            Fact::RunReopened { caps, .. } => {
                (self.seen.concluded, self.seen.stopped) = (None, false);
                self.seen.sent_back.clear();
                self.budget.extend(*caps);
                self.seen.more_rounds = self.seen.more_rounds.saturating_add(caps.more_rounds);
            }
            Fact::RoadmapRounds(fact) => self.roadmap(fact),
            Fact::JudgedTask(_)
            | Fact::FeedbackControl(_)
            | Fact::GoalContract(_)
            | Fact::StoryQueue(_)
            | Fact::LandingAsked { .. } => {
                self.say("a fact of another loop");
            }
            Fact::RunEnded => {
                if self.seen.concluded.is_none() {
                    self.say("it ended without a conclusion");
                }
            }
            Fact::StopAsked { .. } => self.seen.stopped = true,
            Fact::PersonSaid { word: Word::Waive(waiver), .. } => {
                self.seen.gates.values_mut().for_each(|gate| gate.waived.push(waiver.finding));
            }
            Fact::RunStarted { .. } | Fact::PersonSaid { .. } => {}
        }
    }

    fn requested(&mut self, effect: EffectId, request: &'a Effect) {
        let is_agent = |request: &Effect| matches!(request, Effect::RunAgent(_));
        let is_control = |request: &Effect| {
            !matches!(
                request,
                Effect::RunAgent(_)
                    | Effect::Plane(PlaneStep::CaptureWork(_))
                    | Effect::InspectGate(_)
                    | Effect::Wait(_)
            )
        };
        let open: Vec<&Effect> =
            self.seen.open.iter().filter_map(|id| self.seen.requests.get(id).copied()).collect();
        let (agents, control) =
            (open.iter().filter(|open| is_agent(open)).count(), open.iter().any(|open| is_control(open)));
        let same_place = open.iter().any(|open| at_same_place(open, request));
        if is_control(request) && control {
            self.say(&format!("{} while another step of the controller is under way", request.name()));
        }
        if is_agent(request) && agents as u64 >= u64::from(self.cap()) {
            self.say("more agents at once than rounds may be live");
        }
        if same_place {
            self.say(&format!("{} where somebody is at work", request.name()));
        }
        let is_inspection = |request: &Effect| matches!(request, Effect::InspectGate(_));
        if is_inspection(request) && open.iter().any(|open| is_inspection(open)) {
            self.say("two rounds are inspected at once, in one place");
        }
        if is_inspection(request) && (self.seen.concluded.is_some() || self.seen.stopped) {
            self.say("a round is inspected after the conclusion or a request to stop");
        }
        if self.seen.concluded.is_some() && is_agent(request) {
            self.say("an agent is asked after the conclusion");
        }
        if self.seen.stopped && is_agent(request) {
            self.say("an agent is asked after a request to stop");
        }
        if is_agent(request)
            && let Some(dimension) = self.budget.exhausted()
        {
            self.say(&format!("an agent is asked with nothing left of the {dimension}"));
        }
        if let Effect::Plane(PlaneStep::FinalizeRound(asked)) = request {
            self.finalizing(asked);
        }
        if let Effect::Plane(PlaneStep::PublishUpdate(asked)) = request {
            let exactly = Some((asked.approval.clone(), Some(asked.head.clone())));
            if self.seen.update_approval != exactly {
                self.say("an update is published without an approval of exactly that");
            }
            let update = self.seen.plane.and_then(|plane| plane.update.as_ref());
            if update.is_some_and(|update| !update.author_faults.is_empty()) {
                self.say("an update is published that breaks a rule");
            }
        }
        if let Effect::RunAgent(RunAgent { work: Some(place), .. }) = request {
            self.seen.found.remove(&place.work.round);
        }
        self.seen.requests.insert(effect, request);
        self.seen.open.insert(effect);
    }

    fn finalizing(&mut self, asked: &FinalizeRound) {
        let approval = self.seen.approvals.get(&asked.round).cloned();
        if approval.is_none_or(|(digest, head)| {
            digest != asked.approval || head.is_none_or(|head| head != asked.head)
        }) {
            self.say(&format!("{} is merged without an approval of exactly that", asked.round));
        }
        if self.seen.merged.contains_key(&asked.round) {
            self.say(&format!("{} is merged a second time", asked.round));
        }
        if self.seen.update {
            self.say(&format!("{} is merged while the roadmap is updated", asked.round));
        }
        self.gate_is_shut(asked);
        let Some(plane) = self.seen.plane else { return };
        let Some(plan) = plane.round(&asked.round).and_then(|round| round.evidence.plan.clone()) else {
            return self.say(&format!("{} is merged without a plan", asked.round));
        };
        let merged = |id: &String| plane.merged_rounds.contains(id) || self.seen.merged.contains_key(id);
        let ahead = plan.depends_on_rounds.iter().any(|id| !merged(id))
            || plan.merge_after_items.iter().any(|id| !plane.merged_items.contains(id));
        let other_revision = plan.revision != plane.revision;
        let unseen = plane
            .round(&asked.round)
            .is_some_and(|round| round.roadmap_drifted && round.fork.as_ref() != Some(&plane.base));
        if unseen {
            self.say(&format!(
                "{} is merged under words of the roadmap that nobody held it against",
                asked.round
            ));
        }
        if !plane.has_lineage(&plan.milestone, &plan.direction) {
            self.say(&format!("{} is merged for a direction that the roadmap does not have", asked.round));
        }
        if ahead {
            self.say(&format!("{} is merged ahead of its declared order", asked.round));
        }
        if other_revision {
            self.say(&format!("{} is merged under another revision than it was planned for", asked.round));
        }
    }

    /// What a round did to its own measures was looked at as it is merged, and nothing of it is open.
    fn gate_is_shut(&mut self, asked: &FinalizeRound) {
        if self.spec.place.gate.is_off() {
            return;
        }
        let Some(gate) = self.seen.gates.get(&asked.round).filter(|gate| gate.head == asked.head) else {
            return self.say(&format!("{} is merged without a look at its gate", asked.round));
        };
        let seen = self.seen.plane.and_then(|plane| plane.round(&asked.round));
        let reviewed: &[Waiver] = match seen.and_then(|round| round.evidence.review.as_ref()) {
            Some(ReviewSeen::Approved { waivers, artifact, .. }) if *artifact == asked.approval => waivers,
            _ => &[],
        };
        let waived = |finding: &FindingName| {
            let reasoned = |waiver: &Waiver| !waiver.reason.trim().is_empty();
            gate.waived.contains(finding)
                || reviewed.iter().any(|waiver| waiver.finding == *finding && reasoned(waiver))
        };
        let open = gate.found.iter().chain(&gate.by_running).filter(|finding| !waived(finding));
        let mut wrong: Vec<String> = open
            .map(|finding| {
                format!("{} is merged with `{}`, which nobody waived", asked.round, finding.name())
            })
            .collect();
        let plan = seen.and_then(|round| round.evidence.plan.as_ref());
        let alone = plan.is_some_and(|plan| plan.direct.is_some());
        let round = &asked.round;
        if (gate.wants_inspection || alone) && !gate.inspected && !self.spec.checks.is_empty() {
            wrong.push(format!("{round} is merged without the checks having run with the base's own tests"));
        }
        if alone && !gate.red.is_empty() {
            wrong.push(format!("{round} is merged with red checks, and its planner alone says otherwise"));
        }
        for sentence in wrong {
            self.say(&sentence);
        }
    }

    /// A reviewer's own files move the branch and leave the content as it was.
    fn gate_goes_along(&mut self, round: &str, from: &CommitId, to: &CommitId) {
        if let Some(gate) = self.seen.gates.get_mut(round).filter(|gate| gate.head == *from) {
            gate.head = to.clone();
        }
    }

    fn gate(&mut self, effect: EffectId, outcome: &Outcome) {
        let request = self.seen.requests.get(&effect).copied();
        match (request, outcome) {
            (Some(Effect::InspectGate(_)), Outcome::GateInspected(report)) => {
                let ran = |command| report.ran_with_base.contains(command) || report.red.contains(command);
                let all_ran = self.spec.checks.iter().all(ran);
                for gate in self.seen.gates.values_mut().filter(|gate| gate.tree == report.tree) {
                    gate.by_running = report.findings.iter().map(|finding| finding.kind).collect();
                    gate.red.clone_from(&report.red);
                    gate.inspected = all_ran;
                }
            }
            (Some(Effect::Plane(step)), Outcome::Plane(outcome)) => match (step, outcome.itself()) {
                (PlaneStep::LookAtGate(_), PlaneOutcome::GateLooked(looked)) => {
                    let gate = GateSeen {
                        head: looked.head.clone(),
                        tree: looked.tree.clone(),
                        found: looked.findings.iter().map(|finding| finding.kind).collect(),
                        by_running: Vec::new(),
                        red: Vec::new(),
                        waived: Vec::new(),
                        wants_inspection: !looked.touched.is_empty(),
                        inspected: false,
                    };
                    self.seen.gates.insert(looked.round.clone(), gate);
                }
                (PlaneStep::CaptureWork(asked), PlaneOutcome::WorkCaptured(captured))
                    if asked.work.kind == WorkKind::Review =>
                {
                    self.gate_goes_along(&asked.work.round, &asked.parent, &captured.commit);
                }
                (PlaneStep::SetAside(asked), PlaneOutcome::SetAside { head, .. }) => {
                    self.gate_goes_along(&asked.work.round, &asked.parent, head);
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn settled(&mut self, effect: EffectId, outcome: &Outcome) {
        self.gate(effect, outcome);
        let Outcome::Plane(outcome) = outcome else { return };
        match (self.seen.requests.get(&effect), outcome.itself()) {
            (Some(Effect::Plane(PlaneStep::FinalizeRound(asked))), PlaneOutcome::Merged { commit, .. }) => {
                let round = asked.round.clone();
                if self.seen.merged.insert(round.clone(), commit.clone()).is_some() {
                    self.say(&format!("{round} has two squash commits"));
                }
            }
            // It stands in the file from now on. Whoever does not find it there follows a person who took it out.
            (Some(Effect::Plane(PlaneStep::WriteState(asked))), PlaneOutcome::StateWritten { .. })
                if asked.edits.iter().any(|edit| matches!(edit, StateEdit::OpenUpdate(_))) =>
            {
                self.seen.update_shown = true;
            }
            _ => {}
        }
    }

    fn roadmap(&mut self, fact: &'a RoadmapFact) {
        match fact {
            RoadmapFact::PlaneTaken { plane, .. } => self.plane(plane),
            RoadmapFact::RoundOpened { round, .. } => self.opened(round),
            RoadmapFact::StageDecided { round, from, to, why } => self.stage(round, *from, *to, why),
            RoadmapFact::RoundClosed { round, .. } => {
                self.seen.stages.remove(round);
                self.seen.approvals.remove(round);
            }
            RoadmapFact::Recovered { rounds, .. } => self.recovered(rounds),
            RoadmapFact::TakenUp { round, update, places } => {
                let Some(own) = places.first() else { return };
                if *update {
                    self.seen.update_approval = still_approved(self.seen.update_approval.take(), own);
                } else if let Some(approval) = still_approved(self.seen.approvals.remove(round), own) {
                    self.seen.approvals.insert(round.clone(), approval);
                }
            }
            RoadmapFact::UpdateOpened(_) => {
                if self.seen.update {
                    self.say("two roadmap updates at once");
                }
                self.seen.update = true;
                self.seen.update_approval = None;
            }
            RoadmapFact::UpdateDecided { decided, .. } => match decided {
                UpdateStep::Approved { artifact, head } => {
                    self.seen.update_approval = Some((artifact.clone(), head.clone()));
                }
                UpdateStep::Activated { .. } => self.seen.update = false,
                UpdateStep::Authored | UpdateStep::Rejected { .. } | UpdateStep::SentBack { .. } => {
                    self.seen.update_approval = None;
                }
            },
            RoadmapFact::Concluded { end } => self.concluded(end),
            _ => {}
        }
    }

    /// What another controller left approved goes on as that, unless somebody here decided otherwise.
    fn recovered(&mut self, rounds: &[(String, RoundStage)]) {
        for (round, stage) in rounds {
            self.seen.stages.insert(round.clone(), *stage);
            let seen = self.seen.plane.and_then(|plane| plane.round(round));
            let untold = self.seen.found.contains(round) && !self.seen.approvals.contains_key(round);
            if let (true, Some(seen)) = (untold, seen)
                && let Some(approval) = super::book::approval_at(seen, *stage, self.spec)
            {
                self.seen.approvals.insert(round.clone(), approval);
            }
        }
    }

    fn plane(&mut self, plane: &'a Plane) {
        for round in &plane.rounds {
            // A round another controller left approved was approved before anybody of ours came near it.
            if !self.seen.stages.contains_key(&round.id) {
                self.seen.stages.insert(round.id.clone(), round.stage);
                self.seen.found.insert(round.id.clone());
                self.seen.approvals.remove(&round.id);
                if let Some(approval) = super::book::RoundBook::found(round, self.spec).approval {
                    self.seen.approvals.insert(round.id.clone(), approval);
                }
            }
        }
        match &plane.update {
            // An update another controller left approved.
            Some(update) if !self.seen.update => {
                self.seen.update_approval = super::book::UpdateBook::found(update, self.spec).approval;
            }
            None if self.seen.update_shown => self.seen.update = false,
            Some(_) | None => {}
        }
        self.seen.update = self.seen.update || plane.update.is_some();
        self.seen.update_shown = plane.update.is_some();
        self.seen.plane = Some(plane);
        let live = |id: &String| plane.round(id).is_some();
        self.seen.stages.retain(|id, _| live(id) || self.seen.opening.contains(id));
        self.seen.sent_back.retain(|id, _| live(id));
        self.seen.opening.retain(|id| !live(id));
    }

    fn opened(&mut self, round: &str) {
        self.seen.opened += 1;
        self.seen.opening.insert(round.to_string());
        self.seen.stages.insert(round.to_string(), RoundStage::Plan);
        let live = self.seen.plane.map_or(0, |plane| plane.rounds.len()) as u64 + 1;
        if live > u64::from(self.cap()) {
            self.say(&format!("{round} is one live round too many"));
        }
        if self.seen.opened > self.spec.caps.rounds.saturating_add(self.seen.more_rounds) {
            self.say(&format!("{round} is more than the rounds of this run"));
        }
    }

    fn stage(&mut self, round: &str, from: RoundStage, to: RoundStage, why: &Why) {
        use RoundStage::{Blocked, FinalizeRound, Implement, Plan, Review};
        let legal = matches!(
            (from, to),
            (Plan, Implement)
                | (Implement, Review | Plan)
                | (Review, FinalizeRound | Implement | Plan | Blocked)
                | (FinalizeRound, Implement | Review | Plan)
        ) || (from == Plan && to == FinalizeRound && matches!(why, Why::Direct { .. }));
        if !legal {
            self.say(&format!("{round} goes from {} to {}", from.word(), to.word()));
        }
        // Others move the base and revise the roadmap; whatever else leads back from a merge is counted.
        if from == FinalizeRound && !matches!(why, Why::BaseMoved { .. } | Why::RoadmapRevised { .. }) {
            let times = self.seen.sent_back.entry(round.to_string()).or_default();
            *times += 1;
            let times = *times;
            if times > self.most_cycles() + 1 {
                self.say(&format!("{round} is sent back from its merge for the {times}th time"));
            }
        }
        match why {
            Why::Approved { artifact, head } | Why::Direct { artifact, head } => {
                self.seen.approvals.insert(round.to_string(), (artifact.clone(), head.clone()));
            }
            _ => {
                self.seen.approvals.remove(round);
            }
        }
        self.seen.stages.insert(round.to_string(), to);
    }

    fn most_cycles(&self) -> u32 {
        let stated = self.seen.plane.map(|plane| plane.limits).filter(|limits| !limits.is_usual());
        stated.unwrap_or(self.spec.limits).review_cycles
    }

    fn concluded(&mut self, end: &End) {
        if *end == End::Complete && !self.seen.plane.is_some_and(Plane::is_complete) {
            self.say("success is claimed over an open milestone, a live round, an update or an error");
        }
        self.seen.concluded = Some(end.clone());
    }
}

/// Two steps that would touch one worktree.
fn at_same_place(one: &Effect, other: &Effect) -> bool {
    fn place(effect: &Effect) -> Option<&str> {
        match effect {
            Effect::RunAgent(asked) => asked.work.as_ref().map(|place| place.worktree.as_str()),
            Effect::Plane(PlaneStep::CaptureWork(asked)) => Some(&asked.worktree),
            Effect::Plane(PlaneStep::CombineWork(asked)) => Some(&asked.worktree),
            Effect::Plane(PlaneStep::TakeUp(asked)) => asked.places.first().map(|at| at.worktree.as_str()),
            Effect::Plane(PlaneStep::FinalizeRound(asked)) => Some(&asked.worktree),
            Effect::Plane(PlaneStep::PublishUpdate(asked)) => Some(&asked.worktree),
            _ => None,
        }
    }
    place(one).is_some_and(|at| place(other) == Some(at))
}
