//! Section 11: when an approved round may be merged, and that it is merged exactly as it was approved.

use crate::desk::{approved, implemented, rejected, reviewed, update, with_round};
use crate::script::{Script, is_finalizing, of};
use windlass_protocols::effect::Effect;
use windlass_protocols::outcome::{Outcome, Usage};
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, Plane, RetryTarget, RoundStage, UpdateStatus,
};
use windlass_protocols::protocol::roadmap_rounds::steps::{FinalizeRound, Held, PlaneStep, WorkKind};
use windlass_protocols::{CommitId, Digest};

const ROUND: &str = "round-001";

fn approvable() -> Plane {
    with_round(RoundStage::Review, implemented())
}

/// With `round-000` at work beside it.
fn with_another(mut plane: Plane) -> Plane {
    let mut other = crate::desk::round("round-000", RoundStage::Implement);
    other.evidence.plan = Some(crate::desk::plan("M2", "D2"));
    plane.max_parallel = 2;
    plane.rounds.push(other);
    plane
}

fn approved_on(plane: Plane) -> Script {
    Script::on(plane).reviews(ROUND, approved("r1", CloseoutMode::StatusOnly))
}

fn finalizing(script: &Script) -> FinalizeRound {
    match script.expect("merge", is_finalizing).1 {
        Effect::Plane(PlaneStep::FinalizeRound(asked)) => asked,
        _ => unreachable!("looked for it"),
    }
}

#[test]
fn the_merge_names_the_approving_file_the_head_and_the_base() {
    let script = approved_on(approvable());
    let asked = finalizing(&script);
    assert_eq!(asked.approval, Digest::new("r1"));
    assert_eq!(Some(asked.head), script.desk.plane.rounds[0].head.clone());
    assert_eq!((asked.base, asked.refreshed), (script.desk.plane.base.clone(), false));
}

#[test]
fn rounds_it_depends_on_are_merged_first() {
    let mut waits = approvable();
    let chosen = waits.rounds[0].evidence.plan.as_mut().expect("a plan");
    chosen.depends_on_rounds = vec!["round-000".to_owned()];
    let beside = of("round-000", WorkKind::Implement);
    approved_on(with_another(waits.clone())).stands_at(ROUND, RoundStage::FinalizeRound).asks(&[beside]);
    waits.merged_rounds = vec!["round-000".to_owned()];
    finalizing(&approved_on(waits));
}

#[test]
fn items_it_comes_after_are_merged_first() {
    let mut waits = approvable();
    let chosen = waits.rounds[0].evidence.plan.as_mut().expect("a plan");
    chosen.merge_after_items = vec!["item-9".to_owned()];
    let mut both = with_another(waits.clone());
    let theirs = both.rounds[1].evidence.plan.as_mut().expect("a plan");
    "item-9".clone_into(&mut theirs.item);
    let beside = of("round-000", WorkKind::Implement);
    approved_on(both).stands_at(ROUND, RoundStage::FinalizeRound).asks(&[beside]);
    waits.merged_items = vec!["item-9".to_owned()];
    finalizing(&approved_on(waits));
}

#[test]
fn an_order_that_can_never_be_kept_is_planned_anew() {
    for item in [false, true] {
        let mut waits = approvable();
        let chosen = waits.rounds[0].evidence.plan.as_mut().expect("a plan");
        if item {
            chosen.merge_after_items = vec!["item-9".to_owned()];
        } else {
            chosen.depends_on_rounds = vec!["round-000".to_owned()];
        }
        let script = approved_on(waits).stands_at(ROUND, RoundStage::Plan);
        let told = script.told(&of(ROUND, WorkKind::Plan)).join("; ");
        assert!(told.contains("which is neither merged nor"), "{told}");
    }
}

