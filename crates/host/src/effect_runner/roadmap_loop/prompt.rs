//! What a role of a roadmap loop is told, put together from the control plane as it lies there and from the role files of the
//! base branch. The wording lives in `artifact-formats`.

use super::worktree_path;
use crate::context::RunContext;
use crate::control_plane::{self, Looked, folder};
use crate::fault::{bug, git_fault};
use std::path::Path;
use windlass_agent_drivers::AnswerBy;
use windlass_artifact_formats::data_block::data_block;
use windlass_artifact_formats::gate::GateEvidence;
use windlass_artifact_formats::roadmap_loop::lineage::Lineage;
use windlass_artifact_formats::roadmap_loop::plane::names;
use windlass_artifact_formats::roadmap_loop::prompts::{
    Again, Assignment, CloseoutTargets, Expected, ImplementerPrompt, IntegrationPrompt, InvestigatorPrompt,
    OtherRound, PlannerPrompt, ReadyDirection, RepairPrompt, ReviewerPrompt, SPOKEN_ANSWER, UpdateNames,
    UpdatePlannerPrompt, UpdateReviewerPrompt, UpdateSource, WorkerPrompt,
};
use windlass_artifact_formats::roadmap_loop::round::{
    Evidence, ReviewDecision, RoundPlan, UpdateTrigger as DocumentTrigger, Workplace, files,
};
use windlass_control_api::{Code, Fault};
use windlass_protocols::effect::{Ask, AskedWork, RunAgent};
use windlass_protocols::kernel::gate::{GateFinding, NewTests};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::roadmap_rounds::opening;
use windlass_protocols::protocol::roadmap_rounds::plane::{
    PlanSeen, RoundSeen, UpdateSeen, UpdateStatus, UpdateTrigger,
};
use windlass_protocols::protocol::roadmap_rounds::state::{SET_ASIDE, State};
use windlass_protocols::protocol::roadmap_rounds::steps::WorkKind;
use windlass_protocols::{Role, Run};

/// How what a person said is told from what the loop says.
const OF_A_PERSON: &str = "a person says: ";

pub(in super::super) fn render(
    context: &RunContext,
    asked: &RunAgent,
    run: &Run,
    (outbox, answer_by): (&Path, AnswerBy),
) -> Result<String, Fault> {
    let Some(Protocol::RoadmapRounds(state)) = run.started.as_ref().map(|started| &started.protocol) else {
        return Err(bug("a prompt of a roadmap loop in another loop"));
    };
    let work = asked.work.as_deref().ok_or_else(|| bug("an agent of a roadmap loop without its work"))?;
    let looked = control_plane::look_again(&context.repository, &context.planes)?
        .map_err(|trouble| Fault::new(Code::NotAllowedNow, trouble.sentence()))?;
    let role_text = role_text(context, &looked, asked.role)?;
    let (feedback, notes) = said(&asked.ask, &state.notes);
    let told = Told {
        context,
        state,
        looked: &looked,
        asked: work,
        role_text,
        worktree: worktree_path(context, &work.worktree).to_string_lossy().into_owned(),
        outbox: outbox.to_string_lossy().into_owned(),
        first: asked.attempt == 1,
        feedback,
    };
    let mut text = match &asked.ask {
        // Whoever remembers the question is only told what is wrong with the answer.
        Ask::Repair { faults } if asked.session.is_some() => told.repair(faults)?,
        Ask::Repair { faults } => format!("{}\n\n{}", told.whole()?, told.repair(faults)?),
        Ask::Fresh { .. } => told.whole()?,
    };
    if is_set_aside(&asked.ask) {
        text.push_str("\n\n## The review before yours\n\n");
        text.push_str(SET_ASIDE);
        text.push_str(".\n");
    }
    if !notes.is_empty() {
        text.push_str("\n\n## From the person in charge\n\n");
        text.push_str(&data_block("answers and notes of the person in charge", &notes.join("\n")));
    }
    if answer_by != AnswerBy::Outbox {
        text.push('\n');
        text.push_str(SPOKEN_ANSWER);
    }
    Ok(text)
}

/// What the loop has to say, and what a person has. Whoever is to mend an answer hears the person as well.
fn said(ask: &Ask, notes: &[String]) -> (String, Vec<String>) {
    let Ask::Fresh { feedback, .. } = ask else {
        return (String::new(), notes.iter().map(|note| format!("{OF_A_PERSON}{note}")).collect());
    };
    let (notes, own): (Vec<&String>, Vec<&String>) =
        feedback.iter().partition(|line| line.starts_with(OF_A_PERSON));
    let own: Vec<&str> = own.into_iter().map(String::as_str).filter(|line| *line != SET_ASIDE).collect();
    (own.join("\n"), notes.into_iter().cloned().collect())
}

