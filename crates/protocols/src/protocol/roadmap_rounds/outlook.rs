//! What a run on a control plane would do first, in one sentence. The decision itself is made, on a run that nobody keeps; this
//! only finds words for the first thing it comes to.

use super::end::End;
use super::facts::{Fact as RoadmapFact, UpdateStep};
use super::plane::{ControllerStage, Plane, RoundSeen};
use super::spec::{RoadmapSpec, RoundLimits};
use super::steps::{PlaceTaken, PlaneOutcome, PlaneStep, RoundWork, WorktreePurpose};
use crate::draft::decide;
use crate::effect::Effect;
use crate::fact::Fact;
use crate::kernel::availability::Patience;
use crate::kernel::budget::{Caps, Spend};
use crate::kernel::fence::Fence;
use crate::kernel::place::Place;
use crate::observation::{Observation, Stamped};
use crate::outcome::Outcome;
use crate::protocol::Spec;
use crate::run::Run;
use crate::vocabulary::{Actor, CommitId, EffectId, Millis, Role, RunId, TaskId, TreeId};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// For a run that has everybody it may ask and no cap.
pub fn outlook(plane: &Plane) -> String {
    outlook_of(&anybody(plane), plane)
}

/// For the run that would be started with this.
pub fn outlook_of(spec: &RoadmapSpec, plane: &Plane) -> String {
    in_words(plane, &first_decisions(spec, plane).unwrap_or_default())
}

/// For an ended run that would be taken up again like this, with all it remembers. Nothing where it cannot be.
pub fn outlook_of_run(run: &Run, again: Observation, plane: &Plane) -> Option<String> {
    let mut run = run.clone();
    observe(&mut run, again)?;
    let decided = answer(&mut run, Outcome::Plane(PlaneOutcome::Read(Box::new(plane.clone()))))?;
    Some(in_words(plane, &decided))
}

fn in_words(plane: &Plane, decided: &[Fact]) -> String {
    let facts = decided.iter().filter_map(|fact| match fact {
        Fact::RoadmapRounds(fact) => told(plane, fact),
        _ => None,
    });
    let asked = decided.iter().filter_map(|fact| match fact {
        Fact::EffectRequested { request, .. } => asked_for(plane, request),
        _ => None,
    });
    // What is decided without asking anybody comes first; beside it nothing is asked for before it is written.
    let first: Vec<String> = facts.take(1).collect();
    let said: Vec<String> = if first.is_empty() { asked.collect() } else { first };
    if said.is_empty() { "wait: nothing can go on".to_string() } else { said.join("; ") }
}

/// What a person can do about a live round without a branch.
pub fn without_branch(round: &RoundSeen) -> String {
    format!(
        "its branch {} is gone: bring it back, or take {} out of `active_rounds` in orchestrator/state.json, and its \
         milestone is planned anew",
        round.branch, round.id
    )
}

/// The facts that follow from the first look at the plane.
fn first_decisions(spec: &RoadmapSpec, plane: &Plane) -> Option<Vec<Fact>> {
    let mut run = Run::default();
    let spec = Spec::RoadmapRounds(Box::new(spec.clone()));
    observe(&mut run, Observation::Start { run: RunId::new("outlook"), spec })?;
    let (base, base_tree) = (plane.base.clone(), TreeId::new(""));
    answer(&mut run, Outcome::Prepared { base, base_tree })?;
    let mut decided = answer(&mut run, Outcome::Plane(PlaneOutcome::Read(Box::new(plane.clone()))))?;
    // What lies in the worktrees is committed first, which is not what anybody wants to know.
    while let Some(places) = taking_up(&decided) {
        let after = Box::new(PlaneOutcome::TakenUp { places });
        let plane = Box::new(plane.clone());
        decided = answer(&mut run, Outcome::Plane(PlaneOutcome::Looked { after, plane }))?;
        decided.retain(|fact| !matches!(fact, Fact::RoadmapRounds(RoadmapFact::TakenUp { .. })));
    }
    Some(decided)
}

/// What it comes to where everything is committed.
fn taking_up(decided: &[Fact]) -> Option<Vec<PlaceTaken>> {
    let asked = decided.iter().find_map(|fact| match fact {
        Fact::EffectRequested { request: Effect::Plane(PlaneStep::TakeUp(asked)), .. } => Some(asked),
        _ => None,
    })?;
    Some(asked.places.iter().map(PlaceTaken::untouched).collect())
}

fn answer(run: &mut Run, outcome: Outcome) -> Option<Vec<Fact>> {
    let effect: EffectId = *run.unsettled.keys().next()?;
    observe(run, Observation::EffectFinished { effect, outcome })
}

fn observe(run: &mut Run, body: Observation) -> Option<Vec<Fact>> {
    let facts = decide(run, &Stamped { at: Millis(0), by: Actor::Engine, body }).ok()?;
    for fact in &facts {
        run.evolve(fact);
    }
    Some(facts)
}

fn anybody(plane: &Plane) -> RoadmapSpec {
    let roles = [Role::Planner, Role::Implementer, Role::Reviewer, Role::Investigator];
    RoadmapSpec {
        task: TaskId::new(plane.roadmap_id.clone()),
        text: String::new(),
        caps: Caps {
            rounds: u32::MAX,
            time: None,
            tokens: None,
            cost_micros: None,
            output_bytes: None,
            step_time: Millis::minutes(1),
            step_idle: None,
            step: Spend::default(),
            day: Spend::default(),
            repository: Spend::default(),
        },
        limits: RoundLimits::default(),
        parallel: None,
        checks: Vec::new(),
        patience: Patience::default(),
        place: Place {
            repository: String::new(),
            common_dir: String::new(),
            run_dir: String::new(),
            base_ref: plane.base_branch.clone(),
            base: CommitId::new(plane.base.as_str()),
            doer_branch: plane.base_branch.clone(),
            judge_branch: String::new(),
            agents: roles.map(|role| (role, "anybody".to_string())).into(),
            fallbacks: BTreeMap::new(),
            prompts: BTreeMap::new(),
            author: None,
            fence: Fence::default(),
            gate: crate::kernel::gate::GateRules::default(),
        },
        left_behind: Vec::new(),
    }
}

