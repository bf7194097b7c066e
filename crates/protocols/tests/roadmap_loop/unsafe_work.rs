//! Work that nobody may look at (a link out of the tree, a repository inside): it counts for nothing, goes back once to
//! whoever left it, and is taken down once a person has mended it.

use crate::desk::{approved, implemented, plane, planned, with_round};
use crate::script::{Script, of};
use windlass_protocols::Observation;
use windlass_protocols::effect::{Ask, Effect};
use windlass_protocols::kernel::budget::CapChange;
use windlass_protocols::protocol::feedback_control::facts::NewLimits;
use windlass_protocols::protocol::roadmap_rounds::plane::{CloseoutMode, Evidence, RetryTarget, RoundStage};
use windlass_protocols::protocol::roadmap_rounds::steps::{PlaneStep, WorkKind};

const ROUND: &str = "round-001";
const LINK: &str = "link a leaves the tree";
const BLOCKED: &str = "cannot be looked at safely";

fn implementing() -> Script {
    let mut script = Script::on(with_round(RoundStage::Implement, planned()));
    script.hazard = Some(LINK);
    script
}

fn times_asked(script: &Script, kind: &WorkKind) -> u32 {
    script.state().book.works.get(&of(ROUND, kind.clone())).map_or(0, |known| known.asked)
}

#[test]
fn it_goes_back_once_with_what_is_wrong_and_counts_for_nothing_meanwhile() {
    // The notes lie in the worktree, and in no commit.
    let mut script = implementing().implements(ROUND).asks(&[of(ROUND, WorkKind::Implement)]);
    let asked = script.asked(&of(ROUND, WorkKind::Implement));
    assert!(matches!(&asked.ask, Ask::Repair { faults } if faults[0].contains(LINK)), "{:?}", asked.ask);
    script.hazard = None;
    let script = script.reports(&of(ROUND, WorkKind::Implement), |_| {});
    script.stands_at(ROUND, RoundStage::Review).asks(&[of(ROUND, WorkKind::Review)]);
}

#[test]
fn what_a_person_mended_is_taken_down_and_nobody_makes_it_again() {
    let script = implementing().implements(ROUND);
    let mut script = script.reports(&of(ROUND, WorkKind::Implement), |_| {}).blocked_by(BLOCKED);
    assert_eq!(times_asked(&script, &WorkKind::Implement), 2);
    script.hazard = None;
    let (taken, recovered) = (script.times("work-taken"), script.times("recovered"));
    let reopened =
        Observation::Reopened { caps: CapChange::default(), note: None, limits: NewLimits::default() };
    script.observe(reopened).expect("it can be taken up again");
    // Whatever is looked at meanwhile, nothing is decided about the round before its work is taken down.
    let is_read = |request: &Effect| matches!(request, Effect::Plane(PlaneStep::Read { .. }));
    let (effect, request) = script.expect("a look", is_read);
    let looked = script.housework(&request);
    script.answer(effect, looked);
    assert_eq!((script.times("work-taken"), script.times("recovered")), (taken, recovered));
    let script =
        script.keep_house().stands_at(ROUND, RoundStage::Review).asks(&[of(ROUND, WorkKind::Review)]);
    assert_eq!(script.times("work-taken"), taken + 1);
    assert_eq!(times_asked(&script, &WorkKind::Implement), 2, "nobody makes it again");
}

#[test]
fn what_nobody_mended_is_not_called_implemented_when_the_run_goes_on() {
    let script = implementing().implements(ROUND);
    let script = script.reports(&of(ROUND, WorkKind::Implement), |_| {}).blocked_by(BLOCKED);
    let script = script.reopened(0).asks(&[of(ROUND, WorkKind::Implement)]);
    let told = script.told(&of(ROUND, WorkKind::Implement));
    assert!(told.iter().any(|words| words.contains(LINK)), "{told:?}");
    assert_eq!(times_asked(&script, &WorkKind::Review), 0);
}

#[test]
fn a_plan_that_nobody_may_look_at_is_no_plan() {
    let mut script = Script::on(plane());
    script.hazard = Some(LINK);
    let script = script.plans(ROUND, "D1").asks(&[of(ROUND, WorkKind::Plan)]);
    assert!(script.told(&of(ROUND, WorkKind::Plan))[0].contains(LINK));
}

#[test]
fn a_round_without_notes_in_its_branch_goes_back_to_its_implementer_and_not_to_its_reviewer() {
    let bare =
        Evidence { notes: false, review: Some(approved("r1", CloseoutMode::StatusOnly)), ..implemented() };
    let script = Script::on(with_round(RoundStage::FinalizeRound, bare));
    let script = script.stands_at(ROUND, RoundStage::Implement).asks(&[of(ROUND, WorkKind::Implement)]);
    let told = script.told(&of(ROUND, WorkKind::Implement));
    assert!(told.iter().any(|words| words.contains("notes are not in what would be merged")), "{told:?}");
}

#[test]
fn what_a_person_did_in_the_worktree_of_a_blocked_round_is_committed_before_it_counts() {
    let mut script = Script::on(with_round(RoundStage::Implement, planned()));
    script.refusing = Some(("capture-work", "the disk is gone"));
    let mut script =
        script.reports(&of(ROUND, WorkKind::Implement), |_| {}).blocked_by("could not be taken down");
    script.refusing = None;
    // What its agent left is taken down as its own first; only a round without such work is looked into as a whole.
    let before = script.times("taken-up");
    let script = script.reopened(0);
    assert_eq!(script.times("taken-up"), before);

    let hopeless = Script::on(with_round(RoundStage::Review, implemented()));
    let blocks = crate::desk::rejected(RetryTarget::Blocked);
    let script = hopeless.reviews(ROUND, blocks);
    let looking = of(ROUND, WorkKind::Investigate { update: false });
    let script = script.diagnoses(&looking, false).blocked_by("no lawful retry");
    let before = script.times("taken-up");
    assert_eq!(script.reopened(0).times("taken-up"), before + 1);
}
