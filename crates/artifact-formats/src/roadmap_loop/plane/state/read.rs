//! From the text of `state.json` to typed values: first whose file it is, then what each key holds.
//! A key that is missing or misshapen becomes a problem and no value; nothing is filled in.

use std::cell::RefCell;

use super::records::{
    ControllerStage, ResumeError, Retry, RetryRecord, RoundRecord, RoundStage, UpdateRecord, UpdateStatus,
    UpdateTrigger,
};
use super::{CONTRACT_VERSION, KEYS, LEGACY_KEYS, STATE_FILE, StateFile, invariants};
use crate::document::{self, Document, Limits, Node};
use crate::fault::{ArtifactFault, FaultKind, excerpt, pointer_to};
use crate::faults::Faults;
use crate::fields::{FaultSink, Field, Fields};
use crate::json_edit::line_of_pointer;
use crate::recognised::Recognised;
use crate::roadmap_loop::plane::problem::Problem;

/// Keys that no other tool's `state.json` is likely to have; two of them, or our version, make a file ours.
const TELLING: [&str; 13] = [
    "roadmap_id",
    "roadmap_revision",
    "roadmap_dir",
    "controller_stage",
    "max_parallel_rounds",
    "active_rounds",
    "roadmap_update",
    "resume_errors",
    "roadmap_style",
    "active_round_id",
    "active_round_dir",
    "pending_merge_rounds",
    "last_completed_round",
];

/// Keys of a round record, the only ones that are not told as unknown.
const ROUND_KEYS: [&str; 5] = ["round_id", "stage", "branch", "worktree_path", "resume_error"];

pub(super) fn recognise(text: &str) -> Recognised<StateFile> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (document, faults) = document::read(body.as_bytes(), Limits::default());
    let Some(document) = document else {
        return match faults.first() {
            Some(fault) if fault.kind == FaultKind::NotAnObject => Recognised::Foreign(fault.message.clone()),
            _ => invalid(&faults),
        };
    };
    if let Some(why) = foreign(document.entries()) {
        return Recognised::Foreign(why);
    }
    if !faults.is_empty() {
        // A doubled key says two things at once, so neither is true.
        return invalid(&faults);
    }
    let sink: FaultSink = RefCell::new(Vec::new());
    let mut state = read(text, document.entries(), &sink);
    state.problems = sink.into_inner().iter().map(|fault| problem(text, &document, fault)).collect();
    state.problems.extend(invariants::broken(&state));
    Recognised::Ours(state)
}

fn invalid(faults: &[ArtifactFault]) -> Recognised<StateFile> {
    let sentences = faults.iter().map(ToString::to_string).collect();
    match Faults::unless_empty::<()>(STATE_FILE, sentences, || None) {
        Err(faults) => Recognised::Invalid(faults),
        Ok(()) => Recognised::Foreign("it holds nothing".to_owned()),
    }
}