fn is_set_aside(ask: &Ask) -> bool {
    matches!(ask, Ask::Fresh { feedback, .. } if feedback.iter().any(|line| line == SET_ASIDE))
}

/// The role's own file as the base branch has it: whoever works in a round cannot change what the next one is told.
fn role_text(context: &RunContext, looked: &Looked, role: Role) -> Result<String, Fault> {
    let path = format!("{}/roles/{role}.md", names::PLANE_DIR);
    let found = context.repository.file_at(&looked.base.tree, &path).map_err(git_fault)?;
    let found = found.ok_or_else(|| Fault::new(Code::NotAllowedNow, format!("{path} is missing")))?;
    Ok(String::from_utf8_lossy(&found).into_owned())
}

struct Told<'a> {
    context: &'a RunContext,
    state: &'a State,
    looked: &'a Looked,
    asked: &'a AskedWork,
    role_text: String,
    worktree: String,
    outbox: String,
    first: bool,
    feedback: String,
}

impl Told<'_> {
    fn round_id(&self) -> &str {
        &self.asked.work.round
    }

    fn assignment(&self) -> Assignment<'_> {
        Assignment {
            role_text: &self.role_text,
            form: control_plane::form(self.looked.generation),
            round_id: self.round_id(),
            branch: &self.asked.branch,
            worktree: &self.worktree,
        }
    }

    /// The round and what its artifacts say.
    fn round(&self) -> Result<(&RoundSeen, &Evidence), Fault> {
        let rounds = self.looked.plane.rounds.iter().zip(&self.looked.artifacts);
        let mut rounds = rounds.filter(|(round, _)| round.id == self.asked.work.round);
        rounds.next().ok_or_else(|| self.gone("round"))
    }

    fn update(&self) -> Result<&UpdateSeen, Fault> {
        self.looked.plane.update.as_ref().ok_or_else(|| self.gone("roadmap update"))
    }

    fn gone(&self, what: &str) -> Fault {
        let message = format!("the {what} {} is not in the state file any more", self.round_id());
        Fault::new(Code::NotAllowedNow, message)
    }

    fn plan(&self) -> Result<&RoundPlan, Fault> {
        let (_, evidence) = self.round()?;
        let gone = || Fault::new(Code::NotAllowedNow, format!("the plan of {} is gone", self.round_id()));
        evidence.plan.as_ref().ok_or_else(gone)
    }

    fn whole(&self) -> Result<String, Fault> {
        match &self.asked.work.kind {
            WorkKind::Plan => self.planner(),
            WorkKind::Implement => self.implementer(),
            WorkKind::Worker { worker } => self.worker(worker),
            WorkKind::Integrate => self.integration(),
            WorkKind::Review => self.reviewer(),
            WorkKind::AuthorUpdate => self.update_planner(),
            WorkKind::ReviewUpdate => self.update_reviewer(),
            WorkKind::Investigate { update } => self.investigator(*update),
        }
    }

    /// Why it is asked again. A review that rejected the round speaks to whoever makes it, not to who reviews it.
    fn again(&self, rejected: bool) -> Again<'_> {
        let feedback = self.feedback.as_str();
        match feedback {
            "" if self.first => Again::First,
            "" => Again::SentBack("What was left before did not bring the round on."),
            _ if feedback.contains("the base branch moved") && self.asked.work.kind == WorkKind::Review => {
                Again::BaseMergedIn(feedback)
            }
            _ if feedback.starts_with("the base branch moved") => Again::BaseMoved(feedback),
            _ if rejected => Again::Rejected(feedback),
            _ => Again::SentBack(feedback),
        }
    }

    fn was_rejected(&self) -> Result<bool, Fault> {
        let (_, evidence) = self.round()?;
        let decision = evidence.review.as_ref().map(|review| &review.decision);
        Ok(matches!(decision, Some(ReviewDecision::Rejected { .. })))
    }

    fn lineage(&self) -> Result<Lineage, Fault> {
        let (_, evidence) = self.round()?;
        match &evidence.selection {
            Some(selection) => Ok(selection.lineage.clone()),
            None => self.lineage_to_plan(),
        }
    }

    /// Whether what its planner chose before may be chosen: what was refused is no form to fill in again.
    fn may_keep(&self, round: &RoundSeen) -> bool {
        let plane = &self.looked.plane;
        let faults = |plan: &PlanSeen| {
            // A revision that was published since is only named anew.
            let named = PlanSeen { revision: plane.revision.clone(), ..plan.clone() };
            opening::faults_of_selection(self.state, plane, round, &named)
        };
        round.evidence.plan.as_ref().is_none_or(|plan| faults(plan).is_empty())
    }

    /// What a planner is to name: the active bundle, and what it chose before where the roadmap still allows that.
    fn lineage_to_plan(&self) -> Result<Lineage, Fault> {
        let (round, evidence) = self.round()?;
        let (bundle, roadmap) = (&self.looked.bundle, &self.looked.roadmap);
        let kept = self.may_keep(round);
        let chosen = evidence.selection.as_ref().map(|selection| &selection.lineage).filter(|chosen| {
            kept && roadmap
                .direction(&chosen.direction_id)
                .is_some_and(|found| found.milestone == chosen.milestone_id)
        });
        if let Some(chosen) = chosen {
            return Ok(Lineage {
                roadmap_id: bundle.roadmap_id.clone(),
                roadmap_revision: bundle.revision.clone(),
                roadmap_dir: bundle.dir.clone(),
                ..chosen.clone()
            });
        }
        let free = opening::open_to(&self.looked.plane, self.round_id()).next();
        let first = free.map(|(_, direction)| (direction.milestone.as_str(), direction.id.as_str()));
        let first = first.or_else(|| {
            let found = roadmap.candidate_directions().next()?;
            Some((found.milestone.as_str(), found.id.as_str()))
        });
        let (milestone_id, direction_id) = first.unwrap_or(("the milestone's id", "the direction's id"));
        Ok(Lineage {
            roadmap_id: bundle.roadmap_id.clone(),
            roadmap_revision: bundle.revision.clone(),
            roadmap_dir: bundle.dir.clone(),
            milestone_id: milestone_id.to_owned(),
            direction_id: direction_id.to_owned(),
            extracted_item_id: "a-new-id-for-the-slice".to_owned(),
        })
    }

    fn others(&self) -> Vec<OtherRound<'_>> {
        let rounds = self.looked.plane.rounds.iter().zip(&self.looked.artifacts);
        let others = rounds.filter(|(round, _)| round.id != self.asked.work.round);
        others
            .map(|(round, evidence)| {
                let selection = evidence.selection.as_ref();
                let lineage = selection.map(|selection| &selection.lineage);
                OtherRound {
                    round_id: &round.id,
                    stage: round.stage.word(),
                    milestone_id: lineage.map_or("not chosen yet", |found| &found.milestone_id),
                    extracted_item_id: lineage.map_or("not chosen yet", |found| &found.extracted_item_id),
                    parallel_group: selection.and_then(|found| found.scheduler.parallel_group.as_deref()),
                    scope: selection.map_or("", |found| &found.summary),
                }
            })
            .collect()
    }

    fn planner(&self) -> Result<String, Fault> {
        let roadmap = &self.looked.roadmap;
        let others = self.looked.plane.rounds.iter().filter(|other| other.id != self.round_id());
        let taken: Vec<&str> =
            others.filter_map(|other| Some(other.evidence.plan.as_ref()?.direction.as_str())).collect();
        let ready: Vec<ReadyDirection<'_>> = roadmap
            .candidate_directions()
            .filter(|direction| !taken.contains(&direction.id.as_str()))
            .filter_map(|direction| {
                let milestone = roadmap.milestone(&direction.milestone)?;
                Some(ReadyDirection {
                    milestone_id: &milestone.id,
                    milestone_title: &milestone.title,
                    milestone_status: milestone.status.as_str(),
                    direction_id: &direction.id,
                    summary: &direction.summary,
                    parallel_hints: direction.parallel_hints.as_deref().unwrap_or_default(),
                })
            })
            .collect();
        Ok(PlannerPrompt {
            assignment: self.assignment(),
            lineage: &self.lineage_to_plan()?,
            ready: &ready,
            others: &self.others(),
            again: self.again(self.was_rejected()?),
        }
        .render())
    }

    fn implementer(&self) -> Result<String, Fault> {
        Ok(ImplementerPrompt {
            assignment: self.assignment(),
            roadmap_dir: &self.looked.bundle.dir,
            others: &self.others(),
            again: self.again(self.was_rejected()?),
        }
        .render())
    }

    fn worker(&self, id: &str) -> Result<String, Fault> {
        let plan = self.plan()?;
        let worker = plan.worker(id).ok_or_else(|| self.gone("worker of"))?;
        Ok(WorkerPrompt {
            assignment: self.assignment(),
            roadmap_dir: &self.looked.bundle.dir,
            worker,
            workers: &plan.workers,
            again: self.again(self.was_rejected()?),
        }
        .render())
    }

    fn integration(&self) -> Result<String, Fault> {
        let plan = self.plan()?;
        let (_, evidence) = self.round()?;
        let integration = plan.integration.as_ref().ok_or_else(|| self.gone("integration of"))?;
        let states = evidence.workers.iter().filter_map(|(id, state)| Some((plan.worker(id)?, state)));
        let workers: Vec<_> = states.collect();
        Ok(IntegrationPrompt {
            assignment: self.assignment(),
            roadmap_dir: &self.looked.bundle.dir,
            integration,
            workers: &workers,
            again: self.again(self.was_rejected()?),
        }
        .render())
    }

    fn targets<'t>(&'t self, lineage: &'t Lineage) -> CloseoutTargets<'t> {
        let milestone = self.looked.roadmap.milestone(&lineage.milestone_id);
        let history = names::history_file(&self.looked.bundle.roadmap_id);
        let anchors = self.looked.view.iter().flat_map(|view| &view.anchors);
        CloseoutTargets {
            milestone_id: &lineage.milestone_id,
            current_status: milestone.map_or("unknown", |milestone| milestone.status.as_str()),
            status_anchor: milestone.and_then(|milestone| milestone.status_anchor.as_deref()),
            completion_anchor: milestone.and_then(|milestone| milestone.completion_anchor.as_deref()),
            history_anchor: anchors
                .filter(|anchor| anchor.target_file == history)
                .map(|anchor| anchor.id.as_str())
                .next(),
        }
    }

    fn reviewer(&self) -> Result<String, Fault> {
        let (round, _) = self.round()?;
        let lineage = self.lineage()?;
        let fork = round.fork.as_ref().unwrap_or(&self.looked.plane.base);
        let gate =
            self.state.book.rounds.get(self.round_id()).map(|book| book.gate.clone()).unwrap_or_default();
        let findings: Vec<String> = gate.gate.findings.iter().map(GateFinding::words).collect();
        let new_tests: Vec<String> = gate.gate.new_tests.iter().map(NewTests::words).collect();
        let red: Vec<String> = gate.red.iter().map(|command| format!("`{command}`")).collect();
        Ok(ReviewerPrompt {
            assignment: self.assignment(),
            lineage: &lineage,
            base_commit: fork.as_str(),
            targets: self.targets(&lineage),
            again: self.again(false),
            gate: GateEvidence { findings: &findings, new_tests: &new_tests },
            red: &red,
        }
        .render())
    }

    fn investigator(&self, of_update: bool) -> Result<String, Fault> {
        let mut observations = Vec::new();
        let (stage, faults) = if of_update {
            let update = self.update()?;
            observations.extend(update.author_faults.iter().chain(&update.review_faults).cloned());
            let word = match update.status {
                UpdateStatus::Authoring | UpdateStatus::Rejected => "update-roadmap (authoring)",
                UpdateStatus::Review | UpdateStatus::Approved | UpdateStatus::Blocked => {
                    "update-roadmap (review)"
                }
            };
            (word, Vec::new())
        } else {
            let (round, evidence) = self.round()?;
            observations.push(format!("its artifacts prove the stage {}", evidence.proves()));
            observations.extend(round.resume_error.iter().map(|error| format!("noted before: {error}")));
            (round.stage.word(), evidence.faults.clone())
        };
        Ok(InvestigatorPrompt {
            assignment: self.assignment(),
            stage,
            outbox: &self.outbox,
            failure: if self.feedback.is_empty() { "the stage does not get on" } else { &self.feedback },
            observations: &observations,
            faults: &faults,
        }
        .render())
    }

    fn update_planner(&self) -> Result<String, Fault> {
        let update = self.update()?;
        let new_dir = names::roadmap_dir(&self.looked.bundle.roadmap_id, &update.proposed_revision);
        let (reason, commit) = (self.reason(update), self.merged_commit());
        Ok(UpdatePlannerPrompt {
            assignment: self.assignment(),
            names: self.update_names(update, &new_dir, Some(&commit)),
            prior_dir: &self.looked.bundle.dir,
            source: source(update, &reason),
            attempt: update.attempt,
            again: self.again(update.status == UpdateStatus::Rejected),
        }
        .render())
    }

    fn update_reviewer(&self) -> Result<String, Fault> {
        let update = self.update()?;
        let new_dir = names::roadmap_dir(&self.looked.bundle.roadmap_id, &update.proposed_revision);
        let (reason, commit) = (self.reason(update), self.merged_commit());
        Ok(UpdateReviewerPrompt {
            assignment: self.assignment(),
            names: self.update_names(update, &new_dir, Some(&commit)),
            prior_dir: &self.looked.bundle.dir,
            source: source(update, &reason),
            attempt: update.attempt,
        }
        .render())
    }

    fn update_names<'n>(
        &'n self,
        update: &'n UpdateSeen,
        new_dir: &'n str,
        commit: Option<&'n str>,
    ) -> UpdateNames<'n> {
        let merged = update.trigger == UpdateTrigger::MergedRound;
        UpdateNames {
            source_round_id: &update.source_round,
            trigger: if merged { DocumentTrigger::MergedRound } else { DocumentTrigger::PlannerRequest },
            merged_commit: commit.filter(|_| merged),
            roadmap_id: &self.looked.bundle.roadmap_id,
            prior_revision: &update.prior_revision,
            proposed_revision: &update.proposed_revision,
            new_dir,
        }
    }

    /// The squash commit of the round that the update follows; the base branch as it is, where somebody else made it.
    fn merged_commit(&self) -> String {
        let merged = self.state.merged.iter().rev().find(|merged| merged.round == self.asked.work.round);
        let commit = merged.map_or(&self.looked.plane.base, |merged| &merged.commit);
        commit.to_string()
    }

    /// What asks for the update, from the artifacts of its round, which the update's branch has.
    fn reason(&self, update: &UpdateSeen) -> String {
        let top = worktree_path(self.context, &update.worktree);
        let found = folder::read_all(&top, &files::round_dir(&update.source_round));
        if update.trigger == UpdateTrigger::PlannerRequest {
            return found.texts.get(files::UPDATE_REQUEST).cloned().unwrap_or_default();
        }
        let form = control_plane::form(self.looked.generation);
        let evidence = Evidence::read(&update.source_round, form, &found.texts, |_| Workplace::Absent);
        match evidence.review.map(|review| review.decision) {
            Some(ReviewDecision::Approved { closeout }) => closeout.reason.unwrap_or_default(),
            _ => String::new(),
        }
    }

    fn repair(&self, faults: &[String]) -> Result<String, Fault> {
        let round_id = self.round_id();
        let form = control_plane::form(self.looked.generation);
        let render = |expected: Expected<'_>| {
            let place = match &expected {
                Expected::Recovery { .. } => &self.outbox,
                _ => &self.worktree,
            };
            RepairPrompt { expected, place, faults: &[], remarks: faults }.render()
        };
        Ok(match &self.asked.work.kind {
            WorkKind::Plan => render(Expected::Plan { round_id, form, lineage: &self.lineage_to_plan()? }),
            WorkKind::Implement => render(Expected::Notes { round_id }),
            WorkKind::Worker { worker } => render(Expected::Handoff { round_id, worker_id: worker }),
            WorkKind::Integrate => {
                let workers: Vec<String> =
                    self.plan()?.workers.iter().map(|worker| worker.worker_id.clone()).collect();
                render(Expected::IntegrationNotes { round_id, workers: &workers })
            }
            WorkKind::Review => {
                let lineage = self.lineage()?;
                let targets = self.targets(&lineage);
                render(Expected::Review { round_id, form, lineage: &lineage, targets })
            }
            WorkKind::AuthorUpdate => {
                let update = self.update()?;
                let new_dir = names::roadmap_dir(&self.looked.bundle.roadmap_id, &update.proposed_revision);
                let commit = self.merged_commit();
                render(Expected::Update(self.update_names(update, &new_dir, Some(&commit))))
            }
            WorkKind::ReviewUpdate => render(Expected::UpdateReview { source_round_id: round_id }),
            WorkKind::Investigate { .. } => render(Expected::Recovery { subject_id: round_id }),
        })
    }
}

fn source<'s>(update: &UpdateSeen, reason: &'s str) -> UpdateSource<'s> {
    match update.trigger {
        UpdateTrigger::MergedRound => UpdateSource::MergedRound { reason },
        UpdateTrigger::PlannerRequest => UpdateSource::PlannerRequest { request: reason },
    }
}
