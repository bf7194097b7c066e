//! START, PREPARE, DOER and TRANSFER rows of the state table. Where the original aborted, a round is charged instead.

use crate::harness::words::{
    BASE, BASE_TREE, CHECK, change, full_spec, lines, malformed, one_round, spec, unaudited,
};
use crate::harness::{Script, accepted};
use windlass_protocols::effect::{Ask, Effect, Purpose};
use windlass_protocols::outcome::{Answer, CapturedChange, StepEnd};
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::facts::RejectedBy;
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{Role, TreeId};

#[test]
fn valid_arguments_lead_to_the_workspaces() {
    let script = Script::start(spec()).decides(&["run-started", "effect-requested"]);
    assert_eq!(script.waiting(), &Effect::PrepareWorkspaces);
}

#[test]
fn made_worktrees_lead_to_the_first_doer() {
    let script = Script::start(spec())
        .prepared()
        .decides(&["effect-settled", "base-fixed", "baseline-measured", "round-opened", "effect-requested"])
        .asks(Role::Doer, 1, 1);
    assert_eq!(script.told_to_doer(), Vec::<String>::new());
    assert_eq!(script.asked().tree, None, "a maker works in its own workspace");
}

#[test]
fn checks_are_measured_at_the_base_before_the_first_doer() {
    let script = Script::start(full_spec()).prepared().waits_in(Stage::Baseline);
    let Effect::RunChecks(asked) = script.waiting() else {
        panic!("the baseline is not measured");
    };
    assert_eq!(asked.purpose, Purpose::Baseline);
    assert_eq!(asked.tree, TreeId::new(BASE_TREE));
    assert_eq!(asked.commands, [CHECK]);
    script.checks_pass().asks(Role::Doer, 1, 1);
}

#[test]
fn the_base_is_fixed_once_for_all_rounds() {
    let script =
        Script::at_judge(spec()).judge("reject", &["- no"]).doer_hands_over("tree-2").judge("pass", &[]);
    let fixed = script.fact_names().iter().filter(|&&name| name == "base-fixed").count();
    assert_eq!(fixed, 1);
    let (commit, tree) = script.state().base.clone().expect("the base is known");
    assert_eq!((commit.as_str(), tree.as_str()), (BASE, BASE_TREE));
}

#[test]
fn prepare_refused_by_git_is_a_failed_setup_with_a_summary() {
    let end = End::SetupFailed { reason: "cannot make the worktree".to_owned() };
    Script::start(spec()).refused("cannot make the worktree").ends(&end, "needs-human/not-run/not-run/0");
}

#[test]
fn doer_exit_not_zero_charges_the_round_and_tells_the_next_doer() {
    let script = Script::at_doer(spec())
        .agent_exits(7)
        .decides(&["effect-settled", "round-rejected", "round-opened", "effect-requested"])
        .asks(Role::Doer, 2, 1);
    assert_eq!(
        script.told_to_doer(),
        ["- [doer] the doer exited with 7; what it changed so far is still in its worktree"]
    );
}

#[test]
fn doer_exit_not_zero_in_the_last_round_is_a_rejection_with_a_summary() {
    let end = End::Rejected { by: RejectedBy::DoerFailed };
    Script::at_doer(one_round()).agent_exits(1).ends(&end, "reject/not-run/not-run/1");
}

#[test]
fn doer_exit_not_zero_counts_as_failure_even_with_a_good_handoff() {
    let answer = Answer::Handoff(crate::harness::words::handoff(&[]));
    Script::at_doer(spec())
        .agent_ends(StepEnd::Exited { code: 1 }, answer)
        .decides(&["effect-settled", "round-rejected", "round-opened", "effect-requested"])
        .asks(Role::Doer, 2, 1);
}

#[test]
fn every_bad_end_of_a_doer_is_told_in_words() {
    let ends = [
        (StepEnd::Signaled { signal: 9 }, "was ended by signal 9"),
        (StepEnd::TotalLimit, "ran into its time limit"),
        (StepEnd::IdleLimit, "was silent longer than its idle limit"),
        (StepEnd::OutputLimit, "printed more than its output limit"),
    ];
    for (end, words) in ends {
        let script = Script::at_doer(spec()).agent_ends(end, Answer::Missing);
        let told = script.told_to_doer();
        assert!(told[0].contains(words), "{words:?} is not in {told:?}");
    }
}

#[test]
fn doer_that_fails_three_rounds_in_a_row_needs_a_person() {
    let mut roomy = spec();
    roomy.caps.rounds = 9;
    let end = End::NeedsHuman {
        cause: Cause::AgentKeepsFailing { role: Role::Doer, why: "exited with 3".to_owned() },
    };
    Script::at_doer(roomy)
        .agent_exits(1)
        .agent_exits(2)
        .asks(Role::Doer, 3, 1)
        .agent_exits(3)
        .ends(&end, "needs-human/not-run/not-run/3");
}

#[test]
fn a_handed_over_round_breaks_the_row_of_doer_failures() {
    let mut roomy = spec();
    roomy.caps.rounds = 9;
    Script::at_doer(roomy)
        .agent_exits(1)
        .agent_exits(1)
        .doer_hands_over("tree-3")
        .judge("reject", &["- no"])
        .agent_exits(1)
        .agent_exits(1)
        .asks(Role::Doer, 6, 1);
}

