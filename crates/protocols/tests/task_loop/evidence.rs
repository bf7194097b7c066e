//! The engine measures, agents claim: red checks, requirement tracing, and what each role is given to look at.

use crate::harness::words::{
    AUDIT_CHECK, CHECK, artifact, audit, full_spec, handoff, lines, one_round, spec, unaudited, verdict,
};
use crate::harness::{Script, accepted};
use windlass_protocols::effect::{Ask, Effect, Purpose};
use windlass_protocols::outcome::{Answer, StepEnd, Verdict, VerdictWord};
use windlass_protocols::protocol::judged_task::end::End;
use windlass_protocols::protocol::judged_task::facts::{Fact as TaskFact, RejectedBy, Source};
use windlass_protocols::protocol::judged_task::spec::TaskSpec;
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{Fact, Role, TreeId};

fn checked() -> TaskSpec {
    TaskSpec { checks: lines(&[CHECK, "make lint"]), ..spec() }
}

/// The last verdict that was taken, with whoever it comes from.
fn last_word(script: &Script) -> (Role, VerdictWord, TreeId, Source) {
    let word = |fact: &Fact| match fact {
        Fact::JudgedTask(TaskFact::VerdictTaken { role, word, tree, source, .. }) => {
            Some((*role, *word, tree.clone(), source.clone()))
        }
        _ => None,
    };
    script.facts().iter().rev().find_map(word).expect("a verdict was taken")
}

#[test]
fn checks_run_on_the_captured_tree_before_the_judge_is_asked() {
    let script = Script::at_doer(checked()).doer_hands_over("tree-1").waits_in(Stage::Checking);
    let Effect::RunChecks(asked) = script.waiting() else {
        panic!("the checks are not run");
    };
    assert_eq!((asked.purpose, asked.tree.as_str()), (Purpose::Acceptance, "tree-1"));
    assert_eq!(asked.commands, [CHECK, "make lint"]);
    script.checks_pass().asks(Role::Judge, 1, 1);
}

#[test]
fn a_red_check_is_a_rejection_that_no_judge_can_talk_away() {
    let script = Script::at_doer(checked())
        .doer_hands_over("tree-1")
        .check_is_red("make lint", "line 1\nline 2")
        .asks(Role::Doer, 2, 1);
    assert_eq!(script.told_to_doer(), ["- [eval] `make lint` exited with 1\n    line 1\n    line 2"]);
    let (role, word, tree, source) = last_word(&script);
    assert_eq!((role, word, tree.as_str()), (Role::Judge, VerdictWord::Reject, "tree-1"));
    let why = "1 of 2 required checks are red".to_owned();
    assert_eq!(source, Source::Engine { why });
}

#[test]
fn a_red_check_in_the_last_round_ends_rejected_by_the_check() {
    let end = End::Rejected { by: RejectedBy::Check };
    let last = TaskSpec { checks: lines(&[CHECK]), ..one_round() };
    Script::at_doer(last)
        .doer_hands_over("tree-1")
        .check_is_red(CHECK, "")
        .ends(&end, "reject/reject/not-run/1");
}

#[test]
fn a_check_that_ends_in_any_other_way_than_well_is_red() {
    let ends = [
        StepEnd::Exited { code: 101 },
        StepEnd::Signaled { signal: 6 },
        StepEnd::TotalLimit,
        StepEnd::IdleLimit,
        StepEnd::OutputLimit,
        StepEnd::NotStarted { reason: "no shell".to_owned() },
    ];
    for end in ends {
        Script::at_doer(checked()).doer_hands_over("tree-1").check_ends(CHECK, end, "").asks(
            Role::Doer,
            2,
            1,
        );
    }
}

#[test]
fn a_check_that_was_red_at_the_base_still_rejects_and_says_so() {
    let script =
        Script::start(checked()).prepared().check_is_red(CHECK, "broken before").asks(Role::Doer, 1, 1);
    assert_eq!(script.state().red_at_base, Some(lines(&[CHECK])));
    let script = script.doer_hands_over("tree-1").check_is_red(CHECK, "");
    assert_eq!(script.told_to_doer(), ["- [eval] `make test` exited with 1 (it was red at the base too)"]);
}

#[test]
fn a_check_that_was_green_at_the_base_is_not_excused() {
    let script = Script::start(checked())
        .prepared()
        .check_is_red("make lint", "")
        .doer_hands_over("tree-1")
        .check_is_red(CHECK, "");
    assert_eq!(script.told_to_doer(), ["- [eval] `make test` exited with 1"]);
}

#[test]
fn pass_with_missing_requirements_is_overruled() {
    let contradiction =
        Verdict { requirements_missing: lines(&["RQ-001", "NFR-0002"]), ..verdict("pass", &[]) };
    let script = Script::at_judge(spec()).judge_says(contradiction).asks(Role::Doer, 2, 1);
    assert_eq!(
        script.told_to_doer(),
        ["- [requirements] RQ-001 is missing", "- [requirements] NFR-0002 is missing"]
    );
    let (role, word, _, source) = last_word(&script);
    assert_eq!((role, word), (Role::Judge, VerdictWord::Reject));
    assert!(matches!(source, Source::Engine { .. }), "the engine said it: {source:?}");
}

