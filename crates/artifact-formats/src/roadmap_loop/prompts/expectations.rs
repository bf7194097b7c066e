//! What a role must write, the same words in its prompt and in the repair request. It knows the forms, not the roles' tasks.

use super::examples::{self, CloseoutTargets, UpdateNames};
use crate::data_block::inline_code;
use crate::roadmap_loop::lineage::Lineage;
use crate::roadmap_loop::round::{RoundForm, files, update_artifact, update_review_artifact};
use crate::template::fill;

/// What is expected of a role, with all that its examples need.
#[derive(Debug, Clone, Copy)]
pub enum Expected<'a> {
    /// Selection and plan, or a request.
    Plan {
        round_id: &'a str,
        form: RoundForm,
        lineage: &'a Lineage,
    },
    /// Notes of the implementer.
    Notes {
        round_id: &'a str,
    },
    /// Notes of the integration, which name the workers that were taken.
    IntegrationNotes {
        round_id: &'a str,
        workers: &'a [String],
    },
    Handoff {
        round_id: &'a str,
        worker_id: &'a str,
    },
    Review {
        round_id: &'a str,
        form: RoundForm,
        lineage: &'a Lineage,
        targets: CloseoutTargets<'a>,
    },
    Update(UpdateNames<'a>),
    UpdateReview {
        source_round_id: &'a str,
    },
    /// The investigator's answer, which goes to the outbox.
    Recovery {
        subject_id: &'a str,
    },
}

impl Expected<'_> {
    /// The role that writes it.
    pub const fn role(&self) -> &'static str {
        match self {
            Self::Plan { .. } | Self::Update(_) => "planner",
            Self::Notes { .. } => "implementer",
            Self::IntegrationNotes { .. } => "integration implementer",
            Self::Handoff { .. } => "worker",
            Self::Review { .. } | Self::UpdateReview { .. } => "reviewer",
            Self::Recovery { .. } => "recovery investigator",
        }
    }

    pub(super) fn subject(&self) -> &str {
        match self {
            Self::Plan { round_id, .. }
            | Self::Notes { round_id }
            | Self::IntegrationNotes { round_id, .. }
            | Self::Handoff { round_id, .. }
            | Self::Review { round_id, .. } => round_id,
            Self::Update(names) => names.source_round_id,
            Self::UpdateReview { source_round_id } => source_round_id,
            Self::Recovery { subject_id } => subject_id,
        }
    }

    pub(super) fn text(&self) -> String {
        let text = match self {
            Self::Plan { round_id, form: RoundForm::Records, lineage } => plan_records(round_id, lineage),
            Self::Plan { round_id, form: RoundForm::StructuredMarkdown, lineage } => filled(
                include_str!("../../../prompts/roadmap-loop/expect-plan-markdown.md"),
                &[
                    ("plan_path", &in_round(round_id, files::PLAN)),
                    ("plan", &examples::plan_markdown(lineage)),
                    ("notes_path", &in_round(round_id, files::NOTES)),
                    ("direct", &examples::direct_notes()),
                ],
            ),
            Self::Notes { round_id } => notes(round_id, &[]),
            Self::IntegrationNotes { round_id, workers } => notes(round_id, workers),
            Self::Handoff { round_id, worker_id } => filled(
                include_str!("../../../prompts/roadmap-loop/expect-handoff.md"),
                &[
                    ("notes_path", &in_round(round_id, &files::of_worker(worker_id, files::NOTES))),
                    ("handoff_path", &in_round(round_id, &files::of_worker(worker_id, files::HANDOFF))),
                    ("example", &examples::handoff()),
                ],
            ),
            Self::Review { round_id, form, lineage, targets } => review(round_id, *form, lineage, targets),
            Self::Update(names) => filled(
                include_str!("../../../prompts/roadmap-loop/expect-update.md"),
                &[
                    ("path", &inline_code(&update_artifact(names.source_round_id))),
                    ("example", &examples::update(names)),
                ],
            ),
            Self::UpdateReview { source_round_id } => filled(
                include_str!("../../../prompts/roadmap-loop/expect-update-review.md"),
                &[
                    ("path", &inline_code(&update_review_artifact(source_round_id))),
                    ("example", &examples::update_review()),
                ],
            ),
            Self::Recovery { subject_id } => filled(
                include_str!("../../../prompts/roadmap-loop/expect-recovery.md"),
                &[("subject", &inline_code(subject_id))],
            ),
        };
        text.trim_end().to_owned()
    }
}

pub(super) fn request(round_id: &str, lineage: &Lineage) -> String {
    let example = examples::request(round_id, lineage);
    let text =
        filled(include_str!("../../../prompts/roadmap-loop/expect-request.md"), &[("example", &example)]);
    text.trim_end().to_owned()
}

fn plan_records(round_id: &str, lineage: &Lineage) -> String {
    let dir = files::round_dir(round_id);
    filled(
        include_str!("../../../prompts/roadmap-loop/expect-plan-records.md"),
        &[
            ("round_dir", &inline_code(&dir)),
            // Inside a code span already.
            ("round_dir_bare", &plain(&dir)),
            ("round_bare", &plain(round_id)),
            ("selection", &examples::selection_record(round_id, lineage)),
            ("record", &examples::plan_record(round_id, lineage)),
            ("plan", &examples::plan_prose(lineage)),
        ],
    )
}

fn notes(round_id: &str, workers: &[String]) -> String {
    filled(
        include_str!("../../../prompts/roadmap-loop/expect-notes.md"),
        &[("path", &in_round(round_id, files::NOTES)), ("example", &examples::notes(workers))],
    )
}

fn review(round_id: &str, form: RoundForm, lineage: &Lineage, targets: &CloseoutTargets<'_>) -> String {
    match form {
        RoundForm::Records => filled(
            include_str!("../../../prompts/roadmap-loop/expect-review-records.md"),
            &[
                ("round_dir", &inline_code(&files::round_dir(round_id))),
                ("approved", &examples::approved_record(round_id, lineage, targets)),
                ("rejected", &examples::rejected_record(round_id, lineage)),
            ],
        ),
        RoundForm::StructuredMarkdown => filled(
            include_str!("../../../prompts/roadmap-loop/expect-review-markdown.md"),
            &[
                ("path", &in_round(round_id, files::REVIEW)),
                ("approved", &examples::approved_markdown()),
                ("rejected", &examples::rejected_markdown()),
            ],
        ),
    }
}

pub(super) fn in_round(round_id: &str, name: &str) -> String {
    inline_code(&files::in_round(round_id, name))
}

fn plain(text: &str) -> String {
    text.chars().filter(|letter| *letter != '`' && !letter.is_control()).collect()
}

pub(super) fn filled(template: &str, values: &[(&str, &str)]) -> String {
    fill(template, values).expect("every template is filled in by a test with these names")
}
