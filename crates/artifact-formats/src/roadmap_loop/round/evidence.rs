//! What the files of a round prove. Read once from the texts of the round's folder, every malformed file a fault with its
//! name, and from that the stage a round may lawfully be in. It believes files, not what a state claims about them.

use std::collections::BTreeMap;

use super::closeout_record::CloseoutRecord;
use super::notes::{DirectEvidence, Notes, WorkerState, Workplace, handoff_faults, worker_state};
use super::plan::{RoundPlan, WorkerMode};
use super::request::UpdateRequest;
use super::review::{RetryTarget, Review, ReviewDecision};
use super::selection::Selection;
use super::{RoundForm, files, is_retired};
use crate::faults::Faults;
use crate::fields::choice;

choice! {
    /// The stage that a round's files lawfully prove: the first one whose output is missing, unusable or rejected.
    ProvenStage {
        /// The planner asked for another roadmap instead of planning.
        UpdateRequested = "update-requested",
        Plan = "plan",
        Implement = "implement",
        Review = "review",
        FinalizeRound = "finalize-round",
        /// The reviewer sees no lawful retry in this round.
        Blocked = "blocked",
    }
}

/// Everything read from a round's folder. A file that is there and not here has a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    pub form: RoundForm,
    pub request: Option<UpdateRequest>,
    pub selection: Option<Selection>,
    pub plan: Option<RoundPlan>,
    pub notes: Option<Notes>,
    /// A simple task that its planner did and proved.
    pub direct: Option<DirectEvidence>,
    pub review: Option<Review>,
    pub closeout_record: Option<CloseoutRecord>,
    pub workers: Vec<(String, WorkerState)>,
    /// Of workers that left a handoff and are not done by it, to be sent back to them.
    pub handoff_faults: Vec<(String, Faults)>,
    /// One entry per malformed file, to be sent back to its author.
    pub faults: Vec<Faults>,
    /// Files of the contract before records; recognised, not read.
    pub retired: Vec<String>,
}

/// The texts of a round's folder, by their names in it (`plan.md`, `workers/a/handoff.md`).
pub type RoundTexts = BTreeMap<String, String>;

impl Evidence {
    /// `workplace` tells what is seen of a worker's branch and worktree.
    pub fn read(
        round_id: &str,
        form: RoundForm,
        texts: &RoundTexts,
        workplace: impl Fn(&str) -> Workplace,
    ) -> Self {
        let mut reader = Reader { round_id, texts, faults: Vec::new() };
        let (selection, plan) = reader.plan(form);
        let request = reader.request();
        let notes = reader.parsed(files::NOTES, Notes::parse);
        let direct = match &plan {
            Some(plan) if form == RoundForm::StructuredMarkdown && plan.is_simple() => {
                let milestone = &plan.lineage.milestone_id;
                reader.parsed(files::NOTES, |text| DirectEvidence::parse(text, milestone))
            }
            _ => None,
        };
        let review = reader.review(form, selection.as_ref());
        let closeout_record = reader.closeout_record(form);
        let workers = plan.iter().flat_map(|plan| &plan.workers).map(|worker| {
            let own = |name| reader.text(&files::of_worker(&worker.worker_id, name));
            let place = workplace(&worker.worker_id);
            let state = worker_state(
                worker,
                place,
                own(files::NOTES),
                own(files::HANDOFF),
                reader.text(files::NOTES),
            );
            (worker.worker_id.clone(), state)
        });
        let workers: Vec<(String, WorkerState)> = workers.collect();
        let handoff_faults = reader.handoff_faults(&workers);
        let retired = texts.keys().filter(|name| is_retired(name, form)).cloned().collect();
        let faults = reader.faults;
        Self {
            form,
            request,
            selection,
            plan,
            notes,
            direct,
            review,
            closeout_record,
            workers,
            handoff_faults,
            faults,
            retired,
        }
    }

    pub fn faults_of(&self, file: &str) -> Option<&Faults> {
        self.faults.iter().find(|faults| faults.file() == file)
    }

