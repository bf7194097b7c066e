//! What must not go round and round: a step the world refuses, work whose round is gone, reviews nobody renewed, updates that
//! never fit. Each comes to an end with a reason, whatever the world keeps doing.

use crate::desk::{
    approved, direct, implemented, plan, plane, planned, reviewed, round, update, update_approved,
    with_round, with_update, worker,
};
use crate::script::{Script, of, spec};
use windlass_protocols::effect::Effect;
use windlass_protocols::outcome::{Outcome, PlaneOutcome, Trouble, Usage};
use windlass_protocols::protocol::roadmap_rounds::end::End;
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, Evidence, Plane, RoundStage, UpdateStatus, WorkerState,
};
use windlass_protocols::protocol::roadmap_rounds::steps::{Held, PlaneStep, WorkKind};

const ROUND: &str = "round-001";

#[test]
fn a_capture_that_is_refused_is_not_asked_for_again() {
    let script = Script::on(with_round(RoundStage::Implement, planned()));
    let work = of(ROUND, WorkKind::Implement);
    let (effect, _) = script.expect("agent", |request| matches!(request, Effect::RunAgent(_)));
    let mut script = script;
    let report = Script::sound(&script.asked(&work));
    script.answer(effect, Outcome::from(report));
    script.refusing = Some(("capture-work", "the index is locked"));
    script.keep_house().blocked_by("the index is locked");
}

#[test]
fn a_capture_whose_end_nobody_sees_is_given_up() {
    let script = Script::on(with_round(RoundStage::Implement, planned()));
    let work = of(ROUND, WorkKind::Implement);
    let (effect, _) = script.expect("agent", |request| matches!(request, Effect::RunAgent(_)));
    let mut script = script;
    let report = Script::sound(&script.asked(&work));
    script.answer(effect, Outcome::from(report));
    for _ in 0..5 {
        script = script.loses("capture-work");
    }
    script.refusing = Some(("capture-work", "nobody asks for it again"));
    script.keep_house().blocked_by("nobody ever saw the end");
}

#[test]
fn a_write_whose_end_nobody_sees_ends_the_run() {
    let mut script = Script::unprepared(spec(), plane()).prepared().reads();
    script = script.opens().reads();
    for _ in 0..4 {
        script = script.loses("write-state").reads();
    }
    script.loses("write-state").keep_house().ends(|end| matches!(end, End::NotReady { .. }));
}

#[test]
fn a_plane_that_cannot_be_read_does_not_keep_a_stopped_run_from_its_end() {
    let script = Script::unprepared(spec(), plane()).prepared().reads().opens().reads().stop_asked();
    // The round that was opened is to be written into the file, which has moved meanwhile.
    let script = script.moves_the_state().refuses("read-plane", "the checkout is on another branch");
    script.ends(|end| matches!(end, End::NotReady { .. }));
}

#[test]
fn what_is_decided_and_cannot_be_written_does_not_keep_a_run_from_its_end() {
    let work = of(ROUND, WorkKind::Implement);
    let mut caps = spec();
    caps.caps.tokens = Some(5);
    let script = Script::with(caps, with_round(RoundStage::Implement, planned()));
    let mut script = script;
    script.desk.round(ROUND).evidence.notes = true;
    let (effect, _) = script.expect("agent", |request| matches!(request, Effect::RunAgent(_)));
    let report = Script::sound(&script.asked(&work));
    script.answer(effect, Outcome::from(report));
    let script = script.captures().reads();
    let script = script.loses("write-state").refuses("read-plane", "gone").refuses_while_it_asks("gone");
    script.ends(|_| true);
}

#[test]
fn work_of_a_round_that_somebody_took_out_is_let_go() {
    let script = Script::on(two_rounds());
    let gone = of(ROUND, WorkKind::Implement);
    let script = script.asks(&[gone.clone(), of("round-002", WorkKind::Implement)]);
    let script = script.edited(|desk| {
        desk.plane.rounds.retain(|round| round.id != ROUND);
        desk.plane.directions.retain(|direction| direction.id != "D1");
    });
    let script = script.leaves(&of("round-002", WorkKind::Implement), |desk| {
        desk.round("round-002").evidence.notes = true;
    });
    // The other one's agent is still at work in the worktree of the round that is gone, and comes back later.
    let script = script.reports(&gone, |_| {});
    let script = script.asks(&[of("round-002", WorkKind::Review)]).stop_asked();
    let script = script.reports(&of("round-002", WorkKind::Review), |_| {});
    script.ends(|end| matches!(end, End::Stopped { .. }));
}

