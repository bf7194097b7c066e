//! Late, doubled and misfitting answers, second starts and bad specs: refused by name, and nothing changes.

use crate::harness::words::{
    BASE, BASE_TREE, STEP, agent_report, change, checks_report, full_spec, handoff, lines, spec, verdict,
};
use crate::harness::{Script, start};
use windlass_protocols::outcome::{Answer, ChecksReport, LandedCommit, Outcome, StepEnd};
use windlass_protocols::protocol::judged_task::spec::TaskSpec;
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{CommitId, EffectId, Millis, Observation, Rejection, Role, TreeId};

fn answer(effect: EffectId, outcome: Outcome) -> Observation {
    Observation::EffectFinished { effect, outcome }
}

fn lost() -> Outcome {
    Outcome::Lost { reason: "gone".to_owned(), usage: STEP }
}

/// One good answer of each kind, and the stage it belongs to.
fn good_answers() -> Vec<(Stage, Outcome)> {
    let well = StepEnd::Exited { code: 0 };
    let agent = |role, answer| Outcome::from(agent_report(role, well.clone(), answer, STEP));
    let checks = |stage| {
        let script = Script::at(stage, full_spec());
        Outcome::ChecksRan(checks_report(script.waiting(), &[], STEP))
    };
    let audit = crate::harness::words::audit("pass", &[]);
    vec![
        (
            Stage::Preparing,
            Outcome::Prepared { base: CommitId::new(BASE), base_tree: TreeId::new(BASE_TREE) },
        ),
        (Stage::Baseline, checks(Stage::Baseline)),
        (Stage::Doing, agent(Role::Doer, Answer::Handoff(handoff(&[])))),
        (Stage::Capturing, Outcome::ChangeCaptured(change(1, "tree-1"))),
        (Stage::Checking, checks(Stage::Checking)),
        (Stage::Judging, agent(Role::Judge, Answer::Verdict(verdict("pass", &[])))),
        (Stage::AuditChecking, checks(Stage::AuditChecking)),
        (Stage::Auditing, agent(Role::Auditor, Answer::Audit(audit))),
        (
            Stage::Landing,
            Outcome::Landed(LandedCommit {
                commit: CommitId::new("landed-commit"),
                tree: TreeId::new("tree-1"),
                reference: "refs/heads/main".to_owned(),
            }),
        ),
        (Stage::Closing, Outcome::Closed),
    ]
}

#[test]
fn every_answer_fits_its_own_step_and_no_other() {
    let answers = good_answers();
    for (stage, _) in &answers {
        for (owner, outcome) in &answers {
            let script = Script::at(*stage, full_spec());
            let effect = script.waiting_id();
            let observation = answer(effect, outcome.clone());
            if stage == owner {
                let mut script = script;
                script.observe(observation).expect("its own answer");
            } else {
                script.refuses(observation, &Rejection::OutcomeDoesNotFit { effect });
            }
        }
    }
}

#[test]
fn only_git_steps_can_be_refused_by_the_world() {
    let refusal = Outcome::Refused { reason: "no".to_owned() };
    for (stage, _) in good_answers() {
        let script = Script::at(stage, full_spec());
        let effect = script.waiting_id();
        let observation = answer(effect, refusal.clone());
        if matches!(stage, Stage::Preparing | Stage::Capturing | Stage::Landing) {
            let mut script = script;
            script.observe(observation).expect("git may refuse");
        } else {
            script.refuses(observation, &Rejection::OutcomeDoesNotFit { effect });
        }
    }
}

#[test]
fn a_doubled_answer_is_refused_in_every_stage() {
    for (stage, outcome) in good_answers() {
        let script = Script::at(stage, full_spec());
        let effect = script.waiting_id();
        script
            .answer(outcome.clone())
            .refuses(answer(effect, outcome), &Rejection::NotUnsettled { effect })
            .refuses(answer(effect, lost()), &Rejection::NotUnsettled { effect });
    }
}

#[test]
fn an_answer_that_comes_after_its_step_was_given_up_is_refused() {
    for (stage, outcome) in good_answers() {
        let script = Script::at(stage, full_spec());
        let effect = script.waiting_id();
        script.lost().refuses(answer(effect, outcome), &Rejection::NotUnsettled { effect }).waits_in(stage);
    }
}