/// Nothing for what only tells that the plane was looked at.
fn told(plane: &Plane, fact: &RoadmapFact) -> Option<String> {
    Some(match fact {
        RoadmapFact::BaseFixed { .. } | RoadmapFact::PlaneTaken { .. } => return None,
        RoadmapFact::Concluded { end: End::Complete } => "stop: every milestone is done".to_string(),
        RoadmapFact::Concluded { end } => format!("stop: {}", end.words()),
        RoadmapFact::StageDecided { round, from, to, why } => {
            format!("take {round} from {} to {}: {}", from.word(), to.word(), why.words())
        }
        RoadmapFact::Recovered { rounds, .. } if rounds.is_empty() => {
            "leave the blockage of the controller and go on from what the artifacts prove".to_string()
        }
        RoadmapFact::Recovered { rounds, .. } => {
            let gone = |round: &str| plane.round(round).is_some_and(|seen| seen.head.is_none());
            let names: Vec<String> = rounds
                .iter()
                .map(|(round, stage)| {
                    if gone(round) {
                        format!("{round} (which is given up again: its branch is gone)")
                    } else {
                        format!("{round} (at {})", stage.word())
                    }
                })
                .collect();
            format!("leave the blockage and go on from what the artifacts prove: {}", names.join(", "))
        }
        RoadmapFact::ControllerSet { stage: ControllerStage::Done, .. } => {
            "note that every milestone is done, and stop".to_string()
        }
        RoadmapFact::ControllerSet { stage, why } => format!("set the stage to {}: {why}", stage.word()),
        RoadmapFact::Blocked { round: Some(round), update: false, why, .. } => {
            format!("give up {round}: {why}")
        }
        RoadmapFact::Blocked { update: true, why, .. } => format!("give up the roadmap update: {why}"),
        RoadmapFact::Blocked { why, .. } => format!("block: {why}"),
        RoadmapFact::RoundClosed { round, how } => {
            format!("take {round} out of the state, for it is {}", how.word())
        }
        RoadmapFact::UpdateDecided { decided, .. } => {
            format!("go on with the roadmap update: {}", of_update(decided))
        }
        RoadmapFact::InvestigationDecided { work, why, .. } => {
            format!("have {} looked into: {why}", super::next::named(work))
        }
        RoadmapFact::RepairAsked { work, faults } => {
            format!("send {} back: {}", super::next::named(work), faults.join("; "))
        }
        RoadmapFact::RetryDecided { work, why, .. } => {
            format!("try {} again: {why}", super::next::named(work))
        }
        other => other.name().to_string(),
    })
}

fn of_update(decided: &UpdateStep) -> String {
    match decided {
        UpdateStep::Authored => "it is written and goes to its reviewer".to_string(),
        UpdateStep::Approved { .. } => "it is approved and is published".to_string(),
        UpdateStep::Rejected { summary } => format!("it was rejected: {summary}"),
        UpdateStep::Activated { revision } => format!("{revision} is published and becomes the active one"),
        UpdateStep::SentBack { why } => format!("it goes back to its author: {why}"),
    }
}

/// Nothing for what the loop does with every decision: it writes it down.
fn asked_for(plane: &Plane, request: &Effect) -> Option<String> {
    let step = match request {
        Effect::RunAgent(asked) => return asked.work.as_ref().map(|place| ask(plane, &place.work)),
        Effect::Plane(step) => step,
        Effect::CloseRun(_) => return None,
        other => return Some(format!("ask for {}", other.name())),
    };
    Some(match step {
        PlaneStep::WriteState(_) => return None,
        PlaneStep::OpenWorktree(asked) => match &asked.purpose {
            WorktreePurpose::Round { round } => format!("open {round} and ask its planner"),
            WorktreePurpose::Worker { round, worker } => format!("open a worktree for {worker} of {round}"),
            WorktreePurpose::Update(opened) => {
                format!(
                    "begin the roadmap update to {} for {}",
                    opened.proposed_revision, opened.source_round
                )
            }
            WorktreePurpose::Reopen { round } => {
                format!("bring back the worktree {} of {round}", asked.worktree)
            }
        },
        PlaneStep::SetAside(asked) => {
            format!("set the earlier review aside and {}", ask(plane, &asked.work))
        }
        PlaneStep::CombineWork(asked) => format!("bring what is new into {}", asked.branch),
        PlaneStep::LookAtGate(asked) => format!("look at what {} did to its own measures", asked.round),
        PlaneStep::FinalizeRound(asked) => format!("merge {}", asked.round),
        PlaneStep::PublishUpdate(asked) => format!("publish the roadmap update to {}", asked.revision),
        PlaneStep::TakeUp(asked) => format!("commit what lies in the worktrees of {}", asked.round),
        PlaneStep::Read { .. } | PlaneStep::CaptureWork(_) => step.describe(),
    })
}

fn ask(plane: &Plane, work: &RoundWork) -> String {
    let role = work.kind.role();
    match plane.update.as_ref().filter(|_| work.kind.is_of_update()) {
        Some(update) => format!(
            "ask the {role} of the roadmap update to {} (attempt {})",
            update.proposed_revision, update.attempt
        ),
        None => format!("ask the {role} of {} ({})", work.round, work.kind.label()),
    }
}