#[test]
fn an_update_that_somebody_took_out_lets_its_author_go() {
    let script = Script::on(with_update(update(UpdateStatus::Authoring)));
    let author = of(ROUND, WorkKind::AuthorUpdate);
    let script = script.asks(core::slice::from_ref(&author)).edited(|desk| desk.plane.update = None);
    let script = script.reports(&author, |_| {}).asks(&[of("round-002", WorkKind::Plan)]);
    script.stop_asked().plans("round-002", "D1").ends(|end| matches!(end, End::Stopped { .. }));
}

#[test]
fn nobody_is_asked_where_the_agent_of_a_set_back_stage_still_works() {
    let mut two = two_rounds();
    two.max_parallel = 3;
    let script = Script::on(two);
    let script = script.edited(|desk| desk.round(ROUND).stage = RoundStage::Plan);
    let script = script.leaves(&of("round-002", WorkKind::Implement), |desk| {
        desk.round("round-002").evidence.notes = true;
    });
    let script = script.asks(&[of(ROUND, WorkKind::Implement), of("round-002", WorkKind::Review)]);
    // What comes back is of a stage that is over: the planner is asked, not the reviewer.
    let script = script.reports(&of(ROUND, WorkKind::Implement), |_| {});
    script.asks(&[of(ROUND, WorkKind::Plan), of("round-002", WorkKind::Review)]);
}

#[test]
fn a_worktree_that_never_stands_is_given_up() {
    let mut script = Script::on(with_round(RoundStage::Implement, planned())).edited(|desk| {
        desk.round(ROUND).worktree_stands = false;
    });
    script.sweeps = true;
    let script = script.reports(&of(ROUND, WorkKind::Implement), |_| {});
    script.blocked_by("worktree");
}

#[test]
fn a_merged_round_whose_update_cannot_be_opened_is_given_up() {
    let review = approved("r1", CloseoutMode::SemanticUpdateRequired);
    let script = Script::on(with_round(RoundStage::Review, implemented())).reviews(ROUND, review);
    let mut script = script;
    script.refusing = Some(("open-worktree", "no room"));
    script.merges().blocked_by("no room");
}

#[test]
fn an_update_that_never_fits_is_given_up() {
    let mut script = Script::on(with_update(update(UpdateStatus::Authoring)));
    for number in 0..8 {
        script = script.leaves(&of(ROUND, WorkKind::AuthorUpdate), |desk| desk.update().authored = true);
        script = script.leaves(&of(ROUND, WorkKind::ReviewUpdate), |desk| {
            desk.update().review = Some(update_approved(&format!("r{number}")));
        });
        script = script.held(Held::Stale { why: "the revision is there".to_owned() });
        if script.at_work().is_empty() {
            script.blocked_by("the revision is there");
            return;
        }
    }
    panic!("it is sent back for ever");
}

/// A round whose base moved after it was approved, up to the reviewer that is asked again.
fn approved_and_drifted() -> Script {
    let script = Script::on(with_round(RoundStage::Review, implemented()));
    let script = script.reviews(ROUND, approved("r1", CloseoutMode::StatusOnly));
    let script = script.edited(|desk| {
        desk.plane.base = windlass_protocols::CommitId::new("base-9");
        desk.round(ROUND).code_drifted = true;
    });
    script.held(Held::BaseMoved).combines(&[]).asks(&[of(ROUND, WorkKind::Review)])
}

#[test]
fn a_reviewer_that_leaves_nothing_approves_nothing_and_is_told_what_is_missing() {
    let script = approved_and_drifted();
    assert!(script.desk.plane.rounds[0].evidence.review.is_none(), "the old one was set aside");
    let script = script.reports(&of(ROUND, WorkKind::Review), |_| {});
    let (_, request) = script.expect("review", |request| matches!(request, Effect::RunAgent(_)));
    let Effect::RunAgent(asked) = request else { unreachable!("looked for it") };
    let wanted = vec!["review.md and review-record.json were not left".to_owned()];
    assert_eq!(asked.ask, windlass_protocols::effect::Ask::Repair { faults: wanted });
    script.asks(&[of(ROUND, WorkKind::Review)]).stands_at(ROUND, RoundStage::Review);
}

