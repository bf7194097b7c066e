//! JUDGE rows of the state table.

use crate::harness::words::{
    caps, full_spec, going_on, lines, malformed, one_round, spec, unaudited, verdict,
};
use crate::harness::{Script, accepted};
use windlass_protocols::Role;
use windlass_protocols::effect::Ask;
use windlass_protocols::outcome::{Answer, StepEnd};
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::facts::RejectedBy;
use windlass_protocols::protocol::judged_task::spec::TaskSpec;
use windlass_protocols::protocol::judged_task::stage::Stage;

const NEEDS_JUDGE: End = End::NeedsHuman { cause: Cause::JudgeAsked };

fn unreadable(faults: &[&str]) -> End {
    End::NeedsHuman { cause: Cause::NoReadableAnswer { role: Role::Judge, faults: lines(faults) } }
}

#[test]
fn judge_exit_not_zero_is_asked_again_without_charging_the_round() {
    Script::at_judge(spec())
        .agent_exits(1)
        .decides(&["effect-settled", "step-retried", "effect-requested"])
        .asks(Role::Judge, 1, 2)
        .agent_ends(StepEnd::TotalLimit, Answer::Missing)
        .asks(Role::Judge, 1, 3)
        .judge("pass", &[])
        .asks(Role::Auditor, 1, 1);
}

#[test]
fn judge_exit_not_zero_three_times_needs_a_person() {
    let end = End::NeedsHuman {
        cause: Cause::AgentKeepsFailing { role: Role::Judge, why: "was ended by signal 11".to_owned() },
    };
    Script::at_judge(spec())
        .agent_exits(1)
        .agent_exits(1)
        .agent_ends(StepEnd::Signaled { signal: 11 }, Answer::Missing)
        .ends(&end, "needs-human/needs-human/not-run/0");
}

#[test]
fn judge_exit_not_zero_voids_the_pass_it_left() {
    let pass = Answer::Verdict(verdict("pass", &[]));
    let script = Script::at_judge(spec()).agent_ends(StepEnd::Exited { code: 1 }, pass);
    assert_eq!(script.state().verdict, None);
    script.asks(Role::Judge, 1, 2);
}

#[test]
fn judge_program_that_is_not_there_needs_a_person_at_once() {
    let end = End::NeedsHuman {
        cause: Cause::AgentNotStarted { role: Role::Judge, reason: "no such program".to_owned() },
    };
    let missing = StepEnd::NotStarted { reason: "no such program".to_owned() };
    Script::at_judge(spec()).agent_ends(missing, Answer::Missing).ends(&end, "needs-human/not-run/not-run/0");
}

#[test]
fn judge_no_verdict_is_needs_human_after_one_repair() {
    let script = Script::at_judge(spec())
        .agent_leaves(Answer::Missing)
        .decides(&["effect-settled", "repair-asked", "effect-requested"])
        .asks(Role::Judge, 1, 2);
    let faults = lines(&["verdict.json was not left in the outbox"]);
    assert_eq!(script.asked().ask, Ask::Repair { faults });
    script
        .agent_leaves(Answer::Missing)
        .ends(&unreadable(&["verdict.json was not left in the outbox"]), "needs-human/needs-human/not-run/1");
}

#[test]
fn judge_malformed_verdict_is_sent_back_with_its_faults_and_may_be_mended() {
    let script = Script::at_judge(spec()).agent_leaves(malformed(&["line 3: not JSON"]));
    let faults = lines(&["line 3: not JSON"]);
    assert_eq!(script.asked().ask, Ask::Repair { faults });
    script.judge("pass", &[]).asks(Role::Auditor, 1, 1);
}

#[test]
fn judge_malformed_twice_is_needs_human() {
    Script::at_judge(spec())
        .agent_leaves(malformed(&["not an object"]))
        .agent_leaves(malformed(&["reasons[0] is not an object"]))
        .ends(&unreadable(&["reasons[0] is not an object"]), "needs-human/needs-human/not-run/1");
}

#[test]
fn judge_word_nobody_knows_never_becomes_the_final_verdict() {
    let unknown = malformed(&["verdict \"lgtm\" is none of pass, reject, needs-human"]);
    let script = Script::at_judge(unaudited()).agent_leaves(unknown.clone()).agent_leaves(unknown);
    script.ends(
        &unreadable(&["verdict \"lgtm\" is none of pass, reject, needs-human"]),
        "needs-human/needs-human/not-run/1",
    );
}

#[test]
fn judge_repaired_then_failing_keeps_asking_for_the_repair() {
    let script = Script::at_judge(spec()).agent_leaves(malformed(&["no verdict key"])).agent_exits(1).asks(
        Role::Judge,
        1,
        3,
    );
    let faults = lines(&["no verdict key"]);
    assert_eq!(script.asked().ask, Ask::Repair { faults });
}