#[test]
fn doer_program_that_is_not_there_needs_a_person_at_once() {
    let missing = StepEnd::NotStarted { reason: "no such program".to_owned() };
    let end = End::NeedsHuman {
        cause: Cause::AgentNotStarted { role: Role::Doer, reason: "no such program".to_owned() },
    };
    Script::at_doer(spec()).agent_ends(missing, Answer::Missing).ends(&end, "needs-human/not-run/not-run/0");
}

#[test]
fn handoff_missing_is_asked_for_once_more_in_the_same_round() {
    let script = Script::at_doer(spec())
        .agent_leaves(Answer::Missing)
        .decides(&["effect-settled", "repair-asked", "effect-requested"])
        .asks(Role::Doer, 1, 2);
    let faults = lines(&["handoff.json was not left in the outbox"]);
    assert_eq!(script.asked().ask, Ask::Repair { faults });
    script.doer_hands_over("tree-1").asks(Role::Judge, 1, 1);
}

#[test]
fn handoff_missing_after_the_repair_charges_the_round() {
    let script = Script::at_doer(spec())
        .agent_leaves(Answer::Missing)
        .agent_leaves(malformed(&["summary is not a string"]))
        .asks(Role::Doer, 2, 1);
    assert_eq!(script.told_to_doer(), ["- [handoff] summary is not a string"]);
    assert_eq!(script.state().last_rejection, Some(RejectedBy::Handoff));
}

#[test]
fn handoff_missing_in_the_last_round_is_a_rejection_with_a_summary() {
    let end = End::Rejected { by: RejectedBy::Handoff };
    Script::at_doer(one_round())
        .agent_leaves(Answer::Missing)
        .agent_leaves(Answer::Missing)
        .ends(&end, "reject/not-run/not-run/1");
}

#[test]
fn doer_that_leaves_a_verdict_instead_of_a_handoff_is_not_believed() {
    let verdict = Answer::Verdict(crate::harness::words::verdict("pass", &[]));
    let script = Script::at_doer(spec()).agent_leaves(verdict).asks(Role::Doer, 1, 2);
    assert_eq!(script.state().verdict, None);
    let faults = lines(&["the answer is something else than handoff.json"]);
    assert_eq!(script.asked().ask, Ask::Repair { faults });
}

#[test]
fn handoff_leads_to_the_snapshot_and_the_snapshot_to_the_judge() {
    let script = Script::at_doer(spec()).doer_answers(&[]).decides(&[
        "effect-settled",
        "handoff-taken",
        "effect-requested",
    ]);
    assert_eq!(script.waiting(), &Effect::CaptureChange { round: 1 });
    let script = script
        .captured("tree-1")
        .decides(&["effect-settled", "change-taken", "effect-requested"])
        .asks(Role::Judge, 1, 1);
    assert_eq!(script.asked().tree, Some(TreeId::new("tree-1")));
}

#[test]
fn a_doer_may_change_its_workspace() {
    let answer = Answer::Handoff(crate::harness::words::handoff(&[]));
    Script::at_doer(spec())
        .agent_writes(answer, &["src/lib.rs"])
        .captured("tree-1")
        .judge("pass", &[])
        .auditor("pass", &[])
        .ends(&accepted("tree-1"), "pass/pass/pass/1");
}

#[test]
fn empty_change_is_no_change_and_goes_back_to_the_doer() {
    let script = Script::at_doer(spec()).doer_hands_over(BASE_TREE).asks(Role::Doer, 2, 1);
    assert_eq!(script.state().last_rejection, Some(RejectedBy::NoChange));
    assert!(script.told_to_doer()[0].starts_with("- [no-change] "));
    let again = script.doer_hands_over(BASE_TREE).asks(Role::Doer, 3, 1);
    assert!(
        again.told_to_doer()[0].contains("as it was after round 1 already"),
        "{:?}",
        again.told_to_doer()
    );
}

#[test]
fn empty_change_in_the_last_round_is_a_rejection_with_a_summary() {
    let end = End::Rejected { by: RejectedBy::NoChange };
    Script::at_doer(one_round()).doer_hands_over(BASE_TREE).ends(&end, "reject/not-run/not-run/1");
}

#[test]
fn a_change_that_must_not_be_looked_at_goes_back_to_the_doer_unjudged() {
    let hazardous = CapturedChange {
        hazards: lines(&["link leads out of the tree", "embedded repository in sub"]),
        ..change(1, "tree-1")
    };
    let script = Script::at_doer(spec()).doer_answers(&[]).captured_as(hazardous).asks(Role::Doer, 2, 1);
    assert_eq!(script.state().last_rejection, Some(RejectedBy::Hazard));
    assert_eq!(
        script.told_to_doer(),
        ["- [change] link leads out of the tree", "- [change] embedded repository in sub"]
    );
}

#[test]
fn refused_snapshot_needs_a_person() {
    let end =
        End::NeedsHuman { cause: Cause::CaptureRefused { reason: "object store is read-only".to_owned() } };
    Script::at_doer(spec())
        .doer_answers(&[])
        .refused("object store is read-only")
        .ends(&end, "needs-human/not-run/not-run/0");
}

#[test]
fn everything_passed_without_an_auditor_is_accepted() {
    Script::at_judge(unaudited()).judge("pass", &[]).ends(&accepted("tree-1"), "pass/pass/not-run/1");
}
