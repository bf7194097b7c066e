//! AUDIT and END rows of the state table.

use crate::harness::words::{
    AUDIT_CHECK, audit, caps, full_spec, going_on, lines, malformed, one_round, spec,
};
use crate::harness::{Script, accepted};
use windlass_protocols::Role;
use windlass_protocols::effect::{Ask, Effect, Purpose};
use windlass_protocols::outcome::{Answer, Audit, StepEnd};
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::facts::RejectedBy;
use windlass_protocols::protocol::judged_task::spec::TaskSpec;
use windlass_protocols::protocol::judged_task::stage::Stage;

const NEEDS_AUDITOR: End = End::NeedsHuman { cause: Cause::AuditorAsked };
const STOPPED_BY_AUDITOR: End = End::Rejected { by: RejectedBy::Auditor };

#[test]
fn auditor_exit_not_zero_is_asked_again_without_charging_the_round() {
    Script::at_auditor(spec())
        .agent_exits(1)
        .asks(Role::Auditor, 1, 2)
        .auditor("pass", &[])
        .ends(&accepted("tree-1"), "pass/pass/pass/1");
}

#[test]
fn auditor_exit_not_zero_three_times_needs_a_person() {
    let end = End::NeedsHuman {
        cause: Cause::AgentKeepsFailing { role: Role::Auditor, why: "exited with 2".to_owned() },
    };
    Script::at_auditor(spec())
        .agent_exits(2)
        .agent_exits(2)
        .agent_exits(2)
        .ends(&end, "needs-human/pass/needs-human/0");
}

#[test]
fn auditor_program_that_is_not_there_needs_a_person_at_once() {
    let end = End::NeedsHuman {
        cause: Cause::AgentNotStarted { role: Role::Auditor, reason: "no such program".to_owned() },
    };
    let missing = StepEnd::NotStarted { reason: "no such program".to_owned() };
    Script::at_auditor(spec()).agent_ends(missing, Answer::Missing).ends(&end, "needs-human/pass/not-run/0");
}

#[test]
fn auditor_malformed_gate_is_needs_human_after_one_repair() {
    let end = End::NeedsHuman {
        cause: Cause::NoReadableAnswer { role: Role::Auditor, faults: lines(&["gate is missing"]) },
    };
    let script = Script::at_auditor(spec()).agent_leaves(malformed(&["not JSON"])).asks(Role::Auditor, 1, 2);
    let faults = lines(&["not JSON"]);
    assert_eq!(script.asked().ask, Ask::Repair { faults });
    script.agent_leaves(malformed(&["gate is missing"])).ends(&end, "needs-human/pass/needs-human/1");
}

#[test]
fn auditor_no_gate_is_needs_human_after_one_repair() {
    let end = End::NeedsHuman {
        cause: Cause::NoReadableAnswer {
            role: Role::Auditor,
            faults: lines(&["audit.json was not left in the outbox"]),
        },
    };
    Script::at_auditor(spec())
        .agent_leaves(Answer::Missing)
        .agent_leaves(Answer::Missing)
        .ends(&end, "needs-human/pass/needs-human/1");
}

#[test]
fn auditor_that_leaves_a_verdict_is_not_believed() {
    let verdict = Answer::Verdict(crate::harness::words::verdict("pass", &[]));
    let script = Script::at_auditor(spec()).agent_leaves(verdict).asks(Role::Auditor, 1, 2);
    let faults = lines(&["the answer is something else than audit.json"]);
    assert_eq!(script.asked().ask, Ask::Repair { faults });
}

#[test]
fn auditor_pass_ends_accepted() {
    Script::at_auditor(spec())
        .auditor("pass", &[])
        .decides(&["effect-settled", "verdict-taken", "concluded", "effect-requested"])
        .ends(&accepted("tree-1"), "pass/pass/pass/1");
}

#[test]
fn auditor_fail_with_rounds_left_gives_the_next_doer_its_feedback() {
    let feedback = ["- [licence] unknown", "- name the licence"];
    let script = Script::at_auditor(spec()).auditor("fail", &feedback).asks(Role::Doer, 2, 1);
    assert_eq!(script.told_to_doer(), feedback);
}