#[test]
fn words_of_its_milestone_that_changed_on_the_base_are_looked_at_before_it_is_merged() {
    let script = Script::on(approvable()).edited(|desk| {
        desk.plane.base = CommitId::new("base-9");
        desk.round(ROUND).roadmap_drifted = true;
    });
    let script = script.reviews(ROUND, approved("r1", CloseoutMode::StatusOnly));
    let script = script.combines(&[]).stands_at(ROUND, RoundStage::Review);
    let script = script.reviews(ROUND, approved("r2", CloseoutMode::StatusOnly));
    assert_eq!(finalizing(&script).approval, Digest::new("r2"));
}

#[test]
fn a_direction_that_the_roadmap_does_not_have_any_more_is_planned_anew_on_the_base() {
    let script = Script::on(approvable()).edited(|desk| {
        desk.plane.base = CommitId::new("base-9");
        desk.round(ROUND).roadmap_drifted = true;
        "D1-renamed".clone_into(&mut desk.plane.directions[0].id);
    });
    let script = script.reviews(ROUND, approved("r1", CloseoutMode::StatusOnly));
    let script = script.stands_at(ROUND, RoundStage::Plan).combines(&[]);
    let told = script.told(&of(ROUND, WorkKind::Plan)).join("; ");
    assert!(told.contains("no milestone M1 with a direction D1"), "{told}");
}

#[test]
fn a_base_that_moved_in_the_control_plane_only_is_a_refresh() {
    let script = Script::on(approvable()).edited(|desk| desk.plane.base = CommitId::new("base-9"));
    let script = script.reviews(ROUND, approved("r1", CloseoutMode::StatusOnly));
    assert!(finalizing(&script).refreshed);
}

#[test]
fn a_base_that_moved_meanwhile_is_looked_at_again() {
    let mut script = approved_on(approvable());
    script.desk.plane.base = CommitId::new("base-9");
    let script = script.held(Held::BaseMoved);
    assert_eq!(finalizing(&script).base, CommitId::new("base-9"));
}

#[test]
fn nothing_is_merged_while_the_roadmap_is_updated() {
    let mut both = approvable();
    both.update = Some(update(UpdateStatus::Authoring));
    both.update.as_mut().expect("just put there").source_round = "round-000".to_owned();
    both.max_parallel = 2;
    let script = Script::on(both).reviews(ROUND, approved("r1", CloseoutMode::SemanticUpdateRequired));
    script.asks(&[of("round-000", WorkKind::AuthorUpdate)]);
}

#[test]
fn another_review_than_the_agreed_one_is_reviewed_again() {
    let mut script = approved_on(approvable());
    script.desk.round(ROUND).evidence.review = Some(approved("forged", CloseoutMode::StatusOnly));
    let script = script.held(Held::BaseMoved);
    script.stands_at(ROUND, RoundStage::Review).asks(&[of(ROUND, WorkKind::Review)]);
}

#[test]
fn a_branch_that_moved_since_the_approval_is_reviewed_again() {
    let mut script = approved_on(approvable());
    script.desk.round(ROUND).head = Some(CommitId::new("by-hand"));
    let script = script.held(Held::BaseMoved);
    script.stands_at(ROUND, RoundStage::Review).asks(&[of(ROUND, WorkKind::Review)]);
}

#[test]
fn a_review_that_vanished_is_asked_for_again() {
    let mut script = approved_on(approvable());
    script.desk.round(ROUND).evidence.review = None;
    script.held(Held::BaseMoved).stands_at(ROUND, RoundStage::Review);
}

#[test]
fn a_merge_in_the_way_of_a_person_blocks_the_round_until_they_say_so() {
    let script = approved_on(approvable()).held(Held::InTheWay { why: "lib.rs has local edits".to_owned() });
    let script = script.blocked_by("lib.rs has local edits");
    finalizing(&script.reopened(0));
}