#[test]
fn a_review_that_is_the_same_to_the_byte_is_an_answer_all_the_same() {
    let mut script = approved_and_drifted();
    script.files_changed = 0;
    let script = script.reviews(ROUND, approved("r1", CloseoutMode::StatusOnly));
    script.stands_at(ROUND, RoundStage::FinalizeRound);
}

#[test]
fn a_review_that_is_to_be_mended_stays_where_it_lies() {
    let script = Script::on(with_round(RoundStage::Review, implemented()));
    let script = script.leaves(&of(ROUND, WorkKind::Review), |desk| {
        desk.round(ROUND).evidence.review_faults = vec!["review.md: no decision".to_owned()];
    });
    let script = script.asks(&[of(ROUND, WorkKind::Review)]);
    assert!(!script.desk.plane.rounds[0].evidence.review_faults.is_empty(), "it is to be mended");
    // Left as it is, it is the same fault again, and whoever comes afresh finds nothing.
    let script = script.reports(&of(ROUND, WorkKind::Review), |_| {});
    let script = script.asks(&[of(ROUND, WorkKind::Review)]);
    assert!(script.desk.plane.rounds[0].evidence.review_faults.is_empty(), "it was set aside");
}

#[test]
fn a_reviewer_of_an_update_that_leaves_nothing_approves_nothing() {
    let script = Script::on(with_update(update(UpdateStatus::Authoring)));
    let script = script.leaves(&of(ROUND, WorkKind::AuthorUpdate), |desk| desk.update().authored = true);
    let script = script.leaves(&of(ROUND, WorkKind::ReviewUpdate), |desk| {
        desk.update().review = Some(update_approved("r1"));
    });
    let script = script.held(Held::Conflicts { paths: vec!["roadmap-history.md".to_owned()] });
    let script = script.reports(&of(ROUND, WorkKind::AuthorUpdate), |_| {});
    let script = script.reports(&of(ROUND, WorkKind::ReviewUpdate), |_| {});
    let mut script = script.asks(&[of(ROUND, WorkKind::ReviewUpdate)]);
    script.files_changed = 0;
    let script = script.leaves(&of(ROUND, WorkKind::ReviewUpdate), |desk| {
        desk.update().review = Some(update_approved("r1"));
    });
    script.expect("publish", |request| request.name() == "publish-update");
}

#[test]
fn a_simple_round_with_an_old_review_beside_it_is_merged_by_its_own_proof() {
    let old = reviewed(approved("r1", CloseoutMode::StatusOnly));
    let script = Script::on(with_round(RoundStage::Plan, Evidence { plan: None, ..old }));
    let script = script.leaves(&of(ROUND, WorkKind::Plan), |desk| {
        desk.round(ROUND).evidence.plan = Some(direct("d1"));
    });
    script.stands_at(ROUND, RoundStage::FinalizeRound).merges();
}

#[test]
fn an_investigator_whose_provider_is_out_is_no_reason_to_stand_still() {
    let work = of(ROUND, WorkKind::Implement);
    let mut impatient = spec();
    impatient.patience.tries = 0;
    let script = Script::with(impatient, with_round(RoundStage::Implement, planned()));
    let script = script.fails(&work).fails(&work).fails(&work);
    let looks = of(ROUND, WorkKind::Investigate { update: false });
    let script = script.asks(core::slice::from_ref(&looks));
    script.has(&looks, Trouble::Unavailable { why: "down".to_owned() }).asks(&[work]);
}

#[test]
fn an_investigator_that_nobody_hears_of_is_no_reason_to_stand_still() {
    let work = of(ROUND, WorkKind::Implement);
    let mut script = Script::on(with_round(RoundStage::Implement, planned()));
    script = script.fails(&work).fails(&work).fails(&work);
    for _ in 0..5 {
        script = script.loses("run-agent").keep_house();
    }
    script.asks(&[work]);
}