#[test]
fn auditor_fail_in_the_last_round_ends_rejected() {
    Script::at_auditor(one_round())
        .auditor("fail", &["- no"])
        .ends(&STOPPED_BY_AUDITOR, "reject/pass/fail/1");
}

#[test]
fn auditor_needs_human_stops_the_loop_though_rounds_are_left() {
    let script = Script::at_auditor(spec())
        .auditor("needs-human", &["- [risk] who signs?"])
        .ends(&NEEDS_AUDITOR, "needs-human/pass/needs-human/1");
    assert_eq!(script.state().feedback, ["- [risk] who signs?"]);
}

#[test]
fn auditor_needs_human_goes_on_where_the_original_is_asked_for() {
    let script = Script::at_auditor(going_on()).auditor("needs-human", &["- [risk] who signs?"]).asks(
        Role::Doer,
        2,
        1,
    );
    assert_eq!(script.told_to_doer(), ["- [risk] who signs?"]);
}

#[test]
fn auditor_needs_human_in_the_last_round_ends_so_also_where_the_original_is_asked_for() {
    let last = TaskSpec { caps: caps(1), ..going_on() };
    Script::at_auditor(last)
        .auditor("needs-human", &["- [risk] who signs?"])
        .ends(&NEEDS_AUDITOR, "needs-human/pass/needs-human/1");
}

#[test]
fn auditor_that_writes_voids_its_own_pass() {
    let end = End::NeedsHuman {
        cause: Cause::WorkspaceChanged { role: Role::Auditor, paths: lines(&["LICENCE"]) },
    };
    Script::at_auditor(spec())
        .agent_writes(Answer::Audit(audit("pass", &[])), &["LICENCE"])
        .ends(&end, "needs-human/pass/needs-human/1");
}

#[test]
fn auditor_pass_over_failed_evidence_is_a_rejection() {
    let contradicted =
        Audit { contradictions: lines(&["policy.eval_commands says fail"]), ..audit("pass", &[]) };
    let script = Script::at_auditor(spec()).agent_leaves(Answer::Audit(contradicted)).asks(Role::Doer, 2, 1);
    assert_eq!(script.told_to_doer(), ["- [policy] policy.eval_commands says fail"]);
}

#[test]
fn a_gate_of_an_earlier_round_never_stands_beside_a_later_verdict() {
    let end = End::Rejected { by: RejectedBy::Judge };
    let two_rounds = TaskSpec { caps: caps(2), ..spec() };
    Script::at_auditor(two_rounds)
        .auditor("fail", &["- [licence] unknown"])
        .doer_hands_over("tree-2")
        .judge("reject", &["- worse"])
        .ends(&end, "reject/reject/not-run/2");
}

#[test]
fn the_audit_commands_are_run_by_the_engine_on_the_judged_tree() {
    let script = Script::at(Stage::AuditChecking, full_spec());
    let Effect::RunChecks(asked) = script.waiting() else {
        panic!("the audit checks are not run");
    };
    assert_eq!((asked.purpose, asked.tree.as_str()), (Purpose::Audit, "tree-1"));
    assert_eq!(asked.commands, [AUDIT_CHECK]);
}

#[test]
fn red_audit_check_rejects_without_asking_the_auditor() {
    let script = Script::at(Stage::AuditChecking, full_spec()).check_is_red(AUDIT_CHECK, "GPL found").asks(
        Role::Doer,
        2,
        1,
    );
    assert_eq!(script.state().last_rejection, Some(RejectedBy::AuditCheck));
    assert_eq!(script.told_to_doer(), ["- [policy] `make licences` exited with 1\n    GPL found"]);
}

#[test]
fn the_end_of_every_run_is_its_summary_and_nothing_after() {
    let script = Script::at_auditor(spec()).auditor("pass", &[]).closed();
    assert!(script.run().ended);
    assert!(script.run().unsettled.is_empty());
    assert_eq!(script.last_names(), ["effect-settled", "run-ended"]);
}