#[test]
fn what_does_not_fit_the_base_is_combined_and_reviewed_again() {
    let script = approved_on(approvable()).held(Held::Conflicts { paths: vec!["src/lib.rs".to_owned()] });
    let script = script.combines(&["src/lib.rs"]).stands_at(ROUND, RoundStage::Implement);
    let script = script.implements(ROUND).reviews(ROUND, approved("r2", CloseoutMode::StatusOnly));
    assert_eq!(finalizing(&script).approval, Digest::new("r2"));
}

#[test]
fn a_closeout_that_stays_stale_is_given_up_in_the_end() {
    let mut script = Script::on(approvable());
    for number in 0..9 {
        script = script.reviews(ROUND, approved(&format!("r{number}"), CloseoutMode::StatusOnly));
        script = script.held(Held::Stale { why: "the anchor is gone".to_owned() });
        let looking = of(ROUND, WorkKind::Investigate { update: false });
        if script.at_work().contains(&looking) {
            script = script.diagnoses(&looking, false);
            script = script.held(Held::Stale { why: "the anchor is gone".to_owned() });
        }
        if script.at_work().is_empty() {
            script.blocked_by("its closeout cannot be applied: the anchor is gone");
            return;
        }
    }
    panic!("it is reviewed for ever");
}

#[test]
fn a_merge_whose_answer_was_lost_is_found_on_the_base_and_stands_among_the_merged() {
    let mut script = approved_on(approvable());
    let (effect, _) = script.expect("merge", is_finalizing);
    script.desk.round(ROUND).evidence.merged = true;
    script.answer(
        effect,
        Outcome::Lost { reason: "the machine went down".to_owned(), usage: Usage::default() },
    );
    // Asked once more, the step finds what it made.
    let script = script.keep_house().merges();
    assert!(script.desk.plane.round(ROUND).is_none());
    let merged: Vec<&str> = script.state().merged.iter().map(|merged| merged.round.as_str()).collect();
    assert_eq!(merged, [ROUND]);
    script.asks(&[of("round-002", WorkKind::Plan)]);
}

#[test]
fn a_round_that_somebody_else_merged_is_not_among_those_of_this_run() {
    let mut merged =
        with_round(RoundStage::FinalizeRound, reviewed(approved("r1", CloseoutMode::StatusOnly)));
    merged.rounds[0].evidence.merged = true;
    let script = Script::on(merged).asks(&[of("round-002", WorkKind::Plan)]);
    assert!(script.state().merged.is_empty());
}

#[test]
fn a_rejected_round_at_finalize_is_not_merged() {
    let evidence = reviewed(rejected(RetryTarget::Implement));
    let script = Script::on(with_round(RoundStage::FinalizeRound, evidence));
    script.stands_at(ROUND, RoundStage::Review).asks(&[of(ROUND, WorkKind::Review)]);
}

#[test]
fn a_merged_round_without_its_closeout_is_an_error_and_never_patched() {
    let mut evidence = reviewed(approved("r1", CloseoutMode::StatusOnly));
    (evidence.merged, evidence.merged_without_closeout) = (true, true);
    let script = Script::on(with_round(RoundStage::FinalizeRound, evidence));
    script.blocked_by("without the closeout its review approved");
}

#[test]
fn a_merged_round_that_waits_for_another_update_keeps_its_place() {
    let mut both =
        with_round(RoundStage::FinalizeRound, reviewed(approved("r1", CloseoutMode::SemanticUpdateRequired)));
    both.rounds[0].evidence.merged = true;
    let mut other = update(UpdateStatus::Authoring);
    other.source_round = "round-000".to_owned();
    both.update = Some(other);
    let script = Script::on(both).asks(&[of("round-000", WorkKind::AuthorUpdate)]);
    assert!(script.desk.plane.round(ROUND).is_some());
}