    /// The stage the round may be in by all its files, the review included.
    pub fn proves(&self) -> ProvenStage {
        let before = self.proves_before_review();
        if before != ProvenStage::Review {
            return before;
        }
        match self.review.as_ref().map(|review| &review.decision) {
            Some(ReviewDecision::Approved { .. }) => ProvenStage::FinalizeRound,
            Some(ReviewDecision::Rejected { retry_target, .. }) => match retry_target {
                RetryTarget::Implement => ProvenStage::Implement,
                RetryTarget::Plan => ProvenStage::Plan,
                RetryTarget::Blocked => ProvenStage::Blocked,
            },
            Some(ReviewDecision::Unclassified { .. }) | None => ProvenStage::Review,
        }
    }

    /// The stage without the review, for a review that was answered already and waits to be written anew.
    pub fn proves_before_review(&self) -> ProvenStage {
        let (Some(plan), Some(_)) = (&self.plan, &self.selection) else {
            return if self.request.is_some() { ProvenStage::UpdateRequested } else { ProvenStage::Plan };
        };
        if self.form == RoundForm::StructuredMarkdown && plan.is_simple() {
            // The planner's own evidence or nothing: a simple task has no implementer and no reviewer.
            return if self.direct.is_some() { ProvenStage::FinalizeRound } else { ProvenStage::Plan };
        }
        let integrated = plan.worker_mode == WorkerMode::None || self.all_integrated();
        if self.notes.is_some() && integrated { ProvenStage::Review } else { ProvenStage::Implement }
    }

    /// Every worker the integration waits for has handed its work over.
    pub fn ready_to_integrate(&self) -> bool {
        self.blocking_workers().all(|state| matches!(state, WorkerState::Complete | WorkerState::Integrated))
    }

    fn all_integrated(&self) -> bool {
        self.blocking_workers().all(|state| matches!(state, WorkerState::Integrated))
    }

    fn blocking_workers(&self) -> impl Iterator<Item = &WorkerState> {
        let blocks = |id: &str| {
            self.plan
                .as_ref()
                .and_then(|plan| plan.worker(id))
                .is_some_and(|worker| worker.blocks_integration)
        };
        self.workers.iter().filter(move |(id, _)| blocks(id)).map(|(_, state)| state)
    }
}

struct Reader<'a> {
    round_id: &'a str,
    texts: &'a RoundTexts,
    faults: Vec<Faults>,
}