fn foreign(entries: &[(String, Node<'_>)]) -> Option<String> {
    let version = entries.iter().find(|(key, _)| key == "contract_version").and_then(|(_, node)| node.text());
    let telling = TELLING.iter().filter(|key| entries.iter().any(|(name, _)| name == *key)).count();
    if version.is_some_and(|version| version.starts_with("orchestrator-")) || telling >= 2 {
        return None;
    }
    let names: Vec<String> = entries.iter().take(6).map(|(key, _)| excerpt(key)).collect();
    Some(match names.as_slice() {
        [] => "its object is empty".to_owned(),
        names => format!(
            "it has neither a contract version of an orchestrator nor the keys of one; it has {}",
            names.join(", ")
        ),
    })
}

fn problem(text: &str, document: &Document<'_>, fault: &ArtifactFault) -> Problem {
    let rule = match fault.path.split('/').nth(1) {
        Some("active_rounds") if fault.path.matches('/').count() > 1 => "3.2",
        Some("roadmap_update") => "13.2",
        Some("roadmap_id" | "roadmap_revision" | "roadmap_dir") => "3.3.1",
        _ => "3.1",
    };
    let line = line_of_pointer(text, document, &fault.path);
    Problem::fatal(rule, STATE_FILE, &fault.message).at_pointer(&fault.path).at_line(line)
}

fn read(text: &str, entries: &[(String, Node<'_>)], sink: &FaultSink) -> StateFile {
    let mut fields = Fields::new(entries, String::new(), sink);
    let contract_version = filled(&mut fields, "contract_version");
    if let Some(version) = contract_version.as_deref().filter(|version| *version != CONTRACT_VERSION) {
        let message = format!("must be \"{CONTRACT_VERSION}\"; found {}", excerpt(version));
        fields.report(ArtifactFault::new(
            FaultKind::UnsupportedVersion,
            fields.place_of("contract_version"),
            message,
        ));
    }
    let base_branch = filled(&mut fields, "base_branch");
    let roadmap_id = filled(&mut fields, "roadmap_id");
    let roadmap_revision = filled(&mut fields, "roadmap_revision");
    let roadmap_dir = filled(&mut fields, "roadmap_dir");
    let controller_stage = fields.choice::<ControllerStage>("controller_stage");
    let max_parallel_rounds = most_rounds(&mut fields);
    let mut legacy_keys = Vec::new();
    let mut unknown_keys = Vec::new();
    sort_keys(entries, "", &KEYS, &mut legacy_keys, &mut unknown_keys);
    let rounds = fields.list("active_rounds", |field| round(field.object()?));
    for (index, node) in items(entries, "active_rounds").iter().enumerate() {
        let place = format!("/active_rounds/{index}");
        let entries = node.entries().unwrap_or_default();
        sort_keys(entries, &place, &ROUND_KEYS, &mut legacy_keys, &mut unknown_keys);
    }
    StateFile {
        source: text.to_owned(),
        contract_version,
        base_branch,
        roadmap_id,
        roadmap_revision,
        roadmap_dir,
        controller_stage,
        max_parallel_rounds,
        rounds,
        roadmap_update: nullable(&mut fields, "roadmap_update").and_then(|field| update(field.object()?)),
        resume_errors: resume_errors(&mut fields),
        retry: nullable(&mut fields, "retry").map_or(Retry::Idle, |field| retry(&field)),
        legacy_keys,
        unknown_keys,
        problems: Vec::new(),
    }
}

fn items<'n, 'a>(entries: &'n [(String, Node<'a>)], key: &str) -> &'n [Node<'a>] {
    let found = entries.iter().find(|(name, _)| name == key);
    found.and_then(|(_, node)| node.items()).unwrap_or_default()
}

/// Keys beyond those of the contract: of an older one, or of nobody we know.
fn sort_keys(
    entries: &[(String, Node<'_>)],
    place: &str,
    known: &[&str],
    legacy: &mut Vec<String>,
    unknown: &mut Vec<String>,
) {
    for (key, _) in entries.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
        let list = if LEGACY_KEYS.contains(&key.as_str()) { &mut *legacy } else { &mut *unknown };
        list.push(pointer_to(place, key));
    }
}

fn filled(fields: &mut Fields<'_, '_>, key: &'static str) -> Option<String> {
    Some(fields.filled_text(key)).filter(|text| !text.is_empty())
}

fn most_rounds(fields: &mut Fields<'_, '_>) -> Option<u32> {
    let Some(field) = fields.optional("max_parallel_rounds") else {
        fields.report(ArtifactFault::missing_key(fields.place_of("max_parallel_rounds")));
        return None;
    };
    field.integer(1, i64::from(u32::MAX)).and_then(|number| u32::try_from(number).ok())
}

/// A key that must be there and may be null.
fn nullable<'n, 'a>(fields: &mut Fields<'n, 'a>, key: &'static str) -> Option<Field<'n, 'a>> {
    let field = fields.optional(key);
    if field.is_none() {
        let message = "this key is required and absent; null stands for nothing";
        fields.report(ArtifactFault::new(FaultKind::MissingKey, fields.place_of(key), message));
    }
    field.filter(|field| !field.is_null())
}

fn nullable_text(fields: &mut Fields<'_, '_>, key: &'static str) -> Option<String> {
    nullable(fields, key).and_then(|field| field.text())
}

fn round(mut fields: Fields<'_, '_>) -> Option<RoundRecord> {
    let round_id = filled(&mut fields, "round_id");
    let stage = fields.choice::<RoundStage>("stage");
    let branch = filled(&mut fields, "branch");
    let worktree_path = filled(&mut fields, "worktree_path");
    let resume_error = nullable_text(&mut fields, "resume_error");
    Some(RoundRecord {
        round_id: round_id?,
        stage: stage?,
        branch: branch?,
        worktree_path: worktree_path?,
        resume_error,
        extra: fields.extra(),
    })
}

fn update(mut fields: Fields<'_, '_>) -> Option<UpdateRecord> {
    let version = filled(&mut fields, "schema_version");
    if let Some(version) = version.filter(|version| version != UpdateRecord::SCHEMA_VERSION) {
        let message = format!("must be \"{}\"; found {}", UpdateRecord::SCHEMA_VERSION, excerpt(&version));
        let place = fields.place_of("schema_version");
        fields.report(ArtifactFault::new(FaultKind::UnsupportedVersion, place, message));
    }
    let trigger = fields.choice::<UpdateTrigger>("trigger");
    let source_round_id = filled(&mut fields, "source_round_id");
    let branch = filled(&mut fields, "branch");
    let worktree_path = filled(&mut fields, "worktree_path");
    let update_artifact = filled(&mut fields, "update_artifact");
    let review_artifact = filled(&mut fields, "review_artifact");
    let prior_roadmap_revision = filled(&mut fields, "prior_roadmap_revision");
    let proposed_roadmap_revision = filled(&mut fields, "proposed_roadmap_revision");
    let status = fields.choice::<UpdateStatus>("status");
    let attempt = fields.integer("attempt", 1, i64::from(u32::MAX));
    let last_rejection_artifact = nullable_text(&mut fields, "last_rejection_artifact");
    let last_rejection_summary = nullable_text(&mut fields, "last_rejection_summary");
    let resume_error = nullable_text(&mut fields, "resume_error");
    Some(UpdateRecord {
        trigger: trigger?,
        source_round_id: source_round_id?,
        branch: branch?,
        worktree_path: worktree_path?,
        update_artifact: update_artifact?,
        review_artifact: review_artifact?,
        prior_roadmap_revision: prior_roadmap_revision?,
        proposed_roadmap_revision: proposed_roadmap_revision?,
        status: status?,
        attempt: u32::try_from(attempt).ok()?,
        last_rejection_artifact,
        last_rejection_summary,
        resume_error,
    })
}

fn resume_errors(fields: &mut Fields<'_, '_>) -> Vec<ResumeError> {
    let Some(field) = fields.optional("resume_errors") else {
        fields.report(ArtifactFault::missing_key(fields.place_of("resume_errors")));
        return Vec::new();
    };
    if field.object().is_none() {
        return Vec::new();
    }
    let entries = field.node.entries().unwrap_or_default();
    let text = |node: &Node<'_>| node.text().unwrap_or(node.raw).to_owned();
    // A null is how some planes say that an error is over.
    let errors = entries.iter().filter(|(_, node)| node.raw != "null");
    errors.map(|(key, node)| ResumeError { key: key.clone(), text: text(node) }).collect()
}

/// Bookkeeping in our form, or whatever another controller wrote; the contract leaves the form open.
fn retry(field: &Field<'_, '_>) -> Retry {
    let sink: FaultSink = RefCell::new(Vec::new());
    let other = || Retry::Other(field.node.raw.to_owned());
    let Some(entries) = field.node.entries() else { return other() };
    let mut fields = Fields::new(entries, field.path.clone(), &sink);
    let scope = fields.choice("scope");
    let id = fields.filled_text("id");
    let stage = fields.filled_text("stage");
    let mechanism = fields.choice("mechanism");
    let attempt = fields.count("attempt");
    let review_retry_cycles = fields.count("review_retry_cycles");
    let is_ours = fields.extra().is_empty() && sink.borrow().is_empty();
    match (scope, mechanism) {
        (Some(scope), Some(mechanism)) if is_ours => {
            Retry::Attempt(RetryRecord { scope, id, stage, mechanism, attempt, review_retry_cycles })
        }
        _ => other(),
    }
}