#[test]
fn a_look_that_began_before_the_review_was_taken_down_does_not_show_what_it_approved() {
    let mut two = approvable();
    two.max_parallel = 2;
    let mut second = crate::desk::round("round-002", RoundStage::Implement);
    second.evidence.plan = Some(crate::desk::plan("M2", "D2"));
    two.rounds.push(second);
    let mut script = Script::on(two);
    let comes_back = |script: &mut Script, round: &str| {
        let of_round = |request: &Effect| matches!(request, Effect::RunAgent(asked) if asked.work.as_ref().is_some_and(|place| place.work.round == round));
        let (effect, request) = script.expect(round, of_round);
        let Effect::RunAgent(asked) = request else { unreachable!("looked for an agent") };
        script.answer(effect, Outcome::from(Script::sound(&asked)));
    };
    let capture = |script: &mut Script| {
        let (effect, request) =
            script.expect("capture", |request| matches!(request, Effect::Plane(PlaneStep::CaptureWork(_))));
        let outcome = script.housework(&request);
        script.answer(effect, outcome);
    };
    comes_back(&mut script, "round-002");
    capture(&mut script);
    let (look, request) =
        script.expect("look", |request| matches!(request, Effect::Plane(PlaneStep::Read { .. })));
    script.desk.round(ROUND).evidence.review = Some(approved("r1", CloseoutMode::StatusOnly));
    let too_early = script.housework(&request);
    comes_back(&mut script, ROUND);
    capture(&mut script);
    script.answer(look, too_early);
    assert_eq!(script.times("stage-decided"), 0, "{:#?}", script.names());
    let script = script.keep_house();
    assert_eq!(
        Some(finalizing(&script).head),
        script.desk.plane.round(ROUND).and_then(|seen| seen.head.clone())
    );
}

#[test]
fn an_approval_is_of_what_was_taken_down_and_not_of_what_somebody_put_on_top() {
    let mut script = Script::on(approvable());
    let (effect, request) = script.expect("reviewer", |request| matches!(request, Effect::RunAgent(_)));
    let Effect::RunAgent(asked) = request else { unreachable!("looked for an agent") };
    script.desk.round(ROUND).evidence.review = Some(approved("r1", CloseoutMode::StatusOnly));
    script.answer(effect, Outcome::from(Script::sound(&asked)));
    let (effect, request) =
        script.expect("capture", |request| matches!(request, Effect::Plane(PlaneStep::CaptureWork(_))));
    let outcome = script.housework(&request);
    script.desk.round(ROUND).head = Some(CommitId::new("by-hand"));
    script.answer(effect, outcome);
    script.keep_house().stands_at(ROUND, RoundStage::Review).asks(&[of(ROUND, WorkKind::Review)]);
}

#[test]
fn what_an_agent_committed_itself_is_taken_down_against_what_it_was_shown() {
    let mut two = with_round(RoundStage::Implement, crate::desk::planned());
    two.max_parallel = 2;
    let mut second = crate::desk::round("round-002", RoundStage::Implement);
    second.evidence.plan = Some(crate::desk::plan("M2", "D2"));
    two.rounds.push(second);
    let shown = two.round(ROUND).and_then(|seen| seen.head.clone());
    // The look after the other round's work shows the commit that the agent made in the middle of its own.
    let script = Script::on(two).edited(|desk| desk.round(ROUND).head = Some(CommitId::new("its-own")));
    let mut script = script.implements("round-002");
    let of_round = |request: &Effect| matches!(request, Effect::RunAgent(asked) if asked.work.as_ref().is_some_and(|place| place.work.round == ROUND));
    let (effect, request) = script.expect("implementer", of_round);
    let Effect::RunAgent(asked) = request else { unreachable!("looked for an agent") };
    script.answer(effect, Outcome::from(Script::sound(&asked)));
    let (_, request) =
        script.expect("capture", |request| matches!(request, Effect::Plane(PlaneStep::CaptureWork(_))));
    let Effect::Plane(PlaneStep::CaptureWork(capture)) = request else { unreachable!("looked for it") };
    assert_eq!(Some(capture.parent), shown);
}