#[test]
fn pass_that_leaves_touched_requirements_untraced_is_sent_back_once() {
    let script = Script::at_doer(spec()).doer_answers(&["RQ-001", "RQ-002"]).captured("tree-1");
    let half = Verdict { requirements_checked: lines(&["RQ-001"]), ..verdict("pass", &[]) };
    let script = script.judge_says(half).asks(Role::Judge, 1, 2);
    let Ask::Repair { faults } = &script.asked().ask else {
        panic!("the judge is not asked to mend its verdict");
    };
    assert!(faults[0].contains("RQ-002") && !faults[0].contains("RQ-001"), "{faults:?}");
    let whole = Verdict { requirements_checked: lines(&["RQ-002", "RQ-001"]), ..verdict("pass", &[]) };
    script.judge_says(whole).asks(Role::Auditor, 1, 1);
}

#[test]
fn pass_that_stays_untraced_is_no_pass() {
    let script = Script::at_doer(unaudited())
        .doer_answers(&["RQ-001"])
        .captured("tree-1")
        .judge("pass", &[])
        .judge("pass", &[]);
    let end = script.state().end.clone().expect("the run is concluded");
    assert!(matches!(end, End::NeedsHuman { .. }), "{end:?}");
    script.ends(&end, "needs-human/needs-human/not-run/1");
}

#[test]
fn a_rejection_needs_no_tracing() {
    Script::at_doer(spec()).doer_answers(&["RQ-001"]).captured("tree-1").judge("reject", &["- no"]).asks(
        Role::Doer,
        2,
        1,
    );
}

#[test]
fn the_judge_is_given_the_sealed_artifacts_of_its_round() {
    let script = Script::at_judge(full_spec());
    let inputs = ["eval-results.json", "handoff.json", "patch.diff", "eval-results.json"].map(artifact);
    assert_eq!(script.asked().inputs, inputs);
    assert!(
        matches!(&script.asked().ask, Ask::Fresh { feedback, history } if feedback.is_empty() && history.is_empty()),
        "a judge is not told what was said before"
    );
}

#[test]
fn the_auditor_is_given_the_verdict_and_the_audit_results_too() {
    let script = Script::at_auditor(full_spec());
    let inputs = [
        "eval-results.json",
        "handoff.json",
        "patch.diff",
        "eval-results.json",
        "verdict.json",
        "eval-results.json",
    ]
    .map(artifact);
    assert_eq!(script.asked().inputs, inputs);
}

#[test]
fn a_second_round_starts_with_no_evidence_of_the_first() {
    let script = Script::at_auditor(full_spec())
        .auditor("fail", &["- no"])
        .doer_hands_over("tree-2")
        .waits_in(Stage::Checking)
        .checks_pass()
        .asks(Role::Judge, 2, 1);
    assert_eq!(script.asked().tree, Some(TreeId::new("tree-2")));
    script
        .judge("pass", &[])
        .waits_in(Stage::AuditChecking)
        .checks_pass()
        .auditor("pass", &[])
        .landed()
        .ends(&accepted("tree-2"), "pass/pass/pass/2");
}

#[test]
fn an_audit_check_that_is_also_a_check_may_have_been_red_at_the_base() {
    let same = TaskSpec { checks: lines(&[CHECK]), audit_checks: lines(&[CHECK, AUDIT_CHECK]), ..spec() };
    let script = Script::start(same)
        .prepared()
        .check_is_red(CHECK, "")
        .doer_hands_over("tree-1")
        .checks_pass()
        .judge("pass", &[])
        .check_is_red(CHECK, "");
    assert_eq!(script.told_to_doer(), ["- [policy] `make test` exited with 1 (it was red at the base too)"]);
}

#[test]
fn every_verdict_names_the_captured_tree() {
    let script = Script::at_auditor(spec()).auditor("pass", &[]);
    let trees: Vec<_> = script
        .facts()
        .iter()
        .filter_map(|fact| match fact {
            Fact::JudgedTask(TaskFact::VerdictTaken { role, tree, .. }) => Some((*role, tree.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(trees, [(Role::Judge, "tree-1"), (Role::Auditor, "tree-1")]);
}

#[test]
fn a_doer_cannot_bring_a_verdict_or_a_gate_along() {
    for answer in [Answer::Verdict(verdict("pass", &[])), Answer::Audit(audit("pass", &[]))] {
        let script =
            Script::at_doer(spec()).agent_leaves(answer.clone()).agent_leaves(answer).asks(Role::Doer, 2, 1);
        assert_eq!(script.state().handoff, None);
        assert!(!script.fact_names().contains(&"verdict-taken"));
    }
    let honest = Answer::Handoff(handoff(&[]));
    Script::at_doer(spec()).agent_leaves(honest).waits_in(Stage::Capturing);
}
