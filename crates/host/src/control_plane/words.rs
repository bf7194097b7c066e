//! The files' words in those of the loop. A word that only one side has is decided here, once.

use windlass_artifact_formats::roadmap_loop::closeout::{
    CloseoutMode as FileMode, MilestoneStatus as FileStatus,
};
use windlass_artifact_formats::roadmap_loop::plane::{
    ControllerStage as FileController, Generation as FileGeneration, Roadmap, RoundStage as FileStage,
    StateFile, UpdateStatus as FileUpdateStatus, UpdateTrigger as FileTrigger,
};
use windlass_artifact_formats::roadmap_loop::round::{RetryTarget as FileTarget, RoundForm};
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, ControllerStage, Direction, Generation, Milestone, MilestoneStatus, ParallelHint,
    RetryTarget, RoundStage, UpdateStatus, UpdateTrigger,
};

pub(crate) const fn generation_word(generation: FileGeneration) -> &'static str {
    match generation {
        FileGeneration::Records => "records",
        FileGeneration::StructuredMarkdown => "structured Markdown",
    }
}

pub(super) const fn generation(generation: FileGeneration) -> Generation {
    match generation {
        FileGeneration::Records => Generation::Records,
        FileGeneration::StructuredMarkdown => Generation::StructuredMarkdown,
    }
}

pub(crate) const fn form(generation: FileGeneration) -> RoundForm {
    match generation {
        FileGeneration::Records => RoundForm::Records,
        FileGeneration::StructuredMarkdown => RoundForm::StructuredMarkdown,
    }
}

pub(super) fn controller_stage(state: &StateFile) -> ControllerStage {
    match state.controller_stage {
        Some(FileController::UpdateRoadmap) => ControllerStage::UpdateRoadmap,
        Some(FileController::Done) => ControllerStage::Done,
        Some(FileController::Blocked) => ControllerStage::Blocked,
        Some(FileController::DispatchRounds) | None => ControllerStage::DispatchRounds,
    }
}

pub(crate) const fn stage_to_file(stage: ControllerStage) -> FileController {
    match stage {
        ControllerStage::DispatchRounds => FileController::DispatchRounds,
        ControllerStage::UpdateRoadmap => FileController::UpdateRoadmap,
        ControllerStage::Done => FileController::Done,
        ControllerStage::Blocked => FileController::Blocked,
    }
}

/// A record at `done` is not among the live ones, so its word is never asked for.
pub(super) const fn round_stage(stage: FileStage) -> RoundStage {
    match stage {
        FileStage::Plan => RoundStage::Plan,
        FileStage::Implement => RoundStage::Implement,
        FileStage::Review => RoundStage::Review,
        FileStage::FinalizeRound | FileStage::Done => RoundStage::FinalizeRound,
        FileStage::Blocked => RoundStage::Blocked,
    }
}

pub(crate) const fn round_stage_to_file(stage: RoundStage) -> FileStage {
    match stage {
        RoundStage::Plan => FileStage::Plan,
        RoundStage::Implement => FileStage::Implement,
        RoundStage::Review => FileStage::Review,
        RoundStage::FinalizeRound => FileStage::FinalizeRound,
        RoundStage::Blocked => FileStage::Blocked,
    }
}

pub(super) const fn update_status(status: FileUpdateStatus) -> UpdateStatus {
    match status {
        FileUpdateStatus::Authoring => UpdateStatus::Authoring,
        FileUpdateStatus::Review => UpdateStatus::Review,
        FileUpdateStatus::Rejected => UpdateStatus::Rejected,
        FileUpdateStatus::Approved => UpdateStatus::Approved,
        FileUpdateStatus::Blocked => UpdateStatus::Blocked,
    }
}

pub(crate) const fn update_status_to_file(status: UpdateStatus) -> FileUpdateStatus {
    match status {
        UpdateStatus::Authoring => FileUpdateStatus::Authoring,
        UpdateStatus::Review => FileUpdateStatus::Review,
        UpdateStatus::Rejected => FileUpdateStatus::Rejected,
        UpdateStatus::Approved => FileUpdateStatus::Approved,
        UpdateStatus::Blocked => FileUpdateStatus::Blocked,
    }
}

pub(super) const fn trigger(trigger: FileTrigger) -> UpdateTrigger {
    match trigger {
        FileTrigger::MergedRound => UpdateTrigger::MergedRound,
        FileTrigger::PlannerRequest => UpdateTrigger::PlannerRequest,
    }
}

pub(crate) const fn trigger_to_file(trigger: UpdateTrigger) -> FileTrigger {
    match trigger {
        UpdateTrigger::MergedRound => FileTrigger::MergedRound,
        UpdateTrigger::PlannerRequest => FileTrigger::PlannerRequest,
    }
}

pub(super) const fn closeout_mode(mode: FileMode) -> CloseoutMode {
    match mode {
        FileMode::StatusOnly => CloseoutMode::StatusOnly,
        FileMode::SemanticUpdateRequired => CloseoutMode::SemanticUpdateRequired,
        FileMode::None => CloseoutMode::None,
    }
}

pub(super) const fn retry_target(target: FileTarget) -> RetryTarget {
    match target {
        FileTarget::Implement => RetryTarget::Implement,
        FileTarget::Plan => RetryTarget::Plan,
        FileTarget::Blocked => RetryTarget::Blocked,
    }
}

const fn milestone_status(status: FileStatus) -> MilestoneStatus {
    match status {
        FileStatus::Pending => MilestoneStatus::Pending,
        FileStatus::InProgress => MilestoneStatus::InProgress,
        FileStatus::Done => MilestoneStatus::Done,
    }
}

/// Hints are prose; the template's two values decide, and the cautious one wins where both stand.
fn hint(text: Option<&str>) -> ParallelHint {
    let text = text.unwrap_or_default().to_ascii_lowercase();
    if text.contains("serial") {
        ParallelHint::Serial
    } else if text.contains("lane-safe") || text.contains("lane safe") {
        ParallelHint::LaneSafe
    } else {
        ParallelHint::Unstated
    }
}

pub(super) fn roadmap(roadmap: &Roadmap) -> (Vec<Milestone>, Vec<Direction>) {
    let milestones = roadmap.milestones.iter().map(|milestone| Milestone {
        id: milestone.id.clone(),
        title: milestone.title.clone(),
        status: milestone_status(milestone.status),
        depends_on: milestone.depends_on.clone(),
        lane: milestone.lane.clone().unwrap_or_default(),
    });
    let directions = roadmap.directions.iter().map(|direction| {
        // Prose is the planner's to weigh.
        let ids = direction.preconditions.iter().filter(|id| roadmap.milestone(id).is_some());
        Direction {
            id: direction.id.clone(),
            milestone: direction.milestone.clone(),
            preconditions: ids.cloned().collect(),
            hint: hint(direction.parallel_hints.as_deref()),
        }
    });
    (milestones.collect(), directions.collect())
}