#[test]
fn a_state_file_that_moves_under_every_write_ends_the_run() {
    let mut script = Script::unprepared(spec(), plane()).prepared().reads().opens().reads();
    for _ in 0..40 {
        script = script.moves_the_state();
        if script.waiting() == ["close-run"] {
            script.ends(|end| matches!(end, End::NotReady { .. }));
            return;
        }
        script = script.reads();
    }
    panic!("it writes for ever");
}

#[test]
fn a_worker_that_is_blocked_is_asked_again_before_it_is_given_up() {
    let mut fanned = plan("M1", "D1");
    fanned.workers = vec![worker("w1")];
    let evidence = Evidence { plan: Some(fanned), ..Evidence::default() };
    let script = Script::on(with_round(RoundStage::Implement, evidence));
    let share = of(ROUND, WorkKind::Worker { worker: "w1".to_owned() });
    let script = script.leaves(&share, |desk| {
        let plan = desk.round(ROUND).evidence.plan.as_mut().expect("a plan");
        plan.workers[0].state = WorkerState::Blocked { why: "no interface".to_owned() };
    });
    script.asks(&[share]);
}

#[test]
fn no_investigator_is_asked_beside_as_many_agents_as_may_work() {
    let mut two = two_rounds();
    two.max_parallel = 3;
    let mut fanned = plan("M2", "D2");
    fanned.workers = vec![worker("w1"), worker("w2")];
    two.rounds[1].evidence.plan = Some(fanned);
    let work = of(ROUND, WorkKind::Implement);
    let script = Script::on(two).fails(&work).fails(&work);
    // Fewer may work from now on, and two do: whoever is to look into the failure waits.
    let script = script.edited(|desk| desk.plane.max_parallel = 2).fails(&work);
    let share = |id: &str| of("round-002", WorkKind::Worker { worker: id.to_owned() });
    script.asks(&[share("w1"), share("w2")]);
}

#[test]
fn the_plane_is_read_again_after_a_wait() {
    let work = of(ROUND, WorkKind::Implement);
    let script = Script::on(with_round(RoundStage::Implement, planned()));
    let script = script.has(&work, Trouble::Limited { until: None, why: "later".to_owned() });
    let mut script = script.edited(|desk| desk.round(ROUND).stage = RoundStage::Plan);
    let (effect, _) = script.expect("wait", |request| matches!(request, Effect::Wait(_)));
    script.answer(effect, Outcome::Waited);
    script.keep_house().asks(&[of(ROUND, WorkKind::Plan)]);
}

#[test]
fn a_round_that_never_fits_the_base_is_given_up() {
    let mut script = Script::on(with_round(RoundStage::Review, implemented()));
    for number in 0..8 {
        script = script.reviews(ROUND, approved(&format!("r{number}"), CloseoutMode::StatusOnly));
        script = script.held(Held::Conflicts { paths: vec!["src/lib.rs".to_owned()] });
        if script.waiting() == ["close-run"] {
            script.blocked_by("it never fits together with the base in src/lib.rs");
            return;
        }
        script = script.combines(&[]);
    }
    panic!("it is combined for ever");
}

#[test]
fn an_update_that_was_only_in_the_way_is_published_when_a_person_says_so() {
    let script = Script::on(with_update(update(UpdateStatus::Authoring)));
    let script = script.leaves(&of(ROUND, WorkKind::AuthorUpdate), |desk| desk.update().authored = true);
    let script = script.leaves(&of(ROUND, WorkKind::ReviewUpdate), |desk| {
        desk.update().review = Some(update_approved("r1"));
    });
    let script = script.held(Held::InTheWay { why: "the checkout is not clean".to_owned() });
    let script = script.blocked_by("the checkout is not clean").reopened(0);
    assert_eq!(script.waiting(), ["publish-update"]);
}

#[test]
fn a_found_approval_does_not_cover_what_came_after_our_own_decision() {
    let evidence = reviewed(approved("r1", CloseoutMode::StatusOnly));
    let script = Script::on(with_round(RoundStage::FinalizeRound, evidence));
    let script = script.held(Held::InTheWay { why: "lib.rs has local edits".to_owned() });
    let script = script.blocked_by("lib.rs").edited(|desk| {
        desk.round(ROUND).head = Some(windlass_protocols::CommitId::new("by-hand"));
    });
    script.reopened(0).stands_at(ROUND, RoundStage::Review).asks(&[of(ROUND, WorkKind::Review)]);
}