impl<'a> Reader<'a> {
    fn text(&self, name: &str) -> Option<&'a str> {
        self.texts.get(name).map(String::as_str)
    }

    /// The file's value; its faults are kept, once per file.
    fn parsed<T>(&mut self, name: &str, parse: impl FnOnce(&str) -> Result<T, Faults>) -> Option<T> {
        let result = parse(self.text(name)?);
        result.map_err(|faults| self.put(faults)).ok()
    }

    /// Two readers of one file see some faults twice.
    fn put(&mut self, faults: Faults) {
        let Some(seen) = self.faults.iter_mut().find(|seen| seen.file() == faults.file()) else {
            self.faults.push(faults);
            return;
        };
        let mut sentences = seen.sentences().to_vec();
        sentences.extend(faults.sentences().iter().filter(|new| !seen.sentences().contains(new)).cloned());
        if let Err(joined) = Faults::unless_empty(faults.file(), sentences, || None::<()>) {
            *seen = joined;
        }
    }

    /// Work that was taken or is blocked needs no other handoff.
    fn handoff_faults(&self, workers: &[(String, WorkerState)]) -> Vec<(String, Faults)> {
        let open =
            workers.iter().filter(|(_, state)| matches!(state, WorkerState::Pending | WorkerState::Running));
        open.filter_map(|(id, _)| {
            let text = self.text(&files::of_worker(id, files::HANDOFF))?;
            Some((id.clone(), handoff_faults(id, text)?))
        })
        .collect()
    }

    /// A file that must stand beside others of which one is there already.
    fn demand(&mut self, name: &str, beside: &[&str]) {
        let there = beside.iter().find(|other| self.text(other).is_some());
        if let (None, Some(other)) = (self.text(name), there) {
            self.put(Faults::one(name, format!("it is required beside {other}, and absent")));
        }
    }

    fn plan(&mut self, form: RoundForm) -> (Option<Selection>, Option<RoundPlan>) {
        let round_id = self.round_id;
        let (selection, plan) = match form {
            RoundForm::Records => {
                let all = [files::SELECTION_RECORD, files::PLAN, files::PLAN_RECORD];
                for name in all {
                    self.demand(name, &all);
                }
                let selection =
                    self.parsed(files::SELECTION_RECORD, |text| Selection::from_record(round_id, text));
                let plan = self.parsed(files::PLAN_RECORD, |text| RoundPlan::from_record(round_id, text));
                let prose = self.parsed(files::PLAN, RoundPlan::prose_faults);
                (selection, plan.filter(|_| prose.is_some()))
            }
            RoundForm::StructuredMarkdown => {
                let selection = self.parsed(files::PLAN, |text| Selection::from_plan(round_id, text));
                let plan = self.parsed(files::PLAN, |text| RoundPlan::from_plan(round_id, text));
                (selection, plan)
            }
        };
        let plan = plan.filter(|plan| self.agrees(selection.as_ref(), plan) && self.is_assigned(plan));
        (selection, plan)
    }

    fn agrees(&mut self, selection: Option<&Selection>, plan: &RoundPlan) -> bool {
        let Some(selection) = selection else { return true };
        let differences = plan.lineage.differences(&selection.lineage, files::SELECTION_RECORD);
        let agreed = Faults::unless_empty(files::PLAN_RECORD, differences, || Some(()));
        agreed.map_err(|faults| self.put(faults)).is_ok()
    }

    /// The planner draws the boundaries, so it also writes what each worker is asked.
    fn is_assigned(&mut self, plan: &RoundPlan) -> bool {
        let names = plan.workers.iter().map(|worker| files::of_worker(&worker.worker_id, files::ASSIGNMENT));
        let missing: Vec<String> =
            names.filter(|name| self.text(name).is_none_or(|text| text.trim().is_empty())).collect();
        for name in &missing {
            self.put(Faults::one(name, "the planner must write what this worker is to do"));
        }
        missing.is_empty()
    }

    /// A request counts only where nothing was planned beside it.
    fn request(&mut self) -> Option<UpdateRequest> {
        let round_id = self.round_id;
        let request = self.parsed(files::UPDATE_REQUEST, |text| UpdateRequest::parse(round_id, text))?;
        let planned = [files::SELECTION_RECORD, files::PLAN, files::PLAN_RECORD];
        let beside: Vec<&str> = planned.into_iter().filter(|name| self.text(name).is_some()).collect();
        if beside.is_empty() {
            return Some(request);
        }
        let sentence = format!("a request stands alone, and there is {} beside it", beside.join(", "));
        self.put(Faults::one(files::UPDATE_REQUEST, sentence));
        None
    }

    fn review(&mut self, form: RoundForm, selection: Option<&Selection>) -> Option<Review> {
        let round_id = self.round_id;
        let review = match form {
            RoundForm::Records => {
                self.demand(files::REVIEW_RECORD, &[files::REVIEW]);
                let prose = self.text(files::REVIEW);
                self.parsed(files::REVIEW_RECORD, |text| Review::from_record(round_id, text, prose))
            }
            RoundForm::StructuredMarkdown => {
                let milestone = selection.map(|selection| selection.lineage.milestone_id.as_str());
                let milestone = milestone.unwrap_or_default();
                self.parsed(files::REVIEW, |text| Review::from_markdown(text, milestone))
            }
        }?;
        let differences = match (&review.lineage, selection) {
            (Some(found), Some(selection)) => found.differences(&selection.lineage, files::SELECTION_RECORD),
            _ => Vec::new(),
        };
        let agreed = Faults::unless_empty(files::REVIEW_RECORD, differences, || Some(review));
        agreed.map_err(|faults| self.put(faults)).ok()
    }

    fn closeout_record(&mut self, form: RoundForm) -> Option<CloseoutRecord> {
        if form != RoundForm::Records {
            return None;
        }
        let round_id = self.round_id;
        let record = self.parsed(files::CLOSEOUT_RECORD, |text| CloseoutRecord::parse(round_id, text))?;
        let review = self.text(files::REVIEW_RECORD).unwrap_or_default();
        match record.differs_from_review(review.as_bytes()) {
            Some(sentence) => {
                self.put(Faults::one(files::CLOSEOUT_RECORD, sentence));
                None
            }
            None => Some(record),
        }
    }
}