#[test]
fn judge_pass_without_audit_ends_accepted() {
    Script::at_judge(unaudited())
        .judge("pass", &[])
        .decides(&["effect-settled", "verdict-taken", "concluded", "effect-requested"])
        .ends(&accepted("tree-1"), "pass/pass/not-run/1");
}

#[test]
fn judge_pass_with_audit_leads_to_the_auditor_on_the_same_tree() {
    let script = Script::at_judge(spec());
    let judged = script.asked().tree.clone();
    let script = script.judge("pass", &[]).asks(Role::Auditor, 1, 1);
    assert_eq!(script.asked().tree, judged);
}

#[test]
fn judge_pass_with_audit_checks_leads_to_them_first() {
    Script::at_judge(full_spec()).judge("pass", &[]).waits_in(Stage::AuditChecking);
}

#[test]
fn judge_reject_with_rounds_left_gives_the_next_doer_its_feedback() {
    let feedback = ["- [style] too long", "- shorten it"];
    let script = Script::at_judge(spec())
        .judge("reject", &feedback)
        .decides(&["effect-settled", "verdict-taken", "round-rejected", "round-opened", "effect-requested"])
        .asks(Role::Doer, 2, 1);
    assert_eq!(script.told_to_doer(), feedback);
}

#[test]
fn judge_reject_in_the_last_round_ends_rejected() {
    let end = End::Rejected { by: RejectedBy::Judge };
    Script::at_judge(one_round()).judge("reject", &["- no"]).ends(&end, "reject/reject/not-run/1");
}

#[test]
fn judge_needs_human_stops_the_loop_though_rounds_are_left() {
    Script::at_judge(spec())
        .judge("needs-human", &["- [scope] which greeting?"])
        .ends(&NEEDS_JUDGE, "needs-human/needs-human/not-run/1");
}

#[test]
fn judge_needs_human_goes_on_where_the_original_is_asked_for() {
    let script = Script::at_judge(going_on()).judge("needs-human", &["- [scope] which greeting?"]).asks(
        Role::Doer,
        2,
        1,
    );
    assert_eq!(script.told_to_doer(), ["- [scope] which greeting?"]);
    script
        .doer_hands_over("tree-2")
        .judge("pass", &[])
        .auditor("pass", &[])
        .ends(&accepted("tree-2"), "pass/pass/pass/2");
}

#[test]
fn judge_needs_human_in_the_last_round_ends_so_also_where_the_original_is_asked_for() {
    let last = TaskSpec { caps: caps(1), ..going_on() };
    Script::at_judge(last)
        .judge("needs-human", &["- [scope] which greeting?"])
        .ends(&NEEDS_JUDGE, "needs-human/needs-human/not-run/1");
}

#[test]
fn judge_no_verdict_goes_on_where_the_original_is_asked_for() {
    let script = Script::at_judge(going_on())
        .agent_leaves(Answer::Missing)
        .agent_leaves(Answer::Missing)
        .asks(Role::Doer, 2, 1);
    assert_eq!(script.told_to_doer(), ["- [orchestrator] the judge left no readable answer"]);
}

#[test]
fn what_a_judge_that_needs_a_person_said_is_kept_for_the_person_and_for_the_next_doer() {
    let script = Script::at_judge(spec())
        .judge("reject", &["- [old] from round one"])
        .doer_hands_over("tree-2")
        .judge("needs-human", &["- [scope] which greeting?"])
        .ends(&NEEDS_JUDGE, "needs-human/needs-human/not-run/2");
    assert_eq!(script.state().feedback, ["- [scope] which greeting?"]);
    let script = script.reopened(crate::harness::NO_MORE, Some("the polite one"));
    assert_eq!(script.told_to_doer(), ["- [scope] which greeting?", "- [human] the polite one"]);
}

#[test]
fn judge_that_writes_voids_its_own_pass() {
    let pass = Answer::Verdict(verdict("pass", &[]));
    let end = End::NeedsHuman {
        cause: Cause::WorkspaceChanged { role: Role::Judge, paths: lines(&["src/lib.rs"]) },
    };
    for spec in [spec(), going_on()] {
        Script::at_judge(spec)
            .agent_writes(pass.clone(), &["src/lib.rs"])
            .ends(&end, "needs-human/needs-human/not-run/1");
    }
}

#[test]
fn judge_that_leaves_an_audit_is_not_believed() {
    let audit = Answer::Audit(crate::harness::words::audit("pass", &[]));
    let script = Script::at_judge(spec()).agent_leaves(audit).asks(Role::Judge, 1, 2);
    let faults = lines(&["the answer is something else than verdict.json"]);
    assert_eq!(script.asked().ask, Ask::Repair { faults });
}