/// Two rounds that are implemented side by side.
fn two_rounds() -> Plane {
    let mut two = with_round(RoundStage::Implement, planned());
    two.max_parallel = 2;
    let mut second = round("round-002", RoundStage::Implement);
    second.evidence.plan = Some(plan("M2", "D2"));
    two.rounds.push(second);
    two.next_number = 3;
    two
}

/// Single steps, for what goes wrong in the middle of the housekeeping.
impl Script {
    pub(crate) fn step(mut self, name: &str) -> Self {
        let (effect, request) = self.expect(name, |request| request.name() == name);
        let outcome = self.housework(&request);
        self.answer(effect, outcome);
        self
    }

    pub(crate) fn prepared(self) -> Self {
        self.step("prepare-workspaces")
    }

    pub(crate) fn reads(self) -> Self {
        self.step("read-plane")
    }

    pub(crate) fn opens(self) -> Self {
        self.step("open-worktree")
    }

    pub(crate) fn captures(self) -> Self {
        self.step("capture-work")
    }

    pub(crate) fn loses(mut self, name: &str) -> Self {
        let (effect, _) = self.expect(name, |request| request.name() == name);
        self.answer(effect, Outcome::Lost { reason: "gone".to_owned(), usage: Usage::default() });
        self
    }

    /// Somebody writes the file just before the run does.
    pub(crate) fn moves_the_state(mut self) -> Self {
        let (effect, _) =
            self.expect("write", |request| matches!(request, Effect::Plane(PlaneStep::WriteState(_))));
        self.desk.moved();
        self.answer(effect, Outcome::Plane(PlaneOutcome::StateMoved));
        self
    }

    fn refuses_while_it_asks(mut self, reason: &str) -> Self {
        for _ in 0..5 {
            if self.waiting() != ["read-plane"] {
                return self;
            }
            self = self.refuses("read-plane", reason);
        }
        panic!("it reads for ever");
    }
}

#[test]
fn notes_that_are_never_in_what_would_be_merged_are_an_end() {
    let review = of(ROUND, WorkKind::Review);
    let mut script = Script::on(with_round(RoundStage::Review, implemented()));
    for turn in 0..5 {
        script = script.leaves(&review, |desk| {
            let evidence = &mut desk.round(ROUND).evidence;
            evidence.review = Some(approved(&format!("r{turn}"), CloseoutMode::StatusOnly));
            evidence.notes = false;
        });
        if turn == 3 {
            script = script.diagnoses(&of(ROUND, WorkKind::Investigate { update: false }), false);
        }
        if turn < 4 {
            script = script.stands_at(ROUND, RoundStage::Implement).implements(ROUND);
        }
    }
    assert_eq!(script.state().book.rounds[ROUND].rejected, 0, "nobody rejected it");
    script.blocked_by("its implementation notes are not in what would be merged");
}

#[test]
fn a_share_that_never_gets_into_the_round_is_an_end() {
    let review = of(ROUND, WorkKind::Review);
    let mut with_share = implemented();
    let share = WorkerState::Integrated;
    with_share.plan.as_mut().expect("a plan").workers =
        vec![windlass_protocols::protocol::roadmap_rounds::plane::WorkerSeen {
            state: share,
            ..worker("w1")
        }];
    let outside = |desk: &mut crate::desk::Desk, outside| {
        let plan = desk.round(ROUND).evidence.plan.as_mut().expect("a plan");
        plan.workers[0].outside = outside;
    };
    let mut script = Script::on(with_round(RoundStage::Review, with_share));
    for turn in 0..5 {
        script = script.leaves(&review, |desk| {
            outside(desk, true);
            let evidence = &mut desk.round(ROUND).evidence;
            evidence.review = Some(approved(&format!("r{turn}"), CloseoutMode::StatusOnly));
        });
        if turn == 3 {
            script = script.diagnoses(&of(ROUND, WorkKind::Investigate { update: false }), false);
        }
        if turn < 4 {
            script = script.stands_at(ROUND, RoundStage::Implement).edited(|desk| outside(desk, false));
            script = script.leaves(&of(ROUND, WorkKind::Integrate), |_| {});
        }
    }
    script.blocked_by("what these workers made was not in the round");
}