#[test]
fn an_answer_of_an_earlier_round_is_refused() {
    let script = Script::at_judge(spec());
    let effect = script.waiting_id();
    let script =
        script.agent_exits(1).judge("reject", &["- no"]).doer_hands_over("tree-2").asks(Role::Judge, 2, 1);
    let pass =
        agent_report(Role::Judge, StepEnd::Exited { code: 0 }, Answer::Verdict(verdict("pass", &[])), STEP);
    script.refuses(answer(effect, Outcome::from(pass)), &Rejection::NotUnsettled { effect });
}

#[test]
fn an_answer_to_a_step_nobody_asked_for_is_refused() {
    let effect = EffectId(4_711);
    Script::unborn().refuses(answer(effect, lost()), &Rejection::NotUnsettled { effect });
    Script::at_doer(spec()).refuses(answer(effect, lost()), &Rejection::NotUnsettled { effect });
    Script::at(Stage::Closing, full_spec())
        .closed()
        .refuses(answer(EffectId(0), lost()), &Rejection::NotUnsettled { effect: EffectId(0) });
}

#[test]
fn checks_of_another_tree_or_with_results_missing_are_refused() {
    let script = Script::at(Stage::Checking, full_spec());
    let effect = script.waiting_id();
    let report = checks_report(script.waiting(), &[], STEP);
    let other_tree = ChecksReport { tree: TreeId::new("tree-2"), ..report.clone() };
    let no_results = ChecksReport { results: Vec::new(), ..report };
    let unfit = Rejection::OutcomeDoesNotFit { effect };
    script
        .refuses(answer(effect, Outcome::ChecksRan(other_tree)), &unfit)
        .refuses(answer(effect, Outcome::ChecksRan(no_results)), &unfit)
        .checks_pass()
        .asks(Role::Judge, 1, 1);
}

#[test]
fn a_snapshot_of_another_round_is_refused() {
    let script = Script::at(Stage::Capturing, full_spec());
    let effect = script.waiting_id();
    script.refuses(
        answer(effect, Outcome::ChangeCaptured(change(2, "tree-1"))),
        &Rejection::OutcomeDoesNotFit { effect },
    );
}

#[test]
fn a_run_starts_once() {
    Script::start(spec()).refuses(start(spec()), &Rejection::AlreadyStarted);
    Script::at(Stage::Closing, full_spec()).closed().refuses(start(full_spec()), &Rejection::AlreadyStarted);
}

#[test]
fn specs_that_could_not_work_are_refused_with_the_reason() {
    type Spoil = fn(&mut TaskSpec);
    let spoilt: [(Spoil, &str); 7] = [
        (|spec| spec.text = String::new(), "the task text is empty"),
        (|spec| spec.text = " \n\t".to_owned(), "the task text is empty"),
        (|spec| spec.caps.rounds = 0, "at least one round is needed"),
        (|spec| spec.caps.time = Some(Millis(0)), "a time limit of nothing leaves no time to work"),
        (|spec| spec.caps.step_time = Millis(0), "a time limit of nothing leaves no time to work"),
        (|spec| spec.checks = lines(&["make", "  "]), "a check command is empty"),
        (|spec| spec.audit_checks = lines(&[""]), "a check command is empty"),
    ];
    for (spoil, why) in spoilt {
        let mut spec = spec();
        spoil(&mut spec);
        let why = why.to_owned();
        Script::unborn().refuses(start(spec), &Rejection::InvalidSpec { why });
    }
}

#[test]
fn refusals_read_as_sentences() {
    let effect = EffectId(3);
    let why = "x".to_owned();
    let sentences = [
        (Rejection::AlreadyStarted, "the run has started already"),
        (Rejection::NotStarted, "the run has not started"),
        (Rejection::NotUnsettled { effect }, "effect 3 is not waiting for an answer"),
        (Rejection::OutcomeDoesNotFit { effect }, "this outcome does not answer effect 3"),
        (Rejection::AlreadyEnded, "the run has ended"),
        (Rejection::NotEnded, "the run has not ended"),
        (Rejection::NothingToReopen { why: why.clone() }, "nothing to take up again: x"),
        (Rejection::NothingToLand { why: why.clone() }, "nothing to land: x"),
        (Rejection::InvalidSpec { why }, "the run cannot be started: x"),
    ];
    for (rejection, sentence) in sentences {
        assert_eq!(rejection.to_string(), sentence);
    }
}
