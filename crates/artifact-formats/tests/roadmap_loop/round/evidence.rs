//! Sections 7, 13.4 and 14 (rows 8 to 11 and 14): the stage a round's files lawfully prove, in both forms.

use serde_json::json;
use windlass_artifact_formats::roadmap_loop::round::{
    Evidence, ProvenStage, ReviewDecision, RoundForm, RoundTexts, WorkerState, Workplace,
};

use super::notes::{DIRECT, NOTES};
use super::records::{REQUEST, closeout_record};
use super::reviews::{APPROVED, rejected};
use super::{NUMBERED, PLAN, SLUGGED, fan_out_record, plan_record, review_record, selection_record, with};

const B: RoundForm = RoundForm::Records;
const C: RoundForm = RoundForm::StructuredMarkdown;

fn texts(files: &[(&str, &str)]) -> RoundTexts {
    files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn planned(round: &str) -> RoundTexts {
    let mut texts = texts(&[("plan.md", PLAN)]);
    texts.insert("selection-record.json".to_owned(), selection_record(round).to_string());
    texts.insert("round-plan-record.json".to_owned(), plan_record(round).to_string());
    texts
}

fn put(texts: &mut RoundTexts, name: &str, text: impl Into<String>) {
    texts.insert(name.to_owned(), text.into());
}

fn read(form: RoundForm, texts: &RoundTexts) -> Evidence {
    Evidence::read(NUMBERED, form, texts, |_| Workplace::Present)
}

fn proves(form: RoundForm, texts: &RoundTexts) -> ProvenStage {
    read(form, texts).proves()
}

#[test]
fn row_8_an_empty_folder_is_planned() {
    for form in [B, C] {
        let evidence = read(form, &RoundTexts::new());
        assert_eq!((evidence.proves(), evidence.faults.len()), (ProvenStage::Plan, 0));
    }
}

#[test]
fn row_9_a_request_alone_cancels_the_round_and_beside_a_plan_it_is_a_fault() {
    for form in [B, C] {
        let mut files = texts(&[("roadmap-update-request.md", REQUEST)]);
        assert_eq!(proves(form, &files), ProvenStage::UpdateRequested);
        put(&mut files, "plan.md", "### Goal\nhalf\n");
        let evidence = read(form, &files);
        assert_eq!(evidence.proves(), ProvenStage::Plan);
        let faults = evidence.faults_of("roadmap-update-request.md").unwrap();
        assert!(faults.to_string().contains("stands alone"), "{faults}");
    }
    let malformed = texts(&[("roadmap-update-request.md", "### Roadmap Update Required\n")]);
    assert_eq!(proves(C, &malformed), ProvenStage::Plan);
}

#[test]
fn row_11_records_prove_stage_after_stage() {
    let mut files = planned(NUMBERED);
    assert_eq!(proves(B, &files), ProvenStage::Implement);
    put(&mut files, "implementation-notes.md", NOTES);
    assert_eq!(proves(B, &files), ProvenStage::Review);
    put(&mut files, "review.md", APPROVED);
    assert_eq!(proves(B, &files), ProvenStage::Review);
    assert!(read(B, &files).faults_of("review-record.json").is_some());
    put(&mut files, "review-record.json", review_record(NUMBERED).to_string());
    let evidence = read(B, &files);
    assert_eq!((evidence.proves(), evidence.faults.as_slice()), (ProvenStage::FinalizeRound, &[][..]));
    assert_eq!(evidence.proves_before_review(), ProvenStage::Review);
}

#[test]
fn row_11_structured_markdown_proves_stage_after_stage() {
    let mut files = texts(&[("plan.md", PLAN)]);
    assert_eq!(proves(C, &files), ProvenStage::Implement);
    put(&mut files, "implementation-notes.md", NOTES);
    assert_eq!(proves(C, &files), ProvenStage::Review);
    put(&mut files, "review.md", APPROVED);
    assert_eq!(proves(C, &files), ProvenStage::FinalizeRound);
    for (target, stage) in [
        ("implement", ProvenStage::Implement),
        ("plan", ProvenStage::Plan),
        ("blocked", ProvenStage::Blocked),
    ] {
        put(&mut files, "review.md", rejected(target));
        assert_eq!(proves(C, &files), stage);
    }
}

#[test]
fn row_14_a_review_that_is_malformed_or_unclassified_goes_back_to_review() {
    let mut files = planned(NUMBERED);
    put(&mut files, "implementation-notes.md", NOTES);
    put(&mut files, "review-record.json", "{}");
    let evidence = read(B, &files);
    assert_eq!(evidence.proves(), ProvenStage::Review);
    assert!(evidence.faults_of("review-record.json").unwrap().to_string().contains("/decision"));
    put(&mut files, "review-record.json", with(review_record(NUMBERED), "/roadmap_closeout", json!(null)));
    let evidence = read(B, &files);
    assert_eq!(evidence.proves(), ProvenStage::Review);
    assert!(matches!(evidence.review.unwrap().decision, ReviewDecision::Unclassified { .. }));
}

#[test]
fn later_files_prove_nothing_without_the_earlier_ones() {
    let mut files = texts(&[("implementation-notes.md", NOTES), ("review.md", APPROVED)]);
    assert_eq!(proves(C, &files), ProvenStage::Plan);
    put(&mut files, "plan.md", PLAN.replace("### Scheduler", "### Order"));
    let evidence = read(C, &files);
    assert_eq!(evidence.proves(), ProvenStage::Plan);
    assert!(evidence.faults_of("plan.md").unwrap().to_string().contains("### Scheduler"));
    put(&mut files, "plan.md", PLAN);
    put(&mut files, "implementation-notes.md", "done\n");
    assert_eq!(proves(C, &files), ProvenStage::Implement);
}

#[test]
fn a_plan_file_that_is_missing_beside_the_others_is_named() {
    for name in ["plan.md", "selection-record.json", "round-plan-record.json"] {
        let mut files = planned(NUMBERED);
        files.remove(name);
        let evidence = read(B, &files);
        assert_eq!(evidence.proves(), ProvenStage::Plan, "{name}");
        assert!(evidence.faults_of(name).unwrap().to_string().contains("required beside"), "{name}");
    }
}

#[test]
fn records_of_another_lineage_are_faults() {
    let mut files = planned(NUMBERED);
    put(
        &mut files,
        "round-plan-record.json",
        with(plan_record(NUMBERED), "/direction_id", json!("direction-9")),
    );
    let evidence = read(B, &files);
    assert_eq!(evidence.proves(), ProvenStage::Plan);
    assert!(evidence.faults_of("round-plan-record.json").unwrap().to_string().contains("/direction_id"));
    let mut files = planned(NUMBERED);
    put(&mut files, "implementation-notes.md", NOTES);
    put(
        &mut files,
        "review-record.json",
        with(review_record(NUMBERED), "/milestone_id", json!("milestone-5")),
    );
    let evidence = read(B, &files);
    assert_eq!(evidence.proves(), ProvenStage::Review);
    assert!(evidence.faults_of("review-record.json").unwrap().to_string().contains("/milestone_id"));
    // Files of another round in this round's folder.
    let evidence = Evidence::read(NUMBERED, B, &planned(SLUGGED), |_| Workplace::Absent);
    assert_eq!((evidence.proves(), evidence.faults.len()), (ProvenStage::Plan, 2));
}

#[test]
fn a_simple_task_needs_its_planners_evidence_and_nobody_else() {
    let simple = PLAN.replace("Complexity: standard", "Complexity: simple");
    let mut files = texts(&[("plan.md", &simple)]);
    assert_eq!(proves(C, &files), ProvenStage::Plan);
    put(&mut files, "implementation-notes.md", DIRECT.replace("Result: PASS", "Result: failed"));
    let evidence = read(C, &files);
    assert_eq!(evidence.proves(), ProvenStage::Plan);
    assert!(evidence.faults_of("implementation-notes.md").unwrap().to_string().contains("did not pass"));
    put(&mut files, "implementation-notes.md", DIRECT);
    assert_eq!(proves(C, &files), ProvenStage::FinalizeRound);
    // Direct evidence for a task that is not simple stands for no review.
    put(&mut files, "plan.md", PLAN);
    assert_eq!(proves(C, &files), ProvenStage::Review);
}

#[test]
fn fan_out_goes_to_review_after_its_integration() {
    let mut files = planned(NUMBERED);
    put(&mut files, "round-plan-record.json", fan_out_record(NUMBERED).to_string());
    let evidence = read(B, &files);
    assert_eq!(evidence.proves(), ProvenStage::Plan);
    assert!(evidence.faults_of("workers/lexer/assignment.md").is_some());
    for worker in ["lexer", "parser"] {
        put(&mut files, &format!("workers/{worker}/assignment.md"), "do your part\n");
    }
    assert_eq!(proves(B, &files), ProvenStage::Implement);
    put(&mut files, "workers/lexer/handoff.md", "- Status: ready\n");
    let evidence = read(B, &files);
    assert_eq!(evidence.workers[0], ("lexer".to_owned(), WorkerState::Complete));
    assert_eq!(evidence.workers[1], ("parser".to_owned(), WorkerState::Running));
    assert!(!evidence.ready_to_integrate());
    put(&mut files, "workers/parser/handoff.md", "- Status: ready\n");
    assert!(read(B, &files).ready_to_integrate());
    put(&mut files, "implementation-notes.md", NOTES);
    assert_eq!(proves(B, &files), ProvenStage::Implement);
    put(
        &mut files,
        "implementation-notes.md",
        format!("{NOTES}\n### Integrated Workers\n- lexer\n- parser\n"),
    );
    assert_eq!(proves(B, &files), ProvenStage::Review);
}

#[test]
fn a_closeout_record_of_another_review_is_a_fault() {
    let mut files = planned(NUMBERED);
    let review = review_record(NUMBERED).to_string();
    put(&mut files, "closeout-record.json", closeout_record(review.as_bytes()).render());
    put(&mut files, "review-record.json", format!("{review}\n"));
    let evidence = read(B, &files);
    assert_eq!(evidence.closeout_record, None);
    assert!(evidence.faults_of("closeout-record.json").unwrap().to_string().contains("hash"));
    put(&mut files, "review-record.json", review);
    assert!(read(B, &files).closeout_record.is_some());
}

#[test]
fn retired_files_are_listed_and_not_read() {
    let files = texts(&[("selection.md", "x"), ("reviews/attempt-1.md", "x"), ("merge.md", "x")]);
    assert_eq!(read(B, &files).retired, ["merge.md", "reviews/attempt-1.md", "selection.md"]);
    assert_eq!(read(C, &files).retired, ["reviews/attempt-1.md", "selection.md"]);
}
